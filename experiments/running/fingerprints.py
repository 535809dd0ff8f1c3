"""Fingerprints of what a run depends on: the code of its method, stream and protocol, and the records of its data set.

A run is made again if any of them has changed. Code is found by following imports from the module that defines a
method's estimator, so that no list of files has to be kept.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import adforest
from experiments.running.protocols import find_protocol
from experiments.specs.methods import find_method, library_version, make_model
from experiments.specs.run_spec import RunSpec, StreamSpec
from experiments.specs.sources import Stream, digest_records, find_source, stream_size
from nextbatch.code import COMPILED, describe_tree, parse_code

PACKAGE = Path(adforest.__file__).parent
CHECKOUT = Path(__file__).parents[2]
FOLLOWED = ("adforest", "experiments.rivals", "experiments.streams", "nextbatch")  # whose imports of one another count
NEXTBATCH = Path("benchmarks", "nextbatch", "src", "nextbatch")  # below the checkout
GROWING = ("forest", "growers")  # what adapters to other libraries import, but grow no tree with


class ChangedCodeError(RuntimeError):
    """Code was changed while it ran, so that results cannot be told to be of one version."""


def check_loaded_code() -> None:
    """Raise an error if a source file was written to after this process had imported it.

    Raises
    ------
    ChangedCodeError
    """
    now = _stamp_code()
    changed = sorted(file.name for file in LOADED.keys() | now.keys() if LOADED.get(file) != now.get(file))
    if changed:
        raise ChangedCodeError(
            f"{', '.join(changed[:3])}{' and others' if len(changed) > 3 else ''} changed after this command was "
            "started. Start it again: records of unchanged code are kept"
        )


def _stamp_code() -> dict[Path, tuple[int, int]]:
    """Return the stamps of all source files that results may depend on."""
    roots = (PACKAGE, CHECKOUT / "experiments", CHECKOUT / NEXTBATCH)
    files = (file for root in roots for file in root.rglob("*") if file.suffix in (".py", *COMPILED))
    return {file: _stamp(file) for file in files}


def digest_run(run: RunSpec, folder: Path | None) -> dict[str, str]:
    """Return the fingerprints of a run's ``method``, ``stream`` and ``protocol``.

    Parameters
    ----------
    run : RunSpec
    folder : Path or None
        Where the data sets lie.

    Returns
    -------
    dict of str to str

    Raises
    ------
    FileNotFoundError
        If the data set cannot be found.
    """
    return {
        "method": digest_method(run),
        "stream": digest_stream(run.stream, folder),
        "protocol": digest_code(find_protocol(run).modules),
    }


def digest_method(run: RunSpec) -> str:
    """Return the fingerprint of a method: its code, its parameters, and the version of the library that it wraps."""
    model = make_model(run.method, Stream((), (), stream_size(run.stream)), run.seed)
    estimator = type(model)
    is_followed = _is_followed(estimator.__module__)
    files = find_code(estimator.__module__) if is_followed else {Path(inspect.getfile(estimator))}
    library = find_method(run.method).library
    if library:
        files = {file for file in files if not any(file.is_relative_to(PACKAGE / room) for room in GROWING)}
    code = _digest_files(files)
    parameters = hashlib.sha256(f"{estimator.__name__} {sorted(model.get_params().items())}".encode()).hexdigest()
    return f"{code} {parameters} {library} {library_version(library)}" if library else f"{code} {parameters}"


def digest_stream(spec: StreamSpec, folder: Path | None) -> str:
    """Return the fingerprint of what a stream is made from: code, and the records of its data set if it has one."""
    source = find_source(spec)
    code = digest_code(source.modules)
    return f"{code} {digest_records(spec.name, folder)}" if source.is_loaded else code


def digest_code(modules: Iterable[str]) -> str:
    """Return the fingerprint of some modules and of all modules in FOLLOWED that they import.

    Comments and docstrings of Python files do not count: they change no result.

    Parameters
    ----------
    modules : iterable of str
        Of adforest, the rivals, the streams or nextbatch; or others of experiments, whose imports are not followed.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    return _digest_files(set().union(*map(find_code, modules)))


