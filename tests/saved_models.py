"""Models to be saved: both classifiers, all base forests, all kinds of columns and labels."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from made_reports import history_of, report
from rated_films import ratings


class Case(NamedTuple):
    """A model that learnt some batches, and batches that it has not learnt yet."""

    model: Any
    later: list


def ours(**changes):
    return AdaptiveDecisionForestClassifier(**{"n_estimators": 3, "random_state": 0} | changes)


def paper(**changes):
    return PaperADFClassifier(**{"n_estimators": 3, "random_state": 0, "min_samples_leaf": 2} | changes)


def numbers(seed, classes=(0, 1, 2), n=60, *, turned=False):
    """Return one cluster a class; turned, the classes have each other's places."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    place = (np.asarray(y) + 1) % 3 if turned else np.asarray(y)
    X = rng.normal(size=(n, 3)) + 4 * place[:, None]
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def along(model, batches, n_learnt):
    """Let a model learn the first batches."""
    for X, y, *weight in batches[:n_learnt]:
        model.partial_fit(X, y, sample_weight=weight[0] if weight else None)
    return Case(model, batches[n_learnt:])


def drifting(model):
    """Rules change for good, so that there are forests of several ages."""
    calm, turned = [numbers(k) for k in range(4)], [numbers(k, turned=True) for k in range(4, 14)]
    return along(model, [*calm, *turned], 10)


def small_batches(model):
    """The last batches learnt are so small that they wait."""
    return along(model, [*(numbers(k) for k in range(3)), *(numbers(k, n=2) for k in range(3, 6)), numbers(6)], 5)


def table(seed, n=60, **columns):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    start = pd.Timestamp("2024-01-01")
    return pd.DataFrame(
        {
            "size": rng.normal(size=n) + y,
            "colour": np.where(rng.random(n) < 0.1, None, np.array(["red", "green", "blü"], dtype=object)[y]),
            "shop": pd.Categorical(rng.integers(0, 12, n).astype(str)),  # names, not numbers
            "day": start + pd.to_timedelta(rng.integers(0, 300, n), unit="D"),
            "moment": (start + pd.to_timedelta(rng.random(n), unit="D")).tz_localize("Europe/Berlin"),
            "took": pd.to_timedelta(rng.random(n) + y, unit="h"),
            "later": np.full(n, np.nan),
            "flag": rng.random(n) < 0.5,
        }
    ).assign(**columns), np.array(["low", "middle", "high"])[y]


def tables(model, **changes):
    """Columns of every kind; one is undecided until the batches that are not learnt yet."""
    first = [table(k) for k in range(3)]
    return along(model, [*first, table(3, later="seen"), table(4, later="again")], 3)


def changing_columns(model):
    X, y = table(3)
    return along(model, [table(0), (X.drop(columns="took"), y), table(2, added=1.5), table(4)], 3)


def rated(model, added=99):
    """Names by the hundred whose class rates are columns; from some batch on there is one more column."""
    batches = ratings(8, n=300, n_users=110, n_films=110, says=3.0)
    return along(model, [(X.assign(added=1.5) if k >= added else X, y) for k, (X, y) in enumerate(batches)], 6)


def listed(model):
    """Numbers that are categories, listed by position."""
    batches = []
    for seed in range(4):
        X, y = numbers(seed)
        X[:, 1] = np.random.default_rng(seed).integers(0, 70 + 5 * seed, len(X)) + 0.5
        batches.append((X, y))
    return along(model, batches, 2)


def weighted(model):
    """Some batches have weights, among them the last ones, which wait."""
    batches = [numbers(k, n=60 if k < 4 else 2) for k in range(7)]
    weights = [np.random.default_rng(k).uniform(0, 5, len(y)) if k % 2 else None for k, (_, y) in enumerate(batches)]
    return along(model, [(*batch, weight) for batch, weight in zip(batches, weights, strict=True)], 6)


def sketched(model):
    """Batches so large that columns are counted, one with more categories than cells; a class comes and goes."""

    def batch(k):
        X, y = table(k, n=300)
        shops = np.random.default_rng(k).integers(0, 15 + 5 * k, 300)
        return X.assign(shop=pd.Categorical(shops.astype(str))), np.where(y == "high", "low", y) if k in (2, 4) else y

    return along(model, [batch(k) for k in range(7)], 5)


