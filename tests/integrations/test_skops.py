"""skops writes models to files that run no code when they are read, if what is adforest's own is trusted."""

import numpy as np
import pandas as pd
import pytest
import sklearn
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from documents import run_section


def batch(seed, n=200):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    numbers = {name: rng.normal(size=n) + 2 * y for name in "abc"}
    return pd.DataFrame({**numbers, "text": np.array(["u", "v", "w"])[y]}), np.array(["one", "two", "three"])[y]


def of_adforest(dump):
    """Return the types that a file asks to be trusted, as the documentation says to choose them."""
    asked = skops.io.get_untrusted_types(data=dump)
    trusted = [name for name in asked if name.startswith("adforest.") or name == "builtins.frozenset"]
    assert trusted == asked
    return trusted


@pytest.mark.parametrize(
    "model",
    [
        AdaptiveDecisionForestClassifier(5, random_state=0),
        AdaptiveDecisionForestClassifier(5, base_forest="sysfor", random_state=0),
        AdaptiveDecisionForestClassifier(5, base_forest="hoeffding", random_state=0),
        PaperADFClassifier(random_state=0),
    ],
    ids=repr,
)
def test_a_model_answers_and_goes_on_learning_like_the_original(model):
    for seed in range(3):
        model.partial_fit(*batch(seed))
    dump = skops.io.dumps(model)
    copy = skops.io.loads(dump, trusted=of_adforest(dump))
    X, y = batch(9)
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert copy.history_ == model.history_
    np.testing.assert_array_equal(copy.partial_fit(X, y).predict_proba(X), model.partial_fit(X, y).predict_proba(X))


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.7"),
    reason="column transformers of scikit-learn 1.6 hold a list of a type of their own, to be trusted besides",
)
def test_a_pipeline():
    scaled = make_column_transformer((StandardScaler(), list("abc")), remainder="passthrough")
    scaled.set_output(transform="pandas")
    X, y = batch(0)
    pipeline = make_pipeline(scaled, AdaptiveDecisionForestClassifier(5, random_state=0)).fit(X, y)
    dump = skops.io.dumps(pipeline)
    copy = skops.io.loads(dump, trusted=of_adforest(dump))
    np.testing.assert_array_equal(copy.predict_proba(X), pipeline.predict_proba(X))


def test_nothing_is_trusted_unasked():
    dump = skops.io.dumps(AdaptiveDecisionForestClassifier(2).fit([[0.0], [1.0]], [0, 1]))
    with pytest.raises(skops.io.exceptions.UntrustedTypesFoundException, match=r"adforest\.snapshot"):
        skops.io.loads(dump)


def test_the_example_of_the_documentation_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run_section("skops")
    np.testing.assert_array_equal(names["copy"].predict([[1.5, "a"]]), ["low"])
