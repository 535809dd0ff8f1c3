from adforest.forest.types import Floats, Ints, Nodes, Singles

def add_share_steps(
    nodes: Nodes,
    leaf: Ints,
    parent: Ints,
    total: Floats,
    first: Ints,
    stop: Ints,
    klass: Ints,
    weight: Singles,
    strengths: Floats,
    mix: Floats,
    steps: Floats,
) -> None: ...
def add_vote_steps(
    nodes: Nodes,
    leaf: Ints,
    row_weight: Floats,
    row_scale: Floats,
    parent: Ints,
    total: Floats,
    first: Ints,
    stop: Ints,
    klass: Ints,
    weight: Singles,
    soft: bool,
    steps: Floats,
    roots: Floats,
) -> None: ...
def read_leaves(leaf: Ints, row_start: Ints, row_class: Ints, row_weight: Floats) -> tuple[Ints, Floats, Floats]: ...
