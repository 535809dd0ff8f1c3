"""Measures against scikit-learn, protocols against later batches, digests, limits, results and the page."""

import dataclasses
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss

from nextbatch import cli, code, learners, results, running, streams, submissions, usage
from nextbatch import page as page_module
from nextbatch import table as table_module
from nextbatch.costs import SECONDS, START, estimate_seconds
from nextbatch.encoding import Encoder
from nextbatch.generated import STREAMS
from nextbatch.learners import find_learner
from nextbatch.measures import Scores
from nextbatch.page import make_page
from nextbatch.protocol_list import PROTOCOLS
from nextbatch.protocols import arrange, evaluate, predict_then_learn
from nextbatch.ranks import make_board
from nextbatch.results import (
    COLUMNS,
    FILE,
    KEY,
    append_row,
    describe_machine,
    describe_versions,
    read_results,
    read_rows,
    write_rows,
)
from nextbatch.running import Job, Limits, find_undone, make_plan, mark_stale, run_job
from nextbatch.streams import RECIPES as RECIPES_FOLDER
from nextbatch.streams import DataError, cut_batches, digest_table, load_table, read_recipes
from nextbatch.table import BEGIN, END, make_table

HERE = Path(__file__).parents[1]
SOURCE = HERE / "src" / "nextbatch"
RECIPES = read_recipes()
ABRUPT = RECIPES["abrupt"]
N_REPEATED = 10  # batches of committed rows that are run again


def quick(name="abrupt"):
    return cut_batches(load_table(RECIPES[name]), RECIPES[name], quick=True)


def main_rows():
    """Return committed rows of the main protocol, one a learner and stream, as if they were verified, of 20 batches."""
    rows = {
        (row["learner"], row["stream"]): row for row in read_rows(HERE / "results") if row["protocol"] == "next-batch"
    }
    return [row | {"size": "first 20 batches", "seed": "0", "verified": "true"} for row in rows.values()]


class Recorder:
    """Passes on what a learner says and keeps it."""

    def __init__(self, learner):
        self.learner, self.said = learner, []

    def reset(self):
        self.learner.reset()

    def partial_fit(self, X, y):
        self.learner.partial_fit(X, y)

    def predict_proba(self, X):
        found = self.learner.predict_proba(X)
        self.said.append(np.asarray(found, dtype=float))
        self.classes_ = getattr(self.learner, "classes_", None)
        return found


@pytest.mark.parametrize("name", [name for name, one in RECIPES.items() if one.is_generated or one.find()])
def test_tables_have_the_digest_of_their_recipe(name):
    table = load_table(RECIPES[name])
    recipe = RECIPES[name]
    shape = (len(table), table.shape[1] - 1, table["class"].nunique())
    assert shape == (recipe.n_records, recipe.n_features, recipe.n_classes)


@pytest.mark.parametrize("recipe", [one for one in RECIPES.values() if not one.is_generated], ids=lambda one: one.name)
def test_recipes_of_real_streams_say_where_they_are_from(recipe):
    assert re.fullmatch(r"https://[\w.-]+/\S+", recipe.url)
    assert re.fullmatch("[0-9a-f]{64}", recipe.parquet_sha256)
    columns = re.split(r"[,;] ", recipe.time_column)
    assert (recipe.time_column == "file order") or recipe.kind != "file"
    if recipe.find():
        assert recipe.has_same_file()
        named = set(columns) & set(pd.read_parquet(recipe.find()).columns)
        assert named or recipe.time_column == "file order" or "left out" in recipe.time_column


def test_a_quick_run_reaches_the_end_of_the_stream_and_knows_where_rules_change():
    table = load_table(ABRUPT).assign(x0=np.arange(20_000.0))
    batches = cut_batches(table, ABRUPT, quick=True)
    assert [len(y) for _, y in batches] == [200] * 12
    starts = [int(X["x0"].iloc[0]) for X, _ in batches]
    for batch, quick_batch in zip(ABRUPT.drift, streams.quick_drift(ABRUPT), strict=True):
        change = batch * ABRUPT.batch_size
        assert starts[quick_batch] <= change < starts[quick_batch + 1]
    row = dict.fromkeys(COLUMNS, "") | {"size": "quick", "protocol": "next-batch", "stream": "abrupt", "status": "ok"}
    row |= {"learner": "prior-all", "accuracy": "0.5", "accuracy_by_batch": " ".join(["0.5"] * 11), "title": "?"}
    assert "Rules change with batch 4, 8." in make_page([row], RECIPES)
    assert "Rules change with batch 14, 27." in make_page([row | {"size": "full"}], RECIPES)


