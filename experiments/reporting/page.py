"""One page for all chapters: a file that needs nothing else, and asks nothing of the network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.metadata import version
from itertools import count
from pathlib import Path

from experiments.reporting.chapter import Chapter, Figure, Table
from experiments.reporting.style import DARK_COLOURS, method_style, to_json_data
from experiments.reporting.table_format import FormattedCell, FormattedTable, format_table

HERE = Path(__file__).parent
LONG = 24  # rows; a longer table is folded until the reader opens it
LINE = 36  # characters; a longer cell is broken into lines
INTRO = (
    "ADF-R, ADF-S and ADF-H are adforest on random forest, SysFor and Hoeffding trees; the others are its rivals. Each "
    "chapter ends with what to doubt and with the command that makes it again."
)

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>adforest: experiments</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#summary">Skip to the summary</a>
<nav aria-label="Contents">{contents}</nav>
<main>
<header>
<h1>Adaptive decision forests, measured</h1>
<p>{intro}</p>
</header>
{summary}
{chapters}
<footer><p>adforest {version}. This page is one file and loads nothing: keep it, send it, read it offline.</p></footer>
</main>
<noscript><p>The figures are drawn by a script, which this browser does not run. Everything else is here.</p></noscript>
<script>{plotly}</script>
<script type="application/json" id="report-data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def write_report(chapters: Sequence[Chapter], path: Path) -> None:
    """Write chapters as one HTML page, with Plotly and all figures in it.

    Parameters
    ----------
    chapters : sequence of Chapter
        In the order to be read.
    path : Path
        Where to; missing folders are made.

    Raises
    ------
    ImportError
        If plotly is not installed.
    """
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError(
            "the report needs plotly, which is not installed. Run: pip install 'adforest[experiments]'"
        ) from error
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_page(chapters, get_plotlyjs()), encoding="utf-8", newline="\n")


def _page(chapters: Sequence[Chapter], plotly: str) -> str:
    """Return the page as text."""
    script = (HERE / "page.js").read_text(encoding="utf-8")
    figures = [figure.plot for chapter in chapters for figure in chapter.figures]
    return PAGE.format(
        policy=_policy(plotly, script),
        style=(HERE / "page.css").read_text(encoding="utf-8"),
        contents=_contents(chapters),
        intro=INTRO,
        summary=_summary(chapters),
        chapters="\n".join(_sections(chapters)),
        version=escape(version("adforest")),
        plotly=plotly,
        data=_as_json({"figures": figures, "dark": DARK_COLOURS}),
        script=script,
    )


def _policy(*scripts: str) -> str:
    """Return the policy by which a browser runs these scripts only, and fetches nothing."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"


