"""Columns of very many values: ids are named, infrequent values grouped, codes given back and never mistaken."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.adaptation.state import with_columns
from adforest.encoding import EncodingRules, categories
from adforest.encoding.categories import INFREQUENT, MAX_VALUES
from adforest.monitor import tree_text
from encoded_tables import extend_table, learn_table
from experiments.rivals import RefitForestClassifier

NAN = np.nan
REUSE = EncodingRules(reuses_codes=True)


def column(values):
    return [[value] for value in values]


def forest(kind=AdaptiveDecisionForestClassifier, **changes):
    return kind(**{"n_estimators": 5, "random_state": 0} | changes)


@pytest.fixture
def small(monkeypatch):
    """Let columns have room for five values."""
    monkeypatch.setattr(categories, "MAX_VALUES", 5)


# --- ids


def test_a_near_unique_text_column_is_named_once():
    names = [f"id {i}" for i in range(300)]
    frame = pd.DataFrame({"id": names[:100], "kind": ["a", "b"] * 50})
    model = forest()
    with pytest.warns(UserWarning, match="^column 'id' of batch 1") as caught:
        model.partial_fit(frame, [0, 1] * 50)
    assert [str(one.message) for one in caught] == [
        "column 'id' of batch 1 brings the number of its values to 100 in 100 samples. Values that are hardly "
        "ever repeated do not help to predict later samples: if they identify samples, drop the column."
    ]
    assert caught[0].filename == __file__
    model.partial_fit(frame.assign(id=names[100:200]), [0, 1] * 50)
    pickle.loads(pickle.dumps(model)).partial_fit(frame.assign(id=names[200:]), [0, 1] * 50)
    with pytest.warns(UserWarning, match="column 'id' of batch 1"):
        model.fit(frame, [0, 1] * 50)


@pytest.mark.parametrize(
    "values",
    [
        [f"id {i}" for i in range(99)],
        [f"id {i % 89}" for i in range(100)],
        [None] * 100 + [f"id {i}" for i in range(99)],
        list(range(200)),
    ],
    ids=["too few samples", "many come again", "too few values", "numbers"],
)
def test_other_columns_are_not_named(values):
    learn_table(column(values), [0])


def test_ids_are_found_over_several_batches():
    encoder, _ = learn_table(column(f"a{i}" for i in range(60)))
    with pytest.warns(UserWarning, match="column 0 of batch 2 brings the number of its values to 120 in 120 samples"):
        extend_table(encoder, column(f"b{i}" for i in range(60)), 2)


# --- infrequent values


def test_infrequent_values_share_a_code():
    rules = EncodingRules(min_frequency=2)
    encoder, matrix = learn_table(column("aabc"), rules=rules)
    assert matrix[:, 0].tolist() == [0, 0, 1, 1]
    assert encoder.category_values(0) == ["a", INFREQUENT]
    encoder, matrix = extend_table(encoder, column("bdac"), 2, rules)
    assert matrix[:, 0].tolist() == [2, 1, 0, 3], "b and c are frequent now, over both batches"
    assert encoder.category_values(0) == ["a", INFREQUENT, "b", "c"]
    np.testing.assert_array_equal(encoder.translate(column(["d", "never", "b", None]))[:, 0], [1, 1, 2, NAN])


def test_a_share_of_all_samples():
    rules = EncodingRules(min_frequency=0.3)
    encoder, matrix = learn_table(column("aabbbc"), rules=rules)
    assert matrix[:, 0].tolist() == [0, 0, 1, 1, 1, 2]
    encoder, matrix = extend_table(encoder, column("bbbbb"), 2, rules)
    assert encoder.translate(column("abc"))[:, 0].tolist() == [2, 1, 2], "a is infrequent now; its code is kept for it"
    encoder, matrix = extend_table(encoder, column("aaaaaa"), 3, rules)
    assert matrix[:, 0].tolist() == [0] * 6


def test_the_most_frequent_values_have_codes_of_their_own():
    rules = EncodingRules(max_categories=3)
    encoder, matrix = learn_table(column("aabbbcccc"), rules=rules)
    assert matrix[:, 0].tolist() == [2, 2, 0, 0, 0, 1, 1, 1, 1]
    assert encoder.n_categories.tolist() == [3]
    encoder, _ = extend_table(encoder, column("aaaa"), 2, rules)
    assert [encoder.translate(column(value))[0, 0] for value in "abc"] == [3, 2, 1]


def test_without_grouping_nothing_is_grouped_and_the_unknown_is_missing():
    encoder, matrix = learn_table(column("abc"))
    assert matrix[:, 0].tolist() == [0, 1, 2]
    assert np.isnan(encoder.translate(column(["never"]))).all()


def test_grouping_may_begin_and_end_between_batches():
    encoder, _ = learn_table(column("aab"))
    encoder, matrix = extend_table(encoder, column("ab"), 2, EncodingRules(min_frequency=3))
    assert matrix[:, 0].tolist() == [0, 2]
    encoder, matrix = extend_table(encoder, column("abc"), 3)
    assert matrix[:, 0].tolist() == [0, 1, 3]
    assert np.isnan(encoder.translate(column(["never"]))).all()


VALUES = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=30)


@given(st.lists(VALUES, min_size=1, max_size=4), st.none() | st.integers(1, 6), st.none() | st.integers(1, 5))
def test_scikit_learn_finds_the_same_values_infrequent(batches, least, most):
    rules = EncodingRules(max_categories=most, min_frequency=least)
    encoder, _ = learn_table(column(batches[0]), rules=rules)
    for number, batch in enumerate(batches[1:], start=2):
        encoder, _ = extend_table(encoder, column(batch), number, rules)
    seen = [value for batch in batches for value in batch]
    referee = OneHotEncoder(max_categories=most, min_frequency=least).fit(column(seen))
    theirs = referee.infrequent_categories_[0] if least or most else None
    infrequent = set() if theirs is None else set(theirs)
    codes = encoder.translate(column(sorted(set(seen))))[:, 0]
    values = encoder.category_values(0)
    ours = {value for value, code in zip(sorted(set(seen)), codes, strict=True) if values[int(code)] == INFREQUENT}
    assert len(ours) == len(infrequent)
    # Of values that came equally often, any may be the infrequent one.
    assert sorted(map(seen.count, ours)) == sorted(map(seen.count, infrequent))


@pytest.mark.parametrize("kind", [AdaptiveDecisionForestClassifier, PaperADFClassifier])
def test_a_model_groups_infrequent_values(kind):
    rng = np.random.default_rng(0)
    model = forest(kind, min_frequency=20)
    for _ in range(5):
        common = rng.random(400) < 0.5
        names = np.where(common, rng.choice(["a", "b"], 400), [f"rare {i}" for i in rng.integers(0, 10_000, 400)])
        model.partial_fit(pd.DataFrame({"name": names}), common)
    unseen = pd.DataFrame({"name": ["a", "b", "rare 77777"]})
    assert model.predict(unseen).tolist() == [True, True, False]
    assert INFREQUENT in tree_text(model)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"max_categories": 0},
            "max_categories of AdaptiveDecisionForestClassifier is 0; expected an int of at least 1",
        ),
        (
            {"min_frequency": 0.0},
            "min_frequency of AdaptiveDecisionForestClassifier is 0.0; expected an int of at least 1",
        ),
        ({"min_frequency": 1.5}, "a number above 0 up to 1, or None"),
        ({"column_changes": "maybe"}, "column_changes of .* is 'maybe'; expected 'error' or 'allow'"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(ValueError, match=message):
        forest(**parameters).fit(np.eye(2), [0, 1])


# --- codes given back


@pytest.mark.usefixtures("small")
def test_values_not_seen_for_longest_give_their_codes_back():
    encoder, _ = learn_table(column("abc"), rules=REUSE)
    encoder, _ = extend_table(encoder, column("cad"), 2, REUSE)
    encoder, matrix = extend_table(encoder, column("ae"), 3, REUSE)
    assert encoder.recycled_codes == {}
    assert matrix[:, 0].tolist() == [0, 4]
    encoder, matrix = extend_table(encoder, column("xcy"), 4, REUSE)
    assert encoder.recycled_codes[0].tolist() == [1, 3], "b and d; c and a came later or now"
    assert matrix[:, 0].tolist() == [1, 2, 3]
    np.testing.assert_array_equal(encoder.translate(column("abcdexy"))[:, 0], [0, NAN, 2, NAN, 4, 1, 3])
    encoder, _ = extend_table(encoder, column("a"), 5, REUSE)
    assert encoder.recycled_codes == {}, "only what the last batch gave back"


@pytest.mark.usefixtures("small")
def test_a_batch_of_too_many_values_keeps_the_most_frequent():
    encoder, matrix = learn_table(column("abcdeffgga"), rules=REUSE)
    np.testing.assert_array_equal(matrix[:, 0], [0, 1, 2, NAN, NAN, 3, 3, 4, 4, 0])
    encoder, matrix = extend_table(encoder, column("uvwxyz"), 2, REUSE)
    np.testing.assert_array_equal(matrix[:, 0], [0, 1, 2, 3, 4, NAN])
    assert encoder.n_categories.tolist() == [5]


@pytest.mark.usefixtures("small")
def test_who_cannot_forget_codes_keeps_them():
    encoder, _ = learn_table(column("abcde"))
    encoder, matrix = extend_table(encoder, column("xa"), 2)
    np.testing.assert_array_equal(matrix[:, 0], [NAN, 0])
    assert encoder.category_values(0) == list("abcde")
    model = RefitForestClassifier(random_state=0).fit(column("abcde"), list("abcde"))
    model.partial_fit(column("xyzab"), list("abcab"))
    assert model.predict(column("xab")).shape == (3,)


@pytest.mark.usefixtures("small")
@given(st.lists(st.lists(st.sampled_from("abcdefghijkl"), min_size=1, max_size=9), min_size=1, max_size=8))
def test_a_code_means_one_value_until_it_is_given_back(batches):
    encoder, matrix = learn_table(column(batches[0]), rules=REUSE)
    meaning: dict[int, str] = {}
    for number, batch in enumerate(batches, start=1):
        if number > 1:
            encoder, matrix = extend_table(encoder, column(batch), number, REUSE)
        for code in encoder.recycled_codes.get(0, []):
            del meaning[int(code)]
        for value, code in zip(batch, matrix[:, 0], strict=True):
            if code == code:
                assert meaning.setdefault(int(code), value) == value
        assert encoder.n_categories[0] <= 5
        known = [value for value in encoder.category_values(0) if value is not None]
        assert len(set(known)) == len(known) <= 5
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(encoder)).translate(column(batch)), matrix)


def test_more_values_than_there_are_codes():
    names = [f"v{i}" for i in range(MAX_VALUES)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder, matrix = learn_table(pd.DataFrame({"id": names}), rules=REUSE)
        assert matrix[-1, 0] == MAX_VALUES - 1
        encoder, matrix = extend_table(encoder, pd.DataFrame({"id": ["one more", "v0"]}), 2, REUSE)
    assert matrix[:, 0].tolist() == [1, 0]
    assert encoder.recycled_codes[0].tolist() == list(range(1, 1 + MAX_VALUES // 16))
    assert np.isnan(encoder.translate(pd.DataFrame({"id": ["v1", "v2"]}))).all()
    assert encoder.n_categories.max() == MAX_VALUES


# --- trees and samples that knew the old value


@pytest.mark.parametrize("kind", [AdaptiveDecisionForestClassifier, PaperADFClassifier])
@pytest.mark.parametrize("base_forest", ["random_forest", "sysfor", "hoeffding"])
@pytest.mark.parametrize("splitting", ["entropy", "isat"])
def test_a_code_that_was_given_back_is_to_trees_a_category_never_seen(kind, base_forest, splitting):
    rng = np.random.default_rng(0)
    names, noise = rng.choice(list("abcdefgh"), 600), rng.normal(size=600)
    model = forest(kind, base_forest=base_forest, splitting=splitting, min_samples_leaf=5)
    model.fit(pd.DataFrame({"name": names, "noise": noise}), np.isin(names, list("abcd")))
    state, encoder = model._model.state, model._model.encoder
    codes = np.array([0, 3, 6], dtype=np.int32)
    after = with_columns(state, np.arange(2), 2, {0: codes})
    samples = encoder.translate(pd.DataFrame({"name": names, "noise": noise}))
    given, missing = np.isin(samples[:, 0], codes), samples.copy()
    missing[given, 0] = NAN
    n_asked = 0
    for tree, old in zip(after.forests["permanent"].forest.trees, state.forests["permanent"].forest.trees, strict=True):
        n_asked += old.category_bits.size > 1
        np.testing.assert_array_equal(tree.route(samples), old.route(missing))
        np.testing.assert_array_equal(tree.route(samples[~given]), old.route(samples[~given]))
    assert n_asked > 0
    assert np.isnan(after.memory.matrix()[np.isin(state.memory.matrix()[:, 0], codes), 0]).all()
    if splitting == "isat":
        assert not after.forests["permanent"].box.categories[0][codes].any()
    assert with_columns(state, np.arange(2), 2, {}) is state


@pytest.mark.usefixtures("small")
def test_a_new_value_does_not_inherit_what_its_code_meant():
    model = forest(n_estimators=20, renewal=0.0, memory_size=200)
    model.partial_fit(column("ab" * 100), ["yes", "no"] * 100)
    for _ in range(2):
        model.partial_fit(column("cde" * 40), ["maybe"] * 120)
    assert model.predict(column("ab")).tolist() == ["yes", "no"]
    model.partial_fit(column("xyzcde" * 20), ["yes", "no", "maybe"] * 40)
    encoder = model._model.encoder
    assert set(encoder.recycled_codes[0].tolist()) == {0, 1}
    answers = model.predict_proba(column("ab"))
    np.testing.assert_array_equal(answers, model.predict_proba(column(["never", "never"])))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", [AdaptiveDecisionForestClassifier, PaperADFClassifier])
def test_new_values_in_every_batch_for_ever(kind):
    model, twin = forest(kind, min_samples_leaf=1), forest(kind, min_samples_leaf=1)
    for number in range(30):
        names = [f"{number} {i}" for i in range(3)] * 40
        for one in (model, twin):
            one.partial_fit(pd.DataFrame({"name": names}), [name.endswith("0") for name in names])
    assert len(model._model.encoder.categories[0].index_of) <= 5
    np.testing.assert_array_equal(
        model.predict_proba(pd.DataFrame({"name": names})), twin.predict_proba(pd.DataFrame({"name": names}))
    )
    if kind is AdaptiveDecisionForestClassifier:
        first, second, third = model.predict_proba(pd.DataFrame({"name": names[:3]}))[:, 1]
        assert first > max(second, third) + 0.2, "the last names are known"


@pytest.mark.usefixtures("small")
def test_a_batch_that_fails_gives_no_code_back():
    model = forest().partial_fit(column("abcde" * 20), list("abcde" * 20))
    model.partial_fit(column("abc" * 20), list("abc" * 20))
    before = pickle.dumps(model)
    with pytest.raises(TypeError, match="the labels of batch 3 are numbers"):
        model.partial_fit(column("xyz" * 20), [1, 2, 3] * 20)
    assert pickle.dumps(model) == before


@pytest.mark.filterwarnings("ignore:column 'id' of batch 1 brings")
def test_learning_goes_on_beyond_all_codes():
    rng = np.random.default_rng(0)
    model = forest(n_estimators=2, memory_size=2_000)
    for number in range(4):
        X = rng.normal(size=20_000)
        frame = pd.DataFrame({"x": X, "id": [f"{number} {i}" for i in range(20_000)]})
        model.partial_fit(frame, X > 0)
    assert model.score(frame.assign(id="another"), X > 0) > 0.99
    assert len(model._model.encoder.categories[1].index_of) <= MAX_VALUES
