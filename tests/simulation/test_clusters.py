import weakref
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.ensemble import RandomForestClassifier

from adforest.simulation import simulate_clusters, simulate_new_classes
from adforest.simulation.clusters import N_CLUSTERS, SPREAD, STEP, Population


def parts(batch):
    return (batch.X_train, batch.y_train), (batch.X_test, batch.y_test), (batch.X_held, batch.y_held)


def classes_of(batch):
    return [set(y.tolist()) for _, y in parts(batch)]


def assert_same(one, other):
    for (X, y), (X_other, y_other) in zip(parts(one), parts(other), strict=True):
        np.testing.assert_array_equal(X, X_other)
        np.testing.assert_array_equal(y, y_other)


# --- classes that come and go


def test_new_classes_have_the_promised_shape():
    batches = list(simulate_new_classes(np.ones((3, 4)), batch_size=40, random_state=0))
    assert [batch.number for batch in batches] == [1, 2, 3]
    for batch in batches:
        assert [X.shape for X, _ in parts(batch)] == [(40, 6), (20, 6), (4, 6)]
        assert all(X.dtype == np.float64 for X, _ in parts(batch))
        assert [np.bincount(y).tolist() for _, y in parts(batch)] == [[10] * 4, [5] * 4, [1] * 4]


def test_a_new_class_every_three_batches():
    batch, newcomer = np.ogrid[:12, :4]
    stream = list(simulate_new_classes(batch >= 3 * newcomer, random_state=0))
    for position, batch in enumerate(stream):
        assert classes_of(batch) == [set(range(position // 3 + 1))] * 3
    assert [batch.scenario for batch in stream] == [
        "SUC", "SKC", "SKC", "MKUC", "MKC", "MKC", "MKUC", "MKC", "MKC", "MKUC", "MKC", "MKC",
    ]  # fmt: skip


def test_a_class_may_vanish_for_a_hundred_batches_and_return_to_its_place():
    shares = np.ones((106, 4))
    shares[5:105, 0] = 0
    stream = list(simulate_new_classes(shares, batch_size=400, random_state=0))
    assert [batch.number for batch in stream if 0 in classes_of(batch)[0]] == [1, 2, 3, 4, 5, 106]
    early = np.concatenate([batch.X_train for batch in stream[:5]]), np.concatenate([b.y_train for b in stream[:5]])
    forest = RandomForestClassifier(20, random_state=0).fit(*early)
    is_back = stream[-1].y_test == 0
    assert forest.score(stream[-1].X_test[is_back], stream[-1].y_test[is_back]) > 0.8


def test_a_rare_class_is_rare_and_never_missing():
    shares = np.tile([0.495, 0.495, 0.01], (20, 1))
    for batch in simulate_new_classes(shares, batch_size=1000, random_state=0):
        assert np.bincount(batch.y_train)[2] == pytest.approx(10, abs=1)
        assert np.bincount(batch.y_test)[2] == pytest.approx(5, abs=1)
        assert np.bincount(batch.y_held)[2] == pytest.approx(1, abs=1)


@given(
    hnp.arrays(np.float64, st.integers(1, 8), elements=st.sampled_from([0.0, 1e-9, 0.1, 1.0, 3.0, 1e9])),
    st.integers(1, 60),
)
def test_every_class_is_within_a_record_of_its_share(shares, size):
    if not shares.any():
        shares[0] = 1
    batch = next(simulate_new_classes([shares], batch_size=size, random_state=0))
    for _, y in parts(batch):
        counts = np.bincount(y, minlength=len(shares))
        assert np.all(np.abs(counts - len(y) * shares / shares.sum()) < 1 + 1e-6)
        assert not counts[shares == 0].any()


def test_records_lie_around_the_centres_of_their_classes():
    centres = np.arange(2 * N_CLUSTERS * 6, dtype=float).reshape(2, N_CLUSTERS, 6) * 100
    X, y = Population(centres, np.array([0.5, 0.5])).draw(6000, np.random.default_rng(0))
    nearest = np.abs(X[:, None] - centres.reshape(-1, 6)).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest // N_CLUSTERS, y)
    np.testing.assert_allclose(np.bincount(nearest) / len(X), 1 / 6, atol=0.02)
    np.testing.assert_allclose((X - centres.reshape(-1, 6)[nearest]).std(axis=0), 1, atol=0.03)


def test_a_class_stays_in_its_place_whatever_the_table():
    centre_of = [
        next(simulate_new_classes(shares, batch_size=20_000, random_state=4)).X_train.mean(axis=0)
        for shares in ([[1]], [[1, 0, 0]], [[5], [5]])
    ]
    # The mean of 20,000 records of standard deviation 3 or less.
    np.testing.assert_allclose(centre_of[1:], [centre_of[0]] * 2, atol=0.15)


def test_changing_the_table_afterwards_changes_nothing():
    shares = np.ones((2, 3))
    stream = simulate_new_classes(shares, batch_size=30, random_state=0)
    shares[:, 0] = 0
    assert [classes_of(batch)[0] for batch in stream] == [{0, 1, 2}] * 2


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ([1, 2], r"frequencies has shape \(2,\); expected \(n_batches, n_classes\)"),
        (np.ones((3, 0)), r"frequencies has shape \(3, 0\); expected"),
        (
            [[1, 1], [1, -0.5]],
            r"frequencies has -0\.5 for class 1 in batch 2; expected finite numbers of 0 or more\.",
        ),
        ([[np.nan, 1]], "frequencies has nan for class 0 in batch 1"),
        (
            [[1, 0], [1, 0], [0, 0]],
            "frequencies has only zeros for batch 3; expected one positive frequency .* Drop the row",
        ),
    ],
)
def test_tables_that_cannot_be_shares_are_refused_before_the_first_batch(shares, message):
    with pytest.raises(ValueError, match=message):
        simulate_new_classes(shares)


def test_batch_size_is_checked_before_the_first_batch():
    with pytest.raises(ValueError, match="batch_size is 0; expected 1 or more"):
        simulate_new_classes([[1, 1]], batch_size=0)


# --- classes that wander


@pytest.fixture(scope="module")
def wandering():
    return list(simulate_clusters(random_state=0))


def test_the_stream_has_the_promised_shape(wandering):
    assert [batch.number for batch in wandering] == list(range(1, 21))
    for batch in wandering:
        assert [X.shape for X, _ in parts(batch)] == [(4000, 6), (1000, 6), (500, 6)]
        assert all(X.dtype == np.float64 for X, _ in parts(batch))


def test_five_classes_are_new_at_the_tenth_batch(wandering):
    for batch in wandering:
        present = set(range(5 if batch.number < 10 else 10))
        assert classes_of(batch) == [present] * 3
        np.testing.assert_allclose(np.bincount(batch.y_train), 4000 / len(present), atol=1)
    assert [batch.scenario for batch in wandering] == ["MUC"] + ["MKC"] * 8 + ["MKUC"] + ["MKC"] * 10


def test_half_of_a_test_comes_from_the_two_batches_before(wandering):
    # Newcomers are half of every batch from the tenth on and none of those before.
    share_of_newcomers = {batch.number: np.mean(batch.y_test >= 5) for batch in wandering}
    expected = {9: 0, 10: 0.5 * 0.5, 11: 0.5 * 0.5 + 0.25 * 0.5, 12: 0.5, 13: 0.5}
    for number, share in expected.items():
        assert share_of_newcomers[number] == pytest.approx(share, abs=0.004)


def test_the_first_test_is_the_first_batch_s_own_and_as_large_as_any():
    first = next(simulate_clusters(batch_size=40_000, random_state=0))
    train, test = ([X[y == value].mean(axis=0) for value in range(5)] for X, y in parts(first)[:2])
    np.testing.assert_allclose(test, train, atol=0.25)
    assert len(first.y_test) == 10_000


def test_centres_walk_without_a_bound():
    n_lags = 8
    moved = []
    for seed in range(6):
        first, *_, last = simulate_clusters(n_batches=1 + n_lags, batch_size=8000, random_state=seed)
        moved += [
            last.X_train[last.y_train == value].mean(axis=0) - first.X_train[first.y_train == value].mean(axis=0)
            for value in range(5)
        ]
    # A class's mean is that of three centres; each has taken eight steps. 180 draws estimate a variance to a tenth.
    sampling = 2 * (1 + SPREAD**2) / 1600
    assert np.var(moved) == pytest.approx(n_lags * STEP**2 / N_CLUSTERS + sampling, rel=0.25)


def test_the_window_knows_the_present_and_everything_knows_the_past():
    batches = list(simulate_clusters(batch_size=1000, random_state=0))
    X_past, y_past = (np.concatenate([getattr(batch, name) for batch in batches]) for name in ("X_held", "y_held"))
    recent, past = {}, {}
    for name, known in {"window": batches[-3:], "everything": batches}.items():
        X, y = (np.concatenate([getattr(batch, part) for batch in known]) for part in ("X_train", "y_train"))
        forest = RandomForestClassifier(20, random_state=0).fit(X, y)
        recent[name] = forest.score(batches[-1].X_test, batches[-1].y_test)
        past[name] = forest.score(X_past, y_past)
    assert 0.8 < recent["everything"] < recent["window"] < 0.99
    assert past["window"] < past["everything"] - 0.1


def test_wandering_refuses_wrong_counts_before_the_first_batch():
    with pytest.raises(ValueError, match="n_batches is 0; expected 1 or more"):
        simulate_clusters(n_batches=0)
    with pytest.raises(ValueError, match="batch_size is 15; expected 16 or more"):
        simulate_clusters(batch_size=15)
    with pytest.raises(TypeError, match=r"n_batches is 2\.0; expected an integer of 1 or more"):
        simulate_clusters(n_batches=2.0)


# --- both


STREAMS = {
    "new classes": lambda n_batches, seed: simulate_new_classes(
        np.ones((n_batches, 4)), batch_size=40, random_state=seed
    ),
    "clusters": lambda n_batches, seed: simulate_clusters(n_batches=n_batches, batch_size=40, random_state=seed),
}


@pytest.mark.parametrize("name", STREAMS)
def test_same_seed_same_stream_and_a_longer_one_begins_alike(name):
    short, long, other = (list(STREAMS[name](*arguments)) for arguments in ((6, 1), (15, 1), (6, 2)))
    for one, same in zip(short, long[:6], strict=True):
        assert_same(one, same)
    assert all(not np.isclose(one.X_train, stranger.X_train).all() for one, stranger in zip(short, other, strict=True))


@pytest.mark.parametrize("name", STREAMS)
def test_batches_are_drawn_when_asked_for_and_not_kept(name):
    stream = STREAMS[name](10**6, 0)
    first = next(stream)
    seen = weakref.ref(first.X_train)
    del first
    assert next(stream).number == 2
    assert seen() is None, "the stream keeps a batch it has handed out"


@pytest.mark.parametrize("name", STREAMS)
def test_no_record_is_drawn_twice(name):
    drawn = np.concatenate([X for batch in islice(STREAMS[name](12, 0), 12) for X, _ in parts(batch)])
    assert len(np.unique(drawn, axis=0)) == len(drawn)
