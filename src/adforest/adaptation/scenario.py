"""Which classes a batch brings, against those known before it (the paper's Eq. 4)."""

from collections.abc import Collection, Hashable


def scenario_of(batch_classes: Collection[Hashable], known_classes: Collection[Hashable]) -> str:
    """Return the scenario of a batch from its class values and those known before it.

    ======  =========================  ================
    name    classes in the batch       of them known
    ======  =========================  ================
    SKC     one                        all
    MKC     several                    all
    SUC     one                        none
    MUC     several                    none
    MKUC    several                    some
    ======  =========================  ================

    Examples
    --------
    >>> scenario_of({"a", "b"}, known_classes={"b", "c"})
    'MKUC'
    """
    batch, known = set(batch_classes), set(known_classes)
    amount = "S" if len(batch) == 1 else "M"
    if batch <= known:
        return amount + "KC"
    if batch & known:
        return "MKUC"
    return amount + "UC"
