"""Figures of docs/results.md in other pages, so that no number is typed by hand.

A role is one figure, a directive a part of a table or a bar chart of a column. They name the chapter and the table,
with bars between, and stop the build if there is no such figure. ``measured-points`` is by how many hundredths the
first row is above the second, ``measured-times`` how many times it is as large; ``benchmark`` is a figure of
benchmarks/record.jsonl::

    {measured}`Parameters | Points of mean accuracy against the defaults | window_size=1 | mean`
    {measured-points}`The next batch | Accuracy on the next batch, real streams | rf-all | adforest | gas*`
    {benchmark}`predict one record | seconds`

    ```{measured} The next batch | Accuracy on the next batch, real streams
    :rows: adforest; rf-all
    :columns: elec2*; gas*
    ```

    ```{measured-bars} Parameters | Points of mean accuracy against the defaults | mean
    :without: defaults, 10 trees
    ```
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.utils import unescape
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective, SphinxRole

from experiments.benchmark_tables import benchmark_figure
from experiments.reporting.results_page import FIGURES, PageChapter, find_chapter

SEPARATOR, LIST_SEPARATOR = "|", ";"
EARLIER_CHAPTERS = "measured_earlier_chapters"  # of the page that is read
BAR_HEIGHT, LABEL_WIDTH, CHART_WIDTH = 22, 190, 680  # pixels


def _as_shown(text: str) -> str:
    """Return a figure with a true minus sign."""
    return re.sub(r"(?<![\w.])-(?=[\d.])", "\u2212", text)


def note_chapter(environment: BuildEnvironment, title: str) -> PageChapter:
    """Return a chapter of the results, and note for its page if it is of an earlier version."""
    chapter = find_chapter(title)
    if chapter.is_of_earlier_version:
        environment.temp_data.setdefault(EARLIER_CHAPTERS, {})[title] = None
    return chapter


def tell_earlier_chapters(app: Sphinx, document: nodes.document) -> None:
    """Say below the title of a page which chapters that it quotes are of an earlier version of the code."""
    titles = app.env.temp_data.pop(EARLIER_CHAPTERS, {})
    title = next(document.findall(nodes.title), None)
    if titles and title is not None:
        text = f"Some figures of this page were measured with an earlier version of the code: {'; '.join(titles)}."
        title.parent.insert(1, nodes.note("", nodes.paragraph("", text), classes=["measured-earlier"]))


class MeasuredRole(SphinxRole):
    """One figure of the results.

    Parameters
    ----------
    find : callable
        Returns it, given a table and the names that follow the table's title.
    """

    def __init__(self, find: Callable[..., str]) -> None:
        self.find = find

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the figure as text."""
        try:
            chapter, title, *names = (part.strip() for part in unescape(self.text).split(SEPARATOR))
            figure = self.find(note_chapter(self.env, chapter).table(title), *names)
        except (LookupError, TypeError, ValueError) as error:
            message = self.inliner.reporter.error(f"{self.text!r}: {error}", line=self.lineno)
            return [nodes.problematic(self.rawtext, self.rawtext)], [message]
        return [nodes.inline("", _as_shown(figure), classes=["measured"])], []


class BenchmarkRole(SphinxRole):
    """One figure of a line of benchmarks/record.jsonl, with its unit."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the figure as text."""
        try:
            measure, field = (part.strip() for part in unescape(self.text).split(SEPARATOR))
            figure = benchmark_figure(measure, field)
        except (LookupError, ValueError) as error:
            message = self.inliner.reporter.error(f"{self.text!r}: {error}", line=self.lineno)
            return [nodes.problematic(self.rawtext, self.rawtext)], [message]
        return [nodes.inline("", figure, classes=["measured"])], []