def test_a_wrong_table_is_refused_before_anything_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("NEXTBATCH_DATA", str(tmp_path))
    table = load_table(ABRUPT)
    for made, said in ((table.head(50), "has the digest"), (table.drop(columns="class"), "with a column 'class'")):
        made.to_parquet(tmp_path / "outdoor.parquet")
        run = ["run", "--streams", "outdoor", "--learners", "rf-last", "--out", str(tmp_path / "out")]
        assert cli.main(run) == 1
        assert said in capsys.readouterr().err
    (tmp_path / "outdoor.parquet").write_bytes(b"PAR1")
    assert cli.main(run) == 1
    assert "cannot be read" in capsys.readouterr().err
    assert read_rows(tmp_path / "out") == []
    monkeypatch.setattr(cli, "read_recipes", lambda hidden: {name: RECIPES[name] for name in ("outdoor", "abrupt")})
    assert cli.main(["list", "--check"]) == 1  # the others are checked all the same
    out = capsys.readouterr().out
    assert "[WRONG: the table of 'outdoor' cannot be read" in out
    assert "[digest as in the recipe]" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--quick", "--streams", "gas"], "a quick run has generated streams only"),
        (["--without", "rf-lst"], "there is no learner 'rf-lst'"),
        (["--quick", "--protocols", "per-record", "--learners", "rf-all", "--streams", "gas"], "nothing is to be run"),
    ],
)
def test_what_cannot_be_run_is_said(arguments, said, capsys, tmp_path):
    assert cli.main(["run", *arguments, "--out", str(tmp_path)]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--max-batches", "--seeds", "--jobs", "--timeout", "--memory"])
def test_numbers_are_1_or_more(option, capsys):
    for number in ("0", "-3"):
        with pytest.raises(SystemExit):
            cli.main(["run", option, number])
        assert "expected 1 or more" in capsys.readouterr().err


def test_delays_that_leave_nothing_to_predict_are_left_out():
    plan = make_plan({"rf-all": find_learner("rf-all")}, [RECIPES["noise"]], list(PROTOCOLS.values()), max_batches=6)
    assert {job.protocol.name for job in plan.jobs} == {"next-batch", "equal-time", "delay-1"}
    assert "delay-5 is left out: with 6 batches nothing is predicted." in plan.skipped


@pytest.mark.posix
def test_two_runs_do_not_write_into_one_folder(tmp_path):
    with results.lock_folder(tmp_path), pytest.raises(ValueError, match="another run writes"):
        results.lock_folder(tmp_path).__enter__()
    with results.lock_folder(tmp_path):
        pass


def test_the_list_shows_sources_and_whether_files_are_the_same(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(cli, "read_recipes", lambda hidden: {name: RECIPES[name] for name in ("abrupt", "elec2")})
    if RECIPES["elec2"].find():
        load = pd.read_parquet(RECIPES["elec2"].find())
        load.to_parquet(tmp_path / "elec2.parquet", compression="gzip")
        monkeypatch.setenv("NEXTBATCH_DATA", str(tmp_path))
    assert cli.main(["list", "--check"]) == 0
    said = capsys.readouterr().out
    assert "https://www.openml.org/d/151  by file order" in said
    assert ("[digest as in the recipe; another file]" in said) == bool(RECIPES["elec2"].find())


def test_a_changed_table_is_refused(tmp_path, monkeypatch):
    table = load_table(ABRUPT)
    recipe = dataclasses.replace(ABRUPT, name="copied", kind="time")
    monkeypatch.setenv("NEXTBATCH_DATA", str(tmp_path))
    table.to_parquet(tmp_path / "copied.parquet")
    assert digest_table(load_table(recipe)) == recipe.sha256
    table.loc[7, "x3"] += 0.001
    table.to_parquet(tmp_path / "copied.parquet")
    with pytest.raises(DataError, match=recipe.sha256):
        load_table(recipe)


def test_measures_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    classes = np.array(["a", "b", "c"], dtype=object)
    scores, truth, given = Scores([classes]), [], []
    scores.count(None, classes, classes, 0.0, 0.0)
    for _ in range(4):
        y, p = classes[rng.integers(0, 3, 50)], rng.dirichlet(np.ones(3), 50)
        scores.count(pd.DataFrame(p, columns=list(classes)), y, y, 0.1, 5.0)
        truth.append(y)
        given.append(np.clip(p, 0.001, 1))
    found = scores.summary()
    y, p = np.concatenate(truth).astype(str), np.concatenate(given)
    predicted = classes.astype(str)[p.argmax(axis=1)]
    assert found["accuracy"] == pytest.approx(accuracy_score(y, predicted))
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y, predicted))
    right = p[np.arange(len(y)), np.searchsorted(classes.astype(str), y)]
    assert found["log_loss"] == pytest.approx(-np.log(right).mean())
    assert found["log_loss"] == pytest.approx(log_loss(y, p / p.sum(axis=1, keepdims=True)), abs=0.01)


@pytest.mark.parametrize("protocol", ["next-batch", "delay-1", "delay-5", "per-record"])
@pytest.mark.parametrize("name", ["prior-last", "rf-last3"])
def test_predictions_do_not_change_with_later_batches(protocol, name):
    if protocol == "per-record" and name != "prior-last":
        pytest.skip("refits are not asked sample by sample")
    asked = PROTOCOLS[protocol]
    batches = arrange(quick(), asked, quick=True)[:10]
    last = len(batches) - 1
    X, y = batches[last]
    changed = [*batches[:last], (X, np.roll(y, 1)[::-1])]
    # A delay of d: labels of batch k may be used from batch k + d + 1 on, never before.
    with_other = [
        *batches[: last - asked.delay],
        *((X, np.full_like(y, "c0")) for X, y in batches[last - asked.delay :]),
    ]
    said = []
    for given in (batches, changed, with_other):
        recorder = Recorder(find_learner(name).make(random_state=0))
        evaluate(recorder, given, asked)
        said.append(recorder.said)
    assert len(said[0]) == last - asked.delay
    for other in said[1:]:
        assert all(np.array_equal(one, two) for one, two in zip(said[0], other, strict=True))


def test_learnt_labels_do_change_predictions():
    batches = quick()[:3]
    first = (batches[0][0], np.full_like(batches[0][1], "c0"))
    said = []
    for given in (batches, [first, *batches[1:]]):
        recorder = Recorder(find_learner("prior-all").make(random_state=0))
        evaluate(recorder, given, PROTOCOLS["next-batch"])
        said.append(recorder.said[0])
    assert said[0].shape != said[1].shape or not np.array_equal(*said)


def test_codes_of_categories_do_not_depend_on_what_comes_later():
    encoder = Encoder()
    encoder.learn(pd.DataFrame({"city": pd.Series(["Rome", "Oslo"], dtype=object)}))
    asked = pd.DataFrame({"city": pd.Series(["Oslo", "Bonn", None], dtype=object)})
    before = encoder.transform(asked)
    assert np.isnan(before[1:]).all()
    encoder.learn(pd.DataFrame({"city": pd.Series(["Bonn", "Aachen"], dtype=object)}))
    assert encoder.transform(asked)[0, 0] == before[0, 0]


@pytest.mark.parametrize(
    "name", ["hgb-last3", "lightgbm-last3", "xgboost-last3", "catboost-last3", "river-hat", "capymoa-hat", "adforest"]
)
def test_adapters_take_categories_gaps_and_empty_columns(name):
    entry = find_learner(name)
    if entry.missing():
        pytest.skip(entry.missing())
    batches = [(X.iloc[:60].assign(none=np.nan), y[:60]) for X, y in quick()[:3]]
    learner = entry.make(random_state=0)
    if name == "catboost-last3":
        learner.parameters = {"iterations": 5}
    assert evaluate(learner, batches, PROTOCOLS["next-batch"])["n_samples"] == 120


def test_every_library_has_an_extra_of_its_name(monkeypatch):
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    needed = {one.module for one in learners.BUILT_IN} - {"sklearn"}
    assert needed == set(learners.EXTRAS) == extras - {"all"}
    monkeypatch.setattr(learners.importlib.util, "find_spec", lambda name: None)
    assert find_learner("xgboost-all").missing() == "xgboost is not installed: pip install 'nextbatch[xgboost]'"


