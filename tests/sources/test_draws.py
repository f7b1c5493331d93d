"""Places that are drawn: chances of units of unequal sizes, and distances."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.errors import InputError, MapWarning
from wmcc.sources.draws import Apart, PixelSource, check_chances, in_space, intensities
from wmcc.sources.map_classes import PixelClasses


def classes(counts, pixel):
    rows = np.arange(len(counts))
    return PixelClasses(None, (1,), rows, np.zeros(len(counts), dtype=int), np.array(counts), np.array(pixel, float))


@pytest.mark.parametrize(("counts", "pixel", "n"), [([12, 12], [1, 3], 12), ([6, 4, 10], [1, 2, 5], 8)])
def test_half_of_all_units_have_chances_in_proportion_to_their_sizes(counts, pixel, n):
    """Drawn one after the other by their size, units that are large would have less than that: 69 % for 75 %."""
    own = classes(counts, pixel)
    runs, met = 3000, np.zeros(len(counts))
    for seed in range(runs):
        drawn = PixelSource(own, own.rows, n, "x", np.random.default_rng(seed)).draw(n)
        assert len(np.unique(drawn, axis=0)) == n
        met += np.bincount(drawn[:, 0], minlength=len(counts))
    chances = n * own.pixel / (own.counts * own.pixel).sum()
    assert met / runs / own.counts == pytest.approx(chances, abs=0.012)


@given(counts=st.lists(st.integers(1, 5), min_size=1, max_size=6), data=st.data())
def test_all_of_equal_units_can_be_drawn(counts, data):
    own = classes(counts, [2.5] * len(counts))
    n = data.draw(st.integers(0, sum(counts)))
    source = PixelSource(own, own.rows, n, "x", np.random.default_rng(0))
    both = np.concatenate([source.draw(n), source.draw(sum(counts))])  # all the rest
    assert sorted(map(tuple, both.tolist())) == [(row, 0, k) for row, own in enumerate(counts) for k in range(own)]
    assert intensities(n, own.counts, own.pixel).tolist() == [1.0] * len(counts)


def test_what_no_chances_can_be_is_refused():
    check_chances(3, np.array([2, 2]), np.array([1.0, 2.0]), "x")  # the larger ones have a chance of 1
    with pytest.raises(InputError, match="4 for x, which has 4, of unequal areas; at most 3 can be drawn"):
        check_chances(4, np.array([2, 2]), np.array([1.0, 2.0]), "x")


@given(seed=st.integers(0, 999), metres=st.floats(1, 40))
def test_distances_are_kept(seed, metres):
    """What is taken is far enough from all that was taken before, and what is not, is not."""
    places = np.random.default_rng(seed).uniform(-50, 50, (60, 3))
    apart, taken = Apart(metres), []
    for place in map(tuple, places.tolist()):
        far = all(np.linalg.norm(np.subtract(place, other)) >= metres for other in taken)
        assert apart.accepts(place) == far
        taken += [place] * far


def test_places_in_space_are_as_far_apart_as_on_the_ground():
    import pyproj

    lon, lat = np.array([10.0, 10.01]), np.array([60.0, 60.002])
    ground = pyproj.Geod(ellps="WGS84").inv(lon[0], lat[0], lon[1], lat[1])[2]
    assert np.linalg.norm(np.diff(in_space(lon, lat), axis=0)) == pytest.approx(ground, rel=1e-6)


def test_other_strata_than_those_of_the_points_are_noted(tmp_path):
    frame = pd.DataFrame({"reference": [1, 2] * 6, "map_class": [1] * 6 + [2] * 6, "region": ["a", "b", "b"] * 4})
    frame = frame.assign(drawn_from=frame.map_class, drawn_size=100.0)
    own = wmcc.tabulate(frame, true="reference", pred="map_class")
    named = wmcc.Strata("drawn_from", population={1: 100.0, 2: 100.0})
    assert wmcc.tabulate(frame, true="reference", pred="map_class", design=named) == own
    with pytest.warns(MapWarning, match=r"drawn in the strata of 'drawn_from'[\s\S]*'region', are taken instead"):
        wmcc.tabulate(frame, true="reference", pred="map_class", design=wmcc.Strata("region"))
