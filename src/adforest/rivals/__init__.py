"""What ADF is compared with: forests refitted or added to, CIRF, NCM, NCM forests, and what other libraries offer."""

from adforest.rivals.capymoa import CapyMOAClassifier
from adforest.rivals.cirf import CIRFClassifier
from adforest.rivals.forests import AddTreesForestClassifier, RefitForestClassifier
from adforest.rivals.lightgbm import ContinuedLightGBMClassifier, RefitLightGBMClassifier
from adforest.rivals.ncm import NCMClassifier
from adforest.rivals.ncm_forest import NCMForestClassifier
from adforest.rivals.river import RiverClassifier
from adforest.rivals.sklearn_forest import SklearnForestClassifier
from adforest.rivals.sysfor import SysForClassifier

__all__ = [
    "AddTreesForestClassifier",
    "CIRFClassifier",
    "CapyMOAClassifier",
    "ContinuedLightGBMClassifier",
    "NCMClassifier",
    "NCMForestClassifier",
    "RefitForestClassifier",
    "RefitLightGBMClassifier",
    "RiverClassifier",
    "SklearnForestClassifier",
    "SysForClassifier",
]
