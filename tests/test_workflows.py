"""Workflows run make targets that exist, and take actions by the hash of a commit."""

import ast
import importlib.util
import re
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


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_hash(path):
    for action, comment in re.findall(r"uses: (\S+)(.*)", path.read_text(encoding="utf-8")):
        if not action.startswith("./"):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment)


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


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("check_wheel", ROOT / "tools" / "check_wheel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.so", b"\x7fELF .symtab", "has symbols in a.so"),
        ("a.so", bytes(7_000_000), "expected at most 6,000,000"),
        ("a.py", b"", "has no kernels"),
    ],
)
def test_a_wheel_that_is_not_as_it_should_be(tool, tmp_path, capsys, name, content, said):
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr(name, content)
    assert tool.main([str(tmp_path / "a.whl")]) == 1
    assert said in capsys.readouterr().out


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
