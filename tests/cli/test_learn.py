import datetime as dt
import gzip
import io
import re
import shutil
import sys
import zipfile
from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather

import adforest
from adforest.cli.batch_files import content_digest
from adforest.cli.learning import Learner
from adforest.origins import note_origins, origins_of
from cli_commands import MOMENT, SMALL, content, json_lines, learnt, month, run, write_months
from table_files import FORMATS, write


@pytest.fixture
def folder(tmp_path):
    return write_months(tmp_path / "months")


def test_a_row_a_batch_and_what_it_comes_to(capsys, folder, tmp_path):
    write(month(5, new_class=True), folder / "month-5.csv")
    model = tmp_path / "m.adf"
    code, out, err = run(capsys, "learn", folder, "--target", "rent", "--drop", "id", "-m", model, *SMALL)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == [
        "time",
        "batch",
        "file",
        "records",
        "classes",
        "drift",
        "accuracy",
        "answers",
        "seconds",
    ]
    assert re.fullmatch(MOMENT + r" +1  month-1\.csv +60  MUC +- +-  permanent +[\d.]+", lines[1])
    assert re.fullmatch(MOMENT + r" +2  month-2\.csv +60  MKC +- +0\.\d{3}  \w+ +[\d.]+", lines[2])
    assert lines[5].endswith("  new: free")
    assert re.fullmatch(r"learnt 5 batches, 300 records in [\d.]+ s, accuracy before learning 0\.\d{3}", lines[6])
    assert re.fullmatch(rf"{model}: 5 batches, 4 classes, [\d.]+ kB", lines[7])
    loaded = adforest.load(model)
    assert loaded.feature_names_in_.tolist() == ["size", "rooms", "street"]
    assert loaded.n_estimators == 2
    assert origins_of(loaded).target == "rent"


def test_what_is_told_as_json(capsys, folder, tmp_path):
    command = ("learn", folder, "-t", "rent", "-m", tmp_path / "m.adf", *SMALL, "--json")
    *batches, end = json_lines(run(capsys, *command)[1])
    reports = adforest.load(tmp_path / "m.adf").history_
    assert [one["event"] for one in batches] == ["batch"] * 4
    assert {one["level"] for one in (*batches, end)} == {"info"}
    assert all(re.fullmatch(MOMENT, one["time"]) for one in (*batches, end))
    assert [one["files"] for one in batches] == [[str(folder / f"month-{number}.csv")] for number in range(1, 5)]
    assert [one["accuracy"] for one in batches] == [report.accuracy for report in reports]
    assert [one["batch"] for one in batches] == [1, 2, 3, 4]
    accuracies = [report.accuracy["vote"] for report in reports[1:]]
    assert end["accuracy"] == pytest.approx(sum(accuracies) / 3)  # batches are of one size
    assert (end["event"], end["batches"], end["records"], end["passed_over"]) == ("end", 4, 240, 0)
    assert end["unlabelled"] == 0
    assert json_lines(run(capsys, *command)[1])[-1]["passed_over"] == 4


@pytest.mark.parametrize("suffix", [one for one in FORMATS if "arff" not in one])
def test_every_format_makes_the_same_model(capsys, tmp_path, suffix, folder):
    expected = content(learnt(capsys, folder))
    other = learnt(capsys, write_months(tmp_path / "others", suffix=suffix), model=tmp_path / "other.adf")
    found = content(other)
    for document, _ in (expected, found):
        del document["origins"]
    for _, arrays in (expected, found):
        del arrays["origins.digests"], arrays["origins.sizes"]
    assert found == expected


def test_a_folder_a_pattern_a_list_and_archives_make_the_same_model(capsys, folder, tmp_path):
    expected = content(learnt(capsys, folder))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, path.name)
    for number, sources in enumerate([[folder / "*.csv"], sorted(folder.iterdir()), [tmp_path / "all.zip"]]):
        model = tmp_path / f"{number}.adf"
        assert run(capsys, "learn", *sources, "-t", "rent", "--drop", "id", "-m", model, *SMALL)[0] == 0
        assert content(model) == expected


