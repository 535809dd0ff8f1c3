"""Checks of parameters: a table of rules for each class, and errors that name the value and the valid ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from numbers import Integral, Real
from typing import Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
from sklearn.utils import check_random_state

from adforest.exceptions import Advice, ParameterError

# Text that parameters take; the rules below are made of these.
AnswerFor: TypeAlias = Literal["next_batch", "everything"]
BaseForest: TypeAlias = Literal["hoeffding", "random_forest", "sysfor"]
ColumnChanges: TypeAlias = Literal["error", "allow"]
Criterion: TypeAlias = Literal["auto", "gini", "entropy", "log_loss"]
MaxFeatures: TypeAlias = Literal["default", "log2", "log2+1", "sqrt"]
Reading: TypeAlias = Literal["program", "text"]
Splitting: TypeAlias = Literal["entropy", "isat", "sat"]
TreeRepair: TypeAlias = Literal["reading", "any", "share"]
Perturbation: TypeAlias = Literal["reading", "batch", "merged", "predicted"]
Voting: TypeAlias = Literal["hard", "soft"]


class Rule(Protocol):
    """Values that a parameter may have; its text completes "expected ..."."""

    def accepts(self, value: Any) -> bool:
        """Return whether a value is one of them."""
        ...


Rules: TypeAlias = dict[str, tuple[Rule, ...]]


@dataclass(frozen=True, slots=True)
class Integer:
    """Integers from low to high, both included; None sets no bound."""

    low: int | None = None
    high: int | None = None

    def accepts(self, value: Any) -> bool:
        """Return whether a value is an integer within the bounds."""
        is_integer = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
        return is_integer and (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def __str__(self) -> str:
        most = "" if self.high is None else f" and at most {self.high}"
        return "an int" if self.low is None else f"an int of at least {self.low}{most}"


@dataclass(frozen=True, slots=True)
class Amount:
    """Numbers between two bounds, which belong to them; the lower one does not if it is excluded."""

    low: float
    high: float = float("inf")
    is_low_excluded: bool = False

    def accepts(self, value: Any) -> bool:
        """Return whether a value is a number within the bounds."""
        is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
        return is_number and self.low <= value <= self.high and not (self.is_low_excluded and value == self.low)

    def __str__(self) -> str:
        if self.high == float("inf"):
            return f"a number of at least {self.low:g}"
        return f"a number {'above' if self.is_low_excluded else 'from'} {self.low:g} up to {self.high:g}"


@dataclass(frozen=True, slots=True, init=False)
class OneOf:
    """One of a few texts, or None where that is listed."""

    values: tuple[str | None, ...]

    def __init__(self, *values: str | None) -> None:
        object.__setattr__(self, "values", values)

    def accepts(self, value: Any) -> bool:
        """Return whether a value is listed."""
        return (value is None or isinstance(value, str)) and value in self.values

    def __str__(self) -> str:
        return " or ".join(map(repr, self.values))


def one_of(literal: Any, *more: str | None) -> OneOf:
    """Return the rule for the texts of a Literal type, and maybe None."""
    return OneOf(*get_args(literal), *more)


_UNITS = {  # bytes, by name in lower case
    f"{prefix}{infix}b": base**power
    for power, prefix in enumerate("kmgt", start=1)
    for infix, base in (("", 1000), ("i", 1024))
}
_BYTES = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?b)\s*", re.IGNORECASE)


def read_bytes(text: str) -> int | None:
    """Return how many bytes a text such as "200MB" or "1.5 GiB" means, None if it is no such text."""
    found = _BYTES.fullmatch(text)
    return None if found is None else int(float(found[1]) * _UNITS[found[2].lower()])


def _is_random_state(value: Any) -> bool:
    """Return whether scikit-learn can make a generator of a value."""
    if type(value) is int:  # to make one takes longer than all other checks
        return 0 <= value < 2**32
    try:
        check_random_state(value)
    except ValueError:
        return False
    return True


def _are_weights(value: Any) -> bool:
    """Return whether a value is a dict of finite weights above 0."""
    above = Amount(0, is_low_excluded=True)
    return isinstance(value, dict) and all(above.accepts(one) and np.isfinite(one) for one in value.values())


@dataclass(frozen=True, slots=True)
class Kind:
    """Values that pass a check."""

    expected: str
    accepts: Callable[[Any], bool]

    def __str__(self) -> str:
        return self.expected


ARRAY_LIKE = Kind(
    "a list or an array",
    lambda value: (
        not isinstance(value, str | bytes | dict) and (hasattr(value, "__len__") or hasattr(value, "__array__"))
    ),
)
BYTES = Kind(
    "a text such as '200MB' or '1.5GiB'", lambda value: isinstance(value, str) and read_bytes(value) is not None
)
FLAG = Kind("True or False", lambda value: isinstance(value, bool | np.bool_))
NAMES = Kind(
    "a list of names",
    lambda value: isinstance(value, list | tuple | set | frozenset) and all(isinstance(one, Hashable) for one in value),
)
RANDOM_STATE = Kind("an int from 0 to 4294967295, a numpy RandomState or None", _is_random_state)
TIME_SPAN = Kind(
    "a timedelta that is not negative", lambda value: isinstance(value, timedelta) and value >= timedelta(0)
)
WEIGHTS_BY_CLASS = Kind("a dict of class values to weights above 0", _are_weights)
NONE = OneOf(None)
AT_LEAST_ONE = Integer(1, 2**31 - 1)  # what kernels count by
FRACTION = Amount(0, 1)
COMMON: Rules = {  # parameters that several classifiers have
    "n_estimators": (AT_LEAST_ONE,),
    "window": (AT_LEAST_ONE, NONE),
    "min_samples_leaf": (AT_LEAST_ONE,),
    "max_features": (
        AT_LEAST_ONE,
        Amount(0, 1, is_low_excluded=True),
        one_of(MaxFeatures, None),
    ),
    "categorical_features": (ARRAY_LIKE, OneOf("from_dtype", None)),
    "n_jobs": (Integer(), NONE),
    "random_state": (RANDOM_STATE,),
}


def check_parameters(estimator: Any, rules: Rules) -> None:
    """Raise `ParameterError` if a parameter of an estimator has a value that its rules do not accept."""
    kind: Any = type(estimator)
    for name in _parameter_names(kind):
        value = getattr(estimator, name)
        if not any(rule.accepts(value) for rule in rules[name]):
            expected = ", or ".join(map(str, rules[name]))
            raise ParameterError(
                f"{name} of {type(estimator).__name__} is {value!r}; expected {expected}.",
                Advice(f"Set it with set_params({{{name}}}).", {name: ...}, shell=""),
            )


@cache
def _parameter_names(kind: Any) -> tuple[str, ...]:
    """Return the names of the parameters of a class of estimators."""
    return tuple(kind._get_param_names())
