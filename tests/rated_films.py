"""Users rate films: names by the hundred that say a lot, or nothing at all."""

import numpy as np
import pandas as pd


def ratings(n_batches, *, seed=0, n=500, n_users=300, n_films=400, says=1.0, classes=("bad", "good")):
    """Return batches of users, films and a number; says is how much names and the number decide, 0 for names nothing.

    Parameters
    ----------
    says : float
        How much users and films differ in what they are rated.
    classes : tuple of str
        Ratings, the worst first.
    """
    rng = np.random.default_rng(seed)
    users, films = rng.normal(size=n_users), rng.normal(size=n_films)
    tastes, genres = rng.normal(size=(n_users, 2)), rng.normal(size=(n_films, 2))
    bounds = np.quantile(rng.normal(size=10_000), np.linspace(0, 1, len(classes) + 1)[1:-1]) * np.hypot(1, 1.2 * says)
    batches = []
    for _ in range(n_batches):
        user, film = rng.integers(0, n_users, n), (n_films * rng.random(n) ** 1.5).astype(int)
        number = rng.normal(size=n)
        score = users[user] + films[film] + 0.5 * (tastes[user] * genres[film]).sum(axis=1)
        score = 0.7 * says * score + 0.5 * number + rng.normal(size=n)
        X = pd.DataFrame({"user": [f"u{k}" for k in user], "film": [f"f{k}" for k in film], "number": number})
        batches.append((X, np.array(classes)[np.digitize(score, bounds)]))
    return batches


def prequential(model, batches):
    """Return the accuracy on all batches but the first, each answered before it is learnt."""
    right = []
    for number, (X, y) in enumerate(batches):
        if number:
            right.append(np.mean(model.predict(X) == y))
        model.partial_fit(X, y)
    return float(np.mean(right))
