"""Three ways to cut a tree that a batch has perturbed, on the paper's toy batches: SAT, entropy and iSAT.

Area and bedrooms of a house against its rent, three batches of ten houses. The first makes a tree. The second lies
beyond it and brings two new classes. The third overlaps, reaches further, and contradicts a leaf. (The numbers of the
paper's figure are not in its source; these are in its spirit.)

Prints the accuracy on every batch after every batch and draws the trees. Run, with pandas installed:

    python examples/splitting.py --out out/splitting.png
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from adforest import PaperADFClassifier
from adforest.demo.picture import check_picture
from adforest.monitor import draw_tree

STRATEGIES = {
    "sat": ("SAT", "new roots between\nseparate boxes"),
    "entropy": ("Entropy", "perturbed leaves\nare expanded"),
    "isat": ("iSAT", "both, and new roots\nat the bounds of\noverlapping boxes"),
}
STORIES = ("the tree is built", "lies beyond, two new classes", "overlaps, contradicts a leaf")
LOW, MEDIUM, HIGH, LUXURY = "low", "medium", "high", "luxury"
COLUMNS = ["Area", "Beds", "Rent"]
HOUSES = (
    [
        *((100, 1, LOW), (120, 1, LOW), (140, 2, LOW), (150, 1, LOW), (160, 2, LOW)),
        *((200, 2, MEDIUM), (220, 3, MEDIUM), (240, 2, MEDIUM), (260, 3, MEDIUM), (280, 3, MEDIUM)),
    ],
    [
        *((400, 1, MEDIUM), (420, 1, MEDIUM), (430, 1, MEDIUM), (450, 2, HIGH), (460, 2, HIGH)),
        *((480, 3, LUXURY), (500, 3, LUXURY), (520, 3, LUXURY), (540, 2, HIGH), (560, 1, MEDIUM)),
    ],
    [
        *((205, 1, LOW), (215, 1, LOW), (230, 1, LOW), (250, 3, MEDIUM), (490, 2, HIGH)),
        *((550, 3, LUXURY), (650, 1, HIGH), (680, 2, HIGH), (700, 3, LUXURY), (720, 3, LUXURY)),
    ],
)
BATCHES = [pd.DataFrame(houses, columns=COLUMNS) for houses in HOUSES]
RATIOS = {"width_ratios": [0.45, 1, 1.3], "height_ratios": [1, 1.35, 1.15]}  # of the picture's columns and rows
INK, FAINT = "#222222", "#6B6B6B"


def learn(splitting: str) -> list[PaperADFClassifier]:
    """Return the model as it was after each batch."""
    # SysFor's first tree is built without a bootstrap: the tree one would draw by hand. With a repair threshold of 1
    # no batch counts as drift, so that this tree is the one that answers.
    model = PaperADFClassifier(
        n_estimators=1,
        base_forest="sysfor",
        splitting=splitting,
        perturbation="predicted",
        repair_threshold=1.0,
        min_samples_leaf=1,
        random_state=0,
    )
    trail = []
    for batch in BATCHES:
        model.partial_fit(batch[["Area", "Beds"]], batch["Rent"])
        trail.append(copy.copy(model))  # learning swaps in a new model, so a shallow copy stays as it is
    return trail


def accuracy(model: PaperADFClassifier, batch: pd.DataFrame) -> float:
    return float(model.score(batch[["Area", "Beds"]], batch["Rent"]))


def format_table(trails: dict[str, list[PaperADFClassifier]]) -> str:
    """Return accuracies, a line for each strategy and batch learnt, a column for each batch tested on."""
    lines = [
        f"{'':24}{'accuracy on batch':^24}",
        f"{'strategy':10}{'after':>8}{'leaves':>8}" + "".join(f"{number:>8}" for number in (1, 2, 3)),
    ]
    for splitting, trail in trails.items():
        for number, model in enumerate(trail, start=1):
            name = STRATEGIES[splitting][0] if number == 1 else ""
            shares = "".join(f"{accuracy(model, batch):>8.2f}" for batch in BATCHES)
            lines.append(f"{name:10}{f'batch {number}':>8}{model.permanent_forest_.n_leaves:>8}{shares}")
    return "\n".join(lines)


def draw_picture(trails: dict[str, list[PaperADFClassifier]], path: Path) -> None:
    """Draw the trees: a row for each strategy, a column for each batch."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(16, 10))
    grid = {"left": 0.13, "right": 0.995, "top": 0.83, "bottom": 0.06, "hspace": 0.15, "wspace": 0.05}
    panels = figure.subplots(3, 3, gridspec_kw=grid | RATIOS)
    classes: dict[str, Any] = {}
    for row, (splitting, trail) in zip(panels, trails.items(), strict=True):
        for number, (ax, model) in enumerate(zip(row, trail, strict=True), start=1):
            draw_tree(model, ax=ax)
            legend = ax.get_legend()
            classes |= {
                text.get_text(): handle for text, handle in zip(legend.texts, legend.legend_handles, strict=True)
            }
            legend.remove()
            learnt = [accuracy(model, batch) for batch in BATCHES[:number]]
            share = f"{sum(learnt) * 10:.0f} of {number * 10} houses right"
            ax.set_title(share, loc="center", fontsize=10.5, color=FAINT if min(learnt) == 1 else "#B3400A")
            ax.set_title("", loc="left")
        _name_row(figure, row[0], *STRATEGIES[splitting])
    _name_columns(figure, panels[0])
    figure.legend(handles=classes.values(), loc="lower center", ncols=4, frameon=False, fontsize=12)
    figure.savefig(path, dpi=150, facecolor="white")


def _name_row(figure: Any, ax: Any, name: str, explanation: str) -> None:
    """Write a strategy's name left of its trees."""
    middle = (ax.get_position().y0 + ax.get_position().y1) / 2
    figure.text(0.012, middle + 0.005, name, fontsize=17, fontweight="bold", color=INK, va="bottom")
    figure.text(0.012, middle, explanation, fontsize=9.5, color=FAINT, va="top", linespacing=1.4)


def _name_columns(figure: Any, panels: Any) -> None:
    """Write what happens in each batch above its trees, and what the picture shows above all."""
    figure.text(
        0.012, 0.955, "Where to cut a tree that a batch has perturbed", fontsize=20, fontweight="bold", color=INK
    )
    figure.text(
        0.012,
        0.927,
        "Area and bedrooms against rent, three batches of ten houses; the leaf's colour is the rent it predicts",
        fontsize=12,
        color=FAINT,
    )
    for number, (ax, story) in enumerate(zip(panels, STORIES, strict=True), start=1):
        place = ax.get_position()
        middle = (place.x0 + place.x1) / 2
        figure.text(middle, 0.885, f"after batch {number}", fontsize=14, fontweight="bold", color=INK, ha="center")
        figure.text(middle, 0.863, story, fontsize=10.5, color=FAINT, ha="center")


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare the strategies."""
    parser = argparse.ArgumentParser(description="Compare SAT, entropy and iSAT on the paper's toy batches.")
    parser.add_argument("--out", type=Path, default=Path("out/splitting.png"), help="picture (default: %(default)s)")
    path = parser.parse_args(arguments).out
    try:
        check_picture(path)
    except (ImportError, OSError, ValueError) as error:
        parser.error(str(error))
    trails = {splitting: learn(splitting) for splitting in STRATEGIES}
    print(format_table(trails))
    draw_picture(trails, path)
    print(f"\nPicture: {path}")


if __name__ == "__main__":
    main()
