"""Errors and warnings of this library, in one tree: all errors are ValueErrors, all warnings UserWarnings.

Where a value is missing or of the wrong kind in scikit-learn's own sense, its words and classes are used:
`sklearn.exceptions.NotFittedError` before the first batch, for example.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

__all__ = [
    "AdforestError",
    "AdforestWarning",
    "InputError",
    "InputTypeError",
    "InputWarning",
    "MemberWarning",
    "MissingSamplesError",
    "ModelFileError",
    "ParameterError",
    "ParameterWarning",
]

_PACKAGE = str(Path(__file__).parent) + os.sep


class AdforestError(ValueError):
    """Base class of the errors of this library."""


class ParameterError(AdforestError):
    """A parameter has a value that it cannot have, or that cannot change between batches."""


class InputError(AdforestError):
    """A table, labels or weights cannot be learnt or answered. The model is left as it was."""


class InputTypeError(InputError, TypeError):
    """A column, or the labels, hold another kind of values than expected."""


class MissingSamplesError(AdforestError):
    """A model that was saved without its samples cannot learn more batches."""


class ModelFileError(AdforestError):
    """A file is no model that this version can read, or a model cannot be written to a file."""


class AdforestWarning(UserWarning):
    """Base class of the warnings of this library."""


class InputWarning(AdforestWarning):
    """A table or labels can be learnt, but look as if something else was meant."""


class ParameterWarning(AdforestWarning):
    """A parameter has no effect yet."""


class MemberWarning(AdforestWarning):
    """A member of `adforest.NextBatchVotingClassifier` could not learn or answer and is left out."""


def warn_caller(message: str, category: type[AdforestWarning] = InputWarning) -> None:
    """Issue a warning on behalf of the first caller outside this library, however deep in it this is called."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
