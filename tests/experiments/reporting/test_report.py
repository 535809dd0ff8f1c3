import builtins
import io
import json
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("plotly", reason="plotly is not installed: pip install 'adforest[experiments]'")
pytest.importorskip("rich", reason="rich is not installed: pip install 'adforest[experiments]'")

from markdown_it import MarkdownIt
from rich.cells import cell_len
from rich.console import Console

from experiments.reporting import plots
from experiments.reporting.chapter import Chapter, Figure, Table
from experiments.reporting.page import write_report
from experiments.reporting.rank_diagram import rank_diagram
from experiments.reporting.report import print_chapter, write_markdown
from experiments.reporting.table_format import format_table

NAN, INF = float("nan"), float("inf")
EVIL = "</script><script>alert(1)</script><img src=//adforest.invalid/x onerror=f()> & \"quoted\" 'too' | *x* [y]"
METHODS = ("ADF-R", "RF last 3", "LeveragingBag", *(f"rival {number}" for number in range(17)))
SETS = ("LDPA", "UIFWA", "EB", "AReM", "Avila", "House")

WIDE = Table(
    "Mean accuracy",
    ("data set", *METHODS),
    tuple((name, *(0.9 - 0.01 * (row + place) for place in range(20))) for row, name in enumerate(SETS)),
    best="max",
    note="Over 34 batches.",
)
LONG = Table(
    "By batch",
    ("batch", "stage", "train", "ADF-R", "HT"),
    tuple((b, "MKC-1", 2000 + b, 0.8, b / 50) for b in range(34)),
)
GAPPY = Table("Gaps", ("data set", "ADF-R", "HT", "why"), (("LDPA", None, NAN, "n/a"), ("EB", INF, -INF, "")))

CHAPTER = Chapter(
    name="accuracy",
    title="Who is right most often?",
    question="Which method is right most often, on average over the batches?",
    findings=("ADF-R is ahead on 4 of 6 data sets.", "It loses to RF last 3 on EB by 0.7 points."),
    caveats=("The defaults were chosen on these streams.", "One seed."),
    tables=(WIDE, LONG, GAPPY),
    figures=(
        Figure("Along the batches", plots.lines({"ADF-R": [0.7, 0.8], "HT": [0.5, NAN]}, [1, 2]), "Up is good."),
        Figure("By data set", plots.dots({"ADF-R": [0.7, 0.8], "HT": [0.5, 0.6]}, ["LDPA", "EB"])),
    ),
    command="python -m experiments accuracy",
)
EMPTY = Chapter("empty", "Nothing yet", "Is there anything?", (), (), (), (), "python -m experiments empty")
EVIL_CHAPTER = Chapter(
    "evil",
    EVIL,
    EVIL,
    (EVIL,),
    (EVIL,),
    (Table(EVIL, (EVIL, "ADF-R", "HT"), ((EVIL, 0.5, 0.4), ("</td>", EVIL, None)), best="max", note=EVIL),),
    (
        Figure(EVIL, plots.bars({EVIL: [1.0, 2.0], "ADF-R": [2.0, 1.0]}, [EVIL, "EB"], title=EVIL), EVIL),
        Figure("Heat", plots.heatmap([[0.1, None], [INF, 0.2]], ["<b>", 2], [1, 2], x_title=EVIL, chosen=(2, 1))),
        Figure("Ranks", rank_diagram({"ADF-R": 1.2, "HT": 2.8, EVIL: 2.0}, 1.0)),
        Figure("Cost", plots.scatter({"ADF-R": (0.1, 0.9), EVIL: (3.0, 0.5)}, x_title="s", y_title=EVIL, log_x=True)),
    ),
    f"python -m experiments '{EVIL}'",
)
BY_HAND = Figure("By hand", {"data": [{"type": "scatter", "y": [1, 2], "name": EVIL}], "layout": {"showlegend": True}})
EVIL_CHAPTER = replace(EVIL_CHAPTER, figures=(*EVIL_CHAPTER.figures, BY_HAND))
CHAPTERS = [CHAPTER, EMPTY, EVIL_CHAPTER]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapter_survives_json(chapter):
    assert Chapter.from_json(chapter.to_json()) == chapter
    without_nan = replace(chapter, tables=tuple(table for table in chapter.tables if table is not GAPPY))
    assert Chapter.from_json(json.loads(json.dumps(without_nan.to_json()))) == without_nan


