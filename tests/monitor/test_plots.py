"""Where lines, bands and bars are drawn, which numbers stand beside them, and what is left of long series."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest.monitor.model_view import Series, Timeline
from adforest.monitor.pages.plots import Plot, Scale, batch_scale
from adforest.monitor.pages.thinning import thin

PLOT = Plot(Scale(0, 10), Scale(0, 1), 100)


def points(markup):
    (path,) = re.findall(r' d="([^"]*)"', markup)
    return [
        [tuple(map(float, pair.split())) for pair in re.findall(r"[-\d.]+ [-\d.]+", run)] for run in path.split("M")[1:]
    ]


def test_a_line_goes_through_its_points():
    assert points(PLOT.line([0, 5, 10], [0, 0.5, 1], "vote")) == [[(0, 100), (500, 50), (1000, 0)]]


def test_a_line_has_gaps_and_dots():
    markup = PLOT.line([0, 1, 2, 3, 4], [0, 1, np.nan, 1, np.nan], "vote")
    assert points(markup) == [[(0, 100), (100, 0)], [(300, 0)]]
    assert "300.0 0.0h0" in markup
    assert PLOT.line([0, 1], [np.nan, np.nan], "vote") == ""


def test_a_band_leaves_out_what_is_not_known():
    markup = PLOT.band([0, 5, 10], [0, 0.2, np.nan], [0.5, 0.6, np.nan], "vote")
    assert points(markup) == [[(0, 50), (500, 40), (500, 80), (0, 100)]]


def test_bars_stand_beside_each_other():
    assert points(PLOT.bars([0, 5, 10], [0.5, 1], "past")) == [
        [(0, 50), (500, 50), (500, 0), (1000, 0), (1000, 100), (500, 100), (500, 100), (0, 100)]
    ]


def test_marks_keep_their_size():
    markup = PLOT.draw([], label="A figure.", above=[PLOT.dot(5, 0.5, 4, "dot"), PLOT.triangle(2.5, -4, "sustained")])
    assert 'cx="50.00%" cy="50" r="4"' in markup
    assert '<svg x="25.00%" y="-4"' in markup
    assert 'role="img" aria-label="A figure."' in markup
    assert 'aria-hidden="true"' in PLOT.draw([], label="")


@given(
    low=st.floats(-1e9, 1e9),
    length=st.floats(1e-6, 1e9),
    n=st.integers(1, 10),
)
def test_ticks_are_round_between_the_ends_and_not_too_many(low, length, n):
    scale = Scale(low, low + length)
    if scale.high <= scale.low:
        return
    ticks = scale.ticks(n)
    room = 1e-9 * max(abs(low), length)
    assert len(ticks) <= n + 1
    assert all(scale.low - room <= tick <= scale.high + room for tick in ticks)
    whole = scale.ticks(n, whole=True)
    assert all(tick == int(tick) for tick in whole)


def test_scales():
    assert Scale.around([np.nan]).low < Scale.around([np.nan]).high
    flat = Scale.around([0.7, 0.7], least=0.1)
    assert (flat.low, flat.high) == pytest.approx((0.65, 0.75))
    assert Scale.around([0.0, 1.0]).clipped(-0.01, 1.01) == Scale(-0.01, 1.01)
    assert batch_scale([3, 9]) == Scale(2.5, 9.5)


# Long series


def timeline(first, last, seed=0):
    n, rng = len(first), np.random.default_rng(seed)
    accuracy = [None if rng.random() < 0.1 else float(rng.random()) for _ in range(n)]
    ones = tuple(int(one) for one in rng.integers(0, 2, n))
    return Timeline(
        first=tuple(first),
        last=tuple(last),
        n_samples=tuple(100 * (b - a + 1) for a, b in zip(first, last, strict=True)),
        accuracy={"vote": Series(tuple(accuracy), tuple(accuracy), tuple(accuracy))},
        metrics={"log_loss": tuple(accuracy)},
        confidence=tuple(accuracy),
        expected=tuple(accuracy),
        votes={"permanent": tuple(rng.random(n).tolist())},
        answering=("permanent",) * n,
        n_temporary=ones,
        n_sustained=ones,
        n_new_classes=ones,
        n_leaves={"permanent": tuple(range(n))},
        seconds=tuple(rng.random(n).tolist()),
        learnt_at=tuple(1.7e9 + 60.0 * one for one in last),
    )


@pytest.mark.parametrize("n_batches", [100, 10_000])
def test_batches_are_named_with_when_they_were_learnt(n_batches):
    course = thin(timeline(range(1, n_batches + 1), range(1, n_batches + 1)))
    assert course.learnt_at[-1] == 1.7e9 + 60 * n_batches
    (tick, first), *others = course.ticks()
    assert first == ("batch 20\n2023-11-14 22:33" if n_batches == 100 else "batch 2,000\n2023-11-16")
    assert tick == n_batches / 5
    assert others[0][1] == ("40\n22:53" if n_batches == 100 else "4,000\n2023-11-17")


def test_batches_of_which_nobody_knows_when():
    whole = timeline(range(1, 101), range(1, 101))
    unknown = replace(whole, learnt_at=(None,) * 100)
    assert [text for _, text in thin(unknown).ticks()] == ["batch 20", "40", "60", "80", "100"]
    half = replace(whole, learnt_at=(*unknown.learnt_at[:50], *whole.learnt_at[50:]))
    assert [text for _, text in thin(half).ticks()][1:4] == ["40\n", "60\n2023-11-14 23:13", "80\n23:33"]


def test_short_series_stay_as_they_are():
    found = thin(timeline(range(1, 101), range(1, 101)))
    assert found.first.tolist() == found.last.tolist() == list(range(1, 101))
    assert not found.is_thinned
    assert found.n_leaves["permanent"].tolist() == list(range(100))


@pytest.mark.parametrize("n_blocks", [0, 512])
def test_ten_thousand_batches_become_two_hundred_places(n_blocks):
    size = 9_000 // 512 + 1
    starts = [1 + size * k for k in range(n_blocks)]
    kept = range(1 + size * n_blocks, 10_001) if n_blocks else range(1, 10_001)
    whole = timeline([*starts, *kept], [*(start + size - 1 for start in starts), *kept])
    found = thin(whole)
    assert 150 < len(found) <= 200
    assert found.first[0] == 1
    assert found.last[-1] == 10_000
    assert (found.first[1:] == found.last[:-1] + 1).all()  # no batch is lost, none comes twice
    assert found.n_samples.sum() == sum(whole.n_samples)
    assert found.n_sustained.sum() == sum(whole.n_sustained)
    weight = found.last - found.first + 1
    lengths = np.subtract(whole.last, whole.first) + 1
    assert np.average(found.seconds, weights=weight) == pytest.approx(np.average(whole.seconds, weights=lengths))
    inside = [place for place, last in enumerate(whole.last) if found.first[7] <= last <= found.last[7]]
    known = [(whole.accuracy["vote"].mean[k], lengths[k]) for k in inside if whole.accuracy["vote"].mean[k] is not None]
    mean = np.average([one for one, _ in known], weights=[n for _, n in known])
    assert found.accuracy["vote"][0][7] == pytest.approx(mean)


def test_the_band_of_a_mean_is_narrower_than_that_of_one_batch():
    n = 1_800  # nine batches a place
    whole = timeline(range(1, n + 1), range(1, n + 1))
    whole = replace(whole, accuracy={"vote": Series((0.8,) * n, (0.74,) * n, (0.83,) * n)})
    mean, low, high = thin(whole).accuracy["vote"]
    np.testing.assert_allclose([mean, low, high], [[0.8] * 200, [0.78] * 200, [0.81] * 200])
    mean, low, high = thin(whole, last=100).accuracy["vote"]
    np.testing.assert_allclose([mean, low, high], [[0.8] * 100, [0.74] * 100, [0.83] * 100])


def test_the_last_batches_alone():
    whole = timeline(range(1, 10_001), range(1, 10_001))
    found = thin(whole, last=100)
    assert found.first.tolist() == list(range(9_901, 10_001))
    assert thin(whole, last=20_000).first[0] == 1


def test_no_batches():
    found = thin(timeline([], []))
    assert len(found) == 0
    assert not found.is_thinned
