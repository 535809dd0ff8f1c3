"""Write the table of paper.md from docs/results.md: ``python paper/table.py``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAPER = Path(__file__).parent / "paper.md"
sys.path.insert(0, str(PAPER.parents[1]))  # experiments is beside the package, not in it

from experiments.reporting.results_page import find_chapter  # noqa: E402

MARKED = re.compile(r"(?<=<!-- accuracies -->\n).*?(?=<!-- end -->)", re.DOTALL)
LEARNERS = {
    "adforest": "adforest",
    "rf-last3": "forest, last 3",
    "rf-all": "forest, all",
    "lightgbm-last3": "LightGBM, last 3",
    "lightgbm-all": "LightGBM, all",
    "xgboost-last3": "XGBoost, last 3",
    "river-arf": "River's ARF",
}


def table() -> str:
    """Return the table; bold where nobody is better, learners that are not shown included."""
    found = find_chapter("The next batch").table("Accuracy on the next batch, real streams")
    lines = [["", *LEARNERS.values()], ["---", *("---:" for _ in LEARNERS)]]
    for stream in found.heads[1:]:
        values = [found.number(row, stream) for row in LEARNERS]
        best = max(found.number(row, stream) or 0 for row in found.rows)
        shown = ["–" if value is None else f"{value:.3f}".lstrip("0") for value in values]
        lines.append(
            [stream.replace("*", "\\*"), *(f"**{s}**" if v == best else s for s, v in zip(shown, values, strict=True))]
        )
    caption = (
        ": Accuracy on each batch before it is learnt. Forests are scikit-learn's; they, LightGBM and XGBoost are "
        "refitted on the last three batches or on everything. Bold: no learner of `docs/results.md` is better, shown "
        "here or not. Defaults of adforest were chosen on streams with an "
        "asterisk."
    )
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines) + f"\n{caption}\n\n"


def with_table(text: str) -> str:
    """Return the paper with this table."""
    return MARKED.sub(lambda _: table(), text)


if __name__ == "__main__":
    PAPER.write_text(with_table(PAPER.read_text(encoding="utf-8")), encoding="utf-8")
