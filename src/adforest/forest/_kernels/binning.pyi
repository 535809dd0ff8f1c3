from adforest.forest.types import Float64Array, Int32Array, UInt16Array

def bin_columns(
    X: Float64Array, n_categories: Int32Array, max_bins: int
) -> tuple[UInt16Array, Float64Array, Int32Array]: ...
