"""Layers of polygons and points: reading, repair, coordinate reference systems, and tables of them."""

import re
import warnings
import zipfile

import geopandas as gpd
import numpy as np
import pandas as pd
import pyogrio
import pytest
import shapely
from flat import tabulate
from hypothesis import given, settings
from hypothesis import strategies as st

import wmcc
from wmcc.errors import InputError, InputTypeError, LabelError, MapWarning, MissingDependencyError
from wmcc.geo import overlay
from wmcc.geo.areas import polygon_areas
from wmcc.geo.layers import OpenLayer, read_layer, repaired

BOXES = [shapely.box(9 + i / 10, 45, 9.08 + i / 10, 45.05 + i / 100) for i in range(4)]
FILES = ["parcels.gpkg", "parcels.shp", "parcels.geojson", "parcels.fgb", "parcels.parquet", "parcels.geoparquet"]
SIDES = {"true": "ref", "pred": "map"}
CALL = {**SIDES, "weight": "area"}


def parcels(geometry=BOXES, crs="EPSG:4326", **columns):
    n = len(geometry)
    frame = {"ref": list("aabb"[:n]), "map": list("abbb"[:n]), "tile": [7, 7, 8, 9][:n], "ha": [4.0, 3.0, 2.0, 1.0][:n]}
    return gpd.GeoDataFrame({**frame, **columns}, geometry=list(geometry), crs=crs)


def saved(frame, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of geopandas, about what is tested here
        frame.to_parquet(path) if path.suffix.endswith("parquet") else frame.to_file(path)
    return path


def cells(table):
    return np.asarray(table).tolist(), table.labels


# ---- the same table from every container ---------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_every_file_gives_the_table_of_the_frame(tmp_path, name):
    frame = parcels()
    path = saved(frame, tmp_path / name)
    areas = polygon_areas(frame.geometry.to_numpy(), frame.crs)
    expected = wmcc.tabulate(frame["ref"], frame["map"], areas)
    for data in (frame, path, str(path)):
        found = wmcc.tabulate(data, **CALL)
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-11)  # GeoJSON rounds coordinates
        assert found.labels == expected.labels
    by_tile = wmcc.tabulate(path, **SIDES, by="tile", weight=wmcc.Area("m2"))
    assert by_tile[7].total == pytest.approx(areas[:2].sum() * 1e4, rel=1e-11)
    clustered = wmcc.tabulate(path, **CALL, cluster="tile")
    assert clustered.drawn.clusters == (7, 8, 9)
    assert wmcc.tabulate(path, true="ref", pred="map", weight="ha").total == 10
    assert wmcc.tabulate(path, true="ref", pred="map").n.sum() == 4


def test_frames_of_geopandas_are_frames():
    frame = parcels().to_crs(6933)
    expected = wmcc.tabulate(frame["ref"], frame["map"], frame.area)
    assert cells(wmcc.tabulate(frame, true="ref", pred="map", weight=frame.area)) == cells(expected)
    assert (
        wmcc.tabulate(frame, true="ref", pred="map", weight="ha", design=wmcc.Strata("tile", lonely="certainty")).total
        == 10
    )
    shuffled = frame.iloc[[2, 0, 3, 1]]  # its index is not 0, 1, …
    assert cells(wmcc.tabulate(shuffled, **CALL)) == cells(wmcc.tabulate(frame, **CALL))
    assert wmcc.tabulate(shuffled, **CALL, by=shuffled["tile"])[9].n.sum() == 1
    by_expression = wmcc.tabulate(shuffled, true=shuffled["ref"], pred=shuffled["map"], weight=wmcc.Area("m2"))
    assert by_expression.total == pytest.approx(expected.total, rel=1e-6)
    both = wmcc.tabulate(frame, true="ref", pred={"A": "map", "B": "ref"}, weight="area")
    assert both.names == ("A", "B")


def test_design_columns_of_a_file(tmp_path):
    frame = parcels(size=[10.0, 10.0, 30.0, 30.0], stratum=["x", "x", "y", "y"], w1=[1.0, 2, 1, 0], w2=[0.0, 1, 2, 1])
    path = saved(frame, tmp_path / "parcels.gpkg")
    sample = {"true": "ref", "pred": "map", "stratum": "stratum", "population": "size"}
    assert tabulate(path, **sample).total == 40
    assert cells(tabulate(path, **sample)) == cells(tabulate(pd.DataFrame(frame.drop(columns="geometry")), **sample))
    resampled = wmcc.tabulate(path, **CALL, design=wmcc.Replicates("w*", "brr"))
    assert resampled.total == pytest.approx(wmcc.tabulate(frame, **CALL).total, rel=1e-14)


