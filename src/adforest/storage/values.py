"""Values that JSON lacks: tuples, arrays, non-finite numbers, mappings with any keys."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from adforest.exceptions import ModelFileError

NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
ARRAYS = {"b": (bool, "bool"), "i": (int, "int64"), "u": (int, "uint64"), "f": (float, "float64"), "U": (str, "str")}
MAX_PLAIN_TEXT = 2**24  # characters that an array of texts may allocate
DTYPES = {name: kind for kind, name in ARRAYS.values()}


def encode(value: Any, what: str) -> Any:
    """Return a value as JSON, or raise if a file cannot hold it; errors call it ``what``."""
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, np.generic):
        return encode(value.item(), what)
    if isinstance(value, str):
        return str(value)
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, list):
        return [encode(one, what) for one in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(one, what) for one in value]}
    if isinstance(value, Mapping):
        return {"dict": [[encode(key, what), encode(one, what)] for key, one in value.items()]}
    if hasattr(value, "__array__"):
        return _encode_array(np.asarray(value), what)
    raise ModelFileError(
        f"{what} is {value!r}, of type {type(value).__name__}, which a model file cannot hold. Use text, numbers, "
        "lists or arrays of them."
    )


def _encode_array(array: Any, what: str) -> Any:
    """Return a one-dimensional array, or an object that can be converted to one, as JSON."""
    if array.dtype.kind == "O":
        return {"array": [encode(one, what) for one in array.tolist()], "dtype": "object"}
    if array.ndim != 1 or array.dtype.kind not in ARRAYS:
        raise ModelFileError(f"{what} is an array of {array.dtype} and shape {array.shape}, which a file cannot hold")
    return {"array": [encode(one, what) for one in array.tolist()], "dtype": ARRAYS[array.dtype.kind][1]}


def decode(value: Any, what: str) -> Any:
    """Return the value that some JSON encodes, or raise if it encodes none."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is list:
        return [decode(one, what) for one in value]
    if type(value) is dict and len(value) == 1:
        ((kind, content),) = value.items()
        if kind == "float" and type(content) is str and content in NOT_FINITE:
            return NOT_FINITE[content]
        if kind == "tuple" and type(content) is list:
            return tuple(decode(one, what) for one in content)
        if kind == "dict" and type(content) is list:
            return _decode_dict(content, what)
    if type(value) is dict and set(value) == {"array", "dtype"}:
        return _decode_array(value["array"], value["dtype"], what)
    raise ModelFileError(f"{what} is {repr(value)[:60]}, which stands for no value")


def _decode_dict(pairs: list[Any], what: str) -> dict[Any, Any]:
    """Return the mapping of some pairs."""
    if any(type(pair) is not list or len(pair) != 2 for pair in pairs):
        raise ModelFileError(f"{what} is no mapping")
    return {decode_name(key, what): decode(value, what) for key, value in pairs}


def decode_name(value: Any, what: str) -> Any:
    """Return the value that some JSON encodes if it can be a key: text, a number, or a tuple of these.

    Numbers have 64 bits at most: longer ones could be chosen to make lookups extremely slow.
    """
    name = decode(value, what)
    for one in name if type(name) is tuple else (name,):
        if isinstance(one, list | dict | tuple | np.ndarray) or (type(one) is int and one.bit_length() > 64):
            raise ModelFileError(f"{what} is {repr(value)[:60]}, expected text, a number or a tuple of these")
    return name


def _decode_array(values: Any, dtype: Any, what: str) -> Any:
    """Return the one-dimensional array of some values."""
    if type(values) is list and dtype == "object":
        array = np.empty(len(values), dtype=object)
        array[:] = [decode(one, what) for one in values]
        return array
    if type(values) is not list or type(dtype) is not str or dtype not in DTYPES:
        raise ModelFileError(f"{what} is an array of {dtype!r}")
    decoded = [decode(one, what) for one in values]
    if any(type(one) is not DTYPES[dtype] for one in decoded):
        raise ModelFileError(f"{what} is an array of {dtype} that holds something else")
    return text_array(decoded, what) if dtype == "str" else np.array(decoded, dtype=dtype)


def text_array(texts: list[str], what: str) -> Any:
    """Return texts as an array as wide as the longest, or raise if a few long ones would make it far too large."""
    lengths = [len(text) for text in texts]
    if len(texts) * max(lengths, default=0) > max(MAX_PLAIN_TEXT, 64 * sum(lengths)):
        raise ModelFileError(f"{what} are {len(texts)} texts of up to {max(lengths)} characters, which is too long")
    return np.array(texts, dtype="U")
