"""Areas of polygons and pixels, against pyproj and against the closed form of zones."""

import re
import warnings

import numpy as np
import pyproj
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from wmcc.errors import InputError, MapWarning
from wmcc.geo.areas import METRES, Ellipsoid, pixel_row_areas, plane_areas, polygon_areas

NOISE = 2e-4
"""Square metres by which areas of pyproj may be off, whatever the size of the polygon."""


def by_pyproj(polygon, crs="EPSG:4326"):
    """The geodesic area in square metres: of each ring, whichever way it runs."""
    geod = pyproj.CRS(crs).get_geod()
    parts = shapely.get_parts(polygon)
    rings = [(part.exterior, part.interiors) for part in parts]
    size = lambda ring: abs(geod.geometry_area_perimeter(shapely.Polygon(ring))[0])  # noqa: E731
    return sum(size(shell) - sum(map(size, holes)) for shell, holes in rings)


def zone(south, north, crs="EPSG:4326"):
    """Area between two parallels all around, by the closed form, with latitudes in degrees."""
    a, b = (getattr(pyproj.CRS(crs).ellipsoid, f"semi_{x}_metre") for x in ("major", "minor"))
    e = np.sqrt(1 - (b / a) ** 2)
    sines = np.sin(np.radians([south, north]))
    below, above = np.pi * b * b * (sines / (1 - (e * sines) ** 2) + np.arctanh(e * sines) / e)
    return above - below


def star(lon, lat, size, radii, clockwise=False):
    """A polygon around a place; size in degrees of latitude."""
    angle = np.linspace(0, 2 * np.pi, len(radii), endpoint=False)
    x = lon + size * np.array(radii) * np.cos(angle) / np.cos(np.radians(lat))
    y = lat + size * np.array(radii) * np.sin(angle)
    points = np.column_stack([x, y])
    return shapely.Polygon(points[::-1] if clockwise else points)


stars = st.builds(
    star,
    lon=st.floats(-179, 179),
    lat=st.floats(-80, 80),
    size=st.sampled_from([0.002, 0.01, 0.05, 0.5, 3]),
    radii=st.lists(st.floats(0.3, 1), min_size=3, max_size=9),
    clockwise=st.booleans(),
)


@given(st.lists(stars, min_size=1, max_size=6), st.sampled_from(["EPSG:4326", "EPSG:4267", "EPSG:4269"]))
def test_geodesic_areas_are_those_of_pyproj(polygons, crs):
    expected = [by_pyproj(polygon, crs) for polygon in polygons]
    np.testing.assert_allclose(polygon_areas(polygons, crs, unit="m2"), expected, rtol=1e-9, atol=NOISE)


@pytest.mark.parametrize("lat", [0, 20, 40, 60, 80, -50])
def test_holes_and_parts_whichever_way_their_rings_run(lat):
    shell, hole = star(9, lat, 0.01, [1] * 8), star(9, lat, 0.004, [1] * 6)
    away = star(10, lat, 0.01, [1, 0.7] * 4, clockwise=True)
    punched = [
        shapely.Polygon(s.exterior.coords[::i], [hole.exterior.coords[::j]])
        for s in [shell]
        for i in (1, -1)
        for j in (1, -1)
    ]
    several = shapely.MultiPolygon([punched[0], away])
    found = polygon_areas([*punched, several, away, shell], "EPSG:4326", "m2")
    np.testing.assert_allclose(found[:4], by_pyproj(shell) - by_pyproj(hole), rtol=1e-9)
    assert found[4] == pytest.approx(found[0] + found[5], rel=1e-14)
    assert found[6] == pytest.approx(by_pyproj(shell), rel=1e-9)


@pytest.mark.parametrize("size", [2e-5, 1e-4])
def test_small_polygons_where_pyproj_is_coarse(size):
    """A few metres: pyproj is off by 1e-4 m² or so, a projection around the place is not."""
    polygon = star(9, 60, size, [1, 0.5, 0.8, 0.6, 0.9])
    laea = pyproj.CRS("+proj=laea +lat_0=60 +lon_0=9 +ellps=WGS84")
    onto = pyproj.Transformer.from_crs("EPSG:4326", laea, always_xy=True)
    flat = shapely.transform(polygon, lambda xy: np.column_stack(onto.transform(*xy.T)))
    assert polygon_areas([polygon], "EPSG:4326", unit="m2")[0] == pytest.approx(flat.area, rel=1e-8)


