"""What ADF is compared with: forests refitted or added to, CIRF, NCM, NCM forests, and what other libraries offer."""

from experiments.rivals.cirf import CIRFClassifier
from experiments.rivals.forests import AddTreesForestClassifier, RefitForestClassifier
from experiments.rivals.lightgbm import ContinuedLightGBMClassifier
from experiments.rivals.ncm import NCMClassifier
from experiments.rivals.ncm_forest import NCMForestClassifier
from experiments.rivals.outside import CapyMOAClassifier, RefitLightGBMClassifier, RiverClassifier, TrivialClassifier
from experiments.rivals.sysfor import SysForClassifier

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
    "SysForClassifier",
    "TrivialClassifier",
]
