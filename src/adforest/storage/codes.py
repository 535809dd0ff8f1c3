"""Codes of categories in a model file."""

from __future__ import annotations

import numpy as np

from adforest.forest.types import Float64Array, Int32Array
from adforest.storage.errors import ModelFileError


def check_codes(X: Float64Array, n_codes: Int32Array, what: str) -> None:
    """Raise if a column that is or may become categorical holds other than its codes, by which kernels count."""
    for column in np.flatnonzero(n_codes >= 0):
        codes = X[:, column]
        known = codes[~np.isnan(codes)]
        if len(known) and ((known < 0) | (known >= n_codes[column]) | (known != np.floor(known))).any():
            raise ModelFileError(f"{what} holds codes that column {column} has not")
