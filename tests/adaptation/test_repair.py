"""What a repair must never break: samples are where routing says, and leaves hold what they were given."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest.adaptation import READINGS, RECIPES
from adforest.adaptation.boxes import Box, root_cuts
from adforest.adaptation.repair import Assessment, LeafStatistics, Repair, assess
from adforest.forest import Forest, GrowthParams, LeafCounts, Samples
from adforest.growers import GROWERS, RandomForestGrower, SysForGrower, TreeRequest
from oracles import learn, new_state, rows_of


def start(**changes):
    """Return a state that learns three attributes with three trees, everything that may change a tree switched on."""
    defaults = {
        "n_estimators": 3,
        "splitting": "isat",
        "drift_threshold": 1,
        "window_size": 2,
        "memory_size": None,
        "tree_repair": "any",
        "algorithm": "paper",
    }
    return new_state(3, **defaults | changes)


def make_batch(rng, n, n_classes, n_categories, shift=0.0):
    """Return samples of two numbers and a category, some missing; classes follow the numbers, more or less."""
    y = rng.integers(0, n_classes, n).astype(np.int32)
    X = np.column_stack([rng.normal(size=n) + 2 * y, rng.normal(size=n).round(1), rng.integers(0, n_categories, n)])
    X[:, :2] += shift
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y, np.array([0, 0, n_categories], dtype=np.int32)


def stream(seed, n_batches=6, smallest_first=1):
    """Yield batches with growing classes and categories, now and then far away from, or contrary to, the rest."""
    rng = np.random.default_rng(seed)
    n_classes, n_categories = 2, 3
    for number in range(n_batches):
        n_classes += int(rng.random() < 0.3)
        n_categories += int(rng.integers(0, 3))
        shift = rng.choice([0.0, 0.0, 1.0, -1.0, 30.0, -30.0])
        n = max(int(rng.choice([1, 2, 30, 60])), 1 if number else smallest_first)
        X, y, kinds = make_batch(rng, n, n_classes, n_categories, shift)
        yield X, (n_classes - 1 - y if rng.random() < 0.3 else y).astype(np.int32), kinds, n_classes


def is_leaf(tree):
    return tree.nodes["split"] < 0


def weight_by_node(tree):
    return np.array([tree.row_weight[a:b].sum() for a, b in zip(tree.row_start[:-1], tree.row_start[1:], strict=True)])


def check_tree(tree):
    """Check what holds for every tree: one leaf more than inner nodes, and weights that add up."""
    assert tree.n_leaves == is_leaf(tree).sum()
    inner = ~is_leaf(tree)
    children = np.concatenate([tree.nodes["left"][inner], tree.nodes["left"][inner] + 1])
    assert sorted(children.tolist()) == list(range(1, len(tree.nodes))), "every node but the root has one parent"
    weights = weight_by_node(tree)
    assert (tree.row_weight > 0).all()
    held = weights > 0
    np.testing.assert_allclose(tree.row_scale[held], 1 / weights[held])
    assert (tree.row_scale[~held] == 0).all()


def check_forest(state, name):
    """Check that a forest knows where its samples are, and that its box is around them."""
    one, memory = state.forests[name], state.memory
    forest = one.forest
    assert len(forest.known) == len(memory)
    for tree in forest.trees:
        check_tree(tree)
    is_repaired = name not in ("temporary", "newest") or state.settings.algorithm == "paper"
    for tree, leaf_of in zip(forest.trees if is_repaired else (), forest.leaf_of, strict=True):
        placed = leaf_of >= 0
        np.testing.assert_array_equal(leaf_of[placed], tree.route(memory.matrix())[placed])
        if name == "permanent" or state.settings.algorithm == "paper":
            np.testing.assert_array_equal(placed, forest.known)  # else some trees are older than the last batch
    known = memory.matrix()[forest.known]
    if not state.settings.uses_boxes:
        assert one.box.is_empty
    elif len(known):
        box = Box.of(known, np.array([0, 0, max(len(one.box.categories[2]), 1)], dtype=np.int32))
        seen = ~np.isnan(box.low)
        assert (one.box.low[seen] <= box.low[seen]).all()
        assert (one.box.high[seen] >= box.high[seen]).all()
        assert (one.box.categories[2] >= box.categories[2]).all()


@given(
    seed=st.integers(0, 10_000),
    splitting=st.sampled_from(["isat", "sat", "entropy"]),
    memory_size=st.sampled_from([None, 0, 40]),
    perturbation=st.sampled_from(sorted(READINGS)),
    tree_repair=st.sampled_from(["any", "share", "turn"]),
    renewal=st.sampled_from([0, 0.01, 0.1, 1.0]),
    min_samples_leaf=st.sampled_from([1, 5]),
    algorithm=st.sampled_from(sorted(RECIPES)),
)
def test_every_known_sample_is_in_the_leaf_that_routing_says(seed, **changes):
    state = start(seed=seed, **changes)
    for batch in stream(seed):
        state, _ = learn(state, *batch)
        for name in state.forests:
            check_forest(state, name)


@given(seed=st.integers(0, 10_000), splitting=st.sampled_from(["isat", "sat", "entropy"]))
def test_leaves_hold_what_they_held_plus_the_batch_or_what_they_were_grown_from(seed, splitting):
    # Without renewal, and with every sample at hand: a leaf that kept its number either kept its counts and added the
    # batch, or was expanded in vain and counts each of its samples once; a new leaf counts each of its samples once.
    state = start(seed=seed, splitting=splitting, renewal=0)
    for batch in stream(seed, smallest_first=30):
        before, n = state.forest("permanent"), len(batch[1])
        state, _ = learn(state, *batch)
        if before is None:
            continue
        after = state.forest("permanent")
        for old, new, leaf_of in zip(before.trees, after.trees, after.leaf_of, strict=True):
            assert len(new.nodes) >= len(old.nodes)
            weights, samples = weight_by_node(new), np.bincount(leaf_of, minlength=len(new.nodes))
            added = np.bincount(leaf_of[-n:], minlength=len(new.nodes))
            held = np.zeros(len(new.nodes))
            held[: len(old.nodes)] = weight_by_node(old)
            for leaf in np.flatnonzero(is_leaf(new)):
                stayed = leaf < len(old.nodes) and is_leaf(old)[leaf]
                options = {float(samples[leaf])} | ({float(held[leaf] + added[leaf])} if stayed else set())
                assert weights[leaf] in options
            assert (weights[~is_leaf(new)] == 0).all()


def build(X, y, n_trees=3, max_features=2, min_leaf=1, n_classes=None, grower=None):
    """Return a forest of all the samples, and the samples."""
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=np.int32)
    samples = Samples(X, y, np.arange(len(y)), np.zeros(X.shape[1], dtype=np.int32), n_classes or int(y.max()) + 1)
    grower = grower or RandomForestGrower(GrowthParams(max_features=max_features, min_samples_leaf=min_leaf))
    grown = grower.build(TreeRequest(samples, np.arange(len(y), dtype=np.int32), list(range(n_trees)), None))
    return Forest(tuple(g.tree for g in grown), tuple(g.leaf_of for g in grown), np.ones(len(y), dtype=bool)), samples


def repair(
    forest,
    old,
    X,
    y,
    splitting="isat",
    threshold=0.0,
    min_leaf=1,
    n_jobs=None,
    at_least=1,
    places=(0, 1, 2),
    grower=None,
    knows_batch_only=False,
):
    """Return the forest after one batch, and the assessments it went by."""
    grower = grower or RandomForestGrower(GrowthParams(max_features=2, min_samples_leaf=min_leaf))
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=np.int32)
    n_classes = max(old.n_classes, int(y.max()) + 1)
    batch = Samples(X, y, np.arange(len(old), len(old) + len(y)), old.n_categories, n_classes)
    both = Samples(
        np.vstack([old.X, X]), np.concatenate([old.y, y]), np.arange(len(old) + len(y)), old.n_categories, n_classes
    )
    assessments = [assess(tree, batch, grower, "predicted", 0.02) for tree in forest.trees]
    boxes = Box.of(old.X, old.n_categories), Box.of(X, old.n_categories)
    repair = Repair(
        number=0,
        batch=batch,
        samples=both,
        roots=root_cuts(*boxes, X, splitting, at_least),
        grower=grower,
        tree_threshold=threshold,
        expanding=[] if splitting == "sat" else list(places),
        min_samples_leaf=min_leaf,
        knows_batch_only=knows_batch_only,
    )
    seeds = [7, 8, 9][: len(forest)]
    return repair.repair_forest(forest, assessments, seeds, (), n_jobs), assessments


def two_clusters(n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + 10 * y[:, None], y


def test_a_batch_that_perturbs_nothing_only_adds_to_the_counts():
    X, y = two_clusters()
    forest, samples = build(X, y)
    after, assessments = repair(forest, samples, X, y)
    assert [a.n_perturbed for a in assessments] == [0, 0, 0]
    for old, new in zip(forest.trees, after.trees, strict=True):
        np.testing.assert_array_equal(new.nodes, old.nodes)
        assert new.row_weight.sum() == old.row_weight.sum() + len(y)


@pytest.mark.parametrize("base_forest", GROWERS)
def test_leaves_grow_by_the_very_counts_that_the_batch_was_compared_in(base_forest):
    X, y = two_clusters(200)
    grower = GROWERS[base_forest](GrowthParams(max_features=2, min_samples_leaf=20))
    forest, samples = build(X, y, grower=grower)
    batch_y = np.where(np.arange(200) % 10 == 0, 1 - y, y)
    after, assessments = repair(forest, samples, X, batch_y, splitting="sat", grower=grower)
    for old, new, found in zip(forest.trees, after.trees, assessments, strict=True):
        brought = rows_of(new)
        for node, row in rows_of(old).items():
            for klass, weight in row.items():
                brought[node][klass] -= weight
        expected = {node: {} for node in brought}
        for node, klass, weight in zip(*found.batch_counts, strict=True):
            expected[node][klass] = weight
        assert {node: {k: w for k, w in row.items() if w} for node, row in brought.items()} == expected
        np.testing.assert_array_equal(found.weights, grower.weights(np.arange(200, 400), old.seed))


# --- leaves that know the batch only (the text of the paper)


def two_large_leaves(min_leaf=20):
    """Return a single tree of two leaves with 500 samples each, its samples, and its grower."""
    X = np.column_stack([np.repeat([0.0, 10.0], 500), np.zeros(1000)])
    X[:, 1] = np.tile(np.arange(500), 2)
    grower = SysForGrower(GrowthParams(max_features=2, min_samples_leaf=min_leaf))
    forest, samples = build(X, np.repeat([0, 1], 500), n_trees=1, grower=grower)
    assert rows_of(forest.trees[0]) == {1: {0: 500}, 2: {1: 500}}
    return forest.forget(), samples, grower


def strays(n, klass_of=lambda k: k % 2):
    """Return n samples in each of the two leaves, told apart by the second attribute, of two classes."""
    half = [[x, 1000.0 * klass_of(k) + k] for x in (0.0, 10.0) for k in range(n)]
    return np.array(half), np.array([2 + klass_of(k) for _ in range(2) for k in range(n)])


def text_repair(n, min_leaf=20, **changes):
    forest, samples, grower = two_large_leaves(min_leaf)
    X, y = strays(n, **changes)
    after, _ = repair(
        forest, samples, X, y, "entropy", min_leaf=min_leaf, places=[0], grower=grower, knows_batch_only=True
    )
    return after.trees[0]


def test_four_strays_in_a_leaf_of_500_replace_nothing():
    tree = text_repair(4)
    assert rows_of(tree) == {1: {0: 500, 2: 2, 3: 2}, 2: {1: 500, 2: 2, 3: 2}}


def test_a_leaf_is_expanded_from_enough_samples_of_the_batch():
    assert text_repair(50).n_leaves == 4


@pytest.mark.parametrize(
    ("knows_batch_only", "held", "brought", "is_target"),
    [(True, 500, 20, False), (True, 0, 21, True), (False, 500, 4, True), (False, 10, 10, False), (False, 10, 11, True)],
)
def test_a_leaf_is_large_enough_by_the_samples_it_can_be_expanded_from(knows_batch_only, held, brought, is_target):
    # Algorithm 2 tests the samples of the batch in the leaf; the program tests all that the leaf ever received.
    leaves = LeafStatistics(np.array([7], dtype=np.int32), *np.array([[held, held, brought, 1, held, 0, 2]]).T)
    found = Assessment(np.empty(0), np.empty(0), LeafCounts.none(), leaves, np.array([True]))
    repair = Repair(1, None, None, [], None, 0.0, [0], min_samples_leaf=20, knows_batch_only=knows_batch_only)
    assert repair._targets(found).tolist() == ([7] if is_target else [])


def test_a_leaf_that_is_expanded_in_vain_keeps_what_it_held():
    # Both classes have the same values: enough samples, but nothing to tell them apart by.
    forest, samples, grower = two_large_leaves()
    X, y = np.tile([0.0, 3.0], (60, 1)), np.arange(60) % 2 + 2
    after, _ = repair(forest, samples, X, y, "entropy", min_leaf=20, places=[0], grower=grower, knows_batch_only=True)
    assert rows_of(after.trees[0]) == {1: {0: 500, 2: 30, 3: 30}, 2: {1: 500}}


def test_a_tree_below_its_threshold_keeps_its_shape_and_still_counts():
    X, y = two_clusters()
    forest, samples = build(X, y)
    after, assessments = repair(forest, samples, X + 0.01, 1 - y, threshold=1.0)
    assert all(a.n_perturbed for a in assessments)
    for old, new in zip(forest.trees, after.trees, strict=True):
        np.testing.assert_array_equal(new.nodes, old.nodes)
        assert new.row_weight.sum() == old.row_weight.sum() + len(y)


def test_a_tree_whose_turn_it_is_not_counts_and_keeps_its_leaves():
    X, y = two_clusters()
    forest, samples = build(X, y)
    after, _ = repair(forest, samples, X + 0.01, 1 - y, splitting="entropy", places=[1])
    for place, (old, new) in enumerate(zip(forest.trees, after.trees, strict=True)):
        if place == 1:
            assert new.n_leaves > old.n_leaves
        else:
            np.testing.assert_array_equal(new.nodes, old.nodes)
            assert new.row_weight.sum() == old.row_weight.sum() + len(y)


def test_a_root_waits_for_no_turn():
    X, y = two_clusters()
    forest, samples = build(X, y)
    after, _ = repair(forest, samples, X[:10] + 1_000, np.full(10, 2), places=[1])
    assert [new.n_leaves for new in after.trees] == [old.n_leaves + 1 for old in forest.trees]


def test_a_separate_batch_gets_a_root_of_its_own():
    X, y = two_clusters()
    forest, samples = build(X, y)
    far = X[:10] + 1_000
    after, _ = repair(forest, samples, far, np.full(10, 2), splitting="sat")
    for old, new in zip(forest.trees, after.trees, strict=True):
        assert new.n_leaves == old.n_leaves + 1, "the batch is pure, so its side is one leaf"
        root = new.nodes[0]
        assert X[:, root["split"] >> 2].max() < root["threshold"] < far[:, root["split"] >> 2].min()
        assert set(new.route(far).tolist()) == {int(root["left"]) + 1}
    answers = after.answer(np.vstack([X, far]), 3, soft=True).argmax(axis=1)
    np.testing.assert_array_equal(answers, np.concatenate([y, np.full(10, 2)]))


def test_old_answers_below_a_new_root_are_untouched():
    X, y = two_clusters()
    forest, samples = build(X, y)
    after, _ = repair(forest, samples, X[:10] + 1_000, np.full(10, 2), splitting="sat")
    inside = np.random.default_rng(1).uniform(X.min(axis=0), X.max(axis=0), size=(200, 2))
    np.testing.assert_allclose(
        after.answer(inside, 3, soft=True)[:, :2], forest.answer(inside, 2, soft=True), atol=1e-12
    )


def test_entropy_expands_the_perturbed_leaf_and_no_other():
    X, y = two_clusters()
    forest, samples = build(X, y)
    # Class 2 moves into half of the right-hand cluster; nothing comes to the left one.
    news = X[y == 1]
    news_y = np.where(news[:, 0] > np.median(news[:, 0]), 2, 1)
    after, _ = repair(forest, samples, news, news_y, splitting="entropy")
    for old, new in zip(forest.trees, after.trees, strict=True):
        np.testing.assert_array_equal(new.nodes["split"][0], old.nodes["split"][0])
        assert new.n_leaves > old.n_leaves
        left = X[y == 0]
        np.testing.assert_array_equal(new.route(left), old.route(left))
    assert (after.answer(news, 3, soft=True).argmax(axis=1)[news_y == 2] != 0).all()


def test_two_roots_over_a_tree_of_one_leaf():
    # The old root is a leaf that moves; what it holds and who is in it moves along.
    forest, samples = build([[0, 0], [1, 1]] * 5, [0] * 10)
    X = np.array([[0.5, 0.5], [5, 0.5], [0.5, -5]] * 4)
    after, _ = repair(forest, samples, X, [1, 2, 3] * 4)
    for old, new, leaf_of in zip(forest.trees, after.trees, after.leaf_of, strict=True):
        assert len(old.nodes) == 1
        check_tree(new)
        np.testing.assert_array_equal(leaf_of, new.route(np.vstack([samples.X, X])))
    assert after.answer(X, 4, soft=True).argmax(axis=1).tolist()[1:3] == [2, 3]


def test_a_lone_leaf_that_moves_and_is_expanded_leaves_nothing_behind():
    forest, samples = build([[0, 0], [1, 1]] * 5, [0] * 10)
    after, _ = repair(forest, samples, np.array([[0.5, 0.5], [5, 0.5], [0.5, -5]] * 4), [1, 2, 3] * 4)
    for tree in after.trees:
        assert (weight_by_node(tree)[~is_leaf(tree)] == 0).all()


def test_a_lone_leaf_that_moves_and_cannot_be_split_counts_its_samples_once():
    # Identical samples of two classes on the tree's side: nothing to cut there.
    forest, samples = build([[0, 0]] * 10, [0] * 10)
    after, _ = repair(forest, samples, np.array([[0, 0], [5, 0]] * 4, dtype=float), [1, 2] * 4)
    for tree in after.trees:
        inside = tree.route(np.array([[0.0, 0.0]]))[0]
        assert weight_by_node(tree)[inside] == 14, "ten of the old and four of the new"


def test_min_samples_leaf_holds_in_expansions():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(200, 2)), rng.integers(0, 2, 200)
    forest, samples = build(X, y, min_leaf=10)
    after, _ = repair(forest, samples, X, 1 - y, splitting="entropy", min_leaf=10)
    for new, leaf_of in zip(after.trees, after.leaf_of, strict=True):
        counts = np.bincount(leaf_of, minlength=len(new.nodes))[is_leaf(new)]
        assert counts.min() >= 10


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_threads_change_nothing(n_jobs):
    rng = np.random.default_rng(3)
    X, y = rng.uniform(size=(300, 2)), rng.integers(0, 3, 300)
    forest, samples = build(X, y)
    (one, _), (many, _) = (repair(forest, samples, X * 1.5, 2 - y, n_jobs=n) for n in (1, n_jobs))
    for a, b in zip(one.trees, many.trees, strict=True):
        np.testing.assert_array_equal(a.nodes, b.nodes)
        np.testing.assert_array_equal(a.row_weight, b.row_weight)


def test_repair_leaves_the_forest_it_started_from_as_it_was():
    X, y = two_clusters()
    forest, samples = build(X, y)
    nodes = [tree.nodes.copy() for tree in forest.trees]
    weights = [tree.row_weight.copy() for tree in forest.trees]
    leaf_of = [leaves.copy() for leaves in forest.leaf_of]
    repair(forest, samples, X + 50, 1 - y)
    repair(forest, samples, X, 1 - y)
    for i, tree in enumerate(forest.trees):
        np.testing.assert_array_equal(tree.nodes, nodes[i])
        np.testing.assert_array_equal(tree.row_weight, weights[i])
        np.testing.assert_array_equal(forest.leaf_of[i], leaf_of[i])


def test_no_leaf_is_left_empty():
    X, y = np.random.default_rng(0).uniform(size=(100, 2)), np.arange(100) % 2
    forest, samples = build(X, y)
    batch = np.vstack([X[:20], np.tile([5.0, -5.0], (10, 1))])
    after, _ = repair(forest, samples, batch, np.r_[1 - y[:20], np.full(10, 2)])
    assert after.answer(np.array([[5.0, 0.5]]), 3, soft=True).sum() == pytest.approx(len(after))
    for tree in after.trees:
        assert (weight_by_node(tree)[is_leaf(tree)] > 0).all()


def test_a_leaf_is_not_expanded_from_records_of_one_class():
    X, y = two_clusters(200)
    forest, samples = build(X, y, n_trees=3)
    forgetful = forest.forget()
    after, _ = repair(forgetful, samples, X[:1], [1 - y[0]], splitting="entropy")
    for old, new in zip(forest.trees, after.trees, strict=True):
        assert new.row_weight.sum() == old.row_weight.sum() + 1
