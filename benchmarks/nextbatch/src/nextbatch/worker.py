"""One run in a process of its own: ``python -m nextbatch.worker JOB.json``."""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from pathlib import Path

from nextbatch.usage import limit_seconds


def work(path: Path) -> None:
    """Do the run that a file describes, and write what came of it beside it."""
    job = json.loads(path.read_text(encoding="utf-8"))
    limit_seconds(job["timeout"])
    warnings.simplefilter("ignore")
    from nextbatch.learners import find_learner
    from nextbatch.protocol_list import PROTOCOLS
    from nextbatch.protocols import arrange, evaluate
    from nextbatch.streams import DATA_VARIABLE, HIDDEN_VARIABLE, cut_batches, load_table, read_recipes

    done = path.with_suffix(".done")
    try:
        protocol = PROTOCOLS[job["protocol"]]
        recipe = read_recipes(job["hidden"])[job["stream"]]
        batches = arrange(
            cut_batches(load_table(recipe), recipe, quick=job["quick"], max_batches=job["max_batches"]),
            protocol,
            quick=job["quick"],
        )
        for name in (DATA_VARIABLE, HIDDEN_VARIABLE):  # a learner is not told where labels are
            os.environ.pop(name, None)
        learner = find_learner(job["learner"]).make(random_state=job["seed"])
        found = {"status": "ok"} | evaluate(
            learner, batches, protocol, lambda n: done.write_text(f"{n} of {len(batches)}")
        )
    except MemoryError:
        found = {"status": "memory", "says": "MemoryError"}
    except Exception as error:
        traceback.print_exc()
        message = (str(error).splitlines() or [""])[0][:200]  # what follows may be a stack trace with paths
        frames = traceback.extract_tb(error.__traceback__)
        file = Path(job["learner"].rpartition(":")[0]).absolute()
        own = [frame for frame in frames if Path(frame.filename).absolute() == file]
        where = (own or frames)[-1]
        found = {
            "status": "error",
            "says": f"{type(error).__name__}: {message} ({Path(where.filename).name}:{where.lineno})",
        }
    path.with_suffix(".result").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    work(Path(sys.argv[1]))
