"""The Adaptive Decision Forest as one of CapyMOA's classifiers, for its prequential evaluation.

Needs ``pip install 'adforest[capymoa]'`` and Java 17 or newer.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from adforest.adaptive import AdaptiveDecisionForestClassifier
from adforest.base import as_proba
from adforest.encoding.columns import Coded, Column
from adforest.encoding.tables import Table
from adforest.exceptions import InputError, ParameterError
from adforest.forest.types import Float64Array
from adforest.parameters import AT_LEAST_ONE, AnswerFor, BaseForest, Criterion, MaxFeatures, Splitting, check_parameters

try:
    from capymoa.base import Classifier
except (ImportError, RuntimeError) as error:  # without Java, CapyMOA raises a RuntimeError of its own
    raise ImportError(
        f"adforest.integrations.capymoa needs CapyMOA, which could not be imported ({error}). Install it with "
        "pip install 'adforest[capymoa]' and Java 17 or newer."
    ) from error

__all__ = ["AdaptiveDecisionForest"]


class AdaptiveDecisionForest(Classifier):  # type: ignore[misc]
    """Adaptive Decision Forest: a batch-incremental forest that learns new classes at any time.

    Each instance is learnt by `adforest.AdaptiveDecisionForestClassifier` at once, so that the next prediction uses the
    last labels, too; trees are updated when enough instances have been collected. With a larger ``batch_size``
    that many instances are collected and learnt as one batch, at less cost.

    Parameters
    ----------
    schema : capymoa.stream.Schema
        Its nominal attributes are categorical features.
    random_seed : int, default=1
    batch_size : int, default=1
        Number of instances that are learnt together. Predictions use the last labels after batches of fewer than 100.
    n_estimators, base_forest, splitting, drift_threshold, window_size, memory_size, max_samples, min_samples_leaf, \
max_features, max_depth, criterion, renewal, answer_for, label_delay, max_categories, min_frequency, \
class_weight, n_jobs, verbose
        As in `adforest.AdaptiveDecisionForestClassifier`; ``class_weight`` by class index.

    Attributes
    ----------
    classifier : AdaptiveDecisionForestClassifier
        Learns the batches; ``classifier.history_`` has a report for each of the last 1,000. Classes are the
        indexes of the schema's label values.

    Notes
    -----
    Until the first batch is learnt, class frequencies of the collected instances are predicted; before the first
    instance `predict` returns None.

    Batches are made here, not by the evaluation: ``prequential_evaluation(batch_size=...)`` is for learners on PyTorch.
    `capymoa.core.io.save_model` saves it, with the collected instances.

    Examples
    --------
    >>> from capymoa.evaluation import prequential_evaluation  # doctest: +SKIP
    >>> from capymoa.datasets import ElectricityTiny  # doctest: +SKIP
    >>> from adforest.integrations.capymoa import AdaptiveDecisionForest  # doctest: +SKIP
    >>> stream = ElectricityTiny()  # doctest: +SKIP
    >>> learner = AdaptiveDecisionForest(stream.get_schema())  # doctest: +SKIP
    >>> prequential_evaluation(stream, learner).cumulative.accuracy()  # doctest: +SKIP
    """

    def __init__(
        self,
        schema: Any,
        random_seed: int = 1,
        batch_size: int = 1,
        n_estimators: int = 20,
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
        max_categories: int | None = None,
        min_frequency: float | None = None,
        class_weight: dict[int, float] | Literal["balanced"] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(schema=schema, random_seed=random_seed)
        if not schema.is_classification():
            raise ParameterError(
                f"the schema of AdaptiveDecisionForest has a numeric target; expected classes: {schema}"
            )
        if not AT_LEAST_ONE.accepts(batch_size):
            raise ParameterError(f"batch_size of AdaptiveDecisionForest is {batch_size!r}; expected {AT_LEAST_ONE}.")
        self.batch_size = batch_size
        names = AdaptiveDecisionForestClassifier._get_param_names()
        parameters = {name: value for name, value in locals().items() if name in names}
        self.classifier = AdaptiveDecisionForestClassifier(**parameters, random_state=random_seed)
        check_parameters(self.classifier, self.classifier._rules)
        header = schema.get_moa_header()
        attributes = [header.attribute(j) for j in range(header.numAttributes()) if j != header.classIndex()]
        self._names = tuple(str(attribute.name()) for attribute in attributes)
        nominal = {j: attribute for j, attribute in enumerate(attributes) if attribute.isNominal()}
        self._values = {j: list(map(str, one.getAttributeValues())) for j, one in nominal.items()}
        self._waiting: list[Float64Array] = []
        self._waiting_labels: list[int] = []

    @property
    def n_waiting(self) -> int:
        """Number of collected instances that are not learnt yet."""
        return len(self._waiting)

    def train(self, instance: Any) -> None:
        """Add an instance, and learn a batch if enough are collected.

        Parameters
        ----------
        instance : capymoa.core.LabeledInstance
        """
        sample = np.array(instance.x, dtype=np.float64)
        if np.isinf(sample).any():
            name = self._names[int(np.isinf(sample).argmax())]
            raise InputError(
                f"attribute {name!r} of this instance is infinite. Replace it with a finite number, or with NaN if it "
                "is not known."
            )
        if not self.schema.is_y_index_in_range(instance.y_index):
            raise InputError(
                f"the class index of this instance is {instance.y_index}; expected one of the schema's, 0 to "
                f"{self.schema.get_num_classes() - 1}."
            )
        self._waiting.append(sample)
        self._waiting_labels.append(int(instance.y_index))
        if len(self._waiting) >= self.batch_size:
            self.learn_waiting()

    def learn_waiting(self) -> None:
        """Learn the collected instances as one batch, however few they are."""
        if self._waiting:
            self.classifier.partial_fit(self._table(np.array(self._waiting)), self._waiting_labels)
            self._waiting, self._waiting_labels = [], []

    def predict_proba(self, instance: Any) -> Float64Array | None:
        """Predict the probabilities of the schema's classes, None before the first instance was learnt.

        Parameters
        ----------
        instance : capymoa.core.Instance
        """
        proba = np.zeros(self.schema.get_num_classes())
        if "_model" in vars(self.classifier):
            table = self._table(np.array(instance.x, dtype=np.float64).reshape(1, -1))
            model, votes = self.classifier._model_and_votes(table)
            proba[model.labels.classes] = as_proba(votes)[0]
        elif self._waiting:
            proba += np.bincount(self._waiting_labels, minlength=len(proba)) / len(self._waiting)
        else:
            return None
        return proba

    def _table(self, X: Float64Array) -> Table:
        """Return samples as a table: numbers as they are, indexes of nominal values as text."""
        content: Float64Array | list[Column] = X
        if self._values:
            columns = enumerate(np.ascontiguousarray(X.T))
            content = [_coded(column, self._values[j]) if j in self._values else column for j, column in columns]
        return Table(len(X), X.shape[1], self._names, content, "these instances")

    def __str__(self) -> str:
        return "AdaptiveDecisionForest"


def _coded(indexes: Float64Array, values: list[str]) -> Coded:
    """Return a nominal attribute as categories: those values of the schema that are in it."""
    is_known = ~np.isnan(indexes)
    present, codes = np.unique(indexes[is_known].astype(np.intp), return_inverse=True)
    coded = np.full(len(indexes), -1, dtype=np.intp)
    coded[is_known] = codes
    return Coded(coded, [values[index] for index in present.tolist()], is_categorical_type=True)
