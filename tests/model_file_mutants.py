"""Model files with something changed: what no program wrote, and what an enemy might write.

Some mutants keep the checksum of the file they were made from, which must be noticed; others have one of their own, as
an enemy can compute it too, so that every check behind it is reached.
"""

import json
import warnings

import numpy as np

import adforest
from adforest import ModelFileError
from adforest.monitor import ModelView
from adforest.storage.container import DTYPES
from model_file_parts import Sample, arrays_of, from_arrays, put_together, repaired

BASES = (
    "ours",
    "one batch",
    "no memory",
    "sysfor",
    "hoeffding",
    "small batches",
    "tables",
    "tables, sysfor",
    "tables, hoeffding",
    "infrequent",
    "sketches",
    "paper",
    "paper, tables",
    "objects",
    "tuples",
    "weights",
    "weights, sysfor",
    "weights, hoeffding",
)
NUMBERS = (0, 1, -1, 2, 3, 7, 63, 64, 255, 2**15, 2**16, 2**31 - 1, 2**31, -(2**31), 2**53, 2**63, 10**30)
VALUES = (
    None,
    True,
    False,
    "",
    "permanent",
    "x" * 100,
    [],
    {},
    [1, 2],
    {"tuple": []},
    {"float": "nan"},
    0.0,
    -1.5,
    1e308,
)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-320, 1e308, -1e308, np.nan, np.inf, -np.inf, 3.0, 1e6)


def samples(folder):
    return [Sample(name, folder) for name in BASES] + [Sample(name, folder, samples=False) for name in BASES[:2]]


# Mutations. Each takes a sample and a random generator, and returns the bytes of a file.


def flip_bits(sample, rng):
    packed = bytearray(sample.packed)
    for place in rng.integers(0, len(packed), rng.integers(1, 9)):
        packed[place] ^= 1 << rng.integers(0, 8)
    return bytes(packed)


def flip_header_bits(sample, rng):
    packed = bytearray(sample.packed)
    packed[rng.integers(0, len(packed) - len(sample.data))] ^= 1 << rng.integers(0, 8)
    return bytes(packed)


def flip_and_repair(sample, rng):
    return repaired(flip_bits(sample, rng))


def flip_header_and_repair(sample, rng):
    return repaired(flip_header_bits(sample, rng))


def cut(sample, rng):
    packed = sample.packed
    start, stop = np.sort(rng.integers(0, len(packed) + 1, 2))
    return [packed[:start], packed[start:], packed[:start] + packed[stop:], packed + packed[:stop]][rng.integers(0, 4)]


def cut_and_repair(sample, rng):
    return repaired(cut(sample, rng))


def edit_header(sample, rng):
    header = json.loads(json.dumps(sample.header))
    names = [name for name in header if name != "__metadata__"]
    name = names[rng.integers(0, len(names))]
    entry, other = header[name], header[names[rng.integers(0, len(names))]]
    number = int(rng.choice(np.array(NUMBERS, dtype=object)))
    edit = rng.integers(0, 10)
    if edit == 0:
        entry["dtype"] = str(rng.choice([*DTYPES, "BF16", "F8_E4M3", "C64", "X"]))
    elif edit == 1 and entry["shape"]:
        entry["shape"][rng.integers(0, len(entry["shape"]))] = number
    elif edit == 2:
        entry["shape"] = [*entry["shape"], number]
    elif edit == 3:
        entry["data_offsets"][rng.integers(0, 2)] = number
    elif edit == 4:
        entry["data_offsets"] = other["data_offsets"]
    elif edit == 5:
        del header[name]
    elif edit == 6:
        header[name + "x"] = header.pop(name)
    elif edit == 7:
        header["__metadata__"] = [{}, {"adforest": "{}"}, {"adforest": "[" * 3000}, None, {"a": "b"}][
            rng.integers(0, 5)
        ]
    elif edit == 8:
        about = json.loads(header["__metadata__"]["adforest"])
        about["schema"] = VALUES[rng.integers(0, len(VALUES))] if rng.random() < 0.3 else number
        header["__metadata__"]["adforest"] = json.dumps(about, separators=(",", ":"))
    else:
        text = json.dumps(header, separators=(",", ":"))
        return repaired(put_together((text[:-1] + f',"{name}":{json.dumps(other)}}}').encode(), sample.data))
    return repaired(put_together(header, sample.data))


