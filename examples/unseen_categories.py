"""
Unseen categories
=================

A shop sells 40 products, some of which are replaced by new ones in each batch. Text columns need no encoder: new values
are learnt with the batch that has them, a value that was never learnt is treated as missing, and infrequent values can
share a code.
"""

# %%
# The stream
# ----------
# Whether an order is returned depends on the product's kind, which is not in the table, and on its price. With each
# batch some products are replaced by others.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from adforest import AdaptiveDecisionForestClassifier

rng = np.random.default_rng(0)
N_BATCHES, SIZE, N_PRODUCTS = 30, 500, 40
is_risky = {}  # by product, decided when it is first sold


def sell(products):
    """Return orders of some products, and whether they come back."""
    for product in products:
        is_risky.setdefault(product, rng.random() < 0.5)
    chosen = rng.choice(products, SIZE)
    price = rng.gamma(4, 10, SIZE).round(2)
    risk = np.where([is_risky[one] for one in chosen], 0.75, 0.15) + 0.1 * (price > 60)
    orders = pd.DataFrame({"product": chosen, "price": price, "paid by": rng.choice(["card", "invoice"], SIZE)})
    orders.loc[rng.random(SIZE) < 0.05, "paid by"] = None
    return orders, np.where(rng.random(SIZE) < risk, "returned", "kept")


# %%
# Along the stream
# ----------------
# From batch 11 on, four products of forty are new in each batch. Accuracy is that on the batch before it is learnt,
# separately for orders of known and of new products.

products = [f"P{number:03}" for number in range(N_PRODUCTS)]
model = AdaptiveDecisionForestClassifier(random_state=0)
rows = []
known = set()
for number in range(1, N_BATCHES + 1):
    if number > 10:
        products = products[4:] + [f"P{len(is_risky) + place:03}" for place in range(4)]
    orders, outcome = sell(products)
    if number > 1:
        is_right = model.predict(orders) == outcome
        is_new = ~orders["product"].isin(known).to_numpy()
        rows.append((number, is_right[~is_new].mean(), is_right[is_new].mean() if is_new.any() else np.nan))
    known |= set(orders["product"])
    model.partial_fit(orders, outcome)
table = pd.DataFrame(rows, columns=["batch", "known products", "new products"]).set_index("batch")
print(table.loc[11:].mean().round(3).to_string())

# %%
# Orders of new products can only be predicted from their price. After their first batch the products are known.

figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
ax.plot(
    table.index,
    table["known products"],
    "o-",
    color="#0072B2",
    markersize=4,
    label="orders of products that were learnt",
)
ax.plot(table.index, table["new products"], "s", color="#D55E00", markersize=5, label="orders of products never seen")
ax.set(
    xlabel="batch",
    ylabel="accuracy before learning it",
    ylim=(0, 1),
    title="From batch 11 on, one product in ten is new in each batch",
)
ax.legend(frameon=False, loc="lower left")
plt.show()

# %%
# Many rare values
# ----------------
# ``max_categories`` and ``min_frequency`` mean what they mean in scikit-learn's ``OneHotEncoder``, counted over all
# batches so far: infrequent values share a code, and a value gets its own when it has become frequent. A value that was
# never seen counts as infrequent then, not as missing.

model = AdaptiveDecisionForestClassifier(min_frequency=20, random_state=0)
for _ in range(5):
    model.partial_fit(*sell(products))
risky = next(product for product in products if is_risky[product])
names = [risky, "never seen", None]
probabilities = model.predict_proba(pd.DataFrame({"product": names, "price": 30.0, "paid by": "card"}))
for name, probability in zip(names, probabilities[:, 1], strict=True):
    print(f"{name!s:12} returned with a probability of {probability:.2f}")
