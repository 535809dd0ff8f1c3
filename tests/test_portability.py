"""No module needs what only POSIX has in order to be imported."""

import ast
import re
import subprocess
import sys
from pathlib import Path

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
