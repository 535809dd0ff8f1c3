"""What thresholds cost that are chosen by answers of before and after a change of rules."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from adforest import AdaptiveDecisionForestClassifier, threshold_for_cost
from adforest.adaptation.scoring import MAX_KEPT

N_BATCHES, SIZE, CHANGE, AFTER = 40, 500, 20, 8  # the last: batches after a change was noticed
COSTS = ((5, 100), (1, 3), (3, 1))  # of a false positive, of a false negative
FORGET = ("nothing", "older batches", "everything")
NOTHING = np.empty(0, dtype=bool), np.empty(0, dtype=np.float32)


def batches(share: float, distance: float, seed: int) -> Iterator[tuple[Any, Any]]:
    """Yield batches of positive and negative samples so far from each other; at one batch they change places."""
    rng = np.random.default_rng(seed)
    for number in range(N_BATCHES):
        y = rng.random(SIZE) < share
        place = np.where(y if number < CHANGE else ~y, distance, 0.0)
        yield rng.normal(size=(SIZE, 4)) + place[:, np.newaxis] * [1.0, 0.8, 0.6, 0.0], y


def costs_after_a_change(share: float, distance: float, seed: int) -> dict[tuple[Any, Any], float]:
    """Return by what is forgotten at a change, and by costs: what the batches cost after one that was noticed."""
    model, since = AdaptiveDecisionForestClassifier(random_state=seed), AFTER
    answered = dict.fromkeys(FORGET, NOTHING)
    found = {(name, costs): 0.0 for name in (*FORGET, "by theory") for costs in COSTS}
    for number, (X, y) in enumerate(batches(share, distance, seed)):
        if not number:
            model.partial_fit(X, y)
            continue
        probability = model.predict_proba(X)[:, 1]
        if since < AFTER:
            for (name, costs), total in found.items():
                by_cost = {"pos_label": True, "cost_fp": costs[0], "cost_fn": costs[1]}
                said = probability >= threshold_for_cost(*answered.get(name, NOTHING), **by_cost)
                found[name, costs] = total + costs[0] * (said & ~y).sum() + costs[1] * (~said & y).sum()
        model.partial_fit(X, y)
        is_change, since = not len(model.prequential_.y_true), since + 1
        since = 0 if is_change else since
        for name, (before, scores) in answered.items():
            new = y, probability.astype(np.float32)
            if is_change and name != "nothing":
                before, scores = NOTHING
                new = NOTHING if name == "everything" else new
            joined = np.concatenate([before, new[0]]), np.concatenate([scores, new[1]])
            answered[name] = joined[0][-MAX_KEPT:], joined[1][-MAX_KEPT:]
    return found


def measure_thresholds() -> Iterator[dict[str, Any]]:
    """Choose thresholds along streams whose rules change, by answers of which some were forgotten."""
    for share, distance in ((0.1, 1.0), (0.3, 1.0), (0.1, 2.5), (0.3, 2.5)):
        runs = [costs_after_a_change(share, distance, seed) for seed in range(8)]
        for costs in COSTS:
            totals = {name: sum(run[name, costs] for run in runs) for name in (*FORGET, "by theory")}
            yield {
                "measure": f"costs {costs[0]}:{costs[1]}, {share:.0%} positive, distance {distance}; forget",
                **{name: total / max(totals["nothing"], 1) for name, total in totals.items()},
            }
