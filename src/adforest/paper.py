"""The algorithm of the paper, with all its parameters and the values it was published with."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from adforest.classifier import FOREST_RULES, BaseADFClassifier
from adforest.parameters import (
    FRACTION,
    NONE,
    BaseForest,
    ColumnChanges,
    Integer,
    MaxFeatures,
    OneOf,
    Perturbation,
    Reading,
    Rules,
    Splitting,
    TreeRepair,
    Voting,
    one_of,
)


class PaperADFClassifier(BaseADFClassifier):
    """The Adaptive Decision Forest as published by Rahman & Islam.

    There are three forests. The *permanent* one learns every batch. So does the *active* one, unless a batch perturbs
    too many of its leaves to be repaired, which is a drift: then a *temporary* forest is built from the last batches,
    and replaces the active one if the drift is sustained. The forest with the highest accuracy on the last batch, after
    learning it, predicts alone.

    For new work use `AdaptiveDecisionForestClassifier`; this class is for comparison with the paper.

    Parameters
    ----------
    n_estimators : int, default=10
        Number of trees in each forest.
    base_forest : {"random_forest", "sysfor", "hoeffding"}, default="random_forest"
        Base tree algorithm: random forest (ADF-R), SysFor (ADF-S) or Hoeffding trees (ADF-H).
    reading : {"program", "text"}, default="program"
        Which to follow where program and text of the paper disagree. "program" is the behaviour of the author's
        program, which made the published tables: leaves are expanded from all samples they ever received, confidence is
        that of merged counts, any perturbed leaf makes a tree change. "text" is the pseudo-code: leaves are expanded
        from the batch only, confidence is the batch's, a tree changes if more than θ of its leaves are perturbed. It
        sets ``memory_size``, ``perturbation`` and ``tree_repair`` where these are "reading".
    splitting : {"isat", "sat", "entropy"}, default="isat"
        Where perturbed trees are split: "entropy" expands leaves, "sat" adds new roots between separate boxes, "isat"
        does both and also splits at the bounds of overlapping boxes.
    repair_threshold : float, default=0.4
        A forest is repairable if at most this fraction of its leaves is perturbed [θ].
    error_tolerance : float, default=0.02
        A leaf is perturbed if its confidence falls by more than this [ε].
    drift_threshold : int, default=3
        Drift in more than this many batches in a row is sustained [λ].
    window_size : int, default=3
        Number of batches that the temporary forest is built from [γ].
    memory_size : "reading", int or None, default="reading"
        Number of samples kept from before the window's batches. None keeps everything, as the program does, with 0
        leaves are expanded from the current batch only, as in the text.
    perturbation : {"reading", "merged", "batch", "predicted"}, default="reading"
        Definition of a leaf's confidence after a batch: of old and new counts together (the program), of the new counts
        alone (the text), or the fraction of the batch's samples that belong to the class that the leaf predicts.
    tree_repair : {"reading", "any", "share"}, default="reading"
        When the structure of a tree is changed: if any of its leaves is perturbed (the program), or if more than
        ``repair_threshold`` of them are (the text).
    voting : {"hard", "soft"}, default="hard"
        Whether trees cast one vote each or class probabilities are averaged.
    min_samples_leaf : int, default=20
        Minimum number of samples in a leaf. The paper's experiments have 100 for data sets of more than 100,000
        samples. For Hoeffding trees this is the grace period.
    max_features : {"log2+1", "default", "log2", "sqrt"}, int, float or None, default="log2+1"
        Number of features tried at each node, see `AdaptiveDecisionForestClassifier`.
    max_depth : int or None, default=None
        Maximum depth of a tree.
    class_weight, categorical_features, max_categories, min_frequency, column_changes, n_jobs, random_state, verbose
        As in `AdaptiveDecisionForestClassifier`.

    Attributes
    ----------
    classes_, n_batches_, n_samples_seen_, n_features_in_, feature_names_in_, feature_importances_, prequential_
        As in `AdaptiveDecisionForestClassifier`.
    permanent_forest_, active_forest_ : Forest
    temporary_forest_ : Forest or None
        None unless there is drift.
    newest_forest_ : None
        Only `AdaptiveDecisionForestClassifier` has one.
    answering_forest_ : {"permanent", "active", "temporary"}
    history_, history_blocks_
        Reports of the last 1,000 batches, and summaries of those before.

    References
    ----------
    Rahman & Islam, Adaptive Decision Forest: An incremental machine learning framework, Pattern Recognition 122, 2022.

    Examples
    --------
    >>> from adforest import PaperADFClassifier
    >>> model = PaperADFClassifier(min_samples_leaf=1, random_state=0)
    >>> model = model.partial_fit([[1, "a"], [2, "a"], [8, "b"]], ["low", "low", "high"])
    >>> model.predict([[1.5, "a"]]).tolist()
    ['low']
    """

    _algorithm = "paper"
    _rules: ClassVar[Rules] = FOREST_RULES | {
        "reading": (one_of(Reading),),
        "repair_threshold": (FRACTION,),
        "error_tolerance": (FRACTION,),
        "memory_size": (OneOf("reading"), Integer(0), NONE),
        "perturbation": (one_of(Perturbation),),
        "tree_repair": (one_of(TreeRepair),),
        "voting": (one_of(Voting),),
    }

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        base_forest: BaseForest = "random_forest",
        reading: Reading = "program",
        splitting: Splitting = "isat",
        repair_threshold: float = 0.4,
        error_tolerance: float = 0.02,
        drift_threshold: int = 3,
        window_size: int = 3,
        memory_size: Literal["reading"] | int | None = "reading",
        perturbation: Perturbation = "reading",
        tree_repair: TreeRepair = "reading",
        voting: Voting = "hard",
        min_samples_leaf: int = 20,
        max_features: MaxFeatures | float | None = "log2+1",
        max_depth: int | None = None,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        categorical_features: Any = "from_dtype",
        max_categories: int | None = None,
        min_frequency: float | None = None,
        column_changes: ColumnChanges = "error",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.base_forest = base_forest
        self.reading = reading
        self.splitting = splitting
        self.repair_threshold = repair_threshold
        self.error_tolerance = error_tolerance
        self.drift_threshold = drift_threshold
        self.window_size = window_size
        self.memory_size = memory_size
        self.perturbation = perturbation
        self.tree_repair = tree_repair
        self.voting = voting
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_depth = max_depth
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.max_categories = max_categories
        self.min_frequency = min_frequency
        self.column_changes = column_changes
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
