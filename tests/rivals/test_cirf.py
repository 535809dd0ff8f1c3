"""CIRF: counts by hand, and the root between separate boxes."""

import numpy as np
import pytest

from adforest.rivals import CIRFClassifier

KNOWN = np.array([[0.0, 0.0], [1.0, 1.0], [8.0, 2.0], [9.0, 3.0]] * 10)
CLASSES = np.array(["a", "a", "b", "b"] * 10)


def first():
    return CIRFClassifier(random_state=0).partial_fit(KNOWN, CLASSES)


def held(tree):
    """Return the class weights of every leaf, as {leaf: {class code: weight}}."""
    rows = {}
    for node in np.flatnonzero(tree.nodes["split"] < 0):
        part = slice(*tree.row_start[node : node + 2])
        rows[int(node)] = dict(zip(tree.row_class[part].tolist(), tree.row_weight[part].tolist(), strict=True))
    return rows


def counted(tree, X, y):
    """Return what the leaves hold after each record is added where it goes, one by one."""
    rows = held(tree)
    for leaf, code in zip(tree.route(X).tolist(), y, strict=True):
        rows[leaf][code] = rows[leaf].get(code, 0) + 1
    return rows


def test_a_batch_of_known_classes_only_adds_to_counts():
    model = first()
    before = model.forest_.trees
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-50, 50, (200, 2)), rng.integers(0, 2, 200)
    model.partial_fit(X, np.array(["a", "b"])[y])
    for old, new in zip(before, model.forest_.trees, strict=True):
        np.testing.assert_array_equal(old.nodes, new.nodes)
        assert held(new) == counted(old, X, y)


def test_a_separate_batch_with_an_unknown_class_gets_a_root_and_one_leaf():
    model = first()
    before = model.forest_.trees
    # On the first attribute boxes overlap; on the second they are [0, 3] and [7, 11].
    X, y = np.array([[0.0, 7.0], [5.0, 9.0], [9.0, 11.0]]), ["c", "a", "c"]
    model.partial_fit(X, y)
    for old, new in zip(before, model.forest_.trees, strict=True):
        root = new.nodes[0]
        assert root["split"] >> 2 == 1
        assert root["threshold"] == 5
        assert len(new.nodes) == len(old.nodes) + 2
        leaf = set(new.route(X).tolist())
        assert leaf == {int(root["left"]) + 1}
        assert held(new)[leaf.pop()] == {0: 1, 2: 2}
        votes = np.zeros((2, len(KNOWN), 3))
        old.vote(KNOWN, votes[0], soft=True)
        new.vote(KNOWN, votes[1], soft=True)
        np.testing.assert_array_equal(votes[0], votes[1])
    assert model.predict([[4.0, 8.0], [0.0, 0.0]]).tolist() == ["c", "a"]


def test_the_gap_that_is_widest_for_its_attribute_is_cut():
    model = first()
    # Gaps: 11 of 20 on the first attribute, 97 of 101 on the second; the batch lies below on the second.
    model.partial_fit([[20.0, -100.0], [20.0, -97.0]], ["c", "c"])
    for tree in model.forest_.trees:
        assert tree.nodes["split"][0] >> 2 == 1
        assert tree.nodes["threshold"][0] == -48.5
        assert set(tree.route(np.array([[0.0, -60.0], [50.0, -60.0]])).tolist()) == {int(tree.nodes["left"][0])}


def test_where_boxes_overlap_the_unknown_class_is_just_counted():
    model = first()
    before = model.forest_.trees
    X, y = np.array([[8.0, 2.0], [9.0, 3.0], [90.0, 30.0]]), np.array(["c", "c", "c"])
    model.partial_fit(X, y)
    for old, new in zip(before, model.forest_.trees, strict=True):
        np.testing.assert_array_equal(old.nodes, new.nodes)
        assert held(new) == counted(old, X, [2, 2, 2])


def test_the_box_grows_with_every_batch():
    model = first().partial_fit([[100.0, 100.0]], ["a"])
    n_nodes = model.forest_.n_nodes
    model.partial_fit([[50.0, 50.0]], ["c"])
    assert model.forest_.n_nodes == n_nodes
    model.partial_fit([[150.0, 50.0]], ["d"])
    assert model.forest_.n_nodes == n_nodes + 2 * len(model.forest_)


def test_a_declared_class_is_unknown_until_its_first_record():
    model = CIRFClassifier(random_state=0).partial_fit(KNOWN, CLASSES, classes=["a", "b", "c"])
    n_nodes = model.forest_.n_nodes
    model.partial_fit([[50.0, 50.0]], ["c"])
    assert model.forest_.n_nodes == n_nodes + 2 * len(model.forest_)
    assert model.predict([[60.0, 60.0]]) == ["c"]


def test_records_that_lack_the_value_asked_for_stay_with_the_tree():
    model = first().partial_fit([[50.0, 2.0], [60.0, 1.0], [np.nan, 2.0]], ["c", "c", "c"])
    for tree in model.forest_.trees:
        assert tree.nodes["split"][0] >> 2 == 0
        new = int(tree.route(np.array([[55.0, 0.0]]))[0])
        assert held(tree)[new] == {2: 2}
        assert tree.row_weight.sum() >= 3


@pytest.mark.parametrize("wrong", [{"n_estimators": 0}, {"min_samples_leaf": 0}])
def test_parameters_are_checked_when_learning(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} of "):
        CIRFClassifier(**wrong).fit([[0.0], [1.0]], [0, 1])
