"""adforest: adaptive decision forests for data that arrive in batches.

`AdaptiveDecisionForestClassifier` is a scikit-learn classifier with `partial_fit`: it learns new classes in any batch,
reports temporary and sustained concept drift, and keeps predicting samples like those of earlier batches.
"""

import importlib as _importlib
import sys as _sys
import typing as _typing

# Kernels pack samples into 64-bit words, and model files hold little-endian numbers.
if _sys.byteorder != "little" or _sys.maxsize < 2**32:
    raise ImportError(
        f"this Python is {_sys.maxsize.bit_length() + 1}-bit and {_sys.byteorder}-endian; adforest needs a 64-bit "
        "little-endian one, such as those for x86-64 and ARM64. Install it there."
    )

if _typing.TYPE_CHECKING:
    from adforest.adaptation import BatchReport
    from adforest.adaptive import AdaptiveDecisionForestClassifier
    from adforest.client import AsyncClient, Client
    from adforest.exceptions import ModelFileError
    from adforest.explaining import Explanation
    from adforest.forest import Forest, Tree
    from adforest.next_batch import NextBatchVotingClassifier, VotingReport
    from adforest.paper import PaperADFClassifier
    from adforest.snapshot import Snapshot
    from adforest.storage import load
    from adforest.thresholds import threshold_for_cost
    from adforest.tracking import BatchBlock

    __version__: str

__all__ = [
    "AdaptiveDecisionForestClassifier",
    "AsyncClient",
    "BatchBlock",
    "BatchReport",
    "Client",
    "Explanation",
    "Forest",
    "ModelFileError",
    "NextBatchVotingClassifier",
    "PaperADFClassifier",
    "Snapshot",
    "Tree",
    "VotingReport",
    "load",
    "threshold_for_cost",
]

# Imported when they are first asked for: `adforest --help` answers before scikit-learn would be there.
_MODULES = {
    "AdaptiveDecisionForestClassifier": "adforest.adaptive",
    "AsyncClient": "adforest.client",
    "BatchBlock": "adforest.tracking",
    "BatchReport": "adforest.adaptation",
    "Client": "adforest.client",
    "Explanation": "adforest.explaining",
    "Forest": "adforest.forest",
    "ModelFileError": "adforest.exceptions",
    "NextBatchVotingClassifier": "adforest.next_batch",
    "PaperADFClassifier": "adforest.paper",
    "Snapshot": "adforest.snapshot",
    "Tree": "adforest.forest",
    "VotingReport": "adforest.next_batch",
    "load": "adforest.storage",
    "threshold_for_cost": "adforest.thresholds",
}


def __getattr__(name: str) -> _typing.Any:
    """Import a public name, and keep it."""
    if name == "__version__":
        value: _typing.Any = _importlib.import_module("importlib.metadata").version("adforest")
    elif name == "exceptions":
        value = _importlib.import_module("adforest.exceptions")
    elif name in _MODULES:
        value = getattr(_importlib.import_module(_MODULES[name]), name)
    else:
        raise AttributeError(f"module 'adforest' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names that are there, imported or not."""
    return sorted({*globals(), *__all__, "__version__"})
