from adforest.forest.records import Groups, Records
from adforest.forest.types import Floats, Nodes, Words

def stream(
    records: Records,
    groups: Groups,
    *,
    grace: float,
    log_inverse_delta: float,
    tie: float,
    max_depth: int | None,
    n_nodes: int,
    n_words: int,
) -> tuple[Nodes, Nodes, Words, Floats]: ...
