"""All that can be told of a model, and what models learn in tests of robustness."""

import pickle

import numpy as np
import pandas as pd

FRAME = pd.DataFrame(
    {"area": [100.0, 250.0, 80.0, 300.0], "kind": ["flat", "house", "flat", "house"], "beds": [1, 3, 1, 4]}
)
RENT = np.array(["low", "high", "low", "high"])


def with_(**columns):
    return FRAME.assign(**columns)


def clusters(seed, classes=(0, 1), n=60):
    """Return one cluster a class, 10 apart in each of three attributes."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    return rng.normal(size=(n, 3)) + 10 * y[:, None], y


def snapshot(model, X):
    """Return all that can be told of a model from outside, and its pickle."""
    return model.predict_proba(X).tobytes(), model.predict(X).tolist(), model.history_, pickle.dumps(model)


def assert_same(model, X, before):
    after = snapshot(model, X)
    for one, two in zip(before, after, strict=True):
        assert one == two
