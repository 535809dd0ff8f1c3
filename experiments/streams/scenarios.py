"""The paper's simulation: one data set becomes a stream of batches whose class mixture keeps changing.

The class values are split between two halves, and SysFor's first tree is grown on each, as in the paper. A *stage* is a
run of batches with one recipe: how much comes from which half, and how much of that from the two largest leaves of the
half's tree. A protocol is a sequence of stages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adforest.forest import GrowthParams
from adforest.forest import Samples as Block
from adforest.growers import SysForGrower, TreeRequest
from adforest.simulation.batch import Batch
from adforest.simulation.stages import HELD_SHARE, SMALLEST_BATCH, STAGES, TEST_SHARE, Stage

Samples = NDArray[np.intp]  # row numbers of the table

PROTOCOLS = {
    "34": ("MKC-1", "MKC-2", "SKC", "SUC", "MUC-1", "MUC-2", "MKUC-1", "MKUC-2", "MKUC-3"),
    "28": ("MKC-1", "MKC-2", "MKUC-1", "MKUC-2", "MUC-1", "MUC-2", "MKUC-3"),
}

BIG_BATCHES = 34
BIG_TRAIN_SHARE = 0.8

SPLITS_TRIED = 64  # random ways to part the classes, of which the best balanced is kept

# A single-class batch must not use its class up, nor the leaf batches the large leaves: later batches need both.
LARGEST_SHARE_OF_CLASS = 1 / 3
LARGEST_SHARE_OF_LARGE_LEAVES = 0.9


def simulate_scenarios(
    X: Any,
    y: ArrayLike,
    *,
    protocol: str = "34",
    categorical: Sequence[bool] | None = None,
    random_state: int | np.random.Generator | None = None,
) -> list[Batch]:
    """Turn one data set into the paper's stream of batches with known, unknown and mixed class values.

    Each record belongs to at most one batch. Of a batch 80 % trains, 10 % tests it and 10 % is held back; the test also
    draws as many held-back records from the two batches before. A test therefore never holds a record that any batch
    trains on. Where the two largest leaves are too small for their share of the batches, every batch gets the same
    fraction of that share from them and the rest of the half makes up for it; ``Batch.large_leaf_share`` is the share
    that was reached.

    Parameters
    ----------
    X : ndarray or pandas.DataFrame
        The records, one row each.
    y : array-like
        Their class values.
    protocol : {"34", "28", "big"}, default="34"
        ``"34"`` is the paper's main stream. ``"28"`` is its rearranged one, without single-class batches. ``"big"``
        deals 80 % of the records into 34 equal random batches, all tested on the other 20 %; it holds nothing back.
    categorical : sequence of bool, optional
        Per column, whether the trees should see its values as categories. By default those that are not numbers.
    random_state : int, Generator or None, default=None
        Seed or source of all draws; the same seed gives the same stream.

    Returns
    -------
    list of Batch
        The batches in the order they arrive.

    Examples
    --------
    >>> from adforest.simulation import make_house
    >>> from experiments.streams.scenarios import simulate_scenarios
    >>> house = make_house(20_000, random_state=0)
    >>> batches = simulate_scenarios(house.X, house.y, random_state=0)
    >>> len(batches), batches[0].scenario, batches[-1].scenario
    (34, 'MKC-1', 'MKUC-3')
    """
    y = np.asarray(y)
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} records but y has {len(y)} class values; give one class value per record.")
    rng = np.random.default_rng(random_state)
    if protocol == "big":
        return _deal_big(X, y, rng)
    if protocol not in PROTOCOLS:
        raise ValueError(f"there is no protocol {protocol!r}; expected one of {', '.join(PROTOCOLS)} or big.")
    stages = [STAGES[scenario] for scenario in PROTOCOLS[protocol]]
    numbers, n_categories = _as_numbers(X, categorical)
    plan = _plan(numbers, n_categories, y, stages, rng)
    return list(_cut_batches(X, y, plan, rng))


# Which records make which batch


class _Planned(NamedTuple):
    """The records of a batch; the share of them from the two largest leaves where its stage asks for one."""

    scenario: str
    records: Samples
    large_leaf_share: float | None


class _Half:
    """The records of half the class values that no batch has taken yet, in random order."""

    def __init__(self, records: Samples, is_in_large_leaves: NDArray[np.bool_], rng: np.random.Generator) -> None:
        order = rng.permutation(len(records))
        self.rng = rng
        self.large = records[order][is_in_large_leaves[order]]
        self.rest = records[order][~is_in_large_leaves[order]]

    def take_class(self, is_of_class: NDArray[np.bool_], n: int) -> Samples:
        """Remove and return n records of one class, or as many as a single-class batch may have of it."""
        left = np.concatenate([self.large, self.rest])
        pool = self.rng.permutation(left[is_of_class[left]])
        taken = pool[: min(n, int(len(pool) * LARGEST_SHARE_OF_CLASS))]
        self.large = self.large[~np.isin(self.large, taken)]
        self.rest = self.rest[~np.isin(self.rest, taken)]
        return taken

    def take_leaves(self, n: int, n_large: int) -> Samples:
        """Remove and return n records, n_large of them from the large leaves as far as both groups last."""
        n_large = min(max(n_large, n - len(self.rest)), len(self.large))
        n_rest = min(n - n_large, len(self.rest))
        taken = np.concatenate([self.large[:n_large], self.rest[:n_rest]])
        self.large, self.rest = self.large[n_large:], self.rest[n_rest:]
        return taken

    def take_any(self, n: int) -> Samples:
        """Remove and return n records, each group giving in proportion to what it has left."""
        left = len(self.large) + len(self.rest)
        return self.take_leaves(n, round(n * len(self.large) / max(left, 1)))


def _plan(
    numbers: NDArray[np.float64],
    n_categories: NDArray[np.int32],
    y: NDArray[np.generic],
    stages: list[Stage],
    rng: np.random.Generator,
) -> list[_Planned]:
    """Return the scenario and the records of every batch.

    Single-class batches choose first and mixtures last, whatever their place in the stream: the choosier the recipe,
    the fuller its pool must be.
    """
    classes, codes = np.unique(y, return_inverse=True)
    split = _split_classes(codes, len(classes), stages, rng)
    records = [np.flatnonzero(np.isin(codes, part)) for part in split]
    min_leaf = 100 if len(y) > 100_000 else 20
    is_large = np.zeros(len(y), dtype=bool)
    for part in records:
        is_large[part] = _is_in_large_leaves(numbers[part], codes[part], n_categories, min_leaf)
    halves = [_Half(part, is_large[part], rng) for part in records]
    unit = _unit(stages, [len(part) for part in records])

    taken: dict[str, list[Samples]] = {}
    for stage in (stage for stage in stages if stage.is_single_class):
        side = 0 if stage.from_first_half else 1
        chosen = _choose_classes(codes, split[side], stage, rng)
        taken[stage.scenario] = [halves[side].take_class(codes == code, int(unit * stage.size)) for code in chosen]
    for side, half in enumerate(halves):
        own = [
            stage
            for stage in stages
            if stage.from_large_leaves is not None and stage.from_first_half == float(side == 0)
        ]
        taken |= _take_leaf_stages(half, own, unit)
    for stage in (stage for stage in stages if stage.scenario not in taken):
        n = int(unit * stage.size)
        n_first = round(n * stage.from_first_half)
        taken[stage.scenario] = [
            np.concatenate([halves[0].take_any(n_first), halves[1].take_any(n - n_first)])
            for _ in range(stage.n_batches)
        ]
    return [
        _Planned(stage.scenario, batch, None if stage.from_large_leaves is None else float(np.mean(is_large[batch])))
        for stage in stages
        for batch in taken[stage.scenario]
    ]


def _split_classes(
    codes: NDArray[np.intp], n_classes: int, stages: list[Stage], rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the class codes of each half: half of the classes and, as nearly as luck has it, half of the records."""
    per_half = max(stage.n_batches if stage.is_single_class else 2 for stage in stages)
    if n_classes < 2 * per_half:
        raise ValueError(
            f"y has {n_classes} class values but this protocol needs at least {2 * per_half}, {per_half} in each half. "
            "Take a data set with more classes, or the protocol '28' (4 classes) or 'big' (any number)."
        )
    counts = np.bincount(codes, minlength=n_classes)
    tried = [rng.permutation(n_classes) for _ in range(SPLITS_TRIED)]
    first = n_classes // 2
    best = min(tried, key=lambda order: abs(int(counts[order[:first]].sum()) - int(counts[order[first:]].sum())))
    return best[:first], best[first:]


