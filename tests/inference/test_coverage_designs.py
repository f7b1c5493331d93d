"""The study of designs in docs/understand/coverage.md, in small: populations are what it says, so are intervals."""

import sys

import flat
import numpy as np
import pytest
from paths import ROOT

import wmcc

sys.path.append(str(ROOT / "benchmarks"))  # last: files there may be called as those here

from coverage_study import designs
from coverage_study.plans import Clusters, Plan, Strata, described, pairs, plans

pytestmark = pytest.mark.slow

PLANS = [
    Strata("map classes, one of 1 %", 300, "equal"),
    Strata("regions", 200, "optimal"),
    Clusters(5, 4, sigma=0.8, patchy=True),
    Clusters(4, 2, sigma=0.5, replicates="BRR"),
    Clusters(1, 12, replicates="jackknife"),
    Clusters(3, 4, replicates="bootstrap"),
]


def tabulated(plan: Plan, rng: np.random.Generator) -> wmcc.Table:
    drawn = plan.sample(rng)
    true, first, _ = drawn.labels
    return flat.tabulate(true, first, drawn.weight, labels=range(len(plan.truth)), **drawn.design)


@pytest.mark.parametrize("plan", PLANS, ids=described)
def test_samples_are_of_the_population(plan):
    """The mean of many samples is the population, up to their own standard error."""
    rng = np.random.default_rng(1)
    cells = np.array([tabulated(plan, rng).w for _ in range(120)])
    cells /= plan.truth.sum() if isinstance(plan, Clusters) else cells.sum(axis=(1, 2), keepdims=True)
    off = cells.mean(axis=0) - plan.truth
    assert np.all(np.abs(off) <= 4.5 * cells.std(axis=0) / np.sqrt(len(cells)) + 1e-12)


@pytest.mark.parametrize("plan", PLANS, ids=described)
def test_intervals_are_those_of_the_library(plan):
    table = tabulated(plan, np.random.default_rng(2))
    found, known = designs.intervals(table), wmcc.map_accuracy(table)
    for own in known.classes:
        for name, one in ((designs.PRODUCERS, own.producers_accuracy), (designs.AREA, own.area_share)):
            ours = found[name, str(own.label)]
            assert (ours.low, ours.high) == pytest.approx((one.low, one.high), nan_ok=True)
            assert ours.reliable == (one.problem is None and not one.warnings)


@pytest.mark.parametrize(
    ("plan", "measure"),
    [
        (Strata("map classes", 400, "equal"), "ecc"),
        (Strata("regions", 400, "optimal"), "accuracy"),
        (Clusters(5, 10), "ecc"),
        (Clusters(1, 40, replicates="jackknife"), "accuracy"),
        (Clusters(16, 2, replicates="BRR"), "ecc"),
    ],
    ids=str,
)
def test_standard_errors_are_the_deviations_of_scores(plan, measure):
    """The variances of 200 samples, on average, are that of their scores, whose own standard error is 10 %."""
    rng = np.random.default_rng(3)
    found = [wmcc.interval(tabulated(plan, rng), measure) for _ in range(200)]
    variance = np.var([x.value for x in found])
    assert np.mean([x.se**2 for x in found]) == pytest.approx(variance, rel=0.3)
    truth = designs.scores(plan.truth)[measure, ""]
    covered = np.mean([x.low <= truth <= x.high for x in found])
    assert covered == pytest.approx(0.95, abs=0.045)


def test_without_the_design_areas_are_much_less_certain():
    point = next(
        x for x in designs.simulate(Strata("map classes", 500, "equal"), 40) if (x.measure, x.of) == ("area", "2")
    )
    assert point.plain_coverage == 100
    assert 85 <= point.coverage <= 100


def test_the_page_says_what_was_counted():
    points = [x for plan in (PLANS[1], PLANS[2], PLANS[4]) for x in designs.simulate(plan, 4)]
    tests = [designs.compare((PLANS[2], "ecc"), 4)]
    text = designs.text(points, tests)
    assert f"{len(points)} points of 4 samples" in text
    for plan in (PLANS[1], PLANS[2], PLANS[4]):
        assert f"| {described(plan)} |" in text
    assert f"| ECC, {described(PLANS[2])} |" in text


def test_plans_are_what_the_issue_asks_for():
    said = list(map(described, plans()))
    assert len(said) == len(set(said))
    assert len({described(plan) + measure for plan, measure in pairs()}) == len(list(pairs()))
    sizes = [plan.strata * plan.clusters for plan in plans() if isinstance(plan, Clusters)]
    assert (min(sizes), max(sizes)) == (10, 100)