def test_code_counts_without_comments_and_docstrings_and_with_what_it_imports(tmp_path):
    package = tmp_path / "made"
    (package / "deep").mkdir(parents=True)
    files = {
        "__init__.py": "",
        "start.py": "from made import helper\nfrom made.deep import kernel\n",
        "helper.py": "A = 1\n",
        "other.py": "B = 1\n",
        "deep/__init__.py": "",
        "deep/kernel.pyx": "c",
    }

    def digest(changes):
        for name, text in (files | changes).items():
            (package / name).write_text(text)
        code._digest_file.cache_clear()
        return code.digest_files(code.find_files("made.start", tmp_path))

    before = digest({})
    assert digest({"helper.py": '"""Docs."""\nA = 1  # one\n', "other.py": "B = 2\n"}) == before
    assert digest({"helper.py": "A = 2\n"}) != before
    assert digest({"deep/kernel.pyx": "d"}) != before
    assert digest({"start.py": files["start.py"] + "import made.other\n"}) != before


def test_a_run_is_repeated_if_its_code_its_table_or_its_library_changed(tmp_path, monkeypatch):
    job = Job(PROTOCOLS["next-batch"], ABRUPT, find_learner("prior-all"), "prior-all", quick=True)
    append_row(tmp_path, run_job(job, Limits()) | {"machine": "here"})
    assert find_undone([job], tmp_path, Limits()) == {}

    def why(**changes):
        (said,) = find_undone([dataclasses.replace(job, **changes)], tmp_path, Limits()).values()
        return said

    assert why(seed=1) == "not run"
    assert why(recipe=dataclasses.replace(ABRUPT, sha256="0" * 64)) == "stale: the table is another one"
    assert why(protocol=dataclasses.replace(job.protocol, budget=0.1)) == "stale: code has changed"
    said = dataclasses.replace(job.protocol, says="In other words.")
    assert find_undone([dataclasses.replace(job, protocol=said)], tmp_path, Limits()) == {}
    (row,) = read_rows(tmp_path)
    assert [one["stale"] for one in mark_stale([row, row | {"fingerprint": "0"}], RECIPES)] == ["", "true"]
    before = job.entry.version()
    monkeypatch.setattr(type(job.entry), "version", lambda self: "scikit-learn 99")
    assert why() == f"stale: of {before}, here is scikit-learn 99"
    assert [one["stale"] for one in mark_stale([row], RECIPES)] == [""]  # the other version would still give it
    monkeypatch.setattr(type(job.entry), "version", lambda self: f"{before} (0123456789)")  # a checkout that changed
    assert [one["stale"] for one in mark_stale([row], RECIPES)] == ["true"]
    unknown = row | {"learner": "somebodys"}
    assert [one["stale"] for one in mark_stale([unknown, unknown | {"protocol": "delay-1"}], RECIPES)] == ["", "true"]


def test_a_run_is_repeated_if_it_ended_with_an_error_or_by_a_lower_limit(tmp_path):
    job = Job(PROTOCOLS["next-batch"], ABRUPT, find_learner("prior-all"), "prior-all", quick=True)
    row = dict.fromkeys(COLUMNS, "") | job.key | {"fingerprint": job.fingerprint(), "timeout": 240, "memory": 6_000}

    def why(limits, **changes):
        write_rows(tmp_path / FILE, [{name: str(value) for name, value in (row | changes).items()}])
        return list(find_undone([job], tmp_path, limits).values())

    assert why(Limits(), status="ok") == why(Limits(), status="timeout") == why(Limits(), status="memory") == []
    assert why(Limits(), status="error") == ["ended with an error"]
    assert why(Limits(), status="timeout", timeout=1) == ["ended by a lower limit: timeout 1"]
    assert why(Limits(timeout=0), status="timeout") == ["ended by a lower limit: timeout 240"]  # now there is none
    assert why(Limits(memory=7_000), status="memory") == ["ended by a lower limit: memory 6000"]
    assert why(Limits(memory=7_000), status="timeout") == []
    assert why(Limits(), status="timeout", timeout="") == []  # an earlier version did not write limits


def test_digests_of_code_are_the_same_for_all_versions_of_python():
    text = """async def f(x, /, *, y: int = 1, **z):
    'Docs.'
    return [f"{a!r:>{y}}" async for a in x if not -1 < y <= 2.5], {**z, "k": None}, ..., b"c", lambda: (yield)
class A(list, metaclass=type): pass
"""
    assert code.digest_code(text) == "ff3ec16564310ceff3bcb08721c8b887164dd849bcd0c2636516ced052099473"