def _places(value, path=()):
    """Yield the way to every value of a document."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in items:
        yield from _places(one, (*path, key))


def edit_document(sample, rng):
    document, arrays = arrays_of(sample)
    places = [path for path in _places(document) if path]
    for _ in range(rng.integers(1, 3)):
        *way, last = places[rng.integers(0, len(places))]
        try:
            owner = document
            for key in way:
                owner = owner[key]
            edit = rng.integers(0, 7)
            if edit == 0:
                del owner[last]
            elif edit == 1:
                owner[last] = VALUES[rng.integers(0, len(VALUES))]
            elif edit == 2 and isinstance(owner, dict):
                owner[str(rng.choice(["extra", "same_as", "pending", "trees", "seed"]))] = owner[last]
            elif edit == 3 and isinstance(owner[last], int | float):
                owner[last] += int(rng.choice([-1, 1]))
            elif edit == 4 and isinstance(owner, list):
                owner.append(owner[last])
            else:
                owner[last] = int(NUMBERS[rng.integers(0, len(NUMBERS))])
        except (KeyError, IndexError, TypeError):
            continue  # the first edit took away what the second is about
    return from_arrays(sample, document, arrays)


def break_document(sample, rng):
    document, arrays = arrays_of(sample)
    text = json.dumps(document)
    broken = [
        text[:-1] + ',"kind":"PaperADFClassifier"}',
        "[" * 100_000,
        '{"kind":' * 50_000,
        text.replace("1", "NaN", 1),
        text.replace(":", ":1e999,", 1),
        text.replace('"seed": ', '"seed": ' + "9" * 5000, 1),
        text[: rng.integers(0, len(text))],
        "",
        "null",
    ]
    return from_arrays(sample, broken[rng.integers(0, len(broken))].encode(), arrays)


def edit_numbers(sample, rng):
    """Change a few numbers of an array."""
    document, arrays = arrays_of(sample)
    names = [name for name, array in arrays.items() if array.size]
    for _ in range(rng.integers(1, 4)):
        array = arrays[names[rng.integers(0, len(names))]].reshape(-1)
        place, other = rng.integers(0, len(array), 2)
        edit = rng.integers(0, 5)
        if edit == 0:
            array[place] = array[other]
        elif edit == 1:
            array[[place, other]] = array[[other, place]]
        elif array.dtype.kind == "f":
            with np.errstate(over="ignore"):
                array[place] = FLOATS[rng.integers(0, len(FLOATS))]
        elif array.dtype.kind == "b":
            array.view(np.uint8)[place] = rng.integers(0, 256)
        elif edit == 2:
            array.view(f"u{array.itemsize}")[place] ^= array.dtype.type(1).view(f"u{array.itemsize}") << rng.integers(
                0, 8 * array.itemsize
            ).astype(f"u{array.itemsize}")
        elif edit == 3:
            bounds = np.iinfo(array.dtype)
            array[place] = min(max(NUMBERS[rng.integers(0, len(NUMBERS))], bounds.min), bounds.max)
        else:
            with np.errstate(over="ignore"):
                array[place] += array.dtype.type(1) if rng.random() < 0.5 else ~array.dtype.type(0)
    return from_arrays(sample, document, arrays)


def edit_arrays(sample, rng):
    """Change an array as a whole: its type, its shape, its order, its name, its length."""
    document, arrays = arrays_of(sample)
    names = list(arrays)
    name, other = names[rng.integers(0, len(names))], names[rng.integers(0, len(names))]
    array = arrays[name]
    edit = rng.integers(0, 10)
    if edit == 0:
        del arrays[name]
    elif edit == 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arrays[name] = array.astype(list(DTYPES.values())[rng.integers(0, len(DTYPES))])
    elif edit == 2:
        arrays[name] = array[:-1] if len(array) else array
    elif edit == 3:
        arrays[name] = np.concatenate([array, array[-1:]])
    elif edit == 4:
        arrays[name] = array.reshape(-1, 1) if rng.random() < 0.5 else array.reshape(1, -1)
    elif edit == 5:
        arrays[name], arrays[other] = arrays[other], array
    elif edit == 6:
        arrays[name] = rng.permuted(array, axis=0)
    elif edit == 7:
        arrays[name + "x"] = array
    elif edit == 8:
        arrays[name] = np.zeros_like(array)
    else:
        arrays[name] = array[:0].reshape(0, *array.shape[1:])
    return from_arrays(sample, document, arrays)


def edit_trees(sample, rng):
    """Change the shape of trees in ways that are hard to see: children, questions, sets, class weights."""
    document, arrays = arrays_of(sample)
    split, left = arrays["state.trees.split"], arrays["state.trees.left"]
    inner, leaves = np.flatnonzero(split >= 0), np.flatnonzero(split < 0)
    edit = rng.integers(0, 8)
    if edit == 0 and len(inner) > 1:  # two nodes exchange their children, which may make a circle
        one, other = rng.choice(inner, 2, replace=False)
        left[[one, other]] = left[[other, one]]
    elif edit == 1 and len(inner):
        split[rng.choice(inner)] = int(rng.choice([0, 1, 2, 3, 4 * 3, 4 * 200, 2**31 - 1, -2]))
    elif edit == 2 and len(inner):
        split[rng.choice(inner)] ^= 1
    elif edit == 3 and len(inner):
        left[rng.choice(inner)] = int(rng.choice([0, 1, -1, len(left), len(left) - 1, 2**31 - 1, -(2**31)]))
    elif edit == 4:
        split[rng.choice(leaves)] = int(rng.integers(0, 12))
    elif edit == 5:
        rows, classes = arrays["state.trees.n_rows"], arrays["state.trees.row_class"]
        one, other = rng.integers(0, len(rows), 2)
        rows[one], rows[other] = rows[one] + 1, rows[other] - 1
        classes[rng.integers(0, len(classes))] = int(rng.integers(-1, 5))
    elif edit == 6:
        counts = arrays["state.trees." + str(rng.choice(["n_nodes", "n_words"]))]
        one, other = rng.integers(0, len(counts), 2)
        change = int(rng.choice([1, 2, 2**40]))
        counts[one], counts[other] = counts[one] + change, counts[other] - change
    else:
        bits = arrays["state.trees.category_bits"]
        bits[rng.integers(0, len(bits))] = int(
            rng.choice(np.array([0, 1, 2, 1024, 1025, 2**58, 2**64 - 1], dtype=object))
        )
    return from_arrays(sample, document, arrays)


UNREPAIRED = (flip_bits, flip_header_bits, cut)
MUTATIONS = (
    *UNREPAIRED,
    flip_and_repair,
    flip_header_and_repair,
    cut_and_repair,
    edit_header,
    edit_document,
    edit_document,
    break_document,
    edit_numbers,
    edit_numbers,
    edit_numbers,
    edit_arrays,
    edit_trees,
    edit_trees,
)


def mutant(all_samples, number):
    """Return the mutant of a number: the sample, what was done to it, and the bytes."""
    rng = np.random.default_rng([20, number])
    sample = all_samples[rng.integers(0, len(all_samples))]
    mutation = MUTATIONS[rng.integers(0, len(MUTATIONS))]
    return sample, mutation, mutation(sample, rng)


def try_out(sample, mutation, packed, path):
    """Load a mutant and use it; return how it went: "refused", "works", or the error that using it raised.

    Whatever is raised while it is loaded must be a ModelFileError, and damage that no checksum hides must be noticed.
    """
    path.write_bytes(packed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = adforest.load(path)
        except ModelFileError:
            return "refused"
        assert mutation not in UNREPAIRED or packed == sample.packed, "damage was not noticed"
        outcome = "works"
        for use in (_answer, _save, _learn, _answer, _save):
            try:
                use(model, sample, path)
            except Exception as error:
                outcome = f"{use.__name__[1:]}: {type(error).__name__}: {str(error)[:80]}"
    return outcome


def _answer(model, sample, path):
    model.predict(sample.X)
    if not np.allclose(model.predict_proba(sample.X).sum(axis=1), 1):
        raise ArithmeticError("shares do not add up to 1")
    model.apply(sample.X)
    model.feature_importances_.sum()
    model.snapshot().predict(sample.X)
    str(model.history_[-1:])
    ModelView.from_estimator(model).as_dict()


def _learn(model, sample, path):
    if model._model.has_samples:
        model.set_params(verbose=0).partial_fit(sample.X, sample.y)


def _save(model, sample, path):
    model.save(path)
