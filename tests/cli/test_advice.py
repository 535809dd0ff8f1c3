"""Advice of errors and warnings: parameters as Python writes them, options in a shell."""

import pickle
import re
import warnings

import pandas as pd
import pyarrow as pa
import pytest

from adforest import AdaptiveDecisionForestClassifier
from adforest.base import check_model_parameters
from adforest.cli.output import in_shell
from adforest.exceptions import AdforestError, Advice, InputWarning
from adforest.reading import read_batches

PYTHON = re.compile(r"\b[a-z_]+=|\bpd\.|fit\(\)|set_params|categorical_features")


@pytest.mark.parametrize(
    ("advice", "in_python", "in_words_of_a_shell"),
    [
        (
            Advice("Pass {na_values} or {categorical}.", {"na_values": ["?", "-"], "categorical": ["street name"]}),
            "Pass na_values=['?', '-'] or categorical=['street name'].",
            "Pass --na-values '?' --na-values - or --categorical 'street name'.",
        ),
        (Advice("Pass {thousands}.", {"thousands": ","}), "Pass thousands=','.", "Pass --thousands ,."),
        (Advice("In {columns}.", {"columns": [...]}), "In columns=[...].", "In --columns ...."),
        (Advice("Pass {drop}.", {"drop": ["{drop} Ellipsis"]}), None, "Pass --drop '{drop} Ellipsis'."),
        (
            Advice("Drop it, or {refit}."),
            "Drop it, or start a new model with fit().",
            "Drop it, or start a new model: name another file with --model.",
        ),
        (Advice("Write {cure}.", words={"cure": "{x}"}, shell="Write it."), "Write {x}.", "Write it."),
        (Advice("Set it with f({n}).", {"n": ...}, shell=""), "Set it with f(n=...).", ""),
    ],
)
def test_advice_in_the_words_of_the_shell(advice, in_python, in_words_of_a_shell):
    error = pickle.loads(pickle.dumps(AdforestError("It is odd.", advice)))
    assert in_python is None or str(error) == f"It is odd. {in_python}"
    assert in_shell(error) == f"It is odd. {in_words_of_a_shell}".strip()


@pytest.mark.parametrize("error", [AdforestError("x='y'"), ValueError("x='y'"), "x='y'"])
def test_what_has_no_advice_stays_as_it_is(error):
    assert in_shell(error) == "x='y'"


ROWS = "a,b,y\n" + "1,2,u\n" * 20
BAD_FILES = {
    "a mark": (ROWS + "?,2,u\n", {}),
    "a unit": (ROWS + "5%,2,u\n", {}),
    "thousands": (ROWS + '"1,000",2,u\n', {}),
    "decimal": (ROWS + '"1,5",2,u\n', {}),
    "a word": (ROWS + "abc,2,u\n", {}),
    "a date": ("a,y\n" + "2024-01-31,u\n" * 20 + "abc,u\n", {"types": {"a": pa.timestamp("us")}}),
    "no class": (ROWS + "1,2,\n", {}),
    "a mark as class": ("a,y\n1,2\n3,4\n1,NA\n", {}),
    "fields": (ROWS + "1,2\n", {}),
    "no features": (ROWS, {"drop": ["a", "b"]}),
    "delimiter": ("a#b#y\n1#2#u\n", {}),
    "bytes": (ROWS + "\xe4,2,u\n", {}),
    "large classes": ("a,y\n1,1.5\n2,90071992547409930\n", {}),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_errors_about_files_advise_options_in_a_shell(kind, tmp_path):
    text, reading = BAD_FILES[kind]
    (tmp_path / "a.csv").write_text(text, encoding="latin-1")
    with pytest.raises(AdforestError) as caught:
        list(read_batches(tmp_path, target="y", **reading))
    assert PYTHON.search(str(caught.value)), "else it says nothing about the shell"
    assert not PYTHON.search(in_shell(caught.value))
    assert "--" in in_shell(caught.value)


@pytest.mark.parametrize(
    "columns",
    [{"a": ["1", "2", "3.5"]}, {"a": ["true", "false", "true"]}, {"a": ["2024-01-31", "2024-02-29", ""]}],
    ids=["numbers", "booleans", "dates"],
)
def test_warnings_about_text_advise_options_in_a_shell(columns):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        AdaptiveDecisionForestClassifier(n_estimators=1).fit(pd.DataFrame(columns), ["u", "v", "u"])
    (warning,) = [one.message for one in caught]
    assert isinstance(warning, InputWarning)
    assert "X['a']" in str(warning)
    assert in_shell(warning).endswith("write them as such in the files; if they are names, pass --categorical a.")


def test_errors_of_a_model_advise_options_in_a_shell():
    model = AdaptiveDecisionForestClassifier(n_estimators=1, random_state=0).fit([[1.0], [2.0]], ["u", "v"])
    for call in (
        lambda: model.partial_fit([["x"], ["z"]], ["u", "v"]),
        lambda: model.partial_fit([[1.0, 2.0]], ["u"]),
        lambda: model.partial_fit([[1.0]], [1]),
        lambda: check_model_parameters(model.set_params(random_state=1)),
        lambda: check_model_parameters(model.set_params(random_state=0, window_size=0)),
    ):
        with pytest.raises(AdforestError) as caught:
            call()
        assert PYTHON.search(str(caught.value))
        assert not PYTHON.search(in_shell(caught.value))
