"""
A threshold for a rare class
============================

One payment in thirty is a fraud. Missing one costs 20 times as much as checking an honest payment, so predicting the
most likely class is not the cheapest rule. The predictions for each batch before it was learnt show which threshold is.
"""

# %%
# The stream
# ----------
# Frauds are large, late and from young accounts more often than others, but not always. From batch 21 on they are
# small: the rules have changed.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier

from adforest import AdaptiveDecisionForestClassifier, threshold_for_cost

N_BATCHES, SIZE, CHANGE = 40, 500, 21
COST_MISSED, COST_LOOK = 100, 5  # of a fraud that passes, and of an honest payment that is looked at
rng = np.random.default_rng(0)


def pay(number):
    """Return the payments of a batch, and what they are."""
    is_fraud = rng.random(SIZE) < 1 / 30
    amount = rng.lognormal(np.where(is_fraud, 4.5 if number < CHANGE else 2.0, 3.5), 0.6).round(2)
    hour = np.where(is_fraud, rng.normal(23, 4, SIZE), rng.normal(14, 4, SIZE)) % 24
    age = rng.exponential(np.where(is_fraud, 100, 500)).round()
    X = pd.DataFrame({"amount": amount, "hour": hour, "account age": age, "country": rng.choice(list("ABC"), SIZE)})
    return X, np.where(is_fraud, "fraud", "honest")


# %%
# The cost of a threshold
# -----------------------
# With calibrated probabilities, the optimal threshold is known: look if the probability of a fraud is above
# COST_LOOK / (COST_LOOK + COST_MISSED). Those of a model may not be. ``prequential_`` has the predictions for the
# last 2,000 payments before they were learnt, and ``threshold_for_cost`` finds the threshold with the lowest cost on
# them. Predictions for payments that a model has learnt would be too optimistic.


def cost_of(is_fraud, is_looked_at):
    """Return what the predictions for some payments cost."""
    return COST_MISSED * (is_fraud & ~is_looked_at).sum() + COST_LOOK * (~is_fraud & is_looked_at).sum()


# %%
# Along the stream
# ----------------
# Each batch is predicted, then learnt. scikit-learn's ``FixedThresholdClassifier`` predicts by a threshold;
# ``FrozenEstimator`` keeps it from fitting the model again.

model = AdaptiveDecisionForestClassifier(random_state=0).partial_fit(*pay(1))
fraud = list(model.classes_).index("fraud")
by_theory = COST_LOOK / (COST_LOOK + COST_MISSED)
rows = []
for number in range(2, N_BATCHES + 1):
    X, y = pay(number)
    y_true, y_proba = model.prequential_
    threshold = threshold_for_cost(y_true, y_proba[:, fraud], pos_label="fraud", cost_fp=COST_LOOK, cost_fn=COST_MISSED)
    tuned = FixedThresholdClassifier(FrozenEstimator(model), threshold=threshold, pos_label="fraud")
    answers = {
        "most likely class": model.predict(X) == "fraud",
        "theoretical threshold": model.predict_proba(X)[:, fraud] >= by_theory,
        "cheapest threshold so far": tuned.predict(X) == "fraud",
        "look at none": np.zeros(SIZE, dtype=bool),
    }
    rows.append({"batch": number, "threshold": threshold})
    rows[-1] |= {name: cost_of(y == "fraud", looked_at) for name, looked_at in answers.items()}
    model.partial_fit(X, y)
table = pd.DataFrame(rows).set_index("batch")
print(table.drop(columns="threshold").mean().round(0).to_string())

# %%
# The most likely class is too rarely "fraud": a threshold costs half as much. The theoretical one is as good here,
# since the probabilities are nearly calibrated; on other streams, compare both. The cheapest threshold so far does not
# need calibrated probabilities, only a good ranking, but it depends on the sixty or so frauds among the last 2,000
# payments, and varies with them.

figure, (top, bottom) = plt.subplots(
    2, figsize=(9, 5.5), sharex=True, layout="constrained", gridspec_kw={"height_ratios": [3, 1]}
)
colours = {"most likely class": "#D55E00", "theoretical threshold": "#009E73", "cheapest threshold so far": "#0072B2"}
for name, colour in colours.items():
    top.plot(table[name].cumsum() / 1_000, color=colour, linewidth=2, label=name)
top.plot(table["look at none"].cumsum() / 1_000, color="#8A8A8A", linewidth=1.3, label="look at none")
top.set(ylabel="cost so far, in thousands")
top.legend(frameon=False)
bottom.step(table.index, table["threshold"], color="#0072B2", where="mid")
bottom.axhline(by_theory, color="#009E73")
bottom.set(xlabel="batch", ylabel="threshold", ylim=(0, None))
for ax in (top, bottom):
    ax.axvline(CHANGE - 0.5, color="#6B6B6B", linestyle=":")
plt.show()
