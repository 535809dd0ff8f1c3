"""Hoeffding trees: River referees every split; what the trees hold is what they saw."""

from math import log

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import oracles
from adforest import AdaptiveDecisionForestClassifier
from adforest.forest import Groups, GrowthParams, Samples, Tree, TreeEditor
from adforest.forest._kernels.streaming import stream
from adforest.growers import HoeffdingGrower, RandomForestGrower, StreamingGrower, SysForGrower, TreeRequest
from small_forests import weights_draw_lots


def grow(X, y, n_categories, weights=None, grace=200.0, n_classes=None, max_depth=None):
    """Return the nodes and words of one tree that saw the samples in order."""
    n = len(X)
    y = np.asarray(y, dtype=np.int32)
    samples = Samples(
        np.ascontiguousarray(X, dtype=np.float64),
        y,
        np.arange(n),
        np.asarray(n_categories, dtype=np.int32),
        int(np.max(y)) + 1 if n_classes is None else n_classes,
    )
    weights = np.ones(n, dtype=np.uint16) if weights is None else weights
    root = np.zeros(1, dtype=np.int32)
    group_nodes, nodes, category_bits, importance = stream(
        samples,
        Groups(np.arange(n, dtype=np.int32), weights, np.array([0, n]), root, root),
        grace=grace,
        log_inverse_delta=log(1e7),
        tie=0.05,
        max_depth=max_depth,
        n_nodes=1,
        n_words=1,
    )
    return np.concatenate([group_nodes, nodes]), np.concatenate([[np.uint64(0)], category_bits]), importance


def questions(nodes, category_bits, n_categories, at=0):
    """Return a tree as nested (attribute, threshold or category, left, right); None is a leaf."""
    if nodes["split"][at] < 0:
        return None
    feature, value, left = int(nodes["split"][at]) >> 2, float(nodes["threshold"][at]), int(nodes["left"][at])
    if n_categories[feature]:
        bits = int(category_bits[int(value) + 1])
        assert bits & (bits - 1) == 0, "one category against the rest"
        value = bits.bit_length() - 1
    below = (
        questions(nodes, category_bits, n_categories, left),
        questions(nodes, category_bits, n_categories, left + 1),
    )
    return feature, value, *below


def rivers(node):
    """Return River's tree in the same form."""
    if not hasattr(node, "children"):
        return None
    value = node.threshold if hasattr(node, "threshold") else node.value
    return node.feature, value, *map(rivers, node.children)


def assert_same(ours, theirs):
    assert (ours is None) == (theirs is None)
    if ours is not None:
        assert ours[0] == theirs[0]
        assert ours[1] == pytest.approx(theirs[1], rel=1e-9, abs=1e-9)
        assert_same(ours[2], theirs[2])
        assert_same(ours[3], theirs[3])


def n_questions(tree):
    return 0 if tree is None else 1 + n_questions(tree[2]) + n_questions(tree[3])


