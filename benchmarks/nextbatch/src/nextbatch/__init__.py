"""A benchmark of classifiers for data in batches: predict the next batch, then learn it."""

import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

try:
    __version__ = version("nextbatch")
except PackageNotFoundError:  # run from a checkout
    _project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    __version__ = tomllib.loads(_project.read_text(encoding="utf-8"))["project"]["version"]
