import numpy as np

from adforest.forest.params import GrowthParams
from adforest.forest.records import Groups, Records
from adforest.forest.types import Floats, Ints, Nodes, Words, Words16

NODE: np.dtype[np.void]

def grow(
    records: Records, groups: Groups, params: GrowthParams, leaf_of: Ints, *, n_nodes: int, n_words: int, seed: int
) -> tuple[Nodes, Nodes, Words, tuple[Ints, Ints, Ints], Floats]: ...
def grow_tree(
    records: Records,
    known: Ints,
    weights: Words16,
    params: GrowthParams,
    *,
    counted: Words16 | None = None,
    route_from: int = 0,
    seed: int,
) -> tuple[Nodes, Words, tuple[Ints, Ints, Floats, Floats], Floats, Ints]: ...
