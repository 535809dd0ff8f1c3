"""Count how a model answers labelled records, file after file, without holding them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any

from adforest.cli.batches import class_type, known_types, learnt_columns, reading_for_prediction, shown, with_noted
from adforest.cli.output import counted, remark
from adforest.cli.surveying import fingerprint
from adforest.origins import origins_of

N_RECORDS = 1 << 16  # read at once
MIN_PROBABILITY = 1e-15  # what a probability of 0 counts as in the log loss, as in scikit-learn


def warn_of_learnt(model: Any, name: str, paths: Sequence[Path]) -> None:
    """Say how many of some files a model has learnt; of archives that is not known."""
    known = set(origins_of(model).digests)
    n_learnt = sum(path.suffix.lower() != ".zip" and fingerprint(path).digest in known for path in paths if known)
    if n_learnt:
        remark(f"warning: {counted(n_learnt, 'file')} learnt by {name}: new records are harder")


class Evaluation:
    """How often each class was answered for each."""

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
        """Answer the records of a file, and compare; the function is told of how many each time."""
        for truth, _ in self.answers(path):
            advance(len(truth))

    def answers(self, path: Path) -> Iterator[tuple[list[Any], list[Any]]]:
        """Answer the records of a file, compare, and yield classes and answers of some at a time."""
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
        """Count the answers to a batch, and return its classes and them."""
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
        """Return all that was counted."""
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
        """Return the wrong class that a class was answered with most often, if it was."""
        wrong = {other: n for (one, other), n in self._pairs.items() if one == value and other != value}
        return max(wrong, key=lambda other: (wrong[other], str(other)), default=None)
