"""The arrays that cross between rooms, by name."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Bytes: TypeAlias = npt.NDArray[np.uint8]
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int32]
Longs: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Nodes: TypeAlias = npt.NDArray[np.void]
Singles: TypeAlias = npt.NDArray[np.float32]
Words: TypeAlias = npt.NDArray[np.uint64]
Words16: TypeAlias = npt.NDArray[np.uint16]
AnyArray: TypeAlias = npt.NDArray[Any]
