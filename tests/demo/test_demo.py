"""The demo shows what it says, on a map that is one."""

import sys

import numpy as np
import pytest
from helpers import few
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT

import wmcc
from wmcc.demo import make_map, story

sys.path.append(str(ROOT / "benchmarks"))  # last: files there may be called as those here

from parcels import parcels, tile

pytestmark = pytest.mark.slow

sizes = st.lists(st.floats(0.01, 1e4), min_size=1, max_size=40)
seeds = st.integers(0, 2**32)


def test_the_classifiers_tie_unweighted_and_not_weighted(tmp_path):
    data = make_map()
    a, b = data.careless_with_small, data.careless_with_large
    assert wmcc.tabulate(data.truth, a) == wmcc.tabulate(data.truth, b)
    assert wmcc.mcc(data.truth, a, sample_weight=data.area) > wmcc.mcc(data.truth, b, sample_weight=data.area) + 0.3
    *said, last = story(str(tmp_path / "demo.html")).splitlines()
    assert "Classifier A           0.5711                 0.8056            399           8.5 %" in said
    assert any(line.startswith("A 0.8056  B 0.2879") and line.endswith("< 0.0001") for line in said)
    assert "A scores higher than B." in said
    assert last == f"The report on both, to be opened in a browser: {tmp_path / 'demo.html'}"
    assert "A beats B, 0.8056 against 0.2879 in MCC" in (tmp_path / "demo.html").read_text()


def test_the_scores_of_the_demo_have_no_warning():
    land = make_map()
    for said in (land.careless_with_small, land.careless_with_large):
        score = wmcc.score(wmcc.tabulate(land.truth, said, land.area))
        assert not [str(x) for x in score.intervals.values() if not x.reliable]
        assert not [str(x) for own in score.class_intervals.values() for x in own if not x.reliable]


def turns(corners):
    """Twice the areas of the triangles of three corners in a row; not below 0 if convex and counterclockwise."""
    before, after = corners - np.roll(corners, 1, axis=0), np.roll(corners, -1, axis=0) - corners
    return before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]


def hectares(corners):
    x, y = (corners - corners[0]).T
    return (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2


def inside(corners, points, slack):
    """Which points lie in a convex polygon; those within the slack of its boundary count as inside if it is > 0."""
    edge = np.roll(corners, -1, axis=0) - corners
    length = np.hypot(*edge.T)
    across = edge[:, 0] * (points[:, 1, None] - corners[:, 1]) - edge[:, 1] * (points[:, 0, None] - corners[:, 0])
    return (across[:, length > 0] >= -slack * length[length > 0]).all(axis=1)


@few(40)
@given(sizes, seeds, st.floats(0.3, 3.0))
def test_tiles_have_their_areas_and_cover_the_rectangle_once(sizes, seed, ratio):
    tiles = tile(sizes, np.random.default_rng(seed), ratio)
    np.testing.assert_allclose([hectares(corners) for corners in tiles], sizes, rtol=1e-9)
    scale = np.sqrt(sum(sizes))
    for corners in tiles:
        assert turns(corners).min() >= -1e-9 * scale
    low, high = (np.array([f(c, axis=0) for c in tiles]) for f in (np.min, np.max))
    width, height = np.sqrt(sum(sizes) * ratio), np.sqrt(sum(sizes) / ratio)
    np.testing.assert_allclose([*low.min(axis=0), *high.max(axis=0)], [0, 0, width, height], atol=1e-9 * scale)
    points = np.random.default_rng(0).random((100, 2)) * [width, height]
    owners = [sum(inside(corners, points, slack) for corners in tiles) for slack in (1e-9 * scale, -1e-9 * scale)]
    assert (owners[0] >= 1).all()
    assert (owners[1] <= 1).all()


def test_parcels_without_area_have_no_corners():
    assert [len(corners) for corners in tile([0.0, 2.0, 0.0], np.random.default_rng(0))] == [0, 4, 0]
    assert tile([], np.random.default_rng(0)) == []
    assert [len(corners) for corners in tile([0.0], np.random.default_rng(0))] == [0]


def test_a_map_has_the_areas_it_is_weighted_by():
    land, again, other = make_map(400), make_map(400), make_map(400, seed=1)
    polygons = parcels(land)
    np.testing.assert_allclose([hectares(corners) for corners in polygons], land.area, rtol=1e-9)
    assert all(np.array_equal(a, b) for a, b in zip(polygons, parcels(again), strict=True))
    assert not np.array_equal(polygons[0], parcels(other)[0])


@pytest.mark.parametrize("seed", [2026, 1])
def test_classes_lie_together(seed):
    land = make_map(600, seed=seed)
    middle = np.array([corners.mean(axis=0) for corners in parcels(land)])
    apart = np.hypot(*(middle[:, None] - middle).T)
    np.fill_diagonal(apart, np.inf)
    alike = np.mean(land.truth[apart.argmin(axis=1)] == land.truth)
    by_chance = np.mean(land.truth[:, None] == land.truth)
    assert alike > by_chance + 0.15
