"""No module needs what only POSIX has in order to be imported."""

import subprocess
import sys

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
