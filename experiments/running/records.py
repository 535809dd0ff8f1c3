"""Run records: what a part came to, with everything needed to trust it, in one JSON file."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from experiments.running.fingerprints import digest_method, digest_stream
from experiments.running.prequential import Row
from experiments.specs.methods import find_method, library_version
from experiments.specs.run_spec import USUAL, Part

MEASURES = 1  # raised when what is measured, or how, changes: every part is then run again


@dataclass(frozen=True)
class RunRecord:
    """What one part came to.

    Attributes
    ----------
    key : str
        Names the part and the code it was run by; also the file's name.
    part : dict
        Description of the part.
    settings : dict
        Parameters of the estimator as it was run.
    data_sha256 : str
        Of the stream's records in the order they came.
    sources : dict
        Digests of the code behind method and stream.
    versions : dict
        Of Python and the libraries.
    platform : str
    started, finished : str
        Time in UTC.
    seconds : float
        By the clock, everything included.
    rows : list of dict
        One a batch, see `experiments.running.prequential.follow_stream`.
    """

    key: str
    part: dict[str, Any]
    settings: dict[str, Any]
    data_sha256: str
    sources: dict[str, str]
    versions: dict[str, str]
    platform: str
    started: str
    finished: str
    seconds: float
    rows: list[Row]


@dataclass(frozen=True)
class Job:
    """A part, and what its results depend on, looked up before it is run.

    Attributes
    ----------
    part : Part
    sources : dict
        Digests of code and data behind ``"method"`` and ``"stream"``.
    """

    part: Part
    sources: dict[str, str]

    @classmethod
    def of(cls, part: Part, folder: Path | None) -> Self:
        """Return the job of a part, given the folder of the data sets."""
        return cls(part, {"method": digest_method(part.method), "stream": digest_stream(part.stream, folder)})

    @cached_property
    def key(self) -> str:
        """20 hexadecimal digits, the same as long as part, code and data are."""
        said = json.dumps([MEASURES, self.part.text, self.sources], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:20]


def path_of(key: str, out: Path) -> Path:
    """Return where the record of that key lies."""
    return out / "runs" / f"{key}.json"


def write_record(record: RunRecord, out: Path) -> None:
    """Write a record under a temporary name and rename it, so that it is there whole or not at all."""
    write_json(asdict(record), path_of(record.key, out))


def read_record(key: str, out: Path) -> RunRecord | None:
    """Return a record, or None if there is none or it cannot be read: such a part is to be run."""
    try:
        record = RunRecord(**json.loads(path_of(key, out).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return record if record.key == key and record.rows else None


def write_json(data: Any, path: Path) -> None:
    """Write plain data as JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    temporary.replace(path)


def read_versions(part: Part) -> dict[str, str]:
    """Return the versions that a part is run by."""
    library = find_method(part.method).library
    libraries = ["adforest", "numpy", "scikit-learn", *([library] if library else [])]
    return {"python": platform.python_version()} | {name: library_version(name) for name in libraries}


def write_rows(records: Iterable[RunRecord], path: Path) -> None:
    """Write the rows of many records as one Parquet table, a row per batch.

    Parameters
    ----------
    records : iterable of RunRecord
    path : Path
    """
    from adforest.rivals.base import require

    arrow, parquet = (require(name, "the table of rows", "experiments") for name in ("pyarrow", "pyarrow.parquet"))
    rows = [_origin(record) | row for record in records for row in record.rows]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(arrow.table(columns), path)


def _origin(record: RunRecord) -> Row:
    """Return which part a row belongs to."""
    stream, method = record.part["stream"], record.part["method"]
    return {
        "stream": stream["name"],
        "protocol": stream["protocol"],
        "options": json.dumps(stream["options"], sort_keys=True),
        "method": method["name"],
        "settings": json.dumps(method["settings"], sort_keys=True),
        "seed": record.part["seed"],
        "kind": record.part.get("kind", USUAL),
        "key": record.key,
    }
