"""Learn batches into a model file: each is predicted, learnt and saved with its digest, or none of these."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from adforest.cli.batch_files import (
    class_type,
    column_names,
    content_digest,
    for_prediction,
    known_types,
    learnt_columns,
    part_of,
    shown,
    with_last,
    with_noted,
)
from adforest.cli.model_file import ModelFile, Signature, naming_unwritten, real_path
from adforest.cli.options import read_value
from adforest.cli.output import option
from adforest.cli.stopping import holding_signals, keep_signals
from adforest.cli.surveying import Fingerprint, Limits, Survey, ends_a_line, fingerprint, survey
from adforest.exceptions import ParameterError

NO_TARGET = "--target is not given; expected the column that holds the classes"
NO_LIMITS = Limits()
# A file is one batch up to so many records and values, which take about 700 MB while they are learnt; a larger one is
# cut into pieces of which a few, and a model of 100,000 records, take about 150 MB (benchmarks/command_line.py).
WHOLE_RECORDS, WHOLE_VALUES = 500_000, 5_000_000
PIECE_RECORDS, PIECE_VALUES = 25_000, 250_000


class ChangedError(ValueError):
    """A file was written to while it was read: the records may be from two versions of it."""


class Part(NamedTuple):
    """Digest by which a batch, or a file that ends with it, is recognised.

    Attributes
    ----------
    digest : bytes
        Of the bytes of a file, or of the records of a piece and those before it.
    n_bytes : int
        Of the file, 0 of a piece.
    n_samples : int
    """

    digest: bytes
    n_bytes: int = 0
    n_samples: int = 0


class Learner:
    """A model and its file, which is replaced after each batch.

    Parameters
    ----------
    file : ModelFile
        The model file; a new model is made if there is none.
    target : str or None
        The column that holds the classes; None for the one stored in the model.
    parameters : dict of str to str
        Parameters of the model, as they were given.
    reading : dict
        Arguments of `read_batches`.
    batch_size : int or None
        Samples in a batch; None for one batch a file, unless it is large.
    limits : Limits
        Maximum size of files.

    Attributes
    ----------
    reading : dict
        Options for reading files: those stored in the model, updated by those given.
    n_unlabelled : int
        Number of samples without a class that were left out.
    """

    def __init__(
        self,
        file: ModelFile,
        target: str | None,
        parameters: Mapping[str, str],
        reading: Mapping[str, Any],
        batch_size: int | None = None,
        limits: Limits = NO_LIMITS,
    ) -> None:
        keep_signals()
        self.file = file
        self.path = file.path
        self.batch_size = batch_size
        self.n_unlabelled = 0
        self._limits = limits
        self._surveyed: tuple[Path, Signature, Survey] | None = None
        self._given = target, dict(parameters), dict(reading)
        self._open()
        self._n_before = 0 if self.is_new else self.model.n_batches_

    def _open(self) -> None:
        """Read the model of the file, or make a new one, and set the given parameters."""
        from adforest import AdaptiveDecisionForestClassifier
        from adforest.origins import Origins, origins_of

        target, parameters, reading = self._given
        self.is_new = not self.file.exists()
        self.model: Any = AdaptiveDecisionForestClassifier() if self.is_new else self.file.load()
        self.origins = Origins() if self.is_new else origins_of(self.model)
        if not self.is_new:
            learnt_columns(self.model)  # raises before anything is read
        self._set(parameters)
        self.target = self._checked_target(target)
        self.reading = with_noted(reading, self.origins)
        self.origins = replace(self.origins, target=self.target)
        if self.is_new:
            noted = ((name, value if isinstance(value, str) else tuple(value)) for name, value in self.reading.items())
            self.origins = replace(self.origins, reading=tuple(noted))
        self._take_over(self.origins)

    def reload(self) -> bool:
        """Load the model file again, and return whether it is another model than that in memory."""
        before = None if self.is_new else (self.origins, self.model.history_[-1])
        if real_path(self.path) != self.file.real:
            self.file.lock()
        self._open()
        return self.is_new or before != (self.origins, self.model.history_[-1])

    def write_again(self) -> None:
        """Write the model in memory, after the file was removed."""
        with holding_signals(), naming_unwritten(self.path):
            self.file.save(self.model)

    def _set(self, parameters: Mapping[str, str]) -> None:
        """Set parameters of the model, or raise if one has a value that it cannot have."""
        from adforest.base import check_model_parameters

        names = self.model.get_params()
        unknown = [name for name in parameters if name not in names]
        if unknown:
            raise ValueError(f"a {type(self.model).__name__} has no {option(unknown[0])}. Leave it out.")
        self.model.set_params(**{name: read_value(value) for name, value in parameters.items()})
        try:
            check_model_parameters(self.model)
        except ParameterError as error:
            raise ParameterError(_as_option(error.problem, parameters), error.advice) from None

    def _checked_target(self, target: str | None) -> str:
        """Return the target, given or stored, or raise if there is none or if they differ."""
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
        """Return how many batches were learnt into the file since the beginning."""
        from adforest import load

        return load(self.path).n_batches_ - self._n_before if self.path.exists() else 0

    def is_known(self, digest: bytes) -> bool:
        """Return whether a batch was learnt already."""
        return digest in self._known

    def doubt(self, path: Path) -> str:
        """Return why a file may be unfinished, empty if there is no sign of that or it was learnt already."""
        return "" if self.is_known(fingerprint(path).digest) else self._check_limits(path).doubt

    def batches(self, path: Path) -> Iterator[tuple[Any, tuple[Part, ...]]]:
        """Yield the batches of a file that were not learnt yet, with their digests.

        A file is one batch unless it is large. Records before an error are not learnt until the file is corrected. Of a
        text file that was appended to since it was learnt, the new records are learnt.
        """
        before = _state_of(path)
        for batch, parts in self._members(path) if path.suffix.lower() == ".zip" else self._file(path):
            if _state_of(path) != before:
                raise ChangedError(f"'{path}' was written to while it was read. Learn it once it is finished.")
            self._check_columns(batch)
            yield batch, parts

    def _file(self, path: Path) -> Iterator[tuple[Any, tuple[Part, ...]]]:
        """Yield the new records of a file."""
        found = fingerprint(path, self._file_sizes)
        if self.is_known(found.digest):
            return
        start = self._learnt_part(path, found)
        batches = self._read([path], self._piece_size(path))
        n_samples, digest = 0, start.digest
        for batch, is_last in with_last(batches):
            n_samples += len(batch.y)
            n_old = max(len(batch.y) - (n_samples - start.n_samples), 0)
            if n_old >= len(batch.y):
                continue
            rest = part_of(batch, n_old)
            whole = (Part(found.digest, found.n_bytes, n_samples),) if is_last else ()
            if is_last and n_samples == len(batch.y):  # the file is one batch, known by its bytes
                pieces: tuple[Part, ...] = ()
            else:
                digest = content_digest(rest, digest)
                pieces = (Part(digest, 0, len(rest.y)),)
            if batch.is_whole and not (pieces and self.is_known(digest)):
                yield rest, (*pieces, *whole)
        self.n_unlabelled += batches.n_unlabelled

    def _members(self, path: Path) -> Iterator[tuple[Any, tuple[Part, ...]]]:
        """Yield the new records of a zip archive: by member, or in pieces of all members if it is large."""
        if self._piece_size(path) is not None:
            yield from self._pieces([path], self._piece_size(path))
            return
        batches = self._read([path], None)
        for batch in batches:
            found = fingerprint(batch.files[0], self._file_sizes)
            if batch.is_whole and not self.is_known(found.digest):
                self._learnt_part(batch.files[0], found)
                yield batch, (Part(found.digest, found.n_bytes, len(batch.y)),)
        self.n_unlabelled += batches.n_unlabelled

    def pieces(self, paths: list[Path]) -> Iterator[tuple[Any, tuple[Part, ...]]]:
        """Yield the batches of `batch_size` records that were not learnt yet, with their digests."""
        for path in paths:
            self._check_limits(path)
        for batch, parts in self._pieces(paths, self.batch_size):
            self._check_columns(batch)
            yield batch, parts

    def _pieces(self, paths: list[Path], size: int | None) -> Iterator[tuple[Any, tuple[Part, ...]]]:
        """Yield the new records of files that are split and joined.

        The last piece of an earlier command may have been a smaller one: of the first piece that is new, records that
        were learnt then are left out.
        """
        digest, is_first, batches = b"", True, self._read(paths, size)
        for batch in batches:
            before, digest = digest, content_digest(batch, digest)
            if not batch.is_whole or self.is_known(digest):
                continue
            n_old = 0
            if is_first:
                lengths = sorted((one for one in self._piece_sizes if one < len(batch.y)), reverse=True)
                starts = (one for one in lengths if self.is_known(content_digest(part_of(batch, 0, one), before)))
                n_old, is_first = next(starts, 0), False
            yield part_of(batch, n_old), (Part(digest, 0, len(batch.y)),)
        self.n_unlabelled += batches.n_unlabelled

    def _learnt_part(self, path: Path, found: Fingerprint) -> Part:
        """Return the longest beginning of a file that was learnt, an empty one if none was; it is an error in a format
        whose remaining records cannot be separated from the first ones.
        """
        from adforest.reading.paths import TEXT_SUFFIXES

        learnt = [(n_bytes, digest) for n_bytes, digest in found.beginnings.items() if self._sized.get(digest, (0,))[0]]
        if not learnt:
            return Part(b"")
        n_bytes, digest = max(learnt)
        n_samples = self._sized[digest][1]
        grown = f"'{path}' went on since its first {n_bytes:,} bytes were learnt"
        if not path.exists() or path.suffix.lower() not in TEXT_SUFFIXES:
            raise ValueError(
                f"{grown}; expected that of text files alone (.csv, .jsonl, not compressed), of which the rest can be "
                "separated from the beginning. Write the rest to a file of its own."
            )
        if not ends_a_line(path, n_bytes):
            raise ValueError(
                f"{grown}, in the middle of a line, so that record {n_samples:,} was learnt before it was whole. Write "
                "the rest to a file of its own."
            )
        return Part(digest, n_bytes, n_samples)

    def _check_limits(self, path: Path) -> Survey:
        """Return the size of a file, or raise if it is beyond the limits; the last result is kept."""
        state = _state_of(path)
        if self._surveyed is not None and self._surveyed[:2] == (path, state):
            return self._surveyed[2]
        found = survey(path, self._limits)
        if found.n_values:  # of text, lines are counted as they are read
            self._limits.check(path, found)
        if self._limits.max_columns is not None:
            self._limits.check_columns(path, len(column_names(path, self.reading)))
        self._surveyed = path, state, found
        return found

    def _piece_size(self, path: Path) -> int | None:
        """Return the number of records per piece of a large file, None where a file is one batch."""
        found = self._check_limits(path)
        if self.batch_size is not None:
            return self.batch_size
        is_small = found.n_rows <= WHOLE_RECORDS
        if is_small and (found.n_values or found.n_bytes) <= WHOLE_VALUES:
            return None
        n_columns = max(len(column_names(path, self.reading)), 1)
        if is_small and found.n_rows * n_columns <= WHOLE_VALUES:
            return None
        return max(PIECE_VALUES // max(n_columns, PIECE_VALUES // PIECE_RECORDS), 1)

    def learn(
        self,
        batch: Any,
        parts: Sequence[Part],
        tell: Callable[[Any], None] = lambda _: None,
        noted: Callable[[Any, Any], Any] = lambda _, origins: origins,
    ) -> Any:
        """Learn a batch, write the model, and return the report; after an error model and file are as they were.

        Parameters
        ----------
        batch : FileBatch
        parts : sequence of Part
            Its digests.
        tell : callable
            Called with the report once the model is written; signals wait until it returns.
        noted : callable
            Returns the origins to be saved, given the model that has learnt the batch and the origins so far.
        """
        from copy import copy

        from adforest.origins import note_origins, note_source

        learnt = copy(self.model)  # a model is swapped in whole, so that the copy is cheap and the old one stays
        learnt.partial_fit(batch.X, batch.y)
        note_source(learnt, [shown(path) for path in batch.files], batch.first_row)
        origins, number = self.origins, learnt.history_[-1].batch
        for part in parts:
            origins = origins.with_batch(*part, number)
        origins = noted(learnt, origins)
        note_origins(learnt, origins)
        report = learnt.history_[-1]
        with holding_signals():
            with naming_unwritten(self.path):
                self.file.save(learnt)
            self.model, self.is_new = learnt, False
            self._take_over(origins)
            tell(report)
        return report

    def _take_over(self, origins: Any) -> None:
        """Take over the origins of the batches learnt."""
        self.origins = origins
        self._known = set(origins.digests)
        self._sized = {digest: (n_bytes, n_samples) for digest, n_bytes, n_samples in origins.sized()}
        self._file_sizes = {n_bytes for n_bytes, _ in self._sized.values() if n_bytes}
        self._piece_sizes = {n_samples for n_bytes, n_samples in self._sized.values() if not n_bytes}

    def _read(self, paths: list[Path], batch_size: int | None) -> Any:
        """Read batches with the column types that the model has learnt."""
        from adforest.reading import read_batches

        types = None if self.is_new else known_types(self.model) | {self.target: class_type(self.model)}
        return read_batches(paths, target=self.target, types=types, batch_size=batch_size, **self.reading)

    def _check_columns(self, batch: Any) -> None:
        """Raise if a batch lacks or adds columns and may not; the error names the file."""
        if self.is_new or self.model.column_changes == "allow":
            return
        learnt, given = learnt_columns(self.model), batch.X.column_names
        known, there = set(learnt), set(given)
        lacks, adds = [name for name in learnt if name not in there], [name for name in given if name not in known]
        if not lacks and not adds:
            return
        parts = [
            f"{what} {', '.join(map(repr, names[:5]))}" for what, names in (("lacks", lacks), ("adds", adds)) if names
        ]
        advice = "Rename the columns" if lacks and adds else "Add the column" if lacks else "Leave it out with --drop"
        header = self._header_label(batch.files[0])
        raise ValueError(
            f"{header} {' and '.join(parts)}; expected the {len(learnt)} columns that '{self.path}' learnt. "
            f"{advice}, or set --column-changes allow."
        )

    def _header_label(self, path: Path) -> str:
        """Return the location of the column names of a file, for errors."""
        from adforest.reading.files import open_sources

        archives = [parent for parent in path.parents if parent.is_file()]
        files, _ = open_sources([*archives, path][:1], self.target, self.target, **for_prediction(self.reading))
        return next(str(file.header_label) for file in files if file.path == path)


def _state_of(path: Path) -> Signature:
    """Return the size and times of a file, which change when it is written to."""
    return Signature.of(os.stat(path))


def _as_option(message: str, parameters: Mapping[str, str]) -> str:
    """Return an error about a parameter as one about an option."""
    name = message.partition(" ")[0]
    if name not in parameters:
        return message
    return message.replace(f"{name} of AdaptiveDecisionForestClassifier", option(name), 1)
