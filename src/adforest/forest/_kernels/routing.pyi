from adforest.forest.types import Float64Array, Int32Array, Nodes, UInt64Array

def route(nodes: Nodes, category_bits: UInt64Array, X: Float64Array, rows: Int32Array | None = None) -> Int32Array: ...
def vote(
    nodes: Nodes,
    category_bits: UInt64Array,
    row_start: Int32Array,
    row_class: Int32Array,
    row_weight: Float64Array,
    row_scale: Float64Array,
    soft: bool,
    X: Float64Array,
    votes: Float64Array,
) -> None: ...
def vote_from(
    leaf: Int32Array,
    row_start: Int32Array,
    row_class: Int32Array,
    row_weight: Float64Array,
    row_scale: Float64Array,
    soft: bool,
    votes: Float64Array,
) -> None: ...
def depths(nodes: Nodes) -> Int32Array: ...
