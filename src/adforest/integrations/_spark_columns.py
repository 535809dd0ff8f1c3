"""The columns of Spark's DataFrames: their types, and whether a model can read them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, types

from adforest.exceptions import InputError, InputTypeError
from adforest.forest.types import AnyArray
from adforest.snapshot import Snapshot

READABLE = (
    types.NumericType,
    types.BooleanType,
    types.StringType,
    types.DateType,
    types.TimestampType,
    types.TimestampNTZType,
    types.DayTimeIntervalType,
    types.NullType,
)


class Columns(NamedTuple):
    """Columns of a DataFrame, by name."""

    names: tuple[str, ...]
    features: tuple[str, ...]
    label: str | None = None
    weight: str | None = None

    def read(self, table: pa.Table) -> tuple[Any, AnyArray | None, AnyArray | None]:
        """Return samples, labels and weights of a table whose first columns are these."""
        named = table.select(range(len(self.names))).rename_columns(list(self.names))
        y, weight = (None if name is None else named.column(name).to_numpy() for name in (self.label, self.weight))
        return named.select(list(self.features)), y, weight


def by_position(df: Any) -> Any:
    """Return a DataFrame with columns named by index: mapInArrow interprets a dot in a name as a field."""
    return df.toDF(*map(str, range(len(df.columns))))


def check_frame(df: Any, advice: str | None = None) -> None:
    """Raise if an object is not a DataFrame of Spark, or is a stream where it must not be one."""
    if not isinstance(df, DataFrame):
        kind = f"{type(df).__module__.partition('.')[0]}.{type(df).__name__}"
        raise InputTypeError(
            f"df is a {kind}; expected a DataFrame of Spark. Make one with spark.createDataFrame(), or use to_local() "
            "for tables that are here."
        )
    if advice is not None and df.isStreaming:
        raise InputTypeError(f"df is a stream, which has no end. {advice}")


def check_names(df: Any, names: Iterable[str]) -> None:
    """Raise if a DataFrame lacks a column, or has two of that name."""
    for name in names:
        n = df.columns.count(name)
        if n != 1:
            problem = "no column" if n == 0 else f"{n} columns named"
            raise InputError(f"df has {problem} {name!r}; its columns are {', '.join(map(repr, df.columns[:20]))}.")


def check_types(df: Any, names: Iterable[str]) -> None:
    """Raise if a column is of a type that is neither numbers, text nor dates."""
    by_name = {field.name: field.dataType for field in df.schema.fields}
    for name in names:
        if not isinstance(by_name[name], READABLE):
            raise InputTypeError(
                f"column {name!r} holds {by_name[name].simpleString()}; expected numbers, text, booleans, dates or "
                "durations. Drop it, or select what it holds into columns of their own."
            )


def class_type(model: Snapshot) -> Any:
    """Return the Spark type of the class values of a model."""
    kind = model.classes_.dtype.kind
    if kind == "u" and int(model.classes_.max()) >= 2**63:
        raise InputError("class values of 2**63 and more have no type in Spark. Learn them as text.")
    by_kind = {"b": types.BooleanType(), "i": types.LongType(), "u": types.LongType(), "f": types.DoubleType()}
    return by_kind.get(kind, types.StringType())
