"""The five public data sets as UCI archives them: where they lie, how they are written, how to know them."""

from experiments.streams.uci.archives import read_archive
from experiments.streams.uci.downloads import cache_folder, fetch_archive
from experiments.streams.uci.repository import CLASS_COLUMN, SOURCES, Columns

__all__ = ["CLASS_COLUMN", "SOURCES", "Columns", "cache_folder", "fetch_archive", "read_archive"]
