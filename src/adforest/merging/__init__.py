"""A batch in parts: surveys of the parts are merged, then each part is encoded and samples are drawn from it;
the others are counted in the leaves of the trees grown from the samples drawn.

Pure functions over tables and arrays, for one machine and for many: the model is the same, bit by bit, whatever the
parts are and wherever they lie. A batch on one machine is a batch of one part.
"""

from adforest.merging.parts import (
    BatchSource,
    Counter,
    DrawnPart,
    LocalBatch,
    count_part,
    draw_part,
    join_parts,
    merge_counts,
    narrow_counts,
    survey_part,
)
from adforest.merging.plan import BatchPlan, BatchRules, Survey, merge_surveys, plan_batch

__all__ = [
    "BatchPlan",
    "BatchRules",
    "BatchSource",
    "Counter",
    "DrawnPart",
    "LocalBatch",
    "Survey",
    "count_part",
    "draw_part",
    "join_parts",
    "merge_counts",
    "merge_surveys",
    "narrow_counts",
    "plan_batch",
    "survey_part",
]
