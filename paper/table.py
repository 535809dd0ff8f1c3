"""Write the table of paper.md from docs/results.md: ``python paper/table.py``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAPER = Path(__file__).parent / "paper.md"
sys.path.insert(0, str(PAPER.parents[1]))  # experiments is beside the package, not in it

from experiments.reporting.results_page import find_chapter  # noqa: E402

MARKED = re.compile(r"(?<=<!-- accuracies -->\n).*?(?=<!-- end -->)", re.DOTALL)
METHODS = {
    "ADF-R": "adforest",
    "RF last 3": "its random forest, refitted on the last 3 batches",
    "RF all": "its random forest, refitted on everything",
    "sklearn RF all": "scikit-learn's, refitted on everything",
    "LightGBM all": "LightGBM, refitted on everything",
    "ARF": "River's adaptive random forest, 10 trees",
}


def table() -> str:
    """Return the table, the highest accuracy of each stream among the methods shown in bold."""
    found = find_chapter("The next batch").table("Accuracy on the next batch, real streams")
    streams = [head for head in found.heads[1:] if head != "mean"]
    values = {row: [found.number(row, stream) for stream in streams] for row in METHODS}
    best = [max(row[k] or 0 for row in values.values()) for k in range(len(streams))]
    lines = [["", *streams], ["---", *("---:" for _ in streams)]]
    for row, told in METHODS.items():
        shown = ["–" if one is None else f"{one:.3f}".lstrip("0") for one in values[row]]
        lines.append([told, *(f"**{s}**" if v == b else s for s, v, b in zip(shown, values[row], best, strict=True))])
    caption = ": Accuracy on each batch before it is learnt, mean over the batches of a stream."
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines) + f"\n{caption}\n\n"


def with_table(text: str) -> str:
    """Return the paper with this table."""
    return MARKED.sub(lambda _: table(), text)


if __name__ == "__main__":
    PAPER.write_text(with_table(PAPER.read_text(encoding="utf-8")), encoding="utf-8")
