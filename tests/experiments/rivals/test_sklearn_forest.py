"""scikit-learn's forest refitted on a window: the same forest as scikit-learn makes of the same samples."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from experiments.rivals import SklearnForestClassifier


def noisy(seed, n=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


BATCHES = [noisy(seed) for seed in range(4)]
X_NEW = noisy(9)[0]


@pytest.mark.parametrize("window", [1, 2, 3, None])
def test_a_refit_is_scikit_learn_s_forest_of_the_last_batches(window):
    model = SklearnForestClassifier(7, window=window, random_state=0)
    for number, batch in enumerate(BATCHES, start=1):
        model.partial_fit(*batch)
        kept = BATCHES[:number][-window:] if window else BATCHES[:number]
        X, y = (np.concatenate(parts) for parts in zip(*kept, strict=True))
        codes = y if BATCHES[0][1][0] == 0 else 1 - y  # numbered in the order of arrival
        own = RandomForestClassifier(7, random_state=model.forest_.random_state).fit(X, codes)
        shares = own.predict_proba(X_NEW)
        np.testing.assert_array_equal(model.predict_proba(X_NEW), shares if BATCHES[0][1][0] == 0 else shares[:, ::-1])
        assert len(model.forest_.estimators_) == 7


def test_what_falls_out_of_the_window_is_forgotten():
    model = SklearnForestClassifier(window=1, random_state=0).partial_fit([[0.0], [1.0]], ["a", "b"])
    model.partial_fit([[0.0], [1.0]], ["c", "d"])
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(model.predict_proba([[0.0], [1.0]])[:, :2], 0)


def test_categories_are_numbered_as_they_come():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "blue", "green"], 300)
    frame = pd.DataFrame({"size": np.where(rng.random(300) < 0.3, np.nan, rng.normal(size=300)), "colour": colour})
    model = SklearnForestClassifier(20, window=None, random_state=0).partial_fit(frame[:150], colour[:150] == "blue")
    assert model.partial_fit(frame[150:], colour[150:] == "blue").score(frame, colour == "blue") > 0.98
    assert model.predict(frame.assign(colour="mauve")).shape == (300,)
