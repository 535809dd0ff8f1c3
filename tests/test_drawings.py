"""The manual's picture of boxes and cuts shows what the code does."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from adforest.adaptation.boxes import Box, cuts_between, cuts_beyond
from adforest.forest.tree import ROOT_ADDED
from experiments.specs.generators import TOY_BATCHES

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

DOCS = Path(__file__).parents[1] / "docs"
NUMERICAL = np.zeros(2, dtype=np.int64)


@pytest.fixture(scope="module")
def drawings():
    matplotlib.use("agg")
    return runpy.run_path(str(DOCS / "drawings.py"))


@pytest.fixture(scope="module")
def toy(drawings):
    return drawings["learn_toy"]()


@pytest.fixture(scope="module")
def boxes():
    """Return the box of each batch by the code that learning goes by."""
    return [Box.of(np.array([house[:2] for house in houses], dtype=float), NUMERICAL) for houses in TOY_BATCHES]


def test_houses_are_the_toys(toy):
    drawn = [[(*map(int, x), y) for x, y in zip(X, rents, strict=True)] for X, rents in toy.batches]
    assert drawn == [list(houses) for houses in TOY_BATCHES]


def test_boxes_are_the_models(toy, boxes):
    so_far = boxes[0]
    for number, span in enumerate(toy.learnt):
        so_far = so_far.union(boxes[number])
        assert (span.low, span.high) == (tuple(so_far.low), tuple(so_far.high))


def test_boxes_of_batches_are_drawn_as_the_code_has_them(drawings, toy, boxes):
    for (X, _), box in zip(toy.batches, boxes, strict=True):
        assert drawings["Span"].of(X) == (tuple(box.low), tuple(box.high))


def test_roots_are_where_isat_cuts(toy, boxes):
    upper, lower = cuts_beyond(boxes[0], boxes[1])
    (gap,) = cuts_between(boxes[0].union(boxes[1]), boxes[2])
    assert (cuts_between(boxes[0], boxes[1]), lower) == ([], []), "B1 overlaps and reaches beyond one bound"
    expected = [(2, upper[0].feature, upper[0].value), (3, gap.feature, gap.value)]
    assert len(upper) == 1
    drawn = [(cut.batch, cut.feature, cut.value) for cut in toy.cuts if cut.cause == ROOT_ADDED]
    assert sorted(drawn) == expected


def test_regions_answer_what_the_tree_answers(toy):
    houses = [house for batch in TOY_BATCHES for house in batch]
    for area, beds, rent in houses:
        home = [
            region.rent
            for region in toy.regions
            if all(
                low < value <= high
                for low, value, high in zip(region.within.low, (area, beds), region.within.high, strict=True)
            )
        ]
        assert home == [rent]


def test_the_drawing_of_single_samples_has_the_figures_of_the_results(drawings, tmp_path):
    path = DOCS / "images" / "online.svg"
    shown = path.read_text(encoding="utf-8")
    if f"Matplotlib v{matplotlib.__version__}," not in shown:
        pytest.skip("another version of matplotlib draws other bytes")
    drawings["main"](["online"], tmp_path)
    assert (tmp_path / "online.svg").read_text(encoding="utf-8") == shown, "run: make pages"


def test_the_file_shows_these_cuts(toy):
    svg = (DOCS / "images" / "boxes.svg").read_text(encoding="utf-8")
    named = [cut for cut in toy.cuts if cut.batch > 1]
    assert len(named) == 6
    assert all(f">{cut.label}<" in svg for cut in named)
    assert all(f">{value:g}<" in svg for value in (*toy.learnt[0].low, *toy.learnt[0].high))


def test_it_can_be_drawn(drawings, toy):
    from matplotlib import pyplot as plt

    figure = drawings["draw_boxes"](toy)
    figure.canvas.draw()
    assert len(figure.axes) == 6
    plt.close(figure)
