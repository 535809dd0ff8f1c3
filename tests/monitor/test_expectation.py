"""What accuracy is expected from confidence: right on average, in its band nine of ten times, and honest before."""

from dataclasses import replace

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.monitor import expected_accuracy
from adforest.monitor.expectation import MIN_TESTED, expectation, followed, steps_of
from made_reports import report


def reports(rng, n_batches, n=200, bias=0.05, spread=0.0, noise=0.0):
    """Return reports whose accuracy is confidence plus a bias, but for chance and noise."""
    found = []
    for number in range(1, n_batches + 1):
        confidence = 0.7 + spread * rng.uniform(-1, 1)
        share = min(max(confidence + bias + noise * rng.normal(), 0), 1)
        found.append(report(number, rng.binomial(n, share) / n, n=n, confidence=confidence))
    return found


@pytest.mark.parametrize("n", [20, 200, 1_000])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_the_band_holds_nine_of_ten(n, noise):
    rng = np.random.default_rng(n)
    hits, off = [], []
    for _ in range(60):
        record = followed(reports(rng, 60, n, spread=0.1, noise=noise))
        steps = list(zip(record.steps, record.expected, strict=True))[10:]
        hits += [low <= step.accuracy <= high for step, (_, low, high) in steps]
        off += [step.accuracy - mean for step, (mean, _, _) in steps]
    assert np.mean(hits) == pytest.approx(0.9, abs=0.06)
    assert np.mean(off) == pytest.approx(0, abs=0.01)


def test_expectations_follow_confidence():
    rng = np.random.default_rng(0)
    record = followed(reports(rng, 40))
    sure, unsure = expectation(record, 0.8, 500), expectation(record, 0.5, 500)
    assert sure.mean == pytest.approx(0.85, abs=0.03)
    assert unsure.mean == pytest.approx(0.55, abs=0.03)
    assert sure.bias == pytest.approx(0.05, abs=0.03)
    assert sure.low < sure.mean < sure.high
    assert sure.n_batches == 30
    assert sure.hits == pytest.approx(0.9, abs=0.15)
    few = expectation(record, 0.8, 20)
    assert few.high - few.low > 2 * (sure.high - sure.low)


def test_after_other_rules_the_band_is_wide():
    rng = np.random.default_rng(0)
    calm = reports(rng, 30)
    changed = [replace(one, batch=one.batch + 30) for one in reports(rng, 3, bias=-0.4)]
    before, after = (expectation(followed(one), 0.7, 200) for one in (calm, calm + changed))
    assert after.high - after.low > 3 * (before.high - before.low)
    assert after.error > 2 * before.error
    assert after.hits < before.hits


def test_nothing_is_said_before_something_is_known():
    rng = np.random.default_rng(0)
    nothing = expectation(followed([report(1, None)]), None, 100)
    assert (nothing.mean, nothing.bias, nothing.error, nothing.hits, nothing.n_batches) == (None,) * 4 + (0,)
    assert expectation(followed(reports(rng, 3)), 0.8, 100).mean is None
    known = expectation(followed(reports(rng, 4)), 0.8, 100)
    assert known.mean is not None
    assert known.n_batches == 1


def test_small_batches_make_steps_together():
    rng = np.random.default_rng(0)
    found = reports(rng, 1_000, n=1)
    steps = steps_of(found)
    assert [step.n for step in steps] == [MIN_TESTED] * 10
    assert (steps[0].first, steps[-1].last) == (1, 1_000)
    assert steps[3].accuracy == pytest.approx(np.mean([one.accuracy["vote"] for one in found[300:400]]))
    odd = steps_of(found[:250])
    assert [step.n for step in odd] == [50, 100, 100]
    assert not steps_of([report(1, None)])


@pytest.mark.parametrize("kind", [AdaptiveDecisionForestClassifier, PaperADFClassifier])
def test_records_without_labels(kind):
    rng = np.random.default_rng(0)

    def batch(n=400):
        X = rng.normal(size=(n, 3))
        return X, (X[:, 0] + 0.7 * rng.normal(size=n) > 0).astype(int)

    model = kind(n_estimators=8, random_state=0)
    for _ in range(25):
        model.partial_fit(*batch())
    X, y = batch(1_000)
    easy = np.abs(X[:, 0]) > 1
    everything, sure, unsure = (expected_accuracy(model.snapshot(), one) for one in (X, X[easy], X[~easy]))
    assert everything.low <= model.score(X, y) <= everything.high
    assert sure.mean > everything.mean > unsure.mean
    assert everything.n_samples == 1_000
