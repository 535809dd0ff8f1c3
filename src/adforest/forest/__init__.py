"""The structure that all rooms use: trees as flat arrays, forests of them, samples to grow them from."""

from adforest.forest.editing import TreeEditor
from adforest.forest.forest import Forest
from adforest.forest.samples import Groups, GrowthParams, Samples, Totals
from adforest.forest.tree import LeafCounts, Tree, importances

__all__ = [
    "Forest",
    "Groups",
    "GrowthParams",
    "LeafCounts",
    "Samples",
    "Totals",
    "Tree",
    "TreeEditor",
    "importances",
]
