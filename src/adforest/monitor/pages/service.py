"""What `adforest serve` does with a model: predictions, and records by state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from adforest.monitor.pages.figures import part
from adforest.monitor.pages.markup import Markup, tag

STATES = {
    "pending": "without a label yet",
    "labelled": "to be learnt",
    "learnt": "in batches",
    "expired": "had no label in time",
    "waiting": "labels before their record",
    "refused": "could not be learnt",
    "withdrawn": "were forgotten",
}
ALWAYS = ("pending", "labelled", "learnt", "expired")  # shown also where there are none


@dataclass(frozen=True)
class ServiceStatus:
    """What the service does with a model.

    Attributes
    ----------
    version : int
        0 before it has learnt.
    n_predicted : int
        Records since the start of the service.
    records : dict of str to int or None
        How many records are in each state; None where none are kept.
    problem : str
        Why it cannot write or learn, empty if there is none.
    """

    version: int
    n_predicted: int
    records: Mapping[str, int] | None = None
    problem: str = ""


class Service(Protocol):
    """The service whose models are shown."""

    async def status(self, name: str) -> ServiceStatus | None:
        """Return what it does with the model of a file, None if that is not served."""

    async def promote(self, name: str, scope: Any) -> tuple[int, str]:
        """Replace the model of a file by its challenger; return the status of the response, and why it is refused."""


def service_part(status: ServiceStatus) -> Markup:
    """Return the section about a served model."""
    figures = [("Version", status.version, "of the model"), ("Predicted", status.n_predicted, "since the start")]
    for state, words in STATES.items():
        n = (status.records or {}).get(state, 0)
        if status.records is not None and (n or state in ALWAYS):
            figures.append((state.capitalize(), n, words))
    tiles = [
        tag("div", tag("dt", name), tag("dd", tag("b", f"{n:,}"), tag("small", words))) for name, n, words in figures
    ]
    problem = tag("p", status.problem, class_="error", role="alert") if status.problem else None
    return part("service", "Service", problem, tag("dl", tiles, class_="tiles"))


def promote_form(address: str) -> Markup:
    """Return the button that makes the challenger the model."""
    button = tag("button", "Promote challenger", type="submit", name="promote", class_="main")
    return tag("form", button, method="post", action=f"{address}/promote")
