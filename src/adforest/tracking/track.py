"""All statistics of a model's stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from adforest.adaptation import BatchReport
from adforest.adaptation.scoring import Answered
from adforest.forest import Samples
from adforest.forest.types import Int32Array
from adforest.tracking.classes import ClassLives
from adforest.tracking.column_sketches import ColumnSketches
from adforest.tracking.history import History
from adforest.tracking.prequential import Prequential


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """Immutable statistics of batches, classes and columns, and the last predictions.

    Attributes
    ----------
    history : History
    classes : ClassLives
    columns : ColumnSketches
    prequential : Prequential
    """

    history: History = field(default_factory=History)
    classes: ClassLives = field(default_factory=ClassLives.none)
    columns: ColumnSketches = field(default_factory=lambda: ColumnSketches.none(0))
    prequential: Prequential = field(default_factory=Prequential)

    def after(
        self,
        report: BatchReport,
        learnt: Samples | None,
        recycled_codes: Mapping[int, Int32Array],
        answered: Answered,
        *,
        is_new_regime: bool,
    ) -> Track:
        """Return the track after one more batch.

        Parameters
        ----------
        report : BatchReport
        learnt : Samples or None
            Samples learnt now: pending ones of earlier batches and those of this one, or a subsample of them with
            totals of all, see `adforest.tracking.column_sketches.sampled`; None if this batch is pending itself.
        recycled_codes : dict of int to int32 arrays
            By column: codes that encoded other categories until now.
        answered : Answered
            Predictions for the last samples of the batch before it was learnt.
        is_new_regime : bool
            Whether the batch showed an abrupt change or a sustained drift. Predictions until then, those for this
            batch included, followed the old rules, and are dropped.
        """
        history = self.history.after(report)
        prequential = Prequential() if is_new_regime else self.prequential.after(answered)
        if learnt is None:
            return replace(self, history=history, prequential=prequential)
        classes = self.classes.after(learnt.batch_totals.by_class, report.batch)
        return Track(history, classes, self.columns.after(learnt, report.batch, recycled_codes), prequential)

    def without_samples(self) -> Track:
        """Return the track without samples collected for bounds."""
        return replace(self, columns=self.columns.without_samples())
