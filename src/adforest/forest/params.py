"""What growers are told about the trees they grow."""

from dataclasses import dataclass, field

from adforest.forest.types import Int32Array


@dataclass(frozen=True, slots=True)
class GrowthParams:
    """How a subtree is grown.

    Attributes
    ----------
    max_features : int
        Attributes drawn at each node.
    min_samples_leaf : int
        Samples a leaf must keep.
    max_bins : int
        Codes per numerical feature while a node is large; at most 255.
    max_depth : int or None
        Limit of the whole tree.
    by_ratio : bool
        Choose cuts as C4.5 does: of all features, by gain ratio among those of at least average gain.
    prune_confidence : float
        Prune by C4.5's estimate of errors with this confidence; 0 for not at all.
    criterion : {"entropy", "gini", "auto"}
        What a cut must gain; "auto" is entropy, but at nodes of many classes in every other tree, by seed, "gini". C4.5
        goes by entropy.
    draws : int32 (n,) or None
        What a node draws its features from, see `adforest.growers.sampling_by_worth`; None draws all alike.
    """

    max_features: int
    min_samples_leaf: int = 1
    max_bins: int = 255
    max_depth: int | None = None
    by_ratio: bool = False
    prune_confidence: float = 0.0
    criterion: str = "entropy"
    draws: Int32Array | None = field(default=None, compare=False)
