"""Maps: areas on the ellipsoid, layers of polygons and points, rasters and how they fit together."""
