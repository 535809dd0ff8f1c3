"""Streams as recipes: where a table comes from, how it is checked, and how it is cut into batches."""

from __future__ import annotations

import hashlib
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow

from nextbatch import generated
from nextbatch.batches import CLASS, QUICK_BATCHES, QUICK_SIZE, Batch, cut_table

DATA_VARIABLE, HIDDEN_VARIABLE = "NEXTBATCH_DATA", "NEXTBATCH_HIDDEN"
RECIPES = Path(__file__).parent / "recipes"
KINDS = {
    "time": "real, in time order",
    "file": "real, in the order of its file",
    "generated": "generated, drift known",
    "hidden": "hidden from those who submit",
}


class DataError(Exception):
    """A table is not there, or not the one that the recipe describes."""


@dataclass(frozen=True)
class Recipe:
    """What is known about a stream before anything is run on it.

    Attributes
    ----------
    name, title : str
        The key in results, and what it is in a few words.
    kind : {"time", "file", "generated", "hidden"}
    source, licence : str
    order : str
        What orders the samples, in words.
    left_out : str
        What the source has and the table has not, and why.
    batch_size : int
        Samples of a batch, after thinning. A remainder of less than half a batch is left out.
    n_records, n_features, n_classes : int
        Of the whole table.
    sha256 : str
        Digest of the table's content, see `digest_table`.
    thin : int
        Every how many-th sample is kept, so that a stream has at most 50,000.
    url : str
        The page of the source; empty for generated streams.
    time_column : str
        The source's field that the samples are ordered by, or "file order".
    parquet_sha256 : str
        Digest of the file that the table was read from. Another file with the same table is as good.
    chosen_on : tuple of str
        Learners whose defaults were chosen while looking at results on this stream.
    drift : tuple of int
        Batches with which the rules change, where that is known.
    """

    name: str
    title: str
    kind: str
    source: str
    licence: str
    order: str
    left_out: str
    batch_size: int
    n_records: int
    n_features: int
    n_classes: int
    sha256: str
    thin: int = 1
    url: str = ""
    time_column: str = ""
    parquet_sha256: str = ""
    chosen_on: tuple[str, ...] = ()
    drift: tuple[int, ...] = ()
    folder: str = ""

    @classmethod
    def read(cls, path: Path, *, is_hidden: bool = False) -> Recipe:
        """Return the recipe that a TOML file describes; the file's name is the stream's."""
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        values |= {key: tuple(values.get(key, ())) for key in ("chosen_on", "drift")}
        if is_hidden:
            values |= {"kind": "hidden", "folder": str(path.parent)}
        try:
            return cls(name=path.stem, **values)
        except TypeError as error:
            raise DataError(f"{path.name} is not a recipe: {error}") from None

    @property
    def is_generated(self) -> bool:
        """Whether the package makes the table itself."""
        return self.kind == "generated"

    def find(self) -> Path | None:
        """Return the table's file, or None if it is generated or not there."""
        places = [self.folder] if self.folder else [os.environ.get(DATA_VARIABLE, "")]
        places = [place for place in places if place]
        found = (Path(place) / below / f"{self.name}.parquet" for place in places for below in ("", "streams"))
        return None if self.is_generated else next((path for path in found if path.is_file()), None)

    def has_same_file(self) -> bool:
        """Return whether the table's file is the one that the recipe was made with, to the byte."""
        path = self.find()
        return path is not None and hashlib.sha256(path.read_bytes()).hexdigest() == self.parquet_sha256


def read_recipes(hidden: str | None = None) -> dict[str, Recipe]:
    """Return all recipes by name: real streams, generated ones, and those of a maintainer's hidden folder."""
    order = list(KINDS)
    found = [Recipe.read(path) for path in RECIPES.glob("*.toml")]
    if hidden:
        found += [Recipe.read(path, is_hidden=True) for path in Path(hidden).glob("*.toml")]
    return {one.name: one for one in sorted(found, key=lambda one: (order.index(one.kind), one.name))}


