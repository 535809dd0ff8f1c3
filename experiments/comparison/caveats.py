"""Caveats that several studies share."""

from __future__ import annotations

from experiments.comparison.comparison import join_words
from experiments.specs.options import Options
from experiments.specs.selections import NOT_QUICK, RESTRICTED_TO

WHY_PUBLISHED_DIFFER = (
    "Published figures are from other draws of the batches by the same protocol and from other implementations (MOA, "
    "Weka), so they are set beside ours, never mixed in.",
    "The paper's stream learners (HT, HAT, OzaBag, LeveragingBag, ARF) were fed class numbers in an order that changes "
    "from batch file to batch file, which permutes their labels; here all methods are fed class values. Their "
    "published figures measure that, not the methods.",
)


def caveat_one_seed(options: Options) -> list[str]:
    """Return a caveat if there is only one seed."""
    if options.n_seeds > 1:
        return []
    return ["One draw of the batches and one seed: run with --seeds 5 before trusting a gap of a point."]


def caveat_quick(options: Options, meant: str) -> list[str]:
    """Return a caveat if the run is quick, with the streams that a small House stands in for."""
    if not options.quick:
        return []
    return [f"Quick: a small House stream stands in for {meant}; it shows that everything runs, and little else."]


def caveat_methods_left_out(options: Options) -> list[str]:
    """Return which methods are left out of the 34-batch streams, and why."""
    if options.quick:
        return [f"{join_words(NOT_QUICK)} of River are left out of quick runs: they take a minute each."]
    where = join_words([f"{name} on {join_words(titles)}" for name, titles in RESTRICTED_TO.items()])
    return [f"River's ensembles learn some hundred records a second, so that not all run everywhere: {where} only."]
