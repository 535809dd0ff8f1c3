"""The paper's toy example: area and bedrooms of a house against its rent, three batches of ten.

The figure's numbers are not in the LaTeX source; these are in its spirit. B0 makes a tree. B1 lies beyond it and mixes
a known class with unknown ones. B2 overlaps, reaches further, and contradicts a leaf.
"""

from itertools import pairwise

import numpy as np
import pytest

from adforest.forest import GrowthParams, Tree, TreeEditor
from adforest.growers import Grown, RandomForestGrower
from oracles import NUMERICAL, new_state
from oracles import learn as learn_batch

AREA, BEDS = 0, 1
LOW, MEDIUM, HIGH, LUXURY = range(4)

B0 = (
    [[100, 1], [120, 1], [140, 2], [150, 1], [160, 2], [200, 2], [220, 3], [240, 2], [260, 3], [280, 3]],
    [LOW, LOW, LOW, LOW, LOW, MEDIUM, MEDIUM, MEDIUM, MEDIUM, MEDIUM],
)
B1 = (
    [[400, 1], [420, 1], [430, 1], [450, 2], [460, 2], [480, 3], [500, 3], [520, 3], [540, 2], [560, 1]],
    [MEDIUM, MEDIUM, MEDIUM, HIGH, HIGH, LUXURY, LUXURY, LUXURY, HIGH, MEDIUM],
)
B2 = (
    [[205, 1], [215, 1], [230, 1], [250, 3], [490, 2], [550, 3], [650, 1], [680, 2], [700, 3], [720, 3]],
    [LOW, LOW, LOW, MEDIUM, HIGH, LUXURY, HIGH, HIGH, LUXURY, LUXURY],
)
BATCHES = (B0, B1, B2)
NAMES = ("sat", "entropy", "isat")
PAPER = {"memory_size": None, "tree_repair": "any", "renewal": 0, "algorithm": "paper"}


class OneTree:
    """A grower without a bootstrap: the tree that one would draw by hand. Adaptation need not know the difference."""

    uses_bootstrap = False
    kernel = RandomForestGrower(GrowthParams(max_features=2))

    def build(self, records, known, seeds, n_jobs, places=None, always_in_bag=None, route_oob_from=0):
        grown = []
        for seed in seeds:
            editor, leaf_of = TreeEditor(Tree.bare(2, seed)), np.full(len(records), -1, dtype=np.int32)
            groups, root = np.array([0, len(known)]), np.zeros(1, dtype=np.int32)
            ones = np.ones(len(known), dtype=np.uint16)
            self.kernel.expand(editor, records, ones, known, groups, root, leaf_of, seed)
            grown.append(Grown(editor.finish(), leaf_of))
        return grown

    def coded(self, records):
        return records

    def weights(self, serial, seed, weight=None):
        return np.ones(len(serial), dtype=np.uint16)

    def out_of_bag(self, serial, tree):
        return np.zeros(len(serial), dtype=bool)

    def expand(self, *arguments):
        self.kernel.expand(*arguments)


def learn(splitting):
    """Return the state after each of the three batches, and their reports."""
    state, trail, reports = new_state(grower=OneTree(), n_estimators=1, splitting=splitting, **PAPER), [], []
    for X, y in BATCHES:
        state, report = learn_batch(state, np.array(X), y, NUMERICAL, 4)
        trail.append(state)
        reports.append(report)
    return trail, reports


def tree_of(state):
    return state.forest("permanent").trees[0]


def accuracy(state):
    X = np.concatenate([X for X, _ in BATCHES]).astype(float)
    y = np.concatenate([y for _, y in BATCHES])
    return np.mean(state.forest("permanent").answer(X, 4, soft=True).argmax(axis=1) == y)


def test_the_first_tree_splits_by_area_alone():
    tree = tree_of(learn("isat")[0][0])
    assert tree.n_leaves == 2
    assert tree.nodes["split"][0] >> 2 == AREA
    assert 160 < tree.nodes["threshold"][0] < 200


