"""
Recovering from drift
=====================

The rules that decide the class change three times. A forest refitted on everything keeps predicting by the old
rules; one refitted on the last three batches needs three batches to forget them. The adaptive forest detects the
change with the first batch of new rules.
"""

# %%
# The stream
# ----------
# Six features, three of them categorical, and five classes. After each quarter of the stream another list of rules
# decides the class; the features themselves are drawn as before. One label in twenty is wrong, so that no model can
# have an accuracy above 95 %.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier

from adforest import AdaptiveDecisionForestClassifier
from adforest.simulation import concept_categorical, drift_points, simulate_drift

N_BATCHES = 32
stream = list(simulate_drift("abrupt", "rules", n_batches=N_BATCHES, batch_size=400, random_state=0))
changes = drift_points("abrupt", N_BATCHES)
print("the rules change with batches", changes)

# %%
# Each batch is predicted before it is learnt
# -------------------------------------------
# Its labels are unknown then. All forests have 20 trees; scikit-learn's take the categories as numbers.

refits = {"refitted on everything": N_BATCHES, "refitted on the last 3": 3}  # batches
models = {name: RandomForestClassifier(n_estimators=20, random_state=0) for name in refits}
models["adaptive forest"] = AdaptiveDecisionForestClassifier(
    categorical_features=concept_categorical("rules"), random_state=0
)
accuracy = {name: [] for name in models}
for batch in stream:
    for name, model in models.items():
        if batch.number > 1:
            accuracy[name].append(np.mean(model.predict(batch.X_train) == batch.y_train))
        if name in refits:
            window = stream[max(0, batch.number - refits[name]) : batch.number]
            model.fit(np.concatenate([one.X_train for one in window]), np.concatenate([one.y_train for one in window]))
        else:
            model.partial_fit(batch.X_train, batch.y_train)
for name, values in accuracy.items():
    print(f"{name:24} mean accuracy {np.mean(values):.3f}")

# %%
# No model can predict the first batch of new rules. They differ in how long they take afterwards. Triangles mark
# the batches that the adaptive forest reports as drift: hollow while it may be temporary, filled once it is
# sustained.

history = models["adaptive forest"].history_
colours = {"refitted on everything": "#D55E00", "refitted on the last 3": "#009E73", "adaptive forest": "#0072B2"}
figure, ax = plt.subplots(figsize=(9, 4.2), layout="constrained")
for change in changes:
    ax.axvline(change, color="#BBBBBB", linewidth=1, linestyle=(0, (4, 3)))
for name, values in accuracy.items():
    is_ours = name == "adaptive forest"
    ax.plot(
        range(2, N_BATCHES + 1),
        values,
        color=colours[name],
        linewidth=2.2 if is_ours else 1.3,
        marker="o",
        markersize=3,
        label=name,
    )
for report in history:
    if report.drift != "none":
        face = "#222222" if report.drift == "sustained" else "white"
        ax.plot(report.batch, 0.02, "^", markersize=7, markeredgecolor="#222222", markerfacecolor=face)
ax.set(xlabel="batch", ylabel="accuracy before learning it", ylim=(-0.04, 1), title="Rules change at the dashed lines")
ax.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 0.06))
plt.show()
