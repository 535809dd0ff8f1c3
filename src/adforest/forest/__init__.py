"""The structure that all rooms use: trees as flat arrays, forests of them, samples to grow them from."""

from adforest.forest.editing import TreeEditor
from adforest.forest.forest import Forest
from adforest.forest.importance import importances
from adforest.forest.params import GrowthParams
from adforest.forest.samples import Groups, Samples, Totals
from adforest.forest.tree import LeafCounts, Tree

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
