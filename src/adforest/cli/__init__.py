"""`adforest` in the shell: learn, watch, predict, look at and hand on models, without a line of Python."""

from adforest.cli.running import main

__all__ = ["main"]
