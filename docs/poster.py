"""The method on one page, docs/images/poster.svg (A3): the drawings of the guide, what they show, and results.

Run ``python docs/poster.py`` after ``python docs/drawings.py``. Figures come from docs/results.md.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))  # experiments is beside the package, not in it

from experiments.reporting.results_page import find_chapter  # noqa: E402

POSTER = DOCS / "images" / "poster.svg"
WIDTH, HEIGHT, MARGIN = 1123, 1588, 50  # A3 at 96 dots per inch
INK, FAINT, LINE, ACCENT = "#222222", "#666666", "#C8C8C8", "#0072B2"
COLUMN = (WIDTH - 3 * MARGIN) / 2
WIDE = 940  # of the drawing over both columns


def lines(x: float, y: float, *texts: str, size: float = 15, colour: str = INK, weight: str = "normal") -> str:
    """Return lines of text, one below the other."""
    look = f'font-size="{size}" fill="{colour}" font-weight="{weight}"'
    spans = (f'<tspan x="{x}" dy="{1.38 * size if k else 0}">{escape(text)}</tspan>' for k, text in enumerate(texts))
    return f'<text x="{x}" y="{y}" {look}>{"".join(spans)}</text>'


def picture(name: str, x: float, y: float, width: float) -> tuple[str, float]:
    """Return a drawing of docs/images in a given width, and its height."""
    text = (DOCS / "images" / f"{name}.svg").read_text(encoding="utf-8")
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{name}-", text)  # two drawings may use one name for two things
    _, _, w, h = map(float, re.search(r'viewBox="([^"]+)"', text)[1].split())  # type: ignore[index]
    height = width * h / w
    head = f'<svg x="{x}" y="{y}" width="{width}" height="{height:.1f}" viewBox="0 0 {w} {h}">'
    return head + text[text.index(">") + 1 :], height


def section(x: float, y: float, title: str) -> str:
    """Return the heading of a part."""
    line = f'<line x1="{x}" y1="{y + 9}" x2="{x + COLUMN}" y2="{y + 9}" stroke="{LINE}"/>'
    return lines(x, y, title, size=21, colour=ACCENT, weight="bold") + line


def results(x: float, y: float) -> Iterator[str]:
    """Yield means over nextbatch's streams, the best of each among the learners shown in bold."""
    chapter = find_chapter("The next batch")
    real, made = (chapter.table(f"All learners, {kind} streams") for kind in ("real", "generated"))
    columns = (
        (f"accuracy, {real.cell('adforest', 'streams').split()[-1]} real", real, "accuracy", max),
        ("log loss, real", real, "log loss", min),
        ("CPU s per batch", real, "CPU seconds per batch", min),
        (f"accuracy, {made.cell('adforest', 'streams').split()[-1]} generated", made, "accuracy", max),
    )
    named = {
        "adforest": "adforest",
        "rf-last3": "scikit-learn's forest, refitted on the last 3 batches",
        "rf-all": "scikit-learn's forest, refitted on everything",
        "lightgbm-last3": "LightGBM, refitted on the last 3 batches",
        "river-arf": "River's adaptive random forest",
    }
    left, step = x + 400, 160
    for n, (row, told) in enumerate(named.items(), start=1):
        yield lines(x, y + 24 * n, told, size=15, weight="bold" if row == "adforest" else "normal")
    for k, (head, table, column, choose) in enumerate(columns):
        yield lines(left + k * step, y, head, size=15, colour=FAINT)
        values = {row: table.number(row, column) for row in named}
        best = choose(value for value in values.values() if value is not None)
        for n, value in enumerate(values.values(), start=1):
            shown = "–" if value is None else f"{value:.3f}".lstrip("0")
            weight = "bold" if value == best else "normal"
            yield lines(left + k * step, y + 24 * n, shown, size=15, weight=weight)


