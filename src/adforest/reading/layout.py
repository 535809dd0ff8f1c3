"""Column types of a stream of files: inferred from the first file, required of all others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyarrow import compute

from adforest.exceptions import Advice, InputError, InputTypeError, InputWarning, ParameterError, warn_caller
from adforest.reading.formats import naming, read_blocks, read_schema
from adforest.reading.sources import Skipped, TableFile

NUMBERS = pa.float64()
TEXT = pa.string()
NAMED = pa.dictionary(pa.int32(), pa.string())  # text that is categories because the user or the file says so
NUMBERED = pa.dictionary(pa.int32(), pa.float64())  # categories that are numbers
DATES, ZONED_DATES, DURATIONS = pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.duration("ns")

UNNAMED = re.compile(r"(Unnamed: 0)?")
EARLIER = "the batches before"
LARGEST_EXACT = 2**53  # beyond it, neighbouring integers are one float


class MissingTargetError(InputError):
    """A file has no column of the target's name."""


@dataclass(frozen=True)
class Choice:
    """Columns that the user chose.

    Attributes
    ----------
    target : str or None
        The column that holds the classes; None where records are only to be predicted.
    columns : tuple of str or None
        The columns to learn from, None for all.
    drop : tuple of str
        Columns to leave out.
    categorical : tuple of str
        Columns to be read as text, whatever they look like.
    types : dict of str to Arrow type, or None
        Types known from earlier batches; None if there were none.
    """

    target: str | None
    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    types: Mapping[str, Any] | None = None

    def features(self, names: Sequence[str]) -> list[str]:
        """Return the names of the columns to learn from, in their order."""
        kept = names if self.columns is None else self.columns
        dropped = {self.target, *self.drop}
        return [name for name in dict.fromkeys(kept) if name not in dropped]


@dataclass(frozen=True)
class Layout:
    """The columns every batch has.

    Attributes
    ----------
    choice : Choice
        What the user asked for.
    types : dict of str to Arrow type
        The features in their order, the target last if there is one.
    like : str
        The file or batches that others are compared with, for errors.
    unlabelled : Skipped
        How to handle records without a class.
    """

    choice: Choice
    types: Mapping[str, Any]
    like: str
    unlabelled: Skipped = field(default_factory=Skipped)

    @property
    def features(self) -> list[str]:
        """Names of the columns to learn from."""
        return [name for name in self.types if name != self.choice.target]

    def read(self, file: TableFile) -> Iterator[Any]:
        """Yield a file's records in this layout as record batches, or raise an error with the first difference."""
        self._check(file)
        n_before = 0
        for block in read_blocks(file, self.types):
            columns = [self._converted(block.column(name), name, file) for name in self.types]
            converted = pa.RecordBatch.from_arrays(columns, names=list(self.types))
            if self.choice.target is None:
                yield converted
                continue
            missing = compute.is_null(columns[-1], nan_is_null=True)
            if compute.any(missing).as_py():
                first = missing.index(True).as_py()
                if not self.unlabelled.are_skipped:
                    yield converted.slice(0, first)
                    raise self._no_class(file, n_before + first)
                if not self.unlabelled.count:
                    self.unlabelled.first = file.locate(n_before + first, self.choice.target)[0]
                self.unlabelled.count += missing.true_count
                converted = converted.filter(compute.invert(missing))
            self._check_classes(converted.column(len(columns) - 1), file)
            n_before += block.num_rows
            yield converted

    def _check(self, file: TableFile) -> None:
        """Raise unless a file has the columns, and in types that can be converted."""
        schema = read_schema(file)
        names = list(schema.names)  # which makes them, every time it is asked
        check_names(names, self.choice.target, file)
        there = frozenset(names)
        missing = [name for name in self.types if name not in there]
        features = self.choice.features(names) if self.choice.target is not None else []
        extra = [name for name in features if name not in self.types]
        if missing or extra:
            parts = [f"{what} {listed(names)}" for what, names in (("lacks", missing), ("adds", extra)) if names]
            remedy = "Rename or remove" if extra else "Add or rename"
            raise InputError(
                f"{file.header_label} {' and '.join(parts)}; expected the columns of {self.like}.",
                Advice(
                    remedy + " columns there, or name those to learn from, which every file must have, in {columns}.",
                    {"columns": [...]},
                ),
            )
        for name, kind in self.types.items() if file.keeps_types else ():
            found, is_target = schema.field(name).type, name == self.choice.target
            is_fitting = found == kind or _can_become(found, kind, is_target=is_target)
            if name not in self.choice.categorical and not is_fitting:
                is_known = self.choice.target is None or name in (self.choice.types or ())
                as_text = "" if is_known else ", or pass {categorical} to read it as text in all files"
                raise InputTypeError(
                    f"column {name!r} of '{file.path}' holds {_word(found)}; expected {_word(kind)}, as in "
                    f"{self.like}.",
                    Advice(f"Convert it{as_text}.", {"categorical": [name]}),
                )

    def _converted(self, column: Any, name: str, file: TableFile) -> Any:
        """Return a column in the type this layout has for it."""
        kind = self.types[name]
        if column.type == kind:
            return column
        is_coded = pa.types.is_dictionary(kind)
        plain = kind.value_type if is_coded else kind
        if pa.types.is_temporal(plain):  # what is finer than the stream is cut off, what it cannot hold is an error
            options = compute.CastOptions(plain, allow_time_truncate=True)
        else:
            options = (
                compute.CastOptions.safe(plain) if name == self.choice.target else compute.CastOptions.unsafe(plain)
            )
        try:
            if pa.types.is_dictionary(column.type):
                values = column.dictionary.cast(options=options).take(column.indices)
            else:
                values = column.cast(options=options)
            return values.dictionary_encode() if is_coded else values
        except pa.ArrowException as error:
            raise InputError(
                f"column {name!r} of '{file.path}' cannot be read as {_word(kind)} ({error}).",
                Advice("Convert it, or leave it out with {drop}.", {"drop": [name]}),
            ) from error

    def _no_class(self, file: TableFile, record: int) -> InputError:
        """Return the error for a record without a class."""
        target = str(self.choice.target)
        where, text = file.locate(record, target)
        found = f"holds {text[:60]!r}" if text else "has no value"
        meaning = ", where it stands for a missing value" if text else ""
        remedy = "Pass {categorical} if it is a class" if text else "Fill it in"
        return InputError(
            f"{where} {found} in the target column {target!r}{meaning}; every record needs its class.",
            Advice(
                remedy + ", remove the record, or pass {unlabelled} to leave such records out.",
                {"categorical": [target], "unlabelled": "skip"},
            ),
        )

    def _check_classes(self, column: Any, file: TableFile) -> None:
        """Raise if there is a class that a float cannot represent exactly."""
        if column.type == NUMBERS and (compute.max(compute.abs(column)).as_py() or 0) >= LARGEST_EXACT:
            target = self.choice.target
            raise InputError(
                f"the target column {target!r} of '{file.path}' holds numbers too large to tell apart.",
                Advice("Pass {categorical} to read it as text.", {"categorical": [target]}),
            )


