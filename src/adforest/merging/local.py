"""A batch that is here, as one part: read once, and never sent."""

from __future__ import annotations

from typing import Any

from adforest.encoding.tables import source_of
from adforest.forest import Records
from adforest.merging.parts import ReadPart, draw, join_parts, read_part
from adforest.merging.plan import BatchPlan
from adforest.merging.survey import BatchRules, Survey


class LocalBatch:
    """A table, labels and weights as the user passed them."""

    def __init__(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        self._given = (X, y, sample_weight)
        self._read: ReadPart | None = None

    def survey(self, rules: BatchRules) -> Survey:
        """Read the table, and return what it holds."""
        self._read, survey = read_part(rules, *self._given, source_of(rules.number))
        return survey

    def draw(self, plan: BatchPlan) -> Records:
        """Return the records drawn from what was read."""
        assert self._read is not None
        return join_parts(plan, [draw(plan, self._read, 0)])
