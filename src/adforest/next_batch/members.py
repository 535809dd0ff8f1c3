"""A member of the vote: a classifier that learns every batch, or is refitted from time to time."""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from adforest.base import BatchClassifier
from adforest.encoding import LabelTable
from adforest.forest.types import Float64Array, Int32Array, Int64Array
from adforest.next_batch.member_input import NUMBERS, TABLE, MemberInput, Samples, takes_weights, tell_categories


class LabelledSamples(NamedTuple):
    """Samples with their classes by code; weights None are all 1."""

    samples: Samples
    y: Int32Array
    weight: Float64Array | None
    labels: LabelTable


ANSWER, LEARN, CLASSES = "answer", "learn", "classes"  # why members are left out: they fail at it, or lack some


class LeftOut(NamedTuple):
    """Why a member does not vote."""

    kind: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A classifier in the vote.

    Attributes
    ----------
    name : str
    is_refitted : bool
        Whether it is refitted on a sample of the stream, since it has no `partial_fit`.
    estimator : object or None
        The last fit, None if that failed.
    classes : intp
        Codes of its classes, in the order of its probabilities.
    input : MemberInput
        Conversion of samples for it.
    fitted_after : int
        Number of samples of the stream when it was last fitted.
    is_judged : bool
        Whether it, or an earlier fit of it, has predicted a batch.
    left_out : LeftOut or None
        Why it does not vote; None if it does.
    warned_of : frozenset of str
        Kinds of reasons that were warned about.
    """

    name: str
    is_refitted: bool
    estimator: Any = None
    classes: Int64Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    input: MemberInput = field(default_factory=lambda: MemberInput(TABLE))
    fitted_after: int = 0
    is_judged: bool = False
    left_out: LeftOut | None = None
    warned_of: frozenset[str] = frozenset()

    @property
    def may_answer(self) -> bool:
        """Whether it votes, or would if it had predicted the last batch."""
        return self.left_out is None or self.left_out.kind == ANSWER

    def proba(self, samples: Samples, n_classes: int) -> Float64Array:
        """Return the class probabilities of samples, columns by class code; raises whatever the classifier raises."""
        proba = np.zeros((len(samples.matrix), n_classes))
        if len(self.classes) == 1:  # some return two probabilities for one class
            proba[:, self.classes] = 1.0
            return proba
        X = self.input.make(samples)
        if hasattr(self.estimator, "predict_proba"):
            given = np.asarray(self.estimator.predict_proba(X), dtype=np.float64)
        else:  # without probabilities, as with LinearSVC, the predicted class has 1
            given = (np.asarray(self.estimator.predict(X))[:, np.newaxis] == self.estimator.classes_).astype(np.float64)
        expected = len(samples.matrix), len(self.classes)
        if given.shape != expected or not np.isfinite(given).all():
            raise ValueError(f"its probabilities are of shape {given.shape}; expected finite ones of shape {expected}")
        proba[:, self.classes] = given
        return proba

    def after_fit(self, template: Any, seed: int, labelled: LabelledSamples) -> Member:
        """Return the refitted member; raises whatever the classifier raises.

        As in scikit-learn's VotingClassifier it learns classes 0, 1, 2 ..., since some classifiers take no others.
        """
        samples, y, weight, labels = labelled
        present = labels.order[np.isin(labels.order, y)]
        numbers = np.empty(len(labels.order), dtype=np.int64)
        numbers[present] = np.arange(len(present))
        estimator = _prepared(template, seed, labels.by_arrival[present].tolist())
        member_input = MemberInput.of(estimator, samples)
        X = member_input.make(samples)
        options: dict[str, Any] = {}
        if member_input.form == NUMBERS:
            X, options = tell_categories(estimator, X, samples.encoder.is_categorical)
        if weight is not None and takes_weights(estimator.fit):
            options["sample_weight"] = weight
        estimator.fit(X, numbers[y], **options)
        return replace(self, estimator=estimator, classes=present, input=member_input, left_out=self._still_left_out)

    def after_partial_fit(self, template: Any, seed: int, labelled: LabelledSamples) -> Member:
        """Return the member after it learnt more samples; this one does not change. Raises as its classifier."""
        samples, y, weight, labels = labelled
        if self.estimator is None:
            estimator = _prepared(template, seed)
            member_input = MemberInput.of(estimator, samples)
        else:
            # The fitted state of our own classifiers is immutable, so that a shallow copy is enough.
            is_ours = isinstance(self.estimator, BatchClassifier)
            estimator, member_input = copy(self.estimator) if is_ours else deepcopy(self.estimator), self.input
        options: dict[str, Any] = {"classes": labels.classes}
        if weight is not None and takes_weights(estimator.partial_fit):
            options["sample_weight"] = weight
        estimator.partial_fit(member_input.make(samples), labels.by_arrival[y], **options)
        classes = labels.codes_of(estimator.classes_).astype(np.int64)
        return replace(self, estimator=estimator, classes=classes, input=member_input, left_out=self._still_left_out)

    @property
    def _still_left_out(self) -> LeftOut | None:
        """Why it is left out after it learnt: whether it can predict again is known with the next batch."""
        return self.left_out if self.left_out is not None and self.left_out.kind == ANSWER else None


def _prepared(template: Any, seed: int, numbered: list[Any] | None = None) -> Any:
    """Return an unfitted copy of a classifier, with seeds where it has none.

    If it learns encoded classes, their class values are given, and dicts of class weights are translated.
    """
    estimator = clone(template)
    changes: dict[str, Any] = {}
    for name, value in estimator.get_params(deep=True).items():
        last = name.rpartition("__")[2]
        if last == "random_state" and value is None:
            changes[name] = seed
        elif last == "class_weight" and isinstance(value, dict) and numbered is not None:
            changes[name] = {number: value[klass] for number, klass in enumerate(numbered) if klass in value}
    return estimator.set_params(**changes) if changes else estimator
