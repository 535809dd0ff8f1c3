"""
Monitoring a model
==================

The reports of a model while it learns, as a picture and as a table, its health, and recall by class.
"""

# %%
# The stream
# ----------
# 20,000 simulated houses and their rents, in 34 batches as in the paper's simulation: known classes, single classes,
# unknown ones and mixtures.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from adforest import AdaptiveDecisionForestClassifier
from adforest.monitor import HistoryDisplay, ModelView
from adforest.simulation import make_house, simulate_houses

batches = simulate_houses(20_000, random_state=0)
columns = make_house(1).feature_names
model = AdaptiveDecisionForestClassifier(random_state=0)
recalls = []
for batch in batches:
    model.partial_fit(pd.DataFrame(batch.X_train, columns=columns), batch.y_train)
    y_pred = model.predict(pd.DataFrame(batch.X_test, columns=columns))
    recalls.append({rent: np.mean(y_pred[batch.y_test == rent] == rent) for rent in np.unique(batch.y_test)})

# %%
# As a picture
# ------------
# Above, the accuracy of each forest alone and of the vote, on each batch before it was learnt. It is 0 where a batch
# has only new classes, which no model can predict. Below, the weights of the forests, the scenario of each batch (known
# and unknown classes), the number of new classes, and drift.

HistoryDisplay.from_estimator(model)
plt.show()

# %%
# As a table
# ----------
# ``history_frame`` has a row for each batch and a column for each figure and forest.

frame = model.history_frame()
print(
    frame[["batch", "scenario", "accuracy_vote", "drift", "answering", "n_leaves_permanent"]]
    .iloc[::4]
    .round(2)
    .to_string(index=False)
)

# %%
# Model health
# ------------
# ``ModelView`` holds all that the monitor shows of a model, and its health: ok, warning or critical, and the reason.

view = ModelView.from_estimator(model)
print(view.health.level, "-", view.health.reason)
for column in view.columns[:3]:
    print(f"{column.name}: distance from the past {column.distance:.2f}, importance {column.importance:.2f}")

# %%
# Class by class
# --------------
# The history has no metrics by class. Recall by class, on samples that the model has not learnt, takes a loop:

grid = np.array([[found.get(rent, np.nan) for found in recalls] for rent in model.classes_])
figure, ax = plt.subplots(figsize=(10, 3.4), layout="constrained")
image = ax.imshow(
    grid, aspect="auto", cmap="viridis", vmin=0, vmax=1, extent=(0.5, len(batches) + 0.5, len(grid) - 0.5, -0.5)
)
ax.set_yticks(range(len(grid)), model.classes_)
ax.set(xlabel="batch", title="Recall after learning the batch; white: the class is not in its test")
figure.colorbar(image, label="recall")
plt.show()
