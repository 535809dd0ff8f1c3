"""Answer records from files."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from adforest.cli.options import AsJson, Force, ModelPath
from adforest.cli.output import counted, print_json, progress_bar, say
from adforest.cli.parameters import ANSWERING, with_options


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
    """Answer records: label, probability of each class, confidence.

    Files may be larger than memory. Columns are found by name, and those that the model does not know are passed over,
    the target too. The confidence is the probability of the label.
    """
    from adforest.cli.batches import found_files, reading_for_answers
    from adforest.cli.model_file import load_model
    from adforest.cli.predictions import check_output

    check_output(out, force)
    is_escaped = escape_formulas and (out == "-" or out.lower().endswith(".csv"))
    loaded = load_model(model)
    if n_jobs is not None:
        loaded.set_params(n_jobs=n_jobs)
    start = perf_counter()
    with found_files(files, reading.get("order")) as paths:
        how = reading_for_answers(loaded, reading)
        counts = _answer_all(loaded, paths, out, keep or [], how, probabilities=probabilities, is_escaped=is_escaped)
    n_samples, seconds = sum(counts.values()), perf_counter() - start
    if not n_samples:
        raise ValueError("there are no records in these files; expected at least one. Name other files.")
    if as_json and out != "-":
        print_json({"out": out, "records": n_samples, "labels": counts, "seconds": seconds})
    elif out != "-":
        most = sorted(counts, key=lambda label: -counts[label])[:5]
        listed = ", ".join(f"{label} {counts[label] / n_samples:.1%}" for label in most)
        say(f"{out}: {counted(n_samples, 'record')} in {seconds:.1f} s; {listed}{', …' if len(counts) > 5 else ''}")


def _answer_all(
    model: Any,
    paths: list[Path],
    out: str,
    keep: list[str],
    reading: dict[str, Any],
    *,
    probabilities: bool,
    is_escaped: bool,
) -> dict[Any, int]:
    """Write the answers to all records, and return how often each label was given."""
    from contextlib import ExitStack

    import numpy as np

    from adforest.cli.batches import about_records, all_types
    from adforest.cli.predictions import answered, columns_of_answers, opened_writer, without_formulas
    from adforest.reading.records import read_records

    names = columns_of_answers(model, keep, has_probabilities=probabilities)
    types, may_lack = all_types(model), model.column_changes == "allow"
    counts = np.zeros(len(model.classes_), dtype=np.int64)
    with ExitStack() as stack:
        writer: Any = None
        bar = stack.enter_context(progress_bar("predicting", about_records(paths)))
        for path in paths:
            bar.advance(0, path.name)
            for X, kept in read_records([path], types, keep=keep, may_lack=may_lack, **reading):
                table, found = answered(model, X, kept, names)
                table = without_formulas(table) if is_escaped else table
                if writer is None:
                    writer = stack.enter_context(opened_writer(out, table.schema))
                writer.write_table(table)
                counts += found
                bar.advance(len(X))
    return {label: int(n) for label, n in zip(model.classes_.tolist(), counts.tolist(), strict=True) if n}
