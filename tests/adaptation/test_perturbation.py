"""Three readings of what a leaf's confidence after a batch means, and how much of a forest a batch perturbs."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest import PaperADFClassifier
from adforest.adaptation.repair import (
    READINGS,
    LeafStatistics,
    assess,
    batch_confidence,
    is_perturbed,
    merged_confidence,
    predicted_confidence,
)
from adforest.adaptation.steps import BatchUpdate
from adforest.base import get_fitted
from adforest.forest import GrowthParams, LeafCounts, Samples, Tree, TreeEditor
from adforest.growers import RandomForestGrower


def leaves_of(*pairs):
    """Return the statistics of leaves, each given as what it held and what it got, counts by class."""
    rows = []
    for number, (held, brought) in enumerate(pairs):
        held, brought = Counter(held), Counter(brought)
        both = held + brought
        top = max(held.values(), default=0)
        predicted = min((k for k, n in held.items() if n == top), default=None)
        rows.append(
            (
                number,
                sum(held.values()),
                top,
                sum(brought.values()),
                max(brought.values(), default=0),
                max(both.values()),
                brought[predicted] if predicted is not None else 0,
                len(both),
            )
        )
    columns = np.array(rows, dtype=float).T
    return LeafStatistics(columns[0].astype(np.int32), *columns[1:])


def perturbed(reading, held, brought, tolerance=0.02):
    return bool(is_perturbed(leaves_of((held, brought)), reading, tolerance)[0])


def test_the_three_readings_by_hand():
    leaves = leaves_of(({0: 8, 1: 2}, {0: 3, 1: 3, 2: 4}))
    assert leaves.confidence == pytest.approx(0.8)
    assert merged_confidence(leaves) == pytest.approx(11 / 20)
    assert batch_confidence(leaves) == pytest.approx(4 / 10)
    assert predicted_confidence(leaves) == pytest.approx(3 / 10)
    assert {"batch": batch_confidence, "merged": merged_confidence, "predicted": predicted_confidence} == READINGS


@pytest.mark.parametrize("reading", READINGS)
def test_more_of_the_same_perturbs_nothing(reading):
    assert not perturbed(reading, {0: 90, 1: 10}, {0: 9, 1: 1})
    assert not perturbed(reading, {0: 5}, {0: 1})


@pytest.mark.parametrize("reading", READINGS)
def test_confusion_perturbs_by_every_reading(reading):
    assert perturbed(reading, {0: 9, 1: 1}, {0: 5, 1: 5})


def test_predicted_closes_the_hole_in_the_other_two():
    # The leaf said A with 0.9, and now gets B with 0.9: its meaning is gone, its confidence is not.
    held = {"A": 90, "B": 10}
    assert not perturbed("batch", held, {"A": 10, "B": 90})
    assert not perturbed("merged", held, {"A": 1_000, "B": 9_000})
    assert perturbed("predicted", held, {"A": 10, "B": 90})
    assert perturbed("predicted", held, {"A": 1_000, "B": 9_000})


def test_a_pure_leaf_that_gets_another_class_only():
    assert not perturbed("batch", {"A": 10}, {"B": 10})
    assert perturbed("merged", {"A": 10}, {"B": 10})
    assert perturbed("predicted", {"A": 10}, {"B": 10})


def test_merged_counts_shield_a_heavy_leaf_from_a_light_batch():
    assert not perturbed("merged", {"A": 1_000}, {"B": 10})
    assert perturbed("predicted", {"A": 1_000}, {"B": 10})


@pytest.mark.parametrize("reading", READINGS)
def test_an_empty_leaf_has_no_confidence_to_lose(reading):
    assert not perturbed(reading, {}, {"A": 1, "B": 1}, tolerance=0.0)


def test_the_tolerance_itself_is_tolerated():
    # Sixteenths are exact in binary: 1 > 15/16 + 1/16 is false, not nearly false.
    assert not perturbed("predicted", {0: 4}, {0: 15, 1: 1}, tolerance=1 / 16)
    assert perturbed("predicted", {0: 4}, {0: 14, 1: 2}, tolerance=1 / 16)


@given(
    held=st.dictionaries(st.integers(0, 3), st.integers(1, 50), max_size=4),
    brought=st.dictionaries(st.integers(0, 3), st.integers(1, 50), min_size=1, max_size=4),
)
def test_predicted_is_never_more_lenient_than_batch(held, brought):
    leaves = leaves_of((held, brought))
    assert predicted_confidence(leaves)[0] <= batch_confidence(leaves)[0]
    for reading in READINGS.values():
        assert 0 <= reading(leaves)[0] <= 1


GROWER = RandomForestGrower(GrowthParams(max_features=1))


def two_leaf_tree():
    """Return a tree that asks x <= 0, with ten samples of class 0 on the left and ten of class 1 on the right."""
    editor = TreeEditor(Tree.bare(1, seed=0))
    editor.add_root(0, 0.0, tree_left=True)
    editor.add(LeafCounts(np.array([1, 2], dtype=np.int32), np.array([0, 1], dtype=np.int32), np.array([10.0, 10.0])))
    return editor.finish()


def batch_of(x, y, n_classes=2):
    x = np.asarray(x, dtype=float)[:, None]
    serial = np.arange(len(x))
    return Samples(x, np.asarray(y, dtype=np.int32), serial, np.zeros(1, dtype=np.int32), n_classes)


@pytest.mark.parametrize("reading", READINGS)
def test_a_leaf_the_batch_does_not_reach_is_not_perturbed(reading):
    found = assess(two_leaf_tree(), batch_of([-1, -2, -3, -4], [0, 1, 0, 1]), GROWER, reading, 0.02)
    assert found.leaves.leaf.tolist() == [1]
    assert found.perturbed.tolist() == [True]
    assert found.leaf.tolist() == [1, 1, 1, 1]
    assert found.n_perturbed == 1


def test_assessing_a_class_the_tree_has_never_seen():
    found = assess(two_leaf_tree(), batch_of([-1, 1, 1], [0, 2, 2], n_classes=3), GROWER, "predicted", 0.02)
    assert found.perturbed.tolist() == [False, True]
    assert found.leaves.n_batch_predicted.tolist() == [1, 0]
    assert found.leaves.n_classes.tolist() == [1, 2]


def test_the_fraction_is_of_all_leaves_of_the_forest():
    x, y = np.arange(40) % 8, np.arange(40) % 8 // 2 % 2
    state = get_fitted(PaperADFClassifier(n_estimators=4, min_samples_leaf=1, random_state=0).fit(x[:, None], y)).state
    batch, settings, forest = batch_of([0, 0, 3], [1, 1, 1]), state.settings, state.forests["permanent"].forest
    work = BatchUpdate(state, batch)
    work.assess("permanent")
    found = [
        assess(tree, batch, settings.grower, settings.perturbation, settings.error_tolerance) for tree in forest.trees
    ]
    n_perturbed = sum(int(one.perturbed.sum()) for one in found)
    assert n_perturbed > 0
    assert work.perturbed["permanent"] == n_perturbed / sum(tree.n_leaves for tree in forest.trees)
