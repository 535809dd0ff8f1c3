from typing import TypeVar

import numpy as np
import numpy.typing as npt

from adforest.forest.types import Longs

Scalar = TypeVar("Scalar", bound=np.generic)

def take_into(values: npt.NDArray[Scalar], kept: Longs, out: npt.NDArray[Scalar]) -> None: ...
def take(values: npt.NDArray[Scalar], kept: Longs) -> npt.NDArray[Scalar]: ...
