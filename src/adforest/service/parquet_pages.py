"""To how many bytes a Parquet file unpacks, by the headers of its pages: its footer may say anything.

Readers take as much memory for a page as its header says, and refuse a page that unpacks to more. Footer and headers
are in Thrift's compact protocol. They are read here since pyarrow ends the process where it shows a wrong footer.
"""

from __future__ import annotations

from typing import Any

MAX_PAGES = 100_000
MAX_DEPTH = 12  # of structs and lists in each other
# Types of the protocol
TRUE, FALSE, BYTE, INTEGERS, DOUBLE, BINARY, LISTS, STRUCT = 1, 2, 3, (4, 5, 6), 7, 8, (9, 10), 12
# Fields: of the file, of a group of rows, of a column, of its metadata
GROUPS, COLUMNS, METADATA = 4, 1, 3
PACKED_COLUMN, DATA_OFFSET, DICTIONARY_OFFSET = 7, 9, 11
# Fields of the header of a page; the headers of both kinds of data pages have the encoding in another one
UNPACKED, PACKED, ENCODINGS = 2, 3, {5: 2, 8: 4}
DELTA_BYTE_ARRAY = 7  # in which a few bytes may stand for much text


def unpacked_size(content: bytes) -> int:
    """Return to how many bytes the pages of a Parquet file unpack.

    Raises
    ------
    ValueError
        If footer or headers cannot be read, or are too many, or if an encoding does not say how large the text is.
    """
    size = n_pages = 0
    for offset, end in _columns(content):
        while offset < end:
            header, offset = _struct(content, offset)
            unpacked, packed = _number(header.get(UNPACKED)), _number(header.get(PACKED))
            for kind, field in ENCODINGS.items():
                if field in _fields(header.get(kind, {})) and header[kind][field] == DELTA_BYTE_ARRAY:
                    raise ValueError("DELTA_BYTE_ARRAY does not say how large the text is; use another encoding")
            offset, size, n_pages = offset + packed, size + unpacked, n_pages + 1
            if n_pages > MAX_PAGES:
                raise ValueError(f"it has more than {MAX_PAGES:,} pages; write larger ones")
    return size


def _columns(content: bytes) -> list[tuple[int, int]]:
    """Return where the pages of each column begin and end."""
    n_footer = int.from_bytes(content[-8:-4], "little")
    footer, _ = _struct(content, len(content) - 8 - n_footer)
    found = []
    for group in _listed(footer.get(GROUPS)):
        for column in _listed(_fields(group).get(COLUMNS)):
            about = _fields(_fields(column).get(METADATA))
            begin = _number(about.get(DATA_OFFSET))
            dictionary = _number(about.get(DICTIONARY_OFFSET, 0))
            begin = dictionary if 0 < dictionary < begin else begin
            found.append((begin, min(begin + _number(about.get(PACKED_COLUMN)), len(content))))
    return found


def _fields(value: Any) -> dict[int, Any]:
    if type(value) is not dict:
        raise ValueError("a struct is missing")
    return value


def _listed(value: Any) -> list[Any]:
    if type(value) is not list:
        raise ValueError("a list is missing")
    return value


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("a size is missing")
    return value


def _struct(content: bytes, offset: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """Return the fields of a struct by their numbers, and where it ends."""
    found: dict[int, Any] = {}
    number = 0
    while True:
        head, offset = _byte(content, offset)
        if head == 0:
            return found, offset
        if head >> 4:
            number += head >> 4
        else:
            number, offset = _integer(content, offset)
        kind = head & 15
        if kind in (TRUE, FALSE):
            found[number] = kind == TRUE
        else:
            found[number], offset = _value(content, offset, kind, depth)


def _value(content: bytes, offset: int, kind: int, depth: int) -> tuple[Any, int]:
    """Return a value, None for text and fractions, and where it ends."""
    if kind in (TRUE, FALSE, BYTE):  # of booleans only those in lists have a byte
        return _byte(content, offset)
    if kind in INTEGERS:
        return _integer(content, offset)
    if kind == DOUBLE:
        return None, offset + 8
    if kind == BINARY:
        length, offset = _varint(content, offset)
        return None, offset + length
    if depth == MAX_DEPTH or kind not in (*LISTS, STRUCT):
        raise ValueError(f"there is no type {kind}")
    if kind == STRUCT:
        return _struct(content, offset, depth + 1)
    head, offset = _byte(content, offset)
    length, offset = _varint(content, offset) if head >> 4 == 15 else (head >> 4, offset)
    found = []
    for _ in range(length):
        one, offset = _value(content, offset, head & 15, depth + 1)
        found.append(one)
        if offset > len(content):
            raise ValueError("it is cut")
    return found, offset


def _integer(content: bytes, offset: int) -> tuple[int, int]:
    value, offset = _varint(content, offset)
    return value >> 1 ^ -(value & 1), offset


def _varint(content: bytes, offset: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        one, offset = _byte(content, offset)
        value |= (one & 127) << shift
        if one < 128:
            return value, offset
    raise ValueError("a number is too large")


def _byte(content: bytes, offset: int) -> tuple[int, int]:
    if not 0 <= offset < len(content):
        raise ValueError("it is cut")
    return content[offset], offset + 1
