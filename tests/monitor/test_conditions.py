"""How the condition of a node is written."""

import re

import numpy as np
import pytest

from adforest import AdaptiveDecisionForestClassifier
from adforest.encoding.rebuilding import write_number
from adforest.monitor import tree_text
from planted_trees import cut, questions, systematic

NAN = float("nan")


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
    X = np.tile(np.arange(200.0), 10)[:, None]
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