PLACES = {
    "EPSG:32632": (9.3, 48), "EPSG:3035": (12, 50), "EPSG:3857": (9, 60), "EPSG:6933": (20, 30),
    "EPSG:2263": (-74, 40.7),  # feet
    "EPSG:2193": (172, -41), "EPSG:31467": (9.3, 48),  # northing comes first in their definitions
    "EPSG:2048": (17.2, -30),  # westing and southing
    "EPSG:7415": (5.3, 52.1),  # with heights
    "EPSG:5070": (-96, 40), "ESRI:54009": (20, 40), "EPSG:3995": (30, 80), "EPSG:4979": (9, 48),
}  # fmt: skip


@pytest.mark.parametrize("crs", PLACES)
def test_projected_coordinates(crs):
    polygon = star(*PLACES[crs], 0.004, [1, 0.8, 0.6, 0.9, 0.7])
    geodetic = pyproj.CRS(crs).geodetic_crs.to_2d()
    onto = pyproj.Transformer.from_crs(geodetic, crs, always_xy=True)
    there = shapely.transform(polygon, lambda xy: np.column_stack(onto.transform(*xy.T)[:2]))
    expected = by_pyproj(polygon, geodetic)
    assert polygon_areas([there], crs, unit="m2")[0] == pytest.approx(expected, rel=1e-9, abs=NOISE)


def test_grads_and_other_poles():
    """NTF (Paris) has grads; a rotated pole has latitudes that are not those of the ellipsoid."""
    polygon = star(2, 48, 0.004, [1, 0.8, 0.6, 0.9])
    grads = shapely.transform(polygon, lambda xy: xy / 0.9)
    expected = by_pyproj(polygon, "EPSG:4807")
    assert polygon_areas([grads], "EPSG:4807", unit="m2")[0] == pytest.approx(expected, rel=1e-9, abs=NOISE)
    onto = pyproj.Transformer.from_crs("EPSG:4807", "EPSG:27572", always_xy=True)
    there = shapely.transform(grads, lambda xy: np.column_stack(onto.transform(*xy.T)))
    assert polygon_areas([there], "EPSG:27572", unit="m2")[0] == pytest.approx(expected, rel=1e-9, abs=NOISE)
    rotated = pyproj.CRS("+proj=ob_tran +o_proj=longlat +o_lon_p=0 +o_lat_p=39.25 +lon_0=18 +ellps=WGS84")
    onto = pyproj.Transformer.from_crs("EPSG:4326", rotated, always_xy=True)
    there = shapely.transform(
        star(18, 50, 0.004, [1, 0.8, 0.6, 0.9]), lambda xy: np.column_stack(onto.transform(*xy.T))
    )
    expected = by_pyproj(star(18, 50, 0.004, [1, 0.8, 0.6, 0.9]))
    assert polygon_areas([there], rotated, unit="m2")[0] == pytest.approx(expected, rel=1e-9, abs=NOISE)


def test_units_and_words():
    polygon = shapely.box(9, 45, 9.1, 45.1)
    ha, km2, m2 = (polygon_areas([polygon], 4326, unit=unit)[0] for unit in ("ha", "km2", "m2"))
    assert (ha * METRES["ha"], km2 * METRES["km2"]) == pytest.approx((m2, m2), rel=1e-15)
    assert round(km2, 2) == 87.55  # not 0.01 square degrees


def test_what_is_no_polygon_has_no_area():
    found = polygon_areas([None, shapely.Polygon(), shapely.Point(1, 2), shapely.LineString([(0, 0), (1, 1)])], 4326)
    assert found.tolist() == [0, 0, 0, 0]
    assert polygon_areas([], 4326).shape == (0,)
    assert polygon_areas([shapely.box(0, 0, 1, 1)], "+proj=longlat +R=6371000")[0] > 0  # a sphere


# ---- around the earth ----------------------------------------------------------------------------------


def belt(west, east, south, north, n=720):
    """A polygon between two parallels, with many vertices."""
    lon = np.linspace(west, east, n + 1)
    return shapely.Polygon(np.r_[np.c_[lon, np.full(n + 1, south)], np.c_[lon[::-1], np.full(n + 1, north)]])


