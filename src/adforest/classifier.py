"""The Adaptive Decision Forest as a scikit-learn classifier: parameters in, the learner's state kept, reports out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from adforest.adaptation import READINGS, RECIPES, BatchReport, Settings, State, votes
from adforest.encoding import LabelTable
from adforest.estimator import Lesson, Model, VotingBatchClassifier
from adforest.forest import Forest, GrowthParams
from adforest.forest.types import Floats
from adforest.growers import Grower, HoeffdingGrower, RandomForestGrower, SysForGrower, count_features

GROWERS: dict[str, Callable[[GrowthParams], Grower]] = {
    "hoeffding": HoeffdingGrower,
    "random_forest": RandomForestGrower,
    "sysfor": SysForGrower,
}


class AdaptiveDecisionForestClassifier(VotingBatchClassifier["_State"]):
    """A forest that keeps learning: batch after batch, new classes welcome, old ones kept.

    The *permanent* forest learns every batch. A *temporary* forest is grown from the last few batches, the *newest*
    from the last one alone. Each batch is answered before it is learnt, and forests are weighted by how often they were
    right on what they had not learnt yet, so that the vote is hardly worse than whichever of them is best. If the rules
    change for good, a forest of the last batches becomes the *active* one, which learns what comes from then on.

    Parameters
    ----------
    n_estimators : int, default=20
        Trees in the permanent and the active forest; the temporary and the newest have half as many.
    base_forest : {"random_forest", "sysfor", "hoeffding"}, default="random_forest"
        Who builds the trees: random forest (ADF-R), SysFor (ADF-S), which draws no lots, or Hoeffding trees (ADF-H),
        for which ``min_samples_leaf`` is the grace period, at least 20; where it is smaller, leaves are grown further
        by entropy.
    splitting : {"entropy", "sat", "isat"}, default="entropy"
        Where perturbed trees are cut: "entropy" expands leaves, "sat" puts new roots between separate boxes, "isat",
        the paper's way, does both and cuts at the bounds of overlapping boxes too. With an attribute that grows with
        time, such as a counter or a date, new roots make trees into chains of batches.
    repair_threshold : float, default=0.4
        A forest is repairable if at most this share of its leaves is perturbed [θ], where ``selection="training"``.
    error_tolerance : float, default=0.02
        How much confidence a leaf may lose before it counts as perturbed [ε].
    drift_threshold : int, default=3
        A drift is sustained once it has been seen in more than this many batches in a row [λ].
    window_size : int, default=3
        Batches a temporary forest is built from [γ].
    memory_size : int or None, default=100_000
        Records kept from before the window's batches, for growing trees. None keeps everything, 0 lets leaves know
        nothing but the batch at hand. Each class has room by the square root of its frequency.
    min_samples_leaf : int, default=1
        Records a leaf must keep.
    max_features : {"default", "log2", "log2+1", "sqrt"}, int, float or None, default="default"
        Attributes tried at each node. Of m attributes, "log2+1" is int(log2 m) + 1, the paper's choice, "default" that
        or int(sqrt m), whichever is more; the rest as in scikit-learn.
    max_bins : int, default=255
        Codes per numerical attribute while a node is large; small nodes are cut exactly.
    max_depth : int or None, default=None
        Depth at which growing stops.
    perturbation : {"predicted", "merged", "batch"}, default="predicted"
        What a leaf's confidence after a batch means: the share of the batch's records that are of the class the leaf
        predicts, the confidence of old and new counts together, or that of the new counts alone.
    tree_repair : {"turn", "any", "share"}, default="turn"
        When a tree changes its shape: "any" if any of its leaves is perturbed, "share" if more than `repair_threshold`
        of them are, "turn" as "any", but leaves are expanded in a fifth of the trees at each batch, in turn, or in all
        of them where it brings a class they do not know, or where ``memory_size=0``.
    renewal : float, default=1.0
        How much is grown anew from memory: a batch of n records pays for as many trees of a repaired forest, in turn,
        as can be grown from ``renewal * (n + 500)`` records for each of its trees. While few records are at hand these
        are all trees at every batch. 0 only ever repairs.
    voting : {"soft", "majority"}, default="soft"
        With ``selection="training"``, whether trees add up class shares or cast one vote each; otherwise they always
        add up shares.
    selection : {"weighted", "training"}, default="weighted"
        Who answers. "weighted": all forests vote, weighted by how they did on the batches so far before learning them,
        and it is a drift when a forest of the last batches clearly outdoes the active one. "training", the paper's way:
        the one forest that fits the last batch best after learning it; there a temporary one stands only during a
        drift, which is when the active one is not repairable.
    answer_for : {"next_batch", "everything"}, default="next_batch"
        What the model is asked about. "next_batch": records like those that come next. "everything": records of any
        time, old ones as well; the permanent forest answers alone, whatever came lately. It has no effect with
        ``selection="training"``.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categorical: those of text or categorical type, those given by mask, position or name, none.
    n_jobs : int or None, default=None
        Threads. The forest is the same for any number.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        Print each batch's report if positive.

    Attributes
    ----------
    classes_ : ndarray
        Class values seen or declared so far, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the columns have names.
    feature_importances_ : ndarray
        Entropy gain by attribute, summing to one.
    permanent_forest_, active_forest_ : Forest
    temporary_forest_, newest_forest_ : Forest or None
    answering_forest_ : {"permanent", "active", "temporary", "newest"}
    history_ : list of BatchReport

    Notes
    -----
    With ``selection="weighted"``, what weights the forests have depends on the record: whether records of the last
    batches are near it, and whether classes are found that are new or rare (`adforest.adaptation.judging`). A leaf's
    class shares are shrunk towards those of the nodes above it, as far as that proved right on the batches so far.
    Batches of fewer than 100 records (or a twentieth of the records at hand, if that is less) are answered and counted,
    and wait until together they are enough to grow trees from, unless they bring an unknown class.

    A missing value takes the side of a node that gained more from it in training, or the heavier side where none was
    missing then. A category that a node never saw is treated as missing.

    A batch is learnt on the side and swapped in at once: other threads that predict meanwhile see the old model or
    the new one, and an exception leaves the old one.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "base_forest": [StrOptions(set(GROWERS))],
        "splitting": [StrOptions({"isat", "sat", "entropy"})],
        "repair_threshold": [Interval(Real, 0, 1, closed="both")],
        "error_tolerance": [Interval(Real, 0, 1, closed="both")],
        "drift_threshold": [Interval(Integral, 0, None, closed="left")],
        "window_size": [Interval(Integral, 1, None, closed="left")],
        "memory_size": [Interval(Integral, 0, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0.0, 1.0, closed="right"),
            StrOptions({"default", "log2", "log2+1", "sqrt"}),
            None,
        ],
        "max_bins": [Interval(Integral, 2, 255, closed="both")],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "perturbation": [StrOptions(set(READINGS))],
        "tree_repair": [StrOptions({"any", "share", "turn"})],
        "renewal": [Interval(Real, 0, None, closed="left")],
        "voting": [StrOptions({"soft", "majority"})],
        "selection": [StrOptions(set(RECIPES))],
        "answer_for": [StrOptions({"next_batch", "everything"})],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_estimators: int = 20,
        *,
        base_forest: str = "random_forest",
        splitting: str = "entropy",
        repair_threshold: float = 0.4,
        error_tolerance: float = 0.02,
        drift_threshold: int = 3,
        window_size: int = 3,
        memory_size: int | None = 100_000,
        min_samples_leaf: int = 1,
        max_features: str | float | None = "default",
        max_bins: int = 255,
        max_depth: int | None = None,
        perturbation: str = "predicted",
        tree_repair: str = "turn",
        renewal: float = 1.0,
        voting: str = "soft",
        selection: str = "weighted",
        answer_for: str = "next_batch",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.base_forest = base_forest
        self.splitting = splitting
        self.repair_threshold = repair_threshold
        self.error_tolerance = error_tolerance
        self.drift_threshold = drift_threshold
        self.window_size = window_size
        self.memory_size = memory_size
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_bins = max_bins
        self.max_depth = max_depth
        self.perturbation = perturbation
        self.tree_repair = tree_repair
        self.renewal = renewal
        self.voting = voting
        self.selection = selection
        self.answer_for = answer_for
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _learnt_from(self, before: _State | None, lesson: Lesson) -> _State:
        """Let the learner learn a batch, by the parameters as they are now."""
        batch = lesson.records
        settings = self._settings(batch.X.shape[1], lesson.seed)
        state = State.new(settings, batch.X.shape[1])
        if before is not None:
            state = replace(before.learner, settings=settings)
        state, report = RECIPES[self.selection](state, batch)
        report = _in_words(report, lesson.labels)
        return _State(state, (*(before.history if before else ()), report))

    def _learn(self, before: Model[_State] | None, X: Any, y: Any, classes: Any) -> Self:
        """Learn a batch, and print its report once it is learnt."""
        super()._learn(before, X, y, classes)
        if self.verbose:
            print(self.history_[-1])
        return self

    def _votes(self, model: Model[_State], X: Floats) -> Floats:
        state, settings = model.state.learner, model.state.learner.settings
        is_soft = self.voting == "soft"
        # What matters to answers alone goes by the parameters as they are now.
        if (settings.answer_for, settings.soft, settings.n_jobs) != (self.answer_for, is_soft, self.n_jobs):
            settings = replace(settings, answer_for=self.answer_for, soft=is_soft, n_jobs=self.n_jobs)
            state = replace(state, settings=settings)
        return votes(state, X, len(model.labels.by_arrival))

    def _settings(self, n_features: int, seed: int) -> Settings:
        """Turn parameters into what the learner goes by."""
        return Settings(
            grower=self._grower(n_features),
            n_estimators=self.n_estimators,
            splitting=self.splitting,
            repair_threshold=self.repair_threshold,
            error_tolerance=self.error_tolerance,
            drift_threshold=self.drift_threshold,
            window_size=self.window_size,
            memory_size=self.memory_size,
            perturbation=self.perturbation,
            tree_repair=self.tree_repair,
            renewal=self.renewal,
            soft=self.voting == "soft",
            selection=self.selection,
            answer_for=self.answer_for,
            min_samples_leaf=self.min_samples_leaf,
            n_jobs=self.n_jobs,
            seed=seed,
        )

    def _grower(self, n_features: int) -> Grower:
        """Return the base forest asked for."""
        params = GrowthParams(
            max_features=count_features(self.max_features, n_features),
            min_samples_leaf=self.min_samples_leaf,
            max_bins=self.max_bins,
            max_depth=self.max_depth,
        )
        return GROWERS[self.base_forest](params)

    @property
    def feature_importances_(self) -> Floats:
        """Entropy gain by attribute in the forest that answers, each tree counting the same, summing to one."""
        learner = self._known("feature_importances_").state.learner
        trees = learner.forests[learner.answering].forest.trees
        shares = [tree.importance / tree.importance.sum() for tree in trees if tree.importance.any()]
        return np.mean(shares, axis=0) if shares else np.zeros(self.n_features_in_)

    @property
    def permanent_forest_(self) -> Forest:
        """The forest that learns every batch."""
        return self._known("permanent_forest_").state.learner.forests["permanent"].forest

    @property
    def active_forest_(self) -> Forest:
        """The forest of the rules that hold now: the permanent one, or one of its own since rules changed for good."""
        return self._known("active_forest_").state.learner.forests["active"].forest

    @property
    def temporary_forest_(self) -> Forest | None:
        """The forest of the last batches, if there is one; with selection="training" that of a drift yet to last.

        It is repaired by that selection alone, and otherwise does not say where records are (``leaf_of``).
        """
        return self._known("temporary_forest_").state.learner.forest("temporary")

    @property
    def newest_forest_(self) -> Forest | None:
        """The forest of the last batch alone, if there is one; never with selection="training"."""
        return self._known("newest_forest_").state.learner.forest("newest")

    @property
    def answering_forest_(self) -> str:
        """Name of the forest that answers, or whose vote is worth most."""
        return self._known("answering_forest_").state.learner.answering

    @property
    def history_(self) -> list[BatchReport]:
        """One report a batch."""
        return list(self._known("history_").state.history)


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """What is learnt besides how to read tables and labels."""

    learner: State
    history: tuple[BatchReport, ...]


def _in_words(report: BatchReport, labels: LabelTable) -> BatchReport:
    """Return a report that names classes by value instead of code."""
    return replace(report, new_classes=tuple(np.sort(labels.by_arrival[list(report.new_classes)]).tolist()))
