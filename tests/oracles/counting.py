"""Class weights of leaves, of nodes and of batches, added up one by one."""

from collections import Counter, defaultdict

import numpy as np

from oracles.routing import rows_of


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
    """Return a leaf's class proba, each step of its path from the root weighed as hierarchical shrinkage does.

    A node without samples has the shares of the one above it.
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


def recency(tree, young, expected):
    """Return the share of young samples about each node over their share in the tree, by node, climbing from each."""
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
