"""What it costs to keep track of a stream, and to look at it."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from timing import ours, seconds, three_classes

from adforest.adaptation.scoring import leaves_by_forest, score_batch
from adforest.base import get_fitted, set_fitted
from adforest.forest import Samples
from adforest.monitor import ModelView


def measure_tracking() -> Iterator[dict[str, Any]]:
    """Counting the values of a batch and scoring its answers beside learning it."""
    rng = np.random.default_rng(0)
    for n, m in ((100, 10), (2_000, 10), (20_000, 10), (2_000, 200), (2_000, 1_000)):
        model, tracking, scoring, learning = ours(), [], [], []
        for number in range(1, 12):
            X, y = three_classes(n, m, rng)
            learning.append(seconds(partial(model.partial_fit, X, y)))
            track, serial = get_fitted(model).track, np.arange(n * number, n * (number + 1))
            records = Samples(X, y.astype(np.int32), serial, np.zeros(m, np.int32), 3)
            report = replace(model.history_[-1], batch=number + 1)
            state = get_fitted(model).state
            leaves = leaves_by_forest(state, records, {})
            answered = score_batch(state, records, leaves)[1]
            scoring.append(seconds(partial(score_batch, state, records, leaves)))
            tracking.append(seconds(partial(track.after, report, records, {}, answered, is_new_regime=False)))
        for what, took, goal in (("score the answers to", scoring, 0.05), ("keep track of", tracking, 0.03)):
            yield {
                "measure": f"{what} a batch of {n:,} x {m:,}",
                "milliseconds": 1000 * float(np.median(took)),
                "milliseconds_learning": 1000 * float(np.median(learning)),
                "share": float(np.median(took) / np.median(learning)),
                "goal": f"<= {goal}",
            }


def measure_views() -> Iterator[dict[str, Any]]:
    """Looking at a model after many batches, and with many columns."""
    rng = np.random.default_rng(0)
    for n_batches, m in ((10_000, 10), (100, 1_000)):
        model = ours()
        for _ in range(8):
            model.partial_fit(*three_classes(600, m, rng))
        known = get_fitted(model)
        history = known.track.history
        for number in range(9, n_batches + 1):
            history = history.after(replace(history.reports[-1], batch=number))
        state = replace(known.state, n_calls=n_batches)
        track = replace(known.track, history=history)
        set_fitted(model, replace(known, n_batches=n_batches, state=state, track=track))
        yield {
            "measure": f"view of a model after {n_batches:,} batches of {m:,} columns",
            "milliseconds": 1000 * min(seconds(partial(ModelView.from_estimator, model)) for _ in range(5)),
            "milliseconds_as_dict": 1000 * min(seconds(ModelView.from_estimator(model).as_dict) for _ in range(3)),
            "goal": "<= 1000",
        }
