"""Files that an enemy wrote, checksum and all: every one is refused, with one error that says what is wrong."""

import json
import os
import pickle
import tracemalloc

import numpy as np
import pytest
from safetensors.numpy import save

import adforest
from adforest import ModelFileError
from hostile_edits import put, refuse, replace_array, say
from model_file_parts import Sample, arrays_of, from_arrays, put_together, repaired


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return Sample("small batches", tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return Sample("tables", tmp_path_factory.mktemp("tables"))


def inner_nodes(arrays):
    """Return the inner nodes of the first tree."""
    return np.flatnonzero(arrays["state.trees.split"][: arrays["state.trees.n_nodes"][0]] >= 0)


def make_a_circle(document, arrays):
    """The root takes over the children of a grandchild, which gets the root's: two nodes lead to each other."""
    left, inner = arrays["state.trees.left"], inner_nodes(arrays)
    child = next(node for node in (left[0], left[0] + 1) if node in inner)
    grandchild = next(node for node in (left[child], left[child] + 1) if node in inner)
    left[[0, grandchild]] = left[[grandchild, 0]]


def make_a_chain(document, arrays, n=9_000):
    """One tree is a chain of leaves, each of a class of its own: summed up it would hold n * n / 2 weights."""
    state = document["state"]
    document["classes"] = {"type": "numbers"}
    arrays["classes.values"] = np.arange(n)
    trees, last = "state.trees.", {name: array for name, array in arrays.items() if name.startswith("state.trees.")}
    for name in ("threshold", "left", "split", "n_rows", "row_scale", "born", "cause"):
        arrays[trees + name] = np.concatenate([last[trees + name], np.zeros(2 * n - 1, last[trees + name].dtype)])
    node = np.arange(2 * n - 1)
    is_inner = (node % 2 == 0) & (node < 2 * n - 2)
    arrays[trees + "left"][-len(node) :] = np.where(is_inner, node + 1, -1)
    arrays[trees + "split"][-len(node) :] = np.where(is_inner, 0, -1)
    arrays[trees + "n_rows"][-len(node) :] = ~is_inner
    arrays[trees + "row_class"] = np.append(last[trees + "row_class"], np.arange(n, dtype=np.int32))
    arrays[trees + "row_weight"] = np.append(last[trees + "row_weight"], np.ones(n))
    for name, more in (("n_nodes", 2 * n - 1), ("n_words", 1), ("seed", 0)):
        arrays[trees + name] = np.append(last[trees + name], last[trees + name].dtype.type(more))
    arrays[trees + "importance"] = np.pad(last[trees + "importance"], ((0, 1), (0, 0)))
    arrays[trees + "category_bits"] = np.append(last[trees + "category_bits"], np.uint64(0))
    state["temporary"]["trees"].append(len(last[trees + "seed"]))


def put_root(column, value):
    def edit(document, arrays):
        arrays["state.trees." + column][0] = value

    return edit


def put_leaf(column, value):
    def edit(document, arrays):
        arrays["state.trees." + column][np.flatnonzero(arrays["state.trees.split"] < 0)[0]] = value

    return edit


def add_weights(value):
    """Return an edit that gives records weights, of which one is a certain number."""

    def edit(document, arrays):
        arrays["state.memory.weight"] = np.ones(len(arrays["state.memory.y"]))
        arrays["state.memory.weight"][3] = value

    return edit


def repeat_a_class(document, arrays):
    """A leaf takes over the row of the next one, and both are of one class: sums would outgrow the classes."""
    rows, classes = arrays["state.trees.n_rows"], arrays["state.trees.row_class"]
    one, other = np.flatnonzero(rows)[:2]
    rows[one], rows[other], classes[1] = 2, 0, classes[0]


EDITS = {
    "a circle": (make_a_circle, "cannot be reached"),
    "a chain": (make_a_chain, "so deep"),
    "a child beyond the tree": (put_root("left", 2**31 - 1), "children beyond"),
    "a child before the tree": (put_root("left", -5), "children beyond"),
    "the root as child": (put_root("left", 0), "children beyond"),
    "two parents": (put_root("left", 3), "two parents"),
    "a leaf that asks": (put_leaf("split", 0), "children beyond|class weights"),
    "a column that is not there": (put_root("split", 400 << 2), "column that is not there"),
    "categories of numbers": (put_root("split", 1), "categories of a column that has none"),
    "a threshold that is none": (put_root("threshold", np.nan), "threshold holds numbers that are not finite"),
    "a class that is not there": (put("state.trees.row_class", 0, 99), "row_class holds numbers from 0 to 99"),
    "a class below 0": (put("state.trees.row_class", 0, -1), "row_class holds numbers from -1"),
    "a class twice": (repeat_a_class, "not in ascending order"),
    "no count": (put("state.trees.row_weight", 0, np.nan), "row_weight holds numbers that are not finite"),
    "an endless count": (put("state.trees.row_weight", 0, np.inf), "row_weight holds numbers that are not finite"),
    "a negative count": (put("state.trees.row_weight", 0, -1), "row_weight holds numbers from -1"),
    "fewer rows than none": (put_leaf("n_rows", -1), "n_rows holds numbers from -1"),
    "more rows than there are": (put_leaf("n_rows", 2**30), "row_class has the shape"),
    "more nodes than there are": (put("state.trees.n_nodes", 0, 2**30), "threshold has the shape"),
    "a tree without nodes": (put("state.trees.n_nodes", 0, 0), "n_nodes holds numbers from 0"),
    "a batch to come": (put_root("born", 99), "born holds numbers from"),
    "an unknown cause": (put_root("cause", 3), "cause holds numbers from"),
    "no leaf": (put("state.permanent.leaf_of", (0, 0), 0), "those of no leaf"),
    "a leaf beyond": (put("state.permanent.leaf_of", (0, 0), 2**30), "those of no leaf"),
    "a leaf before": (put("state.permanent.leaf_of", (0, 0), -2), "leaf_of holds numbers from -2"),
    "a byte that is no truth": (
        replace_array("state.permanent.known", lambda a: (a.view(np.uint8) * 2).view(bool)),
        "neither 0 nor 1",
    ),
    "a forest that knows more": (
        replace_array("state.permanent.known", lambda a: np.append(a, True)),
        "known has the shape",
    ),
    "a box upside down": (put("state.permanent.low", 0, 1e9), "above the upper bounds"),
    "a box without end": (put("state.permanent.high", 0, np.inf), "high holds numbers that are not finite"),
    "a record of no class": (put("state.memory.y", 0, 7), "memory.y holds numbers from 0 to 7"),
    "a record without end": (put("state.memory.values.doubles", (0, 0), np.inf), "doubles holds numbers that are not"),
    "a class never seen": (put("state.memory.seen_by_class", 0, 0), "of which it has seen none"),
    "records out of order": (put("state.memory.serial", 0, 50), "not in the order in which they arrived"),
    "batches out of order": (put("state.memory.batch", 0, 3), "not in the order in which they arrived"),
    "counts below 0": (put("state.class_mix.seen", 0, -1), "class_mix.seen holds numbers from -1"),
    "a new class that is none": (replace_array("state.class_mix.new", lambda a: np.array([9])), "class_mix.new holds"),
    "weights that are none": (put("state.evidence.weights", (0, 0, 0), np.nan), "evidence.weights holds numbers"),
    "too much weight": (put("state.evidence.weights", (0, 0, 0), 2.0), "do not add up to 1"),
    "voters of another shape": (replace_array("state.evidence.weights", lambda a: a[:, :2]), "weights has the shape"),
    "a voter too few": (say("state", "evidence", "voters", [["permanent"]]), "evidence.voters is"),
    "nearness of other nodes": (replace_array("state.nearness", lambda a: a[1:]), "the recency is not that of"),
    "a type of its own": (
        replace_array("state.memory.y", lambda a: a.astype(np.int64)),
        "y holds int64, expected int32",
    ),
    "a flat matrix": (replace_array("state.memory.values.doubles", np.ravel), "doubles has the shape"),
    "one more array": (lambda document, arrays: arrays.update(more=np.zeros(3)), "the array more is not known"),
    "one array less": (lambda document, arrays: arrays.pop("state.trees.seed"), "state.trees.seed is missing"),
    "a value less": (lambda document, arrays: document["state"].pop("n_calls"), "n_calls is missing"),
    "one more value": (say("state", "extra", 1), "state.extra is not known"),
    "another classifier": (say("kind", "os.system"), "kind is 'os.system', expected"),
    "a parameter more": (say("parameters", "hook", "x"), "parameters.hook is not known"),
    "a million million trees": (say("fixed", "n_estimators", 10**12), "n_estimators of .* is 1000000000000"),
    "many more trees": (say("fixed", "n_estimators", 1000), "has 3 trees, expected 1000"),
    "no such base forest": (say("parameters", "base_forest", "eval"), "base_forest of .* is 'eval'"),
    "a tree twice": (say("state", "permanent", "trees", [0, 0, 1]), "expected each tree once"),
    "a tree beyond": (say("state", "permanent", "trees", [0, 1, 99]), "expected numbers of trees"),
    "a tree of nobody": (lambda document, arrays: document["state"]["temporary"]["trees"].pop(), "in no forest"),
    "no permanent forest": (say("state", "forests", ["active"]), "state.forests is"),
    "a forest of nobody": (say("state", "answering", "temporary forest"), "answering is"),
    "a budget that is text": (say("state", "permanent", "budget", "1"), "budget is '1'"),
    "a weight of 0": (add_weights(0.0), "memory.weight holds numbers from 0.0"),
    "a weight below 0": (add_weights(-1.0), "memory.weight holds numbers from -1.0"),
    "a weight without end": (add_weights(np.inf), "memory.weight holds numbers that are not finite"),
    "a weight that is none": (add_weights(np.nan), "memory.weight holds numbers that are not finite"),
    "weights below 0": (put("state.memory.weight_by_class", 0, -1.0), "weight_by_class holds numbers from -1.0"),
    "true for a number": (say("state", "n_drift_batches", True), "n_drift_batches is True"),
    "batches that were not given": (say("n_batches", 99), "numbers of batches do not agree|reports of"),
    "a shorter history": (lambda document, arrays: document["history"]["rows"].pop(), "history has 4 reports of 5"),
    "a report of lists": (
        lambda document, arrays: document["history"]["rows"][0].__setitem__(5, []),
        "perturbed in history.rows 1 is",
    ),
    "classes that are the same": (put("classes.values", 0, 1), "classes, of which some are the same"),
    "classes without end": (replace_array("classes.values", lambda a: np.array([0, 1, np.nan])), "no integers"),
    "columns without a kind": (say("columns", "kinds", []), "columns.kinds"),
    "a kind of its own": (say("columns", "kinds", ["numbers", "numbers", "code"]), "columns.kinds"),
    "a value that stands for none": (say("parameters", "max_features", {"call": "f"}), "stands for no value"),
}
TABLE_EDITS = {
    "a code that is not there": (put("state.memory.values.words", (0, 0), 3), "codes that column 1 has not"),
    "other numbers than codes": (
        replace_array("state.memory.values.types", lambda a: np.array([2, 1, 0, 0, 2, 2, 0, 0], dtype=np.uint8)),
        "memory.values holds codes that column 1 has not",
    ),
    "types of other columns": (put("state.memory.values.types", 0, 0), "other numbers of columns than its types say"),
    "a type beyond": (put("state.memory.values.types", 0, 3), "types holds numbers from 0 to 3"),
    "a number where none came": (put("state.memory.values.words", (0, 2), 9), "codes that column 6 has not"),
    "two values of one code": (put("columns.categories_1.code", 0, 1), "two values have one code"),
    "another value's code": (put("columns.categories_1.coded_as", 0, 1.0), "codes of other values"),
    "codes of nobody": (say("columns", "categories_1", "n_codes", 60_000), "more than 3 values ever had"),
    "more codes than bits": (say("columns", "categories_1", "n_codes", 70_000), "n_codes is 70000"),
    "a value twice": (say("columns", "categories_1", "values", ["red", "red", "blue"]), "different values"),
    "values of two kinds": (say("columns", "categories_1", "values", ["red", 1.0, "blue"]), "text throughout"),
    "a name twice": (lambda document, arrays: document["columns"]["names"].__setitem__(0, "shop"), "different names"),
    "a name that is a list": (say("columns", "names", [{"tuple": [[]]}] * 8), "expected text, a number"),
    "a name without end": (say("columns", "names", [2**99] * 8), "expected text, a number"),
    "a name that is a number": (
        lambda document, arrays: document["columns"]["names"].__setitem__(0, 1),
        "text throughout",
    ),
    "a box of no column": (say("state", "permanent", "categories", [[99, 1]]), "categorical column"),
    "a box of more codes": (say("state", "permanent", "categories", [[1, 99]]), "categorical column"),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_kernels_and_answers_rely_on_is_checked(name, ours, tmp_path):
    edit, match = EDITS[name]
    document, arrays = arrays_of(ours)
    edit(document, arrays)
    refuse(from_arrays(ours, document, arrays), tmp_path / "model.adf", match)


@pytest.mark.parametrize("name", TABLE_EDITS)
def test_what_is_known_of_columns_is_checked(name, tables, tmp_path):
    edit, match = TABLE_EDITS[name]
    document, arrays = arrays_of(tables)
    edit(document, arrays)
    refuse(from_arrays(tables, document, arrays), tmp_path / "model.adf", match)


@pytest.mark.parametrize("length", [0, 2**40, 2**64 - 1])
def test_sets_of_categories_stay_within_their_tree(length, tables, tmp_path):
    document, arrays = arrays_of(tables)
    split, nodes = arrays["state.trees.split"], arrays["state.trees.n_nodes"]
    asks = np.flatnonzero((split[: nodes[0]] >= 0) & (split[: nodes[0]] & 1 == 1))
    place = int(arrays["state.trees.threshold"][asks[0]])
    if length:
        arrays["state.trees.category_bits"][place] = length
    else:
        arrays["state.trees.threshold"][asks[0]] = 1e18
    refuse(from_arrays(tables, document, arrays), tmp_path / "model.adf", "set of categories is")


def test_without_an_edit_the_same_way_of_writing_is_accepted(ours, tables, tmp_path):
    for sample in (ours, tables):
        (tmp_path / "model.adf").write_bytes(from_arrays(sample, *arrays_of(sample)))
        adforest.load(tmp_path / "model.adf").predict(sample.X)


@pytest.mark.parametrize("shape", [[2**62], [2**32, 2**32], [0, 2**62], [-1], [1.5], [10**30], "x", [[3]]])
def test_huge_shapes_take_no_memory(shape, ours, tmp_path):
    header = json.loads(json.dumps(ours.header))
    header["state.memory.values.doubles"]["shape"] = shape
    packed = repaired(put_together(header, ours.data))
    tracemalloc.start()
    refuse(packed, tmp_path / "model.adf", "cannot be loaded")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * len(packed)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("[" * 200_000, "no JSON"),
        ('{"a":' * 200_000, "no JSON"),
        ('{"kind": NaN}', "holds NaN"),
        ('{"kind": 1, "kind": 2}', "occurs twice"),
        ('{"kind": {"a": 1, "a": 2}}', "occurs twice"),
        ('{"n": ' + "9" * 10_000 + "}", "no JSON"),
        ("[1]", "no JSON object"),
        ("", "no JSON"),
        ("{}", "kind is missing"),
    ],
)
def test_documents_that_are_none(text, match, ours, tmp_path):
    refuse(from_arrays(ours, text.encode(), arrays_of(ours)[1]), tmp_path / "model.adf", match)


