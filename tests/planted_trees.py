"""Models with a tree one knows, to be looked at."""

from copy import copy
from dataclasses import replace

import numpy as np

from adforest import PaperADFClassifier
from adforest.forest import LeafCounts, Tree, TreeEditor
from adforest.monitor import tree_text

TOY = """\
|--- Area <= 310  [batch 2: root added]
|   |--- Area <= 160  [batch 1: tree built]
|   |   |--- class: low (low 3)
|   |--- Area > 160
|   |   |--- Area <= 202.5  [batch 3: leaf expanded]
|   |   |   |--- class: mid (mid 1)
|   |   |--- Area > 202.5
|   |   |   |--- Area <= 217.5
|   |   |   |   |--- class: top (top 3)
|   |   |   |--- Area > 217.5
|   |   |   |   |--- class: mid (mid 1)
|--- Area > 310
|   |--- class: high (high 3)"""


def systematic(**keywords):
    """A model whose only tree is built without a bootstrap, and never renewed."""
    settings = {"base_forest": "sysfor", "min_samples_leaf": 1, "perturbation": "predicted", "random_state": 0}
    return PaperADFClassifier(1, **settings | keywords)


def planted(model, tree):
    """The model, with that tree for a permanent forest."""
    model = copy(model)
    forests = dict(model._model.state.forests)
    forest = replace(forests["permanent"].forest, trees=(tree,))
    forests["permanent"] = replace(forests["permanent"], forest=forest)
    model._model = replace(model._model, state=replace(model._model.state, forests=forests))
    return model


def cut(model, feature, value, *, missing_left, batch=1):
    """The model with a tree of one cut and one sample of the first class on either side."""
    editor = TreeEditor(Tree.bare(model.n_features_in_, seed=0), batch)
    child = editor.split(0, feature, value, missing_left=missing_left)
    ones = np.array([child, child + 1], dtype=np.int32)
    editor.add(LeafCounts(ones, np.zeros(2, dtype=np.int32), np.ones(2)))
    return planted(model, editor.finish())


def questions(model):
    left, right = (line for line in tree_text(model).splitlines() if "class:" not in line)
    return left.removeprefix("|--- ").split("  [")[0], right.removeprefix("|--- ")
