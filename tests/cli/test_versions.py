"""Models that are kept, gone back to, compared, and made to forget."""

import os
import stat

import pytest

import adforest
from adforest.cli.version_files import keep_version, versions_of
from adforest.origins import origins_of
from alert_receivers import rule, rules
from cli_commands import SMALL, content, json_lines, month, run, write_months
from table_files import write


@pytest.fixture
def folder(tmp_path):
    return write_months(tmp_path / "months", 5, n=120)


@pytest.fixture
def model(capsys, folder):
    """A model of five batches, of which two before the last are kept."""
    path = folder.parent / "m.adf"
    command = ("learn", folder, "-t", "rent", "-m", path, *SMALL, "--keep", "2")
    assert run(capsys, *command)[::2] == (0, "")
    return path


def n_batches(path):
    return len(adforest.load(path).history_)


@pytest.mark.posix
def test_so_many_models_are_kept_and_no_more(capsys, folder, model):
    kept = versions_of(model)
    assert [one.path.name for one in kept] == ["batch-000003.adf", "batch-000004.adf"]
    assert [n_batches(one.path) for one in kept] == [3, 4]
    assert [one.path.stat().st_nlink for one in kept] == [1, 1], "nothing shares its bytes with the newest"
    assert model.stat().st_nlink == 1
    assert {stat.S_IMODE(one.path.stat().st_mode) for one in kept} == {0o600}
    assert content(kept[0].path) == content(learnt_three(capsys, folder))


def learnt_three(capsys, folder):
    path = folder.parent / "three.adf"
    assert run(capsys, "learn", folder / "month-[123].csv", "-t", "rent", "-m", path, *SMALL)[0] == 0
    return path


@pytest.mark.posix
def test_what_a_killed_process_left_is_no_other_name(capsys, folder, model):
    """Killed between keeping the model and replacing it, the newest is kept and there is nothing to warn of."""
    keep_version(model, 5)
    assert model.stat().st_nlink == 2
    write(month(9, 120), folder / "month-9.csv")
    assert run(capsys, "learn", folder, "-m", model, "--keep", "3")[::2] == (0, "")
    assert [one.batch for one in versions_of(model)] == [3, 4, 5]


def test_versions_are_listed(capsys, model):
    code, out, _ = run(capsys, "versions", model)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[2:5]] == ["3", "4", "5"]
    (told,) = json_lines(run(capsys, "versions", model, "--json")[1])
    assert [(one["batches"], one["records"], one["is_current"]) for one in told["versions"]] == [
        (3, 360, False),
        (4, 480, False),
        (5, 600, True),
    ]


def test_going_back_and_learning_on(capsys, folder, model):
    expected = content(model)
    code, out, _ = run(capsys, "rollback", model, "--to", "3")
    assert code == 0
    assert out.splitlines()[0] == f"{model}: 3 batches, was 5 batches, kept as a version"
    assert content(model) == content(learnt_three(capsys, folder))
    assert [one.batch for one in versions_of(model)] == [3, 4, 5]
    assert "learnt 2 batches" in run(capsys, "learn", folder, "-m", model)[1]
    assert content(model) == expected


def test_going_back_without_learning_again(capsys, folder, model):
    assert run(capsys, "rollback", model, "--pass-over")[0] == 0
    assert n_batches(model) == 4
    assert run(capsys, "learn", folder, "-m", model)[1].startswith("nothing new to learn")


def test_going_back_where_nothing_is_kept(capsys, model):
    code, _, err = run(capsys, "rollback", model, "--to", "1")
    assert code == 1
    assert err.startswith(f"adforest: no model of '{model}' is kept that learnt 1 batches; those kept learnt 3, 4.")


