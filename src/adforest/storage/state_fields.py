"""State of the forests in a model file: memory, trees, boxes, evidence, class mix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adforest.adaptation import Settings, State
from adforest.adaptation.boxes import Box
from adforest.adaptation.class_mix import ClassMix
from adforest.adaptation.memory import Memory
from adforest.adaptation.recent_samples import N_VARIANTS, N_VOTERS, SHIFT, RecentSamples
from adforest.adaptation.report import ACTIVE, FORESTS, NEWEST, PERMANENT, TEMPORARY
from adforest.adaptation.state import ForestState
from adforest.adaptation.tuning import TUNING
from adforest.encoding.tables import LARGEST_WEIGHT, SMALLEST_WEIGHT
from adforest.exceptions import ModelFileError
from adforest.forest import Forest, Samples, Tree
from adforest.forest.packed import PackedRows
from adforest.forest.types import AnyArray, Int32Array
from adforest.growers import SysForGrower
from adforest.storage.evidence_fields import TOLERANCE, read_evidence, write_evidence
from adforest.storage.fields import (
    Array,
    Choice,
    Flag,
    IntegerField,
    PartReader,
    PartWriter,
    Real,
    Sizes,
    check_codes,
    read_fields,
    write_fields,
)
from adforest.storage.tree_fields import read_trees, write_trees

MAX_SUM = 1e150  # of weights; squares of sums are finite
MEMORY = (
    Array("y", np.int32, ("n_memory",), low=0, below="n_classes"),
    Array("serial", np.int64, ("n_memory",), low=0, below="n_samples"),
    Array("batch", np.int32, ("n_memory",), low=1, below="next_batch"),
    IntegerField("n_seen", below="n_samples_and_1"),
    Array("seen_by_class", np.int64, ("n_seen_classes",), low=0, below=2**53),
    Array("weight_by_class", np.float64, ("n_seen_classes",), low=0, below=MAX_SUM),
    Array("first_batch", np.int32, ("n_seen_classes",), low=0, below="next_batch"),
    Array("weight", np.float64, ("n_memory",), low=SMALLEST_WEIGHT, below=2 * LARGEST_WEIGHT, takes_none=True),
)
VALUES = (
    Array("types", np.uint8, ("n_columns",), below=3),
    Array("uint16", np.uint16, ("n_memory", "n_uint16")),
    Array("float32", np.float32, ("n_memory", "n_float32"), takes_nan=True),
    Array("float64", np.float64, ("n_memory", "n_float64"), takes_nan=True),
)
PENDING = (
    Array("X", np.float64, ("n_pending", "n_columns"), takes_nan=True),
    Array("y", np.int32, ("n_pending",), low=0, below="n_classes"),
    Array("serial", np.int64, ("n_pending",), low=0, below="n_samples"),
    Array("n_categories", np.int32, ("n_pending_features",), low=0, below=2**16),
    IntegerField("n_classes", low=1, below="n_classes_and_1"),
    Array("weight", np.float64, ("n_pending",), low=SMALLEST_WEIGHT, below=2 * LARGEST_WEIGHT, takes_none=True),
)
CLASS_MIX = (
    Array("seen", np.int64, ("n_mixed",), low=0, below=MAX_SUM, or_dtype=np.float64),
    Array("last", np.int64, ("n_mixed",), low=0, below=MAX_SUM, or_dtype=np.float64),
    Array("latest", np.int64, ("n_mixed",), low=0, below=MAX_SUM, or_dtype=np.float64),
    Array("new", np.int64, ("n_new",), low=0, below="n_mixed"),
    Array("rare", np.int64, ("n_rare",), low=0, below="n_mixed"),
)
RECENT = (
    Array("weights", np.float64, (N_VOTERS, N_VARIANTS), low=0),
    Array("y", np.int32, ("n_recent",), low=0, below="n_classes"),
    Array("leaves", np.int32, ("n_rows", "n_near")),
    Array("pairs", np.int64, ("n_pairs",), low=0),
    Array("counts", np.int64, ("n_pairs",), low=1, below=2**53),
)
BOX = (
    Array("low", np.float64, ("n_columns",), takes_nan=True),
    Array("high", np.float64, ("n_columns",), takes_nan=True),
)
FOREST_STATE = (IntegerField("n_renewed"), Real("budget"))
FOREST = (Array("known", np.bool_, ("n_memory",)),)
STATE = (
    IntegerField("n_batches", low=1, below="next_call"),
    IntegerField("n_calls", low=1, below=2**31 - 1),
    IntegerField("n_drift_batches", below="next_batch"),
    IntegerField("regime_start", low=1, below="next_batch"),
    Flag("is_active_separate"),
    Choice("answering", FORESTS),
)


def write_state(state: State, out: PartWriter) -> None:
    """Write the state except the settings, which follow from the classifier's parameters.

    These may have changed since the last batch; the next one is learnt with the current ones.
    """
    write_fields(STATE, state, out)
    memory = out.part("memory")
    write_fields(MEMORY, state.memory, memory)
    write_fields(VALUES, state.memory.values, memory.part("values"))
    if state.pending is not None:
        write_fields(PENDING, state.pending, out.part("pending"))
    write_fields(CLASS_MIX, state.class_mix, out.part("class_mix"))
    write_fields(RECENT, state.recent, out.part("recent"))
    write_evidence(state.evidence, out.part("evidence"))
    trees = {id(tree): tree for one in state.forests.values() for tree in one.forest.trees}
    write_trees(list(trees.values()), out.part("trees"))
    numbers = {key: number for number, key in enumerate(trees)}
    out.values["forests"] = list(state.forests)
    for name, one in state.forests.items():
        _write_forest(name, one, state, numbers, out.part(name))
    out.put("recency", np.concatenate([np.empty(0, dtype=np.float32), *state.recency]))


def _write_forest(name: str, one: ForestState, state: State, numbers: dict[int, int], out: PartWriter) -> None:
    """Write a forest: by name if it is the permanent one, as the active one mostly is."""
    if name == ACTIVE and _are_equal(one, state.forests[PERMANENT]):
        out.values["same_as"] = PERMANENT
        return
    forest, box = one.forest, one.box
    out.values["trees"] = [numbers[id(tree)] for tree in forest.trees]
    nowhere = np.empty((0, len(forest.known)), dtype=np.int32)
    out.put("leaf_of", np.stack(forest.leaf_of) if forest.leaf_of else nowhere)
    write_fields(FOREST, forest, out)
    write_fields(FOREST_STATE, one, out)
    write_fields(BOX, box, out)
    out.values["categories"] = [[column, len(seen)] for column, seen in box.categories.items()]
    out.put("categories", np.concatenate([np.empty(0, dtype=bool), *box.categories.values()]))


def _are_equal(one: ForestState, other: ForestState) -> bool:
    """Return whether two forests are the same in everything that is written of them."""
    mine, others = one.forest, other.forest
    return (
        one.is_same(other)
        and (one.n_renewed, one.budget) == (other.n_renewed, other.budget)
        and np.array_equal(mine.known, others.known)
        and len(mine.leaf_of) == len(others.leaf_of)
        and all(map(np.array_equal, mine.leaf_of, others.leaf_of))
        and np.array_equal(one.box.low, other.box.low, equal_nan=True)
        and np.array_equal(one.box.high, other.box.high, equal_nan=True)
        and list(one.box.categories) == list(other.box.categories)
        and all(map(np.array_equal, one.box.categories.values(), other.box.categories.values()))
    )


def read_state(part: PartReader, sizes: Sizes, settings: Settings, n_codes: Int32Array, *, has_samples: bool) -> State:
    """Return the state.

    Parameters
    ----------
    sizes : dict
        n_columns, n_classes, n_samples and next_call are known.
    n_codes : int32 (n_columns,)
        See `codes_by_column`.
    """
    sizes["next_batch"] = sizes["next_call"]
    learnt = read_fields(STATE, part, sizes)
    sizes["next_batch"] = learnt["n_batches"] + 1
    if learnt["n_calls"] + 1 != sizes["next_call"] or learnt["regime_start"] > learnt["n_batches"]:
        raise ModelFileError("the numbers of batches do not agree")
    memory = _read_memory(part.part("memory"), sizes, n_codes)
    pending = _read_pending(part.part("pending"), sizes, n_codes) if "pending" in part else None
    class_mix = _read_class_mix(part.part("class_mix"), sizes)
    trees = read_trees(part.part("trees"), sizes, n_codes > 0)
    forests = _read_forests(part, sizes, settings, n_codes, trees, has_samples=has_samples)
    state = State(settings, memory, forests, pending=pending, class_mix=class_mix, **learnt)
    if state.answering not in forests:
        raise part.wrong("answering", state.answering, " or ".join(forests))
    evidence = read_evidence(part.part("evidence"), state)
    recent = RecentSamples()
    if "recent" in part:  # not in files of earlier versions
        recent = _read_recent(part.part("recent"), sizes, forests[PERMANENT].forest)
    recency = _read_recency(part, sizes, forests[PERMANENT].forest)
    part.finish()
    return replace(state, evidence=evidence, recent=recent, recency=recency)


def _read_memory(part: PartReader, sizes: Sizes, n_codes: Int32Array) -> Memory:
    """Return the memory, whose samples are in order of arrival."""
    packed = part.part("values")
    values = PackedRows(**read_fields(VALUES, packed, sizes))
    packed.finish()
    widths = [sizes[name] for name in ("n_uint16", "n_float32", "n_float64")]
    if np.bincount(values.types, minlength=3).tolist() != widths:
        raise ModelFileError("memory.values holds other numbers of columns than its types say")
    memory = Memory(values, **read_fields(MEMORY, part, sizes))
    part.finish()
    check_codes(memory.matrix(), n_codes, "memory.values")
    is_known = sizes["n_seen_classes"] <= sizes["n_classes"] and memory.y.max(initial=-1) < sizes["n_seen_classes"]
    if not is_known or not memory.seen_by_class[memory.y].all():
        raise ModelFileError("memory holds classes of which it has seen none")
    if (np.diff(memory.serial) <= 0).any() or (np.diff(memory.batch) < 0).any():
        raise ModelFileError("the records in memory are not in the order in which they arrived")
    return memory


def _read_pending(part: PartReader, sizes: Sizes, n_codes: Int32Array) -> Samples:
    """Return the pending samples."""
    sizes["n_classes_and_1"] = sizes["n_classes"] + 1
    pending = Samples(**read_fields(PENDING, part, sizes))
    part.finish()
    check_codes(pending.X, n_codes, "pending.X")
    if not len(pending) or sizes["n_pending_features"] > sizes["n_columns"]:
        raise ModelFileError("the pending samples are no samples")
    return pending


def _read_class_mix(part: PartReader, sizes: Sizes) -> ClassMix:
    """Return class frequencies."""
    mix = ClassMix(**read_fields(CLASS_MIX, part, sizes))
    part.finish()
    is_fit = sizes["n_seen_classes"] <= sizes["n_mixed"] <= sizes["n_classes"]
    seen = mix.seen[mix.seen > 0]
    if not is_fit or not len(seen) or seen.min() < 1 / MAX_SUM:
        raise ModelFileError("the class mix is of other classes")
    return mix


def _read_recent(part: PartReader, sizes: Sizes, permanent: Forest) -> RecentSamples:
    """Return the last samples."""
    recent = RecentSamples(**read_fields(RECENT, part, own := dict(sizes)))
    part.finish()
    n_rows = len(permanent) if recent.is_used else 0
    if own["n_rows"] != n_rows or own["n_near"] > own["n_recent"] or own["n_recent"] > TUNING.n_neighbours:
        raise ModelFileError("the last samples are of another forest")
    first, second = np.divmod(recent.pairs, 1 << SHIFT)
    is_known = first.max(initial=0) < sizes["n_classes"] and second.max(initial=0) < sizes["n_classes"]
    if (np.diff(recent.pairs) <= 0).any() or not is_known or abs(recent.weights.sum() - 1) > TOLERANCE:
        raise ModelFileError("what followed the last samples is not in order")
    return recent


def _read_forests(
    part: PartReader, sizes: Sizes, settings: Settings, n_codes: Int32Array, trees: list[Tree], *, has_samples: bool
) -> dict[str, ForestState]:
    """Return the forests by name, in the order in which they were written."""
    names = part.items("forests")
    if any(type(name) is not str or name not in FORESTS for name in names) or names[:2] != [PERMANENT, ACTIVE]:
        raise part.wrong("forests", names, f"{PERMANENT}, {ACTIVE} and maybe others")
    if len(set(names)) < len(names) or (NEWEST in names and settings.algorithm == "paper"):
        raise part.wrong("forests", names, "no others than the classifier has, each once")
    if settings.algorithm != "paper" and (NEWEST in names) != (TEMPORARY in names):
        raise part.wrong("forests", names, f"{NEWEST} and {TEMPORARY}, or neither")
    forests: dict[str, ForestState] = {}
    unused = set(range(len(trees)))
    for name in names:
        inner = part.part(name)
        if name == ACTIVE and "same_as" in inner:
            if inner.value("same_as") != PERMANENT:
                raise ModelFileError("the active forest is the same as one that is not there")
            forests[name] = forests[PERMANENT]
        else:
            is_placed = has_samples and not (name in (TEMPORARY, NEWEST) and settings.algorithm != "paper")
            numbers = _read_numbers(inner, len(trees))
            unused -= set(numbers)
            forests[name] = _read_forest(inner, sizes, n_codes, [trees[number] for number in numbers], is_placed)
        inner.finish()
    n_expected = settings.n_estimators
    n_permanent, is_systematic = len(forests[PERMANENT].forest), isinstance(settings.grower, SysForGrower)
    if unused:
        raise ModelFileError("a tree is in no forest")
    if n_permanent > n_expected or (n_permanent < n_expected and not is_systematic):
        raise ModelFileError(f"the permanent forest has {n_permanent} trees, expected {n_expected}")
    return forests


def _read_numbers(part: PartReader, n_trees: int) -> list[int]:
    """Return the indices of a forest's trees, each once."""
    numbers = part.items("trees")
    if not numbers or not all(type(number) is int and 0 <= number < n_trees for number in numbers):
        raise part.wrong("trees", numbers, f"numbers of trees, from 0 to {n_trees - 1}")
    if len(set(numbers)) < len(numbers):
        raise part.wrong("trees", numbers, "each tree once")
    return numbers


