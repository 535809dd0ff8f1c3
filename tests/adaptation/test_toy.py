"""The paper's toy example: area and bedrooms of a house against its rent, three batches of ten, one tree.

The numbers of the paper's figure are not in its source; the houses are ours. B0 makes a tree. B1 overlaps it, reaches
beyond it, and mixes known classes with an unknown one. B2 lies apart. All rules are the published ones, but for leaves
of at least two houses.
"""

import copy
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from adforest import PaperADFClassifier
from adforest.forest.tree import BUILT, LEAF_EXPANDED, ROOT_ADDED
from experiments.specs.generators import HIGH, LOW, LUXURY, MEDIUM, TOY_BATCHES

AREA, BEDS = 0, 1
BATCHES = tuple(
    (np.array([house[:2] for house in houses], dtype=float), np.array([house[2] for house in houses]))
    for houses in TOY_BATCHES
)
B0, B1, B2 = range(3)
STRATEGIES = ("sat", "entropy", "isat")


@cache
def learn(splitting):
    """Return the model as it was after each batch."""
    model = PaperADFClassifier(1, base_forest="sysfor", splitting=splitting, min_samples_leaf=2, random_state=0)
    trail = []
    for X, y in BATCHES:
        model.partial_fit(X, y)
        trail.append(copy.copy(model))  # learning swaps in a new model, so a shallow copy stays as it is
    return trail


def tree_of(model):
    (tree,) = model.permanent_forest_.trees
    return tree


def cuts(tree, cause):
    """Return feature and threshold of the questions that something put into a tree, sorted."""
    asked = (tree.nodes["split"] >= 0) & (tree.cause == cause)
    return sorted(zip((tree.nodes["split"][asked] >> 2).tolist(), tree.nodes["threshold"][asked].tolist(), strict=True))


def accuracy(splitting):
    """Return what the tree gets right of each batch (columns) after each batch (rows)."""
    return [[float(np.mean(model.predict(X) == y)) for X, y in BATCHES] for model in learn(splitting)]


def test_ten_houses_a_batch():
    assert [len(houses) for houses in TOY_BATCHES] == [10, 10, 10]


def test_b1_overlaps_b0_and_b2_lies_apart():
    low, high = (np.array([bound(X, axis=0) for X, _ in BATCHES]) for bound in (np.min, np.max))
    assert np.all((low[B1] <= high[B0]) & (low[B0] <= high[B1])), "on every feature"
    assert high[B1, AREA] > high[B0, AREA], "and reaches beyond"
    assert low[B2, AREA] > max(high[B0, AREA], high[B1, AREA])
    assert high[B1, BEDS] == high[B0, BEDS] == high[B2, BEDS], "only areas grow"


@pytest.mark.parametrize("splitting", STRATEGIES)
def test_scenarios_are_the_papers_and_no_batch_is_drift(splitting):
    reports = learn(splitting)[-1].history_
    assert [report.scenario for report in reports] == ["MUC", "MKUC", "MKC"]
    assert [set(report.new_classes) for report in reports] == [{LOW, MEDIUM, HIGH}, {LUXURY}, set()]
    assert [report.drift for report in reports] == ["none"] * 3
    assert [report.action["permanent"] for report in reports] == ["built", "repaired", "repaired"]
    assert {report.answering for report in reports} == {"permanent"}


@pytest.mark.parametrize("splitting", STRATEGIES)
def test_the_first_tree_splits_by_area_alone(splitting):
    tree = tree_of(learn(splitting)[B0])
    assert cuts(tree, BUILT) == [(AREA, 75), (AREA, 110)]
    assert tree.n_leaves == 3


def test_sat_has_no_answer_to_a_batch_that_overlaps():
    before, after = (tree_of(model) for model in learn("sat")[:2])
    np.testing.assert_array_equal(after.nodes, before.nodes)
    assert (before.row_weight.sum(), after.row_weight.sum()) == (10, 20), "but its houses count"


@pytest.mark.parametrize("splitting", ["sat", "isat"])
def test_separate_boxes_get_a_root_in_the_middle_of_the_gap(splitting):
    before, after = (tree_of(model) for model in learn(splitting)[1:])
    assert (after.nodes["split"][0] >> 2, after.nodes["threshold"][0]) == (AREA, (200 + 300) / 2)
    assert cuts(after, ROOT_ADDED) == sorted([*cuts(before, ROOT_ADDED), (AREA, 250)])
    assert cuts(after, BUILT) == cuts(before, BUILT)
    # The other side is a subtree of the batch alone, which cuts by area where its rents change.
    new = set(cuts(after, LEAF_EXPANDED)) - set(cuts(before, LEAF_EXPANDED))
    assert new == {(AREA, 330), (AREA, 370)}


def test_isat_cuts_at_the_bound_of_overlapping_boxes_and_expands_the_perturbed_leaf():
    before, after = (tree_of(model) for model in learn("isat")[:2])
    assert (after.nodes["split"][0] >> 2, after.nodes["threshold"][0]) == (AREA, 150), "the largest area of B0"
    assert cuts(after, ROOT_ADDED) == [(AREA, 150)]
    # Two rents beyond the bound, and two in the leaf of areas above 110, which B1 perturbs.
    assert cuts(after, LEAF_EXPANDED) == [(AREA, 185), (BEDS, 3.5)]
    assert (before.n_leaves, after.n_leaves) == (3, 6)


def test_entropy_never_changes_the_root():
    trees = [tree_of(model) for model in learn("entropy")]
    for earlier, later in pairwise(trees):
        inner = np.flatnonzero(earlier.nodes["split"] >= 0)
        np.testing.assert_array_equal(later.nodes[inner], earlier.nodes[inner])
        assert later.n_leaves > earlier.n_leaves
    assert cuts(trees[-1], ROOT_ADDED) == []


def test_on_b1_sat_is_worse_than_entropy_and_isat():
    on_b1 = {splitting: accuracy(splitting)[B1][B1] for splitting in STRATEGIES}
    assert on_b1 == {"sat": 0.6, "entropy": 1.0, "isat": 1.0}


def test_isat_alone_is_right_on_all_batches():
    final = {splitting: accuracy(splitting)[-1] for splitting in STRATEGIES}
    assert final == {"sat": [1.0, 0.6, 1.0], "entropy": [1.0, 1.0, 0.9], "isat": [1.0, 1.0, 1.0]}


@pytest.mark.parametrize("splitting", STRATEGIES)
def test_b0_is_not_forgotten(splitting):
    assert [row[B0] for row in accuracy(splitting)] == [1.0, 1.0, 1.0]
