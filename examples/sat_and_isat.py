"""
Where to cut a tree: SAT, entropy, iSAT
=======================================

Three ways to change a tree that a batch contradicts, on three toy batches in the spirit of the paper's figure. (The
numbers of the paper's figure are not in its source.)
"""

# %%
# Area and bedrooms of a house against its rent. The first batch makes a tree. The second lies beyond it and brings
# two new classes. The third overlaps, reaches further, and contradicts a leaf.

import copy

import matplotlib.pyplot as plt
import pandas as pd

from adforest import PaperADFClassifier
from adforest.monitor import draw_tree

STRATEGIES = {
    "sat": ("SAT", "new roots between\nseparate boxes"),
    "entropy": ("Entropy", "perturbed leaves\nare expanded"),
    "isat": ("iSAT", "both, and new roots\nat the bounds of\noverlapping boxes"),
}
STORIES = ("the tree is built", "lies beyond, two new classes", "overlaps, contradicts a leaf")
LOW, MEDIUM, HIGH, LUXURY = "low", "medium", "high", "luxury"
COLUMNS = ["Area", "Beds", "Rent"]
HOUSES = (
    [
        *((100, 1, LOW), (120, 1, LOW), (140, 2, LOW), (150, 1, LOW), (160, 2, LOW)),
        *((200, 2, MEDIUM), (220, 3, MEDIUM), (240, 2, MEDIUM), (260, 3, MEDIUM), (280, 3, MEDIUM)),
    ],
    [
        *((400, 1, MEDIUM), (420, 1, MEDIUM), (430, 1, MEDIUM), (450, 2, HIGH), (460, 2, HIGH)),
        *((480, 3, LUXURY), (500, 3, LUXURY), (520, 3, LUXURY), (540, 2, HIGH), (560, 1, MEDIUM)),
    ],
    [
        *((205, 1, LOW), (215, 1, LOW), (230, 1, LOW), (250, 3, MEDIUM), (490, 2, HIGH)),
        *((550, 3, LUXURY), (650, 1, HIGH), (680, 2, HIGH), (700, 3, LUXURY), (720, 3, LUXURY)),
    ],
)
BATCHES = [pd.DataFrame(houses, columns=COLUMNS) for houses in HOUSES]

# %%
# One tree along the batches
# --------------------------
# SysFor's first tree is grown from all records, without a bootstrap sample: the tree one would draw by hand. With a
# repair threshold of 1 no batch counts as drift, so that this tree is the one that answers.


def learn(splitting):
    """Return the model as it was after each batch."""
    model = PaperADFClassifier(
        n_estimators=1,
        base_forest="sysfor",
        splitting=splitting,
        perturbation="predicted",
        repair_threshold=1.0,
        min_samples_leaf=1,
        random_state=0,
    )
    trail = []
    for batch in BATCHES:
        model.partial_fit(batch[["Area", "Beds"]], batch["Rent"])
        trail.append(copy.copy(model))  # learning swaps in a new model, so a shallow copy stays as it is
    return trail


def count_right(model, batches):
    """Return how many houses of some batches a model gets right."""
    return sum(int((model.predict(batch[["Area", "Beds"]]) == batch["Rent"]).sum()) for batch in batches)


trails = {splitting: learn(splitting) for splitting in STRATEGIES}
for splitting, trail in trails.items():
    right = [count_right(model, BATCHES[:number]) for number, model in enumerate(trail, start=1)]
    n_leaves = trail[-1].permanent_forest_.n_leaves
    print(f"{STRATEGIES[splitting][0]:8} right after batch 1, 2, 3: {right} of [10, 20, 30]; {n_leaves} leaves")

# %%
# The trees
# ---------
# SAT, the strategy of an older method, puts a new root where the boxes of tree and batch are apart, and has no answer
# to a batch that overlaps. Entropy only expands leaves. iSAT does both, and puts roots at the bounds of overlapping
# boxes too. Colours are the rents that leaves predict.

figure, panels = plt.subplots(
    3, 3, figsize=(15, 9.5), layout="constrained", width_ratios=[0.45, 1, 1.3], height_ratios=[1, 1.35, 1.15]
)
legend = {}
for place, (splitting, trail) in enumerate(trails.items()):
    row = panels[place]
    for number, (ax, model) in enumerate(zip(row, trail, strict=True), start=1):
        draw_tree(model, ax=ax)
        drawn = ax.get_legend()
        legend |= {text.get_text(): handle for text, handle in zip(drawn.texts, drawn.legend_handles, strict=True)}
        drawn.remove()
        n_right = count_right(model, BATCHES[:number])
        above = f"batch {number}: {STORIES[number - 1]}\n" if place == 0 else ""
        ax.set_title("", loc="left")
        ax.set_title(
            f"{above}{n_right} of {10 * number} houses right",
            loc="center",
            fontsize=11,
            color="#6B6B6B" if n_right == 10 * number else "#B3400A",
        )
    row[0].text(
        -0.25, 0.5, "\n".join(STRATEGIES[splitting]), transform=row[0].transAxes, ha="right", va="center", fontsize=11
    )
figure.legend(handles=legend.values(), loc="outside lower center", ncols=4, frameon=False, fontsize=12)
plt.show()
