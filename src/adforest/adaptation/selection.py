"""Which forest answers."""

import math
from collections.abc import Mapping

SMOOTHING = 0.5  # weight of the newest batch in a forest's running accuracy


def smoothed(before: float, now: float) -> float:
    """Return a running accuracy with one more batch in it; NaN stands for 'never tested'."""
    return now if math.isnan(before) else before + SMOOTHING * (now - before)


def most_accurate(scores: Mapping[str, float]) -> str:
    """Return the name with the highest score, the first among equals; those never tested come last."""
    return max(scores, key=lambda name: -1.0 if math.isnan(scores[name]) else scores[name])
