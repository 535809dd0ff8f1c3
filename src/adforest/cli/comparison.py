"""Count how two models answer the same labelled records, file after file, without holding them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

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
