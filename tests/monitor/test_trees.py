import builtins
import re
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.forest import LeafCounts, Tree, TreeEditor
from adforest.forest._kernels.growing import NODE
from adforest.forest.tree import CAUSES
from adforest.monitor import draw_tree, tree_dot, tree_text
from adforest.monitor.questions import write_number
from adforest.monitor.views import COLOURS, view_tree

matplotlib = pytest.importorskip("matplotlib")
pd = pytest.importorskip("pandas")
NAN = float("nan")


@pytest.fixture(autouse=True)
def _no_window():
    from matplotlib import pyplot

    matplotlib.use("agg")
    yield
    pyplot.close("all")


def systematic(**keywords):
    """A model whose only tree is built without a bootstrap, and never renewed."""
    settings = {"base_forest": "sysfor", "min_samples_leaf": 1, "perturbation": "predicted", "random_state": 0}
    return PaperADFClassifier(1, **settings | keywords)


@pytest.fixture(scope="module")
def toy():
    """Three batches: the tree is built, a root is added, and a leaf is expanded."""
    batches = [
        ([[100, 1], [120, 2], [200, 1], [220, 2]], ["low", "low", "mid", "mid"]),
        ([[400, 1], [420, 1], [440, 1]], ["high", "high", "high"]),
        ([[205, 1], [210, 1], [215, 1], [110, 1]], ["top", "top", "top", "low"]),
    ]
    model = systematic(repair_threshold=1.0)
    for X, y in batches:
        model.partial_fit(pd.DataFrame(X, columns=["Area", "Beds"]), y)
    return model


def planted(model, tree):
    """The model, with that tree for a permanent forest."""
    model = copy(model)
    model._model = copy(model._model)
    forests = dict(model._model.state.state.forests)
    forest = replace(forests["permanent"].forest, trees=(tree,))
    forests["permanent"] = replace(forests["permanent"], forest=forest)
    model._model = replace(
        model._model,
        state=replace(model._model.state, state=replace(model._model.state.state, forests=forests)),
    )
    return model


def cut(model, feature, value, *, missing_left, batch=1):
    """The model with a tree of one cut and one record of the first class on either side."""
    editor = TreeEditor(Tree.bare(model.n_features_in_, seed=0), batch)
    child = editor.split(0, feature, value, missing_left=missing_left)
    ones = np.array([child, child + 1], dtype=np.int32)
    editor.add(LeafCounts(ones, np.zeros(2, dtype=np.int32), np.ones(2)))
    return planted(model, editor.finish())


def questions(model):
    left, right = (line for line in tree_text(model).splitlines() if "class:" not in line)
    return left.removeprefix("|--- ").split("  [")[0], right.removeprefix("|--- ")


# Text

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
    assert tree_text(empty) == "|--- no class (no records)  [batch 0: tree built]"
    assert "no records" in tree_dot(empty)
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


# Questions


def test_categories_are_named_by_the_smaller_side():
    X = [["red"], ["blue"], ["green"], ["white"]]
    model = systematic().fit(X, [0, 0, 1, 1])
    asked = {
        (1, 0, 0, 0): ("x[0] in {red}", "x[0] not in {red}"),
        (1, 1, 1, 0): ("x[0] not in {white}", "x[0] in {white}"),
        (1, 1, 0, 0): ("x[0] in {red, blue}", "x[0] not in {red, blue}"),
    }
    for left, words in asked.items():
        assert questions(cut(model, 0, np.array(left, dtype=bool), missing_left=False)) == words
    even = cut(model, 0, np.array([1, 1, 0, 0], dtype=bool), missing_left=True)
    assert questions(even) == ("x[0] not in {green, white}", "x[0] in {green, white}"), "the rest takes in the unknown"


def test_many_categories_are_cut_short_and_numbers_are_categories_too():
    X = np.arange(200.0)[:, None]
    model = systematic(categorical_features=[0]).fit(X, X[:, 0] % 2 == 0)
    left, right = questions(model)
    assert left.startswith("x[0] ")
    assert left.count(",") == right.count(",") == 8
    assert "... 92 more}" in left
    assert ".0" not in left