def test_over_the_antimeridian():
    jumping = shapely.Polygon([(179, 50), (-179, 50), (-179, 51), (179, 51)])
    with pytest.warns(MapWarning, match=r"the polygon of row 1 has edges through more than 180°.*shorter"):
        found = polygon_areas([shapely.box(0, 0, 1, 1), jumping], 4326)
    beyond = shapely.box(179, 50, 181, 51)
    assert found[1] == pytest.approx(polygon_areas([beyond], 4326)[0], rel=1e-12)
    assert found[1] * 1e4 == pytest.approx(by_pyproj(jumping), rel=1e-12)


@pytest.mark.parametrize("crs", ["EPSG:3031", "EPSG:3413"])
def test_around_a_pole_in_a_polar_projection(crs):
    south = crs == "EPSG:3031"
    onto = pyproj.Transformer.from_crs("EPSG:4326", crs, always_xy=True)
    lon = np.linspace(-180, 180, 7200, endpoint=False)
    ring = np.column_stack(onto.transform(lon, np.full(7200, -70.0 if south else 70.0)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no edge of it is long
        found = polygon_areas([shapely.Polygon(ring)], crs, "m2")[0]
    assert found == pytest.approx(zone(70, 90), rel=1e-6)


@pytest.mark.parametrize(
    ("polygon", "expected"),
    [
        (belt(-180, 180, 60, 90), zone(60, 90)),
        (shapely.Polygon([*[(x, -70) for x in range(-180, 181)], (180, -90), (-180, -90)]), zone(70, 90)),
        (shapely.Polygon([(0, 0), (90, 0), (45, 90)]), zone(-90, 90) / 8),
        (belt(-100, 100, -80, 80), zone(-80, 80) * 200 / 360),
        (belt(-180, 180, -60, 90), zone(-60, 90)),
        (belt(-180, 180, -90, 90), zone(-90, 90)),
    ],
    ids=["to the pole", "Antarctica", "an octant", "more than a hemisphere", "nearly all", "all"],
)
def test_poles_and_halves_of_the_earth(polygon, expected):
    assert polygon_areas([polygon], 4326, unit="m2")[0] == pytest.approx(expected, rel=5e-5)
    with pytest.raises(InputError, match=r"row 0 is too large for a projection[\s\S]*cut it"):
        plane_areas([polygon], 4326)


@pytest.mark.parametrize("box", [(-180, -90, 180, 90), (-180, 60, 180, 90), (-180, 0, 180, 10), (0, 0, 360, 10)])
def test_an_edge_all_around_is_refused(box):
    with pytest.raises(InputError, match=r"row 1 has an edge through all 360°[\s\S]*segmentize\(1\)"):
        polygon_areas([shapely.box(0, 0, 1, 1), shapely.box(*box)], 4326)
    dense = shapely.segmentize(shapely.box(*box), 1)  # as the hint says
    assert polygon_areas([dense], 4326, unit="m2")[0] == pytest.approx(zone(box[1], box[3]), rel=1e-4)


# ---- what cannot be measured ---------------------------------------------------------------------------


@pytest.mark.parametrize("crs", ["EPSG:4978", "EPSG:5703", 'LOCAL_CS["site",UNIT["m",1]]'])
def test_a_crs_without_a_place_on_earth(crs):
    with pytest.raises(InputError, match=r"does not say where on earth[\s\S]*weights of your own") as caught:
        polygon_areas([shapely.box(0, 0, 1, 1)], crs)
    assert caught.value.argument == "crs"


def test_coordinates_that_are_no_place():
    with pytest.raises(InputError, match=r"row 1 has the coordinates .*outside of what EPSG:3035"):
        polygon_areas([shapely.box(4e6, 3e6, 4.1e6, 3.1e6), shapely.box(9e7, 9e7, 9.1e7, 9.1e7)], 3035)


# ---- pixels --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("crs", "whole"), [("EPSG:4326", 360), ("EPSG:4267", 360), ("OGC:CRS84", 360), ("EPSG:4807", 400)]
)
def test_rows_of_pixels_sum_to_the_zones(crs, whole):
    side = whole / 3600
    rows = pixel_row_areas(crs, (side, 0, -whole / 2, 0, -side, whole / 4), (1800, 3600), "m2")
    assert rows.shape == (1800, 1)
    assert rows.sum() * 3600 == pytest.approx(zone(-90, 90, crs), rel=1e-12)
    assert rows[:300].sum() * 3600 == pytest.approx(zone(60, 90, crs), rel=1e-12)
    upwards = pixel_row_areas(crs, (side, 0, -whole / 2, 0, side, -whole / 4), (1800, 3600), "m2")
    np.testing.assert_allclose(upwards[::-1], rows, rtol=1e-12)


def test_small_pixels_of_degrees_sum_to_the_zone():
    rows = pixel_row_areas("EPSG:4326", (1e-4, 0, 9, 0, -1e-4, 51), (30_000, 10), "ha")
    assert rows.sum() * 3_600_000 * 1e4 == pytest.approx(zone(48, 51), rel=1e-12)


def test_pixels_that_are_centred_on_the_poles():
    rows = pixel_row_areas("EPSG:4326", (0.25, 0, -0.125, 0, -0.25, 90.125), (721, 1440), "m2")
    assert rows.sum() * 1440 == pytest.approx(zone(-90, 90), rel=1e-12)
    with pytest.raises(InputError, match=r"rows of the raster reach from 120 to -80 in latitude"):
        pixel_row_areas("EPSG:4326", (1, 0, 0, 0, -1, 120), (200, 10))


def test_pixels_of_mercator_have_the_areas_of_the_ellipsoid():
    """Web Mercator at 60° shows four times the area; the rows are zones of the ellipsoid."""
    rows = pixel_row_areas("EPSG:3857", (1000, 0, 0, 0, -1000, 8.4e6), (100, 50), "m2")
    lat = [pyproj.Transformer.from_crs(3857, 4326, always_xy=True).transform(0, y)[1] for y in (8.4e6, 8.3e6)]
    wide = pyproj.Transformer.from_crs(3857, 4326, always_xy=True).transform(50_000, 0)[0] / 360
    assert rows.shape == (100, 1)
    assert rows.sum() * 50 == pytest.approx(zone(lat[1], lat[0]) * wide, rel=1e-11)
    assert 0.2 < rows[0, 0] / 1e6 < 0.27


@pytest.mark.parametrize("crs", ["EPSG:3035", "EPSG:5070", "EPSG:6933"])
def test_pixels_of_an_equal_area_crs_are_equal(crs):
    x, y = pyproj.Transformer.from_crs(4326, crs, always_xy=True).transform(
        *{"EPSG:5070": (-96, 40)}.get(crs, (12, 50))
    )
    rows = pixel_row_areas(crs, (100, 0, x, 0, -100, y), (2000, 2000), "m2")
    assert rows.shape == (1, 1)
    assert rows[0, 0] == pytest.approx(1e4, rel=1e-8)


def test_pixels_of_utm_and_of_feet():
    rows = pixel_row_areas("EPSG:32632", (10, 0, 3e5, 0, -10, 5.5e6), (50, 10_980), "m2")
    x = 3e5 + 10 * np.linspace(0, 10_979, 50).round()
    pixels = polygon_areas(shapely.box(x, 5.5e6 - 10, x + 10, 5.5e6), "EPSG:32632", unit="m2")
    assert rows[0, 0] == pytest.approx(pixels.mean(), rel=1e-5)
    assert np.abs(pixels / rows[0, 0] - 1).max() < 1e-3
    feet = pixel_row_areas("EPSG:2263", (100, 0, 9.8e5, 0, -100, 2e5), (50, 50), "m2")
    assert feet[0, 0] == pytest.approx(1e4 * 0.3048**2, rel=1e-4)


def test_maps_of_the_world_have_corners_that_are_no_place():
    """Mollweide's formula is one of the sphere: its pixels are not equal on the ellipsoid, by up to 0.7 %."""
    rows = pixel_row_areas("ESRI:54009", (1e5, 0, -18.1e6, 0, -1e5, 9.1e6), (182, 362), "km2")
    assert rows.shape == (182, 1)
    assert 0.993 < rows.min() / 1e4 < rows.max() / 1e4 < 1.007
    with pytest.raises(InputError, match=r"no pixel of the raster is in a place that ESRI:54009"):
        pixel_row_areas("ESRI:54009", (1e5, 0, 9e7, 0, -1e5, 9e7), (10, 10))


def test_pixels_beyond_the_border_of_the_world_do_not_count():
    """The sinusoidal projection is equal-area, but beyond its border it shows places a second time."""
    radius = 6371007.181
    side = np.pi * radius / 180
    grid = (side, 0, -180 * side, 0, -side, 90 * side)
    rows = pixel_row_areas(f"+proj=sinu +R={radius} +units=m", grid, (180, 360), "m2")
    np.testing.assert_allclose(np.broadcast_to(rows, (180, 1)), side**2, rtol=2e-4)


@pytest.mark.parametrize("crs", ["EPSG:32632", "EPSG:3857", "EPSG:4326"])
@pytest.mark.parametrize("shape", [(0, 5), (5, 0)])
def test_no_pixels(crs, shape):
    assert pixel_row_areas(crs, (1, 0, 9, 0, -1, 50), shape).shape == (shape[0], 1)


def test_pixels_of_a_row_that_differ():
    with pytest.warns(MapWarning, match=r"up to 0\.\d % too large or too small.*EPSG:3347.*equal-area CRS"):
        pixel_row_areas("EPSG:3347", (1000, 0, 5e6, 0, -1000, 2e6), (20, 2000))
    with pytest.raises(InputError, match=r"up to \d+\.\d % larger or smaller[\s\S]*EPSG:3031[\s\S]*gdalwarp -r near"):
        pixel_row_areas("EPSG:3031", (1000, 0, -3e6, 0, -1000, 1e6), (20, 6000))


def test_a_rotated_raster_is_refused():
    with pytest.raises(InputError, match=r"rotated or skewed: its transform is \(1, 0\.1, 0, 0\.1, -1, 0\)"):
        pixel_row_areas("EPSG:3035", (1, 0.1, 0, 0.1, -1, 0), (10, 10))


def test_the_series_and_the_closed_form_agree():
    """Near latitudes go through a series, far ones through artanh: zones add up across the two."""
    ellipsoid = Ellipsoid.of(pyproj.CRS("EPSG:4326"))
    lat = np.radians(np.linspace(-90, 90, 100_001))
    small, whole = ellipsoid.zone(lat[:-1], lat[1:]), ellipsoid.zone(lat[0], lat[-1])
    assert small.sum() == pytest.approx(float(whole), rel=1e-14)
    assert float(whole) * 2 * np.pi == pytest.approx(zone(-90, 90), rel=1e-15)


@pytest.mark.parametrize("side", [1e-3, 0.01, 0.1])
def test_edges_that_are_straight_in_degrees_are_parallels(side):
    """So boxes have the areas of pixels, and parts of them add up."""
    boxes = [shapely.box(9, lat, 9 + side, lat + side) for lat in (0, 45, 80)]
    pixels = [pixel_row_areas(4326, (side, 0, 9, 0, -side, box.bounds[3]), (1, 1))[0, 0] for box in boxes]
    assert plane_areas(boxes, 4326) == pytest.approx(pixels, rel=1e-8)
    halves = [shapely.clip_by_rect(box, 9, box.bounds[1], 9 + side / 3, 90) for box in boxes]
    assert plane_areas(halves, 4326) == pytest.approx(np.array(pixels) / 3, rel=1e-8)


METHOD = r'METHOD\["Lambert Azimuthal Equal Area",\s*ID\["EPSG",9820\]\]'
ON_A_SPHERE = re.sub(
    METHOD, 'METHOD["Lambert Azimuthal Equal Area (Spherical)",ID["EPSG",1027]]', pyproj.CRS(3035).to_wkt()
)
"""A system on an ellipsoid whose plane has the areas of a sphere."""


@pytest.mark.parametrize("crs", [3035, 6933, 8857, 5070, 2964, 3408, 2163, 32632, ON_A_SPHERE])
def test_planes_that_keep_areas_of_the_ellipsoid_and_those_of_a_sphere(crs):
    crs = pyproj.CRS(crs)
    west, south, east, north = crs.area_of_use.bounds
    to_plane = pyproj.Transformer.from_crs(crs.geodetic_crs, crs, always_xy=True)
    x, y = to_plane.transform(0.6 * west + 0.4 * east, 0.6 * south + 0.4 * north)
    parcel = [shapely.box(x, y, x + 500, y + 300)]
    assert plane_areas(parcel, crs, "m2") == pytest.approx(polygon_areas(parcel, crs, unit="m2"), rel=1e-8)
