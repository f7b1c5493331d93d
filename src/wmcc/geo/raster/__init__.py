"""Rasters: maps of numbers on a regular grid, from files, data sets of rasterio and arrays of xarray."""

from .alignment import aligned as aligned
from .alignment import ties as ties
from .base import OpenRaster as OpenRaster
from .grids import check_grid as check_grid
from .opening import Raster as Raster
from .opening import as_raster as as_raster
