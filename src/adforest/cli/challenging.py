"""A challenger: a second model with other parameters that learns beside the champion, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from adforest.cli.learning import ChangedError, Learner
from adforest.cli.model_file import ConflictError
from adforest.cli.output import remark
from adforest.cli.parameters import read_value
from adforest.cli.status import notify


def read_changes(given: Sequence[str]) -> dict[str, str]:
    """Return the parameters of a challenger, given as NAME=VALUE."""
    pairs = [one.partition("=") for one in given]
    wrong = [one for one, (name, sign, _) in zip(given, pairs, strict=True) if not name or not sign]
    if wrong:
        raise ValueError(
            f"--challenger is {wrong[0]!r}; expected a parameter and its value, such as max_depth=5. Correct it."
        )
    return {name.strip().removeprefix("--").replace("-", "_"): value for name, _, value in pairs}


class Challenger:
    """A second model that learns what the champion has learnt, and is judged on the same batches.

    Whatever goes wrong with it is told, and never stops the champion.

    Parameters
    ----------
    champion, learner : Learner
        Of the champion and of the challenger.
    changes : dict of str to str
        Parameters in which a new challenger differs from the champion.
    """

    def __init__(self, champion: Learner, learner: Learner, changes: dict[str, str]) -> None:
        self._champion, self._learner = champion, learner
        if learner.is_new and not champion.is_new:
            changed = {name: read_value(value) for name, value in changes.items()}
            learner.model.set_params(**champion.model.get_params() | changed)

    def follow(self, path: Path, table: Any, *, is_bad: bool = False) -> None:
        """Learn the batches of a file that the champion has learnt and the challenger has not.

        Parameters
        ----------
        path : Path
        table : BatchTable
        is_bad : bool
            Whether the champion could not learn the file to its end: that is told by others.
        """
        try:
            self._take_changed()
            for batch, parts in self._learner.batches(path):
                if all(self._champion.is_known(part.digest) for part in parts):
                    self._learner.learn(batch, parts, partial(self._tell, path, table))
                notify("WATCHDOG=1")
        except (FileNotFoundError, ChangedError):
            return  # taken away, or written to: it is looked at again
        except Exception as error:
            if not is_bad:
                remark(f"warning: the challenger cannot learn {path.name} ({' '.join(str(error).split())}); it goes on")

    def _tell(self, path: Path, table: Any, report: Any) -> None:
        """Tell of a batch."""
        accuracy = report.accuracy.get("vote")
        told = "-" if accuracy is None else f"{accuracy:.3f}"
        text = f"challenger: batch {report.batch}, {path.name}, accuracy {told}"
        table.tell("challenger", "info", text, batch=report.batch, file=str(path), accuracy=accuracy)

    def _take_changed(self) -> None:
        """Read the challenger's file again if another program changed it."""
        try:
            self._learner.file.check()
        except ConflictError as conflict:
            self._learner.reload()
            remark(f"warning: {conflict}; it was read again, and learns on from there")
