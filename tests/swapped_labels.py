"""Streams in which labels are swapped for some batches, and what is said of these."""

from adforest.adaptation.tuning import TUNING
from oracles import accuracy, make_settings, swapping_stream, two_clusters

CALM = "." * (TUNING.min_observed + 3)  # batches before the out-of-bag bias is known: 1 builds, 2 claims


def follow(pattern, n=200, **changes):
    """Return the states and reports along a stream; 's' swaps the labels of a batch, '.' does not."""
    return swapping_stream(pattern, make_settings(**changes), n)


def verdicts(reports):
    """Return one letter a batch: none, temporary or sustained."""
    return "".join(report.drift[0] for report in reports)


def accuracies(pattern, states):
    """Return how well each state answers for samples like those of its last batch."""
    return [accuracy(state, *two_clusters(99, sign == "s")) for state, sign in zip(states, pattern, strict=True)]
