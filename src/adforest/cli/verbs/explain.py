"""Say why records are answered as they are."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from adforest.cli.options import AsJson, ModelPath
from adforest.cli.output import print_json, say
from adforest.cli.parameters import ANSWERING, with_options


@with_options(reading=ANSWERING)
def explain(
    file: Annotated[str, typer.Argument(help="A file, or - for standard input.")],
    model: ModelPath,
    reading: dict[str, Any],
    row: Annotated[
        list[int] | None,
        typer.Option(min=1, help="A record to explain, counted from 1; may be given again. Default: 1"),
    ] = None,
    label: Annotated[
        str | None, typer.Option("--class", help="The class to explain. Default: the predicted one")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Columns to list, those that add or take most.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Say why records of a file are answered as they are: what each column adds to the probability of a class."""
    from adforest.cli.batches import found_files, reading_for_answers
    from adforest.cli.model_file import load_model

    loaded = load_model(model)
    rows = list(dict.fromkeys(row or [1]))
    with found_files([file], reading.get("order")) as paths:
        how = reading_for_answers(loaded, reading)
        explanation = loaded.explain(_take(loaded, paths, rows, how))
    value = None if label is None else _class_value(loaded, label)
    for index, number in enumerate(rows):
        if as_json:
            print_json(_as_json(explanation, index, number))
        else:
            _, _, told = explanation.text(index, value, most).partition(": ")
            say(f"row {number}: {told}")


def _take(model: Any, paths: list[Any], rows: list[int], reading: dict[str, Any]) -> Any:
    """Return the records of some rows as a table, in their order."""
    import pyarrow as pa

    from adforest.cli.batches import all_types
    from adforest.reading.records import read_records

    found: dict[int, Any] = {}
    n_before = 0
    for X, _ in read_records(paths, all_types(model), may_lack=model.column_changes == "allow", **reading):
        wanted = [number for number in rows if n_before < number <= n_before + X.num_rows]
        found |= {number: X.slice(number - n_before - 1, 1) for number in wanted}
        n_before += X.num_rows
        if len(found) == len(rows):
            return pa.concat_tables([found[number] for number in rows])
    lacking = next(number for number in rows if number not in found)
    raise ValueError(
        f"--row is {lacking}, but there are {n_before:,} records; they are counted from 1. Choose one of them."
    )


def _class_value(model: Any, label: str) -> Any:
    """Return the class that a text stands for."""
    by_name = {str(value): value for value in model.classes_.tolist()}
    if label not in by_name:
        raise ValueError(f"--class is {label!r}; expected one of {', '.join(map(repr, list(by_name)[:20]))}.")
    return by_name[label]


def _as_json(explanation: Any, index: int, number: int) -> dict[str, Any]:
    """Return an explanation as plain values."""
    classes = explanation.classes.tolist()
    return {
        "row": number,
        "label": explanation.predictions[index],
        "probabilities": dict(zip(classes, explanation.probabilities[index].tolist(), strict=True)),
        "contributions": explanation.rows(index),
        "forests": {name: one.weights[index] for name, one in explanation.forests.items()},
        "batches": explanation.batches(index),
    }
