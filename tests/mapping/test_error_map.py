"""Where a map is wrong: shares of cells against NumPy, polygons against rasters, and what does not fit."""

import importlib

import geopandas
import numpy as np
import pandas as pd
import pytest
import rasterio
import shapely
import xarray as xr
from pyproj import CRS, Geod
from shapely.affinity import rotate

import wmcc
from wmcc.errors import InputError, InputTypeError, MapWarning, WmccError
from wmcc.geo.canvas import Canvas, crs_title, ground
from wmcc.mapping.error_map import ErrorMap, error_maps
from wmcc.report.maps import thinned
from wmcc.sources import raster_inputs
from wmcc.sources.request import Request

NAMES = {0: "field", 1: "forest", 2: "water"}
BLOCKS = {"blockxsize": 16, "blockysize": 16}
UTM = rasterio.Affine(10, 0, 600_000, 0, -10, 5_700_000)


def labels(shape, seed=0, wrong=0.3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, shape).astype(np.uint8)
    pred = np.where(rng.random(shape) < wrong, rng.integers(0, 3, shape), truth).astype(np.uint8)
    return truth, pred


def saved(path, values, transform=UTM, crs="EPSG:25832", **profile):
    size = {"height": values.shape[0], "width": values.shape[1], "count": 1, "dtype": values.dtype}
    with rasterio.open(path, "w", driver="GTiff", crs=crs, transform=transform, **size, **profile) as file:
        file.write(values, 1)
    return str(path)


def counts(marked, step):
    """Marked pixels of each cell, one by one."""
    rows, cols = (range(0, n, step) for n in marked.shape)
    return np.array([[marked[i : i + step, j : j + step].sum() for j in cols] for i in rows])


def same(found, share):
    np.testing.assert_allclose(found, share, rtol=1e-6, equal_nan=True)


