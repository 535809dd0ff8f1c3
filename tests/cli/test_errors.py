"""What is wrong in files: file, line and column are named, and what was learnt before is kept."""

import errno
import json
import os
import random
import re

import pytest

import adforest
from adforest.cli.learning import Learner
from adforest.cli.model_file import ModelFile
from adforest.storage import files
from cli_commands import MOMENT, SMALL, content, learnt_here, run, run_apart, write_months

N_FILES = 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_months(tmp_path_factory.mktemp("many") / "months", N_FILES, n=12)


@pytest.fixture(scope="module")
def expected(folder):
    return content(learnt_here(folder, drop=()))


def spoil(folder, tmp_path, old, new, line=None):
    """Return a copy of a folder of which file 17 has something else in a line, or in its header."""
    copy = tmp_path / "months"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    path = copy / "month-17.csv"
    lines = path.read_text().splitlines(keepends=True)
    place = 0 if line is None else line - 1
    changed = lines[place].replace(old, new) if old else new
    assert changed != lines[place]
    path.write_text("".join([*lines[:place], changed, *lines[place + 1 :]]))
    return copy


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        (
            '"size"',
            '"surface"',
            None,
            "line 1 of '{path}' lacks 'size' and adds 'surface'; expected the 4 columns that",
        ),
        ('"rent"', '"rant"', None, "the target 'rent' is no column of '{path}'; its columns are 'id', 'size', 'rooms'"),
        (None, '17001,?,2,"Ring","low"\n', 5, "line 5 of '{path}' holds '?' in column 'size'; expected a number"),
        (None, '17001,many,2,"Ring","low"\n', 5, "line 5 of '{path}' holds 'many' in column 'size'; expected a number"),
        (None, '17001,50,2,"Ring"\n', 7, "line 7 of '{path}' has 4 fields; expected 5, one for each column."),
        (None, '17001,50,2,"Ring",\n', 3, "line 3 of '{path}' has no value in the target column 'rent'"),
    ],
)
def test_file_17_of_30(capsys, folder, expected, tmp_path, old, new, line, message):
    months, model = spoil(folder, tmp_path, old, new, line), tmp_path / "m.adf"
    command = ("learn", months, "-t", "rent", "-m", model, *SMALL)
    code, out, err = run(capsys, *command)
    assert code == 1
    assert len(out.splitlines()) == 17  # names of columns and 16 batches
    assert err.count("\n") == 1
    assert err.endswith(f" 16 batches learnt before this, kept in '{model}': the same command goes on from there.\n")
    assert err.startswith(f"adforest: {message}".format(path=months / "month-17.csv"))
    assert len(adforest.load(model).history_) == 16
    # Corrected, it goes on and ends as if nothing had been wrong.
    (months / "month-17.csv").write_bytes((folder / "month-17.csv").read_bytes())
    assert "learnt 14 batches" in run(capsys, *command)[1]
    assert content(model) == expected


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (["nothing/*.csv"], "no file matches the pattern 'nothing/*.csv'; expected at least one."),
        (["nothing"], "there is no file or folder 'nothing'; expected a folder, a file or a pattern"),
        (["x.txt"], "the format of 'x.txt' is not known; expected a name that ends in .csv, .tsv, .jsonl"),
        (["empty.csv"], "'empty.csv' holds no records; expected at least one."),
        (["no.parquet"], "'no.parquet' cannot be read (Parquet magic bytes not found"),
    ],
)
def test_nothing_to_learn_from(capsys, tmp_path, monkeypatch, sources, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.txt").write_text("a,y\n1,2\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "no.parquet").write_text("not a table at all")
    code, out, err = run(capsys, "learn", *sources, "-t", "y", "-m", "m.adf")
    assert (code, out) == (1, "")
    assert err.startswith(f"adforest: {message}")
    assert err.count("\n") == 1
    assert not (tmp_path / "m.adf").exists()


def test_a_file_without_records_among_others_is_passed_over(capsys, tmp_path):
    months = write_months(tmp_path / "months", 2)
    (months / "month-0.csv").write_text("id,size,rooms,street,rent\n")
    code, out, err = run(capsys, "learn", months, "-t", "rent", "-m", tmp_path / "m.adf", *SMALL)
    assert code == 0
    assert "learnt 2 batches" in out
    assert "passed over" not in out
    assert re.match(rf"adforest: {MOMENT} warning: '{months}/month-0\.csv' holds no records;", err)
    assert err.count("\n") == 1


def test_a_model_that_cannot_be_written_is_as_before(capsys, folder, tmp_path, monkeypatch):
    model = learnt_here(write_months(tmp_path / "months", 2))
    learner = Learner(ModelFile(model), None, {}, {})
    before, was = learner.model, model.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("the disk is full")))
    ((batch, digest),) = learner.batches(folder / "month-9.csv")
    with pytest.raises(OSError, match="the disk is full"):
        learner.learn(batch, digest)
    assert learner.model is before
    assert len(before.history_) == 2
    assert not learner.is_known(digest)
    assert model.read_bytes() == was


