"""Runs the tasks of a model in the order of the log, and writes its file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from adforest.exceptions import ModelFileError
from adforest.origins import Origins, origins_of
from adforest.service.events import TaskAdded
from adforest.service.log import LogError, read_entries
from adforest.service.store import LOG
from adforest.service.system import Disk
from adforest.service.task_table import BATCH, CHALLENGE, DONE, DROP_CHALLENGER, PARAMETERS, PROMOTE, REFUSED, ROLLBACK
from adforest.service.trainer import LearntThrough, Trainer

VERSION = re.compile(r"batch-(\d+)-(\d+)\.adf")
NOTHING_LEARNT = LearntThrough("", 0, 0)


class Order(NamedTuple):
    """A task with all that the learner needs to do it.

    Attributes
    ----------
    number, position : int
    kind : str
    note : dict
    parameters : dict
        Of a model that is made now.
    challenger : dict or None
        Of a challenger that learns in parallel: its parameters, and its first task, "since".
    keep_versions : int
    is_again : bool
        Whether it was done before; the model that it made is lost.
    """

    number: int
    position: int
    kind: str
    note: dict[str, Any]
    parameters: dict[str, Any]
    challenger: dict[str, Any] | None
    keep_versions: int
    is_again: bool = False


class Outcome(NamedTuple):
    """Result of a task: its state, the number of the batch in the model's history, and a report."""

    state: str
    batch: int | None
    report: dict[str, Any]


