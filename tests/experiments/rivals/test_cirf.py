"""CIRF: counts by hand, the root between separate boxes, and both base forests."""

import numpy as np
import pytest

from experiments.rivals import CIRFClassifier, SysForClassifier
from experiments.specs.methods import METHODS

KNOWN = np.array([[0.0, 0.0], [1.0, 1.0], [8.0, 2.0], [9.0, 3.0]] * 10)
CLASSES = np.array(["a", "a", "b", "b"] * 10)


def first(base_forest="random_forest"):
    return CIRFClassifier(base_forest=base_forest, random_state=0).partial_fit(KNOWN, CLASSES)


def held(tree):
    """Return the class weights of every leaf, as {leaf: {class code: weight}}."""
    rows = {}
    for node in np.flatnonzero(tree.nodes["split"] < 0):
        part = slice(*tree.row_start[node : node + 2])
        rows[int(node)] = dict(zip(tree.row_class[part].tolist(), tree.row_weight[part].tolist(), strict=True))
    return rows


def counted(tree, X, y):
    """Return what the leaves hold after each sample is added where it goes, one by one."""
    rows = held(tree)
    for leaf, code in zip(tree.route(X).tolist(), y, strict=True):
        rows[leaf][code] = rows[leaf].get(code, 0) + 1
    return rows


both_bases = pytest.mark.parametrize("base_forest", ["random_forest", "sysfor"])


@both_bases
def test_a_batch_of_known_classes_only_adds_to_counts(base_forest):
    model = first(base_forest)
    before = model.forest_.trees
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-50, 50, (200, 2)), rng.integers(0, 2, 200)
    model.partial_fit(X, np.array(["a", "b"])[y])
    for old, new in zip(before, model.forest_.trees, strict=True):
        np.testing.assert_array_equal(old.nodes, new.nodes)
        assert held(new) == counted(old, X, y)


@both_bases
def test_a_separate_batch_with_an_unknown_class_gets_a_root_and_one_leaf(base_forest):
    model = first(base_forest)
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


def test_a_declared_class_is_unknown_until_its_first_sample():
    model = CIRFClassifier(random_state=0).partial_fit(KNOWN, CLASSES, classes=["a", "b", "c"])
    n_nodes = model.forest_.n_nodes
    model.partial_fit([[50.0, 50.0]], ["c"])
    assert model.forest_.n_nodes == n_nodes + 2 * len(model.forest_)
    assert model.predict([[60.0, 60.0]]) == ["c"]


def test_samples_that_lack_the_value_asked_for_stay_with_the_tree():
    model = first().partial_fit([[50.0, 2.0], [60.0, 1.0], [np.nan, 2.0]], ["c", "c", "c"])
    for tree in model.forest_.trees:
        assert tree.nodes["split"][0] >> 2 == 0
        new = int(tree.route(np.array([[55.0, 0.0]]))[0])
        assert held(tree)[new] == {2: 2}
        assert tree.row_weight.sum() >= 3


def test_several_unknown_classes_share_one_leaf():
    model = first()
    n_nodes = model.forest_.n_nodes
    X, y = np.array([[50.0, 50.0], [60.0, 60.0], [70.0, 70.0]]), ["c", "d", "d"]
    model.partial_fit(X, y)
    assert model.forest_.n_nodes == n_nodes + 2 * len(model.forest_)
    for tree in model.forest_.trees:
        assert held(tree)[int(tree.route(X)[0])] == {2: 1, 3: 2}
    assert model.predict([[50.0, 50.0]]).tolist() == ["d"]


def blurred(seed, n=400):
    """Return three classes that overlap, so that the leaves of a tree hold several."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 4)) + 0.8 * y[:, None], y


def test_with_sysfor_as_base_the_first_batch_is_answered_as_sysfor_does():
    X, y = blurred(0)
    model = CIRFClassifier(base_forest="sysfor", min_samples_leaf=20).partial_fit(X, y)
    alone = SysForClassifier(min_samples_leaf=20).partial_fit(X, y)
    fresh, _ = blurred(1)
    np.testing.assert_array_equal(model.predict_proba(fresh), alone.predict_proba(fresh))
    random_forest = CIRFClassifier(min_samples_leaf=20, random_state=0).partial_fit(X, y)
    assert (random_forest.predict_proba(fresh) != model.predict_proba(fresh)).any()


def test_random_trees_vote_by_probabilities_and_sysfor_s_by_majority():
    X, y = blurred(0)
    for base_forest, soft in (("random_forest", True), ("sysfor", False)):
        model = CIRFClassifier(base_forest=base_forest, min_samples_leaf=20, random_state=0).partial_fit(X, y)
        votes = np.zeros((len(X), 3))
        for tree in model.forest_.trees:
            tree.vote(X, votes, soft=soft)
        np.testing.assert_allclose(model.predict_proba(X), votes / votes.sum(axis=1, keepdims=True))


def test_sysfor_s_trees_do_not_depend_on_the_seed():
    X, y = blurred(0)
    models = [CIRFClassifier(base_forest="sysfor", random_state=seed).partial_fit(X, y) for seed in (0, 1)]
    np.testing.assert_array_equal(*(model.predict_proba(X) for model in models))


def test_the_base_forest_cannot_change_between_batches():
    model = first().set_params(base_forest="sysfor")
    with pytest.raises(ValueError, match=r"base_forest of CIRFClassifier was 'random_forest' .* cannot change"):
        model.partial_fit(KNOWN, CLASSES)


def test_both_bases_are_methods_of_the_experiments_with_the_paper_s_leaf_size():
    for name, base_forest in (("CIRF paper", "random_forest"), ("CIRF-S paper", "sysfor")):
        assert METHODS[name].make().base_forest == base_forest
        assert METHODS[name].settings(100_001) == {"min_samples_leaf": 100}


@pytest.mark.parametrize("wrong", [{"base_forest": "hoeffding"}, {"n_estimators": 0}, {"min_samples_leaf": 0}])
def test_parameters_are_checked_when_learning(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} of "):
        CIRFClassifier(**wrong).fit([[0.0], [1.0]], [0, 1])
