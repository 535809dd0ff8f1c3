"""What is called drift and what is not, since when, and who takes whose place."""

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier
from adforest.forest import GrowthParams
from adforest.growers import RandomForestGrower
from oracles import accuracy, grid, learn, new_state, same_trees, two_clusters
from swapped_labels import CALM, accuracies, follow, verdicts


def batches_known(state, name="temporary"):
    """Return the batches that a forest knows samples of."""
    return sorted(set(state.memory.batch[state.forest(name).known].tolist()))


# --- a world that stays as it is


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("n_classes", [2, 8])
@pytest.mark.parametrize(("n", "n_seeds"), [(50, 2), (200, 2), (1_000, 1)])
def test_a_stationary_stream_has_no_drift(n, n_seeds, n_classes, noise):
    found = ""
    for seed in range(n_seeds):
        rng, state = np.random.default_rng(seed), new_state(seed=seed)
        for _ in range(10):
            state, report = learn(state, *grid(rng, n, n_classes, noise), n_classes=n_classes)
            found += report.drift[0]
    assert "s" not in found
    assert found.count("t") <= 1


@pytest.mark.parametrize(("memory_size", "voting"), [(0, "soft"), (30, "majority"), (None, "soft")])
def test_clusters_that_overlap_are_no_drift(memory_size, voting):
    rng, found = np.random.default_rng(0), ""
    state = new_state(memory_size=memory_size, soft=voting == "soft")
    for _ in range(10):
        state, report = learn(state, *grid(rng, 200, 3, 0.1, distance=1.5), n_classes=3)
        found += report.drift[0]
    assert found == "n" * 10


def test_while_nothing_happens_permanent_and_active_are_one_and_vote_once():
    states, reports = follow(CALM + "...")
    for state, report in zip(states[1:], reports[1:], strict=True):
        assert same_trees(state.forest("permanent"), state.forest("active"))
        assert set(state.voting) == set(report.votes) == {"permanent", "temporary", "newest"}
        assert report.answering == state.answering == "permanent"
        assert state.regime_start == 1
        assert not state.is_active_separate


@pytest.mark.parametrize("n_classes", [1, 2])
def test_chance_is_not_learnt_by_heart(n_classes):
    # A forest that is tested on what it was grown from gets everything right, and everything is a drift.
    rng, state = np.random.default_rng(0), new_state()
    for _ in range(10):
        state, report = learn(state, rng.normal(size=(300, 2)), rng.integers(0, n_classes, 300), n_classes=n_classes)
        assert report.drift == "none"


@pytest.mark.parametrize(("distance", "share"), [(3.0, 0.97), (3.0, 0.8), (1.5, 0.8), (1.0, 0.8), (1.0, 0.9)])
def test_another_mix_of_the_same_classes_is_no_drift(distance, share):
    for seed in range(2):
        state = new_state(seed=seed)
        for number in range(14):
            rng = np.random.default_rng(100 * seed + number)
            y = (rng.random(400) < (0.5 if number < 8 else share)).astype(np.int32)
            state, report = learn(state, rng.normal(size=(400, 2)) + distance * y[:, None], y)
            assert report.drift == "none", "the mix is no rule"


def test_an_attribute_that_grows_does_not_make_trees_deeper_and_deeper():
    # Numbers of samples or times: every batch lies beyond those before, and roots would be put above roots.
    state = new_state()
    for number in range(30):
        X, y = two_clusters(number, n=150)
        X[:, 1] = 150 * number + np.arange(150)
        state, _ = learn(state, X, y)
    assert max(tree.depth for tree in state.forest("permanent").trees) <= 5
    depth = {}
    for splitting in ("entropy", "isat"):
        state = new_state(splitting=splitting, renewal=0)
        for number in range(30):
            X, y = grid(np.random.default_rng(number), 150, 2, 0.05)
            X[:, 1] = 150 * number + np.arange(150)
            state, _ = learn(state, X, y)
        depth[splitting] = np.mean([tree.depth for tree in state.forest("permanent").trees])
    assert depth["entropy"] < 0.75 * depth["isat"]
    assert AdaptiveDecisionForestClassifier().splitting == "entropy"


# --- a world that changes


@pytest.mark.parametrize("window_size", [1, 3, 5])
@pytest.mark.parametrize("pattern", [CALM + "s....", CALM + "ss....", CALM + "s......s..."])
def test_labels_swapped_for_a_while_are_temporary(pattern, window_size):
    states, reports = follow(pattern, window_size=window_size)
    found = verdicts(reports)
    assert "s" not in found
    assert found[: len(CALM)] == "n" * len(CALM)
    assert found[len(CALM)] == "t", "it is noticed in its batch"
    assert min(accuracies(pattern, states)) > 0.9, "answers follow within the batch, and return at once"
    assert states[-1].n_drift_batches == 0


