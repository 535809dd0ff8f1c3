"""Run a command: errors become one line and an exit code."""

from __future__ import annotations

import io
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from adforest.cli.output import fail, in_shell
from adforest.cli.stopping import StoppedError, stopped_by_signals, was_stopped
from adforest.libraries import require
from adforest.log_lines import remark, set_log_format

PROGRAM = "adforest"
DONE, FAILED, WRONG_USAGE = 0, 1, 2  # exit codes
SIGNALLED = 128  # and the number of the signal, as shells count
EXPECTED = (ValueError, TypeError, OSError, ImportError)  # what the library says of wrong data, files and options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command of the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the program's name. By default that of this process.

    Returns
    -------
    int
        Exit code: 0 if all went well, 1 if something failed, 2 if the command was not understood, 3 if `watch --once`
        set files aside, 128 and the number of the signal that stopped it (130 after Ctrl-C).
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    _print_any_name()
    shows_trace = "--debug" in given
    set_log_format(None)
    try:
        require("typer", "the command line", "cli")
        from adforest.cli.app import app

        with warnings.catch_warnings(), stopped_by_signals():
            _tell_warnings()
            result = app([one for one in given if one != "--debug"], prog_name=PROGRAM, standalone_mode=False)
        return result if isinstance(result, int) else DONE
    except KeyboardInterrupt:
        return _fail("interrupted.", SIGNALLED + signal.SIGINT)
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # it is flushed at exit, and would fail again
        return FAILED
    except Exception as error:
        if shows_trace:
            raise
        return _tell(error)


def program() -> NoReturn:
    """Run the command of this process, and end the process.

    After a signal nothing is torn down: pyarrow may still read ahead in a thread of its own, which would abort the
    process when it asked for the interpreter. What was to be written has been written.
    """
    code = main()
    if was_stopped():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _print_any_name() -> None:
    """Print file names that the terminal cannot encode with escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _tell(error: Exception) -> int:
    """Print an error as one line, and return the exit code."""
    if hasattr(error, "format_message"):  # the parser's own, in Typer's copy of click or in click
        message, code = str(error.format_message()), int(getattr(error, "exit_code", WRONG_USAGE))
        context: Any = getattr(error, "ctx", None)
        if not message:  # without arguments the help is the answer, and has been printed
            return code
        command = context.command_path if context is not None else PROGRAM
        stop = "" if message.endswith(("?", ".")) else "."
        return _fail(f"{message}{stop} See: {command} --help", code)
    if isinstance(error, StoppedError):
        ending = "interrupted." if error.number == signal.SIGINT else f"stopped by {signal.Signals(error.number).name}."
        return _fail(_with_notes(ending, error), SIGNALLED + error.number)
    if isinstance(error, MemoryError):
        what = f"there is not enough memory ({error}). Learn less at once, such as --batch-size 10000."
        return _fail(_with_notes(what, error), FAILED)
    if isinstance(error, EXPECTED):
        return _fail(_with_notes(in_shell(error), error), FAILED)
    if type(error).__name__ in ("Abort", "Exit"):
        return int(getattr(error, "exit_code", FAILED))
    kind = type(error).__name__
    return _fail(f"{kind}: {error}. This should not happen: the same command with --debug shows where it did", FAILED)


def _with_notes(message: str, error: BaseException) -> str:
    """Return a message and the notes of the error, each a sentence."""
    notes = getattr(error, "__notes__", ())
    stop = "" if not notes or message.endswith((".", "?", "!")) else "."
    return " ".join([message + stop, *notes])


def _fail(message: str, code: int) -> int:
    """Print a line on standard error, and return the exit code."""
    fail(message)
    return code


def _tell_warnings() -> None:
    """Print warnings as lines on standard error, each once."""

    def tell(message: Any, *_: Any, **__: Any) -> None:
        remark(f"warning: {' '.join(in_shell(message).split())}")

    warnings.simplefilter("ignore")
    warnings.filterwarnings("default", category=UserWarning)
    warnings.showwarning = tell
