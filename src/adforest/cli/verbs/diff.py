"""Compare two models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from adforest.cli.options import AsJson
from adforest.cli.output import counted, print_json, print_table, say
from adforest.cli.parameters import ANSWERING, with_options


@with_options(reading=ANSWERING)
def diff(
    first: Annotated[Path, typer.Argument(help="A model file, such as m.adf.versions/batch-000012.adf.")],
    second: Annotated[Path, typer.Argument(help="Another one, such as m.adf.")],
    reading: dict[str, Any],
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Files that both are to answer.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two models: what one learnt and the other did not, and where their answers to files differ."""
    from adforest.cli.comparison import answers_between, learnt_between
    from adforest.cli.model_file import load_model

    models = load_model(first), load_model(second)
    found = learnt_between(*models)
    if files:
        found["answers"] = answers_between(*models, files, reading)
    if as_json:
        print_json({"first": str(first), "second": str(second)} | found)
    else:
        _show(found, first, second)


def _show(found: dict[str, Any], first: Path, second: Path) -> None:
    """Print what was found."""
    print_table(
        "",
        ("", "first", "second"),
        [
            ("file", str(first), str(second)),
            *((name, f"{one:,}", f"{two:,}") for name, (one, two) in found["sizes"].items()),
            *((f"parameter {name}", str(one), str(two)) for name, (one, two) in found["parameters"].items()),
        ],
    )
    say(f"{counted(found['batches_in_common'], 'batch')} in common")
    for name, path in (("first", first), ("second", second)):
        only = found["only"][name]
        if only["batches"]:
            accuracy = "" if only["accuracy"] is None else f", accuracy before learning them {only['accuracy']:.3f}"
            classes = f", new classes {', '.join(map(str, only['new_classes']))}" if only["new_classes"] else ""
            say(f"{path} alone learnt {counted(only['batches'], 'batch')}{accuracy}{classes}")
    answers = found.get("answers")
    if answers is None:
        return
    n_samples = answers["records"]
    say(f"{answers['differ']:,} of {counted(n_samples, 'record')} are answered differently")
    if answers["pairs"]:
        print_table(
            "",
            ("first", "second", "records"),
            [(str(one["first"]), str(one["second"]), f"{one['records']:,}") for one in answers["pairs"][:20]],
        )
