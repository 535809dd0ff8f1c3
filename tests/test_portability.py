"""No module needs what only POSIX has in order to be imported, and tests that need it say so."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

IMPORT_ALL = """
import importlib, pkgutil, signal, socket, os, sys

import sklearn.base  # libraries may take what the system has
import typer, rich, fastapi, uvicorn, pyarrow, matplotlib, httpx
import distributed, dask.dataframe, onnx, onnxruntime, treelite

class Blocked:
    names = {"fcntl", "resource", "pwd", "grp", "termios", "pty", "uvloop"}
    def find_spec(self, name, path=None, target=None):
        if name in self.names:
            raise ImportError(f"{name} is not there")

for name in Blocked.names:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Blocked())
for name in ("SIGKILL", "SIGHUP", "SIGALRM", "SIGUSR1"):
    delattr(signal, name)
for name in ("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "killpg", "fork", "getuid", "geteuid", "nice"):
    delattr(os, name)
del socket.AF_UNIX
import adforest

n_imported = 0
for module in pkgutil.walk_packages(adforest.__path__, "adforest."):
    if module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
        n_imported += 1
    except ImportError as error:
        if "Install it with" not in str(error) and error.name != "pyspark":  # extras that are not there
            raise
print(n_imported)
"""


@pytest.mark.posix
def test_every_module_can_be_imported_without_what_only_posix_has():
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IMPORT_ALL], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 200


def test_text_is_read_and_written_as_utf_8():
    """Of what runs on every system: the package, and the tests of `make test-core`; Windows has another default."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    core = re.search(r"^CORE := (.+)$", makefile, flags=re.MULTILINE)[1].split()
    for path in [ROOT / "src", *(ROOT / name for name in core)]:
        for module in [path] if path.is_file() else sorted(path.rglob("*.py")):
            for call in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
                name = getattr(call.func, "attr", "") if isinstance(call, ast.Call) else ""
                if name in {"read_text", "write_text"}:
                    named = {"encoding"} & {one.arg for one in call.keywords} or len(call.args) > (name == "write_text")
                    assert named, f"{module.relative_to(ROOT)}:{call.lineno} names no encoding"


def test_lines_end_alike_on_every_system():
    assert "\n* text=auto eol=lf\n" in (ROOT / ".gitattributes").read_text(encoding="utf-8")


POSIX_ONLY = re.compile(
    r"send_signal|os\.(?:dup|kill|fork|mkfifo|symlink|link|umask)\b|symlink_to|hardlink_to|\bst_mode|\bst_nlink|\.chmod\("
    r"|AF_UNIX|SIGKILL|SIGHUP|import resource|setrlimit|pgrep|killpg|[\"']sh[\"' ]|/bin/sh|/dev/|/proc/"
)


def posix_tests(path):
    """Yield the tests of a module that use what only POSIX has, by themselves or by what stands beside them."""
    text = path.read_text(encoding="utf-8")
    body = ast.parse(text).body
    beside = set()
    for statement in body:
        uses = POSIX_ONLY.search(ast.get_source_segment(text, statement))
        named = {one.id for one in ast.walk(statement) if isinstance(one, ast.Name)}
        named |= {one.arg for one in ast.walk(statement) if isinstance(one, ast.arg)}  # fixtures
        name = getattr(statement, "name", "")
        if uses or named & beside:
            if name.startswith("test_"):
                yield statement
            elif isinstance(statement, ast.Assign):
                beside |= {target.id for target in statement.targets}
            elif name:
                beside.add(name)


def test_tests_that_need_posix_say_so():
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if path == Path(__file__):
            continue
        whole = re.search(
            r"^pytestmark = .*(?:posix|skipif|needs_java)", path.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
        for test in [] if whole else posix_tests(path):
            marks = " ".join(map(ast.unparse, test.decorator_list))
            where = f"{path.relative_to(ROOT)}:{test.lineno}"
            assert re.search(r"mark\.posix|skipif|needs_java", marks), f"{where} needs pytest.mark.posix"


def test_sockets_are_not_taken_for_descriptors_of_files():
    """Windows has other numbers for them; `socket.fromfd` copies both kinds."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        assert "fileno=os.dup(" not in path.read_text(encoding="utf-8"), path
