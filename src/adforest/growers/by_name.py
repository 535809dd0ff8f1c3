"""The base forests by the names that users give them."""

from collections.abc import Callable

from adforest.forest import GrowthParams
from adforest.growers.hoeffding import HoeffdingGrower
from adforest.growers.protocol import Grower
from adforest.growers.random_forest import RandomForestGrower
from adforest.growers.sysfor import SysForGrower

GROWERS: dict[str, Callable[[GrowthParams], Grower]] = {
    "hoeffding": HoeffdingGrower,
    "random_forest": RandomForestGrower,
    "sysfor": SysForGrower,
}
