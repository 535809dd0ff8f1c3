"""Rents of houses, month by month, in which classes, rules and columns change: a stream to be monitored."""

import numpy as np
import pandas as pd

from adforest import AdaptiveDecisionForestClassifier
from adforest.simulation import make_house

NEW_CLASS, GONE_FROM, AWAY, NEW_RULES, NEW_HOUSES = 10, 20, range(15, 25), 24, 30  # batches


def rents(n_batches=34, n_samples=400, seed=0):
    """Yield samples and rents, month by month.

    The dearest class comes at batch 10, one class is away from 15 to 24, one is gone from 20 on. From 24 on rents
    follow other rules. From 30 on houses are larger, beds are often missing, and an agent is new.
    """
    house, rng = make_house(2 * n_batches * n_samples, random_state=seed), np.random.default_rng(seed)
    X = pd.DataFrame(house.X, columns=house.feature_names)
    for name, values in house.categories.items():
        X[name] = values[X[name].astype(int)]
    X["Agent"] = rng.choice(["Abel", "Baker", "Cole", "Dunn"], len(X))
    X["Distance"] = rng.gamma(2, 3, len(X)).round(1)
    for batch in range(1, n_batches + 1):
        rows = slice(2 * (batch - 1) * n_samples, 2 * batch * n_samples)
        samples, y = X.iloc[rows].copy(), pd.Series(house.y[rows], index=X.index[rows])
        absent = ["600 or more"] if batch < NEW_CLASS else []
        absent += ["under 300"] if batch in AWAY else []
        absent += ["450-499"] if batch >= GONE_FROM else []
        samples, y = (one[~y.isin(absent)].iloc[:n_samples].copy() for one in (samples, y))
        if batch >= NEW_RULES:
            y = y.replace({"300-349": "350-399", "350-399": "400-449", "400-449": "300-349"})
        if batch >= NEW_HOUSES:
            samples["Area"] = (samples["Area"] * 1.35).clip(upper=1000).round()
            samples.loc[rng.random(len(samples)) < 0.18, "Beds"] = np.nan
            samples.loc[rng.random(len(samples)) < 0.12, "Agent"] = "Estevez"
        yield samples, y.to_numpy()


def rent_model(n_batches=34, n_samples=400, **changes):
    """Return a model that learnt the stream."""
    model = AdaptiveDecisionForestClassifier(random_state=0, **changes)
    for X, y in rents(n_batches, n_samples):
        model.partial_fit(X, y)
    return model