def test_what_is_left_is_said_without_running_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(running, "run_job", lambda *_: pytest.fail("a run was made"))
    run = ["run", "--quick", "--streams", "noise", "--learners", "rf-last", "--out", str(tmp_path)]
    assert cli.main([*run, "--left"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^ +4  next-batch  not run, about 1 CPU minutes$", out, re.MULTILINE)
    assert "In all about 1 CPU minutes" in out
    assert cli.main([*run, "--minutes", "0"]) == 0
    assert "4 runs are left; the same command goes on with them." in capsys.readouterr().out


def test_runs_are_in_the_order_of_what_they_are_worth():
    names = ("lightgbm-tuned", "rf-all", "prior-all")
    entries = {name: find_learner(name) for name in names}
    recipes = [RECIPES["abrupt"], RECIPES["noise"]]
    jobs = make_plan(entries, recipes, list(PROTOCOLS.values()), seeds=(0, 1)).jobs
    assert list(dict.fromkeys(job.protocol.name for job in jobs))[:4] == list(PROTOCOLS)[:4]
    main = [(job.seed, job.entry.name, job.recipe.name) for job in jobs if job.protocol.name == "next-batch"]
    assert main[:4] == [(0, name, stream) for stream in ("abrupt", "noise") for name in ("rf-all", "prior-all")]
    assert main[4:6] == [(0, "lightgbm-tuned", "abrupt"), (0, "lightgbm-tuned", "noise")]
    assert {seed for seed, *_ in main[6:]} == {1}


def test_a_whole_run_leaves_out_learners_that_take_long_and_says_so(monkeypatch, capsys):
    monkeypatch.setattr(streams.Recipe, "find", lambda recipe: Path("there"))
    monkeypatch.setattr(learners.Entry, "missing", lambda entry: "")
    names = ("rf-all", "lightgbm-all", "rf-select")
    entries = {name: find_learner(name) for name in names}
    asked = entries, [RECIPES["elec2"], RECIPES["abrupt"]], [PROTOCOLS["next-batch"], PROTOCOLS["equal-time"]]
    plan = make_plan(*asked)
    made = {(job.protocol.name, job.recipe.name, job.entry.name) for job in plan.jobs}
    assert {one[1:] for one in made if one[0] == "equal-time"} == {("elec2", "rf-all"), ("abrupt", "rf-all")}
    (said,) = plan.skipped
    assert said.startswith("5 runs are left out; --everything runs them, too.")
    assert "by the protocol next-batch only, since they take long: lightgbm-all, rf-select." in said
    assert "Of these on streams of at most 20,000 samples only: rf-select." in said
    main = {one[1:] for one in made if one[0] == "next-batch"}
    assert main == {(stream, name) for stream in ("elec2", "abrupt") for name in names} - {("elec2", "rf-select")}
    everything = make_plan(*asked, everything=True)
    assert (len(everything.jobs), everything.skipped) == (12, [])
    assert cli.main(["list"]) == 0
    assert "+ Of these on streams of at most 20,000 samples only: catboost-last3," in (out := capsys.readouterr().out)
    assert "+ Not run at all: catboost-all." in out


def test_the_readme_says_what_a_whole_run_leaves_out():
    text = (HERE / "README.md").read_text(encoding="utf-8")
    costly = [entry for entry in learners.BUILT_IN if entry.is_costly]
    for opening, names in {
        "- Costly learners run": {one.name for one in costly if one.max_samples != 0},
        "- Of these,": {one.name for one in costly if one.max_samples == learners.SHORT},
        "- `catboost-all` does not run": {one.name for one in costly if one.max_samples == 0},
    }.items():
        (item,) = re.findall(rf"^{re.escape(opening)}.*?(?=^- |^$)", text, flags=re.MULTILINE | re.DOTALL)
        assert set(re.findall(r"`([\w-]+)`", item)) - {"next-batch"} == names


def test_costs_are_estimated_from_runs_that_are_there():
    def seconds(*rows, protocol="next-batch", timeout=240, **job):
        made = running.Job(PROTOCOLS[protocol], RECIPES["abrupt"], find_learner("rf-last"), "rf-last", **job)
        return next(iter(estimate_seconds([made], rows, timeout).values())) - START

    row = dict.fromkeys(COLUMNS, "") | {"learner": "rf-last", "protocol": "next-batch", "stream": "noise"}
    row |= {"status": "ok", "seconds_per_batch": "1", "n_batches": "10", "n_samples": "1000"}
    here = row | {"stream": "abrupt", "seconds_per_batch": ".5"}
    assert seconds() == pytest.approx(20 * SECONDS["rf-last"])
    assert seconds(row) == pytest.approx(20 * 10)
    assert seconds(row, here) == pytest.approx(20 * 5)
    assert seconds(here, here | {"protocol": "delay-1", "seconds_per_batch": ".1"}, protocol="delay-1") == 20
    assert seconds(row, timeout=60) == 60
    assert seconds(row, max_batches=4) == pytest.approx(2 * 10)
    assert seconds(row, protocol="equal-time") == pytest.approx(20 * 1.5 * 0.3)
    assert seconds(here | {"status": "timeout"}) == 240


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stream", [name for name, one in RECIPES.items() if one.is_generated or one.find()])
def test_adforest_does_what_its_committed_row_says(stream):
    entry = find_learner("adforest")
    if entry.missing():
        pytest.skip(entry.missing())
    rows = {(row["learner"], row["stream"], row["protocol"], row["seed"]): row for row in read_rows(HERE / "results")}
    row = rows["adforest", stream, "next-batch", "0"]
    batches = cut_batches(load_table(RECIPES[stream]), RECIPES[stream], max_batches=N_REPEATED)
    found = evaluate(entry.make(random_state=0), batches, PROTOCOLS["next-batch"])
    again = "NEXTBATCH_DATA=folder nextbatch run --learners adforest --out benchmarks/nextbatch/results"
    for measure in ("accuracy_by_batch", "log_loss_by_batch"):
        assert found[measure] == row[measure].split()[: N_REPEATED - 1], f"{stream}: a row of other code. Run: {again}"


def learner_file(folder, body):
    path = folder / "mine.py"
    path.write_text(
        "import pandas as pd\nclass Mine:\n    name = 'mine'\n    def reset(self): pass\n"
        f"    def partial_fit(self, X, y):\n        {body}\n"
        "    def predict_proba(self, X): return pd.DataFrame({'c0': [1.0] * len(X)})\n"
    )
    return f"{path}:Mine"


def run_mine(folder, body, limits):
    asked = learner_file(folder, body)
    return run_job(Job(PROTOCOLS["next-batch"], ABRUPT, find_learner(asked), asked, quick=True), limits)


def test_limits_end_a_run_and_errors_are_told_without_paths(tmp_path):
    assert run_mine(tmp_path, "while True: pass", Limits(timeout=5))["status"] == "timeout"
    hungry = "import time; self.held = bytearray(b'x' * 900_000_000); time.sleep(60)"
    assert run_mine(tmp_path, hungry, Limits(memory=700))["status"] == "memory"
    row = run_mine(tmp_path, "raise KeyError('one\\ntwo')", Limits())
    assert row["status"] == "error"
    assert str(tmp_path) not in row["says"]


def test_errors_name_the_learners_own_line_and_what_was_printed(tmp_path):
    row = run_mine(tmp_path, "print('here'); X['nothing']", Limits())
    assert row["says"] == "KeyError: 'nothing' (mine.py:6)"
    assert "here" in row["printed"]
    assert "Traceback" in row["printed"]
    for code_, said in (("os._exit(3)", "exit code 3"), ("raise SystemExit(0)", "exit code 0")):
        row = run_mine(tmp_path, f"import os; {code_}", Limits())
        assert (row["status"], said in row["says"]) == ("error", True)


@pytest.mark.parametrize("name", ["rf-all", "../odd", "two words", ""])
def test_names_of_learners_are_new_and_can_be_folders(name, tmp_path):
    asked = learner_file(tmp_path, "pass")
    path = Path(asked.rpartition(":")[0])
    path.write_text(path.read_text().replace("'mine'", repr(name)))
    with pytest.raises(ValueError, match="expected letters, digits"):
        find_learner(asked)
    path.write_text("import nothing_of_that_name")
    with pytest.raises(ValueError, match="cannot be imported"):
        find_learner(asked)


def starts(what, folder, *, is_daemon=False):
    """Return code of a learner's partial_fit that starts another Python, whose number it writes down."""
    (folder / "child.py").write_text(f"import os, time\n{what}\n")
    return (
        f"import subprocess, sys, time; child = subprocess.Popen([sys.executable, {str(folder / 'child.py')!r}], "
        f"start_new_session={is_daemon}); open({str(folder / 'pid')!r}, 'w').write(str(child.pid))"
    )


def is_running(pid):
    return any(one.pid == pid for one in usage.read_processes())


@pytest.mark.skipif(not usage.HAS_PROC, reason="what processes use is read from /proc")
@pytest.mark.parametrize("is_daemon", [False, True])
@pytest.mark.parametrize(
    ("what", "then", "limits", "status"),
    [
        ("while True: pass", "time.sleep(600)", Limits(timeout=6), "timeout"),
        ("held = bytearray(b'x' * 900_000_000); time.sleep(600)", "time.sleep(600)", Limits(memory=700), "memory"),
        ("time.sleep(600)", "pass", Limits(), "ok"),  # what is still there when the run is over ends, too
    ],
)
def test_processes_that_a_learner_starts_are_within_its_limits(what, then, limits, status, is_daemon, tmp_path):
    body = f"{starts(what, tmp_path, is_daemon=is_daemon)}; {then}"
    assert run_mine(tmp_path, body, limits)["status"] == status
    assert not is_running(int((tmp_path / "pid").read_text()))


@pytest.mark.skipif(not usage.HAS_PROC, reason="what processes use is read from /proc")
def test_a_run_that_is_terminated_ends_its_workers(tmp_path):
    pid = tmp_path / "pid"
    asked = learner_file(tmp_path, f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(600)")
    command = ["run", "--quick", "--streams", "noise", "--learners", asked, "--jobs", "4", "--out", str(tmp_path / "o")]
    env = os.environ | {"PYTHONPATH": str(HERE / "src")}
    run = subprocess.Popen([sys.executable, "-m", "nextbatch.cli", *command], env=env, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not (pid.is_file() and pid.read_text()) and time.monotonic() < until:
        time.sleep(0.1)
    run.terminate()
    assert run.wait(30) == 130
    assert not is_running(int(pid.read_text()))


def test_seconds_and_memory_of_processes_that_a_learner_starts_count():
    def learn(*_):
        subprocess.run([sys.executable, "-c", "sum(range(20_000_000))"], check=True)

    batches = [(pd.DataFrame({"x": [0.0]}), np.array(["a"], dtype=object))] * 2
    steps = list(predict_then_learn(lambda X: None, learn, lambda found, y: None, batches))
    assert min(step.learn_seconds for step in steps) > 0.1


@pytest.mark.skipif(not usage.HAS_PROC, reason="what processes use is read from /proc")
def test_memory_is_that_of_each_batch_whatever_was_used_before():
    code = """
import numpy as np, pandas as pd
from nextbatch.protocol_list import PROTOCOLS
from nextbatch.protocols import evaluate

class Hungry:
    def reset(self):
        self.n = 0
    def partial_fit(self, X, y):
        held = np.ones({3: 80, 4: 40}.get(self.n, 0) * 2**17)
        self.n += 1
        if self.n == 6:
            self.kept = np.ones(60 * 2**17)
    def predict_proba(self, X):
        return pd.DataFrame({"a": np.ones(len(X))})

before = [np.ones(2**24), b"x" * 2**20]  # 128 MB are used and given back before the first batch
del before
batches = [(pd.DataFrame({"x": np.zeros(50)}), np.array(["a"] * 50, dtype=object))] * 8
found = evaluate(Hungry(), batches, PROTOCOLS["next-batch"])
print(found["peak_mb"], *found["mb_by_batch"])
"""
    run = [sys.executable, "-c", code]
    said = subprocess.run(
        run, check=True, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(HERE / "src")}
    )
    peak, *by_batch = map(float, said.stdout.split())
    assert by_batch == pytest.approx([0, 0, 80, 40, 60, 60, 60], abs=8)  # batch 0 is only learnt
    assert peak == pytest.approx(80, abs=8)


@pytest.mark.parametrize("path", ["STATUS", "RESET_PEAK"])
def test_memory_is_not_known_where_the_system_does_not_tell(path, tmp_path, monkeypatch):
    monkeypatch.setattr(usage, path, tmp_path / "nothing" / "here")
    found = evaluate(find_learner("prior-all").make(random_state=0), quick()[:3], PROTOCOLS["next-batch"])
    assert (found["peak_mb"], found["mb_by_batch"]) == (None, None)


def test_it_can_be_imported_where_there_is_no_posix():
    code = (
        "import sys, os, subprocess, sklearn.metrics, pandas, scipy.stats\n"
        "sys.platform = 'win32'\n"
        "sys.modules |= {'resource': None, 'fcntl': None}\n"
        "from nextbatch import cli, page, results, running, submissions, usage, worker\n"
        "assert usage.children_seconds() == 0.0\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONPATH": str(HERE / "src")})


def test_rows_say_all_versions_and_a_learner_in_a_file_has_none_of_a_library(tmp_path):
    asked = learner_file(tmp_path, "pass")
    assert re.fullmatch(r"code [0-9a-f]{10}", find_learner(asked).version())
    assert find_learner("rf-all").version().startswith("scikit-learn ")
    parts = re.fullmatch(r"nextbatch ([\d.]+), NumPy (\S+), pandas (\S+), scikit-learn (\S+)", describe_versions())
    assert parts[2] == np.__version__


def test_fingerprints_are_of_what_computes(monkeypatch):
    def digest(name):
        running._digest_common.cache_clear()
        return Job(PROTOCOLS["delay-1"], ABRUPT, find_learner(name), name).fingerprint()

    names = ("prior-all", "prior-last", "rf-select", "rf-all", "lightgbm-tuned", "river-hat")
    before = {name: digest(name) for name in names}
    assert len(set(before.values())) == len(names)
    changed = set()

    def digest_changed(files):
        files = {file.relative_to(SOURCE).as_posix(): file for file in files}
        return code.digest_files(files.values()) + ("changed" if changed & set(files) else "")

    monkeypatch.setattr(running, "digest_files", digest_changed)
    monkeypatch.setattr(learners, "digest_files", digest_changed)
    learner = {
        "learners/refits.py": {"rf-select", "rf-all", "lightgbm-tuned"},
        "learners/streaming.py": {"river-hat"},
        "learners/trivial.py": {"prior-all", "prior-last"},
    }
    common = ("batches", "encoding", "learners/base", "measures", "protocols", "usage")
    expected = learner | {f"{name}.py": set(names) for name in common}
    for file in SOURCE.rglob("*.py"):
        changed = {file.relative_to(SOURCE).as_posix()}
        found = {name for name in names if digest(name) != before[name]}
        assert found == expected.get(*changed, set()), file
    running._digest_common.cache_clear()
    other = dataclasses.replace(PROTOCOLS["delay-1"], streams=("abrupt",), says="?", with_costly=True)
    changed = set()
    assert Job(other, ABRUPT, find_learner("rf-all"), "rf-all").fingerprint() == before["rf-all"]


def test_tables_of_earlier_versions_are_read_and_lines_that_are_cut_are_named(tmp_path):
    (row, *_) = read_rows(HERE / "results")
    write_rows(tmp_path / FILE, [row])
    lines = (tmp_path / FILE).read_text().splitlines()
    cells = [",".join(line.split(",")[:12]) for line in lines]  # up to a column before any with commas
    (tmp_path / FILE).write_text("\n".join(cells))
    (found,) = read_rows(tmp_path)
    assert (found["accuracy"], found["timeout"]) == (row["accuracy"], "")
    (tmp_path / FILE).write_text("\n".join([cells[0], cells[1], "full,next-batch"]))
    with pytest.raises(ValueError, match=r"line 3 of .* is not a whole row"):
        read_rows(tmp_path)
    (tmp_path / FILE).write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="the columns learner, protocol, seed, size, stream are missing"):
        read_rows(tmp_path)


def test_results_survive_a_round_trip(tmp_path):
    rows = read_rows(HERE / "results")
    write_rows(tmp_path / FILE, rows)
    assert sorted(read_rows(tmp_path), key=str) == sorted(rows, key=str)
    append_row(tmp_path, rows[0] | {"accuracy": 0.25})
    key = [rows[0][name] for name in KEY]
    assert [row["accuracy"] for row in read_rows(tmp_path) if [row[name] for name in KEY] == key] == ["0.25"]


def test_the_readmes_learner_is_run_resumed_submitted_verified_and_shown(tmp_path, monkeypatch, capsys):
    text = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]
    assert len([line for line in text.splitlines() if line.strip()]) <= 20
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(text, encoding="utf-8")
    run = ["run", "--quick", "--streams", "abrupt,noise", "--learners", "rf-last", "--learner", "mine.py:LastMean"]
    assert cli.main(run) == 0
    assert "10 runs, 0 of them done" in capsys.readouterr().out
    monkeypatch.setattr(running, "run_job", lambda *_: pytest.fail("a run was repeated"))
    assert cli.main(run) == 0
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert cli.main(["page"]) == 0
    page = Path("nextbatch-results/index.html").read_text(encoding="utf-8")
    assert "last-mean" in page
    assert "adforest was not run here" in page
    assert cli.main(["submit", "mine.py:LastMean"]) == 0
    folder = Path("submissions/last-mean")
    assert {row["verified"] for row in read_rows(folder)} == {"false"}
    assert cli.main(["verify", str(folder)]) == 0
    assert {row["verified"] for row in read_rows(folder)} == {"true"}
    write_rows(folder / FILE, [row | {"predictions_sha256": "0"} for row in read_rows(folder)])
    assert cli.main(["verify", str(folder)]) == 1


