"""The constants of the adaptation: each is documented, each is swept, and each changes what a model does."""

import ast
import inspect
from dataclasses import fields, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import adforest.adaptation
from adforest import AdaptiveDecisionForestClassifier
from adforest.adaptation.tuning import SWEEPS, TUNING, Tuning

NAMES = [one.name for one in fields(Tuning)]
DECISIONS = Path(__file__).parents[2] / "docs" / "decisions"
ADAPTATION = Path(adforest.adaptation.__file__).parent
# Bounds of memory and time, and numbers that name something: they decide about no forest.
LIMITS = {
    *("MAX_KEPT", "MAX_PAIRS", "MAX_PROBABILITIES", "PART", "SHIFT"),
    *("SHARP", "PLAIN", "UNIFORM", "SMALLEST"),
    *("N_CONTEXTS", "N_MIXES", "N_VARIANTS", "N_VOTERS"),
    *("NEAR", "FAR", "NEW_CLASS", "RARE_CLASS", "FOREST_VOTE", "NEIGHBOURS", "FREQUENCIES"),
    *("BUILD", "REPAIR", "RENEW", "BUILD_NEWEST", "DRAW"),
}


@pytest.mark.parametrize("one", fields(Tuning), ids=NAMES)
def test_each_constant_has_a_unit_a_decision_and_a_sweep(one):
    assert one.metadata["unit"]
    assert list(DECISIONS.glob(f"{one.metadata['decision']:04}-*.md"))
    assert SWEEPS[one.name]
    assert one.default not in SWEEPS[one.name]
    assert f"\n{one.name} : " in inspect.cleandoc(Tuning.__doc__)  # indented before Python 3.13


def numbers_of(file):
    """Return the names of a module to which it assigns numbers."""
    assignments = [node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.Assign)]
    for node in assignments:
        values = [one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant)]
        if any(isinstance(value, int | float) for value in values):
            yield from (one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name))


def test_no_other_number_is_a_constant_of_the_adaptation():
    found = {name for file in ADAPTATION.glob("*.py") for name in numbers_of(file)}
    assert found <= LIMITS, f"{sorted(found - LIMITS)}: make them fields of Tuning"


# How a constant is changed where a run of a few batches does not show the values of its sweep, and what else is set.
VALUES = {
    "clear_gap": 1.0,
    "clear_deviations": 100.0,
    "min_observed": 1000,
    "min_tested": 100_000,
    "max_observed": 1,
    "max_one_class": 0.2,
    "min_outside": 0.9,
    "rare_factor": 10_000,
    "max_judged": 100,
    "max_counted": 20,
    "steepness": 0,
    "min_expected": 1000,
    "clear_log_ratio": 300.0,
    "min_mean_weight": 3.0,
    "max_mean_weight": 1.5,
}
SETTINGS = {
    "memory_exponent": {"memory_size": 200},
    "sample_slack": {"max_samples": 1000, "size": 1_050},
    "min_outside": {"splitting": "isat"},
    "min_mean_weight": {"class_weight": "balanced"},
    "max_mean_weight": {"class_weight": {0: 9.0, 1: 8.0, 2: 7.0, 3: 8.0}},
    "window_growth": {"size": 110, "first": 3_000},
    **{
        name: {"size": 10, "first": 600}
        for name in ("full_switch", "small_fraction", "n_labels", "n_neighbours", "fading", "own_weight")
    },
}


@cache
def stream(first, size, n=3_600):
    """Return batches: rules of three classes that change in the middle, a fourth class that is rare and late."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    X[n // 2 :, 3] += 1.5
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int) + (X[:, 1] > 1)
    y[n // 2 :] = (y[n // 2 :] + 1) % 3
    y[(X[:, 2] > 2.2) | (np.arange(n) < 20) & (np.arange(n) % 7 == 0)] = 3
    starts = [0, *range(first, n, size), n]
    return [(X[a:b], y[a:b]) for a, b in pairwise(starts) if b - a > 1]


def answers(tuning, size=300, first=300, **settings):
    """Return what a model answers after each batch, and says of it."""
    model = AdaptiveDecisionForestClassifier(n_estimators=4, random_state=0, **settings)
    model._tuning = tuning
    probes, said = stream(300, 300)[-1][0][:60], []
    for X, y in stream(first, size)[: 40 if size < 100 else None]:
        model.partial_fit(X, y)
        report = model.history_[-1]
        said.append([model.predict_proba(probes).tobytes(), report.drift, sorted(report.n_leaves.items())])
    return said


usual_answers = cache(lambda: answers(TUNING))


@pytest.mark.parametrize("name", NAMES)
def test_each_constant_changes_what_a_model_does(name):
    before = answers(TUNING, **SETTINGS[name]) if name in SETTINGS else usual_answers()
    changed = replace(TUNING, **{name: VALUES.get(name, SWEEPS[name][0])})
    assert answers(changed, **SETTINGS.get(name, {})) != before
