"""Fields of dataclasses in a model file: one line per field, with the values it may have.

A file is a tree of *parts*. A part has values, which are JSON, and arrays; an array belongs to the file under the name
of its part and its own, such as "memory.y". Everything that is read is validated: types, shapes and ranges here,
conditions on several fields where the object is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from adforest.exceptions import ModelFileError
from adforest.forest.types import AnyArray, Float64Array, Int32Array

# Fields that have another name in files: names in files do not change with the code.
FILE_NAMES = {
    "n_samples": "n_records",
    "has_samples": "has_records",
    "recency": "nearness",
    "uint16": "words",
    "float32": "singles",
    "float64": "doubles",
}

Sizes: TypeAlias = dict[str, int]  # by name, as far as they have been read
Bound: TypeAlias = float | str | None  # a number, or the name of a size


def file_name(name: str) -> str:
    """Return the name of a field in files.

    >>> file_name("n_samples"), file_name("seed")
    ('n_records', 'seed')
    """
    return FILE_NAMES.get(name, name)


class PartWriter:
    """A part of a file that is being written."""

    def __init__(self, values: dict[str, Any], arrays: dict[str, AnyArray], prefix: str = "") -> None:
        self.values = values
        self.arrays = arrays
        self._prefix = prefix

    def part(self, name: str) -> PartWriter:
        """Return a new part of this one."""
        values: dict[str, Any] = {}
        self.values[name] = values
        return PartWriter(values, self.arrays, f"{self._prefix}{name}.")

    def put(self, name: str, array: AnyArray) -> None:
        """Write an array."""
        self.arrays[self._prefix + file_name(name)] = array

    def set(self, name: str, value: Any) -> None:
        """Write the JSON value of a field."""
        self.values[file_name(name)] = value


class PartReader:
    """A part of a file that is being read; values are removed as they are read, so that unread ones are known."""

    def __init__(self, values: Any, arrays: dict[str, AnyArray], prefix: str = "") -> None:
        if type(values) is not dict:
            raise ModelFileError(f"{prefix or 'the document'} is {type(values).__name__}, expected an object")
        self._values: dict[str, Any] = values
        self._arrays = arrays
        self._prefix = prefix

    def __contains__(self, name: str) -> bool:
        return file_name(name) in self._values or self.where(name) in self._arrays

    def part(self, name: str) -> PartReader:
        """Return a part of this one."""
        return PartReader(self.value(name), self._arrays, f"{self._prefix}{name}.")

    def where(self, name: str) -> str:
        """Return the name of a field in files and errors."""
        return self._prefix + file_name(name)

    def value(self, name: str) -> Any:
        """Return a JSON value, and remove it."""
        if file_name(name) not in self._values:
            raise ModelFileError(f"{self.where(name)} is missing")
        return self._values.pop(file_name(name))

    def items(self, name: str) -> list[Any]:
        """Return a list, and remove it."""
        value = self.value(name)
        if type(value) is not list:
            raise self.wrong(name, value, "a list")
        return value

    def array(self, name: str) -> AnyArray:
        """Return an array, and remove it."""
        if self.where(name) not in self._arrays:
            raise ModelFileError(f"the array {self.where(name)} is missing")
        return self._arrays.pop(self.where(name))

    def wrong(self, name: str, value: Any, expected: str) -> ModelFileError:
        """Return the error for an invalid value."""
        shown = repr(value)
        return ModelFileError(f"{self.where(name)} is {shown[:60]}{'…' * (len(shown) > 60)}, expected {expected}")

    def finish(self) -> None:
        """Raise if some value of this part was not read."""
        if self._values:
            raise ModelFileError(f"{self.where(next(iter(self._values)))} is not known to this version")


class Field(Protocol):
    """How one field of a dataclass is written and read."""

    @property
    def name(self) -> str:
        """The field's name in the dataclass; see `file_name`."""
        ...

    def write(self, value: Any, out: PartWriter) -> None:
        """Write the field's value."""
        ...

    def read(self, part: PartReader, sizes: Sizes) -> Any:
        """Return the value, or raise if it is invalid."""
        ...


def write_fields(fields: Sequence[Field], owner: Any, out: PartWriter) -> None:
    """Write some fields of an object."""
    for field in fields:
        field.write(getattr(owner, field.name), out)


def read_fields(fields: Sequence[Field], part: PartReader, sizes: Sizes) -> dict[str, Any]:
    """Return some fields by name; new sizes are added."""
    return {field.name: field.read(part, sizes) for field in fields}


