"""Who runs where: the streams and methods that the experiments on the paper's data sets share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

from experiments.specs.options import Options
from experiments.specs.run_spec import USUAL, MethodSpec, Part, StreamSpec

Streams = Mapping[str, StreamSpec]  # by the name a table gives them

DATASETS = {"LDPA": "ldpa", "UIFWA": "uifwa", "EB": "eb", "AReM": "arem", "Avila": "avila", "House": "house"}
QUICK_RECORDS = 5_000

ADF = ("ADF-R", "ADF-S", "ADF-H")
ADF_PAPER = ("ADF-R paper", "ADF-S paper", "ADF-H paper")
RIVALS_PAPER = ("RF batch paper", "SysFor batch paper", "CIRF paper")
REFITTED = ("RF batch", "RF last 3", "RF all", "SysFor batch", "SysFor last 3", "SysFor all")
INCREMENTAL = ("Add trees", "CIRF", "NCMC", "NCMF", "LightGBM")
RIVER = ("HT", "HAT", "ARF", "OzaBag", "LeveragingBag", "SRP", "AMF")
RIVALS = (*REFITTED, *INCREMENTAL, *RIVER)
EVERY = (*ADF, *ADF_PAPER, *RIVALS, *RIVALS_PAPER)

PEERS = ("RF all", "RF last 3", "SysFor all", "Add trees", "ARF")  # what a user would try first
SHOWN = (*ADF, *REFITTED, "Add trees", "CIRF", "LightGBM", "HT", "HAT", "ARF", "OzaBag")  # batch by batch

# River's ensembles learn some hundred records a second: these would take hours on all data sets. Others are left out
# where they are slow and tell little new, so that all of it takes less than an hour on two cores.
ONLY_ON = {
    "ARF": ("LDPA", "EB", "Avila", "House"),
    "HAT": ("LDPA", "Avila"),
    "LightGBM": ("EB", "AReM", "Avila"),
    "OzaBag": ("Avila",),
    "LeveragingBag": ("Avila",),
    "SRP": ("Avila",),
    "AMF": ("Avila",),
}
NOT_QUICK = ("LeveragingBag", "SRP", "AMF")


def streams_of(options: Options, protocol: str = "34", names: Iterable[str] = DATASETS) -> dict[str, StreamSpec]:
    """Return streams by the name of their data set; a small House stands in for all of them if it is to be quick.

    Parameters
    ----------
    options : Options
    protocol : str
    names : iterable of str
        Data sets, as the paper writes them.

    Returns
    -------
    dict of str to StreamSpec
    """
    if options.quick:
        return {"House": StreamSpec.of("house", protocol, n_records=QUICK_RECORDS)}
    return {name: StreamSpec(DATASETS[name], protocol) for name in names}


def plan_main(options: Options) -> list[Part]:
    """Return the parts of the 34-batch streams, on which most experiments rest."""
    streams = streams_of(options)
    return [part for title in streams for part in plan_on({title: streams[title]}, runs_on(title, options), options)]


def runs_on(title: str, options: Options) -> list[str]:
    """Return the methods that run on the 34-batch stream of a data set."""
    return [name for name in EVERY if options.quick or title in ONLY_ON.get(name, (title,))]


def plan_on(streams: Streams, names: Iterable[str], options: Options) -> list[Part]:
    """Return a part for each stream, method and seed; quick plans leave the slowest methods out.

    Parameters
    ----------
    streams : mapping of str to StreamSpec
    names : iterable of str
        Methods, as they come.
    options : Options

    Returns
    -------
    list of Part
    """
    methods = [MethodSpec(name) for name in names if not (options.quick and name in NOT_QUICK)]
    return plan_runs(streams, methods, options.seeds)


def plan_runs(streams: Streams, methods: Iterable[MethodSpec], seeds: Iterable[int], kind: str = USUAL) -> list[Part]:
    """Return a part for each stream, method and seed; a method that is given twice is run once."""
    pairs = list(product(dict.fromkeys(methods), seeds))
    return [Part(stream, method, seed, kind) for stream in streams.values() for method, seed in pairs]
