"""NCM: one mean per class, the nearest one answers."""

from __future__ import annotations

from typing import Any

from adforest.base import EncodedBatch, FittedModel
from adforest.forest.types import Float64Array
from experiments.rivals.base import DistanceRival
from experiments.rivals.means import ClassSums, squared_distances


class NCMClassifier(DistanceRival[ClassSums]):
    """Nearest class mean: each class is the mean of all its samples, and the nearest mean answers.

    Means are kept as sums and counts, so after any number of batches they are those of all samples seen.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        There is nothing random here; accepted so that all rivals can be made alike.

    Attributes
    ----------
    classes_ : ndarray
        Class values seen or declared so far, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the columns have names.
    means_ : ndarray of shape (n_classes, n_features)
        Mean of each class, in the order of ``classes_``; NaN where a class has shown no value.

    Notes
    -----
    Numerical attributes only. Distances are Euclidean in the attributes' own units, as published: scale attributes
    first (`sklearn.preprocessing.StandardScaler`) if their units differ.

    A missing value takes no part: means are over the values that are there, distances over the attributes that are
    there on both sides, scaled up to all attributes. A sample without any value is answered by the first class.

    There are distances but no shares of classes, hence no ``predict_proba``.

    References
    ----------
    Mensink et al., Distance-based image classification: generalizing to new classes at near-zero cost, TPAMI 35, 2013.

    Examples
    --------
    >>> from experiments.rivals import NCMClassifier
    >>> model = NCMClassifier().partial_fit([[1], [2], [8]], ["low", "low", "high"])
    >>> model = model.partial_fit([[10], [60]], ["high", "huge"])
    >>> model.means_.tolist(), model.predict([[1.2], [50]]).tolist()
    ([[9.0], [60.0], [1.5]], ['low', 'huge'])
    """

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def _learnt_from(self, before: ClassSums | None, encoded: EncodedBatch) -> ClassSums:
        batch = encoded.samples
        sums = ClassSums.of(batch.X, batch.y, batch.n_classes)
        return sums if before is None else before.plus(sums)

    def _votes(self, model: FittedModel[ClassSums], X: Float64Array) -> Float64Array:
        return -squared_distances(X, model.state.means)

    @property
    def means_(self) -> Float64Array:
        """Mean of each class, in the order of ``classes_``."""
        model = self._known("means_")
        means: Float64Array = model.state.means[model.labels.order]
        return means
