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
    token_file: Annotated[
        Path | None,
        typer.Option(help="A file that holds the token that whoever looks must bring. Default: a new one each time."),
    ] = None,
    allowed_host: Annotated[
        list[str] | None, typer.Option(help="A name besides localhost by which it may be asked, such as a proxy's.")
    ] = None,
    base_path: Annotated[str, typer.Option(help="What a proxy leaves before every path, such as /adforest.")] = "",
) -> None:
    """Show a model, or a folder of models, in the browser, live while they learn: their health, and what has changed.

    Ctrl-C ends it. Nothing is loaded from the network, and only this machine can look unless --host says otherwise.
    """
    from adforest.cli.output import say
    from adforest.monitor import serve

    token = None if token_file is None else token_file.read_text(encoding="utf-8").strip()
    serve(path, host=host, port=port, token=token, allowed_hosts=allowed_host or (), base_path=base_path, say=say)
