from adforest.forest.types import Bytes, Floats, Ints, Longs, Singles, Words16

def tally(leaf: Ints, y: Ints, weights: Words16, n_nodes: int) -> tuple[Ints, Ints, Floats]: ...
def compare(
    row_start: Ints, row_class: Ints, row_weight: Floats, new_node: Ints, new_class: Ints, new_weight: Floats
) -> tuple[Ints, Floats]: ...
def merge(
    row_start: Ints,
    row_class: Ints,
    row_weight: Floats,
    row_scale: Floats,
    dropped: Bytes,
    new_node: Ints,
    new_class: Ints,
    new_weight: Floats,
    n_nodes: int,
) -> tuple[Ints, Ints, Floats, Floats]: ...
def gather(leaf_of: Ints, y: Ints, leaves: Ints, n_nodes: int) -> tuple[Ints, Longs, Ints]: ...
def nearness(
    order: Ints, parent: Ints, total: Floats, young: Ints, expected: float, weight: Floats | None = None
) -> Singles: ...
def put_in_order(node: Ints, klass: Ints, weight: Floats, n_nodes: int) -> tuple[Ints, Ints, Floats]: ...
