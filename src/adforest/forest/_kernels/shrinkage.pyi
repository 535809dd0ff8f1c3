from collections.abc import Sequence

from adforest.forest._kernels.sums import TreeSums
from adforest.forest.types import Float32Array, Float64Array, Int32Array

def route(trees: list[TreeSums], X: Float64Array, leaf: Int32Array) -> None: ...
def vote(
    trees: list[TreeSums],
    strengths: Float64Array,
    mix: Float64Array,
    X: Float64Array,
    votes: Float64Array,
    values: Sequence[Float32Array] | None = None,
    leaves: Int32Array | None = None,
) -> None: ...
def vote_each(trees: list[TreeSums], leaves: Int32Array, strengths: Float64Array, votes: Float64Array) -> None: ...
def vote_from(
    tree: TreeSums, leaf: Int32Array, strengths: Float64Array, mix: Float64Array, votes: Float64Array
) -> None: ...
