"""Who builds trees from a block of records."""

from adforest.growers.protocol import Grower, Grown
from adforest.growers.random_forest import RandomForestGrower

__all__ = ["Grower", "Grown", "RandomForestGrower"]
