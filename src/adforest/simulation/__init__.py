"""Simulated streams whose changes are known: rules that drift, classes that appear and vanish, houses and rents."""

from adforest.simulation.batch import Batch
from adforest.simulation.clusters import simulate_clusters, simulate_new_classes
from adforest.simulation.drift import concept_categorical, drift_points, simulate_drift
from adforest.simulation.house import make_house
from adforest.simulation.stages import simulate_houses

__all__ = [
    "Batch",
    "concept_categorical",
    "drift_points",
    "make_house",
    "simulate_clusters",
    "simulate_drift",
    "simulate_houses",
    "simulate_new_classes",
]
