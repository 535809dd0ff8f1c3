"""A batch that is here, as one part: read once, and never sent."""

from __future__ import annotations

from typing import Any

import numpy as np

from adforest.encoding.tables import Table, source_of
from adforest.forest import LeafCounts, Samples
from adforest.forest.types import Float64Array
from adforest.merging.parts import Counter, ReadPart, count, draw, encode, join_parts, read_part
from adforest.merging.plan import BatchPlan
from adforest.merging.survey import BatchRules, Survey


class LocalBatch:
    """A table, labels and weights as the user passed them."""

    def __init__(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        self._given = (X, y, sample_weight)
        self._read: ReadPart | None = None
        self._samples: Samples | None = None

    def survey(self, rules: BatchRules) -> Survey:
        """Read the table, and return what it holds."""
        self._read, survey = read_part(rules, *self._given, source_of(rules.number))
        return survey

    @property
    def table(self) -> Table | Float64Array:
        """What was read of the table, but the rows of weight 0."""
        assert self._read is not None
        table, weight = self._read.table, self._read.weight
        if weight is None or weight.all():
            return table
        kept = weight > 0
        return table[kept] if isinstance(table, np.ndarray) else table.rows(kept)

    def draw(self, plan: BatchPlan) -> Samples:
        """Return the samples drawn from what was read."""
        assert self._read is not None
        self._samples = encode(plan, self._read, 0)
        return join_parts(plan, [draw(plan, self._samples)])

    def count(self, plan: BatchPlan, counter: Counter, n_jobs: int | None) -> list[LeafCounts]:
        """Return the samples not drawn from what was read, counted by leaf."""
        assert self._samples is not None
        return count(plan, self._samples, counter, n_jobs)
