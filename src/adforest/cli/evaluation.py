"""Test models on labelled files without holding them in memory, and compare two models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any

from adforest.cli.batch_files import (
    class_type,
    found_files,
    known_types,
    learnt_columns,
    reading_for_prediction,
    records_of,
    shown,
    with_noted,
)
from adforest.cli.surveying import fingerprint
from adforest.log_lines import remark
from adforest.origins import origins_of
from adforest.wording import counted

N_RECORDS = 1 << 16  # read at once
MIN_PROBABILITY = 1e-15  # what a probability of 0 counts as in the log loss, as in scikit-learn


def warn_of_learnt(model: Any, name: str, paths: Sequence[Path]) -> None:
    """Warn if a model has learnt some of the files; archives are not checked."""
    known = set(origins_of(model).digests)
    n_learnt = sum(path.suffix.lower() != ".zip" and fingerprint(path).digest in known for path in paths if known)
    if n_learnt:
        remark(f"warning: {counted(n_learnt, 'file')} learnt by {name}: metrics on new records are usually lower")


class Evaluation:
    """Counts of pairs of true and predicted class."""

    def __init__(self, model: Any, target: str, reading: Mapping[str, Any]) -> None:
        self._model = model
        types = known_types(model) | {target: class_type(model)}
        self._reading = reading_for_prediction(model, reading)
        self._reading["unlabelled"] = with_noted(reading, origins_of(model)).get("unlabelled", "error")
        self._reading |= {"target": target, "types": types, "batch_size": N_RECORDS}
        if model.column_changes == "error":
            self._reading["columns"] = learnt_columns(model)
        self._pairs: Counter[tuple[Any, Any]] = Counter()
        self._loss, self._n_unlabelled = 0.0, 0
        self._files: list[dict[str, Any]] = []

    def add(self, path: Path, advance: Callable[[int], None]) -> None:
        """Predict the records of a file and count; the function is called with the number of records each time."""
        for truth, _ in self.answers(path):
            advance(len(truth))

    def answers(self, path: Path) -> Iterator[tuple[list[Any], list[Any]]]:
        """Predict the records of a file, count, and yield true and predicted classes of some at a time."""
        from adforest.reading import read_batches

        n_samples = n_right = 0
        batches = read_batches([path], **self._reading)
        for batch in batches:
            if batch.is_whole:
                truth, answers = self._compare(batch)
                n_samples += len(truth)
                n_right += sum(one == other for one, other in zip(truth, answers, strict=True))
                yield truth, answers
        self._n_unlabelled += batches.n_unlabelled
        self._files.append({"file": shown(path), "records": n_samples, "accuracy": n_right / n_samples})

    def _compare(self, batch: Any) -> tuple[list[Any], list[Any]]:
        """Predict a batch, count, and return true and predicted classes."""
        import numpy as np

        classes = self._model.classes_.tolist()
        proba = self._model.predict_proba(batch.X)
        truth = batch.y.tolist()
        answers = [classes[index] for index in proba.argmax(axis=1).tolist()]
        self._pairs.update(zip(truth, answers, strict=True))
        indices = {value: index for index, value in enumerate(classes)}
        known = [(row, indices[value]) for row, value in enumerate(truth) if value in indices]
        rows, columns = (np.array(one, dtype=np.int64) for one in (zip(*known, strict=True) if known else ((), ())))
        self._loss -= float(np.log(np.maximum(proba[rows, columns], MIN_PROBABILITY)).sum())
        self._loss -= (len(truth) - len(known)) * log(MIN_PROBABILITY)
        return truth, answers

    def as_dict(self) -> dict[str, Any]:
        """Return metrics and counts."""
        total = sum(self._pairs.values())
        right = Counter({one: n for (one, other), n in self._pairs.items() if one == other})
        of_class, answered = Counter[Any](), Counter[Any]()
        for (one, other), n in self._pairs.items():
            of_class[one] += n
            answered[other] += n
        known = set(self._model.classes_.tolist())
        classes = [
            {
                "class": value,
                "records": of_class[value],
                "precision": right[value] / answered[value] if answered[value] else None,
                "recall": right[value] / of_class[value] if of_class[value] else None,
                "most_taken_for": self._taken_for(value),
                "is_known": value in known,
            }
            for value in sorted({*of_class, *answered}, key=lambda value: (-of_class[value], str(value)))
        ]
        recalls = [one["recall"] for one in classes if one["recall"] is not None]
        return {
            "records": total,
            "unlabelled": self._n_unlabelled,
            "accuracy": sum(right.values()) / total,
            "balanced_accuracy": sum(recalls) / len(recalls),
            "log_loss": self._loss / total,
            "classes": classes,
            "confusion": [{"class": one, "answer": other, "records": n} for (one, other), n in self._pairs.items()],
            "files": self._files,
        }

    def _taken_for(self, value: Any) -> Any:
        """Return the wrong class that was predicted most often for a class, if there is one."""
        wrong = {other: n for (one, other), n in self._pairs.items() if one == value and other != value}
        return max(wrong, key=lambda other: (wrong[other], str(other)), default=None)


class Comparison:
    """Counts of correct predictions of two models, each alone and both.

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
        """Predict the records of a file with both models; the function is called with the number each time."""
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
        """Return metrics and counts, with names for the models."""
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
    """Return the differences between the histories of two models."""
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
    """Return how many first batches two models have in common, as far as their histories reach."""
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
    """Return figures that identify the batches of a model."""
    return [(one.batch, one.n_samples, one.accuracy, one.new_classes) for one in model.history_]


def _since(model: Any, n_same: int) -> dict[str, Any]:
    """Return the history of a model after its first batches."""
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
    """Return how the predictions of two models for files differ; one file at a time is in memory."""
    models = first, second
    shared = [value for value in first.classes_.tolist() if value in second.classes_.tolist()]
    pairs: Counter[tuple[Any, Any]] = Counter()
    n_samples, moved = 0, 0.0
    with found_files(sources, None) as paths:
        for path in paths:
            (labels, proba), (others, theirs) = (_predictions(model, path, reading, shared) for model in models)
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


def _predictions(model: Any, path: Path, reading: Mapping[str, Any], classes: Sequence[Any]) -> tuple[list[Any], Any]:
    """Return the predicted labels of the records of a file, and the probabilities of some classes."""
    import numpy as np

    indices = [model.classes_.tolist().index(value) for value in classes]
    labels: list[Any] = []
    proba = [np.empty((0, len(indices)))]
    for X, _ in records_of(model, [path], reading):
        found = model.predict_proba(X)
        labels += model.classes_[found.argmax(axis=1)].tolist()
        proba.append(found[:, indices])
    return labels, np.vstack(proba)