def find_code(module: str) -> set[Path]:
    """Return the source files of a module and of all modules in FOLLOWED that it imports, directly or not."""
    if not _is_followed(module):
        return {CHECKOUT.joinpath(*module.split(".")).with_suffix(".py")}
    found: set[Path] = set()
    waiting = {_find_file(module)}
    while waiting:
        file = waiting.pop()
        found.add(file)
        if file.suffix == ".py":
            waiting |= set(_find_imports(file)) - found
        else:  # kernels include and cimport one another: all of them count
            found |= {one for one in file.parent.rglob("*") if one.suffix in COMPILED}
            waiting -= found
    return found


def _is_followed(module: str) -> bool:
    """Return whether a module is one of FOLLOWED, or in it."""
    return any(module == one or module.startswith(f"{one}.") for one in FOLLOWED)


def _find_imports(file: Path) -> Iterator[Path]:
    """Yield the files in FOLLOWED that a Python file imports; nextbatch's learner of adforest is not run here."""
    is_outside = file.is_relative_to(CHECKOUT / NEXTBATCH)
    for module, name in _imported_names(file, _stamp(file)):
        if _is_followed(module) and not (is_outside and module == "adforest"):
            yield _find_file(module, name)


@cache
def _imported_names(file: Path, stamp: tuple[int, int]) -> list[tuple[str, str]]:
    """Return the modules that a file imports, each with the name that it takes from it, if any."""
    nodes = list(ast.walk(_parse(file)))
    taken = [
        (str(node.module), alias.name) for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    return taken + [(alias.name, "") for node in nodes if isinstance(node, ast.Import) for alias in node.names]


def _find_file(module: str, name: str = "") -> Path:
    """Return the file that defines a module, or a name imported from it: a submodule, or one that it re-exports."""
    root, *parts = module.split(".")
    path = {"adforest": PACKAGE, "nextbatch": CHECKOUT / NEXTBATCH}.get(root, CHECKOUT / root).joinpath(*parts)
    if not path.is_dir():
        files = [path.with_suffix(suffix) for suffix in (".py", ".pyx") if path.with_suffix(suffix).is_file()]
        if not files:
            raise FileNotFoundError(
                f"'{module}' is no module of adforest, the rivals, the streams or nextbatch; name one that is"
            )
        return files[0]
    if name and any((path / f"{name}{suffix}").exists() for suffix in ("", ".py", ".pyx")):
        return _find_file(f"{module}.{name}")
    for node in _parse(path / "__init__.py").body:
        if isinstance(node, ast.ImportFrom) and name in {alias.asname or alias.name for alias in node.names}:
            original = next(alias.name for alias in node.names if name == (alias.asname or alias.name))
            return _find_file(str(node.module), original)
    return path / "__init__.py"


def _parse(file: Path) -> ast.Module:
    """Return the syntax tree of a Python file."""
    return _parsed(file, _stamp(file))


@cache
def _parsed(file: Path, stamp: tuple[int, int]) -> ast.Module:
    """Return the syntax tree of a Python file as it was at that stamp, without its docstrings."""
    return parse_code(file.read_bytes())


def _digest_files(files: Iterable[Path]) -> str:
    """Return the fingerprint of some files and their names."""
    digests = []
    for file in files:
        root = next((root for root in (PACKAGE, CHECKOUT) if file.is_relative_to(root)), file.parent)
        digests.append(f"{file.relative_to(root).as_posix()} {_digest_file(file, _stamp(file))}")
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()


@cache
def _digest_file(file: Path, stamp: tuple[int, int]) -> str:
    """Return the fingerprint of a source file as it was at that stamp."""
    code = describe_tree(_parse(file)).encode() if file.suffix == ".py" else file.read_bytes()
    return hashlib.sha256(code).hexdigest()


def _stamp(file: Path) -> tuple[int, int]:
    """Return what tells that a file was written to."""
    status = file.stat()
    return status.st_mtime_ns, status.st_size


LOADED = _stamp_code()
