"""The five public data sets as UCI archives them: where they lie, how they are written, how to know them."""

from adforest.streams.uci.archives import read_archive
from adforest.streams.uci.downloads import cache_folder, fetch_archive
from adforest.streams.uci.sources import CLASS_COLUMN, SOURCES, Columns

__all__ = ["CLASS_COLUMN", "SOURCES", "Columns", "cache_folder", "fetch_archive", "read_archive"]
