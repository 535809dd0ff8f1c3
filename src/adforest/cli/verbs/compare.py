"""Compare two models on labelled files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from adforest.cli.options import AsJson, Target
from adforest.cli.output import counted, print_json, print_table, progress_bar, say
from adforest.cli.parameters import TESTING, with_options


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
    them answers right and the other wrong.
    """
    from adforest.cli.batches import about_records, found_files
    from adforest.cli.comparison import Comparison
    from adforest.cli.evaluation import warn_of_learnt
    from adforest.cli.learning import NO_TARGET
    from adforest.cli.model_file import load_model
    from adforest.origins import origins_of

    models = [load_model(first), load_model(second)]
    targets = {origins_of(model).target for model in models} - {None}
    column = target or (targets.pop() if len(targets) == 1 else None)
    if column is None:
        raise ValueError(f"{NO_TARGET}. Add --target NAME.")
    with found_files(files, reading.get("order")) as paths:
        compared = Comparison(models, column, reading)
        for model, path in zip(models, (first, second), strict=True):
            warn_of_learnt(model, str(path), paths)
        with progress_bar("comparing", about_records(paths)) as bar:
            for path in paths:
                bar.advance(0, path.name)
                compared.add(path, bar.advance)
    found = compared.as_dict([str(first), str(second)])
    if as_json:
        print_json(found)
    else:
        _show(found)


def _show(found: dict[str, Any]) -> None:
    """Print what was found."""
    one, other = found["models"]
    rows = [
        (name.replace("_", " "), f"{one[name]:.3f}", f"{other[name]:.3f}", f"{other[name] - one[name]:+.3f}")
        for name in ("accuracy", "balanced_accuracy", "log_loss")
    ]
    print_table(f"A is {one['model']}, B is {other['model']}", ("metric", "A", "B", "B - A"), rows)
    differ = found["only_first_right"] + found["only_second_right"]
    say(
        f"{counted(found['records'], 'record')}, {found['same_answer'] / found['records']:.1%} answered alike; only A "
        f"is right on {found['only_first_right']:,}, only B on {found['only_second_right']:,}"
        + (f" (p = {found['p_value']:.2g} if that is chance)" if differ else "")
    )
