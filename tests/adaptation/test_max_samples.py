"""No tree is grown from more samples than is said, and what is known of a batch is known of all its samples."""

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier, adaptation
from adforest.adaptation.memory import Memory, WindowBound
from adforest.estimator_settings import read_grower
from adforest.forest import LeafCounts, Samples, Totals
from adforest.forest._kernels.sampling import hashes
from adforest.merging import LocalBatch
from oracles import learn, new_state, two_clusters

BOUND = 1_000


@pytest.mark.parametrize("base_forest", ["random_forest", "sysfor", "hoeffding"])
@pytest.mark.parametrize("memory_size", [None, 2_000])
def test_trees_are_grown_from_no_more_samples_and_all_others_are_placed(base_forest, memory_size, monkeypatch):
    grower = read_grower(AdaptiveDecisionForestClassifier(base_forest=base_forest), 2)
    kind, sizes = type(grower), []

    def build(self, request):
        sizes.append(len(request.known))
        return kind_build(self, request)

    kind_build = kind.build
    monkeypatch.setattr(kind, "build", build)
    state = new_state(max_samples=BOUND, memory_size=memory_size, grower=grower, renewal=5.0)
    for number in range(1, 7):
        state, _ = learn(state, *two_clusters(number, n=700))
        permanent = state.forest("permanent")
        assert permanent.known.sum() == len(state.memory)
        for tree, leaf_of in zip(permanent.trees, permanent.leaf_of, strict=True):
            np.testing.assert_array_equal(leaf_of, tree.route(state.memory.matrix()))
    assert len(state.memory) > 2 * BOUND
    assert max(sizes) < 1.1 * BOUND
    assert sum(size > 0.9 * BOUND for size in sizes) >= 5
    renewed = [tree for tree in permanent.trees if tree.born.min() == 6]
    assert renewed
    for tree in renewed:  # all samples count in it, those it was grown without too
        assert tree.row_weight.sum() > 0.9 * grower.sample_weight * len(state.memory)


def counts_of(tree):
    """Return the weight of each class in each node of a tree."""
    found = np.zeros((len(tree.nodes), 3))
    node = np.repeat(np.arange(len(tree.nodes)), np.diff(tree.row_start))
    found[node, tree.row_class] = tree.row_weight
    return found


@pytest.mark.parametrize("base_forest", ["random_forest", "sysfor"])
@pytest.mark.parametrize("weighed", [False, True])
def test_the_rest_of_a_batch_is_counted_in_the_leaves(base_forest, weighed, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6_000, 3)), rng.integers(0, 3, 6_000)
    weight = rng.integers(1, 4, 6_000) if weighed else np.ones(6_000)
    seen = []

    def none_counted(self, plan, counter, n_jobs):
        samples, _ = self._undrawn
        seen.append(plan.are_drawn(samples.serial))
        return [LeafCounts.none() for _ in counter.shapes]

    def model():
        made = AdaptiveDecisionForestClassifier(3, base_forest=base_forest, max_samples=BOUND, random_state=0)
        return made.fit(X[:3_000], y[:3_000], weight[:3_000])

    counted = model().partial_fit(X, y, sample_weight=weight)
    other = model()
    monkeypatch.setattr(LocalBatch, "count", none_counted)
    other.partial_fit(X, y, sample_weight=weight)
    rest = ~seen[0]
    assert rest.sum() > 4_500
    forests = counted._model.state.forests
    assert forests["active"] is forests["permanent"]  # one in memory, as long as they are the same
    for name in ("permanent_forest_", "temporary_forest_", "newest_forest_"):
        trees = zip(getattr(counted, name).trees, getattr(other, name).trees, strict=True)
        for one, without in trees:
            assert one.nodes.tobytes() == without.nodes.tobytes()
            expected = counts_of(without)
            np.add.at(expected, (one.route(X[rest]), y[rest]), weight[rest])
            np.testing.assert_allclose(counts_of(one), expected)


