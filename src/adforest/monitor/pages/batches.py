"""A table of batches, the last one first."""

from __future__ import annotations

from adforest.adaptation import BatchReport
from adforest.adaptation.report import METRICS
from adforest.adaptation.scoring import VOTE
from adforest.monitor.model_view import ModelView
from adforest.monitor.pages import words
from adforest.monitor.pages.figures import part, scroll, table_of
from adforest.monitor.pages.markup import Child, Markup, tag

SCENARIOS = {
    "SKC": "one known class",
    "MKC": "known classes",
    "SUC": "one new class",
    "MUC": "new classes",
    "MKUC": "known and new classes",
}
PAGE = 50  # rows


def batches_part(view: ModelView, before: int | None, *, is_live: bool) -> Markup:
    """Return the last batches, or those before one of them, with links to others where there is a server to ask."""
    kept = [report for report in view.batches if before is None or report.batch < before]
    shown = kept[-PAGE:][::-1]
    metrics = [name for name in METRICS if any(getattr(report, name) is not None for report in shown)]
    rows = [_row(report, metrics) for report in shown]
    named = [words.metric_name(name) for name in metrics]
    head = [
        "batch",
        "learnt",
        "source",
        "samples",
        "classes",
        "new",
        "drift",
        "most weight",
        "accuracy",
        *named,
        "confidence",
        "leaves",
    ]
    if not shown:
        return part("batches", "Batches", tag("p", "No report is kept in full."))
    turn = _turn(view, shown) if is_live else None
    summarised = view.n_batches - len(view.batches)
    lead = f"The last {words.count(len(view.batches), 'batch', 'batches')} of {view.n_batches:,}, newest first."
    if not is_live and len(kept) > len(shown):
        lead = f"The last {len(shown)} of {words.count(view.n_batches, 'batch', 'batches')}, newest first."
    elif not summarised:
        lead = f"All {words.count(view.n_batches, 'batch', 'batches')}, newest first."
    table = table_of([*head, "time"], rows, words=(0, 1, 2, 4, 5, 6, 7), class_="batches")
    return part("batches", "Batches", scroll(table, "Batches"), turn, lead=lead)


def _row(report: BatchReport, metrics: list[str]) -> list[Child]:
    """Return the cells of a batch, some metrics among them."""
    return [
        f"{report.batch:,}",
        words.moment(report.learnt_at),
        _source(report),
        f"{report.n_samples:,}",
        tag("span", SCENARIOS.get(report.scenario, report.scenario), title=report.scenario),
        words.shortened(", ".join(map(str, report.new_classes)), 32) or words.NOTHING,
        tag("span", report.drift, class_=f"chip {report.drift}") if report.drift != "none" else words.NOTHING,
        report.answering,
        words.percent(report.accuracy.get(VOTE)),
        *(words.metric(name, getattr(report, name)) for name in metrics),
        words.percent(report.confidence),
        words.number(report.n_leaves.get(report.answering)),
        words.duration(report.seconds),
    ]


def _source(report: BatchReport) -> Child:
    """Return the file of a batch; its rows and further files are in the tooltip."""
    if not report.source:
        return words.NOTHING
    rows = "" if report.rows is None else ", rows {:,} to {:,}".format(*report.rows)
    more = f" +{len(report.source) - 1}" if len(report.source) > 1 else ""
    return tag("span", words.shortened(report.source[0], 32) + more, title=", ".join(report.source) + rows)


def _turn(view: ModelView, shown: list[BatchReport]) -> Markup | None:
    """Return links to older and newer batches."""
    newest, oldest = shown[0].batch, shown[-1].batch
    found = []
    if newest < view.batches[-1].batch:
        found.append(tag("a", "Newer", href=f"?before={newest + PAGE + 1}#batches", data_swap="batches"))
    if oldest > view.batches[0].batch:
        found.append(tag("a", "Older", href=f"?before={oldest}#batches", data_swap="batches"))
    return tag("nav", found, class_="turn", aria_label="Other batches") if found else None
