"""Model files: one versioned file that any program may read, and that runs no code when it is read."""

from adforest.storage.files import load, save
from adforest.storage.values import ModelFileError

__all__ = ["ModelFileError", "load", "save"]
