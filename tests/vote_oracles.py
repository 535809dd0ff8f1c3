"""Streams with classes that crowd each other, and the proba of forests by hand."""

import numpy as np

from adforest.adaptation.voting import shrinkage_of
from oracles import learn, new_state


def crowded(number, n_classes, n=400):
    """Return classes on a line, each half covered by its neighbours."""
    rng = np.random.default_rng(number)
    y = rng.integers(0, n_classes, n).astype(np.int32)
    return rng.normal(size=(n, 2)) + np.column_stack([1.5 * y, np.zeros(n)]), y


def with_new_class(n_batches, first=7, **changes):
    """Return the state after some batches, of which the seventh and all later ones bring a third class."""
    state = new_state(**changes)
    for number in range(1, n_batches + 1):
        state, _ = learn(state, *crowded(number, 2 + (number >= first)), n_classes=3)
    return state


def shares_by_hand(state, X, n_classes):
    """Return the proba of each forest that has a vote, mixed from those of every strength by itself."""
    proba = {}
    for name, forest in state.voting.items():
        strengths, mix = shrinkage_of(state.evidence, name)
        each = [forest.proba(X, n_classes, np.array([one]), np.ones(1)) for one in strengths]
        proba[name] = np.tensordot(mix, each, 1)
    return proba