def test_a_class_of_which_no_sample_is_drawn_is_known():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50_000, 2)), rng.integers(0, 2, 50_000)
    hidden = np.flatnonzero(hashes(np.arange(50_000)) > np.uint64(0.5 * 2**64))[:5]
    X[hidden], y[hidden] = 100.0, 2
    model = AdaptiveDecisionForestClassifier(5, max_samples=BOUND, random_state=0).fit(X, y)
    assert model.predict_proba([[100.0, 100.0]])[0, 2] > 0


def test_a_window_holds_no_more_than_a_tree_is_grown_from():
    memory = Memory.empty(1)
    for number, n in enumerate([900, 900, 900], start=1):
        serial = np.arange(memory.n_seen, memory.n_seen + n)
        y = np.zeros(n, np.int32)
        memory = memory.add(Samples(np.ones((n, 1)), y, serial, np.zeros(1, np.int32), 1), number)
    places = np.arange(len(memory))
    assert len(places[memory.window(1, WindowBound(9))]) == 2_700
    found = places[memory.window(1, WindowBound(9, 1_500))]
    assert len(found) == pytest.approx(1_500, rel=0.05)
    assert set(range(1_800, 2_700)) < set(found.tolist())
    assert len(places[memory.window(1, WindowBound(9, 500))]) == 900  # the last batch is whole


def drawn_batch(number, n, share, state):
    """Return a batch of which a share is drawn, as samples and what is known of all of it."""
    X, y = two_clusters(number, n=n)
    y[:] = np.where(np.arange(n) % 10 == 0, 1, 0)
    first = state.memory.n_seen
    serial = np.arange(first, first + n)
    drawn = hashes(serial) < np.uint64(share * 2**64)
    by_class = np.bincount(y, minlength=2)
    totals = Totals(n, by_class, by_class.astype(float))
    return Samples(X[drawn], y[drawn], serial[drawn], np.zeros(2, np.int32), 2, totals=totals), drawn.sum()


def test_all_samples_are_counted_and_those_drawn_are_kept():
    state, kept = new_state(max_samples=BOUND, memory_size=None), 0
    for number in range(1, 5):
        samples, n_drawn = drawn_batch(number, 4_000, BOUND / 4_000, state)
        state, report, _ = adaptation.RECIPES["adaptive"](state, samples)
        kept += n_drawn
        assert report.n_samples == 4_000
        assert state.memory.n_seen == 4_000 * number
        assert state.memory.seen_by_class.tolist() == [3_600 * number, 400 * number]
        assert state.memory.weight_by_class.tolist() == [3_600 * number, 400 * number]
        assert state.class_mix.seen.tolist() == [3_600 * number, 400 * number]
        assert len(state.memory) == kept
    later, n_drawn = drawn_batch(9, 4_000, BOUND / 4_000, state)
    waiting, report = learn(state, *two_clusters(5, n=30))
    assert report.action["permanent"] == "waiting"
    joined, n_first = waiting.pending.joined(later), int((waiting.pending.y == 0).sum())
    assert joined.batch_totals.n == 4_030
    assert joined.batch_totals.by_class.tolist() == [3_600 + n_first, 430 - n_first]
    assert len(joined) == 30 + n_drawn


def test_what_came_is_what_is_there_unless_more_is_known():
    samples = Samples(np.ones((3, 1)), np.array([0, 2, 0], np.int32), np.arange(3), np.zeros(1, np.int32), 4)
    came = samples.batch_totals
    assert (came.n, came.by_class.tolist(), came.weight_by_class.tolist()) == (3, [2, 0, 1, 0], [2, 0, 1, 0])


@pytest.mark.parametrize("value", [999, 0, -1, 0.5, "all", True])
def test_other_bounds_are_refused(value):
    with pytest.raises(ValueError, match=r"max_samples of AdaptiveDecisionForestClassifier is .* at least 1000"):
        AdaptiveDecisionForestClassifier(max_samples=value).fit([[0.0], [1.0]], [0, 1])
