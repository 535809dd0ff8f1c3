"""See what it does on made-up data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    records: Annotated[int, typer.Option(min=1, help="Houses to draw.")] = 150_000,
    quick: Annotated[bool, typer.Option("--quick", help="Only 4,000 of them: a few seconds.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of every draw.")] = 0,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the picture goes.")] = Path("out/demo.png"),
) -> None:
    """Learn 34 batches of made-up houses beside a forest that is refitted for every batch: a table, a picture."""
    from argparse import Namespace

    from adforest.demo.__main__ import QUICK_RECORDS, run_and_show

    run_and_show(Namespace(records=QUICK_RECORDS if quick else records, seed=seed, out=out))
