"""The protocols of the benchmark, the main one first, and the streams that each is run on."""

from __future__ import annotations

from nextbatch.protocols import PER_RECORD, Protocol

BUDGET = 0.3  # CPU seconds for 1,000 samples
SIDE_STREAMS = ("elec2", "gas", "outdoor", "occupancy", "steel_load", "weatherAUS", "abrupt", "noise", "recurring")
CLASS_STREAMS = ("avila", "beijing_pm25", "eb", "gas", "outdoor", "uifwa", "arrivals")
RECORD_STREAMS = ("covtype100k", "elec2", "gas", "outdoor", "occupancy", "steel_load", "noise")

PROTOCOLS = {
    one.name: one
    for one in (
        Protocol("next-batch", "next batch", "Each batch is predicted, then learnt.", with_costly=True),
        Protocol(
            "equal-time",
            "equal time",
            f"As next batch, with {BUDGET} CPU seconds for 1,000 samples: batches wait until there is time for them.",
            budget=BUDGET,
            with_costly=True,
        ),
        Protocol("delay-1", "labels 1 batch late", "Labels come one batch late.", SIDE_STREAMS, delay=1),
        Protocol("delay-5", "labels 5 batches late", "Labels come five batches late.", SIDE_STREAMS, delay=5),
        Protocol(
            "new-classes",
            "new classes",
            "Classes arrive one after the other over the first half of the stream.",
            CLASS_STREAMS,
            staged=True,
        ),
        Protocol(
            "per-record",
            "per record",
            f"The first {PER_RECORD:,} samples, one by one; refits are not asked.",
            RECORD_STREAMS,
            per_record=True,
        ),
    )
}
