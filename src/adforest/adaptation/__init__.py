"""The idea of the paper: what a batch means to forests of several ages, and what is done about it."""

from adforest.adaptation import paper, update
from adforest.adaptation.names import FORESTS
from adforest.adaptation.perturbation import READINGS
from adforest.adaptation.report import BatchReport
from adforest.adaptation.state import Settings, State
from adforest.adaptation.voting import votes

__all__ = ["FORESTS", "READINGS", "RECIPES", "BatchReport", "Settings", "State", "votes"]

RECIPES = {
    "adaptive": update.learn,
    "paper": paper.learn,
}
