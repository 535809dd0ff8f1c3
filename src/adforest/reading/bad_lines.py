"""Lines of text files whose number of fields is wrong: an error, or left out and counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Skipped:
    """What happens to lines or records that cannot be used, and what happened to them so far.

    Attributes
    ----------
    are_skipped : bool
        Whether they are left out; if not, the first one is an error.
    count : int
        How many were left out.
    first : str
        The first of these in words.
    """

    are_skipped: bool = False
    count: int = 0
    first: str = ""


class BadLines(Skipped):
    """Lines whose number of fields is wrong."""

    def meet(self, place: Callable[[], str], n_found: int, n_expected: int) -> None:
        """Count a line, or raise an error about it; its place is looked for only where it is said."""
        fields = "1 field" if n_found == 1 else f"{n_found} fields"
        if not self.are_skipped:
            raise ValueError(
                f"{place()} has {fields}; expected {n_expected}, one for each column. Correct the line (a value that "
                "holds the delimiter needs quotes), or pass on_bad_lines='skip' to leave such lines out."
            )
        if not self.count:
            self.first = f"{place()} with {fields} instead of {n_expected}"
        self.count += 1