class Learner:
    """The one who changes a model.

    Parameters
    ----------
    disk : Disk
    model : Path
        The file of the model.
    folder : Path
        With its log.
    trainer : Trainer
    target, log_id : str
    challenger_trainer : Trainer, optional
        Of challengers; by default the same.

    Attributes
    ----------
    model : estimator or None
    learnt_through : LearntThrough
    """

    def __init__(
        self,
        disk: Disk,
        model: Path,
        folder: Path,
        trainer: Trainer,
        target: str,
        log_id: str,
        challenger_trainer: Trainer | None = None,
    ) -> None:
        self._disk, self.path, self._folder, self._trainer = disk, model, folder, trainer
        self._challenger_trainer = challenger_trainer or trainer
        self._target, self._log_id = target, log_id
        self._versions = model.with_name(f"{model.name}.versions")
        self._challenger_path = model.with_name(f"{model.stem}.challenger{model.suffix}")
        self.model: Any = None
        self._challenger: tuple[Any, LearntThrough] | None = None
        self._n_saved = 0  # batches of the model in the file
        self.learnt_through = NOTHING_LEARNT

    @property
    def is_new(self) -> bool:
        """Whether its model has learnt nothing yet."""
        return self.model is None or not self._n_saved

    @property
    def origins(self) -> Origins:
        """The sources of the batches of its model."""
        return origins_of(self.model)

    def open(self, *, has_challenger: bool) -> Outcome | None:
        """Read the model, or the newest version of it that can be read; return its last task, if any."""
        if not has_challenger:
            self._disk.remove(self._challenger_path)
        return self._done() if self._read() else None

    def _read(self) -> bool:
        """Take the model of the file, or of the newest version that can be read; return whether there is one."""
        versions = [self._versions / name for _, _, name in reversed(self._kept())]
        problem: Exception | None = None
        for path in [self.path, *versions]:
            if not self._disk.exists(path):
                continue
            try:
                self.model, self.learnt_through = self._trainer.unpack(self._disk.read(path), path.name)
            except ModelFileError as error:
                problem = problem or error
                continue
            if self.learnt_through.log_id not in ("", self._log_id):
                raise ModelFileError(
                    f"{path.name} was written by another service; move it elsewhere, or serve that one"
                )
            self._n_saved = self._trainer.n_batches(self.model)
            return True
        if problem is not None:
            raise problem
        return False

    def _done(self) -> Outcome:
        """Return the result of the last task of the model."""
        return Outcome(DONE, self._n_saved, self._trainer.last_report(self.model))

    def run(self, order: Order) -> Outcome:
        """Do a task; the model is saved when this returns, or is as before.

        Raises
        ------
        OSError, ModelFileError, LogError
            If the disk is in the way, or the log is damaged, or if what was done before cannot be done again: another
            learner may try it again, which takes the model as it was last saved.
        """
        if order.number <= self.learnt_through.version:  # it was saved, and that could not be noted
            return self._done() if order.number == self.learnt_through.version else Outcome(DONE, None, {})
        try:
            if order.kind == BATCH:
                return self._learn(order)
            if order.kind == ROLLBACK:
                return self._roll_back(order)
            if order.kind == PARAMETERS:
                return self._change(order)
            return self._promote(order) if order.kind == PROMOTE else self._pass(order)
        except (OSError, MemoryError, LogError):
            raise
        except Exception as error:  # whatever is wrong with a batch, the next one must still be learnt
            self._reload()
            reason = str(error) if isinstance(error, ValueError | TypeError) else f"{type(error).__name__}: {error}"
            if order.is_again:  # without it the tasks after it would make another model
                raise ModelFileError(
                    f"task {order.number} ({order.kind}) was done before and cannot be done again: {reason}. Restore "
                    f"'{self.path}' from a backup"
                ) from error
            return Outcome(REFUSED, None, {"reason": reason})

    def _learn(self, order: Order) -> Outcome:
        """Teach a batch to the challenger, if there is one, and to the model."""
        table = self._table(order.position)
        report: dict[str, Any] = {}
        if order.challenger is not None:
            report = self._teach_challenger(order, table, order.challenger)
        if self.model is None:
            self.model = self._trainer.new(order.parameters)
        number, found = self._trainer.learn(self.model, table, self._target)
        self._save(order, (number, len(table)))
        return Outcome(DONE, number, found | report)

    def _teach_challenger(self, order: Order, table: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Let the challenger learn first: once the model is saved the batch is done. Its errors are logged."""
        try:
            model, learnt_through = self._read_challenger(wanted)
            if learnt_through.version >= order.number:
                return {}
            number, found = self._challenger_trainer.learn(model, table, self._target)
            new = LearntThrough(self._log_id, order.number, order.position)
            content = self._challenger_trainer.pack(model, new, self._target, (number, len(table)))
            self._disk.replace(self._challenger_path, content)
            self._challenger = model, new
            return {"challenger_accuracy": found.get("accuracy_vote")}
        except (ValueError, TypeError) as error:
            self._challenger = None
            return {"challenger_problem": str(error)}

    def _read_challenger(self, wanted: Mapping[str, Any]) -> tuple[Any, LearntThrough]:
        """Return the challenger as it was saved, or a new one."""
        if self._challenger is None and self._disk.exists(self._challenger_path):
            content = self._disk.read(self._challenger_path)
            self._challenger = self._challenger_trainer.unpack(content, self._challenger_path.name)
        if self._challenger is None or self._challenger[1].version < wanted["since"]:
            self._challenger = self._challenger_trainer.new(wanted["parameters"]), NOTHING_LEARNT
        return self._challenger

    def _roll_back(self, order: Order) -> Outcome:
        """Go back to a stored version; batches learnt since are not learnt again."""
        found = [name for _, version, name in self._kept() if version == order.note["version"]]
        if not found:
            raise ValueError(f"version {order.note['version']} of the model is not kept")
        self.model, _ = self._trainer.unpack(self._disk.read(self._versions / found[0]), found[0])
        self._save(order)
        return Outcome(DONE, self._trainer.n_batches(self.model), {})

    def _change(self, order: Order) -> Outcome:
        """Change parameters; those of a model that knows nothing are taken when it is made."""
        if self.model is not None:
            self._trainer.set_parameters(self.model, order.note["parameters"])
        return self._pass(order)

    def _promote(self, order: Order) -> Outcome:
        """Replace the model by the challenger, whose file is removed: this cannot be done again."""
        if order.is_again:
            raise ValueError("the challenger is not kept any more")
        model, learnt_through = None, NOTHING_LEARNT
        if order.challenger is not None and self._disk.exists(self._challenger_path):
            model, learnt_through = self._read_challenger(order.challenger)
        if order.challenger is None or learnt_through.version < order.challenger["since"]:
            raise ValueError("the challenger has learnt nothing yet. Promote it after the next batch.")
        self.model = model
        self._save(order)
        self._challenger = None
        self._disk.remove(self._challenger_path)
        return Outcome(DONE, self._trainer.n_batches(self.model), {})

    def _pass(self, order: Order) -> Outcome:
        """Save the model as one that knows of the task; a challenger before it is no more."""
        if order.kind in (CHALLENGE, DROP_CHALLENGER):
            self._challenger = None
            self._disk.remove(self._challenger_path)
        if self.model is None:
            return Outcome(DONE, None, {})
        self._save(order)
        return Outcome(DONE, self._trainer.n_batches(self.model), {})

    def _table(self, position: int) -> Any:
        """Return the batch at a position of the log."""
        for entry in read_entries(self._disk, self._folder / LOG, position - 1, position):
            return TaskAdded.read(entry.payload).table
        raise LogError(
            f"entry {position} of the log in '{self._folder / LOG}' is missing or damaged, and the model has not "
            "learnt it. Restore the log from a backup."
        )

    def _save(self, order: Order, batch: tuple[int, int] | None = None) -> None:
        """Replace the file; the model before is kept as a version.

        What the log alone does not make again is saved twice: neither a version to go back to nor a challenger is
        kept until the version after the next one, as the entries of batches are.
        """
        learnt_through = LearntThrough(self._log_id, order.number, order.position)
        content = self._trainer.pack(self.model, learnt_through, self._target, batch)
        self._disk.make_folder(self._versions)
        if self._n_saved and self._disk.exists(self.path):
            self._disk.link(self.path, self._version_path(self._n_saved, self.learnt_through.version))
        n_batches, is_twice = self._trainer.n_batches(self.model), order.kind in (ROLLBACK, PROMOTE)
        if is_twice:
            self._disk.replace(self._version_path(n_batches, order.number), content)
        self._disk.replace(self.path, content)
        self.learnt_through, self._n_saved = learnt_through, n_batches
        for _, _, name in self._kept()[: -order.keep_versions - is_twice]:
            self._disk.remove(self._versions / name)

    def _version_path(self, n_batches: int, version: int) -> Path:
        return self._versions / f"batch-{n_batches:06d}-{version}.adf"

    def _reload(self) -> None:
        """Take the model as it was last saved; raises if there is an older one or none, which must learn again."""
        version, self.learnt_through = self.learnt_through.version, NOTHING_LEARNT
        self.model = self._challenger = None
        self._read()
        if self.learnt_through.version < version:
            raise ModelFileError(f"{self.path.name} cannot be read any more; expected version {version} of the model")

    def _kept(self) -> list[tuple[int, int, str]]:
        """Return the batches, the version and the name of each model that is kept, oldest first."""
        return kept_versions(self._disk, self.path)


def kept_versions(disk: Disk, model: Path) -> list[tuple[int, int, str]]:
    """Return the batches, the version and the name of each model that is kept beside a file, oldest first."""
    names = disk.names(model.with_name(f"{model.name}.versions"))
    matches = [(match, name) for name in names if (match := VERSION.fullmatch(name))]
    return sorted(((int(match[1]), int(match[2]), name) for match, name in matches), key=lambda one: one[1])
