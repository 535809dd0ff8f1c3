"""Measure how long model files take."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from timing import clusters, medians, ours

import adforest
from adforest.base import get_fitted


def measure_files() -> Iterator[dict[str, Any]]:
    """A model of more than a million nodes, with and without the records it keeps."""
    X, y = clusters(120_000, seed=1)
    model = ours(n_estimators=18, max_features=3).fit(X[:110_000], y[:110_000]).partial_fit(X[110_000:], y[110_000:])
    forests = {id(forest): forest for forest in get_fitted(model).state.voting.values()}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.adf"
        for records in (True, False):
            t_save, t_load = medians(
                [lambda r=records: model.save(path, samples=r), lambda: adforest.load(path)],
                7,
            )
            yield {
                "measure": f"save and load, {'with' if records else 'without'} records",
                "nodes": sum(forest.n_nodes for forest in forests.values()),
                "megabytes": path.stat().st_size / 1e6,
                "save_seconds": t_save,
                "load_seconds": t_load,
                "goal": "<= 1 each",
            }
