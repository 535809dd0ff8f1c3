"""Measure what class rates of categories are worth: python benchmarks/names.py [stream.parquet:2500 ...]

Generated streams of names, or files with the class in the last column, after the colon the samples of a batch. One JSON
line a stream: accuracy and log loss of each batch before it is learnt, without rates and with them, mean of some seeds.
"""

import json
import sys
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from adforest import AdaptiveDecisionForestClassifier
from adforest.forest.types import AnyArray

SEEDS = (0, 1)
MAX_SAMPLES = 60_000  # of a file
LEAST = 1e-6  # probability in a log loss
Stream = tuple[pd.DataFrame, AnyArray]


class WithoutRates(AdaptiveDecisionForestClassifier):
    """The forest as it was before rates were counted."""

    _adds_rates = False


def names(stem: str, codes: AnyArray) -> list[str]:
    """Return names for codes."""
    return [f"{stem}{code}" for code in codes]


def films(
    seed: int, bounds: tuple[float, ...], n: int = 30_000, n_users: int = 900, n_films: int = 1_700, n_noise: int = 0
) -> Stream:
    """Return ratings: some users are active at a time, some films are rated often, tastes differ."""
    rng = np.random.default_rng(seed)
    of_user, of_film = rng.normal(0, 0.45, n_users), rng.normal(0, 0.5, n_films)
    tastes, genres = rng.normal(0, 0.45, (n_users, 4)), rng.normal(0, 0.45, (n_films, 4))
    popularity = np.arange(1, n_films + 1) ** -0.7
    first, zeal = rng.uniform(-0.1, 1, n_users), rng.gamma(1.0, 1.0, n_users)
    user = np.empty(n, dtype=np.int64)
    for start in range(0, n, 500):
        active = zeal * ((start / n >= first - 0.02) & (start / n <= first + 0.35)) + 1e-9
        user[start : start + 500] = rng.choice(n_users, min(500, n - start), p=active / active.sum())
    film = rng.permutation(n_films)[rng.choice(n_films, n, p=popularity / popularity.sum())]
    score = of_user[user] + of_film[film] + (tastes[user] * genres[film]).sum(axis=1) + rng.normal(0, 0.85, n)
    columns = {"user": names("u", user), "film": names("f", film), "genre": names("g", genres.argmax(axis=1)[film])}
    X = pd.DataFrame(columns).assign(year=rng.integers(1950, 2000, n_films)[film])
    return with_noise(X, rng, n_noise), np.digitize(score, bounds)


def with_noise(X: pd.DataFrame, rng: np.random.Generator, n_noise: int) -> pd.DataFrame:
    """Return a table with some more columns that say nothing."""
    return X.assign(**{f"noise {k}": rng.normal(size=len(X)) for k in range(n_noise)})


def tennis(seed: int, n: int = 30_000, n_players: int = 700, n_noise: int = 0) -> Stream:
    """Return matches of players whose strength changes, by surface; noise says nothing."""
    rng = np.random.default_rng(seed)
    strength, clay = rng.normal(0, 0.8, n_players), rng.normal(0, 0.35, n_players)
    activity = rng.gamma(0.7, 1, n_players) + 0.02
    one, other = rng.choice(n_players, (2, n), p=activity / activity.sum())
    surface, wins = rng.integers(0, 3, n), np.empty(n, dtype=np.int64)
    for start in range(0, n, 200):
        part = slice(start, start + 200)
        a, b = one[part], other[part]
        ahead = strength[a] - strength[b] + (surface[part] == 1) * (clay[a] - clay[b])
        wins[part] = rng.random(len(a)) < 1 / (1 + np.exp(-1.1 * ahead))
        strength = strength + rng.normal(0, 0.03, n_players)
    columns = {"player": names("p", one), "opponent": names("p", other), "surface": names("s", surface)}
    return with_noise(pd.DataFrame(columns).assign(best_of=rng.choice([3, 5], n)), rng, n_noise), wins


