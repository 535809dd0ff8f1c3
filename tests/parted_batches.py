"""Batches in parts, learnt as an engine would let them be learnt, and tables to cut into parts."""

import pickle
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from adforest.merging import count_part, draw_part, join_parts, merge_counts, merge_surveys, survey_part

CLASSES = np.array(["m", "z", "a", "k"])


def sent(thing):
    """Return what arrives of something that is sent to another process."""
    return pickle.loads(pickle.dumps(thing))


class PartedBatch:
    """Parts of a batch: (X, y, weight) each. Surveys are merged in groups of some size, groups again, and so on."""

    def __init__(self, parts, group=2):
        self.parts = parts
        self.group = group
        self.n_bytes = 0

    def survey(self, rules):
        rules = sent(rules.to_send())
        found = [sent(survey_part(rules, *part, place)) for place, part in enumerate(self.parts)]
        while len(found) > 1:
            groups = [found[start : start + self.group] for start in range(0, len(found), self.group)]
            found = [sent(merge_surveys(group, rules)) for group in groups]
        return merge_surveys(found, rules)

    def draw(self, plan):
        plan = sent(plan)
        drawn = [pickle.dumps(draw_part(plan, *part, place)) for place, part in enumerate(self.parts)]
        self.n_bytes = sum(map(len, drawn))
        return join_parts(plan, list(map(pickle.loads, drawn)))

    def count(self, plan, counter, n_jobs):
        plan, counter = sent(plan), sent(counter)
        counts = [sent(count_part(plan, counter, *part, place)) for place, part in enumerate(self.parts)]
        return merge_counts([merge_counts(counts[1:]) or None, counts[0]])


def cut(batch, places):
    """Return a batch in parts, cut at some places; parts may be empty."""
    bounds = [0, *sorted(places), len(batch[1])]
    return [tuple(None if one is None else one[start:stop] for one in batch) for start, stop in pairwise(bounds)]


def evenly(batch, n_parts):
    """Return a batch in some parts of nearly the same size."""
    return cut(batch, [round(k * len(batch[1]) / n_parts) for k in range(1, n_parts)])


def mixed_batch(number, n=400, *, weighed=False):
    """Return a table of numbers, text, gaps, dates and a flag, its labels and weights; kinds and classes come later."""
    rng = np.random.default_rng(number)
    shares = [0.6, 0.4, 0.0, 0.0] if number < 2 else [0.3, 0.3, 0.35, 0.05]
    y = rng.choice(4, n, p=shares)
    towns = np.array(["Graz", "Linz", "Wels", "Steyr", "Enns"])[: 3 + number]
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n) + 1.5 * y,
            "count": rng.integers(0, 300, n) + 100 * (y == 1),
            "town": rng.choice(towns, n),
            "late": np.where(rng.random(n) < 0.5, "yes", "no") if number > 1 else np.full(n, None, dtype=object),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), unit="D"),
            "flag": rng.random(n) < 0.2 + 0.2 * y,
        }
    )
    X["late"] = X["late"].astype(object)
    X.loc[rng.random(n) < 0.1, "size"] = np.nan
    X.loc[rng.random(n) < 0.1, "town"] = None
    X.loc[rng.random(n) < 0.6, "late"] = None
    weight = np.round(rng.gamma(2.0, 0.7, n), 3) * (rng.random(n) < 0.9) if weighed else None
    return X, CLASSES[y], weight


def saved(model):
    """Return the bytes of the file of a model, without the times of batches."""
    track = model._model.track
    history = track.history
    history = replace(
        history, reports=tuple(replace(report, seconds=0.0, learnt_at=None) for report in history.reports)
    )
    timeless = pickle.loads(pickle.dumps(model))
    timeless._model = replace(model._model, track=replace(track, history=history))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.adf"
        timeless.save(path)
        return path.read_bytes()
