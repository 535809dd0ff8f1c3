"""The Adaptive Decision Forest as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from adforest.adaptation.tuning import TUNING
from adforest.classifier import FOREST_RULES, BaseADFClassifier
from adforest.parameters import (
    BYTES,
    NONE,
    Amount,
    AnswerFor,
    BaseForest,
    ColumnChanges,
    Criterion,
    Integer,
    MaxFeatures,
    Rules,
    Splitting,
    one_of,
)


class AdaptiveDecisionForestClassifier(BaseADFClassifier):
    """Adaptive decision forest: a batch-incremental classifier for streams with new classes and concept drift.

    The *permanent* forest learns every batch. A *temporary* forest is grown from the last few batches, the *newest*
    from the last one alone. Every forest predicts each batch before it is learnt, and the weights of the forests in the
    vote follow the results, so that the vote is hardly worse than the best of them.

    A batch has *drift* if a forest of the last batches is clearly better on it than the *active* forest, which is the
    permanent one until then. In batches of temporary drift the active forest is kept as it was; if drift is sustained,
    a forest grown from the last batches replaces it, and learns later batches beside the permanent one.

    Parameters
    ----------
    n_estimators : int, default=20
        Number of trees in the permanent and the active forest; the temporary and the newest have half as many.
    base_forest : {"random_forest", "sysfor", "hoeffding"}, default="random_forest"
        Base tree algorithm: random forest (ADF-R), SysFor (ADF-S), which is deterministic, or Hoeffding trees (ADF-H),
        for which ``min_samples_leaf`` is the grace period, at least 20; where it is smaller, leaves are grown further
        by entropy.
    splitting : {"entropy", "sat", "isat"}, default="entropy"
        Where perturbed trees are split: "entropy" expands leaves, "sat" adds new roots between separate boxes, "isat",
        the paper's method, does both and also splits at the bounds of overlapping boxes. With a feature that grows with
        time, such as a counter or a date, new roots turn trees into chains of batches.
    drift_threshold : int, default=3
        Drift in more than this many batches in a row is sustained; in the first ones it is temporary [λ].
    window_size : int, default=3
        Number of batches that the temporary forest is built from [γ], subsampled where they hold far more samples than
        the last one.
    memory_size : int, str or None, default=100_000
        Number of samples kept from before the window's batches, for growing trees; a string such as "200MB" is the
        number of bytes they may take between batches, with their leaf indices in the permanent forest. A column takes 2
        bytes per sample if it is categorical or holds integers from 0 to 65,534, 4 if its numbers are exact in single
        precision, else 8. None keeps everything, with 0 leaves are expanded from the current batch only. The number
        of samples kept of each class is in proportion to the square root of its frequency.
    max_samples : int or None, default=1_000_000
        Maximum number of samples that a tree is grown from, at least 1,000. About that many are drawn from a larger
        batch: they are used to grow trees, to judge the forests and for memory. The others are counted in the leaves of
        the trees. None sets no bound.
    min_samples_leaf : int, default=1
        Minimum number of samples in a leaf.
    max_features : {"default", "log2", "log2+1", "sqrt"}, int, float or None, default="default"
        Number of features tried at each node. Of m features, "log2+1" is int(log2 m) + 1, the paper's choice, "default"
        the larger of that and int(sqrt m); the others are as in scikit-learn. If it is a small part of all features, a
        random forest draws features partly by their importance in the trees of earlier batches.
    max_depth : int or None, default=None
        Maximum depth of a tree.
    criterion : {"auto", "gini", "entropy", "log_loss"}, default="auto"
        Impurity measure of the splits of a random forest, as in scikit-learn; "log_loss" is the same as "entropy".
        "auto" is entropy, but in half of the trees Gini impurity at nodes of more than ten classes. SysFor and
        Hoeffding trees use entropy.
    renewal : float, default=1.0
        Budget for regrowing trees from memory: at a batch of n samples, as many trees of a repaired forest are regrown,
        in rotation, as can be grown from ``renewal * (n + 500)`` samples for each of its trees. While memory holds few
        samples these are all trees at every batch. With 0 trees are only repaired.
    answer_for : {"next_batch", "everything"}, default="next_batch"
        Which samples are to be predicted. "next_batch": samples of the next batch, by the weighted vote of all forests.
        "everything": samples of any time; the permanent forest predicts alone.
    label_delay : int, default=0
        Number of samples that are predicted before the label of one is learnt, where samples are learnt one by one or
        a few at a time. The weight of the last labels in the vote is learnt for that delay; with 250 or more the
        forests predict alone. It has no effect after batches of 100 samples or more.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights by class value; classes not named have 1. "balanced" gives all classes seen so far
        the same total weight: n / (number of classes * samples of the class), over all batches.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categorical: those of text or categorical type, those given by mask, position or name, none.
    max_categories, min_frequency : int, float or None, default=None
        Which values of a categorical column share one code for infrequent ones, as in scikit-learn's OneHotEncoder:
        those less frequent than ``min_frequency`` (an int is a number of samples, a float a fraction of them),
        and all but the most frequent ``max_categories - 1``. They are counted over all batches so far: a value gets its
        own code with the batch that makes it frequent. Values never seen count as infrequent.
    column_changes : {"error", "allow"}, default="error"
        Whether a batch may add or drop columns, which are matched by name. "allow": a dropped column is missing in the
        samples of the batch, a new one is learnt from that batch on; samples to be predicted may lack columns, and
        columns that were never learnt are ignored.
    n_jobs : int or None, default=None
        Number of threads. The model is the same for any number.
    random_state : int, RandomState or None, default=None
        Random seed: the same seed and the same batches make the same model. None draws one with the first batch.
    verbose : int, default=0
        Print each batch's report if positive.

    Attributes
    ----------
    classes_ : ndarray
        Class values seen or declared so far, sorted.
    n_batches_, n_samples_seen_ : int
        Number of batches learnt, and of their samples.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the columns have names.
    feature_importances_ : ndarray
        Entropy gain beyond chance by feature, summing to one.
    permanent_forest_, active_forest_ : Forest
    temporary_forest_, newest_forest_ : Forest or None
    answering_forest_ : {"permanent", "active", "temporary", "newest"}
    history_ : list of BatchReport
        Of the last 1,000 batches.
    history_blocks_ : list of BatchBlock
        Summaries of the batches before these.
    prequential_ : named tuple of y_true and y_proba
        Class values of the last samples, 2,000 at most, and what `predict_proba` would have returned for them before
        they were learnt; see `threshold_for_cost`.

    Notes
    -----
    Greek letters in brackets are the paper's symbols.

    The weights of the forests depend on the sample: whether samples of the last batches are near it, and whether new or
    rare classes are predicted (`adforest.adaptation.evidence`). The class probabilities of a leaf are shrunk towards
    those of the nodes above it, with a strength learnt from the batches so far. Batches of fewer than 100 samples (or a
    twentieth of the samples in memory, if that is less) are predicted and counted at once, and collected until they are
    enough to update trees, unless they bring an unknown class.

    The class rates of a categorical feature of at least 100 values, counted before each batch, become further columns
    for the trees once they have predicted later batches (`adforest.encoding.rates`).

    At a node, missing values go to the side with the larger gain in training, or to the heavier side where none was
    missing then. A category that a node never saw is treated as missing.

    The new state replaces the old one with one assignment: other threads that predict meanwhile see the model before or
    after the batch, and an exception leaves it as it was.

    References
    ----------
    Rahman & Islam, Adaptive Decision Forest: An incremental machine learning framework, Pattern Recognition 122, 2022.

    Examples
    --------
    >>> from adforest import AdaptiveDecisionForestClassifier
    >>> model = AdaptiveDecisionForestClassifier(random_state=0)
    >>> model = model.partial_fit([[1, "a"], [2, "a"], [8, "b"]], ["low", "low", "high"])
    >>> model = model.partial_fit([[50, "b"], [60, "c"]], ["huge", "huge"])
    >>> model.predict([[1.5, "a"], [55, "b"]]).tolist()
    ['low', 'huge']
    >>> model.history_[-1].scenario
    'SUC'
    """

    _algorithm = "adaptive"
    _adds_rates = True
    _tuning = TUNING  # experiments set another one on an instance
    _rules: ClassVar[Rules] = FOREST_RULES | {
        "memory_size": (Integer(0), BYTES, NONE),
        "max_samples": (Integer(1000), NONE),
        "criterion": (one_of(Criterion),),
        "renewal": (Amount(0),),
        "answer_for": (one_of(AnswerFor),),
        "label_delay": (Integer(0),),
    }

    def __init__(
        self,
        n_estimators: int = 20,
        *,
        base_forest: BaseForest = "random_forest",
        splitting: Splitting = "entropy",
        drift_threshold: int = 3,
        window_size: int = 3,
        memory_size: int | str | None = 100_000,
        max_samples: int | None = 1_000_000,
        min_samples_leaf: int = 1,
        max_features: MaxFeatures | float | None = "default",
        max_depth: int | None = None,
        criterion: Criterion = "auto",
        renewal: float = 1.0,
        answer_for: AnswerFor = "next_batch",
        label_delay: int = 0,
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
        self.splitting = splitting
        self.drift_threshold = drift_threshold
        self.window_size = window_size
        self.memory_size = memory_size
        self.max_samples = max_samples
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_depth = max_depth
        self.criterion = criterion
        self.renewal = renewal
        self.answer_for = answer_for
        self.label_delay = label_delay
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.max_categories = max_categories
        self.min_frequency = min_frequency
        self.column_changes = column_changes
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
