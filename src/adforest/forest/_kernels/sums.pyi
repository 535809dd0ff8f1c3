from adforest.forest.types import Float32Array, Float64Array, Int32Array, Nodes, UInt64Array

class TreeSums:
    order: Int32Array
    parent: Int32Array
    total: Float64Array
    first: Int32Array
    stop: Int32Array
    klass: Int32Array
    weight: Float32Array
    def __init__(
        self,
        nodes: Nodes,
        category_bits: UInt64Array,
        row_start: Int32Array,
        row_class: Int32Array,
        row_weight: Float64Array,
        before: TreeSums | None = None,
        changed: Int32Array | None = None,
    ) -> None: ...

def entropies(sums: TreeSums) -> Float64Array: ...