@pytest.fixture(scope="module")
def submitted(tmp_path_factory):
    """Return a submission's folder, and the result of the run that is in it."""
    folder = tmp_path_factory.mktemp("submitted")
    job = Job(PROTOCOLS["next-batch"], ABRUPT, find_learner("prior-all"), "prior-all", quick=True)
    found = run_job(job, Limits()) | {"machine": describe_machine()}
    append_row(folder, found)
    return submissions.make_submission("prior-all", folder, folder), found


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("accuracy", "0.99", "accuracy was handed in as 0.99, now it is 0."),
        ("log_loss", "0.1", "log_loss was handed in as 0.1, now it is"),
        ("n_samples", "2000", "n_samples was handed in as 2000"),
        ("tuned", "by hand", "tuned was handed in as by hand, now it is nothing"),
        ("version", "scikit-learn 0.1", ""),
        ("accuracy_by_batch", " ".join(["1.000"] * 11), "accuracy_by_batch was handed in as 1.000 at point 1"),
    ],
)
def test_a_submission_with_other_figures_than_its_code_gives_is_not_verified(
    name, value, said, submitted, tmp_path, monkeypatch
):
    folder, found = submitted
    monkeypatch.setattr(submissions, "run_job", lambda *_: found)
    shutil.copytree(folder, copy := tmp_path / "prior-all")
    told = []
    write_rows(copy / FILE, [row | {name: value} for row in read_rows(folder)])
    assert submissions.verify(copy, say=told.append) == (not said)
    assert said in told[0]
    assert [row["verified"] for row in read_rows(copy)] == ["false" if said else "true"]


