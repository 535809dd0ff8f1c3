"""Of many features, those that trees gained from are drawn more often; none dies out, and few columns are all alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adforest
import oracles
from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.adaptation.steps import BatchUpdate
from adforest.growers import RandomForestGrower, TreeRequest, count_features, random_forest, sampling_by_worth
from grown_trees import SHARED, check_tree


@SHARED
@given(b=oracles.blocks(), data=st.data(), max_features=st.integers(1, 4), seed=st.integers(0, 2**64 - 1))
def test_trees_are_whole_whatever_is_drawn(binned, b, data, max_features, seed):
    m = b.X.shape[1]
    draws = np.array(data.draw(st.lists(st.integers(-1, m - 1), min_size=1, max_size=20)), dtype=np.int32)
    tree = oracles.grow_tree(b, seed=seed, max_features=max_features, binned=binned, draws=draws)
    np.testing.assert_allclose(tree.importance, check_tree(b, tree), rtol=1e-9, atol=1e-6)
    uniform = oracles.grow_tree(b, seed=seed, max_features=m, binned=binned, draws=draws, max_depth=1)
    everything = oracles.grow_tree(b, max_features=m, binned=binned, max_depth=1)
    if not b.n_categories.any():  # of all features the best cut is worth the same in any order
        assert uniform.importance.sum() == pytest.approx(everything.importance.sum(), abs=1e-6)


@pytest.mark.parametrize("n", [50, 900], ids=["exact", "binned"])
def test_a_node_draws_features_as_often_as_the_list_says(n):
    rng = np.random.default_rng(0)
    b = oracles.block(rng.normal(size=(n, 8)), np.arange(n) % 2)
    draws = np.repeat(np.array([-1, 3, 5], dtype=np.int32), [40, 40, 20])
    roots = [
        oracles.grow_tree(b, seed=seed, max_features=1, max_depth=1, draws=draws).nodes["split"][0] >> 2
        for seed in range(4000)
    ]
    expected = np.full(8, 0.4 / 8)
    expected[[3, 5]] += [0.4, 0.2]
    np.testing.assert_allclose(np.bincount(roots, minlength=8) / 4000, expected, atol=0.03)


def test_a_favoured_feature_that_is_constant_gives_way():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    X[:, 2] = 1.0
    b = oracles.block(X, np.arange(300) % 2)
    tree = oracles.grow_tree(b, max_features=2, draws=np.full(7, 2, dtype=np.int32))
    check_tree(b, tree)
    assert set(tree.nodes["split"][tree.nodes["split"] >= 0] >> 2) == {0, 1, 3, 4}


@pytest.mark.parametrize("m", [1, 5, 20, 64, 100, 144])
def test_features_of_few_columns_are_all_alike(m):
    assert sampling_by_worth(np.arange(m) + 1.0, count_features("default", m)) is None


def test_features_are_all_alike_where_all_are_tried_or_none_is_worth_anything():
    assert sampling_by_worth(np.arange(1000) + 1.0, 1000) is None
    assert sampling_by_worth(np.zeros(1000), 31) is None


@given(m=st.integers(200, 3000), n_tried=st.integers(1, 60), n_worth=st.integers(1, 40), seed=st.integers(0, 99))
def test_draws_follow_worth_and_some_are_left_to_all(m, n_tried, n_worth, seed):
    rng = np.random.default_rng(seed)
    worth = np.zeros(m)
    worth[rng.permutation(m)[:n_worth]] = rng.random(n_worth) + 0.01
    draws = sampling_by_worth(worth, n_tried)
    left = min(1.0, max(random_forest.MIN_UNIFORM_FRACTION, random_forest.PATH_LENGTH * n_tried / m))
    if left == 1:
        assert draws is None
        return
    assert (draws == -1).mean() == pytest.approx(left, abs=0.006)
    proba = np.bincount(draws[draws >= 0], minlength=m) / len(draws)
    np.testing.assert_allclose(proba, (1 - left) * worth / worth.sum(), atol=0.5 / len(draws) + 1e-9)


def wide(number, n=250, m=600, moved=False):
    """Return samples of two classes, which five of many columns tell; others once they have moved."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(n, m))
    told = X[:, 300:305] if moved else X[:, 10:15]
    return X, (told.sum(axis=1) + 0.3 * rng.normal(size=n) > 0).astype(int)


def accuracies(model, n_batches, moved_from=99):
    found = []
    for number in range(n_batches):
        X, y = wide(number, moved=number >= moved_from)
        if number:
            found.append(model.score(X, y))
        model.partial_fit(X, y)
    return found


def made(**parameters):
    return AdaptiveDecisionForestClassifier(**{"n_estimators": 10, "random_state": 0} | parameters)


def test_five_of_six_hundred_columns_are_found(monkeypatch):
    by_worth = np.mean(accuracies(made(), 7)[-3:])
    monkeypatch.setattr(random_forest, "PATH_LENGTH", 1e9)
    assert by_worth > np.mean(accuracies(made(), 7)[-3:]) + 0.08


def test_columns_that_matter_later_are_found_too(monkeypatch):
    by_worth = np.mean(accuracies(made(), 12, moved_from=5)[-3:])
    monkeypatch.setattr(random_forest, "PATH_LENGTH", 1e9)
    assert by_worth > np.mean(accuracies(made(), 12, moved_from=5)[-3:])


def test_models_are_the_same_on_one_and_four_threads_and_after_a_file(tmp_path):
    models = [made(n_jobs=n_jobs) for n_jobs in (1, 4, 1)]
    for number in range(4):
        if number == 2:
            models[2].save(tmp_path / "model.adf")
            models[2] = adforest.load(tmp_path / "model.adf")
        for model in models:
            model.partial_fit(*wide(number))
    X, _ = wide(99)
    one, four, loaded = (model.predict_proba(X).tobytes() for model in models)
    assert one == four == loaded


def state_of(model, **shape):
    for number in range(2):
        model.partial_fit(*wide(number, **shape))
    return model._model.state


def draws_for(state, m):
    return BatchUpdate(state, oracles.block(*wide(9, m=m)).samples).settings.grower.params.draws


def test_only_wide_tables_of_our_random_forest_draw_by_worth():
    assert draws_for(state_of(made()), 600) is not None
    assert draws_for(state_of(made(), m=60), 60) is None
    assert draws_for(state_of(made(max_features=None)), 600) is None
    assert draws_for(state_of(PaperADFClassifier(3, random_state=0)), 600) is None
    assert draws_for(state_of(made(base_forest="hoeffding", n_estimators=2)), 600) is None


def test_what_stays_in_the_model_draws_all_alike():
    assert state_of(made()).settings.grower.params.draws is None


def test_the_grower_favours_what_its_trees_gained_from():
    X, y = wide(0, n=1500)
    b = oracles.block(X, y)
    grower = RandomForestGrower(adforest.forest.GrowthParams(max_features=24))
    trees = [one.tree for one in grower.build(TreeRequest(b.samples, np.arange(1500, dtype=np.int32), [1, 2, 3, 4], 1))]
    draws = grower.favouring(trees, b.n_categories).params.draws
    assert set(np.argsort(np.bincount(draws[draws >= 0], minlength=600))[-4:]) <= set(range(10, 15))
    assert grower.favouring([], b.n_categories).params.draws is None
