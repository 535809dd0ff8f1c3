"""The report: the monitor's page as one file to keep or to mail."""

from __future__ import annotations

import os
from typing import Any

from adforest.monitor.model_view import ModelView
from adforest.monitor.pages.page import report_page
from adforest.storage.atomic import write_atomically


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