def long_history(model, n=1_600):
    """So many batches that the reports of the first ones have been summarised; nobody had to learn them."""
    case = along(model, [numbers(k) for k in range(8)], 6)
    known = case.model._model
    track = replace(known.track, history=history_of(report(k) for k in range(1, n + 1)))
    case.model._model = replace(known, n_batches=n, state=replace(known.state, n_calls=n), track=track)
    return case


def labelled(values, later=None):
    """Return a function that makes a model whose classes are some values; later batches bring one more."""
    values, last = np.asarray(values), np.asarray(values if later is None else later)

    def make():
        batches = [numbers(k) for k in range(4)]
        return along(ours(), [(X, (last if k > 2 else values)[y]) for k, (X, y) in enumerate(batches)], 2)

    return make


def named(names):
    """Return a function that makes a model whose columns have some names."""

    def make():
        batches = [numbers(k) for k in range(4)]
        frames = [(pd.DataFrame(X, columns=names), y) for X, y in batches]
        return along(ours(), frames, 2)

    return make


def declared():
    batches = [numbers(k) for k in range(4)]
    case = along(ours(), batches, 2)
    case.model.partial_fit(*batches[2], classes=[7, 8])
    return Case(case.model, [numbers(9, classes=(0, 7))])


CASES = {
    "ours": lambda: drifting(ours()),
    "one batch": lambda: along(ours(), [numbers(0), numbers(1)], 1),
    "a new class": lambda: along(ours(), [numbers(k, (0, 1) if k < 2 else (0, 1, 2)) for k in range(4)], 3),
    "everything": lambda: drifting(ours(answer_for="everything")),
    "small memory": lambda: drifting(ours(memory_size=50)),
    "no memory": lambda: drifting(ours(memory_size=0)),
    "isat": lambda: drifting(ours(splitting="isat")),
    "sysfor": lambda: drifting(ours(base_forest="sysfor", n_estimators=6)),
    "hoeffding": lambda: drifting(ours(base_forest="hoeffding")),
    "small batches": lambda: small_batches(ours()),
    "tables": lambda: tables(ours()),
    "tables, sysfor": lambda: tables(ours(base_forest="sysfor")),
    "tables, hoeffding": lambda: tables(ours(base_forest="hoeffding")),
    "infrequent": lambda: tables(ours(max_categories=6, min_frequency=0.02)),
    "changing columns": lambda: changing_columns(ours(column_changes="allow")),
    "rates": lambda: rated(ours()),
    "rates, sysfor": lambda: rated(ours(base_forest="sysfor")),
    "rates, hoeffding": lambda: rated(ours(base_forest="hoeffding")),
    "rates, changing columns": lambda: rated(ours(column_changes="allow"), added=4),
    "listed": lambda: listed(ours(categorical_features=[1])),
    "listed by mask": lambda: listed(ours(categorical_features=np.array([False, True, False]))),
    "sketches": lambda: sketched(ours(n_estimators=2)),
    "long history": lambda: long_history(ours()),
    "paper": lambda: drifting(paper()),
    "paper, text": lambda: drifting(paper(reading="text", voting="soft")),
    "paper, sysfor": lambda: drifting(paper(base_forest="sysfor")),
    "paper, hoeffding": lambda: drifting(paper(base_forest="hoeffding", splitting="entropy")),
    "paper, tables": lambda: tables(paper(splitting="sat", repair_threshold=0.01)),
    "weights": lambda: weighted(ours()),
    "weights, sysfor": lambda: weighted(
        ours(base_forest="sysfor", class_weight={np.int64(0): 3, 1: 0.5, 2: 2.5, 9: 9})
    ),
    "weights, hoeffding": lambda: weighted(paper(base_forest="hoeffding", class_weight="balanced")),
    "balanced": lambda: drifting(ours(class_weight="balanced", memory_size=50)),
    "booleans": labelled([True, False, True]),
    "int32": labelled(np.array([5, -7, 3], dtype=np.int32)),
    "large numbers": labelled(np.array([2**63 + 1, 4, 2**63], dtype=np.uint64)),
    "whole floats": labelled([1.0, 4.0, -2.0]),
    "big-endian": labelled(np.array([1, 2, 3], dtype=">i8")),
    "text": labelled(["a", "bb", ""], later=["a", "bb", "a longer one"]),
    "objects": labelled(np.array(["a\0", "a", "\ud800é"], dtype=object)),
    "whole names": named([3, 1, 2]),
    "tuples": named(pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])),
    "declared": declared,
    "a generator": lambda: drifting(ours(random_state=np.random.RandomState(7))),
}
