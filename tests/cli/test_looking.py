"""Verbs that look at a model or hand it on: inspect, explain, evaluate, export, demo."""

import json

import numpy as np
import onnxruntime
import pytest
import treelite

import adforest
from adforest.cli.verbs.demo import demo
from adforest.demo.run import SAMPLES
from adforest.integrations.treelite import encode_table
from adforest.monitor import tree_text
from cli_commands import json_lines, learnt_here, month, run, write_months
from table_files import write


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = write_months(tmp_path_factory.mktemp("looked at") / "months", 3)
    write(month(4, new_class=True), folder / "month-4.csv")
    for number in range(5, 8):
        write(month(number, turned=True), folder / f"month-{number}.csv")
    return learnt_here(folder)


@pytest.fixture
def new(tmp_path):
    write(month(9), tmp_path / "new.csv")
    return tmp_path / "new.csv"


# --- inspect


def test_what_is_in_a_model(capsys, model):
    code, out, err = run(capsys, "inspect", model)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert out.startswith(f"{model}: AdaptiveDecisionForestClassifier, ")
    assert out.splitlines()[0].endswith(", target rent")
    assert out.splitlines()[1] == "7 batches, 420 records, 420 kept to learn from"
    assert out.splitlines()[2] == "parameters: n_estimators 2, random_state 0"
    assert ["free", "5", "1.2%", "4", "4"] in lines
    assert any(line[:2] == ["street", "categories"] and line[2] == "3" for line in lines)
    assert any(line[:2] == ["permanent", "2"] for line in lines)
    assert "the last 7 batches" in out
    assert out.count("\n  drift    ") == 1


def test_what_is_in_a_model_as_json(capsys, model):
    (found,) = json_lines(run(capsys, "inspect", model, "--json")[1])
    loaded = adforest.load(model)
    assert found["classes"] == [
        {"class": value, "records": n, "first_batch": first, "last_batch": last}
        for value, n, first, last in _sights(["free", "high", "low", "middle"])
    ]
    assert [one["column"] for one in found["columns"]] == ["size", "rooms", "street"]
    assert [one["importance"] for one in found["columns"]] == loaded.feature_importances_.tolist()
    assert {one["forest"]: one["leaves"] for one in found["forests"]} == loaded.history_[-1].n_leaves
    assert [one["batch"] for one in found["history"]] == list(range(1, 8))
    told = {n for one in found["drift"] for n in range(one["first_batch"], one["last_batch"] + 1)}
    assert told == {report.batch for report in loaded.history_ if report.drift != "none"}


def _sights(values):
    """Return each class with its records and the first and the last batch that have it, from the months themselves."""
    months = [*(month(n) for n in (1, 2, 3)), month(4, new_class=True), *(month(n, turned=True) for n in (5, 6, 7))]
    rents = [one["rent"].to_pylist() for one in months]
    for value in values:
        batches = [number for number, rent in enumerate(rents, start=1) if value in rent]
        yield value, sum(rent.count(value) for rent in rents), batches[0], batches[-1]


def test_one_tree(capsys, model):
    text = tree_text(adforest.load(model), "active", 1, max_depth=2)
    assert run(capsys, "inspect", model, "--tree", 1, "--forest", "active", "--max-depth", 2) == (0, text + "\n", "")
    (found,) = json_lines(run(capsys, "inspect", model, "--tree", 1, "--max-depth", 2, "--json")[1])
    assert found["text"] == tree_text(adforest.load(model), "permanent", 1, max_depth=2).splitlines()
    code, _, err = run(capsys, "inspect", model, "--tree", 2)
    assert (code, err) == (1, "adforest: tree is 2, but the permanent forest has trees 0 to 1. Choose one of them.\n")
    code, _, err = run(capsys, "inspect", model, "--tree", 0, "--forest", "eternal")
    assert code == 1
    assert "forest is 'eternal'" in err


def test_a_model_without_records_and_one_of_arrays(capsys, model, tmp_path):
    adforest.load(model).save(tmp_path / "m.adf", samples=False)
    assert "none kept: it can predict, but not learn" in run(capsys, "inspect", tmp_path / "m.adf")[1]
    adforest.AdaptiveDecisionForestClassifier(2).fit(np.eye(4), [0, 1, 0, 1]).save(tmp_path / "m.adf")
    code, out, err = run(capsys, "inspect", tmp_path / "m.adf")
    assert (code, err) == (0, "")
    assert "x[3]" in out


# --- explain


def test_why(capsys, model, new):
    code, out, err = run(capsys, "explain", new, "-m", model, "--row", 7, "--row", 2)
    assert (code, err) == (0, "")
    explanation = adforest.load(model).explain(month(9).drop(["id", "rent"]))
    expected = [explanation.text(place).replace(f"sample {place}", f"row {place + 1}") for place in (6, 1)]
    assert out == "\n".join(expected) + "\n"
    told = run(capsys, "explain", new, "-m", model, "--class", "high", "--most", 1)[1]
    assert told == explanation.text(0, "high", 1).replace("sample 0", "row 1") + "\n"


