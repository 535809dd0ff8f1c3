from dataclasses import fields

import pytest
from scipy import stats

from adforest.adaptation.tuning import SWEEPS, Tuning
from experiments.specs.methods import make_model, read_tuning, with_tuning
from experiments.specs.options import Options
from experiments.specs.run_spec import StreamSpec
from experiments.specs.sources import open_stream
from experiments.studies.ablation import (
    COMPONENTS,
    CONDITIONS,
    DEFAULT,
    SWITCHES,
    MeanGap,
    components,
    plan,
    report,
    sweeps,
)
from made_up import check_chapter, make_results, make_rows

FULL = Options()
LOSES, GAINS = components()["no renewal"], components()["shrinkage mixture fixed"]
BETTER = with_tuning("ADF-R", {}, learning_rate=SWEEPS["learning_rate"][0])


def rows_of(run):
    change = {LOSES: -0.1, GAINS: 0.01, BETTER: 0.02}.get(run.method, 0.0)
    return make_rows([0.8 + change] * 4, retention=0.7 + change, log_loss=0.5, train_seconds=0.1)


def test_every_constant_is_swept_once_or_is_a_switch_of_a_component():
    swept = [name for name, _, _ in sweeps()]
    assert sorted([*swept, *SWITCHES]) == sorted(one.name for one in fields(Tuning))
    changed = {name for change in COMPONENTS.values() for name in change.tuning}
    assert changed >= set(SWITCHES)
    assert {name for one in CONDITIONS.values() for name in one.constants} <= set(swept)


def test_every_component_can_be_switched_off():
    stream = open_stream(StreamSpec("toy", "B0"), 0, None)
    first = stream.batches[0]
    for title, method in components().items():
        model = make_model(method, stream, 0).partial_fit(first.X_train, first.y_train)
        assert (model._tuning != Tuning()) == bool(COMPONENTS[title].tuning if title != DEFAULT else False)


def test_tuning_is_read_from_json():
    method = with_tuning("ADF-R", {"renewal": 0}, first_shrinkage=[1.0], shrinkage_strengths=[3.0])
    tuning = read_tuning(str(dict(method.settings)["tuning"]))
    assert tuning == Tuning(first_shrinkage=(1.0,), shrinkage_strengths=(3.0,))


def test_chapter_says_what_costs_and_what_does_not():
    chapter = report(make_results(plan(FULL), rows_of), FULL)
    check_chapter(chapter, "ablation")
    needed, idle, kept, constants = chapter.findings
    assert needed.endswith("no renewal (-10.0).")
    assert "shrinkage mixture fixed (+1.0)" in idle
    assert "no renewal on vanishing classes (-10.0 ± 0.0)" in kept
    assert f"learning_rate={SWEEPS['learning_rate'][0]} (+2.0 ± 0.0)" in constants


def test_a_gain_within_its_interval_is_not_told():
    def rows_of_noise(run):
        # One stream gains 5 points, the others nothing.
        is_lucky = run.method == BETTER and "occupancy" in str(run.stream)
        return make_rows([0.85 if is_lucky else 0.8] * 4, retention=0.7, log_loss=0.5, train_seconds=0.1)

    chapter = report(make_results(plan(FULL), rows_of_noise), FULL)
    assert chapter.findings[3].endswith("of that mean: none.")


def test_interval_of_a_mean_is_students():
    gaps = [0.01, 0.03, -0.02, 0.04, 0.0]
    found = MeanGap.of(gaps)
    interval = stats.ttest_1samp(gaps, 0.0).confidence_interval(0.95)
    assert found.mean == pytest.approx(0.012)
    assert (found.mean - found.half_width, found.mean + found.half_width) == pytest.approx(interval)
