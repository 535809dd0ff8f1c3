"""Learn batches from files."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from adforest.cli.options import (
    AlertRules,
    AsJson,
    Keep,
    LogStyle,
    MaxBytes,
    MaxColumns,
    MaxRecords,
    MetricsFile,
    ModelPath,
    Target,
)
from adforest.cli.output import LogFormat, counted, progress_bar, remark, set_log_format
from adforest.cli.parameters import MODEL, READING, with_options


@with_options(reading=READING, parameters=MODEL)
def learn(
    batches: Annotated[
        list[str],
        typer.Argument(metavar="BATCH", help="Files, folders, patterns such as 'data/*.csv', or - for standard input."),
    ],
    model: ModelPath,
    reading: dict[str, Any],
    parameters: dict[str, Any],
    target: Target = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            min=1, help="Samples in a batch: files are cut and joined. By default each file is one batch unless large."
        ),
    ] = None,
    max_records: MaxRecords = None,
    max_bytes: MaxBytes = None,
    max_columns: MaxColumns = None,
    keep: Keep = 0,
    alerts: AlertRules = None,
    metrics_file: MetricsFile = None,
    log_format: LogStyle = LogFormat.TEXT,
    as_json: AsJson = False,
) -> None:
    """Learn files, batch after batch, into a model file: a new one, or one that is there and learns on.

    The model is tested on each batch before it learns it, and its file is written after each. A command that was killed
    goes on where it was when it is given again: a batch that was learnt is known by its content. Parameters of a model
    that learns on stay as they are unless they are given; some cannot change any more.

    The columns printed: classes in the batch (S one, M several; K known, U unknown, KU both), drift, accuracy of the
    model on the batch before learning it, and the forest that answers from then on.
    """
    from adforest.cli.alerts import read_alerts
    from adforest.cli.batches import about_records, column_names, found_files
    from adforest.cli.learning import NO_TARGET, Learner
    from adforest.cli.model_file import locked
    from adforest.cli.progress import BatchTable
    from adforest.cli.status import StatusFiles
    from adforest.cli.surveying import Limits

    start = perf_counter()
    set_log_format(log_format)
    with (
        read_alerts(alerts) as rules,
        locked(model, keep) as file,
        found_files(batches, reading.get("order")) as files,
    ):
        if target is None and not model.exists():
            raise ValueError(f"{NO_TARGET}, one of {', '.join(map(repr, column_names(files[0], reading)[:20]))}.")
        limits = Limits(max_records, max_bytes, max_columns)
        learner = Learner(file, target, parameters, reading, batch_size, limits)
        rules.begin(learner)
        status = StatusFiles(learner, rules, metrics_file)
        total = sum(path.stat().st_size for path in files) if batch_size is None else about_records(files)
        with progress_bar("reading", total) as bar:
            table = BatchTable(files, bar.print, as_json=as_json, log_format=log_format)
            try:
                _learn_all(learner, files, table, bar, rules, status)
            except BaseException as error:
                n_learnt = learner.n_learnt()
                if n_learnt:
                    kept = f"{counted(n_learnt, 'batch')} learnt before this, kept in '{model}'"
                    error.add_note(f"{kept}: the same command goes on from there.")
                raise
            status.write()
            table.close(learner, perf_counter() - start)


def _learn_all(learner: Any, files: list[Path], table: Any, bar: Any, rules: Any, status: Any) -> None:
    """Learn all that was not learnt yet."""
    from adforest.reading.files import NoRecordsError

    if learner.batch_size is not None:
        _learn_each(learner, learner.pieces(files), table, rules, bar, status)
        return
    n_empty = 0
    for path in files:
        bar.advance(0, path.name)
        n_before = table.n_batches
        try:
            _learn_each(learner, learner.batches(path), table, rules, bar, status)
        except NoRecordsError as error:
            n_empty += 1
            if n_empty == len(files):
                raise
            remark(f"warning: {error}")
        else:
            table.n_skipped += table.n_batches == n_before
        bar.advance(path.stat().st_size)


def _learn_each(learner: Any, found: Any, table: Any, rules: Any, bar: Any, status: Any) -> None:
    """Learn some batches and tell of each."""
    start = perf_counter()
    for batch, parts in found:
        rules.look(batch)
        learner.learn(batch, parts, table.teller(batch.files, start, rules.tell), rules.noted)
        status.write()
        if learner.batch_size is not None:
            bar.advance(len(batch.y), batch.files[-1].name)
        start = perf_counter()
