import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from html.parser import HTMLParser

import pytest

from chapters import CHAPTERS, EMPTY, INF, NAN
from experiments.reporting.chapter import Figure
from experiments.reporting.page import write_report
from experiments.reporting.table_format import format_table


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


def test_missing_extra_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ImportError, match=r"needs plotly, .*pip install 'adforest\[experiments\]'"):
        write_report([EMPTY], tmp_path / "x.html")


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
