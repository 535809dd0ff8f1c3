import numpy as np

from adforest.forest.samples import Groups, GrowthParams, Samples
from adforest.forest.types import Float64Array, Int32Array, Nodes, UInt16Array, UInt64Array

NODE: np.dtype[np.void]

def grow(
    samples: Samples,
    groups: Groups,
    params: GrowthParams,
    leaf_of: Int32Array,
    *,
    n_nodes: int,
    n_words: int,
    seed: int,
) -> tuple[Nodes, Nodes, UInt64Array, tuple[Int32Array, Int32Array, Int32Array], Float64Array]: ...
def grow_tree(
    samples: Samples,
    known: Int32Array,
    weights: UInt16Array,
    params: GrowthParams,
    *,
    counted: UInt16Array | None = None,
    route_from: int = 0,
    seed: int,
) -> tuple[Nodes, UInt64Array, tuple[Int32Array, Int32Array, Float64Array, Float64Array], Float64Array, Int32Array]: ...
