"""Surveys of parts merge into the survey of the whole, in whatever groups; what does not fit together is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adforest.encoding import EncodingRules
from adforest.encoding import surveys as table_surveys
from adforest.merging import BatchRules, LocalBatch, plan_batch
from encoded_tables import learn_labels
from parted_batches import PartedBatch, cut, sent

RULES = {
    "plain": EncodingRules(reuses_codes=True),
    "grouped": EncodingRules(max_categories=3, reuses_codes=True),
    "frequent": EncodingRules(min_frequency=0.2, reuses_codes=True),
    "free columns": EncodingRules(column_changes="allow"),
}
NAN, NOTHING = np.nan, None

kinds = st.sampled_from(["number", "text", "listed", "missing"])
values = {
    "number": st.sampled_from([0.0, -0.0, 1.0, 2.5, 1e300, NAN]),
    "text": st.sampled_from(["a", "b", "c", "d", "e\0", NOTHING]),
    "listed": st.sampled_from([3.0, 1.0, 7.0, 0.0, -0.0, NAN]),
    "missing": st.just(NAN),
}
labels = {
    "text": st.sampled_from(["no", "yes", "perhaps", "ä"]),
    "integers": st.integers(-3, 3),
    "floats": st.sampled_from([1.0, 2.0, 5.0]),
    "booleans": st.booleans(),
}


@st.composite
def batches(draw):
    """Return a table of some kinds of columns, labels, weights, and places to cut it at."""
    columns = draw(st.lists(kinds, min_size=1, max_size=4))
    n = draw(st.integers(1, 12))
    rows = [draw(st.lists(values[kind], min_size=n, max_size=n)) for kind in columns]
    X = pd.DataFrame(
        {f"{k}{kind}": pd.Series(row, dtype=object) for k, (kind, row) in enumerate(zip(columns, rows, strict=True))}
    )
    kind = draw(st.sampled_from(list(labels)))
    y = np.array(draw(st.lists(labels[kind], min_size=n, max_size=n)), dtype=object)
    weight = draw(st.none() | st.lists(st.sampled_from([0.0, 0.1, 1.0, 3.7]), min_size=n, max_size=n))
    weight = None if weight is None or not any(weight) else np.array(weight)
    return X, y, weight, draw(st.lists(st.integers(0, n), max_size=4))


def listed_in(X):
    """Return what to list: nothing unless there are numbers that are categories, and then text as well."""
    has_listed = any(name.endswith("listed") for name in X.columns)
    return [name for name in X.columns if name.endswith(("listed", "text"))] if has_listed else "from_dtype"


def plain(categories):
    """Return all that categories hold, as what can be compared."""
    if categories is None:
        return None
    arrays = (categories.code, categories.count, categories.last_batch, categories.coded_as)
    figures = (
        categories.n_codes,
        categories.infrequent,
        categories.n_samples,
        categories.n_known,
        categories.n_distinct,
    )
    return list(categories.index_of.items()), [array.tobytes() for array in arrays], figures


def outcome(source, rules, before=None, max_samples=None):
    """Return what is settled for a batch and its samples, as what can be compared."""
    encoder, known = before or (None, None)
    rules = BatchRules(1 if before is None else 2, encoder, rules[0], "Forest", rules[1])
    plan = plan_batch(rules, source.survey(rules), known, 0, None, max_samples)
    samples = source.draw(plan)
    encoder = plan.encoder
    weight = None if samples.weight is None else samples.weight.tobytes()
    settled = (
        (encoder.names, encoder.kinds, [plain(one) for one in encoder.categories], encoder.warned_of),
        {column: codes.tolist() for column, codes in encoder.recycled_codes.items()},
        (plan.labels.by_arrival.dtype, plan.labels.by_arrival.tolist()),
        (samples.X.tobytes(), samples.y.tobytes(), samples.serial.tobytes(), weight, plan.n_samples),
    )
    return settled, (encoder, plan.labels)


@given(batch=batches(), group=st.integers(2, 4), name=st.sampled_from(list(RULES)))
def test_parts_in_any_groups_are_the_whole(batch, group, name):
    X, y, weight, places = batch
    rules = (listed_in(X), RULES[name])
    whole, before = outcome(LocalBatch(X, y, weight), rules)
    parts, _ = outcome(PartedBatch(cut((X, y, weight), places), group), rules)
    assert parts == whole
    again = outcome(LocalBatch(X[::-1], y[::-1], weight), rules, before)[0]
    assert outcome(PartedBatch(cut((X[::-1], y[::-1], weight), places), group), rules, before)[0] == again


def test_values_give_their_codes_back_as_from_the_whole(monkeypatch):
    monkeypatch.setattr("adforest.encoding.categories.MAX_VALUES", 6)
    rules = ("from_dtype", RULES["plain"])
    first, later = (pd.DataFrame({"town": list(towns)}) for towns in ("aabcdeffgga", "xyazxyzwvaab"))
    y = np.zeros(12, dtype=int)
    whole, before = outcome(LocalBatch(first, y[:11]), rules)
    assert outcome(PartedBatch(cut((first, y[:11], None), [3, 4, 9])), rules)[0] == whole
    expected, _ = outcome(LocalBatch(later, y), rules, before)
    assert expected[1]
    assert outcome(PartedBatch(cut((later, y, None), [2, 7])), rules, before)[0] == expected


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_added_columns_come_in_order_of_the_parts(library):
    rules = ("from_dtype", RULES["free columns"])
    _, before = outcome(LocalBatch(library({"n": [1.0, 2.0], "size": [1.0, 2.0]}), [0, 1]), rules)
    parts = [
        {"n": [1], "size": [1.0]},
        {"late": ["no"], "n": [2], "size": [2.0]},
        {"town": ["Graz"], "n": [3], "late": ["yes"]},
    ]
    whole = {
        "n": [1, 2, 3],
        "size": [1.0, 2.0, NOTHING],
        "late": [NOTHING, "no", "yes"],
        "town": [NOTHING, NOTHING, "Graz"],
    }
    expected = outcome(LocalBatch(library(whole), [0, 1, 1]), rules, before)[0]
    source = PartedBatch([(library(part), [label], None) for part, label in zip(parts, [0, 1, 1], strict=True)])
    assert outcome(source, rules, before)[0] == expected


def test_parts_of_a_first_batch_may_have_their_columns_in_another_order():
    whole = pd.DataFrame({"size": [1.0, 2.0], "town": ["Graz", "Linz"]})
    rules = ("from_dtype", RULES["plain"])
    source = PartedBatch([(whole[:1], [0], None), (whole[1:][["town", "size"]], [1], None)])
    assert outcome(source, rules)[0] == outcome(LocalBatch(whole, [0, 1]), rules)[0]


def test_warnings_come_once_and_from_here():
    X = pd.DataFrame({"id": [f"n{k}" for k in range(120)]})
    rules = ("from_dtype", RULES["plain"])
    with pytest.warns(
        UserWarning, match="column 'id' of batch 1 brings the number of its values to 120 in 120"
    ) as seen:
        outcome(PartedBatch(cut((X, np.arange(120) % 2, None), [40, 80])), rules)
    assert len(seen) == 1
    _, before = outcome(LocalBatch(np.ones((2, 1)), [0, 1]), rules)
    named = pd.DataFrame({"size": [1.0, 2.0]})
    with pytest.warns(UserWarning, match="X has feature names, but Forest was fitted without") as seen:
        outcome(PartedBatch(cut((named, [0, 1], None), [1])), rules, before)
    assert len(seen) == 1


def refused(parts, listed="from_dtype", before=None):
    return outcome(PartedBatch(parts), (listed, RULES["plain"]), before)


def frame(*values):
    return pd.DataFrame({"a": np.ones(len(values)), "b": list(values)})


ODD_PARTS = {
    "text after numbers": (
        frame("x"),
        [0],
        TypeError,
        "column 'b' of partition 2 of batch 1 holds text \\('x'\\) but numbers in partition 0",
    ),
    "dates": (
        frame(pd.Timestamp("2024")),
        [0],
        TypeError,
        "column 'b' of partition 2 of batch 1 holds dates .* but numbers in partition 0",
    ),
    "infinity": (frame(np.inf), [0], ValueError, "see column 'b' of partition 2 of batch 1"),
    "another column": (
        frame(1).assign(c=1),
        [0],
        ValueError,
        "partition 2 of batch 1 has the column 'c', but partition 0 of batch 1 has not",
    ),
    "a column less": (
        frame(1)[["a"]],
        [0],
        ValueError,
        "partition 0 of batch 1 has the column 'b', but partition 2 of batch 1 has not",
    ),
    "no names": (
        np.ones((1, 2)),
        [0],
        ValueError,
        "partition 2 of batch 1 has 2 columns without names, but partition 0",
    ),
    "labels of another kind": (
        frame(1),
        ["x"],
        TypeError,
        "labels of partition 2 of batch 1 are text \\('x'\\) but those of partition 0 of batch 1 are numbers",
    ),
    "missing labels": (frame(1), [None], ValueError, "the labels of partition 2 of batch 1 lack 1 value"),
    "too few labels": (frame(1, 2), [0], ValueError, "partition 2 of batch 1 has 2 samples but 1 label"),
}


@pytest.mark.parametrize("name", ODD_PARTS)
def test_errors_name_partition_and_column(name):
    X, y, error, words = ODD_PARTS[name]
    with pytest.raises(error, match=words):
        refused([(frame(1, 2), [0, 1], None), (frame(3), [1], None), (X, y, None)])


def test_errors_of_later_batches_name_partition_and_column():
    _, before = outcome(LocalBatch(frame("x", "y"), [0, 1]), ("from_dtype", RULES["plain"]))
    for part, error, words in (
        (frame(1), TypeError, "column 'b' of partition 1 of batch 2 holds numbers"),
        (frame(1)[["a"]], ValueError, "partition 1 of batch 2 has 1 column but the model learnt 2"),
        (frame("x").assign(a="y"), TypeError, "column 'a' of partition 1 of batch 2 holds text"),
    ):
        with pytest.raises(error, match=words):
            refused([(frame("x", "z"), [0, 1], None), (part, [1], None)], before=before)
    with pytest.raises(TypeError, match="the labels of batch 2 are text"):
        refused([(frame("x"), ["p"], None), (frame("y"), ["q"], None)], before=before)


def test_weights():
    parts = [(frame(1, 2), [0, 1], np.array([0.0, 0.0])), (frame(3), [1], np.array([0.0]))]
    with pytest.raises(ValueError, match="sample_weight of batch 1 is zero for all samples"):
        refused(parts)
    parts[1] = (frame(3), [1], np.array([-1.0]))
    with pytest.raises(ValueError, match=r"sample_weight of partition 1 of batch 1 is -1\.0 for sample 0"):
        refused(parts)


def test_a_batch_without_samples_is_refused_as_scikit_learn_does():
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        refused([(frame()[:0], [], None), (frame()[:0], [], None)])


def test_columns_of_ids_are_refused_before_they_fill_a_machine(monkeypatch):
    monkeypatch.setattr(table_surveys, "MAX_MERGED", 100)
    X = pd.DataFrame({"id": [f"n{k}" for k in range(120)]})
    with pytest.raises(ValueError, match=r"column 'id' of partition 0 .* more than 100 distinct values, such as 'n0'"):
        refused(cut((X, np.arange(120) % 2, None), [40, 80]))


def test_surveys_do_not_carry_the_categories_that_are_known():
    X = pd.DataFrame({"town": [f"t{k % 1000}" for k in range(5000)]})
    _, (encoder, _) = outcome(LocalBatch(X, np.arange(5000) % 2), ("from_dtype", RULES["plain"]))
    rules = BatchRules(2, encoder, "from_dtype", "Forest", RULES["plain"])
    assert sent(rules.to_send()).encoder.categories[0].index_of == {"t0": 0}


@given(st.lists(st.lists(labels["integers"] | labels["floats"], min_size=1, max_size=4), min_size=1, max_size=5))
def test_class_values_join_as_in_one_list(parts):
    whole, _ = learn_labels(np.array([label for part in parts for label in part], dtype=object))
    rules = BatchRules(1, None, "from_dtype", "Forest", RULES["plain"])
    source = PartedBatch([(np.ones((len(part), 1)), np.array(part, dtype=object), None) for part in parts])
    merged = plan_batch(rules, source.survey(rules), None).labels
    assert merged.by_arrival.dtype == whole.by_arrival.dtype
    assert merged.by_arrival.tolist() == whole.by_arrival.tolist()
