"""Model files: one versioned file that any program may read, and that runs no code when it is read."""

from adforest.exceptions import ModelFileError
from adforest.storage.files import load, save

__all__ = ["ModelFileError", "load", "save"]
