"""Who answers: the formula of voting.py by hand, from the forests, the memory and the weights."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.adaptation import votes
from adforest.adaptation.class_mix import ClassMix, MixChanges
from adforest.adaptation.evidence import FAR, NEAR, NEW_CLASS, RARE_CLASS, Evidence
from adforest.adaptation.tuning import TUNING
from adforest.adaptation.voting import filled, forest_votes, ratios_of, shrinkage_of, unmet_classes
from oracles import accuracy, calibrated, grid, learn, new_state, recency, two_clusters
from vote_oracles import crowded, shares_by_hand, with_new_class


def with_rare_class(n_batches=12, **changes):
    """Return the state after some batches that bring a third class in four samples of 400, between the others."""
    state = new_state(**changes)
    for number in range(1, n_batches + 1):
        X, y = crowded(number, 2)
        X[:4], y[:4] = X[:4] - np.column_stack([1.5 * y[:4] - 0.75, np.full(4, -2.0)]), 2
        state, _ = learn(state, X, y, n_classes=3)
    return state


MOVED = np.array([0.0, 30.0])


def moved_world():
    """Return the state after a world has moved, and swapped its labels: what it left is far, but within its box."""
    state = new_state()
    for number in range(10):
        X, y = two_clusters(number, swapped=number >= 7)
        state, _ = learn(state, X + MOVED if number >= 7 else X, y, n_classes=3)
    return state


def own_active():
    """Return a state in which the active forest is one of its own."""
    state = new_state(drift_threshold=0)
    for number in range(10):
        state, _ = learn(state, *two_clusters(number, swapped=number >= 7), n_classes=3)
    assert state.is_active_separate
    return state


def pausing():
    """Return the state after a class has paused for longer than the window."""
    state = new_state()
    for number in range(13):
        X, y = two_clusters(number, n=400)
        keep = y == 0 if number >= 8 else y >= 0
        state, _ = learn(state, X[keep], y[keep], n_classes=3)
    return state


STATES = {
    "a class is new": lambda: with_new_class(7),
    "a class was new": lambda: with_new_class(9),
    "a class is rare": with_rare_class,
    "the world has moved": moved_world,
    "active on its own": own_active,
    "no memory": lambda: with_new_class(8, memory_size=0),
    "a class pauses": pausing,
    "something waits": lambda: learn(with_new_class(8), *crowded(50, 3, n=30), n_classes=3)[0],
}
PROBES = np.vstack([crowded(77, 3)[0], two_clusters(77)[0] + MOVED, [[1e6, -1e6], [np.nan, np.nan]]])


@pytest.fixture(scope="module", params=STATES)
def state(request):
    return STATES[request.param]()


def near_by_hand(state, X):
    """Return how near samples are to those of the window."""
    if state.settings.memory_size == 0:
        return np.ones(len(X))
    forest = state.forest("permanent")
    young = state.memory.batch >= state.window_start
    near = [
        np.array(recency(tree, leaf_of[young], TUNING.min_expected))[tree.route(X)]
        for tree, leaf_of in zip(forest.trees, forest.leaf_of, strict=True)
    ]
    return np.minimum(np.mean(near, axis=0) / TUNING.full_recency, 1)


def contexts_by_hand(state, proba, near):
    """Return how far each sample is in each of the four contexts."""

    def found_by(name, classes):
        return 1 - (1 - proba[name][:, classes].sum(axis=1)) ** TUNING.steepness

    new = near * found_by("temporary", state.class_mix.new)
    rare = found_by("permanent", state.class_mix.rare)
    return {NEAR: (near - new) * (1 - rare), FAR: (1 - near) * (1 - rare), NEW_CLASS: new, RARE_CLASS: (1 - new) * rare}


def test_votes_are_what_the_formula_says(state):
    proba, near = shares_by_hand(state, PROBES, 3), near_by_hand(state, PROBES)
    context, ratios = contexts_by_hand(state, proba, near), ratios_of(state, 3)
    proba = filled(proba, unmet_classes(state, proba, proba["permanent"].shape[1]))
    np.testing.assert_allclose(sum(context.values()), 1)
    expected = np.zeros((len(PROBES), 3))
    for voter, weights in zip(state.evidence.voters, state.evidence.weights, strict=True):
        said = np.mean([proba[name] for name in voter], axis=0)
        for m, ratio in enumerate(ratios):
            corrected = said * ratio / (said * ratio).sum(axis=1, keepdims=True)
            for k, how_far in context.items():
                expected += how_far[:, None] * weights[k, m] * corrected
    np.testing.assert_allclose(expected.sum(axis=1), 1)
    heard = {
        name
        for voter, one in zip(state.evidence.voters, state.evidence.weights, strict=True)
        if one[[NEAR, FAR]].max() >= TUNING.min_weight
        for name in voter
    }
    heard |= {"permanent", "temporary"} if len(state.class_mix.new) else {"permanent"}
    silent = sum(
        one[:, m].max()
        for voter, one in zip(state.evidence.voters, state.evidence.weights, strict=True)
        for m in range(3)
        if not heard >= set(voter) or one[:, m].max() < TUNING.min_weight
    )
    found = forest_votes(state, PROBES, 3)
    if not state.is_adjusted:
        sharpened = calibrated(found, state.evidence.calibration, state.class_mix.seen)
        np.testing.assert_allclose(votes(state, PROBES, 3), sharpened, rtol=0, atol=1e-12)
    # Mixtures of strengths may stop at 0.99 of a share where each strength by itself does not.
    assert np.abs(found - expected).max() <= silent + 0.011
    assert np.abs(found - expected).mean() <= silent / 2 + 0.002
    assert (found >= 0).all()
    assert (found.sum(axis=1) <= 1 + 1e-9).all()
    assert (found.sum(axis=1) >= 1 - silent - 1e-9).all()


def test_states_show_all_there_is_to_the_formula():
    states = {name: make() for name, make in STATES.items()}
    assert states["a class is new"].class_mix.new.tolist() == [2]
    assert states["a class is rare"].class_mix.rare.tolist() == [2]
    assert (near_by_hand(states["the world has moved"], two_clusters(9)[0]) < 0.3).all()
    assert len(states["active on its own"].evidence.weights) == 6
    assert unmet_classes(states["a class pauses"], ["newest"], 3)["newest"].tolist() == [False, True, False]
    assert len(states["something waits"].pending) == 30


def test_for_everything_the_permanent_forest_answers_alone(state):
    asked = replace(state, settings=replace(state.settings, answer_for="everything"))
    expected = state.forest("permanent").proba(PROBES, 3, *shrinkage_of(state.evidence, "permanent"))
    np.testing.assert_array_equal(votes(asked, PROBES, 3), expected)


def test_after_one_batch_the_permanent_forest_answers_alone():
    state, _ = learn(new_state(), *two_clusters(0))
    expected = state.forest("permanent").proba(PROBES, 2, *shrinkage_of(state.evidence, "permanent"))
    np.testing.assert_array_equal(forest_votes(state, PROBES, 2), expected)


def test_a_class_that_was_declared_but_never_seen_gets_no_votes():
    state = new_state()
    for number in range(4):
        state, report = learn(state, *two_clusters(number), n_classes=5)
    assert report.new_classes == ()
    X, y = two_clusters(9)
    assert (votes(state, X, 5)[:, 2:] == 0).all()
    assert accuracy(state, X, y, 5) > 0.95


@pytest.mark.parametrize(
    "model",
    [
        AdaptiveDecisionForestClassifier(10, random_state=0),
        AdaptiveDecisionForestClassifier(10, answer_for="everything", random_state=0),
        PaperADFClassifier(voting="soft", random_state=0),
    ],
)
def test_probabilities_add_up_to_one(model):
    for number in range(9):
        model.partial_fit(*crowded(number, 2 + (number >= 6), n=30 if number == 8 else 300))
        probabilities = model.predict_proba(PROBES)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        assert (probabilities >= 0).all()


# --- strengths and class mix


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda one: sum(one) > 0.1))
def test_strengths_of_little_weight_are_not_asked(mix):
    mix = np.array(mix) / np.sum(mix)
    evidence = replace(Evidence().with_forests(["permanent"]), shrinkage={"permanent": mix})
    strengths, proba = shrinkage_of(evidence, "permanent")
    kept = mix >= TUNING.min_weight
    assert strengths.tolist() == np.array(TUNING.shrinkage_strengths)[kept].tolist()
    assert proba.sum() == pytest.approx(1)
    np.testing.assert_allclose(proba, mix[kept] / mix[kept].sum())


def test_the_class_ratio_by_hand():
    # 200 samples of each class, then 10 and 190 of which only the last batch counts.
    state, _ = learn(new_state(), np.arange(800).reshape(400, 2), np.arange(400) % 2, n_classes=3)
    y = np.array([0] * 10 + [1] * 190)
    state, _ = learn(state, np.arange(400).reshape(200, 2), y, n_classes=3)
    overall = np.array([210, 390]) / 600
    expected = (np.array([10, 190]) + overall) / 201 / overall
    # The last 100 samples are of class 1.
    latest = (np.array([0, 100]) + overall) / 101 / overall
    # Before it there was one mix only, so that the batch counts as a change by the 0.5 of the less frequent class.
    chance = 0.5 / (0.5 + TUNING.first_kept)

    def damped(ratio):
        return (1 - chance) * ratio + chance

    np.testing.assert_allclose(
        ratios_of(state, 3), [[1.0, 1.0, 1.0], [*damped(expected), 1.0], [*damped(latest), 1.0]], rtol=1e-12
    )
    # What waits is not learnt yet.
    before = ratios_of(state, 3)
    state, report = learn(state, np.arange(20).reshape(10, 2), np.zeros(10), n_classes=3)
    assert report.action["permanent"] == "waiting"
    np.testing.assert_array_equal(ratios_of(state, 3), before)


def mix_of(seen, last, latest):
    """Return a class mix of these counts."""
    none = np.empty(0, dtype=np.int64)
    return ClassMix(np.array(seen), np.array(last), np.array(latest), none, none)


def test_batches_speak_for_the_recent_or_the_overall_mix():
    changes, pause = MixChanges(), mix_of([600, 400], [300, 0], [59, 41])
    np.testing.assert_array_equal(changes.chance(), 0)
    for k in (1, 2, 3):  # batches of one class, as the last one
        changes = changes.after(pause, np.array([300.0, 0.0]))
        assert changes.in_a_row == (k, 0)
        assert changes.kept == (pytest.approx(sum(1 / i for i in range(1, k + 1))), 0.0)
        assert changes.changed == (0.0, k), "the mix of the last samples was the overall one"
    np.testing.assert_allclose(changes.chance(), [0, 3 / (3 + TUNING.first_kept)])
    ended = changes.after(pause, np.array([180.0, 120.0]))
    assert ended.changed == (1.0, pytest.approx(3.4)), "0.4: both mixes made it about as likely"
    assert ended.in_a_row == (0, 0)
    assert ended.after(pause, np.array([300.0, 0.0])).kept[0] == pytest.approx(ended.kept[0] + 1), "a run begins anew"


@given(
    totals=st.lists(st.integers(0, 40), min_size=4, max_size=4),
    last=st.lists(st.integers(0, 60), min_size=3, max_size=3),
)
def test_which_mix_made_a_batch_more_likely_by_hand(totals, last):
    seen = np.array([50, 30, 20]) + last
    overall = seen / seen.sum()
    recent = (np.array(last) + overall) / (sum(last) + 1)
    against = sum(n * (np.log(o) - np.log(r)) for n, o, r in zip(totals, overall, recent, strict=False))
    found = MixChanges().after(mix_of(seen, last, last), np.array(totals, dtype=float))
    if abs(abs(against) - 3) < 1e-9:
        return
    kept, changed = (1.0, 0.0) if against < -3 else (0.0, 1.0 if against > 3 else 1 - overall.max())
    assert found.kept == (kept, kept)
    assert found.changed == pytest.approx((changed, changed))


def test_new_classes_keep_the_ratio_of_the_last_batch():
    mix, changes = mix_of([500, 400, 100], [100, 100, 100], [40, 30, 30]), MixChanges((1.0, 1.0), (0.0, 0.0), (0, 0))
    damped, plain = replace(mix, new=np.array([2])).ratios(changes), mix.ratios(MixChanges())
    np.testing.assert_array_equal(damped[:, 2], plain[:, 2])
    np.testing.assert_allclose(damped[1:, :2], 1 + (plain[1:, :2] - 1) * (1 - 1 / 1.1))


def test_a_window_of_one_batch_and_little_memory_do_not_distort_the_class_ratio():
    state = new_state(window_size=1, memory_size=100)
    for number in range(4):
        rng = np.random.default_rng(number)
        y = (np.arange(1_000) % 50 == 0).astype(np.int32)
        state, _ = learn(state, rng.normal(size=(1_000, 2)) + 3 * y[:, None], y)
    np.testing.assert_allclose(ratios_of(state, 2), 1, atol=0.1)


def test_without_another_mix_nothing_is_corrected():
    state, _ = learn(new_state(), *two_clusters(0))
    np.testing.assert_allclose(ratios_of(state, 2)[:2], 1)


def paused(n_batches, seed=0, n_before=8):
    """Return the state after batches of two classes and then some of one class only, and a batch of both."""
    rng = np.random.default_rng(seed)

    def batch(share):
        y = (rng.random(300) < share).astype(np.int32)
        return np.column_stack([rng.normal(size=(300, 3)), 3 * y + rng.normal(size=300)]), y

    state = new_state(n_features=4, n_estimators=20)
    for share in [0.4] * n_before + [0] * n_batches:
        state, _ = learn(state, *batch(share), n_categories=np.zeros(4, dtype=np.int32))
    return state, batch(0.6)


@pytest.mark.parametrize("n_batches", [3, 8, 12])
def test_a_class_that_pauses_is_answered_when_it_comes_back(n_batches):
    for seed in range(2):
        state, (X, y) = paused(n_batches, seed)
        alone = replace(state, settings=replace(state.settings, answer_for="everything"))
        assert accuracy(state, X, y) > 0.75
        assert accuracy(state, X, y) > accuracy(alone, X, y) - 0.11


def test_forests_that_have_not_met_a_class_leave_it_to_the_permanent_one():
    state, (X, _) = paused(12)
    assert set(unmet_classes(state, state.voting, 2)) == {"temporary", "newest"}
    proba = shares_by_hand(state, X, 2)
    assert (proba["newest"][:, 1] == 0).all()
    found = filled(proba, unmet_classes(state, proba, proba["permanent"].shape[1]))
    for name in ("temporary", "newest"):
        np.testing.assert_allclose(found[name][:, 1], proba["permanent"][:, 1] ** 2)
        np.testing.assert_allclose(found[name].sum(axis=1), 1)
    assert found["permanent"] is proba["permanent"]
    # As long as no mix has changed, what came last is what comes next.
    steady = replace(state, evidence=replace(state.evidence, mix_changes=MixChanges()))
    assert unmet_classes(steady, state.voting, 2) == {}
    # A class that nobody has met is nobody's.
    assert not unmet_classes(state, state.voting, 4)["newest"][2:].any()


def test_a_sudden_mix_of_classes_is_followed_where_classes_overlap():
    # Nearly nothing but class 1 for some batches: who says class 1 more often is right more often.
    state = new_state()
    for number in range(14):
        rng = np.random.default_rng(number)
        y = (rng.random(400) < (0.5 if number < 8 else 0.95)).astype(np.int32)
        X = rng.normal(size=(400, 2)) + 0.7 * y[:, None]
        proba = state.forests["permanent"].forest if state.forests else None
        if number == 13:
            plain = proba.proba(X, 2, *shrinkage_of(state.evidence, "permanent")).argmax(axis=1)
            assert accuracy(state, X, y) > np.mean(plain == y) + 0.02
            assert accuracy(state, X, y) > 0.93
        state, _ = learn(state, X, y)


# --- where the forests differ


def test_near_the_present_the_temporary_forest_is_heard_elsewhere_the_permanent_one():
    state, (X, y) = moved_world(), two_clusters(99)
    assert np.mean(near_by_hand(state, X) < 0.3) > 0.95
    assert accuracy(state, X, y, 3) > 0.9
    assert accuracy(state, X + MOVED, 1 - y, 3) > 0.9


def test_classes_are_new_until_all_of_the_window_knows_them():
    assert with_new_class(3).class_mix.new.tolist() == [], "those of the first batch never are"
    for n_batches, new in ((6, []), (7, [2]), (9, [2]), (10, [])):
        assert with_new_class(n_batches).class_mix.new.tolist() == new


def test_new_classes_are_recalled_soon():
    state, (X, y) = with_new_class(7), crowded(99, 3, n=2_000)
    recall = accuracy(state, X[y == 2], 2, 3)
    permanent = state.forest("permanent").proba(X[y == 2], 3, *shrinkage_of(state.evidence, "permanent"))
    assert recall > np.mean(permanent.argmax(axis=1) == 2) + 0.02
    assert recall > 0.6
    assert accuracy(state, X, y, 3) > 0.6, "and the others are not given up for it"


def test_rare_classes_are_remembered():
    state = with_rare_class()
    X = np.random.default_rng(0).normal(loc=(0.75, 2.0), size=(3_000, 2))
    assert state.class_mix.rare.tolist() == [2]
    recall = {name: np.mean(one.argmax(axis=1) == 2) for name, one in shares_by_hand(state, X, 3).items()}
    found = accuracy(state, X, 2, 3)
    assert found >= 0.75 * recall["permanent"]
    assert recall["permanent"] > recall["temporary"] > recall["newest"]
    assert found > recall["newest"] + 0.03


def test_classes_that_vanished_are_remembered():
    # Class 2 comes in the first three batches only; where it was nobody has been since.
    state = new_state()
    for number in range(14):
        X, y = two_clusters(number)
        if number < 3:
            X[:40], y[:40] = X[:40] + np.array([0, 12]), 2
        state, _ = learn(state, X, y, n_classes=3)
    X, y = two_clusters(99)
    assert accuracy(state, X + np.array([0, 12]), 2, 3) > 0.95
    assert accuracy(state, X, y, 3) > 0.95
    assert state.class_mix.rare.tolist() == [2]


def test_nobody_gives_way_to_a_permanent_forest_of_other_rules():
    # One sample in sixteen is of class 1, in the upper right corner; from the tenth batch on, in the lower left one.
    state, accuracies = new_state(), []
    for number in range(1, 21):
        X = np.random.default_rng(number).uniform(size=(800, 2))
        y = (X.min(axis=1) > 0.75 if number < 10 else X.max(axis=1) < 0.25).astype(np.int32)
        if number > 11:
            accuracies.append(accuracy(state, X, y))
        state, _ = learn(state, X, y)
    assert min(accuracies) > 0.97


def test_answering_draws_on_nothing_that_changes():
    state = with_new_class(8)
    first = votes(state, PROBES, 3)
    np.testing.assert_array_equal(votes(state, PROBES[::-1].copy(), 3)[::-1], first)
    np.testing.assert_array_equal(votes(state, PROBES[:1], 3), first[:1])
    assert votes(state, np.empty((0, 2)), 3).shape == (0, 3)


def test_noise_is_no_reason_to_hear_one_forest_only():
    state, rng = new_state(), np.random.default_rng(0)
    for _ in range(10):
        state, _ = learn(state, *grid(rng, 300, 3, 0.2), n_classes=3)
    assert state.evidence.votes()["permanent"] > 0.3


def test_what_is_found_once_is_found_anew_for_another_state_or_more_classes():
    state = with_new_class(9)
    X = np.random.default_rng(0).normal(size=(200, 2)) * 2 + 1.5
    first = votes(state, X, 3)
    np.testing.assert_array_equal(votes(state, X, 3), first)
    np.testing.assert_array_equal(votes(pickle.loads(pickle.dumps(state)), X, 3), first)
    wider = votes(state, X, 5)
    np.testing.assert_allclose(wider[:, :3], first, atol=1e-12)
    assert not wider[:, 3:].any()
    alone = np.zeros_like(state.evidence.weights)
    alone[state.evidence.voters.index(("permanent",))] = 1 / 3
    changed = replace(state, evidence=replace(state.evidence, weights=alone))
    assert np.abs(votes(changed, X, 3) - first).max() > 0.01
    np.testing.assert_array_equal(votes(state, X, 3), first)


def test_rounding_makes_no_probability_negative():
    rows = np.random.default_rng(0).dirichlet(np.ones(4), 500)
    rows[:, 3] = 0.0
    permanent = rows / rows.sum(axis=1, keepdims=True)
    unmet = np.array([True, True, True, False])
    assert ((permanent * unmet).sum(axis=1) > 1).any(), "sums that rounding brings above 1 are among them"
    certain = np.broadcast_to([0.0, 0.0, 0.0, 1.0], permanent.shape)
    assert filled({"permanent": permanent, "temporary": certain}, {"temporary": unmet})["temporary"].min() >= 0
