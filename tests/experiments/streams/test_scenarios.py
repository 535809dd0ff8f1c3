from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from experiments.rivals import SysForClassifier
from experiments.streams.scenarios import simulate_scenarios

ID, PLACE = 0, 1
STAGES_OF_34 = (
    ["MKC-1"] * 4 + ["MKC-2"] * 4 + ["SKC"] * 3 + ["SUC"] * 3 + ["MUC-1"] * 4 + ["MUC-2"] * 4
    + ["MKUC-1"] * 4 + ["MKUC-2"] * 4 + ["MKUC-3"] * 4
)  # fmt: skip

# Mean training records of the paper's LDPA batches; of the single-class ones the largest, since the others ran short.
PAPER_TRAIN_SIZES = {
    "MKC-1": 3205, "MKC-2": 3368, "SKC": 4001, "SUC": 4080, "MUC-1": 3683, "MUC-2": 3700,
    "MKUC-1": 4714, "MKUC-2": 4696, "MKUC-3": 5221,
}  # fmt: skip
LDPA_CLASS_COUNTS = [54480, 32710, 27244, 18361, 11779, 6168, 5210, 2973, 2848, 1706, 1381]


def table(class_counts):
    """Samples that know their row number, with every class in a place of its own: a tree's leaf is a class."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(len(class_counts)), class_counts))
    return np.column_stack([np.arange(len(y)), y + rng.uniform(0, 0.5, len(y))]), y


def ids(X):
    return set(X[:, ID].astype(int))


def classes_of(batches):
    return set().union(*(batch.y_train.tolist() for batch in batches))


@pytest.fixture(scope="module")
def records():
    # No two classes of one size, so that the two largest leaves are never in doubt.
    return table([1000 + 40 * k for k in range(10)])


@pytest.fixture(scope="module")
def stream(records):
    return simulate_scenarios(*records, random_state=0)


@pytest.fixture(scope="module")
def ldpa_sized_stream():
    return simulate_scenarios(*table(LDPA_CLASS_COUNTS), random_state=0)


def test_batches_are_numbered_and_named_as_in_the_paper(stream):
    assert [batch.number for batch in stream] == list(range(1, 35))
    assert [batch.scenario for batch in stream] == STAGES_OF_34


def test_class_values_make_the_scenario_the_batch_is_named_after(stream):
    first, second = classes_of(stream[:8]), classes_of(stream[14:22])
    assert first.isdisjoint(second)
    assert len(first) == len(second) == 5
    for batch in stream[:8]:
        assert classes_of([batch]) == first
    for position in range(8, 14):
        batch, known = stream[position], classes_of(stream[:position])
        assert len(classes_of([batch])) == 1
        assert (classes_of([batch]) <= known) == (batch.scenario == "SKC")
    for batch in stream[14:22]:
        assert classes_of([batch]) == second
    # The three single-class batches before made three of these classes known.
    assert len(second - classes_of(stream[:14])) == 2
    for batch in stream[22:]:
        assert classes_of([batch]) == first | second


@pytest.mark.parametrize(("scenario", "share"), [("MKC-1", 0.25), ("MKC-2", 0.75), ("MUC-1", 0.25), ("MUC-2", 0.75)])
def test_large_leaves_give_their_share(records, stream, scenario, share):
    half = classes_of(stream[:8] if scenario.startswith("MKC") else stream[14:22])
    two_largest = sorted(half, key=lambda value: np.sum(records[1] == value))[-2:]
    for batch in (batch for batch in stream if batch.scenario == scenario):
        # Planned exactly; which four fifths of the batch train is luck.
        assert np.isin(batch.y_train, two_largest).mean() == pytest.approx(share, abs=0.05)
        assert batch.large_leaf_share == pytest.approx(share, abs=0.01)


def test_leaves_are_those_of_sysfors_first_tree():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 8, 6000)
    X = np.column_stack([np.arange(6000), y + rng.normal(0, 1.2, 6000), rng.normal(size=6000)])
    batches = simulate_scenarios(X, y, random_state=0)
    in_order = {}
    for batch in batches[:8] + batches[14:22]:
        half = classes_of(batches[:8] if batch.scenario.startswith("MKC") else batches[14:22])
        rows = np.flatnonzero(np.isin(y, list(half)))
        if tuple(half) not in in_order:
            model = SysForClassifier(1, min_samples_leaf=20).fit(X[rows], y[rows])
            [tree] = model.forest_.trees
            leaf = dict(zip(rows.tolist(), tree.route(X[rows]).tolist(), strict=True))
            largest = np.argsort(np.bincount(list(leaf.values())), kind="stable")[-2:]
            in_order[tuple(half)] = {row for row, one in leaf.items() if one in largest}
        everything = ids(batch.X_train) | ids(batch.X_held)
        found = len(everything & in_order[tuple(half)]) / len(everything)
        assert found == pytest.approx(batch.large_leaf_share, abs=0.05)


@pytest.mark.parametrize(("scenario", "share"), [("MKUC-1", 0.75), ("MKUC-2", 0.25), ("MKUC-3", 0.5)])
def test_halves_mix_in_the_paper_s_proportions(stream, scenario, share):
    first = list(classes_of(stream[:8]))
    for batch in (batch for batch in stream if batch.scenario == scenario):
        assert np.isin(batch.y_train, first).mean() == pytest.approx(share, abs=0.05)


def test_scarce_large_leaves_are_shared_one_to_three():
    # Thirty classes a half: the two largest leaves hold a fifteenth of it, a third of what the recipe asks for.
    X, y = table([400 + k for k in range(60)])
    batches = simulate_scenarios(X, y, protocol="28", random_state=0)
    by_stage = {}
    for batch in batches:
        by_stage.setdefault(batch.scenario, set()).add(batch.large_leaf_share)
    for scarce, plenty in (("MKC-1", "MKC-2"), ("MUC-1", "MUC-2")):
        (few,), (many,) = by_stage[scarce], by_stage[plenty]
        assert 0.01 < few < 0.25
        assert many / few == pytest.approx(3, rel=0.1)
    assert all(by_stage[scenario] == {None} for scenario in ("MKUC-1", "MKUC-2", "MKUC-3"))


def test_sizes_follow_the_paper_on_as_many_records_as_ldpa(ldpa_sized_stream):
    for batch in ldpa_sized_stream:
        expected = PAPER_TRAIN_SIZES[batch.scenario]
        if batch.scenario in ("SKC", "SUC"):
            # A single-class batch takes a third of its class at most, and the smallest class has 1,381 records.
            assert 0.8 * 1381 // 3 <= len(batch.y_train) <= 1.15 * expected
        else:
            assert len(batch.y_train) == pytest.approx(expected, rel=0.15)


def test_most_records_find_a_batch(ldpa_sized_stream):
    used = sum(len(batch.y_train) for batch in ldpa_sized_stream)
    assert used == pytest.approx(0.8 * sum(LDPA_CLASS_COUNTS), rel=0.15)


def test_test_is_a_quarter_of_training_and_half_of_it_the_batch_s_own(stream):
    assert len(stream[0].y_test) == pytest.approx(len(stream[0].y_train) / 8, abs=2)
    for position, batch in enumerate(stream[1:], start=1):
        # Small single-class batches before a large one may not hold enough back: a fifth of training at the least.
        assert 0.19 < len(batch.y_test) / len(batch.y_train) < 0.26
        earlier = set().union(*(ids(before.X_held) for before in stream[max(0, position - 2) : position]))
        assert len(ids(batch.X_test) - earlier) == pytest.approx(len(batch.y_train) / 8, abs=2)


@pytest.mark.parametrize("protocol", ["34", "28", "big"])
def test_what_tests_never_trains_and_nothing_trains_twice(records, protocol):
    batches = simulate_scenarios(*records, protocol=protocol, random_state=3)
    trained = [ids(batch.X_train) for batch in batches]
    assert sum(map(len, trained)) == len(set().union(*trained)) == sum(len(batch.y_train) for batch in batches)
    for batch in batches:
        assert ids(batch.X_test).isdisjoint(set().union(*trained))
        assert ids(batch.X_held).isdisjoint(set().union(*trained))
        assert ids(batch.X_held).isdisjoint(ids(batch.X_test))


def test_records_keep_their_class_values(records, stream):
    X, y = records
    for batch in stream:
        for part, labels in (
            (batch.X_train, batch.y_train),
            (batch.X_test, batch.y_test),
            (batch.X_held, batch.y_held),
        ):
            np.testing.assert_array_equal(part, X[part[:, ID].astype(int)])
            np.testing.assert_array_equal(labels, y[part[:, ID].astype(int)])


def test_held_back_records_are_a_tenth_of_the_batch(stream):
    for batch in stream:
        assert len(batch.y_held) == pytest.approx(len(batch.y_train) / 8, abs=2)


def test_same_seed_same_stream(records, stream):
    for one, same in zip(stream, simulate_scenarios(*records, random_state=0), strict=True):
        np.testing.assert_array_equal(one.X_train, same.X_train)
        np.testing.assert_array_equal(one.X_test, same.X_test)
    other = simulate_scenarios(*records, random_state=1)
    assert ids(other[0].X_train) != ids(stream[0].X_train)


def test_data_frame_gives_the_same_stream_as_its_codes(records):
    X, y = records
    letter = np.array(list("nmlk"))[y % 4]
    codes = np.column_stack([X, np.unique(letter, return_inverse=True)[1]])
    frame = pd.DataFrame({"id": X[:, ID], "place": X[:, PLACE], "letter": pd.Categorical(letter)})
    for from_array, from_frame in zip(
        simulate_scenarios(codes, y, random_state=0),
        simulate_scenarios(frame, pd.Series(y), random_state=0),
        strict=True,
    ):
        assert isinstance(from_frame.X_train, pd.DataFrame)
        np.testing.assert_array_equal(from_frame.X_train["id"], from_array.X_train[:, ID])
        np.testing.assert_array_equal(from_frame.y_test, from_array.y_test)


def test_rearranged_protocol_brings_mixtures_before_the_second_half(records):
    batches = simulate_scenarios(*records, protocol="28", random_state=0)
    order = ["MKC-1", "MKC-2", "MKUC-1", "MKUC-2", "MUC-1", "MUC-2", "MKUC-3"]
    assert [batch.scenario for batch in batches] == [scenario for scenario in order for _ in range(4)]
    assert len(classes_of(batches[:8])) == 5
    assert len(classes_of(batches[:9])) == 10


def test_big_protocol_tests_every_batch_on_the_same_fifth(records):
    batches = simulate_scenarios(*records, protocol="big", random_state=0)
    assert len(batches) == 34
    assert len({len(batch.y_train) for batch in batches}) == 1
    assert all(np.array_equal(one.X_test, next_one.X_test) for one, next_one in pairwise(batches))
    assert len(batches[0].y_test) == pytest.approx(0.2 * len(records[1]), abs=34)


def test_errors_say_what_arrived_and_what_to_do(records):
    X, y = records
    with pytest.raises(ValueError, match="no protocol '12'; expected one of 34, 28 or big"):
        simulate_scenarios(X, y, protocol="12")
    with pytest.raises(ValueError, match=r"X has 11800 records but y has 10 class values"):
        simulate_scenarios(X, y[:10])
    with pytest.raises(ValueError, match=r"4 class values .* at least 6, 3 in each half.*protocol '28'"):
        simulate_scenarios(X, y % 4)
    with pytest.raises(ValueError, match=r"200 records make batches of \d but a batch needs at least 10"):
        simulate_scenarios(X[:200], y[:200], random_state=0)
    with pytest.raises(ValueError, match="categorical has 1 entries but X has 2 columns"):
        simulate_scenarios(X, y, categorical=[True])
