"""Learn batches from files, or from a folder into which files are written."""

from __future__ import annotations

import time
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from adforest.cli.options import (
    MODEL,
    READING,
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
    with_options,
)
from adforest.cli.output import progress_bar
from adforest.log_lines import LogFormat, remark, set_log_format
from adforest.wording import counted

REJECTED = 3  # exit code of --once where files were set aside


class OnConflict(StrEnum):
    """Reaction to a model file that another program changed."""

    RELOAD = "reload"
    REFUSE = "refuse"


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
    """Learn files, one batch after the other, into a model file: a new one, or an existing one that learns on.

    The model is tested on each batch before it learns it, and its file is written after each. After an interruption the
    same command goes on where it was: a batch that was learnt is recognised by its content. Parameters of an existing
    model stay as they are unless they are given; some cannot change any more.

    The columns printed: classes in the batch (S one, M several; K known, U unknown, KU both), drift, accuracy of the
    model on the batch before learning it, and the forest with the most weight in the vote from then on.
    """
    from adforest.alerts import read_alerts
    from adforest.cli.batch_files import about_records, column_names, found_files
    from adforest.cli.learning import NO_TARGET, Learner
    from adforest.cli.model_file import locked
    from adforest.cli.progress import BatchTable
    from adforest.cli.status import StatusFiles
    from adforest.cli.surveying import Limits

    start = time.perf_counter()
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
            table.close(learner, time.perf_counter() - start)


def _learn_all(learner: Any, files: list[Path], table: Any, bar: Any, rules: Any, status: Any) -> None:
    """Learn all that was not learnt yet."""
    from adforest.reading.files import NoRecordsError

    def advance(batch: Any) -> None:
        status.write()
        if learner.batch_size is not None:
            bar.advance(len(batch.y), batch.files[-1].name)

    if learner.batch_size is not None:
        table.learn(learner, learner.pieces(files), rules, advance)
        return
    n_empty = 0
    for path in files:
        bar.advance(0, path.name)
        n_before = table.n_batches
        try:
            table.learn(learner, learner.batches(path), rules, advance)
        except NoRecordsError as error:
            n_empty += 1
            if n_empty == len(files):
                raise
            remark(f"warning: {error}")
        else:
            table.n_skipped += table.n_batches == n_before
        bar.advance(path.stat().st_size)


@with_options(reading=READING, parameters=MODEL)
def watch(
    folder: Annotated[
        Path, typer.Argument(help="The folder into which files are written.", exists=True, file_okay=False)
    ],
    model: ModelPath,
    reading: dict[str, Any],
    parameters: dict[str, Any],
    target: Target = None,
    alerts: AlertRules = None,
    aside: Annotated[
        Path | None, typer.Option(help="Where files go that cannot be learnt. Default: FOLDER/rejected")
    ] = None,
    interval: Annotated[float, typer.Option(min=0.01, help="Seconds between two looks at the folder.")] = 2.0,
    settle: Annotated[
        float, typer.Option(min=0, help="Seconds for which a file must have been seen unchanged before it is read.")
    ] = 2.0,
    patience: Annotated[
        float,
        typer.Option(min=0, help="Seconds without a change after which a file that seems unfinished is set aside."),
    ] = 30.0,
    marker: Annotated[
        str,
        typer.Option(
            metavar="SUFFIX",
            help="Read a file as soon as there is another one with this suffix, such as .done: month.csv.done.",
            show_default=False,
        ),
    ] = "",
    batch_size: Annotated[
        int | None,
        typer.Option(min=1, help="Samples in a batch: files are cut. By default each file is one batch unless large."),
    ] = None,
    max_records: MaxRecords = None,
    max_bytes: MaxBytes = None,
    max_columns: MaxColumns = None,
    keep: Keep = 0,
    attempts: Annotated[
        int, typer.Option(min=1, help="How often a file may crash the process before it is set aside.")
    ] = 3,
    on_conflict: Annotated[
        OnConflict,
        typer.Option(help="What to do about a model file that another program changed: read it again, or end."),
    ] = OnConflict.RELOAD,
    challenger: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A parameter of a second model, which learns too, into NAME.challenger.adf; see: adforest promote.",
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="End when nothing is left to learn.")] = False,
    metrics_file: MetricsFile = None,
    log_format: LogStyle = LogFormat.TEXT,
    as_json: AsJson = False,
) -> int | None:
    """Learn files as they appear in a folder, until Ctrl-C.

    Every file is a batch, learnt once it no longer changes. Learnt files stay where they are; after a restart, and
    under another name, they are recognised by their content; of a text file that was appended to, the new lines are
    learnt. A file that cannot be learnt is moved aside, with a text file that says why. After errors that may be
    temporary, such as a full disk, the command tries again. With --once the exit code is 3 if files were set aside.
    """
    from adforest.alerts import read_alerts
    from adforest.cli.folder import Folder
    from adforest.cli.learning import Learner
    from adforest.cli.model_file import locked
    from adforest.cli.progress import BatchTable
    from adforest.cli.status import StatusFiles, notify
    from adforest.cli.surveying import Limits
    from adforest.cli.watching import Challenger, Watcher, read_changes
    from adforest.monitor.challenge import challenger_path

    start = time.perf_counter()
    set_log_format(log_format)
    changes, beside = read_changes(challenger or ()), challenger_path(model)
    with (
        read_alerts(alerts) as rules,
        locked(model, keep) as file,
        locked(beside) if changes else nullcontext() as rival_file,
        progress_bar("watching", None) as bar,
    ):
        limits = Limits(max_records, max_bytes, max_columns)
        learner = Learner(file, target, parameters, reading, batch_size, limits)
        rival = None
        if rival_file is not None:
            given = learner.target, parameters | changes, learner.reading  # files are read as for the champion
            beside_it = Learner(rival_file, *given, batch_size, limits)
            rival = Challenger(learner, beside_it, changes)
        rules.begin(learner)
        by_time = reading.get("order") == "time"
        watched = Folder(folder, settle, patience, aside or folder / "rejected", by_time=by_time, marker=marker)
        table = BatchTable(list(folder.iterdir()), bar.print, as_json=as_json, log_format=log_format)
        status = StatusFiles(learner, rules, metrics_file)
        watcher = Watcher(learner, watched, table, rules, status, interval, attempts, on_conflict.value, rival)
        stopped = ""
        try:
            watcher.run(lambda what: bar.advance(0, what), once=once)
        except KeyboardInterrupt as error:
            if once:
                raise
            stopped = getattr(error, "name", "SIGINT")
        notify("STOPPING=1")
        table.close(learner, time.perf_counter() - start, stopped)
    return REJECTED if once and watcher.n_rejected else None