def test_missing_and_ignored_labels(tmp_path):
    frame = parcels(ref=["a", None, "b", "void"])
    for data in (frame, saved(frame, tmp_path / "parcels.gpkg")):
        with pytest.raises(LabelError, match="missing"):
            wmcc.tabulate(data, **CALL)
        table = wmcc.tabulate(data, **CALL, missing="ignore", ignore="void")
        assert (int(table.n.sum()), table.ignored) == (2, 2)


def test_areas_as_asked_for():
    frame = parcels()
    areas = frame.geometry.to_numpy()
    for unit in ("ha", "km2", "m2"):
        total = wmcc.tabulate(frame, **SIDES, weight=wmcc.Area(unit)).total
        assert total == pytest.approx(polygon_areas(areas, 4326, unit).sum(), rel=1e-14)
    for crs in ("EPSG:32632", "EPSG:3857"):
        assert wmcc.tabulate(frame.to_crs(crs), **CALL).total == pytest.approx(
            wmcc.tabulate(frame, **CALL).total, rel=1e-9
        )
    with pytest.raises(InputError, match="`unit` is 'acres'; expected one of 'ha', 'km2' or 'm2'"):
        wmcc.tabulate(frame, **SIDES, weight=wmcc.Area("acres"))


@pytest.mark.parametrize("name", ["parcels.gpkg", "parcels.parquet", "frame"])
def test_a_column_called_area(tmp_path, name):
    """It is the weight, unless a unit is given, which a column does not have."""
    frame = parcels(area=[1.0, 2.0, 3.0, 4.0])
    data = frame if name == "frame" else saved(frame, tmp_path / name)
    with pytest.warns(MapWarning, match="`weight` 'area' is the column 'area' .* from 1 to 4, 10 together"):
        assert wmcc.tabulate(data, **CALL).total == 10
    assert wmcc.tabulate(data, **SIDES, weight=wmcc.Area("ha")).total == pytest.approx(
        wmcc.tabulate(parcels(), **CALL).total
    )


def test_a_column_called_area_beside_points_is_a_weight_like_others(tmp_path):
    points = parcels(shapely.centroid(np.array(BOXES)), area=[1.0, 2.0, 3.0, 4.0])
    for data in (points, saved(points, tmp_path / "a.gpkg"), saved(points, tmp_path / "a.parquet")):
        assert wmcc.tabulate(data, **CALL).total == 10
    table = pd.DataFrame(points.drop(columns="geometry")).assign(x=9.0, y=45.0)
    assert wmcc.tabulate(wmcc.Layer(table, xy=("x", "y"), crs=4326), **CALL).total == 10
    assert wmcc.tabulate(table, **CALL).total == 10


def test_parquet_files_without_geometry(tmp_path):
    """weight='area' names a column, as it does in any file."""
    plain = pd.DataFrame(parcels(area=[1.0, 2.0, 3.0, 4.0]).drop(columns="geometry"))
    (tmp_path / "parts").mkdir()
    plain.to_parquet(tmp_path / "parts" / "one.parquet")
    for data in (tmp_path / "parts" / "one.parquet", f"{tmp_path}/parts/*.parquet", tmp_path / "parts"):
        assert wmcc.tabulate(data, **CALL).total == 10
    plain.drop(columns="area").to_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match="there is no column 'area'"):
        wmcc.tabulate(tmp_path / "b.parquet", **CALL)
    with pytest.raises(InputTypeError, match="`Area` is the area of polygons or pixels"):
        wmcc.tabulate(tmp_path / "b.parquet", **SIDES, weight=wmcc.Area("ha"))
    plain.to_parquet(tmp_path / "d.geoparquet")
    with pytest.raises(InputError, match=r"d.geoparquet has no geometry: it is a Parquet file[\s\S]*to_parquet"):
        wmcc.tabulate(tmp_path / "d.geoparquet", **SIDES, weight=wmcc.Area("ha"))
    plain.to_csv(tmp_path / "c.csv")
    assert wmcc.tabulate(tmp_path / "c.csv", **CALL).total == 10


# ---- reading -------------------------------------------------------------------------------------------


