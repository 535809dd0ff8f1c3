"""Workflows run make targets that exist, and take actions by the hash of a commit."""

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))


def test_there_are_workflows():
    assert {path.stem for path in WORKFLOWS} == {
        "docs", "integrations", "lint", "nightly", "release", "tests", "wheels",
    }  # fmt: skip


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_everything_a_workflow_runs_is_a_make_target(path):
    text = path.read_text(encoding="utf-8")
    named = [name for run in re.findall(r"run: (.+)", text) for name in run.removeprefix("make ").split()]
    assert all(run.startswith("make ") for run in re.findall(r"run: (.+)", text))
    chosen = re.findall(r"target: ([\w-]+)", text)
    chosen += [name for row in re.findall(r"target: \[(.+?)\]", text) for name in row.split(", ")]
    assert {name for name in named if name != '"$TARGET"'} | set(chosen) <= TARGETS
    assert ('"$TARGET"' in named) == bool(chosen)


def test_recipes_name_programs_of_the_environment_by_their_path():
    """The make of macOS starts simple lines without a shell, and looks for programs in the PATH it was called with."""
    recipes = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    first = re.findall(r"^\t@?([\w-]+) ", recipes, flags=re.MULTILINE)
    assert set(first) <= {"rm", "touch", "mkdir", "echo", "printf", "env", "if", "gh", "cd"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_hash(path):
    for action, comment in re.findall(r"uses: (\S+)(.*)", path.read_text(encoding="utf-8")):
        if not action.startswith("./"):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_job_has_an_end(path):
    """Else one that hangs takes six hours."""
    jobs = path.read_text(encoding="utf-8").partition("\njobs:\n")[2]
    for job in re.split(r"^  (?=\w)", jobs, flags=re.MULTILINE)[1:]:
        assert ("runs-on:" in job) == ("timeout-minutes:" in job), job.splitlines()[0]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_recipes_have_the_same_shell_on_windows(path):
    text = path.read_text(encoding="utf-8")
    assert ("windows" not in text) or "defaults:\n  run:\n    shell: bash" in text


def test_workflows_that_others_call_do_not_cancel_each_other():
    """The name of a workflow that is called is that of the caller."""
    called = [path for path in WORKFLOWS if "workflow_call:" in path.read_text(encoding="utf-8")]
    groups = {re.search(r"group: (\S+)", path.read_text(encoding="utf-8"))[1] for path in called}
    assert {path.stem for path in called} == {"tests", "wheels"} == {group.partition("-")[0] for group in groups}


def test_what_makes_a_release_is_installed_with_hashes():
    tools = (ROOT / "packaging" / "tools.txt").read_text(encoding="utf-8")
    pinned = re.findall(r"^([\w.-]+)==(\S+).*\\$", tools, flags=re.MULTILINE)
    named = re.search(r"^TOOLS := (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)[1]
    assert {name for name, _ in pinned} >= set(named.split()) == {"build", "twine", "cibuildwheel", "cyclonedx-bom"}
    assert tools.count("\n    --hash=sha256:") >= len(pinned)


def test_what_is_installed_with_hashes_is_all_that_the_environment_needs():
    """Of the libraries and tools that make asks for with LOCKED=1, and pip takes no others when hashes are required."""
    locked = (ROOT / "packaging" / "constraints.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+).*\\$", locked, flags=re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked, waiting = {"meson", "meson-python", "ninja", "cython"}, ["test-core", "check"]
    lines = list(project["dependencies"])
    while waiting:
        lines += extras[waiting.pop()]
        waiting += [one for line in lines if line.startswith("adforest[") for one in line[9:-1].split(",")]
        asked |= {re.split(r"[\[>;]", line)[0] for line in lines if not line.startswith("adforest[")}
        lines = []
    assert asked <= set(pinned)
    assert locked.count("\n    --hash=sha256:") >= len(pinned)


def test_the_conda_recipe_asks_for_what_the_package_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert f'version: "{project["version"]}"' in recipe
    for one in [*project["dependencies"], "python" + project["requires-python"]]:
        assert f"    - {one.replace('>=', ' >=')}\n" in recipe
    assert recipe.count(f"    - python {project['requires-python']}\n") == 2  # to build, to run


def load_tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("tag", "heading", "files", "said"),
    [
        ("v1.2.0", "1.2.0 (2030-01-31)", ["dist/adforest-1.2.0-cp311-abi3-any.whl", "dist/adforest-1.2.0.tar.gz"], []),
        (None, "1.2.0 (unreleased)", ["dist/adforest-1.2.0.tar.gz"], []),
        ("v1.3.0", "1.2.0 (2030-01-31)", [], ["the tag is v1.3.0, the version 1.2.0; expected v1.2.0."]),
        ("v1.2.0", "1.2.0 (unreleased)", [], ["CHANGELOG.md begins with '1.2.0 (unreleased)'; expected '1.2.0 (YYYY-"]),
        ("v1.2.0", "Unreleased", [], ["CHANGELOG.md begins with 'Unreleased'; expected '1.2.0 (YYYY-MM-DD)'."]),
        (None, "", ["dist/adforest-1.1.0.tar.gz"], ["adforest-1.1.0.tar.gz is not of version 1.2.0"]),
    ],
)
def test_what_is_built_from_a_tag_is_its_version(tmp_path, tag, heading, files, said):
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.0"\n', encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## {heading}\n\n## 1.1.0\n", encoding="utf-8")
    found = list(load_tool("check_release").troubles(files, tag, tmp_path))
    assert [one[: len(start)] for one, start in zip(found, said, strict=True)] == said


def test_a_tag_is_told_by_its_environment_variables(monkeypatch, capsys):
    check = load_tool("check_release")
    monkeypatch.delenv("GITHUB_REF_TYPE", raising=False)
    assert check.main([]) == 0
    monkeypatch.setenv("GITHUB_REF_TYPE", "tag")
    monkeypatch.setenv("GITHUB_REF_NAME", "v0.0.0")
    assert check.main([]) == 1
    assert "the tag is v0.0.0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.so", b"\x7fELF .symtab", "has symbols in a.so"),
        ("a.so", bytes(7_000_000), "expected at most 6,000,000"),
        ("a.py", b"", "has no kernels"),
    ],
)
def test_a_wheel_that_is_not_as_it_should_be(tmp_path, capsys, name, content, said):
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr(name, content)
    assert load_tool("check_wheel").main([str(tmp_path / "a.whl")]) == 1
    assert said in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_the_compiler_of_manylinux_wheels_is_one_that_a_shell_can_start():
    """It is handed on within quotes, in which a shell expands nothing."""
    shown = subprocess.run(["make", "-n", "manylinux"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (compiler,) = re.findall(r"CC='([^']*ziglang[^']*)'", shown)
    assert re.search(r"/python -m ziglang cc -target \w+-linux-gnu\.2\.\d+$", compiler)


def test_types_of_libraries_that_make_check_does_not_install_are_skipped():
    """Else mypy fails in an environment that has these tools alone, as that of a newcomer and of the workflow."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    skipped = {name.partition(".")[0] for one in project["tool"]["mypy"]["overrides"] for name in one["module"]}
    locked = (ROOT / "packaging" / "constraints.txt").read_text(encoding="utf-8")
    installed = {name.replace("-", "_") for name in re.findall(r"^([\w.-]+)==", locked, flags=re.MULTILINE)}
    ours = {"adforest", "experiments", "nextbatch", "__future__"} | set(sys.stdlib_module_names)
    for folder in project["tool"]["mypy"]["files"]:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
                names += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
                for name in {one.partition(".")[0] for one in names}:
                    assert name in ours | skipped | installed, f"{path.relative_to(ROOT)} imports {name}"
