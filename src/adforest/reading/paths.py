"""Find the files of a stream, and sort them."""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from adforest.exceptions import InputError, InputTypeError, ParameterError

FilePath: TypeAlias = str | os.PathLike[str]

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
TEXT_SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".arff")
SUFFIXES = (*TEXT_SUFFIXES, ".zip", ".parquet", ".arrow", ".arrows", ".feather", ".ipc")

KNOWN = ", ".join(SUFFIXES) + " (of these " + ", ".join(TEXT_SUFFIXES) + " also with .gz, .bz2 or .zst behind)"


def suffix_of(path: Path) -> str | None:
    """Return the suffix that determines the format of a file, in lower case, or None if it is unknown."""
    name = path.name.lower()
    for compression in COMPRESSIONS:
        if name.endswith(compression):
            return next((suffix for suffix in TEXT_SUFFIXES if name.endswith(suffix + compression)), None)
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)


def find_files(source: FilePath | Sequence[FilePath], order: str | None) -> list[Path]:
    """Return the files of a source in their order: at least one, all of known formats.

    Parameters
    ----------
    source : path or list of paths
        A folder, a pattern, one file, or a list of files.
    order : {"name", "time"} or None
        None leaves a list as it is and sorts anything else by name.
    """
    if order not in (None, "name", "time"):
        raise ParameterError(f"order is {order!r}; expected 'name', 'time' or None.")
    if isinstance(source, (str, os.PathLike)):
        paths, order = _expand(Path(source).expanduser()), order or "name"
    elif isinstance(source, (list, tuple)) and all(isinstance(path, (str, os.PathLike)) for path in source):
        paths = [Path(path).expanduser() for path in source]
    else:
        raise InputTypeError(
            f"source is of type {type(source).__name__}; expected a path or pattern, or a list of paths. Pass one of "
            "these; a table in memory needs no reading, so pass it to partial_fit() itself."
        )
    _check_files(paths)
    if order == "time":
        return sorted(paths, key=lambda path: (path.stat().st_mtime_ns, natural_key(path)))
    return sorted(paths, key=natural_key) if order == "name" else paths


def natural_key(path: Path) -> tuple[list[list[str | int]], str]:
    """Return a key that sorts numbers in names by their value: export-2 comes before export-10."""
    # Splitting at groups of digits puts text at even and numbers at odd positions, so that like meets like.
    pieces = [re.split(r"([0-9]+)", part.casefold()) for part in path.parts]
    return [[int(piece) if index % 2 else piece for index, piece in enumerate(part)] for part in pieces], str(path)


def _expand(path: Path) -> list[Path]:
    """Return the files of a folder, the files that match a pattern, or the one file named."""
    if path.is_dir():
        return _files_in(path)
    if path.exists():
        return [path]
    if not glob.has_magic(str(path)):
        raise FileNotFoundError(
            f"there is no file or folder '{path}'; expected a folder, a file or a pattern such as 'exports/*.csv'. "
            "Correct the path."
        )
    found = [Path(name) for name in glob.glob(str(path), recursive=True) if not os.path.isdir(name)]
    if not found:
        raise FileNotFoundError(f"no file matches the pattern '{path}'; expected at least one. Correct the pattern.")
    return found


def _files_in(folder: Path) -> list[Path]:
    """Return the files of a folder that can be read; they must share one format, or some records may be read twice."""
    # A leading dot or underscore marks what is not data: .DS_Store, _SUCCESS.
    visible = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith((".", "_"))]
    readable = [path for path in visible if suffix_of(path)]
    if not readable:
        shown = ", ".join(repr(path.name) for path in sorted(visible)[:5]) + (", …" if len(visible) > 5 else "")
        holds = f"holds only {shown}" if visible else "holds no files"
        raise FileNotFoundError(
            f"the folder '{folder}' {holds}; expected files that end in {KNOWN}. Name another folder."
        )
    counts = Counter(str(suffix_of(path)) for path in readable)
    if len(counts) > 1:
        shown = " and ".join(f"{count} {suffix}" for suffix, count in sorted(counts.items()))
        raise InputError(
            f"the folder '{folder}' holds {shown} files; expected one format, for the same records may be there twice. "
            f"Pass a pattern such as '{folder / '*'}{min(counts)}', or a list of files."
        )
    return readable


def _check_files(paths: list[Path]) -> None:
    """Raise unless there are files, all of them exist, and all are of known formats."""
    if not paths:
        raise ParameterError("source is an empty list; expected at least one path. Pass the files to be read.")
    for path in paths:
        if not path.exists() or path.is_dir():
            problem = "is a folder" if path.is_dir() else "does not exist"
            raise FileNotFoundError(
                f"'{path}' {problem}; a list holds files. Correct the list, or pass a folder or a pattern by itself."
            )
        if suffix_of(path) is None:
            raise InputError(
                f"the format of '{path}' is not known; expected a name that ends in {KNOWN}. Convert the file, or "
                "leave it out with a narrower pattern or a list of files."
            )
