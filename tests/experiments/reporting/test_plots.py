import json
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.reporting import plots
from experiments.reporting.rank_diagram import find_groups, rank_diagram
from experiments.reporting.style import ADF_COLOURS, DARK_COLOURS, RIVAL_COLOURS, method_style

NAN = float("nan")
METHODS = [*ADF_COLOURS, *(name for members in RIVAL_COLOURS.values() for name in members)]

FIGURES = {
    "lines": plots.lines(
        {"ADF-R": [0.8, None, NAN], "HT": np.array([0.5, 0.6, 0.7])},
        np.arange(1, 4),
        stages=["MKC-1", "MKC-1", "SKC"],
        marks={"temporary drift": [2], "sustained drift": (3,)},
    ),
    "bars": plots.bars({"ADF-R": [1.0, NAN], "RF all": [2.0, 3.0]}, ["LDPA", "EB"], errors={"ADF-R": [0.1, None]}),
    "lying bars": plots.bars({"accuracy": [0.9, None]}, ["ADF-R", "RF all"], errors={"accuracy": [0.1, 0.2]}),
    "dots": plots.dots({"ADF-R": [0.9, None], "HT": [0.4, np.float32(0.5)]}, ["LDPA", "EB"], log=True),
    "heat": plots.heatmap([[0.1, None], [NAN, 0.2]], [0.1, 0.2], [1, 2], chosen=(0.2, 1)),
    "scatter": plots.scatter({"ADF-R": (0.1, 0.9), "HT": (NAN, 0.5)}, x_title="s", y_title="a", diagonal=True),
    "critical difference": rank_diagram({"ADF-R": 1.2, "HT": 2.8, "RF all": 2.0}, 1.0),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_plain_json_without_nan(name):
    figure = FIGURES[name]
    assert json.loads(json.dumps(figure, allow_nan=False)) == figure
    assert set(figure) == {"data", "layout"}
    assert all("type" in trace for trace in figure["data"])
    assert figure["layout"]["height"] > 100


# Styles


def test_every_method_has_a_style_of_its_own():
    styles = {name: method_style(name) for name in METHODS if name != "ADF"}
    assert len(set(styles.values())) == len(styles)


def test_a_method_looks_the_same_wherever_it_stands():
    first, second = (plots.lines({name: [1.0] for name in order}, [1]) for order in (METHODS, METHODS[::-1]))
    by_name = [{trace["name"]: (trace["line"], trace["marker"]) for trace in one["data"]} for one in (first, second)]
    assert by_name[0] == by_name[1]


def test_ours_are_bolder_and_above():
    ours, rival = plots.lines({"ADF-R": [1.0], "HT": [1.0]}, [1])["data"]
    assert ours["line"]["width"] > rival["line"]["width"]
    assert ours["zorder"] > rival["zorder"]


@pytest.mark.parametrize("name", ["ADF-R paper", "RF batch paper", "CIRF, 20 trees"])
def test_variant_keeps_the_colour_of_its_method_but_not_its_style(name):
    method = max((one for one in METHODS if name.startswith(one)), key=len)
    assert method_style(name).colour == method_style(method).colour
    assert method_style(name) != method_style(method)


def test_names_that_are_no_methods_do_not_share_a_style():
    styles = [method_style(f"setting {position}", position) for position in range(20)]
    assert len(set(styles)) == 20


def luminance(colour):
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return sum(weight * share for weight, share in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize(("page", "shown"), [("#ffffff", lambda colour: colour), ("#14171b", DARK_COLOURS.get)])
def test_text_and_our_lines_are_seen_on_light_and_dark_pages(page, shown):
    assert contrast(shown("#222222"), page) > 7
    assert contrast(shown("#5F6368"), page) > 4.5
    assert all(contrast(shown(colour), page) > 3 for colour in ADF_COLOURS.values())


# Builders


def test_lines_leave_gaps_and_hide_what_is_asked():
    shown, hidden = plots.lines({"ADF-R": [0.8, None, NAN], "HT": [1, 2, 3]}, [1, 2, 3], hidden=["HT"])["data"]
    assert shown["y"] == [0.8, None, None]
    assert (shown["visible"], hidden["visible"]) == (True, "legendonly")


def test_stages_are_named_once_for_each_run_and_shaded_in_turn():
    stages = ["A", "A", "B", "A"]
    layout = plots.lines({"ADF-R": [1.0] * 4}, [1, 2, 3, 4], stages=stages)["layout"]
    assert [(one["text"], one["x"]) for one in layout["annotations"]] == [("A", 1.5), ("B", 3), ("A", 4)]
    assert [(one["x0"], one["x1"]) for one in layout["shapes"]] == [(0.5, 2.5), (3.5, 4.5)]


def test_stages_must_be_as_many_as_batches():
    with pytest.raises(ValueError, match=r"longer|shorter"):
        plots.lines({"ADF-R": [1.0, 1.0]}, [1, 2], stages=["A"])


def test_marks_are_hollow_while_drift_may_pass_and_filled_once_it_lasts():
    *_, temporary, sustained = FIGURES["lines"]["data"]
    assert (temporary["name"], temporary["x"], temporary["marker"]["symbol"]) == (
        "temporary drift",
        [2],
        "triangle-up-open",
    )
    assert (sustained["name"], sustained["x"], sustained["marker"]["symbol"]) == ("sustained drift", [3], "triangle-up")


def test_one_series_lies_down_and_keeps_the_colours_of_methods():
    (bar,) = FIGURES["lying bars"]["data"]
    assert bar["orientation"] == "h"
    assert bar["y"] == ["ADF-R", "RF all"]
    assert bar["marker"]["color"] == [method_style("ADF-R").colour, method_style("RF all").colour]


def test_chosen_cell_is_framed():
    (frame,) = FIGURES["heat"]["layout"]["shapes"]
    assert [frame[side] for side in ("x0", "x1", "y0", "y1")] == [0.5, 1.5, -0.5, 0.5]


def test_points_without_a_place_are_left_out():
    assert [trace["name"] for trace in FIGURES["scatter"]["data"]] == ["ADF-R"]


def test_labels_of_near_points_stand_on_different_sides():
    points = {"ADF-R": (0.5, 0.5), "HT": (0.5, 0.51), "far": (0.0, 0.0), "too": (1.0, 1.0)}
    places = {trace["name"]: trace["textposition"] for trace in plots.scatter(points, x_title="", y_title="")["data"]}
    assert places["ADF-R"] != places["HT"]


def test_scatter_of_nothing_or_one_point_can_be_drawn():
    assert plots.scatter({}, x_title="", y_title="", diagonal=True)["data"] == []
    assert len(plots.scatter({"ADF-R": (0.0, 1.0)}, x_title="", y_title="", log_x=True)["data"]) == 1


def test_names_are_shown_as_they_stand():
    name = "<b>&amp;"
    for figure in (
        plots.lines({name: [1.0]}, [1]),
        plots.dots({name: [1.0]}, [name]),
        rank_diagram({name: 1.0}, 1.0),
        plots.scatter({name: (1.0, 1.0)}, x_title="", y_title=""),
    ):
        assert figure["data"][0]["name"] == "&lt;b>&amp;amp;"


# The diagram of ranks


def test_diagram_has_each_name_once_and_leaders_do_not_cross():
    ranks = {f"m{place}": 1 + 0.9 * place for place in range(9)}
    figure = rank_diagram(ranks, 2.0)
    names = [one["text"].split("  ") for one in figure["layout"]["annotations"]]
    assert {text for pair in names for text in pair if text in ranks} == set(ranks)
    leaders = [trace for trace in figure["data"] if trace["name"] in ranks]
    assert len(leaders) == 9
    for one, other in combinations(leaders, 2):
        for flat, upright in ((one, other), (other, one)):
            over = min(flat["x"][1:]) < upright["x"][0] < max(flat["x"][1:])
            assert not (over and upright["y"][1] < flat["y"][1])


def test_bars_join_what_no_test_tells_apart():
    figure = FIGURES["critical difference"]
    joined = [trace["x"] for trace in figure["data"] if trace["name"] == ""]
    assert [[round(x, 2) for x in bar] for bar in joined] == [[1.14, 2.06], [1.94, 2.86]]


@given(st.lists(st.integers(0, 30), max_size=9).map(sorted), st.integers(0, 12))
def test_groups_are_all_largest_sets_within_the_distance(ranks, distance):
    runs = [
        (first, last) for first, last in combinations(range(len(ranks)), 2) if ranks[last] - ranks[first] <= distance
    ]
    largest = [
        (first, last)
        for first, last in runs
        if not any(a <= first and last <= b and (a, b) != (first, last) for a, b in runs)
    ]
    assert find_groups([float(rank) for rank in ranks], float(distance)) == sorted(largest)


def test_scale_holds_all_ranks():
    low, high = FIGURES["critical difference"]["layout"]["xaxis"]["range"]
    assert low < 1 < 3 < high
    assert math.isclose(FIGURES["critical difference"]["layout"]["shapes"][1]["x1"], 2.0)
