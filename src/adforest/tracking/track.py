"""All that a model keeps of its stream for those who look at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from adforest.adaptation import BatchReport
from adforest.forest import Records
from adforest.forest.types import Ints
from adforest.tracking.classes import ClassLives
from adforest.tracking.columns import ColumnSketches
from adforest.tracking.history import History


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """What happened in batches, when classes came, and which values columns had. It never changes.

    Attributes
    ----------
    history : History
    classes : ClassLives
    columns : ColumnSketches
    """

    history: History = field(default_factory=History)
    classes: ClassLives = field(default_factory=ClassLives.none)
    columns: ColumnSketches = field(default_factory=lambda: ColumnSketches.none(0))

    def after(self, report: BatchReport, learnt: Records | None, given_back: Mapping[int, Ints]) -> Track:
        """Return the track after one more batch.

        Parameters
        ----------
        report : BatchReport
        learnt : Records or None
            What is learnt now: records of earlier batches that waited, and those of this one, or a sample of them with
            totals of all, see `adforest.tracking.columns.sampled`; None if this batch waits itself.
        given_back : dict of int to int32 arrays
            By column: codes that meant other categories until now.
        """
        history = self.history.after(report)
        if learnt is None:
            return replace(self, history=history)
        classes = self.classes.after(learnt.came.by_class, report.batch)
        return Track(history, classes, self.columns.after(learnt, report.batch, given_back))

    def without_records(self) -> Track:
        """Return the track without records of which no bounds were made yet."""
        return replace(self, columns=self.columns.without_records())
