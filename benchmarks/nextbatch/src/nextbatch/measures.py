"""What is measured on each batch, and over a whole stream."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

MIN_PROBABILITY = 0.001  # of the right class, in the log loss: a class that was never seen costs 6.9, not infinity
RARE = 0.05  # frequency in the whole stream up to which a class is rare
MIN_RARE = 10  # samples without which its average precision says nothing
NEW = 5  # batches that a class stays new, after the first whose labels are known

Labels = NDArray[np.object_]


class Scores:
    """Results of one learner on one stream, counted batch by batch.

    Parameters
    ----------
    labels : sequence of arrays
        Of all batches. Only used to know which classes are rare.
    step : int
        Batches that make a point of the curves.
    """

    def __init__(self, labels: Sequence[Labels], step: int = 1) -> None:
        counts = Counter(label for y in labels for label in y)
        total = sum(counts.values())
        self.rare = sorted(name for name, n in counts.items() if MIN_RARE <= n <= RARE * total)
        self.step = step
        self.rows: list[tuple[float, ...]] = []
        self.truth: list[Labels] = []
        self.predicted: list[Labels] = []
        self.rare_scores: list[NDArray[np.float32]] = []
        self.new_right: list[NDArray[np.bool_]] = []
        self.known: Counter[str] = Counter()
        self.age: dict[str, int] = {}
        self.last = ""
        self.n_known = 0

    def count(
        self, found: pd.DataFrame | None, y: Labels, known: Labels | None, seconds: float, megabytes: float
    ) -> None:
        """Count a batch: what was predicted of it (None before anything was learnt), and the labels known after it.

        Rules and the age of classes follow from known labels, whether or not the learner had time to learn them.
        """
        if found is not None:
            self._judge(found, y, seconds, megabytes)
        if known is not None:
            for label in set(known) - set(self.age):
                self.age[label] = self.n_known
            self.n_known += 1
            self.known.update(known)
            self.last = known[-1]

    def _judge(self, found: pd.DataFrame, y: Labels, seconds: float, megabytes: float) -> None:
        """Count what was predicted of a batch."""
        values = found.to_numpy(dtype=np.float64)
        total = values.sum(axis=1, keepdims=True)
        values = np.where(total > 0, values / np.where(total > 0, total, 1.0), 1 / values.shape[1])
        columns = np.array([str(one) for one in found.columns], dtype=object)
        predicted = columns[values.argmax(axis=1)]
        place = pd.Series(range(len(columns)), index=columns).reindex(y.astype(str)).to_numpy(dtype=np.float64)
        is_known = ~np.isnan(place)
        given = np.where(is_known, values[np.arange(len(y)), np.nan_to_num(place).astype(int)], 0.0)
        right = predicted == y
        majority = self.known.most_common(1)[0][0]
        self.truth.append(y)
        self.predicted.append(predicted)
        loss = float(-np.log(np.clip(given, MIN_PROBABILITY, 1.0)).sum())
        rules = (int((y == self.last).sum()), int((y == majority).sum()))
        self.rows.append((len(y), int(right.sum()), loss, seconds, megabytes, *rules))
        if self.rare:
            index = {name: j for j, name in enumerate(columns)}
            none = np.zeros(len(y))
            scores = [values[:, index[name]] if name in index else none for name in self.rare]
            self.rare_scores.append(np.column_stack(scores).astype(np.float32))
        is_new = np.array([0 < self.age.get(label, 0) > self.n_known - 1 - NEW for label in y], dtype=bool)
        self.new_right.append(right[is_new])

    def summary(self) -> dict[str, Any]:
        """Return measures over the stream, each sample counting once, and curves over its batches.

        Returns
        -------
        dict
            ``accuracy``, ``log_loss``, ``balanced_accuracy`` (mean recall of the classes that came),
            ``rare_average_precision``, ``kappa_no_change`` and ``kappa_majority`` (accuracy beyond that of a rule, as a
            fraction of the rule's errors; the rules predict the last label and the most frequent one of those known),
            ``new_class_recall``, ``seconds_per_batch``, ``peak_mb``, ``n_samples``, ``n_batches``,
            ``predictions_sha256``, and ``..._by_batch``. What is not known is None.
        """
        if not self.rows:
            raise ValueError("nothing was predicted: the stream has one batch, or labels never came.")
        table = np.array(self.rows, dtype=np.float64)
        n, right, loss, _, _, no_change, majority = table.sum(axis=0)
        truth, predicted = np.concatenate(self.truth), np.concatenate(self.predicted)
        is_right = truth == predicted
        recalls = pd.Series(is_right).groupby(pd.Series(truth, dtype=object)).mean()
        new = np.concatenate(self.new_right)
        curves = [table[i : i + self.step].sum(axis=0) for i in range(0, len(table), self.step)]
        peak = float(table[:, 4].max())
        peaks = [table[i : i + self.step, 4].max() for i in range(0, len(table), self.step)]
        return {
            "accuracy": right / n,
            "log_loss": loss / n,
            "balanced_accuracy": float(recalls.mean()),
            "rare_average_precision": self._rare_average_precision(truth),
            "kappa_no_change": _kappa(right / n, no_change / n),
            "kappa_majority": _kappa(right / n, majority / n),
            "new_class_recall": float(new.mean()) if len(new) >= MIN_RARE else None,
            "seconds_per_batch": float(table[:, 3].mean()),
            "peak_mb": None if np.isnan(peak) else peak,
            "n_samples": int(n),
            "n_batches": len(table),
            "predictions_sha256": hashlib.sha256("\n".join(predicted.tolist()).encode()).hexdigest(),
            "accuracy_by_batch": [f"{one[1] / one[0]:.3f}" for one in curves],
            "log_loss_by_batch": [f"{one[2] / one[0]:.3f}" for one in curves],
            "seconds_by_batch": [f"{one[3]:.3g}" for one in curves],
            "mb_by_batch": None if np.isnan(peak) else [f"{one:.0f}" for one in peaks],
        }

    def _rare_average_precision(self, truth: Labels) -> float | None:
        """Return the mean average precision of the classes that are rare and came at least once."""
        if not self.rare:
            return None
        scores = np.concatenate(self.rare_scores)
        found = [
            float(average_precision_score(truth == name, scores[:, j]))
            for j, name in enumerate(self.rare)
            if (truth == name).any()
        ]
        return float(np.mean(found)) if found else None


def _kappa(accuracy: float, rule: float) -> float | None:
    """Return how much of a rule's errors are gone: 1 for none left, 0 for as many, None where the rule makes none.

    Examples
    --------
    >>> round(_kappa(0.9, 0.8), 3), _kappa(0.9, 1.0)
    (0.5, None)
    """
    return None if rule >= 1 else (accuracy - rule) / (1 - rule)
