"""Drawn samples: chances in proportion to area, files that say how they were drawn, estimates that are unbiased."""

import json
from collections import Counter

import geopandas as gpd
import numpy as np
import pandas as pd
import polars as pl
import pyproj
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from map_files import METRES, put

import wmcc
from wmcc.errors import InputError, InputTypeError, LabelError
from wmcc.sources import raster_inputs
from wmcc.sources.map_classes import map_classes

FINE = {"crs": "EPSG:4326", "transform": (0.01, 0, 8.0, 0, -0.01, 60.0)}
TALL = {"crs": "EPSG:4326", "transform": (0.5, 0, 0.0, 0, -2.0, 80.0)}
"""Pixels in the north have a fifth of the area of those in the south."""

LABELLED = {"true": "reference", "pred": "map_class"}


def patches(seed=0, shape=(30, 30), side=10, classes=4):
    rng = np.random.default_rng(seed)
    values = np.repeat(np.repeat(rng.integers(1, classes + 1, shape), side, 0), side, 1).astype(np.uint8)
    values[: 5 * shape[0] // 3, : 5 * shape[1] // 3] = 0
    return values


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return put(tmp_path_factory.mktemp("map") / "map.tif", patches(), FINE, nodata=0, block=64)


PLAN = {1: 40, 2: 30, 3: 50, 4: 20}


def classes_at(path, frame):
    import rasterio

    with rasterio.open(path) as file:
        return np.array([own[0] for own in file.sample(zip(frame["x"], frame["y"], strict=True))])


# ---- what is drawn --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [
        {"plan": PLAN},
        {"plan": 140},
        {"plan": 140, "method": "stratified"},
        {"plan": 140, "method": "systematic"},
        {"plan": 140, "cluster": wmcc.Blocks(32, 20), "per_cluster": 7},
        {"plan": PLAN, "min_distance": 3000},
    ],
    ids=["classes", "simple", "shared out", "lattice", "blocks", "distance"],
)
def test_points_are_different_pixels_of_their_class(path, how):
    sample = wmcc.draw_sample(path, **how, seed=5)
    frame = sample.to_frame()
    assert frame["map_class"].tolist() == classes_at(path, frame).tolist()
    assert len(frame[["x", "y"]].drop_duplicates()) == len(frame) == sample.n
    assert frame["id"].tolist() == list(range(1, sample.n + 1))
    assert frame["reference"].isna().all()
    areas = map_classes(path).areas
    assert frame["weight"].sum() == pytest.approx(sum(areas.values()), rel=1e-12)
    assert sample == wmcc.draw_sample(path, **how, seed=5, threads=2)
    assert sample.points != wmcc.draw_sample(path, **how, seed=6).points
    if how["plan"] == PLAN:
        assert Counter(frame["map_class"]) == PLAN
        assert {own.stratum: own.size for own in sample.strata} == areas
        assert (frame["drawn_from"] == frame["map_class"]).all()
    if "min_distance" in how:
        geod = pyproj.Geod(ellps="WGS84")
        i, j = np.triu_indices(len(frame), 1)
        lon, lat = frame["lon"].to_numpy(), frame["lat"].to_numpy()
        assert geod.inv(lon[i], lat[i], lon[j], lat[j])[2].min() >= 3000 - 1e-3


