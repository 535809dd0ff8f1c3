"""The classifier with SysFor for a base forest."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from small_forests import clusters, weights_draw_lots
from sysfor_oracles import same_tree


@parametrize_with_checks(
    [
        AdaptiveDecisionForestClassifier(base_forest="sysfor"),
        PaperADFClassifier(base_forest="sysfor", reading="text"),
    ],
    expected_failed_checks=weights_draw_lots,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def sysfor(**changes):
    return AdaptiveDecisionForestClassifier(**{"base_forest": "sysfor", "random_state": 0} | changes)


def batches():
    """Return batches of a stream in which classes appear, and turn round for some time."""
    kinds = [(0, 1), (0, 1, 2), (2, 3), (0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3), (0, 3)]
    stream = [clusters(number, classes, 90) for number, classes in enumerate(kinds)]
    rng = np.random.default_rng(0)
    return [
        (np.where(rng.random(X.shape) < 0.05, np.nan, X), 3 - y if 3 <= i <= 5 else y)
        for i, (X, y) in enumerate(stream)
    ]


def learnt(**changes):
    model = sysfor(**changes)
    for X, y in batches():
        model.partial_fit(X, y)
    return model


def test_new_classes_in_any_batch():
    model = sysfor()
    for number, classes in enumerate([(3,), (1, 3), (0,), (2, 4), (0, 1, 2, 3, 4)]):
        model.partial_fit(*clusters(number, classes))
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    assert model.score(*clusters(9, (0, 1, 2, 3, 4))) > 0.9


def test_a_class_a_batch_and_all_of_them_known_in_the_end():
    model = sysfor()
    for klass in range(8):
        model.partial_fit(*clusters(klass, (klass,)))
    assert model.score(*clusters(99, tuple(range(8)), 400)) > 0.9


def test_new_categories_and_missing_values_in_any_batch():
    colours = ["red", "green", "blue", "white", "black"]
    model = sysfor()
    rng = np.random.default_rng(0)
    for number in range(4):
        y = rng.integers(0, number + 2, 80)
        frame = pd.DataFrame({"colour": np.array(colours, dtype=object)[y], "size": rng.normal(size=80)})
        frame.loc[rng.random(80) < 0.1, "size"] = np.nan
        frame.loc[5, "colour"] = None
        model.partial_fit(frame, y)
    asked = pd.DataFrame({"colour": [*colours, "pink", None], "size": 0.0})
    assert model.predict(asked)[:5].tolist() == [0, 1, 2, 3, 4]
    assert model.predict_proba(asked).sum(axis=1) == pytest.approx(np.ones(7))


def test_columns_that_say_nothing_do_no_harm():
    X, y = clusters(0)
    X = np.c_[X, np.full(60, np.nan), np.ones(60)]
    model = sysfor().fit(X, y).partial_fit(X, y)
    assert model.score(X, y) == 1
    assert model.predict(np.full((1, 4), np.nan)).shape == (1,)


def test_a_forest_has_fewer_trees_where_the_data_offer_no_more():
    model = sysfor(n_estimators=10).fit([[1.0], [2.0], [8.0], [9.0]], ["a", "a", "b", "b"])
    assert len(model.permanent_forest_) == 1
    model.partial_fit([[1.5], [8.5]], ["a", "b"])
    assert model.predict([[0.0], [10.0]]).tolist() == ["a", "b"]
    pure = sysfor().fit([[1.0], [2.0]], ["a", "a"]).partial_fit([[50.0], [51.0]], ["b", "b"])
    assert pure.predict([[1.0], [50.0]]).tolist() == ["a", "b"]


def test_drift_builds_temporary_forests_and_one_takes_over_where_it_lasts():
    model = learnt()
    assert {report.drift for report in model.history_} > {"none"}
    assert any("built" in report.action.get("temporary", "") for report in model.history_)
    model = sysfor()
    for number in range(8):
        X, y = clusters(number)
        model.partial_fit(X, 1 - y if number > 1 else y)
    assert "sustained" in {report.drift for report in model.history_}
    X, y = clusters(50)
    assert model.score(X, 1 - y) > 0.9


@pytest.mark.parametrize("renewal", [0, 2])
def test_random_state_has_no_influence(renewal):
    X = np.concatenate([X for X, _ in batches()])
    answers = [learnt(random_state=seed, renewal=renewal).predict_proba(X) for seed in (0, 1, None)]
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


def test_threads_have_no_influence():
    X = np.concatenate([X for X, _ in batches()])
    one, four = (learnt(n_jobs=n_jobs, renewal=2) for n_jobs in (1, 4))
    np.testing.assert_array_equal(one.predict_proba(X), four.predict_proba(X))
    trees = zip(one.permanent_forest_.trees, four.permanent_forest_.trees, strict=True)
    assert all(same_tree(a, b) for a, b in trees)


@pytest.mark.parametrize(
    "changes", [{}, {"memory_size": 0}, {"memory_size": 30}, {"splitting": "sat"}, {"max_depth": 2}]
)
def test_after_every_batch_samples_are_in_the_leaves_they_reach(changes):
    model = sysfor(**changes)
    for X, y in batches():
        model.partial_fit(X, y)
        memory = model._model.state.memory
        for forest in (model.permanent_forest_, model.active_forest_, model.temporary_forest_):
            for tree in forest.trees if forest else ():
                assert tree.n_leaves == (tree.nodes["split"] < 0).sum()
            is_repaired = forest is not model.temporary_forest_
            for tree, leaf_of in zip(forest.trees, forest.leaf_of, strict=True) if forest and is_repaired else ():
                placed = leaf_of >= 0
                np.testing.assert_array_equal(leaf_of[placed], tree.route(memory.matrix()[placed]))


def test_a_place_is_renewed_by_its_own_tree_or_not_at_all():
    # At first three attributes are the class itself; from the second batch on the third is noise, and the data offer
    # two trees. With three trees and two renewed a batch, it is the turn of places 2 and 0 at the fourth.
    rng = np.random.default_rng(0)
    model = sysfor(n_estimators=3, renewal=2)
    for number in range(4):
        y = np.arange(60) % 2
        X = np.c_[y, y, y if number == 0 else rng.integers(0, 2, 60)].astype(float)
        model.partial_fit(X, y)
    assert [tree.nodes["split"][0] >> 2 for tree in model.permanent_forest_.trees] == [0, 1, 2]


def test_the_attribute_that_decides_is_the_important_one():
    X = np.random.default_rng(0).normal(size=(300, 4))
    model = sysfor(n_estimators=1).fit(X, X[:, 2] > 0)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[2] > 0.95


def test_a_pickle_answers_and_goes_on_learning_like_the_original():
    model = learnt()
    copy = pickle.loads(pickle.dumps(model))
    X, y = clusters(77, (0, 1, 2))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    for one in (copy, model):
        one.partial_fit(X, y)
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("load", [load_iris, load_wine], ids=lambda load: load.__name__)
def test_a_forest_is_as_accurate_as_a_tree_of_scikit_learn(load):
    X, y = load(return_X_y=True)
    ours, theirs = [], []
    for split in range(4):
        X_old, X_new, y_old, y_new = train_test_split(X, y, test_size=0.4, stratify=y, random_state=split)
        ours.append(sysfor().fit(X_old, y_old).score(X_new, y_new))
        tree = DecisionTreeClassifier(criterion="entropy", random_state=split)
        theirs.append(tree.fit(X_old, y_old).score(X_new, y_new))
    assert np.mean(ours) > np.mean(theirs) - 0.02
