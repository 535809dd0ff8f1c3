import numpy as np

from adforest.forest.params import GrowthParams
from adforest.forest.records import Groups, Records
from adforest.forest.types import Floats, Ints, Nodes, Words

NODE: np.dtype[np.void]

def grow(
    records: Records, groups: Groups, params: GrowthParams, leaf_of: Ints, *, n_nodes: int, n_words: int, seed: int
) -> tuple[Nodes, Nodes, Words, tuple[Ints, Ints, Ints], Floats]: ...