def test_standard_input(capsys, folder, tmp_path, monkeypatch):
    data = (folder / "month-1.csv").read_bytes()
    for number, sent in enumerate([data, gzip.compress(data)]):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(sent)))
        code, out, _ = run(capsys, "learn", "-", "-t", "rent", "--drop", "id", "-m", tmp_path / f"{number}.adf")
        assert code == 0
        assert "standard input" in out
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"rent,size\nlow,1,2\n")))
    code, _, err = run(capsys, "learn", "-", "-t", "rent", "-m", tmp_path / "3.adf")
    assert code == 1
    assert err.startswith("adforest: line 2 of standard input has 3 fields; expected 2")


# --- once and only once


def test_batches_learnt_before_are_passed_over_whatever_they_are_called(capsys, folder, tmp_path):
    model = learnt(capsys, folder)
    before = model.read_bytes()
    shutil.copy(folder / "month-2.csv", folder / "month-9.csv")
    code, out, _ = run(capsys, "learn", folder, "-m", model)
    assert (code, out) == (0, "nothing new to learn: 5 files learnt before and passed over\n")
    assert model.read_bytes() == before
    write(month(7), folder / "month-7.csv")
    out = run(capsys, "learn", folder, "-m", model)[1]
    assert "learnt 1 batch, 60 records" in out
    assert "5 files learnt before and passed over" in out
    assert len(adforest.load(model).history_) == 5


def test_a_model_learns_the_same_in_one_command_and_in_several(capsys, folder, tmp_path):
    expected = content(learnt(capsys, folder))
    model = tmp_path / "other.adf"
    files = sorted(folder.iterdir())
    run(capsys, "learn", files[0], "-t", "rent", "--drop", "id", "-m", model, *SMALL)
    for path in files[1:]:
        assert run(capsys, "learn", path, "-m", model)[0] == 0
    assert content(model) == expected


def test_pieces_of_files_are_learnt_once(capsys, folder, tmp_path):
    whole, model = tmp_path / "whole.adf", tmp_path / "m.adf"
    command = ("learn", folder, "-t", "rent", "--drop", "id", "--batch-size", "50", *SMALL, "-m")
    out = run(capsys, *command, whole)[1]
    assert "learnt 5 batches, 240 records" in out
    assert "+1" in out  # a batch of two files
    run(capsys, "learn", folder / "month-1.csv", *command[2:], model)
    assert [report.n_samples for report in adforest.load(model).history_] == [50, 10]
    assert run(capsys, *command, whole)[1] == "nothing new to learn\n"


@pytest.mark.parametrize("suffix", ["csv", "feather", "jsonl"])
@pytest.mark.parametrize("options", [(), ("--batch-size", "50")], ids=["files", "pieces"])
def test_interrupted_between_batches_it_goes_on(capsys, tmp_path, monkeypatch, options, suffix):
    """Columns that are empty at first and categories that are numbers are read as if it had run through."""
    folder = write_months(tmp_path / "months", 5, suffix)
    for path in sorted(folder.iterdir())[:3] if suffix == "feather" else ():
        table = feather.read_table(path)
        table = table.set_column(2, "rooms", table["rooms"].dictionary_encode())
        feather.write_feather(table.set_column(1, "size", pa.nulls(len(table), pa.float64())), str(path))
    command = ("learn", folder, "-t", "rent", "--drop", "id", *SMALL, *options, "-m")
    assert run(capsys, *command, tmp_path / "whole.adf")[0] == 0
    learn, counts = Learner.learn, count()

    def interrupted(self, *arguments):
        if next(counts) % 2:
            raise KeyboardInterrupt
        return learn(self, *arguments)

    monkeypatch.setattr(Learner, "learn", interrupted)
    codes = [run(capsys, *command, tmp_path / "m.adf")[0] for _ in range(6 if options else 5)]
    assert codes == [130] * (len(codes) - 1) + [0]
    assert content(tmp_path / "m.adf") == content(tmp_path / "whole.adf")


def test_the_same_records_in_two_pieces_are_two_batches(capsys, tmp_path):
    (tmp_path / "x.csv").write_text("a,y\n" + "1,u\n2,v\n" * 6)
    out = run(capsys, "learn", tmp_path / "x.csv", "-t", "y", "-m", tmp_path / "m.adf", "--batch-size", "4")[1]
    assert "learnt 3 batches, 12 records" in out


# --- options


