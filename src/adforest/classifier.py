"""Base class of both Adaptive Decision Forests: learning a batch, attributes and methods of the fitted model."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import fields, replace
from os import PathLike
from typing import Any, ClassVar, Literal, Self, cast
from weakref import WeakKeyDictionary

import numpy as np

from adforest.adaptation import RECIPES, BatchReport, ClassWeight, Settings, State, find_forest, votes, with_columns
from adforest.adaptation.undrawn import LeafCounter, learning_trees, with_counts
from adforest.base import EncodedBatch, FittedModel, VotingBatchClassifier, lock_of
from adforest.encoding import LabelTable, TableEncoder
from adforest.exceptions import ParameterWarning, warn_caller
from adforest.explaining import Explanation, explain
from adforest.forest import Forest, GrowthParams, Samples, importances
from adforest.forest.types import Float64Array, Int32Array, Int64Array
from adforest.growers import GROWERS, Grower, count_features
from adforest.merging import BatchSource, LocalBatch
from adforest.parallel import in_threads
from adforest.parameters import (
    AT_LEAST_ONE,
    COMMON,
    FLAG,
    NONE,
    WEIGHTS_BY_CLASS,
    Amount,
    BaseForest,
    ColumnChanges,
    Integer,
    MaxFeatures,
    OneOf,
    Rules,
    Splitting,
    one_of,
)
from adforest.snapshot import FittedForests, Snapshot, TrackAttributes
from adforest.tracking import Track
from adforest.tracking.column_sketches import sampled

FOREST_RULES: Rules = COMMON | {
    "base_forest": (one_of(BaseForest),),
    "splitting": (one_of(Splitting),),
    "drift_threshold": (Integer(0),),
    "window_size": (AT_LEAST_ONE,),
    "max_depth": (AT_LEAST_ONE, NONE),
    "max_categories": (AT_LEAST_ONE, NONE),
    "min_frequency": (AT_LEAST_ONE, Amount(0, 1, is_low_excluded=True), NONE),
    "class_weight": (WEIGHTS_BY_CLASS, OneOf("balanced", None)),
    "column_changes": (one_of(ColumnChanges),),
    "verbose": (Integer(0), FLAG),
}


# By state: the same with other settings, while some estimator predicts with them.
_answering: WeakKeyDictionary[State, State] = WeakKeyDictionary()


class BaseADFClassifier(TrackAttributes, VotingBatchClassifier[State]):
    """Base class of both Adaptive Decision Forests."""

    _fixed: ClassVar[tuple[str, ...]] = ("n_estimators", "base_forest", *VotingBatchClassifier._fixed)

    base_forest: BaseForest
    max_features: MaxFeatures | float | None
    min_samples_leaf: int
    max_depth: int | None
    class_weight: dict[Any, float] | Literal["balanced"] | None
    column_changes: ColumnChanges
    n_jobs: int | None
    verbose: int
    _reuses_codes = True

    @abstractmethod
    def _own_settings(self) -> dict[str, Any]:
        """Return the settings that are not simply the parameters of the same names."""

    @abstractmethod
    def _answer_settings(self) -> dict[str, Any]:
        """Return the settings that only matter to predictions, by the current parameters."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a new model, with X, y as its first batch.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Samples: numbers, text, dates, with or without missing values. Sparse matrices are made dense.
        y : array-like of shape (n_samples,)
            Class values: text, integers or booleans.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights, by default 1, see `partial_fit`.

        Returns
        -------
        self
        """
        with lock_of(self):
            return self._learn(None, LocalBatch(X, y, sample_weight))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn one more batch, which may bring new classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The same columns as before; data frames in any order.
        y : array-like of shape (n_samples,)
            Class values, of the kind of earlier batches.
        classes : array-like, optional
            Class values to expect. They appear in ``classes_`` before their first sample.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights, by default 1. A sample of weight 2 counts as the sample twice, one of weight 0
            is left out. Where the mean over all batches, together with ``class_weight``, is below 1 or above 4, all
            weights are multiplied by a number that brings it there: only their ratios matter then.

        Returns
        -------
        self
        """
        with lock_of(self):
            return self._learn(getattr(self, "_model", None), LocalBatch(X, y, sample_weight), classes)

    def _learn(self, before: Any, source: BatchSource, classes: Any = None) -> Self:
        """Learn a batch, local or distributed, then replace the model with one assignment."""
        batch = self._encode(before, source, classes)
        start = self._start(before, batch)
        state, report, answered = RECIPES[start.settings.algorithm](start, batch.samples, batch.labels.order)
        if batch.samples.totals is not None:
            state = self._with_undrawn(state, report, batch)
        report = _with_class_values(report, batch.labels)
        track = Track() if before is None else before.track
        track = track.after(
            report,
            _newly_learnt(start, state, batch),
            batch.encoder.recycled_codes,
            answered,
            is_new_regime=report.drift == "sustained" or state.regime_start != start.regime_start,
        )
        self._model = FittedForests.after(before, batch, state, track=track)
        if self.verbose:
            print(report)
        return self

    def _start(self, before: FittedForests | None, batch: EncodedBatch) -> State:
        """Return the state that a batch is learnt from: with the current parameters and columns."""
        n_features = batch.samples.X.shape[1]
        settings = self._settings(self._grower(n_features), batch.seed)
        settings = replace(settings, class_weight=self._weight_by_code(batch.labels))
        if before is None:
            return State.new(settings, n_features)
        column_index = batch.encoder.index_after_added(len(before.state.memory.values.types))
        state = with_columns(before.state, column_index, n_features, batch.encoder.recycled_codes)
        return replace(state, settings=settings)

    def _settings(self, grower: Grower, seed: int) -> Settings:
        """Return the settings of learning and predicting; class weights are added by class code."""
        parameters = {one.name: getattr(self, one.name) for one in fields(Settings) if hasattr(self, one.name)}
        return Settings(grower=grower, seed=seed, **parameters | {"class_weight": None} | self._own_settings())

    def _grower(self, n_features: int) -> Grower:
        """Return the grower that the parameters select; the criterion is that of a random forest."""
        criterion = getattr(self, "criterion", "entropy") if self.base_forest == "random_forest" else "entropy"
        params = GrowthParams(
            max_features=count_features(self.max_features, n_features),
            min_samples_leaf=self.min_samples_leaf,
            max_depth=self.max_depth,
            criterion="entropy" if criterion == "log_loss" else criterion,
        )
        return GROWERS[self.base_forest](params)

    def _with_undrawn(self, state: State, report: BatchReport, batch: EncodedBatch) -> State:
        """Count the samples of a batch that were not drawn in the leaves of the trees that have learnt it."""
        trees = learning_trees(state, report.action)
        counts = batch.source.count(batch.plan, LeafCounter.of(state, trees), self.n_jobs)
        return with_counts(state, trees, counts)

    def _weight_by_code(self, labels: LabelTable) -> ClassWeight:
        """Return ``class_weight`` by class code; classes that it does not name have a weight of 1."""
        given = self.class_weight
        if given is None or isinstance(given, str):
            return given
        values = labels.by_arrival.tolist()
        if given and not any(value in given for value in values):
            warn_caller(
                f"class_weight names {', '.join(map(repr, list(given)[:3]))}, but the classes seen so far are "
                f"{', '.join(map(repr, values[:3]))}: no weight applies yet. Name classes by the values of y.",
                ParameterWarning,
            )
        return tuple(float(given.get(value, 1.0)) for value in values)

    def _votes(self, model: FittedModel[State], X: Float64Array) -> Float64Array:
        return votes(self._answering_state(model.state), X, len(model.labels.by_arrival))

    def _answering_state(self, state: State) -> State:
        """Return a state with the current settings of those that only matter to predictions.

        It is the same object for the same parameters, so that arrays computed for the first prediction are reused.
        """
        now = self._answer_settings()
        for known in (state, _answering.get(state)):
            if known is not None and all(getattr(known.settings, name) == value for name, value in now.items()):
                return known
        _answering[state] = made = replace(state, settings=replace(state.settings, **now))
        return made

    def snapshot(self, *, samples: bool = False) -> Snapshot:
        """Return an immutable copy of the model, to predict with while the model learns further batches.

        Parameters
        ----------
        samples : bool, default=False
            Whether it includes the samples in memory.

        Returns
        -------
        Snapshot
            Cheap, since trees are shared; immutable; can be pickled.
        """
        model = self._checked()
        state, track = self._answering_state(model.state), model.track
        if not samples:
            state, track = state.without_samples(), track.without_samples()
        frozen = replace(model, state=state, track=track, has_samples=samples and model.has_samples, fixed={})
        return Snapshot(frozen, self.column_changes)

    def save(self, path: str | PathLike[str], *, samples: bool = True) -> None:
        """Save the model to a file, which `adforest.load` reads.

        The file is replaced atomically: a crash leaves the old one or the new one. The same model makes the same bytes.

        Parameters
        ----------
        path : str or path-like
            Path of the file; the usual suffix is ``.adf``.
        samples : bool, default=True
            Whether the file includes the samples in memory. Without them it is smaller and reveals less of the data,
            but the loaded model cannot go on learning.
        """
        from adforest.storage import save  # the one import that points up: only a model that is saved needs it

        save(self, path, samples=samples)

    def explain(self, X: Any) -> Explanation:
        """Explain predictions by the contribution of each feature.

        Contributions follow the paths of the samples: a step from a node to the next changes the prediction of a tree,
        and the change is credited to the feature that the node splits on.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        Explanation
            Bias and contributions that add up to `predict_proba`, the weights of the forests and the leaves.
            It takes ``8 * n_samples * n_features * n_classes`` bytes and more.

        Examples
        --------
        >>> from adforest import AdaptiveDecisionForestClassifier
        >>> model = AdaptiveDecisionForestClassifier(random_state=0)
        >>> model = model.fit([[1, 5], [2, 5], [8, 5], [9, 5]], ["low", "low", "high", "high"])
        >>> print(model.explain([[8, 5]]).text())
        sample 0: high 0.581
          forests by weight: permanent 1.00
          batches that made the leaves: 1 (100%)
          (roots)   0.330
          x[0] = 8  +0.251
          x[1] = 5  +0.000
        """
        model = self._checked()
        matrix = model.encoder.translate(X, self.column_changes)
        return explain(self._answering_state(model.state), model.encoder, model.labels, matrix)

    def apply(self, X: Any, forest: str = "permanent") -> Int32Array:
        """Return the leaf of each sample in each tree of a forest.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        forest : {"permanent", "active", "temporary", "newest"}, default="permanent"

        Returns
        -------
        ndarray of shape (n_samples, n_trees)
            Indices of nodes, see ``permanent_forest_.trees[k].nodes``.
        """
        model = self._checked()
        trees, matrix = find_forest(model.state, forest).trees, model.encoder.translate(X, self.column_changes)
        return np.column_stack(in_threads(lambda tree: tree.route(matrix), trees, self.n_jobs))

    def decision_path(self, X: Any, forest: str = "permanent") -> tuple[Any, Int64Array]:
        """Return the decision path of each sample in a forest.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        forest : {"permanent", "active", "temporary", "newest"}, default="permanent"

        Returns
        -------
        indicator : sparse CSR matrix of shape (n_samples, n_nodes)
            1 where a sample passes a node; the nodes of all trees side by side.
        n_nodes_ptr : ndarray of shape (n_trees + 1,)
            Columns from ``n_nodes_ptr[k]`` up to ``n_nodes_ptr[k + 1]`` are those of tree k.
        """
        model = self._checked()
        found = find_forest(model.state, forest)
        return found.paths(model.encoder.translate(X, self.column_changes))

    def history_frame(self) -> Any:
        """Return `history_` as a flat pandas data frame: one row per batch, one column per metric and forest.

        Batches before the last 1,000 are not in it, see `history_blocks_`.

        Returns
        -------
        pandas.DataFrame
            Columns such as ``accuracy_vote``, ``drift``, ``seconds``; NaN or None where a batch has no such value.
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
    def feature_importances_(self) -> Float64Array:
        """Entropy gain beyond chance by feature in the forest with the most weight, see `adforest.forest.importances`.

        All trees have the same weight, and importances sum to one; all are 0 where no split gains more than chance.
        """
        model = self._known("feature_importances_")
        return mean_importances(model.state, model.encoder)

    @property
    def permanent_forest_(self) -> Forest:
        """The forest that learns every batch."""
        return self._known("permanent_forest_").state.forests["permanent"].forest

    @property
    def active_forest_(self) -> Forest:
        """The forest of the current concept: the permanent one, or one grown after the last sustained drift."""
        return self._known("active_forest_").state.forests["active"].forest

    @property
    def temporary_forest_(self) -> Forest | None:
        """The forest of the last batches, or None."""
        return self._known("temporary_forest_").state.forest("temporary")

    @property
    def newest_forest_(self) -> Forest | None:
        """The forest of the last batch alone, or None."""
        return self._known("newest_forest_").state.forest("newest")

    @property
    def answering_forest_(self) -> str:
        """Name of the forest that predicts, or has the most weight in the vote."""
        return self._known("answering_forest_").state.answering

    def _checked(self) -> FittedForests:
        """Return the model, read once: another thread may swap in the next one."""
        return cast(FittedForests, super()._checked())


def mean_importances(state: State, encoder: TableEncoder) -> Float64Array:
    """Return the importance of each feature in the forest of most weight, see `feature_importances_`."""
    grower, trees = state.settings.grower, state.forests[state.answering].forest.trees
    n_categories, n_tried = encoder.n_categories, grower.params.max_features
    found = [encoder.by_feature(importances(tree, n_categories, n_tried, grower.sample_weight)) for tree in trees]
    relative = [one / one.sum() for one in found if one.any()]
    return np.mean(relative, axis=0) if relative else np.zeros(encoder.n_features)


def _newly_learnt(start: State, state: State, batch: EncodedBatch) -> Samples | None:
    """Return the samples that trees learnt with a batch: pending ones, then its own; None if these are pending too."""
    if state.pending is not None:
        return None
    samples = batch.samples if start.pending is None else start.pending.joined(sampled(batch.samples))
    return samples.of_columns(batch.encoder.n_features)


def _with_class_values(report: BatchReport, labels: LabelTable) -> BatchReport:
    """Return a report that names classes by value instead of code."""
    return replace(report, new_classes=tuple(np.sort(labels.by_arrival[list(report.new_classes)]).tolist()))
