"""The fitted state: forests, a memory of samples, and the weights of the forests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from adforest.adaptation.boxes import Box
from adforest.adaptation.class_mix import ClassMix
from adforest.adaptation.evidence import Evidence
from adforest.adaptation.memory import ClassWeight, Memory, SampleWeights, WindowBound, sample_bytes
from adforest.adaptation.recent_samples import RecentSamples
from adforest.adaptation.report import ACTIVE, FORESTS, PERMANENT
from adforest.adaptation.tuning import TUNING, Tuning
from adforest.exceptions import ParameterError
from adforest.forest import Forest, Samples, Tree
from adforest.forest.packed import PackedRows
from adforest.forest.types import Float32Array, Float64Array, Int32Array, Int64Array
from adforest.growers import Grower


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of learning and predicting, named as the parameters of the two classifiers.

    Those with a default here are parameters of only one of them, see `adforest.PaperADFClassifier` for the first ones.

    Attributes
    ----------
    algorithm : {"adaptive", "paper"}
    class_weight : tuple of float, "balanced" or None
        By class code.
    memory_size, memory_bytes : int or None
        Samples that memory keeps, or bytes that these may take; where both are None, it keeps everything.
    soft : bool
        Whether trees add up class probabilities or cast one vote each ("paper"; with "adaptive" they add them up).
    tree_repair : {"turn", "any", "share"}
        When a tree changes its shape. "turn" as "any", but leaves are expanded in a fifth of the trees at each batch,
        in turn, or in all of them where it brings a class they do not know, or where ``memory_size=0``.
    """

    algorithm: str
    grower: Grower
    n_estimators: int
    splitting: str
    drift_threshold: int
    window_size: int
    memory_size: int | None
    min_samples_leaf: int
    n_jobs: int | None
    seed: int
    repair_threshold: float = 0.4
    error_tolerance: float = 0.02
    perturbation: str = "predicted"
    tree_repair: str = "turn"
    soft: bool = True
    memory_bytes: int | None = None
    max_samples: int | None = None
    renewal: float = 1.0
    answer_for: str = "next_batch"
    label_delay: int = 0
    class_weight: ClassWeight = None
    tuning: Tuning = TUNING

    def sample_weights(self, memory: Memory, n_classes: int) -> SampleWeights:
        """Return the factors of the weights of samples."""
        return SampleWeights.of(self.class_weight, memory.seen_by_class, memory.weight_by_class, n_classes, self.tuning)

    def n_kept(self, memory: Memory) -> int | None:
        """Return how many samples memory keeps: all where None."""
        if self.memory_bytes is None:
            return self.memory_size
        return self.memory_bytes // sample_bytes(memory.values.row_bytes, self.n_estimators)

    def window_start(self, number: int) -> int:
        """Return the first batch of the reserve window [γ] that ends with a batch."""
        return number - self.window_size + 1

    @property
    def uses_boxes(self) -> bool:
        """Whether new roots are put between bounding boxes; where they are not, boxes stay empty."""
        return self.splitting != "entropy"

    @property
    def window_bound(self) -> WindowBound:
        """How many samples a window may hold, see `Memory.window`."""
        return WindowBound(self.tuning.window_growth * self.window_size, self.max_samples, self.tuning.extra_samples)


