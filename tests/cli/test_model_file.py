"""One process learns into a model at a time however the file is named, and what others write there is not lost."""

import os
import re
import stat

import pytest

import adforest
from adforest.cli import model_file
from cli_commands import MOMENT, SMALL, learnt, month, run, write_months
from table_files import write


@pytest.fixture
def folder(tmp_path):
    return write_months(tmp_path / "months", 2)


def names_of(model):
    """Return other names of a model file: links, links to links, roundabout, and a second name of the same file."""
    beside = model.parent / "other"
    beside.mkdir()
    (beside / "link.adf").symlink_to(model)
    (beside / "relative.adf").symlink_to("../m.adf")
    (model.parent / "second.adf").symlink_to(beside / "link.adf")
    os.link(model, beside / "hard.adf")
    (model.parent / "folder").symlink_to(model.parent)
    return [
        beside / "link.adf",
        beside / "relative.adf",
        model.parent / "second.adf",
        beside / ".." / "m.adf",
        model.parent / "folder" / "m.adf",
        beside / "hard.adf",
    ]


@pytest.mark.posix
@pytest.mark.parametrize("place", range(6))
def test_one_process_learns_at_a_time_however_the_file_is_named(capsys, folder, place):
    model = learnt(capsys, folder)
    write(month(9), folder / "month-9.csv")
    other, before = names_of(model)[place], model.read_bytes()
    for held, given in ((model, other), (other, model)):
        with model_file.locked(held):
            code, out, err = run(capsys, "learn", folder, "-m", given)
        assert (code, out) == (1, "")
        assert f"adforest: another process is learning into '{given}'" in err
        assert model.read_bytes() == before
    assert run(capsys, "learn", folder, "-m", other)[0] == 0
    assert len(adforest.load(other).history_) == 3


@pytest.mark.posix
@pytest.mark.parametrize("place", range(5))
def test_the_lock_outlives_the_file_that_was_there_when_it_was_taken(capsys, folder, place):
    """Every batch replaces the file: a lock on the file alone would be one on a file that nobody finds any more."""
    model = learnt(capsys, folder)
    other = names_of(model)[place]
    for held, given in ((model, other), (other, model)):
        with model_file.locked(held) as file:
            file.save(file.load())
            code, _, err = run(capsys, "learn", folder, "-m", given)
        assert code == 1
        assert f"adforest: another process is learning into '{given}'" in err


def test_who_holds_the_lock_is_told(capsys, folder):
    model = learnt(capsys, folder)
    with model_file.locked(model):
        err = run(capsys, "learn", folder, "-m", model)[2]
    assert f"into '{model}': process {os.getpid()} on " in err
    assert " UTC (" in err


@pytest.mark.posix
def test_a_link_to_nothing_yet(capsys, folder, tmp_path):
    (tmp_path / "m.adf").symlink_to(tmp_path / "elsewhere" / "real.adf")
    code, _, err = run(capsys, "learn", folder, "-t", "rent", "-m", tmp_path / "m.adf", *SMALL)
    assert (code, err) == (0, "")
    assert (tmp_path / "m.adf").is_symlink()
    assert len(adforest.load(tmp_path / "elsewhere" / "real.adf").history_) == 2


@pytest.mark.posix
def test_other_names_of_the_file_keep_the_model_as_it_was(capsys, folder):
    model = learnt(capsys, folder)
    os.link(model, model.with_name("backup.adf"))
    write(month(9), folder / "month-9.csv")
    code, _, err = run(capsys, "learn", folder, "-m", model)
    assert code == 0
    said = rf"'{model}' has 2 names \(hard links\); this one alone gets what is learnt"
    assert re.match(rf"adforest: {MOMENT} warning: {said}", err)
    assert len(adforest.load(model).history_) == 3
    assert len(adforest.load(model.with_name("backup.adf")).history_) == 2


@pytest.mark.posix
def test_only_the_owner_may_read_a_new_model(capsys, folder):
    model = learnt(capsys, folder)
    assert stat.S_IMODE(model.stat().st_mode) == 0o600
    model.chmod(0o644)
    write(month(9), folder / "month-9.csv")
    assert run(capsys, "learn", folder, "-m", model)[0] == 0
    assert stat.S_IMODE(model.stat().st_mode) == 0o644


def test_what_a_killed_process_left_is_removed_and_nothing_else(capsys, folder, tmp_path):
    left = [tmp_path / name for name in (".m[1].adf.0a1b2c3d.tmp", "..m[1].adf.status.0a1b2c3d.tmp")]
    for path in left:
        path.write_bytes(b"half a model, and half a status")
    (tmp_path / ".m1.adf.0a1b2c3d.tmp").write_bytes(b"of another model")
    learnt(capsys, folder, model=tmp_path / "m[1].adf")
    assert not any(path.exists() for path in left)
    assert (tmp_path / ".m1.adf.0a1b2c3d.tmp").exists()
