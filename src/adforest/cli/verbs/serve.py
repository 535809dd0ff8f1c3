"""Show models in the browser, and serve them over HTTP."""

from __future__ import annotations

from enum import StrEnum
from getpass import getuser
from pathlib import Path
from typing import Annotated

import typer

from adforest.cli.options import AlertRules
from adforest.cli.output import say


class Action(StrEnum):
    """Operations on a token."""

    ADD = "add"
    REMOVE = "remove"
    LIST = "list"


def monitor(
    path: Annotated[Path, typer.Argument(help="A model file, or a folder whose files *.adf are shown.")],
    host: Annotated[
        str, typer.Option(help="Where to listen. Beyond this machine, a token in the address is required.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 for any that is free.")] = 8321,
    token_file: Annotated[
        Path | None,
        typer.Option(help="A file with the token that is required for access. Default: a new one each time."),
    ] = None,
    allowed_host: Annotated[
        list[str] | None, typer.Option(help="A host name besides localhost in requests, such as that of a proxy.")
    ] = None,
    base_path: Annotated[str, typer.Option(help="A path prefix that a proxy leaves in place, such as /adforest.")] = "",
) -> None:
    """Show a model, or a folder of models, as a web page that updates itself: health, accuracy, drift, columns.

    Ctrl-C ends it. Nothing is loaded from other hosts, and only this machine has access unless --host is given.
    """
    from adforest.monitor import serve

    token = None if token_file is None else token_file.read_text(encoding="utf-8").strip()
    serve(path, host=host, port=port, token=token, allowed_hosts=allowed_host or (), base_path=base_path, say=say)


def serve(
    data: Annotated[Path, typer.Option(help="The folder of the models and of their logs.")],
    host: Annotated[
        str, typer.Option(help="Where to listen. Beyond this machine, TLS and tokens are needed.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 for any that is free.")] = 8322,
    certificate: Annotated[Path | None, typer.Option(help="For TLS: the certificate, with its chain.")] = None,
    key: Annotated[Path | None, typer.Option(help="For TLS: its private key.")] = None,
    proxy: Annotated[str | None, typer.Option(help="The host name of a proxy that provides TLS.")] = None,
    allowed_host: Annotated[list[str] | None, typer.Option(help="A host name besides localhost in requests.")] = None,
    follow: Annotated[
        str | None,
        typer.Option(help="The address of a service whose models are fetched: a replica, which predicts only."),
    ] = None,
    follow_token_file: Annotated[
        Path | None, typer.Option(help="A file with a token of that service that has the right to learn.")
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            envvar="ADFOREST_DATABASE",
            help="postgresql://USER:PASSWORD@HOST/NAME: match ids and labels there instead of in SQLite files.",
            show_envvar=True,
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(min=1, max=64, help="Processes that predict; with several, one more writes and learns."),
    ] = 1,
    alerts: AlertRules = None,
) -> None:
    """Serve the models of a folder over HTTP: predictions now, labels later by id, learning in the background.

    What is acknowledged is on the disk. SIGTERM and Ctrl-C end it once the current requests are finished. The
    monitor's pages are at /, the calls at /v1 and /v2, described at /openapi.json.
    """
    from adforest.service.process import ServiceOptions, run

    token = None if follow_token_file is None else follow_token_file.read_text(encoding="utf-8").strip()
    names = allowed_host or ()
    run(ServiceOptions(data, host, port, certificate, key, proxy, names, follow, token, database, workers, alerts), say)


def token(
    action: Annotated[Action, typer.Argument(help="add, remove or list.")],
    name: Annotated[str, typer.Argument(help="The name of the token in the audit log.")] = "",
    data: Annotated[Path, typer.Option(help="The folder that is served.")] = Path(),
    right: Annotated[
        list[str] | None, typer.Option(help="predict, label, learn or admin, which is all of them; may be repeated.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="A model that it is for; may be repeated. Default: all.")
    ] = None,
) -> None:
    """Make, withdraw or list the bearer tokens of a service: once there is one, every request needs one.

    A new token is printed once, and stored as a digest only. A running service uses the changed list at once.
    """
    from adforest.service.gate import AUDIT, AuditLog
    from adforest.service.tokens import Tokens

    tokens, audit = Tokens(data), AuditLog(data / AUDIT)
    if action == Action.LIST:
        for one in tokens.all():
            say(f"{one.name}: {', '.join(one.rights)}; {', '.join(one.models) or 'all models'}")
    elif not name:
        raise ValueError("no name is given; expected what the token is called.")
    elif action == Action.ADD:
        made = tokens.add(name, right or (), model or ())
        audit.write({"who": getuser(), "token": name, "action": "add", "rights": right, "models": model or []})
        say(made)
    else:
        tokens.remove(name)
        audit.write({"who": getuser(), "token": name, "action": "remove"})
        say(f"token {name} is withdrawn")