def test_a_category_that_came_later_takes_the_side_of_missing_values():
    model = systematic().partial_fit([["a"], ["b"]], [0, 1])
    model.partial_fit([[str(number)] for number in range(70)], [0] * 70)
    for missing_left in (False, True):
        one = cut(model, 0, np.array([True, False]), missing_left=missing_left)
        named = "not in {b}" if missing_left else "in {a}"
        assert questions(one)[0] == f"x[0] {named}"


def test_the_side_of_missing_values_is_told_where_values_are_missing():
    model = systematic().fit([[1.0, 1.0, "a"], [2.0, NAN, None], [3.0, 3.0, "b"]], [0, 1, 0])
    assert questions(cut(model, 0, 2.5, missing_left=True)) == ("x[0] <= 2.5", "x[0] > 2.5")
    assert questions(cut(model, 1, 2.5, missing_left=True)) == ("x[1] <= 2.5 or missing", "x[1] > 2.5")
    assert questions(cut(model, 1, 2.5, missing_left=False)) == ("x[1] <= 2.5", "x[1] > 2.5 or missing")
    mask = np.array([True, False])
    assert questions(cut(model, 2, mask, missing_left=True)) == ("x[2] not in {b} or missing", "x[2] in {b}")


def test_known_against_missing():
    model = systematic().fit([[1.0], [2.0], [NAN], [NAN]], ["there", "there", "gone", "gone"])
    assert questions(model) == ("x[0] is known", "x[0] is missing")
    model = systematic().fit([["a"], ["b"], [None], [None]], ["there", "there", "gone", "gone"])
    assert {"x[0] is known", "x[0] is missing"} == set(questions(model))


@pytest.mark.parametrize(
    ("value", "low", "high", "written"),
    [
        (180.0, -np.inf, np.inf, "180"),
        (123456.0, -np.inf, np.inf, "123456"),
        (123456.78, -np.inf, np.inf, "123457"),
        (-0.5, -np.inf, np.inf, "-0.5"),
        (2.4500000476837, -np.inf, np.inf, "2.45"),
        (1234.6, 1234.5, 1234.7, "1234.6"),
        (0.123449, 0.12342, 0.12345, "0.123449"),
        (1.5e-7, -np.inf, np.inf, "1.5e-07"),
        (1e20, -np.inf, np.inf, "1e+20"),
        (0.1 + 0.2, 0.3, np.nextafter(0.1 + 0.2, 1), "0.3"),
    ],
)
def test_numbers_are_as_short_as_they_still_separate(value, low, high, written):
    assert write_number(value, low, high) == written


def test_written_thresholds_separate_records_as_the_tree_does():
    X = 1 + np.random.default_rng(0).integers(0, 4000, size=(400, 1)) * 1e-9
    model = AdaptiveDecisionForestClassifier(1, random_state=0).fit(X, np.arange(400) % 3)
    text = tree_text(model)
    tree = model.permanent_forest_.trees[0]
    written = sorted({float(number) for number in re.findall(r"<= (\S+)", text)})
    exact = np.unique(tree.nodes["threshold"][tree.nodes["split"] >= 0])
    assert len(written) == len(exact)
    np.testing.assert_array_equal(X <= written, X <= exact)


def test_a_bound_is_not_written_with_all_its_nines():
    model = systematic().fit([[100.0], [200.0]], [0, 1])
    assert questions(cut(model, 0, float(np.nextafter(100, 0)), missing_left=True)) == ("x[0] < 100", "x[0] >= 100")
    assert questions(cut(model, 0, float(np.nextafter(0.3, 0)), missing_left=True)) == ("x[0] < 0.3", "x[0] >= 0.3")


# Graphviz