@dataclass(frozen=True, slots=True, eq=False)
class ForestState:
    """A forest, the bounding box of its samples, and the progress of its renewal.

    Attributes
    ----------
    forest : Forest
    box : Box
        Empty where the settings use none.
    n_renewed : int
        Trees regrown so far: the next one has this index modulo the number of trees.
    budget : float
        Samples that trees may still be grown from, see `adforest.adaptation.steps`.
    """

    forest: Forest
    box: Box
    n_renewed: int = 0
    budget: float = 0.0

    def is_same(self, other: ForestState) -> bool:
        """Return whether both are of the same trees."""
        mine, others = self.forest.trees, other.forest.trees
        return len(mine) == len(others) and all(a is b for a, b in zip(mine, others, strict=True))


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class State:
    """The fitted state. It is immutable: a batch makes another one.

    Attributes
    ----------
    settings : Settings
    memory : Memory
    forests : dict of str to ForestState
    evidence : Evidence
        Weights of the forests, learnt from predictions for each batch before it was learnt.
    pending : Samples or None
        Samples of small batches, collected until they are enough to grow trees from.
    class_mix : ClassMix
        Frequencies of the classes learnt.
    recent : RecentSamples
        The last labelled samples, which adjust the vote; pending ones are among them.
    recency : tuple of float32 arrays
        By tree of the permanent forest and node: how recent samples are, see `counting.recency`.
        Empty where the forests do not vote together.
    n_calls : int
        Batches given.
    n_batches : int
        Batches learnt; small ones that were collected count as one.
    n_drift_batches : int
        Consecutive batches with drift: those on which the active forest was outdone or, in the paper, not
        repairable [cdf].
    regime_start : int
        First batch after the last abrupt change that was noticed.
    is_active_separate : bool
        Whether the active forest differs from the permanent one, since a sustained drift, and has a vote of its own.
    answering : str
        The forest that predicts alone (in the paper).
    """

    settings: Settings
    memory: Memory
    forests: dict[str, ForestState] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=Evidence)
    pending: Samples | None = None
    class_mix: ClassMix = field(default_factory=ClassMix.empty)
    recent: RecentSamples = field(default_factory=RecentSamples)
    recency: tuple[Float32Array, ...] = ()
    n_calls: int = 0
    n_batches: int = 0
    n_drift_batches: int = 0
    regime_start: int = 1
    is_active_separate: bool = False
    answering: str = PERMANENT

    @classmethod
    def new(cls, settings: Settings, n_features: int) -> State:
        """Return the state before the first batch."""
        return cls(settings, Memory.empty(n_features))

    def forest(self, name: str) -> Forest | None:
        """Return the forest of that name, or None where there is none."""
        return self.forests[name].forest if name in self.forests else None

    @property
    def voting(self) -> dict[str, Forest]:
        """The forests that have a vote; the active one only while it is separate."""
        return {name: one.forest for name, one in self.forests.items() if name != ACTIVE or self.is_active_separate}

    @property
    def is_adjusted(self) -> bool:
        """Whether the last samples adjust the forests' vote."""
        return self.recent.is_used and self.settings.answer_for != "everything"

    @property
    def judged(self) -> dict[str, Forest]:
        """The forests that predict each batch before it is learnt: all but an active one that is the permanent one."""
        forests = self.forests
        is_double = ACTIVE in forests and forests[ACTIVE].is_same(forests[PERMANENT])
        return {name: one.forest for name, one in forests.items() if not (is_double and name == ACTIVE)}

    @property
    def window_start(self) -> int:
        """The first batch that the temporary forest is grown from."""
        return max(self.regime_start, self.settings.window_start(self.n_batches))

    def with_class_mix(self) -> State:
        """Return the state with the class frequencies of its memory."""
        settings = self.settings
        start, bound = settings.window_start(self.n_batches), settings.window_bound
        mix = ClassMix.of(self.memory, self.n_batches, start, bound, settings.class_weight, settings.tuning)
        return replace(self, class_mix=mix)

    def without_excess(self, n: int) -> State:
        """Return the state after memory dropped samples that a coming batch of n samples does not need.

        They are those by which the window alone is larger than memory and than a window that ends with such a batch.
        """
        settings, memory = self.settings, self.memory
        n_kept = settings.n_kept(memory)
        if n_kept is None:
            return self
        n_window = len(memory) - memory.first_since(settings.window_start(self.n_batches + 1))
        size = max(n_kept, settings.window_bound.room(n))
        kept = memory.survivors(size, self.n_batches + 1, settings.tuning) if n_window > size else None
        return self if kept is None else self.with_samples(kept)

    def with_samples(self, kept: Int64Array) -> State:
        """Return the state with only the samples at some indices of its memory, ascending."""
        return replace(self, memory=self.memory.keep(kept)).with_forests(lambda forest: forest.keep(kept))

    def with_forests(self, change: Callable[[Forest], Forest]) -> State:
        """Return the state with all forests changed, each once: the active one may be the permanent one."""
        changed = {id(one): replace(one, forest=change(one.forest)) for one in set(self.forests.values())}
        return replace(self, forests={name: changed[id(one)] for name, one in self.forests.items()})

    def without_samples(self) -> State:
        """Return the state without samples, for predictions only: it cannot learn."""
        nowhere = np.empty(0, dtype=bool)
        forests = {
            name: replace(one, forest=replace(one.forest, leaf_of=(), known=nowhere))
            for name, one in self.forests.items()
        }
        memory = self.memory.keep(np.empty(0, dtype=np.intp))
        return replace(self, memory=memory, forests=forests, pending=None)


