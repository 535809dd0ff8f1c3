"""``python -m adforest`` is the command ``adforest``."""

from adforest.cli import program

program()
