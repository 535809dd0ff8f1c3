"""Measure what the manual claims: every measure prints one JSON line, ratios taken in one run.

Words given as arguments choose the measures whose names begin so. Lines replace those of the same measure in
record.jsonl, from which ``python -m experiments pages`` writes the tables of the manual.
"""

import os
import sys
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from bound import measure_bound
from command_line import measure_cli, measure_help, measure_import, measure_kills, measure_watch_memory
from model_files import measure_files
from monitor_page import measure_index, measure_monitor
from monitoring import measure_tracking, measure_views
from scale import measure_scale
from side_by_side import measure_side_by_side
from sklearn.ensemble import RandomForestClassifier
from small_batches import measure_first, measure_small
from spark import measure_spark
from thresholds import measure_thresholds
from timing import clusters, medians, ours, print_line, record_line, seconds, theirs

from adforest import AdaptiveDecisionForestClassifier
from adforest.forest import GrowthParams, Samples
from adforest.forest._kernels.binning import bin_columns
from adforest.growers import HoeffdingGrower, TreeRequest
from adforest.simulation import Batch
from experiments.streams.datasets import load_dataset
from experiments.streams.scenarios import simulate_scenarios

DATA = Path(os.environ.get("ADFOREST_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
DATASETS = ("avila", "arem", "eb", "uifwa", "ldpa", "house")


def measure_grow() -> Iterator[dict[str, Any]]:
    X_fresh, y_fresh = clusters(20_000, seed=2)
    for n, rounds, goal in ((160_000, 3, 8), (4_000, 9, 5)):
        X, y = clusters(n, seed=1)
        a, b = ours(max_features=3), theirs(3)
        t_ours, t_theirs = medians([lambda a=a: a.fit(X, y), lambda b=b: b.fit(X, y)], rounds)  # noqa: B023
        yield {
            "measure": f"grow 10 trees on {n:,} x 6",
            "seconds": t_ours,
            "sklearn_seconds": t_theirs,
            "times_faster": t_theirs / t_ours,
            "goal": f">= {goal}",
        }
        yield {
            "measure": f"accuracy on 20,000 fresh records after {n:,}",
            "accuracy": a.score(X_fresh, y_fresh),
            "sklearn_accuracy": b.score(X_fresh, y_fresh),
            "points_above": 100 * (a.score(X_fresh, y_fresh) - b.score(X_fresh, y_fresh)),
            "goal": ">= -0.5",
        }


def measure_sysfor() -> Iterator[dict[str, Any]]:
    X, y = clusters(4_000, seed=1)
    random_forest, sysfor = medians(
        [lambda: ours(max_features=3).fit(X, y), lambda: ours(base_forest="sysfor").fit(X, y)], 9
    )
    yield {
        "measure": "grow 10 SysFor trees on 4,000 x 6",
        "seconds": sysfor,
        "random_forest_seconds": random_forest,
        "times_slower": sysfor / random_forest,
        "goal": "<= 3",
    }


def measure_hoeffding() -> Iterator[dict[str, Any]]:
    try:
        from river.tree import HoeffdingTreeClassifier
    except ImportError:
        yield {"measure": "Hoeffding tree", "skipped": "pip install river"}
        return
    X, y = clusters(100_000, seed=1)
    records = Samples(X, y.astype(np.int32), np.arange(len(X)), np.zeros(6, dtype=np.int32), 11)
    rows, known = [dict(enumerate(row)) for row in X.tolist()], np.arange(len(X), dtype=np.int32)
    grower = HoeffdingGrower(GrowthParams(max_features=6, min_samples_leaf=200))
    weights = grower.weights(records.serial, 0).tolist()  # River learns with the same weights

    def river() -> None:
        tree = HoeffdingTreeClassifier(grace_period=200, leaf_prediction="mc", binary_split=True)
        for row, klass, weight in zip(rows, y.tolist(), weights, strict=True):
            if weight:
                tree.learn_one(row, klass, w=weight)

    t_ours, t_river = medians([lambda: grower.build(TreeRequest(records, known, [0], None)), river], 3)
    yield {
        "measure": "Hoeffding tree on 100,000 x 6",
        "records_per_second": len(X) / t_ours,
        "river_records_per_second": len(X) / t_river,
        "times_faster": t_river / t_ours,
        "goal": ">= 50",
    }


def measure_threads() -> Iterator[dict[str, Any]]:
    X, y = clusters(160_000, seed=1)
    one, two = medians(
        [
            lambda: ours(max_features=3, n_jobs=1).fit(X, y),
            lambda: ours(max_features=3, n_jobs=2).fit(X, y),
        ],
        3,
    )
    yield {
        "measure": "n_jobs=2 on 160,000 x 6",
        "seconds": two,
        "one_thread_seconds": one,
        "times_faster": one / two,
        "goal": ">= 1.6",
    }


def measure_codes() -> Iterator[dict[str, Any]]:
    """Features are coded anew at each batch: of all samples in memory, of the window and of the batch."""
    size, rng = 5_200, np.random.default_rng(0)
    X = rng.normal(size=(100_000 + 7 * size, 30))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=len(X)) > 0).astype(np.int32)
    model = AdaptiveDecisionForestClassifier(random_state=0).fit(X[:100_000], y[:100_000])
    batches = [slice(start, start + size) for start in range(100_000, len(X), size)]
    kinds = np.zeros(30, dtype=np.int32)

    def code() -> None:
        for n in (100_000 + size, 3 * size, size):
            bin_columns(X[:n], kinds, 255)

    model.partial_fit(X[batches[0]], y[batches[0]])
    learning = [seconds(lambda rows=rows: model.partial_fit(X[rows], y[rows])) for rows in batches[1:]]
    coding = [seconds(code) for _ in learning]
    yield {
        "measure": "coding features, of a batch of 5,200 with a memory of 100,000 x 30",
        "seconds": float(np.median(coding)),
        "batch_seconds": float(np.median(learning)),
        "fraction_of_batch": float(np.median(coding) / np.median(learning)),
        "goal": "<= 0.15",
    }


