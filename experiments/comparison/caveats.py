"""Caveats that several studies share."""

from __future__ import annotations

from experiments.comparison.comparison import join_words
from experiments.comparison.published import METHOD_OF_COLUMN
from experiments.specs.methods import is_installed
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
    return ["One draw of the batches and one seed: run with --seeds 3 before trusting a gap of a point."]


def caveat_quick(options: Options, meant: str) -> list[str]:
    """Return a caveat if the run is quick, with the streams that a small House stands in for."""
    if not options.quick:
        return []
    return [f"Quick: a small House stream stands in for {meant}; it shows that everything runs, and little else."]


def caveats_as_published(options: Options, meant: str) -> list[str]:
    """Return why our figures and the published ones differ, and which columns are missing.

    Parameters
    ----------
    options : Options
    meant : str
        What the published figures are about, for which quick runs have a small House.

    Returns
    -------
    list of str
    """
    quick = [f"The published figures are those of {meant}: quick runs are of other data."] if options.quick else []
    return [*WHY_PUBLISHED_DIFFER, *quick, *_caveat_missing_columns(), *caveat_one_seed(options)]


def _caveat_missing_columns() -> list[str]:
    """Return which published columns have no figure of ours because a library is not installed, and how to get them."""
    missing = [column for column, method in METHOD_OF_COLUMN.items() if not is_installed(method)]
    if not missing:
        return []
    return [
        f"Not run here, because MOA is not installed: {join_words(missing)}. To run them: make .venv-capymoa/made, "
        "then .venv-capymoa/bin/python -m experiments with the same name and options."
    ]


def caveat_methods_left_out(options: Options) -> list[str]:
    """Return which methods are left out of the 34-batch streams, and why."""
    if options.quick:
        return [f"{join_words(NOT_QUICK)} of River are left out of quick runs: they take a minute each."]
    where = join_words([f"{name} on {join_words(titles)}" for name, titles in RESTRICTED_TO.items()])
    return [f"River's ensembles learn some hundred samples a second, so that not all run everywhere: {where} only."]
