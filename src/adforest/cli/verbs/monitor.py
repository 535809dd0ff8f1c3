"""Show models as a page that follows their files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def monitor(
    path: Annotated[Path, typer.Argument(help="A model file, or a folder whose files *.adf are shown.")],
    host: Annotated[
        str, typer.Option(help="Where to listen. Beyond this machine, the address has a token in it.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 for any that is free.")] = 8321,
) -> None:
    """Show a model, or a folder of models, in the browser, live while they learn: are they well, and what has changed?

    Ctrl-C ends it. Nothing is loaded from the network, and only this machine can look unless --host says otherwise.
    """
    from adforest.cli.output import say
    from adforest.monitor import serve

    serve(path, host=host, port=port, say=say)
