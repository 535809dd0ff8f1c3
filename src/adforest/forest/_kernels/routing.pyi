from adforest.forest.types import Floats, Ints, Nodes, Words

def route(nodes: Nodes, category_bits: Words, X: Floats, rows: Ints | None = None) -> Ints: ...
def vote(
    nodes: Nodes,
    category_bits: Words,
    row_start: Ints,
    row_class: Ints,
    row_weight: Floats,
    row_scale: Floats,
    soft: bool,
    X: Floats,
    votes: Floats,
) -> None: ...
def vote_from(
    leaf: Ints,
    row_start: Ints,
    row_class: Ints,
    row_weight: Floats,
    row_scale: Floats,
    soft: bool,
    votes: Floats,
) -> None: ...
def depths(nodes: Nodes) -> Ints: ...
