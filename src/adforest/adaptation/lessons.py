"""Which lesson a learner is given."""

from adforest.adaptation.learner import Learner
from adforest.adaptation.lesson import Lesson
from adforest.adaptation.paper import PaperLesson
from adforest.adaptation.report import BatchReport
from adforest.adaptation.weighing import WeighingLesson
from adforest.forest.types import Floats, Ints

LESSONS: dict[str, type[Lesson]] = {"training": PaperLesson, "weighted": WeighingLesson}


def learn(learner: Learner, X: Floats, y: Ints, n_categories: Ints, n_classes: int) -> tuple[Learner, BatchReport]:
    """Return the learner after one more batch, and what happened."""
    return LESSONS[learner.settings.selection](learner, X, y, n_categories, n_classes).learn()
