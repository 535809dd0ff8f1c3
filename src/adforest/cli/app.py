"""The commands: each is the function of its name in a module of its name, which imports nothing heavy at the top."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Annotated

import typer

from adforest.cli.stopping import telling_interrupts

VERBS = (
    "learn",
    "watch",
    "predict",
    "monitor",
    "report",
    "inspect",
    "explain",
    "evaluate",
    "compare",
    "promote",
    "export",
    "versions",
    "rollback",
    "diff",
    "forget",
    "alert",
    "serve",
    "token",
    "demo",
)

app = typer.Typer(
    name="adforest",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
for _verb in VERBS:
    _command = getattr(import_module(f"adforest.cli.verbs.{_verb}"), _verb)
    _paragraphs = inspect.cleandoc(_command.__doc__).split("\n\n")
    app.command(_verb, help="\n\n".join(one.replace("\n", " ") for one in _paragraphs))(telling_interrupts(_command))


def _print_version(wanted: bool) -> None:
    """Print the version, and end."""
    if wanted:
        from adforest import __version__

        print(f"adforest {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version, and end.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the trace of an error; may stand anywhere in a command.")
    ] = False,
) -> None:
    """A random forest that keeps learning: batches in, new classes welcome, drift noticed, nothing forgotten.

    Begin with: adforest learn 'data/*.csv' --target COLUMN --model m.adf

    Exit codes: 0 if all went well, 1 if something failed, 2 if the command was not understood, 3 if watch --once set
    files aside, 130 if interrupted.
    """
