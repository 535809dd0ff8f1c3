from collections.abc import Sequence

from adforest.forest._kernels.sums import TreeSums
from adforest.forest.types import Floats, Ints, Singles

def route(trees: list[TreeSums], X: Floats, leaf: Ints) -> None: ...
def vote(
    trees: list[TreeSums],
    strengths: Floats,
    mix: Floats,
    X: Floats,
    votes: Floats,
    values: Sequence[Singles] | None = None,
    leaves: Ints | None = None,
) -> None: ...
def vote_each(trees: list[TreeSums], leaves: Ints, strengths: Floats, votes: Floats) -> None: ...
def vote_from(tree: TreeSums, leaf: Ints, strengths: Floats, mix: Floats, votes: Floats) -> None: ...