def parsed(dot):
    """Nodes with their attributes, and edges, of the little that we write."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "S", dot)
    assert '"' not in bare, "every string is closed"
    assert bare.count("{") == bare.count("}") == 1
    assert bare.count("[") == bare.count("]")
    nodes = re.findall(r"^  n(\d+) \[(.*)\];$", dot, re.MULTILINE)
    edges = re.findall(r'^  n(\d+) -> n(\d+) \[label="(yes|no)"\];$', dot, re.MULTILINE)
    assert len(dot.splitlines()) == 4 + len(nodes) + len(edges)
    return dict(nodes), edges


def test_graph_has_every_node_once_and_two_edges_a_question(toy):
    nodes, edges = parsed(tree_dot(toy))
    tree = toy.permanent_forest_.trees[0]
    assert sorted(map(int, nodes)) == list(range(len(tree.nodes)))
    assert len(edges) == 2 * (tree.nodes["split"] >= 0).sum()
    for number, line in enumerate(tree.nodes):
        below = [(int(child), answer) for parent, child, answer in edges if int(parent) == number]
        assert sorted(below) == ([(line["left"], "yes"), (line["left"] + 1, "no")] if line["split"] >= 0 else [])
        assert f"batch {tree.born[number]}: {CAUSES[tree.cause[number]]}" in nodes[str(number)]


def test_graph_colours_leaves_by_class(toy):
    nodes, _ = parsed(tree_dot(toy))
    colour = {}
    for attributes in nodes.values():
        name, fill = re.search(r'label="(\w+) [^"]*", fillcolor="(#\w{6})"', attributes).groups()
        colour.setdefault(name, set()).add(fill)
    assert colour.pop("Area") == {"#FFFFFF"}
    assert all(len(fills) == 1 for fills in colour.values())
    assert len(set.union(*colour.values())) == len(colour) == 4


def test_graph_ends_at_a_depth(toy):
    nodes, edges = parsed(tree_dot(toy, max_depth=1))
    assert (len(nodes), len(edges)) == (3, 2)
    assert sum("... 6 nodes below" in attributes for attributes in nodes.values()) == 1


def test_names_are_escaped():
    frame = pd.DataFrame({'say "hi" {\\n}': ['a"', "b\\", 'a"', "b\\"]})
    model = systematic().fit(frame, ["one\ntwo", 'end"; }', "one\ntwo", 'end"; }'])
    nodes, _ = parsed(tree_dot(model))
    assert len(nodes) == 3
    assert r"say \"hi\" {\\n} " in nodes["0"]
    assert any("one two 2" in attributes for attributes in nodes.values())
    assert len(tree_text(model).splitlines()) == 4
    draw_tree(model).figure.canvas.draw()


# Drawing


def words_of(ax):
    from matplotlib.offsetbox import AnnotationBbox
    from matplotlib.text import Text

    boxes = [artist for artist in ax.artists if isinstance(artist, AnnotationBbox)]
    return [[text.get_text() for text in box.findobj(Text) if text.get_text()] for box in boxes]


def test_drawing_has_a_box_a_node_and_a_legend(toy):
    ax = draw_tree(toy)
    words = words_of(ax)
    assert len(words) == len(toy.permanent_forest_.trees[0].nodes)
    assert words[0] == ["Area ≤ 310?", "batch 2: root added"]
    assert words[-1] == ["high 3"]
    assert [text.get_text() for text in ax.get_legend().texts] == ["low", "mid", "high", "top"]
    ax.figure.canvas.draw()


def test_drawing_into_given_axes(toy):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 2))
    ax = figure.subplots()
    assert draw_tree(toy, "active", max_depth=1, ax=ax) is ax
    assert ax.get_title(loc="left") == "active forest, tree 0"
    assert len(words_of(ax)) == 3


@pytest.mark.parametrize("n_leaves", [8, 40])
def test_leaves_are_evenly_spaced_parents_centred_and_boxes_apart(n_leaves):
    X = np.arange(4.0 * n_leaves)[:, None]
    model = systematic().fit(X, X[:, 0] // 4 % 12)
    ax = draw_tree(model)
    ax.figure.canvas.draw()
    views = view_tree(model, "permanent", 0, None)
    along = 1 if n_leaves > 14 else 0
    places = np.array([artist.xy for artist in ax.artists])[:, along]
    leaves = [view.condition is None for view in views]
    np.testing.assert_allclose(np.abs(np.diff(places[leaves])), 1)
    for number in np.flatnonzero(~np.array(leaves)):
        children = [place for place, view in zip(places, views, strict=True) if view.parent == number]
        assert places[number] == pytest.approx(np.mean(children))
    boxes = [artist.get_window_extent() for artist in ax.artists]
    overlaps = [(i, j) for i in range(len(boxes)) for j in range(i) if boxes[i].overlaps(boxes[j])]
    assert not overlaps


def test_classes_keep_their_colours_and_many_classes_have_different_ones():
    X = np.arange(40.0)[:, None]
    model = systematic().partial_fit(X[:20], np.arange(20) + 100)
    first = {view.counts[0][0]: view.colour for view in view_tree(model, "permanent", 0, None) if view.counts}
    model.partial_fit(X[20:], np.arange(20))
    later = {view.counts[0][0]: view.colour for view in view_tree(model, "permanent", 0, None) if view.counts}
    assert first.items() <= later.items()
    assert len(set(later.values())) > 2 * len(COLOURS)


def test_without_matplotlib_the_error_says_what_to_install(toy, monkeypatch):
    real = builtins.__import__

    def refuse(name, *arguments, **keywords):
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"pip install 'adforest\[demo\]'"):
        draw_tree(toy)
    assert tree_text(toy) == TOY


# Large trees


@pytest.fixture(scope="module")
def deep():
    """A chain of 50,000 questions, deeper than Python's stack by far."""
    n = 50_000
    nodes = np.zeros(2 * n + 1, dtype=NODE)
    nodes["left"] = nodes["split"] = -1
    chain = np.append(0, 2 * np.arange(1, n))
    nodes["left"][chain] = 2 * np.arange(n) + 1
    nodes["split"][chain] = 0
    nodes["threshold"][chain] = np.arange(n)
    bare = Tree.bare(1, seed=0)
    size = len(nodes)
    tree = replace(
        bare,
        nodes=nodes,
        row_start=np.arange(size + 1, dtype=np.int32) - np.searchsorted(chain, np.arange(size + 1)).astype(np.int32),
        row_class=np.zeros(n + 1, dtype=np.int32),
        row_weight=np.ones(n + 1),
        row_scale=np.ones(size),
        born=np.ones(size, dtype=np.int32),
        cause=np.zeros(size, dtype=np.uint8),
    )
    return planted(systematic().fit([[0.0], [1.0]], ["a", "b"]), tree)


def test_a_huge_tree_with_a_depth(deep):
    lines = tree_text(deep, max_depth=3).splitlines()
    assert lines[-1] == "|   |   |   |--- class: a (a 49998) ... 99,994 nodes below"
    assert len(parsed(tree_dot(deep, max_depth=10))[0]) == 21
    assert len(words_of(draw_tree(deep, max_depth=5))) == 11
    assert len(view_tree(deep, "permanent", 0, None)) == 100_001


# Errors


@pytest.mark.parametrize("look", [tree_text, tree_dot, draw_tree])
@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "said"),
    [
        (("lasting",), {}, ValueError, "forest is 'lasting'; expected 'permanent', 'active', 'temporary' or 'newest'"),
        (("temporary",), {}, ValueError, "no temporary forest after batch 3.*one of these: permanent, active"),
        (("active", 1), {}, IndexError, "tree is 1, but the active forest has one tree, number 0"),
        (("active", -1), {}, IndexError, "tree is -1"),
        (("active", "first"), {}, TypeError, "tree is 'first'; expected a whole number"),
        ((), {"max_depth": -1}, ValueError, "max_depth is -1; expected a whole number from 0 on, or None"),
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
