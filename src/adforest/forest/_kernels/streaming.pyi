from adforest.forest.types import Bytes, Floats, Ints, Longs, Nodes, Words

def stream(
    X: Floats,
    y: Ints,
    weights: Bytes,
    n_categories: Ints,
    samples: Ints,
    group_start: Longs,
    group_depth: Ints,
    *,
    n_classes: int,
    grace: float,
    log_inverse_delta: float,
    tie: float,
    max_depth: int,
    base: int,
    words_base: int,
) -> tuple[Nodes, Nodes, Words, Floats]: ...
