"""The six data sets of the paper by name: five from Parquet files or from UCI's archives, House drawn afresh."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten
from types import ModuleType

import numpy as np

from adforest.streams.dataset import Dataset
from adforest.streams.house import make_house
from adforest.streams.uci import CLASS_COLUMN, SOURCES, Columns, cache_folder, fetch_archive, read_archive

FOLDER_VARIABLE = "ADFOREST_DATA"
FILES = tuple(SOURCES)
NAMES = (*FILES, "house")

# The paper counts six predictors for AReM, which leaves no room for the clock.
DROPPED = {"arem": ("time",)}


def load_dataset(name: str, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Return one of the paper's data sets.

    Without a folder the data set is fetched from the UCI Machine Learning Repository, once: its table is kept in the
    cache folder of the operating system, and later calls need no network.

    Parameters
    ----------
    name : {"arem", "avila", "eb", "house", "ldpa", "uifwa"}
        Which data set. ``"house"`` is drawn with a fixed seed and needs no file.
    folder : path, optional
        Where ``<name>.parquet`` lies, or UCI's archive as ``<name>.zip``. By default the folder named by the
        environment variable ``ADFOREST_DATA``, if it is set.

    Returns
    -------
    Dataset
        The records in the order of the file; text columns become categorical ones.

    Raises
    ------
    FileNotFoundError
        If the file is not in the folder, or if there is no folder and UCI cannot be reached.
    ImportError
        If pyarrow, which reads the files, or pooch, which fetches them, is not installed.
    ValueError
        If there is no data set of that name, or an archive does not hold the records it should.

    Examples
    --------
    >>> from adforest.streams import load_dataset
    >>> avila = load_dataset("avila")  # doctest: +SKIP
    >>> avila.X.shape  # doctest: +SKIP
    (20867, 10)
    """
    if name == "house":
        return make_house(300_000, random_state=0)
    if name not in FILES:
        raise ValueError(f"there is no data set {name!r}; expected one of {', '.join(sorted(NAMES))}.")
    where = os.environ.get(FOLDER_VARIABLE) if folder is None else folder
    columns = _read_from_folder(name, Path(where)) if where else _read_from_cache(name)
    y = columns.pop(CLASS_COLUMN).astype(np.str_)
    for dropped in DROPPED.get(name, ()):
        del columns[dropped]
    categories = {
        column: np.unique(values.astype(np.str_)) for column, values in columns.items() if values.dtype.kind == "U"
    }
    return Dataset(
        name=name,
        X=np.column_stack(
            [
                np.searchsorted(categories[column], values) if column in categories else values
                for column, values in columns.items()
            ]
        ).astype(np.float64),
        y=y,
        feature_names=tuple(columns),
        categorical=tuple(column in categories for column in columns),
        categories=categories,
    )


def _read_from_folder(name: str, folder: Path) -> Columns:
    """Return the table of a data set from the user's folder, from the Parquet file rather than from the archive."""
    table = folder / f"{name}.parquet"
    if table.is_file():
        return _read_columns(table)
    url = SOURCES[name].url
    for archive in (folder / f"{name}.zip", folder / url.rpartition("/")[2]):
        if archive.is_file():
            return read_archive(name, archive)
    raise FileNotFoundError(
        f"load_dataset({name!r}) looked in '{folder}'; expected a file '{table.name}', or UCI's archive {url} as "
        f"'{name}.zip', and found neither. Put it there, or point folder=... or {FOLDER_VARIABLE} at the folder that "
        "holds it."
    )


def _read_from_cache(name: str) -> Columns:
    """Return the table of a data set from the cache, where the first call puts it."""
    _import_pyarrow()  # rather missed now than after the download
    cache = cache_folder()
    table = cache / f"{name}.parquet"
    if not table.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        # Only a whole, checked table gets its name in the cache, whatever goes wrong before and whoever else fetches.
        with TemporaryDirectory(dir=cache) as scratch:
            fetched = Path(scratch) / table.name
            _write_columns(read_archive(name, _fetch(name, Path(scratch))), fetched)
            fetched.replace(table)
    return _read_columns(table)


def _fetch(name: str, folder: Path) -> Path:
    """Return UCI's archive of a data set, or say how to do without the network."""
    try:
        return fetch_archive(name, folder)
    except OSError as error:
        raise FileNotFoundError(
            f"load_dataset({name!r}) got no folder and {FOLDER_VARIABLE} is not set, so it tried to fetch "
            f"{SOURCES[name].url} and failed with {type(error).__name__}: {shorten(str(error), 120)}. Pass folder=... "
            f"or set {FOLDER_VARIABLE} to a folder that holds '{name}.parquet', or fetch that archive by hand and put "
            f"it in such a folder as '{name}.zip'."
        ) from error


def _read_columns(path: Path) -> Columns:
    """Return the columns of a Parquet file, text as NumPy strings and everything else as it is."""
    table = _import_pyarrow().parquet.read_table(path)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    return {name: values.astype(np.str_) if values.dtype == object else values for name, values in columns.items()}


def _write_columns(columns: Columns, path: Path) -> None:
    """Write a table to a Parquet file that reads back as it is."""
    pyarrow = _import_pyarrow()
    pyarrow.parquet.write_table(pyarrow.table(columns), path, compression="zstd")


def _import_pyarrow() -> ModuleType:
    """Return the library that reads and writes Parquet files."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError as error:
        raise ImportError(
            "Parquet files need pyarrow, which is not installed. Run: pip install 'adforest[data]'"
        ) from error
