from adforest.forest.types import Float64Array, Int32Array, Int64Array, UInt8Array

def count_cells(
    X: Float64Array, rows: Int64Array, bounds: Float64Array, n_categories: Int32Array, n_known: Int32Array
) -> tuple[Int64Array, Int64Array, UInt8Array]: ...