def judge(files: Sequence[TableFile], choice: Choice) -> Layout:
    """Return the layout of the first file; columns that are empty there are judged by the first file that fills them.

    Parameters
    ----------
    files : sequence of TableFile
        The files of the stream in their order, the first of which holds records.
    choice : Choice
        What the user asked for, a target among it.
    """
    first = files[0]
    names = read_schema(first).names
    check_names(names, choice.target, first)
    for parameter in ("columns", "drop", "categorical"):
        unknown = [name for name in getattr(choice, parameter) or () if name not in names]
        if unknown and (parameter == "columns" or choice.types is None):
            raise ParameterError(
                f"{parameter} names {listed(unknown)}, which '{first.path}' does not have; its columns are "
                f"{listed(names)}. Correct the name."
            )
    features = choice.features(names)
    if not features:
        raise ParameterError(
            f"no column of '{first.path}' is left to learn from beside the target {choice.target!r}; its columns are "
            f"{listed(names)}.",
            Advice("Choose others with {columns}, or drop fewer.", {"columns": [...]}),
        )
    types = _judged_types([*features, str(choice.target)], files, choice)
    with naming(first.path):
        first.check({name: kind for name, kind in types.items() if name not in choice.categorical})
    if choice.types is None:
        _warn_of_row_numbers(first, features)
    return Layout(choice, types, f"'{first.path}'" if choice.types is None else EARLIER)


def _warn_of_row_numbers(file: TableFile, features: Sequence[str]) -> None:
    """Warn about a first column of integers without a name, which is how pandas writes its index."""
    first = read_schema(file).field(0)
    if first.name in features and UNNAMED.fullmatch(first.name) and pa.types.is_integer(first.type):
        name = f"the name {first.name!r}" if first.name else "no name"
        problem = (
            f"the first column of '{file.path}' has {name} and holds integers: row numbers, as pandas writes them."
        )
        advice = "They are learnt like any other column; pass {drop} to leave them out."
        warn_caller(InputWarning(problem, Advice(advice, {"drop": [first.name]})))


def check_names(names: Sequence[str], target: str | None, file: TableFile) -> None:
    """Raise unless every name occurs once and the target, if there is one, is among them."""
    counts = Counter(names)
    repeated = next((name for name, count in counts.items() if count > 1), None)
    if repeated is not None:
        raise InputError(
            f"column name {repeated!r} occurs {counts[repeated]} times in '{file.path}'; columns are matched by "
            "name, so every name must occur once. Rename or remove the others."
        )
    if target is not None and target not in counts:
        hint = " If these are several columns in one, pass {delimiter} or whatever parts them." * (len(names) == 1)
        raise MissingTargetError(
            f"the target {target!r} is no column of '{file.path}'; its columns are {listed(names)}.",
            Advice(f"Name one of them.{hint}", {"delimiter": ";"}),
        )