def test_layers_of_a_file(tmp_path):
    path = tmp_path / "map.gpkg"
    parcels().to_file(path, layer="parcels")
    parcels(BOXES[:2]).to_file(path, layer="lakes")
    with pytest.raises(InputError, match=r"has 2 layers: 'parcels', 'lakes'[\s\S]*Layer") as caught:
        wmcc.tabulate(path, **CALL)
    assert caught.value.argument == "layer"
    assert wmcc.tabulate(wmcc.Layer(path, "lakes"), **CALL).n.sum() == 2
    with pytest.raises(InputError, match=r"has no layer 'parcel'; it has[\s\S]*did you mean 'parcels'\?"):
        wmcc.tabulate(wmcc.Layer(path, "parcel"), **CALL)
    with pytest.raises(InputTypeError, match=r"`layer` is for files"):
        wmcc.tabulate(wmcc.Layer(parcels(), "x"), **CALL)
    with pytest.raises(InputTypeError, match=r"`layer` is for files of several layers"):
        wmcc.tabulate(wmcc.Layer(saved(parcels(), tmp_path / "a.parquet"), "x"), **CALL)


@pytest.mark.parametrize("name", ["parcels.gpkg", "parcels.parquet", "frame"])
def test_a_missing_column_names_the_nearest(tmp_path, name):
    data = parcels() if name == "frame" else saved(parcels(), tmp_path / name)
    with pytest.raises(InputError, match=r"there is no column 'reff'[\s\S]*did you mean 'ref'\?"):
        wmcc.tabulate(data, true="reff", pred="map", weight="area")
    with pytest.raises(InputError, match=r"there is no column 'tiles'[\s\S]*did you mean 'tile'\?"):
        wmcc.tabulate(data, **CALL, by="tiles")


def test_shapefiles_cut_names_of_columns(tmp_path):
    path = saved(parcels().rename(columns={"ref": "reference_class"}), tmp_path / "a.shp")
    with pytest.raises(InputError, match=r"no column 'reference_class'[\s\S]*did you mean 'reference_'\?"):
        wmcc.tabulate(path, true="reference_class", pred="map", weight="area")


@pytest.mark.parametrize("name", ["a.gpkg", "a.shp", "a.geojson", "a.fgb", "a.geoparquet"])
def test_a_damaged_file(tmp_path, name):
    (tmp_path / name).write_bytes(b"this is no map at all" * 20)
    with pytest.raises(InputError, match=rf"{name} cannot be read: .*[\s\S]*may be damaged"):
        wmcc.tabulate(tmp_path / name, **CALL)


@pytest.mark.parametrize("name", ["parcels.gpkg", "parcels.fgb", "parcels.parquet"])
def test_a_file_that_was_cut_short(tmp_path, name):
    path = saved(parcels(), tmp_path / name)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputError, match=rf"{name} cannot be read"):
        wmcc.tabulate(path, **CALL)


def test_no_such_file(tmp_path):
    saved(parcels(), tmp_path / "parcels.gpkg")
    with pytest.raises(InputError, match=r"there is no file .*parcel.gpkg'[\s\S]*did you mean .*parcels.gpkg'\?"):
        wmcc.tabulate(tmp_path / "parcel.gpkg", **CALL)


def test_several_files_are_one_frame(tmp_path):
    """What the sentence advises works."""
    path = saved(parcels(), tmp_path / "a.gpkg")
    other = saved(parcels(shapely.transform(np.array(BOXES), lambda xy: xy + np.array([0, 1]))), tmp_path / "b.gpkg")
    with pytest.raises(InputError, match=r"no known format[\s\S]*geopandas.read_file, and pass the frame"):
        wmcc.tabulate([path, other], **CALL)
    frame = pd.concat([gpd.read_file(path), gpd.read_file(other)])
    assert wmcc.tabulate(frame, **CALL).n.sum() == 8


def test_other_containers(tmp_path):
    """Archives, and files whose names do not say what they hold."""
    expected = wmcc.tabulate(parcels(), **SIDES, weight=wmcc.Area("km2"))
    saved(parcels(), tmp_path / "a.shp")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for part in tmp_path.glob("a.*"):
            if part.suffix != ".zip":
                archive.write(part, part.name)
    saved(parcels(), tmp_path / "b.geojson").rename(tmp_path / "b.json")
    parcels().to_file(tmp_path / "c.gml", driver="GML")
    for data in (tmp_path / "a.zip", f"zip://{tmp_path}/a.zip", f"/vsizip/{tmp_path}/a.zip/a.shp", "b.json", "c.gml"):
        found = wmcc.tabulate(
            tmp_path / data if data in ("b.json", "c.gml") else data, **SIDES, weight=wmcc.Area("km2")
        )
        assert found.total == pytest.approx(expected.total, rel=1e-9)
    (tmp_path / "d.json").write_text("[]")
    with zipfile.ZipFile(tmp_path / "d.zip", "w") as archive:
        archive.writestr("d.csv", "ref,map\n1,1\n")
    for name, hint in (("d.json", "pandas.read_json"), ("d.zip", "unpack it")):
        with pytest.raises(InputError, match=rf"no known format[\s\S]*{hint}"):
            wmcc.tabulate(tmp_path / name, **CALL)