@given(seed=st.integers(0, 99), window=st.sampled_from([50, 5000, 1 << 21]))
def test_the_sample_does_not_depend_on_windows(path, seed, window):
    expected = wmcc.draw_sample(path, PLAN, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(raster_inputs, "WINDOW", window)
        assert wmcc.draw_sample(path, PLAN, seed=seed) == expected


@pytest.mark.parametrize(
    "how", [{"plan": 12}, {"plan": {1: 12}}, {"plan": 12, "cluster": wmcc.Blocks(3, 4), "per_cluster": 3}]
)
def test_pixels_have_chances_in_proportion_to_their_areas(tmp_path, how):
    """Each of 12 x 6 pixels, of which those in the south are several times as large."""
    values = np.ones((12, 6), np.uint8)
    values[0, 0] = 0
    path = put(tmp_path / "map.tif", values, TALL, nodata=0)
    runs = 500
    met = Counter(point.y for seed in range(runs) for point in wmcc.draw_sample(path, **how, seed=seed).points)
    rows = map_classes(path)
    areas = rows.counts * rows.pixel
    expected = 12 * runs * areas / areas.sum()
    y = 80 - 2 * (rows.rows + 0.5)
    found = np.array([met[own] for own in y])
    spread = np.sqrt(expected) * (2 if "cluster" in how else 1)  # blocks bring several at once
    assert np.abs((found - expected) / spread).max() < 4
    assert np.abs((found - 12 * runs * rows.counts / rows.counts.sum()) / spread).max() > 5  # which equal chances give


def test_polygons_are_hit_by_area(tmp_path):
    """Points of one polygon through many latitudes are as dense in the north as in the south, on the ground."""
    north, south = shapely.box(5, 55, 15, 75), shapely.box(5, 35, 15, 55)
    hole = shapely.box(6, 60, 14, 70)
    land = gpd.GeoDataFrame({"map": ["a", "b"]}, geometry=[shapely.difference(north, hole), south], crs=4326)
    one = land.dissolve().assign(map="c")
    for frame in (land, land.to_crs(3857), one, one.to_crs(3035)):
        plan = 4000 if len(frame) > 1 else {"c": 4000}
        sample = wmcc.draw_sample(frame, plan, pred="map", seed=1).to_frame()
        assert not ((sample.lat > 60.1) & (sample.lat < 69.9) & (sample.lon > 6.1) & (sample.lon < 13.9)).any()
        share = map_classes(land, "map").areas["a"] / sum(map_classes(land, "map").areas.values())
        assert (sample.lat > 55).mean() == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 4000))
    path = tmp_path / "land.gpkg"
    land.to_file(path)
    stratified = wmcc.draw_sample(path, {"a": 30, "b": 20}, pred="map", min_distance=1000)
    points = gpd.GeoSeries(gpd.points_from_xy(stratified.to_frame().x, stratified.to_frame().y), crs=4326)
    for name, shape in zip(land["map"], land.geometry, strict=True):
        assert points[stratified.to_frame().map_class == name].within(shape).all()


def test_long_edges_are_straight_where_points_are_drawn():
    """Two triangles of one square of degrees share its area as parallels and meridians cut it, not as geodesics do."""
    low, high = shapely.Polygon([(20, 60), (30, 60), (30, 70)]), shapely.Polygon([(20, 60), (30, 70), (20, 70)])
    land = gpd.GeoDataFrame({"map": ["a", "a"]}, geometry=[low, high], crs=4326)
    sample = wmcc.draw_sample(land, 8000, pred="map", seed=1).to_frame()
    strips = [shapely.box(20, lat, 30, lat + 0.01) for lat in np.arange(60, 70, 0.01)]
    areas = map_classes(gpd.GeoDataFrame({"map": range(len(strips))}, geometry=strips, crs=4326), "map").areas
    inside = np.array([areas[k] * (70 - (60 + 0.01 * k + 0.005)) / 10 for k in range(len(strips))])
    share = inside.sum() / sum(areas.values())
    drawn = shapely.contains_xy(low, sample.lon, sample.lat).mean()
    assert drawn == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 8000))


def test_lattices_are_regular_on_the_ground(path):
    for grid, n in ((FINE, 400), (METRES, 150)):
        file = path if grid is FINE else put(f"{path}.m.tif", patches(), METRES, nodata=0)
        counts = [wmcc.draw_sample(file, n, method="systematic", seed=seed).n for seed in range(20)]
        assert np.mean(counts) == pytest.approx(n, rel=0.03)
    frame = wmcc.draw_sample(path, 400, method="systematic", seed=1).to_frame()
    assert frame.lon.nunique() < 40  # columns
    land = gpd.GeoDataFrame({"map": ["a"]}, geometry=[shapely.box(5, 55, 15, 75)], crs=4326)
    counts = [wmcc.draw_sample(land, 300, pred="map", method="systematic", seed=seed).n for seed in range(9)]
    assert np.mean(counts) == pytest.approx(300, rel=0.03)


def test_lattices_are_regular_at_a_pole():
    """Points about the pole are as far from their neighbours as those at the edge of the map."""
    around = gpd.GeoDataFrame({"map": ["a"]}, geometry=[shapely.box(-5e5, -5e5, 5e5, 5e5)], crs=3413)
    sample = wmcc.draw_sample(around, 200, pred="map", method="systematic", seed=1).to_frame()
    assert len(sample) == pytest.approx(200, rel=0.06)
    i, j = np.nonzero(~np.eye(len(sample), dtype=bool))
    lon, lat = sample["lon"].to_numpy(), sample["lat"].to_numpy()
    ground = pyproj.Geod(ellps="WGS84").inv(lon[i], lat[i], lon[j], lat[j])[2]
    nearest = ground.reshape(len(sample), -1).min(axis=1)
    assert nearest.min() > 0.97 * nearest.max()


