"""Slow, obvious answers to what the kernels compute fast, and the blocks of records both are asked about."""

import pickle
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise, product
from math import isnan, log2
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from adforest import AdaptiveDecisionForestClassifier, adaptation
from adforest.adaptation import State
from adforest.forest import Groups, GrowthParams, Records, Tree, TreeEditor
from adforest.forest._kernels.binning import bin_columns
from adforest.forest._kernels.growing import NODE, grow
from adforest.growers import RandomForestGrower

CATEGORICAL, MISSING_LEFT = 1, 2
FORESTS = ("permanent", "active", "temporary")
NUMERICAL = np.zeros(2, dtype=np.int32)  # two attributes, both of them numbers


# Records ------------------------------------------------------------------------------------------------------------


class Block(NamedTuple):
    """Records as kernels take them."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    n_categories: np.ndarray
    n_classes: int

    @property
    def records(self):
        """The same as growers take them."""
        return Records(self.X, self.y, np.arange(len(self.y)), self.n_categories, self.n_classes)


def block(X, y, *, weights=None, n_categories=None, n_classes=None):
    """Return arrays of the kernels' types from whatever a test finds convenient."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    X = X[:, None] if X.ndim == 1 else X
    y = np.asarray(y, dtype=np.int32)
    weights = np.ones(len(y)) if weights is None else weights
    n_categories = np.zeros(X.shape[1]) if n_categories is None else n_categories
    n_classes = int(y.max(initial=0)) + 1 if n_classes is None else n_classes
    return Block(X, y, np.asarray(weights, dtype=np.uint8), np.asarray(n_categories, dtype=np.int32), n_classes)


# Few distinct values on purpose: ties are where a scan goes wrong.
FEW_VALUES = (-np.inf, -2.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, np.nextafter(1.0, 2.0), 1e308, np.inf, np.nan)


@st.composite
def blocks(draw, max_records=40, max_features=4, max_classes=4, categories=(0, 0, 1, 3, 7, 70), max_weight=255):
    """Draw a block with ties, missing and infinite values; categories lists what n_categories is drawn from."""
    n = draw(st.integers(1, max_records))
    n_categories = draw(st.lists(st.sampled_from(categories), min_size=1, max_size=max_features))
    columns = [
        draw(st.lists(st.sampled_from([*range(k), np.nan] if k else FEW_VALUES), min_size=n, max_size=n))
        for k in n_categories
    ]
    n_classes = draw(st.integers(1, max_classes))
    y = draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(1, max_weight), min_size=n, max_size=n))
    X = np.array(columns, dtype=np.float64).T
    return block(X, y, weights=weights, n_categories=n_categories, n_classes=n_classes)


