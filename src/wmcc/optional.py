"""Packages that only some of wmcc needs: found when used; where one is missing, the extra that brings it is named."""

from __future__ import annotations

import importlib
from typing import Any

from .errors import MissingDependencyError

PACKAGES = {"PIL": "pillow", "sklearn": "scikit-learn", "mpl_toolkits": "matplotlib"}
"""What packages are called, where modules are called otherwise."""

EXTRAS = {
    "duckdb": "duckdb",
    "geopandas": "geo",
    "matplotlib": "plot",
    "netCDF4": "raster",
    "openpyxl": "excel",
    "pandas": "excel",
    "pillow": "images",
    "polars": "polars",
    "pyarrow": "arrow",
    "pyogrio": "geo",
    "pyproj": "geo",
    "rasterio": "raster",
    "scikit-learn": "sklearn",
    "shapely": "geo",
    "torch": "torch",
    "torchmetrics": "torchmetrics",
    "xarray": "raster",
    "xlsxwriter": "excel",
    "zarr": "raster",
}
"""Which extra of wmcc brings a package, with the versions that wmcc works with."""


def module(name: str, extra: str | None = None) -> Any:
    """Import an optional package, or say how to get it: by this extra of wmcc, or the one that is known to bring it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        package = PACKAGES.get(package, package)
        raise MissingDependencyError(
            f"this needs {package}, which is not installed.", pip_install(extra or EXTRAS.get(package))
        ) from None


def pip_install(*extras: str | None) -> str:
    """Return the command that installs these extras; quoted, as some shells read brackets otherwise."""
    named = ",".join(dict.fromkeys(filter(None, extras)))
    return f"pip install 'wmcc[{named}]'" if named else "pip install wmcc"
