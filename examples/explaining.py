"""Why a flat is thought to be dear, before and after the rules change, and what the model noticed on the way.

Forty batches of made-up flats. What they rent for depends on area and district; batches 12 and 13 were labelled the
wrong way round by mistake; from batch 26 on it is the suburb that is dear, not the centre.

Prints why the same flat is classed as it is in batch 25 and after batch 40, and draws the history of the model and the
last explanation. Run, with pandas installed:

    python examples/explaining.py --out docs/images
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from adforest import AdaptiveDecisionForestClassifier, Explanation
from adforest.monitor import ExplanationDisplay, HistoryDisplay

N_BATCHES, BATCH_SIZE = 40, 400
MISLABELLED = (12, 13)
LAST_OF_OLD_RULES = 25
FLAT = pd.DataFrame({"area": [68.0], "district": ["centre"], "floor": [2], "balcony": ["yes"]})


def draw_batch(number: int, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.Series[str]]:
    """Return some flats and what class of rent they are in."""
    flats = pd.DataFrame(
        {
            "area": rng.normal(70, 20, BATCH_SIZE).round(),
            "district": rng.choice(["centre", "suburb", "village"], BATCH_SIZE),
            "floor": rng.integers(0, 6, BATCH_SIZE),
            "balcony": rng.choice(["yes", "no"], BATCH_SIZE),
        }
    )
    dear = "centre" if number <= LAST_OF_OLD_RULES else "suburb"
    score = flats["area"] + 35 * (flats["district"] == dear) + 8 * (flats["balcony"] == "yes")
    score += rng.normal(0, 4, BATCH_SIZE)
    names = ["high", "mid", "low"] if number in MISLABELLED else ["low", "mid", "high"]
    rents = pd.cut(score, [-np.inf, 75, 100, np.inf], labels=names).astype(str)
    flats.loc[rng.random(BATCH_SIZE) < 0.05, "floor"] = np.nan  # not every advertisement says so
    return flats, rents


def learn() -> tuple[AdaptiveDecisionForestClassifier, Explanation]:
    """Return the model after all batches, and why it classed the flat as it did under the old rules."""
    model, rng = AdaptiveDecisionForestClassifier(random_state=0), np.random.default_rng(0)
    for number in range(1, N_BATCHES + 1):
        model.partial_fit(*draw_batch(number, rng))
        if number == LAST_OF_OLD_RULES:
            before = model.explain(FLAT)
    return model, before


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of the pictures (default: %(default)s)")
    folder: Path = parser.parse_args(arguments).out
    folder.mkdir(parents=True, exist_ok=True)
    import matplotlib

    matplotlib.use("agg")
    model, before = learn()
    print(f"After batch {LAST_OF_OLD_RULES}, {before.text()}\n")
    print(f"After batch {N_BATCHES}, {model.explain(FLAT).text()}\n")
    displays = {"history": HistoryDisplay.from_estimator(model)}
    displays["explanation"] = ExplanationDisplay.from_estimator(model, FLAT)
    for name, display in displays.items():
        path = folder / f"{name}.png"
        display.figure_.savefig(path, dpi=110)
        print(f"Picture: {path}")


if __name__ == "__main__":
    main()
