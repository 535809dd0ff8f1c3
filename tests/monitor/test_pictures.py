"""Trees as Graphviz source and as drawings, large ones too."""

import re
import sys
from dataclasses import replace

import numpy as np
import pytest

from adforest.forest import Tree
from adforest.forest._kernels.growing import NODE
from adforest.forest.tree import CAUSES
from adforest.monitor import draw_tree, tree_dot, tree_text
from adforest.monitor.tree_nodes import COLOURS, view_tree
from planted_trees import TOY, planted, systematic

pd = pytest.importorskip("pandas")


# --- Graphviz


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


# --- drawing


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
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'adforest\[plot\]'"):
        draw_tree(toy)
    assert tree_text(toy) == TOY


# --- large trees


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
