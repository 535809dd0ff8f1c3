from dataclasses import replace

from hypothesis import example, given
from markdown_it import MarkdownIt

from chapters import CHAPTERS, EMPTY, tables, words
from experiments.reporting.chapter import Table
from experiments.reporting.markdown import write_markdown
from experiments.reporting.table_format import format_table


def read_markdown(text):
    """Return the tables of a Markdown text as a reader sees them, and its other blocks of text."""
    found, blocks, row, is_table = [], [], None, False
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "table_open":
            found.append([])
        if token.type in ("table_open", "table_close"):
            is_table = token.type == "table_open"
        if token.type == "tr_open":
            row = []
            found[-1].append(row)
        if token.type == "inline":
            parts = ["".join(one.content for one in token.children), {one.type for one in token.children}]
            (row if is_table else blocks).append(parts)
    return found, blocks


def write_and_read(chapters, folder):
    write_markdown(chapters, folder / "new" / "results.md")
    return (folder / "new" / "results.md").read_text(encoding="utf-8")


def test_markdown_tables_hold_the_cells(tmp_path):
    found, _ = read_markdown(write_and_read(CHAPTERS, tmp_path))
    grids = [format_table(table) for chapter in CHAPTERS for table in chapter.tables]
    assert len(found) == len(grids)
    for rows, grid in zip(found, grids, strict=True):
        assert [text for text, _ in rows[0]] == list(grid.heads)
        assert [[text for text, _ in row] for row in rows[1:]] == [[cell.text for cell in row] for row in grid.rows]
        assert [["strong_open" in kinds for _, kinds in row] for row in rows[1:]] == [
            [cell.is_best for cell in row] for row in grid.rows
        ]


def test_markdown_says_everything_in_order(tmp_path):
    text = write_and_read(CHAPTERS, tmp_path)
    said = [said for said, _ in read_markdown(text)[1]]
    assert "python -m experiments" in text.splitlines()[2]
    for chapter in CHAPTERS:
        places = [said.index(one) for one in (chapter.question, *chapter.findings[1:], *chapter.caveats[1:])]
        assert places == sorted(places)
        assert f"$ {chapter.command}\n" in text
    assert "## Who is right most often?" in text
    assert "- [Who is right most often?](#who-is-right-most-often)" in text


def test_markdown_has_no_html(tmp_path):
    for _, kinds in read_markdown(write_and_read(CHAPTERS, tmp_path))[1]:
        assert "html_inline" not in kinds


@given(table=tables(), sentence=words)
@example(table=Table("", ("__0__",), (("_ _",),)), sentence="__init__ a_b _c_")
def test_any_text_reads_the_same_in_markdown(tmp_path_factory, table, sentence):
    chapter = replace(EMPTY, tables=(table,), findings=(f"x {sentence}", sentence))
    found, blocks = read_markdown(write_and_read([chapter], tmp_path_factory.mktemp("markdown")))
    (rows,) = found
    grid = format_table(table)
    assert [[text for text, _ in row] for row in rows[1:]] == [[cell.text for cell in row] for row in grid.rows]
    assert [text for text, _ in rows[0]] == list(grid.heads)
    assert " ".join(f"x {sentence}".split()) in [text for text, _ in blocks]
