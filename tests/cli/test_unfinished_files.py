"""Files that others still write: learnt once they are whole, and from where they stopped if they go on."""

import gzip
import os
import threading
import time
import zipfile

import pytest

import adforest
from adforest.cli.folder import Folder
from cli_commands import SMALL, content, learnt, month, run, write_months
from table_files import write

QUICK = ("--settle", "0.1", "--interval", "0.05", "--patience", "0.4")


@pytest.fixture
def folder(tmp_path):
    return write_months(tmp_path / "months", 2)


@pytest.fixture
def whole(tmp_path):
    """A file of 60 records, as bytes."""
    write(month(9), tmp_path / "whole.csv")
    return (tmp_path / "whole.csv").read_bytes()


def watch(capsys, folder, *options):
    model = folder.parent / "watched.adf"
    return model, *run(capsys, "watch", folder, "-t", "rent", "-m", model, *SMALL, *QUICK, "--once", *options)


def n_samples(model):
    return [report.n_samples for report in adforest.load(model).history_]


# --- when a file is read


def test_a_file_is_seen_twice_however_old_it_says_it_is(tmp_path):
    """The clock of a file server may be behind: what was written just now looks a minute old."""
    path = tmp_path / "x.csv"
    path.write_text("a,y\n1,u\n")
    os.utime(path, (time.time() - 60, time.time() - 60))
    looks = Folder(tmp_path, settle=0, patience=0, aside=tmp_path / "rejected")
    assert looks.look() == []
    assert looks.look() == [path]
    with open(path, "a") as file:
        file.write("2,v\n")
    os.utime(path, (time.time() - 60, time.time() - 60))
    assert looks.look() == []
    assert looks.look() == [path]
    os.replace(path, tmp_path / "aside.txt")
    path.write_text("a,y\n1,u\n2,v\n")  # as long and as old, but another file
    os.utime(path, ns=(0, (tmp_path / "aside.txt").stat().st_mtime_ns))
    assert looks.look() == []


def test_the_settling_time_is_that_of_this_clock(tmp_path):
    (tmp_path / "x.csv").write_text("a,y\n1,u\n")
    looks = Folder(tmp_path, settle=60, patience=90, aside=tmp_path / "rejected")
    assert [looks.look() for _ in range(3)] == [[], [], []]


