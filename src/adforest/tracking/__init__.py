"""Bounded statistics of a model's stream, for reports and the monitor: batches, classes, columns, predictions."""

from adforest.tracking.column_sketches import ColumnSketches
from adforest.tracking.history import BatchBlock, History
from adforest.tracking.track import ClassLives, Prequential, PrequentialAnswers, Track

__all__ = ["BatchBlock", "ClassLives", "ColumnSketches", "History", "Prequential", "PrequentialAnswers", "Track"]
