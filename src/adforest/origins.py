"""Sources of a model's batches, stored in the model, to recognise batches that it has learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

MAX_SOURCES = 8  # names of files that a report keeps
DIGEST_BYTES = 16  # 128 bits: of a billion batches, no two are taken for each other


@dataclass(frozen=True, slots=True)
class Origins:
    """Sources of batches, stored by programs that read files or streams; they have no effect on learning.

    Attributes
    ----------
    target : str or None
        The column that held the classes.
    reading : tuple of (str, str or tuple of str)
        How the files of the first batch were read: arguments of `read_batches`, with their values.
    digests : tuple of bytes
        Digest of each batch learnt, the last `MAX_DIGESTS` of them: 1 MB at most. A batch before these is not
        recognised, and would be learnt again.
    sizes : tuple of (int, int, int)
        Of each of these digests: bytes of the file (0 for samples without one), number of samples, and number of
        the batch that it was learnt with (0 if it was skipped). They show whether a file has grown since it was learnt.
    stream : str or None
        The id of the stream of the batches, if there is one.
    epoch : int
        The number of its last batch learnt.
    position : int
        Position of that batch in the log of the stream, if it has one (`adforest.service`); later entries are to be
        learnt.
    rule_counts : tuple of (str, tuple of (str, int))
        By rule of an alert: its findings in the last batch, such as a column, each with the number of batches in a row.
    alerts : tuple of str
        Alerts of the last batch as JSON; the next process sends them, unless that was done.
    """

    target: str | None = None
    reading: tuple[tuple[str, str | tuple[str, ...]], ...] = ()
    digests: tuple[bytes, ...] = ()
    sizes: tuple[tuple[int, int, int], ...] = ()
    stream: str | None = None
    epoch: int = 0
    rule_counts: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()
    alerts: tuple[str, ...] = ()
    position: int = 0

    MAX_DIGESTS: ClassVar[int] = 1 << 16

    def with_batch(self, digest: bytes, n_bytes: int = 0, n_samples: int = 0, number: int = 0) -> Origins:
        """Return the origins after one more batch, or with one more digest of it."""
        digests, sizes = (*self.digests, digest), (*self.sizes, (n_bytes, n_samples, number))
        return replace(self, digests=digests[-self.MAX_DIGESTS :], sizes=sizes[-self.MAX_DIGESTS :])

    def sized(self) -> list[tuple[bytes, int, int]]:
        """Return the digests with their sizes."""
        return [(digest, *size[:2]) for digest, size in zip(self.digests, self.sizes, strict=True)]

    def batch_numbers(self) -> dict[bytes, int]:
        """Return, by digest, the number of the batch that it was learnt with."""
        pairs = zip(self.digests, self.sizes, strict=True)
        return {digest: number for digest, (_, _, number) in pairs if number > 0}


def origins_of(classifier: Any) -> Origins:
    """Return the origins of a fitted classifier."""
    origins: Origins = classifier._model.origins
    return origins


def note_origins(classifier: Any, origins: Origins) -> None:
    """Store the sources of batches in a classifier; `save` writes it to the file, and `fit` forgets it."""
    classifier._model = replace(classifier._model, origins=origins)


def note_source(classifier: Any, source: Sequence[str], first_row: int) -> None:
    """Store in the report of a classifier's last batch its files, and its first row in them.

    Parameters
    ----------
    classifier : AdaptiveDecisionForestClassifier or PaperADFClassifier
        It has just learnt the batch.
    source : sequence of str
        Names of files; the first `MAX_SOURCES` are kept.
    first_row : int
        Counted from 1.
    """
    model = classifier._model
    track = model.track
    rows = first_row, first_row + track.history.reports[-1].n_samples - 1
    track = replace(track, history=track.history.with_source(tuple(source[:MAX_SOURCES]), rows))
    classifier._model = replace(model, track=track)
