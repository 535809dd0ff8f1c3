"""Test a model on labelled files."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from adforest.cli.options import AsJson, ModelPath, Target
from adforest.cli.output import counted, print_json, print_table, progress_bar, say
from adforest.cli.parameters import TESTING, with_options

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

    Files may be larger than memory. Classes that the model never saw count as wrong, and are listed.
    """
    from adforest.cli.batches import about_records, found_files
    from adforest.cli.evaluation import Evaluation, warn_of_learnt
    from adforest.cli.learning import NO_TARGET
    from adforest.cli.model_file import load_model
    from adforest.origins import origins_of

    loaded = load_model(model)
    column = target or origins_of(loaded).target
    if column is None:
        raise ValueError(f"{NO_TARGET}. Add --target NAME.")
    with found_files(files, reading.get("order")) as paths:
        tested = Evaluation(loaded, column, reading)
        warn_of_learnt(loaded, "this model", paths)
        with progress_bar("testing", about_records(paths)) as bar:
            for path in paths:
                bar.advance(0, path.name)
                tested.add(path, bar.advance)
    _show(tested.as_dict(), as_json=as_json)


def _show(found: dict[str, Any], *, as_json: bool) -> None:
    """Print what was found."""
    if as_json:
        print_json(found)
        return
    if len(found["files"]) > 1:
        files = [(one["file"], f"{one['records']:,}", f"{one['accuracy']:.3f}") for one in found["files"]]
        print_table("files", ("file", "records", "accuracy"), files)
    rows = [
        (
            str(one["class"]),
            f"{one['records']:,}",
            "" if one["precision"] is None else f"{one['precision']:.3f}",
            "" if one["recall"] is None else f"{one['recall']:.3f}",
            "" if one["most_taken_for"] is None else str(one["most_taken_for"]),
        )
        for one in found["classes"][:SHOWN]
    ]
    print_table("classes", ("class", "records", "precision", "recall", "most often taken for"), rows)
    if len(found["classes"]) > SHOWN:
        say(f"and {counted(len(found['classes']) - SHOWN, 'class')} more; --json lists all\n")
    say(
        f"{counted(found['records'], 'record')}: accuracy {found['accuracy']:.3f}, log loss {found['log_loss']:.3f}, "
        f"mean recall of the classes {found['balanced_accuracy']:.3f}"
        + (f"; {counted(found['unlabelled'], 'record')} without a class left out" if found["unlabelled"] else "")
    )
