"""The tutorial as a notebook, docs/tutorials/tutorial.ipynb, of the cells of examples/tutorial.py.

Run ``python docs/notebook.py`` after a change of the example, which the build of the manual runs.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).parents[1] / "examples" / "tutorial.py"
NOTEBOOK = Path(__file__).parent / "tutorials" / "tutorial.ipynb"
INSTALL = "%pip install -q 'adforest[plot]' pandas"


def as_markdown(text: str) -> str:
    """Return the text of an example, reStructuredText, as Markdown."""
    text = re.sub(r"^(.+)\n=+$", r"# \1", text, flags=re.MULTILINE)
    text = re.sub(r"^(.+)\n-+$", r"## \1", text, flags=re.MULTILINE)
    return text.replace("``", "`").strip()


def cells() -> Iterator[tuple[str, str]]:
    """Yield kind and text of each cell."""
    first, *blocks = re.split(r"^# %%\n", EXAMPLE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    yield "markdown", as_markdown(ast.literal_eval(first.strip()))
    yield "code", INSTALL
    for block in blocks:
        said = re.match(r"(?:#.*\n)*", block)[0]  # type: ignore[index]
        yield "markdown", as_markdown(re.sub(r"^# ?", "", said, flags=re.MULTILINE))
        if code := block[len(said) :].strip():
            yield "code", code


def notebook() -> dict[str, Any]:
    """Return the notebook, without outputs."""
    made = []
    for number, (kind, text) in enumerate(cells()):
        cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text.splitlines(keepends=True)}
        made.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


if __name__ == "__main__":
    NOTEBOOK.parent.mkdir(exist_ok=True)
    NOTEBOOK.write_text(json.dumps(notebook(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
