"""The Adaptive Decision Forest as a scikit-learn classifier: parameters in, what is learnt kept, reports out."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from adforest.adaptation import RECIPES, BatchReport, Settings, State, find_forest, votes, with_columns
from adforest.base import EncodedBatch, Model, VotingBatchClassifier
from adforest.encoding import LabelTable
from adforest.forest import Forest, GrowthParams, in_threads
from adforest.forest.types import Floats, Ints, Longs
from adforest.growers import GROWERS, Grower, count_features
from adforest.parameters import AT_LEAST_ONE, COMMON, NONE, Amount, Flag, OneOf, Rules, Whole
from adforest.snapshot import Snapshot

FOREST_RULES: Rules = COMMON | {
    "base_forest": (OneOf(*GROWERS),),
    "splitting": (OneOf("entropy", "isat", "sat"),),
    "drift_threshold": (Whole(0),),
    "window_size": (AT_LEAST_ONE,),
    "max_depth": (AT_LEAST_ONE, NONE),
    "max_categories": (AT_LEAST_ONE, NONE),
    "min_frequency": (AT_LEAST_ONE, Amount(0, 1, is_low_excluded=True), NONE),
    "column_changes": (OneOf("error", "allow"),),
    "verbose": (Whole(0), Flag()),
}


class BaseADFClassifier(VotingBatchClassifier["_Learnt"]):
    """What both Adaptive Decision Forests share: how a batch is passed on, and what can be asked of the result."""

    _fixed: ClassVar[tuple[str, ...]] = ("n_estimators", "base_forest", *VotingBatchClassifier._fixed)

    base_forest: str
    max_features: str | float | None
    min_samples_leaf: int
    max_depth: int | None
    column_changes: str
    n_jobs: int | None
    verbose: int
    _reuses_codes = True

    @abstractmethod
    def _settings(self, n_features: int, seed: int) -> Settings:
        """Return what learning and answering go by."""

    @abstractmethod
    def _answer_settings(self) -> dict[str, Any]:
        """Return those settings that matter to answers alone, by the parameters as they are now."""

    def _learnt_from(self, before: _Learnt | None, encoded: EncodedBatch) -> _Learnt:
        """Let the forests learn a batch, by the parameters as they are now."""
        records = encoded.records
        n_features = records.X.shape[1]
        settings = self._settings(n_features, encoded.seed)
        if before is None:
            state, reports = State.new(settings, n_features), []
        else:
            state = with_columns(before.state, n_features, encoded.encoder.given_back)
            state, reports = replace(state, settings=settings), before.own_reports()
        state, report = RECIPES[settings.algorithm](state, records)
        report = _with_class_values(report, encoded.labels)
        reports.append(report)
        return _Learnt(state, reports)

    def _after_batch(self) -> None:
        if self.verbose:
            print(self.history_[-1])

    def _votes(self, model: Model[_Learnt], X: Floats) -> Floats:
        return votes(self._answering_state(model), X, len(model.labels.by_arrival))

    def _answering_state(self, model: Model[_Learnt]) -> State:
        """Return the state with those settings that matter to answers alone as the parameters are now."""
        state, now = model.learnt.state, self._answer_settings()
        if all(getattr(state.settings, name) == value for name, value in now.items()):
            return state
        return replace(state, settings=replace(state.settings, **now))

    def snapshot(self, *, records: bool = False) -> Snapshot:
        """Return the model as it is now, to predict with while it goes on learning.

        Parameters
        ----------
        records : bool, default=False
            Whether the records that the model keeps for growing trees are in it.

        Returns
        -------
        Snapshot
            Cheap, since trees are shared; immutable; can be pickled. All that it says is of one moment.
        """
        model = self._checked()  # read once: another thread may swap in the next one
        state = self._answering_state(model)
        reports = tuple(model.learnt.reports[: state.n_calls])
        state = state if records else state.without_records()
        frozen = Model(model.encoder, model.labels, state, model.n_batches, model.n_records, model.seed)
        return Snapshot(frozen, reports, self.column_changes, records)

    def apply(self, X: Any, forest: str = "permanent") -> Ints:
        """Return the leaf of each record in each tree of a forest.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        forest : {"permanent", "active", "temporary", "newest"}, default="permanent"

        Returns
        -------
        ndarray of shape (n_samples, n_trees)
            Numbers of nodes, see ``permanent_forest_.trees[k].nodes``.
        """
        model = self._checked()
        trees, matrix = find_forest(model.learnt.state, forest).trees, model.encoder.translate(X, self.column_changes)
        return np.column_stack(in_threads(lambda tree: tree.route(matrix), trees, self.n_jobs))

    def decision_path(self, X: Any, forest: str = "permanent") -> tuple[Any, Longs]:
        """Return which nodes each record passes in a forest.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        forest : {"permanent", "active", "temporary", "newest"}, default="permanent"

        Returns
        -------
        indicator : sparse CSR matrix of shape (n_samples, n_nodes)
            1 where a record passes a node; the nodes of all trees side by side.
        n_nodes_ptr : ndarray of shape (n_trees + 1,)
            Columns from ``n_nodes_ptr[k]`` up to ``n_nodes_ptr[k + 1]`` are those of tree k.
        """
        model = self._checked()
        found = find_forest(model.learnt.state, forest)
        return found.paths(model.encoder.translate(X, self.column_changes))

    def history_frame(self) -> Any:
        """Return `history_` as a flat pandas data frame: a row a batch, a column a figure and forest.

        Returns
        -------
        pandas.DataFrame
            Columns such as ``accuracy_vote``, ``drift``, ``seconds``; NaN or None where a batch has no such figure.
        """
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ImportError(
                "history_frame() makes a pandas data frame, but pandas is not installed. Run: pip install pandas. "
                "Or make another kind of table of [report.as_row() for report in model.history_]."
            ) from error
        return DataFrame([report.as_row() for report in self.history_])

    @property
    def feature_importances_(self) -> Floats:
        """Entropy gain by attribute in the forest that answers, each tree counting the same, summing to one."""
        state = self._known("feature_importances_").learnt.state
        trees = state.forests[state.answering].forest.trees
        shares = [tree.importance / tree.importance.sum() for tree in trees if tree.importance.any()]
        return np.mean(shares, axis=0) if shares else np.zeros(self.n_features_in_)

    @property
    def permanent_forest_(self) -> Forest:
        """The forest that learns every batch."""
        return self._known("permanent_forest_").learnt.state.forests["permanent"].forest

    @property
    def active_forest_(self) -> Forest:
        """The forest of the rules that hold now: the permanent one, or one of its own since rules changed for good."""
        return self._known("active_forest_").learnt.state.forests["active"].forest

    @property
    def temporary_forest_(self) -> Forest | None:
        """The forest of the last batches, if there is one."""
        return self._known("temporary_forest_").learnt.state.forest("temporary")

    @property
    def newest_forest_(self) -> Forest | None:
        """The forest of the last batch alone, if there is one."""
        return self._known("newest_forest_").learnt.state.forest("newest")

    @property
    def answering_forest_(self) -> str:
        """Name of the forest that answers, or whose vote is worth most."""
        return self._known("answering_forest_").learnt.state.answering

    @property
    def history_(self) -> list[BatchReport]:
        """One report a batch."""
        learnt = self._known("history_").learnt
        return learnt.reports[: learnt.state.n_calls]


class AdaptiveDecisionForestClassifier(BaseADFClassifier):
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
    max_depth : int or None, default=None
        Depth at which growing stops.
    renewal : float, default=1.0
        How much is grown anew from memory: a batch of n records pays for as many trees of a repaired forest, in turn,
        as can be grown from ``renewal * (n + 500)`` records for each of its trees. While few records are at hand these
        are all trees at every batch. 0 only ever repairs.
    answer_for : {"next_batch", "everything"}, default="next_batch"
        What the model is asked about. "next_batch": records like those that come next. "everything": records of any
        time, old ones as well; the permanent forest answers alone, whatever came lately.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categorical: those of text or categorical type, those given by mask, position or name, none.
    max_categories, min_frequency : int, float or None, default=None
        Which values of a categorical column share one code for infrequent ones, as in scikit-learn's OneHotEncoder:
        those that came less often than ``min_frequency`` (an int counts records, a float is a share of them), and all
        but the most frequent ``max_categories - 1``. They are counted over all batches so far: a value gets its own
        code with the batch that makes it frequent. Values never seen count as infrequent.
    column_changes : {"error", "allow"}, default="error"
        Whether a batch may add or drop columns, which are matched by name. "allow": a column that is not there is
        missing in its records, a new one is learnt from that batch on; records to be predicted may lack columns, and
        what was never learnt is left out.
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
    What weights the forests have depends on the record: whether records of the last batches are near it, and whether
    classes are found that are new or rare (`adforest.adaptation.evidence`). A leaf's
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

    _rules: ClassVar[Rules] = FOREST_RULES | {
        "memory_size": (Whole(0), NONE),
        "renewal": (Amount(0),),
        "answer_for": (OneOf("next_batch", "everything"),),
    }

    def __init__(
        self,
        n_estimators: int = 20,
        *,
        base_forest: str = "random_forest",
        splitting: str = "entropy",
        drift_threshold: int = 3,
        window_size: int = 3,
        memory_size: int | None = 100_000,
        min_samples_leaf: int = 1,
        max_features: str | float | None = "default",
        max_depth: int | None = None,
        renewal: float = 1.0,
        answer_for: str = "next_batch",
        categorical_features: Any = "from_dtype",
        max_categories: int | None = None,
        min_frequency: float | None = None,
        column_changes: str = "error",
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
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_depth = max_depth
        self.renewal = renewal
        self.answer_for = answer_for
        self.categorical_features = categorical_features
        self.max_categories = max_categories
        self.min_frequency = min_frequency
        self.column_changes = column_changes
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _settings(self, n_features: int, seed: int) -> Settings:
        """Return what learning and answering go by."""
        return Settings(
            algorithm="adaptive",
            grower=make_grower(self, n_features),
            n_estimators=self.n_estimators,
            splitting=self.splitting,
            drift_threshold=self.drift_threshold,
            window_size=self.window_size,
            memory_size=self.memory_size,
            min_samples_leaf=self.min_samples_leaf,
            renewal=self.renewal,
            answer_for=self.answer_for,
            n_jobs=self.n_jobs,
            seed=seed,
        )

    def _answer_settings(self) -> dict[str, Any]:
        return {"answer_for": self.answer_for, "n_jobs": self.n_jobs}


@dataclass(frozen=True, slots=True, eq=False)
class _Learnt:
    """What is learnt besides how to read tables and labels.

    Attributes
    ----------
    state : State
    reports : list of BatchReport
        One for each batch that was given, and maybe later ones: a list is shared with what was learnt before and after.
    """

    state: State
    reports: list[BatchReport]

    def own_reports(self) -> list[BatchReport]:
        """Return a list to which the next report may be added, without later ones."""
        return self.reports if len(self.reports) == self.state.n_calls else self.reports[: self.state.n_calls]


def make_grower(model: BaseADFClassifier, n_features: int) -> Grower:
    """Return the base forest that the parameters of a model ask for."""
    params = GrowthParams(
        max_features=count_features(model.max_features, n_features),
        min_samples_leaf=model.min_samples_leaf,
        max_depth=model.max_depth,
    )
    return GROWERS[model.base_forest](params)


def _with_class_values(report: BatchReport, labels: LabelTable) -> BatchReport:
    """Return a report that names classes by value instead of code."""
    return replace(report, new_classes=tuple(np.sort(labels.by_arrival[list(report.new_classes)]).tolist()))
