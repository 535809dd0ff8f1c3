"""CIRF: a forest that takes a new class in by one new root and one new leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adforest.adaptation.boxes import Box, Cut, cuts_between
from adforest.base import EncodedBatch, FittedModel
from adforest.forest import Forest, GrowthParams, LeafCounts, Samples, Tree, TreeEditor
from adforest.forest._kernels import counting
from adforest.forest.types import BoolArray, Float64Array
from adforest.growers import Grower, SysForGrower
from adforest.parallel import in_threads
from adforest.parameters import COMMON, OneOf, Rules
from experiments.rivals.base import NumericalRival
from experiments.rivals.forests import ForestRival, forest_of


@dataclass(frozen=True, slots=True, eq=False)
class Boxed:
    """A forest, the box of all it has learnt, and the classes it has learnt (by code)."""

    forest: Forest
    box: Box
    known: BoolArray


BASE_FORESTS = ("random_forest", "sysfor")


class CIRFClassifier(ForestRival[Boxed], NumericalRival[Boxed]):
    """Class-incremental random forest: batches of known classes are counted, a new class gets a root and a leaf.

    The first batch makes a forest. A later batch of known classes only adds to the counts of the leaves its
    samples reach. A batch with unknown classes puts a new root above every tree where the batch's box and the
    forest's are apart (the separating axis theorem, SAT): the tree keeps one side, the other is one leaf with all of
    the batch. Where the boxes overlap, the batch is just counted.

    Parameters
    ----------
    n_estimators : int, default=10
        Trees; at most, if the base forest is SysFor.
    base_forest : {"random_forest", "sysfor"}, default="random_forest"
        What is grown from the first batch. The trees of a random forest vote by their class probabilities; of SysFor's
        the majority answers, as in `SysForClassifier`.
    max_features : {"default", "log2", "log2+1", "sqrt"}, int, float or None, default="log2+1"
        Features tried at each node of a random forest; "log2+1" is int(log2 m) + 1,
        "default" that or int(sqrt m), whichever is more, the rest as in scikit-learn. SysFor tries all.
    min_samples_leaf : int, default=1
        Samples a leaf of the first forest must keep.
    n_jobs : int or None, default=None
        Threads. The forest is the same for any number.
    random_state : int, RandomState or None, default=None
        Seed of all draws: the same seed and the same batches make the same model. None draws one with the first batch.

    Attributes
    ----------
    classes_ : ndarray
        Class values seen or declared so far, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the columns have names.
    forest_ : Forest

    Notes
    -----
    Numerical features only, as published. Where several features part the boxes, the gap that is widest relative to
    the feature's joint range is cut, so that metres do not outvote millimetres; the publication compares gaps as they
    are. A missing value stays with the tree at a new root.

    Hu et al. grow a random forest. In the paper on ADF the base of CIRF was probably SysFor: in both of its tables by
    batch (LDPA), CIRF's accuracy on the first batch is exactly SysFor's (0.707 and 0.662).

    New roots are rare: on the paper's data sets unknown classes lie within the range of known ones on every numerical
    feature, so that nothing but counts changes after the first batch. ``min_samples_leaf`` then matters most, since
    the leaves of the first batch are all there will ever be, and in a large one the classes of the first batches
    outnumber those that come late.

    References
    ----------
    Hu et al., A novel class-incremental learning algorithm based on random forest, 2018.

    Rahman and Islam, Adaptive Decision Forest: An incremental machine learning framework, 2022.

    Examples
    --------
    >>> from experiments.rivals import CIRFClassifier
    >>> model = CIRFClassifier(random_state=0)
    >>> model = model.partial_fit([[1], [2], [8], [9]], ["low", "low", "high", "high"])
    >>> model = model.partial_fit([[50], [60]], ["huge", "huge"])
    >>> model.predict([[1.5], [55]]).tolist()
    ['low', 'huge']
    """

    _rules: ClassVar[Rules] = COMMON | {"base_forest": (OneOf(*BASE_FORESTS),)}
    _fixed: ClassVar[tuple[str, ...]] = ("base_forest", *ForestRival._fixed)

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        base_forest: str = "random_forest",
        max_features: str | float | None = "log2+1",
        min_samples_leaf: int = 1,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.base_forest = base_forest
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learnt_from(self, before: Boxed | None, encoded: EncodedBatch) -> Boxed:
        batch = encoded.samples
        box = Box.of(batch.X, batch.n_categories)
        present = np.bincount(batch.y, minlength=batch.n_classes) > 0
        if before is None:
            return Boxed(self._grown(batch, encoded.seeds(self.n_estimators)), box, present)
        known = np.pad(before.known, (0, batch.n_classes - len(before.known)))
        cuts = cuts_between(before.box, box) if (present & ~known).any() else []
        trees = in_threads(lambda tree: _counted(tree, batch, cuts[:1]), before.forest.trees, self.n_jobs)
        return Boxed(forest_of(trees), before.box.union(box), known | present)

    def _grower(self, n_features: int) -> Grower:
        if self.base_forest == "sysfor":
            return SysForGrower(GrowthParams(n_features, self.min_samples_leaf))
        return super()._grower(n_features)

    def _votes(self, model: FittedModel[Boxed], X: Float64Array) -> Float64Array:
        soft = self.base_forest == "random_forest"
        return model.state.forest.answer(X, len(model.labels.by_arrival), soft=soft, n_jobs=self.n_jobs)

    def _forest_of(self, state: Boxed) -> Forest:
        return state.forest


def _counted(tree: Tree, batch: Samples, roots: list[Cut]) -> Tree:
    """Return the tree with the batch added to its counts, below a new root if there is one."""
    for cut in roots:
        editor = TreeEditor(tree)
        editor.add_root(cut.feature, cut.value, tree_left=cut.tree_left)
        tree = editor.finish()
    once = np.ones(len(batch), dtype=np.uint16)
    rows = LeafCounts(*counting.tally(tree.route(batch.X), batch.y, once, len(tree.nodes)))
    editor = TreeEditor(tree)
    editor.add(rows)
    return editor.finish()
