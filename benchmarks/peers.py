"""Grow a random forest in each of the libraries that grow them fast: seconds, and accuracy on fresh records.

Run as ``python benchmarks/peers.py``, or with a number of records; libraries that are not installed are named. Each is
timed in turn with ours: CPU seconds of one thread, and seconds of the wall with two, for which the machine must be left
alone. Trees are grown until leaves are pure; those of boosters, which are many more since each tells one class from all
others, have as many leaves as one of scikit-learn's.
"""

import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from time import perf_counter, process_time
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from timing import clusters, ours, print_line

N_TREES, MAX_FEATURES = 10, 3
Array = np.ndarray[Any, Any]
Predict = Callable[[Array], Array]


def fit_scikit_learn(X: Array, y: Array, n_threads: int, n_leaves: int) -> Predict:
    forest = RandomForestClassifier(N_TREES, max_features=MAX_FEATURES, n_jobs=n_threads, random_state=0)
    return forest.fit(X, y).predict  # type: ignore[no-any-return]


def fit_lightgbm(X: Array, y: Array, n_threads: int, n_leaves: int) -> Predict:
    from lightgbm import LGBMClassifier

    forest = LGBMClassifier(
        boosting_type="rf", n_estimators=N_TREES, num_leaves=n_leaves, min_child_samples=1, min_child_weight=0.0,
        subsample=0.632, subsample_freq=1, feature_fraction_bynode=MAX_FEATURES / X.shape[1], n_jobs=n_threads,
        random_state=0, verbose=-1,
    )  # fmt: skip
    return forest.fit(X, y).predict  # type: ignore[no-any-return]


def fit_xgboost(X: Array, y: Array, n_threads: int, n_leaves: int) -> Predict:
    from xgboost import XGBRFClassifier

    forest = XGBRFClassifier(
        n_estimators=N_TREES, max_depth=0, max_leaves=n_leaves, grow_policy="lossguide", tree_method="hist",
        min_child_weight=0, reg_lambda=0, subsample=0.632, colsample_bynode=MAX_FEATURES / X.shape[1], n_jobs=n_threads,
        random_state=0,
    )  # fmt: skip
    return forest.fit(X, y).predict  # type: ignore[no-any-return]


def fit_ydf(X: Array, y: Array, n_threads: int, n_leaves: int) -> Predict:
    import ydf

    learner = ydf.RandomForestLearner(
        label="y", num_trees=N_TREES, num_candidate_attributes=MAX_FEATURES, max_depth=-1, min_examples=1,
        winner_take_all=False, compute_oob_performances=False, num_threads=n_threads, random_seed=0,
    )  # fmt: skip
    model = learner.train({"X": X, "y": y}, verbose=0)
    classes = np.array(model.label_classes(), dtype=y.dtype)
    return lambda rows: classes[model.predict({"X": rows}).argmax(axis=1)]


def medians(works: list[Callable[[], object]], rounds: int, clock: Callable[[], float]) -> list[float]:
    """Return the median seconds of several works by a clock, taken in turn."""
    times = np.empty((rounds, len(works)))
    for i in range(rounds):
        for j, work in enumerate(works):
            started = clock()
            work()
            times[i, j] = clock() - started
    return [float(one) for one in np.median(times, axis=0)]


PEERS = {"scikit-learn": fit_scikit_learn, "lightgbm": fit_lightgbm, "xgboost": fit_xgboost, "ydf": fit_ydf}


def compare(n: int, rounds: int) -> Iterator[dict[str, Any]]:
    """Return how long each library takes to grow from n records, relative to ours."""
    X, y = clusters(n, seed=1)
    X_fresh, y_fresh = clusters(20_000, seed=2)
    n_leaves = RandomForestClassifier(1, max_features=MAX_FEATURES, random_state=0).fit(X, y)[0].get_n_leaves()
    for name, fit in PEERS.items():
        if name != "scikit-learn" and find_spec(name) is None:
            yield {"peer": name, "skipped": f"pip install {name}"}
            continue
        for n_threads in (1, 2):
            forest = ours(max_features=MAX_FEATURES, n_estimators=N_TREES, n_jobs=n_threads)
            works = [lambda f=forest: f.fit(X, y), lambda f=fit, k=n_threads: f(X, y, k, n_leaves)]  # type: ignore[misc]
            t_ours, t_theirs = medians(works, rounds, process_time if n_threads == 1 else perf_counter)
            predict = fit(X, y, n_threads, n_leaves)
            yield {
                "peer": name,
                "records": n,
                "threads": n_threads,
                "seconds": t_ours,
                "peer_seconds": t_theirs,
                "times_faster": t_theirs / t_ours,
                "accuracy": forest.score(X_fresh, y_fresh),
                "peer_accuracy": float((predict(X_fresh) == y_fresh).mean()),
            }


if __name__ == "__main__":
    for n, rounds in ((4_000, 7), (160_000, 3)) if len(sys.argv) < 2 else [(int(sys.argv[1]), 3)]:
        for line in compare(n, rounds):
            print_line(line)