def _is_in_large_leaves(
    numbers: NDArray[np.float64], codes: NDArray[np.intp], n_categories: NDArray[np.int32], min_leaf: int
) -> NDArray[np.bool_]:
    """Return which records of a half lie in the two largest leaves of SysFor's first tree on it."""
    classes, y = np.unique(codes, return_inverse=True)
    n = len(y)
    block = Block(numbers, y.astype(np.int32), np.arange(n, dtype=np.int64), n_categories, len(classes))
    grower = SysForGrower(GrowthParams(max_features=numbers.shape[1], min_samples_leaf=min_leaf))
    [grown] = grower.build(TreeRequest(block, np.arange(n, dtype=np.int32), seeds=[0], n_jobs=1))
    leaf = grown.leaf_of
    largest_two = np.argsort(np.bincount(leaf), kind="stable")[-2:]
    return np.isin(leaf, largest_two)


def _unit(stages: list[Stage], n_per_half: list[int]) -> float:
    """Return how many records a stage's size of 1 stands for, so that neither half runs dry."""
    n_first, n_second = n_per_half
    wanted_first = sum(stage.n_batches * stage.size * stage.from_first_half for stage in stages)
    wanted_second = sum(stage.n_batches * stage.size * (1 - stage.from_first_half) for stage in stages)
    unit = min(n_first / wanted_first, n_second / wanted_second)
    smallest = unit * min(stage.size for stage in stages)
    if smallest < SMALLEST_BATCH:
        n = sum(n_per_half)
        raise ValueError(
            f"{n} records make batches of {int(smallest)} but a batch needs at least {SMALLEST_BATCH}. "
            f"Give about {int(1.1 * n * SMALLEST_BATCH / smallest)} records or more."
        )
    return unit


