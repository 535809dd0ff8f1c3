"""The manual's Python examples run, and print what the pages say they print.

Blocks of a page run one after the other and share their names. A ``text`` block right after a ``python`` block is what
that prints; ``...`` stands for anything, such as seconds. ``python tests/test_manual.py`` writes what they print anew.
Blocks marked ``py`` are parts of the library's own files, and do not run.
"""

import contextlib
import doctest
import io
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ELSEWHERE = {
    "integrations.md",
    "spark.md",
    "monitoring.md",
}  # other libraries, a server: tests/integrations, tests/monitor
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n^```text\n(?P<said>.*?)^```\n)?", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
    if page.name not in ELSEWHERE and "```python\n" in page.read_text(encoding="utf-8")
]


def run_blocks(page):
    """Yield each example of a page with what it printed."""
    names = {"__name__": "__main__"}
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        line = text[: found.start()].count("\n") + 2
        code = compile("\n" * (line - 1) + found["code"], str(page), "exec")  # errors name the line of the page
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(code, names)
        yield found, line, said.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run_and_print_what_is_said(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    checker, options = doctest.OutputChecker(), doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for found, line, said in run_blocks(page):
        if found["said"] is not None:
            assert checker.check_output(found["said"], said, options), (
                f"{page.name}, line {line} prints\n{said}\nnot\n{found['said']}\nrun: python tests/test_manual.py"
            )


def write_anew(page):
    """Put what the examples of a page print below them."""
    text, pieces, end = page.read_text(encoding="utf-8"), [], 0
    for found, _, said in run_blocks(page):
        if found["said"] is not None:
            said = re.sub(r"\d+\.\d+ s\b", "... s", said)  # seconds differ each time
            pieces += [text[end : found.start("said")], said]
            end = found.end("said")
    page.write_text("".join(pieces) + text[end:], encoding="utf-8")


if __name__ == "__main__":
    import os
    import tempfile

    os.environ["MPLBACKEND"] = "agg"
    pages = [Path(name).resolve() for name in sys.argv[1:]] or PAGES
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for one in pages:
            write_anew(one)