def test_probabilities_may_differ_in_their_last_digits_and_versions_that_differ_are_named(submitted):
    folder, found = submitted
    (row,) = read_rows(folder)
    assert submissions.find_differences(row, found | {"log_loss": found["log_loss"] + 0.00005}) == []
    assert submissions.find_differences(row, found | {"log_loss": found["log_loss"] + 0.0002}) != []
    assert submissions.find_versions(row, found) == []
    (said,) = submissions.find_versions(row, found | {"version": "scikit-learn 99"})
    assert said == f"it was made with {row['version']}, here is scikit-learn 99"


def test_the_page_marks_streams_and_says_where_adforest_is_not_first():
    rows = main_rows()
    page = make_page(rows, RECIPES)
    assert "elec2*" in page
    assert "football*" not in page
    assert "It is not first on" in page
    # Made the worst on a stream where it is the first, it must be named there.
    board = make_board(rows, "next-batch", list(RECIPES))
    won = next(name for name in board.streams if RECIPES[name].chosen_on and board.winner(name) == "adforest")
    is_there = [(row["learner"], row["stream"]) == ("adforest", won) for row in rows]
    worse = [row | {"accuracy": "0.01"} if found else row for found, row in zip(is_there, rows, strict=True)]
    assert f"{won}* (" not in make_table(rows, RECIPES)
    assert f"{won}* (" in make_table(worse, RECIPES)