@pytest.mark.parametrize("changes", [{"n_estimators": 10}, {"n_estimators": 1}, {"n_estimators": 2}, {"soft": False}])
@pytest.mark.parametrize("memory_size", [0, 2_000, None])
def test_labels_swapped_for_good_become_sustained(changes, memory_size):
    pattern = CALM + "ssssss"
    states, reports = follow(pattern, memory_size=memory_size, **changes)
    assert verdicts(reports) == "n" * len(CALM) + "tttsnn"
    assert [state.n_drift_batches for state in states] == [0] * len(CALM) + [1, 2, 3] + [0] * 3
    assert min(accuracies(pattern, states)) > 0.9


def test_with_hardly_any_memory_a_lasting_change_is_sustained_too():
    # The permanent forest soon follows; the active one, which is left as it was, shows that rules have changed.
    pattern = CALM + "ssssss"
    states, reports = follow(pattern, memory_size=20)
    assert verdicts(reports) == "n" * len(CALM) + "tttsnn"
    assert min(accuracies(pattern, states)) > 0.9


def test_before_anything_is_known_of_optimism_a_change_is_noticed_one_batch_later():
    pattern = "...ssss"
    states, reports = follow(pattern)
    assert verdicts(reports)[:5] == "nnnnt"
    assert min(accuracies(pattern, states)[4:]) > 0.9


@pytest.mark.parametrize("drift_threshold", [0, 1, 5])
def test_sustained_is_more_than_the_threshold(drift_threshold):
    states, reports = follow(CALM + "s" * (drift_threshold + 1), drift_threshold=drift_threshold)
    assert [report.drift for report in reports[len(CALM) :]] == ["temporary"] * drift_threshold + ["sustained"]
    assert reports[-1].action["active"] == "replaced"
    last = states[-1]
    assert last.is_active_separate
    assert last.n_drift_batches == 0
    assert set(last.voting) == {"permanent", "active", "temporary", "newest"}
    assert batches_known(last, "active") == batches_known(last, "temporary")
    assert min(batches_known(last, "active")) > len(CALM), "it knows nothing from before the change"
    X, y = two_clusters(99, swapped=True)
    assert np.mean(last.forest("active").answer(X, 2, soft=True).argmax(axis=1) == y) > 0.95


def test_while_it_drifts_the_active_forest_stays_as_it_was():
    states, reports = follow(CALM + "sss")
    n = len(CALM)
    for state, report in zip(states[n:], reports[n:], strict=True):
        assert same_trees(state.forest("active"), states[n - 1].forest("active"))
        assert report.action["active"] == "kept"
        assert report.action["permanent"] == "repaired"
        assert batches_known(state, "active") == list(range(1, n + 1))
        assert batches_known(state, "permanent") == list(range(1, report.batch + 1))


def test_the_active_forest_learns_what_comes_while_it_is_ahead():
    states, reports = follow(CALM + "ssssss")
    assert reports[-1].action["active"] == "repaired"
    assert states[-1].is_active_separate
    assert not same_trees(states[-1].forest("active"), states[-1].forest("permanent"))
    assert batches_known(states[-1], "active")[-1] == len(states)


def test_a_forest_that_took_the_active_ones_place_after_an_early_change_is_kept_while_it_is_ahead():
    _, reports = follow("...ssssssss")
    at = verdicts(reports).index("s")
    assert reports[at + 1].accuracy["active"] > reports[at + 1].accuracy["permanent"] + 0.1
    assert reports[at + 1].action["active"] == "repaired"


def test_the_active_forest_rejoins_the_permanent_one_that_is_no_worse():
    # One batch of other labels, and a forest of its own for it; with time the permanent forest catches up.
    rng, state, actions = np.random.default_rng(0), new_state(drift_threshold=0), []
    for number in range(24):
        X, y = grid(rng, 200, 8, 0.1, distance=3)
        state, report = learn(state, X, (y + (number == 7)) % 8, n_classes=8)
        actions.append(report.action["active"])
        assert same_trees(state.forest("active"), state.forest("permanent")) != state.is_active_separate
        assert ("active" in state.evidence.votes()) == state.is_active_separate
    assert "replaced" in actions
    assert "rejoined" in actions[actions.index("replaced") :]


def test_a_concept_that_comes_and_goes_is_noticed_each_time():
    pattern = CALM + "sssss" + "....." + "sssss"
    states, reports = follow(pattern)
    assert verdicts(reports) == "n" * len(CALM) + "tttsn" * 3
    assert min(accuracies(pattern, states)) > 0.9


