"""Trees that are built elsewhere are those that would have been built here."""

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier
from adforest.forest import GrowthParams, Samples
from adforest.growers import GROWERS, TreeRequest, build_trees, building_on, spreading
from parted_batches import mixed_batch, saved, sent


class OtherProcess:
    """Workers that get copies of all they are sent."""

    n_threads = 3

    def __init__(self):
        self.n_trees = 0

    def map(self, work, items, shared):
        shared = sent(shared)
        self.n_trees += sum(len(item.seeds) for item in items)
        return [sent(work(shared, sent(item))) for item in items]


@pytest.fixture
def workers(monkeypatch):
    monkeypatch.setattr(spreading, "WORTH_SENDING", 1)
    return OtherProcess()


def blocks(n=600):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 5, n), np.round(rng.normal(size=n))])
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(n) < 0.1, 2] = -0.0
    y = (np.nan_to_num(X[:, 0]) + (X[:, 1] > 2) > 0.5).astype(np.int32)
    sizes = np.array([0, 5, 0], dtype=np.int32)
    yield Samples(X, y, np.arange(n), sizes, 2)
    yield Samples(X, y, np.arange(n) * 3, sizes, 2, weight=rng.gamma(2, 0.5, n))


@pytest.mark.parametrize("base", GROWERS)
@pytest.mark.parametrize("share", [1.0, 0.8, 0.3])
@pytest.mark.parametrize("draws", [None, [2, 2, -1]], ids=["all alike", "by worth"])
def test_trees_are_the_same(base, share, draws, workers):
    drawn = None if draws is None else np.array(draws, dtype=np.int32)
    grower = GROWERS[base](GrowthParams(max_features=2, criterion="auto", draws=drawn))
    for samples in blocks():
        known = np.flatnonzero(np.random.default_rng(1).random(len(samples)) < share).astype(np.int32)
        rare, seeds = np.array([True, False]), list(range(10, 15))
        for tree_indices in (None, [0, 1, 3, 4, 6]):
            given = (grower, TreeRequest(samples, known, seeds, None, tree_indices, rare, 100))
            here = build_trees(*given)
            with building_on(workers):
                there = build_trees(*given)
            assert len(here) == len(there)
            for one, other in zip(here, there, strict=True):
                assert one.tree.nodes.tobytes() == other.tree.nodes.tobytes()
                assert one.tree.row_weight.tobytes() == other.tree.row_weight.tobytes()
                assert one.leaf_of.tobytes() == other.leaf_of.tobytes()
    assert workers.n_trees == 20


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_leaves_that_nobody_asks_for_are_not_sent(share, workers):
    samples = next(blocks())
    known = np.arange(int(share * len(samples)), dtype=np.int32)
    grower = GROWERS["random_forest"](GrowthParams(max_features=2))
    quiet, asked = (TreeRequest(samples, known, [1, 2], route_oob_from=first) for first in (len(samples), 0))
    here = build_trees(grower, quiet)
    with building_on(workers):
        there, placed = build_trees(grower, quiet), build_trees(grower, asked)
    for one, other in zip(here, there, strict=True):
        assert one.tree.nodes.tobytes() == other.tree.nodes.tobytes()
        assert len(other.leaf_of) == 0
    assert all(len(one.leaf_of) == len(samples) for one in placed)


def test_a_model_is_the_same(workers):
    batches = [mixed_batch(number) for number in range(4)]
    here, there = (AdaptiveDecisionForestClassifier(4, random_state=0) for _ in range(2))
    for X, y, _ in batches:
        here.partial_fit(X, y)
        with building_on(workers):
            there.partial_fit(X, y)
    assert saved(here) == saved(there)
    assert workers.n_trees > 4


def test_few_samples_are_not_sent(workers, monkeypatch):
    monkeypatch.setattr(spreading, "WORTH_SENDING", 100_000)
    with building_on(workers):
        AdaptiveDecisionForestClassifier(4, random_state=0).fit(*mixed_batch(0)[:2])
    assert workers.n_trees == 0
