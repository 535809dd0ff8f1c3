"""The Adaptive Decision Forest as one of River's classifiers: samples are learnt one at a time, as dicts.

Needs ``pip install 'adforest[river]'``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from copy import copy
from datetime import timedelta
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np

from adforest.adaptive import AdaptiveDecisionForestClassifier
from adforest.base import as_proba, get_fitted
from adforest.encoding import check_same_length, dicts
from adforest.encoding.columns import is_empty
from adforest.encoding.tables import Table, read_table
from adforest.exceptions import ParameterError
from adforest.forest.types import Float64Array
from adforest.integrations._waiting import WaitingSamples
from adforest.parameters import (
    AT_LEAST_ONE,
    NAMES,
    NONE,
    TIME_SPAN,
    Amount,
    AnswerFor,
    BaseForest,
    Criterion,
    MaxFeatures,
    OneOf,
    Rules,
    Splitting,
)

try:
    from river import base
    from river.utils import dataframe
except ImportError as error:
    raise ImportError(
        f"adforest.integrations.river needs River, which could not be imported ({error}). Install it with "
        "pip install 'adforest[river]'."
    ) from error

__all__ = ["AdaptiveDecisionForest"]

CATEGORICAL = (nw.Categorical, nw.Enum)


class AdaptiveDecisionForest(base.MiniBatchClassifier):  # type: ignore[misc]
    """Adaptive Decision Forest: a batch-incremental forest that learns new classes and new features.

    Each sample is learnt by `adforest.AdaptiveDecisionForestClassifier` at once, so that the next prediction uses the
    last labels, too; trees are updated when enough samples have been collected. With a larger ``batch_size`` samples
    are collected until there are that many, or the first was collected ``max_wait`` ago, and are then learnt as one
    batch, at less cost. Text is categorical, a feature that a sample lacks is missing in it, and classes need not be
    declared.

    Parameters
    ----------
    n_estimators
        Number of trees in the permanent and the active forest; the temporary and the newest have half as many.
    batch_size
        Number of samples that are learnt together. Predictions use the last labels after batches of fewer than 100.
    max_wait
        Seconds, or a timedelta, after which collected samples are learnt even if they are fewer than ``batch_size``;
        None sets no limit. The clock is `time.time`, and it is read whenever a sample is learnt: without a
        sample, nothing happens. `learn_waiting` learns them at once.
    base_forest
    splitting
    drift_threshold
    window_size
    memory_size
    max_samples
    min_samples_leaf
    max_features
    max_depth
    criterion
    renewal
    answer_for
    label_delay
        As in `adforest.AdaptiveDecisionForestClassifier`.
    categorical_features
        Which features are categorical: "from_dtype" (those that hold text), those with the names given, or None. A
        number of a listed feature is a category.
    max_categories
    min_frequency
    class_weight
    n_jobs
        As in `adforest.AdaptiveDecisionForestClassifier`.
    seed
        Random number generator seed, ``random_state`` there.
    verbose
        Print each batch's report if positive.

    Notes
    -----
    Until the first batch is learnt, class frequencies of the collected samples are predicted; before the first sample
    ``predict_one`` returns None. Classes that no batch had yet have a probability of 0.

    The kind of a feature is decided by its first value: numbers, text, dates or durations. An invalid sample or label
    is refused at once, and the model stays as it was. ``learn_many`` learns a data frame as
    one batch; with a ``batch_size`` of more than 1 it does what ``learn_one`` does sample by sample, but faster. If it
    fails, none of its samples is learnt.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from adforest.integrations.river import AdaptiveDecisionForest
    >>> model = AdaptiveDecisionForest(n_estimators=5, seed=1)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())  # doctest: +ELLIPSIS
    Accuracy: 8...%
    >>> model.classifier.history_[-1].scenario
    'SKC'
    """

    _rules: ClassVar[Rules] = AdaptiveDecisionForestClassifier._rules | {
        "batch_size": (AT_LEAST_ONE,),
        "max_wait": (Amount(0), TIME_SPAN, NONE),
        "categorical_features": (NAMES, OneOf("from_dtype", None)),
        "seed": AdaptiveDecisionForestClassifier._rules["random_state"],
    }

    def __init__(
        self,
        n_estimators: int = 20,
        batch_size: int = 1,
        max_wait: float | timedelta | None = None,
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
        categorical_features: Any = "from_dtype",
        max_categories: int | None = None,
        min_frequency: float | None = None,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        n_jobs: int | None = None,
        seed: int | None = None,
        verbose: int = 0,
    ) -> None:
        # River's own methods, such as clone(), read the parameters from attributes of their names.
        self.__dict__.update({name: value for name, value in locals().items() if name != "self"})
        self._check_parameters()
        params = {name: value for name, value in self._get_params().items() if name not in ("batch_size", "max_wait")}
        listed = categorical_features is not None and categorical_features != "from_dtype"
        self._listed: tuple[Hashable, ...] = tuple(dicts.sorted_names(categorical_features)) if listed else ()
        params["categorical_features"] = list(self._listed) if listed else categorical_features
        params["random_state"] = params.pop("seed")
        self._classifier = AdaptiveDecisionForestClassifier(**params, column_changes="allow")
        seconds = max_wait.total_seconds() if isinstance(max_wait, timedelta) else max_wait
        self._waiting = WaitingSamples(None if categorical_features == "from_dtype" else self._listed, seconds)

    def _check_parameters(self) -> None:
        """Raise ValueError if a parameter has a value that its rules do not accept."""
        for name, value in self._get_params().items():
            if not any(rule.accepts(value) for rule in self._rules[name]):
                expected = ", or ".join(map(str, self._rules[name]))
                raise ParameterError(f"{name} of {type(self).__name__} is {value!r}; expected {expected}.")

    @property
    def classifier(self) -> AdaptiveDecisionForestClassifier:
        """The classifier that learns the batches; ``classifier.history_`` has a report for each of the last 1,000."""
        return self._classifier

    @property
    def n_waiting(self) -> int:
        """Number of collected samples that are not learnt yet."""
        return len(self._waiting)

    def learn_one(self, x: Mapping[Hashable, Any], y: Any, w: float = 1.0) -> None:
        """Add a sample, and learn a batch if enough are collected.

        Parameters
        ----------
        x
            Values by feature; None and NaN are missing.
        y
            The label: text, an integer or a boolean, one kind for the whole model.
        w
            The sample weight; a sample of weight 0 is left out.
        """
        self._waiting.take(x, y, w)
        self._learn_if_enough()

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the samples of a data frame, or collect them until there are ``batch_size``.

        Parameters
        ----------
        X
            A data frame of any library that narwhals reads.
        y
            A series of labels.
        """
        frame, labels = _frame(X), list(y)
        check_same_length(len(frame), len(labels))
        before = self._waiting.copy(), copy(self._classifier)  # the fitted state is immutable, so this costs little
        try:
            self._learn_frame(frame, labels)
        except BaseException:
            self._waiting, self._classifier = before
            raise

    def _learn_frame(self, frame: Any, labels: list[Any]) -> None:
        """Learn parts of a frame that are complete batches; collect the rest."""
        size = self.batch_size if self.batch_size > 1 else len(labels)  # labels that come together are one batch
        start = 0
        while start < len(labels):
            stop = min(len(labels), start + max(1, size - len(self._waiting)))
            piece = frame[start:stop]
            if stop - start == size and not self._waiting:
                for label in labels[start:stop]:
                    self._waiting.take_label(label)
                self._learn(self._table_of_frame(piece), labels[start:stop])
            else:
                for sample, label in zip(piece.rows(named=True), labels[start:stop], strict=True):
                    self._waiting.take(sample, label)
                self._learn_if_enough()
            start = stop

    def _learn_if_enough(self) -> None:
        """Learn the collected samples if they are a batch, or if ``max_wait`` has passed."""
        if len(self._waiting) >= self.batch_size or self._waiting.is_time:
            self.learn_waiting()

    def learn_waiting(self) -> None:
        """Learn the collected samples as one batch, however few they are."""
        waiting, names = self._waiting, self._names(self._waiting.kinds)
        if waiting and names:  # without a single feature there is nothing to learn yet
            weights = None if set(waiting.weights) == {1.0} else waiting.weights
            self._learn(dicts.table_of_dicts(waiting.samples, names), waiting.labels, weights)
            waiting.clear()

    def _names(self, features: Any) -> tuple[Hashable, ...]:
        """Return the columns of the next batch: those learnt, then new ones, sorted."""
        learnt = self._learnt_names()
        known = set(learnt)
        return (*learnt, *dicts.sorted_names(name for name in features if name not in known))

    def _learnt_names(self) -> tuple[Hashable, ...]:
        """Return the columns learnt; before the first batch those that were listed as categorical."""
        if not self._is_fitted():
            return self._listed
        return get_fitted(self._classifier).encoder.names or ()

    def _is_fitted(self) -> bool:
        """Return whether a batch was learnt."""
        return self._classifier.__sklearn_is_fitted__()

    def _table_of_frame(self, frame: Any) -> Table:
        """Return a frame as a table with the columns of the next batch."""
        table = read_table(frame.to_native(), dicts.SOURCE, type(self).__name__)
        arrived = enumerate(table.names or ())
        names = self._names(name for position, name in arrived if not is_empty(table.column(position)))
        dicts.check_names(names, {})
        return dicts.arrange(table, names)

    def _learn(self, table: Table, labels: list[Any], weights: list[float] | None = None) -> None:
        """Learn a batch."""
        self._classifier.partial_fit(table, labels, sample_weight=weights)
        self._waiting.kinds = dicts.known_kinds(get_fitted(self._classifier).encoder)

    def predict_proba_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> dict[Any, float]:
        """Predict the class probabilities of a sample.

        Parameters
        ----------
        x
            Values by feature. Features never learnt are ignored.
        """
        if not self._is_fitted():
            return self._waiting.class_frequencies()
        model, votes = self._answer(x)
        proba = dict(zip(model.labels.classes.tolist(), as_proba(votes)[0].tolist(), strict=True))
        if len(proba) < self._waiting.n_classes:
            proba |= dict.fromkeys(self._waiting.classes_besides(list(proba)), 0.0)
        return proba

    def predict_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> Any:
        """Predict the class of a sample, None before the first sample was learnt.

        Parameters
        ----------
        x
            Values by feature. Features never learnt are ignored.
        """
        if not self._is_fitted():
            proba = self._waiting.class_frequencies()
            return max(proba, key=proba.__getitem__, default=None)
        model, votes = self._answer(x)
        return model.most_likely(votes).tolist()[0]

    def _answer(self, x: Mapping[Hashable, Any]) -> tuple[Any, Float64Array]:
        """Return the model and its votes for a sample, without converting the sample to a table."""
        model = get_fitted(self._classifier)
        matrix = dicts.row_of_dict(x, model.encoder)
        return model, model.in_order(self._classifier._votes(model, matrix))

    def predict_proba_many(self, X: Any) -> Any:
        """Predict the class probabilities of the samples of a data frame, as a data frame of the same library.

        Parameters
        ----------
        X
            A data frame of any library that narwhals reads.
        """
        frame = _frame(X)
        if self._is_fitted():
            model, votes = self._classifier._model_and_votes(self._table_to_answer(frame))
            proba = dict(zip(model.labels.classes.tolist(), as_proba(votes).T, strict=True))
            proba |= dict.fromkeys(self._waiting.classes_besides(list(proba)), np.zeros(len(frame)))
        else:
            proba = {
                value: np.full(len(frame), frequency) for value, frequency in self._waiting.class_frequencies().items()
            }
        return dataframe.to_native_frame(proba, like=frame)

    def predict_many(self, X: Any) -> Any:
        """Predict the classes of the samples of a data frame, as a series of the same library.

        Parameters
        ----------
        X
            A data frame of any library that narwhals reads.
        """
        frame = _frame(X)
        is_fitted = self._is_fitted()
        classes = self._classifier.predict(self._table_to_answer(frame)) if is_fitted else None
        values = [self.predict_one({})] * len(frame) if classes is None else classes.tolist()
        return dataframe.to_native_series(values, name=None, like=frame)

    def _table_to_answer(self, frame: Any) -> Table:
        """Return a frame as a table with the columns learnt."""
        return dicts.arrange(read_table(frame.to_native(), dicts.SOURCE, type(self).__name__), self._learnt_names())

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"n_estimators": 3, "batch_size": 20}


def _frame(X: Any) -> Any:
    """Return a data frame whose categories are text, as they are in a sample; their columns stay categorical."""
    frame = dataframe.into_frame(X)
    names = [name for name, dtype in frame.schema.items() if dtype in CATEGORICAL]
    return frame.with_columns(nw.col(name).cast(nw.String).cast(nw.Categorical) for name in names) if names else frame
