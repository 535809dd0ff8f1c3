from adforest.forest.samples import Groups, Samples
from adforest.forest.types import Float64Array, Nodes, UInt64Array

def stream(
    samples: Samples,
    groups: Groups,
    *,
    grace: float,
    log_inverse_delta: float,
    tie: float,
    max_depth: int | None,
    n_nodes: int,
    n_words: int,
) -> tuple[Nodes, Nodes, UInt64Array, Float64Array]: ...
