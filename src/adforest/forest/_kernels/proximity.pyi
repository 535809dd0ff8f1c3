from adforest.forest.types import Floats, Ints

def weigh_classes(
    leaves: list[Ints], other_leaves: Ints, other_y: Ints, other_weight: Floats, n_classes: int
) -> Floats: ...
