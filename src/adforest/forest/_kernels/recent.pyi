from adforest.forest.types import Floats, Ints, Longs

def probabilities(
    votes: Floats,
    leaves: Ints,
    near_leaves: Ints,
    near_y: Ints,
    near_weight: Floats,
    own_weight: float,
    frequencies: Floats,
) -> Floats: ...
def count_labels(y: Ints, n_labels: int, pairs: Longs, counts: Longs, n_classes: int) -> Floats: ...
def merge_pairs(pairs: Longs, counts: Longs, more: Longs) -> tuple[Longs, Longs]: ...
