"""How much is kept: a number of samples, or of bytes."""

import numpy as np
import pytest

from adforest.parameters import read_bytes
from small_forests import forest


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("200MB", 200_000_000),
        ("1.5 GiB", 1_610_612_736),
        (" 3kb ", 3000),
        ("2KiB", 2048),
        ("1TB", 10**12),
        ("0MB", 0),
        ("MB", None),
        ("200", None),
        ("-1MB", None),
        ("1e3MB", None),
        ("200MB of samples", None),
    ],
)
def test_texts_that_say_how_many_bytes(text, n):
    assert read_bytes(text) == n


def stream(model, n_batches=8, n=500):
    rng = np.random.default_rng(0)
    for _ in range(n_batches):
        X = rng.normal(size=(n, 6))
        model.partial_fit(X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int))
    return model


def taken(model):
    """Return the bytes that samples from before the window take, with their leaves in the permanent forest."""
    state = model._model.state
    memory, forest = state.memory, state.forests["permanent"].forest
    values = memory.values
    n_older = memory.first_since(state.settings.window_start(state.n_batches + 1))
    arrays = [
        values.uint16,
        values.float32,
        values.float64,
        memory.y,
        memory.serial,
        memory.batch,
        forest.known,
        *forest.leaf_of,
    ]
    return sum(array[:n_older].nbytes for array in arrays), n_older


@pytest.mark.parametrize("text", ["50kB", "200kB"])
def test_memory_in_bytes_is_filled_and_not_exceeded(text):
    n_bytes, n_older = taken(stream(forest(n_estimators=10, memory_size=text)))
    assert 0.7 * read_bytes(text) < n_bytes <= read_bytes(text)
    assert n_older > 300


def test_bytes_and_samples_mean_the_same():
    by_bytes = stream(forest(n_estimators=10, memory_size="100kB"))
    state = by_bytes._model.state
    n_kept = state.settings.n_kept(state.memory)
    by_samples = stream(forest(n_estimators=10, memory_size=n_kept))
    X = np.random.default_rng(1).normal(size=(50, 6))
    np.testing.assert_array_equal(by_bytes.predict_proba(X), by_samples.predict_proba(X))


@pytest.mark.parametrize("size", ["200", "much", -1, 1.5, "1 elephant"])
def test_other_sizes_are_refused(size):
    with pytest.raises(ValueError, match=r"memory_size of AdaptiveDecisionForestClassifier is .*'200MB'"):
        forest(memory_size=size).fit([[0.0], [1.0]], [0, 1])


def test_narrow_columns_leave_room_for_more_samples():
    rng = np.random.default_rng(0)
    kept = []
    for scale in (1.0, 0.1):  # tenths are not exact in single precision
        model = forest(n_estimators=10, memory_size="100kB")
        for _ in range(8):
            X = rng.integers(0, 50, size=(500, 20)) * scale
            model.partial_fit(X, (X[:, 0] > 25 * scale).astype(int))
        n_bytes, n_older = taken(model)
        assert 0.7 * 100_000 < n_bytes <= 100_000
        kept.append(n_older)
    assert 2 * kept[1] < kept[0]
