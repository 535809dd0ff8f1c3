"""Drop records from a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adforest.cli.options import AsJson, ModelArgument
from adforest.cli.output import counted, print_json, say

WHAT_STAYS = (
    "Trees that were grown from them stay: counts in leaves, thresholds, names of categories and classes, counts by "
    "column, and the history. A model that never saw them is learnt anew from the other files."
)


def forget(
    model: ModelArgument,
    column: Annotated[str, typer.Option(help="A column that the model learnt from.")],
    value: Annotated[list[str], typer.Option(help="What it holds in the records to be dropped; several are allowed.")],
    as_json: AsJson = False,
) -> None:
    """Drop the records that have a value in a column from the memory of a model, and of those kept of it.

    No tree is grown from them any more. What trees know of them already stays: this is said in the output.
    """
    from adforest.cli.model_file import load_model, locked
    from adforest.cli.versions import versions_of

    load_model(model)
    with locked(model) as file:
        paths = [*(one.path for one in versions_of(file.real)), file.real]
        counts = {path: _forget(path, column, value) for path in paths}
    n_kept, n_older = counts[file.real], sum(counts.values()) - counts[file.real]
    if as_json:
        told = {"model": str(model), "records_dropped": n_kept, "records_dropped_from_versions": n_older}
        print_json(told | {"what_stays": WHAT_STAYS})
        return
    versions = f", {n_older:,} from {counted(len(paths) - 1, 'model')} kept of it" if len(paths) > 1 else ""
    say(f"{model}: {counted(n_kept, 'record')} dropped from memory{versions}. {WHAT_STAYS}")


def _forget(path: Path, column: str, values: list[str]) -> int:
    """Drop records from a model file, and return how many there were."""
    from adforest import load
    from adforest.cli.forgetting import without_records_of
    from adforest.storage import save

    model, n_dropped = without_records_of(load(path), column, values)
    if n_dropped:
        save(model, path)
    return n_dropped
