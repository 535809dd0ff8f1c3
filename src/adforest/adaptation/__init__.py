"""The algorithm: how a batch changes the forests, memory and weights of a state."""

from adforest.adaptation import paper_update, update
from adforest.adaptation.memory import ClassWeight
from adforest.adaptation.repair import READINGS
from adforest.adaptation.report import FORESTS, BatchReport
from adforest.adaptation.state import Settings, State, find_forest, with_columns
from adforest.adaptation.voting import votes

__all__ = [
    "FORESTS",
    "READINGS",
    "RECIPES",
    "BatchReport",
    "ClassWeight",
    "Settings",
    "State",
    "find_forest",
    "votes",
    "with_columns",
]

RECIPES = {
    "adaptive": update.learn,
    "paper": paper_update.learn,
}
