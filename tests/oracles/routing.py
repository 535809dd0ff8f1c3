"""The nodes of a tree one by one: where samples go, what leaves hold, what they answer."""

from collections import Counter, defaultdict
from dataclasses import replace
from math import isnan

import numpy as np

CATEGORICAL, MISSING_LEFT = 1, 2


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


def walk(nodes, category_bits, sample, at=0):
    """Return the numbers of the nodes a sample passes, the leaf last; nodes is a list of tuples."""
    path = [at]
    while nodes[at][2] >= 0:
        at = nodes[at][1] + (not goes_left(nodes[at], category_bits, sample[nodes[at][2] >> 2]))
        path.append(at)
    return path


def route(nodes, category_bits, X):
    """Return the leaf of every sample."""
    nodes, category_bits = nodes.tolist(), category_bits.tolist()
    return np.array([walk(nodes, category_bits, sample)[-1] for sample in X.tolist()], dtype=np.int32)


def samples_at(nodes, category_bits, X, indices, start=0):
    """Return which of the indices pass each node, by node."""
    nodes, category_bits = nodes.tolist(), category_bits.tolist()
    passing = defaultdict(list)
    for i in np.asarray(indices).tolist():
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
