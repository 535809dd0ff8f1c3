from adforest.forest.types import Float32Array, Float64Array, Int32Array, Int64Array, UInt8Array, UInt16Array

def tally(
    leaf: Int32Array, y: Int32Array, weights: UInt16Array, n_nodes: int
) -> tuple[Int32Array, Int32Array, Float64Array]: ...
def compare(
    row_start: Int32Array,
    row_class: Int32Array,
    row_weight: Float64Array,
    new_node: Int32Array,
    new_class: Int32Array,
    new_weight: Float64Array,
) -> tuple[Int32Array, Float64Array]: ...
def merge(
    row_start: Int32Array,
    row_class: Int32Array,
    row_weight: Float64Array,
    row_scale: Float64Array,
    dropped: UInt8Array,
    new_node: Int32Array,
    new_class: Int32Array,
    new_weight: Float64Array,
    n_nodes: int,
) -> tuple[Int32Array, Int32Array, Float64Array, Float64Array]: ...
def gather(
    leaf_of: Int32Array, y: Int32Array, leaves: Int32Array, n_nodes: int
) -> tuple[Int32Array, Int64Array, Int32Array]: ...
def recency(
    order: Int32Array,
    parent: Int32Array,
    total: Float64Array,
    young: Int32Array,
    expected: float,
    weight: Float64Array | None = None,
) -> Float32Array: ...
def put_in_order(
    node: Int32Array, klass: Int32Array, weight: Float64Array, n_nodes: int
) -> tuple[Int32Array, Int32Array, Float64Array]: ...
