"""tools/vocabulary.py: expressions that are not to be used are found, in prose, messages and names."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("vocabulary", ROOT / "tools" / "vocabulary.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = """# Title

Weights are drawn by
lot.

```python
nearness = 1  # by lot
```
`nearness` is code, Nearness is not.
"""
MODULE = """'''Return class shares.'''

text = "class shares"  # `class shares`
n = 1  # class share
"""
KERNEL = '''"""Return class
shares."""

cdef str text = "class shares"  # `class shares`, by lot
'''


def test_expressions_are_found_in_prose_with_their_lines(tool):
    assert [one[:2] for one in tool.find(tool.prose_of_page(PAGE))] == [(3, "by\nlot"), (9, "Nearness")]


def test_docstrings_comments_and_messages_of_a_module_are_prose(tool):
    assert list(tool.find(tool.prose_of_module(MODULE))) == [
        (1, "class shares", "class probabilities"),
        (3, "class shares", "class probabilities"),
        (4, "class share", "class probabilities"),
    ]


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("raise ValueError('expected a whole number')", [(1, "whole number")]),
        ("print(f'{n} of {came} are made up')", [(1, "made up")]),
        ("print(\n    'start it '\n    f'anew, {name}'\n)", [(3, "anew")]),
        ("print(\n    'it is '\n    'told'\n)", [(2, "is \ntold")]),
        ("print('`whole number` is code')", []),
    ],
)
def test_messages_are_read(tool, message, found):
    assert [one[:2] for one in tool.find(tool.prose_of_module(message))] == found


NAMES = """
class Share:
    def told(self, place, *lots, held=1, **came):
        self.row_share = share_of.place = len(shared)
        for place_of, replaced in plots: other = [nearness for nearness in x]

async def n_shares(): return place.shares

import places as told
try: came()
except ValueError as held: pass
"""


def test_names_that_a_module_defines_are_read(tool):
    found = [one[:2] for one in tool.find_names(tool.names_of_module(NAMES))]
    assert sorted(found) == [
        (2, "Share"),
        *((3, name) for name in ("came", "held", "lots", "place", "told")),
        *((4, name) for name in ("place", "row_share")),
        *((5, name) for name in ("nearness", "place_of")),
        (7, "n_shares"),
        (9, "told"),
        (11, "held"),
    ]


def test_all_names_of_a_kernel_are_read(tool):
    kernel = (
        '"""The place."""\ncdef int by_place(int n, double held) nogil:  # share\n    return f("told") + MAX_SHARE\n'
    )
    found = [one[:2] for one in tool.find_names(tool.names_of_kernel(kernel))]
    assert found == [(2, "by_place"), (2, "held"), (3, "MAX_SHARE")]


def test_only_docstrings_and_comments_of_a_kernel_are_prose(tool):
    assert [one[:2] for one in tool.find(tool.prose_of_kernel(KERNEL))] == [(1, "class\nshares"), (4, "by lot")]


def test_the_list_of_words_to_avoid_may_name_them(tool):
    page = "## Vocabulary\n\n| recency | nearness |\n\n## Next\n\nnearness\n"
    assert [one[0] for one in tool.find(tool.prose_of_page(page))] == [7]


def test_a_page_with_such_an_expression_ends_the_check_with_1(tool, tmp_path, monkeypatch, capsys):
    (tmp_path / "README.md").write_text("Samples at hand.\n", encoding="utf-8")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    assert tool.main() == 1
    assert (
        capsys.readouterr().out == "README.md:1: 'Samples at hand'; write: samples in memory; the current batch, node\n"
    )
    (tmp_path / "README.md").write_text("Samples in memory.\n", encoding="utf-8")
    assert tool.main() == 0


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("some.py", "row_place = 1\n", "'row_place'; write: index, row, position"),
        ("some.py", "row = 'a whole number'\n", "'whole number'; write: integers"),
        ("some.pyi", "def told() -> None: ...\n", "'told'; write: text, message, summary"),
        ("_kernels/some.pyx", "cdef int held = 1\n", "'held'; write: before, counts, lock"),
        (
            "_kernels/some.pxd",
            "cdef int x  # of the cut at hand\n",
            "'cut at hand'; write: samples in memory; the current ",
        ),
        ("service/some.py", "place = 'made up'\n", "'made up'; write: simulated"),  # its names are not checked yet
    ],
)
def test_a_source_with_such_a_name_or_message_ends_the_check_with_1(
    tool, tmp_path, monkeypatch, capsys, file, text, found
):
    path = tmp_path / "src" / "adforest" / file
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    assert tool.main() == 1
    assert capsys.readouterr().out.startswith(f"src/adforest/{file}:1: {found}")
