"""Learn batch after batch into a model file: each is answered, learnt and saved with its digest, or none of that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from adforest.cli.batches import (
    class_type,
    content_digest,
    file_digest,
    for_answers,
    known_types,
    learnt_columns,
    shown,
    with_noted,
)
from adforest.cli.parameters import read_value
from adforest.cli.wording import option

NO_TARGET = "--target is not given; expected the column that holds the classes"


class Learner:
    """A model and its file, which is that of the last batch learnt at any moment.

    Parameters
    ----------
    path : Path
        The model file; a new model is made if there is none.
    target : str or None
        The column that holds the classes; None for the one noted in the model.
    parameters : dict of str to str
        Parameters of the model, as they were given.
    reading : dict
        Arguments of `read_batches`.
    batch_size : int or None
        Records in a batch; None for one batch a file.

    Attributes
    ----------
    n_unlabelled : int
        Records without a class that were left out of the files read to their end.
    """

    def __init__(
        self,
        path: Path,
        target: str | None,
        parameters: Mapping[str, str],
        reading: Mapping[str, Any],
        batch_size: int | None = None,
    ) -> None:
        from adforest import AdaptiveDecisionForestClassifier, load
        from adforest.origins import Origins, origins_of

        self.path = path
        self.is_new = not path.exists()
        self.model: Any = AdaptiveDecisionForestClassifier() if self.is_new else load(path)
        self.origins = Origins() if self.is_new else origins_of(self.model)
        self.batch_size = batch_size
        self.n_unlabelled = 0
        self._n_before = 0 if self.is_new else self.model._model.n_batches
        if not self.is_new:
            learnt_columns(self.model)  # raises before anything is read
        self._set(parameters)
        self.target = self._checked_target(target)
        self._reading = with_noted(reading, self.origins)
        self.origins = replace(self.origins, target=self.target)
        if self.is_new:
            noted = ((name, value if isinstance(value, str) else tuple(value)) for name, value in self._reading.items())
            self.origins = replace(self.origins, reading=tuple(noted))
        self._known = set(self.origins.digests)

    def _set(self, parameters: Mapping[str, str]) -> None:
        """Set parameters of the model, or raise if one has a value that it cannot have."""
        from adforest.parameters import check_parameters

        names = self.model.get_params()
        unknown = [name for name in parameters if name not in names]
        if unknown:
            raise ValueError(f"a {type(self.model).__name__} has no {option(unknown[0])}. Leave it out.")
        self.model.set_params(**{name: read_value(value) for name, value in parameters.items()})
        try:
            check_parameters(self.model, self.model._rules)
            if not self.is_new:
                self.model._check_fixed(self.model._model.fixed)
        except ValueError as error:
            raise ValueError(_as_option(str(error), parameters)) from None

    def _checked_target(self, target: str | None) -> str:
        """Return the target, given or noted, or raise if there is none or if they differ."""
        noted = self.origins.target
        if noted is not None and target not in (None, noted):
            raise ValueError(
                f"--target is {target!r}, but '{self.path}' learnt {noted!r}. Leave --target out, or start a new "
                "model: name another file with --model."
            )
        if target is None and noted is None:
            raise ValueError(f"{NO_TARGET}. Add --target NAME.")
        return target or str(noted)

    def n_learnt(self) -> int:
        """Return how many batches more than at the beginning are in the file, also if the last was hardly written."""
        from adforest import load

        return load(self.path)._model.n_batches - self._n_before if self.path.exists() else 0

    def is_known(self, digest: bytes) -> bool:
        """Return whether a batch was learnt already."""
        return digest in self._known

    def batches(self, path: Path) -> Iterator[tuple[Any, bytes]]:
        """Yield the batches of a file that were not learnt yet, with what stands for each.

        What is in the file before an error is not a batch: it comes again once the file is corrected.
        """
        whole = None if path.suffix.lower() == ".zip" else file_digest(path)
        if whole is not None and self.is_known(whole):
            return
        batches = self._read([path], None)
        for batch in batches:
            digest = whole or file_digest(batch.files[0])
            if batch.is_whole and not self.is_known(digest):
                self._check_columns(batch)
                yield batch, digest
        self.n_unlabelled += batches.n_unlabelled

    def pieces(self, paths: list[Path]) -> Iterator[tuple[Any, bytes]]:
        """Yield the batches of so many records that were not learnt yet, with what stands for each."""
        digest, batches = b"", self._read(paths, self.batch_size)
        for batch in batches:
            digest = content_digest(batch, digest)
            if batch.is_whole and not self.is_known(digest):
                self._check_columns(batch)
                yield batch, digest
        self.n_unlabelled += batches.n_unlabelled

    def learn(self, batch: Any, digest: bytes, noted: Callable[[Any, Any], Any] | None = None) -> Any:
        """Learn a batch, write the model, and return the report; after an error model and file are as they were.

        Parameters
        ----------
        batch : FileBatch
        digest : bytes
            What stands for it.
        noted : callable, optional
            Returns what is noted in the model that has learnt the batch, given that and what was noted so far.
        """
        from copy import copy

        from adforest.origins import note_origins, note_source

        learnt = copy(self.model)  # a model is swapped in whole, so that the copy is cheap and the old one stays
        learnt.partial_fit(batch.X, batch.y)
        note_source(learnt, [shown(path) for path in batch.files], batch.first_row)
        origins = self.origins.with_batch(digest)
        if noted is not None:
            origins = noted(learnt, origins)
        note_origins(learnt, origins)
        learnt.save(self.path)
        self.model, self.origins, self.is_new = learnt, origins, False
        self._known.add(digest)
        return self.model.history_[-1]

    def _read(self, paths: list[Path], batch_size: int | None) -> Any:
        """Read batches; what columns hold is what the model learnt that they do."""
        from adforest.streams import read_batches

        types = None if self.is_new else known_types(self.model) | {self.target: class_type(self.model)}
        return read_batches(paths, target=self.target, types=types, batch_size=batch_size, **self._reading)

    def _check_columns(self, batch: Any) -> None:
        """Raise if a batch lacks or adds columns and may not; the error names the file."""
        if self.is_new or self.model.column_changes == "allow":
            return
        learnt, came = learnt_columns(self.model), batch.X.column_names
        lacks, adds = [name for name in learnt if name not in came], [name for name in came if name not in learnt]
        if not lacks and not adds:
            return
        parts = [
            f"{what} {', '.join(map(repr, names[:5]))}" for what, names in (("lacks", lacks), ("adds", adds)) if names
        ]
        advice = "Rename the columns" if lacks and adds else "Add the column" if lacks else "Leave it out with --drop"
        place = self._header_place(batch.files[0])
        raise ValueError(
            f"{place} {' and '.join(parts)}; expected the {len(learnt)} columns that '{self.path}' learnt. "
            f"{advice}, or set --column-changes allow."
        )

    def _header_place(self, path: Path) -> str:
        """Return how an error about the columns of a file calls it."""
        from adforest.streams.files import open_sources

        archives = [parent for parent in path.parents if parent.is_file()]
        files, _ = open_sources([*archives, path][:1], self.target, self.target, **for_answers(self._reading))
        return next(file.header_place for file in files if file.path == path)


def _as_option(message: str, parameters: Mapping[str, str]) -> str:
    """Return an error about a parameter as one about an option."""
    name = message.partition(" ")[0]
    if name not in parameters:
        return message
    return message.partition(" Set it ")[0].replace(f"{name} of AdaptiveDecisionForestClassifier", option(name), 1)
