"""Errors and warnings of this library, in one tree: all errors are ValueErrors, all warnings UserWarnings.

Where a value is missing or of the wrong kind in scikit-learn's own sense, its words and classes are used:
`sklearn.exceptions.NotFittedError` before the first batch, for example.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = [
    "AdforestError",
    "AdforestWarning",
    "Advice",
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


@dataclass(frozen=True)
class Advice:
    """What to do about an error or a warning, worded for Python and, where that differs, for a command line.

    Attributes
    ----------
    text : str
        One or more sentences. Names in braces stand for parameters with their values, ``{refit}`` for a new model.
    settings : dict
        Values of the parameters; ``...`` is any value.
    words : dict of str to str
        Other text by its name in braces.
    shell : str, optional
        The text for a command line, where that is another one.

    Examples
    --------
    >>> print(Advice("Pass {drop} to leave it out, or {refit}.", {"drop": ["id"]}))
    Pass drop=['id'] to leave it out, or start a new model with fit().
    """

    text: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    shell: str | None = None

    def __str__(self) -> str:
        return self.say(self.text, _in_python, "start a new model with fit()")

    def say(self, text: str, setting: Callable[[str, Any], str], refit: str) -> str:
        """Return a text with its names replaced, parameters as a function writes them with their values."""
        settings = {name: setting(name, value) for name, value in self.settings.items()}
        return text.format_map({"refit": refit} | settings | {**self.words})


def _in_python(name: str, value: Any) -> str:
    """Return a parameter and its value as an argument of a call."""
    return f"{name}={'...' if value is ... else '[...]' if value == [...] else repr(value)}"


class _Advised:
    """Of an error or a warning: what is wrong, and what to do about it.

    Attributes
    ----------
    problem : str
        The message without the advice.
    advice : Advice or None
    """

    def __init__(self, problem: str = "", advice: Advice | None = None) -> None:
        super().__init__(problem if advice is None else f"{problem} {advice}")  # type: ignore[call-arg]
        self.problem = problem
        self.advice = advice


class AdforestError(_Advised, ValueError):
    """Base class of the errors of this library; `problem` and `advice` are what the message says."""


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


class AdforestWarning(_Advised, UserWarning):
    """Base class of the warnings of this library; `problem` and `advice` are what the message says."""


class InputWarning(AdforestWarning):
    """Issued for a table or labels that can be learnt, but probably are not what was meant."""


class ParameterWarning(AdforestWarning):
    """Issued for a parameter that has no effect yet."""


class MemberWarning(AdforestWarning):
    """Issued if a member of `adforest.NextBatchVotingClassifier` failed to learn or predict and is left out."""


def warn_caller(warning: str | AdforestWarning, category: type[AdforestWarning] = InputWarning) -> None:
    """Issue a warning on behalf of the first caller outside this library, however deep in it this is called."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(category(warning) if isinstance(warning, str) else warning, stacklevel=level)
