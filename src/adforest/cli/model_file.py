"""The model file of a command: one process learns at a time, and a file that others changed is never overwritten."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from adforest.cli.version_files import drop_versions, is_kept, keep_version
from adforest.log_lines import remark
from adforest.storage.locks import holder_of, lock_file, note_holder


class Signature(NamedTuple):
    """Identity of a file's content: it changes when the file is written to or replaced."""

    device: int
    inode: int
    size: int
    changed: int

    @classmethod
    def of(cls, found: os.stat_result) -> Signature:
        """Return the signature for the status of a file."""
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


class ConflictError(ValueError):
    """The model file is not the one that this process read or wrote last."""


class NotWrittenError(OSError):
    """A file could not be written; the message names it."""

    def __str__(self) -> str:
        return str(self.args[1])


@contextmanager
def naming_unwritten(path: Path) -> Iterator[None]:
    """Replace errors of the system by `NotWrittenError`, which names the file."""
    try:
        yield
    except OSError as error:
        raise NotWrittenError(error.errno, f"'{path}' cannot be written ({error.strerror or error})") from error


class ModelFile:
    """A model file, and its signature when it was last read or written.

    Parameters
    ----------
    path : Path
        As it was given; it may be a link to the file.

    keep : int
        How many earlier versions are kept, see `adforest.cli.version_files`.

    Attributes
    ----------
    real : Path
        The file itself, when it was last looked up.
    """

    def __init__(self, path: Path, keep: int = 0) -> None:
        self.path = path
        self.keep = keep
        self.real = real_path(path)
        self._signature: Signature | None = None
        self._batch = 0  # the last one of the model that is there
        self._locks = ExitStack()

    def exists(self) -> bool:
        """Return whether there is a file."""
        return self.path.exists()

    def load(self) -> Any:
        """Return the model, and remember the signature of the file."""
        from adforest import load

        before = self._found()
        model = load(self.path)
        self._signature, self._batch = before, model.history_[-1].batch
        return model

    def save(self, model: Any) -> None:
        """Replace the file, or raise `ConflictError` if it is not the one last read or written."""
        from adforest.storage.files import save

        self.check()
        self._signature = Signature.of(save(model, self.real, before_replacing=self._give_way))
        self._batch = model.history_[-1].batch
        if self.keep:
            drop_versions(self.real, self.keep)

    def _give_way(self) -> None:
        """Check that the file may be replaced, and keep it as a version."""
        self.check()
        if self.keep and self._batch and self.real.exists():
            keep_version(self.real, self._batch)

    def check(self) -> None:
        """Raise `ConflictError` if the file is not the one last read or written."""
        if real_path(self.path) != self.real:
            raise ConflictError(f"'{self.path}' is a link to another file now, '{real_path(self.path)}'")
        found = self._found()
        if found == self._signature or (found is None and self._signature is not None):
            return  # one that was removed is written again: the model in memory has all that it had
        raise ConflictError(f"'{self.path}' was changed by another program")

    def is_gone(self) -> bool:
        """Return whether a file that was read or written no longer exists."""
        return self._signature is not None and self._found() is None

    def lock(self) -> None:
        """Lock the file, so that no other process learns into it under any name, until `release`.

        The lock is on ``.NAME.lock`` beside the file that links lead to, and on the file itself, which may have other
        names (hard links). It ends with the process, however that ends.
        """
        self.release()
        self.real = real_path(self.path)
        self.real.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as locks:
            note = locks.enter_context(open(self.real.with_name(f".{self.real.name}.lock"), "a+b"))
            if not lock_file(note):
                raise self._in_use(holder_of(note))
            note_holder(note)
            if os.name != "nt" and self.real.exists():
                with suppress(PermissionError):  # a file that may not be written to can still be replaced
                    itself = locks.enter_context(open(self.real, "r+b"))
                    if not lock_file(itself):
                        raise self._in_use("that named it otherwise")
                    self._warn_of_names(os.fstat(itself.fileno()).st_nlink - is_kept(self.real))
            for start in (".", ".."):  # of the model and of its status, see adforest.storage.atomic
                for left in self.real.parent.glob(f"{start}{glob.escape(self.real.name)}.*.tmp"):
                    left.unlink(missing_ok=True)
            self._locks = locks.pop_all()

    def release(self) -> None:
        """Release the lock."""
        self._locks.close()

    def _found(self) -> Signature | None:
        """Return the signature of the file, None if there is none."""
        try:
            return Signature.of(os.stat(self.real))
        except FileNotFoundError:
            return None

    def _in_use(self, holder: str) -> ValueError:
        """Return the error for a file that another process learns into."""
        return ValueError(
            f"another process is learning into '{self.path}'{f': {holder}' if holder else ''}; expected one at a time, "
            "or batches would be lost. Wait until it ends, or end it."
        )

    def _warn_of_names(self, n_names: int) -> None:
        """Warn if the file has other names, which are not updated."""
        if n_names > 1:
            remark(
                f"warning: '{self.path}' has {n_names} names (hard links); this one alone gets what is learnt, others "
                "keep the model as it is. Use symbolic links where they are to be one."
            )


def load_model(path: Path) -> Any:
    """Return the model of a file, or raise if there is none."""
    from adforest import load

    if not path.exists():
        raise FileNotFoundError(
            f"there is no model '{path}'; expected a file that 'adforest learn' wrote. Correct the name, or learn one."
        )
    return load(path)


@contextmanager
def locked(path: Path, keep: int = 0) -> Iterator[ModelFile]:
    """Open a model file that no other process learns into until the block ends."""
    file = ModelFile(path, keep)
    file.lock()
    try:
        yield file
    finally:
        file.release()


def real_path(path: Path) -> Path:
    """Return the file that a path leads to through links, whether there is one or not."""
    return Path(os.path.realpath(path))
