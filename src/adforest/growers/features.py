"""How many attributes a node tries, by scikit-learn's spellings and the paper's."""

import math
from numbers import Integral


def count_features(max_features: str | float | None, m: int) -> int:
    """Return how many attributes to try at each node."""
    if max_features is None:
        return m
    if max_features == "default":
        return min(m, max(int(math.log2(m)) + 1, int(math.sqrt(m))))
    if max_features == "log2+1":
        return min(m, int(math.log2(m)) + 1)
    if max_features == "sqrt":
        return max(1, int(math.sqrt(m)))
    if max_features == "log2":
        return max(1, int(math.log2(m)))
    if isinstance(max_features, Integral):
        return min(m, int(max_features))
    return max(1, int(float(max_features) * m))