def measure_classes() -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 6))
    few, many = (rng.integers(0, n, len(X)) for n in (100, 10_000))
    t_few, t_many = medians([lambda: ours().fit(X, few), lambda: ours().fit(X, many)], 5)
    yield {
        "measure": "grow 10 trees on 20,000 x 6 of 10,000 classes at random, against 100 classes",
        "seconds": t_many,
        "seconds_100_classes": t_few,
        "times_slower": t_many / t_few,
        "goal": "<= 3: linear in classes, not quadratic",
    }


def measure_predict() -> Iterator[dict[str, Any]]:
    X, y = clusters(160_000, seed=1)
    a, b = ours(max_features=3).fit(X, y), theirs(3).fit(X, y)
    X_many, _ = clusters(100_000, seed=3)
    X_one = X_many[:1]
    for name, rows, repeats, goal in (("100,000 records", X_many, 1, 2), ("one record", X_one, 200, 5)):
        t_ours, t_theirs = medians(
            [
                lambda rows=rows, k=repeats: [a.predict(rows) for _ in range(k)],
                lambda rows=rows, k=repeats: [b.predict(rows) for _ in range(k)],
            ],
            7,
        )
        yield {
            "measure": f"predict {name}",
            "seconds": t_ours / repeats,
            "sklearn_seconds": t_theirs / repeats,
            "times_faster": t_theirs / t_ours,
            "goal": f">= {goal}",
        }


def measure_exports() -> Iterator[dict[str, Any]]:
    """The vote of forests of several ages in ONNX Runtime, and the permanent forest in Treelite, one thread each."""
    try:
        import onnxruntime
        import treelite

        from adforest.integrations.onnx import to_onnx
        from adforest.integrations.treelite import to_treelite
    except ImportError:
        yield {"measure": "exports", "skipped": "pip install 'adforest[onnx,treelite]'"}
        return
    X, y = clusters(40_000, seed=1)
    vote = AdaptiveDecisionForestClassifier(random_state=0)
    for start in range(0, len(X), 5_000):
        vote.partial_fit(X[start : start + 5_000], y[start : start + 5_000])
    graph, forest = to_onnx(vote).SerializeToString(), to_treelite(vote)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    alone = copy(vote).set_params(answer_for="everything")
    X_many, _ = clusters(100_000, seed=3)
    for name, rows, repeats in (("100,000 records", X_many, 1), ("one record", X_many[:1], 200)):
        works = [
            lambda rows=rows: vote.predict_proba(rows),
            lambda rows=rows: session.run(None, {"X": rows}),
            lambda rows=rows: alone.predict_proba(rows),
            lambda rows=rows: treelite.gtil.predict(forest, rows, nthread=1),
        ]
        found = [works[0]() - works[1]()[1], works[2]() - works[3]()[:, 0]]
        times = medians([lambda work=work, k=repeats: [work() for _ in range(k)] for work in works], 5)
        ours_vote, onnx, ours_alone, gtil = (one / repeats for one in times)
        yield {
            "measure": f"the vote of {name} in ONNX Runtime",
            "seconds": onnx,
            "our_seconds": ours_vote,
            "share_of_ours": onnx / ours_vote,
            "records_that_differ": int((np.abs(found[0]) > 1e-6).any(axis=1).sum()),
        }
        yield {
            "measure": f"the permanent forest on {name} in Treelite (GTIL)",
            "seconds": gtil,
            "our_seconds": ours_alone,
            "share_of_ours": gtil / ours_alone,
            "records_that_differ": int((np.abs(found[1]) > 1e-6).any(axis=1).sum()),
        }