def random_block(n, *, n_categories=(0, 0, 0), n_classes=3, missing=0.1, distinct=None, seed=0):
    """Return a larger block in which attributes say something about the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    columns = [
        (y * 3 + rng.integers(k, size=n) // 2) % k if k else rng.normal(size=n) + y % 2 * rng.integers(3)
        for k in n_categories
    ]
    X = np.array(columns, dtype=np.float64).T
    if distinct is not None:
        X = np.where(np.array(n_categories) > 0, X, np.round(X * distinct) / distinct)
    X[rng.random(X.shape) < missing] = np.nan
    return block(X, y, weights=rng.integers(1, 5, size=n), n_categories=n_categories, n_classes=n_classes)


# Growing ------------------------------------------------------------------------------------------------------------


class GrownTree(NamedTuple):
    """What the growing kernel made of one block, put together as a tree."""

    nodes: np.ndarray
    category_bits: np.ndarray
    rows: dict
    importance: np.ndarray
    leaf_of: np.ndarray


def grow_groups(
    b,
    samples,
    group_start,
    group_node,
    *,
    base,
    weights=None,
    depth=None,
    binned=False,
    max_features=None,
    min_leaf=1,
    max_bins=255,
    max_depth=-1,
    max_new_nodes=10**6,
    seed=0,
):
    """Call the kernel; nodes before base are leaves but for those the groups take the place of."""
    leaf_of = np.full(len(b.y), -7, dtype=np.int32)
    samples = np.asarray(samples, dtype=np.int32)
    group_node = np.asarray(group_node, dtype=np.int32)
    groups = Groups(
        samples,
        b.weights[samples] if weights is None else weights,
        np.asarray(group_start, dtype=np.int64),
        group_node,
        np.zeros(len(group_node), dtype=np.int32) if depth is None else np.asarray(depth, dtype=np.int32),
    )
    params = GrowthParams(
        max_features=b.X.shape[1] if max_features is None else max_features,
        min_samples_leaf=min_leaf,
        max_bins=max_bins,
        max_depth=max_depth if max_depth >= 0 else None,
        max_nodes=base + max_new_nodes,
    )
    records = b.records
    if binned:
        records = replace(records, codes=bin_columns(b.X, b.n_categories, max_bins))
    group_nodes, added, category_bits, (row_node, row_class, row_weight), importance = grow(
        records, groups, params, leaf_of, n_nodes=base, n_words=1, seed=seed
    )
    nodes = np.zeros(base, dtype=NODE)
    nodes["left"] = nodes["split"] = -1
    nodes[group_node] = group_nodes
    rows = defaultdict(dict)
    for node, k, weight in zip(row_node.tolist(), row_class.tolist(), row_weight.tolist(), strict=True):
        assert k not in rows[node]
        rows[node][k] = weight
    category_bits = np.concatenate([np.zeros(1, dtype=np.uint64), category_bits])
    return GrownTree(np.concatenate([nodes, added]), category_bits, dict(rows), importance, leaf_of)


def grow_tree(b, *, samples=None, **limits):
    """Grow one tree from its root."""
    samples = np.arange(len(b.y)) if samples is None else samples
    return grow_groups(b, samples, [0, len(samples)], [0], base=1, **limits)


def tree_of(b, *, seed=0, max_depth=None):
    """Return a finished Tree of the block and the leaf of every record."""
    editor = TreeEditor(Tree.bare(b.X.shape[1], seed))
    leaf_of = np.full(len(b.y), -1, dtype=np.int32)
    grow_at(editor, b, np.arange(len(b.y)), [0, len(b.y)], [0], leaf_of, seed=seed, max_depth=max_depth)
    return editor.finish(), leaf_of


def grow_at(editor, b, samples, group_start, group_node, leaf_of, *, seed=0, max_depth=None):
    """Let an editor grow at leaves, trying all attributes."""
    samples = np.asarray(samples, dtype=np.int32)
    editor.grow(
        b.records,
        b.weights[samples],
        samples,
        np.asarray(group_start, dtype=np.int64),
        np.asarray(group_node, dtype=np.int32),
        leaf_of,
        GrowthParams(max_features=b.X.shape[1], max_depth=max_depth),
        seed,
    )


# Cuts ---------------------------------------------------------------------------------------------------------------


def bits(y, weights):
    """Return the entropy of the classes in bits, times their weight."""
    counts = np.bincount(np.asarray(y, dtype=np.int64), weights)
    counts = counts[counts > 0]
    return float(counts @ np.log2(counts.sum() / counts))


def gain(y, weights, left):
    """Return the bits that a cut into left and the rest saves."""
    y, weights, left = np.asarray(y), np.asarray(weights), np.asarray(left, dtype=bool)
    return bits(y, weights) - bits(y[left], weights[left]) - bits(y[~left], weights[~left])


def best_gain(values, y, weights, min_leaf=1):
    """Try every threshold with missing values on either side; None where nothing leaves min_leaf records each side."""
    values = np.asarray(values, dtype=np.float64)
    known = sorted(set(values[~np.isnan(values)].tolist()))
    gains = []
    for threshold, missing_left in product(known, (False, True)):
        left = np.where(np.isnan(values), missing_left, values <= threshold)
        if min(left.sum(), (~left).sum()) >= max(min_leaf, 1):
            gains.append(gain(y, weights, left))
    return max(gains, default=None)


def best_subset_gain(values, y, weights):
    """Try every set of categories with missing values on either side; None where all records agree."""
    values = np.asarray(values, dtype=np.float64)
    kinds = sorted(set(values[~np.isnan(values)].tolist()))
    if np.isnan(values).any():
        kinds.append(np.nan)
    gains = []
    for chosen in product((False, True), repeat=len(kinds)):
        left = np.zeros(len(values), dtype=bool)
        for kind, goes in zip(kinds, chosen, strict=True):
            left |= goes & ((values == kind) | (np.isnan(values) & isnan(kind)))
        if left.any() and not left.all():
            gains.append(gain(y, weights, left))
    return max(gains, default=None)


def subset_price(values):
    """Return the bits that a cut by categories must gain: those to name one of the two-sided sets, not of the orders.

    Up to twice as many where most records have a category of their own.
    """
    values = np.asarray(values, dtype=np.float64)
    k = len(set(values[~np.isnan(values)].tolist()))
    if k <= 2:
        return 0.0
    return (1 + k / len(values)) * (log2(2 ** (k - 1) - 1) - log2(k - 1))


# Trees --------------------------------------------------------------------------------------------------------------


def goes_left(node, category_bits, value):
    """Return the side a value takes at an inner node, given as (threshold, left, split)."""
    threshold, _, split = node
    missing_left = bool(split & MISSING_LEFT)
    if isnan(value):
        return missing_left
    if not split & CATEGORICAL:
        return value <= threshold
    first = int(threshold)
    if value < 0 or value >= 64 * int(category_bits[first]):
        return missing_left
    category = int(value)
    return bool(int(category_bits[first + 1 + category // 64]) >> category % 64 & 1)


def walk(nodes, category_bits, record, at=0):
    """Return the numbers of the nodes a record passes, the leaf last; nodes is a list of tuples."""
    path = [at]
    while nodes[at][2] >= 0:
        at = nodes[at][1] + (not goes_left(nodes[at], category_bits, record[nodes[at][2] >> 2]))
        path.append(at)
    return path


def route(nodes, category_bits, X):
    """Return the leaf of every record."""
    nodes, category_bits = nodes.tolist(), category_bits.tolist()
    return np.array([walk(nodes, category_bits, record)[-1] for record in X.tolist()], dtype=np.int32)


def records_at(nodes, category_bits, X, samples, start=0):
    """Return which of the samples pass each node, by node."""
    nodes, category_bits = nodes.tolist(), category_bits.tolist()
    passing = defaultdict(list)
    for i in np.asarray(samples).tolist():
        for node in walk(nodes, category_bits, X[i].tolist(), start):
            passing[node].append(i)
    return dict(passing)


def depths(nodes, at=0, depth=0):
    """Return the depth of every node below a node, by node."""
    found = {at: depth}
    if nodes["split"][at] >= 0:
        for child in (0, 1):
            found |= depths(nodes, int(nodes["left"][at]) + child, depth + 1)
    return found


def rows_of(tree):
    """Return a tree's class weights as {node: {class: weight}}, nodes without any left out."""
    rows = {}
    for node in range(len(tree.nodes)):
        held = slice(tree.row_start[node], tree.row_start[node + 1])
        if tree.row_class[held].size:
            rows[node] = dict(zip(tree.row_class[held].tolist(), tree.row_weight[held].tolist(), strict=True))
    return rows


