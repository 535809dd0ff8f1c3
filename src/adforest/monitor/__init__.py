"""Look at a model: its trees as text, as Graphviz source and as drawings."""

from adforest.monitor.drawing import draw_tree
from adforest.monitor.trees import tree_dot, tree_text

__all__ = ["draw_tree", "tree_dot", "tree_text"]
