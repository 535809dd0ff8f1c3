from adforest.forest.types import Float64Array, Int32Array, UInt16Array

def xlogx_table() -> Float64Array: ...
def best_cut(
    codes: UInt16Array,
    classes: Int32Array,
    weights: UInt16Array,
    n_codes: int,
    n_classes: int,
    min_leaf: int,
    gini: bool = ...,
) -> tuple[float, int, int, bool] | None: ...