def poster() -> str:
    """Return the page."""
    right = 2 * MARGIN + COLUMN
    parts = [
        lines(MARGIN, 88, "Adaptive decision forest", size=46, weight="bold"),
        lines(
            MARGIN, 126, "A classifier for data that arrive in batches, with new classes and changing rules", size=22
        ),
        lines(WIDTH - 240, 88, "adforest", size=30, colour=ACCENT, weight="bold"),
        lines(WIDTH - 240, 121, "pip install adforest", size=19),
        lines(WIDTH - 240, 143, "from the first release on", size=15, colour=FAINT),
        section(MARGIN, 180, "The problem"),
        lines(
            MARGIN,
            216,
            "A table grows by the month. Labels come later, classes come and go.",
            "Some months have noise, some other class frequencies, and in some",
            "the rules change. A refit on everything follows slowly; a refit on",
            "the last months forgets.",
        ),
        picture("three-changes", MARGIN, 300, COLUMN)[0],
        section(right, 180, "Four forests"),
        lines(
            right,
            216,
            "They differ in the batches that they are trained on. Until rules",
            "change, the active forest is the permanent one.",
        ),
        picture("forests", right, 258, COLUMN)[0],
        section(MARGIN, 523, "Learning a batch"),
        lines(
            MARGIN,
            559,
            "Every forest predicts the batch before it is learnt. That is the test",
            "that weights and drift depend on, and the accuracy that users got.",
            "What follows makes a new state; the old one is not changed. If any",
            "step fails, the model is what it was.",
        ),
        section(right, 523, "Who votes"),
        lines(
            right,
            559,
            "The weight of a voter is multiplied by exp(0.1 · gain) of its predictions",
            "on the next batch, and one percent of all weight is redistributed (fixed",
            "share, Herbster & Warmuth 1998): the vote is hardly worse than the best",
            "forest, even if the best one changes. Where the last batches have",
            "samples, the permanent forest begins with half of the weight; elsewhere",
            "with 0.9 of it, since it knows older samples.",
        ),
        picture("steps", (WIDTH - WIDE) / 2, 694, WIDE)[0],
        section(MARGIN, 1016, "Repair, do not rebuild"),
        lines(
            MARGIN,
            1052,
            "A leaf that the batch contradicts is expanded, from old and new",
            "samples; the rest of the tree stays. The oldest trees are regrown.",
        ),
        picture("repair", MARGIN, 1092, COLUMN)[0],
        section(right, 1016, "A bounded memory"),
        lines(
            right,
            1052,
            "Trees are grown from samples in memory, stratified by class, so that",
            "classes which are rare or gone keep theirs. Time and memory per",
            "batch do not grow with the stream.",
        ),
        picture("memory", right, 1110, COLUMN)[0],
        f'<line x1="{MARGIN}" y1="1361" x2="{WIDTH - MARGIN}" y2="1361" stroke="{LINE}"/>',
        lines(MARGIN, 1352, "Results of nextbatch", size=21, colour=ACCENT, weight="bold"),
        lines(
            MARGIN + 240,
            1352,
            "Each batch is predicted before it is learnt; every library with its own defaults; means over streams.",
            size=15,
        ),
        *results(MARGIN, 1390),
        lines(
            MARGIN,
            1556,
            "After Rahman & Islam, Adaptive Decision Forest, Pattern Recognition 122, 2022, "
            "which has three forests, of which one predicts at a time.",
            "Figures: docs/results.md, with the commands that repeat them. BSD-3-Clause.",
            size=13,
            colour=FAINT,
        ),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{WIDTH}" '
        f'height="{HEIGHT}" viewBox="0 14 {WIDTH} {HEIGHT}" font-family="Helvetica, Arial, sans-serif">'
    )
    return "\n".join([head, f'<rect y="14" width="{WIDTH}" height="{HEIGHT}" fill="white"/>', *parts, "</svg>", ""])


if __name__ == "__main__":
    POSTER.write_text(poster(), encoding="utf-8")