def with_rows(tree, rows):
    """Return the tree with other class weights, given as {node: {class: weight}}."""
    lines = [(node, k, weight) for node, row in sorted(rows.items()) for k, weight in sorted(row.items())]
    node, klass, weight = zip(*lines, strict=True) if lines else ((), (), ())
    total = np.bincount(np.array(node, dtype=np.int64), np.array(weight, dtype=float), len(tree.nodes))
    return replace(
        tree,
        row_start=np.searchsorted(node, np.arange(len(tree.nodes) + 1)).astype(np.int32),
        row_class=np.array(klass, dtype=np.int32),
        row_weight=np.array(weight, dtype=np.float64),
        row_scale=np.divide(1, total, out=np.zeros(len(tree.nodes)), where=total > 0),
    )


def class_weights(tree):
    """Return the weight of each class over all nodes."""
    total = Counter()
    for row in rows_of(tree).values():
        total.update(row)
    return dict(total)


def votes(tree, X, n_classes, *, soft):
    """Return one tree's answers: shares of its leaf's classes, or one for the first of the most frequent."""
    rows = rows_of(tree)
    answers = np.zeros((len(X), n_classes))
    for i, leaf in enumerate(route(tree.nodes, tree.category_bits, X).tolist()):
        row = rows.get(leaf, {})
        for k, weight in row.items():
            if soft:
                answers[i, k] = weight / sum(row.values())
            elif k == min(c for c in row if row[c] == max(row.values())):
                answers[i, k] = 1
    return answers


