"""What a model keeps of its stream for those who look at it, in bounded space: batches, classes, columns."""

from adforest.tracking.classes import ClassLives
from adforest.tracking.columns import ColumnSketches
from adforest.tracking.history import BatchBlock, History
from adforest.tracking.track import Track

__all__ = ["BatchBlock", "ClassLives", "ColumnSketches", "History", "Track"]
