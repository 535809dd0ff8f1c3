"""Champion and challenger: two models compared on the same records, and one that learns beside another."""

import re
import stat

import numpy as np
import pytest

import adforest
from adforest.cli.learning import Learner
from adforest.cli.model_file import locked
from adforest.cli.watching import Challenger
from adforest.monitor.challenge import challenge_of, challenger_path
from cli_commands import SMALL, content, json_lines, learnt, month, run, write_months
from monitor_server import monitoring
from table_files import write

QUICK = ("--settle", "0", "--interval", "0.05", "--patience", "0", "--once")


@pytest.fixture
def folder(tmp_path):
    return write_months(tmp_path / "months", 7, n=120)


def watch(capsys, folder, *options):
    model = folder.parent / "m.adf"
    command = ("watch", folder, "-t", "rent", "--drop", "id", "-m", model, *SMALL, *QUICK, *options)
    return model, *run(capsys, *command)


def accuracies(path):
    return [report.accuracy.get("vote") for report in adforest.load(path).history_]


def test_a_challenger_learns_the_same_batches_with_other_parameters(capsys, folder, tmp_path):
    model, code, out, err = watch(capsys, folder, "--challenger", "max_depth=1", "--json")
    assert (code, err) == (0, "")
    beside = challenger_path(model)
    champion, challenger = adforest.load(model), adforest.load(beside)
    assert (champion.max_depth, challenger.max_depth, challenger.n_estimators) == (None, 1, 2)
    assert content(model) == content(learnt(capsys, folder, model=tmp_path / "alone.adf"))  # it changes nothing
    told = [one for one in json_lines(out) if one["event"] == "challenger"]
    assert [one["accuracy"] for one in told] == accuracies(beside)
    found = challenge_of(champion, challenger)
    assert [one.batch for one in found.batches] == [2, 3, 4, 5, 6, 7]
    assert [one.champion for one in found.batches] == accuracies(model)[1:]
    assert [one.challenger for one in found.batches] == accuracies(beside)[1:]
    assert found.challenger == pytest.approx(np.mean(accuracies(beside)[1:]))  # batches are of one size
    apart = np.subtract(accuracies(beside)[1:], accuracies(model)[1:])
    assert found.error == pytest.approx(apart.std(ddof=1) / np.sqrt(6))


def test_a_challenger_reads_files_as_the_champion_does(capsys, folder):
    model = learnt(capsys, folder)
    code, _, err = run(capsys, "watch", folder, "-m", model, *QUICK, "--challenger", "max_depth=1")
    assert (code, err) == (0, "")
    champion, challenger = (adforest.load(path) for path in (model, challenger_path(model)))
    assert list(challenger.feature_names_in_) == list(champion.feature_names_in_)  # without "id"
    assert len(challenger.history_) == 7


def test_pieces_and_files_that_went_on_are_compared_batch_by_batch(capsys, folder):
    """A file in pieces has a digest more than batches; a challenger that comes later learns what went on as a whole."""
    model, beside = folder.parent / "m.adf", folder.parent / "m.challenger.adf"
    first = ("--batch-size", "50", "--challenger", "max_depth=1")
    assert watch(capsys, folder, *first)[1] == 0
    assert accuracies(model) != accuracies(beside)
    assert len(accuracies(model)) == len(accuracies(beside)) == 7 * 3  # 50, 50 and 20 of 120 records
    found = challenge_of(adforest.load(model), adforest.load(beside))
    assert [one.batch for one in found.batches] == list(range(2, 22))
    assert [one.champion for one in found.batches] == accuracies(model)[1:]
    assert [one.challenger for one in found.batches] == accuracies(beside)[1:]
    beside.unlink()
    with open(folder / "month-7.csv", "a") as file:
        file.writelines((folder / "month-6.csv").read_text().splitlines(keepends=True)[1:])
    assert watch(capsys, folder, "--challenger", "max_depth=1")[1] == 0
    found = challenge_of(adforest.load(model), adforest.load(beside))
    assert len(accuracies(model)) == 22
    assert len(accuracies(beside)) == 7, "one batch a file"
    assert found is None, "no batch of one is a batch of the other"


def test_a_challenger_learns_what_comes_before_an_error(capsys, folder):
    path = folder / "month-7.csv"
    path.write_text(path.read_text() + "1,2\n")
    model, code, out, err = watch(capsys, folder, "--batch-size", "50", "--challenger", "max_depth=1")
    assert code == 3
    assert err == ""
    assert out.count("was moved to") == 1
    champion, challenger = adforest.load(model), adforest.load(challenger_path(model))
    assert [one.rows for one in champion.history_] == [one.rows for one in challenger.history_]
    assert len(challenger.history_) == 6 * 3 + 2


def test_a_challenger_that_another_program_changed_is_read_again(capsys, folder):
    model, beside = folder.parent / "m.adf", folder.parent / "m.challenger.adf"
    assert watch(capsys, folder, "--challenger", "max_depth=1")[1] == 0
    with locked(model) as file, locked(beside) as rival:
        learner = Learner(rival, None, {}, {})
        challenger = Challenger(Learner(file, None, {}, {}), learner, {})
        learner.model.save(beside)
        challenger.follow(folder / "month-1.csv", None)
        assert "m.challenger.adf' was changed by another program; it was read again" in capsys.readouterr().err
        learner.file.check()


