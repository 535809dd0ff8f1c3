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
    def __init__(
        self,
        nodes: Nodes,
        category_bits: Words,
        row_start: Ints,
        row_class: Ints,
        row_weight: Floats,
        n_classes: int,
    ) -> None: ...

def sum_rows(
    nodes: Nodes, row_start: Ints, row_class: Ints, row_weight: Floats, n_classes: int
) -> tuple[Ints, Ints, Floats, Ints, Ints, Ints, Singles]: ...
