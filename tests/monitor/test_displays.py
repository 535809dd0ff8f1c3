"""Displays of history and explanations: what is drawn is what the model says."""

import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from adforest import AdaptiveDecisionForestClassifier, PaperADFClassifier
from adforest.monitor import ExplanationDisplay, HistoryDisplay
from mixed_streams import mixed_model, probes
from small_forests import clusters

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def model():
    return mixed_model("adaptive", "random_forest")


def texts(ax):
    return [text.get_text() for text in ax.texts]


# --- history


def test_lines_are_the_accuracies_of_the_reports(model):
    display = HistoryDisplay.from_estimator(model)
    assert set(display.lines_) == {"permanent", "active", "temporary", "newest", "vote"}
    for name, line in display.lines_.items():
        expected = [report.accuracy.get(name, np.nan) for report in model.history_]
        np.testing.assert_array_equal(line.get_xdata(), range(1, 11))
        np.testing.assert_array_equal(line.get_ydata(), expected)
        assert f"{name}  mean {np.nanmean(expected):.3f}" in texts(display.ax_)
    assert display.ax_.get_ylabel() == "accuracy on the batch\nbefore learning it"


def test_drift_is_marked_by_its_kind():
    model = AdaptiveDecisionForestClassifier(drift_threshold=1, random_state=0)
    for number in range(8):
        X, y = clusters(number, n=200)
        model.partial_fit(X, 1 - y if number >= 5 else y)
    verdicts = {report.batch: report.drift for report in model.history_ if report.drift != "none"}
    assert set(verdicts.values()) == {"temporary", "sustained"}
    display = HistoryDisplay.from_estimator(model)
    marks = {line.get_xdata()[0]: line.get_markerfacecolor() for line in display.axes_[2].lines}
    assert {batch: face == "white" for batch, face in marks.items()} == {
        batch: drift == "temporary" for batch, drift in verdicts.items()
    }
    drawn = {line.get_xdata()[0]: line.get_linestyle() for line in display.ax_.lines if len(set(line.get_xdata())) == 1}
    assert {batch: style == "--" for batch, style in drawn.items()} == {
        batch: drift == "temporary" for batch, drift in verdicts.items()
    }


def test_scenarios_new_classes_and_shares_of_the_vote(model):
    display = HistoryDisplay.from_estimator(model)
    said = texts(display.axes_[2])
    assert [text for text in said if text.startswith("+")] == [
        f"+{len(report.new_classes)}" for report in model.history_ if report.new_classes
    ]
    assert "MKC" in said
    tops = [np.max(area.get_paths()[0].vertices[:, 1]) for area in display.axes_[1].collections]
    assert tops[-1] == pytest.approx(1, abs=0.02)
    assert [area.get_label() for area in display.axes_[1].collections] == ["permanent", "active", "temporary", "newest"]


def test_an_active_forest_that_is_the_permanent_one_has_no_line_of_its_own():
    model = AdaptiveDecisionForestClassifier(4, random_state=0)
    for number in range(3):
        model.partial_fit(*clusters(number, n=150))
    assert set(HistoryDisplay.from_estimator(model).lines_) == {"permanent", "temporary", "newest", "vote"}


def test_the_papers_accuracies_are_those_after_learning():
    display = HistoryDisplay.from_estimator(mixed_model("paper, hard", "random_forest"))
    assert display.ax_.get_ylabel() == "accuracy on the batch\nafter learning it (vote: before)"
    assert "vote" in display.lines_


def test_one_batch_and_many():
    model = AdaptiveDecisionForestClassifier(2, random_state=0).fit(*clusters(0))
    assert not HistoryDisplay.from_estimator(model).lines_
    for number in range(70):
        model.partial_fit(*clusters(number, n=20))
    display = HistoryDisplay.from_estimator(model)
    assert display.lines_["vote"].get_markersize() == 0
    display.figure_.canvas.draw()


def test_history_in_a_place_of_a_figure(model):
    figure, axes = pyplot.subplots(1, 2)
    display = HistoryDisplay.from_estimator(model, ax=axes[1])
    assert display.figure_ is figure
    assert not axes[1].axison
    left = axes[1].get_subplotspec().get_position(figure).x0
    assert all(ax.get_position().x0 == pytest.approx(left) for ax in display.axes_)
    with pytest.raises(ValueError, match=r"ax is not part of a grid; expected one of plt\.subplots\(\)"):
        HistoryDisplay.from_estimator(model, ax=pyplot.figure().add_axes((0, 0, 1, 1)))


# --- explanations


def test_bars_lead_from_the_bias_to_the_probability(model):
    explanation = model.explain(probes())
    display = ExplanationDisplay.from_estimator(model, probes(), sample=3)
    column = explanation.classes.tolist().index(explanation.predictions[3])
    widths = np.array([bar.get_width() for bar in display.bars_])
    starts = np.array([bar.get_x() for bar in display.bars_])
    added = explanation.contributions[3, :, column]
    np.testing.assert_allclose(widths, added[np.argsort(-np.abs(added), kind="stable")])
    assert starts[0] == pytest.approx(explanation.bias[3, column])
    np.testing.assert_allclose(starts[1:], (starts + widths)[:-1])
    assert starts[-1] + widths[-1] == pytest.approx(explanation.probabilities[3, column])
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names[0] == "at the roots"
    assert names[-1] == f"probability of {explanation.predictions[3]}"
    assert {name.split(" = ")[0] for name in names[1:-1]} == {"x[0]", "x[1]", "x[2]", "x[3]"}


def test_another_class_few_bars_and_axes_of_ones_own(model):
    _, ax = pyplot.subplots()
    display = ExplanationDisplay.from_estimator(model, probes(), class_value="a", max_features=2, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert len(display.bars_) == 3
    assert [label.get_text() for label in ax.get_yticklabels()][-2:] == ["2 other features", "probability of a"]
    assert any("Sample 0: why a has probability" in text for text in texts(ax))


def test_snapshots_and_explanations_are_drawn_alike(model):
    one = ExplanationDisplay.from_estimator(model.snapshot(), probes()[:1])
    two = ExplanationDisplay.from_explanation(model.explain(probes()))
    for a, b in zip(one.bars_, two.bars_, strict=True):
        assert (a.get_x(), a.get_width()) == pytest.approx((b.get_x(), b.get_width()))


# --- what cannot be drawn


@pytest.mark.parametrize("draw", [HistoryDisplay.from_estimator, lambda m: ExplanationDisplay.from_estimator(m, [[1]])])
def test_other_models_and_models_that_learnt_nothing(draw):
    with pytest.raises(TypeError, match="got LogisticRegression; expected a fitted AdaptiveDecisionForestClassifier"):
        draw(LogisticRegression())
    with pytest.raises(NotFittedError):
        draw(PaperADFClassifier())


@pytest.mark.parametrize(
    "draw", [HistoryDisplay.from_estimator, lambda model: ExplanationDisplay.from_estimator(model, probes())]
)
def test_without_matplotlib_an_error_says_what_to_install(model, draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"Install it with pip install 'adforest\[plot\]', or "):
        draw(model)