def test_one_longer_run_hides_no_others():
    rows = main_rows()
    table = make_table(rows, RECIPES)
    longer = next(row for row in rows if (row["learner"], row["stream"]) == ("adforest", "elec2")) | {"size": "full"}
    assert make_table([*rows, longer | {"accuracy": "1"}], RECIPES) == table
    every = [row | {"size": "full"} for row in rows if row["stream"] == "elec2"]
    assert "first 20 batches of 24 streams, the whole of 1 stream" in make_table([*rows, *every], RECIPES)
    page = make_page([*rows, longer], RECIPES)
    assert f"{len(rows)} runs" in page


def test_all_learners_are_unverified_until_runs_of_theirs_are_repeated(tmp_path):
    rows = main_rows()
    write_rows(tmp_path / "results" / FILE, rows)
    table = make_table([row | {"verified": "false"} for row in rows], RECIPES)
    marked = re.findall(r"^\| [a-z]\S+( \(unverified\))? \| \d", table, re.MULTILINE)
    assert len(marked) > 10
    assert all(marked)
    mine = [row | {"learner": "mine", "verified": "false"} for row in rows if row["learner"] == "rf-all"]
    for verified, marked in (("false", "| mine (unverified) |"), ("true", "| mine |")):
        given = [mine[0] | {"verified": verified}, mine[1] | {"verified": verified}, *mine[2:]]
        write_rows(tmp_path / "submissions" / "mine" / FILE, given)
        assert marked in make_table(read_results(tmp_path / "results"), RECIPES)
        page = make_page(read_results(tmp_path / "results"), RECIPES)
        page = page.partition('<section class="board"')[2].partition("</section>")[0]
        assert ('title="not repeated">unverified' in page) == (verified == "false")


def test_a_submission_changes_nobody_elses_results(tmp_path):
    rows = main_rows()
    write_rows(tmp_path / "results" / FILE, rows)
    boards = []
    for family in ("refit", "trivial", ""):
        if family:
            mine = [row | {"learner": "mine", "accuracy": "1", "family": family} for row in rows[:1]]
            forged = [row | {"seed": "1", "accuracy": "0"} for row in rows if row["learner"] == "rf-all"]
            write_rows(tmp_path / "submissions" / "mine" / FILE, [*mine, *forged])
            write_rows(tmp_path / "submissions" / "rf-all" / FILE, forged)
        else:
            shutil.rmtree(tmp_path / "submissions")
        found = make_board(read_results(tmp_path / "results"), "next-batch", list(RECIPES))
        boards.append({line.name: line for line in found.lines})
        assert family == "" or boards[-1].pop("mine").family == "yours"
    for board in boards:  # shown beside a submission's learner, but the same
        assert {name: (line.family, line.means, line.regret) for name, line in board.items()} == {
            name: (line.family, line.means, line.regret) for name, line in boards[-1].items()
        }


def test_submit_refuses_runs_of_other_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = learner_file(tmp_path, "pass")
    append_row(Path("r"), run_mine(tmp_path, "pass", Limits()) | {"machine": "here"})
    assert submissions.make_submission(asked, Path("r"), Path("s")).name == "mine"
    learner_file(tmp_path, "len(X)")
    with pytest.raises(ValueError, match="of other code or of another version"):
        submissions.make_submission(asked, Path("r"), Path("s"))


def test_a_learner_that_failed_is_marked_and_never_first():
    rows = [row for row in main_rows() if row["family"] == "trivial" or row["learner"] == "rf-last"]
    rows = [row | ({"status": "error", "says": "?"} if row["learner"] == "rf-last" else {}) for row in rows]
    rows = [row | {"accuracy": "0.3" if row["learner"] == "prior-all" else "0.2"} for row in rows]
    table = make_table(rows, RECIPES)
    assert "| rf-last (failed) |" in table
    assert "**" not in table
    board = make_board(rows, "next-batch", list(RECIPES))
    assert {board.winner(stream) for stream in board.streams} == {"prior-all"}
    page = make_page(rows, RECIPES).partition('<section class="board"')[2].partition("</section>")[0]
    assert 'title="19 of 19 streams">failed' in page  # real streams are shown first
    assert page.count(">first<") == 1
    with pytest.raises(ValueError, match="that went through"):
        make_table([row for row in rows if row["learner"] == "rf-last"], RECIPES)


def test_verify_refuses_runs_of_others_and_forgets_marks_made_by_hand(submitted, tmp_path, monkeypatch):
    folder, found = submitted
    monkeypatch.setattr(submissions, "run_job", lambda *_: found)
    copy = tmp_path / "prior-all"
    shutil.copytree(folder, copy)
    (row,) = read_rows(folder)
    marked = row | {"stream": "noise", "verified": "true"}
    write_rows(copy / FILE, [row, marked])
    assert submissions.verify(copy, ["abrupt"], say=lambda said: None)
    assert {one["stream"]: one["verified"] for one in read_rows(copy)} == {"abrupt": "true", "noise": "false"}
    write_rows(copy / FILE, [row, row | {"learner": "rf-all"}])
    with pytest.raises(ValueError, match="runs of 'prior-all' only, not of rf-all"):
        submissions.verify(copy, ["abrupt"])
    folder = tmp_path / "results"  # no submission: all learners that are installed, and other marks stay
    write_rows(folder / FILE, [row, marked])
    assert submissions.verify(folder, ["abrupt"], say=lambda said: None)
    assert {one["verified"] for one in read_rows(folder)} == {"true"}
    (copy / "submission.toml").write_text('learner = "../mine.py:Mine"\n')
    with pytest.raises(ValueError, match="expected a file in the same folder"):
        submissions.verify(copy, ["abrupt"])


