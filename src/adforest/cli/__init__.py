"""`adforest` in the shell: learn, watch, predict, look at and hand on models, without a line of Python."""

from adforest.cli.running import main, program

__all__ = ["main", "program"]
