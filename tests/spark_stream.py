"""Learn a stream of files into a model file, in a process that may be killed: FOLDER, and when to die.

``before 2`` dies when micro-batch 2 is learnt but not saved, ``after 2`` when it is saved but Spark does not know.
"""

import os
import signal
import sys
from pathlib import Path

from adforest.integrations.spark import SparkAdaptiveDecisionForest, foreach_batch
from spark_frames import SCHEMA, session


def learn_stream(folder, learn):
    """Let a query pass all files of a folder that are not learnt yet to a function, one a micro-batch, and wait."""
    samples = session().readStream.schema(SCHEMA.rpartition(",")[0]).option("maxFilesPerTrigger", 1)
    query = (
        samples.parquet(str(folder / "files"))
        .writeStream.foreachBatch(learn)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def learner(folder):
    """Return what learns micro-batches into the model file of a folder."""
    return foreach_batch(folder / "model.adf", "label", model=SparkAdaptiveDecisionForest(5, random_state=0))


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    here, when, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    learn_all = learner(here)

    def learn_until(df, epoch):
        if (when, epoch) == ("before", number):
            SparkAdaptiveDecisionForest.save = die
        learn_all(df, epoch)
        if epoch == number:
            die()

    learn_stream(here, learn_until)
