"""Fingerprints of source code: a run whose code has changed is another run."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import adforest
from experiments.specs.methods import find_method, library_version
from experiments.specs.run_spec import MethodSpec, StreamSpec
from experiments.specs.sources import find_source

PACKAGE = Path(adforest.__file__).parent
CHECKOUT = Path(__file__).parents[2]
SUFFIXES = (".py", ".pyx")


def digest_method(spec: MethodSpec) -> str:
    """Return the fingerprint of the code a method's results depend on, and the version of its library."""
    method = find_method(spec)
    code = digest_sources(method.files)
    return f"{code} {method.library} {library_version(method.library)}" if method.library else code


def digest_stream(spec: StreamSpec, folder: Path | None) -> str:
    """Return the fingerprint of what a stream is made from: code, and the records of the data set.

    Raises
    ------
    FileNotFoundError
        If the data set cannot be found.
    """
    source = find_source(spec)
    return f"{digest_sources(source.files)} {source.data(spec, folder)}".strip()


def digest_sources(places: Iterable[str]) -> str:
    """Return a fingerprint of some of the package's files and rooms.

    Comments and docstrings of Python files do not count: they change no result.

    Parameters
    ----------
    places : iterable of str
        Files and folders, relative to the package, or to the checkout where they begin with ``experiments/``.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    total = hashlib.sha256()
    for place in sorted(set(places)):
        root = CHECKOUT if place.startswith("experiments/") else PACKAGE
        path = root / place
        files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.suffix in SUFFIXES)
        if not files:
            raise FileNotFoundError(f"'{place}' is no source file or room of adforest; name one that is")
        for file in files:
            total.update(f"{file.relative_to(root).as_posix()} {_digest_file(file, _stamp(file))}\n".encode())
    return total.hexdigest()


def _stamp(file: Path) -> tuple[int, int]:
    """Return what tells that a file was written to."""
    status = file.stat()
    return status.st_mtime_ns, status.st_size


@cache
def _digest_file(file: Path, stamp: tuple[int, int]) -> str:
    """Return the fingerprint of a source file as it was at that stamp."""
    text = file.read_bytes()
    if file.suffix == ".py":
        text = ast.dump(_without_docstrings(ast.parse(text))).encode()
    return hashlib.sha256(text).hexdigest()


def _without_docstrings(module: ast.Module) -> ast.Module:
    """Return a module without what only readers see."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(module):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return module
