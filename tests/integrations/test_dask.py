"""On real Dask clusters of processes: the same model as on one machine, answers computed when they are asked for."""

import importlib
import pickle
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed.comm.tcp import TCP
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

import adforest
from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.growers import spreading
from adforest.integrations import dask as integration
from adforest.integrations._dask_tasks import Cluster
from adforest.integrations.dask import DaskAdaptiveDecisionForestClassifier
from dask_partitions import as_frames, client_of, delayed_parts, load_noting, small_cluster, worker_of
from parted_batches import evenly, mixed_batch, saved
from rated_films import ratings

BATCHES = [mixed_batch(number, 400 if number == 3 else 1500, weighed=number > 0) for number in range(5)]
PARAMETERS = {"n_estimators": 4, "random_state": 0, "max_samples": 1000}


@pytest.fixture(scope="module", params=[1, 2])
def client(request):
    with small_cluster(request.param) as cluster, client_of(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def pair():
    with small_cluster(2) as cluster, client_of(cluster) as client:
        yield client


@pytest.fixture
def eager(monkeypatch):
    """Let all trees be built on workers."""
    monkeypatch.setattr(spreading, "WORTH_SENDING", 1)


@pytest.fixture(scope="module")
def local():
    model = AdaptiveDecisionForestClassifier(**PARAMETERS)
    for X, y, weight in BATCHES:
        model.partial_fit(X, y, sample_weight=weight)
    return model


@pytest.mark.parametrize("n_parts", [1, 2, 7, 13])
def test_any_partitions_and_workers_make_the_same_model(client, local, eager, n_parts):
    model = DaskAdaptiveDecisionForestClassifier(client=client, **PARAMETERS)
    for batch in BATCHES:
        model.partial_fit(*(lists := delayed_parts(batch, n_parts))[:2], sample_weight=lists[2])
    X = BATCHES[4][0]
    assert saved(model.to_local()) == saved(local)
    [answers] = dask.compute(model.predict_proba(delayed_parts((X, X.index, None), n_parts)[0]), scheduler=client)
    assert np.concatenate(answers).tobytes() == local.predict_proba(X).tobytes()


def test_all_workers_build_trees(pair):
    block = np.zeros(40_000_000, dtype=np.uint8)  # so large that Dask would rather build all where it is already
    assert len(set(Cluster(pair).map(worker_of, [0, 1], block))) == 2


def test_bytes_moved_are_those_of_the_formula(eager, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    scale = importlib.import_module("scale")
    for owner, name in ((integration, "Cluster"), (integration, "DaskBatch"), (TCP, "write")):
        monkeypatch.setattr(owner, name, getattr(owner, name))  # the measure replaces them
    with dask.config.set({"distributed.scheduler.work-stealing": False}):
        learning, _, moved = scale.measure_learning(50_000)
    assert learning["same_model"]
    assert 0.9 <= moved["times"] <= 1.1


def test_frames_with_all_samples_drawn(pair, eager):
    parameters = PARAMETERS | {"max_samples": None}
    here = AdaptiveDecisionForestClassifier(**parameters)
    there = DaskAdaptiveDecisionForestClassifier(client=pair, **parameters)
    for batch in BATCHES:
        X, y, weight = as_frames(batch, 5)
        there.partial_fit(X, y, sample_weight=weight)
        [table, labels, weights] = dask.compute(X, y, weight, scheduler="sync")
        here.partial_fit(table, labels, sample_weight=weights)
    assert saved(there.to_local()) == saved(here)


def test_class_rates_of_categories(pair):
    batches = [(X, y, None) for X, y in ratings(6, n=1200, classes=("a", "b", "c"))]
    here = AdaptiveDecisionForestClassifier(**PARAMETERS)
    there = DaskAdaptiveDecisionForestClassifier(client=pair, **PARAMETERS)
    for X, y, weight in batches:
        here.partial_fit(X, y)
        there.partial_fit(*delayed_parts((X, y, weight), 3)[:2])
    assert here._model.encoder.rate_columns
    assert saved(there.to_local()) == saved(here)


def test_arrays_are_learnt_and_answered_by_chunk(pair):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    blocks, labels = da.from_array(X, chunks=(250, 3)), da.from_array(y, chunks=400)
    here = AdaptiveDecisionForestClassifier(3, random_state=0).fit(X, y)
    there = DaskAdaptiveDecisionForestClassifier(3, random_state=0, client=pair).fit(blocks, labels)
    assert saved(there.to_local()) == saved(here)
    answers, shares = there.predict(blocks), there.predict_proba(blocks)
    assert isinstance(answers, da.Array)
    assert answers.chunks == (blocks.chunks[0],)
    assert (answers.shape, shares.shape) == ((1200,), (1200, 2))
    np.testing.assert_array_equal(pair.compute(answers).result(), here.predict(X))
    np.testing.assert_array_equal(pair.compute(there.predict_log_proba(blocks)).result(), here.predict_log_proba(X))
    unknown = blocks[blocks[:, 0] > 0]
    np.testing.assert_array_equal(pair.compute(there.predict(unknown)).result(), here.predict(X[X[:, 0] > 0]))
    assert there.score(blocks, labels) == here.score(X, y)


def test_answers_to_frames_keep_their_index(pair, local):
    model = DaskAdaptiveDecisionForestClassifier.from_local(local, pair)
    X = BATCHES[4][0]
    frame = dd.from_pandas(X.set_index(np.arange(len(X)) * 3), npartitions=4)
    answers, shares = model.predict(frame), model.predict_proba(frame)
    assert (answers.known_divisions, answers.npartitions) == (True, 4)
    found = pair.compute(answers).result()
    assert found.index.tolist() == list(range(0, 3 * len(X), 3))
    assert found.tolist() == local.predict(X).tolist()
    shares = pair.compute(shares).result()
    assert shares.columns.tolist() == local.classes_.tolist()
    np.testing.assert_array_equal(shares, local.predict_proba(X))


def test_scores_with_weights_and_empty_partitions(pair, local):
    model = DaskAdaptiveDecisionForestClassifier.from_local(local, pair)
    X, y, weight = BATCHES[4]
    lists = [
        [*parts, dask.delayed(lambda one: one)(whole[:0])]
        for parts, whole in zip(delayed_parts((X, y, weight), 3), (X, y, weight), strict=True)
    ]
    assert model.score(lists[0], lists[1]) == local.score(X, y)
    assert model.score(*lists) == pytest.approx(local.score(X, y, weight), rel=1e-15)
    assert len(dask.compute(model.predict(lists[0]), scheduler=pair)[0][3]) == 0
    with pytest.raises(ValueError, match="no samples to score, or none that has a weight"):
        model.score(lists[0][3:], lists[1][3:])


def test_nothing_is_loaded_before_answers_are_asked_for(pair, local, tmp_path):
    model = DaskAdaptiveDecisionForestClassifier.from_local(local, pair)
    X, y, _ = BATCHES[4]
    lists = delayed_parts((X, y, None), 3, 1, load_noting, tmp_path)
    answers = model.predict(lists[0])
    assert not list(tmp_path.iterdir())
    found = dask.compute(answers, scheduler=pair)[0]
    assert np.concatenate(found).tolist() == local.predict(X).tolist()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_model_is_sent_once_until_it_changes(pair):
    X, y, _ = delayed_parts(BATCHES[0], 3)
    model = DaskAdaptiveDecisionForestClassifier(3, random_state=0, client=pair).fit(X, y)
    model.score(X, y)
    first = model._sent[1]
    assert model.score(X, y) == model.to_local().score(*BATCHES[0][:2])
    assert model._sent[1] is first
    model.set_params(answer_for="everything").score(X, y)
    second = model._sent[1]
    model.partial_fit(X, y).score(X, y)
    assert len({first.key, second.key, model._sent[1].key}) == 3
    pair.cancel(model._sent[1])  # as if it had been lost with a worker
    assert model.score(X, y) == model.to_local().score(*BATCHES[0][:2])
    assert not hasattr(pickle.loads(pickle.dumps(model)), "_sent")


def test_a_batch_is_loaded_twice(pair, tmp_path):
    X, y, _ = delayed_parts(BATCHES[0], 3, 1, load_noting, tmp_path)
    DaskAdaptiveDecisionForestClassifier(3, random_state=0, client=pair).fit(X, y)
    assert len(list(tmp_path.iterdir())) == 2


def test_tables_that_are_here_are_learnt_and_answered_here(pair, eager):
    X, y, _ = BATCHES[2]
    model = DaskAdaptiveDecisionForestClassifier(3, random_state=0, client=pair).fit(X, y)
    here = AdaptiveDecisionForestClassifier(3, random_state=0).fit(X, y)
    assert saved(model.to_local()) == saved(here)
    assert model.predict(X).tolist() == here.predict(X).tolist()
    np.testing.assert_array_equal(model.predict_log_proba(X), here.predict_log_proba(X))
    assert model.score(X, y) == here.score(X, y)


def test_tasks_have_names_and_reports_are_printed(pair, eager, capsys):
    model = DaskAdaptiveDecisionForestClassifier(3, random_state=0, client=pair, verbose=1)
    X, y, _ = delayed_parts(BATCHES[0], 3)
    assert model.fit(X, y).score(X, y) > 0.5
    assert capsys.readouterr().out.startswith("batch 1: 1,500 samples, MUC")
    names = pair.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.task_prefixes))
    steps = ("survey", "merge_surveys", "draw", "build_trees", "score")
    assert {f"adforest.{step}" for step in steps} <= names


