"""The weighted lesson: a forest of the last batches always stands, judges the others, and all of them vote."""

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest.adaptation import Learner, learn, lesson
from adforest.adaptation.learner import EXPECTED, NEAR
from adforest.adaptation.repair import RepairRules
from adforest.forest import Growth
from adforest.forest._kernels.counting import poisson_weights
from adforest.forest.tree import LEAF_EXPANDED
from adforest.growers import HoeffdingGrower, RandomForestGrower, SysForGrower
from oracles import (
    FORESTS,
    NUMERICAL,
    as_bytes,
    check_left_alone_by_learning,
    lesson_settings,
    nearness,
    same_trees,
    swapping_stream,
    two_clusters,
)

GROWERS = {grower.__name__: grower(Growth(max_features=2)) for grower in (SysForGrower, HoeffdingGrower)}


def follow(pattern, n=200, **changes):
    """Return the learners and reports along a stream; 's' swaps the labels of a batch, '.' does not."""
    return swapping_stream(pattern, lesson_settings(**changes), n)


def verdicts(pattern, **changes):
    """Return one letter a batch: none, temporary or sustained."""
    return "".join(report.drift[0] for report in follow(pattern, **changes)[1])


def accuracies(pattern, learners):
    """Return how well each learner answers for records like those of its last batch."""
    return [accuracy(learner, sign == "s") for learner, sign in zip(learners, pattern, strict=True)]


def accuracy(learner, swapped):
    X, y = two_clusters(99, swapped)
    return np.mean(learner.answer(X, 2).argmax(axis=1) == y)


def batches_known(learner, name="temporary"):
    """Return the batches that a forest knows records of."""
    return sorted(set(learner.memory.batch[learner.forest(name).known].tolist()))