# ---- rasters ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "size"), [((37, 53), 10), ((64, 64), 64), ((5, 400), 100), ((3, 3), 1)])
@pytest.mark.parametrize("kind", ["arrays", "rasters"])
def test_shares_are_those_of_all_pixels(tmp_path, monkeypatch, shape, size, kind):
    monkeypatch.setattr(raster_inputs, "WINDOW", 16 * 32)
    truth, pred = labels(shape)
    truth[: shape[0] // 2, : shape[1] // 4] = 255
    if kind == "arrays":
        lost = np.zeros(shape, bool)
        found = wmcc.error_map(truth, pred, ignore=255, size=size)
        table = wmcc.tabulate(truth, pred, ignore=255)
    else:
        lost = np.random.default_rng(1).random(shape) < 0.1
        tiles = {"tiled": True, **BLOCKS, "nodata": 255}
        paths = saved(tmp_path / "t.tif", truth, **tiles), saved(tmp_path / "p.tif", pred, tiled=True, **BLOCKS)
        with rasterio.open(paths[1], "r+") as file:
            file.write_mask(~lost)  # what is stored there may be right
        found, table = wmcc.error_map(*paths, "area", size=size), wmcc.tabulate(*paths, "area")
    assert found.table == table
    assert max(found.shape) <= size
    step = found.step
    assert found.shape == (-(-shape[0] // step), -(-shape[1] // step))
    known = truth != 255
    with np.errstate(invalid="ignore"):
        same(found.wrong, counts(known & ((truth != pred) | lost), step) / counts(known, step))
    assert (found.known == counts(known, step)).all()
    middle = [(np.arange(0, n, step) + np.minimum(np.arange(0, n, step) + step, n)) // 2 for n in shape]
    at = np.ix_(*middle)
    place = {label: k for k, label in enumerate(found.labels)}
    for codes, values in ((found.truth, truth), (found.pred, np.where(lost, 255, pred))):
        named = np.vectorize(lambda x: place.get(x, place.get("(nodata)", -1)))(values[at])
        assert (codes == np.where(known[at], named, -1)).all()


def test_errors_of_one_class_are_missed_or_added(tmp_path):
    truth, pred = labels((40, 60))
    pred[:5] = 255
    paths = saved(tmp_path / "t.tif", truth), saved(tmp_path / "p.tif", pred, nodata=255)
    found = wmcc.error_map(*paths, "area", names=NAMES, of="forest", size=12)
    pixels = counts(truth >= 0, 5)
    missed, added = (truth == 1) & (pred != 1), (truth != 1) & (pred == 1)
    same(found.missed, counts(missed, 5) / pixels)
    same(found.wrong, counts(missed | added, 5) / pixels)
    assert [*found.errors.values()] == pytest.approx([missed.mean(), added.mean()], rel=1e-4)  # rows differ by little
    first = found.classes[1]
    assert (first.omission, first.commission) == pytest.approx(
        (missed.sum() / (truth == 1).sum(), added.sum() / (pred == 1).sum()), rel=1e-4
    )
    assert [*found.errors] == ["forest, but mapped as another", "mapped as forest, but another"]


def test_rasters_with_south_on_top_look_the_same(tmp_path):
    truth, pred = labels((30, 50))
    usual = wmcc.error_map(saved(tmp_path / "t.tif", truth), saved(tmp_path / "p.tif", pred))
    turned = rasterio.Affine(10, 0, 600_000, 0, 10, 5_700_000 - 300)
    paths = saved(tmp_path / "t2.tif", truth[::-1], turned), saved(tmp_path / "p2.tif", pred[::-1], turned)
    found = wmcc.error_map(*paths)
    assert found.extent == usual.extent == (600_000, 600_500, 5_699_700, 5_700_000)
    for name in ("wrong", "truth", "pred", "known"):
        assert (getattr(found, name) == getattr(usual, name)).all()


def test_maps_are_brought_to_the_pixels_of_the_truth(tmp_path):
    truth, pred = labels((30, 40))
    coarse = saved(tmp_path / "p.tif", pred[::2, ::2], rasterio.Affine(20, 0, 600_000, 0, -20, 5_700_000))
    paths = saved(tmp_path / "t.tif", truth), coarse
    with pytest.raises(InputError, match="pixel"):
        wmcc.error_map(*paths)
    found = wmcc.error_map(paths[0], wmcc.Raster(coarse, resample="nearest"))
    assert (found.wrong == (truth != pred[::2, ::2].repeat(2, 0).repeat(2, 1))).all()


def test_classes_that_files_name_in_part_or_twice(tmp_path):
    truth, pred = labels((20, 30))
    path = saved(tmp_path / "t.tif", truth)
    named = "".join(f"<Category>{x}</Category>" for x in ("forest", "forest"))
    band = f'<PAMRasterBand band="1"><CategoryNames>{named}</CategoryNames></PAMRasterBand>'
    (tmp_path / "t.tif.aux.xml").write_text(f"<PAMDataset>{band}</PAMDataset>")
    other = saved(tmp_path / "p.tif", pred)
    found = wmcc.error_map(path, other)
    assert found.labels == ("forest (0)", "forest (1)", "2")
    assert (found.truth == truth).all()
    assert (found.pred == pred).all()
    for k, label in enumerate(found.labels):
        assert wmcc.error_map(path, other, of=label).wrong.sum() == ((truth == k) != (pred == k)).sum()


def test_what_a_map_does_not_know_may_be_left_out(tmp_path):
    truth, pred = labels((20, 30))
    pred[:4] = 9
    found = wmcc.error_map(
        saved(tmp_path / "t.tif", truth), saved(tmp_path / "p.tif", pred, nodata=9), missing="ignore"
    )
    assert found.known.sum() == found.table.rows == 16 * 30
    assert np.isnan(found.wrong[:4]).all()
    same(found.wrong[4:], (truth != pred)[4:])


def test_pixels_whose_areas_are_not_known_are_counted(tmp_path):
    truth, pred = labels((40, 40))
    polar = {"crs": "EPSG:3413", "transform": rasterio.Affine(150_000, 0, -3_000_000, 0, -150_000, 3_000_000)}
    paths = saved(tmp_path / "t.tif", truth, **polar), saved(tmp_path / "p.tif", pred, **polar)
    with pytest.raises(InputError, match="does not keep areas"):
        wmcc.error_map(*paths, "area")
    same(wmcc.error_map(*paths).wrong, truth != pred)


def test_arrays_of_xarray_and_palettes(tmp_path):
    truth, pred = labels((8, 9))
    place = {"y": 60 - 0.01 * np.arange(8), "x": 10 + 0.01 * np.arange(9)}
    both = [xr.DataArray(x, place, ("y", "x")) for x in (truth, pred)]
    placed = [wmcc.Raster(x, crs="EPSG:4326") for x in both]
    found = wmcc.error_map(*placed, wmcc.Area("km2"))
    assert (found.wrong == (truth != pred)).all()
    assert found.table == wmcc.tabulate(*placed, wmcc.Area("km2"))
    assert (found.measured, found.unit) == ("area", "km2")
    counted = wmcc.error_map(*both)
    assert (counted.measured, counted.unit, counted.scale_bar()) == ("pixels", None, None)
    assert counted.table.total == 72
    path = saved(tmp_path / "t.tif", truth)
    with rasterio.open(path, "r+") as file:
        file.write_colormap(1, {0: (1, 2, 3, 255), 1: (4, 5, 6, 255), 2: (7, 8, 9, 255)})
    found = wmcc.error_map(path, saved(tmp_path / "p.tif", pred), names=NAMES)
    assert found.colours == ((1, 2, 3), (4, 5, 6), (7, 8, 9))


# ---- polygons and points -----------------------------------------------------------------------------------------


def boxes(values, side=10.0):
    """A square for each pixel."""
    row, col = np.indices(values.shape)
    x, y = 600_000 + side * col, 5_700_000 - side * row
    return shapely.box(x, y - side, x + side, y).ravel()


def test_polygons_are_drawn_as_a_raster_of_them(tmp_path):
    truth, pred = labels((12, 18))
    frame = geopandas.GeoDataFrame({"ref": truth.ravel(), "map": pred.ravel()}, geometry=boxes(truth), crs="EPSG:25832")
    found = wmcc.error_map(frame, true="ref", pred="map", size=36, names=NAMES, weight=wmcc.Area("m2"))
    assert (found.wrong == (truth != pred).repeat(2, 0).repeat(2, 1)).all()
    assert (found.truth == truth.repeat(2, 0).repeat(2, 1)).all()
    assert (found.pred == pred.repeat(2, 0).repeat(2, 1)).all()
    assert found.extent == (600_000, 600_180, 5_699_880, 5_700_000)
    assert found.table == wmcc.tabulate(frame, true="ref", pred="map", weight=wmcc.Area("m2"), names=NAMES)
    frame[:-30].to_file(tmp_path / "parcels.gpkg")
    part = wmcc.error_map(tmp_path / "parcels.gpkg", true="ref", pred="map", size=18, of=1)
    assert np.isnan(part.wrong).sum() == 12  # the last row of 18 is outside, and of the next 6 + 6
    assert part.measured == "polygons"
    known = ~np.isnan(part.wrong)
    same(part.missed[known], ((truth == 1) & (pred != 1))[: part.shape[0]][known])


def test_two_layers_are_drawn_over_each_other():
    truth, pred = labels((12, 18))
    reference = geopandas.GeoDataFrame({"ref": truth.ravel()}, geometry=boxes(truth), crs="EPSG:25832")
    over = geopandas.GeoDataFrame({"class": pred.ravel()}, geometry=boxes(pred), crs="EPSG:25832")
    over = over[np.arange(pred.size) % 18 < 15].to_crs("EPSG:4326")
    found = wmcc.error_map(wmcc.Overlay(reference, over), true="ref", pred="class", size=18)
    assert (found.wrong == ((truth != pred) | (np.arange(18) >= 15))).all()
    lost = found.labels.index("(not covered)")
    assert (found.pred[:, 15:] == lost).all()
    assert not (found.pred[:, :15] == lost).any()
    assert found.table.void == ("(not covered)",)


@pytest.mark.parametrize("over", ["polygons", "raster"])
def test_points_are_where_they_are(tmp_path, over):
    truth, pred = labels((12, 18))
    rng = np.random.default_rng(2)
    row, col = rng.integers(0, 12, 40), rng.integers(0, 18, 40)
    x, y = 600_005 + 10.0 * col, 5_699_995 - 10.0 * row
    x[0] = 600_500
    points = pd.DataFrame({"x": x, "y": y, "ref": truth[row, col]})
    layer = geopandas.GeoDataFrame({"class": pred.ravel()}, geometry=boxes(pred), crs="EPSG:25832")
    map_, pred_ = (layer, "class") if over == "polygons" else (saved(tmp_path / "p.tif", pred), None)
    laid = wmcc.Overlay(wmcc.Layer(points, xy=("x", "y"), crs="EPSG:25832"), map_)
    found = wmcc.error_map(laid, true="ref", pred=pred_)
    wrong = truth[row, col] != pred[row, col]
    wrong[0] = True
    assert (found.wrong == wrong).all()
    assert (found.points == np.column_stack([x, y])).all()
    assert found.table.rows == 40
    assert found.errors["wrong"] == wrong.mean()
    left, right, bottom, top = found.extent
    assert left < x.min()
    assert x.max() < right
    assert bottom < y.min()
    assert y.max() < top


def test_cells_have_the_first_polygon_that_their_centre_lies_in():
    rng = np.random.default_rng(3)
    some = [shapely.box(*p, *(p + s)) for p, s in zip(rng.random((60, 2)) * 9, rng.random((60, 2)) * 3, strict=True)]
    some = np.array([rotate(x, angle) for x, angle in zip(some, rng.random(60) * 90, strict=True)])
    some[::7] = [x.difference(x.buffer(-0.3)) for x in some[::7]]
    some[5] = shapely.union(some[5], shapely.box(9, 9, 10, 10))
    canvas = Canvas((1.0, 10.0, 2.0, 9.0), (70, 90))
    found = canvas.polygons(some)
    x, y = np.meshgrid(1 + (np.arange(90) + 0.5) * 0.1, 9 - (np.arange(70) + 0.5) * 0.1)
    inside = np.array([shapely.intersects_xy(one, x, y) for one in some])
    assert (found == np.where(inside.any(axis=0), inside.argmax(axis=0), -1)).all()
    edge = [shapely.box(1, 0, 2, 1), shapely.box(0, 0, 1, 1)]
    assert Canvas((0.5, 2.5, 0.0, 1.0), (1, 2)).polygons(edge).tolist() == [[0, 0]]  # both centres are on borders


def test_many_polygons_have_their_cells():
    truth, _ = labels((20, 30))
    canvas = Canvas((600_000, 600_300, 5_699_800, 5_700_000), (100, 150))
    whole = canvas.polygons(boxes(truth))
    assert (whole == np.arange(600).reshape(20, 30).repeat(5, 0).repeat(5, 1)).all()


# ---- on the ground -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("crs", "x", "y", "wide"),
    [("EPSG:4326", 10, 60, 55_800), ("EPSG:3857", 1e6, 8_399_737.9, 0.5010), ("EPSG:2263", 1e6, 2e5, 0.3048)],
)
def test_metres_are_those_of_the_ellipsoid(crs, x, y, wide):
    found = ground(CRS(crs), x, y)
    assert found.metres[0] == pytest.approx(wide, rel=1e-3)
    if crs == "EPSG:4326":
        assert found.metres[1] == pytest.approx(Geod(ellps="WGS84").inv(10, 59.9995, 10, 60.0005)[2] * 1000, rel=1e-6)


def test_north_and_scale_are_said(tmp_path):
    truth, pred = labels((20, 20))
    away = rasterio.Affine(10, 0, 2_000_000, 0, -10, 100)  # right of the pole, which is at 0, 0
    crs = "EPSG:3413"
    found = wmcc.error_map(saved(tmp_path / "t.tif", truth, away, crs), saved(tmp_path / "p.tif", pred, away, crs))
    assert found.north == pytest.approx(-90, abs=0.1)
    assert found.notes[-1] == "North is 90° to the left of up in the middle of the picture."
    usual = wmcc.error_map(saved(tmp_path / "t2.tif", truth), saved(tmp_path / "p2.tif", pred), size=7)
    assert usual.notes == [
        "Each cell shows 3 x 3 pixels: the share that is wrong, and the classes in the middle.",
        "Coordinates: ETRS89 / UTM zone 32N (EPSG:25832).",
    ]
    length, said = usual.scale_bar()
    assert (round(length * usual.metres[0], 6), said) == (50, "50 m")  # of 210 m
    assert wmcc.error_map(truth, pred).notes[-1].startswith("There is no scale")


def test_turned_rasters_are_drawn_as_they_are_stored(tmp_path):
    truth, pred = labels((20, 20))
    turned = UTM @ rasterio.Affine.rotation(30)
    found = wmcc.error_map(saved(tmp_path / "t.tif", truth, turned), saved(tmp_path / "p.tif", pred, turned))
    assert (found.wrong == (truth != pred)).all()
    assert found.metres == pytest.approx((10, 10), rel=1e-3)
    assert abs(found.north) == pytest.approx(30, abs=2)
    assert found.measured == "pixels"


@pytest.mark.parametrize("wide", [3.0, 47.0, 999.0, 12_345.0, 4e6])
def test_scale_bars_are_round(wide):
    found = wmcc.error_map([[0, 1]], [[0, 0]])
    length, said = ErrorMap(**{**vars(found), "extent": (0, wide, 0, 1), "metres": (2.0, 2.0)}).scale_bar(0.25)
    assert 0.1 * wide <= length <= 0.25 * wide
    amount, unit = said.replace(",", "").split()
    assert float(amount) * {"m": 1, "km": 1000}[unit] == pytest.approx(2 * length)
    assert amount.strip("0.") in ("1", "2", "5")


def test_systems_without_a_number_have_a_name():
    assert crs_title(CRS("EPSG:3035")) == "ETRS89-extended / LAEA Europe (EPSG:3035)"
    assert "without a name" in crs_title(CRS("+proj=laea +lat_0=45 +lon_0=10"))


# ---- smaller pictures, and other names ---------------------------------------------------------------------------


def test_smaller_pictures_are_those_of_the_pixels():
    truth, pred = labels((60, 90))
    truth[np.random.default_rng(4).random(truth.shape) < 0.4] = 255
    truth[:20] = 255
    whole, direct = (wmcc.error_map(truth, pred, ignore=255, size=size, of=1) for size in (45, 15))
    small = thinned(whole, 15)
    for name in ("wrong", "missed", "known"):
        same(getattr(small, name), getattr(direct, name))
    assert (small.truth == direct.truth).all()
    assert (small.extent, small.step) == (direct.extent, direct.step)
    assert thinned(whole, 90) is whole


def test_names_can_be_given_later():
    truth, pred = labels((6, 6))
    found = wmcc.error_map(truth, pred, of=1).renamed(NAMES)
    assert found.labels == ("field", "forest", "water")
    assert found.of == "forest"
    assert (found.truth == truth).all()


def test_masked_and_missing_labels_are_not_known():
    truth, pred = labels((6, 6))
    masked = np.ma.MaskedArray(truth, truth == 2)
    found = wmcc.error_map(masked, pred, missing="ignore")
    assert (np.isnan(found.wrong) == (truth == 2)).all()
    text = np.array(["a", "b", None], dtype=object)
    found = wmcc.error_map(text[truth], text[np.minimum(pred, 1)], missing="ignore")
    assert (np.isnan(found.wrong) == (truth == 2)).all()
    assert found.labels == ("a", "b")


# ---- what does not fit -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        (([[0]], {"A": [[0]]}), {}, "`y_pred` has 1 prediction by name; a picture shows one"),
        (([[0]], [[0]]), {"size": 0}, "`size` is 0; expected a whole number"),
        (([[0, 1, 1]], [[0, 1, 1]]), {"of": 7}, "`of` is 7; the classes are 0, 1"),
        (([0, 1], [0, 1]), {}, r"`y_true` has the shape \(2,\)"),
        (([[255]], [[0]]), {"ignore": 255}, "nothing to draw: no pixel"),
        (([[0]], "map.tif"), {}, "y_pred is a raster, 'map.tif', and y_true is \\[\\[0"),
        (([[0]],), {}, "expected true and predicted labels; got a list alone"),
        (([[0]], [[0]]), {"true": "a", "pred": "b"}, "columns of a frame or file are named by keyword|expected true"),
        (("parcels.gpkg", "map.gpkg"), {}, "a layer of polygons is laid over another by `Overlay`"),
        (("parcels.csv",), {"true": "a", "pred": "b"}, "no file 'parcels.csv'"),
        ((pd.DataFrame({"a": [1]}),), {"true": "a", "pred": "a"}, "is a DataFrame without geometry[\\s\\S]*xy="),
        ((wmcc.Files("a.csv"),), {"true": "a", "pred": "b"}, "a picture needs rasters, label maps in arrays"),
        ((wmcc.Overlay("a.gpkg", {"A": "b.gpkg"}),), {"true": "a"}, "`map` has 1 prediction by name"),
    ],
)
def test_what_does_not_fit_is_said(given, options, said):
    with pytest.raises(WmccError, match=said):
        wmcc.error_map(*given, **options)


def test_a_picture_shows_one_raster(tmp_path):
    path = saved(tmp_path / "t.tif", labels((5, 5))[0])
    with pytest.raises(InputTypeError, match="`y_true` is a list of 2 rasters; a picture shows one"):
        wmcc.error_map([path, path], [path, path])
    parcels = geopandas.GeoDataFrame({"ref": [1]}, geometry=[shapely.box(0, 0, 1, 1)])
    with pytest.raises(InputTypeError, match="`pred` is a list"):
        wmcc.error_map(parcels, true="ref", pred=[1])


@pytest.mark.parametrize("kind", ["raster", "polygons", "points"])
def test_data_are_read_once_for_the_table_and_the_picture(tmp_path, monkeypatch, kind):
    truth, pred = labels((12, 18))
    frame = geopandas.GeoDataFrame({"ref": truth.ravel(), "map": pred.ravel()}, geometry=boxes(truth), crs="EPSG:25832")
    if kind == "points":
        frame = frame.set_geometry(frame.centroid)
    calls = []
    if kind == "raster":
        data, columns = (saved(tmp_path / "t.tif", truth), saved(tmp_path / "p.tif", pred)), {}
        place, name = "wmcc.geo.raster.bands", "_read_band"
    else:
        frame.to_file(tmp_path / "rows.gpkg")
        data, columns = (tmp_path / "rows.gpkg",), {"true": "ref", "pred": "map"}
        place, name = "wmcc.geo.layers", "_of_file"
    own = getattr(importlib.import_module(place), name)
    monkeypatch.setattr(f"{place}.{name}", lambda *x, **y: (calls.append(x), own(*x, **y))[1])
    table = wmcc.tabulate(*data, **columns)
    once = len(calls)
    assert wmcc.error_map(*data, **columns).table == table
    assert len(calls) == 2 * once


def test_points_of_a_stratified_sample_have_the_weights_of_their_design():
    truth, pred = labels((12, 18))
    frame = geopandas.GeoDataFrame(
        {"ref": truth.ravel(), "map": pred.ravel()}, geometry=shapely.centroid(boxes(truth)), crs="EPSG:25832"
    )
    design = wmcc.Strata("map", population={0: 1000, 1: 50, 2: 10})
    found = wmcc.error_map(frame, true="ref", pred="map", design=design)
    table = wmcc.tabulate(frame, true="ref", pred="map", design=design)
    assert found.table == table
    assert found.measured == "weight"
    assert found.errors["wrong"] == pytest.approx(1 - wmcc.accuracy(table))
    assert found.shape == (216,)


def over_the_antimeridian(*more):
    across = shapely.Polygon([(179, -17), (-179, -17), (-179, -16), (179, -16)])
    shapes = [shapely.box(178, -18, 179, -17), shapely.box(-180, -18, -178, -17), across, *more]
    frame = {"ref": ["a", "b", "a", *["a"] * len(more)], "map": ["a", "b", "b", *["a"] * len(more)]}
    return geopandas.GeoDataFrame(frame, geometry=shapes, crs=4326)


@pytest.mark.filterwarnings("ignore:.*more than 180.*:wmcc.errors.MapWarning")
def test_polygons_over_the_antimeridian_are_drawn_whole():
    found = wmcc.error_map(over_the_antimeridian(), true="ref", pred="map", size=40)
    assert found.extent == (178, 182, -18, -16)
    wrong, cols = found.wrong, found.shape[1]
    assert np.isnan(wrong[0, : cols // 4]).all()
    assert np.isnan(wrong[0, -cols // 4 :]).all()
    assert (wrong[0, cols // 4 : 3 * cols // 4] == 1).all()
    assert (wrong[-1, [0, -1]] == 0).all()
    around = over_the_antimeridian(shapely.box(-1, -18, 1, -17))
    with pytest.raises(InputError, match=r"over the antimeridian, and others over the meridian 0 \(row 3 first\)"):
        wmcc.error_map(around, true="ref", pred="map")


def test_polygons_without_a_label_are_not_drawn():
    squares = [shapely.box(5e5 + k, 5e6, 5e5 + k + 1, 5e6 + 1) for k in range(3)]
    parcels = geopandas.GeoDataFrame(
        {"ref": ["a", "b", "a"], "map": ["a", None, "b"]}, geometry=squares, crs="EPSG:25832"
    )
    found = wmcc.error_map(parcels, true="ref", pred="map", missing="ignore", size=3)
    same(found.wrong, [[0, np.nan, 1]])
    assert (found.truth.tolist(), found.pred.tolist()) == ([[0, -1, 0]], [[0, -1, 1]])
    assert found.table.rows == 2


def test_polygons_without_a_system_are_counted():
    squares = [shapely.box(k, 0, k + 1 + 8 * (k == 3), 1) for k in range(4)]
    parcels = geopandas.GeoDataFrame({"ref": list("aabb"), "map": list("aaba")}, geometry=squares)
    found = wmcc.error_map(parcels, true="ref", pred="map")
    assert (found.errors, found.measured, found.unit) == ({"wrong": 0.25}, "polygons", None)


@pytest.mark.filterwarnings("ignore:.*(no geometry|has points).*:wmcc.errors.MapWarning")
@pytest.mark.parametrize("other", [None, shapely.Point(5e5, 5e6)])
def test_rows_that_are_no_polygons_are_not_drawn(other):
    shapes = [shapely.box(5e5, 5e6, 5e5 + 1, 5e6 + 1), other, shapely.box(5e5 + 2, 5e6, 5e5 + 3, 5e6 + 1)]
    parcels = geopandas.GeoDataFrame({"ref": list("aba"), "map": list("aab")}, geometry=shapes, crs="EPSG:25832")
    with pytest.warns(MapWarning) as said:
        same(wmcc.error_map(parcels, true="ref", pred="map", size=3).wrong, [[0, np.nan, 1]])
    assert len(said) == 1
    wholly = parcels.assign(geometry=shapely.box(5e5 + np.arange(3), 5e6, 5e5 + 1 + np.arange(3), 5e6 + 1))
    found = wmcc.error_map(
        wmcc.Overlay(wholly, parcels.rename(columns={"map": "class"})), true="ref", pred="class", size=3
    )
    same(found.wrong, [[0, 1, 1]])


def test_polygons_without_geometry_and_maps_all_around_the_earth():
    east = geopandas.GeoDataFrame({"ref": ["a"]}, geometry=[shapely.box(270, 0, 272, 1)], crs=4326)
    west = geopandas.GeoDataFrame({"map": ["a"]}, geometry=[shapely.box(-90, 0, -89, 1)], crs=4326)
    found = wmcc.error_map(wmcc.Overlay(east, west), true="ref", pred="map", size=40)
    assert np.mean(found.wrong) == pytest.approx(0.5)
    with pytest.warns(MapWarning, match="1 row has no geometry"):
        found = wmcc.error_map(
            wmcc.Overlay(pd.concat([geopandas.GeoDataFrame({"ref": ["b"]}, geometry=[None], crs=4326), east]), west),
            true="ref",
            pred="map",
            weight="area",
            size=40,
        )
    assert np.mean(found.wrong) == pytest.approx(0.5)


# ---- points on maps, parcels, colours -----------------------------------------------------------------------------

SHADES = {0: (250, 240, 10), 1: (10, 120, 20), 2: (20, 40, 200)}


def sampled(shape=(12, 18), count=60):
    """Points with names of reference classes in the middle of pixels, and the map."""
    truth, pred = labels(shape)
    row, col = (np.random.default_rng(4).integers(0, n, count) for n in shape)
    places = shapely.points(600_005 + 10.0 * col, 5_699_995 - 10.0 * row)
    named = [NAMES[int(k)] for k in truth[row, col]]
    return geopandas.GeoDataFrame({"ref": named}, geometry=places, crs="EPSG:25832"), pred


@pytest.mark.parametrize("crs", ["EPSG:25832", "EPSG:4326"])
@pytest.mark.parametrize("kind", ["raster", "polygons"])
def test_points_lie_on_the_classes_of_the_map(tmp_path, crs, kind):
    points, pred = sampled()
    path = saved(tmp_path / "p.tif", pred)
    layer = geopandas.GeoDataFrame({"class": pred.ravel()}, geometry=boxes(pred), crs="EPSG:25832")
    over, column = (path, None) if kind == "raster" else (layer, "class")
    found = wmcc.error_map(wmcc.Overlay(points.to_crs(crs), over), true="ref", pred=column, names=NAMES)
    (high, wide), (left, right, bottom, top) = found.below.shape, found.extent
    assert max(high, wide) == 900
    x, y = (
        left + (np.arange(wide) + 0.5) * (right - left) / wide,
        top - (np.arange(high) + 0.5) * (top - bottom) / high,
    )
    cells = geopandas.GeoSeries(shapely.points(*(k.ravel() for k in np.meshgrid(x, y))), crs=crs).to_crs("EPSG:25832")
    col, row = np.floor((cells.x - 600_000) / 10).astype(int), np.floor((5_700_000 - cells.y) / 10).astype(int)
    inside = ((col >= 0) & (col < 18) & (row >= 0) & (row < 12)).to_numpy()
    there = pred[row.clip(0, 11), col.clip(0, 17)]
    place = np.array([found.labels.index(NAMES[k]) for k in range(3)])
    assert (
        np.where(inside, place[there], -1) == found.below.ravel()
    ).mean() > 0.99  # edges of polygons bend by up to 1 cm
    assert found.notes[0] == "Each point is where it was sampled, on the classes of the map."


def test_colours_are_those_of_the_table_of_the_raster_or_given(tmp_path):
    points, pred = sampled()
    path = saved(tmp_path / "p.tif", pred)
    with rasterio.open(path, "r+") as file:
        file.write_colormap(1, SHADES)
    over = wmcc.Overlay(points, path)
    found = wmcc.error_map(over, true="ref", names=NAMES)
    assert [found.colours[found.labels.index(NAMES[k])] for k in range(3)] == [*SHADES.values()]
    for key in (1, "forest"):
        for colour in ("#0a0B0c", (10, 11, 12), [10, np.uint8(11), 12]):
            own = wmcc.error_map(over, true="ref", names=NAMES, colours={key: colour})
            assert dict(zip(own.labels, own.colours, strict=True)) == {
                "field": SHADES[0], "forest": (10, 11, 12), "water": SHADES[2],
            }  # fmt: skip
    codes = points.assign(ref=points["ref"].map({name: k for k, name in NAMES.items()}))
    assert wmcc.error_map(wmcc.Overlay(codes, path), true="ref").colours == tuple(SHADES.values())
    for colours, said in (
        ({"forest": "green"}, "`colours` has 'green' for 'forest'; expected '#rrggbb', or red, green and blue"),
        ({"forest": (0, 0, 256)}, r"`colours` has \(0, 0, 256\) for 'forest'"),
        ({"wood": "#000000"}, "`colours` has 'wood'; the classes are"),
        (["#000000"], "expected a mapping from classes to colours, such as"),
    ):
        with pytest.raises((InputError, InputTypeError), match=said):
            wmcc.error_map(over, true="ref", names=NAMES, colours=colours)


def test_shares_say_what_they_are_of(tmp_path):
    points, pred = sampled()
    over = wmcc.Overlay(points.assign(w=2.0), saved(tmp_path / "p.tif", pred))
    sizes = {0: 900.0, 1: 50.0, 2: 50.0}
    design = wmcc.Strata("class", population=sizes)
    found = wmcc.error_map(over, true="ref", names=NAMES, design=design)
    share = 1 - wmcc.accuracy(wmcc.tabulate(over, true="ref", names=NAMES, design=design))
    assert found.errors["wrong"] == pytest.approx(share)
    assert found.blocks()[0].title == f"Error map of 60 points: an estimated {share:.1%} of the map is wrong".replace(
        "%", " %"
    )
    assert "Shares are estimates: each point stands for the size of its stratum" in " ".join(found.notes)
    counted = wmcc.error_map(over, true="ref", names=NAMES, design=wmcc.Strata("class"))
    assert counted.blocks()[0].title.endswith("of the points are wrong")
    assert "Shares are those of the sampled points: no estimates" in " ".join(counted.notes)
    weighed = wmcc.error_map(over, true="ref", names=NAMES, weight="w")
    assert weighed.blocks()[0].title.endswith("of the weight is wrong")
    assert "Points have their weights in all shares." in weighed.notes


def test_cells_know_their_parcel():
    truth, pred = labels((6, 8))
    frame = geopandas.GeoDataFrame({"ref": truth.ravel(), "map": pred.ravel()}, geometry=boxes(truth), crs="EPSG:25832")
    found = wmcc.error_map(frame, true="ref", pred="map", size=64)
    assert (found.parcels == np.kron(np.arange(48).reshape(6, 8), np.ones((8, 8), int))).all()
    assert (thinned(found, 16).parcels == np.kron(np.arange(48).reshape(6, 8), np.ones((2, 2), int))).all()
    assert wmcc.error_map(truth, pred).parcels is None


def test_each_of_several_maps_has_the_strata_of_one(tmp_path):
    points, pred = sampled()
    maps = {"A": saved(tmp_path / "a.tif", pred), "B": saved(tmp_path / "b.tif", pred[::-1].copy())}
    design = wmcc.Strata("A", population={0: 900.0, 1: 50.0, 2: 50.0})
    request = Request(wmcc.Overlay(points, maps), true="ref", names=NAMES, design=design)
    joint = wmcc.tabulate(wmcc.Overlay(points, maps), true="ref", names=NAMES, design=design)
    drawn = error_maps(request, ["A", "B"])
    assert [drawn[name].table == joint[name] for name in "AB"] == [True, True]
    assert (drawn["A"].below != drawn["B"].below).any()
