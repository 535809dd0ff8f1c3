import numpy as np
import pytest

from adforest.simulation import make_house, simulate_houses
from adforest.simulation.stages import STAGES


@pytest.fixture(scope="module")
def stream():
    return simulate_houses(20_000, random_state=0)


@pytest.fixture(scope="module")
def halves(stream):
    first = set(np.unique(np.concatenate([batch.y_train for batch in stream[:8]])))
    second = set(np.unique(np.concatenate([batch.y_train for batch in stream[14:22]])))
    return first, second


def test_batches_go_through_the_stages(stream):
    assert [batch.number for batch in stream] == list(range(1, 35))
    assert [batch.scenario for batch in stream] == [name for name in STAGES for _ in range(STAGES[name].n_batches)]
    sizes = [len(batch.y_train) / STAGES[batch.scenario].size for batch in stream]
    assert sizes == pytest.approx([sizes[0]] * 34, rel=0.02)
    # In all nearly as many as asked for; half of a test is of batches before, of which the first has none.
    n_houses = sum(len(batch.y_train) + len(batch.y_held) + len(batch.y_test) / 2 for batch in stream)
    assert n_houses == pytest.approx(20_000, rel=0.01)


def test_classes_are_those_of_the_stage(stream, halves):
    first, second = halves
    assert (len(first), len(second), first & second) == (4, 3, set())
    for batch in stream:
        stage = STAGES[batch.scenario]
        for y in (batch.y_train, batch.y_held):
            assert (len(np.unique(y)) == 1) == stage.is_single_class
        share = np.isin(batch.y_train, list(first)).mean()
        assert share == pytest.approx(stage.from_first_half, abs=0.04)
    for scenario in ("SKC", "SUC"):
        assert len({batch.y_train[0] for batch in stream if batch.scenario == scenario}) == 3


def test_large_houses_are_as_many_as_the_stage_says(stream):
    for name, stage in STAGES.items():
        if stage.from_large_leaves is not None:
            share = np.mean(np.concatenate([batch.X_train[:, 0] >= 400 for batch in stream if batch.scenario == name]))
            assert share == pytest.approx(stage.from_large_leaves, abs=0.02)


def test_a_test_is_of_this_batch_and_of_what_the_two_before_held_back(stream):
    def keys(X):
        return {row.tobytes() for row in X}

    for number in range(2, 34):
        batch, before = stream[number], stream[number - 2 : number]
        n_own = round(len(batch.y_test) / 2)
        assert len(batch.y_held) == n_own
        assert keys(batch.X_test[n_own:]) <= keys(np.concatenate([one.X_held for one in before]))
    assert len(stream[0].y_test) == len(stream[0].y_held)


def test_houses_are_those_of_make_house(stream):
    X, house = np.concatenate([batch.X_train for batch in stream]), make_house(20_000, random_state=1)
    assert np.array_equal(X.min(axis=0), house.X.min(axis=0))
    assert np.array_equal(X.max(axis=0), house.X.max(axis=0))
    assert set(np.concatenate([batch.y_train for batch in stream])) == set(house.y)


def test_the_same_seed_is_the_same_stream(stream):
    same, other = (simulate_houses(20_000, random_state=seed) for seed in (0, 1))
    assert all(np.array_equal(a.X_train, b.X_train) for a, b in zip(stream, same, strict=True))
    assert not np.array_equal(stream[0].X_train, other[0].X_train)


def test_too_few_houses_are_refused():
    with pytest.raises(ValueError, match=r"100 samples make batches of 2 but .* at least 10\. Give \d+ samples"):
        simulate_houses(100)
    with pytest.raises(TypeError, match=r"n_samples is 1\.5; expected an integer"):
        simulate_houses(1.5)
