"""Boxes of samples, and where SAT and iSAT cut between them."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from adforest.adaptation.boxes import Box, Cut, cuts_between, root_cuts
from adforest.adaptation.boxes import cuts_beyond as bound_cuts

NAN = np.nan
NUMERICAL = np.zeros(2, dtype=np.int32)


def cut_between(tree, batch):
    """Return the cut in the widest gap, if there is one."""
    return next(iter(cuts_between(tree, batch)), None)


def cuts_beyond(tree, batch):
    """Return the farthest cut at an upper bound, and at a lower one, where there are any."""
    return [cuts[0] for cuts in bound_cuts(tree, batch) if cuts]


def box(X, n_categories=None):
    X = np.asarray(X, dtype=float)
    return Box.of(X, np.zeros(X.shape[1], dtype=np.int32) if n_categories is None else n_categories)


@st.composite
def pairs_of_blocks(draw, values=None):
    """Two blocks of samples with the same attributes: numbers from a coarse grid, categories, and gaps in both."""
    kinds = draw(st.lists(st.sampled_from([0, 1, 3, 70]), min_size=1, max_size=3))
    columns = [[], []]
    for n_categories in kinds:
        # Small integers, so that bounds touch and tie; each block has its own offset, so that gaps are common.
        numbers = st.integers(-4, 4) if values is None else values
        elements = st.integers(0, n_categories - 1) if n_categories else numbers
        for block, n in enumerate((draw(st.integers(1, 6)), draw(st.integers(1, 6)))):
            column = draw(hnp.arrays(float, 6, elements=elements.map(float) | st.just(NAN)))
            offset = 0 if n_categories or values is not None else draw(st.sampled_from([0, 0, 3, 20, -20]))
            columns[block].append(np.resize(column[:n], 6) + offset)
    blocks = [np.column_stack(block) for block in columns]
    return blocks[0], blocks[1], np.array(kinds, dtype=np.int32)


def has_gap(a, b, n_categories):
    """Return whether one of the attributes separates two blocks, by looking at every pair of values."""
    for j, k in enumerate(n_categories):
        left, right = a[~np.isnan(a[:, j]), j], b[~np.isnan(b[:, j]), j]
        if not len(left) or not len(right):
            continue
        if k:
            if not set(left) & set(right):
                return True
        elif all(x < y for x in left for y in right) or all(x > y for x in left for y in right):
            return True
    return False


# --- boxes


def test_box_of_numbers():
    found = box([[1, 10], [3, -2], [2, 5]])
    assert found.low.tolist() == [1, -2]
    assert found.high.tolist() == [3, 10]
    assert found.categories == {}


def test_box_of_categories_is_the_set_seen():
    found = box([[0, 1.0], [3, 2.0], [0, 3.0]], np.array([5, 0], dtype=np.int32))
    assert found.categories[0].tolist() == [True, False, False, True, False]
    assert np.isnan(found.low[0])
    assert np.isnan(found.high[0])
    assert (found.low[1], found.high[1]) == (1, 3)


def test_missing_values_take_no_part():
    found = box([[NAN, NAN, 2], [4, NAN, NAN]], np.array([0, 0, 3], dtype=np.int32))
    assert (found.low[0], found.high[0]) == (4, 4)
    assert np.isnan(found.low[1])
    assert found.categories[2].tolist() == [False, False, True]
    nothing = box([[NAN]], np.array([3], dtype=np.int32))
    assert not nothing.categories[0].any()


def test_union_spans_both_and_learns_what_was_missing():
    both = box([[1, NAN]]).union(box([[5, 7]]))
    assert both.low.tolist() == [1, 7]
    assert both.high.tolist() == [5, 7]


def test_union_of_categories_when_new_ones_have_arrived():
    early, late = box([[0]], np.array([1], dtype=np.int32)), box([[4]], np.array([5], dtype=np.int32))
    assert early.union(late).categories[0].tolist() == [True, False, False, False, True]
    assert late.union(early).categories[0].tolist() == [True, False, False, False, True]


def test_union_with_a_column_that_had_no_category_yet():
    # A text column that was all missing in the first batch has no categories, so its box has none either.
    early, late = box([[NAN]], np.array([0], dtype=np.int32)), box([[1]], np.array([2], dtype=np.int32))
    assert early.union(late).categories[0].tolist() == [False, True]
    assert cut_between(early, late) is None
    assert cuts_beyond(early, late) == []


@given(blocks=pairs_of_blocks())
def test_union_is_the_box_of_all_samples(blocks):
    a, b, n_categories = blocks
    union, direct = Box.of(a, n_categories).union(Box.of(b, n_categories)), Box.of(np.vstack([a, b]), n_categories)
    np.testing.assert_array_equal(union.low, direct.low)
    np.testing.assert_array_equal(union.high, direct.high)
    assert union.categories.keys() == direct.categories.keys()
    for j, seen in union.categories.items():
        np.testing.assert_array_equal(seen, direct.categories[j])


def test_union_leaves_both_as_they_were():
    a, b = box([[0.0]], np.array([3], dtype=np.int32)), box([[2.0]], np.array([3], dtype=np.int32))
    a.union(b)
    assert a.categories[0].tolist() == [True, False, False]
    assert b.categories[0].tolist() == [False, False, True]


# --- SAT: a gap between boxes


def test_batch_above_the_tree():
    cut = cut_between(box([[0, 0], [10, 1]]), box([[20, 0], [30, 1]]))
    assert (cut.feature, cut.value, cut.tree_left) == (0, 15.0, True)


def test_batch_below_the_tree():
    cut = cut_between(box([[0, 0], [10, 1]]), box([[-30, 0], [-20, 1]]))
    assert (cut.feature, cut.value, cut.tree_left) == (0, -10.0, False)


@pytest.mark.parametrize("batch", [[[5, 0.5]], [[10, 0.5]], [[0, 0], [10, 1]], [[-5, -1], [15, 2]]])
def test_no_cut_where_boxes_overlap_or_touch(batch):
    assert cut_between(box([[0, 0], [10, 1]]), box(batch)) is None


def test_the_gap_is_relative_so_that_metres_do_not_outvote_millimetres():
    # 1,000 of 11,000 in the first attribute is less of a gap than 2 of 4 in the second.
    cut = cut_between(box([[0, 0], [5_000, 1]]), box([[6_000, 3], [11_000, 4]]))
    assert (cut.feature, cut.value) == (1, 2.0)


@given(blocks=pairs_of_blocks(), exponents=st.lists(st.integers(-20, 20), min_size=3, max_size=3))
def test_units_do_not_matter(blocks, exponents):
    a, b, n_categories = blocks
    # Powers of two, so that not even rounding changes; categories have no unit.
    scale = np.where(n_categories > 0, 1.0, 2.0 ** np.array(exponents[: len(n_categories)]))
    found = cut_between(Box.of(a, n_categories), Box.of(b, n_categories))
    scaled = cut_between(Box.of(a * scale, n_categories), Box.of(b * scale, n_categories))
    assert (found is None) == (scaled is None)
    if found is not None:
        assert (scaled.feature, scaled.tree_left) == (found.feature, found.tree_left)


def test_disjoint_categories_are_a_gap():
    n_categories = np.array([4, 0], dtype=np.int32)
    cut = cut_between(box([[0, 1.0], [2, 2.0]], n_categories), box([[1, 1.0], [3, 2.0]], n_categories))
    assert cut.feature == 0
    assert cut.tree_left
    assert cut.value.tolist() == [True, False, True, False]


def test_categories_that_came_with_the_batch_are_a_gap():
    tree, batch = box([[0], [1]], np.array([2], dtype=np.int32)), box([[2], [3]], np.array([4], dtype=np.int32))
    cut = cut_between(tree, batch)
    assert cut.beyond(np.array([[0.0], [1.0], [2.0], [3.0], [NAN]])).tolist() == [False, False, True, True, False]


def test_shared_categories_are_no_gap():
    n_categories = np.array([4], dtype=np.int32)
    assert cut_between(box([[0], [1]], n_categories), box([[1], [2]], n_categories)) is None


def test_an_attribute_that_one_side_never_saw_is_no_gap():
    assert cut_between(box([[NAN, 0]]), box([[5, 0]])) is None
    assert cut_between(box([[5, 0]]), box([[NAN, 0]])) is None
    n_categories = np.array([3, 0], dtype=np.int32)
    assert cut_between(box([[NAN, 0]], n_categories), box([[1, 0]], n_categories)) is None


def test_a_gap_of_one_float_still_separates():
    low, high = 1.0, np.nextafter(1.0, 2.0)
    cut = cut_between(box([[low]]), box([[high]]))
    assert cut.beyond(np.array([[low], [high]])).tolist() == [False, True]
    cut = cut_between(box([[high]]), box([[low]]))
    assert cut.beyond(np.array([[low], [high]])).tolist() == [True, False]


def test_a_gap_between_denormals_still_separates():
    tiny = np.nextafter(0.0, 1.0)
    cut = cut_between(box([[0.0]]), box([[tiny]]))
    assert cut.beyond(np.array([[0.0], [tiny]])).tolist() == [False, True]


@given(blocks=pairs_of_blocks())
def test_a_gap_cut_separates_all_samples_of_both_boxes(blocks):
    a, b, n_categories = blocks
    cut = cut_between(Box.of(a, n_categories), Box.of(b, n_categories))
    assert (cut is not None) == has_gap(a, b, n_categories)
    if cut is not None:
        assert not cut.beyond(a).any()
        np.testing.assert_array_equal(cut.beyond(b), ~np.isnan(b[:, cut.feature]))


@given(blocks=pairs_of_blocks(values=st.floats(-1e150, 1e150)))
def test_any_finite_numbers_are_separated(blocks):
    a, b, n_categories = blocks
    cut = cut_between(Box.of(a, n_categories), Box.of(b, n_categories))
    assert (cut is not None) == has_gap(a, b, n_categories)
    if cut is not None:
        assert not cut.beyond(a).any()
        np.testing.assert_array_equal(cut.beyond(b), ~np.isnan(b[:, cut.feature]))


def test_a_gap_wider_than_a_float_can_say():
    cut = cut_between(box([[-1.7e308], [-1.6e308]]), box([[1.6e308], [1.7e308]]))
    assert cut.beyond(np.array([[-1.7e308], [1.7e308]])).tolist() == [False, True]


def test_a_reach_wider_than_a_float_can_say():
    (cut,) = cuts_beyond(box([[-1.7e308], [1e308]]), box([[0.0], [1.7e308]]))
    assert cut.beyond(np.array([[0.0], [1.7e308]])).tolist() == [False, True]


# --- iSAT: beyond the bounds of an overlapping box


def test_cuts_at_the_upper_and_lower_bound():
    upper, lower = cuts_beyond(box([[0, 0], [10, 10]]), box([[5, -20], [15, 5]]))
    assert (upper.feature, upper.value, upper.tree_left) == (0, 10.0, True)
    assert (lower.feature, lower.tree_left) == (1, False)
    # The bound itself belongs to the tree.
    assert not upper.beyond(np.array([[10.0, 0.0]])).any()
    assert not lower.beyond(np.array([[0.0, 0.0]])).any()
    assert lower.beyond(np.array([[0.0, np.nextafter(0.0, -1)]])).all()


def test_nothing_beyond_nothing_cut():
    assert cuts_beyond(box([[0, 0], [10, 10]]), box([[0, 0], [10, 10]])) == []
    assert cuts_beyond(box([[0, 0], [10, 10]]), box([[3, 3]])) == []


def test_the_largest_excess_relative_to_the_range_wins():
    (cut,) = cuts_beyond(box([[0, 0], [1_000, 1]]), box([[500, 0.5], [1_100, 3]]))
    assert (cut.feature, cut.value) == (1, 1.0)


def test_one_attribute_may_be_cut_on_both_sides():
    upper, lower = cuts_beyond(box([[0], [10]]), box([[-5], [15]]))
    X = np.array([[-5.0], [0.0], [10.0], [15.0], [NAN]])
    assert upper.beyond(X).tolist() == [False, False, False, True, False]
    assert lower.beyond(X).tolist() == [True, False, False, False, False]


def test_new_categories_among_old_ones_need_no_root():
    n_categories = np.array([3], dtype=np.int32)
    assert cuts_beyond(box([[0], [1]], n_categories), box([[1], [2]], n_categories)) == []


@given(blocks=pairs_of_blocks())
def test_no_sample_of_the_tree_is_ever_beyond_and_some_of_the_batch_are(blocks):
    a, b, n_categories = blocks
    cuts = cuts_beyond(Box.of(a, n_categories), Box.of(b, n_categories))
    assert len(cuts) <= 2
    for cut in cuts:
        assert not cut.beyond(a).any()
        assert cut.beyond(b).any()


# --- gaps as they are, or relative to the range


def test_gaps_are_compared_as_they_are_or_relative_to_the_joint_range():
    # Metres (0 to 1,000, then 1,100 to 2,000) and millimetres (0 to 1, then 9 to 10): Eq. 12 takes the wider gap.
    tree = box(np.array([[0, 0], [1000, 1]], dtype=float))
    batch = box(np.array([[1100, 9], [2000, 10]], dtype=float))
    assert [cut.feature for cut in cuts_between(tree, batch, is_relative=False)] == [0, 1]
    assert [cut.feature for cut in cuts_between(tree, batch)] == [1, 0]
    values = [cut.value for cut in cuts_between(tree, batch, is_relative=False)]
    assert values == [1050, 5], "the middle of the gap (Eq. 13)"


def test_what_lies_beyond_bounds_is_compared_as_it_is_too():
    tree = box(np.array([[0, 0], [1000, 1]], dtype=float))
    batch = box(np.array([[500, 0.5], [1100, 3]], dtype=float))
    for is_relative, feature in ((False, 0), (True, 1)):
        upper, _ = bound_cuts(tree, batch, is_relative=is_relative)
        assert upper[0].feature == feature


# --- which cuts become roots


INSIDE_AND_BEYOND = np.array([[5, 5], [6, 6], [15, 5], [5, -20]], dtype=float)
TREE = np.array([[0, 0], [10, 10]], dtype=float)


@pytest.mark.parametrize(("splitting", "n_roots"), [("sat", 0), ("entropy", 0), ("isat", 2)])
def test_only_isat_cuts_where_boxes_overlap(splitting, n_roots):
    roots = root_cuts(box(TREE), box(INSIDE_AND_BEYOND), INSIDE_AND_BEYOND, splitting, at_least=1)
    assert len(roots) == n_roots


@pytest.mark.parametrize(("splitting", "n_roots"), [("sat", 1), ("entropy", 0), ("isat", 1)])
def test_sat_and_isat_cut_a_gap_and_entropy_never_cuts(splitting, n_roots):
    batch = TREE + 100
    roots = root_cuts(box(TREE), box(batch), batch, splitting, at_least=1)
    assert len(roots) == n_roots
    for _, beyond in roots:
        assert beyond.all()


def test_a_stray_sample_is_not_worth_a_root():
    roots = root_cuts(box(TREE), box(INSIDE_AND_BEYOND), INSIDE_AND_BEYOND, "isat", at_least=2)
    assert roots == []
    batch = np.vstack([INSIDE_AND_BEYOND, [[16, 5]]])
    ((cut, beyond),) = root_cuts(box(TREE), box(batch), batch, "isat", at_least=2)
    assert (cut.feature, cut.tree_left) == (0, True)
    assert beyond.tolist() == [False, False, True, False, True]


def test_what_is_beyond_the_later_root_never_reaches_the_earlier():
    batch = np.array([[5, 5], [15, 5], [5, -20], [15, -20]], dtype=float)
    (upper, above), (lower, below) = root_cuts(box(TREE), box(batch), batch, "isat", at_least=1)
    assert (upper.feature, lower.feature) == (0, 1)
    assert above.tolist() == [False, True, False, False]
    assert below.tolist() == [False, False, True, True]


def test_no_root_is_added_for_samples_that_another_one_takes():
    # The paper would add the second root all the same, with an empty side.
    batch = np.array([[5, 5], [15, -20]], dtype=float)
    ((cut, beyond),) = root_cuts(box(TREE), box(batch), batch, "isat", at_least=1)
    assert (cut.feature, cut.tree_left) == (1, False)
    assert beyond.tolist() == [False, True]


@given(blocks=pairs_of_blocks(), splitting=st.sampled_from(["sat", "isat"]), at_least=st.integers(1, 3))
def test_every_sample_beyond_belongs_to_one_root(blocks, splitting, at_least):
    a, b, n_categories = blocks
    roots = root_cuts(Box.of(a, n_categories), Box.of(b, n_categories), b, splitting, at_least)
    assume(roots)
    owners = sum(beyond.astype(int) for _, beyond in roots)
    assert owners.max() <= 1
    np.testing.assert_array_equal(owners > 0, np.any([cut.beyond(b) for cut, _ in roots], axis=0))
    assert roots[-1][1].sum() >= at_least


def test_a_root_is_worth_its_samples_after_the_one_above_it_took_its_own():
    # Everything beyond the upper bound of the first attribute is also below the lower bound of the second.
    batch = np.array([[5, 5], [15, -20], [16, -20], [5, -20]], dtype=float)
    roots = root_cuts(box(TREE), box(batch), batch, "isat", at_least=2)
    assert all(beyond.sum() >= 2 for _, beyond in roots)


@pytest.mark.parametrize("kind", [0, 2])
def test_a_gap_most_samples_have_no_value_for_does_not_hide_one_they_all_have(kind):
    n_categories = np.array([kind, 0], dtype=np.int32)
    tree = np.array([[0, 0], [0, 10]], dtype=float)
    batch = np.array([[1, 20], [NAN, 21], [NAN, 22], [NAN, 30]], dtype=float)
    ((cut, beyond),) = root_cuts(box(tree, n_categories), box(batch, n_categories), batch, "sat", at_least=2)
    assert cut.feature == 1
    assert beyond.all()


def test_a_cut_reads_missing_values_as_the_trees():
    for cut in (
        Cut(0, 1.0, tree_left=True),
        Cut(0, 1.0, tree_left=False),
        Cut(0, np.array([True, False]), tree_left=True),
        Cut(0, np.array([True, False]), tree_left=False),
    ):
        assert cut.beyond(np.array([[NAN]])).tolist() == [False]
