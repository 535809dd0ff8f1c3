"""Test a model on labelled files, and compare two models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from adforest.cli.options import ANSWERING, TESTING, AsJson, ModelPath, Target, with_options
from adforest.cli.output import print_json, print_table, progress_bar, say
from adforest.wording import counted

SHOWN = 20  # classes in a table


@with_options(reading=TESTING)
def evaluate(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Files with the target, folders, patterns, or - for standard input."),
    ],
    model: ModelPath,
    reading: dict[str, Any],
    target: Target = None,
    as_json: AsJson = False,
) -> None:
    """Test a model on labelled records: accuracy, log loss, precision and recall of each class. It learns nothing.

    Files may be larger than memory. Classes that the model has not learnt count as wrong, and are listed.
    """
    from adforest.cli.evaluation import Evaluation
    from adforest.cli.model_file import load_model

    loaded = load_model(model)
    tested = Evaluation(loaded, _target(target, loaded), reading)
    _add_files(tested, files, reading, [("this model", loaded)], "testing")
    found = tested.as_dict()
    if as_json:
        print_json(found)
        return
    if len(found["files"]) > 1:
        listed = [(one["file"], f"{one['records']:,}", _figure(one["accuracy"])) for one in found["files"]]
        print_table("files", ("file", "records", "accuracy"), listed)
    rows = [
        (
            str(one["class"]),
            f"{one['records']:,}",
            _figure(one["precision"]),
            _figure(one["recall"]),
            "" if one["most_taken_for"] is None else str(one["most_taken_for"]),
        )
        for one in found["classes"][:SHOWN]
    ]
    print_table("classes", ("class", "records", "precision", "recall", "most often taken for"), rows)
    if len(found["classes"]) > SHOWN:
        say(f"and {counted(len(found['classes']) - SHOWN, 'class')} more; --json lists all\n")
    say(
        f"{counted(found['records'], 'record')}: accuracy {found['accuracy']:.3f}, log loss {found['log_loss']:.3f}, "
        f"balanced accuracy {found['balanced_accuracy']:.3f}"
        + (f"; {counted(found['unlabelled'], 'record')} without a class left out" if found["unlabelled"] else "")
    )


@with_options(reading=TESTING)
def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="A model file.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another one.")],
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Files with the target, folders, patterns, or - for stdin.")
    ],
    reading: dict[str, Any],
    target: Target = None,
    as_json: AsJson = False,
) -> None:
    """Compare two models on the same labelled records: accuracy, balanced accuracy, log loss, and where they differ.

    Neither learns anything. Whether the difference may be chance is McNemar's exact test on the records that one of
    them predicts right and the other wrong.
    """
    from adforest.cli.evaluation import Comparison
    from adforest.cli.model_file import load_model

    names, models = [str(first), str(second)], [load_model(first), load_model(second)]
    compared = Comparison(models, _target(target, *models), reading)
    _add_files(compared, files, reading, list(zip(names, models, strict=True)), "comparing")
    found = compared.as_dict(names)
    if as_json:
        print_json(found)
        return
    one, other = found["models"]
    rows = [
        (name.replace("_", " "), _figure(one[name]), _figure(other[name]), f"{other[name] - one[name]:+.3f}")
        for name in ("accuracy", "balanced_accuracy", "log_loss")
    ]
    print_table(f"A is {one['model']}, B is {other['model']}", ("metric", "A", "B", "B - A"), rows)
    differ = found["only_first_right"] + found["only_second_right"]
    say(
        f"{counted(found['records'], 'record')}, {found['same_answer'] / found['records']:.1%} predicted alike; only A "
        f"is right on {found['only_first_right']:,}, only B on {found['only_second_right']:,}"
        + (f" (McNemar's test: p = {found['p_value']:.2g})" if differ else "")
    )


@with_options(reading=ANSWERING)
def diff(
    first: Annotated[Path, typer.Argument(help="A model file, such as m.adf.versions/batch-000012.adf.")],
    second: Annotated[Path, typer.Argument(help="Another one, such as m.adf.")],
    reading: dict[str, Any],
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="Files whose predictions are compared.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two models: what one learnt and the other did not, and where their predictions for files differ."""
    from adforest.cli.evaluation import learnt_between, prediction_changes
    from adforest.cli.model_file import load_model

    models = load_model(first), load_model(second)
    found = learnt_between(*models)
    answers = prediction_changes(*models, files, reading) if files else None
    if as_json:
        shown = {"first": str(first), "second": str(second)} | found
        print_json(shown if answers is None else shown | {"answers": answers})
        return
    rows = [
        ("file", str(first), str(second)),
        *((name, f"{one:,}", f"{two:,}") for name, (one, two) in found["sizes"].items()),
        *((f"parameter {name}", str(one), str(two)) for name, (one, two) in found["parameters"].items()),
    ]
    print_table("", ("", "first", "second"), rows)
    say(f"{counted(found['batches_in_common'], 'batch')} in common")
    for name, path in (("first", first), ("second", second)):
        only = found["only"][name]
        if only["batches"]:
            accuracy = "" if only["accuracy"] is None else f", accuracy before learning them {only['accuracy']:.3f}"
            classes = f", new classes {', '.join(map(str, only['new_classes']))}" if only["new_classes"] else ""
            say(f"{path} alone learnt {counted(only['batches'], 'batch')}{accuracy}{classes}")
    if answers is not None:
        say(f"{answers['differ']:,} of {counted(answers['records'], 'record')} are predicted differently")
        pairs = [(str(one["first"]), str(one["second"]), f"{one['records']:,}") for one in answers["pairs"][:20]]
        if pairs:
            print_table("", ("first", "second", "records"), pairs)


def _target(given: str | None, *models: Any) -> str:
    """Return the column that holds the classes: given, or noted in the models if they agree."""
    from adforest.cli.learning import NO_TARGET
    from adforest.origins import origins_of

    noted = {origins_of(model).target for model in models} - {None}
    target = given or (noted.pop() if len(noted) == 1 else None)
    if target is None:
        raise ValueError(f"{NO_TARGET}. Add --target NAME.")
    return str(target)


def _add_files(
    tested: Any, files: list[str], reading: dict[str, Any], models: list[tuple[str, Any]], doing: str
) -> None:
    """Add files to an evaluation or a comparison behind a progress bar, with a warning of those that were learnt."""
    from adforest.cli.batch_files import about_records, found_files
    from adforest.cli.evaluation import warn_of_learnt

    with found_files(files, reading.get("order")) as paths:
        for name, model in models:
            warn_of_learnt(model, name, paths)
        with progress_bar(doing, about_records(paths)) as bar:
            for path in paths:
                bar.advance(0, path.name)
                tested.add(path, bar.advance)


def _figure(value: float | None) -> str:
    """Return a metric, nothing where there is none."""
    return "" if value is None else f"{value:.3f}"