def test_what_is_kept_is_a_sentence_after_the_error(capsys, tmp_path, monkeypatch):
    saved, save = [], files.save

    def fill_the_disk(*arguments, **options):
        saved.append(arguments)
        if len(saved) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return save(*arguments, **options)

    monkeypatch.setattr(files, "save", fill_the_disk)
    command = ("learn", write_months(tmp_path / "months", 3), "--target", "rent", "-m", tmp_path / "m.adf", *SMALL)
    code, _, err = run(capsys, *command)
    assert code == 1
    assert "(No space left on device). 2 batches learnt before this, kept in" in err


def test_a_model_file_that_is_none(capsys, folder, tmp_path):
    (tmp_path / "m.adf").write_text("no model")
    for command in (["learn", folder, "-t", "rent"], ["predict", folder], ["evaluate", folder, "-t", "rent"]):
        code, _, err = run(capsys, *command, "-m", tmp_path / "m.adf")
        assert code == 1
        assert (
            err == f"adforest: {tmp_path}/m.adf cannot be loaded: it is no model file, or only the beginning of one\n"
        )


def test_a_new_model_needs_a_target(capsys, folder, tmp_path):
    code, _, err = run(capsys, "learn", folder, "-m", tmp_path / "m.adf")
    assert code == 1
    names = "'id', 'size', 'rooms', 'street', 'rent'"
    assert err == f"adforest: --target is not given; expected the column that holds the classes, one of {names}.\n"


def test_warnings_are_lines(capsys, folder, tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,u\n2,v\n2,v,3\n" + "3,u\n" * 5)
    options = ("--on-bad-lines", "skip")
    code, _, err = run(capsys, "learn", tmp_path / "a.csv", "-t", "y", "-m", tmp_path / "m.adf", *options)
    assert code == 0
    said = "1 line with a wrong number of fields left out; the first is line 4 of"
    assert re.match(rf"adforest: {MOMENT} warning: {said}", err)
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (random.Random(0).randbytes(100_000), "'{path}' is not UTF-8: it holds the byte"),
        (bytes(5_000), "'{path}' is no text: it begins with zeros."),
        (b"a,y\n\xff\xfe\x00,u,3\n1,v\n", "line 2 of '{path}' is not UTF-8: it holds the byte 0xFF"),
        (b"\x1f\x8b" + bytes(100), "'{path}' is not UTF-8: it holds the byte 0x8B"),
        (b"PAR1" + random.Random(1).randbytes(5_000), "'{path}' is not UTF-8: it holds the byte"),
        (b"a" * 1_000_000, "'{path}' has a record longer than 262,144 bytes."),
    ],
    ids=["random", "zeros", "a line", "gzip", "parquet", "no line"],
)
def test_what_is_no_csv_is_told_in_one_line(capsys, tmp_path, content, message):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    code, out, err = run(capsys, "learn", path, "-t", "y", "-m", tmp_path / "m.adf")
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert err.startswith("adforest: ")
    assert message.format(path=path) in err
    assert "should not happen" not in err


def test_names_that_are_no_text(capsys, tmp_path):
    name = os.fsdecode(b"month-\xff.csv")
    months = write_months(tmp_path / "months", 1)
    os.rename(months / "month-1.csv", months / name)
    for number, options in enumerate([(), ("--json",)]):
        command = ("learn", months, "-t", "rent", "-m", tmp_path / f"{number}.adf", *SMALL, *options)
        code, out, err = run_apart(*command)
        assert (code, err) == (0, "")
        assert r"month-\udcff.csv" in out
    assert json.loads(out.splitlines()[0])["files"] == [str(months / name)]
    code, _, err = run(capsys, "learn", months / name, "-t", "rant", "-m", tmp_path / "m.adf")
    assert code == 1
    assert r"month-\udcff.csv" in err


def test_a_wide_file_is_read_and_refused_without_asking_once_a_column(tmp_path):
    """Ten thousand columns: names and types of a file are asked for a few times, not for each column."""
    from adforest.reading import layout, read_batches

    names = [f"x{number}" for number in range(10_000)]
    (tmp_path / "x.csv").write_text(",".join([*names, "y"]) + "\n" + ",".join(["1"] * 10_000 + ["u"]) + "\n")
    asked, real = [], layout.read_schema
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "read_schema", lambda file: (asked.append(file), real(file))[1])
        (batch,) = read_batches(tmp_path / "x.csv", target="y")
    assert batch.X.num_columns == 10_000
    assert len(asked) < 6
