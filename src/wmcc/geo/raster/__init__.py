"""Rasters: maps of numbers on a regular grid, from files, data sets of rasterio and arrays of xarray."""

from .alignment import aligned as aligned
from .base import Raster as Raster
from .grids import check_grid as check_grid
from .opening import as_raster as as_raster
from .opening import raster as raster
