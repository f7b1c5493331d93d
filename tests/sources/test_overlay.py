"""A map laid over a reference: pieces of polygons, points in polygons, points on rasters."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import geopandas as gpd
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyproj
import pytest
import rasterio
import shapely
from flat import tabulate
from hypothesis import given
from hypothesis import strategies as st
from rasterio.io import MemoryFile
from shapely import box

import wmcc
from wmcc.errors import InputError, InputTypeError, LabelError, MapWarning, WeightError
from wmcc.geo.areas import polygon_areas
from wmcc.geo.layers import OpenLayer
from wmcc.geo.overlay import at_pixels, at_points, pieces

PLANE = "EPSG:3035"
CENTRE = np.array([4_325_000.0, 3_205_000.0])
"""Somewhere in the plane; not at the centre of the projection, where PROJ is less exact."""


def moved(geometry, scale=100.0, crs=PLANE):
    """Geometry in units of 100 m around the centre; in other systems of coordinates, somewhere that suits them."""
    step, origin = {
        PLANE: (scale, CENTRE),
        "EPSG:32632": (scale, np.array([500_000.0, 5_540_000.0])),
        "EPSG:3857": (scale, np.array([1_000_000.0, 6_500_000.0])),
        "EPSG:4326": (scale * 1e-5, np.array([9.0, 50.0])),
    }[crs]
    return shapely.transform(geometry, lambda xy: xy * step + origin)


def frame(geometry, crs=PLANE, **columns):
    return gpd.GeoDataFrame(columns, geometry=moved(np.array(geometry), crs=crs), crs=crs)


def layer(geometry, crs=PLANE, name="a layer"):
    return OpenLayer(
        pd.DataFrame(index=range(len(geometry))), moved(np.array(geometry), crs=crs), pyproj.CRS(crs), name
    )


def strips(*ends):
    """Strips of height 1 between the ends."""
    return [box(a, 0, b, 1) for a, b in pairwise(ends)]


def cells(count, seed, side=10.0):
    """A tiling of a square by cells around random points."""
    at = shapely.MultiPoint(np.random.default_rng(seed).uniform(0, side, (count, 2)))
    square = box(0, 0, side, side)
    return shapely.intersection(shapely.get_parts(shapely.voronoi_polygons(at, extend_to=square)), square)


def same(one, other):
    return one.to_dict() == other.to_dict()


REFERENCE = frame(strips(0, 2, 4), ref=["oak", "elm"], w=[1.0, 3.0], zone=["n", "s"])
MAP = frame(strips(0, 1, 3), map=["oak", "elm"], sheet=["A", "B"])
"""Covers three quarters of the reference."""

OVER = {"true": "ref", "pred": "map"}


# ---- two layers of polygons --------------------------------------------------------------------------------


@st.composite
def tilings(draw, width=12, height=8):
    """Rectangles that tile one, from cuts through it; some of them left out, all of them moved by quarters."""
    done, todo = [], [(0, 0, width, height)]
    while todo:
        x0, y0, x1, y1 = todo.pop()
        upright = draw(st.booleans())
        low, high = (x0, x1) if upright else (y0, y1)
        if high - low < 2 or len(done) + len(todo) > 12:
            done.append((x0, y0, x1, y1))
            continue
        at = draw(st.integers(low + 1, high - 1))
        todo += [(x0, y0, at, y1), (at, y0, x1, y1)] if upright else [(x0, y0, x1, at), (x0, at, x1, y1)]
    kept = [one for one in done if draw(st.integers(0, 4))] or done
    dx, dy = (Fraction(draw(st.integers(-6, 6)), 4) for _ in range(2))
    return [(x0 + dx, y0 + dy, x1 + dx, y1 + dy) for x0, y0, x1, y1 in kept]


def common(a, b):
    """The area that two rectangles have in common, as a fraction."""
    x, y = (min(a[k + 2], b[k + 2]) - max(a[k], b[k]) for k in (0, 1))
    return max(x, Fraction(0)) * max(y, Fraction(0))


@given(tilings(), tilings())
def test_pieces_have_the_areas_of_exact_arithmetic(reference, overlay):
    exact = {(i, j): common(a, b) for i, a in enumerate(reference) for j, b in enumerate(overlay) if common(a, b)}
    if not exact:
        return
    for i, a in enumerate(reference):
        rest = common(a, a) - sum(x for (k, _), x in exact.items() if k == i)
        exact |= {(i, -1): rest} if rest else {}
    shapes = ([box(*map(float, one)) for one in some] for some in (reference, overlay))
    reference_, overlay_ = map(layer, shapes)
    found, sizes = pieces(reference_, overlay_), polygon_areas(reference_.geometry, PLANE)
    assert {*zip(found.reference.tolist(), found.map.tolist(), strict=True)} == {*exact}
    for i, j, area, share in zip(*found[:2], found.area, found.share, strict=True):
        assert area == pytest.approx(share * sizes[i], rel=1e-15)
        assert share == pytest.approx(float(exact[i, j] / common(reference[i], reference[i])), rel=1e-9)


@pytest.mark.parametrize("crs", [PLANE, "EPSG:32632", "EPSG:3857", "EPSG:4326"])
def test_area_is_conserved(crs):
    reference, overlay = (
        gpd.GeoDataFrame({"c": np.arange(40) % 3}, geometry=moved(cells(40, k), 1e4, crs), crs=crs) for k in (1, 2)
    )
    reference = reference.assign(p=reference["c"])
    kept = overlay[::2]
    whole = wmcc.tabulate(reference, true="c", pred="p", weight="area")
    table = wmcc.tabulate(wmcc.Overlay(reference, kept), true="c", pred="c", weight="area")
    assert table.void == ("(not covered)",)
    assert table.total == pytest.approx(whole.total, rel=1e-12)
    assert np.asarray(table).sum(axis=1)[:3] == pytest.approx(np.asarray(whole).sum(axis=1), rel=1e-12)
    full = wmcc.tabulate(wmcc.Overlay(reference, overlay), true="c", pred="c", weight="area")
    assert full.void == ()  # rounding makes no gaps
    assert np.asarray(full)[:, 0].sum() >= np.asarray(table)[:, 0].sum()


def test_large_polygons_have_the_shares_of_their_zones():
    world = gpd.GeoDataFrame({"ref": [0]}, geometry=[box(-60, 0, 60, 80)], crs=4326)
    halves = gpd.GeoDataFrame({"map": [0, 1]}, geometry=[box(-60, 0, 60, 30), box(-60, 30, 0, 80)], crs=4326)
    found = np.asarray(wmcc.tabulate(wmcc.Overlay(world, halves), **OVER))[0]
    zones = polygon_areas(shapely.segmentize([box(0, 0, 1, 30), box(0, 30, 1, 80)], 0.01), 4326)
    assert found == pytest.approx(np.array([zones[0], zones[1] / 2, zones[1] / 2]) / zones.sum(), rel=1e-5)


def test_the_same_as_geopandas_overlay():
    reference, overlay = (frame(cells(60, k), c=np.arange(60) % 4) for k in (3, 4))
    overlay = overlay.iloc[10:]
    by_hand = gpd.overlay(reference.rename(columns={"c": "t"}), overlay.rename(columns={"c": "p"}), how="identity")
    by_hand["ha"] = by_hand.area / 1e4
    expected = wmcc.tabulate(by_hand.fillna({"p": 9}), true="t", pred="p", weight="ha", ignore=9)
    table = wmcc.tabulate(wmcc.Overlay(reference, overlay), true="c", pred="c", weight="area")
    assert np.asarray(table) == pytest.approx(np.asarray(expected), rel=1e-8, abs=1e-9)


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
def test_the_same_as_fine_rasters():
    reference, overlay = (frame(cells(25, k), c=np.arange(25) % 3) for k in (5, 6))
    overlay = overlay.iloc[3:]
    edge, fine = 10.0, 250
    at = (np.arange(fine) + 0.5) * edge / fine
    grid = moved(shapely.points(*map(np.ravel, np.meshgrid(at, at))))
    rows = [shapely.STRtree(own.geometry).query(grid, predicate="intersects") for own in (reference, overlay)]
    truth, pred = np.full((2, len(grid)), 9)
    truth[rows[0][0]], pred[rows[1][0]] = (
        own["c"].to_numpy()[k[1]] for own, k in zip((reference, overlay), rows, strict=True)
    )
    pixels = wmcc.tabulate(truth, pred, ignore=9)
    table = wmcc.tabulate(wmcc.Overlay(reference, overlay), true="c", pred="c", weight="area")
    assert np.asarray(table) / 100 == pytest.approx(np.asarray(pixels) / fine**2, abs=1e-3)


def test_a_table_of_two_layers():
    table = wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, weight="area")
    assert table.labels == ("elm", "oak", "(not covered)")
    assert np.asarray(table)[:2] == pytest.approx(np.array([[1, 0, 1], [1, 1, 0]]), rel=1e-8)
    assert np.asarray(wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, weight=wmcc.Area("m2")))[
        0, 0
    ] == pytest.approx(1e4)
    numbers = wmcc.tabulate(
        wmcc.Overlay(REFERENCE.replace({"oak": 3, "elm": -1}), MAP.replace({"oak": 3, "elm": -1})),
        **OVER,
        weight="area",
    )
    assert numbers.labels == (-1, 3, "(not covered)")
    assert np.array_equal(numbers.w, table.w)


def test_the_weight_of_a_polygon_is_divided_among_its_pieces():
    assert np.asarray(wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, weight="w"))[:2] == pytest.approx(
        np.array([[1.5, 0, 1.5], [0.5, 0.5, 0]])
    )
    assert np.asarray(wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER))[:2] == pytest.approx(
        np.array([[0.5, 0, 0.5], [0.5, 0.5, 0]])
    )
    known = wmcc.tabulate(wmcc.Overlay(REFERENCE.assign(area=[10.0, 20.0]), MAP), **OVER, weight="area")
    assert known.total == pytest.approx(30)
    assert wmcc.tabulate(
        wmcc.Overlay(REFERENCE.assign(area=[10.0, 20.0]), MAP), **OVER, weight=wmcc.Area("ha")
    ).total == pytest.approx(4)
    with pytest.raises(WeightError):
        wmcc.tabulate(wmcc.Overlay(REFERENCE.assign(w=[-1.0, 2.0]), MAP), **OVER, weight="w")
    with pytest.raises(InputTypeError, match="'zone' of the reference, given as `weight`, does not hold numbers"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, weight="zone")


def test_polygons_of_the_reference_are_clusters():
    table = wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, weight="area")
    assert (table.drawn.kind, table.drawn.units) == ("clusters", (0, 1))
    many, overlay = (frame(cells(60, k), c=np.arange(60) % 2) for k in (7, 8))
    table = wmcc.tabulate(wmcc.Overlay(many, overlay), true="c", pred="c", weight="area")
    rows = wmcc.tabulate(
        wmcc.Overlay(many.assign(one=np.arange(60)), overlay), true="c", pred="c", weight="area", cluster="one"
    )
    assert wmcc.interval(table, "accuracy").se == wmcc.interval(rows, "accuracy").se
    strata = wmcc.tabulate(
        wmcc.Overlay(many.assign(s=np.arange(60) % 3), overlay),
        true="c",
        pred="c",
        weight="area",
        design=wmcc.Strata("s"),
    )
    assert len(strata.drawn.units) == 60
    assert strata.total == pytest.approx(table.total)
    zones = wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, weight="area", cluster="zone")
    assert zones.drawn.units == ("n", "s")


@pytest.mark.parametrize(
    ("given", "options", "whole"),
    [
        ((REFERENCE, MAP), {"weight": "area"}, True),
        ((REFERENCE, MAP), {"weight": "area", "cluster": "zone"}, True),
        ((REFERENCE, MAP), {"weight": "w"}, False),  # weights of a sample
        ((REFERENCE, MAP), {}, False),
        ((REFERENCE.iloc[:1], MAP), {"weight": "area"}, False),  # two thirds of the map
        ((REFERENCE, frame(strips(0, 1, 4.02), map=["oak", "elm"])), {"weight": "area"}, True),  # but for a border
        ((REFERENCE, MAP), {"weight": "area", "design": wmcc.Strata("zone")}, False),
    ],
)
def test_layers_that_lie_on_each_other_wall_to_wall(given, options, whole):
    table = wmcc.tabulate(wmcc.Overlay(*given), **OVER, **options)
    assert table.drawn.wall_to_wall == whole
    if "design" not in options:
        assert {x.area.known for x in wmcc.map_accuracy(table).classes} == {whole}


def test_groups_are_columns_of_either_layer():
    assert [*wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, weight="area", by="zone")] == ["n", "s"]
    sheets = wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, weight="area", by="sheet")
    assert {key: round(own.total, 6) for key, own in sheets.items()} == {"A": 1, "B": 2, None: 1}
    with pytest.raises(InputError, match=r"no column 'shee' in the reference or the map.*'sheet'"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, by="shee")


def test_several_columns_of_a_map():
    both = wmcc.tabulate(
        wmcc.Overlay(REFERENCE, MAP.assign(old=["oak", "oak"])),
        true="ref",
        pred={"new": "map", "old": "old"},
        weight="area",
    )
    assert same(both["new"], wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, weight="area"))
    assert both["old"].void == ("(not covered)",)


def test_uncovered_parts_can_be_refused():
    with pytest.raises(
        InputError,
        match=r"the map does not cover 1 ha of the reference, 25.0 %, in 1 polygon; .* 1 ha of the 2 ha of row 1",
    ) as refused:
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP, uncovered="error"), **OVER, weight="area")
    assert refused.value.argument == "uncovered"
    wide = frame(strips(-1, 1, 5), map=["oak", "elm"])
    assert wmcc.tabulate(wmcc.Overlay(REFERENCE, wide, uncovered="error"), **OVER, weight="area").void == ()
    with pytest.raises(InputError, match="`uncovered` is 'ignore'; expected 'class' or 'error'"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP, uncovered="ignore"), **OVER)


def test_slivers_are_counted_and_weighed():
    overlay = frame(strips(-1, 1.999, 3, 4.5), map=["oak", "elm", "elm"])
    assert wmcc.tabulate(wmcc.Overlay(REFERENCE, overlay), **OVER, weight="area").n.sum() == 4
    with pytest.warns(
        MapWarning,
        match=r"^1 piece smaller than 100 m² was left out, 0.001 ha together: <0.1 % of the reference.$",
    ):
        table = wmcc.tabulate(wmcc.Overlay(REFERENCE, overlay, sliver=100.0), **OVER, weight="area")
    assert table.n.sum() == 3
    assert table.total == pytest.approx(3.999)
    with pytest.raises(InputError, match=r"`sliver` is -10000\.0; expected an area in square metres"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, overlay, sliver=-10000.0), **OVER)


def test_a_piece_of_the_size_of_a_sliver_counts():
    shapes = ([box(0, 0, 3, 1)], [box(0, 0, 1, 1), box(1, 0, 3, 1)])
    reference, overlay = map(layer, shapes)
    found = pieces(reference, overlay)
    assert pieces(reference, overlay, sliver=found.area.min() * 1e4).map.tolist() == found.map.tolist() == [0, 1]


def test_a_hundred_thousand_slivers():
    thin, count = 1e-5, 100_000
    row, column = np.divmod(np.arange(count), 400)
    x, y = column / 100, row / 250 + thin
    overlay = frame(shapely.box(x, y, x + thin, y + thin), map=np.arange(count) % 2)
    with pytest.warns(MapWarning, match=r"^100,000 pieces smaller than 10 m² were left out, 1e-05 ha together"):
        table = wmcc.tabulate(wmcc.Overlay(REFERENCE.assign(ref=[0, 1]), overlay, sliver=10.0), **OVER, weight="area")
    assert table.n.sum() == 2
    assert table.total == pytest.approx(4, rel=1e-5)


def test_layers_without_common_area():
    far = frame(strips(1000, 1001), map=["oak"])
    where = r"reference lies from \(4325000, 3205000\) to \(4325400, 3205100\) and the map from \(4425000, 3205000\) to"
    with pytest.raises(
        InputError, match=f"the map covers nothing of the reference: in EPSG:3035 .*, the {where}"
    ) as refused:
        wmcc.tabulate(wmcc.Overlay(REFERENCE, far), **OVER)
    assert refused.value.argument == "overlay"
    with pytest.raises(InputError, match="covers nothing"):  # a common border has no area
        wmcc.tabulate(wmcc.Overlay(REFERENCE, frame([box(4, 0, 5, 1)], map=["oak"])), **OVER)


def test_lines_and_points_of_intersections_are_left_out():
    comb = shapely.union_all([box(0, 1, 4, 2), box(0, 0, 1, 1), box(3.5, 0.5, 4, 1)])
    assert shapely.intersection(box(0, 0, 4, 1), comb).geom_type == "GeometryCollection"
    table = wmcc.tabulate(
        wmcc.Overlay(frame([box(0, 0, 4, 1)], ref=["oak"]), frame([comb], map=["oak"])), **OVER, weight="area"
    )
    assert np.asarray(table)[0] == pytest.approx(np.array([1.25, 2.75]), rel=1e-8)


def test_polygons_of_the_map_that_overlap():
    overlay = frame([box(-1, 0, 1.5, 1), box(1, 0, 3, 1), box(1, 0, 1.25, 1)], map=["oak", "elm", "oak"])
    with pytest.raises(
        InputError, match=r"^rows 0 and 1 of the map overlap by 0.5 ha; .* 3 pairs overlap, by 1 ha together"
    ) as refused:
        wmcc.tabulate(wmcc.Overlay(REFERENCE, overlay), **OVER, weight="area")
    assert "`sliver`" in refused.value.hint
    with (
        pytest.warns(
            MapWarning, match=r"3 overlaps of polygons of the map, by 1 ha together, none by more than 5,001 m²"
        ),
        pytest.warns(MapWarning, match=r"1 piece smaller than 5,001 m² was left out"),
    ):
        table = wmcc.tabulate(wmcc.Overlay(REFERENCE, overlay, sliver=5001.0), **OVER, weight="area")
    assert table.total == pytest.approx(4, rel=0.1)
    outside = frame([box(0, 0, 4, 1), box(4, 0, 6, 1), box(5, 0, 7, 1)], map=["oak", "elm", "oak"])
    assert wmcc.tabulate(wmcc.Overlay(REFERENCE, outside), **OVER, weight="area").total == pytest.approx(4)


def test_an_overlap_and_a_gap_of_the_same_size():
    overlay = frame([box(0, 0, 0.6, 1), box(0.5, 0, 0.9, 1)], map=["oak", "elm"])
    with pytest.raises(InputError, match=r"overlap by 0.1 ha"):
        wmcc.tabulate(wmcc.Overlay(frame([box(0, 0, 1, 1)], ref=["oak"]), overlay), **OVER, weight="area")


def test_polygons_of_the_reference_that_overlap_count_twice():
    reference = frame([box(0, 0, 2, 1), box(1, 0, 3, 1)], ref=["oak", "elm"])
    with pytest.warns(
        MapWarning, match=r"1 pair of polygons of the reference overlaps, by 1 ha together, .* rows 0 and 1 by 1 ha"
    ):
        table = wmcc.tabulate(wmcc.Overlay(reference, MAP), **OVER, weight="area")
    assert table.total == pytest.approx(4)


def test_invalid_polygons_are_repaired_and_counted():
    bowtie = shapely.Polygon([(0, 0), (1, 1), (1, 0), (0, 1)])
    with pytest.warns(MapWarning, match="the map: 1 polygon is invalid"):
        table = wmcc.tabulate(
            wmcc.Overlay(REFERENCE, frame([bowtie, box(1, 0, 2, 1)], map=["oak", "elm"])), **OVER, weight="area"
        )
    assert table.total == pytest.approx(4)
    assert np.asarray(table)[1] == pytest.approx(np.array([1, 0.5, 0.5]))
    with pytest.warns(MapWarning, match="the reference: 1 row has no geometry"):
        table = wmcc.tabulate(
            wmcc.Overlay(frame([box(0, 0, 2, 1), None], ref=["oak", "elm"]), MAP), **OVER, weight="area"
        )
    assert table.total == pytest.approx(2)
    bare = frame([box(0, 0, 2, 1), None], ref=["oak", "elm"])
    with (
        pytest.warns(MapWarning, match="no geometry"),
        pytest.raises(InputError, match=r"row 1 first. has no area, so that the weight"),
    ):
        wmcc.tabulate(wmcc.Overlay(bare, MAP), **OVER)


def test_polygons_of_several_parts_and_with_holes():
    ring = box(-1, -1, 5, 2) - box(1, 0.25, 2, 0.75)
    overlay = frame(
        [ring, shapely.MultiPolygon([box(1, 0.25, 1.5, 0.75), box(1.75, 0.25, 2, 0.75)])], map=["oak", "elm"]
    )
    table = wmcc.tabulate(wmcc.Overlay(REFERENCE, overlay), **OVER, weight="area")
    assert np.asarray(table) == pytest.approx(np.array([[0, 2, 0], [0.375, 1.5, 0.125], [0, 0, 0]]), rel=1e-8)
    assert table.n.sum() == 4


def test_layers_of_other_coordinate_reference_systems():
    table = wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP.to_crs(4326)), **OVER, weight="area")
    assert np.asarray(table) == pytest.approx(
        np.asarray(wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, weight="area")), abs=1e-4
    )
    bare = frame([*strips(0, 1, 3), shapely.Polygon()], map=["oak", "elm", "oak"]).to_crs(4326)
    with pytest.warns(MapWarning, match="the map: 1 row has no geometry"):
        assert same(wmcc.tabulate(wmcc.Overlay(REFERENCE, bare), **OVER, weight="area"), table)
    nowhere = MAP.set_crs(None, allow_override=True)
    with pytest.raises(InputError, match="the map has no coordinate reference system") as refused:
        wmcc.tabulate(wmcc.Overlay(REFERENCE, nowhere), **OVER)
    assert refused.value.argument == "crs"
    assert wmcc.tabulate(
        wmcc.Overlay(REFERENCE.to_crs(4326), wmcc.Layer(nowhere, crs=PLANE)), **OVER
    ).total == pytest.approx(2)
    with pytest.raises(InputError, match="the reference has no coordinate reference system"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE.set_crs(None, allow_override=True), MAP), **OVER)
    with pytest.raises(InputError, match=r"the reference is in EPSG:3035 .*, and `crs` says EPSG:4326"):
        wmcc.tabulate(wmcc.Overlay(wmcc.Layer(REFERENCE, crs=4326), MAP), **OVER)


def test_borders_of_a_map_bend_in_another_plane():
    """Sheets whose corners meet in the middle of a border; in degrees it is a parallel, which is curved elsewhere."""
    sheets = gpd.GeoDataFrame(
        {"map": [0, 1, 2]}, geometry=[box(9, 45, 9.5, 46), box(9.5, 45, 10, 46), box(9, 44, 10, 45)], crs=4326
    )
    x, y = gpd.GeoSeries(shapely.points([[9.5, 45]]), crs=4326).to_crs(PLANE).get_coordinates().to_numpy()[0]
    field = gpd.GeoDataFrame({"ref": [0]}, geometry=[box(x - 5e3, y - 5e3, x + 5e3, y + 5e3)], crs=PLANE)
    table = wmcc.tabulate(wmcc.Overlay(field, sheets), **OVER, weight=wmcc.Area("m2"))
    assert table.void == ()
    fine = gpd.GeoSeries(shapely.segmentize(sheets.geometry.to_numpy(), 1e-4), crs=4326).to_crs(PLANE)
    assert np.asarray(table)[0] == pytest.approx(fine.intersection(field.geometry[0]).area.to_numpy(), rel=3e-6)
    cells_ = [
        box(9.45 + i / 100, 44.95 + j / 100, 9.46 + i / 100, 44.96 + j / 100) for i in range(10) for j in range(10)
    ]
    grid = gpd.GeoDataFrame({"map": np.arange(100)}, geometry=cells_, crs=4326)
    inner = field.set_geometry(field.buffer(-2e3, join_style="mitre"))
    assert wmcc.tabulate(wmcc.Overlay(inner, grid), true="ref", pred="map").void == ()


@pytest.mark.parametrize(
    ("reference", "crs", "overlay"),
    [
        (box(5e5, 5e6, 6e5, 5.1e6), 32632, [box(-180, -90, 180, 90)]),  # which UTM cannot show as a whole
        (box(5e5, 5e6, 6e5, 5.1e6), 32632, [box(0, -90, 360, 90)]),
        (box(-1e5, -1e5, 1e5, 1e5), 3413, [box(-180, 80, 0, 90), box(0, 80, 180, 90)]),
        (box(0.5e5, 1e6, 2.5e5, 1.1e6), 32601, [box(-180, 5, -175, 15), box(175, 5, 180, 15)]),
        (box(270, 0, 271, 1), 4326, [box(-91, -1, -80, 3)]),
        (box(179, 0, 181, 1), 4326, [box(-180, 0, -179, 1), box(179, 0, 180, 1)]),
    ],
)
def test_maps_all_around_the_earth(reference, crs, overlay):
    reference = gpd.GeoDataFrame({"ref": [0]}, geometry=[reference], crs=crs)
    overlay = gpd.GeoDataFrame({"map": np.arange(len(overlay))}, geometry=overlay, crs=4326)
    table = wmcc.tabulate(wmcc.Overlay(reference, overlay), **OVER)
    assert table.void == ()
    assert table.total == pytest.approx(1)
    if len(overlay) == 2 and crs != 32601:
        assert np.asarray(table)[0] == pytest.approx([0.5, 0.5])


def test_a_map_over_the_antimeridian_in_its_own_plane():
    fiji = gpd.GeoDataFrame({"ref": [0]}, geometry=[box(179, -18, 180, -17)], crs=4326)
    zone = gpd.GeoDataFrame({"map": [0]}, geometry=[box(-3e5, 7.9e6, 7e5, 8.2e6)], crs=32701)
    assert wmcc.tabulate(wmcc.Overlay(fiji, zone), **OVER).void == ()
    pole = gpd.GeoDataFrame({"map": [0]}, geometry=[shapely.segmentize(box(-1e6, -1e6, 1e6, 1e6), 1e5)], crs=3413)
    arctic = gpd.GeoDataFrame({"ref": [0]}, geometry=[box(0, 85, 10, 86)], crs=4326)
    assert wmcc.tabulate(wmcc.Overlay(arctic, pole), **OVER).void == ()
    arctic = arctic.set_geometry([shapely.segmentize(box(-180, 85, 180, 86), 1)], crs=4326)
    with pytest.raises(InputError, match="1 polygon of the map crosses the antimeridian"):
        wmcc.tabulate(wmcc.Overlay(arctic, pole), **OVER)


def test_rows_without_geometry_in_another_plane():
    nothing = pd.concat([MAP.to_crs(4326), gpd.GeoDataFrame({"map": ["ash"]}, geometry=[None], crs=4326)])
    with pytest.warns(MapWarning, match="1 row has no geometry"):
        table = wmcc.tabulate(wmcc.Overlay(REFERENCE, nothing), **OVER)
    assert table.labels == ("elm", "oak", "(not covered)")


@pytest.mark.parametrize(("crs", "y", "step"), [(4326, 70.0, 0.05), (3857, 1e7, 4e3), (25832, 6e6, 4e3)])
def test_shares_are_those_on_the_ellipsoid(crs, y, step):
    """Borders of kilometres that are straight in a plane are cut there, and are curves on the ellipsoid."""
    x = 9.0 if crs == 4326 else 5e5
    field = np.array([shapely.Polygon([(0, 0), (3, 0.5), (2.6, 2), (0.3, 1.8)])])
    parts = np.array([box(-1, -1, 1, 1.2), box(1, -1, 5, 1.2), box(-1, 1.2, 5, 1.9)])
    field, parts = (shapely.transform(own, lambda xy: xy * step + [x, y]) for own in (field, parts))
    own = [OpenLayer(pd.DataFrame(index=range(len(g))), g, pyproj.CRS(crs), "a layer") for g in (field, parts)]
    fine = shapely.segmentize([*field, *shapely.intersection(parts, field[0])], step / 500)
    sizes = polygon_areas(fine, crs)
    expected = np.append(1 - sizes[1:].sum() / sizes[0], sizes[1:] / sizes[0])
    assert pieces(*own).share == pytest.approx(expected, rel=1e-7)


def test_coordinates_that_are_exchanged():
    here, there = (
        gpd.GeoDataFrame({"ref": [0], "map": [0]}, geometry=[x], crs=4326)
        for x in (box(9, 45, 9.1, 45.1), box(45, 9, 45.1, 9.1))
    )
    with pytest.raises(InputError, match=r"covers nothing[\s\S]*x and y of one of them seem to be exchanged"):
        wmcc.tabulate(wmcc.Overlay(there, here), **OVER)
    with pytest.raises(InputError, match=r"covers nothing[\s\S]*look whether both are of the same region"):
        wmcc.tabulate(wmcc.Overlay(here.set_geometry([box(20, 45, 21, 46)], crs=4326), here), **OVER)


def test_datums_without_a_known_shift():
    custom = "+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 +ellps=intl +units=m"
    with pytest.warns(MapWarning, match=r"no shift of the datum is known from .* the map, to EPSG:3035"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP.set_crs(custom, allow_override=True)), **OVER)


def test_edges_over_the_antimeridian_are_refused():
    fiji = gpd.GeoDataFrame(
        {"ref": ["oak"]}, geometry=[shapely.Polygon([(179, -18), (-179, -18), (-179, -17), (179, -17)])], crs=4326
    )
    islands = fiji.assign(geometry=[shapely.MultiPolygon([box(177, -16, 178, -15), fiji.geometry[0]])])
    for own in (fiji, islands):
        with pytest.raises(InputError, match=r"1 polygon of the reference crosses the antimeridian .* \(row 0 first\)"):
            wmcc.tabulate(wmcc.Overlay(own, own.rename(columns={"ref": "map"})), **OVER)
    wide = gpd.GeoDataFrame({"ref": ["oak"]}, geometry=[shapely.segmentize(box(-179, 10, 179, 11), 1)], crs=4326)
    assert wmcc.tabulate(wmcc.Overlay(wide, wide.rename(columns={"ref": "map"})), **OVER).total == pytest.approx(1)


def test_missing_classes_and_bad_weights_are_named_by_rows_of_their_layers():
    thirds = frame(strips(0, 1, 2, 3, 4), ref=["oak", "elm", "oak", None], w=[1.0, 2.0, 3.0, -4.0])
    with pytest.raises(LabelError, match=r"1 row of the reference has no class in the column 'ref' \(row 3") as no:
        wmcc.tabulate(wmcc.Overlay(thirds, MAP), **OVER)
    assert no.value.argument == "true"
    assert wmcc.tabulate(wmcc.Overlay(thirds, MAP), **OVER, missing="ignore").ignored == 1
    holes = MAP.assign(map=["oak", None])
    with pytest.raises(LabelError, match=r"1 row of the map has .* \(row 1 first\)[\s\S]*does not cover"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, holes), **OVER)
    without = wmcc.tabulate(wmcc.Overlay(REFERENCE, holes.dropna()), **OVER)  # as the hint says
    assert np.asarray(without)[1].tolist() == pytest.approx([0, 0.5, 0.5])
    elsewhere = pd.concat([MAP, frame([box(20, 0, 21, 1)], map=[None])])
    assert same(
        wmcc.tabulate(wmcc.Overlay(REFERENCE, elsewhere), **OVER), wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER)
    )
    with pytest.raises(WeightError, match=r"1 row of the reference has a weight in 'w' .*: -4 in row 3"):
        wmcc.tabulate(wmcc.Overlay(thirds.fillna({"ref": "elm"}), MAP), **OVER, weight="w")
    points = frame(shapely.points([[0.5, 0.5], [1.5, 0.5]]), ref=["oak", "elm"])
    with pytest.raises(LabelError, match=r"1 row of the map has no class in the column 'map' \(row 1 first"):
        wmcc.tabulate(wmcc.Overlay(points, holes), **OVER)


def test_calls_that_mean_an_overlay(tmp_path):
    path = tmp_path / "map.gpkg"
    MAP.to_file(path)
    for call in ({}, {**OVER, "weight": "area"}):
        for other in (MAP, path):
            with pytest.raises(
                InputTypeError, match=r"by `Overlay`[\s\S]*Overlay\(reference, (map|'.*map\.gpkg')\), true="
            ):
                tabulate(REFERENCE, other, **call)
    with pytest.raises(
        InputError, match=r"no column 'map' in the reference[\s\S]*it is a column of the map: `true` names"
    ):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), true="map", pred="ref")
    with pytest.raises(InputError, match=r"no column 'Area' in the reference[\s\S]*weight='area' is the area"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, weight="Area")
    with pytest.raises(InputTypeError, match=r"the map is a list[\s\S]*pandas.concat"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, [MAP[:1], MAP[1:]]), **OVER)
    sheets = pd.concat([MAP[:1], MAP[1:]])  # as the hint says
    assert same(
        wmcc.tabulate(wmcc.Overlay(REFERENCE, sheets), **OVER), wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER)
    )
    MAP.to_file(path, layer="other")
    with pytest.raises(InputError, match=r"map.gpkg has 2 layers: .*[\s\S]*name one with wmcc.Layer") as refused:
        wmcc.tabulate(wmcc.Overlay(REFERENCE, path), **OVER)
    assert refused.value.argument == "layer"


def test_columns_that_come_twice():
    points = frame(shapely.points([[0.5, 0.5], [1.5, 0.5]]), ref=["oak", "elm"])
    for own in (REFERENCE, points):
        twice = gpd.GeoDataFrame(pd.concat([own, own[["ref"]]], axis=1), crs=own.crs)
        with pytest.raises(InputError, match="the reference has several columns 'ref'; expected one"):
            wmcc.tabulate(wmcc.Overlay(twice, MAP), **OVER)
        with pytest.raises(InputError, match="the reference has several columns 'ref'; expected one"):
            wmcc.tabulate(wmcc.Overlay(twice.assign(own="oak"), MAP), true="own", pred="map", weight="ref")


def test_sizes_of_strata_make_no_weights_of_pieces():
    with pytest.raises(
        InputTypeError, match=r"`population` does not work with two layers[\s\S]*leave it out, and give"
    ):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, design=wmcc.Strata("zone", population={"n": 1, "s": 1}))
    assert wmcc.tabulate(
        wmcc.Overlay(REFERENCE, MAP), **OVER, weight="area", design=wmcc.Strata("zone")
    ).total == pytest.approx(4)


def test_what_does_not_work_with_polygons():
    with pytest.raises(InputTypeError, match=r"`pred` is missing: the column of the map .* 'map' and 'sheet'"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), true="ref")
    with pytest.raises(InputTypeError, match="`true` is missing"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), pred="map")
    with pytest.raises(InputError, match="no column 'mpa' in the map"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), true="ref", pred="mpa")
    with pytest.raises(InputError, match="no column 'reff' in the reference"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), true="reff", pred="map")
    with pytest.raises(InputTypeError, match="`population` does not work with two layers of polygons"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, design=wmcc.Strata(population=100))
    with pytest.raises(InputTypeError, match="`replicates` does not work"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, weight="w", design=wmcc.Replicates(["w"], "jk1"))
    with pytest.raises(InputTypeError, match="several maps"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, {"A": MAP}), **OVER)
    with pytest.raises(InputTypeError, match="`weight` is a Series; with two layers of polygons"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, weight=REFERENCE["w"])
    with pytest.raises(InputError, match=r"a class is called '\(not covered\)'"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE.replace({"oak": "(not covered)"}), MAP), **OVER)
    with pytest.raises(InputError, match="the map has no polygons"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP[:0]), **OVER)
    with pytest.raises(
        InputTypeError,
        match=r"the map is a DataFrame without geometry; expected polygons \(a GeoDataFrame, or a file\)",
    ):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, pd.DataFrame(MAP.drop(columns="geometry"))), **OVER)
    with pytest.raises(InputError, match="the map has several columns 'map'"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, pd.concat([MAP, MAP[["map"]]], axis=1)), **OVER)
    with pytest.raises(InputTypeError, match="labels are of mixed types: 1 is a number and 'oak' is a string"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP.assign(map=[1, 2])), **OVER)
    with pytest.raises(LabelError, match=r"1 row of the map has no class in the column 'map' .row 1 first"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP.assign(map=["oak", None])), **OVER)
    with pytest.raises(InputError, match="the map holds points; expected polygons"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, frame(shapely.points([[1, 1]]), map=["oak"])), **OVER)


@pytest.mark.parametrize(
    "dtype", ["int8", "uint16", "Int64", "float64", "bool", "category", "object", "string", "boolean"]
)
def test_classes_of_any_type(dtype):
    text = dtype in ("category", "object", "string")
    values = ["a", "b"] if text else [1, 0]
    reference, overlay = REFERENCE.assign(ref=values), MAP.assign(map=values)
    overlay["map"] = overlay["map"].astype(dtype)
    table = wmcc.tabulate(wmcc.Overlay(reference, overlay), **OVER, weight="area")
    assert table.labels == ("a", "b", "(not covered)") if text else (0, 1, "(not covered)")
    assert table.void == ("(not covered)",)


def test_files(tmp_path):
    path = tmp_path / "both.gpkg"
    REFERENCE.to_file(path, layer="reference")
    MAP.to_file(path, layer="map")
    expected = wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, weight="area", by="sheet")
    table = wmcc.tabulate(
        wmcc.Overlay(wmcc.Layer(path, "reference"), wmcc.Layer(path, "map")), **OVER, weight="area", by="sheet"
    )
    assert same(table, expected)
    with pytest.raises(InputError, match="2 layers: 'reference', 'map'"):
        wmcc.tabulate(wmcc.Overlay(wmcc.Layer(path, "reference"), path), **OVER)
    MAP.to_parquet(tmp_path / "map.parquet")
    REFERENCE.to_file(tmp_path / "reference.fgb")
    read = wmcc.tabulate(wmcc.Overlay(tmp_path / "reference.fgb", tmp_path / "map.parquet"), **OVER, weight="area")
    assert np.asarray(read) == pytest.approx(
        np.asarray(wmcc.tabulate(wmcc.Overlay(REFERENCE, MAP), **OVER, weight="area"))
    )


def test_no_polygons_make_an_empty_table():
    assert wmcc.tabulate(wmcc.Overlay(REFERENCE[:0], MAP), **OVER, weight="area").n.sum() == 0


# ---- points --------------------------------------------------------------------------------------------------


def sample(count=300, seed=9):
    """A sample with its design, in a frame, and a map of 50 cells that leaves out some."""
    rng = np.random.default_rng(seed)
    at = rng.uniform(0, 10, (count, 2))
    overlay = frame(cells(50, seed), map=np.array(["oak", "elm", "sea"])[np.arange(50) % 3], code=np.arange(50) % 3)
    points = frame(
        shapely.points(at), ref=rng.choice(["oak", "elm", "sea"], count), s=rng.integers(0, 4, count),
        c=rng.integers(0, 30, count), w=rng.uniform(1, 3, count), r1=rng.uniform(1, 3, count),
        r2=rng.uniform(1, 3, count), half=rng.choice(["x", "y"], count),
    )  # fmt: skip
    return points, overlay


DESIGNS = [
    {}, {"weight": "w"}, {"cluster": "c"}, {"by": "half"}, {"stratum": "s"}, {"population": 5000.0},
    {"stratum": "s", "population": {0: 100.0, 1: 300.0, 2: 250.0, 3: 70.0}},
    {"stratum": "s", "population": {0: 100.0, 1: 300.0, 2: 250.0, 3: 170.0}, "fpc": True, "by": "half"},
    {"stratum": "s", "cluster": "c", "weight": "w"},
    {"poststratum": "half", "totals": {"x": 30.0, "y": 50.0}, "weight": "w"},
    {"weight": "w", "replicates": ["r1", "r2"], "method": "bootstrap"},
    {"weight": "w", "replicates": "r?", "method": "bootstrap"},
]  # fmt: skip


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("covered", [True, False])
def test_a_sample_is_the_same_as_with_a_join_by_hand(design, covered):
    points, overlay = sample()
    overlay = overlay if covered else overlay.iloc[8:]
    joined = gpd.sjoin(points, overlay, how="left", predicate="within").drop(columns="geometry")
    assert joined["map"].isna().any() != covered
    joined["map"] = joined["map"].fillna("(not covered)")
    expected = tabulate(pd.DataFrame(joined), **OVER, **design, ignore=None if covered else "(not covered)")
    table = tabulate(points, overlay=overlay, **OVER, **design)
    assert same(table, expected)
    if "replicates" not in design and "by" not in design:
        assert wmcc.interval(table, "ecc") == wmcc.interval(expected, "ecc")


def test_points_without_a_label_and_points_without_a_class():
    points, overlay = sample()
    points.loc[5, "ref"] = None
    table = wmcc.tabulate(
        wmcc.Overlay(points, overlay.iloc[8:]), **OVER, missing="ignore", design=wmcc.Strata(population=5000.0)
    )
    assert (table.ignored, table.n.sum(), table.void) == (1, 299, ("(not covered)",))
    assert table.total == pytest.approx(5000)


def test_series_of_the_frame_are_columns():
    points, overlay = sample()
    points = points.set_index(points.index[::-1] + 7)
    named = wmcc.tabulate(wmcc.Overlay(points, overlay), **OVER, weight="w")
    assert same(wmcc.tabulate(wmcc.Overlay(points, overlay), **OVER, weight=points["w"]), named)


def test_points_of_tables(tmp_path):
    points, overlay = sample(60)
    points["ref"] = overlay["code"].to_numpy()[points["s"]]
    expected = wmcc.tabulate(wmcc.Overlay(points, overlay), true="ref", pred="code", weight="w")
    plain = pd.DataFrame(points.drop(columns="geometry")).assign(x=points.geometry.x, y=points.geometry.y)
    plain.to_csv(tmp_path / "points.csv", index=False)
    plain.to_parquet(tmp_path / "points.parquet")
    for data in (plain, pl.from_pandas(plain), tmp_path / "points.csv", tmp_path / "points.parquet"):
        table = wmcc.tabulate(
            wmcc.Overlay(wmcc.Layer(data, xy=("x", "y"), crs=PLANE), overlay), true="ref", pred="code", weight="w"
        )
        assert same(table, expected)
    with pytest.raises(InputError, match=r"'x' of the reference has the coordinate .* in row 3"):
        wmcc.tabulate(
            wmcc.Overlay(
                wmcc.Layer(plain.assign(x=plain["x"].where(plain.index != 3)), xy=("x", "y"), crs=PLANE), overlay
            ),
            true="ref",
            pred="code",
        )
    with pytest.raises(InputError, match="no coordinate reference system"):
        wmcc.tabulate(wmcc.Overlay(wmcc.Layer(plain, xy=("x", "y")), overlay), true="ref", pred="code")
    with pytest.raises(InputError, match="covers nothing of") as refused:
        wmcc.tabulate(wmcc.Overlay(wmcc.Layer(plain, xy=("y", "x"), crs=PLANE), overlay), true="ref", pred="code")
    assert "exchanged: x, or longitude, comes first" in refused.value.hint


def test_points_outside():
    points = frame(shapely.points([[0.5, 0.5], [3.5, 0.5]]), ref=["oak", "elm"])
    assert np.asarray(wmcc.tabulate(wmcc.Overlay(points, MAP), **OVER)).tolist() == [[0, 0, 1], [0, 1, 0], [0, 0, 0]]
    with pytest.raises(
        InputError, match=r"the map has no class at 1 point of the reference, 50.0 %; row 1 is the first"
    ):
        wmcc.tabulate(wmcc.Overlay(points, MAP, uncovered="error"), **OVER)
    with pytest.raises(InputError, match=r"the map covers nothing of the reference: .* from \(4325350, 3205050\)"):
        wmcc.tabulate(wmcc.Overlay(points[1:], MAP), **OVER)
    assert wmcc.tabulate(wmcc.Overlay(points[:0], MAP), **OVER).n.sum() == 0


def test_points_on_a_border_belong_to_the_first_polygon():
    points = frame(shapely.points([[1, 0.5], [0.5, 0.5], [1, 1]]), ref=["oak", "oak", "oak"])
    with pytest.warns(
        MapWarning, match=r"^2 points of the reference lie on a border of two polygons of the map, row 0 first"
    ):
        assert np.asarray(wmcc.tabulate(wmcc.Overlay(points, MAP), **OVER))[0, 0] == 3
    with pytest.warns(MapWarning, match=r"^2 points"):
        table = wmcc.tabulate(wmcc.Overlay(points, MAP[::-1]), **OVER)
    assert np.asarray(table)[1].tolist() == [2, 1]
    with pytest.raises(
        InputError, match=r"point in row 1 .* two polygons of the map, rows 0 and 1, and so do 1 other point"
    ):
        wmcc.tabulate(
            wmcc.Overlay(points[:2].iloc[[0, 1, 1]], frame([box(0, 0, 1, 1), box(0, 0, 0.9, 1)], map=["oak", "elm"])),
            **OVER,
        )


def test_a_point_that_comes_twice_counts_twice():
    points = frame(shapely.points([[0.5, 0.5], [0.5, 0.5]]), ref=["oak", "elm"])
    assert wmcc.tabulate(wmcc.Overlay(points, MAP), **OVER).n.sum() == 2


def test_what_does_not_work_with_points():
    points, overlay = sample(20)
    with pytest.raises(InputTypeError, match="`sliver` is for polygons; the reference holds points"):
        wmcc.tabulate(wmcc.Overlay(points, overlay, sliver=0.1), **OVER)
    for area in ("area", wmcc.Area("ha")):
        with pytest.raises(InputTypeError, match="the reference holds points, which have no area"):
            wmcc.tabulate(wmcc.Overlay(points, overlay), **OVER, weight=area)
    points.loc[2, "geometry"] = None
    with pytest.raises(InputError, match="row 2 of the reference has no geometry; expected one point"):
        wmcc.tabulate(wmcc.Overlay(points, overlay), **OVER)


# ---- points on rasters ---------------------------------------------------------------------------------------


def raster(values, nodata=None, crs=PLANE, names=None, transform=None):
    """A raster in memory, of pixels of 100 m, with its lower left corner at the centre."""
    values = np.asarray(values)
    x, y = CENTRE
    grid = transform or rasterio.Affine(100, 0, x, 0, -100, y + 100 * values.shape[0])
    memory = MemoryFile()
    size = {"height": values.shape[0], "width": values.shape[1], "count": 1, "dtype": values.dtype}
    with memory.open(driver="GTiff", crs=crs, transform=grid, nodata=nodata, **size) as file:
        file.write(values, 1)
    return memory


CODES = np.array([[1, 2, 3], [4, 5, 0]], dtype="uint8")


def test_points_on_a_raster():
    points = frame(shapely.points([[0.5, 0.5], [0.5, 1.5], [2.5, 1.5], [2.5, 0.5], [3.5, 0.5]]), ref=[4, 1, 1, 5, 5])
    table = wmcc.tabulate(wmcc.Overlay(points, wmcc.Raster(raster(CODES, nodata=0))), true="ref")
    assert table.labels == (1, 3, 4, 5, "(not covered)")  # outside, and nodata
    assert np.asarray(table)[:, :4].sum() == 3
    assert np.asarray(table)[3, 4] == 2
    assert wmcc.tabulate(wmcc.Overlay(points, wmcc.Raster(raster(CODES))), true="ref").labels == (
        0,
        1,
        3,
        4,
        5,
        "(not covered)",
    )
    with pytest.raises(InputError, match=r"has no class at 2 points of the reference, 40.0 %; row 3"):
        wmcc.tabulate(wmcc.Overlay(points, wmcc.Raster(raster(CODES, nodata=0)), uncovered="error"), true="ref")
    with pytest.raises(InputTypeError, match="is a raster, which has none"):
        wmcc.tabulate(wmcc.Overlay(points, wmcc.Raster(raster(CODES))), true="ref", pred="class")
    with pytest.raises(
        InputError,
        match=r"covers nothing of the reference: .* and the map from \(4325000, 3205000\) to \(4325300, 3205200\)",
    ):
        wmcc.tabulate(wmcc.Overlay(points[4:], wmcc.Raster(raster(CODES))), true="ref")
    with pytest.raises(InputTypeError, match="is a raster, and the reference holds polygons"):
        wmcc.tabulate(wmcc.Overlay(REFERENCE, wmcc.Raster(raster(CODES))), true="ref")


def test_points_on_the_edges_of_pixels():
    at = [[1, 0.5], [0.5, 1], [1, 1], [0, 2], [3, 1.5], [1.5, 0]]
    values, known = at_pixels(layer(shapely.points(at)), wmcc.Raster(raster(CODES)))
    assert values[known].tolist() == [5, 4, 5, 1]  # the pixel to the east, and to the south
    assert known.tolist() == [True, True, True, True, False, False]


def test_points_on_a_raster_are_those_of_rasterio():
    rng = np.random.default_rng(11)
    memory = raster(rng.integers(0, 5, (300, 200), dtype="uint8"))
    at = moved(shapely.points(rng.uniform([0, 0], [200, 300], (500, 2))))
    with memory.open() as file:
        expected = np.array([*file.sample(shapely.get_coordinates(at))])[:, 0]
    points = OpenLayer(pd.DataFrame(index=range(500)), at, pyproj.CRS(PLANE), "points")
    values, known = at_pixels(points, wmcc.Raster(memory))
    assert known.all()
    assert np.array_equal(values, expected)
    degrees = gpd.GeoSeries(at, crs=PLANE).to_crs(4326).to_numpy()
    values, known = at_pixels(points._replace(geometry=degrees, crs=pyproj.CRS(4326)), wmcc.Raster(memory))
    assert np.array_equal(values, expected)


def test_points_all_around_the_earth():
    crs, rows = pyproj.CRS(4326), pd.DataFrame(index=range(4))
    points = OpenLayer(rows, shapely.points([[-90, 0.5], [270, 0.5], [180, 0.5], [0, 0.5]]), crs, "points")
    quarters = np.array([box(k, 0, k + 90, 1) for k in (0, 90, 180, 270)])
    with pytest.warns(MapWarning, match="3 points of points lie on a border"):
        assert at_points(points, OpenLayer(rows, quarters, crs, "the map")).tolist() == [2, 2, 1, 0]
    west = wmcc.Raster(
        raster(np.array([[1, 2, 3, 4]], dtype="uint8"), crs=4326, transform=rasterio.Affine(90, 0, -180.0, 0, -1, 1))
    )
    east = wmcc.Raster(
        raster(np.array([[3, 4, 1, 2]], dtype="uint8"), crs=4326, transform=rasterio.Affine(90, 0, 0.0, 0, -1, 1))
    )
    for own in (west, east):
        values, known = at_pixels(points, own)
        assert known.all()
        assert values.tolist() == [2, 2, 1, 3]


def test_a_sample_on_a_raster_with_its_design():
    rng = np.random.default_rng(12)
    codes = rng.integers(1, 4, (10, 10), dtype="uint8")
    points, _ = sample()
    points["ref"] = rng.integers(1, 4, len(points))
    x, y = (points.geometry.x - CENTRE[0]) / 100, (points.geometry.y - CENTRE[1]) / 100
    by_hand = pd.DataFrame(points.drop(columns="geometry")).assign(map=codes[9 - y.astype(int), x.astype(int)])
    for design in DESIGNS:
        table = tabulate(points, overlay=wmcc.Raster(raster(codes)), true="ref", **design)
        assert same(table, tabulate(by_hand, **OVER, **design))


def test_several_maps_of_points():
    points, overlay = sample(100)
    points["ref"] = points["s"]
    codes = np.random.default_rng(13).integers(0, 4, (8, 10), dtype="uint8")
    grid = wmcc.Raster(raster(codes), name="grid")
    both = wmcc.tabulate(wmcc.Overlay(points, {"A": overlay, "B": grid}), true="ref", pred={"A": "code"}, weight="w")
    assert same(both["B"], wmcc.tabulate(wmcc.Overlay(points, grid), true="ref", weight="w"))
    assert np.array_equal(
        both["A"].n[:4, :3], wmcc.tabulate(wmcc.Overlay(points, overlay), true="ref", pred="code").n[:4, :3]
    )
    assert both.void == ("(not covered)",)
    two = wmcc.tabulate(wmcc.Overlay(points, {"A": overlay, "B": overlay[::-1]}), true="ref", pred="code")
    assert np.array_equal(two["A"].n, two["B"].n)
    with pytest.raises(InputError, match="`pred` has a column for 'C', and there is no such map; there are 'A'"):
        wmcc.tabulate(wmcc.Overlay(points, {"A": overlay, "B": grid}), true="ref", pred={"C": "code"})


def test_a_column_of_several_maps_is_ambiguous():
    """Which map has the strata would be decided by the order of the maps, and change the weights."""
    points = frame(shapely.points([[0.5, 0.5], [0.5, 1.5], [1.5, 0.5], [2.5, 1.5]]), ref=[4, 1, 5, 1])
    one, other = (wmcc.Raster(raster(x)) for x in (CODES, CODES[:, ::-1]))
    sizes = {1: 10.0, 3: 20.0, 4: 30.0, 5: 40.0}
    with pytest.raises(
        InputError, match=r"^'class', given as `stratum`, is a column of several maps: 'A' and 'B'; the reference"
    ) as e:
        wmcc.tabulate(
            wmcc.Overlay(points, {"A": one, "B": other}), true="ref", design=wmcc.Strata("class", population=sizes)
        )
    assert e.value.argument == "stratum"
    with pytest.raises(InputError, match=r"^'class', given as `by`, is a column of several maps"):
        wmcc.tabulate(wmcc.Overlay(points, {"A": one, "B": other}), true="ref", by=["class"])
    points["class"] = [4, 1, 5, 3]  # those of A, as the hint says
    joint = wmcc.tabulate(
        wmcc.Overlay(points, {"A": one, "B": other}), true="ref", design=wmcc.Strata("class", population=sizes)
    )
    assert joint["A"].total == joint["B"].total == 100
    assert joint["A"].drawn.design.strata == (1, 3, 4, 5)


def test_columns_of_one_map_are_not_ambiguous():
    points, overlay = sample(100)
    points["ref"] = points["s"]
    two = {"A": "code", "B": "map code"}
    one = overlay.rename(columns={"map": "kind"}).assign(**{"map code": overlay["code"]})
    assert wmcc.tabulate(wmcc.Overlay(points, one), true="ref", pred=two, by="kind").groups == ("elm", "oak", "sea")
    other = overlay.rename(columns={"map": "kind"})
    table = wmcc.tabulate(wmcc.Overlay(points, {"A": overlay, "B": other}), true="ref", pred="code", by="kind")
    assert table.groups == ("elm", "oak", "sea")


@pytest.mark.parametrize("column", [lambda x: "ref", lambda x: x["ref"], lambda x: nw.col("ref")])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float64", "Int64", "object"])
def test_no_label_stands_for_what_a_map_does_not_cover(dtype, column):
    low = -(1 << 31)
    points = frame(shapely.points([[0.5, 0.5], [1.5, 0.5], [3.5, 0.5]]), ref=[low, low + 1, low])
    points["ref"] = points["ref"].astype(dtype)
    points.index = [7, 5, 6]
    over = {**OVER, "true": column(points)}
    table = wmcc.tabulate(wmcc.Overlay(points, MAP.assign(map=[low, low - 1])), **over)
    assert (table.labels, table.void, table.ignored) == (
        (low - 1, low, low + 1, "(not covered)"),
        ("(not covered)",),
        0,
    )
    assert table.n.tolist() == [[0, 0, 0, 0], [0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]]


def test_names_of_classes_of_a_raster():
    points = frame(shapely.points([[0.5, 0.5], [0.5, 1.5]]), ref=["elm", "oak"])
    named = replace(wmcc.Raster(raster(CODES), name="cover"), names={4: "elm", 1: "oak"})
    assert wmcc.tabulate(wmcc.Overlay(points, named), true="ref").labels == ("elm", "oak")
    with pytest.raises(InputError, match="cover has names of classes, but none for 1, which it has at 1 point"):
        wmcc.tabulate(wmcc.Overlay(points, replace(named, names={4: "elm"})), true="ref")
    numbers = points.assign(ref=[4, 1])
    assert wmcc.tabulate(wmcc.Overlay(numbers, named), true="ref").labels == (1, 4)


def test_rows_of_polygons_at_points():
    found = at_points(layer(shapely.points([[0.5, 0.5], [9, 9], [1.5, 0.5]])), layer(strips(0, 1, 2)))
    assert found.tolist() == [0, -1, 1]
