"""Check wheels: at most 6 MB, and kernels without symbols.

Run: python tools/check_wheel.py dist/*.whl; it prints each wheel, and ends with 1 if one is not as it should be.
Symbols are looked for in ELF files, those of Linux; on macOS the linker leaves them out (meson.build), on Windows
compilers keep them beside the kernel.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

MAX_BYTES = 6_000_000
SYMBOLS = b".symtab"  # the table that stripping removes from ELF files


def troubles(path: Path) -> Iterator[str]:
    """Yield what is wrong with a wheel."""
    if path.stat().st_size > MAX_BYTES:
        yield f"has {path.stat().st_size:,} bytes; expected at most {MAX_BYTES:,}"
    with zipfile.ZipFile(path) as wheel:
        kernels = [name for name in wheel.namelist() if name.endswith((".so", ".pyd"))]
        if not kernels:
            yield "has no kernels; expected compiled modules"
        for name in kernels:
            if SYMBOLS in wheel.read(name):
                yield f"has symbols in {name}; build it with -Dbuildtype=release"


def main(paths: list[str]) -> int:
    """Print what is found; return the exit code."""
    n_found = 0
    for path in map(Path, paths):
        found = list(troubles(path))
        print(f"{path.name}: {path.stat().st_size:,} bytes", *found, sep="\n  ")
        n_found += len(found)
    return int(n_found > 0 or not paths)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
