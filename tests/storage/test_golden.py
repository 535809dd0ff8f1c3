"""Files of all versions from the first on stay loadable, and answer what they answered when they were written."""

import json
import re

import numpy as np
import pytest

import adforest
from adforest.storage.container import SCHEMA
from golden_model_files import FOLDER, made, samples_of
from model_file_parts import taken_apart

FILES = sorted(FOLDER.glob("*.adf"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_of_all_versions_answer_as_they_did(path):
    told = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    model, X = adforest.load(path), samples_of(told["X"])
    assert model.predict(X).tolist() == told["predict"]
    np.testing.assert_allclose(model.predict_proba(X), told["predict_proba"], rtol=1e-9)
    assert [report.n_samples for report in model.history_] == told["batches"]
    assert {report.log_loss for report in model.history_} == {None}, "written before reports had it"
    if "paper" not in path.stem:
        assert model.criterion == "entropy", "written before there was any other"
    if "answers" in path.stem:
        with pytest.raises(ValueError, match="samples=False"):
            model.partial_fit(X, told["predict"])
    else:
        model.partial_fit(X, told["predict"])
        assert model.history_[-1].n_samples == len(X)
        assert model.history_[-1].log_loss >= 0


def test_there_are_files_of_every_schema():
    names = {f"schema-{schema}-{name}" for schema in range(1, SCHEMA + 1) for name in made()}
    assert names == {path.stem for path in FILES}, "run: python tests/golden_model_files.py"
    for path in FILES:
        about = json.loads(taken_apart(path.read_bytes())[0]["__metadata__"]["adforest"])
        assert about["schema"] == int(re.search(r"schema-(\d+)", path.stem)[1])
        assert path.stat().st_size < 20_000
