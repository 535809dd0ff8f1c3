"""Licences of the libraries that `pip install adforest` brings, from the metadata of those that are installed.

Run: python tools/licences.py; it prints a table, and ends with 1 if a licence is not in ALLOWED. With --write it also
writes names and licences into docs/contributing.md, between marks.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import metadata, requires
from pathlib import Path

ALLOWED = {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "MIT", "PSF-2.0", "Zlib"}
PAGE = Path(__file__).parents[1] / "docs" / "contributing.md"
MARKED = re.compile(r"(?<=<!-- licences -->\n).*?(?=<!-- end -->)", re.DOTALL)
CLASSIFIERS = {"Apache Software License": "Apache-2.0", "BSD License": "BSD-3-Clause", "MIT License": "MIT"}


def required_by(name: str) -> list[str]:
    """Return the names of the libraries that a library requires without any extra."""
    return [re.split(r"[^\w.-]", one)[0] for one in requires(name) or [] if "extra ==" not in one]


def all_required_by(name: str) -> list[str]:
    """Return the names of the libraries that a library requires, and those that they require."""
    found: set[str] = set()
    waiting = required_by(name)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += required_by(one)
    return sorted(found)


def licence_of(name: str) -> str:
    """Return the SPDX expression in a library's metadata, or the licence that its classifiers name."""
    about = metadata(name)
    if "License-Expression" in about:  # a backport of importlib.metadata raises KeyError where this one returns None
        return about["License-Expression"]
    named = [one.rpartition(" :: ")[2] for one in about.get_all("Classifier") or [] if one.startswith("License ::")]
    return " AND ".join(CLASSIFIERS.get(one, one) for one in named) or "unknown"


def rows(package: str = "adforest") -> Iterator[tuple[str, str, str]]:
    """Yield name, version and licence of every library."""
    for name in all_required_by(package):
        yield name, metadata(name)["Version"], licence_of(name)


def table(found: list[tuple[str, str, str]]) -> str:
    """Return names and licences in Markdown."""
    return "".join(["| library | licence |\n|---|---|\n", *(f"| {name} | {what} |\n" for name, _, what in found)])


def main(options: tuple[str, ...] = ()) -> int:
    """Print the table; return the exit code."""
    found = list(rows())
    if "--write" in options:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(MARKED.sub(lambda _: table(found), text), encoding="utf-8")
    print(*(f"{name:<16}{version:<12}{licence}" for name, version, licence in found), sep="\n")
    others = [name for name, _, licence in found if not set(re.split(" AND | OR ", licence)) <= ALLOWED]
    if others:
        print(f"{', '.join(others)}: expected licences in {', '.join(sorted(ALLOWED))}.", file=sys.stderr)
    return int(bool(others))


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:])))
