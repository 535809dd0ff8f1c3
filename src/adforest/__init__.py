"""adforest: a random forest that keeps learning.

Data arrive in batches; classes appear that nobody had seen; the world changes for a week or for good.
`AdaptiveDecisionForestClassifier` learns batch after batch, tells temporary from sustained drift, and does not forget.
"""

from importlib.metadata import version as _version_of

from adforest.adaptation import BatchReport
from adforest.adaptive import AdaptiveDecisionForestClassifier
from adforest.explaining import Explanation
from adforest.paper import PaperADFClassifier
from adforest.snapshot import Snapshot
from adforest.storage import ModelFileError, load
from adforest.tracking import BatchBlock

__all__ = [
    "AdaptiveDecisionForestClassifier",
    "BatchBlock",
    "BatchReport",
    "Explanation",
    "ModelFileError",
    "PaperADFClassifier",
    "Snapshot",
    "load",
]
__version__ = _version_of("adforest")