def test_what_was_learnt_between_two_models(capsys, folder, model):
    older = versions_of(model)[0].path
    (told,) = json_lines(run(capsys, "diff", older, model, folder / "month-5.csv", "--json")[1])
    assert told["batches_in_common"] == 3
    assert (told["only"]["first"]["batches"], told["only"]["second"]["batches"]) == (0, 2)
    assert told["sizes"]["records"] == [360, 600]
    answers = told["answers"]
    X = adforest.reading.read_batches(folder / "month-5.csv", target="rent")
    table = next(X).X
    differ = adforest.load(older).predict(table) != adforest.load(model).predict(table)
    assert (answers["records"], answers["differ"]) == (120, differ.sum())
    assert sum(one["records"] for one in answers["pairs"]) == differ.sum() > 0
    code, out, _ = run(capsys, "diff", older, model, folder / "month-5.csv")
    assert code == 0
    assert "3 batches in common" in out
    assert f"{differ.sum()} of 120 records are predicted differently" in out
    same = json_lines(run(capsys, "diff", model, model, folder / "month-5.csv", "--json")[1])[0]
    assert (same["answers"]["differ"], same["answers"]["mean_probability_difference"]) == (0, 0.0)


@pytest.mark.parametrize(("column", "value"), [("street", "Ring"), ("rooms", "3")])
def test_records_are_dropped_by_the_value_of_a_column(capsys, folder, model, column, value):
    older = versions_of(model)[0].path

    def n_there(path):
        learnt_here = adforest.load(path)._model
        place = list(learnt_here.encoder.names).index(column)
        state = learnt_here.state
        code = float(value) if column == "rooms" else learnt_here.encoder.category_values(place).index(value)
        waiting = 0 if state.pending is None else (state.pending.X[:, place] == code).sum()
        return (state.memory.matrix()[:, place] == code).sum() + waiting

    before = {path: n_there(path) for path in (older, model)}
    assert min(before.values()) > 0
    code, out, _ = run(capsys, "forget", model, "--column", column, "--value", value)
    assert code == 0
    assert f"{model}: {before[model]} records dropped from memory, " in out
    assert "Trees that were grown from them stay" in out
    assert {path: n_there(path) for path in (older, model)} == {older: 0, model: 0}
    write(month(9, 120), folder / "month-9.csv")
    assert run(capsys, "learn", folder, "-m", model)[0] == 0, "it learns on"


def test_records_that_wait_are_dropped_too(capsys, tmp_path):
    months = write_months(tmp_path / "months", 2, n=600)
    write(month(3, 10), months / "month-3.csv")
    path = tmp_path / "m.adf"
    assert run(capsys, "learn", months, "-t", "rent", "-m", path, *SMALL)[0] == 0
    waiting = adforest.load(path)._model.state.pending
    assert len(waiting) == 10
    (told,) = json_lines(run(capsys, "forget", path, "--column", "id", "--value", "3001", "--json")[1])
    assert told["records_dropped"] == 1
    assert len(adforest.load(path)._model.state.pending) == 9


def test_what_cannot_be_forgotten(capsys, model):
    code, _, err = run(capsys, "forget", model, "--column", "name", "--value", "x")
    assert code == 1
    assert "which this model did not learn from; expected one of 'id', 'size', 'rooms', 'street'" in err
    code, _, err = run(capsys, "forget", model, "--column", "rooms", "--value", "many")
    assert code == 1
    assert "column 'rooms' holds numbers; --value is ['many']" in err
    before = model.read_bytes()
    assert "0 records dropped" in run(capsys, "forget", model, "--column", "street", "--value", "nowhere")[1]
    assert model.read_bytes() == before


@pytest.mark.posix
def test_a_model_without_records(capsys, folder, tmp_path):
    path, out = tmp_path / "m.adf", tmp_path / "public.adf"
    alerts = rules(tmp_path, rule("accuracy below", limit=1.0, repeat=True))
    command = ("learn", folder, "-t", "rent", "--drop", "id", "-m", path, *SMALL, "--alerts", alerts)
    assert run(capsys, *command)[0] == 0
    assert origins_of(adforest.load(path)).alerts
    assert run(capsys, "export", path, "-o", out, "--no-records")[0] == 0
    exported = adforest.load(out)
    assert origins_of(exported).alerts == origins_of(exported).rule_counts == ()
    assert len(exported._model.state.memory) == 0
    assert exported._model.state.pending is None
    assert origins_of(exported).digests == ()
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    answers = [run(capsys, "predict", folder / "month-1.csv", "-m", one)[1] for one in (path, out)]
    assert answers[0] == answers[1]
    code, _, err = run(capsys, "learn", folder, "-m", out)
    assert code == 1
    assert "samples" in err
    assert run(capsys, "export", path, "-o", tmp_path / "x.adf")[0] == 1
    assert not os.path.exists(tmp_path / "x.adf")
