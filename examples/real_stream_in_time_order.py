"""
Refitting against adapting, on real streams in time order
=========================================================

The alternative to an adaptive method is to refit a forest from time to time: on the last samples or on all of
them. Which of the two is right depends on the stream. This example follows a small real stream day by day, and then
shows larger ones from the project's results.
"""

# %%
# A small real stream
# -------------------
# River comes with 1,001 days of one president's approval, in time order: five pollsters' latest figures and an
# average over many more. The task here is to tell from the five whether the average is below 39.5, in between, or
# above 41 per cent. Pollsters change their methods over the years.

import matplotlib.pyplot as plt
import numpy as np
from river.datasets import TrumpApproval
from sklearn.ensemble import RandomForestClassifier

from adforest import AdaptiveDecisionForestClassifier

days = list(TrumpApproval())
X = np.array([list(day.values()) for day, _ in days])
average = np.array([approval for _, approval in days])
y = np.array(["low", "middle", "high"])[np.digitize(average, [39.5, 41.0])]
print(len(y), "days,", {name: int((y == name).sum()) for name in ("low", "middle", "high")})

# %%
# Batches of 50 days, each predicted before it is learnt:

SIZE = 50
windows = {"refitted on the last batch": SIZE, "refitted on the last 3": 3 * SIZE, "refitted on everything": len(y)}
models = {name: RandomForestClassifier(n_estimators=20, random_state=0) for name in windows}
models["adaptive forest"] = AdaptiveDecisionForestClassifier(random_state=0)
right = {name: [] for name in models}
for start in range(0, len(y), SIZE):
    end = start + SIZE
    for name, model in models.items():
        if start:
            right[name].extend(model.predict(X[start:end]) == y[start:end])
        if name in windows:
            window = slice(max(0, end - windows[name]), end)
            model.fit(X[window], y[window])
        else:
            model.partial_fit(X[start:end], y[start:end])
for name, values in right.items():
    print(f"{name:28} {np.mean(values):.3f}")

# %%
# Below, the accuracy so far. On this small stream all four end within two points; the adaptive forest and the refit on
# the last 3 batches are ahead by about one.

colours = {
    "refitted on the last batch": "#8A8A8A",
    "refitted on the last 3": "#009E73",
    "refitted on everything": "#D55E00",
    "adaptive forest": "#0072B2",
}
figure, (above, below) = plt.subplots(2, 1, figsize=(9, 6), layout="constrained", height_ratios=[1, 2])
above.plot(average, color="#222222", linewidth=1)
above.axhspan(39.5, 41, color="#F0F0EE")
above.set(ylabel="approval, %", xlim=(0, len(y)), title="The average, and the band between 39.5 and 41")
for name, values in right.items():
    share = np.cumsum(values) / np.arange(1, len(values) + 1)
    below.plot(
        np.arange(SIZE, SIZE + len(share)),
        share,
        color=colours[name],
        linewidth=2.2 if name == "adaptive forest" else 1.3,
        label=name,
    )
below.set(xlabel="day", ylabel="accuracy so far", xlim=(150, len(y)), ylim=(0.6, 0.95))
below.legend(frameon=False, ncols=2, loc="lower right")
plt.show()

# %%
# Larger streams
# --------------
# The same comparison on public streams of 4,000 to 50,000 samples: their accuracies are those of nextbatch, the
# project's benchmark. Forests that are refitted are scikit-learn's; defaults of the adaptive forest were
# chosen on streams with an asterisk.

import sys

sys.path.append("..")  # of a checkout
from experiments.reporting.results_page import find_chapter

names = {
    "rf-last": "refitted on the last batch",
    "rf-last3": "refitted on the last 3",
    "rf-all": "refitted on everything",
    "adforest": "adaptive forest",
}
table = find_chapter("The next batch").table("Accuracy on the next batch, real streams")
streams = table.heads[1:-1]
found = {key: [float(cell.split(" ")[0]) for cell in table.row(key)[1:-1]] for key in names}

figure, ax = plt.subplots(figsize=(9, 7), layout="constrained")
for place in range(len(streams)):
    values = [found[key][place] for key in found]
    ax.plot([min(values), max(values)], [place, place], color="#DDDDDD", linewidth=2, zorder=1)
for key, label in names.items():
    ax.scatter(
        found[key],
        range(len(streams)),
        color=colours[label],
        s=70 if key == "adforest" else 40,
        label=label,
        zorder=3 if key == "adforest" else 2,
    )
ax.set_yticks(range(len(streams)), streams)
ax.invert_yaxis()
ax.set(xlabel="accuracy on the next batch", xlim=(0, 1))
ax.legend(frameon=False, loc="upper left")
plt.show()

# %%
# On some streams only the last batch matters (uifwa, eb, arem), on others everything does (outdoor, gas, avila).
# It need not be known beforehand: the adaptive forest is near the best refit on each of them, and above it where old
# and new samples both help (hotel, ldpa).
