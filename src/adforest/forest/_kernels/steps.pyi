from adforest.forest._kernels.sums import TreeSums
from adforest.forest.types import Float64Array, Int32Array

def add_proba_steps(
    tree: TreeSums, leaf: Int32Array, strengths: Float64Array, mix: Float64Array, steps: Float64Array
) -> None: ...
def add_vote_steps(
    tree: TreeSums,
    leaf: Int32Array,
    row_weight: Float64Array,
    row_scale: Float64Array,
    soft: bool,
    steps: Float64Array,
    roots: Float64Array,
) -> None: ...
def read_leaves(
    leaf: Int32Array, row_start: Int32Array, row_class: Int32Array, row_weight: Float64Array
) -> tuple[Int32Array, Float64Array, Float64Array]: ...
