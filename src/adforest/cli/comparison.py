"""Two models: how they predict the same labelled records, what one learnt and the other did not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from adforest.cli.batches import found_files, records_of
from adforest.cli.evaluation import Evaluation


class Comparison:
    """How often each of two models is right, and both.

    Parameters
    ----------
    models : list of two models
    target : str
        The column that holds the classes.
    reading : dict
        How files are read.
    """

    def __init__(self, models: Sequence[Any], target: str, reading: Mapping[str, Any]) -> None:
        self._evaluations = [Evaluation(model, target, reading) for model in models]
        self._n_only = [0, 0]
        self._n_same = 0

    def add(self, path: Path, advance: Callable[[int], None]) -> None:
        """Answer the records of a file by both models; the function is told of how many each time."""
        first, second = self._evaluations
        for (truth, ours), (other_truth, theirs) in zip(first.answers(path), second.answers(path), strict=True):
            if truth != other_truth:
                raise ValueError(f"the two models read '{path}' in different ways. Give the options for files to both.")
            advance(len(truth))
            for label, one, other in zip(truth, ours, theirs, strict=True):
                self._n_same += one == other
                self._n_only[0] += one == label != other
                self._n_only[1] += other == label != one

    def as_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Return all that was counted; the models are called by names."""
        from scipy.stats import binomtest

        found = [one.as_dict() for one in self._evaluations]
        wanted = ("accuracy", "balanced_accuracy", "log_loss")
        differ = sum(self._n_only)
        return {
            "records": found[0]["records"],
            "models": [
                {"model": name} | {key: one[key] for key in wanted} for name, one in zip(names, found, strict=True)
            ],
            "same_answer": self._n_same,
            "only_first_right": self._n_only[0],
            "only_second_right": self._n_only[1],
            "p_value": float(binomtest(self._n_only[1], differ).pvalue) if differ else None,
        }


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
            "batches": tuple(model.n_batches_ for model in models.values()),
            "records": tuple(model.n_samples_seen_ for model in models.values()),
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
        "batches": model.n_batches_ - n_same,
        "records": sum(one.n_samples for one in reports),
        "accuracy": sum(accuracy * n for accuracy, n in tested) / n_tested if n_tested else None,
        "new_classes": [value for one in reports for value in one.new_classes],
        "drift": [one.batch for one in reports if one.drift != "none"],
    }


def prediction_changes(first: Any, second: Any, sources: Sequence[str], reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return where the answers of two models to files differ; the probabilities of one file are in memory."""
    models = first, second
    shared = [value for value in first.classes_.tolist() if value in second.classes_.tolist()]
    pairs: Counter[tuple[Any, Any]] = Counter()
    n_samples, moved = 0, 0.0
    with found_files(sources, None) as paths:
        for path in paths:
            (labels, proba), (others, theirs) = (_answers(model, path, reading, shared) for model in models)
            pairs.update(zip(labels, others, strict=True))
            n_samples += len(labels)
            moved += float(abs(proba - theirs).max(axis=1, initial=0.0).sum())
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

    indices = [model.classes_.tolist().index(value) for value in classes]
    labels: list[Any] = []
    proba = [np.empty((0, len(indices)))]
    for X, _ in records_of(model, [path], reading):
        found = model.predict_proba(X)
        labels += model.classes_[found.argmax(axis=1)].tolist()
        proba.append(found[:, indices])
    return labels, np.vstack(proba)
