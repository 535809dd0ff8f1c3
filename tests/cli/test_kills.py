"""Processes killed without a word at moments drawn by lot: what they left, and what the same command makes of it."""

import random
import signal
import time

import pytest

import adforest
from cli_commands import SMALL, kill_after, start, write_months
from kills import survive, survive_writers, undisturbed


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_months(tmp_path_factory.mktemp("kills") / "months", 12, n=400)


@pytest.fixture(scope="module")
def expected(folder):
    return undisturbed(folder, folder.parent / "whole.adf")


@pytest.mark.parametrize(("verb", "n_kills"), [("learn", 2), ("watch", 1)])  # `make kills` has hundreds
def test_killed_at_any_moment_it_goes_on_and_ends_with_the_same_model(folder, expected, tmp_path, verb, n_kills):
    kills = survive(verb, folder, tmp_path, n_kills, random.Random(0), *expected)
    assert kills.n_kills == n_kills
    assert kills.problems == []


def test_killed_while_others_write_it_learns_every_record_once(tmp_path):
    kills = survive_writers(tmp_path, 2, random.Random(0))
    assert kills.n_kills == 2
    assert kills.problems == []


@pytest.mark.posix
def test_an_interrupt_keeps_what_was_learnt(folder, tmp_path):
    model = tmp_path / "m.adf"
    process = start("learn", folder, "-t", "rent", "-m", model, *SMALL)
    while not model.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    n_learnt = len(adforest.load(model).history_)
    assert 0 < n_learnt < 12
    batches = "1 batch" if n_learnt == 1 else f"{n_learnt} batches"
    kept = f"{batches} learnt before this, kept in '{model}': the same command goes on from there."
    assert err == f"adforest: interrupted. {kept}\n"


def test_no_model_yet_is_no_file(folder, tmp_path):
    assert kill_after(0, "learn", folder, "-t", "rent", "-m", tmp_path / "m.adf")
    assert not (tmp_path / "m.adf").exists()
