"""The study of drawn samples in docs/understand/coverage.md, in small: intervals hold the truth of their own maps."""

import re
import sys

import numpy as np
import pytest
from paths import ROOT

import wmcc

sys.path.append(str(ROOT / "benchmarks"))  # last: files there may be called as those here

from coverage_study import drawn

pytestmark = pytest.mark.slow
PAGE = (ROOT / "docs/understand/coverage.md").read_text()


@pytest.mark.parametrize("way", drawn.WAYS)
def test_intervals_hold_the_truth(way):
    """Of 10 maps and 5 scores; fewer than 38 intervals of 50 would be very bad luck."""
    import geopandas  # noqa: F401
    import rasterio  # noqa: F401

    found = drawn.simulate(drawn.Setting(way, 0), 10 * drawn.PARTS)
    assert {own.runs for own in found} == {10}
    assert sum(own.covered for own in found) >= 38
    assert all(abs(own.error / own.runs) < 0.25 for own in found)


def test_maps_are_what_the_page_says():
    truth, seen = drawn.make_map(np.random.default_rng(0))
    assert np.bincount(truth.ravel())[1:].tolist() == [24_000, 12_000, 4_000]
    assert 0.75 < (truth == seen).mean() < 0.97
    assert wmcc.ecc(truth.ravel(), seen.ravel()) > 0.5


def test_the_page_has_the_coverage():
    section = PAGE.partition("<!-- drawn -->")[2].partition("<!-- end of drawn -->")[0]
    rows = [line.split(" | ") for line in re.findall(r"^\| (.*) \|$", section, re.MULTILINE)]
    _, *figures = rows
    assert [own[0] for own in figures] == list(drawn.WAYS)
    covered = {way: [float(x.strip("*")) for x in cells] for way, _, *cells, _ in figures}
    assert {own[1] for own in figures} == {"1,000"}
    at_random = [x for way, own in covered.items() if way not in drawn.CONSERVATIVE for x in own]
    above = [x for x in at_random if x > drawn.HIGH]
    assert min(min(own) for own in covered.values()) >= drawn.LOW
    assert max(at_random) <= drawn.HIGH + 1.1  # which is two standard errors of a figure
    assert f"Of the {len(at_random)} figures for points at random, {len(at_random) - len(above)} are within" in PAGE
