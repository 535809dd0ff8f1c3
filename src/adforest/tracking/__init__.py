"""What a model keeps of its stream for those who look at it, in bounded space: batches, classes, columns, answers."""

from adforest.tracking.classes import ClassLives
from adforest.tracking.columns import ColumnSketches
from adforest.tracking.history import BatchBlock, History
from adforest.tracking.prequential import Prequential, PrequentialAnswers
from adforest.tracking.track import Track

__all__ = ["BatchBlock", "ClassLives", "ColumnSketches", "History", "Prequential", "PrequentialAnswers", "Track"]
