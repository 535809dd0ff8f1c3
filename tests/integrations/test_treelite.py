"""Treelite's own reference predictor is the referee: a forest answers there as it does here."""

import sys

import numpy as np
import pytest
import treelite

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.adaptation.voting import shrinkage_of
from adforest.integrations.treelite import encode_table, to_treelite
from exported_models import random_model
from rated_films import ratings


def own_answer(model, name, X):
    """Return what a forest answers by itself, columns in the order of the classes."""
    known = model._model
    state, n_classes, matrix = known.state, len(known.labels.by_arrival), known.encoder.translate(X)
    forest = state.forests[name].forest
    if isinstance(model, PaperADFClassifier):
        answers = forest.answer(matrix, n_classes, soft=model.voting == "soft") / len(forest)
    else:
        answers = forest.proba(matrix, n_classes, *shrinkage_of(state.evidence, name))
    return answers[:, known.labels.order]


@pytest.mark.parametrize("seed", range(20))
def test_every_forest_answers_as_it_does_here(seed):
    model, X = random_model(seed)
    for name in model._model.state.forests:
        found = treelite.gtil.predict(to_treelite(model, name), encode_table(model, X))
        assert found.shape == (len(X), 1, len(model.classes_))
        np.testing.assert_allclose(found[:, 0], own_answer(model, name, X), rtol=0, atol=1e-12)


def clusters(seed, n=200):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 3)) + 2 * y[:, None], np.array(["moth", "ape", "cow"])[y]


@pytest.fixture
def model():
    model = AdaptiveDecisionForestClassifier(4, random_state=0, answer_for="everything")
    for seed in range(4):
        model.partial_fit(*clusters(seed))
    return model


def test_the_permanent_forest_is_the_model_that_answers_for_everything(model):
    X = clusters(9)[0]
    shares = treelite.gtil.predict(to_treelite(model), X)[:, 0]
    np.testing.assert_allclose(shares, model.predict_proba(X), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))


def test_thresholds_are_compared_as_doubles():
    X = np.array([[0.1], [np.nextafter(0.1, 1)]] * 50)
    model = AdaptiveDecisionForestClassifier(3, random_state=0, answer_for="everything").fit(X, [0, 1] * 50)
    assert treelite.gtil.predict(to_treelite(model), X)[:, 0].argmax(axis=1).tolist() == [0, 1] * 50


def test_a_treelite_model_is_kept_on_disk(model, tmp_path):
    X = clusters(9)[0]
    to_treelite(model).serialize(tmp_path / "model.tl")
    loaded = treelite.Model.deserialize(tmp_path / "model.tl")
    np.testing.assert_allclose(treelite.gtil.predict(loaded, X)[:, 0], model.predict_proba(X), atol=1e-12)


def test_a_model_of_one_class():
    model = AdaptiveDecisionForestClassifier(3).fit([[1.0], [2.0]], ["only", "only"])
    assert treelite.gtil.predict(to_treelite(model), np.array([[5.0], [np.nan]])).tolist() == [[[1.0]], [[1.0]]]


def test_tables_are_encoded_as_the_trees_read_them():
    model = AdaptiveDecisionForestClassifier(2, random_state=0, column_changes="allow")
    model.fit([[1.5, "red"], [2.0, "blue"]], [0, 1])
    for one in (model, model.snapshot()):
        found = encode_table(one, [[3.0, "blue"], [None, "green"]])
        np.testing.assert_array_equal(found, [[3.0, 1.0], [np.nan, np.nan]])


def test_tables_may_lack_columns_where_the_model_allows_it():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0]})
    model = AdaptiveDecisionForestClassifier(2, random_state=0, column_changes="allow").fit(X, [0, 1, 0])
    for one in (model, model.snapshot()):
        np.testing.assert_array_equal(encode_table(one, X[["b"]])[:, 0], [np.nan] * 3)
    model.set_params(column_changes="error")
    with pytest.raises(ValueError, match="the missing one is 'a'"):
        encode_table(model, X[["b"]])


def test_a_snapshot_is_exported_as_a_model_is(model):
    X = clusters(9)[0]
    found = treelite.gtil.predict(to_treelite(model.snapshot()), X)[:, 0]
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-12)


def test_forests_that_are_not_there_are_named(model):
    with pytest.raises(ValueError, match="forest is 'oldest'; expected 'permanent'"):
        to_treelite(model, "oldest")
    paper = PaperADFClassifier(2).fit(*clusters(0))
    with pytest.raises(ValueError, match=r"there is no newest forest after batch 1\. Look at one of these: permanent"):
        to_treelite(paper, "newest")
    with pytest.raises(TypeError, match="to_treelite was given int; expected an AdaptiveDecisionForestClassifier"):
        to_treelite(5)


def test_a_missing_library_is_named_with_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "treelite", None)
    monkeypatch.delitem(sys.modules, "treelite.model_builder")
    with pytest.raises(ImportError, match=r"to_treelite needs treelite, which .* pip install 'adforest\[treelite\]'\."):
        to_treelite(model)


def test_class_rates_of_categories_are_columns_of_the_encoded_table():
    *batches, (X, _) = ratings(8, n_users=150, n_films=150)
    model = AdaptiveDecisionForestClassifier(4, random_state=0, answer_for="everything")
    for batch in batches:
        model.partial_fit(*batch)
    encoded = encode_table(model, X)
    assert encoded.shape[1] > 3
    shares = treelite.gtil.predict(to_treelite(model), encoded)[:, 0]
    np.testing.assert_allclose(shares, model.predict_proba(X), rtol=0, atol=1e-12)