# Counts -------------------------------------------------------------------------------------------------------------


def tally(leaf, y, weights):
    """Return {leaf: {class: weight}}; negative leaves and weights of zero do not count."""
    rows = defaultdict(Counter)
    for node, k, weight in zip(leaf, y, weights, strict=True):
        if node >= 0 and weight > 0:
            rows[int(node)][int(k)] += int(weight)
    return {node: dict(row) for node, row in rows.items()}


def parents(nodes):
    """Return the parent of every node but the root, by node."""
    inner = np.flatnonzero(nodes["split"] >= 0).tolist()
    return {int(nodes["left"][at]) + side: at for at in inner for side in (0, 1)}


def sums(tree):
    """Return {node: {class: weight}} of every node, inner ones included, adding up from the leaves."""
    rows = rows_of(tree)

    def below(at):
        if tree.nodes["split"][at] < 0:
            return {at: rows.get(at, {})}
        left = int(tree.nodes["left"][at])
        found = below(left) | below(left + 1)
        return found | {at: dict(Counter(found[left]) + Counter(found[left + 1]))}

    return below(0)


def shrunk(tree, leaf, n_classes, strength):
    """Return a leaf's class shares, each step of its path from the root weighed as hierarchical shrinkage does.

    A node without records has the shares of the one above it.
    """
    weights, above, path = sums(tree), parents(tree.nodes), [leaf]
    while path[-1] in above:
        path.append(above[path[-1]])
    answer = before = np.zeros(n_classes)
    for node in reversed(path):
        total = sum(weights[node].values())
        share = np.bincount(list(weights[node]), list(weights[node].values()), n_classes) / total if total else before
        n = sum(weights[above[node]].values()) if node in above else 0
        kept = n / (n + strength) if n else 1.0
        answer = answer + kept * (share - before)
        before = share
    return answer


def nearness(tree, young, expected):
    """Return the share of young records about each node over their share in the tree, by node, climbing from each."""
    parent = parents(tree.nodes)
    total = {node: sum(row.values()) for node, row in sums(tree).items()}
    held = Counter()
    for at in young:
        while at is not None and at >= 0:
            held[at] += 1
            at = parent.get(at)
    if not 0 < held[0] < total[0]:
        return [1.0] * len(tree.nodes)
    rarer = min(held[0], total[0] - held[0]) / total[0]
    found = []
    for at in range(len(tree.nodes)):
        while at in parent and (total[at] < 1 or total[at] * rarer < expected * (1 - 1e-12)):
            at = parent[at]
        found.append(min(1, (held[at] / total[at]) / (held[0] / total[0])) if at else 1.0)
    return found


def compare(held, brought):
    """Return the seven statistics of counting.compare for one leaf, from two {class: weight}."""
    both = Counter(held) + Counter(brought)
    predicted = min((k for k in held if held[k] == max(held.values())), default=None)
    return [
        sum(held.values()),
        max(held.values(), default=0),
        sum(brought.values()),
        max(brought.values(), default=0),
        max(both.values(), default=0),
        brought.get(predicted, 0),
        len(set(held) | set(brought)),
    ]


def merge(old, dropped, new):
    """Return {node: {class: weight}} of both, the old weights of dropped nodes left out."""
    rows = defaultdict(Counter)
    for node, row in old.items():
        if node not in dropped:
            rows[node].update(row)
    for node, row in new.items():
        rows[node].update(row)
    return {node: dict(row) for node, row in rows.items()}


# C4.5 ---------------------------------------------------------------------------------------------------------------


class AnyCut(NamedTuple):
    """A cut of one attribute: where, which records go left, and what that is worth."""

    value: object  # the largest value that goes left, or the set of categories
    missing_left: bool
    left: np.ndarray
    gain: float
    ratio: float


