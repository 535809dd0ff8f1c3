"""Models in MLflow: logged, registered, loaded, served, against a store in a temporary folder."""

import json
import os
import socket
import subprocess
import sys
import time
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("mlflow", reason="MLflow is not installed: run make test-mlflow")

import mlflow
import skops.io
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.integrations.mlflow import load_model, log_model, save_model
from documents import run_section

pytestmark = pytest.mark.filterwarnings("default")  # MLflow's own


def batch(seed, n=200):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    numbers = {name: rng.normal(size=n) + 2 * y for name in "abc"}
    return pd.DataFrame({**numbers, "text": np.array(["u", "v", "w"])[y]}), np.array(["one", "two", "three"])[y]


X, Y = batch(9)


def learnt(kind=AdaptiveDecisionForestClassifier):
    model = kind(n_estimators=5, random_state=0)
    for seed in range(3):
        model.partial_fit(*batch(seed))
    return model


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return the address of an empty store, which MLflow uses until the tests of this file are done."""
    folder = tmp_path_factory.mktemp("mlflow")
    address = f"sqlite:///{folder / 'store.db'}"
    mlflow.set_tracking_uri(address)
    mlflow.set_registry_uri(address)
    mlflow.set_experiment(experiment_id=mlflow.create_experiment("test", (folder / "artifacts").as_uri()))
    return address


@pytest.fixture(scope="module")
def logged(store):
    """Return a model, and what MLflow says of it once it is logged and registered."""
    model = learnt()
    with mlflow.start_run():
        return model, log_model(model, input_example=X[:3], registered_model_name="walker", tags={"by": "test"})


def test_a_logged_model_is_found_by_run_by_id_by_version_and_by_alias(logged):
    model, info = logged
    mlflow.MlflowClient().set_registered_model_alias("walker", "champion", 1)
    addresses = [info.model_uri, f"runs:/{info.run_id}/model", "models:/walker/1", "models:/walker@champion"]
    for address in addresses:
        np.testing.assert_array_equal(load_model(address).predict_proba(X), model.predict_proba(X))
    assert mlflow.get_logged_model(info.model_id).tags["by"] == "test"
    assert info.flavors["adforest"]["model_class"] == "AdaptiveDecisionForestClassifier"


def test_a_loaded_model_goes_on_learning_and_becomes_the_next_version(logged):
    model, info = logged
    copy = load_model(info.model_uri).partial_fit(X, Y)
    assert len(copy.history_) == 4
    np.testing.assert_array_equal(copy.predict_proba(X), learnt().partial_fit(X, Y).predict_proba(X))
    with mlflow.start_run():
        second = log_model(copy, registered_model_name="walker")
    assert second.registered_model_version == 2
    assert len(load_model("models:/walker/2").history_) == 4
    assert len(load_model("models:/walker/1").history_) == len(model.history_) == 3


def test_pyfunc_answers_with_classes_or_shares(logged):
    model, info = logged
    served = mlflow.pyfunc.load_model(info.model_uri)
    assert served.predict(X).tolist() == model.predict(X).tolist()
    shares = served.predict(X, params={"method": "predict_proba"})
    assert shares.columns.tolist() == ["one", "three", "two"]
    np.testing.assert_array_equal(shares, model.predict_proba(X))
    with pytest.raises(ValueError, match="method is 'apply'; expected 'predict' or 'predict_proba'"):
        served.predict(X, params={"method": "apply"})


@pytest.mark.parametrize("kind", [AdaptiveDecisionForestClassifier, PaperADFClassifier])
def test_a_folder_is_enough(kind, tmp_path):
    model = learnt(kind)
    save_model(model, tmp_path / "model", metadata={"by": "test"})
    copy = load_model(str(tmp_path / "model"))
    assert type(copy) is kind
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    served = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    assert served.predict(X).tolist() == model.predict(X).tolist()
    assert served.metadata.metadata == {"by": "test"}
    requirements = (tmp_path / "model/requirements.txt").read_text()
    assert "adforest==" in requirements


def ask(address, content):
    request = Request(f"{address}/invocations", json.dumps(content).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=30) as answer:
        return json.load(answer)["predictions"]


@pytest.fixture(scope="module")
def server(logged, store):
    """Return the address of `mlflow models serve`, which serves the registered model until the tests are done."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "models", "serve", "-m", "models:/walker/1", "-p", str(port)]
    environment = {**os.environ, "MLFLOW_TRACKING_URI": store}
    process = subprocess.Popen([*command, "--env-manager", "local"], env=environment)
    try:
        for _ in range(240):
            assert process.poll() is None, "the server ended"
            try:
                with urlopen(f"http://127.0.0.1:{port}/ping", timeout=5):
                    break
            except (URLError, OSError):
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=60)


def test_a_model_is_served(logged, server):
    model, _ = logged
    samples = X[:5].to_dict("split", index=False)
    assert ask(server, {"dataframe_split": samples}) == model.predict(X[:5]).tolist()
    shares = ask(server, {"dataframe_split": samples, "params": {"method": "predict_proba"}})
    np.testing.assert_allclose(pd.DataFrame(shares)[model.classes_.tolist()], model.predict_proba(X[:5]))
    with pytest.raises(HTTPError) as error:
        ask(server, {"dataframe_records": [{"a": 1.0}]})
    assert error.value.code == 400


def test_a_pipeline_goes_through_the_flavour_of_scikit_learn(store):
    pipeline = make_pipeline(StandardScaler(), AdaptiveDecisionForestClassifier(5, random_state=0)).fit(
        X[["a", "b"]], Y
    )
    trusted = skops.io.get_untrusted_types(data=skops.io.dumps(pipeline))
    with mlflow.start_run():
        info = mlflow.sklearn.log_model(
            pipeline, name="pipeline", serialization_format="skops", skops_trusted_types=trusted
        )
    copy = mlflow.sklearn.load_model(info.model_uri)
    np.testing.assert_array_equal(copy.predict_proba(X[["a", "b"]]), pipeline.predict_proba(X[["a", "b"]]))
    with pytest.raises(ValueError, match=r"is no model of adforest; its flavours are python_function, sklearn\."):
        load_model(info.model_uri)


def test_what_is_no_model_or_has_learnt_nothing_is_refused(tmp_path):
    with pytest.raises(TypeError, match=r"model is of type Pipeline; expected .* Log a pipeline with mlflow\.sklearn"):
        save_model(make_pipeline(StandardScaler(), learnt()), tmp_path / "model")
    with pytest.raises(NotFittedError):
        save_model(AdaptiveDecisionForestClassifier(), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_the_example_of_the_documentation_runs(store):
    names = run_section("MLflow")
    assert names["served"].predict(names["X_new"]).tolist() == names["model"].predict(names["X_new"]).tolist()