@pytest.mark.parametrize(("n_classes", "noise", "n"), [(2, 0.2, 200), (8, 0.1, 400), (3, 0.0, 60)])
def test_a_swap_is_noticed_in_spite_of_noise_and_many_classes(n_classes, noise, n):
    rng, state, found = np.random.default_rng(0), new_state(), ""
    for swapped in [0] * 8 + [1] * 5:
        X, y = grid(rng, n, n_classes, noise, distance=8)
        state, report = learn(state, X, (y + swapped) % n_classes, n_classes=n_classes)
        found += report.drift[0]
    assert found == "n" * 8 + "tttsn"


def test_a_drift_of_some_classes_is_a_drift():
    rng, state, found = np.random.default_rng(0), new_state(), ""
    for number in range(10):
        X, y = grid(rng, 400, 8, 0.0, distance=8)
        y = np.where(number >= 7, np.array([1, 0, 2, 3, 4, 5, 6, 7])[y], y)
        state, report = learn(state, X, y, n_classes=8)
        found += report.drift[0]
    assert found == "nnnnnnnttt"


def test_a_world_that_moves_is_a_drift():
    states, _ = follow(CALM)
    X, y = two_clusters(9)
    state, report = learn(states[-1], X - [8, 0], y)
    assert report.drift == "temporary"
    X, y = two_clusters(10)
    assert accuracy(state, X - [8, 0], y) > 0.9


@pytest.mark.parametrize("params", [{"max_depth": 2}, {"min_samples_leaf": 60}])
def test_coarse_trees_notice_a_swap_in_its_batch(params):
    states, reports = follow(CALM + "s", grower=RandomForestGrower(GrowthParams(max_features=2, **params)))
    assert reports[-1].drift == "temporary"
    assert accuracies("s", states[-1:])[0] > 0.9


def test_a_batch_of_one_class_says_nothing_of_rules():
    states, _ = follow(CALM)
    X, y = two_clusters(60, True)
    _, report = learn(states[-1], X[y == 0], y[y == 0])
    assert report.drift == "none"


# --- since when


def test_the_regime_starts_with_the_batch_of_an_abrupt_change():
    states, _ = follow(CALM + "ssss....")
    assert [state.regime_start for state in states] == [1] * 6 + [7] * 4 + [11] * 4


@pytest.mark.parametrize(("window_size", "memory_size"), [(1, None), (2, 5), (2, None), (4, None)])
def test_the_temporary_forest_knows_the_window_but_nothing_before_the_change(window_size, memory_size):
    states, _ = follow(CALM + "sss", window_size=window_size, memory_size=memory_size, splitting="isat", n=100)
    for number, state in enumerate(states[1:], start=2):
        first = max(number - window_size + 1, 7 if number >= 7 else 1)
        assert state.window_start == first
        if memory_size is None:
            assert batches_known(state) == list(range(first, number + 1))
            assert batches_known(state, "newest") == [number]
        X = np.vstack([two_clusters(k - 1, n=100)[0] for k in range(first, number + 1)])
        box = state.forests["temporary"].box
        np.testing.assert_array_equal([box.low, box.high], [X.min(axis=0), X.max(axis=0)])
        assert len(state.forest("temporary")) == len(state.forest("newest")) == 5


def test_a_window_wider_than_the_stream_is_all_there_is():
    states, _ = follow("...", window_size=50)
    assert [batches_known(state) for state in states[1:]] == [[1, 2], [1, 2, 3]]


# --- classes


def test_a_new_class_in_each_batch_is_no_drift():
    state, everything = new_state(), []
    for klass in range(8):
        X = np.random.default_rng(klass).normal(size=(100, 2)) + 20 * klass
        everything.append(X)
        state, report = learn(state, X, np.full(100, klass), n_classes=klass + 1)
        assert (report.scenario, report.drift, report.new_classes) == ("SUC", "none", (klass,))
        assert state.regime_start == 1
    assert accuracy(state, np.vstack(everything), np.repeat(np.arange(8), 100), 8) > 0.95


def test_a_new_class_beside_old_ones_is_no_drift():
    rng, state = np.random.default_rng(0), new_state()
    for number in range(11):
        X, y = two_clusters(number, n=300)
        if number >= 7:
            new = rng.random(300) < 0.5
            X[new], y[new] = rng.normal(size=(new.sum(), 2)) + np.array([12, 0]), 2
        state, report = learn(state, X, y, n_classes=3)
        assert report.drift == "none"
    assert report.accuracy["permanent"] > 0.9


def test_batches_of_one_class_in_turn_are_no_drift_where_classes_lie_apart():
    state = new_state()
    for number in range(12):
        X = np.random.default_rng(number).normal(size=(80, 2)) + 20 * (number % 3)
        state, report = learn(state, X, np.full(80, number % 3), n_classes=3)
        assert report.drift == "none"
    X = np.random.default_rng(9).normal(size=(90, 2)) + 20 * (np.arange(90) % 3)[:, None]
    assert accuracy(state, X, np.arange(90) % 3, 3) > 0.95
