"""The system fails at each call that writes, one after the other: what is there is the old model or the new one."""

import errno
import os

import pytest

import adforest
from adforest.cli.learning import Learner
from adforest.cli.model_file import ConflictError, ModelFile
from cli_commands import SMALL, content, run, write_months
from failing_system import Fault, failing_system

ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_months(tmp_path_factory.mktemp("faults") / "months", 3)


@pytest.fixture(scope="module")
def models(folder):
    """What the models of one, two and three batches hold, and the bytes of the first."""
    path, found = folder.parent / "m.adf", []
    learner = Learner(ModelFile(path), "rent", {"n_estimators": "2", "random_state": "0"}, {})
    for number in (1, 2, 3):
        learn_file(learner, folder / f"month-{number}.csv")
        found.append((content(path), path.read_bytes()))
    return [one for one, _ in found], found[0][1]


def learn_file(learner, path):
    for batch, parts in learner.batches(path):
        learner.learn(batch, parts)


def learn_rest(learner, folder):
    """Learn what is new of the second and the third file; a model that was replaced meanwhile is read again."""
    try:
        learner.file.check()
    except ConflictError:
        learner.reload()
    for number in (2, 3):
        learn_file(learner, folder / f"month-{number}.csv")


def disturbed(folder, path, fault):
    """Learn while a call fails, and return the learner and what was raised."""
    learner = Learner(ModelFile(path, keep=1), None, {}, {})
    try:
        with failing_system(fault):
            learn_rest(learner, folder)
    except OSError as error:
        return learner, error
    return learner, None


def test_each_call_fails_once_in_each_way(folder, models, tmp_path):
    contents, first = models
    (tmp_path / "m.adf").write_bytes(first)
    none = Fault(0, 0, tmp_path)
    disturbed(folder, tmp_path / "m.adf", none)
    assert {"open", "write", "fsync", "replace", "link", "mkdir", "chmod", "unlink"} <= set(none.names)
    n_faults, found = 0, set()
    for number in ERRORS:
        for place in range(1, len(none.names) + 1):
            path = tmp_path / f"{number}-{place}" / "m.adf"
            path.parent.mkdir()
            path.write_bytes(first)
            fault = Fault(place, number, path.parent)
            learner, error = disturbed(folder, path, fault)
            n_faults += fault.has_come
            n_batches = len(adforest.load(path).history_)
            found.add(n_batches)
            assert content(path) == contents[n_batches - 1], "the old model or the new one, and whole"
            assert error is not None or n_batches == 3, "what is told to be learnt is there"
            assert not [name for name in os.listdir(path.parent) if name.endswith(".tmp")]
            learn_rest(learner, folder)  # the same process tries again, as `watch` does
            assert content(path) == contents[2]
    assert n_faults == 3 * len(none.names) >= 60
    assert found == {1, 2, 3}


def test_watch_outlives_each_of_them(capsys, folder, tmp_path):
    options = ("-t", "rent", *SMALL, "--settle", "0", "--interval", "0.01", "--patience", "10", "--once", "--keep", "1")
    none = Fault(0, 0, tmp_path)
    with failing_system(none):
        assert run(capsys, "watch", folder, "-m", tmp_path / "m.adf", *options)[0] == 0
    expected = content(tmp_path / "m.adf")
    first = none.names.index("write")  # before the first one it has not begun
    for place in range(first + 1, len(none.names) + 1):
        work = tmp_path / str(place)
        work.mkdir()
        fault = Fault(place, ERRORS[place % 3], work)
        with failing_system(fault):
            code, _, err = run(capsys, "watch", folder, "-m", work / "m.adf", *options)
        assert code == 0, (none.names[place - 1], err)
        assert fault.has_come
        assert content(work / "m.adf") == expected
