"""Where batches come from: files, data sets, the simulator of the paper's scenarios, and generators of drift."""

from adforest.streams.batch import Batch
from adforest.streams.clusters import simulate_clusters, simulate_new_classes
from adforest.streams.datasets import load_dataset
from adforest.streams.drift import concept_categorical, drift_points, simulate_drift
from adforest.streams.files import FileBatch, read_batches
from adforest.streams.house import make_house
from adforest.streams.scenarios import simulate_scenarios

__all__ = [
    "Batch",
    "FileBatch",
    "concept_categorical",
    "drift_points",
    "load_dataset",
    "make_house",
    "read_batches",
    "simulate_clusters",
    "simulate_drift",
    "simulate_new_classes",
    "simulate_scenarios",
]
