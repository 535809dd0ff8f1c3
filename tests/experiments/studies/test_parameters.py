import pytest

from adforest import AdaptiveDecisionForestClassifier
from experiments.specs.methods import PAPER_TREES, make_model
from experiments.specs.options import Options
from experiments.specs.run_spec import MethodSpec, StreamSpec
from experiments.specs.sources import open_stream
from experiments.studies.parameters import CHOICES, DEFAULT, choices, plan, report
from made_up import check_chapter, make_results, make_rows

FULL = Options()
CHANGES = {"splitting=sat": -0.1, "renewal=3": 0.01, "memory_size=None": 0.001}


def rows_of(run):
    (changed,) = [f"{name}={value}" for name, value in run.method.settings] or [DEFAULT]
    return make_rows([0.8 + CHANGES.get(changed, 0.0)] * 4, retention=0.7 + CHANGES.get(changed, 0.0))


def test_every_choice_is_changed_alone():
    defaults = AdaptiveDecisionForestClassifier(PAPER_TREES).get_params()
    assert choices()[DEFAULT] == MethodSpec("ADF-R")
    for title, method in choices().items():
        assert len(method.settings) == (title != DEFAULT)
        assert all(defaults[name] != value for name, value in method.settings)
    assert {name for method in choices().values() for name, _ in method.settings} == set(CHOICES)


def test_every_default_is_among_its_choices():
    # Else a changed default would leave the old one out of the comparison.
    defaults = AdaptiveDecisionForestClassifier().get_params()
    assert {name: defaults[name] for name, values in CHOICES.items() if defaults[name] not in values} == {}


def test_every_choice_is_one_that_the_classifier_takes():
    stream = open_stream(StreamSpec("toy", "B0"), 0, None)
    first = stream.batches[0]
    for method in choices().values():
        make_model(method, stream, 0).partial_fit(first.X_train, first.y_train)


def test_chapter_ranks_the_changes():
    chapter = report(make_results(plan(FULL), rows_of), FULL)
    check_chapter(chapter, "parameters")
    needed, better, idle, kept = chapter.findings
    assert "splitting=sat (-10.0)" in needed
    assert better == "Changes that would gain, on average over the data sets: renewal=3 (+1.0)."
    n = len(choices()) - 1
    assert idle.startswith(f"{n - 2} of {n} changes move accuracy by 0.2 points or less: ")
    assert "memory_size=None" in idle
    assert kept.startswith("Changes that cost most retention after the last batch: splitting=sat (-10.0)")
    table = chapter.tables[0]
    assert table.rows[0][:2] == (DEFAULT, pytest.approx(0.8))
    assert {row[0]: row[-1] for row in table.rows}["renewal=3"] == pytest.approx(1.0)
    lowest = chapter.figures[0].plot["data"][0]
    assert (lowest["y"][0], lowest["x"][0]) == ("splitting=sat", pytest.approx(-10))


def test_chapter_says_if_nothing_would_gain():
    chapter = report(make_results(plan(FULL), lambda run: make_rows([0.8] * 3)), FULL)
    assert chapter.findings[1] == "No single change gains more than 0.2 points on average over the data sets."
