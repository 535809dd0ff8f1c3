"""From UCI's site to this machine: one try, in seconds, and without a word."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

from experiments.streams.uci.repository import SOURCES

SECONDS_TO_CONNECT, SECONDS_TO_ANSWER = 5, 30


def cache_folder() -> Path:
    """Return where tables that were fetched are kept, by the custom of the operating system.

    Returns
    -------
    path
        A folder, which need not exist yet.

    Raises
    ------
    ImportError
        If pooch is not installed.
    """
    return Path(_import_pooch().os_cache("adforest"))


def fetch_archive(name: str, folder: Path) -> Path:
    """Download the archive of a data set.

    Parameters
    ----------
    name : str
        Which data set.
    folder : path
        Where to put the archive.

    Returns
    -------
    path
        The zip file.

    Raises
    ------
    ImportError
        If pooch is not installed.
    OSError
        If the archive cannot be had.
    """
    pooch = _import_pooch()
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")
    try:
        downloader = pooch.HTTPDownloader(timeout=(SECONDS_TO_CONNECT, SECONDS_TO_ANSWER))
        url = SOURCES[name].url
        return Path(pooch.retrieve(url, known_hash=None, fname=f"{name}.zip", path=folder, downloader=downloader))
    finally:
        logger.setLevel(level)


def _import_pooch() -> ModuleType:
    """Return the library that downloads."""
    try:
        return import_module("pooch")
    except ImportError as error:
        raise ImportError(
            "fetching a data set needs pooch, which is not installed. Run: pip install 'adforest[experiments]', "
            "or pass folder=... with the data set in it."
        ) from error
