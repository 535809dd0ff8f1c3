"""
Tutorial: a year of batches
===========================

Flats are let every month. The model learns each month when its rents are known, and predicts the next one. In
the course of the year a new class comes, the rules change, and the model is saved and used by another program.
It takes ten minutes to read and seconds to run.
"""

# %%
# Batches
# -------
# A batch is a table ``X`` and its labels ``y``. Text and missing values stay as they are. Flats in the centre
# are expensive until August, from September on those at the lake are; luxury flats are let from May on.

import tempfile

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import adforest
from adforest import AdaptiveDecisionForestClassifier
from adforest.monitor import HistoryDisplay

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
rng = np.random.default_rng(0)


def draw_month(number, size=500):
    """Return flats and their rents: low, mid, high and, from May on, luxury."""
    X = pd.DataFrame(
        {
            "area": rng.normal(70, 20, size).round(),
            "district": rng.choice(["centre", "lake", "village"], size),
            "floor": rng.choice([0, 1, 2, 3, np.nan], size),
        }
    )
    expensive = "centre" if number < 8 else "lake"
    score = X["area"] + 35 * (X["district"] == expensive) + rng.normal(0, 4, size)
    y = np.select([score < 70, score < 95], ["low", "mid"], "high").astype(object)
    if number >= 4:
        y[score > 120] = "luxury"
    return X, y


year = [draw_month(number) for number in range(12)]
year[0][0].head()

# %%
# Predict first, then learn
# -------------------------
# ``partial_fit`` learns one more batch; ``classes=`` is not needed, and any batch may bring new ones. Each
# month is predicted before it is learnt, which is what a user would have got. The report of the batch has the
# same accuracy.

model = AdaptiveDecisionForestClassifier(random_state=0)
accuracy = {}
for name, (X, y) in zip(MONTHS, year, strict=True):
    if name != "Jan":
        accuracy[name] = model.score(X, y)
    model.partial_fit(X, y)
    report = model.history_[-1]
    known = f"{accuracy[name]:.2f}" if name in accuracy else "   -"
    print(f"{name}  accuracy {known}  drift {report.drift:<10} classes {', '.join(model.classes_)}")

# %%
# May brings a class that no month had before; with few flats of it, it takes until July to be predicted as the
# others are. In September two thirds of the predictions are wrong, since the rules have changed. The model
# reports drift, and October is predicted well again. In December the drift is "sustained": there is a forest of
# the new rules alone.

HistoryDisplay.from_estimator(model)
plt.show()

# %%
# Why a flat is predicted as it is
# --------------------------------
# Contributions of the columns add up, with a bias, to the probability. The district counts by the rules of the
# last months.

flat = pd.DataFrame({"area": [75.0], "district": ["lake"], "floor": [2.0]})
print(model.explain(flat).text())

# %%
# One file, and no code in it
# ---------------------------
# The file holds everything, and a loaded model goes on learning. ``save(..., samples=False)`` writes one that
# predicts only, and has no row of the data.

with tempfile.TemporaryDirectory() as folder:
    model.save(f"{folder}/rents.adf")
    loaded = adforest.load(f"{folder}/rents.adf")
X, y = draw_month(12)
print("another program, next January:", loaded.score(X, y))

# %%
# Where to go from here: drift and noise, late labels, alarms, the command line and the
# service are pages of the manual. When not to use this classifier is one, too.
