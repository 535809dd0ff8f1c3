"""
A class that comes back
=======================

One of five classes is in the first ten batches, absent from forty, and then returns. A forest of the last batches
cannot predict it any more. The adaptive forest can, from the first batch in which the class is back.
"""

# %%
# The stream
# ----------
# Each class is three overlapping clusters in six dimensions. A table of frequencies determines which classes are in
# which batch.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier

from adforest import AdaptiveDecisionForestClassifier
from adforest.simulation import simulate_new_classes

FIRST_GONE, BACK, N_BATCHES = 10, 50, 60
shares = np.ones((N_BATCHES, 5))
shares[FIRST_GONE:BACK, 0] = 0
stream = list(simulate_new_classes(shares, batch_size=300, random_state=2))

# %%
# The test
# --------
# After each batch, the recall on samples of class 0 that no model learns. The adaptive forest is tested with both
# values of ``answer_for``: the vote of all forests, for the next batch, and the permanent forest alone, for samples of
# any time.

with_class = [batch for batch in stream if batch.number <= FIRST_GONE]
X_old = np.concatenate(
    [batch.X_held[batch.y_held == 0] for batch in with_class]
    + [batch.X_test[batch.y_test == 0] for batch in with_class]
)
print(len(X_old), "new samples of class 0")

refits = {"refitted on the last 3": 3, "refitted on everything": N_BATCHES}  # batches
ours = AdaptiveDecisionForestClassifier(random_state=0)
recall = {name: [] for name in [*refits, "adaptive forest", 'adaptive, answer_for="everything"']}
for batch in stream:
    for name, n_last in refits.items():
        window = stream[max(0, batch.number - n_last) : batch.number]
        refit = RandomForestClassifier(n_estimators=20, random_state=0)
        refit.fit(np.concatenate([one.X_train for one in window]), np.concatenate([one.y_train for one in window]))
        recall[name].append(np.mean(refit.predict(X_old) == 0))
    ours.partial_fit(batch.X_train, batch.y_train)
    recall["adaptive forest"].append(np.mean(ours.predict(X_old) == 0))
    everything = ours.set_params(answer_for="everything").predict(X_old)
    recall['adaptive, answer_for="everything"'].append(np.mean(everything == 0))
    ours.set_params(answer_for="next_batch")

# %%
# While the class is absent, the vote gives it less and less probability, since the last batches lack it. That is right
# for the next batch, and wrong for old samples, which need ``answer_for="everything"``: then its recall is about that
# of a refit on everything. With the first batch in which the class is back, the recall of the adaptive forest is higher
# than that of any refit, since it uses both the old samples and the recent frequency of the class.

colours = ["#009E73", "#D55E00", "#0072B2", "#56B4E9"]
figure, ax = plt.subplots(figsize=(9, 4.2), layout="constrained")
ax.axvspan(FIRST_GONE + 0.5, BACK + 0.5, color="#F0F0EE")
ax.text((FIRST_GONE + BACK) / 2, 1.02, "class 0 is gone", ha="center", color="#6B6B6B")
for (name, values), colour in zip(recall.items(), colours, strict=True):
    ax.plot(range(1, N_BATCHES + 1), values, color=colour, linewidth=2 if "adaptive" in name else 1.3, label=name)
ax.set(xlabel="batch", ylabel="recall of class 0", ylim=(-0.02, 1.1))
ax.legend(frameon=False, loc="center", bbox_to_anchor=(0.56, 0.4))
plt.show()

print(f"{'':36} before  last batch away  first batch back")
for name, values in recall.items():
    print(f"{name:36} {values[FIRST_GONE - 1]:6.2f}  {values[BACK - 1]:15.2f}  {values[BACK]:16.2f}")