def _as_json(data: object) -> str:
    """Return data as JSON that cannot end the script element it stands in."""
    text = json.dumps(to_json_data(data), allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


# From chapters to elements


def _contents(chapters: Sequence[Chapter]) -> str:
    """Return the list of chapters, by title where there is room for it and by name where there is not."""
    links = "".join(
        f'<li><a href="#{_anchor(one)}"><span class="long">{escape(one.title)}</span>'
        f'<span class="short">{escape(one.name)}</span></a></li>'
        for one in chapters
    )
    return f'<ol><li><a href="#summary">In short</a></li>{links}</ol>'


def _summary(chapters: Sequence[Chapter]) -> str:
    """Return what was asked, what came out first and what to doubt first, a row for each chapter."""
    rows = "".join(
        f'<tr><th scope="row"><a href="#{_anchor(one)}">{escape(one.title)}</a><p>{escape(one.question)}</p></th>'
        f'<td data-head="Came out">{_first(one.findings)}</td>'
        f'<td data-head="To doubt">{_first(one.caveats)}</td></tr>\n'
        for one in chapters
    )
    heads = '<th scope="col">Asked</th><th scope="col">Came out</th><th scope="col">To doubt</th>'
    body = f'<table class="summary"><thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table>'
    nothing = "<p>Nothing has been run yet.</p>"
    return f'<section id="summary">\n<h2>In short</h2>\n{body if chapters else nothing}\n</section>'


def _first(sentences: Sequence[str]) -> str:
    """Return the first of some sentences, or a dash."""
    return escape(sentences[0]) if sentences else "–"


def _sections(chapters: Iterable[Chapter]) -> Iterator[str]:
    """Yield a section for each chapter; figures are numbered through."""
    numbers = count()
    for chapter in chapters:
        parts = [
            f"<h2>{escape(chapter.title)}</h2>",
            f'<p class="question">{escape(chapter.question)}</p>',
            _list(chapter.findings, "findings"),
            *(_figure(figure, next(numbers)) for figure in chapter.figures),
            *map(_table, chapter.tables),
        ]
        if chapter.caveats:
            parts.append(f"<aside><h3>What to doubt</h3>{_list(chapter.caveats, 'doubts')}</aside>")
        parts.append(
            f'<div class="again"><h3>Make it again</h3><pre><code>{escape(chapter.command)}</code></pre></div>'
        )
        inner = "\n".join(parts)
        yield f'<section id="{_anchor(chapter)}" class="chapter">\n{inner}\n</section>'


def _anchor(chapter: Chapter) -> str:
    """Return a chapter's name as an address within the page."""
    return "chapter-" + re.sub(r"\W+", "-", chapter.name)


def _list(sentences: Iterable[str], kind: str) -> str:
    """Return sentences as a list."""
    points = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f'<ul class="{kind}">{points}</ul>' if points else ""


def _figure(figure: Figure, number: int) -> str:
    """Return the place where the script draws a figure, with its title and what to see in it."""
    label = escape(" ".join(f"Figure: {figure.title}. {figure.caption}".split()))
    caption = f"<p>{escape(figure.caption)}</p>" if figure.caption else ""
    return (
        f"<figure><figcaption><h3>{escape(figure.title)}</h3>{caption}</figcaption>"
        f'<div class="scroll"><div class="plot" role="img" aria-label="{label}" data-figure="{number}"></div></div>'
        "</figure>"
    )


def _table(table: Table) -> str:
    """Return a table that scrolls sideways where it is too wide, folded where it is long."""
    grid, title = format_table(table), escape(table.title)
    note = f"{grid.note} Bold: {grid.best}." if grid.best else grid.note
    note = f'<p class="note">{escape(note.strip())}</p>' if note else ""
    is_long = len(table.rows) > LONG
    caption = f"<caption{_classes(unseen=is_long)}>{title}</caption>"
    inner = f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">{_rows(grid, caption)}</div>{note}'
    if not is_long:
        return f'<div class="table">{inner}</div>'
    return f'<details class="table"><summary>{title} <span>{len(table.rows)} rows</span></summary>{inner}</details>'


def _rows(grid: FormattedTable, caption: str) -> str:
    """Return the rows of a table; what is ours is tinted."""
    columns = [_kinds_of(grid, column) for column in range(len(grid.heads))]
    heads = "".join(
        f'<th scope="col"{_classes(**kinds)}>{escape(head)}</th>' if head else "<td></td>"
        for head, kinds in zip(grid.heads, columns, strict=True)
    )
    rows = "".join(
        f"<tr{_classes(ours=method_style(row[0].text).is_adf)}>{_cells(row, columns)}</tr>\n" for row in grid.rows
    )
    return f'<table class="data">{caption}<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table>'


def _kinds_of(grid: FormattedTable, column: int) -> dict[str, bool]:
    """Return which classes apply to a column of a table."""
    return {
        "num": grid.is_numeric[column],
        "ours": method_style(grid.heads[column]).is_adf,
        "sentences": any(len(row[column].text) > LINE for row in grid.rows),
    }


def _cells(row: Sequence[FormattedCell], columns: Sequence[dict[str, bool]]) -> str:
    """Return the cells of a row; the first is its head."""
    cells = []
    for place, (cell, kinds) in enumerate(zip(row, columns, strict=True)):
        tag, scope = ("td", "") if place else ("th", ' scope="row"')
        value = "" if cell.value is None else f' data-value="{cell.value!r}"'
        text = f"<strong>{escape(cell.text)}</strong>" if cell.is_best else escape(cell.text)
        cells.append(f"<{tag}{scope}{_classes(**kinds)}{value}>{text}</{tag}>")
    return "".join(cells)


def _classes(**kinds: bool) -> str:
    """Return the attribute of those classes that apply."""
    names = " ".join(name for name, applies in kinds.items() if applies)
    return f' class="{names}"' if names else ""