# Cells


def shown(*cells, **options):
    (row,) = format_table(Table("", tuple(map(str, range(len(cells)))), (cells,), **options)).rows
    return [cell.text for cell in row]


def best_of(*cells, best="max", digits=3):
    (row,) = format_table(Table("", tuple(map(str, range(len(cells)))), (cells,), digits, best)).rows
    return [place for place, cell in enumerate(row) if cell.is_best]


def test_cells_are_shown_with_their_digits():
    assert shown("x", 0.12345, 1234.5, 164860, "a  b\n", digits=2) == ["x", "0.12", "1,234.50", "164,860", "a b"]
    assert shown("x", None, NAN, INF, -INF, -0.0001) == ["x", "–", "–", "∞", "-∞", "0.000"]


def test_best_is_the_highest_or_the_lowest():
    assert best_of("x", 0.3, 0.5, None, NAN, 0.4) == [2]
    assert best_of("x", 0.3, 0.5, best="min") == [1]
    assert best_of("x", 0.3, 0.5, best="") == []


def test_what_looks_the_same_as_the_best_is_best_too():
    assert best_of("x", 0.8004, 0.7996, 0.7) == [1, 2]
    assert best_of("x", "0.803 ± 0.004", "0.803 ± 0.010", "0.790 ± 0.001") == [1, 2]


def test_there_is_no_best_without_a_contest():
    assert best_of("x", 0.8, "words", None) == []


def test_counts_do_not_compete_with_measures():
    assert best_of(7, 3000, 0.8, 0.7) == [2]
    assert best_of("x", 3000, 2000) == [1]
    assert best_of(900, 3, 2) == [1]  # the first column names the row


def test_table_wider_than_long_lies_on_its_side():
    grid = format_table(WIDE)
    assert grid.heads == ("", *SETS)
    assert [row[0].text for row in grid.rows] == list(METHODS)
    assert [[cell.is_best for cell in row[1:]] for row in grid.rows] == [[True] * 6] + [[False] * 6] * 19
    assert grid.best == "the highest of its column"
    assert format_table(LONG).heads == LONG.columns


def test_numeric_columns_hold_numbers_and_dashes_only():
    assert format_table(LONG).is_numeric == (True, False, True, True, True)
    assert format_table(GAPPY).is_numeric == (False, True, True, False)
    assert format_table(Table("", ("a", "b"), ())).is_numeric == (False, False)


def test_row_with_too_few_cells_is_refused():
    with pytest.raises(ValueError, match=r"'Short' has 3 columns but a row of 2 cells"):
        format_table(Table("Short", ("a", "b", "c"), (("x", 1.0),)))


words = st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), max_size=20)
cells = st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-(10**6), 10**6), words)


@st.composite
def tables(draw):
    n_columns, n_rows = draw(st.integers(1, 14)), draw(st.integers(0, 4))
    rows = draw(st.lists(st.tuples(words, *[cells] * (n_columns - 1)), min_size=n_rows, max_size=n_rows))
    heads = draw(st.lists(words, min_size=n_columns, max_size=n_columns))
    return Table(draw(words), tuple(heads), tuple(rows), best=draw(st.sampled_from(["max", "min", ""])))


# In a terminal


def printed(chapter, width=100, **options):
    console = Console(file=io.StringIO(), width=width, highlight=False, **options)
    print_chapter(chapter, console)
    return console.file.getvalue()


