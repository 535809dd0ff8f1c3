"""
Splitting strategies: SAT, entropy, iSAT
========================================

The paper's toy example: three strategies to change a tree that a batch contradicts, on three batches of ten houses.
(The numbers of the paper's figure are not published; these houses are ours.)
"""

# %%
# Area and bedrooms of a house against its rent. B0 makes a tree. B1 overlaps it, reaches beyond it, and mixes known
# classes with a new one, luxury. B2 lies apart from both.

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
STORIES = {"B0": "the tree is built", "B1": "overlaps, a new class", "B2": "lies apart"}
LOW, MEDIUM, HIGH, LUXURY = "low", "medium", "high", "luxury"
COLUMNS = ["Area", "Beds", "Rent"]
HOUSES = (
    (
        *((40, 1, LOW), (50, 1, LOW), (60, 2, LOW), (70, 2, LOW), (80, 2, MEDIUM)),
        *((90, 4, MEDIUM), (100, 3, MEDIUM), (120, 3, HIGH), (140, 2, HIGH), (150, 3, HIGH)),
    ),
    (
        *((85, 3, MEDIUM), (95, 2, MEDIUM), (125, 3, HIGH), (135, 3, HIGH), (130, 4, LUXURY)),
        *((145, 4, LUXURY), (170, 3, HIGH), (180, 2, HIGH), (190, 4, LUXURY), (200, 4, LUXURY)),
    ),
    (
        *((300, 3, MEDIUM), (310, 3, MEDIUM), (320, 2, MEDIUM), (340, 2, HIGH), (350, 3, HIGH)),
        *((360, 3, HIGH), (380, 3, LUXURY), (390, 4, LUXURY), (400, 4, LUXURY), (420, 4, LUXURY)),
    ),
)
BATCHES = [pd.DataFrame(houses, columns=COLUMNS) for houses in HOUSES]

# %%
# One tree along the batches
# --------------------------
# SysFor's first tree is grown from all samples, without a bootstrap: the tree one would draw by hand. Batches of ten
# need small leaves; all other parameters are those of the paper.


def learn(splitting):
    """Return the model as it was after each batch."""
    model = PaperADFClassifier(
        n_estimators=1, base_forest="sysfor", splitting=splitting, min_samples_leaf=2, random_state=0
    )
    trail = []
    for batch in BATCHES:
        model.partial_fit(batch[["Area", "Beds"]], batch["Rent"])
        trail.append(copy.copy(model))  # learning swaps in a new model, so a shallow copy stays as it is
    return trail


def count_right(model, batch):
    """Return how many houses of a batch a model predicts correctly."""
    return int((model.predict(batch[["Area", "Beds"]]) == batch["Rent"]).sum())


trails = {splitting: learn(splitting) for splitting in STRATEGIES}
right = {
    (STRATEGIES[splitting][0], f"after {name}"): [count_right(model, batch) for batch in BATCHES]
    for splitting, trail in trails.items()
    for name, model in zip(STORIES, trail, strict=True)
}
pd.DataFrame.from_dict(right, orient="index", columns=[f"{name} right" for name in STORIES])

# %%
# The trees
# ---------
# SAT, the strategy of an older method, adds a new root where the boxes of tree and batch are apart, and cannot handle
# B1, which overlaps. Entropy only expands leaves: at B2 it splits on bedrooms first, which mattered in B1,
# and a single luxury house is left in a leaf of others. iSAT adds roots at the bounds of overlapping boxes too, and
# predicts all houses correctly. Colours are the rents that leaves predict.

figure, panels = plt.subplots(
    3, 3, figsize=(15, 9.5), layout="constrained", width_ratios=[0.7, 1, 1.3], height_ratios=[1, 1, 1.2]
)
legend = {}
for row, (splitting, trail) in zip(panels, trails.items(), strict=True):
    for number, (ax, model, name) in enumerate(zip(row, trail, STORIES, strict=True), start=1):
        draw_tree(model, ax=ax)
        drawn = ax.get_legend()
        legend |= {text.get_text(): handle for text, handle in zip(drawn.texts, drawn.legend_handles, strict=True)}
        drawn.remove()
        n_right = sum(count_right(model, batch) for batch in BATCHES[:number])
        above = f"{name}: {STORIES[name]}\n" if splitting == "sat" else ""
        ax.set_title("", loc="left")
        ax.set_title(
            f"{above}{n_right} of {10 * number} houses right",
            loc="center",
            fontsize=11,
            color="#6B6B6B" if n_right == 10 * number else "#B3400A",
        )
    row[0].text(
        -0.15, 0.5, "\n".join(STRATEGIES[splitting]), transform=row[0].transAxes, ha="right", va="center", fontsize=11
    )
figure.legend(handles=legend.values(), loc="outside lower center", ncols=4, frameon=False, fontsize=12)
plt.show()