def test_small_blocks_are_joined_with_the_next(tmp_path):
    values = np.ones((10, 10), np.uint8)
    values[:3, 4:] = 0
    values[0, 5] = 1  # alone in its block
    path = put(tmp_path / "map.tif", values, METRES, nodata=0)
    units = set()
    for seed in range(60):
        sample = wmcc.draw_sample(path, 8, cluster=wmcc.Blocks(3, 4), per_cluster=4, seed=seed)
        counts = Counter(own.unit for own in sample.points)
        assert set(counts.values()) == {4}
        units |= set(counts)
    assert "r0c1" in units
    assert "r1c0" not in units  # the next, which it is joined with


def test_a_whole_stratum_can_be_drawn(tmp_path):
    path = put(tmp_path / "map.tif", np.array([[1, 1, 2], [2, 2, 2]], np.uint8), METRES)
    assert Counter(own.map_class for own in wmcc.draw_sample(path, {1: 2, 2: 4}).points) == {1: 2, 2: 4}
    with pytest.raises(InputError, match="the plan has 3 for class 1, which has 2; at most 2 can be drawn"):
        wmcc.draw_sample(path, {1: 3, 2: 4})


def test_plans_are_taken_as_they_are(path):
    plan = wmcc.plan_sample({1: 0.9, 2: 0.8, 3: 0.9, 4: 0.7}, path, n=200)
    assert {own.stratum: own.n for own in wmcc.draw_sample(path, plan).strata} == plan.rows
    left_out = wmcc.draw_sample(path, {1: 20, 2: 1, 3: 20, 4: 0})
    areas = map_classes(path).areas
    assert left_out.size == pytest.approx(areas[1] + areas[2] + areas[3])
    assert any(text.startswith("4 (") and "left out" in text for text in left_out.warnings)
    assert any(text.startswith("2 (") and "no standard error" in text for text in left_out.warnings)
    assert left_out.warnings[0] in str(left_out)


# ---- files ------------------------------------------------------------------------------------------------------


def label(name):
    """Fill the reference in, as a person would."""
    if name.endswith(".csv"):
        frame = pd.read_csv(name)
        frame.assign(reference=frame["map_class"]).to_csv(name, index=False)
    elif name.endswith(".parquet"):
        frame = pd.read_parquet(name)
        frame.assign(reference=frame["map_class"]).to_parquet(name)
    else:
        frame = gpd.read_file(name)
        frame.assign(reference=frame["map_class"]).to_file(name)


HOW = {
    "stratified": ({"plan": PLAN}, wmcc.Strata("drawn_from", population="drawn_size"), None),
    "simple": ({"plan": 60}, wmcc.Strata(population="drawn_size"), None),
    "blocks": (
        {"plan": 60, "cluster": wmcc.Blocks(40), "per_cluster": 6},
        wmcc.Strata(population="drawn_size"),
        "drawn_unit",
    ),
}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("end", ["gpkg", "geojson", "fgb", "csv", "parquet", "shp"])
def test_files_say_how_they_were_drawn(tmp_path, path, how, end):
    options, design, cluster = HOW[how]
    sample = wmcc.draw_sample(path, **options)
    name = str(tmp_path / f"points.{end}")
    if end == "shp":  # as a program that knows nothing else would
        gpd.read_file(sample.save(tmp_path / "points.gpkg")).to_file(name)
    else:
        sample.save(name)
    label(name)
    table = wmcc.tabulate(name, **LABELLED)
    assert table == wmcc.tabulate(name, **LABELLED, design=design, cluster=cluster)
    assert table.total == pytest.approx(sum(map_classes(path).areas.values()), rel=1e-12)
    assert table.rows == sample.n
    assert wmcc.accuracy(table) == 1.0
    points = name if end not in ("csv", "parquet") else wmcc.Layer(name, xy=("lon", "lat"), crs="EPSG:4326")
    over = wmcc.tabulate(wmcc.Overlay(points, path), true="reference")
    assert over.drawn == table.drawn
    assert wmcc.accuracy(over) == 1.0


