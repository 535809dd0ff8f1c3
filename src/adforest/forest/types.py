"""The arrays that cross between rooms, by name."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

UInt8Array: TypeAlias = npt.NDArray[np.uint8]
Float64Array: TypeAlias = npt.NDArray[np.float64]
Int32Array: TypeAlias = npt.NDArray[np.int32]
Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Nodes: TypeAlias = npt.NDArray[np.void]
Float32Array: TypeAlias = npt.NDArray[np.float32]
UInt64Array: TypeAlias = npt.NDArray[np.uint64]
UInt16Array: TypeAlias = npt.NDArray[np.uint16]
AnyArray: TypeAlias = npt.NDArray[Any]
