"""Hand a model to other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from adforest.cli.options import AsJson, Force, ModelArgument
from adforest.cli.output import print_json, say, size_of

FORMATS = {".onnx": "ONNX", ".tl": "Treelite", ".treelite": "Treelite"}


def export(
    model: ModelArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write: .onnx, or .tl for Treelite.")],
    forest: Annotated[
        str, typer.Option(help='The forest that Treelite gets: "permanent", "active", "temporary" or "newest".')
    ] = "permanent",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a model for other programs: the whole vote as an ONNX graph, or one forest as a Treelite checkpoint.

    An ONNX graph is compared with the model in ONNX Runtime before it is written.
    """
    from adforest.cli.model_file import load_model
    from adforest.cli.writing import check_free
    from adforest.storage.atomic import write_atomically

    kind = FORMATS.get(out.suffix.lower())
    if kind is None:
        raise ValueError(f"--out is '{out}'; expected a name that ends in {' or '.join(FORMATS)}. Name another file.")
    check_free(out, force)
    loaded = load_model(model)
    write_atomically(out, [_onnx(loaded) if kind == "ONNX" else _treelite(loaded, forest)])
    if as_json:
        print_json({"out": str(out), "format": kind, "bytes": out.stat().st_size})
    else:
        say(f"{out}: {kind}, {size_of(out)}")


def _onnx(model: Any) -> bytes:
    """Return the vote as the bytes of an ONNX graph."""
    from adforest.integrations.onnx import to_onnx

    graph: bytes = to_onnx(model).SerializeToString()
    return graph


def _treelite(model: Any, forest: str) -> bytes:
    """Return one forest as the bytes of a Treelite checkpoint."""
    from adforest.integrations.treelite import to_treelite

    checkpoint: bytes = to_treelite(model, forest).serialize_bytes()
    return checkpoint
