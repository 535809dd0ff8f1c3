"""Explanations of predictions: the contribution of each feature to each class probability, and the leaves."""

from adforest.explaining.explanation import Explanation, ForestAnswers
from adforest.explaining.making import explain

__all__ = ["Explanation", "ForestAnswers", "explain"]