def customers(seed: int, n: int = 30_000, n_customers: int = 1_500) -> Stream:
    """Return orders that customers keep, return or cancel, by their habits and four numbers."""
    rng = np.random.default_rng(seed)
    numbers, activity = rng.normal(size=(n, 4)), rng.gamma(0.6, 1, n_customers) + 0.01
    customer = rng.choice(n_customers, n, p=activity / activity.sum())
    habits = rng.normal(0, 0.9, (n_customers, 3))
    score = numbers @ rng.normal(0, 0.5, (4, 3)) + habits[customer] + rng.gumbel(size=(n, 3))
    X = pd.DataFrame(numbers, columns=list("abcd"))
    return X.assign(customer=names("c", customer), region=names("r", customer % 12)), score.argmax(axis=1)


def useless(seed: int, bounds: tuple[float, ...], n: int = 30_000) -> Stream:
    """Return five numbers that decide, and two columns of names drawn at random."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 5))
    score = numbers[:, 0] + numbers[:, 1] * numbers[:, 2] + 0.5 * numbers[:, 3] + rng.normal(0, 0.8, n)
    X = pd.DataFrame(numbers, columns=list("abcde"))
    ids = {"id": names("i", rng.integers(0, 1_000, n)), "session": names("s", rng.integers(0, 20_000, n))}
    return X.assign(**ids), np.digitize(score, bounds)


STREAMS: dict[str, tuple[Callable[[int], Stream], int]] = {
    "films, 2 classes": (partial(films, bounds=(0.05,)), 1_000),
    "films, 5 classes": (partial(films, bounds=(-1.5, -0.9, -0.1, 0.8)), 1_000),
    "films, 2 classes, 2 columns of noise": (partial(films, bounds=(0.05,), n_noise=2), 1_000),
    "tennis": (tennis, 750),
    "tennis, 2 columns of noise": (partial(tennis, n_noise=2), 750),
    **{f"customers, {n:,} names": (partial(customers, n_customers=n), 750) for n in (20, 80, 160, 1_500)},
    **{f"films, {n} users": (partial(films, bounds=(0.05,), n_users=n, n_films=2 * n), 750) for n in (20, 80, 160)},
    "useless names, 2 classes": (partial(useless, bounds=(0.0,)), 750),
    "useless names, 5 classes": (partial(useless, bounds=(-1.2, -0.3, 0.4, 1.3)), 750),
}


def read_file(path: str, _: int) -> Stream:
    """Return a stream from a file; the same for all seeds."""
    frame = pd.read_parquet(path)
    return frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()


def prequential(model: AdaptiveDecisionForestClassifier, stream: Stream, size: int) -> tuple[float, float]:
    """Return accuracy and log loss of all batches but the first, each before it is learnt."""
    X, y = stream[0][:MAX_SAMPLES], stream[1][:MAX_SAMPLES]
    right, loss = [], []
    for start in range(0, len(y), size):
        part, labels = X[start : start + size], y[start : start + size]
        if start:
            shares, classes = model.predict_proba(part), model.classes_
            place = np.searchsorted(classes, labels).clip(0, len(classes) - 1)
            given = np.where(classes[place] == labels, shares[np.arange(len(labels)), place], 0.0)
            right.append(classes[shares.argmax(axis=1)] == labels)
            loss.append(-np.log(np.maximum(given, LEAST)))
        model.partial_fit(part, labels)
    return float(np.concatenate(right).mean()), float(np.concatenate(loss).mean())


def main() -> None:
    """Measure the streams given, or all that are generated."""
    warnings.simplefilter("ignore")  # of ids
    streams = dict(STREAMS)
    if files := [one.rsplit(":", 1) for one in sys.argv[1:]]:
        streams = {path: (partial(read_file, path), int(size)) for path, size in files}
    for name, (make, size) in streams.items():
        line: dict[str, object] = {"stream": name}
        for kind in (WithoutRates, AdaptiveDecisionForestClassifier):
            found = [prequential(kind(random_state=seed), make(seed), size) for seed in SEEDS]
            accuracy, loss = np.mean(found, axis=0)
            key = "without" if kind is WithoutRates else "with"
            line |= {f"accuracy {key}": round(float(accuracy), 4), f"log loss {key}": round(float(loss), 4)}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