def load_table(recipe: Recipe) -> pd.DataFrame:
    """Return a stream's whole table, numbers as float64 and text as objects, after its digest was compared.

    Raises
    ------
    DataError
        If the table is not there or differs from the recipe.
    """
    if recipe.is_generated:
        table = generated.draw(recipe.name)
    else:
        path = recipe.find()
        if path is None:
            variable = HIDDEN_VARIABLE if recipe.kind == "hidden" else DATA_VARIABLE
            said = recipe.folder or os.environ.get(variable)
            raise DataError(
                f"the table of {recipe.name!r} is not there: {variable} is {said!r}. Expected a folder with "
                f"{recipe.name}.parquet in it, or in its subfolder streams. Source: {recipe.source}"
            )
        try:
            table = normalize(pd.read_parquet(path))
        except (pyarrow.ArrowException, OSError, KeyError) as error:
            raise DataError(
                f"the table of {recipe.name!r} cannot be read ({type(error).__name__}: {error}); expected a Parquet "
                f"file with a column {CLASS!r}."
            ) from None
    found = digest_table(table)
    if found != recipe.sha256:
        raise DataError(
            f"the table of {recipe.name!r} has the digest {found}, but its recipe {recipe.sha256}: a value, a column "
            f"or the order changed ({len(table):,} samples arrived, {recipe.n_records:,} are expected). Get the table "
            "of the recipe; results on another one cannot be compared."
        )
    return table


def normalize(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of float64 and of str or None, the class last; samples without a label are left out."""
    columns: dict[str, Any] = {}
    for name in [*(one for one in table.columns if one != CLASS), CLASS]:
        column = table[name]
        if name != CLASS and pd.api.types.is_numeric_dtype(column):
            columns[name] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            values = column.astype(object).to_numpy()
            columns[name] = [None if value is None or value != value else str(value) for value in values]
    made = pd.DataFrame({name: _as_column(values) for name, values in columns.items()})
    return made.loc[made[CLASS].notna()].reset_index(drop=True)


def _as_column(values: Any) -> pd.Series[Any]:
    """Return numbers as they are, and text as objects in every version of pandas."""
    return pd.Series(values) if isinstance(values, np.ndarray) else pd.Series(values, dtype=object)


def digest_table(table: pd.DataFrame) -> str:
    """Return the SHA-256 of a table's content: names, values and order, not how a file stores them.

    Numbers count as little-endian float64 with one NaN, text as its distinct values in order of appearance and the
    index of each sample's among them.

    Examples
    --------
    >>> import pandas as pd
    >>> table = normalize(pd.DataFrame({"x": [1.0, 2.0], "class": ["a", "b"]}))
    >>> digest_table(table)[:12], digest_table(table.iloc[::-1])[:12]
    ('4254c91ff592', 'f16175282a24')
    """
    digest = hashlib.sha256()
    for name in table.columns:
        column = table[name]
        digest.update(f"{name}\0{len(column)}\0{column.dtype.kind}\0".encode())
        if column.dtype.kind == "f":
            values = column.to_numpy(dtype="<f8", copy=True)
            values[np.isnan(values)] = np.nan
            values += 0.0  # -0.0 is 0.0
        else:
            values, distinct = pd.factorize(column)
            values = values.astype("<i4")
            digest.update("\0".join(distinct).encode() + b"\0\0")
        digest.update(values.tobytes())
    return digest.hexdigest()


def cut_batches(
    table: pd.DataFrame, recipe: Recipe, *, quick: bool = False, max_batches: int | None = None
) -> list[Batch]:
    """Return a stream's first batches in order, as its recipe says; in a quick run samples of the whole stream."""
    thin = quick_thin(recipe) if quick else recipe.thin
    return cut_table(table, recipe.batch_size, thin, quick=quick, max_batches=max_batches)


def quick_thin(recipe: Recipe) -> int:
    """Return every how many-th sample a quick run takes, so that its few batches reach the end of the stream.

    Examples
    --------
    >>> quick_thin(read_recipes()["abrupt"])
    8
    """
    return max(1, recipe.n_records // (QUICK_BATCHES * QUICK_SIZE))


def quick_drift(recipe: Recipe) -> tuple[int, ...]:
    """Return the batches of a quick run in which the rules change.

    Examples
    --------
    >>> abrupt = read_recipes()["abrupt"]
    >>> abrupt.drift, quick_drift(abrupt)
    ((14, 27), (4, 8))
    """
    return tuple(batch * recipe.batch_size // (quick_thin(recipe) * QUICK_SIZE) for batch in recipe.drift)
