"""A benchmark of classifiers for data in batches: predict the next batch, then learn it."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("nextbatch")
except PackageNotFoundError:  # run from a checkout
    __version__ = "0"
