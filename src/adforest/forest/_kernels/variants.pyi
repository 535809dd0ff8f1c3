from adforest.forest.types import Float64Array, Int32Array, Int64Array

def class_ratios(recent: Float64Array, seen: Float64Array, prior: float) -> Float64Array: ...
def contexts(
    recency: Float64Array,
    temporary: Float64Array,
    new: Int64Array,
    permanent: Float64Array,
    rare: Int64Array,
    steepness: int,
) -> Float64Array: ...
def adding_up(contexts: Float64Array) -> Float64Array: ...
def weigh(
    voters: list[tuple[Float64Array, ...]],
    weights: Float64Array,
    contexts: Float64Array,
    ratios: Float64Array,
    at_least: float,
) -> Float64Array: ...
def calibrate(votes: Float64Array, weights: Float64Array, seen: Float64Array) -> Float64Array: ...
def gains(
    voters: list[tuple[Float64Array, ...]], ratios: Float64Array, y: Int32Array, floor: float, log_gain: float
) -> Float64Array: ...