def test_text_of_shapefiles_in_another_encoding(tmp_path):
    frame = parcels().assign(ref=["Äcker", "Äcker", "b", "b"])
    frame.to_file(tmp_path / "a.shp", encoding="ISO-8859-1")
    for _ in range(2):
        assert wmcc.tabulate(tmp_path / "a.shp", **CALL).labels == ("a", "b", "Äcker")
        (tmp_path / "a.cpg").unlink(missing_ok=True)  # the table itself has a mark of its encoding, too


def test_geometries_that_are_no_layer(tmp_path):
    frame = parcels()
    with pytest.raises(InputTypeError, match="the data are a GeoSeries, which has geometries only"):
        wmcc.tabulate(frame.geometry, **CALL)
    plain = pd.DataFrame(frame.to_wkb())
    with pytest.raises(InputTypeError, match=r"`Area` is the area[\s\S]*geopandas.GeoSeries.from_wkb\(data\["):
        wmcc.tabulate(plain, **SIDES, weight=wmcc.Area("ha"))
    again = gpd.GeoDataFrame(plain, geometry=gpd.GeoSeries.from_wkb(plain["geometry"]), crs=4326)  # as the hint says
    assert cells(wmcc.tabulate(again, **CALL)) == cells(wmcc.tabulate(frame, **CALL))
    for data in (frame, plain):
        with pytest.raises(InputError, match=r"no column 'Area'[\s\S]*`weight` 'area' is the area of polygons"):
            wmcc.tabulate(data, true="ref", pred="map", weight="Area")
    path = saved(frame, tmp_path / "a.gpkg")
    with pytest.raises(InputError, match=r"no known format[\s\S]*geopandas.read_file"):
        wmcc.tabulate([path, path], **CALL)


@pytest.mark.parametrize("package", ["geopandas", "pyogrio", "shapely"])
def test_a_missing_package_is_named(tmp_path, monkeypatch, package):
    from wmcc import optional

    path, importing = saved(parcels(), tmp_path / "a.gpkg"), optional.importlib.import_module

    def none(name):
        if name == package:
            raise ImportError(name)
        return importing(name)

    monkeypatch.setattr(optional.importlib, "import_module", none)
    with pytest.raises(MissingDependencyError, match=rf"needs {package}[\s\S]*pip install 'wmcc\[geo\]'"):
        wmcc.tabulate(path, **CALL)


def test_layers_without_rows(tmp_path):
    empty = parcels().iloc[:0]
    assert wmcc.tabulate(empty, **CALL).n.sum() == 0
    assert wmcc.tabulate(saved(empty, tmp_path / "a.fgb"), **CALL).n.sum() == 0


def test_tables_without_geometry(tmp_path):
    with pytest.raises(InputError, match="no column 'area'"):
        wmcc.tabulate(pd.DataFrame({"ref": [0], "map": [0]}), **CALL)
    path = tmp_path / "table.gpkg"
    pyogrio.write_dataframe(pd.DataFrame({"ref": [0], "map": [0]}), path)
    assert wmcc.tabulate(path, true="ref", pred="map").n.sum() == 1
    with pytest.raises(InputError, match=r"table.gpkg has no geometry: it is a table"):
        wmcc.tabulate(path, **CALL)


def test_points_of_a_table_are_its_rows():
    points = pd.DataFrame({"x": [9.0], "y": [45.0], "ref": [0], "map": [0]})
    assert wmcc.tabulate(wmcc.Layer(points, xy=("x", "y"), crs=4326), true="ref", pred="map").rows == 1


