"""tools/vocabulary.py: expressions that are not to be used are found, in prose alone."""

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


def test_only_docstrings_and_comments_of_a_module_are_prose(tool):
    assert list(tool.find(tool.prose_of_module(MODULE))) == [
        (1, "class shares", "class probabilities"),
        (4, "class share", "class probabilities"),
    ]


def test_only_docstrings_and_comments_of_a_kernel_are_prose(tool):
    assert [one[:2] for one in tool.find(tool.prose_of_kernel(KERNEL))] == [(1, "class\nshares"), (4, "by lot")]


def test_the_list_of_words_to_avoid_may_name_them(tool):
    page = "## Vocabulary\n\n| recency | nearness |\n\n## Next\n\nnearness\n"
    assert [one[0] for one in tool.find(tool.prose_of_page(page))] == [7]


def test_a_page_with_such_an_expression_ends_the_check_with_1(tool, tmp_path, monkeypatch, capsys):
    (tmp_path / "README.md").write_text("Samples at hand.\n", encoding="utf-8")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    assert tool.main() == 1
    assert capsys.readouterr().out == "README.md:1: 'Samples at hand'; write: samples in memory, current batch\n"
    (tmp_path / "README.md").write_text("Samples in memory.\n", encoding="utf-8")
    assert tool.main() == 0
