"""Run records: the rows of a run with its settings, versions and fingerprints, in one JSON file."""

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

from experiments.running.fingerprints import digest_run
from experiments.running.measures import Row
from experiments.specs.methods import find_method, library_version
from experiments.specs.run_spec import HOLDOUT, RunSpec


@dataclass(frozen=True)
class RunRecord:
    """The rows of one run, and what they depend on.

    Attributes
    ----------
    key : str
        Names the run and the code it was run by; also the file's name.
    run : dict
        Description of the run.
    settings : dict
        Parameters of the estimator as it was run.
    data_sha256 : str
        Of the stream's records in the order they came.
    sources : dict
        Fingerprints of the code and data behind method, stream and protocol.
    versions : dict
        Of Python and the libraries.
    platform : str
    started, finished : str
        Time in UTC.
    seconds : float
        By the clock, everything included.
    rows : list of dict
        One a batch, see `experiments.running.prequential.run_holdout`.
    """

    key: str
    run: dict[str, Any]
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
    """A run with the fingerprints of what its results depend on, taken before it is made.

    Attributes
    ----------
    run : RunSpec
    sources : dict
        Fingerprints of what is behind ``"method"``, ``"stream"`` and ``"protocol"``.
    """

    run: RunSpec
    sources: dict[str, str]

    @classmethod
    def of(cls, run: RunSpec, folder: Path | None) -> Self:
        """Return the job of a run, given the folder of the data sets."""
        return cls(run, digest_run(run, folder))

    @cached_property
    def key(self) -> str:
        """20 hexadecimal digits, the same as long as run, code and data are."""
        said = json.dumps([self.run.text, self.sources], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:20]


def record_path(key: str, out: Path) -> Path:
    """Return where the record of that key lies."""
    return out / "runs" / f"{key}.json"


def write_record(record: RunRecord, out: Path) -> None:
    """Write a record under a temporary name and rename it, so that it is there whole or not at all."""
    write_json(asdict(record), record_path(record.key, out))


def read_record(key: str, out: Path) -> RunRecord | None:
    """Return a record, or None if there is none or it cannot be read: such a run is to be made."""
    try:
        record = RunRecord(**json.loads(record_path(key, out).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return record if record.key == key and record.rows else None


def write_json(data: Any, path: Path) -> None:
    """Write plain data as JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    temporary.replace(path)


def read_versions(run: RunSpec) -> dict[str, str]:
    """Return the versions of Python and of the libraries that a run uses."""
    library = find_method(run.method).library
    libraries = ["adforest", "numpy", "scikit-learn", *([library] if library else [])]
    return {"python": platform.python_version()} | {name: library_version(name) for name in libraries}


def write_rows(records: Iterable[RunRecord], path: Path) -> None:
    """Write the rows of many records as one Parquet table, a row per batch.

    Parameters
    ----------
    records : iterable of RunRecord
    path : Path
    """
    from adforest.libraries import require

    arrow, parquet = (require(name, "the table of rows", "experiments") for name in ("pyarrow", "pyarrow.parquet"))
    rows = [_identify(record) | row for record in records for row in record.rows]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(arrow.table(columns), path)


def _identify(record: RunRecord) -> Row:
    """Return which run a row belongs to."""
    stream, method = record.run["stream"], record.run["method"]
    return {
        "stream": stream["name"],
        "variant": stream["variant"],
        "options": json.dumps(stream["options"], sort_keys=True),
        "method": method["name"],
        "settings": json.dumps(method["settings"], sort_keys=True),
        "seed": record.run["seed"],
        "protocol": record.run.get("protocol", HOLDOUT),
        "key": record.key,
    }