def test_print_says_everything():
    text = " ".join(printed(CHAPTER).split())
    for said in (CHAPTER.title, CHAPTER.question, *CHAPTER.findings, *CHAPTER.caveats, CHAPTER.command, WIDE.note):
        assert said in text
    assert [text.index(part) for part in ("What came out", "Mean accuracy", "What to doubt", "Again:")] == sorted(
        text.index(part) for part in ("What came out", "Mean accuracy", "What to doubt", "Again:")
    )


@pytest.mark.parametrize("width", [60, 100, 200])
def test_printed_numbers_are_whole_and_lines_fit(width):
    text = printed(replace(CHAPTER, tables=(replace(LONG, columns=LONG.columns[:3] + METHODS[:2]), WIDE)), width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert "…" not in text
    for row in (*format_table(LONG).rows, *format_table(WIDE).rows):
        assert all(cell.text in text for cell in row)


def test_wide_table_is_parted_and_each_part_names_its_rows():
    square = Table("Square", ("data set", *METHODS), tuple((f"row {n}", *[n / 50] * 20) for n in range(25)))
    text = printed(replace(CHAPTER, tables=(square,)))
    parts = text.count("row 24")
    assert parts > 1
    assert text.count("data") - text.count("data sets") == parts  # "data set", on one line or two
    assert text.count("0.480") == 20


def test_word_wider_than_the_terminal_is_folded_not_cut():
    assert printed(replace(EMPTY, tables=(Table("t", ("a", "b"), (("x", "§" * 150),)),))).count("§") == 150


def test_best_is_bold_on_a_terminal_and_starred_elsewhere():
    table = Table("t", ("data set", "ADF-R", "HT"), (("LDPA", 0.5, 0.4), ("EB", 0.1, 0.2)), best="max")
    chapter = replace(EMPTY, tables=(table,))
    plain = printed(chapter)
    assert "*0.500" in plain
    assert "*: the highest of its row." in plain
    assert [line.index("0.") for line in plain.splitlines() if re.search(r"0\.[51]00", line)] == [11, 11]
    styled = printed(chapter, force_terminal=True, color_system="standard")
    assert "\x1b[1m0.500\x1b[0m" in styled
    assert "Bold: the highest of its row." in styled


def test_print_shows_markup_as_it_stands():
    text = printed(replace(EMPTY, findings=("[bold]not bold[/bold] :smile:",)))
    assert "[bold]not bold[/bold] :smile:" in text


def test_empty_chapter_and_empty_table_are_printed():
    assert "What came out" not in printed(EMPTY)
    assert "no rows" in printed(replace(EMPTY, tables=(Table("t", ("a", "b"), ()),)))


def test_print_is_100_columns_wide_where_nobody_watches(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    print_chapter(replace(CHAPTER, findings=("word " * 60,)))
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) == 100
    assert "\x1b" not in said


@given(tables(), st.integers(40, 120))
def test_any_table_fits_the_terminal(table, width):
    text = printed(replace(EMPTY, tables=(table,), command=""), width)
    assert all(cell_len(line) <= width for line in text.splitlines())


# In Markdown


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
def test_any_text_reads_the_same_in_markdown(tmp_path_factory, table, sentence):
    chapter = replace(EMPTY, tables=(table,), findings=(f"x {sentence}", sentence))
    found, blocks = read_markdown(write_and_read([chapter], tmp_path_factory.mktemp("markdown")))
    (rows,) = found
    grid = format_table(table)
    assert [[text for text, _ in row] for row in rows[1:]] == [[cell.text for cell in row] for row in grid.rows]
    assert [text for text, _ in rows[0]] == list(grid.heads)
    assert f"x {sentence}".strip() in [text for text, _ in blocks] or not sentence.strip()


# On a page


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text by element."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in ("meta", "link", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)

    def all(self, tag, **attributes):
        return [found for name, found in self.elements if name == tag and attributes.items() <= found.items()]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "new" / "report.html"
    write_report(CHAPTERS, path)
    return path


@pytest.fixture(scope="module")
def page(report):
    return Page(report.read_text(encoding="utf-8"))


def test_page_is_well_formed_and_has_one_section_for_each_chapter(page):
    assert page.open == []
    assert [one["id"] for one in page.all("section")] == [
        "summary",
        "chapter-accuracy",
        "chapter-empty",
        "chapter-evil",
    ]
    assert len(page.all("h1")) == 1
    assert len(page.all("h2")) == 1 + len(CHAPTERS)


def test_page_says_everything(page):
    for chapter in CHAPTERS:
        for said in (chapter.title, chapter.question, *chapter.findings, *chapter.caveats, chapter.command):
            assert said in page.texts
        for table in chapter.tables:
            assert all(cell.text in page.texts for row in format_table(table).rows for cell in row if cell.text)


def test_links_lead_somewhere_within_the_page(page):
    places = {found["id"] for _, found in page.elements if "id" in found}
    links = [found["href"] for found in page.all("a")]
    assert len(links) == 1 + 1 + 2 * len(CHAPTERS)
    assert all(link.startswith("#") and link[1:] in places for link in links)


def test_page_loads_nothing(page):
    assert page.all("img") == page.all("iframe") == []
    assert [found["href"] for found in page.all("link")] == ["data:,"]
    assert not any("src" in found for _, found in page.elements)
    (policy,) = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy["content"].startswith("default-src 'none'; script-src 'sha256-")


def test_plotly_is_in_the_page_once(report):
    assert report.read_text(encoding="utf-8").count("* plotly.js v") == 1


def test_text_is_never_markup(page, report):
    assert len(page.all("script")) == 3
    assert "<script>alert" not in report.read_text(encoding="utf-8")
    assert not any(name.startswith("on") for _, found in page.elements for name in found)


def test_data_are_json_without_nan(report):
    text = report.read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/json" id="report-data">(.*?)</script>', text)

    def refuse(constant):
        raise AssertionError(constant)

    figures = json.loads(data, parse_constant=refuse)["figures"]
    assert figures == [figure.plot for chapter in CHAPTERS for figure in chapter.figures]


def test_nan_in_a_figure_made_by_hand_becomes_null(tmp_path):
    chapter = replace(EMPTY, figures=(Figure("x", {"data": [{"y": (1.0, NAN, INF)}]}),))
    write_report([chapter], tmp_path / "report.html")
    assert '{"data":[{"y":[1.0,null,null]}]}' in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_page_can_be_read_aloud(page):
    assert page.all("html") == [{"lang": "en"}]
    n_figures = sum(len(chapter.figures) for chapter in CHAPTERS)
    labels = [found["aria-label"] for found in page.all("div", role="img")]
    assert len(labels) == len(page.all("figure")) == len(page.all("figcaption")) == n_figures
    assert labels[0] == "Figure: Along the batches. Up is good."
    assert all("scope" in found for found in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table")) - 1 == 4


def test_long_tables_are_folded_and_ours_are_tinted(page):
    assert len(page.all("details")) == 1
    assert "34 rows" in page.texts
    assert len(page.all("tr", **{"class": "ours"})) == 1  # the wide table, on its side
    assert page.all("th", **{"class": "num ours"})


def test_page_without_chapters_says_so(tmp_path):
    write_report([], tmp_path / "report.html")
    assert "Nothing has been run yet." in Page((tmp_path / "report.html").read_text(encoding="utf-8")).texts


def test_same_chapters_make_the_same_page(report, tmp_path):
    write_report(CHAPTERS, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_bytes() == report.read_bytes()


@pytest.mark.parametrize(
    ("missing", "show"),
    [("plotly", lambda folder: write_report([EMPTY], folder / "x.html")), ("rich", lambda _: print_chapter(EMPTY))],
)
def test_missing_extra_says_what_to_install(missing, show, monkeypatch, tmp_path):
    real = builtins.__import__

    def refuse(name, *arguments, **keywords):
        if name.split(".")[0] == missing:
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=rf"needs {missing}, .*pip install 'adforest\[experiments\]'"):
        show(tmp_path)


# In a browser

OURS_LIGHT, OURS_DARK = "rgb(0, 114, 178)", "rgb(77, 178, 240)"
CHROMIUM = shutil.which("chromium")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not on PATH: apt-get install chromium")


@dataclass(frozen=True)
class Visit:
    """What a browser made of a page: its elements after all scripts, what they printed, and what they asked for."""

    dom: str
    console: list[str]
    requests: list[str]

    @property
    def figures(self):
        return re.findall(r'<div class="plot.*?</figure>', self.dom, re.DOTALL)


def visit(page, folder, *flags):
    log = folder / "net.json"
    done = subprocess.run(
        [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            *("--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'profile'}"),
            *("--enable-logging=stderr", f"--log-net-log={log}", "--virtual-time-budget=5000", "--dump-dom"),
            *(*flags, page.as_uri()),
        ],
        **{"capture_output": True, "text": True, "timeout": 120, "encoding": "utf-8"},
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(log.read_text(encoding="utf-8"))
    start = record["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    asked = [
        event["params"] for event in record["events"] if event["type"] == start and "url" in event.get("params", {})
    ]
    return Visit(
        dom=done.stdout,
        console=re.findall(r":CONSOLE.*", done.stderr),
        # The browser's own errands come from no origin; those of a page do.
        requests=[one["url"] for one in asked if one.get("initiator", "not an origin") != "not an origin"],
    )


# A browser takes seconds to start, so each of these two looks at many things.


@needs_browser
def test_page_draws_every_figure_and_nothing_leaves_the_machine(report, tmp_path):
    seen = visit(report, tmp_path)
    assert seen.console == []
    assert seen.requests == []
    plotted = [figure.plot for chapter in CHAPTERS for figure in chapter.figures]
    assert f'data-drawn="{len(plotted)}" data-failed="0"' in seen.dom
    assert len(seen.figures) == len(plotted)
    for drawn, plot in zip(seen.figures, plotted, strict=True):
        assert drawn.startswith('<div class="plot js-plotly-plot"')
        assert "main-svg" in drawn
        assert len(re.findall(r'<g class="(?:trace (?:scatter|bars)|hm)\b', drawn)) == len(plot["data"])
    assert "alert(1)&lt;/script&gt;" in seen.figures[2]  # a name with markup, shown as it stands
    assert "<img" not in seen.dom
    assert OURS_LIGHT in seen.figures[0]
    assert OURS_DARK not in seen.figures[0]


@needs_browser
def test_page_in_the_dark_with_a_broken_figure_a_click_and_a_script_that_misbehaves(report, tmp_path):
    text = re.sub(r"<meta http-equiv=.*?>", "", report.read_text(encoding="utf-8"))  # the policy would stop the script
    text = text.replace('{"figures":[', '{"figures":[null,', 1)
    click = "document.querySelectorAll('details th button')[4].click()"
    wrong = "console.error('wrong'); fetch('https://adforest.invalid/x').catch(() => {})"
    (tmp_path / "page.html").write_text(text.replace("</body>", f"<script>{click};{wrong}</script></body>"), "utf-8")
    seen = visit(tmp_path / "page.html", tmp_path, "--blink-settings=preferredColorScheme=0")

    # What the test above must not find is found here.
    assert any("wrong" in line for line in seen.console)
    assert seen.requests == ["https://adforest.invalid/x"]

    n_figures = sum(len(chapter.figures) for chapter in CHAPTERS)
    assert f'data-drawn="{n_figures - 1}" data-failed="1"' in seen.dom
    assert "This figure could not be drawn" in seen.figures[0]
    assert OURS_DARK in seen.figures[1]
    assert OURS_LIGHT not in seen.figures[1]

    (table,) = re.findall(r"<details.*?</details>", seen.dom, re.DOTALL)
    assert 'aria-sort="descending"' in table
    batches = re.findall(r'<tr><th scope="row" class="num" data-value="([\d.]+)"', table)
    assert [float(batch) for batch in batches] == list(range(33, -1, -1))
