import os
import re
import subprocess
import sys
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from adforest.demo import picture
from adforest.demo.__main__ import QUICK_SAMPLES, main
from adforest.demo.run import METHODS, DemoSettings, run_demo
from adforest.demo.table import describe_outcome, describe_setting, format_table
from adforest.monitor.style import spread

SETTINGS = DemoSettings(n_samples=QUICK_SAMPLES, seed=0)


@pytest.fixture(scope="module")
def shares() -> list[float]:
    return []


@pytest.fixture(scope="module")
def run(shares):
    with pytest.MonkeyPatch.context() as patch:
        # A clock that goes on by a second a look.
        patch.setattr("adforest.demo.run.process_time", count().__next__)
        yield run_demo(SETTINGS, shares.append)


# The sample


def test_sample_holds_every_batch_of_the_protocol(run):
    assert [result.batch for result in run.batches] == list(range(1, 35))
    assert [result.stage for result in run.batches][::4] == [
        *("MKC-1", "MKC-2", "SKC", "SUC", "MUC-1", "MUC-2", "MKUC-1", "MKUC-2", "MKUC-3")
    ]
    assert all(set(result.accuracy) == set(result.seconds) == set(METHODS) for result in run.batches)
    assert all(0 <= share <= 1 for result in run.batches for share in result.accuracy.values())
    assert {seconds for result in run.batches for seconds in result.seconds.values()} == {1}


def test_sample_holds_the_models_own_verdicts(run):
    assert run.batches[0].scenario == "MUC"  # to a model that knows nothing, every class is new
    assert {result.scenario for result in run.batches if result.stage == "SKC"} == {"SKC"}
    assert {result.scenario for result in run.batches if result.stage == "SUC"} == {"SUC"}
    assert sum(result.n_new_classes for result in run.batches) == 7
    assert {result.drift for result in run.batches} <= {"none", "temporary", "sustained"}
    assert set(picture.FOREST_COLOURS) == {"permanent", "active", "temporary", "newest"}


def test_windows_agree_while_they_hold_the_same_batches(run):
    first, second, third, *later = (result.accuracy for result in run.batches)
    assert first["RF batch"] == first["RF last 3"] == first["RF all"]
    assert third["RF last 3"] == third["RF all"]
    assert second["RF batch"] != second["RF last 3"] == second["RF all"]
    assert any(result["RF last 3"] != result["RF all"] for result in later)


def test_progress_rises_to_one(run, shares):
    assert len(shares) == 34
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_mean_is_over_all_batches_or_one_stage(run):
    every = [result.accuracy["ADF-R"] for result in run.batches]
    assert run.mean("accuracy", "ADF-R") == pytest.approx(np.mean(every))
    assert run.mean("accuracy", "ADF-R", "MKC-1") == pytest.approx(np.mean(every[:4]))


# The words


def test_table_has_a_row_per_batch_and_a_row_of_means(run):
    lines = format_table(run).splitlines()
    rows = [line.split() for line in lines if re.match(r" ?\d", line)]
    assert [int(row[0]) for row in rows] == list(range(1, 35))
    for row, result in zip(rows, run.batches, strict=True):
        assert row[1:6] == [result.stage, str(result.n_train), result.scenario, result.drift, result.answering]
        assert row[6:10] == [f"{result.accuracy[method]:.3f}" for method in METHODS]
        assert row[10:] == [f"{result.seconds[method]:.3f}" for method in METHODS]
    assert lines[-1].split()[:2] == ["mean", f"{run.mean('accuracy', 'ADF-R'):.3f}"]


def test_words_fit_in_100_columns(run):
    for text in (describe_setting(run), format_table(run), describe_outcome(run)):
        assert max(map(len, text.splitlines())) <= 100


def test_columns_stay_aligned_when_learning_is_slow(run):
    slow = replace(run, batches=[replace(result, seconds=dict.fromkeys(METHODS, 123.4)) for result in run.batches])
    assert {len(line) for line in format_table(slow).splitlines()[3:]} == {98}


