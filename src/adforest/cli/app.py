"""The commands: each is a function in a module of `adforest.cli.verbs`, which imports nothing heavy at the top."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Annotated

import typer

from adforest.cli.stopping import telling_interrupts
from adforest.cli.verbs.alert import alert
from adforest.cli.verbs.demo import demo
from adforest.cli.verbs.evaluate import compare, diff, evaluate
from adforest.cli.verbs.export import export, report
from adforest.cli.verbs.inspect import inspect
from adforest.cli.verbs.learn import learn, watch
from adforest.cli.verbs.predict import explain, predict
from adforest.cli.verbs.serve import monitor, serve, token
from adforest.cli.verbs.versions import forget, promote, rollback, versions

COMMANDS = (
    *(learn, watch, predict, monitor, report, inspect, explain, evaluate, compare, promote),
    *(export, versions, rollback, diff, forget, alert, serve, token, demo),
)

app = typer.Typer(
    name="adforest",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _help(function: Callable[..., object]) -> str:
    """Return the docstring of a function with one line per paragraph."""
    return "\n\n".join(one.replace("\n", " ") for one in cleandoc(function.__doc__ or "").split("\n\n"))


for _command in COMMANDS:
    app.command(_command.__name__, help=_help(_command))(telling_interrupts(_command))


def _print_version(wanted: bool) -> None:
    """Print the version, and end."""
    if wanted:
        from adforest import __version__

        print(f"adforest {__version__}")
        raise typer.Exit


def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version, and end.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the trace of an error; can be given anywhere in a command.")
    ] = False,
) -> None:
    """A random forest for data in batches: it learns new classes at any time, and reports and adapts to drift.

    Begin with: adforest learn 'data/*.csv' --target COLUMN --model m.adf

    Exit codes: 0 if all went well, 1 if something failed, 2 if the command was not understood, 3 if watch --once set
    files aside, 130 if interrupted.
    """


app.callback(help=_help(_common))(_common)