def test_why_as_json(capsys, model, new):
    (found,) = json_lines(run(capsys, "explain", new, "-m", model, "--row", 7, "--json")[1])
    explanation = adforest.load(model).explain(month(9).drop(["id", "rent"]))
    assert found["row"] == 7
    assert found["label"] == explanation.predictions[6]
    assert list(found["probabilities"].values()) == pytest.approx(explanation.probabilities[6].tolist())
    assert found["contributions"] == json.loads(json.dumps(explanation.rows(6)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--row", 61], "--row is 61, but there are 60 records; they are counted from 1."),
        (["--class", "gratis"], "--class is 'gratis'; expected one of 'free', 'high', 'low', 'middle'."),
    ],
)
def test_what_cannot_be_explained(capsys, model, new, options, message):
    code, _, err = run(capsys, "explain", new, "-m", model, *options)
    assert code == 1
    assert err.startswith(f"adforest: {message}")


# --- evaluate


def test_how_well_it_answers(capsys, model, new, tmp_path):
    write(month(10, new_class=True).drop(["id"]), tmp_path / "other.parquet")
    loaded, tables = adforest.load(model), [month(9), month(10, new_class=True)]
    (found,) = json_lines(run(capsys, "evaluate", new, tmp_path / "other.parquet", "-m", model, "--json")[1])
    truth = [value for table in tables for value in table["rent"].to_pylist()]
    X = [table.drop(["id", "rent"]) for table in tables]
    answers = [value for one in X for value in loaded.predict(one).tolist()]
    shares = np.concatenate([loaded.predict_proba(one) for one in X])
    places = [loaded.classes_.tolist().index(value) for value in truth]
    assert found["records"] == 120
    assert found["accuracy"] == pytest.approx(
        np.mean([one == other for one, other in zip(truth, answers, strict=True)])
    )
    assert found["log_loss"] == pytest.approx(-np.log(np.maximum(shares[range(120), places], 1e-15)).mean())
    assert [one["accuracy"] for one in found["files"]] == [
        pytest.approx(loaded.score(one, table["rent"].to_pylist())) for one, table in zip(X, tables, strict=True)
    ]
    free = next(one for one in found["classes"] if one["class"] == "free")
    assert free["records"] == 5
    assert free["recall"] == sum(t == a == "free" for t, a in zip(truth, answers, strict=True)) / 5
    assert sum(one["records"] for one in found["confusion"]) == 120
    code, out, err = run(capsys, "evaluate", new, "-m", model)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].startswith("60 records: accuracy 0.")


def test_files_that_were_learnt_and_classes_never_seen(capsys, model, tmp_path):
    learnt = model.parent / "months/month-1.csv"
    _, _, err = run(capsys, "evaluate", learnt, "-m", model)
    assert err == "adforest: warning: 1 file learnt by this model: metrics on new records are usually lower\n"
    (tmp_path / "x.csv").write_text("size,rooms,street,rent\n50,2,Ring,unheard of\n50,2,Ring,low\n")
    (found,) = json_lines(run(capsys, "evaluate", tmp_path / "x.csv", "-m", model, "--json")[1])
    unheard = next(one for one in found["classes"] if one["class"] == "unheard of")
    assert (unheard["is_known"], unheard["recall"], unheard["precision"]) == (False, 0.0, None)


# --- export


def test_other_programs_answer_the_same(capsys, model, new, tmp_path):
    code, out, _ = run(capsys, "export", model, "-o", tmp_path / "m.onnx")
    assert code == 0
    assert out.startswith(f"{tmp_path}/m.onnx: ONNX, ")
    table, loaded = month(9).drop(["id", "rent"]), adforest.load(model)
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    feeds = {
        "size": table["size"].to_numpy().astype(np.float64)[:, None],
        "rooms": table["rooms"].to_numpy().astype(np.float64)[:, None],
        "street": np.array(table["street"].to_pylist(), dtype=object)[:, None],
    }
    assert session.run(["label"], feeds)[0].tolist() == loaded.predict(table).tolist()
    (told,) = json_lines(run(capsys, "export", model, "-o", tmp_path / "m.tl", "--forest", "newest", "--json")[1])
    assert told["format"] == "Treelite"
    forest = treelite.Model.deserialize(str(tmp_path / "m.tl"))
    assert forest.num_tree == len(loaded.newest_forest_)
    assert treelite.gtil.predict(forest, encode_table(loaded, table)).shape[0] == 60


def test_exports_that_cannot_be(capsys, model, tmp_path):
    (tmp_path / "m.onnx").write_text("old")
    code, _, err = run(capsys, "export", model, "-o", tmp_path / "m.onnx")
    assert (code, err.split(". ")[0]) == (1, f"adforest: '{tmp_path}/m.onnx' is there already")
    code, _, err = run(capsys, "export", model, "-o", tmp_path / "m.pmml")
    assert (code, err.split("; ")[1]) == (
        1,
        "expected a name that ends in .onnx or .tl or .treelite or .adf. Name another file.\n",
    )
    assert (tmp_path / "m.onnx").read_text() == "old"


# --- demo


def test_the_demo_draws_a_picture(capsys, tmp_path):
    code, out, _ = run(capsys, "demo", "--records", 1000, "-o", tmp_path / "demo.png")
    assert code == 0
    assert "34 batches" in out
    assert (tmp_path / "demo.png").stat().st_size > 10_000
    assert demo.__defaults__[0] == SAMPLES
