"""What is drawn from a part, how it is sent, and sums that do not depend on the parts."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest.encoding import EncodingRules
from adforest.forest._kernels.sampling import hashes
from adforest.forest.packed import PackedRows
from adforest.merging import BatchRules, LocalBatch, plan_batch
from adforest.merging.sums import as_floats, exact_sums
from parted_batches import PartedBatch, evenly, mixed_batch, sent

RULES = BatchRules(1, None, "from_dtype", "Forest", EncodingRules())
weights = st.floats(1e-100, 1e100) | st.just(0.0)


def samples_of(source, max_samples=None, n_before=0):
    plan = plan_batch(RULES, source.survey(RULES), None, n_before, None, max_samples)
    return source.draw(plan)


@given(st.lists(st.tuples(st.integers(0, 2), weights), min_size=1), st.integers(0, 50))
def test_sums_are_exact_and_do_not_depend_on_the_parts(pairs, place):
    groups, values = (np.array(one) for one in zip(*pairs, strict=True))
    whole = exact_sums(groups, values, 3)
    parts = [exact_sums(groups[one], values[one], 3) for one in (slice(place), slice(place, None))]
    assert tuple(map(sum, zip(*parts, strict=True))) == whole
    expected = [sum(map(Fraction, values[groups == k].tolist())) for k in range(3)]
    assert as_floats(whole).tolist() == [float(one) for one in expected]


@given(st.lists(st.sampled_from([0.0, -0.0, np.nan, 3.0, 65534.0, 65535.0, 0.5, 0.1, -1e300]), min_size=1))
def test_packed_matrices_come_back_bit_by_bit(values):
    odd = np.array([0xFFF8000000000001], dtype=np.uint64).view(np.float64)
    for X in (np.array(values)[:, None], np.append(values, odd)[:, None]):
        assert sent(PackedRows.bit_by_bit(X)).matrix().tobytes() == X.tobytes()


def test_more_samples_than_max_samples_are_drawn_by_their_hash():
    X, y, weight = mixed_batch(3, 2000, weighed=True)
    samples = samples_of(LocalBatch(X, y, weight), 300, n_before=7)
    n = np.count_nonzero(weight)
    serial = np.arange(7, 7 + n)
    assert samples.serial.tolist() == serial[hashes(serial) < np.uint64(300 / n * 2**64)].tolist()
    assert 200 < len(samples) < 400
    assert samples.totals.n == n == samples.totals.by_class.sum()
    for code, value in enumerate(np.unique(y)):
        assert samples.totals.by_class[code] == np.count_nonzero(weight[y == value])
        assert samples.totals.weight_by_class[code] == pytest.approx(weight[y == value].sum())


def test_all_samples_are_there_up_to_max_samples():
    X, y, _ = mixed_batch(3, 300)
    assert len(samples_of(LocalBatch(X, y), 300)) == 300
    assert samples_of(LocalBatch(X, y), 300).totals is None
    assert len(samples_of(LocalBatch(X, y), 299)) < 299 + 60


def test_totals_do_not_depend_on_the_parts():
    batch = mixed_batch(3, 2000, weighed=True)
    whole = samples_of(LocalBatch(*batch), 300)
    for n_parts in (2, 13):
        parts = samples_of(PartedBatch(evenly(batch, n_parts)), 300)
        assert parts.totals.n == whole.totals.n
        assert parts.totals.by_class.tobytes() == whole.totals.by_class.tobytes()
        assert parts.totals.weight_by_class.tobytes() == whole.totals.weight_by_class.tobytes()


def test_what_is_sent_is_narrow():
    n = 4000
    X, y, _ = mixed_batch(3, n)
    source = PartedBatch(evenly((X[["size", "count", "town", "flag"]], y, None), 4))
    samples_of(source)
    # a double, three words, a class and a serial number a sample, and a few thousand bytes a part
    assert source.n_bytes <= n * (8 + 3 * 2 + 1 + 8) + 4 * 3000


@pytest.mark.parametrize("change", ["fewer samples", "none", "other labels", "fewer weights"])
def test_parts_that_change_between_passes_are_refused(change):
    X, y, _ = mixed_batch(3, 300)
    weight = np.ones(300)
    source = PartedBatch(evenly((X, y, weight), 3))
    plan = plan_batch(RULES, source.survey(RULES), None)
    source.parts[1] = {
        "fewer samples": (X[100:199], y[100:199], weight[100:199]),
        "none": (X[:0], y[:0], weight[:0]),
        "other labels": (X[100:200], np.full(100, "new"), weight[100:200]),
        "fewer weights": (X[100:200], y[100:200], np.repeat([0.0, 1.0], 50)),
    }[change]
    with pytest.raises(ValueError, match="partition 1 of batch 1 has changed since it was surveyed"):
        source.draw(plan)