def test_parameters_may_change_where_the_library_allows_it(capsys, folder):
    model = learnt(capsys, folder)
    write(month(8), folder / "month-8.csv")
    assert run(capsys, "learn", folder, "-m", model, "--window-size", "5", "--memory-size", "2MB")[0] == 0
    loaded = adforest.load(model)
    assert (loaded.window_size, loaded.memory_size) == (5, "2MB")
    assert loaded.class_weight is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--n-estimators", "3"],
            "--n-estimators was 2 when the model learnt its first batch and is 3 now, but it cannot",
        ),
        (["--window-size", "0"], "--window-size is 0; expected an int of at least 1 and at most 2147483647."),
        (["--window-size", "99999999999"], "--window-size is 99999999999; expected an int of at least 1 and at most 2"),
        (["--max-depth", "99999999999"], "--max-depth is 99999999999; expected an int of at least 1 and at most 2"),
        (["--memory-size", "much"], "--memory-size is 'much'; expected an int of at least 0, or a text such as"),
        (["--answer-for", "all"], "--answer-for is 'all'; expected 'next_batch' or 'everything'."),
        (["--target", "size"], "--target is 'size', but '{model}' learnt 'rent'."),
        (["--order", "size"], "order is 'size'; expected 'name', 'time' or None."),
    ],
)
def test_options_that_cannot_be(capsys, folder, options, message):
    model = learnt(capsys, folder)
    before = model.read_bytes()
    code, out, err = run(capsys, "learn", folder, "-m", model, *options)
    assert (code, out) == (1, "")
    assert err.startswith("adforest: " + message.format(model=model))
    assert err.count("\n") == 1
    assert model.read_bytes() == before


def test_how_the_first_files_were_read_is_noted(capsys, tmp_path):
    (tmp_path / "1.csv").write_text("id;a;y\n" + "7;1,5;u\n8;-;v\n" * 4)
    (tmp_path / "2.csv").write_text("id;a;y\n" + "7;2,5;u\n8;?;v\n9;-;v\n" * 4)
    options = ("--decimal", ",", "--na-values", "-", "--drop", "id")
    model = tmp_path / "m.adf"
    assert run(capsys, "learn", tmp_path / "1.csv", "-t", "y", "-m", model, *options)[0] == 0
    code, _, err = run(capsys, "learn", tmp_path / "2.csv", "-m", model)
    assert code == 1
    assert "line 3 of" in err
    assert "Pass --na-values '?' if that stands for a missing value, or correct the value." in err
    assert run(capsys, "learn", tmp_path / "2.csv", "-m", model, "--na-values", "?")[0] == 0
    assert dict(origins_of(adforest.load(model)).reading) == {"decimal": ",", "na_values": ("-",), "drop": ("id",)}
    for verb in ("predict", "explain", "evaluate"):
        assert run(capsys, verb, tmp_path / "1.csv", "-m", model)[0] == 0
    assert run(capsys, "predict", tmp_path / "2.csv", "-m", model)[0] == 1
    assert run(capsys, "predict", tmp_path / "2.csv", "-m", model, "--na-values", "?")[0] == 0


def test_what_other_programs_noted_stays(capsys, folder, tmp_path):
    path = learnt(capsys, folder)
    model = adforest.load(path)
    note_origins(model, replace(origins_of(model), stream="one", epoch=7))
    model.save(path)
    write(month(8), folder / "month-8.csv")
    assert run(capsys, "learn", folder, "-m", path)[0] == 0
    found = origins_of(adforest.load(path))
    assert (found.stream, found.epoch, len(found.digests)) == ("one", 7, 5)


def test_weights_by_class(capsys, folder, tmp_path):
    model = tmp_path / "m.adf"
    options = ("--class-weight", '{"low": 3}', "--max-depth", "none", "--renewal", "0.5")
    assert run(capsys, "learn", folder, "-t", "rent", "-m", model, *SMALL, *options)[0] == 0
    loaded = adforest.load(model)
    assert (loaded.class_weight, loaded.max_depth, loaded.renewal) == ({"low": 3}, None, 0.5)


