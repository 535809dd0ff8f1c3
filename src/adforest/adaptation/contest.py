"""Two forests compared record by record: which is right more often, and what that makes their votes worth."""

import math
from typing import NamedTuple

from adforest.forest.types import Mask

FEWEST = 30  # records, with fewer of which nothing is concluded
CLEAR_GAP, CLEAR_DEVIATIONS = 0.05, 3.0  # when one forest has outdone another
DRIFTING_GAP = 0.21  # what is tolerated of a forest whose rules drift
SUSPECT_GAP, SUSPECT_DEVIATIONS = 0.025, 2.0  # when it is worth a closer look


class Gap(NamedTuple):
    """By how much one forest outdoes another on the same records.

    Attributes
    ----------
    size : float
        Its share of right answers less the other's.
    deviations : float
        The same in standard deviations of what chance makes of two equally good forests (McNemar).
    """

    size: float = 0.0
    deviations: float = 0.0

    @property
    def is_clear(self) -> bool:
        """Whether it is too large for chance, and large enough to act on."""
        return self.size > CLEAR_GAP and self.deviations > CLEAR_DEVIATIONS

    @property
    def is_suspect(self) -> bool:
        """Whether it might turn out to be clear."""
        return self.size > SUSPECT_GAP and self.deviations > SUSPECT_DEVIATIONS


def gap_between(ahead: Mask, behind: Mask, tested: Mask) -> Gap | None:
    """Return by how much one forest outdoes another, from which records each gets right; None if too few are tested.

    Only tested records count. Records that both get right or both get wrong say nothing of chance, so the deviation is
    that of the others.
    """
    n = int(tested.sum())
    if n < FEWEST:
        return None
    won = int((ahead & ~behind & tested).sum())
    lost = int((behind & ~ahead & tested).sum())
    return Gap((won - lost) / n, (won - lost) / math.sqrt(max(1, won + lost)))


def weight_of(gap: Gap, tolerated: float) -> float:
    """Return what a forest's votes are worth beside those of one that outdoes it by a gap.

    Near 1 for a small gap, since forests that err differently do well to vote together; 1/e for the gap that is just
    tolerated; next to nothing for a forest that a change has left behind; more than 1 for one that is ahead, e for a
    lead that would be clear.
    """
    return math.exp(-((gap.size / tolerated) ** 2) if gap.size > 0 else -gap.size / CLEAR_GAP)
