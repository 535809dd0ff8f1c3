"""Shrunk class proba, against the definition: every step down a path counts by the samples above it."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from adforest.forest import LeafCounts, Tree, TreeEditor
from adforest.forest._kernels.shrinkage import vote, vote_each

ENOUGH = 0.011  # what is left to give once 0.99 of a share is given
STRENGTH = st.sampled_from([0.0, 0.5, 3.0, 30.0, 1e3, 1e9])


@st.composite
def trees(draw, **limits):
    """Draw a tree and its samples; leaves of some trees are emptied, as a repair may leave them."""
    b = draw(oracles.blocks(max_weight=9, **limits))
    tree, leaf_of = oracles.tree_of(b, max_depth=draw(st.sampled_from([None, 1, 3])))
    rows = oracles.rows_of(tree)
    emptied = draw(st.sets(st.sampled_from(sorted(rows)))) if draw(st.booleans()) else set()
    if emptied:
        tree = oracles.with_rows(tree, {node: row for node, row in rows.items() if node not in emptied})
    return b, tree, leaf_of


def proba(tree, leaves, n_classes, strength):
    """Return what the kernel adds for leaves, shrunk by one strength."""
    votes = np.zeros((1, len(leaves), n_classes))
    vote_each([tree.sums], [np.asarray(leaves, dtype=np.int32)], np.array([strength], dtype=float), votes)
    return votes[0]


def mixed(tree, X, n_classes, strengths, mix):
    """Return what the kernel adds for samples."""
    votes = np.zeros((len(X), n_classes))
    vote([tree.sums], np.array(strengths, dtype=float), np.array(mix, dtype=float), X, votes)
    return votes


def kept_on_the_way(tree, leaf, strengths, mix):
    """Return how much is kept of each step to a leaf, by the weight above the step."""
    weights, above, kept = oracles.sums(tree), oracles.parents(tree.nodes), []
    while leaf in above:
        leaf = above[leaf]
        n = sum(weights[leaf].values())
        kept.append(sum(m * n / (n + s) if n else 0 for s, m in zip(strengths, mix, strict=True)))
    return kept


def lists_of(sums):
    """Return by node the weight it holds, and its classes with their weights."""
    ends = zip(sums.total.tolist(), sums.first.tolist(), sums.stop.tolist(), strict=True)
    return [(total, sums.klass[a:b].tolist(), sums.weight[a:b].tolist()) for total, a, b in ends]


@given(trees(), st.data())
def test_sums_of_a_tree_that_was_added_to_are_those_found_anew(drawn, data):
    _, tree, _ = drawn
    leaves = np.flatnonzero(tree.nodes["split"] < 0).tolist()
    for _ in range(data.draw(st.integers(1, 12))):  # in the end so many lists have moved that all are found anew
        found = data.draw(st.sets(st.tuples(st.sampled_from(leaves), st.integers(0, 40)), min_size=1, max_size=9))
        node, klass = (np.array(one, dtype=np.int32) for one in zip(*sorted(found), strict=True))
        before = lists_of(tree.sums)
        added = tree.added_to(LeafCounts(node, klass, np.arange(1.0, len(node) + 1)))
        assert lists_of(added.sums) == lists_of(pickle.loads(pickle.dumps(added)).sums)
        assert lists_of(tree.sums) == before
        tree = added


@given(trees(), st.data())
def test_leaves_asked_for_in_any_order_answer_as_each_does_alone(drawn, data):
    b, tree, _ = drawn
    leaves = np.flatnonzero(tree.nodes["split"] < 0).tolist()
    asked = data.draw(st.lists(st.sampled_from([-1, *leaves]), min_size=2, max_size=30))
    strength = data.draw(STRENGTH)
    together = proba(tree, asked, b.n_classes, strength)
    alone = [proba(tree, [leaf], b.n_classes, strength)[0] for leaf in asked]
    assert together.tolist() == np.array(alone).tolist()


@given(trees())
def test_every_node_holds_what_the_leaves_below_it_hold(drawn):
    _, tree, _ = drawn
    order, parent, total = tree.sums.order, tree.sums.parent, tree.sums.total
    first, stop, klass, weight = tree.sums.first, tree.sums.stop, tree.sums.klass, tree.sums.weight
    assert sorted(order.tolist()) == list(range(len(tree.nodes)))
    place = {node: i for i, node in enumerate(order.tolist())}
    above = oracles.parents(tree.nodes)
    assert parent.tolist() == [above.get(node, -1) for node in range(len(tree.nodes))]
    assert all(place[up] < place[node] for node, up in above.items())
    for node, row in oracles.sums(tree).items():
        held = slice(first[node], stop[node])
        assert (np.diff(klass[held]) > 0).all()
        assert dict(zip(klass[held].tolist(), weight[held].tolist(), strict=True)) == row
        assert total[node] == sum(row.values())
    assert tree.sums.depth == tree.depth


def test_many_classes_in_many_leaves_find_room():
    # A class a sample: sums of inner nodes need more room than is set aside for them by the leaves' own rows.
    values = np.arange(3_000)
    tree, _ = oracles.tree_of(oracles.block(values, values))
    expected = oracles.sums(tree)
    assert sum(len(row) for row in expected.values()) > 8 * len(tree.row_class) + 3_000
    for node, row in expected.items():
        held = slice(tree.sums.first[node], tree.sums.stop[node])
        assert tree.sums.klass[held].tolist() == sorted(row)
        assert (tree.sums.weight[held] == 1).all()


def test_weights_beyond_what_single_precision_counts_are_added_up():
    # A leaf may have seen more than 2^24 samples.
    tree, _ = oracles.tree_of(oracles.block([0, 1, 2], [0, 1, 0]))
    rows = {node: dict.fromkeys(row, 2.0**26) for node, row in oracles.rows_of(tree).items()}
    heavy = oracles.with_rows(tree, rows)
    assert heavy.sums.total[0] == 3 * 2.0**26
    np.testing.assert_allclose(proba(heavy, [0], 2, 3.0)[0], [2 / 3, 1 / 3], rtol=1e-6)


@given(drawn=trees(), strength=STRENGTH)
def test_a_leaf_answers_what_the_definition_says(drawn, strength):
    b, tree, _ = drawn
    leaves = np.flatnonzero(tree.nodes["split"] < 0)
    found = proba(tree, leaves, b.n_classes, strength)
    for leaf, answer in zip(leaves.tolist(), found, strict=True):
        if not tree.sums.total[0]:
            assert not answer.any()
            continue
        stops_early = any(0.98999 < kept < 1 for kept in kept_on_the_way(tree, leaf, [strength], [1.0]))
        expected = oracles.shrunk(tree, leaf, b.n_classes, strength)
        np.testing.assert_allclose(answer, expected, atol=ENOUGH if stops_early else 1e-6)
        assert answer.sum() == pytest.approx(1, abs=1e-6)
        assert (answer > -1e-9).all()


@given(drawn=trees(), data=st.data())
def test_a_mixture_of_strengths_is_the_mixture_of_their_answers(drawn, data):
    b, tree, _ = drawn
    strengths = data.draw(st.lists(STRENGTH, min_size=1, max_size=3, unique=True))
    mix = np.array(data.draw(st.lists(st.integers(1, 9), min_size=len(strengths), max_size=len(strengths))), float)
    mix /= mix.sum()
    found = mixed(tree, b.X, b.n_classes, strengths, mix)
    if not tree.sums.total[0]:
        assert not found.any()
        return
    for leaf, answer in zip(tree.route(b.X).tolist(), found, strict=True):
        kept = kept_on_the_way(tree, leaf, strengths, mix)
        expected = sum(m * oracles.shrunk(tree, leaf, b.n_classes, s) for s, m in zip(strengths, mix, strict=True))
        np.testing.assert_allclose(answer, expected, atol=ENOUGH if any(0.98999 < one < 1 for one in kept) else 1e-6)


@given(drawn=trees(), strength=STRENGTH)
def test_samples_get_the_shares_of_the_leaf_they_reach_and_its_value_in_a_column_more(drawn, strength):
    b, tree, _ = drawn
    alone = mixed(tree, b.X, b.n_classes, [strength], [1.0])
    np.testing.assert_array_equal(alone, proba(tree, tree.route(b.X), b.n_classes, strength))
    if tree.sums.total[0]:
        values, votes = np.arange(len(tree.nodes), dtype=np.float32), np.full((len(b.X), b.n_classes + 1), 2.0)
        vote([tree.sums], np.array([strength]), np.ones(1), b.X, votes, [values])
        np.testing.assert_allclose(votes[:, :-1] - 2, alone, atol=1e-12)
        np.testing.assert_array_equal(votes[:, -1] - 2, tree.route(b.X))


@given(drawn=trees(), strengths=st.lists(STRENGTH, min_size=1, max_size=4))
def test_each_strength_has_a_block_of_its_own(drawn, strengths):
    b, tree, leaf_of = drawn
    votes = np.full((len(strengths), len(b.y), b.n_classes), 2.0)
    vote_each([tree.sums], [leaf_of], np.array(strengths), votes)
    for some, strength in zip(votes, strengths, strict=True):
        np.testing.assert_allclose(some - 2, proba(tree, leaf_of, b.n_classes, strength), atol=1e-12)


@given(oracles.blocks(max_weight=9))
def test_without_shrinkage_leaves_answer_as_they_are(b):
    tree, _ = oracles.tree_of(b, max_depth=2)
    soft = np.zeros((len(b.X), b.n_classes))
    tree.vote(b.X, soft, soft=True)
    plain = proba(tree, tree.route(b.X), b.n_classes, 0.0)
    np.testing.assert_allclose(plain, soft, atol=1e-6)
    np.testing.assert_allclose(mixed(tree, b.X, b.n_classes, [0, 0], [0.5, 0.5]), soft, atol=1e-6)


@given(trees(max_samples=20))
def test_shrunk_without_end_everyone_answers_as_the_root(drawn):
    b, tree, leaf_of = drawn
    if tree.sums.total[0] and len(tree.nodes) > 1:
        root = tree.sums
        expected = np.zeros(b.n_classes)
        expected[root.klass[root.first[0] : root.stop[0]]] = root.weight[root.first[0] : root.stop[0]] / root.total[0]
        found = proba(tree, leaf_of, b.n_classes, 1e12)
        np.testing.assert_allclose(found, np.tile(expected, (len(b.y), 1)), atol=1e-6)


@pytest.mark.parametrize(("strengths", "mix"), [([0.0], [1.0]), ([3.0], [1.0]), ([0.0, 3.0], [0.4, 0.6])])
def test_empty_leaves_say_what_the_node_above_them_says(strengths, mix):
    b = oracles.block([0, 1, 2, 3], [0, 1, 1, 0])
    tree, _ = oracles.tree_of(b)
    pure = int(tree.route(b.X)[0])
    emptied = oracles.with_rows(tree, {n: row for n, row in oracles.rows_of(tree).items() if n != pure})
    above = oracles.parents(tree.nodes)[pure]
    expected = sum(m * proba(emptied, [above], 2, s) for s, m in zip(strengths, mix, strict=True))
    np.testing.assert_allclose(mixed(emptied, b.X[:1], 2, strengths, mix), expected)
    # Two empty leaves below an empty node: the say goes further up.
    editor = TreeEditor(emptied)
    child = editor.split(pure, 0, -1.0, missing_left=True)
    deeper, X = editor.finish(), np.array([[-5.0], [0.0]])
    assert deeper.route(X).tolist() == [child, child + 1]
    np.testing.assert_allclose(mixed(deeper, X, 2, strengths, mix), np.tile(expected, (2, 1)))


def test_samples_nowhere_and_trees_that_know_nothing_add_nothing():
    b = oracles.random_block(40)
    tree, leaf_of = oracles.tree_of(b)
    leaf_of[::2] = -1
    assert proba(tree, leaf_of, 3, 3.0).sum(axis=1) == pytest.approx(np.arange(40) % 2)
    bare = Tree.bare(3, 0)
    assert not proba(bare, bare.route(b.X), 3, 3.0).any()
    assert not mixed(bare, b.X, 3, [3.0], [1.0]).any()
    assert mixed(tree, np.empty((0, 3)), 3, [3.0], [1.0]).shape == (0, 3)
    assert proba(tree, [], 3, 3.0).shape == (0, 3)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 511, 512, 513, 1_300])
def test_any_number_of_samples(n):
    b = oracles.random_block(1_300, n_categories=(0, 90, 3))
    tree, leaf_of = oracles.tree_of(b)
    np.testing.assert_array_equal(mixed(tree, b.X[:n], 3, [3.0], [1.0]), proba(tree, leaf_of[:n], 3, 3.0))
    all_at_once = mixed(tree, b.X, 3, [0.0, 3.0], [0.3, 0.7])
    np.testing.assert_array_equal(mixed(tree, b.X[:n], 3, [0.0, 3.0], [0.3, 0.7]), all_at_once[:n])


@given(drawn=trees(), strengths=st.lists(STRENGTH, min_size=1, max_size=3, unique=True))
def test_many_samples_get_what_each_of_them_gets_alone(drawn, strengths):
    # Answers of all leaves are written to a table where samples are many: the same to the last bit.
    b, tree, _ = drawn
    mix, values = np.full(len(strengths), 1 / len(strengths)), np.arange(len(tree.nodes), dtype=np.float32)

    def ask(X):
        votes = np.full((len(X), b.n_classes + 1), 0.1)
        vote([tree.sums, tree.sums], np.array(strengths), mix, X, votes, [values, values])
        return votes

    one_by_one = np.concatenate([ask(b.X[i : i + 1]) for i in range(len(b.X))])
    np.testing.assert_array_equal(ask(np.tile(b.X, (100, 1))), np.tile(one_by_one, (100, 1)))


def test_large_and_small_trees_answer_together():
    # Few samples: the answers of all leaves pay for the small tree alone.
    b = oracles.random_block(3_000, n_classes=5)
    large, _ = oracles.tree_of(b)
    small, _ = oracles.tree_of(b, max_depth=2)
    strengths, mix = np.array([0.0, 3.0, 30.0]), np.array([0.5, 0.2, 0.3])
    votes = np.zeros((20, 5))
    vote([large.sums, small.sums, large.sums], strengths, mix, b.X[:20], votes)
    expected = [mixed(tree, b.X[:20], 5, strengths, mix) for tree in (large, small, large)]
    np.testing.assert_allclose(votes, np.sum(expected, axis=0), atol=1e-12)


@pytest.mark.parametrize("n_distinct", [1, 3, 200, 1_500])
def test_few_leaves_of_a_large_tree_answer_as_each_does_alone(n_distinct):
    # Rows of the table are written as they are asked for; the last case asks for so many that all are.
    b = oracles.random_block(3_000, n_classes=5)
    tree, _ = oracles.tree_of(b)
    smaller, _ = oracles.tree_of(b, max_depth=9)
    strengths, mix = np.array([0.0, 3.0, 30.0]), np.array([0.5, 0.2, 0.3])

    def ask(X):
        votes = np.zeros((len(X), 6))
        trees = [tree, smaller, tree]
        values = [np.arange(len(one.nodes), dtype=np.float32) for one in trees]
        vote([one.sums for one in trees], strengths, mix, X, votes, values)
        return votes

    n = min(len(tree.nodes), 1_500)
    X = b.X[np.arange(n) % n_distinct]
    assert (len(tree.nodes) + 1) // 2 * (6 + 6) <= 100 * n, "else no table pays"
    expected = np.concatenate([ask(X[i : i + 1]) for i in range(n_distinct)])[np.arange(n) % n_distinct]
    np.testing.assert_array_equal(ask(X), expected)
    n_leaves = len(np.unique(tree.route(X)))
    assert (n_distinct == 1_500) == (4 * n_leaves > (len(tree.nodes) + 1) // 2)
