"""Go back to a model that was replaced."""

from __future__ import annotations

from typing import Annotated

import typer

from adforest.cli.options import AsJson, ModelArgument
from adforest.cli.output import counted, print_json, say


def rollback(
    model: ModelArgument,
    to: Annotated[
        int | None, typer.Option(min=1, help="The number of batches that the model had. Default: the last one kept.")
    ] = None,
    pass_over: Annotated[
        bool, typer.Option("--pass-over", help="Note what was learnt since as known: it is not learnt again.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a model that was replaced (learn and watch --keep) the newest again; the one of now is kept as well.

    What was learnt since is learnt again when it is met again, unless --pass-over says that it shall not be, or its
    files are removed.
    """
    from adforest import load
    from adforest.cli.model_file import load_model, locked
    from adforest.cli.versions import versions_of
    from adforest.origins import note_origins, origins_of

    load_model(model)
    with locked(model) as file:
        kept = versions_of(file.real)
        chosen = [one for one in kept if to is None or one.batch == to]
        if not chosen:
            listed = ", ".join(str(one.batch) for one in kept) or "none"
            raise ValueError(
                f"no model of '{model}' is kept{'' if to is None else f' that learnt {to} batches'}; those kept learnt "
                f"{listed}. Keep models with --keep of learn and watch."
            )
        before, older = file.load(), load(chosen[-1].path)
        since = origins_of(before)
        known = set(origins_of(older).digests)
        later = [one for one in since.digests if one not in known]
        if pass_over:
            origins = origins_of(older)
            for digest in later:
                origins = origins.with_batch(digest)
            note_origins(older, origins)
        file.keep = len(kept) + 1
        file.save(older)
    n_then, n_now = before.n_batches_, older.n_batches_
    if as_json:
        told = {"model": str(model), "batches": n_now, "batches_before": n_then, "passed_over": pass_over}
        print_json(told | {"digests_since": len(later)})
        return
    say(f"{model}: {counted(n_now, 'batch')}, was {counted(n_then, 'batch')}, kept as a version")
    if later:
        again = "passed over" if pass_over else "learnt again when they are met again"
        say(f"{counted(len(later), 'batch')} learnt since: {again}")
