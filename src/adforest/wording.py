"""Counts, sizes and moments as text."""

from __future__ import annotations

from datetime import UTC, datetime

UNITS = ("bytes", "kB", "MB", "GB", "TB")


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "sample"), counted(1200, "batch"), counted(2, "tree")
    ('1 sample', '1,200 batches', '2 trees')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + ('es' if noun.endswith(('ch', 's')) else 's')}"


def size(n_bytes: float) -> str:
    """Return a number of bytes in the unit that suits it.

    Examples
    --------
    >>> size(900), size(1536000)
    ('900 bytes', '1.5 MB')
    """
    power = 0
    while n_bytes >= 1000 and power < len(UNITS) - 1:
        n_bytes, power = n_bytes / 1000, power + 1
    return f"{n_bytes:.1f} {UNITS[power]}" if power else f"{n_bytes:.0f} {UNITS[0]}"


def utc(moment: float) -> str:
    """Return a moment, in seconds since 1970.

    Examples
    --------
    >>> utc(0)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
