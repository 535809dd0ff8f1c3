"""Run the demo on simulated data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    records: Annotated[int, typer.Option(min=1, help="How many houses to simulate.")] = 150_000,
    quick: Annotated[bool, typer.Option("--quick", help="Simulate only 4,000, which takes a few seconds.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Random seed: the same seed makes the same houses.")] = 0,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write the picture: .png, .svg or .pdf.")] = Path(
        "out/demo.png"
    ),
) -> None:
    """Run the demo: 34 batches of simulated houses, compared with random forests refitted for every batch.

    Prints a row for each batch with accuracy and seconds of learning of each method, and draws both as a picture.
    """
    from adforest.demo.__main__ import QUICK_SAMPLES, run_and_show

    run_and_show(QUICK_SAMPLES if quick else records, seed, out)
