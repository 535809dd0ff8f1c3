"""Workers that die, tasks that are done twice, slow ones and partitions that fail: the same model, or the old one."""

import gc
import pickle
import time
import weakref

import dask
import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier
from adforest.encoding import EncodingRules
from adforest.growers import spreading
from adforest.integrations import _dask_tasks
from adforest.integrations._dask_tasks import Cluster
from adforest.integrations.dask import DaskAdaptiveDecisionForestClassifier
from adforest.merging import BatchRules, draw_part, plan_batch, survey_part
from dask_partitions import (
    client_of,
    delayed_parts,
    double_dying,
    load_dying,
    load_dying_later,
    load_slowly,
    refuse,
    small_cluster,
)
from parted_batches import PartedBatch, evenly, mixed_batch, saved

FIRST, SECOND = mixed_batch(0, 1200), mixed_batch(2, 1200)
PARAMETERS = {"n_estimators": 3, "random_state": 0, "max_samples": 1000}


@pytest.fixture(scope="module", params=[1, 2])
def running(request):
    """On one worker, what was sent to all is lost with it."""
    with small_cluster(request.param) as cluster, client_of(cluster) as client:
        yield client, request.param


@pytest.fixture
def client(running):
    """Return a client of workers that are all there, those included that died in the test before."""
    client, n_workers = running
    client.wait_for_workers(n_workers, timeout=300)
    return client


@pytest.fixture(scope="module")
def expected():
    model = AdaptiveDecisionForestClassifier(**PARAMETERS)
    return saved(model.partial_fit(*FIRST[:2]).partial_fit(*SECOND[:2]))


@pytest.fixture
def model(client, monkeypatch):
    """Return a model that has learnt a batch, and builds all trees on workers."""
    monkeypatch.setattr(spreading, "WORTH_SENDING", 1)
    return DaskAdaptiveDecisionForestClassifier(client=client, **PARAMETERS).partial_fit(*delayed_parts(FIRST, 3)[:2])


@pytest.mark.parametrize(
    ("how", "args"), [(load_dying, (1,)), (load_dying_later, ())], ids=["first pass", "second pass"]
)
def test_a_worker_that_dies(model, expected, tmp_path, how, args):
    model.partial_fit(*delayed_parts(SECOND, 4, 2, how, tmp_path, *args)[:2])
    assert saved(model.to_local()) == expected
    assert list(tmp_path.iterdir())


def test_a_worker_that_dies_while_trees_are_built(client, tmp_path):
    found = Cluster(client).map(double_dying, [1, 2, 3], {"folder": tmp_path, "more": 100})
    assert found == [102, 104, 106]
    assert len(list(tmp_path.iterdir())) == 1


def test_workers_that_go_on_dying_are_an_error(model, tmp_path):
    before = saved(model.to_local())
    with pytest.raises(Exception, match=r"lost 4 times|load_dying.* worker.* died"):
        model.partial_fit(*delayed_parts(SECOND, 4, 2, load_dying, tmp_path, 99)[:2])
    assert saved(model.to_local()) == before


def test_waiting_keeps_nothing_of_a_batch(client, monkeypatch):
    monkeypatch.setattr(_dask_tasks, "LOOK_SECONDS", 0.05)

    def wait_with_samples():
        samples = np.zeros(10)
        Cluster(client).finish([client.submit(time.sleep, 0.5, pure=False)])
        return weakref.ref(samples)

    gc.disable()  # nothing is to be left for it
    try:
        samples = wait_with_samples()
    finally:
        gc.enable()
    assert samples() is None


def test_a_slow_worker(model, expected):
    model.partial_fit(*delayed_parts(SECOND, 5, 0, load_slowly)[:2])
    assert saved(model.to_local()) == expected


def test_tasks_that_are_done_twice_return_the_same(client):
    parts = evenly(SECOND, 3)
    X, y, _ = parts[1]
    rules = BatchRules(1, None, "from_dtype", "Forest", EncodingRules())
    plan = plan_batch(rules, PartedBatch(parts).survey(rules), None, 0, None, 1000)
    for work, shared in ((survey_part, rules), (draw_part, plan)):
        kept = pickle.dumps((X, y))
        places = client.nthreads()
        runs = [client.submit(work, shared, X, y, None, 1, pure=False, workers=[place]) for place in [*places, *places]]
        assert len({pickle.dumps(run.result()) for run in runs}) == 1
        assert pickle.dumps((X, y)) == kept


def test_a_partition_that_cannot_be_loaded(model, expected):
    before = saved(model.to_local())
    with pytest.raises(OSError, match="the disk is gone") as raised:
        model.partial_fit(*delayed_parts(SECOND, 4, 2, refuse)[:2])
    assert raised.value.__notes__ == ["Raised by partition 2 of batch 2."]
    assert saved(model.to_local()) == before
    assert saved(model.partial_fit(*delayed_parts(SECOND, 4)[:2]).to_local()) == expected


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("size", np.inf, "infinity .* see column 'size' of partition 3 of batch 2"),
        ("count", "many", "column 'count' of partition 3 of batch 2 holds"),
    ],
)
def test_bad_values_in_one_partition(model, column, value, words):
    before = saved(model.to_local())
    parts = evenly(SECOND, 5)
    bad = parts[3][0].astype({column: object})
    bad[column] = value
    X = [dask.delayed(bad if k == 3 else part[0]) for k, part in enumerate(parts)]
    with pytest.raises((TypeError, ValueError), match=words):
        model.partial_fit(X, [dask.delayed(part[1]) for part in parts])
    assert saved(model.to_local()) == before


def test_without_workers_there_is_an_error(monkeypatch):
    monkeypatch.setattr(_dask_tasks, "NO_WORKER_SECONDS", 1.0)
    with small_cluster(0) as cluster, client_of(cluster) as client:
        model = DaskAdaptiveDecisionForestClassifier(client=client, **PARAMETERS)
        with pytest.raises(RuntimeError, match="no Dask worker for 1 s"):
            model.fit(*delayed_parts(FIRST, 2)[:2])
        future = client.submit(len, [1])
        monkeypatch.setattr(_dask_tasks, "LOOK_SECONDS", 0.2)
        with pytest.raises(RuntimeError, match="no Dask worker for 1 s"):
            Cluster(client).finish([future])