def _read_forest(
    part: PartReader, sizes: Sizes, n_codes: Int32Array, trees: list[Tree], is_placed: bool
) -> ForestState:
    """Return a forest of some trees, with the leaves of the samples in memory if these are stored."""
    shape = ("n_memory",)
    own = sizes | {"n_placed": len(trees) if is_placed else 0}
    leaf_of = Array("leaf_of", np.int32, ("n_placed", *shape), low=-1).read(part, own)
    for tree, leaf in zip(trees, leaf_of, strict=False):
        is_leaf = np.append(tree.nodes["split"] < 0, True)  # the last is for samples that do not count
        if leaf.max(initial=-1) >= len(tree.nodes) or not is_leaf[leaf].all():
            raise ModelFileError(f"{part.where('leaf_of')} holds numbers that are those of no leaf")
    known = read_fields(FOREST, part, own)
    box = _read_box(part, own, n_codes)
    forest = Forest(tuple(trees), tuple(leaf.copy() for leaf in leaf_of), **known)
    return ForestState(forest, box, **read_fields(FOREST_STATE, part, own))


def _read_box(part: PartReader, sizes: Sizes, n_codes: Int32Array) -> Box:
    """Return the box of the samples that a forest has learnt."""
    bounds = read_fields(BOX, part, sizes)
    listed = part.items("categories")
    is_pair = [type(one) is list and len(one) == 2 and all(type(n) is int for n in one) for one in listed]
    if not all(is_pair) or len({column for column, _ in listed}) < len(listed):
        raise part.wrong("categories", listed, "columns and numbers of categories")
    for column, n in listed:
        if not (0 <= column < len(n_codes) and 0 <= n <= n_codes[column]):
            raise part.wrong("categories", [column, n], "a categorical column and a number of its codes")
    own = sizes | {"n_listed": sum(n for _, n in listed)}
    seen = Array("categories", np.bool_, ("n_listed",)).read(part, own)
    ends = np.cumsum([n for _, n in listed], dtype=np.int64)
    low, high = bounds["low"], bounds["high"]
    if not np.array_equal(np.isnan(low), np.isnan(high)) or (low > high).any():
        raise ModelFileError(f"{part.where('low')} is above the upper bounds")
    categories = {column: seen[end - n : end].copy() for (column, n), end in zip(listed, ends.tolist(), strict=True)}
    return Box(**bounds, categories=categories)


def _read_recency(part: PartReader, sizes: Sizes, permanent: Forest) -> tuple[AnyArray, ...]:
    """Return the recency by tree of the permanent forest and node; of all trees or none."""
    found = Array("recency", np.float32, ("n_near",), low=0, below=1.001).read(part, own := dict(sizes))
    if own["n_near"] not in (0, permanent.n_nodes):
        raise ModelFileError("the recency is not that of the permanent forest's nodes")
    ends = np.cumsum([len(tree.nodes) for tree in permanent.trees]) if own["n_near"] else ()
    return tuple(found[end - len(tree.nodes) : end].copy() for tree, end in zip(permanent.trees, ends, strict=False))
