"""What there is to say of a model: classes, columns, forests, batches, as plain values."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from adforest.adaptation.names import FORESTS


def describe(model: Any, path: Path) -> dict[str, Any]:
    """Return all that `adforest inspect` shows of a model."""
    from adforest.origins import origins_of

    known, defaults = model._model, type(model)().get_params()
    return {
        "model": str(path),
        "bytes": path.stat().st_size,
        "kind": type(model).__name__,
        "target": origins_of(model).target,
        "batches": known.n_batches,
        "records": known.n_samples,
        "records_kept": len(known.learnt.state.memory),
        "can_learn": known.has_samples,
        "answering": model.answering_forest_,
        "parameters": {name: value for name, value in model.get_params().items() if value != defaults[name]},
        "classes": _classes(model),
        "columns": _columns(model),
        "forests": _forests(model),
        "drift": _drift(model.history_),
        "history": [asdict(report) for report in model.history_],
    }


def _classes(model: Any) -> list[dict[str, Any]]:
    """Return how often each class came, and the batches of its first and last record; 0 for one only declared."""
    known = model._model
    lives, values = known.learnt.track.classes, known.labels.by_arrival.tolist()
    figures = [*zip(lives.n_samples.tolist(), lives.first_batch.tolist(), lives.last_batch.tolist(), strict=True)]
    figures += [(0, 0, 0)] * (len(values) - len(figures))  # classes that were declared and have not come yet
    return [
        {"class": values[code], "records": n_samples, "first_batch": first, "last_batch": last}
        for code in known.labels.order.tolist()
        for n_samples, first, last in [figures[code]]
    ]


def _columns(model: Any) -> list[dict[str, Any]]:
    """Return what each column holds, and how much it counts in the forest that answers."""
    encoder, importances = model._model.encoder, model.feature_importances_.tolist()
    names = encoder.names if encoder.names is not None else [f"x[{place}]" for place in range(encoder.n_features)]
    return [
        {"column": str(name), "holds": kind, "values": len(encoder.category_values(place)) or None, "importance": share}
        for place, (name, kind, share) in enumerate(zip(names, encoder.kinds, importances, strict=True))
    ]


def _forests(model: Any) -> list[dict[str, Any]]:
    """Return the sizes of the forests that stand, and their weights in the vote."""
    votes = model.history_[-1].votes
    found = [(name, getattr(model, f"{name}_forest_")) for name in FORESTS]
    return [
        {
            "forest": name,
            "trees": len(forest),
            "leaves": forest.n_leaves,
            "depth": max(tree.depth for tree in forest.trees),
            "vote": votes.get(name),
        }
        for name, forest in found
        if forest is not None
    ]


def _drift(reports: list[Any]) -> list[dict[str, Any]]:
    """Return the stretches of batches with drift of one kind."""
    stretches = [list(group) for _, group in groupby(reports, key=lambda report: report.drift)]
    return [
        {"drift": group[0].drift, "first_batch": group[0].batch, "last_batch": group[-1].batch}
        for group in stretches
        if group[0].drift != "none"
    ]
