"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from adforest.cli.output import LogFormat

MODEL_HELP = "The model file, such as m.adf."

ModelArgument: TypeAlias = Annotated[Path, typer.Argument(help=MODEL_HELP)]
ModelPath: TypeAlias = Annotated[Path, typer.Option("--model", "-m", help=MODEL_HELP)]
Target: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", help="The column that holds the classes. Needed once: a model that learnt files knows it."
    ),
]
AlertRules: TypeAlias = Annotated[
    Path | None, typer.Option("--alerts", help="A TOML file of rules, checked at every batch; see: adforest alert.")
]
MetricsFile: TypeAlias = Annotated[
    Path | None, typer.Option(help="Where to write metrics for Prometheus after every batch, such as adforest.prom.")
]
Force: TypeAlias = Annotated[bool, typer.Option("--force", "-f", help="Replace the file if it is there.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text.")]
MaxRecords: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="Refuse files of more records; lines of text count as records.")
]
MaxBytes: TypeAlias = Annotated[int | None, typer.Option(min=1, help="Refuse files of more bytes, uncompressed.")]
MaxColumns: TypeAlias = Annotated[int | None, typer.Option(min=1, help="Refuse files of more columns.")]
Keep: TypeAlias = Annotated[
    int, typer.Option(min=0, help="Keep so many of the models before the newest; see: adforest versions.")
]
LogStyle: TypeAlias = Annotated[
    LogFormat, typer.Option("--log-format", help="How lines are written: a table and text, or a log for programs.")
]
