"""SysFor's trees: planned by good cuts, grown by C4.5, and nothing left to chance."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from adforest.forest import Groups, GrowthParams, Samples, TreeEditor
from adforest.growers import SysForGrower, TreeRequest
from sysfor_oracles import everyone, good, same_tree, tame

GROWTH = GrowthParams(max_features=1)


def build(b, n=10, *, n_jobs=1, tree_indices=None, known=None, seeds=None, **params):
    """Build a forest; params may have goodness and separation as well."""
    rules = {name: params.pop(name) for name in ("goodness", "separation") if name in params}
    grower = SysForGrower(GrowthParams(max_features=1, **params), **rules)
    samples = b.samples
    known = everyone(samples) if known is None else np.asarray(known, dtype=np.int32)
    return grower.build(TreeRequest(samples, known, list(range(n)) if seeds is None else seeds, n_jobs, tree_indices))


def asks(tree, node, cut):
    """Return whether a node of a tree is the given cut."""
    split = int(tree.nodes["split"][node])
    if split < 0 or split >> 2 != cut.feature or bool(split & oracles.MISSING_LEFT) != cut.missing_left:
        return False
    if not isinstance(cut.value, np.ndarray):
        return not split & oracles.CATEGORICAL and tree.nodes["threshold"][node] == cut.value
    one = tree.nodes[node].item()
    sides = [oracles.goes_left(one, tree.category_bits, float(k)) for k in range(len(cut.value) + 70)]
    return bool(split & oracles.CATEGORICAL) and sides == cut.value.tolist() + [cut.missing_left] * 70


def shape(b, tree, samples, at=0):
    """Return a subtree as nested tuples, by the samples that reach its leaves: to compare it wherever it stands."""
    split = int(tree.nodes["split"][at])
    if split < 0:
        return frozenset(samples.tolist())
    one = tree.nodes[at].item()
    left = np.array(
        [oracles.goes_left(one, tree.category_bits, value) for value in b.X[samples, split >> 2].tolist()], dtype=bool
    )
    return (split, shape(b, tree, samples[left], one[1]), shape(b, tree, samples[~left], one[1] + 1))


def check_c45_below(b, tree, node, part, **params):
    """Check that a pruned C4.5 tree of the part stands at a node."""
    lone, _ = oracles.grow_c45(b, part, prune_confidence=0.25, **params)
    assert shape(b, tree, part, node) == shape(b, lone, part)


def check_built(b, grown, known=None):
    """Check what is true of any tree: leaves hold the samples that reach them, each once."""
    tree = grown.tree
    known = np.arange(len(b.y)) if known is None else known
    assert set(oracles.depths(tree.nodes)) == set(range(len(tree.nodes)))
    routed = oracles.route(tree.nodes, tree.category_bits, b.X)
    np.testing.assert_array_equal(grown.leaf_of[known], routed[known])
    assert (np.delete(grown.leaf_of, known) == -1).all()
    assert oracles.rows_of(tree) == oracles.tally(grown.leaf_of[known], b.y[known], np.ones(len(known)))


def check_forest(b, forest, known=None, *, goodness=0.3, separation=0.3, **params):
    """Check every tree against the plan of the forest; return how many have cuts at level two."""
    b = b._replace(weights=np.ones_like(b.weights))
    known = np.arange(len(b.y)) if known is None else known
    min_leaf = params.get("min_samples_leaf", 1)

    def list_good(part):
        return good(b, part, min_leaf=min_leaf, goodness=goodness, separation=separation)

    roots = list_good(known)
    plans = [(root,) for root in roots]
    for root in roots:
        parts = [known[root.left(b.X[known]) == side] for side in (True, False)]
        below = [list_good(part) for part in parts]
        mean = sum(len(part) * len(cuts) for part, cuts in zip(parts, below, strict=True)) / len(known)
        plans += [
            (root, *(cuts[x] if x < len(cuts) else next(iter(cuts), None) for cuts in below))
            for x in range(round(mean))
        ]
    for grown, (root, *below) in zip(forest, plans, strict=False):
        check_built(b, grown, known)
        assert asks(grown.tree, 0, root)
        first = int(grown.tree.nodes["left"][0])
        for side, cut in enumerate(below or (None, None)):
            part = known[root.left(b.X[known]) != bool(side)]
            if cut is None:
                check_c45_below(b, grown.tree, first + side, part, **params)
                continue
            assert asks(grown.tree, first + side, cut)
            second = int(grown.tree.nodes["left"][first + side])
            left = cut.left(b.X[part])
            check_c45_below(b, grown.tree, second, part[left], **params)
            check_c45_below(b, grown.tree, second + 1, part[~left], **params)
    assert len(forest) <= max(len(plans), 1)
    return len(plans), len(roots)


def test_one_cut_that_says_everything_is_a_forest_of_one_tree():
    # No other attribute is good, and there is nothing to cut below.
    (grown,) = build(oracles.block([1, 2, 8, 9], [0, 0, 1, 1]), 10)
    assert grown.tree.nodes["threshold"][0] == 5
    assert oracles.rows_of(grown.tree) == {1: {0: 2}, 2: {1: 2}}
    assert grown.leaf_of.tolist() == [1, 1, 2, 2]
    assert grown.tree.depth == 1


@pytest.mark.parametrize("n", [1, 5])
def test_where_there_is_nothing_to_cut_one_tree_of_one_leaf(n):
    for b in (oracles.block(np.arange(n), np.zeros(n)), oracles.block(np.zeros(n), np.arange(n))):
        (grown,) = build(b, 10)
        assert len(grown.tree.nodes) == 1
        assert oracles.rows_of(grown.tree) == {0: oracles.tally(np.zeros(n), b.y, np.ones(n))[0]}
        assert (grown.leaf_of == 0).all()


def test_nothing_known_makes_one_empty_leaf():
    (grown,) = build(oracles.random_block(20, n_categories=(0, 3)), known=[])
    assert len(grown.tree.nodes) == 1
    assert oracles.rows_of(grown.tree) == {}
    assert (grown.leaf_of == -1).all()


def test_each_of_three_equal_attributes_has_a_tree():
    y = np.array([0, 0, 1, 1])
    b = oracles.block(np.c_[y, y, 1 - y], y)
    forest = build(b, 10)
    assert [grown.tree.nodes["split"][0] >> 2 for grown in forest] == [0, 1, 2]
    assert all(len(grown.tree.nodes) == 3 for grown in forest)
    assert len(build(b, 2)) == 2


def test_a_root_is_used_again_with_what_is_good_in_its_parts():
    # Class 0 or {1, 2} by column 0; of the latter, columns 1 and 2 both say which. Three roots would be no good:
    # column 0 alone has a ratio of 1, of the others H(1/4)-like 0.38.
    y = np.array([0, 0, 0, 0, 1, 1, 2, 2])
    X = np.array([[0, 0, 0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 0, 1, 1], [1, 0, 1, 0, 0, 0, 1, 1]]).T
    b = oracles.block(X, y)
    assert [cut.feature for cut in good(b)] == [0]
    # The left part is pure: no good cut. The right one has two. 4 × 0 + 4 × 2 of 8 is a mean of 1 further tree.
    forest = build(b, 10)
    assert len(forest) == 2
    assert check_forest(b, forest) == (2, 1)
    level_two = forest[1].tree
    assert level_two.nodes["split"][1] < 0
    assert level_two.nodes["split"][2] >> 2 == 1
    assert sorted(oracles.rows_of(level_two).values(), key=min) == [{0: 4}, {1: 2}, {2: 2}]


@given(b=oracles.blocks(max_features=3, max_classes=3).map(tame), min_leaf=st.integers(1, 3), n=st.integers(1, 12))
def test_trees_are_planned_by_good_cuts_and_grown_by_c45(b, min_leaf, n):
    forest = build(b, n, min_samples_leaf=min_leaf)
    n_plans, _ = check_forest(b, forest, min_samples_leaf=min_leaf)
    assert len(forest) == min(n, max(n_plans, 1))


@pytest.mark.parametrize("n_categories", [(0, 0, 0), (5, 0, 90)], ids=["numerical", "mixed"])
@pytest.mark.parametrize("n", [60, 300, 700])
def test_larger_forests_go_by_the_same_plan(n, n_categories):
    # So few distinct values that it does not matter which samples they are coded with.
    b = oracles.random_block(n, n_categories=n_categories, distinct=20)
    forest = build(b, 30, min_samples_leaf=3)
    n_plans, n_roots = check_forest(b, forest, min_samples_leaf=3)
    assert n_roots < len(forest) == min(30, n_plans)
    known = np.flatnonzero(np.arange(n) % 3 > 0)
    check_forest(b, build(b, 8, known=known, min_samples_leaf=3), known, min_samples_leaf=3)


def test_goodness_and_separation_reach_the_list():
    b = oracles.random_block(150, distinct=20)
    rules = {"goodness": 0.9, "separation": 0.05, "min_samples_leaf": 5}
    forest = build(b, 60, **rules)
    _, many = check_forest(b, forest, **rules)
    rules = {"goodness": 0.05, "separation": 0.6, "min_samples_leaf": 5}
    _, few = check_forest(b, build(b, 60, **rules), **rules)
    assert few < many


def test_a_place_has_the_tree_of_a_full_build():
    b = oracles.random_block(200, n_categories=(0, 6, 0))
    forest = build(b, 40, min_samples_leaf=5)
    last = len(forest) - 1
    tree_indices = [last, 0, 1]
    assert last > 1
    chosen = build(b, tree_indices=tree_indices, seeds=[7, 8, 9], min_samples_leaf=5)
    for grown, place in zip(chosen, tree_indices, strict=True):
        assert same_tree(grown.tree, forest[place].tree)
        np.testing.assert_array_equal(grown.leaf_of, forest[place].leaf_of)
    assert [grown.tree.seed for grown in chosen] == [7, 8, 9]
    assert build(b, tree_indices=[], seeds=[]) == []


def test_a_place_the_data_do_not_offer_has_no_tree():
    b = oracles.block([1, 2, 8, 9], [0, 0, 1, 1])
    assert build(b, tree_indices=[1, 5], seeds=[1, 2]) == []
    assert len(build(b, tree_indices=[0, 5], seeds=[1, 2])) == 1


@pytest.mark.parametrize("n", [100, 900])
def test_neither_threads_nor_seeds_change_a_tree(n):
    b = oracles.random_block(n, n_categories=(0, 6, 0, 40), n_classes=5)
    alone, together = build(b, 12), build(b, 12, n_jobs=4)
    other = build(b, seeds=[2**64 - 1 - i for i in range(12)])
    assert len(alone) > 3
    for one, four, seeded in zip(alone, together, other, strict=True):
        assert same_tree(one.tree, four.tree)
        assert same_tree(one.tree, seeded.tree)
        np.testing.assert_array_equal(one.leaf_of, four.leaf_of)
        assert one.tree.seed == four.tree.seed


@pytest.mark.parametrize("share", [1, 3], ids=["a few known", "most known"])
def test_samples_not_known_count_for_nothing(share):
    b = oracles.random_block(300, n_categories=(0, 6, 0), distinct=20)
    known = np.flatnonzero(np.arange(300) % 4 < share)
    alone = oracles.block(b.X[known], b.y[known], n_categories=b.n_categories, n_classes=b.n_classes)
    for some, lone in zip(build(b, 8, known=known), build(alone, 8), strict=True):
        check_built(b, some, known)
        assert shape(b, some.tree, known) == shape(b, lone.tree, known)
        np.testing.assert_array_equal(lone.leaf_of, oracles.route(lone.tree.nodes, lone.tree.category_bits, b.X[known]))


@pytest.mark.parametrize("max_depth", [1, 2, 3])
def test_depth_and_leaf_size_reach_all_levels(max_depth):
    b = oracles.random_block(200, n_categories=(0, 6, 0))
    forest = build(b, 20, max_depth=max_depth, min_samples_leaf=6)
    assert max(grown.tree.depth for grown in forest) <= max_depth
    for grown in forest:
        assert np.unique(grown.leaf_of, return_counts=True)[1].min() >= 6


@pytest.mark.parametrize("n", [60, 400])
def test_importance_is_the_gain_of_all_cuts_the_planned_ones_too(n):
    b = oracles.random_block(n, n_categories=(0, 6, 0))
    for grown in build(b, 12, min_samples_leaf=4):
        tree = grown.tree
        passing = oracles.samples_at(tree.nodes, tree.category_bits, b.X, range(n))
        gains = np.zeros(3)
        for node in np.flatnonzero(tree.nodes["split"] >= 0):
            here = np.array(passing[node])
            left = np.isin(here, passing[int(tree.nodes["left"][node])])
            feature = tree.nodes["split"][node] >> 2
            price = oracles.subset_price(b.X[here, feature]) if b.n_categories[feature] else 0.0
            gains[feature] += oracles.gain(b.y[here], np.ones(len(here)), left) - price
        np.testing.assert_allclose(tree.importance, gains, rtol=1e-9, atol=1e-6)


def test_a_repair_counts_every_sample_once_and_leaves_none_out():
    grower = SysForGrower(GROWTH)
    (grown,) = build(oracles.block([1, 2], [0, 1]))
    assert grower.weights(np.arange(5), 3).tolist() == [1] * 5
    assert grower.out_of_bag(oracles.random_block(5).samples, grown.tree).tolist() == [False] * 5


def test_leaves_expand_by_pruned_c45():
    b = oracles.random_block(200)
    b = b._replace(weights=np.ones_like(b.weights))
    grower = SysForGrower(GrowthParams(max_features=1, min_samples_leaf=2))
    stump = TreeEditor(oracles.tree_of(b, max_depth=1)[0])
    leaf_of = oracles.route(stump.nodes, stump.finish().category_bits, b.X)
    group = np.flatnonzero(leaf_of == 2).astype(np.int32)
    ones = np.ones(len(group), dtype=np.uint16)
    groups = Groups(group, ones, np.array([0, len(group)]), np.array([2], dtype=np.int32))
    stump.grow(b.samples, groups, leaf_of, grower.leaf_params, 9)
    tree = stump.finish()
    np.testing.assert_array_equal(tree.route(b.X), leaf_of)
    check_c45_below(b, tree, 2, group, min_samples_leaf=2)
    assert len(tree.nodes) > 3


def test_a_grower_that_has_built_can_be_pickled():
    grower = SysForGrower(GROWTH, goodness=0.1)
    b = oracles.random_block(50)
    before = grower.build(TreeRequest(b.samples, everyone(b.samples), [1, 2], 1))
    copy = pickle.loads(pickle.dumps(grower))
    assert copy == grower
    after = copy.build(TreeRequest(b.samples, everyone(b.samples), [1, 2], 1))
    assert all(same_tree(x.tree, y.tree) for x, y in zip(before, after, strict=True))


def test_samples_are_taken_as_growers_take_them():
    b = oracles.random_block(40)
    samples = Samples(b.X, b.y, np.arange(40) + 10**12, b.n_categories, b.n_classes)
    grown = SysForGrower(GROWTH).build(TreeRequest(samples, everyone(samples), [1, 2], None))
    assert all(same_tree(one.tree, other.tree) for one, other in zip(grown, build(b, 2), strict=True))