def measure_explain() -> Iterator[dict[str, Any]]:
    model = AdaptiveDecisionForestClassifier(n_jobs=1, random_state=0)  # several forests vote
    for number in range(6):
        model.partial_fit(*clusters(4_000, seed=number))
    X, _ = clusters(10_000, seed=9)
    for name, rows in (("10,000 records", X), ("one record", X[:1])):
        explain, predict = medians(
            [lambda rows=rows: model.explain(rows), lambda rows=rows: model.predict_proba(rows)], 7
        )
        yield {
            "measure": f"explain {name}",
            "seconds": explain,
            "predict_proba_seconds": predict,
            "times_predict_proba": explain / predict,
        }


def stream(name: str, seed: int = 0) -> tuple[list[Batch], tuple[bool, ...]]:
    dataset = load_dataset(name, folder=DATA)
    batches = simulate_scenarios(dataset.X, dataset.y, categorical=dataset.categorical, random_state=seed)
    return batches, dataset.categorical


def refit(batches: list[Batch], window: int | None, max_features: int) -> tuple[float, float]:
    """Return mean accuracy and mean seconds of a scikit-learn forest refitted at every batch."""
    accuracy, times = [], []
    for i, batch in enumerate(batches):
        recent = batches[0 if window is None else max(0, i + 1 - window) : i + 1]
        X, y = np.concatenate([b.X_train for b in recent]), np.concatenate([b.y_train for b in recent])
        forest = theirs(max_features)
        times.append(seconds(lambda f=forest, X=X, y=y: f.fit(X, y)))
        accuracy.append(forest.score(batch.X_test, batch.y_test))
    return float(np.mean(accuracy)), float(np.mean(times))


def follow(batches: list[Batch], model: AdaptiveDecisionForestClassifier) -> tuple[float, float]:
    """Return mean accuracy and mean seconds of a model along the same batches."""
    accuracy, times = [], []
    for batch in batches:
        times.append(seconds(lambda b=batch: model.partial_fit(b.X_train, b.y_train)))
        accuracy.append(model.score(batch.X_test, batch.y_test))
    return float(np.mean(accuracy)), float(np.mean(times))


def max_features_of(batches: list[Batch]) -> int:
    m = batches[0].X_train.shape[1]
    return min(m, int(np.log2(m)) + 1)


def measure_cost() -> Iterator[dict[str, Any]]:
    batches, categorical = stream("ldpa")
    window_accuracy, window_seconds = refit(batches, 3, max_features_of(batches))
    for memory_size in (100_000, None):
        accuracy, mean_seconds = follow(batches, ours(categorical_features=list(categorical), memory_size=memory_size))
        yield {
            "measure": f"partial_fit along LDPA, memory_size={memory_size}",
            "seconds_per_batch": mean_seconds,
            "sklearn_last_3_seconds": window_seconds,
            "share_of_last_3": mean_seconds / window_seconds,
            "accuracy": accuracy,
            "sklearn_last_3_accuracy": window_accuracy,
            "goal": "share <= 1",
        }


def measure_accuracy() -> Iterator[dict[str, Any]]:
    for name in DATASETS:
        batches, categorical = stream(name)
        accuracy, mean_seconds = follow(batches, ours(categorical_features=list(categorical), memory_size=None))
        all_accuracy, all_seconds = refit(batches, None, max_features_of(batches))
        yield {
            "measure": f"mean accuracy over 34 batches, {name}",
            "accuracy": accuracy,
            "sklearn_everything_accuracy": all_accuracy,
            "points_above": 100 * (accuracy - all_accuracy),
            "seconds_per_batch": mean_seconds,
            "sklearn_everything_seconds": all_seconds,
            "goal": ">= -0.5",
        }


def measure_unseen() -> Iterator[dict[str, Any]]:
    """Draws of the protocol that no default was chosen on."""
    for name in ("avila", "arem", "eb"):
        for seed in (2, 3):
            batches, categorical = stream(name, seed)
            accuracy, _ = follow(batches, ours(categorical_features=list(categorical), memory_size=None))
            everything, _ = refit(batches, None, max_features_of(batches))
            last_3, _ = refit(batches, 3, max_features_of(batches))
            yield {
                "measure": f"mean accuracy over 34 batches, {name}, seed {seed}, unseen when choosing",
                "accuracy": accuracy,
                "points_above_everything": 100 * (accuracy - everything),
                "points_above_last_3": 100 * (accuracy - last_3),
            }


