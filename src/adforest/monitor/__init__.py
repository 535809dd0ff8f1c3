"""Look at a model: whether it is well, trees as text and pictures, its history and its explanations as pictures."""

from adforest.monitor.drawing import draw_tree
from adforest.monitor.expectation import expected_accuracy
from adforest.monitor.explanations import ExplanationDisplay
from adforest.monitor.history import HistoryDisplay
from adforest.monitor.model_view import ModelView
from adforest.monitor.trees import tree_dot, tree_text

__all__ = [
    "ExplanationDisplay",
    "HistoryDisplay",
    "ModelView",
    "draw_tree",
    "expected_accuracy",
    "tree_dot",
    "tree_text",
]
