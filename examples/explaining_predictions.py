"""
Explaining predictions
======================

Forty batches of simulated flats. Their rent depends on area and district; batches 12 and 13 have swapped labels by
mistake; from batch 26 on the suburb is expensive, not the centre. The prediction for the same flat is explained
before and after.
"""

# %%
# The stream
# ----------

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from adforest import AdaptiveDecisionForestClassifier
from adforest.monitor import ExplanationDisplay, HistoryDisplay

N_BATCHES, SIZE = 40, 400
MISLABELLED = (12, 13)
LAST_OF_OLD_RULES = 25


def draw_batch(number, rng):
    """Return some flats and their rent classes."""
    flats = pd.DataFrame(
        {
            "area": rng.normal(70, 20, SIZE).round(),
            "district": rng.choice(["centre", "suburb", "village"], SIZE),
            "floor": rng.integers(0, 6, SIZE),
            "balcony": rng.choice(["yes", "no"], SIZE),
        }
    )
    dear = "centre" if number <= LAST_OF_OLD_RULES else "suburb"
    score = flats["area"] + 35 * (flats["district"] == dear) + 8 * (flats["balcony"] == "yes")
    score += rng.normal(0, 4, SIZE)
    names = ["high", "mid", "low"] if number in MISLABELLED else ["low", "mid", "high"]
    rents = pd.cut(score, [-np.inf, 75, 100, np.inf], labels=names).astype(str)
    flats.loc[rng.random(SIZE) < 0.05, "floor"] = np.nan  # not every advertisement says so
    return flats, rents


# %%
# One flat, before and after
# --------------------------
# An explanation begins with the probabilities at the roots, the class frequencies of all samples learnt, and adds what
# each feature changes on the paths to the leaves.

flat = pd.DataFrame({"area": [68.0], "district": ["centre"], "floor": [2], "balcony": ["yes"]})
model, rng = AdaptiveDecisionForestClassifier(random_state=0), np.random.default_rng(0)
for number in range(1, N_BATCHES + 1):
    model.partial_fit(*draw_batch(number, rng))
    if number == LAST_OF_OLD_RULES:
        before = model.explain(flat).text()
        print(before)

# %%
# Under the new rules the same district contributes to a low rent:

after = model.explain(flat).text()
print(after)

# %%
explanation = ExplanationDisplay.from_estimator(model, flat)
plt.show()

# %%
# Reported drift
# --------------
# The two mislabelled batches were reported as a temporary drift, the change at batch 26 as a sustained one.

history = HistoryDisplay.from_estimator(model)
plt.show()
