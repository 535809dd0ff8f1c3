"""One batch after another: what is called drift and what is not, who takes whose place, and batches that wait."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest import AdaptiveDecisionForestClassifier
from adforest.adaptation.evidence import MIN_OBSERVED
from adforest.adaptation.update import SMALL_BATCH, SMALL_SHARE
from adforest.adaptation.voting import votes
from adforest.forest import GrowthParams
from adforest.growers import HoeffdingGrower, RandomForestGrower, SysForGrower
from oracles import (
    accuracy,
    as_bytes,
    check_left_alone_by_learning,
    grid,
    learn,
    make_settings,
    n_given,
    new_state,
    same_trees,
    swapping_stream,
    two_clusters,
)

GROWERS = {grower.__name__: grower(GrowthParams(max_features=2)) for grower in (SysForGrower, HoeffdingGrower)}
CALM = "." * (MIN_OBSERVED + 3)  # batches before how optimistic the newest forest is is known: 1 builds, 2 claims


def follow(pattern, n=200, **changes):
    """Return the states and reports along a stream; 's' swaps the labels of a batch, '.' does not."""
    return swapping_stream(pattern, make_settings(**changes), n)


def verdicts(reports):
    """Return one letter a batch: none, temporary or sustained."""
    return "".join(report.drift[0] for report in reports)


def accuracies(pattern, states):
    """Return how well each state answers for records like those of its last batch."""
    return [accuracy(state, *two_clusters(99, sign == "s")) for state, sign in zip(states, pattern, strict=True)]


def batches_known(state, name="temporary"):
    """Return the batches that a forest knows records of."""
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
    # Numbers of records or times: every batch lies beyond those before, and roots would be put above roots.
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
    states, _ = follow(CALM + "sss", window_size=window_size, memory_size=memory_size, n=100)
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


# --- batches that wait


def start(n=2_000, **changes):
    """Return the state after one large batch and some usual ones."""
    state, _ = learn(new_state(**changes), *two_clusters(0, n=n))
    return state


@pytest.mark.parametrize("n_first", [300, 1_000, 5_000])
def test_batches_wait_until_they_are_enough(n_first):
    state = start(n_first)
    enough = min(SMALL_BATCH, SMALL_SHARE * n_first)
    waiting = 0
    for number in range(1, 12):
        before = state
        state, report = learn(state, *two_clusters(number, n=11))
        waiting += 11
        assert report.batch == state.n_calls == number + 1
        assert report.n_records == 11
        if waiting < enough:
            assert set(report.action.values()) == {"waiting"}
            assert set(report.action) == set(state.forests)
            assert len(state.pending) == waiting
            assert as_bytes(state) == as_bytes(before)
            assert state.n_batches == before.n_batches
            assert (report.drift, report.perturbed) == ("none", {})
            assert report.accuracy.keys() >= {"permanent", "vote"}
        else:
            assert state.pending is None
            assert report.action["permanent"] == "repaired"
            assert state.n_batches == before.n_batches + 1
            assert (state.memory.batch == state.n_batches).sum() == waiting
            enough, waiting = min(SMALL_BATCH, SMALL_SHARE * len(state.memory)), 0
        assert n_given(state) == n_first + 11 * number
    assert state.n_calls == 12
    assert 1 < state.n_batches < 12


def test_an_unknown_class_does_not_wait_and_takes_along_what_does():
    state, _ = learn(start(), *two_clusters(1, n=20), n_classes=3)
    assert len(state.pending) == 20
    state, report = learn(state, np.array([[50.0, 50.0]] * 3), [2] * 3, n_classes=3)
    assert state.pending is None
    assert report.action["permanent"] == "repaired"
    assert (report.scenario, report.new_classes) == ("SUC", (2,))
    assert (state.memory.batch == 2).sum() == 23
    assert accuracy(state, np.array([[50.0, 50.0]]), [2], 3) == 1


def test_classes_that_wait_are_known_and_counted():
    state, _ = learn(start(), *two_clusters(1, n=20))
    _, y = two_clusters(1, n=20)
    X, _ = two_clusters(2, n=20)
    state, report = learn(state, X, np.zeros(20))
    assert report.scenario == "SKC"
    seen = state.memory.seen_by_class + np.bincount(y, minlength=2) + [20, 0]
    recent = seen  # the first batch is the last one learnt, so everything is recent
    overall = seen / seen.sum()
    np.testing.assert_allclose(state.class_mix.padded(2).ratios()[1], (recent + overall) / (recent.sum() + 1) / overall)


@pytest.mark.parametrize("n_first", [2_000, 5_000])
@pytest.mark.parametrize("pieces", [[100], [50, 50], [20] * 5, [1] * 99 + [1], [99, 1]])
def test_records_that_wait_are_learnt_like_one_batch(pieces, n_first):
    X, y = two_clusters(7, n=100)
    before = start(n_first)
    once, report = learn(before, X, y)
    state, at = before, 0
    for size in pieces:
        state, last = learn(state, X[at : at + size], y[at : at + size])
        at += size
    assert as_bytes(state) == as_bytes(once)
    np.testing.assert_array_equal(state.memory.serial, once.memory.serial)
    np.testing.assert_array_equal(state.memory.batch, once.memory.batch)
    assert (state.n_batches, state.n_calls) == (2, 1 + len(pieces))
    assert last.action == report.action
    assert last.n_leaves == report.n_leaves


def test_single_records_from_the_first_on_are_learnt_without_a_verdict():
    state = new_state(n_estimators=4)
    X, y = two_clusters(0, n=60)
    for record, klass in zip(X, y, strict=True):
        state, report = learn(state, record[None], [klass])
        assert report.drift == "none"
    assert accuracy(state, *two_clusters(99)) > 0.9


def test_what_waits_is_in_the_pickle():
    state, _ = learn(start(), *two_clusters(1, n=60))
    twin = pickle.loads(pickle.dumps(state))
    one, _ = learn(state, *two_clusters(2, n=60))
    other, _ = learn(twin, *two_clusters(2, n=60))
    assert one.pending is None
    assert as_bytes(one) == as_bytes(other)


@pytest.mark.parametrize("seed", [0, 1])
def test_labels_flipped_in_batches_of_twenty_are_noticed_and_learnt(seed):
    rng, state, found = np.random.default_rng(seed), new_state(seed=seed), ""
    for n in [1_000] + [100] * 10:
        state, _ = learn(state, *grid(rng, n, 2, 0.05))
    X, y = grid(rng, 2_000, 2, 0.05)
    for number in range(1, 51):
        X_new, y_new = grid(rng, 20, 2, 0.05)
        state, report = learn(state, X_new, 1 - y_new)
        found += report.drift[0]
        if number == 25:
            assert accuracy(state, X, 1 - y) >= 0.75
    assert accuracy(state, X, 1 - y) >= 0.90
    assert "t" in found


# --- base forests that draw no lots


@pytest.mark.parametrize("name", GROWERS)
@pytest.mark.parametrize("window_size", [1, 2])
def test_other_base_forests_notice_a_swap_one_batch_later(name, window_size):
    pattern = "....ssssssss"
    states, reports = follow(pattern, grower=GROWERS[name], window_size=window_size)
    assert verdicts(reports)[:9] == "nnnnnttts"
    assert reports[8].action["active"] == "replaced"
    assert min(accuracies(pattern, states)[5:]) > 0.9


@pytest.mark.parametrize("name", GROWERS)
def test_other_base_forests_find_no_drift_in_a_stationary_stream(name):
    assert verdicts(follow("." * 8, grower=GROWERS[name])[1]) == "n" * 8


@pytest.mark.parametrize("name", GROWERS)
def test_a_temporary_forest_is_always_of_one_window(name):
    # SysFor often has fewer trees than places; those of an earlier window are not to fill them.
    for state in follow("...sss", grower=GROWERS[name], window_size=2, n=100)[0][1:]:
        forest = state.forest("temporary")
        assert {born for tree in forest.trees for born in tree.born.tolist()} == {state.n_batches}
        assert state.memory.batch[forest.known].min() > state.n_batches - 2


# --- learning on the side


@pytest.mark.parametrize("memory_size", [None, 0, 150])
def test_learning_never_changes_the_state_it_starts_from(memory_size):
    states, _ = follow(CALM + "ss.", memory_size=memory_size, n=100)
    for state in (states[0], *states[-4:]):
        check_left_alone_by_learning(state)


@pytest.mark.parametrize("grower", [RandomForestGrower(GrowthParams(max_features=2)), *GROWERS.values()])
def test_threads_make_no_difference(grower):
    one, first = follow(CALM + "ss..", grower=grower, n_jobs=1)
    two, second = follow(CALM + "ss..", grower=grower, n_jobs=2)
    for a, b in zip(one, two, strict=True):
        assert as_bytes(a) == as_bytes(b)
        assert (a.regime_start, a.n_drift_batches, a.answering) == (b.regime_start, b.n_drift_batches, b.answering)
        for voter, weights in a.evidence.weights.items():
            np.testing.assert_array_equal(weights, b.evidence.weights[voter])
    for a, b in zip(first, second, strict=True):
        assert replace(a, seconds=0) == replace(b, seconds=0)


def test_a_pickle_goes_on_like_the_original():
    for state in follow(CALM + "ss", n=100)[0][::2]:
        twin = pickle.loads(pickle.dumps(state))
        for number, swapped in ((60, True), (61, False)):
            state, report = learn(state, *two_clusters(number, swapped))
            twin, again = learn(twin, *two_clusters(number, swapped))
            assert replace(report, seconds=0) == replace(again, seconds=0)
        assert as_bytes(state) == as_bytes(twin)
        np.testing.assert_array_equal(votes(state, two_clusters(9)[0], 2), votes(twin, two_clusters(9)[0], 2))


# --- little of everything


@given(
    sizes=st.lists(st.sampled_from([1, 1, 2, 5, 29, 30, 31, 70]), min_size=2, max_size=7),
    n_estimators=st.sampled_from([1, 2, 3]),
    window_size=st.sampled_from([1, 2, 9]),
    drift_threshold=st.sampled_from([0, 1]),
    memory_size=st.sampled_from([0, 1, 20, None]),
    splitting=st.sampled_from(["entropy", "isat"]),
    base=st.sampled_from([None, *GROWERS]),
    seed=st.integers(0, 1_000),
)
def test_any_stream_is_learnt_and_answered(sizes, base, seed, **changes):
    rng = np.random.default_rng(seed)
    changes |= {"grower": GROWERS[base]} if base else {}
    state, seen = new_state(seed=seed, **changes), 0
    for number, n in enumerate(sizes, start=1):
        classes = rng.choice(5, rng.integers(1, 4))
        X = rng.integers(0, 4, (n, 2)) * rng.choice([1.0, 1.0, 100.0])
        X[rng.random(X.shape) < 0.1] = np.nan
        state, report = learn(state, X, rng.choice(classes, n), n_classes=5)
        seen += n
        assert (state.n_calls, n_given(state), report.n_records) == (number, seen, n)
        assert 1 <= state.regime_start <= state.n_batches <= number
        assert 0 <= state.n_drift_batches <= changes["drift_threshold"]
        assert set(report.votes) == set(state.voting)
        assert state.answering == report.answering
        answers = votes(state, np.vstack([X, X * 1000, [[np.nan, np.nan]]]), 5)
        assert np.isfinite(answers).all()
        assert (answers.sum(axis=1) > 0).all()
        for one in state.forests.values():
            assert 1 <= len(one.forest) <= changes["n_estimators"]
            assert len(one.forest.known) == len(state.memory)
        if n < 9:
            assert report.drift == "none" or state.n_batches < number, "too few records to conclude anything from"


def test_more_trees_from_now_on_are_no_drift():
    state = follow(CALM, n_estimators=1)[0][-1]
    _, report = learn(replace(state, settings=make_settings(n_estimators=12)), *two_clusters(60))
    assert report.drift == "none"


def test_reported_accuracy_is_that_before_learning():
    states, reports = follow(CALM + "s.")
    assert reports[0].accuracy == {}
    for before, report in zip(states, reports[1:], strict=False):
        X, y = two_clusters(report.batch - 1, swapped=report.batch == len(CALM) + 1)
        assert set(report.accuracy) == {"vote", "active", *before.voting}
        assert report.accuracy["vote"] == pytest.approx(accuracy(before, X, y), abs=0.02)
