"""Predict samples from files, and explain predictions."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from adforest.cli.options import ANSWERING, AsJson, Force, ModelPath, with_options
from adforest.cli.output import print_json, progress_bar, say
from adforest.wording import counted


@with_options(reading=ANSWERING)
def predict(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Files, folders, patterns, or - for standard input.")
    ],
    model: ModelPath,
    reading: dict[str, Any],
    out: Annotated[
        str,
        typer.Option("--out", "-o", help="Where to write: .parquet, .csv or .jsonl; - is CSV on standard output."),
    ] = "-",
    keep: Annotated[
        list[str] | None, typer.Option(help="A column of the files to be written too, such as an identifier.")
    ] = None,
    probabilities: Annotated[bool, typer.Option(help="Write the probability of each class.")] = True,
    n_jobs: Annotated[int | None, typer.Option(help="Threads. Default: as the model learnt with.")] = None,
    escape_formulas: Annotated[
        bool,
        typer.Option(help="Put ' before text in CSV that a spreadsheet would run as a formula: = + - @ at its start."),
    ] = True,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Predict records: label, probability of each class, confidence.

    Files may be larger than memory. Columns are found by name; those that the model does not know are ignored, the
    target too. The confidence is the probability of the label.
    """
    from adforest.cli.batch_files import found_files
    from adforest.cli.model_file import load_model
    from adforest.cli.prediction_files import check_output

    check_output(out, force)
    is_escaped = escape_formulas and (out == "-" or out.lower().endswith(".csv"))
    loaded = load_model(model)
    if n_jobs is not None:
        loaded.set_params(n_jobs=n_jobs)
    start = perf_counter()
    with found_files(files, reading.get("order")) as paths:
        counts = _predict_all(
            loaded, paths, out, keep or [], reading, probabilities=probabilities, is_escaped=is_escaped
        )
    n_samples, seconds = sum(counts.values()), perf_counter() - start
    if not n_samples:
        raise ValueError("there are no records in these files; expected at least one. Name other files.")
    if as_json and out != "-":
        print_json({"out": out, "records": n_samples, "labels": counts, "seconds": seconds})
    elif out != "-":
        most = sorted(counts, key=lambda label: -counts[label])[:5]
        listed = ", ".join(f"{label} {counts[label] / n_samples:.1%}" for label in most)
        say(f"{out}: {counted(n_samples, 'record')} in {seconds:.1f} s; {listed}{', …' if len(counts) > 5 else ''}")


def _predict_all(
    model: Any,
    paths: list[Path],
    out: str,
    keep: list[str],
    reading: dict[str, Any],
    *,
    probabilities: bool,
    is_escaped: bool,
) -> dict[Any, int]:
    """Write the predictions for all records, and return how often each label was predicted."""
    import numpy as np

    from adforest.cli.batch_files import about_records, records_of
    from adforest.cli.prediction_files import opened_writer, predicted, probability_columns, without_formulas

    names = probability_columns(model, keep, has_probabilities=probabilities)
    counts = np.zeros(len(model.classes_), dtype=np.int64)
    with ExitStack() as stack:
        writer: Any = None
        bar = stack.enter_context(progress_bar("predicting", about_records(paths)))
        for path in paths:
            bar.advance(0, path.name)
            for X, kept in records_of(model, [path], reading, keep):
                table, found = predicted(model, X, kept, names)
                table = without_formulas(table) if is_escaped else table
                if writer is None:
                    writer = stack.enter_context(opened_writer(out, table.schema))
                writer.write_table(table)
                counts += found
                bar.advance(len(X))
    return {label: int(n) for label, n in zip(model.classes_.tolist(), counts.tolist(), strict=True) if n}


@with_options(reading=ANSWERING)
def explain(
    file: Annotated[str, typer.Argument(help="A file, or - for standard input.")],
    model: ModelPath,
    reading: dict[str, Any],
    row: Annotated[
        list[int] | None,
        typer.Option(min=1, help="A record to explain, counted from 1; may be given several times. Default: 1"),
    ] = None,
    label: Annotated[
        str | None, typer.Option("--class", help="The class to explain. Default: the predicted one")
    ] = None,
    most: Annotated[
        int, typer.Option(min=1, help="How many columns to list, those with the largest contributions.")
    ] = 10,
    as_json: AsJson = False,
) -> None:
    """Explain the predictions for records of a file: what each column adds to the probability of a class."""
    from adforest.cli.batch_files import found_files
    from adforest.cli.model_file import load_model

    loaded = load_model(model)
    rows = list(dict.fromkeys(row or [1]))
    with found_files([file], reading.get("order")) as paths:
        explanation = loaded.explain(_take(loaded, paths, rows, reading))
    value = None
    if label is not None:
        by_name = {str(value): value for value in loaded.classes_.tolist()}
        if label not in by_name:
            raise ValueError(f"--class is {label!r}; expected one of {', '.join(map(repr, list(by_name)[:20]))}.")
        value = by_name[label]
    for index, number in enumerate(rows):
        if as_json:
            print_json(_as_json(explanation, index, number))
        else:
            _, _, text = explanation.text(index, value, most).partition(": ")
            say(f"row {number}: {text}")


def _take(model: Any, paths: list[Any], rows: list[int], reading: dict[str, Any]) -> Any:
    """Return the records of some rows as a table, in their order."""
    import pyarrow as pa

    from adforest.cli.batch_files import records_of

    found: dict[int, Any] = {}
    n_before = 0
    for X, _ in records_of(model, paths, reading):
        wanted = [number for number in rows if n_before < number <= n_before + X.num_rows]
        found |= {number: X.slice(number - n_before - 1, 1) for number in wanted}
        n_before += X.num_rows
        if len(found) == len(rows):
            return pa.concat_tables([found[number] for number in rows])
    lacking = next(number for number in rows if number not in found)
    raise ValueError(
        f"--row is {lacking}, but there are {n_before:,} records; they are counted from 1. Choose one of them."
    )


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
