"""Predictions of a model as tables, written piece by piece: Parquet, CSV or JSON lines."""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

STANDARD_OUTPUT = "-"
FORMATS = (".parquet", ".csv", ".jsonl")
FORMULA = r"^[=+\-@＝＋－＠\t\r\n]"  # text that a spreadsheet would run
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"  # which it would not
LABEL, CONFIDENCE = "label", "confidence"


def check_output(path: str, force: bool) -> None:
    """Raise if the suffix of a path is not known, or if the file exists and may not be replaced."""
    if path == STANDARD_OUTPUT:
        return
    if Path(path).suffix.lower() not in FORMATS:
        raise ValueError(
            f"--out is '{path}'; expected a name that ends in {' or '.join(FORMATS)}, or - for CSV on standard output. "
            "Name another file."
        )
    check_free(Path(path), force)


def check_free(path: Path, force: bool) -> None:
    """Raise if a file exists and may not be replaced."""
    if path.exists() and not force:
        raise ValueError(f"'{path}' is there already. Name another file with --out, or replace it with --force.")


@contextmanager
def opened_writer(path: str, schema: Any) -> Iterator[Any]:
    """Open a writer in the format of the path's suffix; - is CSV on standard output."""
    if path == STANDARD_OUTPUT:
        writer = _writer(sys.stdout.buffer, ".csv", schema)
        yield writer
        writer.close()
        return
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(beside, "xb") as file:
            writer = _writer(file, target.suffix.lower(), schema)
            yield writer
            writer.close()
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def _writer(file: Any, suffix: str, schema: Any) -> Any:
    """Return the writer of a format."""
    from pyarrow import csv, parquet

    if suffix == ".parquet":
        # Probabilities hardly repeat: a dictionary of them costs time and saves nothing.
        coded = [field.name for field in schema if not str(field.type).startswith(("double", "float"))]
        writer = parquet.ParquetWriter(file, schema, use_dictionary=coded, write_statistics=False)
        return writer
    if suffix == ".csv":
        writer = csv.CSVWriter(file, schema, write_options=csv.WriteOptions(quoting_style="needed"))
        return writer
    return JsonLinesWriter(file)


class JsonLinesWriter:
    """Writes one JSON object per record; missing values are null."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write_table(self, table: Any) -> None:
        """Write the records of a table."""
        lines = (json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in table.to_pylist())
        self._file.write("".join(lines).encode())

    def close(self) -> None:
        """Do nothing: every line is written."""


def probability_columns(model: Any, keep: Sequence[str], *, has_probabilities: bool) -> list[str]:
    """Return the names of the probabilities' columns, or raise if a column to be kept has one of the names."""
    names = [f"probability_{value}" for value in model.classes_.tolist()] if has_probabilities else []
    taken = [name for name in keep if name in (LABEL, CONFIDENCE, *names)]
    if taken:
        raise ValueError(
            f"--keep names {taken[0]!r}, which is the name of a column of predictions. Rename the column in the file."
        )
    return names


def predicted(model: Any, X: Any, kept: Any, names: Sequence[str]) -> tuple[Any, Any]:
    """Return the predictions for some records as a table, and how often each class is the label.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier
    X, kept : pyarrow.Table
        The records, and columns to be written before the predictions.
    names : sequence of str
        Names of the probabilities' columns, or none to leave them out.
    """
    import numpy as np
    import pyarrow as pa

    proba = model.predict_proba(X)
    best = proba.argmax(axis=1)
    values = pa.array(model.classes_.tolist())
    columns = dict(zip(kept.column_names, kept.columns, strict=True))
    columns[LABEL] = values.take(pa.array(best))
    by_class = np.ascontiguousarray(proba.T)
    columns |= {name: pa.array(by_class[index]) for index, name in enumerate(names)}
    columns[CONFIDENCE] = pa.array(proba[np.arange(len(best)), best])
    return pa.table(columns), np.bincount(best, minlength=len(values))


def without_formulas(table: Any) -> Any:
    """Return a table without text or column names that spreadsheets would run as formulas.

    Such text is prefixed with an apostrophe, which marks it as text. Numbers written as text are left as they are.
    """
    import pyarrow as pa
    from pyarrow import compute

    columns = []
    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            is_run = compute.match_substring_regex(column, FORMULA)
            is_run = compute.and_not(is_run, compute.match_substring_regex(column, NUMBER))
            quoted = compute.binary_join_element_wise("'", column, pa.scalar("", column.type))
            column = compute.if_else(is_run, quoted, column)
        columns.append(column)
    is_run = [re.match(FORMULA, name) and not re.match(NUMBER, name) for name in table.column_names]
    names = [f"'{name}" if run else name for name, run in zip(table.column_names, is_run, strict=True)]
    return pa.table(columns, names=names)