def test_layers_are_joined_by_a_key(tmp_path):
    frame = parcels(id=[4, 3, 2, 1])
    answers = pd.DataFrame({"id": [1, 2, 3, 4], "pred": list("bbba")})
    for data in (frame, saved(frame, tmp_path / "parcels.gpkg")):
        table = wmcc.tabulate(wmcc.Join(data, answers, "id"), true="ref", pred="pred", weight="area")
        assert cells(table) == cells(wmcc.tabulate(frame, **CALL))
        for name, write in (("p.csv", answers.to_csv), ("p.parquet", answers.to_parquet)):
            write(tmp_path / name, index=False)
            found = wmcc.tabulate(wmcc.Join(data, tmp_path / name, "id"), true="ref", pred="pred", weight="area")
            assert cells(found) == cells(table)
    numbered = parcels(ref=[1, 1, 2, 2], id=[4, 3, 2, 1])  # whose keys and labels are text in the other file
    pd.DataFrame({"id": [1, 2, 3, 4], "pred": [2, 2, 2, 1]}).to_csv(tmp_path / "n.csv", index=False)
    found = wmcc.tabulate(wmcc.Join(numbered, tmp_path / "n.csv", "id"), true="ref", pred="pred", weight="area")
    assert found.labels == (1, 2)
    assert np.array_equal(np.asarray(found), np.asarray(table))
    answers.to_csv(tmp_path / "answers.csv", index=False)
    answers.to_parquet(tmp_path / "answers.parquet")
    saved(frame.assign(pred=frame["map"]).drop(columns=["ref", "map"]), tmp_path / "answers.gpkg")
    for end in ("csv", "parquet", "gpkg"):  # files of any kind, beside one of polygons
        by_file = {"join": tmp_path / f"answers.{end}", "on": "id", "true": "ref", "pred": "pred", "weight": "area"}
        assert cells(tabulate(tmp_path / "parcels.gpkg", **by_file)) == cells(table)
    with pytest.raises(InputTypeError, match="a side of `Join` is of type `Overlay`"):
        wmcc.tabulate(wmcc.Join(wmcc.Overlay(frame, frame), answers, "id"), true="ref", pred="pred")
    with pytest.raises(InputError, match=r"parcels.gpkg' has no known format[\s\S]*is read as it is"):
        wmcc.tabulate(wmcc.Files(tmp_path / "parcels.gpkg", engine="polars"), **CALL)


# ---- coordinate reference systems ----------------------------------------------------------------------


def test_no_crs_is_refused(tmp_path):
    bare = parcels(crs=None)
    for data in (bare, saved(bare, tmp_path / "bare.gpkg")):
        with pytest.raises(InputError, match=r"has no coordinate reference system[\s\S]*crs=.*`weight`") as caught:
            wmcc.tabulate(data, **CALL)
        assert caught.value.argument == "crs"
        assert wmcc.tabulate(wmcc.Layer(data, crs="EPSG:4326"), **CALL).total == wmcc.tabulate(parcels(), **CALL).total
        assert wmcc.tabulate(data, true="ref", pred="map", weight="ha").total == 10


def test_a_crs_that_contradicts_the_data():
    assert wmcc.tabulate(wmcc.Layer(parcels(), crs="EPSG:4326"), **CALL).n.sum() == 4
    with pytest.raises(InputError, match=r"the frame is in EPSG:4326 \(WGS 84\), and `crs` says EPSG:25832"):
        wmcc.tabulate(wmcc.Layer(parcels(), crs="EPSG:25832"), **CALL)
    with pytest.raises(InputError, match=r"'EPSG:99' is no coordinate reference system that pyproj knows"):
        wmcc.tabulate(wmcc.Layer(parcels(crs=None), crs="EPSG:99"), **CALL)


def test_degrees_that_are_none():
    degrees_as_metres = parcels(crs="EPSG:32632")
    with pytest.raises(InputError, match=r"is in EPSG:32632 .* \(9, 45\) to .* look like degrees[\s\S]*set_crs"):
        wmcc.tabulate(degrees_as_metres, **CALL)
    right = degrees_as_metres.set_crs("EPSG:4326", allow_override=True)  # as the hint says
    assert wmcc.tabulate(right, **CALL).total == wmcc.tabulate(parcels(), **CALL).total
    metres_as_degrees = parcels().to_crs(32632).set_crs(4326, allow_override=True)
    with pytest.raises(InputError, match=r"is in EPSG:4326 .* no longitude and latitude[\s\S]*set_crs"):
        wmcc.tabulate(metres_as_degrees, **CALL)
    swapped = parcels([shapely.box(-30, 120, -29, 121)])
    with pytest.raises(InputError, match=r"no longitude and latitude[\s\S]*If latitude comes first"):
        wmcc.tabulate(swapped, **CALL)
    south_of_the_pole = parcels([BOXES[0], shapely.box(0, 89, 1, 90)])
    for lat in (90.0005, np.nextafter(90, 91)):  # a pole, but for rounding
        there = parcels([BOXES[0], shapely.box(0, 89, 1, lat)])
        assert wmcc.tabulate(there, **CALL).total == wmcc.tabulate(south_of_the_pole, **CALL).total
    with pytest.raises(InputError, match=r"90\.01\), which is no longitude and latitude"):
        wmcc.tabulate(parcels([BOXES[0], shapely.box(0, 89, 1, 90.01)]), **CALL)
    near_zero = parcels([shapely.box(0, 0, 50, 50)], crs="EPSG:3857")  # 50 m in the Gulf of Guinea are possible
    assert wmcc.tabulate(near_zero, **SIDES, weight=wmcc.Area("m2")).total == pytest.approx(2500, rel=0.01)


