"""Who builds trees from a block of samples."""

from collections.abc import Callable as _Callable

from adforest.forest import GrowthParams as _GrowthParams
from adforest.growers.hoeffding import HoeffdingGrower
from adforest.growers.protocol import Grower, Grown, StreamingGrower, TreeRequest
from adforest.growers.random_forest import RandomForestGrower, count_features, sampling_by_worth
from adforest.growers.spreading import Workers, build_trees, building_on
from adforest.growers.sysfor import SysForGrower

__all__ = [
    "GROWERS",
    "Grower",
    "Grown",
    "HoeffdingGrower",
    "RandomForestGrower",
    "StreamingGrower",
    "SysForGrower",
    "TreeRequest",
    "Workers",
    "build_trees",
    "building_on",
    "count_features",
    "sampling_by_worth",
]

# The base forests by the names that users give them.
GROWERS: dict[str, _Callable[[_GrowthParams], Grower]] = {
    "hoeffding": HoeffdingGrower,
    "random_forest": RandomForestGrower,
    "sysfor": SysForGrower,
}
