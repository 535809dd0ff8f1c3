"""Write what the monitor shows as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adforest.cli.options import AsJson, ModelArgument
from adforest.cli.output import print_json, say, size_of


def report(
    model: ModelArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write the HTML file.")] = Path("report.html"),
    as_json: AsJson = False,
) -> None:
    """Write what the monitor shows of a model as one HTML file to keep or to mail.

    The file needs no network, no script and nothing else. One that is there is replaced.
    """
    from adforest.cli.model_file import load_model
    from adforest.monitor import write_report

    write_report(load_model(model), out, name=model.name)
    if as_json:
        print_json({"out": str(out), "bytes": out.stat().st_size})
    else:
        say(f"{out}: report of {model}, {size_of(out)}")
