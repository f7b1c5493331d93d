"""Rasters in files, for tests of maps."""

DEGREES = {"crs": "EPSG:4326", "transform": (0.5, 0, 8.0, 0, -0.5, 60.0)}
METRES = {"crs": "EPSG:32632", "transform": (10, 0, 500_000, 0, -10, 5_540_000)}


def put(path, values, grid=DEGREES, nodata=None, block=16):
    """Write an array as a GeoTIFF of small tiles, and return its path."""
    import rasterio

    options = {"driver": "GTiff", "height": values.shape[0], "width": values.shape[1], "count": 1, "nodata": nodata}
    options |= {"dtype": values.dtype, "tiled": True, "blockxsize": block, "blockysize": block, **grid}
    options["transform"] = rasterio.Affine(*grid["transform"])
    with rasterio.open(path, "w", **options) as file:
        file.write(values, 1)
    return str(path)
