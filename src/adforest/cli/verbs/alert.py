"""Check a file of alert rules, and send alerts that are not delivered yet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adforest.cli.options import AsJson
from adforest.cli.output import print_json, say
from adforest.wording import counted

SENDING = 60.0  # seconds for which --send sends


def alert(
    rules: Annotated[Path, typer.Argument(help="A TOML file of rules.")],
    test: Annotated[bool, typer.Option("--test", help="Send a test message to every receiver.")] = False,
    model: Annotated[
        Path | None, typer.Option("--model", "-m", help="A model file: print how many of its alerts are not sent yet.")
    ] = None,
    send: Annotated[bool, typer.Option("--send", help="Send the pending alerts of --model now.")] = False,
    as_json: AsJson = False,
) -> int:
    """Check a file of alert rules for --alerts of learn, watch and serve, and list its rules and receivers.

    Rules are tables [[rule]] with when = "drift sustained", "drift temporary", "accuracy below", "balanced accuracy
    below", "roc auc below", "average precision below", "log loss above", "new class", "unseen categories above",
    "missing above", "health", "no batch for", "files rejected" or "alerts not delivered", and limit, columns, batches,
    level, repeat. Receivers are tables [[deliver]] with command, webhook or mail.
    """
    from adforest.alerts import read_alerts

    if send and model is None:
        raise ValueError("--send needs --model, the model whose alerts are to be sent. Add --model FILE.")
    with read_alerts(rules) as found:
        failures = found.send_trial() if test else []
        waiting = None if model is None else found.send_waiting(model, SENDING if send else 0.0)
    is_failed = bool(failures) or bool(send and waiting)
    if as_json:
        receivers = [str(one) for one in found.deliveries]
        summary = {"rules": [str(one) for one in found.rules], "receivers": receivers, "failures": failures}
        print_json(summary if model is None else summary | {"waiting": waiting})
        return int(is_failed)
    for rule in found.rules:
        say(f"rule: {rule}")
    for delivery in found.deliveries:
        say(f"receiver: {delivery}")
    if not found.deliveries:
        say("receiver: standard error only; add a table [[deliver]] with command, webhook or mail")
    if waiting is not None:
        say(f"not sent yet: {counted(waiting, 'alert')} of {model}")
    return int(is_failed)