def measure_names() -> Iterator[dict[str, Any]]:
    """A column of names that say nothing beside three numbers that decide, and one of 400 names that do."""
    n, n_batches = 2_000, 9
    for seed in (0, 1, 2):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n * n_batches, 3))
        y = X[:, 0] + X[:, 1] * X[:, 2] > 0
        plain = _last_accuracy(X, y, n, seed)
        for kind, codes in (
            ("300", rng.integers(0, 300, len(X))),
            ("5,000", rng.integers(0, 5_000, len(X))),
            ("all different", np.arange(len(X))),
        ):
            names = np.array([f"name {code}" for code in codes], dtype=object)
            accuracy = _last_accuracy(np.column_stack([X.astype(object), names]), y, n, seed)
            yield {
                "measure": f"a useless column of names, {kind}, seed {seed}",
                "accuracy": accuracy,
                "points_above_without": 100 * (accuracy - plain),
                "goal": ">= -1",
            }
        codes = rng.integers(0, 400, len(X))
        likely = np.where(rng.integers(0, 2, 400)[codes], 0.85, 0.15)
        names = np.array([f"name {code}" for code in codes], dtype=object)
        y = rng.random(len(X)) < likely
        yield {
            "measure": f"a useful column of 400 names, seed {seed}",
            "accuracy": _last_accuracy(np.column_stack([X.astype(object), names]), y, n, seed),
            "accuracy_without": _last_accuracy(X, y, n, seed),
        }


def measure_pause() -> Iterator[dict[str, Any]]:
    """A class that stays away for some batches, beside a random forest refitted on everything."""
    for n_batches in (0, 3, 5, 8, 12):
        scores = []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            y = [rng.random(300) < share for share in [0.4] * 8 + [0.0] * n_batches + [0.6]]
            X = [np.column_stack([rng.normal(size=(300, 3)), 3 * one + rng.normal(size=300)]) for one in y]
            model = AdaptiveDecisionForestClassifier(random_state=seed)
            for batch in zip(X[:-1], y[:-1], strict=True):
                model.partial_fit(*batch)
            everything = RandomForestClassifier(20, random_state=seed).fit(np.vstack(X[:-1]), np.hstack(y[:-1]))
            scores.append([model.score(X[-1], y[-1]), everything.score(X[-1], y[-1])])
        accuracy, refitted = np.mean(scores, axis=0)
        yield {
            "measure": f"a class comes back after {n_batches} batches without it",
            "accuracy": accuracy,
            "sklearn_accuracy_on_everything": refitted,
            "points_above": 100 * (accuracy - refitted),
            "goal": ">= -5",
        }


def _last_accuracy(X: Any, y: Any, n: int, seed: int) -> float:
    model = AdaptiveDecisionForestClassifier(random_state=seed)
    for place in range(0, len(X) - n, n):
        model.partial_fit(X[place : place + n], y[place : place + n])
    return float(model.score(X[-n:], y[-n:]))


MEASURES = {
    "grow": measure_grow,
    "sysfor": measure_sysfor,
    "hoeffding": measure_hoeffding,
    "threads": measure_threads,
    "side_by_side": measure_side_by_side,
    "codes": measure_codes,
    "classes": measure_classes,
    "predict": measure_predict,
    "exports": measure_exports,
    "explain": measure_explain,
    "cost": measure_cost,
    "accuracy": measure_accuracy,
    "unseen": measure_unseen,
    "small": measure_small,
    "first": measure_first,
    "names": measure_names,
    "pause": measure_pause,
    "files": measure_files,
    "bound": measure_bound,
    "tracking": measure_tracking,
    "views": measure_views,
    "scale": measure_scale,
    "import": measure_import,
    "help": measure_help,
    "cli": measure_cli,
    "kills": measure_kills,
    "watch_memory": measure_watch_memory,
    "monitor": measure_monitor,
    "index": measure_index,
    "spark": measure_spark,
    "thresholds": measure_thresholds,
}


def main(wanted: list[str]) -> None:
    for name, measure in MEASURES.items():
        if wanted and not any(name.startswith(prefix) for prefix in wanted):
            continue
        if name in ("cost", "accuracy", "unseen") and not DATA.is_dir():
            print_line({"measure": name, "skipped": "set ADFOREST_DATA to a folder with the data sets"})
            continue
        for line in measure():
            print_line(line)
            if "skipped" not in line:
                record_line(line)


if __name__ == "__main__":
    main(sys.argv[1:])
