"""What a classifier tells of each batch it learns."""

import time
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from adforest import BatchReport
from small_forests import clusters, forest, swapped


def test_a_report_has_all_the_fields_promised():
    assert [field.name for field in fields(BatchReport)] == [
        "batch",
        "n_samples",
        "scenario",
        "new_classes",
        "drift",
        "perturbed",
        "action",
        "accuracy",
        "n_leaves",
        "answering",
        "votes",
        "seconds",
        "confidence",
        "n_tested",
        "weighted_accuracy",
        "balanced_accuracy",
        "log_loss",
        "brier_score",
        "roc_auc",
        "average_precision",
        "learnt_at",
        "source",
        "rows",
    ]


def test_history_tells_the_story_of_a_drift():
    model = swapped(forest(), n=2)
    assert [report.batch for report in model.history_] == [1, 2, 3, 4]
    assert [report.n_samples for report in model.history_] == [60] * 4
    # A change shows in how the newest forest does on the batch that follows it.
    assert [report.drift for report in model.history_] == ["none", "none", "none", "temporary"]
    assert [report.scenario for report in model.history_] == ["MUC", "MKC", "MKC", "MKC"]
    last = model.history_[-1]
    forests = {"permanent", "active", "temporary", "newest"}
    assert set(last.action) == set(last.n_leaves) == forests
    assert set(last.accuracy) == {*forests, "vote"}
    assert set(last.perturbed) == {"permanent", "active"}, "the others are never repaired"
    assert last.n_leaves["permanent"] == model.permanent_forest_.n_leaves
    assert last.n_leaves["temporary"] == model.temporary_forest_.n_leaves
    assert all(0 <= share <= 1 for share in (*last.perturbed.values(), *last.accuracy.values()))
    assert last.answering == model.answering_forest_ == max(last.votes, key=last.votes.get)
    assert set(last.votes) == forests - {"active"}, "it has a vote once it has replaced itself"
    assert sum(last.votes.values()) == pytest.approx(1)
    assert all(report.seconds > 0 for report in model.history_)
    moments = [report.learnt_at for report in model.history_]
    assert moments == sorted(moments)
    assert 0 <= time.time() - moments[-1] < 3600


def test_new_classes_are_reported_by_value_and_sorted():
    model = forest().fit([[0.0], [1.0]], ["walk", "sit"]).partial_fit([[5.0], [6.0]], ["run", "hop"])
    assert [report.new_classes for report in model.history_] == [("sit", "walk"), ("hop", "run")]
    numbers = forest().fit([[0.0], [1.0]], np.array([7, 2]))
    assert numbers.history_[0].new_classes == (2, 7)
    assert all(type(klass) is int for klass in numbers.history_[0].new_classes), "plain Python, ready for JSON"


def test_a_report_cannot_be_changed():
    report = forest().fit(*clusters(0)).history_[0]
    with pytest.raises(FrozenInstanceError):
        report.drift = "sustained"


def test_the_list_of_reports_is_a_copy():
    model = forest().fit(*clusters(0))
    model.history_.clear()
    assert len(model.history_) == 1


def test_a_report_reads_well():
    model = swapped(forest(), n=2)
    first, last = str(model.history_[0]), str(model.history_[-1])
    assert first.startswith("batch 1: 60 samples, MUC, new classes 0, 1, drift none, most weight: permanent (")
    lines = last.splitlines()
    assert lines[0].startswith("batch 4: 60 samples, MKC, drift temporary, ")
    assert sorted(line.split()[0] for line in lines[1:]) == ["active", "newest", "permanent", "temporary"]
    assert "kept" in last
    assert "perturbed" in last
    assert f"leaves {model.history_[-1].n_leaves['permanent']}" in lines[1]
    assert all(line == line.rstrip() for line in lines)
    one = str(forest().fit([[0.0]], ["a"]).history_[0])
    assert one.startswith("batch 1: 1 sample, SUC, new classes a, ")


def test_verbose_prints_each_report(capsys):
    model = forest(verbose=1).partial_fit(*clusters(0)).partial_fit(*clusters(1))
    assert capsys.readouterr().out == "".join(f"{report}\n" for report in model.history_)


def test_silent_by_default(capsys):
    swapped(forest())
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
