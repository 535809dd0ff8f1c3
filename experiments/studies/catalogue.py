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
