"""The file itself: arrays in the safetensors format, a JSON document as one of them, versions and a checksum.

    | 8 bytes: length of the header | header: JSON | arrays, one after the other |

The header has the type, shape and position of each array. Its ``__metadata__`` has one entry, "adforest": the schema of
the file, the version of the library that wrote it, and the SHA-256 of the whole file, computed with 64 zeros instead of
the checksum. The array "document" is the UTF-8 text of a JSON object: everything that is not an array.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from adforest.exceptions import ModelFileError
from adforest.forest.types import AnyArray

Buffer: TypeAlias = bytes | memoryview
SCHEMA = 1  # of the files that this version writes; it reads all up to this one
DOCUMENT = "document"
UNKNOWN = "0" * 64  # instead of the checksum while it is computed
DTYPES: dict[str, type[np.generic]] = {
    "BOOL": np.bool_,
    "F16": np.float16,
    "F32": np.float32,
    "F64": np.float64,
    "I8": np.int8,
    "I16": np.int16,
    "I32": np.int32,
    "I64": np.int64,
    "U8": np.uint8,
    "U16": np.uint16,
    "U32": np.uint32,
    "U64": np.uint64,
}


class Content(NamedTuple):
    """Content of a file: a JSON object, and arrays by name."""

    document: dict[str, Any]
    arrays: dict[str, AnyArray]


def dump_document(document: dict[str, Any]) -> bytes:
    """Return a JSON object as bytes; text may hold lone surrogates."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def parse_document(text: bytes) -> dict[str, Any]:
    """Return the JSON object of some bytes."""
    return _parse(text, "the document")


def pack(document: bytes, arrays: dict[str, AnyArray], library: str) -> list[Buffer]:
    """Return the bytes of a file, in pieces; the same content makes the same bytes."""
    from safetensors.numpy import save

    contents = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    contents[DOCUMENT] = np.frombuffer(document, dtype=np.uint8)
    about = {"schema": SCHEMA, "library": library, "sha256": UNKNOWN}
    # One entry of metadata only: safetensors writes several in an undefined order.
    packed = save(contents, metadata={"adforest": json.dumps(about, separators=(",", ":"))})
    start = packed.index(UNKNOWN.encode())
    digest, view = hashlib.sha256(packed).hexdigest().encode(), memoryview(packed)
    return [view[:start], digest, view[start + len(digest) :]]


def unpack(packed: bytes) -> Content:
    """Return the content of a file, or raise if its bytes are not those that were written."""
    from safetensors import SafetensorError, deserialize

    read: Callable[[bytes], list[tuple[str, dict[str, Any]]]] = deserialize
    about = _about(packed)
    _check_version(about)
    _check_sum(packed, about)
    try:
        entries = read(packed)
    except SafetensorError as error:
        raise ModelFileError(f"its arrays cannot be read ({error})") from error
    arrays = {name: _array(name, entry) for name, entry in entries}
    if DOCUMENT not in arrays or arrays[DOCUMENT].dtype != np.uint8:
        raise ModelFileError("it has no document")
    return Content(parse_document(arrays.pop(DOCUMENT).tobytes()), arrays)


def _about(packed: bytes) -> dict[str, Any]:
    """Return the schema, library and checksum in the header."""
    length = int.from_bytes(packed[:8], "little")
    if len(packed) < 8 or length > len(packed) - 8 or packed[8:9] != b"{":
        raise ModelFileError("it is no model file, or only the beginning of one")
    metadata = _parse(packed[8 : 8 + length], "the header").get("__metadata__")
    text = metadata.get("adforest") if type(metadata) is dict and len(metadata) == 1 else None
    if type(text) is not str:
        raise ModelFileError("it is a safetensors file of something else than a model of adforest")
    return _parse(text.encode("utf-8", "surrogatepass"), "the header's entry 'adforest'")


def _check_version(about: dict[str, Any]) -> None:
    """Raise if a file was written by a later version."""
    schema, library = about.get("schema"), about.get("library")
    if type(schema) is not int or type(library) is not str or schema < 1:
        raise ModelFileError(f"its schema is {schema!r}, expected an integer from 1 to {SCHEMA}")
    if schema > SCHEMA:
        raise ModelFileError(
            f"its schema is {schema}, written by adforest {library[:40]}; this version reads schemas up to {SCHEMA}. "
            "Install a later one: pip install -U adforest"
        )


def _check_sum(packed: bytes, about: dict[str, Any]) -> None:
    """Raise if the checksum is not that of the bytes."""
    claimed = about.get("sha256")
    start = -1
    if type(claimed) is str and len(claimed) == len(UNKNOWN):
        start = packed.find(claimed.encode("utf-8", "replace"))
    if start >= 0:
        digest = hashlib.sha256(memoryview(packed)[:start])
        digest.update(UNKNOWN.encode())
        digest.update(memoryview(packed)[start + len(UNKNOWN) :])
        if digest.hexdigest() == claimed:
            return
    raise ModelFileError("its checksum does not match: it was damaged, or changed by something else than adforest")


def _parse(text: bytes, what: str) -> dict[str, Any]:
    """Return a JSON object in which no name occurs twice."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ModelFileError(f"a name occurs twice in {what}")
        return found

    def refuse(constant: str) -> None:
        raise ModelFileError(f"{what} holds {constant}")

    try:
        parsed = json.loads(text.decode("utf-8", "surrogatepass"), object_pairs_hook=unique, parse_constant=refuse)
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{what} is no JSON ({error})") from error
    if type(parsed) is not dict:
        raise ModelFileError(f"{what} is no JSON object")
    return parsed


def _array(name: str, entry: dict[str, Any]) -> AnyArray:
    """Return an array of the file, in the byte order of this machine."""
    if entry["dtype"] not in DTYPES:
        raise ModelFileError(f"the array {name} is of type {entry['dtype']}")
    dtype = np.dtype(DTYPES[entry["dtype"]])
    array = np.frombuffer(entry["data"], dtype=dtype.newbyteorder("<")).astype(dtype, copy=False)
    return array.reshape(entry["shape"])
