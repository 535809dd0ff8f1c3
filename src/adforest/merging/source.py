"""Where the parts of a batch lie: here, or on the workers of some engine."""

from typing import Protocol

from adforest.forest import LeafCounts, Samples
from adforest.merging.parts import Counter
from adforest.merging.plan import BatchPlan
from adforest.merging.survey import BatchRules, Survey


class BatchSource(Protocol):
    """The passes over a batch; an engine has one of these."""

    def survey(self, rules: BatchRules) -> Survey:
        """Return the survey of all parts: `survey_part` of each, merged by `merge_surveys` in their order."""
        ...

    def draw(self, plan: BatchPlan) -> Samples:
        """Return the samples drawn: `draw_part` of each part, joined by `join_parts` in their order."""
        ...

    def count(self, plan: BatchPlan, counter: Counter, n_jobs: int | None) -> list[LeafCounts]:
        """Return the samples not drawn, counted by leaf: `count_part` of each part, merged by `merge_counts`.

        Asked for only where some are not drawn.
        """
        ...
