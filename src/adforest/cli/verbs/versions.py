"""Replace a model: by an earlier version, by its challenger, or by itself without some records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from adforest.cli.options import AsJson, ModelArgument
from adforest.cli.output import print_json, print_table, say
from adforest.wording import counted, size, utc

WHAT_STAYS = (
    "Trees that were grown from them stay: counts in leaves, thresholds, names of categories and classes, counts by "
    "column, and the history. For a model that never saw them, learn the other files into a new one."
)


def versions(model: ModelArgument, as_json: AsJson = False) -> None:
    """List the versions of a model that were kept (learn and watch --keep), oldest first, the current one last."""
    from adforest.cli.model_file import load_model, real_path
    from adforest.cli.version_files import versions_of

    load_model(model)
    paths = [*(one.path for one in versions_of(real_path(model))), model]
    found = [_described(path, is_current=path == model) for path in paths]
    if as_json:
        print_json({"model": str(model), "versions": found})
        return
    print_table(
        str(model),
        ("batches", "records", "accuracy", "written", "size", "file"),
        [
            (
                f"{one['batches']:,}",
                f"{one['records']:,}",
                "-" if one["accuracy"] is None else f"{one['accuracy']:.3f}",
                one["written"],
                size(path.stat().st_size),
                path.name,
            )
            for one, path in zip(found, paths, strict=True)
        ],
    )


def _described(path: Path, *, is_current: bool) -> dict[str, Any]:
    """Return the row of a version; accuracy is that on its last batch before learning it."""
    from adforest import load

    model: Any = load(path)
    return {
        "file": str(path),
        "is_current": is_current,
        "batches": model.n_batches_,
        "records": model.n_samples_seen_,
        "accuracy": model.history_[-1].accuracy.get("vote"),
        "written": utc(path.stat().st_mtime),
        "bytes": path.stat().st_size,
    }


def rollback(
    model: ModelArgument,
    to: Annotated[
        int | None,
        typer.Option(min=1, help="Batches that the version had learnt. Default: the last one kept."),
    ] = None,
    pass_over: Annotated[
        bool, typer.Option("--pass-over", help="Do not learn batches again that were learnt since then.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Go back to an earlier version of a model (learn and watch --keep); the current one is kept as a version.

    Batches learnt since then are learnt again when learn or watch reads their files again, unless --pass-over is given
    or the files are removed.
    """
    from adforest import load
    from adforest.cli.model_file import load_model, locked
    from adforest.cli.version_files import versions_of
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
        summary = {"model": str(model), "batches": n_now, "batches_before": n_then, "passed_over": pass_over}
        print_json(summary | {"digests_since": len(later)})
        return
    say(f"{model}: {counted(n_now, 'batch')}, was {counted(n_then, 'batch')}, kept as a version")
    if later:
        again = "not be learnt again" if pass_over else "be learnt again when their files are read again"
        say(f"{counted(len(later), 'batch')} learnt since then will {again}")


def promote(
    model: ModelArgument,
    challenger: Annotated[
        Path | None, typer.Option(help="The model that replaces it. Default: NAME.challenger.adf beside it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Replace a model, the champion, by its challenger (watch --challenger).

    The champion is kept beside it as NAME.former.adf. Commands that learn into one of the two must have ended.
    """
    from adforest.cli.model_file import load_model, locked
    from adforest.monitor.challenge import challenge_of, challenger_path
    from adforest.storage.atomic import write_atomically
    from adforest.storage.files import PRIVATE

    other = challenger or challenger_path(model)
    former = model.with_name(f"{model.stem}.former{model.suffix}")
    with locked(model), locked(other):
        champion, winner = load_model(model), load_model(other)  # a damaged file takes no place
        found = challenge_of(champion, winner)
        old, new = model.read_bytes(), other.read_bytes()
        if old != new:  # else a command was killed that had done it but for the last step
            write_atomically(former, [old], mode=PRIVATE)
            write_atomically(model, [new], mode=PRIVATE)
        other.unlink()
    summary = {"model": str(model), "former": str(former)}
    if as_json:
        judged = None if found is None else {"batches": len(found.batches), "difference": found.difference}
        print_json(summary | {"judged": judged, "verdict": None if found is None else found.verdict})
        return
    say(f"{model} is what {other.name} was; the model before is {former}")
    if found is not None:
        batches = f"on {counted(len(found.batches), 'batch')} that both predicted before learning them"
        say(f"accuracy {batches}: {found.challenger:.3f}, the former {found.champion:.3f}")


def forget(
    model: ModelArgument,
    column: Annotated[str, typer.Option(help="A column that the model learnt from.")],
    value: Annotated[list[str], typer.Option(help="What it holds in the records to be dropped; several are allowed.")],
    as_json: AsJson = False,
) -> None:
    """Drop the records that have a value in a column from the memory of a model, and of its kept versions.

    No tree is grown from them any more. Trees that were grown from them stay, as the output says.
    """
    from adforest.cli.model_file import load_model, locked
    from adforest.cli.version_files import forget_records, versions_of

    load_model(model)
    with locked(model) as file:
        paths = [*(one.path for one in versions_of(file.real)), file.real]
        counts = {path: forget_records(path, column, value) for path in paths}
    n_kept, n_older = counts[file.real], sum(counts.values()) - counts[file.real]
    if as_json:
        summary = {"model": str(model), "records_dropped": n_kept, "records_dropped_from_versions": n_older}
        print_json(summary | {"what_stays": WHAT_STAYS})
        return
    versions = f", {n_older:,} from {counted(len(paths) - 1, 'version')}" if len(paths) > 1 else ""
    say(f"{model}: {counted(n_kept, 'record')} dropped from memory{versions}. {WHAT_STAYS}")