def _choose_classes(
    codes: NDArray[np.intp], half: NDArray[np.intp], stage: Stage, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the classes of the single-class batches; a class of many records is the likelier to have its own batch."""
    counts = np.bincount(codes, minlength=int(half.max()) + 1)[half]
    is_large_enough = counts * LARGEST_SHARE_OF_CLASS >= SMALLEST_BATCH
    if is_large_enough.sum() < stage.n_batches:
        raise ValueError(
            f"{stage.scenario} needs {stage.n_batches} classes of {round(SMALLEST_BATCH / LARGEST_SHARE_OF_CLASS)} "
            f"records or more in one half, but only {is_large_enough.sum()} of its {len(half)} are that large. "
            "Use the protocol '28', or merge rare classes."
        )
    weights = np.where(is_large_enough, counts, 0)
    return rng.choice(half, size=stage.n_batches, replace=False, p=weights / weights.sum())


def _take_leaf_stages(half: _Half, stages: list[Stage], unit: float) -> dict[str, list[Samples]]:
    """Return the batches that follow the leaves of a half's tree; they share scarce large leaves fairly."""
    shares = {stage.scenario: stage.from_large_leaves or 0.0 for stage in stages}
    wanted = sum(stage.n_batches * unit * stage.size * shares[stage.scenario] for stage in stages)
    scarcity = min(1.0, LARGEST_SHARE_OF_LARGE_LEAVES * len(half.large) / wanted)
    taken = {}
    for stage in stages:
        n = int(unit * stage.size)
        n_large = round(n * shares[stage.scenario] * scarcity)
        taken[stage.scenario] = [half.take_leaves(n, n_large) for _ in range(stage.n_batches)]
    return taken


# From row numbers to batches


def _cut_batches(X: Any, y: NDArray[np.generic], plan: list[_Planned], rng: np.random.Generator) -> Iterator[Batch]:
    """Yield each planned batch, cut into what trains, what tests and what is held back."""
    recent: list[Samples] = []  # what the two batches before hold back
    for number, (scenario, records, large_leaf_share) in enumerate(plan, start=1):
        shuffled = rng.permutation(records)
        n_test, n_held = round(TEST_SHARE * len(records)), round(HELD_SHARE * len(records))
        own, held, train = np.split(shuffled, [n_test, n_test + n_held])
        earlier = np.concatenate([np.empty(0, dtype=np.intp), *recent])
        borrowed = rng.permutation(earlier)[:n_test]
        batch = _batch(X, y, number, scenario, train, np.concatenate([own, borrowed]), held)
        yield replace(batch, large_leaf_share=large_leaf_share)
        recent = [*recent, held][-2:]


def _deal_big(X: Any, y: NDArray[np.generic], rng: np.random.Generator) -> list[Batch]:
    """Return equal random batches that share one test set."""
    order = rng.permutation(len(y))
    size = int(BIG_TRAIN_SHARE * len(y)) // BIG_BATCHES
    if size < 1:
        raise ValueError(f"{len(y)} records cannot fill {BIG_BATCHES} batches. Give {2 * BIG_BATCHES} or more.")
    test = order[size * BIG_BATCHES :]
    parts = order[: size * BIG_BATCHES].reshape(BIG_BATCHES, size)
    return [_batch(X, y, number, "MKC", part, test, order[:0]) for number, part in enumerate(parts, start=1)]


def _batch(
    X: Any, y: NDArray[np.generic], number: int, scenario: str, train: Samples, test: Samples, held: Samples
) -> Batch:
    """Return the batch made of these rows."""
    return Batch(
        number=number,
        scenario=scenario,
        X_train=_rows(X, train),
        y_train=y[train],
        X_test=_rows(X, test),
        y_test=y[test],
        X_held=_rows(X, held),
        y_held=y[held],
    )


def _rows(X: Any, records: Samples) -> Any:
    """Return some rows of a NumPy or pandas table."""
    return X.iloc[records] if hasattr(X, "iloc") else X[records]


def _as_numbers(X: Any, categorical: Sequence[bool] | None) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return a table as the trees see it, and the number of categories of each column, 0 where it is numerical."""
    columns = [X.iloc[:, j] if hasattr(X, "iloc") else X[:, j] for j in range(X.shape[1])]
    if categorical is None:
        categorical = [False] * len(columns)
    if len(categorical) != len(columns):
        raise ValueError(f"categorical has {len(categorical)} entries but X has {len(columns)} columns; give one each.")
    coded = [_column_as_numbers(np.asarray(column), flag) for column, flag in zip(columns, categorical, strict=True)]
    return np.column_stack([values for values, _ in coded]), np.array([n for _, n in coded], dtype=np.int32)


def _column_as_numbers(column: NDArray[Any], is_categorical: bool) -> tuple[NDArray[np.float64], int]:
    """Return one column as numbers and its number of categories: those of values that are no numbers are coded."""
    if not is_categorical:
        try:
            return column.astype(np.float64), 0
        except (TypeError, ValueError):
            pass
    values, codes = np.unique(column.astype(np.str_), return_inverse=True)
    return codes.astype(np.float64), len(values)
