"""Help, usage, and what is imported for it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import adforest
from adforest import AdaptiveDecisionForestClassifier
from adforest.alerts.rules import KINDS
from adforest.cli.app import COMMANDS
from adforest.cli.options import MODEL, READING, read_value
from cli_commands import run, run_apart
from documents import ROOT

VERBS = [command.__name__ for command in COMMANDS]
HEAVY = {"numpy", "sklearn", "scipy", "pandas", "polars", "pyarrow", "narwhals", "safetensors"}


@pytest.mark.parametrize("command", [(), *((verb,) for verb in VERBS)], ids=lambda one: " ".join(one) or "adforest")
def test_help_is_there_without_heavy_imports(command):
    code = (
        "import sys\nfrom adforest.cli import main\ncode = main(sys.argv[1:])\n"
        "print(code, *sorted(sys.modules), file=sys.stderr)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, *command, "--help"], capture_output=True, text=True, check=True, timeout=60
    )
    code, *modules = found.stderr.split()
    assert code == "0"
    assert f"Usage: {' '.join(('adforest', *command))}" in found.stdout
    assert not HEAVY & set(modules)


def test_every_verb_has_a_sentence_and_a_place_in_the_document(capsys):
    defined = [
        re.findall(r"^def ([a-z]+)\(", path.read_text(encoding="utf-8"), re.MULTILINE)
        for path in (Path(adforest.__file__).parent / "cli/verbs").glob("*.py")
    ]
    assert sorted(VERBS) == sorted(name for names in defined for name in names)
    _, out, _ = run(capsys, "--help")
    document = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
    for verb in VERBS:
        assert re.search(rf"│ {verb} +\w", out)
        assert f"| `{verb}`" in document


def test_every_option_is_in_the_help_of_its_verb(capsys):
    _, out, _ = run(capsys, "learn", "--help")
    model = AdaptiveDecisionForestClassifier()
    given = {one.name: one for one in MODEL.parameters()}
    assert set(given) == set(model.get_params()) - {"categorical_features", "verbose"}
    for name, one in given.items():
        assert one.default == getattr(model, name)
        assert one.help.endswith(".")
        assert f"--{name.replace('_', '-')} " in out
    assert all(one.help.endswith(".") for one in READING.parameters())
    assert {"na_values", "drop", "columns", "categorical"} == {one.name for one in READING.parameters() if one.is_list}


def test_options_are_numbers_or_text():
    is_number = {one.name: one.is_number for one in MODEL.parameters()}
    assert {name for name, number in is_number.items() if not number} >= {"class_weight", "base_forest", "max_features"}
    assert is_number["max_depth"]
    assert is_number["random_state"]


def test_the_help_of_alert_names_every_kind_of_rule(capsys):
    _, out, _ = run(capsys, "alert", "--help")
    text = " ".join(out.split())
    assert [kind for kind in KINDS if f'"{kind}"' not in text] == []


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["lern"], "adforest: No such command 'lern'. Did you mean 'learn', 'alert'? See: adforest --help"),
        (["learn"], "adforest: Missing argument 'BATCH'. See: adforest learn --help"),
        (["learn", "x.csv"], "adforest: Missing option '--model'"),
        (["learn", "x.csv", "-m", "m.adf", "--bacth-size", "3"], "adforest: No such option: --bacth-size"),
        (["learn", "x.csv", "-m", "m.adf", "--batch-size", "0"], "adforest: Invalid value for '--batch-size'"),
        (["watch", "nowhere", "-m", "m.adf"], "adforest: Invalid value for 'FOLDER': dir"),
    ],
)
def test_what_is_not_understood_is_one_line_and_code_2(capsys, monkeypatch, tmp_path, command, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *command)
    assert (code, out) == (2, "")
    assert err.lower().startswith(message.lower())
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_version_and_no_command(capsys):
    assert run(capsys, "--version") == (0, f"adforest {adforest.__version__}\n", "")
    code, out, _ = run(capsys)
    assert code == 2
    assert "Usage: adforest" in out


def test_completion_is_offered(monkeypatch):
    # The shell is named here: which one the tests run in cannot be told without a terminal.
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    code, out, _ = run_apart("--show-completion", "bash")
    assert code == 0
    assert "_ADFOREST_COMPLETE" in out


@pytest.mark.parametrize(("words", "offered"), [("adforest le", "learn"), ("adforest learn --n-", "--n-estimators")])
def test_what_completion_offers(words, offered):
    asked = {"_ADFOREST_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    found = subprocess.run(
        [sys.executable, "-m", "adforest"], capture_output=True, text=True, check=True, env=os.environ | asked
    )
    assert offered in found.stdout.split()


def test_without_typer_it_says_what_to_install():
    code = "import sys\nsys.modules['typer'] = None\nfrom adforest.cli import main\nsys.exit(main(['--help']))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "pip install 'adforest[cli]'" in found.stderr
    assert found.stderr.count("\n") == 1


def test_errors_are_one_line_and_debug_shows_the_trace(tmp_path):
    command = ("inspect", tmp_path / "no.adf")
    code, out, err = run_apart(*command)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(
        f"adforest: there is no model '{tmp_path}/no.adf'; expected a file that 'adforest learn' wrote."
    )
    code, _, err = run_apart(*command, "--debug")
    assert code == 1
    assert "Traceback" in err


def test_what_should_not_happen_says_so(capsys, monkeypatch, tmp_path):
    def broken(path):
        raise KeyError("x")

    monkeypatch.setattr("adforest.cli.model_file.load_model", broken)
    code, _, err = run(capsys, "inspect", tmp_path / "m.adf")
    assert code == 1
    assert err == "adforest: KeyError: 'x'. This should not happen: the same command with --debug shows where it did\n"


def test_an_interrupt_is_told(capsys, monkeypatch, tmp_path):
    def interrupted(path):
        raise KeyboardInterrupt

    monkeypatch.setattr("adforest.cli.model_file.load_model", interrupted)
    assert run(capsys, "inspect", tmp_path / "m.adf") == (130, "", "adforest: interrupted.\n")


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("none", None), ("None", None), ("True", True), ("sqrt", "sqrt"), ('{"a": 1}', {"a": 1})],
)
def test_values_of_parameters(text, value):
    assert read_value(text) == value
    assert type(read_value(text)) is type(value)
