"""Data sets by name: the paper's six, five of them from files or UCI's archives, and the real streams of nextbatch."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from adforest.simulation.house import Dataset, make_house
from experiments.streams.uci import CLASS_COLUMN, SOURCES, Columns, cache_folder, fetch_archive, read_archive
from nextbatch.streams import DataError, load_table, read_recipes

FOLDER_VARIABLE = "ADFOREST_DATA"
FILES = tuple(SOURCES)
NAMES = (*FILES, "house")
STREAMS = {name: one for name, one in read_recipes().items() if not (one.is_generated or name in FILES)}

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
    >>> from experiments.streams.datasets import load_dataset
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
    for dropped in DROPPED.get(name, ()):
        del columns[dropped]
    return _make_dataset(name, columns)


def load_stream(name: str, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Return a real stream of nextbatch: records in the order in which they came.

    Parameters
    ----------
    name : str
        One of `STREAMS`; `nextbatch list` and the recipes in ``benchmarks/nextbatch`` say what they are.
    folder : path, optional
        Where ``<name>.parquet`` lies, or a subfolder ``streams`` with it; the class is in the column ``class``. By
        default the folder named by the environment variable ``ADFOREST_DATA``.

    Returns
    -------
    Dataset
        The records in the order of the file. Text columns become categorical ones; missing values are NaN.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If there is no stream of that name, or its table is not the one whose digest the recipe has.

    Examples
    --------
    >>> from experiments.streams.datasets import load_stream
    >>> load_stream("outdoor").X.shape  # doctest: +SKIP
    (4000, 21)
    """
    if name not in STREAMS:
        raise ValueError(f"there is no stream {name!r}; expected one of {', '.join(STREAMS)}.")
    where = os.environ.get(FOLDER_VARIABLE) if folder is None else folder
    recipe = replace(STREAMS[name], folder=os.fspath(where or ""))
    if not where or recipe.find() is None:
        looked = f"looked in '{where}'" if where else f"got no folder and {FOLDER_VARIABLE} is not set"
        raise FileNotFoundError(
            f"load_stream({name!r}) {looked}; expected a file 'streams/{name}.parquet' in the folder of the data sets. "
            f"Put it there, or point folder=... or {FOLDER_VARIABLE} at the folder that holds it."
        )
    try:
        table = load_table(recipe)
    except DataError as error:
        raise ValueError(str(error)) from None
    return _make_dataset(name, {str(column): table[column].to_numpy() for column in table.columns})


def _make_dataset(name: str, columns: Columns) -> Dataset:
    """Return the data set of a table: the class apart, text as codes of its sorted values, NaN where it is missing."""
    y = columns.pop(CLASS_COLUMN).astype(np.str_)
    categories = {
        column: np.unique(values[_is_there(values)].astype(np.str_))
        for column, values in columns.items()
        if values.dtype.kind in "OU"
    }
    return Dataset(
        name=name,
        X=np.column_stack(
            [
                _encode(values, categories[column]) if column in categories else values
                for column, values in columns.items()
            ]
        ).astype(np.float64),
        y=y,
        feature_names=tuple(columns),
        categorical=tuple(column in categories for column in columns),
        categories=categories,
    )


def _encode(values: NDArray[np.generic], labels: NDArray[np.str_]) -> NDArray[np.float64]:
    """Return the position of each value in the sorted labels, NaN where it is missing."""
    is_there = _is_there(values)
    codes = np.full(len(values), np.nan)
    codes[is_there] = np.searchsorted(labels, values[is_there].astype(np.str_))
    return codes


def _is_there(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Return which values of a text column are not missing."""
    return np.array([value is not None for value in values.tolist()], dtype=bool)


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
    """Return the columns of a Parquet file: text as NumPy strings, or as objects with None where some is missing."""
    table = _import_pyarrow().parquet.read_table(path)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    return {
        name: values.astype(np.str_) if values.dtype == object and not table[name].null_count else values
        for name, values in columns.items()
    }


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
            "Parquet files need pyarrow, which is not installed. Run: pip install 'adforest[experiments]'"
        ) from error
