"""Class rates of categories: right by brute force, from before the batch, of use, bounded, named by their column."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.adaptation.state import with_columns
from adforest.encoding.rates import MAX_COUNTED, MAX_RATES, MIN_VALUES, PRIOR_WEIGHT, STEP, CategoryRates
from adforest.monitor.tree_nodes import view_tree
from rated_films import prequential, ratings

FOUR = ("awful", "bad", "good", "great")
NAN = float("nan")


class WithoutRates(AdaptiveDecisionForestClassifier):
    """The forest as it is where rates are of no use."""

    _adds_rates = False


def learnt(n_batches=8, *, changes=None, **parameters):
    """Return a model that has learnt ratings of which rates are columns, and a batch that it has not."""
    *batches, last = ratings(n_batches + 1, classes=FOUR, n_users=150, n_films=150, **changes or {})
    model = AdaptiveDecisionForestClassifier(**{"n_estimators": 4, "random_state": 0} | parameters)
    for X, y in batches:
        model.partial_fit(X, y)
    assert model._model.encoder.rate_columns
    return model, last


# --- what they are good for


def test_ratings_by_names_are_predicted_better():
    batches = ratings(20)
    assert prequential(AdaptiveDecisionForestClassifier(10, random_state=0), batches) > 0.655  # without rates 0.634


def test_names_that_say_nothing_change_nothing():
    batches = ratings(8, says=0.0)
    here, there = AdaptiveDecisionForestClassifier(4, random_state=0), WithoutRates(4, random_state=0)
    assert prequential(here, batches) == prequential(there, batches)
    assert here._model.encoder.rate_columns == ()
    X = batches[0][0]
    np.testing.assert_array_equal(here.predict_proba(X), there.predict_proba(X))


def test_few_values_have_no_rates():
    batches = ratings(8, n_users=MIN_VALUES - 1, n_films=MIN_VALUES - 1)
    model = AdaptiveDecisionForestClassifier(4, random_state=0)
    prequential(model, batches)
    assert model._model.encoder.rate_columns == ()
    assert set(model._model.encoder.rates) == {0, 1}  # counted all the same: values may become more


def test_the_paper_s_algorithm_counts_nothing():
    model = PaperADFClassifier(3, random_state=0, min_samples_leaf=5)
    prequential(model, ratings(5))
    assert model._model.encoder.rates == {}


# --- what they are


@given(st.data())
def test_rates_are_those_counted_by_hand(data):
    n_codes, n_classes = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 3))
    codes = st.sampled_from([NAN, *range(n_codes)])
    batch = st.lists(st.tuples(codes, st.integers(0, n_classes - 1)), max_size=30)
    batches = data.draw(st.lists(batch, max_size=4))
    rates, seen, gain, squares = CategoryRates.none().with_codes(n_codes, None), [], np.zeros(3), np.zeros(3)

    def rate_of(code, k):
        known = [y for value, y in seen if not np.isnan(value)]
        here = [y for value, y in seen if value == code]
        prior = sum(y == k for y in known) / max(1, len(known))
        rate = (sum(y == k for y in here) + PRIOR_WEIGHT * prior) / (len(here) + PRIOR_WEIGHT)
        return np.clip([rate, prior], 1e-4, 1 - 1e-4)

    for samples in batches:
        for code, y in samples:
            for k in range(n_classes) if code == code else ():
                rate, prior = rate_of(code, k) if y == k else 1 - rate_of(code, k)
                gain[k] += np.log(rate / prior)
                squares[k] += np.log(rate / prior) ** 2
        columns = np.array(samples, dtype=float).reshape(-1, 2)
        rates = rates.after(columns[:, 0], columns[:, 1].astype(np.int32), n_classes)
        seen += samples
    np.testing.assert_allclose(rates.gain, gain[: len(rates.gain)], atol=1e-9)
    np.testing.assert_allclose(rates.gain_squares, squares[: len(rates.gain)], atol=1e-9)
    rates = replace(rates, classes=tuple(range(len(rates.gain))))
    for code in range(n_codes):
        for k, found in enumerate(rates.look_up(np.array([float(code)]))[0]):
            rate, prior = rate_of(code, k)
            steps = (np.log(rate / (1 - rate)) - np.log(prior / (1 - prior))) / STEP
            assert abs(found - steps) <= 0.5 + 1e-9
            assert found == round(found)
    assert np.isnan(rates.look_up(np.array([NAN]))).all()


def test_classes_and_columns_are_bounded():
    rng, n_codes = np.random.default_rng(0), 200
    rates = CategoryRates.none().with_codes(n_codes, None)
    for n_classes in (30, 40):
        codes = rng.integers(0, n_codes, 20_000)
        rates = rates.after(codes.astype(float), (codes % 30).astype(np.int32), n_classes).with_columns(n_codes)
    assert rates.counts.shape == (n_codes, MAX_COUNTED + 1)
    assert rates.counts[:, 0].sum() == 40_000
    assert len(rates.classes) == MAX_RATES
    assert rates.with_columns(n_codes) is rates


def test_a_code_given_back_is_counted_anew():
    codes = np.array([0.0, 1.0, 1.0])
    rates = CategoryRates.none().with_codes(2, None).after(codes, np.array([0, 1, 1], dtype=np.int32), 2)
    grown = rates.with_codes(3, np.array([1], dtype=np.int32))
    assert grown.counts.tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert rates.counts[1].tolist() == [2, 0, 2]


def test_two_classes_need_one_rate():
    model = AdaptiveDecisionForestClassifier(3, random_state=0)
    prequential(model, ratings(8))
    assert sorted(model._model.encoder.rate_columns) == [(0, 0), (1, 0)]


# --- from before the batch


def test_labels_of_a_batch_say_nothing_about_its_own_samples():
    model, (X, y) = learnt()
    other = deepcopy(model)
    expected = model._model.encoder.translate(X)
    model.partial_fit(X, y)
    other.partial_fit(X, np.random.default_rng(0).permutation(y))
    for one in (model, other):
        np.testing.assert_array_equal(one._model.state.memory.matrix()[-len(X) :], expected)
    assert not np.array_equal(model._model.encoder.translate(X), expected)


def test_samples_keep_the_rates_that_they_came_with():
    model, (X, y) = learnt()
    before = model._model.state.memory.matrix()
    model.partial_fit(X, y)
    after = model._model.state.memory.matrix()[: len(before), : before.shape[1]]
    np.testing.assert_array_equal(after, before)
    assert np.isnan(before[:500, 3:]).all()  # nothing was known before the first batch


def test_small_batches_that_wait_are_counted_at_once():
    model, (X, y) = learnt()
    before = sum(rates.counts[:, 0].sum() for rates in model._model.encoder.rates.values())
    model.partial_fit(X[:5], y[:5])
    assert model._model.state.pending is not None
    assert sum(rates.counts[:, 0].sum() for rates in model._model.encoder.rates.values()) == before + 10


# --- what users see of them


def test_users_see_their_own_features_only():
    model, _ = learnt()
    assert model._model.encoder.n_columns > 3
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["user", "film", "number"]
    assert model.feature_importances_.shape == (3,)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert len(model._model.track.columns.bounds) == 3


def test_contributions_add_up_under_the_column_s_own_name():
    model, (X, _) = learnt()
    told = model.explain(X)
    assert told.feature_names.tolist() == ["user", "film", "number"]
    assert told.contributions.shape == (len(X), 3, 4)
    np.testing.assert_allclose(told.bias + told.contributions.sum(axis=1), model.predict_proba(X), atol=1e-12)
    assert told.values(0) == X.iloc[0].tolist()


def test_questions_about_rates_are_told():
    model, _ = learnt(max_features=None)
    views = [view for k in range(4) for view in view_tree(model, "permanent", k, None) if view.condition]
    about = [view.condition.left for view in views if view.condition.left.startswith("odds of ")]
    assert about
    assert all(" by user " in left or " by film " in left for left in about)
    assert any("times the overall odds" in left for left in about)


# --- columns that come and go


def test_columns_of_tables_are_added_before_the_rates():
    model, (X, y) = learnt(column_changes="allow")
    state, encoder = model._model.state, model._model.encoder
    trees, before = state.forests["permanent"].forest.trees, encoder.translate(X)
    column_index = np.append(np.arange(3), 1 + np.arange(3, encoder.n_columns))
    moved = with_columns(state, column_index, encoder.n_columns + 1, {})
    after = np.insert(before, 3, NAN, axis=1)
    asks = 0
    for old, new in zip(trees, moved.forests["permanent"].forest.trees, strict=True):
        np.testing.assert_array_equal(old.route(before), new.route(after))
        asks += np.count_nonzero(old.nodes["split"] >> 2 >= 3)
    assert asks
    model.partial_fit(X.assign(added=1.5), y)
    assert model.n_features_in_ == 4
    assert model._model.encoder.rate_columns[: len(encoder.rate_columns)] == encoder.rate_columns
    memory = model._model.state.memory.matrix()
    np.testing.assert_array_equal(memory[-len(X) :, 4 : 4 + len(encoder.rate_columns)], before[:, 3:])
    np.testing.assert_array_equal(memory[-len(X) :, 3], 1.5)


def test_values_that_are_missing_or_unknown():
    model, (X, _) = learnt()
    strange = X[:3].assign(user=[None, "nobody", "u1"])
    rates = model._model.encoder.translate(strange)[:, 3:]
    of_user = [position == 0 for position, _ in model._model.encoder.rate_columns]
    assert np.isnan(rates[:2][:, of_user]).all()
    assert not np.isnan(rates[2]).any()
    assert np.isfinite(model.predict_proba(strange)).all()


def test_infrequent_values_share_a_rate():
    model, (X, _) = learnt(max_categories=120)
    known = model._model.encoder.categories[0]
    matrix = model._model.encoder.translate(X.assign(user="nobody"))
    assert known.infrequent >= 0
    assert (matrix[:, 0] == known.infrequent).all()
    assert np.isfinite(matrix[:, 3:][:, [position == 0 for position, _ in model._model.encoder.rate_columns]]).all()


def test_categories_that_are_numbers():
    batches = [(X.assign(user=X["user"].str[1:].astype(float)), y) for X, y in ratings(8)]
    model = AdaptiveDecisionForestClassifier(3, random_state=0, categorical_features=["user", "film"])
    prequential(model, batches)
    assert (0, 0) in model._model.encoder.rate_columns
    assert isinstance(batches[0][0], pd.DataFrame)
