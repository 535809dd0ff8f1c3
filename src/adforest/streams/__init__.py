"""Where batches come from: data sets, a generator of rented houses, and the simulator of the paper's scenarios."""

from adforest.streams.batch import Batch
from adforest.streams.datasets import load_dataset
from adforest.streams.house import make_house
from adforest.streams.scenarios import simulate_scenarios

__all__ = ["Batch", "load_dataset", "make_house", "simulate_scenarios"]
