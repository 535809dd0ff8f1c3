"""Columns and classes in a model file: the encoder of tables and the table of labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from adforest.encoding import LabelTable, TableEncoder
from adforest.encoding.categories import MAX_VALUES, MIN_RECYCLED, Categories
from adforest.encoding.columns import CATEGORIES, DATES, DURATIONS, NUMBERS, UNDECIDED, ZONED_DATES
from adforest.encoding.rates import MAX_COUNTED, MAX_RATES, CategoryRates
from adforest.encoding.tables import are_text
from adforest.exceptions import ModelFileError
from adforest.forest.types import AnyArray, Int32Array
from adforest.storage.fields import Array, Flag, IntegerField, PartReader, PartWriter, Sizes, read_fields, write_fields
from adforest.storage.values import decode_name, encode, text_array

MEASURED = (NUMBERS, DATES, ZONED_DATES, DURATIONS)  # numbers to trees
KINDS = (*MEASURED, CATEGORIES, UNDECIDED)
MAX_CLASSES = 2**20  # kernels have 20 bits for a class
FULL = int(MAX_VALUES * (1 - MIN_RECYCLED)) - 1  # values that a column has left, at least, once it gave codes back
MAX_GAIN = 1e18  # nats, of 2**53 samples

ENCODER = (Flag("takes_text"),)
CATEGORIES_FIELDS = (
    Array("code", np.int32, ("n_values",), low=-1, below="n_codes"),
    Array("count", np.int64, ("n_values",), low=0, below=2**53),
    Array("last_batch", np.int32, ("n_values",), low=0, below="next_call"),
    Array("coded_as", np.float64, ("n_values_and_2",), low=0, below="n_codes", takes_nan=True),
    IntegerField("n_codes", below=MAX_VALUES + 2),
    IntegerField("infrequent", low=-1, below="n_codes"),
    IntegerField("n_samples"),
    IntegerField("n_known"),
    IntegerField("n_distinct"),
)
RATES_FIELDS = (
    Array("counts", np.int64, ("n_codes", "n_counted_and_1"), low=0, below=2**53),
    Array("gain", np.float64, ("n_counted",), low=-MAX_GAIN, below=MAX_GAIN),
    Array("gain_squares", np.float64, ("n_counted",), low=0, below=MAX_GAIN),
)


def write_encoder(encoder: TableEncoder, out: PartWriter) -> None:
    """Write the encoder of tables.

    Codes recycled by the last batch, which are handled when it is learnt, and the estimator's name are not written.
    """
    names = encoder.names
    out.values["names"] = None if names is None else [encode(name, "a column's name") for name in names]
    out.values["kinds"] = list(encoder.kinds)
    out.values["warned_of"] = sorted(encoder.warned_of)
    write_fields(ENCODER, encoder, out)
    for position, known in enumerate(encoder.categories):
        if known is not None:
            part = out.part(f"categories_{position}")
            part.values["values"] = list(known.index_of)
            write_fields(CATEGORIES_FIELDS, known, part)
    if not encoder.rates:
        return
    out.values["rate_columns"] = [list(one) for one in encoder.rate_columns]
    for position, rates in encoder.rates.items():
        part = out.part(f"rates_{position}")
        part.values["classes"] = list(rates.classes)
        write_fields(RATES_FIELDS, rates, part)


def read_encoder(part: PartReader, sizes: Sizes, estimator_name: str) -> TableEncoder:
    """Return the encoder of tables; n_features is added to the sizes."""
    kinds = part.items("kinds")
    if not kinds or not all(type(kind) is str and kind in KINDS for kind in kinds):
        raise part.wrong("kinds", kinds, "a kind for each column")
    sizes["n_features"] = len(kinds)
    names = _read_names(part, len(kinds))
    warned_of = part.items("warned_of")
    if not all(type(one) is int and 0 <= one < len(kinds) for one in warned_of):
        raise part.wrong("warned_of", warned_of, "positions of columns")
    categories = tuple(
        _read_categories(part.part(f"categories_{position}"), sizes) if kind == CATEGORIES else None
        for position, kind in enumerate(kinds)
    )
    known = read_fields(ENCODER, part, sizes)
    rates, rate_columns = _read_rates(part, categories)
    part.finish()
    sizes["n_columns"] = len(kinds) + len(rate_columns)
    return TableEncoder(
        rates=rates,
        rate_columns=rate_columns,
        names=names,
        kinds=tuple(kinds),
        categories=categories,
        estimator_name=estimator_name,
        warned_of=frozenset(warned_of),
        **known,
    )


def codes_by_column(encoder: TableEncoder) -> Int32Array:
    """Return the number of codes of each column of matrices: -1 where it holds numbers, 0 where it has no value yet."""
    kinds = [*encoder.kinds, *[NUMBERS] * len(encoder.rate_columns)]
    return np.where(np.isin(kinds, MEASURED), np.int32(-1), encoder.n_categories)


def _read_rates(
    part: PartReader, categories: Sequence[Categories | None]
) -> tuple[dict[int, CategoryRates], tuple[tuple[int, int], ...]]:
    """Return class counts by column, and which rates are columns; files older than rates have neither."""
    rates: dict[int, CategoryRates] = {}
    if "rate_columns" not in part:
        return rates, ()
    listed = part.items("rate_columns")
    for position, known in enumerate(categories):
        if known is None:
            continue
        inner = part.part(f"rates_{position}")
        own: Sizes = {"n_codes": known.n_codes}
        found = read_fields(RATES_FIELDS, inner, own)
        classes = inner.items("classes")
        if own["n_counted"] > MAX_COUNTED or own["n_counted_and_1"] != own["n_counted"] + 1:
            raise ModelFileError(f"{inner.where('counts')} are of other classes than {inner.where('gain')}")
        is_class = all(type(k) is int and 0 <= k < own["n_counted"] for k in classes)
        if not is_class or len(set(classes)) < len(classes) or len(classes) > MAX_RATES:
            raise inner.wrong("classes", classes, "different classes that were counted")
        if (found["counts"][:, 1:].sum(axis=1) > found["counts"][:, 0]).any():
            raise ModelFileError(f"{inner.where('counts')} are more of some classes than of all")
        inner.finish()
        rates[position] = CategoryRates(**found, classes=tuple(classes))
    expected = [[position, rate] for position, known in rates.items() for rate in range(len(known.classes))]
    is_pair = all(type(one) is list and len(one) == 2 and all(type(n) is int for n in one) for one in listed)
    if not is_pair or sorted(listed) != expected:
        raise part.wrong("rate_columns", listed, "each rate once")
    return rates, tuple((position, rate) for position, rate in listed)


def _read_names(part: PartReader, n_features: int) -> tuple[Any, ...] | None:
    """Return the names of the columns, all of them text or none."""
    found = part.value("names")
    if found is None:
        return None
    names = tuple(decode_name(name, "a column's name") for name in found) if type(found) is list else ()
    if len(names) != n_features or len(set(names)) < n_features:
        raise part.wrong("names", found, f"{n_features} different names")
    if any(isinstance(name, str) != are_text(names) for name in names):
        raise part.wrong("names", found, "text throughout, or none")
    return names


def _read_categories(part: PartReader, sizes: Sizes) -> Categories:
    """Return the values of one column."""
    values = part.items("values")
    are_texts = all(type(value) is str for value in values)
    if not are_texts and not all(type(value) is float and math.isfinite(value) for value in values):
        raise part.wrong("values", values, "text throughout, or numbers throughout")
    index_of = {value: index for index, value in enumerate(values)}
    if len(index_of) < len(values) or len(values) > MAX_VALUES:
        raise part.wrong("values", values, f"different values, {MAX_VALUES} at most")
    own = {"n_values": len(values), "n_values_and_2": len(values) + 2, "next_call": sizes["next_call"]}
    # Read first, since it bounds other fields.
    (n_codes,) = read_fields([field for field in CATEGORIES_FIELDS if field.name == "n_codes"], part, own).values()
    own["n_codes"] = n_codes
    known = read_fields([field for field in CATEGORIES_FIELDS if field.name != "n_codes"], part, own)
    part.finish()
    categories = Categories(index_of=index_of, n_codes=n_codes, **known)
    _check_codes(categories, part)
    return categories


def _check_codes(categories: Categories, part: PartReader) -> None:
    """Raise if two values have one code, or if a value is encoded by a code that it cannot have."""
    own, infrequent = categories.code, categories.infrequent
    used = np.append(own[own >= 0], [infrequent] if infrequent >= 0 else [])
    if len(np.unique(used)) < len(used):
        raise ModelFileError(f"two values have one code in {part.where('code')}")
    if categories.n_codes > len(own) + 1 and len(own) < FULL:
        raise ModelFileError(f"{part.where('n_codes')} is {categories.n_codes}, more than {len(own)} values ever had")
    shared = infrequent if infrequent >= 0 else np.nan
    is_own = np.append(own, [-1, -1]) == categories.coded_as
    may_be = is_own | (categories.coded_as == shared) | np.isnan(categories.coded_as)
    if not may_be.all() or not np.isnan(categories.coded_as[-1]):
        raise ModelFileError(f"{part.where('coded_as')} holds codes of other values")


def write_labels(labels: LabelTable, out: PartWriter) -> None:
    """Write the class values in order of arrival; everything else is derived from them."""
    values = labels.by_arrival
    if values.dtype.kind in "UO":
        out.values["type"] = "text" if values.dtype.kind == "U" else "objects"
        out.values["values"] = [str(value) for value in values.tolist()]
        return
    if values.dtype.itemsize > 8:
        raise ModelFileError(f"the classes are of type {values.dtype}, which a file cannot hold. Use int64 or text.")
    out.values["type"] = "numbers"
    out.put("values", values.astype(values.dtype.newbyteorder("="), copy=False))


def read_labels(part: PartReader, sizes: Sizes) -> LabelTable:
    """Return the table of labels; n_classes is added to the sizes."""
    kind = part.value("type")
    if kind == "numbers":
        values = _read_numbers(part)
    elif kind in ("text", "objects"):
        values = _read_texts(part, kind)
    else:
        raise part.wrong("type", kind, "'numbers', 'text' or 'objects'")
    part.finish()
    if not 0 < len(values) <= MAX_CLASSES or len(set(values.tolist())) < len(values):
        raise ModelFileError(f"{len(values)} classes, of which some are the same or which are too many")
    sizes["n_classes"] = len(values)
    return LabelTable.of(values)


def _read_numbers(part: PartReader) -> AnyArray:
    """Return class values that are integers or booleans."""
    values = part.array("values")
    is_flat = values.ndim == 1
    if is_flat and values.dtype.kind == "b" and values.view(np.uint8).max(initial=0) <= 1:
        return values
    if is_flat and values.dtype.kind in "iu":
        return values
    if is_flat and values.dtype.kind == "f" and np.isfinite(values).all() and (values == np.floor(values)).all():
        return values
    raise ModelFileError(f"{part.where('values')} are no integers or booleans")


def _read_texts(part: PartReader, kind: str) -> AnyArray:
    """Return class values that are text."""
    values = part.items("values")
    if not all(type(value) is str for value in values):
        raise part.wrong("values", values, "text throughout")
    return text_array(values, "the classes") if kind == "text" else np.array(values, dtype=object)
