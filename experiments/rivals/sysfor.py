"""SysFor on its own: the systematic forest, refitted for every batch."""

from __future__ import annotations

from typing import Any, ClassVar

from adforest.base import FittedModel
from adforest.forest import GrowthParams
from adforest.forest.types import Float64Array
from adforest.growers import Grower, SysForGrower
from adforest.parameters import COMMON, FRACTION, Rules
from experiments.rivals.forests import Refit, RefitForestClassifier


class SysForClassifier(RefitForestClassifier):
    """SysFor (Islam & Giggins 2011) refitted for every batch: on the batch, on the last few, or on everything.

    A tree for each attribute that is good at the root, C4.5 below, and then trees that differ at level two. Nothing is
    drawn by lot; where the data offer fewer trees than asked for, there are fewer. The majority of the trees answers.

    Parameters
    ----------
    n_estimators : int, default=10
        Trees, at most.
    window : int or None, default=1
        Batches it is refitted on, the last ones; None keeps all of them.
    goodness : float, default=0.3
        How far below the best gain ratio that of a good attribute may be.
    separation : float, default=0.3
        Share of its range by which the cuts of one numerical attribute must lie apart.
    min_samples_leaf : int, default=1
        Samples a leaf must keep.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categorical: those of text or categorical type, those given by mask, position or name, none.
    n_jobs : int or None, default=None
        Threads. The forest is the same for any number.

    Attributes
    ----------
    classes_ : ndarray
        Class values seen or declared so far, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the columns have names.
    forest_ : Forest

    Examples
    --------
    >>> from experiments.rivals import SysForClassifier
    >>> model = SysForClassifier().fit([[1, 5], [2, 5], [8, 6], [9, 7]], ["low", "low", "high", "high"])
    >>> len(model.forest_), model.predict([[1.5, 5], [8.5, 6]]).tolist()
    (2, ['low', 'high'])
    """

    _rules: ClassVar[Rules] = COMMON | {"goodness": (FRACTION,), "separation": (FRACTION,)}
    random_state = None  # nothing to draw

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        window: int | None = 1,
        goodness: float = 0.3,
        separation: float = 0.3,
        min_samples_leaf: int = 1,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.window = window
        self.goodness = goodness
        self.separation = separation
        self.min_samples_leaf = min_samples_leaf
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _grower(self, n_features: int) -> Grower:
        return SysForGrower(GrowthParams(n_features, self.min_samples_leaf), self.goodness, self.separation)

    def _votes(self, model: FittedModel[Refit], X: Float64Array) -> Float64Array:
        n_classes = len(model.labels.by_arrival)
        return self._forest_of(model.state).answer(X, n_classes, soft=False, n_jobs=self.n_jobs)
