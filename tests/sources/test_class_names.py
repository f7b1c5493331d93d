"""Points in files over a raster: its classes as strata, and names on one side where the other has numbers."""

from itertools import permutations

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import rasterio
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import box

import wmcc
from wmcc.errors import InputError, InputTypeError

CRS, SIDE, STEP = "EPSG:32632", 16, 30.0
WEST, SOUTH = 500_000.0, 5_540_000.0
NAMES = {1: "forest", 2: "field", 3: "water"}
SIZES = {1: 120.0, 2: 80.0, 3: 45.0}
SIZES_BY_NAME = {NAMES[k]: size for k, size in SIZES.items()}
FILES = ["points.gpkg", "points.shp", "points.geojson", "points.fgb", "points.parquet"]
IN_TABLE = {"xy": ("x", "y"), "crs": CRS}


def rows(seed=1, count=60):
    """Points with a code and the name of it, the classes of two maps at them, and the pixels of these maps."""
    rng = np.random.default_rng(seed)
    maps = rng.integers(1, 4, (2, SIDE, SIDE), dtype=np.uint8)
    column, row = rng.integers(0, SIDE, (2, count))
    x, y = WEST + STEP * (column + 0.5), SOUTH + STEP * (SIDE - row - 0.5)
    at = maps[:, row, column].astype(int)
    code = np.where(rng.random(count) < 0.7, at[0], rng.integers(1, 4, count))
    code[:3], at[:, :3] = at[0, :3], at[:, :3]
    plain = pd.DataFrame({"code": code, "ref": [NAMES[k] for k in code], "x": x, "y": y})
    return plain, at, maps


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Write points in all formats and two maps; return the folder, and the rows as they are joined by hand."""
    folder = tmp_path_factory.mktemp("points")
    plain, at, maps = rows()
    placed = gpd.GeoDataFrame(plain[["code", "ref"]], geometry=shapely.points(plain["x"], plain["y"]), crs=CRS)
    for name in FILES:
        own = placed.to_crs(4326) if name.endswith(".geojson") else placed
        own.to_parquet(folder / name) if name.endswith(".parquet") else own.to_file(folder / name)
    plain.to_csv(folder / "points.csv", index=False)
    for name, own in zip(("a", "b"), maps, strict=True):
        put(folder / f"{name}.tif", own)
    put(folder / "named.tif", maps[0], NAMES)
    return folder, plain.assign(a=at[0], b=at[1])


def put(path, pixels, names=None):
    grid = rasterio.Affine(STEP, 0, WEST, 0, -STEP, SOUTH + STEP * SIDE)
    size = {"height": SIDE, "width": SIDE, "count": 1, "dtype": "uint8"}
    with rasterio.open(path, "w", driver="GTiff", crs=CRS, transform=grid, **size) as file:
        file.write(pixels, 1)
    if names is not None:
        lines = "".join(f"<Category>{names.get(k, '')}</Category>" for k in range(4))
        path.with_name(f"{path.name}.aux.xml").write_text(
            f'<PAMDataset><PAMRasterBand band="1"><CategoryNames>{lines}</CategoryNames></PAMRasterBand></PAMDataset>'
        )


def same(one, other):
    return one.to_dict() == other.to_dict()


def points(folder, name):
    """Points of a file, or of a frame, as a side of an overlay."""
    if name == "frame":
        return gpd.read_file(folder / "points.gpkg")
    if name in ("points.csv", "table"):
        return wmcc.Layer(folder / name if name != "table" else pd.read_csv(folder / "points.csv"), **IN_TABLE)
    return folder / name


EVERY = [*FILES, "points.csv", "table", "frame"]


@pytest.mark.parametrize("name", EVERY)
def test_classes_of_a_raster_are_strata_of_points_in_any_file(made, name):
    folder, joined = made
    for sizes in (SIZES, None):
        expected = wmcc.tabulate(joined, true="code", pred="a", design=wmcc.Strata("a", population=sizes))
        overlay = wmcc.Overlay(points(folder, name), folder / "a.tif")
        assert same(wmcc.tabulate(overlay, true="code", design=wmcc.Strata("class", population=sizes)), expected)
    by_class = wmcc.tabulate(wmcc.Overlay(points(folder, name), folder / "a.tif"), true="code", by="class")
    assert by_class.groups == (1, 2, 3)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("sizes", [SIZES, SIZES_BY_NAME, pd.DataFrame({"class": NAMES.values(), "ha": SIZES.values()})])
def test_names_on_one_side_and_numbers_on_the_other(made, name, sizes):
    folder, joined = made
    by_name = SIZES_BY_NAME if sizes is not SIZES else SIZES
    joined = joined.assign(
        map=joined["a"].map(NAMES), stratum=joined["a"] if sizes is SIZES else joined["a"].map(NAMES)
    )
    expected = wmcc.tabulate(joined, true="ref", pred="map", design=wmcc.Strata("stratum", population=by_name))
    for own, names in (
        (folder / "a.tif", NAMES),
        (folder / "named.tif", None),
        (wmcc.Raster(folder / "a.tif", names=NAMES), None),
        (wmcc.Raster(folder / "named.tif", names=dict.fromkeys(NAMES, "wrong")), NAMES),
    ):
        overlay = wmcc.Overlay(points(folder, name), own)
        table = wmcc.tabulate(overlay, true="ref", names=names, design=wmcc.Strata("class", population=sizes))
        assert same(table, expected)


def test_sizes_by_name_of_points_with_numbers(made):
    folder, joined = made
    expected = wmcc.tabulate(joined, true="code", pred="a", names=NAMES, design=wmcc.Strata("a", population=SIZES))
    design = wmcc.Strata("class", population=SIZES_BY_NAME)
    table = wmcc.tabulate(
        wmcc.Overlay(folder / "points.gpkg", folder / "a.tif"), true="code", names=NAMES, design=design
    )
    assert (table.w == expected.w).all()
    assert table.labels == expected.labels == ("forest", "field", "water")
    assert table.drawn.design.strata == ("field", "forest", "water")
    assert wmcc.interval(table, "ecc").se == wmcc.interval(expected, "ecc").se


@settings(max_examples=20, deadline=None)
@given(st.permutations(["oak", "elm", "sea"]), st.integers(0, 1000), st.booleans())
def test_named_numbers_are_the_same_as_names(order, seed, rotated):
    """Polygons and points, numbers in the reference or in the map: whoever has them, names by hand say the same."""
    names, rng = dict(zip((3, 1, 2), order, strict=True)), np.random.default_rng(seed)
    codes = rng.integers(1, 4, (2, 12))
    squares = [box(k, 0, k + 1, 1) for k in range(12)]
    at = shapely.transform(np.array(squares), lambda xy: xy * 100 + [WEST, SOUTH])
    reference = gpd.GeoDataFrame({"ref": codes[0]}, geometry=shapely.centroid(at) if rotated else at, crs=CRS)
    land = gpd.GeoDataFrame({"map": codes[1]}, geometry=at, crs=CRS)
    in_words = reference.assign(ref=reference["ref"].map(names)), land.assign(map=land["map"].map(names))
    over = {"true": "ref", "pred": "map"}
    expected = wmcc.tabulate(wmcc.Overlay(*in_words), **over)
    assert same(wmcc.tabulate(wmcc.Overlay(reference, in_words[1]), **over, names=names), expected)
    assert same(wmcc.tabulate(wmcc.Overlay(in_words[0], land), **over, names=names), expected)


def test_rules_of_labels_follow_their_names(made):
    folder, joined = made
    overlay = wmcc.Overlay(folder / "points.gpkg", folder / "a.tif")
    two = {1: "forest", 2: "field"}
    table = wmcc.tabulate(overlay, true="ref", names=two, ignore=[3])
    by_hand = joined.assign(map=joined["a"].map({**two, 3: "3"}))
    expected = wmcc.tabulate(by_hand, true="ref", pred="map", ignore=["3"])
    assert same(table, expected)
    assert table.void == ("3",)
    labels = wmcc.tabulate(overlay, true="ref", labels={3: "water", 1: "forest", 2: "field"}).labels
    assert labels == ("water", "forest", "field")


def test_numbers_without_a_name_are_refused(made):
    folder, _ = made
    overlay = wmcc.Overlay(folder / "points.gpkg", folder / "a.tif")
    with pytest.raises(
        InputTypeError, match=r"labels are of mixed types: [123] is a number and '[a-z]+' is a string"
    ) as e:
        wmcc.tabulate(overlay, true="ref")
    assert "say what the numbers stand for: names={" in e.value.hint
    with pytest.raises(InputError, match=r"names, and .*a\.tif has none for 3, which it has at \d+ places") as e:
        wmcc.tabulate(overlay, true="ref", names={1: "forest", 2: "field"})
    assert "wmcc.Raster(…, names=…)" in e.value.hint
    for names in ({"1": "forest"}, {1: 2}, {True: "forest"}, ["forest"]):
        with pytest.raises(InputTypeError, match=r"^`names` is .*; expected a mapping from numbers of classes to text"):
            wmcc.Raster(folder / "a.tif", names=names)


# ---- several maps ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_strata_of_one_of_several_maps_are_called_by_its_name(made, name):
    """The order of the maps changes nothing, and neither does a map that is left out."""
    folder, joined = made
    design = wmcc.Strata("a", population=SIZES)
    expected = wmcc.tabulate(joined, true="code", pred={"a": "a", "b": "b"}, design=design)
    for order in permutations("ab"):
        overlay = wmcc.Overlay(points(folder, name), {own: folder / f"{own}.tif" for own in order})
        joint = wmcc.tabulate(overlay, true="code", design=design)
        for own in "ab":
            assert wmcc.ecc(joint[own]) == wmcc.ecc(expected[own])
            assert wmcc.interval(joint[own], "ecc") == wmcc.interval(expected[own], "ecc")
        with pytest.raises(InputError, match="'class', given as `stratum`, is a column of several maps") as e:
            wmcc.tabulate(overlay, true="code", design=wmcc.Strata("class", population=SIZES))
        assert e.value.hint == f"`stratum` {order[0]!r} are the classes of the map {order[0]!r}, and so on."
    assert same(wmcc.tabulate(overlay, true="code", design=design)["a"], expected["a"])


def test_polygons_are_strata_by_the_name_of_the_map(made):
    folder, joined = made
    halves = [box(WEST, SOUTH, WEST + 240, SOUTH + 480), box(WEST + 240, SOUTH, WEST + 480, SOUTH + 480)]
    land = gpd.GeoDataFrame({"kind": [1, 2], "sheet": ["x", "y"]}, geometry=halves, crs=CRS)
    maps = {"grid": folder / "a.tif", "land": land}
    joined = joined.assign(kind=np.where(joined["x"] < WEST + 240, 1, 2))
    for name in ("land", "kind"):
        joint = wmcc.tabulate(
            wmcc.Overlay(folder / "points.gpkg", maps), true="code", pred={"land": "kind"}, design=wmcc.Strata(name)
        )
        expected = wmcc.tabulate(joined, true="code", pred={"grid": "a", "land": "kind"}, design=wmcc.Strata("kind"))
        assert same(joint, expected)
    with pytest.raises(InputError, match=r"there is no column 'lnad' in .*'grid', .*'land'") as e:
        wmcc.tabulate(
            wmcc.Overlay(folder / "points.gpkg", maps), true="code", pred={"land": "kind"}, design=wmcc.Strata("lnad")
        )
    assert e.value.hint == "did you mean 'land'?"


# ---- sizes from the map, and samples that were drawn from it ---------------------------------------------------------


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_sizes_from_one_of_several_maps_have_its_names(made, order):
    folder, _ = made
    maps = {own: folder / f"{own}.tif" for own in order}
    sizes = dict(zip(*np.unique(rows()[2][0], return_counts=True), strict=True))
    sizes = {int(k): n * STEP**2 / 1e4 for k, n in sizes.items()}
    by_name = {NAMES[k]: size for k, size in sizes.items()}
    for true, names, own in (("code", None, sizes), ("code", NAMES, sizes), ("ref", NAMES, by_name)):
        overlay = wmcc.Overlay(folder / "points.gpkg", maps)
        found = wmcc.tabulate(overlay, true=true, names=names, design=wmcc.Strata("a", population="map"))
        expected = wmcc.tabulate(overlay, true=true, names=names, design=wmcc.Strata("a", population=own))
        assert found.drawn.design.strata == expected.drawn.design.strata
        assert found.drawn.design.population == pytest.approx(expected.drawn.design.population, rel=1e-2)  # UTM
        assert wmcc.ecc(found["b"]) == pytest.approx(wmcc.ecc(expected["b"]), rel=1e-3)


@pytest.mark.parametrize("name", ["a.tif", "named.tif"])
@pytest.mark.parametrize("words", [NAMES, {k: k for k in NAMES}])
def test_a_drawn_sample_may_be_labelled_in_names_or_in_numbers(made, tmp_path, name, words):
    folder, _ = made
    (first, *_), pixels = (NAMES.values() if name == "named.tif" else NAMES), rows()[2][0]
    plan = dict.fromkeys(NAMES.values() if first == "forest" else NAMES, 20)
    wmcc.draw_sample(folder / name, plan, seed=2).save(tmp_path / "drawn.gpkg")
    drawn = gpd.read_file(tmp_path / "drawn.gpkg").to_crs(CRS)
    column, row = (drawn.geometry.x - WEST) // STEP, SIDE - 1 - (drawn.geometry.y - SOUTH) // STEP
    code = pixels[row.astype(int), column.astype(int)]
    code[::7] = 1
    drawn["reference"] = [words[int(k)] for k in code]
    drawn.to_file(tmp_path / "labelled.gpkg")
    overlay = wmcc.Overlay(tmp_path / "labelled.gpkg", folder / name)
    found = wmcc.error_map(overlay, true="reference", names=None if name == "named.tif" else NAMES)
    wrong = code != pixels[row.astype(int), column.astype(int)]
    assert found.wrong.tolist() == wrong.tolist()
    weights = drawn["weight"].to_numpy()
    assert found.errors["wrong"] == pytest.approx(weights[wrong].sum() / weights.sum())
    assert found.estimated
    alone = None if words is NAMES and name == "named.tif" else NAMES
    call = {"true": "reference", "pred": "map_class", "names": alone}
    table = wmcc.tabulate(tmp_path / "labelled.gpkg", **call)
    assert 1 - wmcc.accuracy(table) == pytest.approx(found.errors["wrong"])
    assert {*table.classes} == {*NAMES.values()}
    assert same(wmcc.error_map(tmp_path / "labelled.gpkg", **call).table, table)


def test_names_of_both_kinds_in_one_layer(made):
    folder, joined = made
    layer = gpd.read_file(folder / "points.gpkg").assign(map=joined["a"])
    expected = wmcc.tabulate(joined.assign(a=joined["a"].map(NAMES)), true="ref", pred="a")
    call = {"true": "ref", "pred": "map", "names": NAMES}
    assert same(wmcc.tabulate(layer, **call), expected)
    assert layer["map"].dtype.kind == "i"  # the caller's frame is as it was
    both = wmcc.tabulate(layer, **{**call, "pred": {"A": "map", "B": "ref"}}, ignore=3)
    assert both["B"].labels == ("field", "forest", "water")
    assert both.ignored == (joined["ref"] == "water").sum()
    with pytest.raises(InputError, match="names, and the column 'map' has none for 3"):
        wmcc.tabulate(layer, true="ref", pred="map", names={1: "forest", 2: "field"})
    with pytest.raises(InputError, match="`names` has no name for the class 'field'"):
        wmcc.tabulate(layer, true="ref", pred="ref", names=NAMES)  # which are of no use here
