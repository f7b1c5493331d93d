"""Scores under a design, through the public calls: the literature's examples, and the oracle on random designs."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

import design_oracle as judge
import flat
import numpy as np
import pytest
from design_oracle import EXAMPLES, Rows, as_printed, gap, jackknife, linearised, own, quantities, replicated
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import wmcc
import wmcc.measures

NAMES = np.array(["ash", "elm", "oak", "yew"])
"""Classes; the strata of maps have the same names."""
MEASURES = [name for name in wmcc.measures.MEASURES if name in judge.MEASURES and name != "mcc"]
OWN = list(judge.CLASS_MEASURES)
LONELY = "error", "adjust", "average", "certainty", "collapse"


def tabulated(rows: Rows, **options) -> wmcc.Table | wmcc.JointTable:
    """Table of the rows, with weights as they are."""
    truth, *guesses = (NAMES[x] for x in rows.labels)
    guess = guesses[0] if len(guesses) == 1 else dict(zip("AB", guesses, strict=True))
    design = {
        "stratum": rows.stratum,
        "cluster": rows.cluster,
        "poststratum": rows.poststratum,
        "totals": rows.totals,
        **({"lonely": rows.lonely} if rows.stratum is not None else {}),
    }
    if rows.fpc is not None:
        design |= {"fpc": dict(rows.fpc)} if rows.cluster is not None else {"population": dict(rows.fpc), "fpc": True}
    design |= {"labels": NAMES[: rows.classes].tolist(), **options}
    return flat.tabulate(truth, guess, rows.weight, **design)


def found(table: wmcc.Table, name: str, of: int | None) -> wmcc.results.Interval:
    return wmcc.interval(table, name, of=None if of is None else str(NAMES[of]))


some = settings(max_examples=max(1, settings().max_examples // 3))
"""Random designs are slow to make, and there are many tests of them."""


# --- worked examples --------------------------------------------------------------------------------------------------

MAPS = {
    "Olofsson 2014": (judge.OLOFSSON_2014, judge.OLOFSSON_2014_PIXELS),
    "Olofsson 2013": (judge.OLOFSSON_2013, judge.OLOFSSON_2013_PIXELS),
}


@cache
def literature(name: str) -> wmcc.Table:
    """Table of an example, made as a reader of its paper would: weights are left to us."""
    rows = EXAMPLES[name]
    truth, guess = (NAMES[x] for x in rows.labels)
    stratum = NAMES[rows.stratum]
    if "jackknife" in name:
        made = jackknife(rows)
        return wmcc.tabulate(
            truth, guess, rows.weight, design=wmcc.Replicates(made.weights, "jkn", scales=made.scales.tolist())
        )
    sizes = MAPS[name][1] if name in MAPS else list(judge.STEHMAN_SIZES.values())
    population = dict(zip(NAMES.tolist(), sizes, strict=False))
    cluster = None if rows.cluster is None else rows.cluster % 5  # the same numbers in each stratum
    return wmcc.tabulate(
        truth, guess, cluster=cluster, design=wmcc.Strata(stratum, population=population, fpc=rows.fpc is not None)
    )


PRINTED = [x for x in quantities() if x.name not in ("hectares", "pixels", "share")]
"""Areas are not scores: see `wmcc.map_accuracy`."""


@pytest.mark.parametrize("quantity", PRINTED, ids=str)
def test_the_literatures_examples(quantity):
    one = found(literature(quantity.example), quantity.name, quantity.of)
    assert as_printed(one.value, quantity.value), (one.value, quantity.value)
    assert as_printed(one.se, quantity.se), (one.se, quantity.se)
    assert one.low < one.value < one.high
    assert one.problem is None


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_score_has_the_same_errors(name):
    score = wmcc.score(literature(name))
    for measure, one in score.intervals.items():
        assert one == wmcc.interval(literature(name), measure)
    for measure, several in score.class_intervals.items():
        for label, one in zip(literature(name).labels, several, strict=True):
            assert one == wmcc.interval(literature(name), measure, of=label)


def test_degrees_of_freedom_are_units_less_strata():
    assert wmcc.interval(literature("Stehman 2014"), "accuracy").df <= 36
    assert wmcc.interval(literature("Stehman 2014, pairs"), "accuracy").df <= 16
    assert wmcc.interval(literature("Stehman 2014, pairs"), "accuracy").strata == 4


def test_weights_that_are_given_are_the_same_as_those_we_compute():
    rows = EXAMPLES["Stehman 2014"]
    given = wmcc.tabulate(*(NAMES[x] for x in rows.labels), rows.weight, design=wmcc.Strata(NAMES[rows.stratum]))
    for name in MEASURES:
        a, b = wmcc.interval(given, name), wmcc.interval(literature("Stehman 2014"), name)
        assert (a.value, a.se, a.low, a.high, a.df) == pytest.approx((b.value, b.se, b.low, b.high, b.df), rel=1e-12)


# --- the oracle on random designs -------------------------------------------------------------------------------------


@st.composite
def designs(draw, predictions=1, lonely=False) -> Rows:
    """Samples of all kinds: rows or clusters, in strata or not, of finite populations or not."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    classes, strata = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    drawn = rng.integers(2, 7, strata)
    if lonely:
        drawn[rng.integers(0, strata, draw(st.integers(0, strata)))] = 1
    clustered = draw(st.booleans())
    # Rows of each unit, and its stratum; clusters have the same numbers in each stratum.
    unit = np.repeat(np.arange(drawn.sum()), rng.integers(1, 9, drawn.sum()) if clustered else 1)
    stratum = np.repeat(np.arange(strata), drawn)[unit]
    number = np.concatenate([np.arange(m) for m in drawn])[unit]
    n = len(unit)
    truth = rng.integers(0, classes, n)
    right = rng.random((predictions, n)) < 0.6
    guesses = np.where(right, truth, rng.integers(0, classes, (predictions, n)))
    weight = draw(
        st.sampled_from(
            [np.ones(n), rng.lognormal(0, 1, n), (0.5 + np.arange(strata))[stratum], rng.integers(0, 4, n) + 0.25]
        )
    )
    sizes = {h: float(m + rng.integers(0, 9)) for h, m in enumerate(drawn.tolist())}
    some = rng.integers(0, 2, n)
    post = draw(st.booleans())
    return Rows(
        (truth, *guesses),
        classes,
        weight,
        stratum=stratum,
        cluster=number if clustered else None,
        fpc=sizes if draw(st.booleans()) else None,
        lonely=draw(st.sampled_from(LONELY)) if lonely else "error",
        poststratum=some if post else None,
        totals={p: 10.0 * (p + 1) for p in set(some.tolist())} if post else None,
    )


