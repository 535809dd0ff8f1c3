"""What one model learnt and another did not, and where their answers differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adforest.cli.batches import all_types, found_files, reading_for_answers


def learnt_between(first: Any, second: Any) -> dict[str, Any]:
    """Return how two models differ in what they learnt."""
    from adforest.origins import origins_of

    models = {"first": first, "second": second}
    digests = [origins_of(model).digests for model in (first, second)]
    common = len(set(digests[0]) & set(digests[1]))
    n_same = _n_same(first, second)
    parameters = {
        name: (value, second.get_params().get(name))
        for name, value in first.get_params().items()
        if repr(value) != repr(second.get_params().get(name))
    }
    return {
        "sizes": {
            "batches": tuple(model._model.n_batches for model in models.values()),
            "records": tuple(model._model.n_samples for model in models.values()),
            "classes": tuple(len(model.classes_) for model in models.values()),
            "columns": tuple(model.n_features_in_ for model in models.values()),
            "leaves": tuple(model.permanent_forest_.n_leaves for model in models.values()),
        },
        "parameters": parameters,
        "digests_in_common": common,
        "batches_in_common": n_same,
        "only": {name: _since(model, n_same) for name, model in models.items()},
    }


def _n_same(first: Any, second: Any) -> int:
    """Return how many batches two models learnt alike, from the first on, as far as their histories reach."""
    pairs = zip(_batches(first), _batches(second), strict=False)
    before: int = first.history_[0].batch - 1
    if before != second.history_[0].batch - 1:
        return 0
    n_same = 0
    for one, two in pairs:
        if one != two:
            break
        n_same += 1
    return before + n_same


def _batches(model: Any) -> list[tuple[Any, ...]]:
    """Return what tells the batches of a model apart."""
    return [(one.batch, one.n_samples, one.accuracy, one.new_classes) for one in model.history_]


def _since(model: Any, n_same: int) -> dict[str, Any]:
    """Return what a model learnt after its first batches."""
    reports = [one for one in model.history_ if one.batch > n_same]
    tested = [(one.accuracy["vote"], one.n_samples) for one in reports if "vote" in one.accuracy]
    n_tested = sum(n for _, n in tested)
    return {
        "batches": model._model.n_batches - n_same,
        "records": sum(one.n_samples for one in reports),
        "accuracy": sum(share * n for share, n in tested) / n_tested if n_tested else None,
        "new_classes": [value for one in reports for value in one.new_classes],
        "drift": [one.batch for one in reports if one.drift != "none"],
    }


def answers_between(first: Any, second: Any, sources: Sequence[str], reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return where the answers of two models to files differ; the probabilities of one file are in memory."""
    models = first, second
    shared = [value for value in first.classes_.tolist() if value in second.classes_.tolist()]
    pairs: Counter[tuple[Any, Any]] = Counter()
    n_samples, moved = 0, 0.0
    with found_files(sources, None) as paths:
        for path in paths:
            (labels, shares), (others, theirs) = (_answers(model, path, reading, shared) for model in models)
            pairs.update(zip(labels, others, strict=True))
            n_samples += len(labels)
            moved += float(abs(shares - theirs).max(axis=1, initial=0.0).sum())
    differ = [(pair, n) for pair, n in pairs.most_common() if pair[0] != pair[1]]
    return {
        "records": n_samples,
        "differ": sum(n for _, n in differ),
        "mean_probability_difference": moved / n_samples if n_samples else 0.0,
        "pairs": [{"first": one, "second": two, "records": n} for (one, two), n in differ],
    }


def _answers(model: Any, path: Path, reading: Mapping[str, Any], classes: Sequence[Any]) -> tuple[list[Any], Any]:
    """Return the labels that a model gives the records of a file, and the probabilities of some classes."""
    import numpy as np

    from adforest.reading.records import read_records

    may_lack = model.column_changes == "allow"
    blocks = read_records([path], all_types(model), may_lack=may_lack, **reading_for_answers(model, reading))
    places = [model.classes_.tolist().index(value) for value in classes]
    labels: list[Any] = []
    shares = [np.empty((0, len(places)))]
    for X, _ in blocks:
        found = model.predict_proba(X)
        labels += model.classes_[found.argmax(axis=1)].tolist()
        shares.append(found[:, places])
    return labels, np.vstack(shares)
