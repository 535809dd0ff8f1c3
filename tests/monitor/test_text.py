"""Trees as text, and what is said where there is none to look at."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError

from adforest import AdaptiveDecisionForestClassifier
from adforest.forest import Tree
from adforest.monitor import draw_tree, tree_dot, tree_text
from adforest.monitor.tree_nodes import view_tree
from planted_trees import TOY, planted, systematic

SHORT = """\
|--- Area <= 310  [batch 2: root added]
|   |--- Area <= 160  [batch 1: tree built]
|   |   |--- class: low (low 3)
|   |--- Area > 160
|   |   |--- class: top (top 3, mid 2) ... 4 nodes below  [batch 3: leaf expanded]
|--- Area > 310
|   |--- class: high (high 3)"""


def test_text_shows_questions_counts_and_who_made_which_node(toy):
    assert tree_text(toy) == TOY


def test_text_ends_at_a_depth_with_the_counts_of_all_leaves_below(toy):
    assert tree_text(toy, max_depth=2) == SHORT
    root = "|--- class: low (low 3, high 3, top 3, mid 2) ... 8 nodes below  [batch 2: root added]"
    assert tree_text(toy, max_depth=0) == root
    assert tree_text(toy, max_depth=99) == TOY


def test_a_tree_of_one_leaf():
    model = systematic().fit([[1.0], [2.0]], [True, True])
    assert tree_text(model) == "|--- class: True (True 2)  [batch 1: tree built]"
    empty = planted(model, Tree.bare(1, seed=0))
    assert tree_text(empty) == "|--- no class (no samples)  [batch 0: tree built]"
    assert "no samples" in tree_dot(empty)
    assert draw_tree(empty).get_legend() is not None


def test_counts_come_largest_first_and_ties_by_arrival():
    X = np.zeros((9, 1))
    model = systematic().fit(X, [3, 3, 1, 2, 2, 2, 2, 5, 5])
    assert tree_text(model) == "|--- class: 2 (2 4, 3 2, 5 2, 1 1)  [batch 1: tree built]"
    assert model.predict(X[:1]).tolist() == [2]


def test_every_forest_and_tree_can_be_looked_at():
    generator = np.random.default_rng(0)
    model = AdaptiveDecisionForestClassifier(3, random_state=0)
    for shift in (0, 1):
        X = generator.normal(size=(80, 2))
        model.partial_fit(X, (X[:, 0] > 0) ^ bool(shift))
    assert model.temporary_forest_ is not None
    for name in ("permanent", "active", "temporary", "newest"):
        trees = getattr(model, f"{name}_forest_").trees
        assert len(trees) == (3 if name in ("permanent", "active") else 2)
        texts = [tree_text(model, name, number) for number in range(len(trees))]
        assert [text.count("class:") for text in texts] == [tree.n_leaves for tree in trees]
    assert "[batch 2: tree built]" in tree_text(model, "temporary")


@pytest.mark.parametrize("base_forest", ["random_forest", "hoeffding"])
def test_counts_are_those_of_the_tree(base_forest):
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = AdaptiveDecisionForestClassifier(2, base_forest=base_forest, random_state=0).fit(X, X[:, 0] > 0)
    tree = model.permanent_forest_.trees[1]
    for depth in (None, 1, 0):
        views = view_tree(model, "permanent", 1, depth)
        assert sum(weight for view in views for _, weight in view.counts) == tree.row_weight.sum()
        assert len(views) + sum(view.n_below for view in views) == len(tree.nodes)


@pytest.mark.parametrize("look", [tree_text, tree_dot, draw_tree])
@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "said"),
    [
        (("lasting",), {}, ValueError, "forest is 'lasting'; expected 'permanent', 'active', 'temporary' or 'newest'"),
        (("temporary",), {}, ValueError, "no temporary forest after batch 3.*one of these: permanent, active"),
        (("active", 1), {}, IndexError, "tree is 1, but the active forest has one tree, number 0"),
        (("active", -1), {}, IndexError, "tree is -1"),
        (("active", "first"), {}, TypeError, "tree is 'first'; expected an integer"),
        ((), {"max_depth": -1}, ValueError, "max_depth is -1; expected an integer from 0 on, or None"),
        ((), {"max_depth": 1.5}, ValueError, "max_depth is 1.5"),
    ],
)
def test_errors_say_what_is_there(toy, look, arguments, keywords, error, said):
    with pytest.raises(error, match=said):
        look(toy, *arguments, **keywords)


def test_models_that_have_no_trees():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        tree_text(AdaptiveDecisionForestClassifier())
    with pytest.raises(TypeError, match="got RandomForestClassifier; expected"):
        tree_text(RandomForestClassifier())
    model = AdaptiveDecisionForestClassifier(4).fit([[1], [2]], [0, 1])
    with pytest.raises(IndexError, match="trees 0 to 3"):
        tree_text(model, tree=4)
