"""All that a model keeps of its stream for those who look at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from adforest.adaptation import BatchReport
from adforest.adaptation.scoring import Answered
from adforest.forest import Samples
from adforest.forest.types import Int32Array
from adforest.tracking.classes import ClassLives
from adforest.tracking.columns import ColumnSketches
from adforest.tracking.history import History
from adforest.tracking.prequential import Prequential


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """What happened in batches, when classes came, which values columns had, what was answered. It never changes.

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
            What is learnt now: samples of earlier batches that waited, and those of this one, or a sample of them with
            totals of all, see `adforest.tracking.columns.sampled`; None if this batch waits itself.
        recycled_codes : dict of int to int32 arrays
            By column: codes that meant other categories until now.
        answered : Answered
            What the last samples of the batch were answered before it was learnt.
        is_new_regime : bool
            Whether the batch showed that the rules have changed abruptly or for good. What was answered until then,
            also to this batch, was answered by the old rules: it says nothing about the model from now on.
        """
        history = self.history.after(report)
        prequential = Prequential() if is_new_regime else self.prequential.after(answered)
        if learnt is None:
            return replace(self, history=history, prequential=prequential)
        classes = self.classes.after(learnt.came.by_class, report.batch)
        return Track(history, classes, self.columns.after(learnt, report.batch, recycled_codes), prequential)

    def without_samples(self) -> Track:
        """Return the track without samples of which no bounds were made yet."""
        return replace(self, columns=self.columns.without_samples())
