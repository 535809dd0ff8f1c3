"""Learn files as they appear in a folder."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from adforest.cli.options import AlertRules, AsJson, LogStyle, MetricsFile, ModelPath, Target
from adforest.cli.output import LogFormat, progress_bar, remark, set_log_format
from adforest.cli.parameters import MODEL, READING, with_options


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
    interval: Annotated[float, typer.Option(min=0.01, help="Seconds between two looks.")] = 2.0,
    settle: Annotated[
        float, typer.Option(min=0, help="Seconds for which a file must not have changed before it is read.")
    ] = 2.0,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds after its last change that a file which cannot be read is waited for.")
    ] = 30.0,
    challenger: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A parameter of a second model, which learns beside into NAME.challenger.adf; see: adforest promote.",
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="End when nothing is left to learn.")] = False,
    metrics_file: MetricsFile = None,
    log_format: LogStyle = LogFormat.TEXT,
    as_json: AsJson = False,
) -> None:
    """Learn files as they appear in a folder, until Ctrl-C.

    Every file is a batch, learnt once it stands still. Learnt files stay where they are; after a restart, and under
    another name, they are known by their content. A file that cannot be learnt is moved aside, beside a text that
    tells the reason.
    """
    from adforest.cli.alerts import read_alerts
    from adforest.cli.challenging import Challenger, read_changes
    from adforest.cli.learning import Learner
    from adforest.cli.model_file import locked
    from adforest.cli.progress import BatchTable
    from adforest.cli.status import StatusFiles
    from adforest.cli.watching import Folder
    from adforest.monitor.challenge import challenger_path

    start = time.perf_counter()
    set_log_format(log_format)
    changes, beside = read_changes(challenger or ()), challenger_path(model)
    with (
        read_alerts(alerts) as rules,
        locked(model),
        locked(beside) if changes else nullcontext(),
        progress_bar("watching", None) as bar,
    ):
        learner = Learner(model, target, parameters, reading)
        rival = (
            Challenger(learner, Learner(beside, target, parameters | changes, reading), changes) if changes else None
        )
        rules.begin(learner)
        status = StatusFiles(learner, rules, metrics_file)
        places = Folder(folder, settle, patience, aside or folder / "rejected", by_time=reading.get("order") == "time")
        table = BatchTable(list(folder.iterdir()), bar.print, as_json=as_json, log_format=log_format)
        try:
            while True:
                for path in places.look():
                    bar.advance(0, path.name)
                    _take(path, learner, places, table, rules, status)
                    if rival is not None:
                        rival.follow(path, table)
                    status.write(places.n_waiting)
                if once and not places.n_waiting:
                    break
                rules.check_age()
                status.write(places.n_waiting)
                bar.advance(0, f"waiting for files in {folder}")
                time.sleep(interval)
        except KeyboardInterrupt:
            if once:
                raise
        table.close(learner, time.perf_counter() - start)


def _take(path: Path, learner: Any, places: Any, table: Any, rules: Any, status: Any) -> None:
    """Learn a file, or find that it is known, not finished, or no batch."""
    from adforest.streams.layout import MissingTargetError

    start = time.perf_counter()
    found = []
    try:
        found = list(learner.batches(path))
    except MissingTargetError:
        if learner.is_new:  # more likely a wrong --target than a wrong file
            raise
        problem: Exception | None = MissingTargetError(
            f"'{path}' has no column {learner.target!r}, which is the target"
        )
    except FileNotFoundError:
        return
    except Exception as error:  # whatever it is, the next file may be good
        problem = error
    else:
        problem = None
    if not places.is_unchanged(path):
        return  # it was written to meanwhile: what was read may be parts of two files
    if problem is None and not found:
        table.n_skipped += 1
        places.done(path)
        return
    for batch, digest in found:
        try:
            rules.look(batch)
            report = learner.learn(batch, digest, rules.noted)
        except OSError:  # the model could not be written, which is no fault of the file
            raise
        except Exception as error:
            problem = error
            break
        table.add(report, batch.files, time.perf_counter() - start)
        rules.tell()
        start = time.perf_counter()
    if problem is None:
        places.done(path)
    elif places.is_given_up(path):
        _put_aside(path, problem, places, table, rules)
        status.rejected()


def _put_aside(path: Path, problem: Exception, places: Any, table: Any, rules: Any) -> None:
    """Move a file aside, and tell of it."""
    from adforest.cli.wording import in_shell_words

    reason = " ".join(in_shell_words(str(problem)).split())
    rules.rejected(path, reason)
    try:
        target = places.put_aside(path, reason)
    except OSError as error:
        places.done(path)
        remark(f"warning: {path.name} cannot be learnt ({reason}) nor moved aside ({error})")
        return
    text = f"{path.name} was moved to {target}: {reason}"
    table.tell("rejected", "warning", text, file=str(path), moved_to=str(target), reason=reason)