@dataclass(frozen=True, slots=True)
class Array:
    """An array.

    Attributes
    ----------
    shape : tuple of str or int
        Sizes by name: one not known yet is taken from the array.
    low, below : float or str
        Bounds of its numbers, the upper one excluded.
    takes_nan, takes_infinity : bool
        Whether these are allowed.
    or_dtype : type, optional
        Another type that the array may have.
    takes_none : bool
        Whether it may be None, which is no array in the file.
    absent : callable, optional
        Returns the value for files that were written before the field existed; it gets the sizes.
    """

    name: str
    dtype: type[np.generic]
    shape: tuple[str | int, ...]
    low: Bound = None
    below: Bound = None
    takes_nan: bool = False
    takes_infinity: bool = False
    or_dtype: type[np.generic] | None = None
    takes_none: bool = False
    absent: Callable[[Sizes], AnyArray] | None = None

    def write(self, value: AnyArray | None, out: PartWriter) -> None:
        """Write the array; its type must hold all values exactly."""
        if value is None and self.takes_none:
            return
        array = np.asarray(value)
        dtype = self.or_dtype if array.dtype == self.or_dtype else self.dtype
        out.put(self.name, array.astype(dtype, casting="safe", copy=False))

    def read(self, part: PartReader, sizes: Sizes) -> Any:
        """Return the array, checked."""
        if self.name not in part and (self.takes_none or self.absent is not None):
            return None if self.absent is None else self.absent(sizes)
        array = part.array(self.name)
        if array.dtype not in (self.dtype, self.or_dtype or self.dtype):
            expected = np.dtype(self.dtype).name
            raise ModelFileError(f"{part.where(self.name)} holds {array.dtype.name}, expected {expected}")
        self._check_shape(array, part, sizes)
        if array.size:
            self._check_numbers(array, part, sizes)
        return array

    def _check_shape(self, array: AnyArray, part: PartReader, sizes: Sizes) -> None:
        if array.ndim == len(self.shape):
            for size, found in zip(self.shape, array.shape, strict=True):
                if isinstance(size, str):
                    sizes.setdefault(size, found)
        expected = tuple(sizes.get(size, -1) if isinstance(size, str) else size for size in self.shape)
        if array.shape != expected:
            raise ModelFileError(f"{part.where(self.name)} has the shape {array.shape}, expected {expected}")

    def _check_numbers(self, array: AnyArray, part: PartReader, sizes: Sizes) -> None:
        """Raise if a number is out of bounds; minimum and maximum are NaN if any number is."""
        if array.dtype.kind == "b":
            if array.view(np.uint8).max() > 1:
                raise ModelFileError(f"{part.where(self.name)} holds bytes that are neither 0 nor 1")
            return
        least, most = (np.nanmin, np.nanmax) if self.takes_nan else (np.min, np.max)
        if self.takes_nan and np.isnan(array).all():
            return
        low, high = least(array), most(array)
        if array.dtype.kind == "f":
            is_wrong = np.isnan(low) if self.takes_infinity else not (np.isfinite(low) and np.isfinite(high))
            if is_wrong:
                raise ModelFileError(f"{part.where(self.name)} holds numbers that are not finite")
        if _is_outside(low.item(), self.low, None, sizes) or _is_outside(high.item(), None, self.below, sizes):
            raise ModelFileError(
                f"{part.where(self.name)} holds numbers from {low} to {high}, expected "
                f"{_range(self.low, self.below, sizes)}"
            )


@dataclass(frozen=True, slots=True)
class IntegerField:
    """An integer, from low to below, which is excluded."""

    name: str
    low: Bound = 0
    below: Bound = 2**53
    absent: int | None = None

    def write(self, value: int, out: PartWriter) -> None:
        """Write the number."""
        out.set(self.name, int(value))

    def read(self, part: PartReader, sizes: Sizes) -> int:
        """Return the number, checked."""
        if self.absent is not None and self.name not in part:
            return self.absent
        value = part.value(self.name)
        if type(value) is not int or _is_outside(value, self.low, self.below, sizes):
            raise part.wrong(self.name, value, f"an integer, {_range(self.low, self.below, sizes)}")
        return value


@dataclass(frozen=True, slots=True)
class Real:
    """A finite number, or None where it may be missing."""

    name: str
    takes_none: bool = False

    def write(self, value: float | None, out: PartWriter) -> None:
        """Write the number."""
        out.set(self.name, None if value is None else float(value))

    def read(self, part: PartReader, sizes: Sizes) -> float | None:
        """Return the number, checked."""
        value: float | None = part.value(self.name)
        if not (value is None and self.takes_none) and not (type(value) is float and math.isfinite(value)):
            raise part.wrong(self.name, value, "a number with a decimal point")
        return value


@dataclass(frozen=True, slots=True)
class Flag:
    """True or False."""

    name: str

    def write(self, value: bool, out: PartWriter) -> None:
        """Write the flag."""
        out.set(self.name, bool(value))

    def read(self, part: PartReader, sizes: Sizes) -> bool:
        """Return the flag, checked."""
        value = part.value(self.name)
        if type(value) is not bool:
            raise part.wrong(self.name, value, "true or false")
        return value


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few texts."""

    name: str
    choices: tuple[str, ...]

    def write(self, value: str, out: PartWriter) -> None:
        """Write the text."""
        out.set(self.name, value)

    def read(self, part: PartReader, sizes: Sizes) -> str:
        """Return the text, checked."""
        value = part.value(self.name)
        if type(value) is not str or value not in self.choices:
            raise part.wrong(self.name, value, " or ".join(map(repr, self.choices)))
        return value


def resolve(bound: Bound, sizes: Sizes) -> float | None:
    """Return a bound as a number."""
    return sizes[bound] if isinstance(bound, str) else bound


def _is_outside(value: float, low: Bound, below: Bound, sizes: Sizes) -> bool:
    """Return whether a number is beyond its bounds."""
    least, limit = resolve(low, sizes), resolve(below, sizes)
    return (least is not None and value < least) or (limit is not None and value >= limit)


def _range(low: Bound, below: Bound, sizes: Sizes) -> str:
    """Return bounds as text for an error."""
    least, limit = resolve(low, sizes), resolve(below, sizes)
    ends = [f"at least {least}" * (least is not None), f"below {limit}" * (limit is not None)]
    return " and ".join(end for end in ends if end) or "any"


def check_codes(X: Float64Array, n_codes: Int32Array, what: str) -> None:
    """Raise if a column that is or may become categorical holds anything but its codes; kernels index by them."""
    for column in np.flatnonzero(n_codes >= 0):
        codes = X[:, column]
        known = codes[~np.isnan(codes)]
        if len(known) and ((known < 0) | (known >= n_codes[column]) | (known != np.floor(known))).any():
            raise ModelFileError(f"{what} holds codes that column {column} has not")
