from typing import TypeVar

import numpy as np
import numpy.typing as npt

from adforest.forest.types import Int64Array

Scalar = TypeVar("Scalar", bound=np.generic)

def take_into(values: npt.NDArray[Scalar], kept: Int64Array, out: npt.NDArray[Scalar]) -> None: ...
def take(values: npt.NDArray[Scalar], kept: Int64Array) -> npt.NDArray[Scalar]: ...
