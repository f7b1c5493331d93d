"""The classes of a map and their sizes: of rasters, whatever the windows, and of polygons; as sizes of strata."""

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import rasterio
import shapely
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from map_files import put

import wmcc
from wmcc.errors import InputError, InputTypeError
from wmcc.geo.areas import polygon_areas
from wmcc.sources import raster_inputs
from wmcc.sources.map_classes import map_classes


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
        patch.setattr(raster_inputs, "WINDOW", window)
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


# ---- as sizes of strata -----------------------------------------------------------------------------------

BY_MAP = wmcc.Strata("class", population="map")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A map in degrees, another one, and labelled points in files of several kinds."""
    folder, rng = tmp_path_factory.mktemp("maps"), np.random.default_rng(1)
    values = np.repeat(np.repeat(rng.integers(1, 4, (6, 5)), 10, 0), 10, 1).astype(np.uint8)
    values[:4, :4] = 0
    put(folder / "map.tif", values, nodata=0)
    put(folder / "other.tif", np.where(values == 3, 1, values), nodata=0)
    rows, cols = rng.integers(5, 60, 80), rng.integers(5, 50, 80)
    code = np.where(rng.random(80) < 0.8, values[rows, cols], rng.integers(1, 4, 80))
    points = pd.DataFrame({"code": code, "lon": 8 + 0.5 * (cols + 0.5), "lat": 60 - 0.5 * (rows + 0.5)})
    points.to_csv(folder / "points.csv", index=False)
    geometry = gpd.points_from_xy(points.lon, points.lat, crs=4326)
    gpd.GeoDataFrame(points, geometry=geometry).to_file(folder / "points.gpkg")
    return folder


@pytest.mark.parametrize("kind", ["csv", "gpkg", "frame"])
def test_sizes_are_those_that_one_would_have_typed(made, kind):
    points = wmcc.Layer(made / "points.csv", xy=("lon", "lat"), crs="EPSG:4326")
    points = {"csv": points, "gpkg": made / "points.gpkg", "frame": gpd.read_file(made / "points.gpkg")}[kind]
    data, sizes = wmcc.Overlay(points, made / "map.tif"), map_classes(made / "map.tif").areas
    table = wmcc.tabulate(data, true="code", design=BY_MAP)
    assert table == wmcc.tabulate(data, true="code", design=wmcc.Strata("class", population=sizes))
    assert table.total == pytest.approx(sum(sizes.values()))


def test_polygons_have_the_sizes_of_their_classes(made):
    west, east = shapely.box(8, 30, 20, 60), shapely.box(20, 30, 33, 60)
    land = gpd.GeoDataFrame({"map": [1, 2], "sheet": ["w", "e"]}, geometry=[west, east], crs=4326)
    data = wmcc.Overlay(made / "points.gpkg", land)
    for column in ("map", "sheet"):
        table = wmcc.tabulate(data, true="code", pred="map", design=wmcc.Strata(column, population="map"))
        sizes = map_classes(land, column).areas
        assert table == wmcc.tabulate(data, true="code", pred="map", design=wmcc.Strata(column, population=sizes))


def test_names_of_classes_are_those_of_strata(made):
    names = {1: "oak", 2: "elm", 3: "ash"}
    with rasterio.open(made / "map.tif") as file:
        put(made / "named.tif", file.read(1), nodata=0)
    with rasterio.open(made / "named.tif", "r+") as file:
        file.update_tags(1, flag_values="1,2,3", flag_meanings="oak elm ash")
    points = gpd.read_file(made / "points.gpkg").assign(code=lambda x: x.code.map(names))
    table = wmcc.tabulate(wmcc.Overlay(points, made / "named.tif"), true="code", design=BY_MAP)
    assert table.total == pytest.approx(sum(map_classes(made / "map.tif").areas.values()))
    assert set(table.drawn.design.strata) == set(names.values())


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ("frame", {"true": "code", "pred": "code", "design": BY_MAP}, "there is no map here"),
        ("arrays", {"design": BY_MAP}, "there is no map here"),
        ("map", {"true": "code", "design": wmcc.Strata(population="map")}, "there is no `stratum`"),
        ("map", {"true": "code", "design": wmcc.Strata("code", population="map")}, "is 'code', which no map has"),
        ("map", {"true": "code", "design": wmcc.Strata("class", population="map", fpc=True)}, "which has areas"),
        ("two", {"true": "code", "design": BY_MAP}, "several maps"),
        ("map", {"true": "code", "weight": "lon", "design": BY_MAP}, "`population` makes the weights of rows"),
        ("parcels", {"true": "code", "pred": "map", "design": wmcc.Strata("map", population="map")}, "two layers of"),
    ],
)
def test_what_has_no_map_is_refused(made, data, options, message):
    points = made / "points.gpkg"
    parcels = gpd.GeoDataFrame({"code": [1], "map": [1]}, geometry=[shapely.box(8, 30, 20, 60)], crs=4326)
    args = {
        "frame": (gpd.read_file(points).drop(columns="geometry"),),
        "arrays": ([1, 2], [1, 2]),
        "map": (wmcc.Overlay(points, made / "map.tif"),),
        "two": (wmcc.Overlay(points, {"a": made / "map.tif", "b": made / "other.tif"}),),
        "parcels": (wmcc.Overlay(parcels, parcels),),
    }[data]
    with pytest.raises((InputError, InputTypeError), match=message):
        wmcc.tabulate(*args, **options)


def test_classes_without_a_point_are_named(made):
    points = gpd.read_file(made / "points.gpkg")
    lost = wmcc.Overlay(points[points.code > 1].iloc[:2], made / "map.tif")
    with pytest.raises(InputError, match="2 strata have a size but no sampled row: 1"):
        wmcc.tabulate(lost, true="code", design=BY_MAP)
