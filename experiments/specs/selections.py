"""Selections of streams and methods, and the runs they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

from experiments.specs.options import Options
from experiments.specs.run_spec import HOLDOUT, MethodSpec, RunSpec, StreamSpec

Streams = Mapping[str, StreamSpec]  # by the name a table gives them

DATASETS = {"LDPA": "ldpa", "UIFWA": "uifwa", "EB": "eb", "AReM": "arem", "Avila": "avila", "House": "house"}
QUICK_SAMPLES = 5_000

ADF = ("ADF-R", "ADF-S", "ADF-H")
ADF_PAPER = ("ADF-R paper", "ADF-S paper", "ADF-H paper")
REFITTED = ("RF batch", "RF last 3", "RF all", "SysFor batch", "SysFor last 3", "SysFor all")
INCREMENTAL = ("Add trees", "CIRF", "NCMC", "NCMF", "LightGBM")
RIVER = ("HT", "HAT", "ARF", "OzaBag", "LeveragingBag", "SRP", "AMF")
RIVALS = (*REFITTED, *INCREMENTAL, *RIVER)
ALL_METHODS = (*ADF, *ADF_PAPER, *RIVALS)  # of the wide comparison; the paper's columns are in comparison.published

COMMON_RIVALS = ("RF all", "RF last 3", "SysFor all", "Add trees", "ARF")  # what a user would try first

# River's ensembles learn some hundred records a second: these would take hours on all data sets. Others are left out
# where they are slow and tell little new, so that all of it takes less than an hour on two cores.
RESTRICTED_TO = {
    "ARF": ("LDPA", "EB", "Avila", "House"),
    "HAT": ("LDPA", "Avila"),
    "LightGBM": ("EB", "AReM", "Avila"),
    "OzaBag": ("Avila",),
    "LeveragingBag": ("Avila",),
    "SRP": ("Avila",),
    "AMF": ("Avila",),
}
NOT_QUICK = ("LeveragingBag", "SRP", "AMF")


def dataset_streams(options: Options, variant: str = "34", names: Iterable[str] = DATASETS) -> dict[str, StreamSpec]:
    """Return streams by the name of their data set; in quick runs a small House instead of all of them.

    Parameters
    ----------
    options : Options
    variant : str
    names : iterable of str
        Data sets, as the paper writes them.

    Returns
    -------
    dict of str to StreamSpec
    """
    if options.quick:
        return {"House": StreamSpec.of("house", variant, n_samples=QUICK_SAMPLES)}
    return {name: StreamSpec(DATASETS[name], variant) for name in names}


def batch_counts(options: Options, full: tuple[int, int], quick: tuple[int, int]) -> dict[str, int]:
    """Return a generated stream's number of batches and their size, given both for full runs and for quick ones."""
    n_batches, batch_size = quick if options.quick else full
    return {"n_batches": n_batches, "batch_size": batch_size}


def plan_34_batches(options: Options) -> list[RunSpec]:
    """Return the runs of all methods on the 34-batch streams."""
    streams = dataset_streams(options)
    return [
        run for title in streams for run in plan_methods({title: streams[title]}, methods_on(title, options), options)
    ]


def methods_on(title: str, options: Options) -> list[str]:
    """Return the methods that run on the 34-batch stream of a data set."""
    return [name for name in ALL_METHODS if options.quick or title in RESTRICTED_TO.get(name, (title,))]


def plan_methods(streams: Streams, names: Iterable[str], options: Options) -> list[RunSpec]:
    """Return a run for each stream, method and seed; quick plans leave the slowest methods out.

    Parameters
    ----------
    streams : mapping of str to StreamSpec
    names : iterable of str
        Methods, with their defaults.
    options : Options

    Returns
    -------
    list of RunSpec
    """
    methods = [MethodSpec(name) for name in names if not (options.quick and name in NOT_QUICK)]
    return plan_runs(streams, methods, options.seeds)


def plan_runs(
    streams: Streams, methods: Iterable[MethodSpec], seeds: Iterable[int], protocol: str = HOLDOUT
) -> list[RunSpec]:
    """Return a run for each stream, method and seed; a method that is given twice is run once."""
    pairs = list(product(dict.fromkeys(methods), seeds))
    return [RunSpec(stream, method, seed, protocol) for stream in streams.values() for method, seed in pairs]
