"""The page of a model, and the report, which is the same as one file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adforest.monitor.challenge import challenge_of
from adforest.monitor.model_files import LoadedModel
from adforest.monitor.model_view import ModelView
from adforest.monitor.pages.accuracy import accuracy_part
from adforest.monitor.pages.batches import batches_part
from adforest.monitor.pages.challenger import challenge_part
from adforest.monitor.pages.classes import classes_part
from adforest.monitor.pages.column_cards import columns_part
from adforest.monitor.pages.cost import cost_part
from adforest.monitor.pages.figures import marked
from adforest.monitor.pages.frame import first_line, page
from adforest.monitor.pages.index import address_of
from adforest.monitor.pages.markup import Markup, tag
from adforest.monitor.pages.overview import NAMES, overview
from adforest.monitor.pages.service import ServiceStatus, promote_form, service_part
from adforest.monitor.pages.thinning import thin
from adforest.monitor.pages.tree_figure import TreeChoice, trees_part
from adforest.monitor.pages.what_if import what_if_part
from adforest.storage.atomic import write_atomically

SPANS = (1000, 300, 100)  # numbers of last batches that can be chosen
PARTS = {
    "accuracy": "Accuracy",
    "columns": "Columns",
    "classes": "Classes",
    "forests": "Forests",
    "trees": "Trees",
    "what-if": "What if",
    "batches": "Batches",
}


@dataclass(frozen=True)
class Asked:
    """Choices of the reader.

    Attributes
    ----------
    span : int or None
        How many of the last batches are drawn over time; None for all.
    before : int or None
        The table lists batches before this one.
    tree : TreeChoice
    sample : dict of str to str or None
        Input of the what-if box.
    """

    span: int | None = None
    before: int | None = None
    tree: TreeChoice = field(default_factory=TreeChoice)
    record: Mapping[str, str] | None = None


def model_page(
    loaded: LoadedModel,
    asked: Asked,
    *,
    has_index: bool = False,
    challenger: LoadedModel | None = None,
    status: ServiceStatus | None = None,
) -> Markup:
    """Return the live page of a model.

    Parameters
    ----------
    loaded : LoadedModel
    asked : Asked
    has_index : bool
        Whether there is a page of all models to go back to.
    challenger : LoadedModel, optional
        A model that learns the same batches with other parameters.
    status : ServiceStatus, optional
        What `adforest serve` does with it.
    """
    name, view, problem = loaded.name, loaded.view, loaded.problem
    root, version = "../", "+".join(one.version for one in (loaded, challenger) if one is not None)
    address = address_of(root, name)
    back = tag("a", "All models", href=root) if has_index else None
    report = tag("a", "Report", href=f"{address}/report.html", download=f"{Path(name).stem}-report.html")
    warning = tag("p", f"{problem}. Shown is the model as it was before.", class_="error", role="alert")
    titles = {} if status is None else {"service": "Service"}
    titles |= {} if challenger is None else {"challenger": "Challenger"}
    live = {"data_version": version, "data_events": f"{address}/events"}
    return page(
        f"{NAMES[view.health.level]} · {name}",
        view.health.level,
        first_line(back, tag("b", name), tag("span", view.kind), tools=report),
        marked("div", "problem", warning if problem else Markup()),
        overview(view, loaded.changed),
        _contents(titles | PARTS),
        None if status is None else service_part(status),
        _challenge(loaded, challenger, None if status is None or status.records is None else promote_form(address)),
        _parts(loaded.model, view, asked, is_live=True),
        live=live | ({} if status is None else {"data_service": f"{address}/service"}),
        skip_to="accuracy",
        root=root,
    )


def _challenge(loaded: LoadedModel, challenger: LoadedModel | None, promote: Markup | None) -> Markup:
    """Return the section about the challenger; empty where there is none, since one may be added later."""
    if challenger is None:
        return marked("section", "challenger", Markup())
    return challenge_part(challenger.name, challenge_of(loaded.model, challenger.model), promote)


def report_page(name: str, model: Any, view: ModelView) -> Markup:
    """Return the page of a model as one self-contained file without scripts."""
    return page(
        f"{NAMES[view.health.level]} · {name}",
        view.health.level,
        tag("div", tag("p", tag("b", name), tag("span", view.kind)), class_="top"),
        overview(view),
        _contents({key: title for key, title in PARTS.items() if key != "what-if"}),
        _parts(model, view, Asked(), is_live=False),
        skip_to="accuracy",
        is_alone=True,
    )


def write_report(model: Any, path: str | os.PathLike[str], *, name: str | None = None) -> None:
    """Write the monitor's page of a model as one self-contained HTML file without scripts.

    Parameters
    ----------
    model : AdaptiveDecisionForestClassifier or PaperADFClassifier
        A fitted or loaded one.
    path : str or path-like
        Path of the file; an existing one is replaced atomically.
    name : str, optional
        Name of the model in the report, by default its class.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from adforest import AdaptiveDecisionForestClassifier
    >>> from adforest.monitor import write_report
    >>> model = AdaptiveDecisionForestClassifier(random_state=0).fit([[1.0], [2.0]], ["low", "high"])
    >>> with TemporaryDirectory() as folder:
    ...     write_report(model, f"{folder}/report.html")
    """
    view = ModelView.from_estimator(model)
    page = report_page(view.kind if name is None else name, model, view)
    write_atomically(path, [page.encode("utf-8", "replace")])


def _parts(model: Any, view: ModelView, asked: Asked, *, is_live: bool) -> list[Markup]:
    """Return all sections."""
    course = thin(view.timeline, asked.span)
    spans = _spans(view.n_batches, asked.span) if is_live else None
    found = [
        accuracy_part(view, course, spans),
        columns_part(view),
        classes_part(view),
        cost_part(view, course),
        trees_part(model, asked.tree, is_live=is_live),
    ]
    if is_live:
        found.append(what_if_part(model, view, asked.record))
    return [*found, batches_part(view, asked.before, is_live=is_live)]


def _spans(n_batches: int, chosen: int | None) -> Markup | None:
    """Return links to the last batches alone."""
    there = [span for span in SPANS if span < n_batches]
    if not there:
        return None
    listed = [(None, "all batches"), *((span, f"last {span:,}") for span in there)]
    links = [
        tag("a", title, href="?" if span is None else f"?last={span}", aria_current="true" if span == chosen else None)
        for span, title in listed
    ]
    return tag("nav", links, class_="spans", aria_label="Batches drawn over time")


def _contents(parts: Mapping[str, str]) -> Markup:
    """Return links to the sections."""
    return tag(
        "nav",
        [tag("a", title, href=f"#{name}") for name, title in parts.items()],
        class_="contents",
        aria_label="Sections",
    )
