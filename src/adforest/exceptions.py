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
    """Raised if a parameter has an invalid value, or one that cannot change between batches."""


class InputError(AdforestError):
    """Raised if a table, labels or weights cannot be learnt or predicted. The model stays as it was."""


class InputTypeError(InputError, TypeError):
    """Raised if a column or the labels hold other values, or an argument is of another type, than expected."""


class MissingSamplesError(AdforestError):
    """Raised if a model that was saved without its samples is to learn another batch."""


class ModelFileError(AdforestError):
    """Raised if a file is not a model that this version can read, or if a model cannot be written to a file."""


class AdforestWarning(UserWarning):
    """Base class of the warnings of this library."""


class InputWarning(AdforestWarning):
    """Issued for a table or labels that can be learnt, but probably are not what was meant."""


class ParameterWarning(AdforestWarning):
    """Issued for a parameter that has no effect yet."""


class MemberWarning(AdforestWarning):
    """Issued if a member of `adforest.NextBatchVotingClassifier` failed to learn or predict and is left out."""


def warn_caller(message: str, category: type[AdforestWarning] = InputWarning) -> None:
    """Issue a warning on behalf of the first caller outside this library, however deep in it this is called."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
