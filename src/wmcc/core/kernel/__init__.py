"""The one hot loop: label columns and weights in, exact sums per cell out.

Two kernels do it. The compiled one (``native/``, plain C) is used where it was built; the NumPy twin
(``_numpy``) elsewhere. They have the same interface and give the same bits.
"""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

from . import _numpy

IGNORED, UNKNOWN = _numpy.IGNORED, _numpy.UNKNOWN
MOST_AXES, MOST_REPLICATES = _numpy.MOST_AXES, _numpy.MOST_REPLICATES


def _load() -> ModuleType:
    choice = os.environ.get("WMCC_KERNEL", "")
    if choice not in ("", "compiled", "numpy"):
        raise ImportError(f"WMCC_KERNEL is {choice!r}; expected 'compiled', 'numpy' or nothing")
    if choice == "numpy":
        return _numpy
    try:
        return import_module("._native", __name__)  # compiled; its interface is that of the twin
    except ImportError:
        if choice == "compiled":
            raise
        return _numpy


active: ModuleType = _load()


def kernel() -> str:
    """Name the kernel in use: ``"compiled"`` or ``"numpy"``.

    Both give the same table to the last bit; the NumPy one is there for machines without a C compiler at
    install time. The environment variable ``WMCC_KERNEL`` (``compiled`` or ``numpy``) chooses one at import.

    Examples
    --------
    >>> kernel() in ("compiled", "numpy")
    True
    """
    return "numpy" if active is _numpy else "compiled"
