"""Base class of both Adaptive Decision Forests: learning a batch, attributes and methods of the fitted model."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any, ClassVar, Literal, Self, cast
from weakref import WeakKeyDictionary

import numpy as np

from adforest.adaptation import RECIPES, State, find_forest, votes, with_columns
from adforest.adaptation.undrawn import LeafCounter, learning_trees, with_counts
from adforest.base import BatchClassifier, FittedModel, get_fitted, lock_of
from adforest.encoding import TableEncoder
from adforest.estimator_settings import answer_settings, read_settings
from adforest.exceptions import InputTypeError
from adforest.explaining import Explanation, explain
from adforest.forest import Forest, Samples, importances
from adforest.forest.types import Float64Array, Int32Array, Int64Array
from adforest.libraries import require
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


class BaseADFClassifier(TrackAttributes, BatchClassifier[State]):
    """Base class of both Adaptive Decision Forests."""

    _fixed: ClassVar[tuple[str, ...]] = ("n_estimators", "base_forest", *BatchClassifier._fixed)

    _algorithm: ClassVar[Literal["adaptive", "paper"]]
    _reuses_codes = True

    column_changes: ColumnChanges
    n_jobs: int | None
    verbose: int

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

    def _learn(self, before: FittedForests | None, source: BatchSource, classes: Any = None) -> Self:
        """Learn a batch, local or distributed, then replace the model with one assignment."""
        batch = self._encode(before, source, classes)
        encoder, labels, samples = batch.encoder, batch.labels, batch.samples
        n_columns = samples.X.shape[1]
        settings = read_settings(self, n_columns, batch.seed, labels)
        if before is None:
            start = State.new(settings, n_columns)
        else:
            column_index = encoder.index_after_added(len(before.state.memory.values.types))
            start = with_columns(before.state, column_index, n_columns, encoder.recycled_codes)
            start = replace(start, settings=settings)
        state, report, answered = RECIPES[settings.algorithm](start, samples, labels.order)
        if samples.totals is not None:  # samples that were not drawn are counted in the trees that learnt the batch
            trees = learning_trees(state, report.action)
            state = with_counts(state, trees, source.count(batch.plan, LeafCounter.of(state, trees), self.n_jobs))
        new_classes = np.sort(labels.by_arrival[list(report.new_classes)]).tolist()
        report = replace(report, new_classes=tuple(new_classes))
        track = Track() if before is None else before.track
        is_new_regime = report.drift == "sustained" or state.regime_start != start.regime_start
        learnt = _newly_learnt(start, state, samples, encoder.n_features)
        track = track.after(report, learnt, encoder.recycled_codes, answered, is_new_regime=is_new_regime)
        self._model = FittedForests.after(before, batch, state, track=track)
        if self.verbose:
            print(report)
        return self

    def _votes(self, model: FittedModel[State], X: Float64Array) -> Float64Array:
        return votes(self._answering_state(model.state), X, len(model.labels.by_arrival))

    def _answering_state(self, state: State) -> State:
        """Return a state with the current settings of those that only matter to predictions.

        It is the same object for the same parameters, so that arrays computed for the first prediction are reused.
        """
        now = answer_settings(self)
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
        besides = ", or make another kind of table of [report.as_row() for report in model.history_]"
        pandas = require("pandas", "history_frame()", besides=besides)
        self._checked()
        return pandas.DataFrame([report.as_row() for report in self.history_])

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


def read_model(model: Any, asked_by: str) -> FittedForests:
    """Return the fitted state of a classifier or a snapshot, with its current parameters, or raise for other objects.

    It is read once: another thread may go on learning.
    """
    snapshot = model.snapshot(samples=True) if isinstance(model, BaseADFClassifier) else model
    if not isinstance(snapshot, Snapshot):
        raise InputTypeError(
            f"{asked_by} was given {type(model).__name__}; expected an AdaptiveDecisionForestClassifier, a "
            "PaperADFClassifier or a Snapshot of one."
        )
    return cast(FittedForests, get_fitted(snapshot))


def mean_importances(state: State, encoder: TableEncoder) -> Float64Array:
    """Return the importance of each feature in the forest of most weight, see `feature_importances_`."""
    grower, trees = state.settings.grower, state.forests[state.answering].forest.trees
    n_categories, n_tried = encoder.n_categories, grower.params.max_features
    found = [encoder.by_feature(importances(tree, n_categories, n_tried, grower.sample_weight)) for tree in trees]
    relative = [one / one.sum() for one in found if one.any()]
    return np.mean(relative, axis=0) if relative else np.zeros(encoder.n_features)


def _newly_learnt(start: State, state: State, samples: Samples, n_features: int) -> Samples | None:
    """Return the samples that trees learnt with a batch: pending ones, then its own; None if these are pending too."""
    if state.pending is not None:
        return None
    learnt = samples if start.pending is None else start.pending.joined(sampled(samples))
    return learnt.of_columns(n_features)
