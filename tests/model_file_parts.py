"""Model files taken apart and put together again, with a checksum that is right whatever was changed."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np

from adforest.storage.container import DTYPES
from saved_models import CASES


class Sample:
    """A file to make mutants of, records to be predicted and a batch to be learnt."""

    def __init__(self, name, folder, *, samples=True):
        case = CASES[name]()
        path = Path(folder) / "sample.adf"
        case.model.save(path, samples=samples)
        self.packed = path.read_bytes()
        self.X, self.y, *_ = case.later[0]
        self.header, self.data = taken_apart(self.packed)


def taken_apart(packed):
    length = int.from_bytes(packed[:8], "little")
    return json.loads(packed[8 : 8 + length]), packed[8 + length :]


def put_together(header, data, *, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def repaired(packed):
    """Return a file with the checksum that it ought to have."""
    found = re.search(rb'sha256\\":\\"([^"\\]*)\\"', packed)
    if found is None:
        return packed
    zeroed = packed[: found.start(1)] + b"0" * 64 + packed[found.end(1) :]
    return zeroed.replace(b"0" * 64, hashlib.sha256(zeroed).hexdigest().encode(), 1)


def arrays_of(sample):
    """Return the arrays of a file by name, the document as JSON."""
    arrays = {}
    for name, entry in sample.header.items():
        if name != "__metadata__":
            start, stop = entry["data_offsets"]
            content = np.frombuffer(sample.data[start:stop], dtype=DTYPES[entry["dtype"]])
            arrays[name] = content.reshape(entry["shape"]).copy()
    document = json.loads(arrays.pop("document").tobytes().decode("utf-8", "surrogatepass"))
    return document, arrays


def from_arrays(sample, document, arrays):
    """Return the file of some arrays and a document, which may be bytes."""
    text = document if isinstance(document, bytes) else json.dumps(document).encode("utf-8", "surrogatepass")
    names = {dtype: name for name, dtype in DTYPES.items()}
    header, parts, place = {"__metadata__": sample.header["__metadata__"]}, [], 0
    for name, array in {**arrays, "document": np.frombuffer(text, dtype=np.uint8)}.items():
        content = np.ascontiguousarray(array).tobytes()
        stop = place + len(content)
        header[name] = {"dtype": names[array.dtype.type], "shape": list(array.shape), "data_offsets": [place, stop]}
        parts.append(content)
        place = stop
    return repaired(put_together(header, b"".join(parts)))
