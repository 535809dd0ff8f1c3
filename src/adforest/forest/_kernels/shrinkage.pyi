from adforest.forest.types import Floats, Ints, Nodes, Singles, Words

def sum_rows(
    nodes: Nodes, row_start: Ints, row_class: Ints, row_weight: Floats, n_classes: int
) -> tuple[Ints, Ints, Floats, Ints, Ints, Ints, Singles]: ...
def vote(
    nodes: Nodes,
    category_bits: Words,
    parent: Ints,
    total: Floats,
    first: Ints,
    stop: Ints,
    klass: Ints,
    weight: Singles,
    strengths: Floats,
    mix: Floats,
    X: Floats,
    votes: Floats,
    values: Singles | None = None,
) -> None: ...
def vote_each(
    leaf: Ints,
    parent: Ints,
    total: Floats,
    first: Ints,
    stop: Ints,
    klass: Ints,
    weight: Singles,
    strengths: Floats,
    votes: Floats,
) -> None: ...
def vote_from(
    leaf: Ints,
    parent: Ints,
    total: Floats,
    first: Ints,
    stop: Ints,
    klass: Ints,
    weight: Singles,
    strengths: Floats,
    mix: Floats,
    votes: Floats,
) -> None: ...
