"""The studies by name."""

from __future__ import annotations

from typing import Protocol

from experiments.comparison.results import Results
from experiments.reporting.chapter import Chapter
from experiments.specs.options import Options
from experiments.specs.run_spec import RunSpec
from experiments.studies import (
    ablation,
    accuracy,
    beyond,
    bigdata,
    complexity,
    cost,
    datasets,
    drift,
    forests,
    ldpa,
    nemenyi,
    online,
    parameters,
    probabilities,
    readings,
    rearranged,
    retention,
    rivals,
    signtest,
    splitting,
    streams,
    thresholds,
    timing,
    window,
)


class Study(Protocol):
    """What a module of `experiments.studies` offers."""

    SUMMARY: str

    def plan(self, options: Options) -> list[RunSpec]:
        """Return the runs of the study."""

    def report(self, results: Results, options: Options) -> Chapter:
        """Return the chapter of the study."""


STUDIES: dict[str, Study] = {
    "datasets": datasets,
    "accuracy": accuracy,
    "time": timing,
    "ldpa": ldpa,
    "rearranged": rearranged,
    "bigdata": bigdata,
    "signtest": signtest,
    "nemenyi": nemenyi,
    "readings": readings,
    "rivals": rivals,
    "retention": retention,
    "cost": cost,
    "complexity": complexity,
    "thresholds": thresholds,
    "forests": forests,
    "window": window,
    "splitting": splitting,
    "drift": drift,
    "streams": streams,
    "probabilities": probabilities,
    "online": online,
    "parameters": parameters,
    "ablation": ablation,
    "beyond": beyond,
}

# The chapters of docs/results.md with their seeds, in the order in which `make results` makes them: those that are read
# most first. Accuracies are means over three seeds, except where a seed takes an hour.
RESULTS = {
    "streams": 1,
    "accuracy": 3,
    "time": 3,
    "ldpa": 3,
    "signtest": 3,
    "nemenyi": 3,
    "rearranged": 3,
    "bigdata": 3,
    "readings": 3,
    "online": 1,
    "parameters": 1,
    "forests": 3,
    "window": 3,
    "splitting": 3,
    "datasets": 3,
    "complexity": 1,
    "thresholds": 1,
    "beyond": 3,
    "drift": 1,
    "probabilities": 1,
    "ablation": 2,
    "rivals": 1,
    "retention": 1,
    "cost": 1,
}
