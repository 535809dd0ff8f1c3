"""Why a model answers as it does: which leaves spoke, and what each attribute adds to each class's probability."""

from adforest.explaining.explanation import Explanation, ForestAnswers
from adforest.explaining.making import explain

__all__ = ["Explanation", "ForestAnswers", "explain"]
