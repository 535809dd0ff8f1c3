"""Labels in: class values become codes in order of arrival by batch, and every batch may have new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from adforest.encoding.columns import code_values, is_missing
from adforest.encoding.tables import ESTIMATOR_NAME
from adforest.exceptions import Advice, InputError, InputTypeError, InputWarning, warn_caller
from adforest.forest.types import Int32Array
from adforest.wording import counted

MIN_JUDGED, MANY_CLASSES = 20, 0.5  # more samples, and a larger fraction of them distinct: scikit-learn's limits


@dataclass(frozen=True, slots=True, eq=False)
class LabelTable:
    """The class values a model knows, in order of arrival; immutable, like the encoder of its tables.

    Values that arrive in one batch are sorted among themselves. A class keeps its code; `order` leads from sorted
    classes to codes.

    Attributes
    ----------
    by_arrival : ndarray
        Class values; the position is the code.
    classes : ndarray
        The same values sorted, as scikit-learn's ``classes_``.
    order : ndarray of intp
        ``by_arrival[order]`` equals ``classes``.

    Examples
    --------
    >>> from adforest.encoding import LabelTable
    >>> from adforest.encoding.labels import distinct_labels
    >>> values, codes = distinct_labels(["walk", "sit", "walk"], "batch 1")
    >>> labels = LabelTable.of(values)
    >>> labels.codes_of(values)[codes]
    array([1, 0, 1], dtype=int32)
    >>> labels.with_values(distinct_labels(["run"], "batch 2")[0], "batch 2").by_arrival.tolist()
    ['sit', 'walk', 'run']
    """

    by_arrival: NDArray[Any]
    classes: NDArray[Any]
    order: NDArray[np.intp]

    @property
    def is_sorted(self) -> bool:
        """Whether codes already are in the order of sorted classes."""
        return bool((self.order[1:] > self.order[:-1]).all())

    def declare(self, classes: Any) -> LabelTable:
        """Return a table that also knows classes no sample has shown yet, as ``partial_fit(classes=...)`` names them.

        Parameters
        ----------
        classes : array-like
            Class values; those known already are passed over.

        Returns
        -------
        labels : LabelTable
            A new table, or this one if all were known.
        """
        source = "the classes declared"
        return self._add(_distinct(_read_labels(classes, source), source)[0], source)

    def with_values(self, values: NDArray[Any], source: str) -> LabelTable:
        """Return a table that also knows the class values of a batch, sorted as `distinct_labels` gives them."""
        return self._add(values, f"the labels of {source}")

    def knows(self, values: NDArray[Any]) -> bool:
        """Return whether all of some class values are known."""
        return set(self.by_arrival.tolist()).issuperset(values.tolist())

    def codes_of(self, values: NDArray[Any]) -> Int32Array:
        """Return the codes of some class values, all of which are known."""
        known = {value: code for code, value in enumerate(self.by_arrival.tolist())}
        return np.array([known[value] for value in values.tolist()], dtype=np.int32)

    def _add(self, values: NDArray[Any], source: str) -> LabelTable:
        """Return the table with new values behind the old ones, or this one if there are none."""
        if not len(self.by_arrival):
            return type(self).of(values)
        kind, other = _kind(values), _kind(self.by_arrival)
        if kind != other and len(values):
            raise InputTypeError(
                f"{source} are {kind} ({values.tolist()[0]!r}) but the model learnt {other} "
                f"({self.by_arrival.tolist()[0]!r}).",
                Advice(f"Convert them to {other}, or {{refit}}."),
            )
        known = set(self.by_arrival.tolist())
        is_new = np.array([value not in known for value in values.tolist()], dtype=bool)
        if not is_new.any():
            return self
        return type(self).of(_joined(self.by_arrival, values[is_new], source))

    @classmethod
    def of(cls, by_arrival: NDArray[Any]) -> LabelTable:
        """Return the table of some distinct values, given in order of arrival."""
        order = np.argsort(by_arrival, kind="stable")
        return cls(by_arrival, by_arrival[order], order)


def distinct_labels(y: Any, source: str) -> tuple[NDArray[Any], Int32Array]:
    """Return the class values of some samples, sorted, and every sample's position among them.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels: text, integers or booleans; none may be missing.
    source : str
        Name of the samples in errors: "batch 7".
    """
    source = f"the labels of {source}"
    return _distinct(_read_labels(y, source), source)


def warn_of_many_classes(values: NDArray[Any], n_samples: int, source: str) -> None:
    """Warn if the labels of a first batch look like measurements, by scikit-learn's rule and in its words.

    Parameters
    ----------
    values : ndarray
        The distinct labels.
    n_samples : int
        How many labels there are.
    source : str
        Name of the samples in the warning: "batch 1".
    """
    if n_samples > MIN_JUDGED and len(values) > round(MANY_CLASSES * n_samples):
        shown = ", ".join(map(repr, values[:3].tolist()))
        problem = (
            "The number of unique classes is greater than 50% of the number of samples: "
            f"{source} has {len(values):,} in {n_samples:,} samples ({shown}, …). `y` could represent a regression "
            "problem, not a classification problem."
        )
        start = "A class with one sample cannot be learnt: cut numbers into intervals, "
        advice = Advice(
            start + "for example with pd.qcut(y, 5).astype(str), or pass the column that holds the classes.",
            shell=start + "or name the column that holds the classes with --target.",
        )
        warn_caller(InputWarning(problem, advice))


def merge_values(parts: Sequence[tuple[NDArray[Any], str]], batch: str) -> NDArray[Any]:
    """Return the class values of some parts of a batch, sorted: those of all their labels together.

    Parameters
    ----------
    parts : sequence of (ndarray, str)
        The values of each part, as `distinct_labels` returns them, and its name in errors.
    batch : str
        Name of all of them in errors.
    """
    first, source = parts[0]
    for values, other in parts[1:]:
        if _kind(values) != _kind(first):
            raise InputTypeError(
                f"the labels of {other} are {_kind(values)} ({values.tolist()[0]!r}) but those of {source} are "
                f"{_kind(first)} ({first.tolist()[0]!r}). Convert them to one kind in all partitions."
            )
    arrays = [values for values, _ in parts]
    if len(arrays) == 1:
        return first
    kinds = {values.dtype.kind for values in arrays}
    if len(kinds) == 1 or _kind(first) != "numbers":
        joined = np.concatenate(arrays)
    else:  # as in one list: integers, unless all are floats
        joined = _integers([int(value) for values in arrays for value in values.tolist()], f"the labels of {batch}")
    return _distinct(joined, f"the labels of {batch}")[0]


def check_same_length(n_samples: int, n_labels: int, source: str | None = None) -> None:
    """Raise if a batch has not one label per sample.

    Parameters
    ----------
    n_samples, n_labels : int
        How many of each arrived.
    source : str or None, default=None
        Name of the samples in the error: "batch 7".

    Raises
    ------
    ValueError
        If the two differ.
    """
    if n_samples != n_labels:
        there_are = "there are" if source is None else f"{source} has"
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: [{n_samples}, {n_labels}]; {there_are} "
            f"{counted(n_samples, 'sample')} but {counted(n_labels, 'label')}. Pass one label per sample."
        )


def _read_labels(y: Any, source: str) -> NDArray[Any]:
    """Return labels as a 1-d array of text, integers or booleans, or raise an error that names their type."""
    if y is None:
        raise InputError(f"{ESTIMATOR_NAME} requires y to be passed, but the target y is None. Pass its labels.")
    labels: NDArray[Any] = np.asarray(y)
    listed = y.to_list() if labels.dtype.kind == "U" and hasattr(y, "to_list") else y  # a Series of polars
    if isinstance(listed, (list, tuple)) and _is_changed_by_numpy(listed, labels):
        labels = np.array(listed, dtype=object)
    if labels.ndim != 1 or labels.dtype.kind not in "iubfUO":
        labels = np.asarray(column_or_1d(labels, warn=True))
    if labels.dtype.kind in "OT":
        labels = _read_objects(labels.astype(object), source)
    if labels.dtype.kind == "f":
        _check_integer(labels, source)
    elif labels.dtype.kind not in "iubUO":
        raise InputError(
            f"Unknown label type: {labels.dtype}. {source} must be text, integers or booleans. Convert them to "
            "one of these."
        )
    return labels


def _read_objects(labels: NDArray[np.object_], source: str) -> NDArray[Any]:
    """Return text labels as they are, and other objects as numbers."""
    types = set(map(type, labels.tolist()))
    if types == {str}:
        return labels
    missing = [is_missing(label) for label in labels.tolist()]
    if any(missing):
        raise _missing_labels(sum(missing), source)
    if all(issubclass(kind, str) for kind in types):
        return labels
    are_booleans = {issubclass(kind, (bool, np.bool_)) for kind in types}
    if any(issubclass(kind, str) for kind in types) or len(are_booleans) > 1:
        kinds = " and ".join(sorted(kind.__name__ for kind in types))
        raise InputTypeError(
            f"{source} mix values of type {kinds}; expected all text or all numbers, or all booleans. Convert them "
            "to text."
        )
    if all(issubclass(kind, (Integral, float, np.floating)) for kind in types) and False in are_booleans:
        return _exact_numbers(labels.tolist(), source)
    numbers = np.array(labels.tolist())
    if numbers.dtype.kind not in "iubf" or numbers.ndim != 1:
        raise InputError(
            f"Unknown label type: unknown. {source} hold values of type {type(labels[0]).__name__}; expected text, "
            "integers or booleans. Convert them to one of these."
        )
    return numbers


def _is_changed_by_numpy(y: list[Any] | tuple[Any, ...], labels: NDArray[Any]) -> bool:
    """Return whether NumPy made something else of a list's values than they are.

    It makes NaN among texts the text "nan", drops the null characters at the end of a text, makes True among numbers a
    1, and integers floats where they are many bits wide or mixed with floats.
    """
    if labels.ndim != 1:
        return False
    kind = labels.dtype.kind
    if kind == "U":
        return set(map(type, y)) != {str} or any(text.endswith("\0") for text in set(y))
    types = set(map(type, y)) if kind in "iuf" else set()
    has_booleans = any(issubclass(one, (bool, np.bool_)) for one in types)
    return has_booleans or (kind == "f" and any(issubclass(one, Integral) for one in types))


def _exact_numbers(values: list[Any], source: str) -> NDArray[Any]:
    """Return numbers without a fraction as integers, as floats only if all are; raise if no type holds them."""
    if all(isinstance(value, (float, np.floating)) for value in values):
        return np.array(values, dtype=np.float64)
    floats = np.array([value for value in values if isinstance(value, (float, np.floating))], dtype=np.float64)
    _check_integer(floats, source)
    return _integers([int(value) for value in values], source)


def _integers(values: list[int], source: str) -> NDArray[Any]:
    """Return integers as int64, or as uint64 where they are too large; raise if neither holds all of them."""
    low, high = min(values), max(values)
    for dtype in (np.int64, np.uint64):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return np.array(values, dtype=dtype)
    raise InputError(
        f"{source} bring class values from {low} to {high}, which no 64-bit integer type holds exactly. Convert them "
        "to text."
    )


def _joined(old: NDArray[Any], new: NDArray[Any], source: str) -> NDArray[Any]:
    """Return class values followed by new ones of the same type, without loss of precision.

    3.0 joins 1 and 2 as 3: where the first classes are integers they stay integers.
    """
    if _kind(old) != "numbers":
        return np.concatenate([old, new])
    if old.dtype.kind == "f":
        floats = new.astype(np.float64)
        for value, number in zip(new.tolist(), floats.tolist(), strict=True):
            if value != number:  # Python compares exactly
                raise _not_exact(value, str(floats.dtype), source)
        return np.concatenate([old, floats])
    if np.can_cast(new.dtype, old.dtype):
        return np.concatenate([old, new])
    return _integers([*old.tolist(), *map(int, new.tolist())], source)


def _check_integer(labels: NDArray[Any], source: str) -> None:
    """Raise if labels are missing, infinite or not integers."""
    missing = np.isnan(labels)
    if missing.any():
        raise _missing_labels(int(missing.sum()), source)
    if np.isinf(labels).any():
        raise InputError(f"Input y contains infinity: {source} must be integers or text. Drop those samples.")
    too_large = np.abs(labels) >= 2 ** (np.finfo(labels.dtype).nmant + 1)
    if too_large.any():
        raise _not_exact(int(labels[too_large][0]), str(labels.dtype), source)
    broken = labels != np.floor(labels)
    if broken.any():
        raise InputError(
            f"Unknown label type: continuous. {source} hold numbers such as {labels[broken][0]}; a classifier expects "
            "classes. Convert them to text or integers if they are classes, or cut them into intervals."
        )


def _not_exact(value: int, dtype: str, source: str) -> InputError:
    """Return the error for integers that a float type cannot represent exactly."""
    return InputError(
        f"{source} hold {value} as {dtype}, which does not tell it from its neighbours. Pass integers in every "
        "batch, or text."
    )


def _missing_labels(n_missing: int, source: str) -> InputError:
    """Return the error for samples without a label."""
    return InputError(
        f"Input y contains NaN: {source} lack {n_missing} {'value' if n_missing == 1 else 'values'}; every sample "
        "needs its class. Drop the samples without one."
    )


def _distinct(labels: NDArray[Any], source: str) -> tuple[NDArray[Any], Int32Array]:
    """Return the distinct labels, sorted, and every label's position among them."""
    if _kind(labels) == "text":  # hashing text beats sorting it
        coded = code_values(labels.tolist(), source)
        values, codes = np.array(coded.values, dtype=labels.dtype), coded.codes
        order = np.argsort(values)
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return values[order], rank[codes]
    values, codes = np.unique(labels, return_inverse=True)
    return values, codes.astype(np.int32)


def _kind(values: NDArray[Any]) -> str:
    """Return the type of class values; a model has one type."""
    return {"U": "text", "O": "text", "b": "booleans"}.get(values.dtype.kind, "numbers")
