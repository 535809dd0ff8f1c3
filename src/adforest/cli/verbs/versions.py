"""List the models that are kept of a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from adforest.cli.options import AsJson, ModelArgument
from adforest.cli.output import print_json, print_table, size_of


def versions(model: ModelArgument, as_json: AsJson = False) -> None:
    """List the models that are kept of a file (learn and watch --keep), oldest first, the newest last."""
    from adforest.cli.model_file import load_model, real_path
    from adforest.cli.versions import versions_of

    load_model(model)
    paths = [*(one.path for one in versions_of(real_path(model))), model]
    found = [_described(path, is_current=path == model) for path in paths]
    if as_json:
        print_json({"model": str(model), "versions": found})
        return
    print_table(
        str(model),
        ("batches", "records", "accuracy", "written (UTC)", "size", "file"),
        [
            (
                f"{one['batches']:,}",
                f"{one['records']:,}",
                "-" if one["accuracy"] is None else f"{one['accuracy']:.3f}",
                one["written"],
                size_of(path),
                path.name,
            )
            for one, path in zip(found, paths, strict=True)
        ],
    )


def _described(path: Path, *, is_current: bool) -> dict[str, Any]:
    """Return what there is to say of a model; accuracy is that on its last batch before learning it."""
    from adforest import load

    model: Any = load(path)
    return {
        "file": str(path),
        "is_current": is_current,
        "batches": model.n_batches_,
        "records": model.n_samples_seen_,
        "accuracy": model.history_[-1].accuracy.get("vote"),
        "written": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(path.stat().st_mtime)),
        "bytes": path.stat().st_size,
    }
