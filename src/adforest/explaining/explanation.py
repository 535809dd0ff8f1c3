"""Results of `explain`: arrays for programs, rows and text for people."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Any, NamedTuple

import numpy as np

from adforest.encoding import TableEncoder
from adforest.encoding.rebuilding import write_number, write_value
from adforest.exceptions import InputTypeError, ParameterError
from adforest.forest.types import AnyArray, Float64Array, Int32Array, Int64Array, UInt8Array
from adforest.libraries import require
from adforest.wording import counted

BIAS = "(roots)"
SHOWN_BATCHES = 6  # in a line of text


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ForestAnswers:
    """Predictions of one forest for some samples, and the leaves they come from.

    Attributes
    ----------
    weights : ndarray of shape (n_samples,)
        The forest's weight in the vote, between 0 and 1.
    probabilities : ndarray of shape (n_samples, n_classes)
        Its own class probabilities.
    leaves : ndarray of int of shape (n_samples, n_trees)
        The leaf that each sample reaches in each tree, as `apply` returns.
    batches : ndarray of int of shape (n_samples, n_trees)
        The batch that made it a leaf. Later batches may have added samples to it.
    causes : ndarray of int of shape (n_samples, n_trees)
        How: 0 the tree was built, 1 a root was added, 2 a leaf was expanded.
    leaf_classes : ndarray of int of shape (n_samples, n_trees)
        Index in ``classes`` of the leaf's most frequent class; -1 where the leaf has no samples.
    leaf_confidence : ndarray of shape (n_samples, n_trees)
        The frequency of that class in the leaf.
    leaf_samples : ndarray of shape (n_samples, n_trees)
        Number of samples in the leaf, with their bootstrap weights.
    """

    weights: Float64Array
    probabilities: Float64Array
    leaves: Int32Array
    batches: Int32Array
    causes: UInt8Array
    leaf_classes: Int64Array
    leaf_confidence: Float64Array
    leaf_samples: Float64Array

    def __repr__(self) -> str:
        n, n_trees = self.leaves.shape
        return f"ForestAnswers of {n_trees} trees on {n} samples, mean weight {self.weights.mean() if n else 0:.2f}"


class Summary(NamedTuple):
    """The part of an explanation that is shown: of one sample and one class.

    Attributes
    ----------
    class_name : str
    probability, bias : float
    names : list of str
        A feature and its value each, by decreasing size of the contribution; all others together at the end.
    added : list of float
        Their contributions.
    forests, batches : str
        The weights of the forests, and the batches that made the leaves.
    """

    class_name: str
    probability: float
    bias: float
    names: list[str]
    added: list[float]
    forests: str
    batches: str


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Explanation:
    """Explanation of predictions, as `AdaptiveDecisionForestClassifier.explain` returns it.

    ``bias + contributions.sum(axis=1)`` equals ``probabilities``, which is what `predict_proba` returns. Over classes,
    ``bias`` adds up to 1 and each contribution to 0.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Class values, sorted.
    feature_names : ndarray of str of shape (n_features,)
        Names of the columns, ``x[0]`` and so on where they have none.
    predictions : ndarray of shape (n_samples,)
        The most likely class of each sample.
    probabilities : ndarray of shape (n_samples, n_classes)
    bias : ndarray of shape (n_samples, n_classes)
        Probabilities if every tree were cut down to its root: the class frequencies of all samples that the forests
        have learnt, mixed by their weights for the sample, and corrected for the recent class mix.
    contributions : ndarray of shape (n_samples, n_features, n_classes)
        What each feature adds to each class probability.
    forests : dict of str to ForestAnswers
        By forest in the vote: its weight, its own probabilities, and its leaves.
    """

    classes: AnyArray
    feature_names: AnyArray
    predictions: AnyArray
    probabilities: Float64Array
    bias: Float64Array
    contributions: Float64Array
    forests: dict[str, ForestAnswers]
    _X: Float64Array
    _encoder: TableEncoder

    def __len__(self) -> int:
        return len(self.probabilities)

    def __repr__(self) -> str:
        n, n_features, n_classes = self.contributions.shape
        return (
            f"Explanation of {counted(n, 'sample')}: {counted(n_features, 'feature')}, "
            f"{n_classes} class{'es' if n_classes != 1 else ''}, forests {', '.join(self.forests)}"
        )

    @property
    def confidence(self) -> Float64Array:
        """Probability of the predicted class, by sample."""
        most: Float64Array = self.probabilities.max(axis=1)
        return most

    def values(self, sample: int = 0) -> list[Any]:
        """Return a sample's values as the model reads them.

        Parameters
        ----------
        sample : int, default=0
            Index of the sample.

        Returns
        -------
        list
            One per column: a number (dates and durations are seconds), a category, or None where the value is missing
            or a category that was never learnt.
        """
        found = self._X[self._checked(sample)]
        return [self._value(position, value) for position, value in enumerate(found.tolist())]

    def rows(self, sample: int = 0) -> list[dict[str, Any]]:
        """Return a sample's contributions as a table without a library: one dictionary per row.

        Parameters
        ----------
        sample : int, default=0
            Index of the sample.

        Returns
        -------
        list of dict
            The first row is the bias, then come the columns by decreasing size of their contribution to the predicted
            class. Keys are ``feature``, ``value``, and one per class, such as ``contribution_low``.
        """
        sample, values = self._checked(sample), self.values(sample)
        keys = [f"contribution_{write_value(value)}" for value in self.classes.tolist()]

        def row(name: str, value: Any, added: Float64Array) -> dict[str, Any]:
            return {"feature": name, "value": value} | dict(zip(keys, added.tolist(), strict=True))

        order = self._ranking(sample, self._column_of(None, sample))
        added = self.contributions[sample]
        return [
            row(BIAS, None, self.bias[sample]),
            *(row(self.feature_names[j], values[j], added[j]) for j in order.tolist()),
        ]

    def frame(self, sample: int = 0) -> Any:
        """Return `rows` as a pandas data frame.

        Parameters
        ----------
        sample : int, default=0
            Index of the sample.

        Returns
        -------
        pandas.DataFrame
        """
        besides = ", or make another kind of table of explanation.rows()"
        return require("pandas", "frame()", besides=besides).DataFrame(self.rows(sample))

    def to_shap(self) -> Any:
        """Return bias and contributions as an explanation of the SHAP library, for its plots.

        The numbers are the contributions of this explanation, not Shapley values: SHAP only draws them. Needs
        ``pip install shap``.

        Returns
        -------
        shap.Explanation
            ``values`` are ``contributions`` and ``base_values`` are ``bias``; ``[:, :, "high"]`` selects a class,
            ``[0, :, "high"]`` a sample of it. ``data`` holds the values of the table.
        """
        shap = require("shap", "Explanation.to_shap()")
        table: AnyArray = self._X
        if self._encoder.is_categorical.any():
            table = np.empty(self._X.shape, dtype=object)
            for sample in range(len(self)):
                table[sample] = self.values(sample)
        return shap.Explanation(
            self.contributions,
            base_values=self.bias,
            data=table,
            feature_names=self.feature_names.tolist(),
            output_names=[write_value(value) for value in self.classes.tolist()],
        )

    def batches(self, sample: int = 0) -> dict[int, float]:
        """Return the fraction of the vote that comes from leaves made by each batch.

        Parameters
        ----------
        sample : int, default=0
            Index of the sample.

        Returns
        -------
        dict of int to float
            By number of the batch, ascending; adds up to 1 where any leaf that the sample reaches holds samples.
        """
        sample = self._checked(sample)
        total: dict[int, float] = {}
        for answers in self.forests.values():
            born = answers.batches[sample][answers.leaf_classes[sample] >= 0]
            for batch in born.tolist():
                total[batch] = total.get(batch, 0.0) + float(answers.weights[sample]) / len(born)
        return {batch: weight for batch, weight in sorted(total.items()) if weight > 0}

    def text(self, sample: int = 0, class_value: Any = None, max_features: int | None = 10) -> str:
        """Return the explanation of a sample's probability of a class as text.

        Parameters
        ----------
        sample : int, default=0
            Index of the sample.
        class_value : object, optional
            By default the predicted class.
        max_features : int or None, default=10
            Number of features to list, those with the largest contributions.

        Returns
        -------
        str
        """
        found = self.summary(sample, class_value, max_features)
        lines = [(BIAS, f"{found.bias:.3f}")]
        lines += [(name, f"{round(added, 3) + 0.0:+.3f}") for name, added in zip(found.names, found.added, strict=True)]
        width = max(len(name) for name, _ in lines)
        head = [
            f"sample {self._checked(sample)}: {found.class_name} {found.probability:.3f}",
            f"  forests by weight: {found.forests}",
            f"  batches that made the leaves: {found.batches}",
        ]
        return "\n".join([*head, *(f"  {name:<{width}}  {number}" for name, number in lines)])

    def summary(self, sample: int = 0, class_value: Any = None, max_features: int | None = 10) -> Summary:
        """Return the figures that `text` and displays show; for the parameters see `text`."""
        sample = self._checked(sample)
        column = self._column_of(class_value, sample)
        order, added, values = self._ranking(sample, column), self.contributions[sample, :, column], self.values(sample)
        shown = order[:max_features]
        rest = order[len(shown) :]
        names, sizes = [self._describe(j, values[j]) for j in shown.tolist()], added[shown].tolist()
        if len(rest):
            names.append(counted(len(rest), "other feature"))
            sizes.append(float(added[rest].sum()))
        return Summary(
            write_value(self.classes[column : column + 1].tolist()[0]),
            float(self.probabilities[sample, column]),
            float(self.bias[sample, column]),
            names,
            sizes,
            self._forests_in_words(sample),
            self._batches_in_words(sample),
        )

    def _describe(self, feature: int, value: Any) -> str:
        """Return a column's name and a value as text."""
        shown = "?" if value is None else write_number(value) if isinstance(value, float) else write_value(value)
        return f"{self.feature_names[feature]} = {shown}"

    def _ranking(self, sample: int, column: int) -> Int64Array:
        """Return the columns by decreasing size of their contribution to a class."""
        return np.argsort(-np.abs(self.contributions[sample, :, column]), kind="stable")

    def _column_of(self, class_value: Any, sample: int) -> int:
        """Return the index of a class in ``classes``: of the sample's predicted one if none is given."""
        found = np.flatnonzero(self.classes == (self.predictions[sample] if class_value is None else class_value))
        if not len(found):
            names = ", ".join(map(repr, self.classes[:10].tolist())) + (", ..." if len(self.classes) > 10 else "")
            raise ParameterError(f"class_value is {class_value!r}; expected one of the classes learnt: {names}")
        return int(found[0])

    def _forests_in_words(self, sample: int) -> str:
        """Return the weights of the forests as text."""
        weights = {name: float(one.weights[sample]) for name, one in self.forests.items()}
        return ", ".join(f"{name} {weight:.2f}" for name, weight in weights.items() if weight >= 0.005)

    def _batches_in_words(self, sample: int) -> str:
        """Return the batches with the largest fractions of the vote as text, in order."""
        by_batch = self.batches(sample)
        largest = sorted(sorted(by_batch, key=lambda batch: -by_batch[batch])[:SHOWN_BATCHES])
        text = ", ".join(f"{batch} ({by_batch[batch]:.0%})" for batch in largest)
        return text + (", ..." if len(by_batch) > len(largest) else "")

    def _value(self, position: int, value: float) -> Any:
        """Return the value that a number of the matrix encodes."""
        if np.isnan(value):
            return None
        known = self._encoder.category_values(position)
        return known[int(value)] if known else value

    def _checked(self, sample: int) -> int:
        """Return the index of a sample from the start, or raise an error that gives the range."""
        try:
            position = index(sample)
        except TypeError:
            raise InputTypeError(f"sample is {sample!r}; expected the index of a sample, an integer") from None
        if not -len(self) <= position < len(self):
            there = f"0 to {len(self) - 1}" if len(self) else "none"
            raise IndexError(f"sample is {position}, but the samples explained are {there}. Choose one of them.")
        return position % len(self)
