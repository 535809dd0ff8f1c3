"""A record typed in is the record that the model sees; trees from any node on are what they are within the whole."""

import numpy as np
import pandas as pd
import pytest

from adforest import AdaptiveDecisionForestClassifier
from adforest.monitor import ModelView
from adforest.monitor.pages.tree_figure import TreeChoice, trees_part
from adforest.monitor.pages.what_if import last_sample, read_sample, what_if_part
from adforest.monitor.tree_nodes import view_path, view_tree
from rent_stream import rent_model
from saved_models import CASES, table


@pytest.mark.parametrize("case", ["tables", "ours", "listed", "changing columns"])
def test_what_is_typed_is_what_the_model_sees(case):
    model = CASES[case]().model
    learnt = model._checked()
    memory = learnt.state.memory
    typed = last_sample(learnt.encoder, memory)
    translated = learnt.encoder.translate(read_sample(learnt.encoder, typed), model.column_changes)
    np.testing.assert_allclose(translated, memory.matrix()[-1:], rtol=0, atol=1)  # moments are typed to the second


@pytest.fixture(scope="module")
def encoder():
    model = AdaptiveDecisionForestClassifier(2, random_state=0)
    for seed in range(2):
        model.partial_fit(*table(seed))
    return model._checked().encoder


def typed(encoder, **values):
    return encoder.translate(read_sample(encoder, [values.get(name, "") for name in encoder.names]))[0]


def test_kinds_of_values(encoder):
    row = dict(zip(encoder.names, typed(encoder, size="1.5", day="2024-02-01", took="90", flag="1"), strict=True))
    assert row["size"] == 1.5
    assert row["day"] == pd.Timestamp("2024-02-01").timestamp()
    assert row["took"] == 90
    assert np.isnan(row["colour"])
    zoned = dict(zip(encoder.names, typed(encoder, moment="2024-02-01 12:00+01:00"), strict=True))
    assert zoned["moment"] == pd.Timestamp("2024-02-01 11:00").timestamp()
    assert np.isnan(typed(encoder, colour="never seen")).all()
    assert typed(encoder, colour="blü")[1] == encoder.category_values(1).index("blü")


@pytest.mark.parametrize(
    ("column", "text", "message"),
    [
        ("size", "tall", r"size is 'tall'; expected a number"),
        ("size", "inf", r"size is 'inf'; expected a number"),
        ("size", "nan", r"size is 'nan'; expected a number"),
        ("size", "1e999", r"expected a number"),
        ("day", "tomorrow", r"day is 'tomorrow'; expected a date, such as 2026-01-31"),
        ("took", "long", r"took is 'long'; expected a number"),
    ],
)
def test_what_cannot_be_read_is_told_by_column(encoder, column, text, message):
    with pytest.raises(ValueError, match=message):
        typed(encoder, **{column: text})


def test_the_answer_is_that_of_the_model():
    model = rent_model(4, 150, n_estimators=3)
    learnt = model._checked()
    typed = last_sample(learnt.encoder, learnt.state.memory)
    typed[0] = "777"
    page = what_if_part(model, ModelView.from_estimator(model), {f"c{k}": value for k, value in enumerate(typed)})
    explained = model.explain(read_sample(learnt.encoder, typed))
    assert f"<b>{explained.predictions[0]}</b> with probability {100 * explained.confidence[0]:.1f}%" in page
    assert "Area = 777" in page
    assert "Shown is what you typed" in page


# Trees


@pytest.fixture(scope="module")
def forest():
    return rent_model(6, 200, n_estimators=10)


def test_a_tree_from_a_node_on_is_part_of_the_whole(forest):
    whole = {view.number: view for view in view_tree(forest, "permanent", 1, None)}
    node = next(view.number for view in whole.values() if view.depth == 3 and view.condition)
    below = view_tree(forest, "permanent", 1, None, node)
    assert below[0].number == node
    assert below[0].depth == 0
    for view in below:
        same = whole[view.number]
        assert (view.condition, view.counts, view.batch, view.cause) == (
            same.condition,
            same.counts,
            same.batch,
            same.cause,
        )
        assert view.depth == same.depth - 3
    ended = view_tree(forest, "permanent", 1, 2, node)
    assert max(view.depth for view in ended) == 2
    assert len(ended) + sum(view.n_below for view in ended) == len(below)
    n_new = sum(view.is_new for view in below)
    assert sum(view.is_new + view.n_new_below for view in ended) == n_new
    assert all(view.is_new == (view.batch == forest._checked().state.n_batches) for view in below)


def test_the_way_to_a_node(forest):
    whole = view_tree(forest, "permanent", 1, None)
    place = next(place for place, view in enumerate(whole) if view.depth == 4)
    path = view_path(forest, "permanent", 1, whole[place].number)
    expected = []
    while whole[place].parent >= 0:
        above = whole[whole[place].parent]
        expected.append((above.number, above.condition.left if whole[place].is_left else above.condition.right))
        place = whole[place].parent
    assert path == expected[::-1]
    assert view_path(forest, "permanent", 1, 0) == []


@pytest.mark.parametrize("node", [-1, 10**9])
def test_a_node_that_is_not_there(forest, node):
    with pytest.raises(IndexError, match=r"node is -?\d+, but the tree has nodes 0 to \d+"):
        view_tree(forest, "permanent", 0, None, node)
    with pytest.raises(IndexError, match=r"node is"):
        view_path(forest, "permanent", 0, node)


def test_the_tree_that_changed_most_is_shown_first(forest):
    state = forest._checked().state
    trees = state.forests["active"].forest.trees
    chosen = TreeChoice().fitting(state)
    n_new = [int((tree.born == state.n_batches).sum()) for tree in trees]
    partly = [n for n, tree in zip(n_new, trees, strict=True) if n < len(tree.nodes)]
    assert n_new[chosen.tree] == max(partly)
    assert chosen.forest == "active"
    page = trees_part(forest, TreeChoice())
    total = len(trees[chosen.tree].nodes)
    assert f"made {n_new[chosen.tree]:,} of {total:,} nodes" in page
    link = TreeChoice("newest", 1, 3, 2).fitting(state).link(node=0)
    assert link == "?forest=newest&tree=1&node=0&depth=2#trees"
    assert TreeChoice("nowhere", 1, 3).fitting(state).node == 0
