"""Every row of the paper's table of scenarios, by hand and in the reports of a stream."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest import AdaptiveDecisionForestClassifier
from adforest.adaptation.report import scenario_of

TABLE = [
    # name, classes in the batch, classes known before it
    ("SKC", "a", "abc"),
    ("SKC", "a", "a"),
    ("MKC", "ab", "abc"),
    ("MKC", "abc", "abc"),
    ("SUC", "d", "abc"),
    ("SUC", "a", ""),
    ("MUC", "de", "abc"),
    ("MUC", "ab", ""),
    ("MKUC", "ad", "abc"),
    ("MKUC", "abcd", "abc"),
    ("MKUC", "ade", "abc"),
]


@pytest.mark.parametrize(("name", "batch", "known"), TABLE)
def test_every_row_of_the_table(name, batch, known):
    assert scenario_of(set(batch), set(known)) == name


@pytest.mark.parametrize("kind", [list, tuple, frozenset, dict.fromkeys])
def test_any_collection_will_do(kind):
    assert scenario_of(kind(["a", "d"]), kind(["a"])) == "MKUC"


def test_how_often_a_class_occurs_does_not_matter():
    assert scenario_of([1, 1, 1], [1, 2, 2]) == "SKC"


@given(batch=st.sets(st.integers(0, 5), min_size=1), known=st.sets(st.integers(0, 5)))
def test_the_name_says_what_it_means(batch, known):
    expected = {
        (False, True, False): "SKC",
        (True, True, False): "MKC",
        (False, False, True): "SUC",
        (True, False, True): "MUC",
        (True, True, True): "MKUC",
    }
    several, any_known, any_unknown = len(batch) > 1, bool(batch & known), bool(batch - known)
    assert scenario_of(batch, known) == expected[several, any_known, any_unknown]


def test_a_stream_through_all_five():
    batches = [("ab", "MUC"), ("ba", "MKC"), ("a", "SKC"), ("c", "SUC"), ("cd", "MKUC"), ("ef", "MUC"), ("ef", "MKC")]
    model = AdaptiveDecisionForestClassifier(n_estimators=2, random_state=0)
    for classes, _ in batches:
        model.partial_fit([[float(ord(c))] for c in classes * 3], list(classes * 3))
    assert [report.scenario for report in model.history_] == [name for _, name in batches]
    new = [report.new_classes for report in model.history_]
    assert new == [("a", "b"), (), (), ("c",), ("d",), ("e", "f"), ()]


def test_a_class_that_was_only_declared_is_still_unknown():
    model = AdaptiveDecisionForestClassifier(n_estimators=2, random_state=0)
    model.partial_fit([[0.0], [1.0]], ["a", "b"], classes=["a", "b", "c"])
    model.partial_fit([[2.0], [3.0]], ["c", "c"])
    assert model.history_[-1].scenario == "SUC"
    assert model.history_[-1].new_classes == ("c",)
