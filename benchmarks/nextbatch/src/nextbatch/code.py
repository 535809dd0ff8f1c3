"""Digests of code: what Python files compute, without comments and docstrings; and what they import."""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType

COMPILED = (".pyx", ".pxd")


def digest_files(files: Iterable[Path]) -> str:
    """Return a digest of some source files, in the order of their names."""
    parts = [f"{file.name} {_digest_file(file)}" for file in sorted(files)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@cache
def _digest_file(file: Path) -> str:
    """Return a digest of one file; comments and docstrings of Python do not count, as they change no prediction."""
    text = file.read_bytes()
    return digest_code(text) if file.suffix == ".py" else hashlib.sha256(text).hexdigest()


def digest_code(text: str | bytes) -> str:
    """Return a digest of Python code.

    Examples
    --------
    >>> digest_code("a = 1  # one") == digest_code("a = 1"), digest_code("a = 1") == digest_code("a = 2")
    (True, False)
    """
    return hashlib.sha256(describe_tree(parse_code(text)).encode()).hexdigest()


def describe_tree(node: object) -> str:
    """Return a syntax tree as text without empty fields, which not all versions of Python have.

    Examples
    --------
    >>> describe_tree(ast.parse("a = 1").body[0])
    "Assign(targets=[Name(id='a', ctx=Store())], value=Constant(value=1))"
    """
    if isinstance(node, ast.AST):
        fields = ((name, describe_tree(value)) for name, value in ast.iter_fields(node))
        return f"{type(node).__name__}({', '.join(f'{name}={text}' for name, text in fields if text)})"
    if isinstance(node, list):
        return f"[{', '.join(map(describe_tree, node))}]" if node else ""
    return "" if node is None else repr(node)


def parse_code(text: str | bytes) -> ast.Module:
    """Return the syntax tree of Python code without its docstrings."""
    module = ast.parse(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(module):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return module


def find_file(module: ModuleType) -> Path:
    """Return the file that a module was read from."""
    return Path(inspect.getfile(module))


def find_files(module: str, root: Path) -> set[Path]:
    """Return the source files of a module and of all that it imports, directly or not, from its own package.

    Parameters
    ----------
    module : str
        With the package's name first.
    root : Path
        The folder that holds the package.

    Examples
    --------
    >>> import nextbatch
    >>> found = find_files("nextbatch.encoding", Path(nextbatch.__file__).parents[1])
    >>> [file.name for file in found]
    ['encoding.py']
    """
    package = module.partition(".")[0]
    found: set[Path] = set()
    waiting, seen = [module], {package}
    while waiting:
        name = waiting.pop()
        if name in seen or not name.startswith(f"{package}."):
            continue
        seen.add(name)
        waiting.append(name.rpartition(".")[0])
        path = root.joinpath(*name.split("."))
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if file.is_file():
            found.add(file)
            waiting += _imports(file)
        elif path.with_suffix(".pyx").is_file():  # kernels include one another: all of a folder count
            found |= {one for one in path.parent.rglob("*") if one.suffix in COMPILED}
    return found


def _imports(file: Path) -> list[str]:
    """Return the modules that a file may import: a name after ``import`` may be one."""
    names = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
        elif isinstance(node, ast.Import):
            names += [one.name for one in node.names]
    return names
