"""Print the oldest versions that pyproject.toml allows, as constraints for pip.

Run: python tools/lower_bounds.py > constraints.txt, then PIP_CONSTRAINT=constraints.txt pip install ...
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
BOUND = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,]+\])?>=(?P<version>[\w.]+)(?:; .+)?")


def lower_bounds(path: Path = PROJECT) -> dict[str, str]:
    """Return the oldest version of every library that the project, an extra or the build needs.

    Raises
    ------
    ValueError
        If a requirement has no lower bound, or two have different ones.
    """
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    project = content["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    found: dict[str, str] = {}
    for line in [*project["dependencies"], *extras, *content["build-system"]["requires"]]:
        if line.startswith(f"{project['name']}["):
            continue  # other extras of its own
        match = BOUND.fullmatch(line)
        if match is None:
            raise ValueError(f"{path.name} asks for {line!r}; expected a lower bound, such as 'numpy>=2.0'")
        name, version = match["name"], match["version"]
        if found.setdefault(name, version) != version:
            raise ValueError(f"{path.name} asks for {name}>={found[name]} and >={version}; expected one lower bound")
    return found


if __name__ == "__main__":
    for name, version in sorted(lower_bounds().items()):
        print(f"{name}=={version}")
