"""
Probabilities before and after a drift
======================================

Of the samples that are predicted with a probability of 0.8, eight in ten should have that class. scikit-learn's
``CalibrationDisplay`` shows whether they do: before the rules change, with the batch that changes them, and some
batches later.
"""

# %%
# The stream
# ----------
# Six features and two classes: a plane decides, and one label in ten is wrong. With batch 21 another plane decides.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.calibration import CalibrationDisplay
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import brier_score_loss, log_loss

from adforest import AdaptiveDecisionForestClassifier

CHANGE, LATER, SIZE = 21, 26, 500
rng = np.random.default_rng(0)
planes = rng.normal(size=(2, 6))


def draw(number, n=SIZE):
    """Return samples of a batch."""
    X = rng.normal(size=(n, 6))
    is_wrong = rng.random(n) < 0.1
    return X, ((X @ planes[int(number >= CHANGE)] > 0) ^ is_wrong).astype(int)


# %%
# Two models
# ----------
# One keeps learning, the other is a forest of scikit-learn refitted on all samples so far. At three moments both
# predict 4,000 samples that neither has seen, drawn by the rules of the next batch.

moments = {CHANGE - 1: "before the change", CHANGE: "with the change", LATER: f"{LATER - CHANGE} batches later"}
adaptive = AdaptiveDecisionForestClassifier(random_state=0)
batches, answers = [], {}
for number in range(1, LATER + 1):
    if number in moments:
        X, y = (np.concatenate(parts) for parts in zip(*batches, strict=True))
        refitted = RandomForestClassifier(100, random_state=0).fit(X, y)
        X, y = draw(number, 4_000)
        for name, model in (("adaptive forest", adaptive), ("refitted on everything", refitted)):
            answers[moments[number], name] = y, model.predict_proba(X)[:, 1]
    batches.append(draw(number))
    adaptive.partial_fit(*batches[-1])

# %%
# How good the probabilities are
# ------------------------------
# Lower is better for both. The first batch of the new rules is predicted by the old ones, so that both models have a
# high loss. Five batches later the adaptive forest is nearly as good as before; the other one has learnt 20 batches of
# the old rules and five of the new.

table = pd.DataFrame(
    {
        key: {"log loss": log_loss(y, p), "Brier score": brier_score_loss(y, p), "accuracy": np.mean((p > 0.5) == y)}
        for key, (y, p) in answers.items()
    }
).T
print(table.round(3).to_string())

# %%
# Reliability diagrams
# --------------------
# On the dashed line probabilities are calibrated. In the right half of a panel, a curve above it shows probabilities
# that are too low, a curve below it probabilities that are too high. The adaptive forest calibrates its vote by the
# predictions for each batch before it was learnt.

figure, axes = plt.subplots(1, 3, figsize=(11, 4), sharey=True, layout="constrained")
colours = {"adaptive forest": "#0072B2", "refitted on everything": "#D55E00"}
for ax, moment in zip(axes, moments.values(), strict=True):
    for name, colour in colours.items():
        y, p = answers[moment, name]
        CalibrationDisplay.from_predictions(y, p, n_bins=10, name=name, ax=ax, color=colour, markersize=4)
    ax.set(title=moment, xlabel="probability of class 1", ylabel="fraction of class 1" if ax is axes[0] else None)
    ax.legend(frameon=False, fontsize=8, loc="upper left")
plt.show()

# %%
# Reports have both figures for every batch before it was learnt, whatever the model is used for.

frame = adaptive.history_frame().set_index("batch")[["log_loss", "brier_score"]]
print(frame.loc[[CHANGE - 1, CHANGE, CHANGE + 1, LATER]].round(3).to_string())