def agree(one: wmcc.results.Interval | wmcc.results.Comparison, rows: Rows, function) -> None:
    """Hold a value and its standard error to the oracle's, where the oracle has some."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = linearised(rows, function)
        except judge.LonelyError:
            assert one.problem is not None
            return
    if not (np.isfinite(expected.value) and np.isfinite(expected.se)):
        return
    assert one.value == pytest.approx(expected.value, rel=1e-11, abs=1e-12)
    if expected.se > 1e-7 and not (rows.domain is not None and rows.poststratum is not None and one.problem):
        assert one.problem is None
        assert one.se == pytest.approx(expected.se, rel=1e-9)
        assert one.df <= max(expected.df, 1) or rows.lonely == "collapse"
        assert one.low <= one.value <= one.high


@some
@given(designs(), st.sampled_from(MEASURES))
def test_measures_have_the_oracles_errors(rows, name):
    agree(wmcc.interval(tabulated(rows), name), rows, judge.MEASURES[name])


@some
@given(designs(), st.sampled_from(OWN), st.integers(0, 3))
def test_scores_of_a_class_have_the_oracles_errors(rows, name, k):
    assume(k < rows.classes)
    table = tabulated(rows)
    assume(table.w[k].sum() > 0)
    assume(table.w[:, k].sum() > 0)
    agree(found(table, name, k), rows, own(name, k))


@some
@given(designs(lonely=True), st.sampled_from(MEASURES))
def test_lonely_units_are_treated_as_asked(rows, name):
    agree(wmcc.interval(tabulated(rows), name), rows, judge.MEASURES[name])


@pytest.mark.parametrize("lonely", LONELY)
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("finite", [False, True])
def test_each_option_for_lonely_units(lonely, clustered, finite):
    """Of seven strata the first, two in a row and the last are lonely; one lonely one was drawn wholly."""
    rng = np.random.default_rng(7)
    drawn = np.array([1, 3, 1, 1, 4, 1, 1])
    unit = np.repeat(np.arange(drawn.sum()), 3 if clustered else 1)
    truth, guess = rng.integers(0, 3, (2, len(unit)))
    rows = Rows(
        (truth, guess),
        3,
        rng.lognormal(0, 1, len(unit)),
        stratum=np.repeat(np.arange(7), drawn)[unit],
        cluster=unit if clustered else None,
        fpc=dict(enumerate([5.0, 9.0, 4.0, 6.0, 8.0, 1.0, 3.0])) if finite else None,
        lonely=lonely,
    )
    for name in MEASURES:
        agree(wmcc.interval(tabulated(rows), name), rows, judge.MEASURES[name])


@some
@given(designs(predictions=2), st.sampled_from(MEASURES))
def test_paired_differences_have_the_oracles_errors(rows, name):
    compared = wmcc.compare(tabulated(rows), name)
    agree(compared, rows, gap(judge.MEASURES[name]))


@some
@given(designs(predictions=2), st.sampled_from(MEASURES))
def test_tables_of_the_same_clusters_are_as_good_as_a_joint_one(rows, name):
    assume(rows.cluster is not None)
    both = {
        x: tabulated(replace(rows, labels=(rows.labels[0], guess)))
        for x, guess in zip("AB", rows.labels[1:], strict=True)
    }
    joint = tabulated(rows)
    assume(all(x.sum() > 0 for x in (both["A"].w, both["B"].w)))
    agree(wmcc.compare(both, name, sample="clusters"), rows, gap(judge.MEASURES[name]))
    assert wmcc.compare(both, name, sample="clusters").value == pytest.approx(wmcc.compare(joint, name).value)


@some
@given(designs(), st.sampled_from(MEASURES))
def test_a_group_is_a_domain_of_the_whole_design(rows, name):
    group = np.arange(rows.n) % 2
    tables = tabulated(rows, by=group)
    for key, table in tables.items():
        if table.w.sum() > 0:
            agree(wmcc.interval(table, name), replace(rows, domain=group == key), judge.MEASURES[name])


@some
@given(designs(), st.sampled_from(MEASURES))
def test_rows_left_out_stay_in_the_design(rows, name):
    """Rows of an ignored truth are out of the table, and their clusters are drawn nevertheless."""
    void = rows.classes  # one more class than the others have
    truth = np.where(np.arange(rows.n) % 3 == 0, void, rows.labels[0])
    kept = truth < void
    assume(kept.any())
    assume(void < len(NAMES))
    if rows.poststratum is not None:
        assume(set(rows.poststratum[kept].tolist()) == set(rows.totals))
    table = tabulated(replace(rows, labels=(truth, rows.labels[1])), ignore=[str(NAMES[void])])
    # The weights of rows that are left out are not looked at, so they do not count in post-strata either.
    own = replace(rows, weight=np.where(kept, rows.weight, 0.0), domain=kept)
    agree(wmcc.interval(table, name), own, judge.MEASURES[name])


@some
@given(designs(), st.sampled_from(MEASURES))
def test_independent_samples_add_up(rows, name):
    """The standard error of a difference of independent samples is that of both together."""
    other = replace(rows, labels=(rows.labels[0], np.roll(rows.labels[1], 1)))
    tables = {"this": tabulated(rows), "last": tabulated(other)}
    gaps = wmcc.compare(tables, name, sample="independent")
    with np.errstate(all="ignore"):
        a, b = (linearised(x, judge.MEASURES[name]) for x in (rows, other))
    assume(np.isfinite([a.se, b.se]).all())
    assume(min(a.se, b.se) > 1e-6)
    assume(gaps.problem is None)
    assert gaps.se == pytest.approx(np.hypot(a.se, b.se), rel=1e-9)


@some
@given(designs(), st.sampled_from(MEASURES))
def test_a_jackknife_of_replicate_weights_has_the_oracles_errors(rows, name):
    rows = replace(rows, poststratum=None, totals=None)
    made = jackknife(rows)
    assume(made.scales.any())  # else it is a census
    margins = [[*C.sum(0), *C.sum(1)] for C in map(rows.table, [rows.weight, *made.weights.T])]
    # A class that a replicate lacks is in the mean over classes still, which the oracle does not know.
    assume(name in ("ecc", "accuracy", "kappa") or len({tuple(np.greater(x, 0)) for x in margins}) == 1)
    labels = [NAMES[x] for x in rows.labels]
    design = wmcc.Replicates(made.weights, "jkn", scales=made.scales.tolist())
    table = wmcc.tabulate(*labels, rows.weight, labels=NAMES[: rows.classes].tolist(), design=design)
    one = wmcc.interval(table, name)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = replicated(rows, judge.MEASURES[name], made)
    assume(np.isfinite(expected.se))
    assume(expected.se > 1e-6)
    assume(one.problem is None)
    assert one.se == pytest.approx(expected.se, rel=1e-9)


# --- laws -------------------------------------------------------------------------------------------------------------


@some
@given(designs(), st.sampled_from(MEASURES))
@example(EXAMPLES["Stehman 2014, pairs"], "ecc")
def test_parts_merge_and_are_stored(rows, name):
    """A sample in two parts, merged, read back from JSON, gives the same interval to the last bit."""
    assume(rows.fpc is None)
    assume(rows.poststratum is None)
    whole = tabulated(rows)
    half = np.arange(rows.n) % 2 == 0
    assume(half.any())
    assume((~half).any())
    parts = [
        replace(
            rows,
            labels=tuple(x[some] for x in rows.labels),
            weight=rows.weight[some],
            stratum=rows.stratum[some],
            cluster=None if rows.cluster is None else rows.cluster[some],
        )
        for some in (half, ~half)
    ]
    merged = tabulated(parts[0]) + tabulated(parts[1])
    assert wmcc.interval(merged, name) == wmcc.interval(whole, name)
    assert wmcc.interval(wmcc.Table.from_json(whole.to_json()), name) == wmcc.interval(whole, name)


@some
@given(designs(), st.sampled_from(MEASURES), st.floats(1e-3, 1e3))
def test_the_unit_of_the_weights_does_not_matter(rows, name, unit):
    rows = replace(rows, poststratum=None, totals=None)
    a, b = (wmcc.interval(tabulated(x), name) for x in (rows, replace(rows, weight=rows.weight * unit)))
    assert (a.low, a.high, a.se) == pytest.approx((b.low, b.high, b.se), rel=1e-9, nan_ok=True, abs=1e-12)


@some
@given(designs(), st.sampled_from(MEASURES))
def test_names_of_strata_and_clusters_do_not_matter(rows, name):
    assume(rows.fpc is None)
    named = replace(
        rows,
        stratum=np.array([f"region {9 - h}" for h in rows.stratum]),
        cluster=None if rows.cluster is None else np.array([f"village {c}" for c in rows.cluster]),
    )
    a, b = (wmcc.interval(tabulated(x), name) for x in (rows, named))
    assert (a.low, a.high, a.se, a.df) == pytest.approx((b.low, b.high, b.se, b.df), rel=1e-12, nan_ok=True)


def test_a_census_has_no_error():
    rows = EXAMPLES["Stehman 2014"]
    labels = [NAMES[x] for x in rows.labels]
    sizes = dict.fromkeys(NAMES.tolist(), 10)
    one = wmcc.interval(
        wmcc.tabulate(*labels, design=wmcc.Strata(NAMES[rows.stratum], population=sizes, fpc=True)), "accuracy"
    )
    assert one.se == 0
    assert one.low == one.value == one.high


def test_strata_matter():
    """Where strata differ much, the right error is far smaller than that of plain rows; clusters do the reverse."""
    rng = np.random.default_rng(2)
    stratum = np.repeat([0, 1], 200)
    truth = rng.integers(0, 2, 400)
    guess = np.where(rng.random(400) < np.where(stratum == 0, 0.02, 0.98), truth, 1 - truth)
    labels = NAMES[truth], NAMES[guess]
    plain, strata, clusters = (
        wmcc.interval(flat.tabulate(*labels, **design), "accuracy")
        for design in ({}, {"stratum": stratum}, {"cluster": np.arange(400) // 40})
    )
    assert plain.value == strata.value == clusters.value
    assert strata.high - strata.low < 0.4 * (plain.high - plain.low)
    assert clusters.high - clusters.low > 3 * (plain.high - plain.low)


def test_an_average_needs_a_stratum_that_is_not_lonely():
    table = wmcc.tabulate([0, 1, 1], [0, 1, 0], design=wmcc.Strata([0, 1, 2], lonely="average"))
    assert "average" in wmcc.interval(table, "ecc").problem
