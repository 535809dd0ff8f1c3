"""How forests are judged: weights that follow gains, and the tests for drift, by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest.adaptation.evidence import FAR, NEAR, NEW_CLASS, RARE_CLASS, Evidence, OobBias, Scores, voters_of
from adforest.adaptation.report import ACTIVE, NEWEST, PERMANENT, TEMPORARY
from adforest.adaptation.tuning import TUNING

USUAL = [PERMANENT, TEMPORARY, NEWEST]
WITH_ACTIVE = [PERMANENT, ACTIVE, TEMPORARY, NEWEST]
NAMES = st.sampled_from([[PERMANENT], USUAL, WITH_ACTIVE])


def matrix(evidence):
    """Return the weights as one line a context, one column a voter, as it is and corrected."""
    return np.concatenate(evidence.weights, axis=1)


def weights_of(evidence, voter):
    """Return the weights of one voter, by context and variant."""
    return evidence.weights[evidence.voters.index(voter)]


def check_weights(evidence):
    """Assert what holds of weights at any time."""
    weights = matrix(evidence)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert (weights > 0).all()
    assert sum(evidence.votes().values()) == pytest.approx(1)
    assert set(evidence.voters) == set(voters_of(list(evidence.shrinkage)))


def answered(evidence, rng, n, chances=0.5, where=None):
    """Return gains by voter, of answers that are right with some chances for each, and contexts."""
    chances = np.broadcast_to(chances, (len(evidence.voters), 3))
    right = np.array([rng.random((3, n)) < c[:, None] for c in chances])
    gains = right + TUNING.log_gain * np.log(np.where(right, 0.9, 0.3))
    context = rng.random((4, n)) if where is None else np.eye(4)[:, [where] * n]
    return gains, context


# --- weights


def test_voters_are_forests_and_the_temporary_one_beside_those_that_last():
    assert voters_of([PERMANENT]) == ((PERMANENT,),)
    together = [(PERMANENT, TEMPORARY), (ACTIVE, TEMPORARY)]
    assert voters_of(USUAL) == ((PERMANENT,), (TEMPORARY,), (NEWEST,), together[0])
    assert voters_of(WITH_ACTIVE) == ((PERMANENT,), (ACTIVE,), (TEMPORARY,), (NEWEST,), *together)


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["answers", "forests", "trust", "bolder"]), NAMES, st.integers(1, 700)), max_size=12
    ),
    seed=st.integers(0, 99),
)
def test_whatever_happens_weights_add_up_to_one_and_nobody_is_silenced_for_good(steps, seed):
    rng, evidence = np.random.default_rng(seed), Evidence().with_forests(USUAL)
    check_weights(evidence)
    for what, names, n in steps:
        if what == "answers":
            n_answered = min(n, 50)
            evidence = evidence.after_answers(*answered(evidence, rng, n_answered, rng.random()), n)
        elif what == "forests":
            evidence = evidence.with_forests(names)
        elif what == "trust" and TEMPORARY in evidence.shrinkage:
            evidence = evidence.after_abrupt_change([TEMPORARY, NEWEST])
        elif what == "bolder":
            evidence = evidence.after_shrinkage(PERMANENT, np.log(rng.random(3)), n)
        check_weights(evidence)
        for mix in evidence.shrinkage.values():
            assert mix.sum() == pytest.approx(1)
            assert (mix > 0).all()


def test_whom_is_trusted_to_begin_with():
    evidence = Evidence().with_forests(USUAL)
    for context, (trusted, trust) in enumerate(
        [((PERMANENT,), 0.5), ((PERMANENT,), 0.9), ((TEMPORARY,), 0.5), ((PERMANENT,), 0.9)]
    ):
        assert weights_of(evidence, trusted)[context, 0] == trust
        others = [
            weights_of(evidence, v)[context, i] for v in evidence.voters for i in range(3) if (v, i) != (trusted, 0)
        ]
        np.testing.assert_allclose(others, (1 - trust) / 11)
    alone = Evidence().with_forests([PERMANENT])
    assert alone.votes() == {PERMANENT: pytest.approx(1)}


@pytest.mark.parametrize("context", [NEAR, FAR, NEW_CLASS])
@pytest.mark.parametrize("best", [0, 1, 2])
@pytest.mark.parametrize("voter", voters_of(USUAL))
def test_a_voter_that_is_right_more_often_gains_weight_where_it_is(voter, best, context):
    rng, evidence = np.random.default_rng(0), Evidence().with_forests(USUAL)
    before = matrix(evidence)
    chances = np.full((4, 3), 0.6)
    chances[evidence.voters.index(voter), best] = 0.9
    for _ in range(6):
        evidence = evidence.after_answers(*answered(evidence, rng, 100, chances, context), 100)
    assert weights_of(evidence, voter)[context, best] > 0.8
    others = [k for k in range(4) if k != context]
    for k in others:  # elsewhere nothing was said
        start = matrix(Evidence().with_forests(USUAL))[k]
        np.testing.assert_allclose(matrix(evidence)[k], start)
    assert (before == matrix(Evidence().with_forests(USUAL))).all(), "the evidence before is as it was"


def test_answers_about_rare_classes_change_nothing():
    rng, evidence = np.random.default_rng(0), Evidence().with_forests(USUAL)
    start = matrix(evidence)[RARE_CLASS]
    for _ in range(20):
        evidence = evidence.after_answers(*answered(evidence, rng, 50, rng.random((4, 3))), 50)
    np.testing.assert_allclose(matrix(evidence)[RARE_CLASS], start)


@given(scale=st.integers(1, 9), seed=st.integers(0, 99))
def test_a_sample_counts_for_the_batch_and_no_batch_for_more_than_its_limit(scale, seed):
    evidence = Evidence().with_forests(USUAL)
    gains, context = answered(evidence, np.random.default_rng(seed), 20)
    twice = np.tile(gains, scale)
    sample, everything = (
        evidence.after_answers(gains, context, 20 * scale),
        evidence.after_answers(twice, np.tile(context, scale), 20 * scale),
    )
    np.testing.assert_allclose(matrix(sample), matrix(everything))
    limit, beyond = (
        matrix(evidence.after_answers(gains, context, n)) for n in (TUNING.max_counted, 10 * TUNING.max_counted)
    )
    np.testing.assert_array_equal(limit, beyond)


@given(
    sizes=st.lists(st.sampled_from([1, 1, 1, 3, 10, 60, 400]), min_size=1, max_size=25),
    seed=st.integers(0, 10_000),
    data=st.data(),
)
def test_the_vote_is_hardly_worse_than_the_best_voter_even_if_that_changes(sizes, seed, data):
    # Herbster & Warmuth: with w(e) the weight of expert e, g(e) its gain at a batch, r the learning rate, the mixture
    # gains m = ln(sum of w(e) exp(r g(e))) / r. The next weight of e, at most 1, is at least s * start(e), and at least
    # (1 - s) w(e) exp(r (g(e) - m)). So the sum of m over batches is no less than the gain of any expert, less
    # (ln(1 / start) - sum of ln(1 - s)) / r; each change of the expert followed costs ln(1 / (s * start)) more.
    rng, evidence = np.random.default_rng(seed), Evidence().with_forests(USUAL)
    start, spreads, gained, mixed, hoped = matrix(evidence), [], [], [], []
    for n in sizes:
        gains, context = answered(evidence, rng, min(n, 100), rng.random((4, 3)))
        weights = matrix(evidence)
        gain = np.stack([context @ one.T for one in gains], axis=1).reshape(4, -1)
        gain *= min(n, TUNING.max_counted) / context.shape[1]
        gained.append(gain)
        mixed.append(np.log((weights * np.exp(TUNING.learning_rate * gain)).sum(axis=1)) / TUNING.learning_rate)
        hoped.append((weights * gain).sum(axis=1))
        spreads.append(TUNING.switch_rate * min(1, n / TUNING.full_switch))
        evidence = evidence.after_answers(gains, context, n)
    gained, mixed, spreads = np.array(gained), np.array(mixed), np.array(spreads)
    switch = data.draw(st.integers(0, len(sizes)))
    lost = -np.log(1 - spreads).sum()
    for k in (NEAR, FAR, NEW_CLASS):
        total = mixed[:, k].sum()
        single = gained[:, k].sum(axis=0) - (np.log(1 / start[k]) + lost) / TUNING.learning_rate
        assert total >= single.max() - 1e-9
        if 0 < switch < len(sizes):
            first, then = gained[:switch, k].sum(axis=0).argmax(), gained[switch:, k].sum(axis=0).argmax()
            best = gained[:switch, k, first].sum() + gained[switch:, k, then].sum()
            cost = np.log(1 / start[k, first]) + np.log(1 / (spreads[switch - 1] * start[k, then])) + lost
            assert total >= best - cost / TUNING.learning_rate - 1e-9
        # Choosing a voter by its weight gains as much as the mixture, but for r / 8 times the square of the stakes.
        stakes = np.array([np.ptp(one[k]) for one in gained])
        assert np.sum([one[k] for one in hoped]) >= total - TUNING.learning_rate / 8 * (stakes**2).sum() - 1e-9


def test_weight_goes_to_the_best_voter_and_to_another_when_that_changes():
    rng, evidence = np.random.default_rng(0), Evidence().with_forests(USUAL)
    for best in ((NEWEST,), (PERMANENT,), (PERMANENT, TEMPORARY)):
        chances = np.array([[0.95, 0.5, 0.5] if v == best else [0.7, 0.5, 0.5] for v in evidence.voters])
        for _ in range(5):
            evidence = evidence.after_answers(*answered(evidence, rng, 200, chances, NEAR), 200)
        assert weights_of(evidence, best)[NEAR, 0] > 0.9


# --- forests that come and go


def used(n=5, names=USUAL):
    """Return evidence after some batches."""
    rng, evidence = np.random.default_rng(n), Evidence().with_forests(names)
    for _ in range(n):
        evidence = evidence.after_answers(*answered(evidence, rng, 20, rng.random((len(evidence.weights), 3))), 20)
    return evidence


def test_the_same_forests_leave_the_evidence_as_it_is():
    evidence = used()
    assert evidence.with_forests(USUAL) is evidence


def test_an_active_forest_of_its_own_shares_the_weight_of_the_temporary_one():
    before = used().after_shrinkage(TEMPORARY, np.log([0.9, 0.5, 0.4]), 100)
    after = before.with_forests(WITH_ACTIVE)
    check_weights(after)
    for voter in ((ACTIVE,), (TEMPORARY,), (ACTIVE, TEMPORARY)):
        np.testing.assert_allclose(weights_of(after, voter), weights_of(before, (TEMPORARY,)) / 3)
    for voter in ((PERMANENT,), (NEWEST,), (PERMANENT, TEMPORARY)):
        np.testing.assert_array_equal(weights_of(after, voter), weights_of(before, voter))
    np.testing.assert_array_equal(after.shrinkage[ACTIVE], before.shrinkage[TEMPORARY])


def test_the_weight_of_an_active_forest_that_rejoins_goes_to_the_permanent_one():
    before = used(names=WITH_ACTIVE)
    after = before.with_forests(USUAL)
    check_weights(after)
    assert set(after.shrinkage) == set(USUAL)
    np.testing.assert_allclose(
        weights_of(after, (PERMANENT,)), weights_of(before, (PERMANENT,)) + weights_of(before, (ACTIVE,))
    )
    both = (PERMANENT, TEMPORARY)
    np.testing.assert_allclose(
        weights_of(after, both), weights_of(before, both) + weights_of(before, (ACTIVE, TEMPORARY))
    )
    assert after.votes()[NEWEST] == pytest.approx(before.votes()[NEWEST])


@pytest.mark.parametrize(("names", "others"), [([PERMANENT], USUAL), (USUAL, [PERMANENT]), ([], USUAL)])
def test_with_other_forests_everything_begins_anew(names, others):
    before = used(names=names) if names else Evidence()
    after = before.with_forests(others)
    np.testing.assert_array_equal(matrix(after), matrix(Evidence().with_forests(others)))
    assert all((mix == TUNING.first_shrinkage).all() for mix in after.shrinkage.values())


@pytest.mark.parametrize("names", [USUAL, WITH_ACTIVE])
def test_after_an_abrupt_change_the_forests_that_know_it_have_all_the_weight(names):
    before = used(names=names)
    after = before.after_abrupt_change([TEMPORARY, NEWEST])
    check_weights(after)
    for context in (NEAR, RARE_CLASS):
        trusted = sum(weights_of(after, (name,))[context].sum() for name in (TEMPORARY, NEWEST))
        assert trusted > 1 - TUNING.switch_rate
        np.testing.assert_allclose(weights_of(after, (TEMPORARY,))[context], 1 / 6, atol=TUNING.switch_rate)
    start = Evidence().with_forests(names)
    for context in (FAR, NEW_CLASS):  # elsewhere but for what is always spread
        expected = (1 - TUNING.switch_rate) * matrix(before)[context] + TUNING.switch_rate * matrix(start)[context]
        np.testing.assert_allclose(matrix(after)[context], expected)


# --- strengths of shrinkage


@given(logs=st.lists(st.floats(-4, 0), min_size=3, max_size=3), n=st.integers(1, 1_000))
def test_the_strength_that_gives_right_classes_more_gains(logs, n):
    logs = np.array(logs)
    before = Evidence().with_forests(USUAL)
    after = before.after_shrinkage(PERMANENT, logs, n).shrinkage[PERMANENT]
    order = np.argsort(logs)
    assert (np.diff((after / TUNING.first_shrinkage)[order]) >= -1e-12).all()
    if np.ptp(logs) > 1e-3:
        assert after[logs.argmax()] > TUNING.first_shrinkage[logs.argmax()]
        assert after[logs.argmin()] < TUNING.first_shrinkage[logs.argmin()]
    raw = TUNING.first_shrinkage * np.exp(TUNING.learning_rate * min(n, TUNING.max_counted) * (logs - logs.max()))
    spread = TUNING.switch_rate * min(1, n / TUNING.full_switch)
    np.testing.assert_allclose(after, (1 - spread) * raw / raw.sum() + spread * np.array(TUNING.first_shrinkage))
    np.testing.assert_array_equal(
        before.after_shrinkage(PERMANENT, logs, n).shrinkage[NEWEST], before.shrinkage[NEWEST]
    )


# --- oob_bias and abrupt changes


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=10))
def test_optimism_is_the_median_and_its_deviation_over_up_to_ten_batches(errors):
    known = OobBias()
    for error in errors:
        known = known.observed(error)
    assert known.errors == tuple(errors)
    assert known.median == pytest.approx(np.median(errors), abs=1e-9)
    assert known.deviation == pytest.approx(1.4826 * np.median(np.abs(np.array(errors) - np.median(errors))), abs=1e-9)


def test_optimism_forgets_and_is_not_moved_by_a_few():
    known = OobBias()
    for error in [0.5] * 20 + [0.1] * 8 + [0.9] * 2:
        known = known.observed(error)
    assert known.median == pytest.approx(0.1)
    assert known.deviation == pytest.approx(0)
    assert len(known.errors) == 10


def is_abrupt_after(errors, informed, known=400):
    """Return whether a claim is an abrupt change, with these errors of earlier ones and some right answers since."""
    oob_bias = OobBias()
    for error in errors:
        oob_bias = oob_bias.observed(error)
    scores = Scores(known, {"known": known, "informed": informed})
    return lambda oob_accuracy: Evidence(oob_bias=oob_bias).is_abrupt(oob_accuracy, scores)


@given(
    errors=st.lists(st.floats(-0.2, 0.4), min_size=0, max_size=10),
    oob_accuracy=st.floats(0, 1),
    known=st.integers(0, 500),
    share=st.floats(0, 1),
)
def test_a_change_is_abrupt_only_beyond_what_claims_were_wrong_by_and_how_that_varied(
    errors, oob_accuracy, known, share
):
    informed = round(share * known)
    if is_abrupt_after(errors, informed, known)(oob_accuracy):
        assert len(errors) >= TUNING.min_observed
        gap = oob_accuracy - np.median(errors) - informed / known
        assert gap > TUNING.clear_gap
        assert gap > TUNING.clear_deviations * OobBias(tuple(errors)).deviation - 1e-9
        assert known > 4, "a handful of samples is no evidence"


def test_abrupt_by_hand():
    assert is_abrupt_after([0.02, 0.0, 0.01], informed=120)(0.95), "0.94 hoped for, 0.3 seen"
    assert not is_abrupt_after([0.02, 0.0], informed=120)(0.95), "two batches do not tell how optimistic"
    assert not is_abrupt_after([0.6, 0.65, 0.7], informed=120)(0.95), "claims are always like that"
    assert not is_abrupt_after([0.9, 0.0, -0.9], informed=120)(0.95), "claims are anything"
    assert not is_abrupt_after([0.0, 0.0, 0.0], informed=364)(0.95), "0.04 is not much"
    assert not is_abrupt_after([0.0, 0.0, 0.0], informed=5, known=8)(0.95), "8 samples are not many"
    for known in range(10):
        assert not is_abrupt_after([0.0, 0.0, 0.0], informed=0, known=known)(1.0), "all wrong, but by chance"
    assert is_abrupt_after([0.0, 0.0, 0.0], informed=0, known=10)(1.0)


def test_claims_are_held_against_what_came_next():
    # Of 100 samples 90 are of classes known before, of which the newest forest gets 72 right.
    answered = Scores(100, {NEWEST: 75, "known": 90, "newest, known": 72})
    after = Evidence(oob_accuracy=0.9).after_learning(0.7, answered)
    assert after.oob_bias.errors == (pytest.approx(0.1),)
    assert after.oob_accuracy == 0.7
    assert Evidence(oob_accuracy=None).after_learning(0.5, answered).oob_bias == OobBias()


# --- drift


def scores(n, **leads):
    """Return scores of n samples with (won, lost) by forest."""
    return Scores(n, {}, leads)


@given(won=st.integers(0, 400), lost=st.integers(0, 400), same=st.integers(0, 4_000))
def test_drift_is_a_gap_that_is_clear_and_beyond_chance(won, lost, same):
    n, gap = won + lost + same, won - lost
    expected = gap > TUNING.clear_gap * n and gap > TUNING.clear_deviations * math.sqrt(max(1, won + lost))
    assert scores(n, temporary=(won, lost)).is_drift() == expected
    assert scores(n, newest=(won, lost)).is_drift() == expected
    assert scores(n, temporary=(0, 0), newest=(won, lost)).is_drift() == expected, "whichever outdoes the active one"
    assert not (expected and scores(n, temporary=(lost, won)).is_drift())


def test_drift_by_hand():
    assert scores(200, temporary=(60, 10)).is_drift()
    assert not scores(40, temporary=(9, 3)).is_drift(), "a large share, but chance"
    assert not scores(2_022, temporary=(20, 2)).is_drift(), "sure, but nothing to act on"
    assert not Scores().is_drift()


def test_few_samples_are_never_a_drift():
    for n in range(10):
        assert not scores(n, temporary=(n, 0)).is_drift()
