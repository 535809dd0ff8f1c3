"""Make and withdraw the tokens of a service."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Action(StrEnum):
    """What to do with a token."""

    ADD = "add"
    REMOVE = "remove"
    LIST = "list"


def token(
    action: Annotated[Action, typer.Argument(help="add, remove or list.")],
    name: Annotated[str, typer.Argument(help="What the audit log calls who brings it.")] = "",
    data: Annotated[Path, typer.Option(help="The folder that is served.")] = Path(),
    right: Annotated[
        list[str] | None, typer.Option(help="predict, label, learn or admin, which is all of them; may be repeated.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="A model that it is for; may be repeated. Default: all.")
    ] = None,
) -> None:
    """Make, withdraw or list the bearer tokens of a service: once there is one, every request must bring one.

    A new token is printed once, and kept as a digest only. A service that is running takes note at once.
    """
    from adforest.cli.output import say
    from adforest.service.tokens import Tokens

    tokens = Tokens(data)
    if action == Action.LIST:
        for one in tokens.all():
            say(f"{one.name}: {', '.join(one.rights)}; {', '.join(one.models) or 'all models'}")
    elif not name:
        raise ValueError("no name is given; expected what the token is called.")
    elif action == Action.ADD:
        say(tokens.add(name, right or (), model or ()))
    else:
        tokens.remove(name)
        say(f"token {name} is withdrawn")