def _judged_types(names: Sequence[str], files: Sequence[TableFile], choice: Choice) -> dict[str, Any]:
    """Return the types of columns in every batch; those of each file are read once at most."""
    types: dict[str, Any] = dict.fromkeys(names)
    categorical, known = frozenset(choice.categorical), choice.types or {}
    left = []
    for name in names:
        if name in categorical:
            types[name] = TEXT if name == choice.target else NAMED
        elif name in known:
            types[name] = known[name]
        else:
            left.append(name)
    for index, file in enumerate(files):
        if not left:
            break
        try:
            fields = {field.name: field.type for field in read_schema(file)}
        except (ValueError, OSError):
            if not index:
                raise
            continue  # what is wrong with a later file is said when its turn comes
        for name in left:
            types[name] = _judged(name, fields.get(name, pa.null()), file, is_target=name == choice.target)
        left = [name for name in left if types[name] is None]
    return types | {name: TEXT if name == choice.target else NUMBERS for name in left}


def _judged(name: str, found: Any, file: TableFile, *, is_target: bool) -> Any:
    """Return the type of a column in every batch, None where a file has nothing in it."""
    if pa.types.is_null(found):
        return None
    kind = _class_type(found) if is_target else _feature_type(found)
    if kind is None:
        raise _unlearnable(name, found, file, is_target=is_target)
    return kind


def _unlearnable(name: str, found: Any, file: TableFile, *, is_target: bool) -> InputTypeError:
    """Return the error for a column whose values cannot be learnt."""
    column = "the target" if is_target else "column"
    expected = "text, numbers or booleans" if is_target else "numbers, text, dates or durations"
    remedy = "Pass" if is_target else "Leave it out with {drop}, or pass"
    return InputTypeError(
        f"{column} {name!r} of '{file.path}' holds {_word(found)}; expected {expected}.",
        Advice(remedy + " {categorical} if its values are categories.", {"categorical": [name], "drop": [name]}),
    )


def _feature_type(found: Any) -> Any:
    """Return the type of a feature in every batch, or None if it cannot be learnt."""
    plain = found.value_type if pa.types.is_dictionary(found) else found
    if _is_text(plain):
        return TEXT if plain is found else NAMED
    if pa.types.is_temporal(plain):
        return _moment_type(plain)
    is_number = pa.types.is_boolean(plain) or _class_type(plain) is not None
    return (NUMBERED if plain is not found else NUMBERS) if is_number else None


def _moment_type(found: Any) -> Any:
    """Return the type of dates or durations in every batch, or None for times of day and intervals."""
    if pa.types.is_duration(found):
        return DURATIONS
    if pa.types.is_date(found):
        return DATES
    if not pa.types.is_timestamp(found):
        return None
    # Microseconds reach the year 9999, nanoseconds end in 2262: only those who have them get them.
    return pa.timestamp("ns" if found.unit == "ns" else "us", None if found.tz is None else "UTC")


def _class_type(found: Any) -> Any:
    """Return the type of the target in every batch, or None if it cannot be a class; integers stay integers."""
    plain = found.value_type if pa.types.is_dictionary(found) else found
    if _is_text(plain):
        return TEXT
    if pa.types.is_boolean(plain) or pa.types.is_uint64(plain):
        return plain
    if pa.types.is_integer(plain):
        return pa.int64()
    return NUMBERS if pa.types.is_floating(plain) or pa.types.is_decimal(plain) else None


def _is_text(kind: Any) -> bool:
    """Return whether an Arrow type is one of its kinds of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _can_become(found: Any, kind: Any, *, is_target: bool) -> bool:
    """Return whether a column that a file stores in one type can be converted to the type of the stream."""
    if pa.types.is_null(found):
        return True
    if not is_target:
        return _sort_of(_feature_type(found)) == _sort_of(kind)
    distinct = (None, TEXT, pa.bool_())
    return bool(_class_type(found) == kind or (_class_type(found) not in distinct and kind not in distinct))


def _sort_of(kind: Any) -> str | None:
    """Return the type to compare the values of a stream's type with."""
    if kind is None:
        return None
    if pa.types.is_timestamp(kind):
        return "dates" if kind.tz is None else "dates with a time zone"
    if pa.types.is_duration(kind):
        return "durations"
    return "text" if kind in (TEXT, NAMED) else "numbers"


def _word(kind: Any) -> str:
    """Return the name of a column's type in errors."""
    if _is_text(kind.value_type if pa.types.is_dictionary(kind) else kind):
        return "text"
    if _feature_type(kind) in (NUMBERS, NUMBERED):
        return "booleans" if pa.types.is_boolean(kind) else "numbers"
    return f"dates or times ({kind})" if pa.types.is_temporal(kind) else f"values of type {kind}"


def listed(names: Sequence[str]) -> str:
    """Return names for an error, the first twenty at most."""
    return ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
