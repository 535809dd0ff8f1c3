"""Standard input as a file, since tables are looked at before they are read."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import BinaryIO

START_BYTES = 1 << 10  # enough for what marks a format


def spool(stream: BinaryIO, folder: Path) -> Path:
    """Write what comes from a stream, to its end, to a file whose suffix says its format.

    Parquet, Arrow, zip, gzip, zstandard and bzip2 are known by their first bytes, JSON lines and ARFF by their first
    character; all else is CSV. Of what is compressed, only CSV can be told.

    Parameters
    ----------
    stream : binary file
    folder : Path
        Where the file is made; it is called ``input`` and a suffix.

    Returns
    -------
    Path
    """
    start = stream.read(START_BYTES)
    path = folder / f"input{_suffix(start)}"
    with open(path, "xb") as file:
        file.write(start)
        shutil.copyfileobj(stream, file)
    return path


def _suffix(start: bytes) -> str:
    """Return the suffix of the format that the first bytes announce."""
    marks = {
        b"PAR1": ".parquet",
        b"ARROW1": ".arrow",
        b"\xff\xff\xff\xff": ".arrows",
        b"PK\x03\x04": ".zip",
        b"\x1f\x8b": ".csv.gz",
        b"\x28\xb5\x2f\xfd": ".csv.zst",
        b"BZh": ".csv.bz2",
    }
    for mark, suffix in marks.items():
        if start.startswith(mark):
            return suffix
    return {b"{": ".jsonl", b"@": ".arff", b"%": ".arff"}.get(start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1], ".csv")