class _ResultsDirective(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = True

    def _named(self, option: str) -> list[str]:
        """Return the names that an option lists."""
        return [part.strip() for part in self.options.get(option, "").split(LIST_SEPARATOR) if part.strip()]

    def _parts(self, count: int) -> list[str]:
        """Return the parts of the argument."""
        parts = [part.strip() for part in " ".join(self.arguments[0].split()).split(SEPARATOR)]
        if len(parts) != count:
            raise self.error(f"{self.arguments[0]!r} has {len(parts)} parts; expected {count} with bars between")
        return parts

    def _source(self, chapter: str) -> nodes.Node:
        """Return a line that says where the figures come from."""
        found = find_chapter(chapter)
        earlier = ", measured with an earlier version of the code" if found.is_of_earlier_version else ""
        text = f"From [{chapter}](/results.md#{found.anchor}), `{found.command}`{earlier}."
        [line] = self.parse_text_to_nodes(text)
        line["classes"].append("measured-source")
        return line


class MeasuredTable(_ResultsDirective):
    """Rows and columns of a table of the results."""

    option_spec: ClassVar[dict[str, Any]] = {
        "rows": directives.unchanged,
        "columns": directives.unchanged,
        "without": directives.unchanged,
        "no-spread": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Return the table, and where it comes from."""
        chapter, title = self._parts(2)
        try:
            table = note_chapter(self.env, chapter).table(title)
            rows = [table.row(name) for name in self._named("rows") or table.rows]
            places = [0, *map(table.index, self._named("columns") or table.heads[1:])]
        except LookupError as error:
            raise self.error(str(error)) from error
        rows = [row for row in rows if row[0] not in self._named("without")]
        cells = [[row[place] for place in places] for row in rows]
        if "no-spread" in self.options:
            cells = [[cell.split(" ± ")[0] for cell in row] for row in cells]
        lines = [[table.heads[place] for place in places], ["---", *["---:"] * (len(places) - 1)], *cells]
        text = "\n".join(
            "| " + " | ".join(_as_shown(cell).replace("|", "\\|") for cell in line) + " |" for line in lines
        )
        return [*self.parse_text_to_nodes(text), self._source(chapter)]


class MeasuredBars(_ResultsDirective):
    """A column of a table of the results as bars, drawn so that it follows the page's colours."""

    option_spec: ClassVar[dict[str, Any]] = {"rows": directives.unchanged, "without": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return the drawing, and where it comes from."""
        chapter, title, column = self._parts(3)
        try:
            table = note_chapter(self.env, chapter).table(title)
            names = [name for name in self._named("rows") or table.rows if name not in self._named("without")]
            values = {name: float(table.cell(name, column).split(" ± ")[0]) for name in names}
        except LookupError as error:
            raise self.error(str(error)) from error
        return [nodes.raw("", bars(values, f"{title}, {column}"), format="html"), self._source(chapter)]


def bars(values: dict[str, float], title: str) -> str:
    """Return horizontal bars from zero as inline SVG."""
    low, high = min(0.0, *values.values()), max(0.0, *values.values())
    room = CHART_WIDTH - LABEL_WIDTH - 110  # what is written beside the bars has 55 pixels on either side
    scale = room / ((high - low) or 1.0)
    zero = LABEL_WIDTH + 55 - low * scale
    parts = []
    for place, (name, value) in enumerate(values.items()):
        y, end = place * BAR_HEIGHT, zero + value * scale
        side, x = ("end", end - 5) if value < 0 else ("start", end + 5)
        parts.append(
            f'<text x="{LABEL_WIDTH}" y="{y + 15}" text-anchor="end">{html.escape(name)}</text>'
            f'<rect class="{"loss" if value < 0 else "gain"}" x="{min(zero, end):.1f}" y="{y + 4}" '
            f'width="{abs(end - zero):.1f}" height="{BAR_HEIGHT - 8}"/>'
            f'<text x="{x:.1f}" y="{y + 15}" text-anchor="{side}">{_as_shown(f"{value:+.2f}")}</text>'
        )
    height = len(values) * BAR_HEIGHT
    axis = f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="0" y2="{height}"/>'
    return (
        f'<svg class="measured-bars" viewBox="0 0 {CHART_WIDTH} {height}" role="img" '
        f'aria-label="{html.escape(title, quote=True)}"><title>{html.escape(title)}</title>{"".join(parts)}{axis}</svg>'
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of the role and the directives."""
    for name, find in FIGURES.items():
        app.add_role(name, MeasuredRole(find))
    app.add_role("benchmark", BenchmarkRole())
    app.add_directive("measured", MeasuredTable)
    app.add_directive("measured-bars", MeasuredBars)
    app.connect("doctree-read", tell_earlier_chapters)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