def test_names_that_occur_twice_in_the_header(ours, tmp_path):
    text = json.dumps(ours.header)
    entry = json.dumps(ours.header["state.memory.values.doubles"])
    packed = repaired(put_together((text[:-1] + f', "state.memory.values.doubles": {entry}}}').encode(), ours.data))
    refuse(packed, tmp_path / "model.adf", "occurs twice in the header")


@pytest.mark.parametrize("schema", [2, 99, 0, -1, "1", None, True, 10**40])
def test_versions_to_come_are_refused_with_advice(schema, ours, tmp_path):
    header = json.loads(json.dumps(ours.header))
    about = json.loads(header["__metadata__"]["adforest"]) | {"schema": schema, "library": "9.9"}
    header["__metadata__"]["adforest"] = json.dumps(about, separators=(",", ":"))
    match = "written by adforest 9.9; .* pip install -U adforest" if type(schema) is int and schema > 1 else "schema is"
    refuse(repaired(put_together(header, ours.data)), tmp_path / "model.adf", match)


def test_every_bit_counts(ours, tmp_path):
    path = tmp_path / "model.adf"
    for place in np.linspace(0, len(ours.packed) - 1, 300).astype(int):
        damaged = bytearray(ours.packed)
        damaged[place] ^= 1 << place % 8
        refuse(bytes(damaged), path, "cannot be loaded")
    for length in (*range(0, 64, 7), *np.linspace(0, len(ours.packed) - 1, 50).astype(int)):
        refuse(ours.packed[:length], path, "cannot be loaded")
    refuse(ours.packed + b"\0", path, "cannot be loaded")


class Harm:
    def __reduce__(self):
        return os.mkdir, ("harmed",)


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"no model", pickle.dumps(Harm()), b"PK\x03\x04" + bytes(100), save({"a": np.zeros(3)}), bytes(100)],
)
def test_what_is_no_model_is_no_harm(content, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refuse(content, tmp_path / "model.adf", "no model file|something else than a model")
    assert not (tmp_path / "harmed").exists()


@pytest.mark.posix
def test_files_without_an_end_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path):
        with pytest.raises(ModelFileError, match="no regular file"):
            adforest.load(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.adf"):
        adforest.load(tmp_path / "nowhere.adf")
