"""A batch in parts: what each part holds is surveyed and merged, then each part is encoded and drawn from.

Pure functions over tables and arrays, for one machine and for many: the model is the same, bit by bit, whatever the
parts are and wherever they lie. A batch on one machine is a batch of one part.
"""

from adforest.merging.local import LocalBatch
from adforest.merging.parts import DrawnPart, draw_part, join_parts, survey_part
from adforest.merging.plan import BatchPlan, plan_batch
from adforest.merging.source import BatchSource
from adforest.merging.survey import BatchRules, Survey, merge_surveys

__all__ = [
    "BatchPlan",
    "BatchRules",
    "BatchSource",
    "DrawnPart",
    "LocalBatch",
    "Survey",
    "draw_part",
    "join_parts",
    "merge_surveys",
    "plan_batch",
    "survey_part",
]
