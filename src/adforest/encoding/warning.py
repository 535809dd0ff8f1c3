"""Warnings that point at the line that called this library, however deep in it they are raised."""

import os
import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1]) + os.sep


def warn_caller(message: str) -> None:
    """Issue a UserWarning on behalf of the first caller outside this library."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
