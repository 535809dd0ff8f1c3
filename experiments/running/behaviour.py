"""Behaviour fingerprints: what an ADF method does on a small stream, so that a page can tell whether it is still so.

They cover results and not code: a change that moves no accuracy, verdict or leaf leaves them as they are. Where
batches are predicted before they are learnt, which evaluates probabilities, the log loss has one of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from adforest.adaptation import FORESTS
from experiments.running.measures import accuracy, describe_forests, log_loss
from experiments.specs.methods import ADF, TUNING_SETTING, make_model
from experiments.specs.run_spec import PREQUENTIAL, MethodSpec, RunSpec, StreamSpec
from experiments.specs.sources import open_stream

STREAM = StreamSpec.of("house", "34", n_samples=5_000)
SEED = 0
DIGITS = 6  # of accuracies; the rest may be rounding of a platform
LENGTH = 10  # hexadecimal digits
PROBABILITIES = " probabilities"  # what follows the label of a method


def fingerprint_methods(runs: Iterable[RunSpec]) -> dict[str, str]:
    """Return the behaviour fingerprints of the ADF methods of some runs by label, those of probabilities too."""
    runs = list(runs)
    evaluated = find_adf_methods(run for run in runs if run.protocol == PREQUENTIAL)
    return {label: fingerprint_behaviour(method) for label, method in find_adf_methods(runs).items()} | {
        f"{label}{PROBABILITIES}": fingerprint_probabilities(method) for label, method in evaluated.items()
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


def _digest(said: list[Any]) -> str:
    """Return the fingerprint of plain data."""
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:LENGTH]


def _without_numbers(method: MethodSpec) -> MethodSpec:
    """Return a method without those settings that are numbers, or constants of the adaptation."""
    kept = {name: value for name, value in method.settings if isinstance(value, str) and name != TUNING_SETTING}
    return MethodSpec.of(method.name, **kept)