def find_forest(state: State, name: str) -> Forest:
    """Return the forest of that name, or raise an error that lists the names."""
    if name not in FORESTS:
        raise ParameterError(f"forest is {name!r}; expected {', '.join(map(repr, FORESTS[:-1]))} or {FORESTS[-1]!r}")
    found = state.forest(name)
    if found is None:
        raise ParameterError(
            f"there is no {name} forest after batch {state.n_calls}. Look at one of these: {', '.join(state.forests)}."
        )
    return found


def with_columns(
    state: State, column_index: Int64Array, n_features: int, recycled_codes: Mapping[int, Int32Array]
) -> State:
    """Return a state with more columns, missing in all earlier samples, and without the recycled codes.

    Parameters
    ----------
    state : State
    column_index : int64
        The index that each column of the state has now, ascending.
    n_features : int
        How many columns there are now.
    recycled_codes : dict of int to int32 arrays
        By column: codes of categories to be treated as never seen, since other values may have them from now on.
    """
    if len(state.memory.values.types) == n_features and not recycled_codes:
        return state
    trees: dict[int, Tree] = {}  # by id: forests share trees, and still do so afterwards

    def changed(one: ForestState) -> ForestState:
        for tree in one.forest.trees:
            if id(tree) not in trees:
                trees[id(tree)] = _changed_tree(tree, column_index, n_features, recycled_codes)
        box = _changed_box(one.box, column_index, n_features, recycled_codes)
        return replace(one, forest=one.forest.with_trees(trees), box=box)

    states = {id(one): changed(one) for one in set(state.forests.values())}  # the active one may be the permanent one
    memory, pending = state.memory, state.pending
    values = _changed_samples(memory.matrix(), column_index, n_features, recycled_codes)
    types = np.zeros(n_features, dtype=np.uint8)
    types[column_index] = memory.values.types
    if pending is not None:
        pending = replace(pending, X=_changed_samples(pending.X, column_index, n_features, recycled_codes))
    return replace(
        state,
        memory=replace(memory, values=PackedRows.of(values, types)),
        forests={name: states[id(one)] for name, one in state.forests.items()},
        pending=pending,
    )


def _changed_tree(
    tree: Tree, column_index: Int64Array, n_features: int, recycled_codes: Mapping[int, Int32Array]
) -> Tree:
    """Return a tree that can gain from new columns, and sends some categories where it sends missing values."""
    if n_features > len(column_index):
        importance = np.zeros(n_features)
        importance[column_index] = tree.importance
        tree = replace(tree.with_features(column_index), importance=importance)
    for feature, codes in recycled_codes.items():
        tree = tree.without_categories(feature, codes)
    return tree


def _changed_box(box: Box, column_index: Int64Array, n_features: int, recycled_codes: Mapping[int, Int32Array]) -> Box:
    """Return a box in which new columns and some categories were never seen."""
    low, high = np.full((2, n_features), np.nan)
    low[column_index], high[column_index] = box.low, box.high
    categories = dict(box.categories)
    for feature in recycled_codes.keys() & categories.keys():
        seen = categories[feature].copy()
        seen[recycled_codes[feature][recycled_codes[feature] < len(seen)]] = False
        categories[feature] = seen
    return Box(low, high, categories)


def _changed_samples(
    X: Float64Array, column_index: Int64Array, n_features: int, recycled_codes: Mapping[int, Int32Array]
) -> Float64Array:
    """Return a copy of samples in which new columns and some categories are missing."""
    wide = np.full((len(X), n_features), np.nan)
    wide[:, column_index] = X
    for feature, codes in recycled_codes.items():
        wide[np.isin(wide[:, feature], codes), feature] = np.nan
    return wide
