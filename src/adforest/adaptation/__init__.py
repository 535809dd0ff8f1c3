"""The idea of the paper: what a batch means to three forests, and what is done about it."""

from adforest.adaptation.learner import Learner, Settings
from adforest.adaptation.lessons import LESSONS, learn
from adforest.adaptation.perturbation import READINGS
from adforest.adaptation.report import BatchReport

__all__ = ["LESSONS", "READINGS", "BatchReport", "Learner", "Settings", "learn"]