def test_frames_say_it_too_and_what_is_given_goes_before(path):
    frame = wmcc.draw_sample(path, PLAN).to_frame()
    frame["reference"] = frame["map_class"]
    table = wmcc.tabulate(frame, **LABELLED)
    assert table.drawn.design.population == tuple(map_classes(path).areas.values())
    for other in (pl.from_pandas(frame), pl.from_pandas(frame).lazy(), pl.from_pandas(frame).to_arrow()):
        assert wmcc.tabulate(other, **LABELLED) == table
    assert wmcc.tabulate(frame, **LABELLED, weight="weight").drawn.design is None
    assert wmcc.tabulate(frame, **LABELLED, cluster="id").drawn.design is None
    sizes = dict.fromkeys(PLAN, 1.0)
    own = wmcc.tabulate(frame, **LABELLED, design=wmcc.Strata("drawn_from", population=sizes))
    assert own.total == pytest.approx(4.0)
    assert set(wmcc.tabulate(frame, **LABELLED, by="map_class")) == set(PLAN)
    with pytest.raises(InputError, match="the column 'drawn_from' of a drawn sample, and no 'drawn_size'"):
        wmcc.tabulate(frame.drop(columns="drawn_size"), **LABELLED)


@pytest.mark.parametrize("end", ["gpkg", "geojson", "csv", "frame"])
def test_points_without_a_reference_are_counted(tmp_path, path, end):
    frame = wmcc.draw_sample(path, PLAN).to_frame()
    frame["reference"] = frame["map_class"].astype("Int64").where(frame["id"] > 12)
    data = frame
    if end == "csv":
        data = tmp_path / "points.csv"
        frame.to_csv(data, index=False)
    elif end != "frame":
        data = tmp_path / f"points.{end}"
        gpd.GeoDataFrame(frame, geometry=gpd.points_from_xy(frame.lon, frame.lat), crs=4326).to_file(data)
    with pytest.raises(LabelError, match=r"12 .*rows"):
        wmcc.tabulate(data, **LABELLED)
    table = wmcc.tabulate(data, **LABELLED, missing="ignore")
    assert (table.rows, table.ignored) == (128, 12)
    assert table.total == pytest.approx(sum(map_classes(path).areas.values()), rel=1e-12)


def test_names_of_classes_are_written(tmp_path):
    import rasterio

    path = put(tmp_path / "map.tif", patches(classes=2), FINE, nodata=0)
    with rasterio.open(path, "r+") as file:
        file.update_tags(1, flag_values="1,2", flag_meanings="oak elm")
    sample = wmcc.draw_sample(path, {"oak": 20, 2: 30})
    assert {own.stratum: own.n for own in sample.strata} == {"oak": 20, "elm": 30}
    name = sample.save(tmp_path / "points.gpkg")
    assert str(gpd.read_file(name)["reference"].dtype) in ("object", "str", "string")
    label(name)
    assert wmcc.accuracy(wmcc.tabulate(wmcc.Overlay(name, path), true="reference")) == 1.0


def test_results_are_stored(tmp_path, path):
    sample = wmcc.draw_sample(path, PLAN, seed=4)
    stored = json.loads((tmp_path / sample.save(tmp_path / "points.json")).read_text())
    assert (stored["kind"], stored["seed"], stored["n"], len(stored["points"])) == ("drawn sample", 4, 140, 140)
    assert "Sample of 140 points, drawn at random in strata, seed 4" in str(sample)
    with pytest.raises(InputError, match=r"expected a name that ends with \.gpkg, \.geojson"):
        sample.save(tmp_path / "points.doc")