def test_an_antimeridian_that_is_crossed():
    over = parcels([BOXES[0], shapely.Polygon([(179.9, 0), (-179.9, 0), (-179.9, 0.1), (179.9, 0.1)])])
    with pytest.warns(MapWarning, match=r"row 1 has edges through more than 180°"):
        total = wmcc.tabulate(over, **CALL).total
    assert total == pytest.approx(polygon_areas([BOXES[0], shapely.box(179.9, 0, 180.1, 0.1)], 4326).sum(), rel=1e-12)


# ---- repair --------------------------------------------------------------------------------------------

BOW_TIE = shapely.Polygon([(9, 45), (9.1, 45.1), (9.1, 45), (9, 45.08)])


def layer(*geometry, crs=4326):
    return read_layer(gpd.GeoDataFrame(geometry=list(geometry), crs=crs), name="parcels")


def test_invalid_polygons_are_repaired_and_counted():
    spike = shapely.Polygon([(9, 45), (9.1, 45), (9.1, 45.1), (9.1, 45.2), (9.1, 45.1), (9, 45.1)])
    with pytest.warns(
        MapWarning, match=r"parcels: 2 of 4 polygons are invalid \(the first in row 1\): repaired"
    ) as said:
        found = repaired(layer(BOXES[0], BOW_TIE, BOXES[1], spike))
    assert re.search(r"This changed the area of row 1 by \d+ ?%: look at it", str(said[0].message))
    assert shapely.is_valid(found.geometry).all()
    assert found.geometry[1].area == pytest.approx(shapely.make_valid(BOW_TIE).area, rel=1e-12)
    assert found.geometry[3].area == pytest.approx(0.01, rel=1e-12)
    with pytest.warns(MapWarning, match=r"parcels: 1 polygon is invalid \(row 0\): repaired\.$"):
        repaired(layer(spike))


def test_a_repair_reaches_the_weights():
    frame = parcels([BOXES[2], BOW_TIE])
    with pytest.warns(MapWarning, match="the frame: 1 polygon is invalid .row 1."):
        table = wmcc.tabulate(frame, **CALL)
    halves = shapely.get_parts(shapely.make_valid(BOW_TIE))
    assert table.total == pytest.approx(polygon_areas([BOXES[2], *halves], 4326).sum(), rel=1e-9)


@pytest.mark.parametrize("nothing", [None, shapely.Polygon(), shapely.MultiPolygon()])
def test_rows_without_geometry(nothing):
    with pytest.warns(MapWarning, match=r"2 of 3 rows have no geometry \(the first in row 1\): no area"):
        table = wmcc.tabulate(parcels([BOXES[0], nothing, nothing]), **CALL)
    assert table.total == wmcc.tabulate(parcels(BOXES[:1]), **CALL).total
    assert table.n.sum() == 3
    with pytest.raises(InputError, match="the frame holds no geometry; expected polygons"):
        wmcc.tabulate(parcels([nothing]), **CALL)


def test_lines_and_points_among_polygons(tmp_path):
    mixed = parcels([BOXES[0], shapely.Point(9, 45), shapely.LineString([(9, 45), (9.1, 45)])])
    for data, name in ((mixed, "the frame"), (saved(mixed, tmp_path / "mixed.gpkg"), "mixed.gpkg")):
        with pytest.warns(MapWarning, match=rf"{name}: 2 of 3 rows have points.*: no area"):
            table = wmcc.tabulate(data, **CALL)
        assert table.total == wmcc.tabulate(parcels(BOXES[:1]), **CALL).total
    for one, what in ((shapely.Point(9, 45), "points"), (shapely.LineString([(9, 45), (9.1, 45)]), "lines")):
        with pytest.raises(InputError, match=rf"the frame holds {what}; expected polygons[\s\S]*have no area"):
            wmcc.tabulate(parcels([one]), **CALL)


def test_collections_count_with_their_polygons():
    collection = shapely.GeometryCollection([BOXES[0], shapely.Point(1, 1), shapely.GeometryCollection([BOXES[1]])])
    with pytest.warns(MapWarning, match=r"1 row is a collection \(row 0\): only their polygons count"):
        found = repaired(layer(collection, BOXES[2]))
    assert found.geometry[0].area == pytest.approx(BOXES[0].area + BOXES[1].area, rel=1e-12)


def test_collections_of_invalid_polygons():
    x, y = 9.0, 45.0
    bow = shapely.Polygon([(x, y), (x + 0.1, y + 0.1), (x + 0.1, y), (x, y + 0.1)])
    mixed = shapely.GeometryCollection([bow, shapely.box(x + 0.02, y, x + 0.08, y + 0.1), shapely.Point(x, y)])
    expected = shapely.union(shapely.make_valid(bow), shapely.box(x + 0.02, y, x + 0.08, y + 0.1))
    with pytest.warns(MapWarning, match=r"1 of them has invalid polygons \(row 0\): repaired"):
        found = repaired(read_layer(parcels([mixed])))
    assert found.geometry[0].equals(expected)


