"""Slow, obvious answers to what the kernels compute fast, and the blocks of samples both are asked about."""

# ruff: noqa: F401
from oracles.c45 import all_cuts, expected_errors, gain_ratio, grow_c45, kept_cuts
from oracles.counting import compare, merge, parents, recency, shrunk, sums, tally
from oracles.growing import grow_at, grow_groups, grow_tree, tree_of
from oracles.routing import (
    CATEGORICAL,
    MISSING_LEFT,
    class_weights,
    depths,
    goes_left,
    route,
    rows_of,
    samples_at,
    votes,
    with_rows,
)
from oracles.samples import FEW_VALUES, block, blocks, random_block
from oracles.splitting import best_gain, best_subset_gain, bits, gain, gini, subset_price
from oracles.steps import aumann_shapley, calibrated, corrected, credited, path_to, shrunk_on_the_way, voted_on_the_way
from oracles.streams import (
    FORESTS,
    NUMERICAL,
    accuracy,
    as_bytes,
    check_left_alone_by_learning,
    grid,
    learn,
    make_settings,
    n_given,
    new_state,
    same_trees,
    swapping_stream,
    two_clusters,
)