def test_a_challenger_that_was_not_saved_with_the_champion_catches_up(capsys, folder, monkeypatch):
    learn = Learner.learn

    def killed(self, batch, *arguments):
        if self.path.name == "m.challenger.adf" and batch.files[0].name == "month-3.csv":
            raise KeyboardInterrupt  # the champion has learnt it
        return learn(self, batch, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "learn", killed)
        assert watch(capsys, folder, "--challenger", "max_depth=1")[1] == 130
    model, code, *_ = watch(capsys, folder, "--challenger", "max_depth=1")
    assert code == 0
    assert len(accuracies(challenger_path(model))) == len(accuracies(model)) == 7


def test_a_challenger_that_fails_does_not_stop_the_champion(capsys, folder, monkeypatch):
    learn = Learner.learn

    def broken(self, batch, *arguments):
        if self.path.name == "m.challenger.adf":
            raise ValueError("something in it is broken")
        return learn(self, batch, *arguments)

    monkeypatch.setattr(Learner, "learn", broken)
    model, code, _, err = watch(capsys, folder, "--challenger", "max_depth=1")
    assert code == 0
    assert len(accuracies(model)) == 7
    assert err.count("warning: the challenger cannot learn month-") == 7


@pytest.mark.parametrize(("wrong", "said"), [("max_depth", "expected a parameter and its value"), ("no=1", "--no")])
def test_parameters_that_are_none(capsys, folder, wrong, said):
    _, code, _, err = watch(capsys, folder, "--challenger", wrong)
    assert code == 1
    assert said in err


def test_the_page_shows_both_and_promote_puts_it_in_place(capsys, folder, tmp_path):
    model, *_ = watch(capsys, folder, "--n-estimators", "2", "--max-depth", "1", "--challenger", "max_depth=none")
    beside = challenger_path(model)
    found = challenge_of(adforest.load(model), adforest.load(beside))
    assert found.verdict == "better"
    with monitoring(model) as running:
        page = running.ask(f"/models/{model.name}").text
        assert "The challenger is better: " in page
        assert 'id="challenge"' in page
        before = re.search('data-version="([^"]*)"', page)[1]
        write(month(9, n=120), folder / "month-9.csv")
        watch(capsys, folder, "--challenger", "max_depth=none")
        assert re.search('data-version="([^"]*)"', running.ask(f"/models/{model.name}").text)[1] != before
    champion, challenger = model.read_bytes(), beside.read_bytes()
    code, out, _ = run(capsys, "promote", model)
    assert code == 0
    assert out.startswith(f"{model} is what m.challenger.adf was; the model before is {tmp_path / 'm.former.adf'}\n")
    assert model.read_bytes() == challenger
    assert (tmp_path / "m.former.adf").read_bytes() == champion
    assert not beside.exists()
    with monitoring(model) as running:
        assert 'id="challenge"' not in running.ask(f"/models/{model.name}").text
    code, _, err = run(capsys, "promote", model)
    assert code == 1
    assert f"there is no model '{beside}'" in err


@pytest.mark.posix
def test_the_model_before_is_readable_by_its_owner_alone(capsys, folder, tmp_path):
    model, *_ = watch(capsys, folder, "--n-estimators", "1", "--challenger", "max_depth=1")
    assert run(capsys, "promote", model)[0] == 0
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("*.adf")}
    assert modes == {"m.adf": 0o600, "m.former.adf": 0o600}


@pytest.mark.posix
def test_a_model_that_is_a_link_stays_one(capsys, folder, tmp_path):
    real, model = tmp_path / "elsewhere" / "real.adf", tmp_path / "m.adf"
    real.parent.mkdir()
    model.symlink_to(real)
    watch(capsys, folder, "--challenger", "max_depth=1")
    challenger = challenger_path(model).read_bytes()
    assert run(capsys, "promote", model)[0] == 0
    assert model.is_symlink()
    assert real.read_bytes() == challenger


def test_a_promotion_that_was_killed_is_finished(capsys, folder, tmp_path):
    model, *_ = watch(capsys, folder, "--challenger", "max_depth=1")
    former = tmp_path / "m.former.adf"
    former.write_bytes(model.read_bytes())
    model.write_bytes(challenger_path(model).read_bytes())  # all but the last step was done
    before = former.read_bytes()
    assert run(capsys, "promote", model)[0] == 0
    assert former.read_bytes() == before
    assert not challenger_path(model).exists()


# --- compare


def test_two_models_on_the_same_records(capsys, folder, tmp_path):
    first = learnt(capsys, folder)
    second = tmp_path / "b.adf"
    run(capsys, "learn", folder, "-t", "rent", "--drop", "id", "-m", second, *SMALL, "--max-depth", "1")
    write(month(20, n=400), tmp_path / "new.csv")
    code, out, err = run(capsys, "compare", first, second, tmp_path / "new.csv", "--json")
    assert (code, err) == (0, "")
    (found,) = json_lines(out)
    table = month(20, n=400)
    truth = np.array(table["rent"].to_pylist())
    X = table.select(["size", "rooms", "street"]).to_pandas()
    answers = [adforest.load(path).predict(X) for path in (first, second)]
    right = [one == truth for one in answers]
    assert [one["accuracy"] for one in found["models"]] == [one.mean() for one in right]
    assert found["records"] == 400
    assert found["same_answer"] == (answers[0] == answers[1]).sum()
    assert found["only_first_right"] == (right[0] & ~right[1]).sum()
    assert found["only_second_right"] == (right[1] & ~right[0]).sum()
    assert found["p_value"] < 0.01
    text = run(capsys, "compare", first, second, tmp_path / "new.csv")[1]
    assert f"only A is right on {found['only_first_right']}, only B on {found['only_second_right']}" in text
    assert run(capsys, "compare", first, first, tmp_path / "new.csv", "--json")[0] == 0
    assert "warning: 1 file learnt by" in run(capsys, "compare", first, second, folder / "month-1.csv")[2]