@pytest.mark.parametrize("splitting", NAMES)
def test_scenarios_and_boxes(splitting):
    trail, reports = learn(splitting)
    assert [report.scenario for report in reports] == ["MUC", "MKUC", "MKC"]
    assert [report.new_classes for report in reports] == [(LOW, MEDIUM), (HIGH, LUXURY), ()]
    assert [report.action["permanent"] for report in reports] == ["built", "repaired", "repaired"]
    box = trail[-1].forests["permanent"].box
    assert (box.low.tolist(), box.high.tolist()) == ([100, 1], [720, 3])


@pytest.mark.parametrize("splitting", ["sat", "isat"])
def test_sat_separates_by_a_new_root_in_the_middle_of_the_gap(splitting):
    trail, _ = learn(splitting)
    before, after = tree_of(trail[0]), tree_of(trail[1])
    root = after.nodes[0]
    assert root["split"] >> 2 == AREA
    assert root["threshold"] == (280 + 400) / 2
    old = after.nodes[root["left"]]
    assert (old["split"] >> 2, old["threshold"]) == (AREA, before.nodes["threshold"][0])
    # The other side is a subtree of the batch: it tells its three classes apart.
    X, y = np.array(B1[0], dtype=float), B1[1]
    assert trail[1].forest("permanent").answer(X, 4, soft=True).argmax(axis=1).tolist() == y


def test_entropy_expands_leaves_below_the_same_root():
    trail, _ = learn("entropy")
    trees = [tree_of(state) for state in trail]
    for earlier, later in pairwise(trees):
        inner = np.flatnonzero(earlier.nodes["split"] >= 0)
        np.testing.assert_array_equal(later.nodes[inner], earlier.nodes[inner])
        assert later.n_leaves > earlier.n_leaves


def test_sat_has_no_answer_to_an_overlapping_batch():
    trail, _ = learn("sat")
    np.testing.assert_array_equal(tree_of(trail[2]).nodes, tree_of(trail[1]).nodes)
    assert tree_of(trail[2]).row_weight.sum() == 30, "but its records count"


def test_isat_cuts_at_the_bound_and_expands_leaves():
    trail, _ = learn("isat")
    before, after = tree_of(trail[1]), tree_of(trail[2])
    root = after.nodes[0]
    assert root["split"] >> 2 == AREA
    assert root["threshold"] == 560, "the largest area seen before"
    beyond = np.array([[650, 1], [680, 2], [700, 3], [720, 3]], dtype=float)
    right = after.nodes[root["left"] + 1]
    assert right["split"] >= 0, "four records of two classes: a subtree, not a leaf"
    assert set(after.route(beyond)).isdisjoint(after.route(np.array(B0[0] + B1[0], dtype=float)))
    # The contradicted leaf (small flats above 180 square metres) has been expanded.
    contradicted, calm = np.array([[205.0, 1.0]]), np.array([[100.0, 1.0]])
    assert before.nodes["split"][before.route(contradicted)[0]] < 0
    assert after.nodes["split"][before.route(contradicted)[0]] >= 0
    assert after.route(calm) == before.route(calm)


def test_isat_is_at_least_as_accurate_over_all_batches_as_the_others():
    final = {name: accuracy(learn(name)[0][-1]) for name in NAMES}
    assert final["isat"] >= final["entropy"]
    assert final["isat"] >= final["sat"]
    assert final["isat"] == 1.0
    assert final["sat"] < 1.0, "what SAT cannot separate it does not learn"


@pytest.mark.parametrize("splitting", NAMES)
def test_nothing_is_forgotten(splitting):
    trail, _ = learn(splitting)
    X, y = np.array(B0[0][:5], dtype=float), B0[1][:5]
    for state in trail:
        assert state.forest("permanent").answer(X, 4, soft=True).argmax(axis=1).tolist() == y
