"""Find expressions that docs/contributing.md replaces by scikit-learn's terms: in prose, in messages and in names.

Prose is pages, docstrings and comments; messages are the other strings of a module; names are those that it defines.
Run: python tools/vocabulary.py; it prints each line with what to write instead, and ends with 1 if there are any.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "CHANGELOG.md", "docs/**/*.md", "examples/*.py")
SOURCES = ("src/adforest/**/*.py", "src/adforest/**/*.pyi")
KERNELS = ("src/adforest/**/*.pyx", "src/adforest/**/*.pxd")
GENERATED = {"docs/results.md"}  # its chapters are written by experiments
INSTEAD = {
    r"class shares?": "class probabilities",
    r"by lot|draws? (?:no )?lots|weights are lots": "bootstrap, sampling, stochastic rounding",
    r"nearness": "recency",
    r"optimism": "out-of-bag bias",
    r"\w+ at hand": "samples in memory; the current batch, node",
    r"(?:records?|samples|what) (?:that )?waits?": "pending samples",
    r"is (?:the model|it|a model) well": "health",
    r"(?:three|four|both|two) ways? to answer": "variants",
    r"who answers": "vote, weights of the forests",
    r"anew": "again, regrow, restart, rewrite",
    r"came": "was seen, was given, arrived",
    r"no longer comes?|have not come": "is no longer seen",
    r"(?:right|wrong) answers?": "correct, wrong predictions",
    r"(?:is|are|be) told": "is reported, detected, shown",
    r"says? otherwise": "unless it is given, set",
    r"what (?:is|was) (?:told|said|kept|asked|known)": "name it: description, message, samples, request",
    r"what (?:comes|became) (?:next|of)|what comes": "the next batch, result, status",
    r"what errors (?:and warnings )?call": "name in errors",
    r"whoever": "name who: the caller, the client, the next process",
    r"learns? beside": "learns the same batches, learns in the background",
    r"little room": "few bytes, small",
    r"(?:batch|cut|split) (?:that )?pays for": "budget, penalty",
    r"for ever": "permanently, without bound",
    r"lets? go of": "drop",
    r"made[- ]up": "simulated",
    r"whole numbers?": "integers",
    r"trees? that stands?": "existing trees",
    r"costs? what it must": "the effect, in numbers",
    r"for good": "permanently",
    r"(?:gets?|takes?) the credit": "has the contribution",
    r"(?:is|are) what (?:it|they) says?": "is correct, calibrated",
    r"told of (?:it|them)": "that is given, knows",
}
NAMES = {  # by a part of a name: what else to call it
    "anew": "again",
    "came": "before, given, seen",
    "held": "before, counts, lock",
    "lot": "bootstrap, sample",
    "nearness": "recency",
    "optimism": "bias",
    "place": "index, row, position",
    "share": "fraction, proportion",
    "told": "text, message, summary",
}
KEPT = {  # by the beginning of a path: expressions and names that stay, most of them because they are public
    "src/adforest/adaptation/tuning.py": {"right answer", "right answers"},
    "src/adforest/service/": {"place"},  # a column of the tables
    "src/adforest/simulation/": {"X_held", "y_held", "n_held", "HELD_SHARE", "TEST_SHARE", "large_leaf_share"},
}
SPACE = r"\s+(?:# )?"  # an expression may begin on one line and end on the next
EXPRESSION = re.compile("|".join(rf"(\b(?:{one.replace(' ', SPACE)})\b)" for one in INSTEAD), re.IGNORECASE)


def prose_of_page(text: str) -> str:
    """Return a page with code, and the list of words to avoid, blanked out; lines keep their numbers."""
    hidden = r"^```.*?^```|`[^`\n]*`|\]\([^)]*\)|^## Vocabulary\n.*?(?=^## )"
    return re.sub(hidden, lambda found: "\n" * found[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)


def prose_of_module(text: str) -> str:
    """Return docstrings, comments and all other strings of a module, its code blanked out; lines keep their numbers."""
    lines = [""] * (text.count("\n") + 1)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        prose = token.string
        if token.type == tokenize.STRING:
            prefix, prose = re.fullmatch(r"(\w*)(.*)", prose, re.DOTALL).groups()  # type: ignore[union-attr]
            if "f" in prefix.lower():  # until Python 3.11, an f-string is one token
                prose = re.sub(r"\{[^{}]*\}", "{}", prose)
            quotes = r"^(\"{3}|\"|'{3}|')(.*)\1$"  # an expression may begin in one string, end in the next
            prose = re.sub(quotes, r"\2", prose, flags=re.DOTALL)
        elif token.type not in (tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.COMMENT)):
            continue
        for number, line in enumerate(prose.split("\n"), token.start[0] - 1):
            lines[number] += line
    return re.sub(r"`[^`\n]*`", "", "\n".join(lines))


def prose_of_kernel(text: str) -> str:
    """Return docstrings and comments of a Cython module, everything else blanked out; lines keep their numbers."""
    kept, end = "", 0
    for found in re.finditer(r'"""(.*?)"""|# (.*?)$', text, re.MULTILINE | re.DOTALL):
        kept += "\n" * text.count("\n", end, found.start()) + (found[1] or found[2] or "")
        end = found.end()
    return re.sub(r"`[^`\n]*`", "", kept)


def names_of_module(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of what a module defines: variables, attributes, parameters, functions and classes."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler) and node.name:
            yield node.lineno, node.name
        elif isinstance(node, ast.alias) and node.asname:
            yield node.lineno, node.asname


def names_of_kernel(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of all names of a Cython module: nearly all that it uses are its own."""
    hidden = r'""".*?"""|"[^"\n]*"|#.*?$'
    code = re.sub(hidden, lambda found: "\n" * found[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    for found in re.finditer(r"[A-Za-z_]\w*", code):
        yield code.count("\n", 0, found.start()) + 1, found[0]


def find_names(names: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str, str]]:
    """Yield line, name and what else to call it, for each name that has a part that is to be avoided."""
    for line, name in names:
        for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name):
            plain = part.lower()
            instead = NAMES.get(plain) or NAMES.get(plain.removesuffix("s"))
            if instead:
                yield line, name, instead


def find(prose: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, expression and what to write instead."""
    for found in EXPRESSION.finditer(prose):
        yield prose.count("\n", 0, found.start()) + 1, found[0], list(INSTEAD.values())[(found.lastindex or 1) - 1]


def files(*patterns: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of the files of patterns."""
    for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
        name = path.relative_to(ROOT).as_posix()
        if name not in GENERATED:
            yield name, path.read_text(encoding="utf-8")


def findings(name: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, expression or name and what to write instead, of one file."""
    suffix = Path(name).suffix
    if suffix in (".pyx", ".pxd"):
        prose, names = prose_of_kernel(text), names_of_kernel(text)
    elif name.startswith("src/"):
        prose, names = prose_of_module(text), names_of_module(text)
    else:
        prose, names = prose_of_page(text), iter(())
    yield from find(prose)
    yield from find_names(names)


def main() -> int:
    """Print what is found; return the exit code."""
    n_found = 0
    for name, text in files(*PAGES, *SOURCES, *KERNELS):
        kept = {one for start, ones in KEPT.items() if name.startswith(start) for one in ones}
        for line, expression, instead in findings(name, text):
            if expression not in kept:
                print(f"{name}:{line}: {expression!r}; write: {instead}")
                n_found += 1
    return int(n_found > 0)


if __name__ == "__main__":
    sys.exit(main())
