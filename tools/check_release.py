"""Check that what is built from a tag is the version that the tag names, with a date in the changelog.

Run: python tools/check_release.py dist/*; it says what is wrong, and ends with 1. Off a tag, GITHUB_REF_TYPE is not
"tag", and only the names of files are checked.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def troubles(files: Sequence[str], tag: str | None, root: Path = ROOT) -> Iterator[str]:
    """Yield what is wrong with some files, and with a version of this tag."""
    version = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    for name in (Path(one).name for one in files):
        if not name.startswith((f"adforest-{version}-", f"adforest-{version}.tar.gz")):
            yield f"{name} is not of version {version}; build in an empty folder dist."
    if tag is None:
        return
    if tag != f"v{version}":
        yield f"the tag is {tag}, the version {version}; expected v{version}. Set the version in pyproject.toml."
    headings = re.findall(r"^## (.+)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    newest = headings[0] if headings else "nothing"
    if not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", newest):
        yield f"CHANGELOG.md begins with '{newest}'; expected '{version} (YYYY-MM-DD)'. Write the date of the release."


def main(files: list[str]) -> int:
    """Print what is found; return the exit code."""
    tag = os.environ.get("GITHUB_REF_NAME", "") if os.environ.get("GITHUB_REF_TYPE") == "tag" else None
    found = list(troubles(files, tag))
    print(*found, sep="\n", end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
