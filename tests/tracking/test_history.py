"""Reports of batches in bounded space: nothing is lost but detail."""

import numpy as np
import pytest

from adforest.tracking.history import MAX_BLOCKS, MAX_REPORTS, BatchBlock
from made_reports import history_of, report


@pytest.mark.parametrize(
    "n", [1, MAX_REPORTS, MAX_REPORTS + 1, MAX_REPORTS + MAX_BLOCKS, MAX_REPORTS + MAX_BLOCKS + 1, 6_000]
)
def test_every_batch_is_in_one_report_or_block(n):
    history = history_of(report(k) for k in range(1, n + 1))
    assert [one.batch for one in history.reports] == list(range(max(0, n - MAX_REPORTS) + 1, n + 1))
    assert len(history.blocks) <= MAX_BLOCKS
    covered = [number for block in history.blocks for number in range(block.first, block.last + 1)]
    assert covered == list(range(1, n - len(history.reports) + 1))
    lengths = {len(block) for block in history.blocks[:-1]}
    assert len(lengths) <= 1
    assert all(length & (length - 1) == 0 for length in lengths)


def test_blocks_say_what_their_batches_were():
    rng = np.random.default_rng(0)
    n = MAX_REPORTS + 3 * MAX_BLOCKS + 5
    reports = [
        report(
            k,
            accuracy=float(rng.random()),
            n=int(rng.integers(1, 50)),
            drift=str(rng.choice(["none", "temporary", "sustained"])),
            new=("a", "b")[: rng.integers(0, 3)],
            votes={"permanent": 1.0} if k % 3 else {"permanent": 0.4, "newest": 0.6},
            seconds=float(rng.random()),
            log_loss=float(rng.random()),
            brier_score=float(rng.random()),
            weighted_accuracy={"vote": float(rng.random())},
        )
        for k in range(1, n + 1)
    ]
    blocks = history_of(reports).blocks
    assert len(blocks[0]) == 4
    for block in blocks:
        whole = reports[block.first - 1 : block.last]
        sizes = [one.n_tested for one in whole]
        vote = [one.accuracy["vote"] for one in whole]
        assert block.accuracy["vote"] == pytest.approx(np.average(vote, weights=sizes))
        assert (block.lowest["vote"], block.highest["vote"]) == (min(vote), max(vote))
        assert block.confidence == pytest.approx(np.average([one.confidence for one in whole], weights=sizes))
        assert block.log_loss == pytest.approx(np.average([one.log_loss for one in whole], weights=sizes))
        assert block.brier_score == pytest.approx(np.average([one.brier_score for one in whole], weights=sizes))
        weighted = [one.weighted_accuracy["vote"] for one in whole]
        assert block.weighted_accuracy["vote"] == pytest.approx(np.average(weighted, weights=sizes))
        assert block.roc_auc is None
        assert block.n_samples == sum(one.n_samples for one in whole)
        assert block.n_tested == sum(sizes)
        assert block.n_temporary == sum(one.drift == "temporary" for one in whole)
        assert block.n_sustained == sum(one.drift == "sustained" for one in whole)
        assert block.n_new_classes == sum(len(one.new_classes) for one in whole)
        assert block.seconds == pytest.approx(sum(one.seconds for one in whole))
        assert block.votes["permanent"] == pytest.approx(np.mean([one.votes["permanent"] for one in whole]))
        if any("newest" in one.votes for one in whole):
            assert block.votes["newest"] == pytest.approx(np.mean([one.votes.get("newest", 0) for one in whole]))
        assert block.n_leaves == whole[-1].n_leaves


def test_figures_that_only_some_batches_have():
    first = BatchBlock.of(report(1, accuracy=None))
    both = first.joined(BatchBlock.of(report(2, accuracy=0.6)))
    assert both.accuracy == both.lowest == both.highest == {"vote": 0.6, "permanent": 0.3}
    assert both.confidence == 0.3
    neither = first.joined(BatchBlock.of(report(2, accuracy=None)))
    assert (neither.accuracy, neither.confidence) == ({}, None)
    assert neither.as_row()["votes_permanent"] == 1.0


def test_sustained_drifts_are_kept_by_number():
    history = history_of(report(k, drift="sustained" if k % 2 else "temporary") for k in range(1, 2_001))
    assert history.sustained == tuple(range(1, 2_001, 2))[-MAX_BLOCKS:]


def test_a_history_that_went_two_ways_is_two_histories():
    common = history_of(report(k) for k in range(1, MAX_REPORTS + 10))
    one, other = common.after(report(1010, accuracy=0.1)), common.after(report(1010, accuracy=0.9))
    assert one.reports[-1].accuracy["vote"] == 0.1
    assert other.reports[-1].accuracy["vote"] == 0.9
    assert len(common.reports) == MAX_REPORTS
