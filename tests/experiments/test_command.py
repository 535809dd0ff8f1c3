import sys

import pytest

from experiments.__main__ import SUMMARIES, main
from experiments.run_studies import Forecast
from experiments.running.cost_estimates import SECONDS_PER_1000, estimate_seconds
from experiments.specs.methods import METHODS
from experiments.specs.options import OUT, QUICK_OUT, Options
from experiments.specs.run_spec import MethodSpec, RunSpec, StreamSpec
from experiments.specs.selections import plan_34_batches
from experiments.studies.catalogue import STUDIES


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["acuracy"], "invalid choice: 'acuracy'"),
        ([], "required: NAME"),
        (["accuracy", "--seeds", "0"], "--seeds: got '0'; expected a whole number, 1 or more"),
        (["accuracy", "--seeds", "some"], "--seeds: got 'some'"),
        (["accuracy", "--jobs", "-1"], "expected a whole number"),
        (["accuracy", "--records", "9"], "unrecognized arguments: --records 9"),
    ],
)
def test_misuse_is_one_line(arguments, expected, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    said = capsys.readouterr().err
    assert leaving.value.code == 2
    assert expected in said
    assert said.count("\n") == 1


def test_missing_data_are_noticed_before_any_work(tmp_path, capsys):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main(["accuracy", "--data", str(empty), "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert all(words in said for words in (str(empty), "--data FOLDER", "ADFOREST_DATA", "--quick"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("library", ["plotly", "pyarrow", "rich"])
def test_missing_extra_is_noticed_before_any_work(library, monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, library, None)
    assert main(["accuracy", "--quick", "--out", str(tmp_path / "out")]) == 1
    assert f"needs {library}" in (said := capsys.readouterr().err)
    assert "pip install 'adforest[experiments]'" in said
    assert not (tmp_path / "out").exists()


def test_quick_runs_have_a_folder_of_their_own(monkeypatch):
    asked = []
    monkeypatch.setattr("experiments.__main__.run_studies", lambda names, options: asked.append((names, options)))
    main(["nemenyi", "--quick"])
    main(["all", "--seeds", "3", "--jobs", "2"])
    (quick_names, quick), (names, full) = asked
    assert (quick_names, quick.out, quick.quick) == (("nemenyi",), QUICK_OUT, True)
    assert (full.out, list(full.seeds), full.n_jobs) == (OUT, [0, 1, 2], 2)
    assert "accuracy" in names


def test_forecast_goes_by_what_runs_took():
    house = StreamSpec.of("house", "34", n_samples=100_000)
    runs = [RunSpec(house, MethodSpec("RF batch"), seed) for seed in range(4)]
    forecast = Forecast(runs, n_jobs=1)
    assert forecast.status.startswith("0 of 4 runs")
    assert forecast.count(runs[0], 120.0).startswith(
        "1 of 4 runs, 6 CPU min left; RF batch on house (34), seed 0: 120.0 s"
    )
    for run in runs[1:]:
        forecast.count(run, 120.0)
    assert forecast.done == pytest.approx(forecast.total)
    assert forecast.status == "4 of 4 runs, less than a CPU minute left"


def test_costs_know_every_method_and_grow_with_the_data():
    assert set(METHODS) <= set(SECONDS_PER_1000)
    small, large = (StreamSpec.of("house", "34", n_samples=n) for n in (1_000, 10_000))
    for name in METHODS:
        guess = estimate_seconds(RunSpec(small, MethodSpec(name)))
        assert 0 < guess < estimate_seconds(RunSpec(large, MethodSpec(name)))


def test_every_rival_is_planned_to_fit_an_hour_on_two_cores():
    assert sum(map(estimate_seconds, plan_34_batches(Options()))) / 2 < 3600


def test_chapters_of_the_paper_are_planned_to_fit_half_an_hour_with_three_seeds():
    chapters = ("accuracy", "time", "ldpa", "rearranged", "bigdata", "signtest", "nemenyi", "readings")
    runs = {run for name in chapters for run in STUDIES[name].plan(Options(n_seeds=3))}
    assert sum(map(estimate_seconds, runs)) / 2 < 1800


def test_interruption_is_one_line(monkeypatch, capsys):
    def interrupt(names, options):
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.__main__.run_studies", interrupt)
    assert main(["accuracy"]) == 130
    assert capsys.readouterr().err == "python -m experiments accuracy: interrupted\n"


def test_every_experiment_has_help(capsys):
    for name, summary in SUMMARIES.items():
        with pytest.raises(SystemExit) as leaving:
            main([name, "--help"])
        assert leaving.value.code == 0
        assert " ".join(summary.split()[:3]) in capsys.readouterr().out
