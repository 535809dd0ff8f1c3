"""Behaviour fingerprints: what an ADF method does on a small stream, so that a page can tell whether it is still so.

They cover results and not code: a change that moves no accuracy, verdict or leaf leaves them as they are. A method has
one on numbers and one on mixed columns: text, missing values, a class and a category that come later, and a memory that
is too small. Where batches are predicted before they are learnt, which evaluates probabilities, the log loss has one of
its own; where samples are learnt one by one, small batches have.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from adforest.adaptation import FORESTS
from adforest.forest.types import AnyArray
from experiments.running.measures import accuracy, describe_forests, log_loss
from experiments.specs.methods import ADF, TUNING_SETTING, make_model
from experiments.specs.run_spec import ONLINE, PREQUENTIAL, MethodSpec, RunSpec, StreamSpec
from experiments.specs.sources import Stream, open_stream

STREAM = StreamSpec.of("house", "34", n_samples=5_000)
SEED = 0
DIGITS = 6  # of accuracies; the rest may be rounding of a platform
LENGTH = 10  # hexadecimal digits
PROBABILITIES, MIXED, SMALL = " probabilities", " mixed columns", " small batches"  # what follows a method's label
MIXED_SIZES = (120,) * 12
SMALL_SIZES = (40, *(1,) * 200, *(10,) * 20)
MEMORY_SIZE = 200  # samples, of more than a thousand


def fingerprint_methods(runs: Iterable[RunSpec]) -> dict[str, str]:
    """Return the behaviour fingerprints of the ADF methods of some runs by label and by what they are of."""
    runs = list(runs)
    methods = find_adf_methods(runs)
    evaluated = find_adf_methods(run for run in runs if run.protocol == PREQUENTIAL)
    by_sample = find_adf_methods(run for run in runs if run.protocol == ONLINE)
    return {
        **{label: fingerprint_behaviour(method) for label, method in methods.items()},
        **{f"{label}{PROBABILITIES}": fingerprint_probabilities(method) for label, method in evaluated.items()},
        **{
            f"{label}{MIXED}{PROBABILITIES if label in evaluated else ''}": fingerprint_mixed(
                method, has_log_loss=label in evaluated
            )
            for label, method in methods.items()
        },
        **{
            f"{label}{SMALL}": fingerprint_mixed(method, SMALL_SIZES, has_log_loss=True)
            for label, method in by_sample.items()
        },
    }


def find_adf_methods(runs: Iterable[RunSpec]) -> dict[str, MethodSpec]:
    """Return the ADF methods of some runs that have a fingerprint, by label.

    Settings that are numbers do not count, nor do constants of the adaptation, so that a grid has one fingerprint:
    numbers tune code, words choose it.
    """
    methods = (_without_numbers(run.method) for run in runs if run.method.name in ADF)
    return {method.label: method for method in methods}


@cache
def fingerprint_behaviour(method: MethodSpec) -> str:
    """Return the fingerprint of what an ADF method does on the small stream."""
    stream = open_stream(STREAM, SEED, None)
    model = make_model(method, stream, SEED)
    said = []
    for batch in stream.batches:
        model.partial_fit(batch.X_train, batch.y_train)
        forests = describe_forests(model)
        leaves = [forests[f"leaves_{name}"] for name in FORESTS]
        said.append([round(accuracy(model, batch.X_test, batch.y_test), DIGITS), forests["drift"], leaves])
    return _digest(said)


@cache
def fingerprint_probabilities(method: MethodSpec) -> str:
    """Return the fingerprint of the log loss that an ADF method has on the small stream."""
    stream = open_stream(STREAM, SEED, None)
    model = make_model(method, stream, SEED)
    said = []
    for batch in stream.batches:
        model.partial_fit(batch.X_train, batch.y_train)
        said.append(round(log_loss(model.predict_proba(batch.X_test), model.classes_, batch.y_test), DIGITS))
    return _digest(said)


@cache
def fingerprint_mixed(method: MethodSpec, sizes: tuple[int, ...] = MIXED_SIZES, *, has_log_loss: bool = False) -> str:
    """Return the fingerprint of what an ADF method does on batches of mixed columns, predicted before they are learnt.

    Parameters
    ----------
    method : MethodSpec
    sizes : tuple of int
        Samples of each batch.
    has_log_loss : bool, default=False
        Whether the log loss counts, besides accuracy, drift and leaves.

    Returns
    -------
    str
    """
    model = make_model(method, Stream((), (0, 0, 4, 60), sum(sizes)), SEED)
    if "memory_size" in model.get_params():
        model.set_params(memory_size=MEMORY_SIZE)
    said: list[Any] = []
    for number, (X, y) in enumerate(draw_mixed(sizes)):
        if number:
            said.append(round(accuracy(model, X, y), DIGITS))
        if number and has_log_loss:
            said.append(round(log_loss(model.predict_proba(X), model.classes_, y), DIGITS))
        model.partial_fit(X, y)
        forests = describe_forests(model)
        said += [forests["drift"], [forests[f"leaves_{name}"] for name in FORESTS]]
    return _digest(said)


def draw_mixed(sizes: tuple[int, ...]) -> Iterator[tuple[AnyArray, AnyArray]]:
    """Yield batches of two numbers and two texts with gaps, labels in runs of ten.

    The third class and the fourth kind begin after a third of the samples, the rules change after two thirds.

    Parameters
    ----------
    sizes : tuple of int
        Samples of each batch. The samples are the same however they are cut.

    Yields
    ------
    tuple of ndarray
        Samples as objects, and their classes as text.
    """
    n = sum(sizes)
    rng = np.random.default_rng(SEED)
    place = np.arange(n)
    y = np.repeat(rng.integers(0, 2, n // 10 + 1), 10)[:n]
    y[(place > n // 3) & (rng.random(n) < 0.25)] = 2
    rule = np.where(place < 2 * n // 3, y, (y + 1) % 3)
    X = np.empty((n, 4), dtype=object)
    X[:, 0] = rng.normal(size=n) + 1.5 * rule
    X[:, 1] = rng.normal(size=n) + 2.0 * (rule == 1)
    X[:, 2] = np.array(["red", "blue", "green"])[rng.integers(0, 3, n)]
    X[(rule == 2) & (rng.random(n) < 0.4), 2] = "violet"
    X[:, 3] = [f"name {number}" for number in rng.integers(0, 60, n)]
    X[rng.random((n, 4)) < 0.05] = None
    classes = np.array(["m", "z", "a"])[y]
    start = 0
    for size in sizes:
        yield X[start : start + size], classes[start : start + size]
        start += size


def _digest(said: list[Any]) -> str:
    """Return the fingerprint of plain data."""
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:LENGTH]


def _without_numbers(method: MethodSpec) -> MethodSpec:
    """Return a method without those settings that are numbers, or constants of the adaptation."""
    kept = {name: value for name, value in method.settings if isinstance(value, str) and name != TUNING_SETTING}
    return MethodSpec.of(method.name, **kept)
