import shutil

import pytest

from experiments.running import fingerprints
from experiments.running.fingerprints import digest_method, digest_run, digest_stream, find_code
from experiments.specs.methods import METHODS
from experiments.specs.run_spec import HOLDOUT, PREQUENTIAL, MethodSpec, RunSpec, StreamSpec

HOUSE = StreamSpec.of("house", "34", n_samples=1200)
DRIFT = StreamSpec.of("drift", "abrupt", concept="sea", n_batches=4, batch_size=20)
KERNELS = "forest/_kernels"


def digests(protocol=HOLDOUT, stream=HOUSE):
    return {name: digest_run(RunSpec(stream, MethodSpec(name), 0, protocol), None) for name in METHODS}


def changed(before, after, what="method"):
    return {name for name in before if before[name][what] != after[name][what]}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Copy adforest, and let fingerprints be taken of the copy."""
    copy = tmp_path / "adforest"
    shutil.copytree(fingerprints.PACKAGE, copy, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    monkeypatch.setattr(fingerprints, "PACKAGE", copy)
    return copy


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Copy the experiments, and let fingerprints be taken of the copy."""
    copy = tmp_path / "checkout"
    for folder in ("experiments", fingerprints.NEXTBATCH):
        shutil.copytree(fingerprints.CHECKOUT / folder, copy / folder)
    monkeypatch.setattr(fingerprints, "CHECKOUT", copy)
    return copy / "experiments"


def append(file, text):
    with file.open("a") as open_file:
        open_file.write(text)


# Methods that run no tree of ours.
ADAPTERS = {name for name, method in METHODS.items() if method.library}
ADF = {name for name in METHODS if name.startswith("ADF")}
OUTSIDE = ADAPTERS - {"LightGBM"} | {"No change", "Majority", "Markov"}  # nextbatch's learners


@pytest.mark.parametrize("ending", ["pyx", "pxd"])
def test_a_changed_kernel_is_another_method(ending, package):
    before = digests()
    for file in sorted((package / KERNELS).glob(f"*.{ending}")):
        text = file.read_text()
        file.write_text(f"{text}\n# changed\n")
        assert changed(before, digests()) == set(METHODS) - ADAPTERS - OUTSIDE, file.name
        file.write_text(text)
    assert changed(before, digests()) == set()


def test_a_copy_has_the_same_fingerprint(package, monkeypatch):
    copied = digests()
    monkeypatch.undo()
    assert copied == digests()


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("adaptation/voting.py", ADF),
        ("classifier.py", ADF),
        ("base.py", set(METHODS) - OUTSIDE),
        ("encoding/tables.py", set(METHODS) - OUTSIDE),
        ("experiments/rivals/cirf.py", {"CIRF", "CIRF paper", "CIRF-S paper"}),
        ("experiments/rivals/outside.py", OUTSIDE),
        ("benchmarks/nextbatch/src/nextbatch/learners/refits.py", OUTSIDE),
        ("benchmarks/nextbatch/src/nextbatch/page.py", set()),
        ("experiments/rivals/ncm_tree.py", {"NCMF"}),
        ("monitor/tree_writing.py", set()),
        ("demo/picture.py", set()),
        ("reading/files.py", set()),
        ("experiments/streams/scenarios.py", set()),
    ],
)
def test_changed_code_is_another_method_where_it_is_run(file, expected, package, checkout):
    before = digests()
    is_outside = file.startswith(("experiments/", "benchmarks/"))
    append((checkout.parent if is_outside else package) / file, "\nEXTRA = 1\n")
    assert changed(before, digests()) == expected


def test_comments_and_docstrings_change_nothing(package):
    before = digests()
    file = package / "base.py"
    file.write_text(file.read_text().replace('"""', '"""Really: ', 1) + "\n# a remark\n")
    assert digests() == before


def test_code_of_a_method_is_all_that_its_module_imports():
    found = find_code("experiments.rivals.forests")
    ours = {file for file in found if file.is_relative_to(fingerprints.PACKAGE)}
    assert found - ours == {
        fingerprints.CHECKOUT / "experiments" / "rivals" / name for name in ("base.py", "forests.py")
    }
    code = {file.relative_to(fingerprints.PACKAGE).as_posix() for file in ours}
    assert {"base.py", "encoding/tables.py", "growers/random_forest.py"} <= code
    assert {f"{KERNELS}/growing.pyx", f"{KERNELS}/node.pxd"} <= code
    assert not any(file.startswith(("adaptation", "reading", "simulation", "demo", "monitor")) for file in code)
    with pytest.raises(FileNotFoundError, match=r"'adforest\.nothing' is no module of adforest"):
        find_code("adforest.nothing")


def test_parameters_are_part_of_a_method(monkeypatch):
    run = RunSpec(HOUSE, MethodSpec("RF last 3"))
    before = digest_method(run)
    assert digest_method(RunSpec(HOUSE, MethodSpec.of("RF last 3", window=4))) != before
    monkeypatch.setitem(METHODS, "RF last 3", METHODS["RF batch"])  # another meaning of the same name
    assert digest_method(run) != before


def test_library_s_version_is_part_of_the_method(monkeypatch):
    before = digests()
    monkeypatch.setattr(fingerprints, "library_version", lambda library: "0.0.1")
    assert changed(before, digests()) == ADAPTERS


def test_streams_depend_on_what_makes_them(package, checkout):
    before = {spec: digest_stream(spec, None) for spec in (HOUSE, DRIFT)}

    def changed_streams():
        return [spec.name for spec, digest in before.items() if digest_stream(spec, None) != digest]

    append(package / "reading" / "files.py", "\nEXTRA = 1\n")
    append(checkout / "streams" / "cases.py", "\nEXTRA = 1\n")
    assert changed_streams() == []
    append(package / "simulation" / "concepts.py", "\nEXTRA = 1\n")
    assert changed_streams() == ["drift"]
    append(checkout / "streams" / "scenarios.py", "\nEXTRA = 1\n")
    assert changed_streams() == ["house", "drift"]
    before[HOUSE] = digest_stream(HOUSE, None)
    append(checkout / "specs" / "sources.py", "\nEXTRA = 1\n")
    assert changed_streams() == ["house", "drift"]


def test_protocols_depend_on_what_measures(checkout):
    before = {protocol: digests(protocol)["ADF-R"]["protocol"] for protocol in (HOLDOUT, PREQUENTIAL)}

    def changed_protocols():
        return [name for name, digest in before.items() if digests(name)["ADF-R"]["protocol"] != digest]

    append(checkout / "reporting" / "plots.py", "\nEXTRA = 1\n")
    assert changed_protocols() == []
    append(checkout / "running" / "prequential.py", "\nEXTRA = 1\n")
    assert changed_protocols() == [PREQUENTIAL]
    before[PREQUENTIAL] = digests(PREQUENTIAL)["ADF-R"]["protocol"]
    append(checkout.parent / fingerprints.NEXTBATCH / "protocols.py", "\nEXTRA = 1\n")
    assert changed_protocols() == [PREQUENTIAL]
    append(checkout / "running" / "measures.py", "\nEXTRA = 1\n")
    assert changed_protocols() == [HOLDOUT, PREQUENTIAL]
