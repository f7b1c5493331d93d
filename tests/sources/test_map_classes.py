"""The classes of a map and their sizes: of rasters, whatever the windows, and of polygons."""

import geopandas as gpd
import numpy as np
import pytest
import rasterio
import shapely
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.errors import InputError, InputTypeError
from wmcc.geo.areas import polygon_areas
from wmcc.sources import scenes
from wmcc.sources.map_classes import map_classes

DEGREES = {"crs": "EPSG:4326", "transform": rasterio.Affine(0.5, 0, 8.0, 0, -0.5, 60.0)}
METRES = {"crs": "EPSG:32632", "transform": rasterio.Affine(10, 0, 500_000, 0, -10, 5_540_000)}


def put(path, values, grid=DEGREES, nodata=None, block=16):
    options = {"driver": "GTiff", "height": values.shape[0], "width": values.shape[1], "count": 1, "nodata": nodata}
    options |= {"dtype": values.dtype, "tiled": True, "blockxsize": block, "blockysize": block, **grid}
    with rasterio.open(path, "w", **options) as file:
        file.write(values, 1)
    return str(path)


@given(
    seed=st.integers(0, 999),
    shape=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    window=st.sampled_from([1, 50, 1 << 20]),
    dtype=st.sampled_from(["uint8", "int16", "int64", "float32"]),
)
def test_sizes_are_those_of_the_raster_tabulated_against_itself(tmp_path_factory, seed, shape, window, dtype):
    values = np.random.default_rng(seed).integers(0, 5, shape).astype(dtype)
    values[0, 0] = 2
    path = put(tmp_path_factory.mktemp("map") / "map.tif", values, nodata=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scenes, "WINDOW", window)
        found = map_classes(path, threads=2)
    table = wmcc.tabulate(path, path, "area")
    assert found.labels == table.classes
    assert list(found.areas.values()) == pytest.approx(np.diag(table.w).tolist(), rel=1e-14)
    assert list(found.units.values()) == np.diag(table.n).tolist()


def test_arrays_and_names_of_xarray_have_sizes():
    cover = xr.DataArray([[5, 5, 7], [7, 7, 0]], {"y": [49.95, 49.85], "x": [10.05, 10.15, 10.25]}, ("y", "x"))
    cover.attrs |= {"flag_values": [5, 7], "flag_meanings": "oak elm"}
    found = map_classes(wmcc.Raster(cover, nodata=0, crs="EPSG:4326"), unit="km2")
    assert found.units == {5: 2, 7: 3}
    assert dict(found.names) == {5: "oak", 7: "elm"}
    row = found.raster.pixel_area("km2")[:, 0]
    assert found.areas == pytest.approx({5: 2 * row[0], 7: row[0] + 2 * row[1]})


def test_polygons_have_sizes(tmp_path):
    squares = [shapely.box(10, 50, 10.1, 50.1), shapely.box(10.1, 50, 10.2, 50.1), shapely.box(10, 50.1, 10.1, 50.2)]
    land = gpd.GeoDataFrame({"map": ["elm", "oak", "elm"]}, geometry=squares, crs="EPSG:4326")
    land.to_file(tmp_path / "land.gpkg")
    areas = polygon_areas(squares, "EPSG:4326")
    for data in (land, str(tmp_path / "land.gpkg"), wmcc.Layer(land)):
        found = map_classes(data, "map")
        assert found.areas == pytest.approx({"elm": areas[0] + areas[2], "oak": areas[1]})
        assert found.units == {"elm": 2, "oak": 1}


@pytest.mark.parametrize(
    ("data", "column", "message"),
    [
        ([[1, 2]], None, "the map is \\[\\[1, 2\\]\\]; expected a raster or a layer"),
        ("land", None, "`pred` is missing: the column of the map that has its classes; its columns are 'map' and 'no'"),
        ("land", "mp", "there is no column 'mp'"),
        ("land", "no", "1 polygon of the map has no class in the column 'no' \\(row 1 first\\)"),
        ("points", "map", "the map holds points; a map has polygons, or is a raster"),
        ("plain", "map", "has no coordinate reference system"),
        ("raster", "map", "is a raster, which has none"),
        ("empty", None, "empty.tif has no pixel that is known"),
    ],
)
def test_maps_without_sizes_are_refused(tmp_path, data, column, message):
    squares = [shapely.box(10, 50, 10.1, 50.1), shapely.box(10.1, 50, 10.2, 50.1)]
    land = gpd.GeoDataFrame({"map": ["elm", "oak"], "no": ["a", None]}, geometry=squares, crs="EPSG:4326")
    given_data = {
        "land": land,
        "points": land.set_geometry(land.geometry.representative_point()),
        "plain": land.set_crs(None, allow_override=True),
        "raster": put(tmp_path / "map.tif", np.ones((3, 3), np.uint8)),
        "empty": put(tmp_path / "empty.tif", np.zeros((3, 3), np.uint8), nodata=0),
    }
    with pytest.raises((InputError, InputTypeError), match=message):
        map_classes(given_data[data] if isinstance(data, str) else data, column)
