"""Make a challenger the champion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adforest.cli.options import AsJson, ModelArgument
from adforest.cli.output import counted, print_json, say


def promote(
    model: ModelArgument,
    challenger: Annotated[
        Path | None, typer.Option(help="The model that takes its place. Default: NAME.challenger.adf beside it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make the challenger of a model the champion: it takes the place of its file.

    The model as it was is kept beside it as NAME.former.adf. Commands that learn into one of the two must have ended.
    """
    from adforest.cli.model_file import load_model, locked
    from adforest.monitor.challenge import challenge_of, challenger_path
    from adforest.storage.atomic import write_atomically

    other = challenger or challenger_path(model)
    former = model.with_name(f"{model.stem}.former{model.suffix}")
    with locked(model), locked(other):
        champion, winner = load_model(model), load_model(other)  # a damaged file takes no place
        found = challenge_of(champion, winner)
        old, new = model.read_bytes(), other.read_bytes()
        if old != new:  # else a command was killed that had done it but for the last step
            write_atomically(former, [old])
            write_atomically(model, [new])
        other.unlink()
    told = {"model": str(model), "former": str(former)}
    if as_json:
        judged = None if found is None else {"batches": len(found.batches), "difference": found.difference}
        print_json(told | {"judged": judged, "verdict": None if found is None else found.verdict})
        return
    say(f"{model} is what {other.name} was; the model before is {former}")
    if found is not None:
        batches = f"on {counted(len(found.batches), 'batch')} that both answered before they learnt them"
        say(f"{batches}: {found.challenger:.3f} beside {found.champion:.3f}")
