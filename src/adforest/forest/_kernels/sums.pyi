from adforest.forest.types import Float32Array, Float64Array, Int32Array, Nodes, UInt64Array

class TreeSums:
    order: Int32Array
    parent: Int32Array
    total: Float64Array
    first: Int32Array
    stop: Int32Array
    klass: Int32Array
    weight: Float32Array
    depth: int
    n_leaf_rows: int
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
    @property
    def is_sparse(self) -> bool: ...

def find_order(nodes: Nodes) -> tuple[Int32Array, Int32Array, int]: ...
def sum_rows(
    nodes: Nodes,
    order: Int32Array,
    row_start: Int32Array,
    row_class: Int32Array,
    row_weight: Float64Array,
    n_classes: int,
) -> tuple[Float64Array, Int32Array, Int32Array, Int32Array, Float32Array]: ...
def sum_changed_rows(
    before: TreeSums,
    changed: Int32Array,
    nodes: Nodes,
    row_start: Int32Array,
    row_class: Int32Array,
    row_weight: Float64Array,
    n_classes: int,
) -> tuple[Float64Array, Int32Array, Int32Array, Int32Array, Float32Array]: ...
def entropies(sums: TreeSums) -> Float64Array: ...
