from adforest.forest.types import Float32Array, Float64Array, Int32Array, UInt8Array, UInt16Array

def narrowest(X: Float64Array, at_least: UInt8Array) -> UInt8Array: ...
def pack(
    X: Float64Array,
    types: UInt8Array,
    column_index: Int32Array,
    words: UInt16Array,
    singles: Float32Array,
    doubles: Float64Array,
) -> None: ...
def unpack(
    types: UInt8Array, column_index: Int32Array, words: UInt16Array, singles: Float32Array, doubles: Float64Array
) -> Float64Array: ...
