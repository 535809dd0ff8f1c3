"""Check a file of alert rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adforest.cli.options import AsJson
from adforest.cli.output import print_json


def alert(
    rules: Annotated[Path, typer.Argument(help="A TOML file of rules.")],
    test: Annotated[bool, typer.Option("--test", help="Send a message for trial to every receiver.")] = False,
    as_json: AsJson = False,
) -> int:
    """Check a file of alert rules for --alerts of learn and watch, and say what is in it.

    Rules are tables called rule, with when = "drift sustained", "drift temporary", "accuracy below", "new class",
    "unseen categories above" or "missing above", and limit, columns, batches, repeat. Receivers are tables
    called deliver, with command, webhook or mail.
    """
    from adforest.cli.alerts import read_alerts

    found = read_alerts(rules)
    trial = {"message": "this is a trial: alerts of adforest arrive here", "rule": "trial", "value": None}
    failures = found.tell(trial | {"batch": None, "files": [], "model": None}) if test else []
    if as_json:
        receivers = [str(one) for one in found.deliveries]
        print_json({"rules": [str(one) for one in found.rules], "receivers": receivers, "failures": failures})
        return int(bool(failures))
    for rule in found.rules:
        print(f"when: {rule}")
    for delivery in found.deliveries:
        print(f"tell: {delivery}")
    if not found.deliveries:
        print("tell: standard error only; add a table [[deliver]] with command, webhook or mail")
    return int(bool(failures))
