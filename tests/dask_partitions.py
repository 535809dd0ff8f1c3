"""Partitions of tests on Dask clusters, as functions that workers can import: some are slow, some fail, some die."""

import os
import signal
import time
from pathlib import Path

import dask
import dask.dataframe as dd
from distributed import Client, LocalCluster, get_worker

from parted_batches import evenly


def small_cluster(n_workers):
    """Return a cluster of processes with a thread each, on which a task may take two workers along, not more."""
    dask.config.set(
        {
            "distributed.scheduler.allowed-failures": 1,
            "distributed.deploy.lost-worker-timeout": "10 minutes",  # a busy machine starts workers again slowly
        }
    )
    return LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0")


def client_of(cluster):
    return Client(cluster, set_as_default=False)


def load(table):
    """Return a table."""
    return table


def load_slowly(table):
    time.sleep(1.5)
    return table


def load_noting(table, folder):
    """Return a table, and leave a trace that it was loaded."""
    (Path(folder) / f"{os.getpid()}-{time.monotonic_ns()}").touch()
    return table


def load_dying(table, folder, n_deaths):
    """Return a table, but take the worker's process away the first times."""
    deaths = len(list(Path(folder).iterdir()))
    if deaths < n_deaths:
        (Path(folder) / str(deaths)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return table


def load_dying_later(table, folder):
    """Return a table, but take the worker's process away at the second time it is loaded, in the second pass."""
    loads = len(list(Path(folder).iterdir()))
    (Path(folder) / str(loads)).touch()
    if loads == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return table


def refuse(table):
    raise OSError("the disk is gone")


def double_dying(shared, item):
    """Return twice a number and something shared, but take the worker's process away the first time."""
    if item == 2:
        load_dying(None, shared["folder"], 1)
    return 2 * item + shared["more"]


def delayed_parts(batch, n_parts, place=None, how=load, *args):
    """Return a batch as three lists of delayed tables, one of which may be loaded in some other way."""
    parts = evenly(batch, n_parts)
    X = [
        dask.delayed(how if k == place else load)(part[0], *(args if k == place else ()))
        for k, part in enumerate(parts)
    ]
    y, weight = ([dask.delayed(load)(part[j]) for part in parts] for j in (1, 2))
    return X, y, weight if batch[2] is not None else None


def as_frames(batch, n_parts):
    """Return a batch as a dask DataFrame and two Series, with the same partitions."""
    X, y, weight = batch
    weight = 1.0 if weight is None else weight
    frame = dd.from_pandas(X.assign(_label=y, _weight=weight), npartitions=n_parts, sort=False)
    return frame[list(X.columns)], frame["_label"], frame["_weight"]


def worker_of(shared, item):
    """Return the address of the worker that this runs on."""
    return get_worker().address