def gain_ratio(y, weights, left):
    """Return the bits a cut saves for each bit it takes to say which side a record is on."""
    return gain(y, weights, left) / bits(left, weights)


def middle(low, high):
    """Return the middle of two values, or the lower one where floating point has nothing between them."""
    half = low / 2 + high / 2
    return half if low <= half < high else low


def by_share(column, y, weights, *, by_arrival):
    """Return the categories in order of their share of the most frequent class.

    Equal categories come by number. By arrival, that class is the node's, with or without a value, and of equal classes
    the first to arrive; otherwise it is that of the records with a value, and of equal classes the lowest number.
    """
    known = ~np.isnan(column)
    counts = Counter()
    for k, weight in zip(y if by_arrival else y[known], weights if by_arrival else weights[known], strict=True):
        counts[int(k)] += int(weight)
    classes = counts if by_arrival else sorted(counts)
    top = max(classes, key=counts.__getitem__, default=None)
    kinds = sorted(set(column[known].tolist()))
    here = {kind: column == kind for kind in kinds}
    return sorted(kinds, key=lambda kind: weights[here[kind] & (y == top)].sum() / weights[here[kind]].sum())


def all_cuts(column, y, weights, n_categories=0, min_leaf=1, *, by_arrival=False):
    """List all cuts of an attribute that C4.5 looks at, with missing values on either side."""
    weights = weights.astype(np.float64)
    missing = np.isnan(column)
    if n_categories:
        order = by_share(column, y, weights, by_arrival=by_arrival)
        values = [frozenset(order[: i + 1]) for i in range(len(order))]
    else:
        order = sorted(set(column[~missing].tolist()))
        values = [*(middle(low, high) for low, high in pairwise(order)), np.inf]
    cuts = []
    for i, missing_left in product(range(len(order)), (False, True) if missing.any() else (False,)):
        left = np.isin(column, order[: i + 1]) | (missing & missing_left)
        if min(left.sum(), (~left).sum()) >= max(min_leaf, 1):
            cuts.append(AnyCut(values[i], missing_left, left, gain(y, weights, left), gain_ratio(y, weights, left)))
    return cuts


def grow_c45(b, samples=None, *, seed=0, binned=None, **params):
    """Return a finished C4.5 tree, pruned if prune_confidence says so, and the leaf of every record."""
    editor = TreeEditor(Tree.bare(b.X.shape[1], seed))
    leaf_of = np.full(len(b.y), -1, dtype=np.int32)
    samples = np.arange(len(b.y), dtype=np.int32) if samples is None else np.asarray(samples, dtype=np.int32)
    group, root = np.array([0, len(samples)]), np.zeros(1, dtype=np.int32)
    params = GrowthParams(max_features=1, by_ratio=True, **params)
    editor.grow(replace(b.records, codes=binned), b.weights[samples], samples, group, root, leaf_of, params, seed)
    return editor.finish(), leaf_of


def expected_errors(n, errors, confidence):
    """Return how many errors a leaf of weight n expects, by bisection instead of C4.5's closed form.

    The upper limit of the error share p is the one at which as few errors as were seen, plus a half for continuity,
    have just the probability of the confidence; by the normal law, but exact where none was seen.
    """
    if n == 0 or errors + 0.5 >= n:
        return float(n if errors else n * (1 - confidence ** (1 / n)) if n else 0)
    deviate = NormalDist().inv_cdf(1 - confidence)

    def too_high(p):
        if errors == 0:
            return (1 - p) ** n < confidence
        return (p - (errors + 0.5) / n) * n > deviate * (p * (1 - p) * n) ** 0.5

    low, high = 0.0, 1.0
    for _ in range(100):
        half = (low + high) / 2
        low, high = (low, half) if too_high(half) else (half, high)
    return n * low


