"""Names for array types. NumPy's typing module is slow to import and needed by type checkers only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Array: TypeAlias = NDArray[Any]
    FloatArray: TypeAlias = NDArray[np.float64]
    IndexArray: TypeAlias = NDArray[np.intp]
    IntArray: TypeAlias = NDArray[np.int64]
    Labels: TypeAlias = ArrayLike
    Weights: TypeAlias = ArrayLike | None
else:
    Array = ArrayLike = FloatArray = IndexArray = IntArray = Labels = Weights = Any

__all__ = ["Array", "ArrayLike", "FloatArray", "IndexArray", "IntArray", "Labels", "Weights"]
