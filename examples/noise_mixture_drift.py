"""
Noise, changed class frequencies, drift
=======================================

Three streams are the same for 15 batches. Then one gets noisy labels, one gets other class frequencies, and one
gets other rules. Only the last is drift.
"""

# %%
# The streams
# -----------
# Two features; a line separates the two classes.

import matplotlib.pyplot as plt
import numpy as np

from adforest import AdaptiveDecisionForestClassifier

N_BATCHES, CHANGE, SIZE = 30, 16, 500
CHANGES = {
    "15 % of the labels are wrong": {"noise": 0.15},
    "one class is nine times as frequent": {"share": 0.1},
    "the line is elsewhere": {"threshold": 1.0},
}


def draw(rng, share=0.5, threshold=0.0, noise=0.0):
    """Return samples of which a given proportion is above the line."""
    X = rng.normal(size=(20 * SIZE, 2))
    is_above = X.sum(axis=1) > threshold
    n_above = int(share * SIZE)
    rows = rng.permutation(
        np.concatenate([np.flatnonzero(is_above)[:n_above], np.flatnonzero(~is_above)[: SIZE - n_above]])
    )
    y = np.where(rng.random(SIZE) < noise, ~is_above[rows], is_above[rows])
    return X[rows], np.where(y, "above", "below")


def follow(**change):
    """Return a model that learnt all batches."""
    rng, model = np.random.default_rng(0), AdaptiveDecisionForestClassifier(random_state=0)
    for number in range(1, N_BATCHES + 1):
        model.partial_fit(*draw(rng, **(change if number >= CHANGE else {})))
    return model


models = {title: follow(**change) for title, change in CHANGES.items()}

# %%
# What the model reports
# ----------------------
# Above, samples before and after the change. Below, the accuracy of the vote on each batch before it was learnt;
# triangles are batches reported as drift. With noise, accuracy falls to 0.85, which no model can exceed. The changed
# frequencies cost hardly anything, since predictions are corrected for them. Only the other line is reported as drift.

figure, axes = plt.subplots(3, 3, figsize=(10, 7.5), layout="constrained", height_ratios=[1, 1, 0.9])
for (title, model), column in zip(models.items(), axes.T, strict=True):
    for ax, change, when in ((column[0], {}, "before"), (column[1], CHANGES[title], "after")):
        X, y = draw(np.random.default_rng(1), **change)
        for name, colour in (("above", "#0072B2"), ("below", "#E69F00")):
            ax.scatter(*X[y == name][:250].T, s=7, color=colour, label=name)
        line = change.get("threshold", 0.0)
        ax.plot([-3.2, 3.2], [line + 3.2, line - 3.2], color="#222222", linewidth=1)
        ax.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), xticks=[], yticks=[], ylabel=when if column is axes.T[0] else "")
    column[0].set_title(title, fontsize=11)
    reports = model.history_[1:]
    column[2].axvline(CHANGE, color="#BBBBBB", linestyle=(0, (4, 3)))
    column[2].plot(
        [report.batch for report in reports],
        [report.accuracy["vote"] for report in reports],
        color="#222222",
        linewidth=1.6,
    )
    for report in reports:
        if report.drift != "none":
            face = "#222222" if report.drift == "sustained" else "white"
            column[2].plot(report.batch, 0.53, "^", markersize=6, markeredgecolor="#222222", markerfacecolor=face)
    column[2].set(xlabel="batch", ylim=(0.5, 1.02))
axes[2, 0].set_ylabel("accuracy")
plt.show()

for title, model in models.items():
    print(f"{title:38}", [report.batch for report in model.history_ if report.drift != "none"])
