"""Estimates of the CPU seconds of a run, by which long runs start first and the progress bar advances."""

from __future__ import annotations

from experiments.specs.methods import ADF, PAPER_TREES
from experiments.specs.run_spec import ONLINE, RunSpec
from experiments.specs.sources import stream_size

# CPU seconds for 1,000 records of a data set in 34 batches, measured on LDPA (River's on Avila), tests included.
SECONDS_PER_1000 = {
    "ADF-R": 0.07,
    "ADF-S": 0.11,
    "ADF-H": 0.3,
    "ADF-R paper": 0.02,
    "ADF-S paper": 0.025,
    "ADF-H paper": 0.01,
    "RF batch": 0.01,
    "RF last 3": 0.02,
    "RF all": 0.15,
    "SysFor batch": 0.02,
    "SysFor last 3": 0.05,
    "SysFor all": 0.3,
    "Add trees": 0.015,
    "CIRF": 0.004,
    "RF batch paper": 0.01,
    "SysFor batch paper": 0.015,
    "CIRF paper": 0.004,
    "CIRF-S paper": 0.004,
    "NCMC": 0.002,
    "NCMF": 0.6,
    "LightGBM": 0.15,
    "LightGBM last 3": 1.0,
    "LightGBM all": 8.0,
    "HT (MOA)": 0.035,
    "HAT (MOA)": 0.03,
    "OzaBag (MOA)": 0.06,
    "LeveragingBag (MOA)": 0.1,
    "ARF (MOA)": 0.13,
    "SRP (MOA)": 0.13,
    "HT": 0.2,
    "HAT": 0.22,
    "ARF": 1.8,
    "OzaBag": 2.5,
    "LeveragingBag": 7.0,
    "SRP": 6.0,
    "AMF": 14.0,
    "KNN": 1.5,
    "No change": 0.01,
    "Majority": 0.01,
    "Markov": 0.01,
}
UNLISTED_SECONDS = 0.1
ONLINE_SECONDS = 1.5  # of ADF for 1,000 calls of partial_fit with a sample each


def estimate_seconds(run: RunSpec) -> float:
    """Return about how many CPU seconds a run takes.

    Parameters
    ----------
    run : RunSpec

    Returns
    -------
    float

    Examples
    --------
    >>> from experiments.specs.run_spec import MethodSpec, StreamSpec
    >>> ldpa = StreamSpec("ldpa")
    >>> estimate_seconds(RunSpec(ldpa, MethodSpec("ARF"))) > estimate_seconds(RunSpec(ldpa, MethodSpec("HT")))
    True
    """
    forest = int(dict(run.method.settings).get("n_estimators") or PAPER_TREES) / PAPER_TREES
    per_1000 = SECONDS_PER_1000.get(run.method.name, UNLISTED_SECONDS)
    if run.protocol == ONLINE and run.method.name in ADF:
        per_1000 += ONLINE_SECONDS / int(dict(run.stream.options)["batch_size"] or 1)
    return per_1000 * forest * stream_size(run.stream) / 1_000
