"""Read ARFF, Weka's file format, line by line: dense data with numeric, nominal, string and date attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from itertools import islice
from typing import Any, TypeAlias

import pyarrow as pa

from adforest.exceptions import InputError
from adforest.reading.sources import BadLines, TextFile

NUMBER = pa.float64()
DATE = pa.timestamp("us")
NOMINAL = pa.dictionary(pa.int32(), pa.string())
TYPES = {"numeric": NUMBER, "real": NUMBER, "integer": pa.int64(), "string": pa.string(), "date": DATE}

ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(.*)""", re.IGNORECASE)
VALUE = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|((?!\s*['"])[^,]*?))\s*(,|$)""")
ESCAPE = re.compile(r"\\(.)")
ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}

Row: TypeAlias = list[str | None]
Column: TypeAlias = Sequence[str | None]


@dataclass(frozen=True)
class Attribute:
    """A column as the header declares it; only nominal ones have values."""

    name: str
    type: Any
    values: frozenset[str] | None = None


@dataclass(frozen=True)
class ArffFile(TextFile):
    """An ARFF file, whose header has the types."""

    bad_lines: BadLines

    @property
    def is_empty(self) -> bool:
        """Whether there is no text, or no record in it."""
        with self.source.open_text() as lines:
            if not any(map(str.strip, lines)):
                return True
        with self._data() as numbered:
            return next(numbered, None) is None

    @property
    def schema(self) -> Any:
        """Names and Arrow types of the attributes."""
        return pa.schema([(attribute.name, attribute.type) for attribute in self._header[0]])

    def blocks(self, wanted: Mapping[str, Any], n_samples: int) -> Iterator[Any]:
        """Yield the wanted columns as record batches of up to n_samples."""
        with self._data() as numbered:
            rows = self._rows(numbered, self.bad_lines)
            while True:
                lines, values, error = _gather(islice(rows, n_samples))
                if lines:
                    yield from self._blocks(lines, values, wanted)
                if error is not None:
                    raise error
                if not lines:
                    return

    def locate(self, record: int, column: str) -> tuple[str, str]:
        """Return the location of a record for errors, counted from 0 without bad lines; its fields are not known."""
        with self._data() as numbered:
            line, _ = next(islice(self._rows(numbered, BadLines(are_skipped=True)), record, None))
        return self._where(line), ""

    def _blocks(self, lines: Sequence[int], values: Row, wanted: Mapping[str, Any]) -> Iterator[Any]:
        """Yield records as one block, or those before the first that is refused, and raise."""
        n_values = len(self._header[0])
        try:
            yield self._block(lines, values, wanted)
        except ValueError:
            for index, line in enumerate(lines):
                try:
                    self._block([line], values[index * n_values : (index + 1) * n_values], wanted)
                except ValueError:
                    yield self._block(lines[:index], values[: index * n_values], wanted)
                    raise

    def _block(self, lines: Sequence[int], values: Row, wanted: Mapping[str, Any]) -> Any:
        """Return records as a record batch, or raise if a value is none that its attribute accepts."""
        attributes, _ = self._header
        columns = {one: values[index :: len(attributes)] for index, one in enumerate(attributes) if one.name in wanted}
        return pa.RecordBatch.from_pydict(
            {one.name: self._column(one, column, wanted[one.name], lines) for one, column in columns.items()}
        )

    @cached_property
    def _header(self) -> tuple[list[Attribute], int]:
        """The attributes, and the number of lines up to @data."""
        attributes: list[Attribute] = []
        with self.source.open_text() as lines:
            for number, line in enumerate(map(str.strip, lines), start=1):
                keyword = line.split(maxsplit=1)[0].lower() if line else "%"
                if keyword == "@data" and attributes:
                    return attributes, number
                if keyword == "@attribute":
                    attributes.append(self._attribute(line, number))
                elif not keyword.startswith(("%", "@relation")):
                    raise InputError(
                        f"{self._where(number)} reads {line[:40]!r}; expected @relation, @attribute, or, after "
                        "at least one of these, @data. Correct the line."
                    )
        raise InputError(f"'{self.path}' has no line that says @data; expected an ARFF header. Correct the file.")

    def _attribute(self, line: str, number: int) -> Attribute:
        """Return the attribute that a line of the header declares."""
        match = ATTRIBUTE.fullmatch(line)
        name, kind = (_unquoted(match[1]), match[2]) if match else ("", "")
        if kind.startswith("{") and kind.endswith("}") and (values := split_values(kind[1:-1])) is not None:
            return Attribute(name, NOMINAL, frozenset("?" if value is None else value for value in values))
        word = kind.split(maxsplit=1)[0].lower() if kind else ""
        if word in TYPES:
            return Attribute(name, TYPES[word])
        raise InputError(
            f"{self._where(number)} reads {line[:60]!r}; expected @attribute, a name, and numeric, real, integer, "
            "string, date or {values}. Correct the line."
        )

    @contextmanager
    def _data(self) -> Iterator[Iterator[tuple[int, str]]]:
        """Open the file for the lines that hold records, with their numbers."""
        _, n_header = self._header
        with self.source.open_text() as text:
            numbered = islice(enumerate(map(str.strip, text), start=1), n_header, None)
            yield ((number, line) for number, line in numbered if line and not line.startswith("%"))

    def _rows(self, numbered: Iterator[tuple[int, str]], bad_lines: BadLines) -> Iterator[tuple[int, Row]]:
        """Yield each record with the number of its line."""
        n_values = len(self._header[0])
        for number, line in numbered:
            if line.startswith("{"):
                raise InputError(
                    f"{self._where(number)} is sparse ({line[:40]!r}); expected one value an attribute. Make the file "
                    "dense, for example with Weka's filter SparseToNonSparse."
                )
            row = split_values(line)
            if row is None:
                raise InputError(
                    f"{self._where(number)} reads {line[:60]!r}, in which quotes do not match; expected values between "
                    "commas, quoted as a whole or not at all. Correct the line."
                )
            if len(row) == n_values:
                yield number, row
            else:
                bad_lines.meet(partial(self._where, number), len(row), n_values)

    def _column(self, attribute: Attribute, column: Column, wanted: Any, lines: Sequence[int]) -> Any:
        """Return the values of one attribute as an Arrow array: text if text is wanted, otherwise of its type."""
        declared = attribute.values
        if declared is not None and set(column) - declared - {None}:
            what = f"one of the {len(declared)} values declared"
            raise self._refused(attribute, column, lines, declared.__contains__, what)
        if wanted in (pa.string(), NOMINAL) or attribute.type in (pa.string(), NOMINAL):
            return pa.array(column, pa.string())
        try:
            return _dates(column) if attribute.type == DATE else _numbers(column, attribute.type)
        except (ValueError, OverflowError):
            if attribute.type == DATE:
                what = "a date such as 2024-01-31 or 2024-01-31T12:00:00, or ? where it is missing"
                raise self._refused(attribute, column, lines, _is_date, what) from None
            what = "an integer" if attribute.type == pa.int64() else "a number"
            accepts = partial(_is_number, kind=attribute.type)
            raise self._refused(attribute, column, lines, accepts, f"{what}, or ? where it is missing") from None

    def _refused(
        self, attribute: Attribute, column: Column, lines: Sequence[int], accepts: Callable[[str], bool], what: str
    ) -> InputError:
        """Return the error for the first value that an attribute does not accept."""
        pairs = zip(lines, column, strict=True)
        line, value = next((line, value) for line, value in pairs if value is not None and not accepts(value))
        return InputError(
            f"{self._where(line)} holds {value!r} for attribute {attribute.name!r}; expected {what}. Correct the line, "
            "or the declaration."
        )

    def _where(self, number: int) -> str:
        """Return the location of a line for errors."""
        return f"line {number} of '{self.path}'"


def split_values(line: str) -> Row | None:
    """Return the values between the commas of a line, None for an unquoted ?, or None if its quotes do not match."""
    if "'" not in line and '"' not in line:
        return [None if value == "?" else value for value in map(str.strip, line.split(","))]
    values: Row = []
    position, more = 0, ","
    while more:
        match = VALUE.match(line, position)
        if match is None:
            return None
        single, double, plain, more = match.groups()
        quoted = double if single is None else single
        values.append((None if plain == "?" else plain) if quoted is None else ESCAPE.sub(_unescape, quoted))
        position = match.end()
    return values


def _gather(rows: Iterable[tuple[int, Row]]) -> tuple[list[int], Row, ValueError | None]:
    """Return the line numbers of some records, all their values in one flat list, and the error that ended them."""
    # Not a list of rows: Python's garbage collector would visit each of them time and again.
    lines: list[int] = []
    values: Row = []
    try:
        for line, row in rows:
            lines.append(line)
            values += row
    except UnicodeError:
        raise
    except ValueError as error:
        return lines, values, error
    return lines, values, None


def _unquoted(name: str) -> str:
    """Return a name without the quotes around it."""
    return ESCAPE.sub(_unescape, name[1:-1]) if name[0] in "'\"" else name


def _unescape(match: re.Match[str]) -> str:
    """Return the character of an escape sequence of a backslash and a letter."""
    return ESCAPED.get(match[1], match[1])


def _numbers(column: Column, kind: Any) -> Any:
    """Return text as an Arrow array of numbers."""
    convert = int if kind == pa.int64() else float
    return pa.array([None if value is None else convert(value) for value in column], kind)


def _dates(column: Column) -> Any:
    """Return text as an Arrow array of dates, in Weka's default format."""
    return pa.array([None if value is None else datetime.fromisoformat(value) for value in column], DATE)


def _is_date(value: str) -> bool:
    """Return whether text is a date without a time zone."""
    try:
        return datetime.fromisoformat(value).tzinfo is None
    except ValueError:
        return False


def _is_number(value: str, kind: Any) -> bool:
    """Return whether text is a number of an Arrow type."""
    try:
        _numbers([value], kind)
    except (ValueError, OverflowError):
        return False
    return True
