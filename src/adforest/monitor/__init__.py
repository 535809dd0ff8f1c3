"""Monitoring of a model: a live page, a report, its health; trees, history and explanations as text and plots."""

from adforest.monitor.drawing import draw_tree
from adforest.monitor.expectation import expected_accuracy
from adforest.monitor.explanation_display import ExplanationDisplay
from adforest.monitor.history_display import HistoryDisplay
from adforest.monitor.launch import serve
from adforest.monitor.model_view import ModelView
from adforest.monitor.pages.page import write_report
from adforest.monitor.tree_writing import tree_dot, tree_text

__all__ = [
    "ExplanationDisplay",
    "HistoryDisplay",
    "ModelView",
    "draw_tree",
    "expected_accuracy",
    "serve",
    "tree_dot",
    "tree_text",
    "write_report",
]
