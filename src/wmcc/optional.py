"""Packages that only some of wmcc needs: found when used, and named where they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from .errors import MissingDependencyError

INSTALLED_AS = {"dask": "'dask[dataframe]'", "pillow": "'pillow>=10'"}
"""What to ask pip for, where it is more than the name of the package."""

PACKAGES = {"PIL": "pillow"}
"""What packages are called, where modules are called otherwise."""


def module(name: str) -> Any:
    """Import an optional package, or say how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        package = PACKAGES.get(package, package)
        raise MissingDependencyError(
            f"this needs {package}, which is not installed.", f"pip install {INSTALLED_AS.get(package, package)}"
        ) from None
