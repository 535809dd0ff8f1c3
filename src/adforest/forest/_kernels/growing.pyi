import numpy as np

from adforest.forest.types import Bytes, Floats, Ints, Longs, Nodes, Words, Words16

NODE: np.dtype[np.void]

def grow(
    X: Floats,
    y: Ints,
    weights: Bytes,
    n_categories: Ints,
    samples: Ints,
    group_start: Longs,
    group_node: Ints,
    group_depth: Ints,
    leaf_of: Ints,
    *,
    n_classes: int,
    max_features: int,
    min_leaf: int,
    max_bins: int,
    max_depth: int,
    max_new_nodes: int,
    base: int,
    words_base: int,
    seed: int,
    binned: tuple[Words16, Floats, Ints] | None = None,
    by_ratio: bool = False,
    confidence: float = 0.0,
    deviate: float = 0.0,
) -> tuple[Nodes, Nodes, Words, Ints, Ints, Ints, Floats]: ...
