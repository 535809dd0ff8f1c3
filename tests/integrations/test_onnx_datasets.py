"""Graphs of models that learnt the paper's data sets answer every sample as the models do."""

import os
from pathlib import Path

import pytest

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.integrations.onnx import to_onnx
from experiments.streams.datasets import load_dataset
from exported_models import FORESTS, assert_same_answers, feed, run

DATA = Path(os.environ.get("ADFOREST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
NAMES = ("arem", "avila", "eb", "ldpa", "uifwa", "house")


def compare(model, name, size, n_batches, n_fresh):
    """Let a model learn samples from all over a file, and compare its graph with it on these and on others."""
    data = load_dataset(name, folder=DATA)
    step = len(data.y) // (size * n_batches + n_fresh)
    X, y = data.to_pandas()[::step], data.y[::step]
    if not any(data.categorical):
        X = X.to_numpy()
    for start in range(0, size * n_batches, size):
        model.partial_fit(X[start : start + size], y[start : start + size])
    assert_same_answers(model, X, *run(to_onnx(model), feed(X) if any(data.categorical) else {"X": X}))


@pytest.mark.parametrize("base_forest", FORESTS)
@pytest.mark.parametrize("name", NAMES)
def test_a_model_of_a_data_set(name, base_forest):
    if name != "house" and not DATA.is_dir():
        pytest.skip("set ADFOREST_DATA to a folder with the data sets")
    compare(AdaptiveDecisionForestClassifier(5, base_forest=base_forest, random_state=0), name, 300, 5, 1_500)
    compare(PaperADFClassifier(5, base_forest=base_forest, random_state=0), name, 300, 4, 1_500)
