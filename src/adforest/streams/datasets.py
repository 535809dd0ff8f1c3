"""The six data sets of the paper by name: five read from Parquet files, House drawn afresh."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adforest.streams.dataset import Dataset
from adforest.streams.house import make_house

FOLDER_VARIABLE = "ADFOREST_DATA"
FILES = ("arem", "avila", "eb", "ldpa", "uifwa")
NAMES = (*FILES, "house")
CLASS_COLUMN = "class"

# The paper counts six predictors for AReM, which leaves no room for the clock.
DROPPED = {"arem": ("time",)}


def load_dataset(name: str, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Return one of the paper's data sets.

    Parameters
    ----------
    name : {"arem", "avila", "eb", "house", "ldpa", "uifwa"}
        Which data set. ``"house"`` is drawn with a fixed seed and needs no file.
    folder : path, optional
        Where ``<name>.parquet`` lies. By default the folder named by the environment variable ``ADFOREST_DATA``.

    Returns
    -------
    Dataset
        The records in the order of the file; text columns become categorical ones.

    Raises
    ------
    FileNotFoundError
        If no folder is known or the file is not in it.
    ImportError
        If pyarrow, which reads the files, is not installed.

    Examples
    --------
    >>> from adforest.streams import load_dataset
    >>> avila = load_dataset("avila", "data")  # doctest: +SKIP
    >>> avila.X.shape  # doctest: +SKIP
    (20867, 10)
    """
    if name == "house":
        return make_house(300_000, random_state=0)
    if name not in FILES:
        raise ValueError(f"there is no data set {name!r}; expected one of {', '.join(sorted(NAMES))}.")
    columns = _read_columns(_find_file(name, folder))
    y = columns.pop(CLASS_COLUMN).astype(np.str_)
    for dropped in DROPPED.get(name, ()):
        del columns[dropped]
    categories = {column: np.unique(values) for column, values in columns.items() if values.dtype.kind == "U"}
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


def _find_file(name: str, folder: str | os.PathLike[str] | None) -> Path:
    """Return the path of a data set's file, which exists."""
    where = os.environ.get(FOLDER_VARIABLE) if folder is None else folder
    if not where:
        raise FileNotFoundError(
            f"load_dataset({name!r}) got no folder and {FOLDER_VARIABLE} is not set; expected a folder that holds "
            f"'{name}.parquet'. Pass folder=..., or set {FOLDER_VARIABLE} to it."
        )
    path = Path(where) / f"{name}.parquet"
    if not path.is_file():
        raise FileNotFoundError(
            f"load_dataset({name!r}) looked in '{where}'; expected a file '{name}.parquet' there and found none. "
            f"Put it there, or point folder=... or {FOLDER_VARIABLE} at the folder that holds it."
        )
    return path


def _read_columns(path: Path) -> dict[str, NDArray[np.generic]]:
    """Return the columns of a Parquet file, text as NumPy strings and everything else as it is."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            f"reading '{path.name}' needs pyarrow, which is not installed. Run: pip install 'adforest[data]'"
        ) from error
    table = parquet.read_table(path)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    return {name: values.astype(np.str_) if values.dtype == object else values for name, values in columns.items()}
