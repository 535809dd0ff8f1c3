"""Look at a model: trees as text, Graphviz source and drawings; its history and its explanations as pictures."""

from adforest.monitor.drawing import draw_tree
from adforest.monitor.explanations import ExplanationDisplay
from adforest.monitor.history import HistoryDisplay
from adforest.monitor.trees import tree_dot, tree_text

__all__ = ["ExplanationDisplay", "HistoryDisplay", "draw_tree", "tree_dot", "tree_text"]