def test_the_model_is_a_plain_object(pair, local, tmp_path):
    model = DaskAdaptiveDecisionForestClassifier.from_local(local, pair)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.client is None
    assert saved(copy.to_local()) == saved(local)
    copy.client = pair
    for one in (copy, local_copy := pickle.loads(pickle.dumps(local))):
        one.partial_fit(*BATCHES[0][:2])
    assert saved(copy.to_local()) == saved(local_copy)
    assert saved(model.to_local()) == saved(local)
    model.save(tmp_path / "model.adf")
    assert saved(adforest.load(tmp_path / "model.adf")) == saved(local)
    fresh = clone(model.set_params(window_size=2))
    assert (fresh.client, fresh.window_size, hasattr(fresh, "_model")) == (pair, 2, False)


def test_what_does_not_go_together_is_refused(pair):
    model = DaskAdaptiveDecisionForestClassifier(3, client=pair)
    y = BATCHES[0][1]
    frame, labels, _ = as_frames(BATCHES[0], 3)
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(BATCHES[0][0], None)
    with pytest.raises(TypeError, match="X lies in partitions, but y is of type ndarray"):
        model.fit(frame, y)
    with pytest.raises(ValueError, match="X has 3 partitions but y has 2"):
        model.fit(frame, as_frames(BATCHES[0], 2)[1])
    with pytest.raises(TypeError, match="sample_weight is of type ndarray"):
        model.fit(frame, labels, sample_weight=np.ones(1500))
    with pytest.raises(TypeError, match="model is of type PaperADFClassifier"):
        DaskAdaptiveDecisionForestClassifier.from_local(PaperADFClassifier())
    with pytest.raises(ValueError, match="there is no Dask client"):
        DaskAdaptiveDecisionForestClassifier().fit(frame, labels)
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        model.fit(frame, labels.to_frame())


def test_without_a_cluster_answers_are_computed_anywhere(local):
    model = DaskAdaptiveDecisionForestClassifier.from_local(local)
    X = BATCHES[4][0]
    frame = dd.from_pandas(X, npartitions=3, sort=False)
    assert model.predict(frame).compute(scheduler="sync").tolist() == local.predict(X).tolist()
    lists = [dask.delayed(part[0]) for part in evenly((X, X.index), 2)]
    assert len(dask.compute(model.predict(lists), scheduler="sync")[0]) == 2
    assert isinstance(model.predict_proba(frame), dd.DataFrame)
    assert pd.api.types.is_float_dtype(model.predict_proba(frame).dtypes.iloc[0])
