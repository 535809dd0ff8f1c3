"""A model that was saved and loaded is the model: it answers the same, and goes on learning the same, bit by bit."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest

import adforest
from adforest import AdaptiveDecisionForestClassifier
from adforest.adaptation import paper_update, update
from adforest.growers import GROWERS
from adforest.monitor import ModelView, tree_text
from adforest.storage.encoders import KINDS
from saved_models import CASES, numbers, ours


@pytest.fixture(autouse=True)
def _still_clock(monkeypatch):
    """Batches take no time, since reports tell how long they took."""
    for module in (paper_update, update):
        monkeypatch.setattr(module, "perf_counter", lambda: 0.0)
    monkeypatch.setattr(adforest.adaptation.steps, "time", lambda: 1.7e9)


def saved(model, path, **how):
    model.save(path, **how)
    return path.read_bytes()


def assert_same_answers(one, other, X):
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    answers, others = one.predict(X), other.predict(X)
    assert answers.tolist() == others.tolist()
    assert answers.dtype.kind == others.dtype.kind
    np.testing.assert_array_equal(one.apply(X), other.apply(X))
    np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.history_ == other.history_
    assert one.history_blocks_ == other.history_blocks_
    assert list(map(repr, one.history_)) == list(map(repr, other.history_))


def test_the_cases_are_of_every_kind():
    models = [make().model._model for make in CASES.values()]
    states = [model.state for model in models]
    growers = {type(state.settings.grower) for state in states}
    assert growers >= set(GROWERS.values()), "a base forest has no model in tests/saved_models.py"
    assert any(state.is_active_separate for state in states)
    assert any(state.pending is not None for state in states)
    assert any(state.pending is not None and state.pending.weight is not None for state in states)
    assert any(state.memory.weight is not None for state in states)
    assert {state.class_mix.seen.dtype.kind for state in states} == {"i", "f"}
    assert any(state.recency for state in states)
    assert any(not state.forests["active"].is_same(state.forests["permanent"]) for state in states)
    assert any("temporary" in state.forests and state.settings.algorithm == "paper" for state in states)
    assert any(len(state.class_mix.new) for state in states)
    assert any(state.evidence.oob_bias.errors for state in states)
    assert any(tree.category_bits.size > 9 for state in states for tree in state.forests["permanent"].forest.trees)
    assert {kind for model in models for kind in model.encoder.kinds} == set(KINDS)
    assert any(known.infrequent >= 0 for model in models for known in model.encoder.categories if known)
    assert {model.labels.by_arrival.dtype.kind for model in models} == set("iufbUO")
    tracks = [model.track for model in models]
    assert any(len(track.columns.early) for track in tracks)
    assert any(track.columns.past.any() and track.columns.past_unseen.any() for track in tracks)
    assert any(len(track.classes.returns) for track in tracks)
    assert any(len(track.history.blocks) for track in tracks)
    assert any(track.history.sustained for track in tracks)


@pytest.mark.parametrize("name", CASES)
def test_a_loaded_model_goes_on_as_one_that_was_never_saved(name, tmp_path):
    case = CASES[name]()
    never_saved, path = copy.deepcopy(case.model), tmp_path / "model.adf"
    first = saved(case.model, path)
    loaded = adforest.load(path)
    assert type(loaded) is type(case.model)
    assert_same_answers(loaded, case.model, case.later[0][0])
    assert tree_text(loaded) == tree_text(case.model)
    assert ModelView.from_estimator(loaded) == ModelView.from_estimator(case.model)
    assert saved(loaded, path) == first
    assert saved(case.model, path) == first  # answering and saving change nothing
    for X, y, *weight in case.later:
        for one in (loaded, case.model, never_saved):
            one.partial_fit(X, y, sample_weight=weight[0] if weight else None)
        assert_same_answers(loaded, never_saved, X)
    expected = saved(never_saved, path)
    assert saved(loaded, path) == expected
    assert saved(case.model, path) == expected


@pytest.mark.parametrize("name", CASES)
def test_without_records_it_answers_and_says_why_it_cannot_learn(name, tmp_path):
    case = CASES[name]()
    whole, bare = saved(case.model, tmp_path / "whole.adf"), saved(case.model, tmp_path / "bare.adf", samples=False)
    assert len(bare) < len(whole)
    loaded = adforest.load(tmp_path / "bare.adf")
    X, y, *_ = case.later[0]
    assert_same_answers(loaded, case.model, X)
    before = saved(loaded, tmp_path / "again.adf")
    assert before == bare  # no records come back, whatever is asked for
    with pytest.raises(ValueError, match="saved with samples=False: it predicts, but cannot learn more batches"):
        loaded.partial_fit(X, y)
    assert saved(loaded, tmp_path / "again.adf") == before
    assert not loaded.snapshot(samples=True).has_samples
    np.testing.assert_array_equal(loaded.snapshot().predict_proba(X), case.model.predict_proba(X))
    assert loaded.fit(X, y).partial_fit(X, y).history_[-1].batch == 2  # what begins anew has records of its own


def test_no_record_is_in_a_file_without_records(tmp_path):
    X, y = numbers(0)
    model = ours().fit(X, y)
    values = [value.tobytes() for value in X[~np.isnan(X)]]
    whole = saved(model, tmp_path / "whole.adf")
    assert all(value in whole for value in values)
    bare = saved(model, tmp_path / "bare.adf", samples=False)
    box = model._model.state.forests["permanent"].box
    ends = {value.tobytes() for value in (*box.low, *box.high)}  # the least and the greatest of each column stay
    assert not [value for value in values if value in bare and value not in ends]


def test_parameters_come_back(tmp_path):
    parameters = {
        "n_estimators": np.int64(4),
        "categorical_features": pd.Index(["b"]),
        "max_features": 0.5,
        "renewal": float("inf"),
        "memory_size": None,
        "verbose": np.True_,
        "random_state": np.int32(5),
    }
    model = AdaptiveDecisionForestClassifier(**parameters | {"renewal": 1.0, "verbose": 0})
    model.fit(pd.DataFrame({"a": [1.0, 2.0], "b": [1, 2]}), [0, 1])
    model.set_params(**parameters)
    model.save(tmp_path / "model.adf")
    found = adforest.load(tmp_path / "model.adf").get_params()
    assert found.pop("categorical_features").tolist() == ["b"]
    expected = model.get_params()
    del expected["categorical_features"]
    assert found == expected
    assert type(found["n_estimators"]) is int


def test_a_generator_is_not_kept_but_its_seed_is(tmp_path):
    X, y = numbers(0)
    model = ours(random_state=np.random.RandomState(3)).fit(X, y)
    path = tmp_path / "model.adf"
    first = saved(model, path)
    loaded = adforest.load(path)
    assert loaded.random_state is None
    assert loaded._model.seed == model._model.seed
    assert isinstance(model.random_state, np.random.RandomState)
    model.random_state.random_sample(10)  # what others draw from it is not the model's business
    assert saved(model, path) == first


def test_parameters_changed_between_batches_are_those_of_the_loaded_model(tmp_path):
    X, y = numbers(0)
    model = ours().fit(X, y).partial_fit(*numbers(1))
    model.set_params(answer_for="everything", window_size=9, n_estimators=5, max_features=1)
    model.save(tmp_path / "model.adf")
    loaded = adforest.load(tmp_path / "model.adf")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)
    for one in (model, loaded):
        with pytest.raises(ValueError, match=r"n_estimators .* was 3 .* and is 5 now"):
            one.partial_fit(X, y)
        one.set_params(n_estimators=3).partial_fit(X, y)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_forests_share_trees_as_before(tmp_path):
    model = ours().fit(*numbers(0)).partial_fit(*numbers(1))
    model.save(tmp_path / "model.adf")
    loaded = adforest.load(tmp_path / "model.adf")
    assert loaded.active_forest_.trees[0] is loaded.permanent_forest_.trees[0]
    assert loaded.permanent_forest_.trees[0].nodes.base is None  # a tree that is forgotten takes no memory


def test_a_warning_said_once_is_not_said_again(tmp_path):
    X = np.array([[f"id {k}", k % 2] for k in range(120)], dtype=object)
    with pytest.warns(UserWarning, match="identify samples"):
        model = ours().fit(X, X[:, 1].astype(int))
    model.save(tmp_path / "model.adf")
    loaded = adforest.load(tmp_path / "model.adf")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X[:, 0] = [f"other {k}" for k in range(120)]
        loaded.partial_fit(X, X[:, 1].astype(int))


def test_many_values_with_codes_given_back(tmp_path, monkeypatch):
    from adforest.encoding import categories
    from adforest.storage import encoders

    monkeypatch.setattr(categories, "MAX_VALUES", 64)
    monkeypatch.setattr(encoders, "FULL", int(64 * 15 / 16) - 1)
    rng, batches = np.random.default_rng(0), []
    for k in range(5):
        names = np.array([f"name {code}" for code in rng.integers(25 * k, 25 * k + 40, 90)], dtype=object)
        batches.append((np.column_stack([rng.normal(size=(90, 1)).astype(object), names]), rng.integers(0, 2, 90)))
    model = ours()
    for X, y in batches[:4]:
        model.partial_fit(X, y)
    first = saved(model, tmp_path / "model.adf")
    loaded = adforest.load(tmp_path / "model.adf")
    for one in (loaded, model):
        one.partial_fit(*batches[4])
    assert saved(loaded, tmp_path / "model.adf") == saved(model, tmp_path / "other.adf") != first
