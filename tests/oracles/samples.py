"""Blocks of samples that kernels and oracles are both asked about."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from adforest.forest import Samples


class Block(NamedTuple):
    """Samples as kernels take them."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    n_categories: np.ndarray
    n_classes: int

    @property
    def samples(self):
        """The same as growers take them."""
        return Samples(self.X, self.y, np.arange(len(self.y)), self.n_categories, self.n_classes)


def block(X, y, *, weights=None, n_categories=None, n_classes=None):
    """Return arrays of the kernels' types from whatever a test finds convenient."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    X = X[:, None] if X.ndim == 1 else X
    y = np.asarray(y, dtype=np.int32)
    weights = np.ones(len(y)) if weights is None else weights
    n_categories = np.zeros(X.shape[1]) if n_categories is None else n_categories
    n_classes = int(y.max(initial=0)) + 1 if n_classes is None else n_classes
    return Block(X, y, np.asarray(weights, dtype=np.uint16), np.asarray(n_categories, dtype=np.int32), n_classes)


# Few distinct values on purpose: ties are where a scan goes wrong.
FEW_VALUES = (-np.inf, -2.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, np.nextafter(1.0, 2.0), 1e308, np.inf, np.nan)


@st.composite
def blocks(draw, max_samples=40, max_features=4, max_classes=4, categories=(0, 0, 1, 3, 7, 70), max_weight=255):
    """Draw a block with ties, missing and infinite values; categories lists what n_categories is drawn from."""
    n = draw(st.integers(1, max_samples))
    n_categories = draw(st.lists(st.sampled_from(categories), min_size=1, max_size=max_features))
    columns = [
        draw(st.lists(st.sampled_from([*range(k), np.nan] if k else FEW_VALUES), min_size=n, max_size=n))
        for k in n_categories
    ]
    n_classes = draw(st.integers(1, max_classes))
    y = draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(1, max_weight), min_size=n, max_size=n))
    X = np.array(columns, dtype=np.float64).T
    return block(X, y, weights=weights, n_categories=n_categories, n_classes=n_classes)


def random_block(n, *, n_categories=(0, 0, 0), n_classes=3, missing=0.1, distinct=None, seed=0):
    """Return a larger block in which attributes say something about the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    columns = [
        (y * 3 + rng.integers(k, size=n) // 2) % k if k else rng.normal(size=n) + y % 2 * rng.integers(3)
        for k in n_categories
    ]
    X = np.array(columns, dtype=np.float64).T
    if distinct is not None:
        X = np.where(np.array(n_categories) > 0, X, np.round(X * distinct) / distinct)
    X[rng.random(X.shape) < missing] = np.nan
    return block(X, y, weights=rng.integers(1, 5, size=n), n_categories=n_categories, n_classes=n_classes)