def grid(rng, n, n_classes, noise, distance=4):
    """Return clusters side by side, one a class, some records with a label by chance."""
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, 2)) + distance * np.column_stack([y % 3, y // 3])
    return X, np.where(rng.random(n) < noise, rng.integers(0, n_classes, n), y).astype(np.int32)


# --- a world that stays as it is


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("n_classes", [2, 8])
@pytest.mark.parametrize(("n", "n_seeds"), [(50, 2), (200, 2), (1_000, 1)])
def test_a_stationary_stream_has_no_drift(n, n_seeds, n_classes, noise):
    found = ""
    for seed in range(n_seeds):
        rng, learner = np.random.default_rng(seed), Learner.new(lesson_settings(seed=seed), 2)
        for _ in range(8):
            learner, report = learn(learner, *grid(rng, n, n_classes, noise), NUMERICAL, n_classes)
            found += report.drift[0]
    assert "s" not in found
    assert found.count("t") <= 1


@pytest.mark.parametrize(("memory_size", "voting"), [(0, "soft"), (30, "majority"), (None, "soft")])
def test_clusters_that_overlap_are_no_drift(memory_size, voting):
    rng, found = np.random.default_rng(0), ""
    learner = Learner.new(lesson_settings(memory_size=memory_size, soft=voting == "soft"), 2)
    for _ in range(8):
        learner, report = learn(learner, *grid(rng, 200, 3, 0.1, distance=1.5), NUMERICAL, 3)
        found += report.drift[0]
    assert found == "n" * 8


def test_while_nothing_happens_permanent_and_active_are_one_and_vote_once():
    learners, reports = follow("......")
    for learner, report in zip(learners[1:], reports[1:], strict=True):
        assert same_trees(learner.forest("permanent"), learner.forest("active"))
        assert list(learner.votes) == list(report.votes) == ["permanent", "temporary"]
        assert learner.votes["temporary"] == 1
        assert learner.votes["permanent"] == pytest.approx(1, abs=0.2)
        assert learner.since == 1


@pytest.mark.parametrize("n_classes", [1, 2])
def test_chance_is_not_learnt_by_heart(n_classes):
    # A forest that is tested on what it was grown from gets everything right, and everything is a drift.
    rng, learner = np.random.default_rng(0), Learner.new(lesson_settings(), 2)
    for _ in range(8):
        X, y = rng.normal(size=(300, 2)), rng.integers(0, n_classes, 300).astype(np.int32)
        learner, report = learn(learner, X, y, NUMERICAL, n_classes)
        assert report.drift == "none"
        assert report.votes["permanent"] > 0.7


# --- a world that changes


@pytest.mark.parametrize("window_size", [1, 3, 5])
@pytest.mark.parametrize("pattern", ["...s...", "...ss...", "...s.s."])
def test_labels_swapped_for_a_while_are_temporary_in_just_those_batches(pattern, window_size):
    learners, reports = follow(pattern, window_size=window_size)
    assert "".join(report.drift[0] for report in reports) == pattern.replace(".", "n").replace("s", "t")
    assert min(accuracies(pattern, learners)) > 0.9, "answers follow within the batch, and return at once"
    assert learners[-1].n_unrepairable == 0


@pytest.mark.parametrize("changes", [{"n_estimators": 10}, {"n_estimators": 1}, {"n_estimators": 2}, {"soft": False}])
@pytest.mark.parametrize("memory_size", [0, 20])
def test_labels_swapped_for_good_become_sustained(changes, memory_size):
    pattern = "...ssssss"
    learners, reports = follow(pattern, memory_size=memory_size, n=100, **changes)
    assert "".join(report.drift[0] for report in reports) == "nnntttsnn"
    assert [learner.n_unrepairable for learner in learners] == [0] * 3 + [1, 2, 3] + [0] * 3
    assert min(accuracies(pattern, learners)) > 0.9


@pytest.mark.parametrize("drift_threshold", [0, 1, 5])
def test_sustained_is_more_than_the_threshold(drift_threshold):
    learners, reports = follow("..." + "s" * (drift_threshold + 1), drift_threshold=drift_threshold)
    assert [report.drift for report in reports[3:]] == ["temporary"] * drift_threshold + ["sustained"]
    assert reports[-1].action["active"] == "replaced"
    last = learners[-1]
    assert same_trees(last.forest("active"), last.forest("temporary"))
    assert list(last.votes) == ["permanent", "temporary"], "a forest of two names votes once"
    assert last.n_unrepairable == 0


def test_while_it_drifts_the_active_forest_stays_as_it_was():
    learners, reports = follow("...sss")
    for learner, report in zip(learners[3:], reports[3:], strict=True):
        assert same_trees(learner.forest("active"), learners[2].forest("active"))
        assert report.action == {"permanent": "repaired", "active": "kept", "temporary": report.action["temporary"]}
        assert batches_known(learner, "active") == [1, 2, 3]
        assert batches_known(learner, "permanent") == list(range(1, report.batch + 1))


def test_a_concept_that_comes_and_goes_is_noticed_each_time():
    pattern = "...sssss" + "....." + "sssss"
    learners, reports = follow(pattern)
    assert "".join(report.drift[0] for report in reports) == "nnn" + "tttsn" * 3
    assert min(accuracies(pattern, learners)) > 0.9


@pytest.mark.parametrize(("n_classes", "noise", "n"), [(2, 0.2, 200), (8, 0.1, 400), (3, 0.0, 60)])
def test_a_swap_is_noticed_in_spite_of_noise_and_many_classes(n_classes, noise, n):
    rng, learner, found = np.random.default_rng(0), Learner.new(lesson_settings(), 2), ""
    for swapped in (0, 0, 0, 0, 1, 1, 1, 1, 1):
        X, y = grid(rng, n, n_classes, noise, distance=8)
        y = (y + swapped).astype(np.int32) % n_classes
        learner, report = learn(learner, X, y, NUMERICAL, n_classes)
        found += report.drift[0]
    assert found == "nnnntttsn"


def test_a_drift_of_some_classes_is_a_drift():
    rng, learner, found = np.random.default_rng(0), Learner.new(lesson_settings(), 2), ""
    for number in range(6):
        X, y = grid(rng, 400, 8, 0.0, distance=8)
        y = np.where(number >= 3, np.array([1, 0, 2, 3, 4, 5, 6, 7])[y], y).astype(np.int32)
        learner, report = learn(learner, X, y, NUMERICAL, 8)
        found += report.drift[0]
    assert found == "nnnttt"


def test_a_world_that_moves_is_a_drift():
    learners, _ = follow("...")
    X, y = two_clusters(9)
    learner, report = learn(learners[-1], X - [8, 0], y, NUMERICAL, 2)
    assert report.drift == "temporary"
    X, y = two_clusters(10)
    assert np.mean(learner.answer(X - [8, 0], 2).argmax(axis=1) == y) > 0.9


# --- since when


def test_since_moves_to_the_batch_of_an_abrupt_change():
    learners, reports = follow("...ssss..s")
    assert [learner.since for learner in learners] == [1] * 3 + [4] * 4 + [8] * 2 + [10]
    rebuilt = [report.batch for report in reports if report.action.get("temporary") == "rebuilt"]
    assert rebuilt == [4, 8, 10]


@pytest.mark.parametrize(("window_size", "memory_size"), [(1, None), (2, 5), (2, None), (4, None)])
def test_the_temporary_forest_knows_the_window_but_nothing_before_the_change(window_size, memory_size):
    learners, _ = follow("....sss", window_size=window_size, memory_size=memory_size, n=100)
    for number, learner in enumerate(learners[1:], start=2):
        first = max(number - window_size + 1, 5 if number >= 5 else 1)
        if memory_size is None:
            assert batches_known(learner) == list(range(first, number + 1))
        X = np.vstack([two_clusters(k - 1, n=100)[0] for k in range(first, number + 1)])
        box = learner.standings["temporary"].box
        np.testing.assert_array_equal([box.low, box.high], [X.min(axis=0), X.max(axis=0)])


def test_every_tree_of_a_temporary_forest_that_was_rebuilt_is_of_the_batch_alone():
    learners, _ = follow("....s")
    n = np.sum([np.sum(tree.row_weight) for tree in learners[-1].forest("temporary").trees])
    assert n / 10 == pytest.approx(200, rel=0.1)


def test_all_trees_of_the_temporary_forest_are_grown_anew_while_its_window_fills():
    learners, _ = follow("....sssss", window_size=4)
    n_old = []
    for before, after in pairwise(learners[4:]):
        old, new = (set(map(id, learner.forest("temporary").trees)) for learner in (before, after))
        n_old.append(len(old & new))
    assert learners[-1].since == 5
    assert n_old == [0, 0, 7, 7], "at the eighth batch it is full"


def test_classes_that_came_within_the_window_do_not_pass_for_other_rules():
    # Two classes that lie over those there are: a forest of the batches that have them alone is better at them.
    rng, learner = np.random.default_rng(0), Learner.new(lesson_settings(), 2)
    for number in range(9):
        X, y = grid(rng, 400, 4, 0.0, distance=2)
        y = y if number >= 6 else y % 2
        learner, _ = learn(learner, X, y.astype(np.int32), NUMERICAL, 4)
    assert learner.since == 1


# --- part of the trees


@pytest.mark.parametrize(
    ("n_estimators", "window_size", "part"), [(1, 3, 1), (2, 3, 1), (5, 3, 2), (10, 3, 4), (10, 2, 5), (3, 1, 3)]
)
def test_trees_of_the_temporary_forest_stand_as_long_as_the_window(n_estimators, window_size, part):
    learners, reports = follow("......", n_estimators=n_estimators, window_size=window_size)
    assert [report.action.get("temporary") for report in reports] == [None, "built"] + ["renewed"] * 4
    for before, after in pairwise(learners[1:]):
        old, new = before.forest("temporary").trees, after.forest("temporary").trees
        assert len(old) == len(new) == n_estimators
        assert not set(map(id, old)) & set(map(id, new[:part]))
        assert all(a is b for a, b in zip(new[part:], old, strict=False)), "the others are the youngest it had"
    born = [tree.born[0] for tree in learners[-1].forest("temporary").trees]
    assert born == [6 - place // part for place in range(n_estimators)]
    assert min(born) > 6 - window_size


@pytest.mark.parametrize(("n_estimators", "window_size"), [(3, 3), (20, 20), (1, 3)])
def test_a_few_new_trees_that_leave_too_little_out_to_tell_call_for_more(n_estimators, window_size):
    # One new tree leaves out some 22 of 60 records, and fewer than 30 say nothing.
    found = verdicts("." * 7 + "s" * 5, n=60, n_estimators=n_estimators, window_size=window_size)
    if n_estimators == 1:
        assert found == "n" * 12, "there are no more"
    else:
        assert found[7:] == "tttsn"


def expanding(learner):
    """Return the places of the permanent forest's trees in which the last batch expanded leaves."""
    trees = learner.forest("permanent").trees
    return [place for place, tree in enumerate(trees) if learner.n_batches in tree.born[tree.cause == LEAF_EXPANDED]]


@pytest.mark.parametrize(("n_estimators", "n_places"), [(1, 1), (4, 1), (10, 2)])
def test_every_tree_has_its_turn_to_expand_leaves(n_estimators, n_places):
    rng, learner = np.random.default_rng(0), Learner.new(lesson_settings(n_estimators=n_estimators, renewal=0), 2)
    places = []
    for _ in range(6):
        learner, _ = learn(learner, *grid(rng, 200, 2, noise=0.3), NUMERICAL, 2)
        places.append(expanding(learner))
    assert all(len(some) == n_places for some in places[1:])
    assert sorted({place for some in places for place in some}) == list(range(n_estimators))


@pytest.mark.parametrize(("n_classes", "changes"), [(2, {"tree_repair": "any"}), (2, {"memory_size": 0}), (3, {})])
def test_all_trees_expand_leaves_at_once_where_asked_or_where_waiting_would_lose_something(n_classes, changes):
    rng, learner = np.random.default_rng(0), Learner.new(lesson_settings(renewal=0, **changes), 2)
    for k in (2, 2, n_classes):
        learner, _ = learn(learner, *grid(rng, 200, k, noise=0.3), NUMERICAL, n_classes)
    assert expanding(learner) == list(range(10))


def grew(learner, name):
    """Return whether the last batch made nodes of a forest."""
    return any(learner.n_batches in tree.born for tree in learner.forest(name).trees)


@pytest.mark.parametrize("tree_repair", ["turn", "any"])
def test_two_forests_grow_trees_at_alternate_batches(tree_repair):
    learners, reports = follow("...sssssssssss", tree_repair=tree_repair)
    n_apart = 0
    for before, after, report in zip(learners, learners[1:], reports[1:], strict=False):
        if report.action["active"] != "repaired" or before.standings["active"].is_same(before.standings["permanent"]):
            continue
        n_apart += 1
        is_even = after.n_batches % 2 == 0
        assert grew(after, "permanent") == (is_even or tree_repair == "any")
        assert grew(after, "active") == (not is_even or tree_repair == "any")
    assert n_apart >= 4


@pytest.mark.parametrize("n_estimators", [3, 8, 10])
def test_every_tree_is_renewed_while_two_forests_take_turns(n_estimators):
    learner = Learner.new(lesson_settings(n_estimators=n_estimators, drift_threshold=0), 2)
    for number in range(4 * n_estimators + 8):
        learner, _ = learn(learner, *two_clusters(number, swapped=number >= 4, n=100), NUMERICAL, 2)
        if learner.standings["active"].is_same(learner.standings["permanent"]):
            apart_since = number
    assert apart_since < 8
    for name in ("permanent", "active"):
        assert min(tree.born.min() for tree in learner.forest(name).trees) > 8, "each has had its turn"


def test_after_a_change_no_old_tree_is_left():
    for pattern in ("....s", "....s."):
        *_, before, after = follow(pattern)[0]
        old, new = (set(map(id, learner.forest("temporary").trees)) for learner in (before, after))
        assert not old & new


def test_nobody_asks_where_records_are_in_the_temporary_forest():
    for learner in follow("...ss..")[0][1:]:
        assert learner.forest("temporary").leaf_of == ()
        assert len(learner.forest("permanent").leaf_of) == len(learner.forest("permanent"))


@pytest.mark.parametrize("drift_threshold", [1, 4])
@pytest.mark.parametrize("name", [None, *GROWERS])
@pytest.mark.parametrize("n", [100, 300], ids=["too few to code", "coded"])
def test_a_forest_that_takes_the_active_ones_place_knows_where_its_records_are(n, name, drift_threshold):
    changes = {"grower": GROWERS[name]} if name else {}
    learners, reports = follow("...sssssss", memory_size=3 * n, n=n, drift_threshold=drift_threshold, **changes)
    replaced = [learner for learner, report in zip(learners, reports, strict=True) if report.drift == "sustained"]
    assert replaced
    for learner in replaced:
        active, temporary, memory = learner.forest("active"), learner.forest("temporary"), learner.memory
        assert same_trees(active, temporary)
        np.testing.assert_array_equal(active.known, temporary.known)
        for tree, leaf_of in zip(active.trees, active.leaf_of, strict=True):
            learnt = active.known & (memory.batch <= tree.born.max())
            np.testing.assert_array_equal(leaf_of, np.where(learnt, tree.route(memory.X), -1))
            assert learnt.any()
        ages = {int(tree.born[0]) for tree in active.trees}
        assert (len(ages) > 1) == (name is None and drift_threshold > learner.settings.window_size)


class CountingGrower(RandomForestGrower):
    """Notes how many records are coded."""

    def __init__(self, how):
        super().__init__(how)
        object.__setattr__(self, "coded_records", [])

    def coded(self, records):
        if records.codes is None:
            self.coded_records.append(len(records))
        return super().coded(records)


def test_records_are_coded_once_a_batch_whoever_grows_from_them():
    grower = CountingGrower(Growth(max_features=2))
    learner = Learner.new(lesson_settings(grower=grower), 2)
    for number, swapped in enumerate([False] * 4 + [True], start=1):
        X, y = two_clusters(number, swapped, 600)
        grower.coded_records.clear()
        learner, _ = learn(learner, X, y, NUMERICAL, 2)
    assert learner.first_of_window == 5, "the window was tried, and then the batch alone"
    assert sorted(grower.coded_records) == [600, 1800, 3000]


# --- votes


def test_the_vote_of_a_forest_that_was_outdone_falls():
    learners, reports = follow("...ss")
    assert reports[2].votes["permanent"] == pytest.approx(1, abs=0.2)
    for learner in learners[3:]:
        assert set(learner.votes) == set(FORESTS)
        assert learner.votes["permanent"] < 0.01
        assert learner.votes["active"] < 0.01
        assert learner.votes["temporary"] > 0.99
        assert learner.answering == "temporary"


def test_active_and_temporary_share_one_vote():
    learners, _ = follow("...ssssss.s")
    apart = [learner for learner in learners if "active" in learner.votes]
    assert len(apart) >= 4
    for learner in apart:
        assert learner.votes["active"] + learner.votes["temporary"] == pytest.approx(1)


def test_reported_accuracy_is_that_before_learning():
    learners, reports = follow("...s.")
    assert reports[0].accuracy == {}
    for before, report in zip(learners, reports[1:], strict=False):
        X, y = two_clusters(report.batch - 1, swapped=report.batch == 4)
        assert set(report.accuracy) == set(before.standings)
        for name, share in report.accuracy.items():
            answers = before.forest(name).answer(X, 2, soft=True)
            assert share == pytest.approx(np.mean(answers.argmax(axis=1) == y))


def shares_of(learner, X, n_classes):
    """Return the shares of votes of each forest that answers, none outside its box but for the permanent one."""
    votes = {name: learner.forest(name).answer(X, n_classes, soft=True) for name in learner.votes}
    shares = {name: some / some.sum(axis=1, keepdims=True) for name, some in votes.items()}
    for name in shares.keys() - {"permanent"}:
        shares[name][~learner.standings[name].box.contains(X)] = 0
    return shares


def presence(learner, X):
    """Return how far records are of the present, from the memory and the trees of the permanent forest."""
    forest, memory = learner.forest("permanent"), learner.memory
    first = np.flatnonzero(memory.batch >= learner.first_of_window)[0]
    weights = memory.stands_for(learner.n_batches - 1)
    near = [
        np.array(nearness(tree.nodes, leaf_of, weights, first, EXPECTED))[tree.route(X)]
        for tree, leaf_of in zip(forest.trees, forest.leaf_of, strict=True)
    ]
    return np.minimum(np.mean(near, axis=0) / NEAR, 1)[:, None]


@pytest.mark.parametrize("memory_size", [100, 0])
def test_answers_are_the_weighted_shares_of_the_forests_as_far_as_records_are_of_the_present(memory_size):
    learners, _ = follow("...ss", memory_size=memory_size)
    X = np.vstack([two_clusters(77)[0], two_clusters(77)[0] * 3, [[1e6, -1e6]]])
    assert len(learners[0].nearness) == 0
    for learner in learners[1:]:
        present = presence(learner, X) if memory_size else np.ones((len(X), 1))
        shares = shares_of(learner, X, 2)
        expected = (1 - present) * shares["permanent"]
        for name, weight in learner.votes.items():
            expected += present * weight * shares[name]
        np.testing.assert_allclose(learner.answer(X, 2), expected, rtol=1e-5, atol=1e-6)


MOVED = np.array([20.0, -20.0])


def moved_world():
    """Return the learner of a world that has moved, and swapped its labels: what it left is far, but within its box."""
    learner, corners = Learner.new(lesson_settings(), 2), np.array([[-40.0, -40.0], [40.0, 40.0]])
    for number in range(8):
        X, y = two_clusters(number, swapped=number >= 5)
        if number >= 5:
            X, y = np.vstack([X + MOVED, corners]), np.append(y, [0, 1]).astype(np.int32)
        learner, _ = learn(learner, X, y, NUMERICAL, 2)
    return learner


def test_near_the_present_the_temporary_forest_is_heard_elsewhere_the_permanent_one():
    learner = moved_world()
    X, y = two_clusters(99)
    assert learner.standings["temporary"].box.contains(X).all()
    assert (presence(learner, X) < 0.3).all()
    assert np.mean(learner.answer(X, 2).argmax(axis=1) == y) > 0.9
    assert np.mean(learner.answer(X + MOVED, 2).argmax(axis=1) == 1 - y) > 0.9


def crowded(number, n_classes, n=400):
    """Return classes on a line, each half covered by its neighbours."""
    rng = np.random.default_rng(number)
    y = rng.integers(0, n_classes, n).astype(np.int32)
    return rng.normal(size=(n, 2)) + np.column_stack([1.5 * y, np.zeros(n)]), y


def with_new_class(n_batches, first=7):
    """Return the learner after some batches, of which the seventh and all later ones bring a third class."""
    learner = Learner.new(lesson_settings(), 2)
    for number in range(1, n_batches + 1):
        learner, _ = learn(learner, *crowded(number, 2 + (number >= first)), NUMERICAL, 3)
    return learner


def test_classes_are_new_until_all_of_the_window_knows_them():
    assert with_new_class(3).new_classes.tolist() == [], "those of the first batch never are"
    for n_batches, new in ((6, []), (7, [2]), (9, [2]), (10, [])):
        assert with_new_class(n_batches).new_classes.tolist() == new


def test_the_permanent_forest_gives_way_to_new_classes():
    learner, (X, y) = with_new_class(7), crowded(99, 3, n=2_000)
    X = np.vstack([X, [[1e6, 1e6]]])
    assert learner.votes.keys() == {"permanent", "temporary"}
    present, shares = presence(learner, X), shares_of(learner, X, 3)
    assert not shares["temporary"][-1].any()
    way = (1 - shares["temporary"][:, [2]]) ** 4
    worth = present * learner.votes["permanent"] + 1 - present
    expected = worth * way * shares["permanent"] + present * shares["temporary"]
    np.testing.assert_allclose(learner.answer(X, 3), expected, rtol=1e-5, atol=1e-6)
    new = np.flatnonzero(y == 2)
    recall = np.mean(learner.answer(X[new], 3).argmax(axis=1) == 2)
    assert recall > np.mean(shares["permanent"][new].argmax(axis=1) == 2) + 0.05


@pytest.mark.parametrize("n_batches", [7, 8])
def test_trees_that_test_nothing_do_without_no_record_of_a_class_that_came_with_the_batch(n_batches):
    learner = with_new_class(n_batches)
    forest, memory = learner.forest("temporary"), learner.memory
    trees = [tree for tree in forest.trees if tree.born[0] == n_batches]
    assert len(trees) == (10 if n_batches == 7 else 4), "a class that nobody knows is for all trees"
    for place, tree in enumerate(trees):
        for k in range(3):
            drawn = poisson_weights(memory.serial[forest.known & (memory.y == k)], tree.seed, 1.0)
            at_least = int(k == 2 and n_batches == 7 and place >= 4)
            assert tree.row_weight[tree.row_class == k].sum() == np.maximum(drawn, at_least).sum()


def with_rare_class(n_batches=12, **changes):
    """Return the learner after some batches that bring a third class in four records of 400, between the others."""
    learner = Learner.new(lesson_settings(**changes), 2)
    for number in range(1, n_batches + 1):
        X, y = crowded(number, 2)
        X[:4], y[:4] = X[:4] - np.column_stack([1.5 * y[:4] - 0.75, np.full(4, -2.0)]), 2
        learner, _ = learn(learner, X, y, NUMERICAL, 3)
    return learner


def test_the_others_give_way_to_the_permanent_forest_on_rare_classes():
    learner = with_rare_class()
    X = np.random.default_rng(0).normal(loc=(0.75, 2.0), size=(500, 2))
    assert learner.rare_classes.tolist() == [2]
    assert learner.votes.keys() == {"permanent", "temporary"}
    present, shares = presence(learner, X), shares_of(learner, X, 3)
    way = (1 - shares["permanent"][:, [2]]) ** 4 * [1, 1, 0] + [0, 0, 1]
    known = (present * learner.votes["permanent"] + 1 - present) * shares["permanent"]
    expected = known + present * way * shares["temporary"]
    np.testing.assert_allclose(learner.answer(X, 3), expected, rtol=1e-5, atol=1e-6)
    without = known + present * shares["temporary"]
    assert (expected.argmax(axis=1) == 2).mean() > (without.argmax(axis=1) == 2).mean() + 0.02


def test_nobody_gives_way_to_a_permanent_forest_of_other_rules():
    # One record in sixteen is of class 1, in the upper right corner; from the tenth batch on, in the lower left one.
    learner, accuracies = Learner.new(lesson_settings(), 2), []
    for number in range(1, 21):
        rng = np.random.default_rng(number)
        X = rng.uniform(size=(800, 2))
        y = (X.min(axis=1) > 0.75 if number < 10 else X.max(axis=1) < 0.25).astype(np.int32)
        if number > 11:
            accuracies.append(np.mean(learner.answer(X, 2).argmax(axis=1) == y))
        learner, _ = learn(learner, X, y, NUMERICAL, 2)
        assert learner.rare_classes.tolist() == ([1] if number < 10 else [])
    assert min(accuracies) > 0.98


@pytest.mark.parametrize(
    ("changes", "n_batches"),
    [({}, 5), ({"tree_repair": "any"}, 0), ({"tree_repair": "share"}, 0), ({"memory_size": 0}, 0)],
)
def test_trees_that_take_turns_catch_up_on_rare_classes(changes, n_batches, monkeypatch):
    missed = []

    def noted(**given):
        missed.append(given["missed"])
        return RepairRules(**given)

    monkeypatch.setattr(lesson, "RepairRules", noted)
    with_rare_class(8, **changes)
    assert len(missed) == 7
    for number, places in enumerate(missed, start=2):
        batch, within = np.divmod(places, 400)
        assert batch.tolist() == np.repeat(np.arange(number)[max(0, number - n_batches) :], 4).tolist()
        assert (within < 4).all()


def test_renewed_trees_hold_every_record_of_a_rare_class():
    learner = with_rare_class(9, n_estimators=5, tree_repair="share", repair_threshold=1.0, splitting="entropy")
    for tree in learner.forest("permanent").trees:
        assert tree.row_weight[tree.row_class == 2].sum() >= 9 * 4  # a bootstrap sample leaves 34 in one of them


def test_what_the_temporary_forest_has_not_seen_is_answered_by_the_others():
    # Far away is a third cluster, which comes in the first batch and never again; then labels are swapped.
    X, y = two_clusters(50, n=300)
    far = np.arange(300) < 100
    X[far], y[far] = X[far] + 100, 2
    learner, _ = learn(Learner.new(lesson_settings(), 2), X, y, NUMERICAL, 3)
    for number in range(8):
        learner, report = learn(learner, *two_clusters(number, swapped=number >= 5), NUMERICAL, 3)
    assert report.answering == "temporary"
    assert not learner.standings["temporary"].box.contains(X[far]).any()
    assert (learner.answer(X[far], 3).argmax(axis=1) == 2).all()
    assert np.mean(learner.answer(X[~far], 3).argmax(axis=1) == 1 - y[~far]) > 0.9


def test_where_no_forest_that_votes_has_been_the_permanent_one_answers():
    learner = follow("...ss")[0][-1]
    far = np.array([[1e6, 1e6], [-1e6, 0.0]])
    alone = replace(learner, votes={"temporary": 1.0})
    expected = learner.forest("permanent").answer(far, 2, soft=True)
    np.testing.assert_allclose(alone.answer(far, 2), expected / expected.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(("permanent", "active"), [(0.1, 0.0), (2.7, 0.3), (1.0, 0.5)])
def test_shares_add_up_to_the_votes_of_those_who_answer(permanent, active):
    learner = moved_world()
    votes = {"permanent": permanent, "temporary": 1.0, "active": active}
    X = np.vstack([two_clusters(77)[0], two_clusters(77)[0] + MOVED, [[1e6, 0.0]]])
    answers = replace(learner, votes=votes).answer(X, 2)
    present = presence(learner, X)[:, 0]
    assert (present < 0.5).any()
    assert (present == 1).any()
    inside = {name: learner.standings[name].box.contains(X) for name in ("temporary", "active")}
    total = permanent + inside["temporary"] + inside["active"] * active
    np.testing.assert_allclose(answers.sum(axis=1), 1 - present + present * total, rtol=1e-5)
    assert (answers >= 0).all()


# --- rejoining


def test_the_active_forest_rejoins_the_permanent_one_that_is_no_worse():
    # One batch of other labels, and a forest of its own for it; with time the permanent forest catches up.
    rng, learner, actions = np.random.default_rng(0), Learner.new(lesson_settings(drift_threshold=0), 2), []
    for number in range(20):
        X, y = grid(rng, 200, 8, 0.1, distance=3)
        learner, report = learn(learner, X, (y + (number == 4)).astype(np.int32) % 8, NUMERICAL, 8)
        actions.append(report.action["active"])
        if number >= 4:
            is_apart = "rejoined" not in actions
            assert same_trees(learner.forest("active"), learner.forest("permanent")) != is_apart
            shared = {"temporary"} if report.drift == "sustained" or not is_apart else {"temporary", "active"}
            assert set(learner.votes) == {"permanent"} | shared
    at = actions.index("rejoined")
    assert actions == ["built", *["repaired"] * 3, *["replaced"] * 2, *["repaired"] * (at - 6), "rejoined"] + [
        "repaired"
    ] * (19 - at)


def test_the_active_forest_stays_apart_while_it_is_ahead():
    learners, reports = follow("...sssss")
    assert reports[7].action["active"] == "repaired"
    assert not same_trees(learners[7].forest("active"), learners[7].forest("permanent"))
    assert reports[7].accuracy["active"] > reports[7].accuracy["permanent"]
    assert batches_known(learners[7], "active") == [5, 6, 7, 8]


# --- classes


def test_a_new_class_in_each_batch_is_no_drift():
    learner, everything = Learner.new(lesson_settings(), 2), []
    for klass in range(8):
        X = np.random.default_rng(klass).normal(size=(100, 2)) + 20 * klass
        everything.append(X)
        learner, report = learn(learner, X, np.full(100, klass, dtype=np.int32), NUMERICAL, klass + 1)
        assert (report.scenario, report.drift, report.new_classes) == ("SUC", "none", (klass,))
        assert learner.since == 1
    y = np.repeat(np.arange(8), 100)
    assert np.mean(learner.answer(np.vstack(everything), 8).argmax(axis=1) == y) > 0.95


def test_a_new_class_beside_old_ones_is_no_drift():
    rng, learner = np.random.default_rng(0), Learner.new(lesson_settings(), 2)
    for number in range(8):
        X, y = two_clusters(number, n=300)
        if number >= 4:
            new = rng.random(300) < 0.5
            X[new], y[new] = rng.normal(size=(new.sum(), 2)) + np.array([12, 0]), 2
        learner, report = learn(learner, X, y, NUMERICAL, 3)
        assert report.drift == "none"
    assert report.accuracy["permanent"] > 0.9


def test_batches_of_one_class_in_turn_are_no_drift_where_classes_lie_apart():
    learner = Learner.new(lesson_settings(), 2)
    for number in range(9):
        X = np.random.default_rng(number).normal(size=(80, 2)) + 20 * (number % 3)
        learner, report = learn(learner, X, np.full(80, number % 3, dtype=np.int32), NUMERICAL, 3)
        assert report.drift == "none"
    X = np.random.default_rng(9).normal(size=(90, 2)) + 20 * (np.arange(90) % 3)[:, None]
    assert np.mean(learner.answer(X, 3).argmax(axis=1) == np.arange(90) % 3) > 0.95


def test_a_class_that_was_declared_but_never_seen_gets_no_votes():
    learner = Learner.new(lesson_settings(), 2)
    for number in range(4):
        learner, report = learn(learner, *two_clusters(number), NUMERICAL, 5)
    assert report.new_classes == ()
    answers = learner.answer(two_clusters(9)[0], 5)
    assert (answers[:, 2:] == 0).all()
    assert np.mean(answers.argmax(axis=1) == two_clusters(9)[1]) > 0.95


# --- base forests that draw no lots


@pytest.mark.parametrize("name", GROWERS)
@pytest.mark.parametrize("window_size", [1, 2])
def test_other_base_forests_notice_a_swap_one_batch_later(name, window_size):
    pattern = "....sssssss"
    learners, reports = follow(pattern, grower=GROWERS[name], window_size=window_size)
    assert "".join(report.drift[0] for report in reports) == "nnnnntttsnn"
    assert reports[8].action["active"] == "replaced"
    assert min(accuracies(pattern, learners)[5:]) > 0.9


@pytest.mark.parametrize("name", GROWERS)
def test_other_base_forests_find_no_drift_in_a_stationary_stream(name):
    assert verdicts("." * 8, grower=GROWERS[name]) == "n" * 8


@pytest.mark.parametrize("name", GROWERS)
def test_a_temporary_forest_without_lots_is_always_of_one_window(name):
    # SysFor often has fewer trees than places; those of an earlier window are not to fill them.
    for learner in follow("...sss", grower=GROWERS[name], window_size=2, n=100)[0][1:]:
        forest = learner.forest("temporary")
        assert {born for tree in forest.trees for born in tree.born.tolist()} == {learner.n_batches}
        assert learner.memory.batch[forest.known].min() > learner.n_batches - 2


# --- learning on the side


@pytest.mark.parametrize("memory_size", [None, 0, 150])
def test_learning_never_changes_the_learner_it_starts_from(memory_size):
    learners, _ = follow("..ss.", memory_size=memory_size, n=100)
    for learner in learners:
        check_left_alone_by_learning(learner)


@pytest.mark.parametrize("grower", [RandomForestGrower(Growth(max_features=2)), *GROWERS.values()])
def test_threads_make_no_difference(grower):
    one, first = follow("..ss..", grower=grower, n_jobs=1)
    many, second = follow("..ss..", grower=grower, n_jobs=3)
    for a, b in zip(one, many, strict=True):
        assert as_bytes(a) == as_bytes(b)
        assert (a.votes, a.since, a.n_unrepairable) == (b.votes, b.since, b.n_unrepairable)
    for a, b in zip(first, second, strict=True):
        assert replace(a, seconds=0) == replace(b, seconds=0)


def test_a_pickle_goes_on_like_the_original():
    for learner in follow("...ss", n=100)[0]:
        twin = pickle.loads(pickle.dumps(learner))
        for number, swapped in ((60, True), (61, False)):
            learner, report = learn(learner, *two_clusters(number, swapped), NUMERICAL, 2)
            twin, again = learn(twin, *two_clusters(number, swapped), NUMERICAL, 2)
            assert replace(report, seconds=0) == replace(again, seconds=0)
        assert as_bytes(learner) == as_bytes(twin)


def test_lessons_may_change_from_batch_to_batch():
    learner = Learner.new(lesson_settings(), 2)
    for number, sign in enumerate("...sss..."):
        selection = ("weighted", "training")[number % 2]
        learner = replace(learner, settings=lesson_settings(selection=selection))
        learner, report = learn(learner, *two_clusters(number, sign == "s"), NUMERICAL, 2)
        if selection == "weighted" and number:
            assert "temporary" in learner.standings
            assert report.drift == ("temporary" if sign == "s" else "none")
    assert accuracy(learner, swapped=False) > 0.9


def test_a_temporary_forest_that_the_other_lesson_repaired_is_not_gone_on_with():
    learner, n_left = Learner.new(lesson_settings(selection="training"), 2), 0
    for number, sign in enumerate("....ss" + "s" * 4):
        after, _ = learn(learner, *two_clusters(number, sign == "s"), NUMERICAL, 2)
        before = learner.forest("temporary")
        if before is not None:
            n_left += 1
            other = replace(learner, settings=lesson_settings())
            other, _ = learn(other, *two_clusters(number, sign == "s"), NUMERICAL, 2)
            assert {int(tree.born[0]) for tree in other.forest("temporary").trees} == {number + 1}
        learner = after
    assert n_left > 1


# --- little of everything


@given(
    sizes=st.lists(st.sampled_from([1, 1, 2, 5, 29, 30, 31, 70]), min_size=2, max_size=7),
    n_estimators=st.sampled_from([1, 2, 3]),
    window_size=st.sampled_from([1, 2, 9]),
    drift_threshold=st.sampled_from([0, 1]),
    memory_size=st.sampled_from([0, 1, 20, None]),
    base=st.sampled_from([None, *GROWERS]),
    seed=st.integers(0, 1_000),
)
def test_any_stream_is_learnt_and_answered(sizes, base, seed, **changes):
    rng = np.random.default_rng(seed)
    changes |= {"grower": GROWERS[base]} if base else {}
    learner, seen = Learner.new(lesson_settings(seed=seed, **changes), 2), 0
    for number, n in enumerate(sizes, start=1):
        classes = rng.choice(5, rng.integers(1, 4))
        X = rng.integers(0, 4, (n, 2)) * rng.choice([1.0, 1.0, 100.0])
        X[rng.random(X.shape) < 0.1] = np.nan
        learner, report = learn(learner, X, rng.choice(classes, n).astype(np.int32), NUMERICAL, 5)
        seen += n
        assert (learner.n_batches, learner.memory.n_seen, report.n_records) == (number, seen, n)
        assert 1 <= learner.since <= number
        assert 0 <= learner.n_unrepairable <= changes["drift_threshold"]
        assert set(learner.votes) <= set(learner.standings)
        assert learner.answering == report.answering
        answers = learner.answer(np.vstack([X, X * 1000, [[np.nan, np.nan]]]), 5)
        assert np.isfinite(answers).all()
        assert (answers.sum(axis=1) > 0).all()
        for standing in learner.standings.values():
            assert 1 <= len(standing.forest) <= changes["n_estimators"]
            assert len(standing.forest.known) == len(learner.memory)
        if n < 30:
            assert report.drift == "none", "too few records to conclude anything from"


def test_single_records_are_learnt_without_a_verdict():
    learner = Learner.new(lesson_settings(n_estimators=4), 2)
    X, y = two_clusters(0, n=60)
    for record, klass in zip(X, y, strict=True):
        learner, report = learn(learner, record[None], np.array([klass], dtype=np.int32), NUMERICAL, 2)
        assert report.drift == "none"
    assert accuracy(learner, swapped=False) > 0.9


@pytest.mark.parametrize("memory_size", [0, 10])
def test_memory_keeps_the_window_and_little_more(memory_size):
    learners, _ = follow("....ss.", memory_size=memory_size, window_size=2, n=100)
    assert max(len(learner.memory) for learner in learners) <= 100 + memory_size
    assert min(accuracies("....ss.", learners)) > 0.9


def test_an_empty_place_in_the_window_is_no_hole():
    # A wider window than there are batches is all there is.
    learners, _ = follow("...", window_size=50)
    assert [batches_known(learner) for learner in learners[1:]] == [[1, 2], [1, 2, 3]]


# --- no evidence is not evidence of nothing


def test_a_batch_too_small_to_conclude_anything_from_does_not_end_a_drift():
    learner = follow("....s")[0][-1]
    after, report = learn(learner, *two_clusters(60, True, n=10), NUMERICAL, 2)
    assert after.n_unrepairable >= learner.n_unrepairable
    assert report.action["active"] != "rejoined"
    assert after.votes["permanent"] < 0.1
    assert accuracy(after, True) > 0.9


def test_a_batch_of_new_classes_alone_does_not_end_a_drift():
    learner = follow("....s")[0][-1]
    X, y = two_clusters(60, True)
    after, report = learn(learner, X + 100, np.full(len(y), 2, dtype=np.int32), NUMERICAL, 3)
    assert after.votes["permanent"] < 0.1
    assert report.action["active"] != "rejoined"


def test_more_trees_from_now_on_are_no_drift():
    learner = follow("...", n_estimators=1)[0][-1]
    learner = replace(learner, settings=lesson_settings(n_estimators=12))
    _, report = learn(learner, *two_clusters(60), NUMERICAL, 2)
    assert report.drift == "none"


@pytest.mark.parametrize("how", [{"max_depth": 2}, {"min_samples_leaf": 60}])
def test_coarse_trees_notice_a_swap_in_its_batch(how):
    learners, reports = follow("....s", grower=RandomForestGrower(Growth(max_features=2, **how)))
    assert reports[-1].drift == "temporary"
    assert accuracy(learners[-1], True) > 0.9


def test_few_distinct_values_notice_a_swap_in_its_batch():
    learner = Learner.new(lesson_settings(), 2)
    for number in range(5):
        X, y = two_clusters(number, number == 4)
        learner, report = learn(learner, np.round(X / 4), y, NUMERICAL, 2)
    assert report.drift == "temporary"


def test_a_class_the_kept_trees_do_not_know_makes_all_trees_new():
    learner = follow("...")[0][-1]
    X, y = two_clusters(60)
    after, _ = learn(learner, np.vstack([X, X + 100]), np.append(y, np.full(len(y), 2, np.int32)), NUMERICAL, 3)
    assert all(2 in tree.row_class for tree in after.forest("temporary").trees)