def test_coordinates_in_three_dimensions():
    high = [shapely.force_3d(box, 1234.5) for box in BOXES]
    assert wmcc.tabulate(parcels(high), **CALL).total == wmcc.tabulate(parcels(), **CALL).total


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_coordinates_that_are_not_finite(bad):
    broken = shapely.transform(BOXES[1], lambda xy: np.where(xy == xy.max(), bad, xy))
    with pytest.raises(InputError, match=r"the geometry of row 1 of the frame has a coordinate that is not finite"):
        wmcc.tabulate(parcels([BOXES[0], broken]), **CALL)


def test_polygons_of_zero_area():
    flat = shapely.Polygon([(9, 45), (9.1, 45), (9, 45)])
    with pytest.warns(MapWarning, match="1 polygon is invalid .row 1.: repaired"):
        table = wmcc.tabulate(parcels([BOXES[0], flat]), **CALL)
    assert table.total == wmcc.tabulate(parcels(BOXES[:1]), **CALL).total
    assert table.n.sum() == 2


# ---- points --------------------------------------------------------------------------------------------

SAMPLE = {"lon": [9.05, 9.15], "lat": [45.01, 45.02], "ref": ["01", "NA"], "w": [1.5, 2.5]}


def test_points_of_tables(tmp_path):
    frame = pd.DataFrame(SAMPLE)
    frame.to_csv(tmp_path / "points.csv", index=False)
    frame.to_csv(tmp_path / "points.csv.gz", index=False)
    frame.to_csv(tmp_path / "points.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "points.parquet")
    import polars as pl

    for data in (frame, pl.DataFrame(SAMPLE), pl.LazyFrame(SAMPLE), *tmp_path.iterdir()):
        found = read_layer(data, xy=("lon", "lat"), crs="EPSG:4326", columns=["ref"])
        assert shapely.get_coordinates(found.geometry).tolist() == [[9.05, 45.01], [9.15, 45.02]]
        assert found.frame.to_dict("list") == {"ref": ["01", "NA"]}  # neither 1 nor missing
        assert found.crs.to_epsg() == 4326


def test_points_that_cannot_be_placed(tmp_path):
    pd.DataFrame(SAMPLE).to_csv(tmp_path / "points.csv", index=False)
    with pytest.raises(InputError, match=r"points.csv has no coordinate reference system[\s\S]*crs='EPSG:4326'"):
        read_layer(tmp_path / "points.csv", xy=("lon", "lat"))
    with pytest.raises(InputTypeError, match=r"points.csv is a table without geometry[\s\S]*xy=\('lon', 'lat'\)"):
        read_layer(tmp_path / "points.csv", crs=4326)
    with pytest.raises(InputError, match=r"there is no column 'long'[\s\S]*did you mean 'lon'\?"):
        read_layer(tmp_path / "points.csv", xy=("long", "lat"), crs=4326)
    with pytest.raises(InputTypeError, match="`xy` is 'lon'; expected the names of two columns"):
        read_layer(tmp_path / "points.csv", xy="lon", crs=4326)
    lost = pd.DataFrame({**SAMPLE, "lat": [45.0, None]})
    with pytest.raises(InputError, match=r"column 'lat' of the frame has the coordinate nan in row 1; .*1 of 2 rows"):
        read_layer(lost, xy=("lon", "lat"), crs=4326)
    with pytest.raises(InputTypeError, match=r"the frame has a geometry of its own[\s\S]*leave `xy` out"):
        read_layer(parcels(), xy=("lon", "lat"))
    several = gpd.GeoDataFrame(geometry=[shapely.MultiPoint([(9, 45), (9, 46)]), shapely.Point(9, 45)], crs=4326)
    with pytest.raises(InputError, match=r"row 0 of the frame has several points; [\s\S]*data.explode\(") as caught:
        repaired(read_layer(several), points=True)
    assert "1 of 2 rows does not have it" in str(caught.value)
    assert len(repaired(read_layer(several.explode(ignore_index=True)), points=True).geometry) == 3  # as the hint says
    (tmp_path / "semicolons.csv").write_text("id;lon;lat\n1;9,5;45,5\n")
    with pytest.raises(InputError, match=r"no column 'lon'[\s\S]*'id;lon;lat'"):
        read_layer(tmp_path / "semicolons.csv", xy=("lon", "lat"), crs=4326)
    read = pd.read_csv(tmp_path / "semicolons.csv", sep=";", decimal=",")  # as the hint says
    assert read_layer(read, xy=("lon", "lat"), crs=4326).geometry[0] == shapely.Point(9.5, 45.5)
    (tmp_path / "commas.csv").write_text('id,lon,lat\n1,"9,5","45,5"\n')
    with pytest.raises(InputError, match=r"the coordinate '9,5' in row 0[\s\S]*decimal=','"):
        read_layer(tmp_path / "commas.csv", xy=("lon", "lat"), crs=4326)
    (tmp_path / "latin.csv").write_bytes("lon,lat,ref\n9,45,Äcker\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin.csv cannot be read: its text is not in UTF-8[\s\S]*encoding="):
        read_layer(tmp_path / "latin.csv", xy=("lon", "lat"), crs=4326)
    with pytest.raises(InputError, match=r"row 0 of parcels has polygons; expected one point"):
        repaired(layer(BOXES[0]), points=True)
    with pytest.raises(InputError, match=r"row 1 of parcels has no geometry; expected one point"):
        repaired(layer(shapely.Point(9, 45), None), points=True)
    single = repaired(layer(shapely.MultiPoint([(9, 45)]), shapely.Point(9, 46)), points=True)
    assert [x.geom_type for x in single.geometry] == ["Point", "Point"]


def test_a_layer_is_what_was_asked_for():
    found = read_layer(parcels(), columns=["tile"])
    assert isinstance(found, OpenLayer)
    assert list(found.frame.columns) == ["tile"]
    assert len(read_layer(parcels(), geometry=False).geometry) == 0
    with pytest.raises(InputTypeError, match="the frame is a DataFrame without geometry"):
        read_layer(pd.DataFrame(SAMPLE))


# ---- parcels that overlap ----------------------------------------------------------------------------------------


def lying(shapes, crs="EPSG:4326"):
    return gpd.GeoDataFrame({"ref": ["a"] * len(shapes), "map": ["a"] * len(shapes)}, geometry=list(shapes), crs=crs)


@pytest.mark.parametrize("limit", [10**9, 0])
def test_parcels_that_come_twice_are_found(monkeypatch, limit):
    monkeypatch.setattr(overlay, "MOST_VERTICES", limit)
    hole = shapely.box(10, 45, 11, 46) - shapely.box(10.2, 45.2, 10.8, 45.8)
    twice = lying([*BOXES, hole, BOXES[2], shapely.box(10.2, 45.2, 10.8, 45.8)])  # one lies in a hole
    area = polygon_areas([BOXES[2]], 4326)[0]
    with pytest.warns(MapWarning) as told:
        table = wmcc.tabulate(twice, **CALL)
    assert [str(x.message) for x in told] == [
        f"1 pair of polygons of the frame overlaps, by {area:,.4g} ha together, which count twice: rows 2 and 5 by "
        f"{area:,.4g} ha, for instance. Polygons that come twice: 1 pair, such as rows 2 and 5. If the reference "
        "should have one class at each place, cut the overlaps."
    ]
    assert table.rows == 7
    wmcc.tabulate(twice, **SIDES)  # without areas it does not matter


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 8)] * 2, *[st.integers(1, 4)] * 2), min_size=1, max_size=6))
def test_overlaps_have_the_area_of_exact_arithmetic(squares):
    """All pairs of rectangles; those that touch do not overlap."""
    ends = [(x, y, x + width, y + height) for x, y, width, height in squares]
    sides = [[min(a[k + 2], b[k + 2]) - max(a[k], b[k]) for k in (0, 1)] for i, a in enumerate(ends) for b in ends[:i]]
    common = [x * y for x, y in sides if x > 0 < y]
    shapes = [shapely.box(*(4e6 + 100 * x for x in own)) for own in ends]
    frame = lying(shapes, crs="EPSG:6933")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        wmcc.tabulate(frame, **CALL)
    if not common:
        assert not told
        return
    (said,) = (str(x.message) for x in told)
    pairs, size = re.match(r"([\d,]+) pairs? of polygons of the frame overlaps?, by ([\d.,]+) ha", said).groups()
    assert int(pairs) == len(common)
    assert float(size) == pytest.approx(sum(common), rel=1e-3)


def test_polygons_over_the_antimeridian_are_no_overlaps():
    across = shapely.Polygon([(179, -17), (-179, -17), (-179, -16), (179, -16)])
    with pytest.warns(MapWarning) as told:
        wmcc.tabulate(lying([across, shapely.box(0, -17, 1, -16), shapely.box(0, -17, 1, -16)]), **CALL)
    assert sorted(str(x.message).split(" ", 2)[1] for x in told) == ["pair", "polygon"]
