"""The command line: learn, predict, inspect, serve and export models without Python code."""

from adforest.cli.running import main, program

__all__ = ["main", "program"]