def test_rows_of_equal_time_stand_beside_the_others():
    rows = main_rows()
    limited = [row | {"protocol": "equal-time", "accuracy": "0.123"} for row in rows]
    page = make_page([*rows, *limited], RECIPES)
    board = page.partition('<section class="board"')[2].partition("</section>")[0]
    assert board.count(">equal time</span>") == len({row["learner"] for row in rows if row["family"] != "trivial"})
    assert '<td data-value="rf-all, equal time"><span title=' in board
    table = make_table([*rows, *limited], RECIPES)
    assert "| real, equal time (19) |" in table
    assert re.search(r"^\| rf-all.* \| (\*\*)?\.123(\*\*)? \| [\d.]+ \|$", table, re.MULTILINE)


def test_stale_rows_are_marked(monkeypatch):
    current = [row | {"stale": ""} for row in main_rows()]
    old = [row | ({"stale": "true"} if row["learner"] == "rf-all" else {}) for row in current]
    for rows, n in ((current, 0), (old, 1)):
        for module in (page_module, table_module):
            monkeypatch.setattr(module, "mark_stale", lambda given, recipes: given)
        assert make_table(rows, RECIPES).count("| rf-all (stale) |") == n
        assert ("Stale: of code that has changed since" in make_table(rows, RECIPES)) == bool(n)
        assert ('title="25 of 25 streams">stale' in make_page(rows, RECIPES)) == bool(n)


def test_tuned_learners_are_marked_and_rules_are_never_filtered():
    rows = [row | {"tuned": "of two" if row["learner"] == "rf-all" else ""} for row in main_rows()]
    assert re.findall(r"\| (\S+) \(tuned", make_table(rows, RECIPES)) == ["rf-all"]
    page = make_page(rows, RECIPES)
    marked = re.findall(
        r'<td data-value="([^"]+)"><span[^>]*>[^<]*</span> <span class="dim" title="of two">tuned', page
    )
    assert set(marked) == {"rf-all"}
    for rule in ("no-change", "prior-last", "prior-all"):
        assert re.search(rf"\| {rule} [|(]", make_table(rows, RECIPES))
        assert f'data-family="trivial"><td data-value="{rule}">' in page


def test_rules_are_run_whatever_is_asked_for(tmp_path):
    run = ["run", "--quick", "--streams", "noise", "--learners", "rf-last", "--out", str(tmp_path)]
    assert cli.main([*run, "--without", "prior-all,no-change"]) == 0
    assert {row["learner"] for row in read_rows(tmp_path)} >= {"no-change", "prior-last", "prior-all", "rf-last"}


def test_hidden_streams_are_run_by_those_who_have_the_folder(tmp_path, monkeypatch):
    hidden, out = tmp_path / "hidden", tmp_path / "out"
    hidden.mkdir()
    load_table(ABRUPT).to_parquet(hidden / "secret.parquet")
    text = (RECIPES_FOLDER / "abrupt.toml").read_text(encoding="utf-8")
    (hidden / "secret.toml").write_text(text, encoding="utf-8")
    run = ["run", "--streams", "secret", "--learners", "", "--max-batches", "4", "--out", str(out)]
    assert cli.main(run) == 1  # a stream that nobody knows
    assert cli.main([*run, "--hidden", str(hidden)]) == 0
    rows = read_rows(out)
    assert {(row["stream"], row["protocol"], row["status"]) for row in rows} == {("secret", "next-batch", "ok")}
    assert cli.main(["page", str(out)]) == 1  # not without its recipe
    monkeypatch.setenv("NEXTBATCH_HIDDEN", str(hidden))
    assert cli.main(["page", str(out)]) == 0
    assert "hidden from those who submit" in (out / "index.html").read_text(encoding="utf-8")


def test_hidden_streams_are_drawn_from_the_seed_and_run(tmp_path, monkeypatch, capsys):
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert cli.main(["hidden", str(tmp_path / folder), "--seed", str(seed)]) == 0
    digests = [[read_recipes(str(tmp_path / one))[f"hidden-{name}"].sha256 for name in STREAMS] for one in "abc"]
    assert digests[0] == digests[1]
    assert not set(digests[0]) & set(digests[2])
    assert not set(digests[0]) & {one.sha256 for one in RECIPES.values()}
    monkeypatch.setenv("NEXTBATCH_HIDDEN", str(tmp_path / "a"))
    out = tmp_path / "out"
    run = ["run", "--streams", "hidden-abrupt", "--learners", "", "--max-batches", "3", "--out", str(out)]
    assert cli.main(run) == 0
    assert {row["status"] for row in read_rows(out)} == {"ok"}


def test_the_readme_shows_what_the_results_give():
    text = (HERE.parents[1] / "README.md").read_text(encoding="utf-8")
    shown = text.partition(BEGIN)[2].partition(END)[0].strip()
    again = "nextbatch table benchmarks/nextbatch/results --write README.md"
    # Rows of code that has changed since are marked, here and there: what is not run again is said to be stale.
    assert shown == make_table(read_results(HERE / "results"), RECIPES), f"Run: {again}"
    assert re.search(
        r"(the whole|first \d+ batches) of .+, \d seeds?( \(.+\))?, run 20\d\d-\d\d-\d\d.* with adforest \d", shown
    )


def test_the_page_in_a_browser(tmp_path):
    browsing = pytest.importorskip("browsing")
    path = tmp_path / "index.html"
    path.write_text(make_page(read_results(HERE / "results"), RECIPES), encoding="utf-8")
    with browsing.chromium() as browser, browsing.visiting(browser) as visit:
        for width in (browsing.DESK, browsing.PHONE):
            for scheme in ("light", "dark"):
                seen = visit(path.as_uri(), width=width, scheme=scheme)
                page = seen.page
                assert seen.console == []
                assert seen.outside(path.as_uri()) == []
                assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
                page.screenshot(path=str(tmp_path / f"{scheme}-{width}.png"))
        page = visit(path.as_uri()).page
        page.locator("section.board:not([hidden]) th button", has_text="accuracy").first.click()
        cells = page.locator("section.board:not([hidden]) tbody tr td:nth-child(3)")
        values = [
            float(text)
            for text in cells.first.locator("xpath=ancestor::tbody").locator("tr td:nth-child(3)").all_inner_texts()
        ]
        assert values == sorted(values, reverse=True)  # the best on top at the first click
        assert page.evaluate("getComputedStyle(document.querySelector('svg text')).fontSize") == "12px"
        page.select_option("#kind", "generated")
        assert page.locator("section.board:not([hidden]) h2").inner_text().endswith("generated, drift known")
        assert page.locator("details.stream:not([hidden])").count() == 6
