import os
import shutil
import signal
import threading
import time

import pytest

import adforest
from cli_commands import SMALL, content, json_lines, learnt, month, run, start, write_months
from table_files import write

QUICK = ("--settle", "0.2", "--interval", "0.05", "--patience", "0.6")


@pytest.fixture
def folder(tmp_path):
    return write_months(tmp_path / "months", 3)


def watch(capsys, folder, *options):
    model = folder.parent / "watched.adf"
    command = ("watch", folder, "-t", "rent", "--drop", "id", "-m", model, *SMALL, *QUICK, "--once", *options)
    return model, *run(capsys, *command)


def test_what_is_there_is_learnt_as_learn_would(capsys, folder):
    model, code, out, err = watch(capsys, folder)
    assert (code, err) == (0, "")
    assert "learnt 3 batches, 180 records" in out
    assert content(model) == content(learnt(capsys, folder))


def test_a_restart_and_a_copy_learn_nothing_twice(capsys, folder):
    model, *_ = watch(capsys, folder)
    before = model.read_bytes()
    shutil.copy(folder / "month-1.csv", folder / "copy.csv")
    _, code, out, _ = watch(capsys, folder)
    assert (code, out) == (0, "nothing new to learn: 4 files learnt before and passed over\n")
    assert model.read_bytes() == before
    assert (folder / "copy.csv").exists()


def test_what_cannot_be_learnt_is_moved_aside_with_the_reason(capsys, folder):
    (folder / "garbage.parquet").write_bytes(b"\0\1\2 no table")
    (folder / "z-lacks.csv").write_text("id,size,rent\n1,50,low\n")
    (folder / "z-other.csv").write_text("a,b\n1,2\n")
    (folder / "notes.txt").write_text("not looked at")
    write(month(9), folder / "month-9.csv")
    model, code, out, _ = watch(capsys, folder)
    assert code == 3
    assert len(adforest.load(model).history_) == 4
    aside = folder / "rejected"
    assert f"garbage.parquet was moved to {aside / 'garbage.parquet'}: " in out
    assert {path.name for path in folder.iterdir()} == {
        *(f"month-{n}.csv" for n in (1, 2, 3, 9)),
        "notes.txt",
        "rejected",
    }
    reasons = {path.name.split(".")[0]: path.read_text() for path in aside.glob("*.reason.txt")}
    assert set(reasons) == {"garbage", "z-lacks", "z-other"}
    assert "Parquet magic bytes not found" in reasons["garbage"]
    assert "line 1 of" in reasons["z-lacks"]
    assert "lacks 'rooms', 'street'; expected the 3 columns that" in reasons["z-lacks"]
    assert reasons["z-other"] == f"'{folder}/z-other.csv' has no column 'rent', which is the target\n"
    assert (aside / "z-lacks.csv").read_text() == "id,size,rent\n1,50,low\n"
    # Another of the same name goes beside it.
    (folder / "z-lacks.csv").write_text("id,size,rent\n2,50,low\n")
    _, _, out, _ = watch(capsys, folder, "--json")
    (rejected,) = [one for one in json_lines(out) if one["event"] == "rejected"]
    assert rejected["moved_to"] == str(aside / "2-z-lacks.csv")
    assert (aside / "2-z-lacks.csv.reason.txt").exists()


def test_a_wrong_target_moves_nothing(capsys, folder):
    names = sorted(path.name for path in folder.iterdir())
    code, _, err = run(capsys, "watch", folder, "-t", "rant", "-m", folder.parent / "m.adf", *QUICK, "--once")
    assert code == 1
    assert err.startswith("adforest: the target 'rant' is no column of")
    assert sorted(path.name for path in folder.iterdir()) == names


def test_a_file_is_learnt_once_it_is_whole(capsys, folder):
    """A file is written in pieces, of which each alone can be read, with pauses shorter than it must stand still."""
    write(month(9), folder.parent / "whole.csv")
    lines = (folder.parent / "whole.csv").read_bytes().splitlines(keepends=True)
    growing = folder / "month-9.csv"
    growing.write_bytes(lines[0])

    def grow():
        with open(growing, "ab", buffering=0) as file:
            for line in lines[1:]:
                file.write(line)
                time.sleep(0.005)

    thread = threading.Thread(target=grow)
    thread.start()
    model, code, _, _ = watch(capsys, folder, "--settle", "0.8", "--patience", "5")
    thread.join()
    assert code == 0
    assert [report.n_samples for report in adforest.load(model).history_] == [60, 60, 60, 60]


def test_a_file_that_cannot_be_read_yet_is_waited_for(capsys, folder):
    """A Parquet file without its end, written on after it stood still for longer than the settling time."""
    write(month(9), folder.parent / "whole.parquet")
    data = (folder.parent / "whole.parquet").read_bytes()
    half = folder / "month-9.parquet"
    half.write_bytes(data[: len(data) // 2])
    thread = threading.Timer(0.7, lambda: half.write_bytes(data))
    thread.start()
    model, code, _, _ = watch(capsys, folder, "--patience", "20")
    thread.join()
    assert code == 0
    assert len(adforest.load(model).history_) == 4
    assert not (folder / "rejected").exists()


@pytest.mark.posix
def test_files_that_come_while_it_watches(folder):
    """It runs until Ctrl-C, learns what is put there meanwhile, and ends well."""
    model = folder.parent / "m.adf"
    process = start("watch", folder, "-t", "rent", "--drop", "id", "-m", model, *SMALL, *QUICK, "--json")
    write(month(4), folder.parent / "beside.csv")
    seen = [process.stdout.readline() for _ in range(3)]
    os.replace(folder.parent / "beside.csv", folder / "month-4.csv")
    seen.append(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert [one["n_samples"] for one in json_lines("".join(seen))] == [60] * 4
    assert json_lines(out)[-1]["batches"] == 4
    assert len(adforest.load(model).history_) == 4