def clusters(n, seed):
    """Return samples of four classes by rules that a few questions find out: first x0, then x1 or x3."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * 3
    y = np.where(X[:, 0] > 0.5, 2 + (X[:, 1] > 1), X[:, 3] > -1)
    return X, np.where(rng.random(n) < 0.05, rng.integers(0, 4, n), y)


@pytest.mark.parametrize(
    ("n", "grace", "categories"), [(6_000, 200, (0,) * 5), (6_000, 25, (0,) * 5), (5_000, 50, (0, 4, 0, 7, 0))]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_river_asks_the_same_questions(n, grace, categories, seed):
    tree = pytest.importorskip("river.tree", reason="River referees Hoeffding trees: pip install river")
    X, y = clusters(n, seed)
    for j in np.flatnonzero(categories):
        X[:, j] = np.clip(np.round(X[:, j] + categories[j] / 2), 0, categories[j] - 1)
    river = tree.HoeffdingTreeClassifier(
        grace_period=grace,
        delta=1e-7,
        tau=0.05,
        leaf_prediction="mc",
        binary_split=True,
        nominal_attributes=[int(j) for j in np.flatnonzero(categories)],
    )
    for sample, klass in zip(X.tolist(), y.tolist(), strict=True):
        river.learn_one(dict(enumerate(sample)), klass)
    nodes, category_bits, _ = grow(X, y, categories, grace=grace)
    ours = questions(nodes, category_bits, categories)
    assert n_questions(ours) >= 3, "a stream that never splits shows nothing"
    assert_same(ours, rivers(river._root))


def test_weights_count_as_repeated_samples():
    X, y = clusters(2_000, 3)
    weights = np.random.default_rng(0).integers(0, 4, len(X)).astype(np.uint16)
    # Splits are tried after each sample, whatever its weight; so let the grace period never end inside one.
    once, _, _ = grow(X, y, (0,) * 5, weights=weights * 0 + 3, grace=300)
    thrice, _, _ = grow(np.repeat(X, 3, axis=0), np.repeat(y, 3), (0,) * 5, grace=300)
    np.testing.assert_array_equal(once["split"], thrice["split"])
    np.testing.assert_allclose(once["threshold"], thrice["threshold"], rtol=1e-9)


def test_samples_of_no_weight_are_not_seen():
    X, y = clusters(3_000, 4)
    seen = np.random.default_rng(0).random(len(X)) < 0.6
    some, _, _ = grow(X, y, (0,) * 5, weights=seen.astype(np.uint16))
    alone, _, _ = grow(X[seen], y[seen], (0,) * 5)
    np.testing.assert_array_equal(some, alone)


@pytest.mark.parametrize("max_depth", [0, 1, 2])
def test_depth_is_limited(max_depth):
    X, y = clusters(6_000, 5)
    nodes, _, _ = grow(X, y, (0,) * 5, grace=25, max_depth=max_depth)
    assert len(nodes) == 2 ** (max_depth + 1) - 1


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.zeros((500, 2)), np.arange(500) % 2),
        (np.full((500, 2), np.nan), np.arange(500) % 2),
        (np.random.default_rng(0).normal(size=(500, 2)), np.zeros(500, dtype=int)),
        (np.zeros((1, 2)), np.zeros(1, dtype=int)),
    ],
    ids=["constant", "all missing", "one class", "one sample"],
)
def test_nothing_to_ask(X, y):
    nodes, _, importance = grow(X, y, (0, 0), grace=20)
    assert len(nodes) == 1
    assert not importance.any()


def block(n, seed=0, n_categories=(0, 0, 0, 0, 0)):
    X, y = clusters(n, seed)
    return Samples(X, y.astype(np.int32), np.arange(n), np.array(n_categories, dtype=np.int32), 4)


def test_leaves_hold_the_weight_of_what_they_saw():
    samples, grower = block(3_000), HoeffdingGrower(GrowthParams(max_features=5, min_samples_leaf=20))
    for grown in grower.build(TreeRequest(samples, np.arange(3_000, dtype=np.int32), [1, 2, 3], None)):
        weights = grower.weights(samples.serial, grown.tree.seed)
        np.testing.assert_array_equal(grown.leaf_of, grown.tree.route(samples.X))
        expected = {}
        for leaf, klass, weight in zip(grown.leaf_of.tolist(), samples.y.tolist(), weights.tolist(), strict=True):
            expected.setdefault(leaf, {}).setdefault(klass, 0)
            expected[leaf][klass] += weight
        assert oracles.rows_of(grown.tree) == {
            leaf: {k: w for k, w in row.items() if w} for leaf, row in expected.items() if any(row.values())
        }


@pytest.mark.parametrize("min_samples_leaf", [1, 5, 19])
def test_smaller_leaves_than_the_bound_makes_are_grown_by_entropy(min_samples_leaf):
    samples, known = block(2_000), np.arange(2_000, dtype=np.int32)
    request = TreeRequest(samples, known, [1, 2])
    pure = HoeffdingGrower(GrowthParams(max_features=5, min_samples_leaf=20)).build(request)
    grower = HoeffdingGrower(GrowthParams(max_features=5, min_samples_leaf=min_samples_leaf))
    for grown, start in zip(grower.build(request), pure, strict=True):
        np.testing.assert_array_equal(grown.leaf_of, grown.tree.route(samples.X))
        inner = np.flatnonzero(start.tree.nodes["split"] >= 0)
        assert len(inner) >= 3
        np.testing.assert_array_equal(grown.tree.nodes[inner], start.tree.nodes[inner])
        assert grown.tree.n_leaves > start.tree.n_leaves
        # Samples are at hand, so each counts at least once, where it is told from others.
        weights = grower.weights(samples.serial, grown.tree.seed)
        rows, split = oracles.rows_of(grown.tree), grown.tree.nodes["split"][: len(start.tree.nodes)] >= 0
        total = sum(sum(row.values()) for row in rows.values())
        assert weights.sum() <= total <= np.maximum(weights, 1).sum()
        assert split.sum() > len(inner)
        if min_samples_leaf == 1:
            assert all(len(row) == 1 for row in rows.values())
        new = np.unique(grown.leaf_of[grown.leaf_of >= len(start.tree.nodes)], return_counts=True)[1]
        assert new.min() >= min_samples_leaf


def streamed(grower, batches, **changes):
    """Return the states along a stream of batches of clusters."""
    state, states = oracles.new_state(5, grower=grower, renewal=0, n_estimators=3, **changes), []
    for number, n in enumerate(batches):
        X, y = clusters(n, number)
        state, _ = oracles.learn(state, X, y, np.zeros(5, dtype=np.int32), 4)
        states.append(state)
    return states


def test_it_is_a_streaming_grower_and_the_others_are_not():
    params = GrowthParams(max_features=1)
    assert isinstance(HoeffdingGrower(params), StreamingGrower)
    assert not isinstance(RandomForestGrower(params), StreamingGrower)
    assert not isinstance(SysForGrower(params), StreamingGrower)


@pytest.mark.parametrize("tree_repair", ["any", "turn"])
def test_trees_go_on_splitting_as_batches_come(tree_repair):
    # A tolerance of everything: no leaf is ever perturbed, so that nothing but the bound makes a tree grow.
    grower = HoeffdingGrower(GrowthParams(max_features=5, min_samples_leaf=20))
    states = streamed(
        grower, [150] * 12, tree_repair=tree_repair, min_samples_leaf=20, error_tolerance=1.0, algorithm="paper"
    )
    leaves = np.array([[tree.n_leaves for tree in state.forest("permanent").trees] for state in states])
    assert (np.diff(leaves, axis=0) >= 0).all()
    assert (leaves[-1] > leaves[0]).all(), "all of them have grown"
    assert leaves[-1].min() >= 4
    for state in states:
        forest, memory = state.forest("permanent"), state.memory
        for tree, leaf_of in zip(forest.trees, forest.leaf_of, strict=True):
            placed = leaf_of >= 0
            np.testing.assert_array_equal(leaf_of[placed], tree.route(memory.matrix())[placed])
            weights = grower.weights(memory.serial, tree.seed)
            assert tree.row_weight.sum() == weights.sum(), "every sample has its weight somewhere"


def test_streaming_leaves_alone_what_does_not_ask_for_a_split():
    samples, grower = block(3_000), HoeffdingGrower(GrowthParams(max_features=5, min_samples_leaf=20))
    (grown,) = grower.build(TreeRequest(samples, np.arange(3_000, dtype=np.int32), [1], None))
    leaf_of, leaves = grown.leaf_of.copy(), np.unique(grown.leaf_of)[:2].astype(np.int32)
    few = [np.flatnonzero(leaf_of == leaf)[:10] for leaf in leaves]
    editor, indices = TreeEditor(grown.tree), np.concatenate(few).astype(np.int32)
    grower.stream(editor, samples, Groups(indices, np.ones(20, np.uint16), np.array([0, 10, 20]), leaves), leaf_of)
    after = editor.finish()
    np.testing.assert_array_equal(after.nodes, grown.tree.nodes)
    np.testing.assert_array_equal(leaf_of, grown.leaf_of)
    assert oracles.rows_of(after) == oracles.rows_of(grown.tree)


def test_leaves_expand_by_entropy_like_those_of_a_random_forest():
    samples, params = block(400), GrowthParams(max_features=5, min_samples_leaf=20)
    indices, root = np.arange(400, dtype=np.int32), np.zeros(1, dtype=np.int32)
    groups = Groups(indices, np.ones(400, np.uint16), np.array([0, 400]), root)
    trees = []
    for grower in (HoeffdingGrower(params), RandomForestGrower(params)):
        editor, leaf_of = TreeEditor(Tree.bare(5, 1)), np.full(400, -1, dtype=np.int32)
        editor.grow(samples, groups, leaf_of, grower.leaf_params, 9)
        trees.append(editor.finish())
        np.testing.assert_array_equal(leaf_of, trees[-1].route(samples.X))
    np.testing.assert_array_equal(trees[0].nodes, trees[1].nodes)
    assert trees[0].n_leaves > 4, "400 samples are too few for the bound, not for entropy"


def test_weights_are_poisson_with_a_mean_of_six():
    weights = HoeffdingGrower(GrowthParams(max_features=1)).weights(np.arange(100_000), 7)
    assert weights.mean() == pytest.approx(6, abs=0.05)
    assert weights.var() == pytest.approx(6, abs=0.15)


def test_the_same_trees_for_any_number_of_threads():
    samples, grower = block(2_000), HoeffdingGrower(GrowthParams(max_features=5))
    known = np.arange(2_000, dtype=np.int32)
    for one, four in zip(
        grower.build(TreeRequest(samples, known, [1, 2, 3, 4], 1)),
        grower.build(TreeRequest(samples, known, [1, 2, 3, 4], 4)),
        strict=True,
    ):
        np.testing.assert_array_equal(one.tree.nodes, four.tree.nodes)
        np.testing.assert_array_equal(one.tree.row_weight, four.tree.row_weight)


def test_a_stream_with_a_late_class():
    model = AdaptiveDecisionForestClassifier(base_forest="hoeffding", random_state=0)
    for number in range(4):
        X, y = clusters(1_500, number)
        keep = (y != 3) | (number >= 2)
        model.partial_fit(X[keep], y[keep])
    X, y = clusters(1_000, 9)
    assert model.score(X, y) > 0.6
    assert model.score(X[y == 3], y[y == 3]) > 0.4


@parametrize_with_checks(
    [AdaptiveDecisionForestClassifier(base_forest="hoeffding", random_state=0)],
    expected_failed_checks=weights_draw_lots,
)
def test_scikit_learns_contract(estimator, check):
    check(estimator)
