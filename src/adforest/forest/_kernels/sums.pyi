from adforest.forest.types import Floats, Ints, Nodes, Singles, Words

class TreeSums:
    order: Ints
    parent: Ints
    total: Floats
    first: Ints
    stop: Ints
    klass: Ints
    weight: Singles
    depth: int
    n_leaf_rows: int
    def __init__(
        self,
        nodes: Nodes,
        category_bits: Words,
        row_start: Ints,
        row_class: Ints,
        row_weight: Floats,
        before: TreeSums | None = None,
        changed: Ints | None = None,
    ) -> None: ...
    @property
    def is_sparse(self) -> bool: ...

def find_order(nodes: Nodes) -> tuple[Ints, Ints, int]: ...
def sum_rows(
    nodes: Nodes, order: Ints, row_start: Ints, row_class: Ints, row_weight: Floats, n_classes: int
) -> tuple[Floats, Ints, Ints, Ints, Singles]: ...
def sum_changed_rows(
    before: TreeSums,
    changed: Ints,
    nodes: Nodes,
    row_start: Ints,
    row_class: Ints,
    row_weight: Floats,
    n_classes: int,
) -> tuple[Floats, Ints, Ints, Ints, Singles]: ...
def entropies(sums: TreeSums) -> Floats: ...