def test_columns_may_change_if_they_are_allowed_to(capsys, folder, tmp_path):
    model = learnt(capsys, folder)
    write(month(9).append_column("garden", [[1.0] * 60]).drop(["rooms"]), tmp_path / "more.csv")
    code, _, err = run(capsys, "learn", tmp_path / "more.csv", "-m", model)
    assert code == 1
    assert err == (
        f"adforest: line 1 of '{tmp_path}/more.csv' lacks 'rooms' and adds 'garden'; expected the 3 columns that "
        f"'{model}' learnt. Rename the columns, or set --column-changes allow.\n"
    )
    assert run(capsys, "learn", tmp_path / "more.csv", "-m", model, "--column-changes", "allow")[0] == 0
    assert adforest.load(model).n_features_in_ == 4


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_dates_are_learnt_again_and_answered(capsys, tmp_path, suffix):
    for number in (1, 2):
        days = [dt.datetime(2024, number, day) for day in range(1, 29)]
        table = pa.table({"day": pa.array(days, pa.timestamp("s")), "rent": ["low", "high"] * 14})
        write(table, tmp_path / f"{number}.{suffix}")
    model = tmp_path / "m.adf"
    for number in (1, 2):  # the second by what the model knows
        code, _, err = run(capsys, "learn", tmp_path / f"{number}.{suffix}", "-t", "rent", "-m", model, *SMALL)
        assert (code, err) == (0, "")
    assert adforest.load(model)._model.encoder.kinds == ("dates",)
    code, out, _ = run(capsys, "predict", tmp_path / f"1.{suffix}", "-m", model)
    assert (code, len(out.splitlines())) == (0, 29)
    assert run(capsys, "evaluate", tmp_path / f"1.{suffix}", "-m", model)[0] == 0


def test_numbers_as_text_are_told_of_in_the_words_of_the_shell(capsys, tmp_path):
    (tmp_path / "x.jsonl").write_text('{"a": "1.5", "y": "u"}\n{"a": "2.5", "y": "v"}\n')
    command = ("learn", tmp_path / "x.jsonl", "-t", "y", *SMALL)
    code, _, err = run(capsys, *command, "-m", tmp_path / "m.adf")
    assert code == 0
    assert "warning: column 'a' of batch 1 holds text that reads as numbers ('1.5', '2.5')" in err
    assert err.endswith("pass --categorical a.\n")
    assert run(capsys, *command, "-m", tmp_path / "n.adf", "--categorical", "a")[2] == ""


def test_records_without_a_class_are_left_out_by_choice(capsys, tmp_path):
    for number in (1, 2):
        table = month(number)
        rent = [None if place % 10 == 0 else one for place, one in enumerate(table.column("rent").to_pylist())]
        place = table.schema.names.index("rent")
        write(table.set_column(place, "rent", pa.array(rent)), tmp_path / f"{number}.csv")
    files, model = [tmp_path / "1.csv", tmp_path / "2.csv"], tmp_path / "m.adf"
    command = ("learn", *files, "-t", "rent", "-m", model, *SMALL)
    code, _, err = run(capsys, *command)
    assert code == 1
    assert "or pass --unlabelled skip to leave such records out" in err
    code, out, err = run(capsys, *command, "--unlabelled", "skip")
    assert code == 0
    assert "learnt 2 batches, 108 records" in out
    assert err.count("6 records without a class left out; the first is line 2 of") == 2
    for number, options in enumerate(((), ("--batch-size", 40))):
        again = (
            "learn",
            *files,
            "-t",
            "rent",
            "-m",
            tmp_path / f"{number}.adf",
            *SMALL,
            "--unlabelled",
            "skip",
            *options,
        )
        assert json_lines(run(capsys, *again, "--json")[1])[-1]["unlabelled"] == 12
    assert json_lines(run(capsys, *command, "--unlabelled", "skip", "--json")[1])[-1]["unlabelled"] == 0, "passed over"
    code, out, _ = run(capsys, "evaluate", *files, "-m", model)  # noted in the model
    assert code == 0
    assert out.endswith("; 12 records without a class left out\n")
    assert json_lines(run(capsys, "evaluate", *files, "-m", model, "--json")[1])[0]["unlabelled"] == 12
    assert run(capsys, "evaluate", *files, "-m", model, "--unlabelled", "error")[0] == 1
    assert run(capsys, "predict", files[0], "-m", model)[0] == 0


def test_categories_and_text_are_the_same_piece():
    texts = [pa.array(["01", None, "02"]), pa.array(["03"])]
    y = np.array([0, 1, 0, 1])
    pieces = [
        pa.table({"zip": pa.chunked_array(parts)}) for parts in (texts, [one.dictionary_encode() for one in texts])
    ]
    assert len({content_digest(SimpleNamespace(X=piece, y=y), b"") for piece in pieces}) == 1