# ---- estimates ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["stratified", "simple", "systematic", "blocks"])
def test_estimates_are_unbiased(tmp_path, how):
    """Shares of the truth over many samples of one map, whose pixels differ in area by a factor of 2."""
    rng = np.random.default_rng(3)
    values = patches(1, (8, 8), 5, 3)
    values[values == 0] = 1
    truth = np.where(rng.random(values.shape) < 0.7, values, rng.integers(1, 4, values.shape))
    truth[:15] = np.where(rng.random((15, 40)) < 0.5, truth[:15], 3)
    grid = {"crs": "EPSG:4326", "transform": (0.5, 0, 0.0, 0, -0.75, 75.0)}
    path = put(tmp_path / "map.tif", values, grid)
    weights = wmcc.Raster(path).pixel_area() * np.ones(values.shape)
    exact = np.bincount(truth.ravel(), weights.ravel(), 4)[1:]
    options = {
        "stratified": {"plan": {1: 20, 2: 30, 3: 10}},
        "simple": {"plan": 60},
        "systematic": {"plan": 60, "method": "systematic"},
        "blocks": {"plan": 60, "cluster": wmcc.Blocks(8), "per_cluster": 5},
    }[how]
    found = []
    for seed in range(120):
        frame = wmcc.draw_sample(path, **options, seed=seed).to_frame()
        row, column = ((75 - frame["y"]) / 0.75).astype(int), (frame["x"] / 0.5).astype(int)
        table = wmcc.tabulate(frame.assign(reference=truth[row, column]), **LABELLED, labels=[1, 2, 3])
        assert table.total == pytest.approx(exact.sum(), rel=1e-12)
        found.append(table.true_sums)
    spread = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - exact) < 4 * spread).all()
    assert (np.abs(np.bincount(truth.ravel(), minlength=4)[1:] / truth.size - exact / exact.sum()) > 0.002).any()


# ---- what is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"plan": {1: 5, 2: 5}}, "no number for 3 .*, 4 .*, which the map has"),
        ({"plan": PLAN | {7: 5}}, "`plan` has 7, which the map does not have; its classes are 1, 2, 3, 4"),
        ({"plan": PLAN | {4: -1}}, r"plan\[4\]"),
        ({"plan": dict.fromkeys(PLAN, 0)}, "`plan` has no points"),
        ({"plan": "600"}, "`plan` is '600'; expected what `wmcc.plan_sample` returned"),
        ({"plan": 0}, "`plan` is 0"),
        ({"plan": 5, "method": "stratified"}, "`plan` is 5; 4 strata with at least 2 rows each need 8"),
        ({"plan": PLAN, "method": "simple"}, "`plan` has a number for each class"),
        ({"plan": 50, "method": "random"}, "`method` is 'random'; expected one of"),
        ({"plan": 50, "cluster": wmcc.Blocks(8)}, "`per_cluster` is missing"),
        ({"plan": 50, "cluster": 8, "per_cluster": 5}, "`cluster` is 8; expected a `wmcc.Blocks`"),
        ({"plan": 52, "cluster": wmcc.Blocks(8), "per_cluster": 5}, "expected a multiple of it"),
        ({"plan": 50, "per_cluster": 5}, "there is no `cluster`"),
        ({"plan": PLAN, "cluster": wmcc.Blocks(8), "per_cluster": 5}, "the sample is to be stratified"),
        ({"plan": 50, "cluster": wmcc.Blocks(150), "per_cluster": 5}, "the plan has 10 for blocks, which has 4"),
        ({"plan": 50, "cluster": wmcc.Blocks(8), "per_cluster": 5, "min_distance": 9}, "does not work with blocks"),
        ({"plan": 50, "method": "systematic", "min_distance": 9}, "does not work with a lattice"),
        ({"plan": 50, "method": "systematic", "cluster": wmcc.Blocks(8), "per_cluster": 5}, "to be systematic"),
        ({"plan": 89_000, "method": "systematic"}, "several are in one pixel"),
        ({"plan": 50, "min_distance": 0}, "`min_distance` is 0"),
        ({"plan": 50, "min_distance": 90_000}, r"\d+ of 50 points for the map could be drawn at this distance"),
        ({"plan": 50, "seed": -1}, "`seed` is -1"),
        ({"plan": 50, "pred": "map"}, "is a raster, which has none"),
    ],
)
def test_what_cannot_be_drawn_is_refused(path, options, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        wmcc.draw_sample(path, **options)


def test_maps_that_cannot_be_drawn_from_are_refused():
    overlap = [shapely.box(8, 50, 9, 51), shapely.box(8.2, 50.2, 8.8, 50.8)]
    land = gpd.GeoDataFrame({"map": ["a", "b"]}, geometry=overlap, crs=4326)
    with pytest.raises(InputTypeError, match="`Blocks` are made of pixels"):
        wmcc.draw_sample(land, 50, pred="map", cluster=wmcc.Blocks(3), per_cluster=5)
    with pytest.raises(InputError, match="lies in two polygons of the map"):
        wmcc.draw_sample(land, 50, pred="map")