def test_a_marker_says_that_a_file_is_finished(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,y\n1,u\n")
    looks = Folder(tmp_path, settle=60, patience=90, aside=tmp_path / "rejected", marker=".done")
    assert [looks.look(), looks.look()] == [[], []]
    (tmp_path / "x.csv.done").touch()
    assert looks.look() == [path]
    looks.put_aside(path, "no table")
    assert {one.name for one in (tmp_path / "rejected").iterdir()} == {"x.csv", "x.csv.done", "x.csv.reason.txt"}


def test_files_with_a_marker_are_learnt_and_others_are_left(capsys, folder):
    (folder / "month-1.csv.done").touch()
    model, code, _, _ = watch(capsys, folder, "--marker", ".done")
    assert code == 0
    assert n_samples(model) == [60]


def half_written(suffix, whole):
    """Return a file of which the end is missing, and the whole one."""
    if suffix == "csv":
        return whole[: len(whole) // 2], whole  # in the middle of a line
    if suffix == "csv.gz":
        packed = gzip.compress(whole)
        return packed[: len(packed) // 2], packed
    raise AssertionError(suffix)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
@pytest.mark.parametrize("options", [(), ("--batch-size", "10")], ids=["whole", "pieces"])
def test_a_file_without_its_end_is_waited_for(capsys, folder, whole, suffix, options):
    """Nothing of it is learnt before, not even the pieces that could be read."""
    half, all_of_it = half_written(suffix, whole)
    path = folder / f"month-9.{suffix}"
    path.write_bytes(half)

    def finish():
        with open(path, "ab") as file:
            file.write(all_of_it[len(half) :])

    thread = threading.Timer(0.6, finish)
    thread.start()
    model, code, _, err = watch(capsys, folder, "--patience", "20", *options)
    thread.join()
    assert (code, err) == (0, "")
    assert n_samples(model) == ([10] * 18 if options else [60] * 3)


def test_a_last_line_without_an_end_is_learnt_in_the_end(capsys, folder, whole):
    (folder / "month-9.csv").write_bytes(whole.rstrip(b"\n"))
    model, code, _, err = watch(capsys, folder)
    assert (code, err) == (0, "")
    assert n_samples(model) == [60] * 3


def test_a_file_without_its_end_is_set_aside_in_the_end(capsys, folder, whole):
    (folder / "month-9.csv.gz").write_bytes(gzip.compress(whole)[:-20])
    model, code, _, _ = watch(capsys, folder, "--batch-size", "10")
    assert code == 3
    assert n_samples(model) == [10] * 12
    reason = (folder / "rejected" / "month-9.csv.gz.reason.txt").read_text()
    assert reason.startswith(f"'{folder}/month-9.csv.gz' is damaged (Truncated compressed stream)")


# --- files that go on


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "arff"])
@pytest.mark.parametrize("options", [(), ("--batch-size", "25")], ids=["whole", "pieces"])
def test_a_file_that_went_on_is_learnt_from_where_it_stopped(capsys, tmp_path, suffix, options):
    path, model = tmp_path / f"log.{suffix}", tmp_path / "m.adf"
    table = month(1, n=100).select(["size", "rooms", "rent"])
    write(table, path)
    if suffix == "arff":
        path.write_text(path.read_text().replace("{low, high, 'very high'}", "{low, middle, high}"))
    lines = path.read_bytes().splitlines(keepends=True)
    n_head = len(lines) - 100
    seen = []
    for stop in (40, 70, 100, 100):
        path.write_bytes(b"".join(lines[: n_head + stop]))
        code, out, err = run(capsys, "learn", path, "-t", "rent", "-m", model, *SMALL, *options)
        assert (code, err) == (0, "")
        seen.append(sum(n_samples(model)))
    assert seen == [40, 70, 100, 100]
    assert "nothing new" in out
    assert n_samples(model) == ([25, 15, 10, 20, 5, 25] if options else [40, 30, 30])


def test_it_is_learnt_as_if_the_rest_had_been_a_file(capsys, tmp_path, whole):
    """The model, and the accuracy that is told, are those of two files."""
    lines = whole.splitlines(keepends=True)
    (tmp_path / "1.csv").write_bytes(b"".join(lines[:41]))
    (tmp_path / "2.csv").write_bytes(b"".join([lines[0], *lines[41:]]))
    apart = learnt(capsys, tmp_path / "[12].csv", model=tmp_path / "apart.adf")
    (tmp_path / "log.csv").write_bytes(b"".join(lines[:41]))
    learnt(capsys, tmp_path / "log.csv", model=tmp_path / "m.adf")
    (tmp_path / "moved.csv").write_bytes(whole)  # under another name
    learnt(capsys, tmp_path / "moved.csv", model=tmp_path / "m.adf")
    assert [one.rows for one in adforest.load(tmp_path / "m.adf").history_] == [(1, 40), (41, 60)]
    for (document, arrays), (expected, others) in [(content(tmp_path / "m.adf"), content(apart))]:
        assert document["history"] == expected["history"]
        del arrays["origins.digests"], arrays["origins.sizes"], others["origins.digests"], others["origins.sizes"]
        assert arrays == others


def test_a_pause_of_the_writer_does_not_repeat_records(capsys, folder, whole):
    """It stands still for longer than it must, in the middle of the file, and goes on."""
    lines = whole.splitlines(keepends=True)
    path = folder / "month-9.csv"
    path.write_bytes(b"".join(lines[:31]))

    def go_on():
        while not (folder.parent / "watched.adf").exists() or len(n_samples(folder.parent / "watched.adf")) < 3:
            time.sleep(0.02)
        with open(path, "ab") as file:
            file.write(b"".join(lines[31:]))

    thread = threading.Thread(target=go_on)
    thread.start()
    watch(capsys, folder)
    thread.join()
    model, code, _, _ = watch(capsys, folder)
    assert code == 0
    assert n_samples(model) == [60, 60, 30, 30]


@pytest.mark.parametrize("kind", ["csv.gz", "zip", "cut line"])
def test_what_cannot_be_told_from_its_beginning_is_refused(capsys, tmp_path, whole, kind):
    model, lines = tmp_path / "m.adf", whole.splitlines(keepends=True)
    path = tmp_path / ("x.csv" if kind == "cut line" else f"x.{kind}")
    parts = [b"".join(lines[:31]), b"".join(lines[31:])]
    if kind == "cut line":
        parts = [whole[:1000].rstrip(b"\n"), whole[1000:]]
    if kind == "csv.gz":
        parts = [gzip.compress(one) for one in parts]
    for stop in (1, 2):
        if kind == "zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("x.csv", b"".join(parts[:stop]))
        else:
            path.write_bytes(b"".join(parts[:stop]))
        code, _, err = run(capsys, "learn", path, "-t", "rent", "-m", model, *SMALL, "--on-bad-lines", "skip")
        assert code == stop - 1
    assert "went on since its first" in err
    assert "Write the rest to a file of its own." in err
    assert len(n_samples(model)) == 1


def test_a_file_written_to_while_it_is_read(capsys, folder, monkeypatch):
    """What was read may be parts of two files: it is no batch."""
    from adforest.reading import files

    real = files._cut

    def disturbed(found, *arguments):
        yield from real(found, *arguments)
        with open(folder / "month-2.csv", "a") as file:
            file.write('1,1,1,"Ring","low"\n')

    monkeypatch.setattr(files, "_cut", disturbed)
    code, _, err = run(capsys, "learn", folder, "-t", "rent", "-m", folder.parent / "m.adf", *SMALL)
    assert code == 1
    assert f"'{folder}/month-2.csv' was written to while it was read." in err
    assert n_samples(folder.parent / "m.adf") == [60]
