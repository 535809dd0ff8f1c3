"""From an archive to a table: find the files that hold records, split their lines, give each column its type."""

from __future__ import annotations

import re
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from experiments.streams.uci.repository import SOURCES, Columns, Source, check_columns


def read_archive(name: str, archive: Path) -> Columns:
    """Return the table of an archive, which is known to be the right one.

    Parameters
    ----------
    name : str
        Which data set.
    archive : path
        The zip file from UCI.

    Returns
    -------
    dict of str to ndarray
        The columns, the class last; records in the order of the files, files in the order of their names and numbers.

    Raises
    ------
    ValueError
        If the archive cannot be read, or does not hold the records it should.
    """
    try:
        columns = parse_archive(name, archive)
        check_columns(name, columns)
    except (ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(
            f"'{archive.name}' does not hold the data set {name!r}: {error}. Fetch {SOURCES[name].url} again in case "
            f"it was damaged on the way, or put '{name}.parquet' in a folder and pass folder=..."
        ) from error
    return columns


def parse_archive(name: str, archive: Path) -> Columns:
    """Return the table of an archive, be it the right one or not.

    Parameters
    ----------
    name : str
        Which data set's format to expect.
    archive : path
        A zip file; the files may lie in any folder, and in zip files inside it.

    Returns
    -------
    dict of str to ndarray
        The columns, the class last.

    Raises
    ------
    ValueError
        If there are no records, or some are not of the format.
    zipfile.BadZipFile, zlib.error
        If it is no zip file, or a damaged one.
    """
    source = SOURCES[name]
    with archive.open("rb") as file:
        members = _read_members(file, re.compile(rf"(?:.*/)?({source.members})"))
    rows = [row for path in sorted(members, key=_natural_order) for row in _split_rows(path, members[path], source)]
    if not rows:
        raise ValueError(f"expected records in files named like {source.members}, and there are none")
    return {
        column: _convert(column, values, kind)
        for (column, kind), values in zip(source.layout.items(), zip(*rows, strict=True), strict=True)
        if kind is not None
    }


def _read_members(file: IO[bytes], pattern: re.Pattern[str]) -> dict[str, str]:
    """Return the text of the files whose path fits, by the part that fits; files outside inner zips go first."""
    found: dict[str, str] = {}
    with zipfile.ZipFile(file) as archive:
        for path in archive.namelist():
            if fit := pattern.fullmatch(path):
                found[fit[1]] = archive.read(path).decode("utf-8-sig", errors="replace")
        for path in archive.namelist():
            if path.endswith(".zip"):
                found = _read_members(BytesIO(archive.read(path)), pattern) | found
    return found


def _natural_order(path: str) -> list[str | int]:
    """Return a key that sorts words by letters and numbers by value."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path)]


def _split_rows(path: str, text: str, source: Source) -> list[list[str]]:
    """Return the fields of each record of a file, and the label its path gives; headers and comments are no records."""
    fit = re.fullmatch(source.members, path)
    label = [fit["label"]] if fit and "label" in fit.groupdict() else []
    wanted = list(source.layout)[: len(source.layout) - len(label)]
    lines = text.splitlines()
    n_header = next((number for number, line in enumerate(lines, start=1) if line.strip().lower() == "@data"), 0)
    rows = []
    for number, line in enumerate(lines[n_header:], start=n_header + 1):
        # AReM has a file with spaces for commas, and two whose last record ends in a comma.
        record = line.strip().rstrip(",")
        if not record or record.startswith(("#", "%")):
            continue
        row = record.split(",") if "," in record else record.split()
        if len(row) != len(wanted):
            raise ValueError(
                f"line {number} of '{path}' has {len(row)} fields, expected {len(wanted)}: {', '.join(wanted)}"
            )
        rows.append(row + label)
    return rows


def _convert(column: str, values: tuple[str, ...], kind: type[np.generic]) -> NDArray[np.generic]:
    """Return the fields of a column as an array of its type."""
    words = np.strings.strip(np.array(values, dtype=np.str_))
    try:
        return words.astype(kind)
    except ValueError as error:
        raise ValueError(f"column {column!r} has a field that is no number: {error}") from error