def test_outcome_says_who_is_ahead(run):
    def with_accuracy(ours):
        rivals = {"RF batch": 0.5, "RF last 3": 0.7, "RF all": 0.6}
        batches = [replace(result, accuracy={"ADF-R": ours, **rivals}) for result in run.batches]
        return " ".join(describe_outcome(replace(run, batches=batches)).split())

    assert "10.0 above RF on the batch, 10.0 below RF on the last 3 and 0.0 above" in with_accuracy(0.6)
    assert "RF on the last 3, ADF-R is behind in 34 of 34 batches" in with_accuracy(0.6)
    assert "RF on the last 3, ADF-R is behind in 0 of 34 batches" in with_accuracy(0.9)


# The picture


@pytest.mark.parametrize("heights", [[0.5, 0.5, 0.5, 0.5], [0.0, 0.0, 0.9, 1.0], [0.99, 1.0, 1.0, 0.1]])
def test_labels_are_moved_apart_but_stay_in_the_panel(heights):
    placed = spread(heights, gap=0.1)
    assert np.diff(placed).min() >= 0.1 - 1e-9
    assert placed[0] >= -1e-9
    assert placed[-1] <= 1 + 1e-9


# The command


@pytest.fixture(scope="module")
def piped(tmp_path_factory):
    # A pipe, as in `make demo | tee log`.
    folder = tmp_path_factory.mktemp("piped")
    environment = {key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "TTY_COMPATIBLE")}
    done = subprocess.run(
        [sys.executable, "-m", "adforest.demo", "--quick", "--out", "new/demo.png"],
        **{"cwd": folder, "env": environment, "capture_output": True, "text": True, "timeout": 120},
    )
    assert done.returncode == 0, done.stderr
    return done, folder / "new" / "demo.png"


def test_command_prints_plain_text_when_piped(piped):
    done, _ = piped
    assert "Picture: new/demo.png" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr == ""
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_same_seed_gives_the_same_table_in_another_process_but_for_the_clock(piped, run):
    done, _ = piped
    rows = re.findall(r"^ ?\d+  [MS].*", done.stdout, re.MULTILINE)
    assert [row[:73] for row in rows] == [row[:73] for row in format_table(run).splitlines()[4:-2]]


def test_picture_is_a_large_png_with_ink_in_it(piped):
    from matplotlib.image import imread

    pixels = imread(piped[1])
    assert pixels.shape[:2] == (1312, 2080)
    assert len(np.unique(pixels.reshape(-1, pixels.shape[2])[::7], axis=0)) > 100


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["demo"], "unrecognized arguments: demo"),
        (["--samples", "many"], "invalid int value: 'many'"),
        (["--samples", "9", "--quick"], "not allowed with"),
    ],
)
def test_misuse_is_named(arguments, expected, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    said = capsys.readouterr().err
    assert leaving.value.code == 2
    assert expected in said


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--samples", "0"], "expected 1 sample or more"),
        (["--seed", "-1"], "got --samples 150000 and --seed -1"),
        (["--samples", "100"], "samples or more"),
        (["--out", "demo.txt"], "expected a file that ends in .png"),
    ],
)
def test_failure_is_one_line_before_any_work(arguments, expected, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert expected in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


@pytest.mark.parametrize("missing", ["rich", "matplotlib"])
def test_missing_extra_says_what_to_install(missing, monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["--quick", "--out", str(tmp_path / "demo.png")]) == 1
    said = capsys.readouterr().err
    assert f"needs {missing}" in said
    assert "pip install 'adforest[demo]'" in said


def test_interruption_is_one_line(monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("adforest.demo.__main__.run_and_show", interrupt)
    assert main([]) == 130
    assert capsys.readouterr().err == "python -m adforest.demo: interrupted\n"