def kept_cuts(nodes, weights_at, confidence, at=0):
    """Return the errors expected below a node, and the inner nodes that pruning keeps; weights_at: class weights."""
    weights = weights_at[at].values()
    as_leaf = expected_errors(sum(weights), sum(weights) - max(weights, default=0), confidence)
    if nodes["split"][at] < 0:
        return as_leaf, set()
    sides = [kept_cuts(nodes, weights_at, confidence, int(nodes["left"][at]) + side) for side in (0, 1)]
    below = sum(errors for errors, _ in sides)
    # A tenth of an error is Quinlan's allowance for the simpler tree.
    return (as_leaf, set()) if as_leaf <= below + 0.1 else (below, {at}.union(*(kept for _, kept in sides)))


# Streams ------------------------------------------------------------------------------------------------------------


def make_settings(**changes):
    """Return the estimator's own defaults as adaptation knows them, but 10 trees and two attributes tried."""
    settings = AdaptiveDecisionForestClassifier(10)._settings(n_features=2, seed=0)
    params = GrowthParams(max_features=2, min_samples_leaf=changes.get("min_samples_leaf", 1))
    return replace(settings, **{"grower": RandomForestGrower(params)} | changes)


def new_state(n_features=2, **changes):
    """Return the state before the first batch."""
    return State.new(make_settings(**changes), n_features)


def n_given(state):
    """Return how many records a state has been given, learnt or waiting."""
    return state.memory.n_seen + (0 if state.pending is None else len(state.pending))


def learn(state, X, y, n_categories=NUMERICAL, n_classes=2):
    """Return the state after one more batch and the report, by whichever way of learning its settings ask for."""
    serial = np.arange(n_given(state), n_given(state) + len(y))
    records = Records(np.ascontiguousarray(X, dtype=float), np.asarray(y, np.int32), serial, n_categories, n_classes)
    return adaptation.RECIPES[state.settings.algorithm](state, records)


def two_clusters(seed, swapped=False, n=200):
    """Return two well separated clusters, one a class; swapped, the classes change places."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n).astype(np.int32)
    X = rng.normal(size=(n, 2)) + np.column_stack([8 * y, np.zeros(n)])
    return X, (1 - y if swapped else y).astype(np.int32)


def swapping_stream(pattern, settings, n=200):
    """Return the states and reports along a stream; 's' swaps the labels of a batch, '.' does not."""
    state, states, reports = State.new(settings, 2), [], []
    for number, sign in enumerate(pattern):
        state, report = learn(state, *two_clusters(number, sign == "s", n))
        states.append(state)
        reports.append(report)
    return states, reports


def grid(rng, n, n_classes, noise, distance=4):
    """Return clusters side by side, one a class, some records with a label by chance."""
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, 2)) + distance * np.column_stack([y % 3, y // 3])
    return X, np.where(rng.random(n) < noise, rng.integers(0, n_classes, n), y).astype(np.int32)


def accuracy(state, X, y, n_classes=2):
    """Return the share of right answers."""
    return float(np.mean(adaptation.votes(state, X, n_classes).argmax(axis=1) == y))


def same_trees(one, other):
    """Return whether two forests are of the same trees, not of equal ones."""
    return len(one) == len(other) and all(a is b for a, b in zip(one.trees, other.trees, strict=True))


def as_bytes(state):
    """Return every tree of every forest, and where records are in them, as bytes."""
    return {
        name: [
            *(
                tuple(
                    array.tobytes()
                    for array in (tree.nodes, tree.category_bits, tree.row_start, tree.row_class, tree.row_weight)
                )
                for tree in one.forest.trees
            ),
            *(leaf_of.tobytes() for leaf_of in one.forest.leaf_of),
            one.forest.known.tobytes(),
        ]
        for name, one in state.forests.items()
    }


def check_left_alone_by_learning(state):
    """Assert that a state of two classes stays as it is, whatever is learnt from it, and whoever asks it."""
    X, _ = two_clusters(50)
    before, trees = pickle.dumps(state), as_bytes(state)
    answers = adaptation.votes(state, X, 2)
    assert pickle.dumps(state) == before, "answering does not change what is saved"
    for swapped in (False, True):
        learn(state, *two_clusters(60, swapped))
        learn(state, X * 50, np.full(len(X), 2), n_classes=3)
    assert pickle.dumps(state) == before
    assert as_bytes(state) == trees
    np.testing.assert_array_equal(adaptation.votes(state, X, 2), answers)
