"""A batch that is here: read once, encoded once, and never sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from adforest.encoding.tables import Table, source_of
from adforest.exceptions import InputError
from adforest.forest import LeafCounts, Samples
from adforest.forest.types import BoolArray, Float64Array
from adforest.merging.parts import ClassCounts, Counter, ReadPart, count, encode, read_part, take, totals_of
from adforest.merging.plan import BatchPlan
from adforest.merging.survey import BatchRules, Survey


class LocalBatch:
    """A table, labels and weights as the user passed them."""

    def __init__(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        self._given = (X, y, sample_weight)
        self._read: ReadPart | None = None
        self._undrawn: tuple[Samples, BoolArray] | None = None  # all samples, and which of them are not drawn

    def survey(self, rules: BatchRules) -> Survey:
        """Read the table, and return what it holds."""
        if self._given[1] is None:
            name = rules.estimator_name
            raise InputError(f"{name} requires y to be passed, but the target y is None. Pass the labels.")
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
        samples = encode(plan, self._read, 0)
        if plan.draws_all:
            return samples
        is_drawn = plan.are_drawn(samples.serial)
        self._undrawn = samples, ~is_drawn
        drawn = take(samples, np.flatnonzero(is_drawn))
        return replace(drawn, totals=totals_of(plan, [ClassCounts.of(samples)]))

    def count(self, plan: BatchPlan, counter: Counter, n_jobs: int | None) -> list[LeafCounts]:
        """Return the samples not drawn from what was read, counted by leaf."""
        assert self._undrawn is not None
        return count(*self._undrawn, counter, n_jobs)
