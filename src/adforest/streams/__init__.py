"""Where batches come from: files, data sets, the simulator of the paper's scenarios, and generators of drift."""

from adforest.streams.batch import Batch
from adforest.streams.cases import simulate_case
from adforest.streams.clusters import simulate_clusters, simulate_new_classes
from adforest.streams.datasets import load_dataset, load_stream
from adforest.streams.drift import concept_categorical, drift_points, simulate_drift
from adforest.streams.files import FileBatch, FileBatches, read_batches
from adforest.streams.house import make_house
from adforest.streams.order import cut_in_order
from adforest.streams.scenarios import simulate_scenarios

__all__ = [
    "Batch",
    "FileBatch",
    "FileBatches",
    "concept_categorical",
    "cut_in_order",
    "drift_points",
    "load_dataset",
    "load_stream",
    "make_house",
    "read_batches",
    "simulate_case",
    "simulate_clusters",
    "simulate_drift",
    "simulate_new_classes",
    "simulate_scenarios",
]
