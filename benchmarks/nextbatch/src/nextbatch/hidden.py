"""Hidden streams: drawn like the generated ones, from a seed that only maintainers know."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from nextbatch.batches import CLASS
from nextbatch.generated import STREAMS
from nextbatch.streams import digest_table, normalize, read_recipes

PREFIX = "hidden-"


def write_hidden(folder: Path, seed: int) -> list[Path]:
    """Write a table and a recipe for each generated stream, and return the recipes' files.

    Parameters
    ----------
    folder : Path
        For ``NEXTBATCH_HIDDEN``; made if it is missing. Nothing in it has the seed.
    seed : int
        Whoever knows it can draw the same tables.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known, written = read_recipes(), []
    for number, (name, draw) in enumerate(STREAMS.items()):
        table = normalize(draw(np.random.default_rng([seed, number, len(PREFIX)])))
        table.to_parquet(folder / f"{PREFIX}{name}.parquet")
        like = known[name]
        said = {
            "title": f"{like.title}; rules that nobody knows",
            "kind": "hidden",
            "source": "nextbatch hidden, seed not published",
            "licence": like.licence,
            "order": like.order,
            "left_out": like.left_out,
            "batch_size": like.batch_size,
            "n_records": len(table),
            "n_features": table.shape[1] - 1,
            "n_classes": table[CLASS].nunique(),
            "sha256": digest_table(table),
            "drift": list(like.drift),
        }
        path = folder / f"{PREFIX}{name}.toml"
        path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items()), encoding="utf-8")
        written.append(path)
    return written
