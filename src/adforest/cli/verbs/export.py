"""Write a model for other programs, or a report about it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from adforest.cli.options import AsJson, Force, ModelArgument
from adforest.cli.output import print_json, say
from adforest.wording import size

FORMATS = {".onnx": "ONNX", ".tl": "Treelite", ".treelite": "Treelite", ".adf": "model file"}


def report(
    model: ModelArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write the HTML file.")] = Path("report.html"),
    as_json: AsJson = False,
) -> None:
    """Write the monitor's page of a model as one HTML file to keep or to mail.

    The file loads nothing and has no scripts. An existing file is replaced.
    """
    from adforest.cli.model_file import load_model
    from adforest.monitor import write_report

    write_report(load_model(model), out, name=model.name)
    if as_json:
        print_json({"out": str(out), "bytes": out.stat().st_size})
    else:
        say(f"{out}: report of {model}, {size(out.stat().st_size)}")


def export(
    model: ModelArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write: .onnx, .tl for Treelite, or .adf.")],
    forest: Annotated[
        str, typer.Option(help='The forest that Treelite gets: "permanent", "active", "temporary" or "newest".')
    ] = "permanent",
    no_records: Annotated[
        bool,
        typer.Option("--no-records", help="Leave out the records that a model keeps: needed for .adf."),
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a model for other programs: the whole vote as an ONNX graph, or one forest as a Treelite checkpoint.

    An ONNX graph is compared with the model in ONNX Runtime before it is written. With --no-records, .adf is a model
    that predicts and cannot learn: it holds no records, but names of columns, categories and classes, thresholds and
    the history.
    """
    from adforest.cli.model_file import load_model
    from adforest.cli.prediction_files import check_free
    from adforest.integrations.onnx import to_onnx
    from adforest.integrations.treelite import to_treelite
    from adforest.origins import note_origins, origins_of
    from adforest.storage.atomic import write_atomically

    kind = FORMATS.get(out.suffix.lower())
    if kind is None:
        raise ValueError(f"--out is '{out}'; expected a name that ends in {' or '.join(FORMATS)}. Name another file.")
    if (kind == FORMATS[".adf"]) != no_records:
        raise ValueError(f"--out is '{out}'; expected .adf with --no-records, and without it another format.")
    check_free(out, force)
    loaded = load_model(model)
    if no_records:
        # Digests tell who has a file, and alerts name classes, files and folders.
        note_origins(loaded, replace(origins_of(loaded), digests=(), sizes=(), rule_counts=(), alerts=()))
        loaded.save(out, samples=False)
    else:
        is_onnx = kind == "ONNX"
        content = to_onnx(loaded).SerializeToString() if is_onnx else to_treelite(loaded, forest).serialize_bytes()
        write_atomically(out, [content])
    if as_json:
        print_json({"out": str(out), "format": kind, "bytes": out.stat().st_size})
    else:
        say(f"{out}: {kind}, {size(out.stat().st_size)}")
