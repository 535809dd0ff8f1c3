"""Serve models over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    data: Annotated[Path, typer.Option(help="The folder of the models and of all that is kept for them.")],
    host: Annotated[
        str, typer.Option(help="Where to listen. Beyond this machine, TLS and tokens are needed.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 for any that is free.")] = 8322,
    certificate: Annotated[Path | None, typer.Option(help="For TLS: the certificate, with its chain.")] = None,
    key: Annotated[Path | None, typer.Option(help="For TLS: its private key.")] = None,
    proxy: Annotated[str | None, typer.Option(help="The name of a proxy before it that has TLS.")] = None,
    allowed_host: Annotated[
        list[str] | None, typer.Option(help="A name besides localhost by which it may be asked.")
    ] = None,
    follow: Annotated[
        str | None,
        typer.Option(help="The address of a service whose models are fetched: a replica, which predicts only."),
    ] = None,
    follow_token_file: Annotated[
        Path | None, typer.Option(help="A file that holds the token for it, with the right to learn.")
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            envvar="ADFOREST_DATABASE",
            help="postgresql://USER:PASSWORD@HOST/NAME: joins ids and labels there instead of in SQLite files.",
            show_envvar=True,
        ),
    ] = None,
) -> None:
    """Serve the models of a folder over HTTP: predictions now, labels later by id, batches learnt beside.

    What is acknowledged is on the disk. SIGTERM and Ctrl-C end it once the requests under way are answered. The
    monitor's pages are at /, the calls at /v1 and /v2, described at /openapi.json.
    """
    from adforest.cli.output import say
    from adforest.service.process import ServiceOptions, run

    token = None if follow_token_file is None else follow_token_file.read_text(encoding="utf-8").strip()
    run(ServiceOptions(data, host, port, certificate, key, proxy, allowed_host or (), follow, token, database), say)
