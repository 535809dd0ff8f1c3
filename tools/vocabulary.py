"""Find expressions that docs/contributing.md replaces by scikit-learn's terms, in pages, docstrings and comments.

Run: python tools/vocabulary.py; it prints each place with what to write instead, and ends with 1 if there are any.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "CHANGELOG.md", "docs/**/*.md", "examples/*.py")
SOURCES = ("src/adforest/**/*.py",)
KERNELS = ("src/adforest/**/*.pyx", "src/adforest/**/*.pxd")
GENERATED = {"docs/results.md"}  # its chapters are written by experiments
INSTEAD = {
    r"class shares?": "class probabilities",
    r"by lot|draws? (?:no )?lots|weights are lots": "bootstrap, sampling, stochastic rounding",
    r"nearness": "recency",
    r"optimism": "out-of-bag bias",
    r"(?:records|samples|batch) at hand": "samples in memory, current batch",
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
}
SPACE = r"\s+(?:# )?"  # an expression may begin on one line and end on the next
EXPRESSION = re.compile("|".join(rf"(\b(?:{one.replace(' ', SPACE)})\b)" for one in INSTEAD), re.IGNORECASE)


def prose_of_page(text: str) -> str:
    """Return a page with code, and the list of words to avoid, blanked out; lines keep their numbers."""
    hidden = r"^```.*?^```|`[^`\n]*`|\]\([^)]*\)|^## Vocabulary\n.*?(?=^## )"
    return re.sub(hidden, lambda found: "\n" * found[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)


def prose_of_module(text: str) -> str:
    """Return docstrings and comments of a module, everything else blanked out; lines keep their numbers."""
    lines = [""] * (text.count("\n") + 1)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 1] += token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[number] = text.splitlines()[number]
    return re.sub(r"`[^`\n]*`", "", "\n".join(lines))


def prose_of_kernel(text: str) -> str:
    """Return docstrings and comments of a Cython module, everything else blanked out; lines keep their numbers."""
    kept, end = "", 0
    for found in re.finditer(r'"""(.*?)"""|# (.*?)$', text, re.MULTILINE | re.DOTALL):
        kept += "\n" * text.count("\n", end, found.start()) + (found[1] or found[2] or "")
        end = found.end()
    return re.sub(r"`[^`\n]*`", "", kept)


def find(prose: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, expression and what to write instead."""
    for found in EXPRESSION.finditer(prose):
        yield prose.count("\n", 0, found.start()) + 1, found[0], list(INSTEAD.values())[(found.lastindex or 1) - 1]


def main() -> int:
    """Print what is found; return the exit code."""
    n_found = 0
    for patterns, prose_of in ((PAGES, prose_of_page), (SOURCES, prose_of_module), (KERNELS, prose_of_kernel)):
        for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            for line, expression, instead in find(prose_of(path.read_text(encoding="utf-8"))):
                if name not in GENERATED:
                    print(f"{name}:{line}: {expression!r}; write: {instead}")
                    n_found += 1
    return int(n_found > 0)


if __name__ == "__main__":
    sys.exit(main())
