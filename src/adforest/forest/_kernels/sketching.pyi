from adforest.forest.types import Bytes, Floats, Ints, Longs

def count_cells(
    X: Floats, rows: Longs, bounds: Floats, n_categories: Ints, n_known: Ints
) -> tuple[Longs, Longs, Bytes]: ...
