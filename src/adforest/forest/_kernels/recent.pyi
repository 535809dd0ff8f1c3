from adforest.forest.types import Float64Array, Int32Array, Int64Array

def probabilities(
    votes: Float64Array,
    leaves: Int32Array,
    near_leaves: Int32Array,
    near_y: Int32Array,
    near_weight: Float64Array,
    own_weight: float,
    frequencies: Float64Array,
    power: int,
) -> Float64Array: ...
def count_labels(
    y: Int32Array, n_labels: int, pairs: Int64Array, counts: Int64Array, n_classes: int
) -> Float64Array: ...
def merge_pairs(pairs: Int64Array, counts: Int64Array, more: Int64Array) -> tuple[Int64Array, Int64Array]: ...
