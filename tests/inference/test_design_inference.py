"""Sampling errors under a design, against sums over rows that share nothing with the library but the gradient."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from math import hypot, isnan

import flat
import numpy as np
import pytest
from scipy import stats
from scipy.special import stdtrit

import wmcc
from wmcc.core.design import ReplicateFactors, SampleDesign, StratifiedDesign
from wmcc.core.exact import Exact
from wmcc.core.stack import Stack
from wmcc.core.sums import Sums
from wmcc.errors import InputError, InputTypeError
from wmcc.inference.cells import balance
from wmcc.inference.influence import Sample
from wmcc.inference.strata import StratifiedSample
from wmcc.inference.zero_error_strata import MissedErrors, Predicted, _largest_shares
from wmcc.measures import CLASS_MEASURES, MEASURES
from wmcc.measures.base import Shares

MULTICLASS = [name for name in MEASURES if name != "mcc"]


class Rows:
    """A sample in strata, row by row."""

    def __init__(self, seed=0, classes=3, strata=4, clusters=None, even=False, least=6):
        rng = np.random.default_rng(seed)
        n = rng.integers(least, least + 20, strata)
        self.stratum = np.repeat(np.arange(strata), n)
        size = len(self.stratum)
        self.truth = rng.integers(0, classes, size)
        hit = rng.random(size) < np.linspace(0.55, 0.9, strata)[self.stratum]
        self.pred = np.where(hit, self.truth, rng.integers(0, classes, size))
        self.other = np.where(rng.random(size) < 0.6, self.truth, rng.integers(0, classes, size))
        self.w = np.ones(size) if even else np.exp(rng.normal(0, 0.5, size)) * (1 + self.stratum)
        self.cluster = None if clusters is None else rng.integers(0, clusters, size)
        self.classes = classes

    @property
    def units(self):
        """Key of the sampled unit of each row."""
        own = np.arange(len(self.w)) if self.cluster is None else self.cluster
        return list(zip(self.stratum.tolist(), own.tolist(), strict=True))

    def table(self, **keywords):
        more = {} if self.cluster is None else {"cluster": self.cluster}
        return flat.tabulate(self.truth, self.pred, self.w, stratum=self.stratum, **more, **keywords)

    def joint(self, **keywords):
        more = {} if self.cluster is None else {"cluster": self.cluster}
        both = {"a": self.pred, "b": self.other}
        return flat.tabulate(self.truth, both, self.w, stratum=self.stratum, **more, **keywords)


def gradient(name, truth, pred, w, k=None):
    """How much a unit of weight moves the score, for each row; of class k's own score if there is one."""
    if k is None:
        table = wmcc.tabulate(truth, pred, w)
        return MEASURES[name].gradient(table)[truth, pred]
    r, q, d = w[truth == k].sum(), w[pred == k].sum(), w[(truth == k) & (pred == k)].sum()
    hit, true, called = (truth == k) & (pred == k), truth == k, pred == k
    if name == "recall":
        return hit / r - true * d / r**2
    if name == "precision":
        return hit / q - called * d / q**2
    if name == "f1":
        return 2 * hit / (r + q) - 2 * d * (true * 1.0 + called) / (r + q) ** 2
    if name == "iou":
        union = r + q - d
        return hit / union - d * (true * 1.0 + called - hit) / union**2
    two = wmcc.tabulate((truth != k).astype(int), (pred != k).astype(int), w)
    return wmcc.mcc.gradient(two)[(truth != k).astype(int), (pred != k).astype(int)]


def by_unit(rows, u):
    """Z of each unit, by stratum."""
    found = {}
    for key, own in zip(rows.units, u.tolist(), strict=True):
        found.setdefault(key[0], {}).setdefault(key, []).append(own)
    return {h: np.array([sum(x) for x in units.values()]) for h, units in found.items()}


def variance(z, sizes=None):
    """Variance by the formula of the textbooks, from the z of all units in each stratum."""
    out = 0.0
    for h, own in z.items():
        m = len(own)
        f = 0.0 if sizes is None else m / sizes[h]
        out += 0.0 if f == 1 else (1 - f) * m / (m - 1) * ((own - own.mean()) ** 2).sum()
    return out


# ---- the variance -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("clusters", [None, 4])
@pytest.mark.parametrize("name", MULTICLASS)
def test_variance_is_the_formula_over_rows(name, clusters):
    rows = Rows(1, clusters=clusters)
    z = by_unit(rows, rows.w * gradient(name, rows.truth, rows.pred, rows.w))
    found = wmcc.interval(rows.table(), name)
    assert found.se == pytest.approx(variance(z) ** 0.5, rel=1e-11)
    assert (found.strata, found.clusters) == (4, None if clusters is None else sum(map(len, z.values())))
    sizes = {h: len(own) + 3 * h for h, own in z.items()}  # the first is a census
    fpc = {"fpc": sizes} if clusters else {"population": sizes, "fpc": True}
    assert wmcc.interval(rows.table(**fpc), name).se == pytest.approx(variance(z, sizes) ** 0.5, rel=1e-11)


@pytest.mark.parametrize("clusters", [None, 4])
@pytest.mark.parametrize("name", CLASS_MEASURES)
def test_a_class_is_a_domain_of_the_whole_design(name, clusters):
    rows = Rows(2, clusters=clusters)
    for k in range(rows.classes):
        z = by_unit(rows, rows.w * gradient(name, rows.truth, rows.pred, rows.w, k))
        found = wmcc.interval(rows.table(), name, of=k)
        assert found.se == pytest.approx(variance(z) ** 0.5, rel=1e-11)
        assert found == wmcc.score(rows.table()).class_intervals[name][k]
        about = {"recall": rows.truth == k, "precision": rows.pred == k, "mcc": np.ones(len(rows.w), dtype=bool)}
        own = about.get(name, (rows.truth == k) | (rows.pred == k))
        assert (found.n, found.total) == (own.sum(), pytest.approx(rows.w[own].sum()))


def test_weights_are_sizes_over_numbers_of_rows():
    rows = Rows(3, even=True)
    sizes = {0: 100.0, 1: 300.0, 2: 50.0, 3: 900.0}
    weights = np.array([sizes[h] / (rows.stratum == h).sum() for h in rows.stratum.tolist()])
    given = wmcc.tabulate(rows.truth, rows.pred, weights, design=wmcc.Strata(rows.stratum))
    made = wmcc.tabulate(rows.truth, rows.pred, design=wmcc.Strata(rows.stratum, population=sizes))
    a, b = (wmcc.interval(table, "ecc") for table in (given, made))
    assert (a.value, a.se) == (pytest.approx(b.value, rel=1e-12), pytest.approx(b.se, rel=1e-11))


def test_one_stratum_without_weights_is_the_usual_variance():
    rows = Rows(4, strata=1, even=True, least=200)
    usual = wmcc.interval(wmcc.tabulate(rows.truth, rows.pred), "ecc")
    n = len(rows.w)
    assert rows.table().drawn.kind == "strata"
    assert wmcc.interval(rows.table(), "ecc").se == pytest.approx(usual.se * (n / (n - 1)) ** 0.5, rel=1e-12)


def test_units_outside_of_a_domain_count():
    rows = Rows(5, clusters=4)
    rng = np.random.default_rng(5)
    region = rng.integers(0, 2, len(rows.w)) * (rows.stratum > 0)  # region 1 has no row in the first stratum
    inside = region == 1
    tables = rows.table(by=region)
    u = np.zeros(len(rows.w))
    u[inside] = rows.w[inside] * gradient("ecc", rows.truth[inside], rows.pred[inside], rows.w[inside])
    found = wmcc.interval(tables[1], "ecc")
    assert found.se == pytest.approx(variance(by_unit(rows, u)) ** 0.5, rel=1e-11)
    plain = Rows(5)
    of_rows = plain.table(by=region)[1]
    assert wmcc.interval(of_rows, "ecc").se == pytest.approx(
        variance(by_unit(plain, u * 0 + _own(plain, inside))) ** 0.5
    )
    alone = wmcc.tabulate(
        plain.truth[inside], plain.pred[inside], plain.w[inside], design=wmcc.Strata(plain.stratum[inside])
    )
    assert wmcc.interval(alone, "ecc").se != wmcc.interval(of_rows, "ecc").se


def _own(rows, inside):
    u = np.zeros(len(rows.w))
    u[inside] = rows.w[inside] * gradient("ecc", rows.truth[inside], rows.pred[inside], rows.w[inside])
    return u


def test_degrees_of_freedom_are_units_less_strata_at_most():
    rows = Rows(6, even=True, strata=3, least=40)
    many = wmcc.interval(rows.table(), "accuracy")
    assert 60 < many.df <= len(rows.w) - 3
    pairs = Rows(7, strata=6, clusters=2, even=True)
    assert 1 <= wmcc.interval(pairs.table(), "accuracy").df <= 6
    # One stratum that has nearly all of the variance has its own degrees of freedom.
    few = Rows(6, even=True, strata=2, least=12)
    few.w = np.where(few.stratum == 1, 1e-6, 1.0)
    n = (few.stratum == 0).sum()
    assert wmcc.interval(few.table(), "accuracy").df == pytest.approx(n - 1, rel=1e-6)


def test_degrees_of_freedom_of_uneven_clusters():
    rows = Rows(27, clusters=5, least=20)
    assert all(((rows.truth != rows.pred) & (rows.stratum == h)).any() for h in range(4))
    z = by_unit(rows, rows.w * gradient("ecc", rows.truth, rows.pred, rows.w))
    weights = by_unit(rows, rows.w / rows.w.sum())
    parts, units, noise, without = {}, {}, 0.0, 0.0
    for h, own in z.items():
        m, apart, p = len(own), own - own.mean(), weights[h]
        parts[h] = m / (m - 1) * (apart**2).sum()
        units[h] = p.sum() ** 2 / (p**2).sum()
        noise += (m / (m - 1)) ** 2 * ((apart**4).sum() - (apart**2).sum() ** 2 / m)
        without += m / (m - 1) * ((apart / (1 - m / (m - 1) * (p - p.mean()))) ** 2).sum()
    V = sum(parts.values())
    welch = V**2 / sum(parts[h] ** 2 / (units[h] + 1) for h in z) - 2
    df = min(welch, 2 * V**2 / noise, sum(len(own) - 1 for own in z.values()))
    found = wmcc.interval(rows.table(), "ecc")
    assert found.df == pytest.approx(df, rel=1e-9)
    t = stdtrit(df, 0.975) * without**0.5 / (1 - found.value**2)  # uneven clusters hide a part of their deviation
    assert without > V
    assert found.low == pytest.approx(np.tanh(np.arctanh(found.value) - t), rel=1e-9)
    assert found.high == pytest.approx(np.tanh(np.arctanh(found.value) + t), rel=1e-9)
    joint = wmcc.compare(rows.joint(), "ecc")
    assert joint.high - joint.value > stdtrit(joint.df, 0.975) * joint.se


def test_uneven_weights_leave_fewer_degrees_of_freedom():
    rows = Rows(28, even=True, strata=2, least=60)
    even = wmcc.interval(rows.table(), "accuracy").df
    rows.w = np.exp(np.random.default_rng(0).normal(0, 1.3, len(rows.w)))
    assert wmcc.interval(rows.table(), "accuracy").df < even / 3
    # Σw³ and Σw⁴ of the cells are guessed, and well for log-normal weights.
    many = Rows(28, classes=2, strata=2, least=20000)
    many.w = np.exp(np.random.default_rng(0).normal(0, 0.5, len(many.w)))
    sample = Sample.of(many.table())
    right = many.truth == many.pred
    g = right - (many.w * right).sum() / many.w.sum()  # slopes of the accuracy
    slope = np.where(sample.cells.codes[0] == sample.cells.codes[1], g.max(), g.min())
    found = sample.strata.moments(slope)
    u = many.w / many.w.sum() * g
    for h in range(2):
        own = many.stratum == h
        apart, expected = u - u[own].mean(), 0.0
        for a, b in np.ndindex(2, 2):
            x = apart[own & (many.truth == a) & (many.pred == b)]
            expected += (x**4).sum() - (x**2).sum() ** 2 / len(x)
        assert found.squares[h] == pytest.approx((apart[own] ** 2).sum(), rel=1e-9)
        assert found.excess[h] == pytest.approx(expected, rel=0.12)


# ---- lonely strata ------------------------------------------------------------------------------------------


def lonely_rows(clusters=None):
    """The second and the last stratum have a single unit."""
    rows = Rows(8, strata=5, clusters=clusters)
    for h in (1, 4):
        own = np.flatnonzero(rows.stratum == h)
        kept = own[:1] if clusters is None else own[rows.cluster[own] == rows.cluster[own[0]]]
        keep = np.setdiff1d(np.arange(len(rows.w)), np.setdiff1d(own, kept))
        for name in ("stratum", "truth", "pred", "other", "w", "cluster"):
            x = getattr(rows, name)
            setattr(rows, name, None if x is None else x[keep])
    return rows


@pytest.mark.parametrize("clusters", [None, 3])
def test_lonely_strata(clusters):
    rows = lonely_rows(clusters)
    z = by_unit(rows, rows.w * gradient("ecc", rows.truth, rows.pred, rows.w))
    others = {h: own for h, own in z.items() if len(own) > 1}
    rest = variance(others)
    joined = {0: z[0], 2: np.concatenate([z[1], z[2]]), 3: np.concatenate([z[3], z[4]])}
    expected = {
        "adjust": rest + float(z[1][0]) ** 2 + float(z[4][0]) ** 2,
        "average": rest * 5 / 3,
        "certainty": rest,
        "collapse": variance(joined),
    }
    for option, wanted in expected.items():
        assert wmcc.interval(rows.table(lonely=option), "ecc").se == pytest.approx(wanted**0.5, rel=1e-11), option
    refused = wmcc.interval(rows.table(), "ecc")
    unit = "row" if clusters is None else "cluster"
    assert refused.problem == (
        f"a single {unit} was sampled in each of the strata 1, 4, so the variance there cannot be estimated. "
        "Merge them with similar strata, or tabulate with another `lonely` of `wmcc.Strata`: "
        "'collapse', 'adjust', 'average' or 'certainty'"
    )
    assert isnan(refused.low)
    assert isnan(refused.se)
    assert refused.value == pytest.approx(wmcc.ecc(rows.truth, rows.pred, sample_weight=rows.w))


def test_a_census_is_not_lonely():
    rows = lonely_rows()
    z = by_unit(rows, rows.w * gradient("ecc", rows.truth, rows.pred, rows.w))
    sizes = {h: 1 if len(own) == 1 else 10 * len(own) for h, own in z.items()}
    found = wmcc.interval(rows.table(population=sizes, fpc=True), "ecc")
    assert found.se == pytest.approx(variance(z, sizes) ** 0.5, rel=1e-11)
    everything = wmcc.interval(rows.table(population={h: len(own) for h, own in z.items()}, fpc=True), "ecc")
    assert (everything.se, everything.low, everything.high) == (0.0, everything.value, everything.value)
    assert everything.reliable


def test_strata_join_the_next_one_and_the_last_the_one_before():
    def joined(sampled, sizes=None):
        design = StratifiedDesign(
            tuple("abcdef"[: len(sampled)]), tuple(range(len(sampled))), False, None, False, sizes, "collapse"
        )
        codes = np.array([[0] * len(sampled), [0] * len(sampled), list(range(len(sampled)))])
        stack = Stack(codes, Sums.from_counts(np.array(sampled)))
        table = wmcc.Table((0, 1), stack, drawn=SampleDesign("strata", design.strata, tuple(sampled), design))
        return ["".join(keys) for keys in StratifiedSample(table).keys]

    assert joined([1, 5, 1, 5]) == ["ab", "cd"]
    assert joined([5, 1, 1, 4]) == ["a", "bc", "d"]
    assert joined([1, 1, 1, 4, 1]) == ["ab", "cde"]
    assert joined([1, 1, 1, 1]) == ["ab", "cd"]
    assert joined([5, 4, 1]) == ["a", "bc"]
    assert joined([1, 1, 1]) == ["abc"]
    assert joined([1, 3, 1, 5], (9.0, 3.0, 9.0, 9.0)) == ["ac", "b", "d"]  # b is a census
    assert joined([3, 1], (3.0, 9.0)) == ["a", "b"]  # there is none to join


def test_there_must_be_strata_to_take_the_average_of():
    alone = wmcc.tabulate([0, 1, 1], [0, 1, 0], design=wmcc.Strata(["a", "b", "c"], lonely="average"))
    problem = "a single row was sampled in each stratum, so there is no variance to take the average of"
    assert wmcc.interval(alone).problem == problem
    one = wmcc.tabulate([0], [0], design=wmcc.Strata(population=10, fpc=True))
    assert (
        wmcc.interval(one, "accuracy").problem == "a standard error needs at least two sampled rows, and there is one"
    )


@pytest.mark.parametrize("lonely", ["error", "adjust", "average", "certainty", "collapse"])
def test_one_unit_has_no_standard_error(lonely):
    table = wmcc.tabulate([0, 1, 0, 1], [0, 1, 1, 1], cluster=[0] * 4, design=wmcc.Strata([0] * 4, lonely=lonely))
    problem = "a standard error needs at least two sampled clusters, and there is one"
    assert wmcc.interval(table).problem == problem


def test_hints_for_lonely_strata_are_true():
    y, pred = [0, 1, 0, 1], [0, 1, 1, 1]
    sizes = {"population": {0: 3, 1: 2}, "fpc": True}
    said = wmcc.interval(flat.tabulate(y, pred, stratum=[0, 0, 0, 1], **sizes)).problem
    assert said.endswith(
        "cannot be estimated. Tabulate with another `lonely` of `wmcc.Strata`: 'adjust' or 'certainty'"
    )
    said = wmcc.interval(wmcc.tabulate(y, pred, design=wmcc.Strata([0, 1, 2, 3]))).problem
    assert said.endswith("or tabulate with another `lonely` of `wmcc.Strata`: 'collapse', 'adjust' or 'certainty'")
    for lonely in ("collapse", "adjust", "certainty"):
        assert wmcc.interval(wmcc.tabulate(y, pred, design=wmcc.Strata([0, 1, 2, 3], lonely=lonely))).problem is None
    certain = wmcc.interval(wmcc.tabulate(y, pred, design=wmcc.Strata([0, 1, 2, 3], lonely="certainty")))
    assert certain.se == 0
    assert certain.warnings[0].startswith("strata with a single sampled row have no variance by `lonely` 'certainty'")


def test_many_lonely_strata_are_joined_in_pairs():
    count = 20_000
    y = np.arange(count) % 2
    table = wmcc.tabulate(
        y, np.where(np.arange(count) % 5 == 0, 1 - y, y), design=wmcc.Strata(np.arange(count), lonely="collapse")
    )
    strata = Sample.of(table).strata
    assert strata.m.tolist() == [2.0] * (count // 2)


@pytest.mark.parametrize("unit", [1e160, 1e-200, 1e300])
def test_sizes_of_strata_of_any_magnitude(unit):
    y, pred, h = [0, 1, 0, 1] * 5, [0, 1, 1, 1] * 5, [0] * 6 + [1] * 14
    found, usual = (
        wmcc.interval(wmcc.tabulate(y, pred, design=wmcc.Strata(h, population={0: x, 1: 2 * x}))) for x in (unit, 1.0)
    )
    assert (found.low, found.high, found.se, found.df) == pytest.approx((usual.low, usual.high, usual.se, usual.df))
    assert found.warnings == usual.warnings
    assert (
        wmcc.interval(wmcc.tabulate(y, pred, design=wmcc.Strata(h, population={0: 1e-300, 1: 1e300}))).problem is None
    )


def test_a_lonely_stratum_that_cannot_be_joined_is_named():
    rows = lonely_rows()
    sizes = {h: int((rows.stratum == h).sum()) + (h == 1) for h in range(5)}
    found = wmcc.interval(rows.table(population=sizes, fpc=True, lonely="collapse"), "ecc")
    assert "stratum 1 has a single sampled row, and there is no other stratum" in found.problem


# ---- post-strata ----------------------------------------------------------------------------------------------


def test_post_strata_take_the_residual():
    rows = Rows(9)
    rng = np.random.default_rng(9)
    post = rng.integers(0, 3, len(rows.w))
    totals = {0: 500.0, 1: 200.0, 2: 900.0}
    table = rows.table(poststratum=post, totals=totals)
    scaled = rows.w * np.array([totals[p] / rows.w[post == p].sum() for p in post.tolist()])

    def expected(u):
        means = np.array([u[post == p].sum() / scaled[post == p].sum() for p in range(3)])
        return variance(by_unit(rows, u - scaled * means[post])) ** 0.5

    for name in ("accuracy", "ecc", "mpc2"):
        found = wmcc.interval(table, name)
        assert found.value == pytest.approx(MEASURES[name](rows.truth, rows.pred, sample_weight=scaled))
        assert found.se == pytest.approx(expected(scaled * gradient(name, rows.truth, rows.pred, scaled)), rel=1e-10)
    own = wmcc.interval(table, "recall", of=1)
    assert own.se == pytest.approx(expected(scaled * gradient("recall", rows.truth, rows.pred, scaled, 1)), rel=1e-10)
    region = rows.truth % 2
    part = rows.table(poststratum=post, totals=totals, by=region)[0]
    problem = wmcc.interval(part, "accuracy").problem
    assert re.match(
        r"the weights are scaled to known totals of post-strata, and the table lacks rows of 0, 1, 2;", problem
    )


# ---- replicate weights ------------------------------------------------------------------------------------------


def replicated(rows, factors, method="jkn", scales=None, df=None):
    """Table of rows with replicate weights, by hand: factors is replicates × rows."""
    K = rows.classes
    cell = rows.truth * K + rows.pred
    occupied = np.unique(cell)
    at = np.searchsorted(occupied, cell)

    def exact(x):
        return Exact.from_floats(np.bincount(at, x, len(occupied)))

    n = np.bincount(at)
    low, high = np.full(len(occupied), np.inf), np.zeros(len(occupied))
    np.minimum.at(low, at, rows.w)
    np.maximum.at(high, at, rows.w)
    sums = Sums(n, exact(rows.w), exact(rows.w**2), low, high, tuple(exact(rows.w * f) for f in factors))
    R = len(factors)
    drawn = SampleDesign("replicates", replicates=ReplicateFactors(method, scales or ((R - 1) / R,) * R, df or R - 1))
    return wmcc.Table(tuple(range(K)), Stack(np.stack([occupied // K, occupied % K]), sums), drawn=drawn)


def jackknife(rows):
    """Factors and scales that leave out each unit of each stratum."""
    units = rows.units
    factors, scales = [], []
    for key in dict.fromkeys(units):
        same = [x for x in dict.fromkeys(units) if x[0] == key[0]]
        m = len(same)
        factors.append([0.0 if x == key else m / (m - 1) if x[0] == key[0] else 1.0 for x in units])
        scales.append((m - 1) / m)
    return np.array(factors), tuple(scales)


def test_replicate_weights_are_scored_one_by_one():
    rows = Rows(10, clusters=4)
    factors, scales = jackknife(rows)
    table = replicated(rows, factors, scales=scales, df=12)
    for name in MULTICLASS:
        moved = [
            MEASURES[name](rows.truth, rows.pred, sample_weight=rows.w * f)
            - MEASURES[name](rows.truth, rows.pred, sample_weight=rows.w)
            for f in factors
        ]
        found = wmcc.interval(table, name)
        assert found.se == pytest.approx((np.array(scales) @ np.square(moved)) ** 0.5, rel=1e-9)
        assert found.df <= 12
        assert found.clusters is found.strata is None
    # To first order the jackknife is the formula of strata.
    assert found.se == pytest.approx(wmcc.interval(rows.table(), name).se, rel=0.2)
    recalls = [
        rows.w[(rows.truth == 1) & (rows.pred == 1)]
        @ f[(rows.truth == 1) & (rows.pred == 1)]
        / (rows.w[rows.truth == 1] @ f[rows.truth == 1])
        for f in factors
    ]
    own = wmcc.interval(table, "recall", of=1)
    assert own.se == pytest.approx((np.array(scales) @ np.square(np.array(recalls) - own.value)) ** 0.5, rel=1e-9)
    assert own == wmcc.score(table).class_intervals["recall"][1]


def test_a_replicate_in_which_the_measure_is_undefined_is_named():
    rows = Rows(11)
    factors = np.ones((3, len(rows.w)))
    factors[1, rows.truth != 0] = 0.0
    found = wmcc.interval(replicated(rows, factors), "ecc")
    assert found.problem == (
        "with the weights of replicate 2 of 3, ECC (R_K) is undefined at these weights: all the weight of y_true is in "
        "one class"
    )
    factors[1] = 0.0
    assert (
        wmcc.interval(replicated(rows, factors), "ecc").problem == "no row of the table has weight in replicate 2 of 3"
    )
    factors[1] = 1.0
    factors[2, rows.truth == 1] = 0.0
    assert "replicate 3 of 3" in wmcc.interval(replicated(rows, factors), "recall", of=1).problem
    assert wmcc.interval(replicated(rows, factors), "accuracy").problem is None


def test_the_jackknife_has_fewer_degrees_of_freedom_where_one_unit_decides():
    rows = Rows(12, even=True)
    factors = np.ones((20, len(rows.w)))
    factors[0, rows.truth == rows.pred] = 0.5
    factors[1:, :3] = 1.01
    jackknife_df = wmcc.interval(replicated(rows, factors, "jk1"), "accuracy").df
    assert jackknife_df < 4 < wmcc.interval(replicated(rows, factors, "brr"), "accuracy").df
    few = wmcc.interval(replicated(rows, factors[:2], "brr"), "ecc")
    assert any("degrees of freedom" in why for why in few.warnings)


# ---- comparisons ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clusters", [None, 4])
def test_paired_differences_are_the_formula_over_rows(clusters):
    rows = Rows(13, clusters=clusters)
    for name, of in (("ecc", None), ("mpc2", None), ("f1", 1), ("mcc", 0)):
        both = [gradient(name, rows.truth, pred, rows.w, of) for pred in (rows.pred, rows.other)]
        expected = variance(by_unit(rows, rows.w * (both[0] - both[1]))) ** 0.5
        found = wmcc.compare(rows.joint(), name, of=of)
        assert found.se == pytest.approx(expected, rel=1e-10)
        assert (found.strata, found.sample) == (4, "rows" if clusters is None else "clusters")
    assert " in 4 strata" in str(found)


def test_tables_of_the_same_clusters_need_no_joint_table():
    rows = Rows(14, clusters=4)
    joint = rows.joint()
    for name, of in (("ecc", None), ("recall", 2)):
        together = wmcc.compare(joint, name, of=of)
        apart = wmcc.compare(joint.tables, name, of=of, sample="clusters")
        assert apart.se == pytest.approx(together.se, rel=1e-10)
        assert apart.p_value == pytest.approx(together.p_value, rel=1e-8)
        assert (apart.strata, apart.clusters) == (4, together.clusters)
    b = wmcc.tabulate(
        rows.truth, rows.other, rows.w, cluster=rows.cluster, design=wmcc.Strata(rows.stratum, lonely="adjust")
    )
    with pytest.raises(InputError, match=r"'a' and 'b' were tabulated with different `lonely`"):
        wmcc.compare({"a": rows.table(), "b": b}, sample="clusters")
    with pytest.raises(InputTypeError, match="has no clusters"):
        wmcc.compare(Rows(14).joint().tables, sample="clusters")
    plain = wmcc.tabulate(rows.truth, rows.other, rows.w, cluster=rows.cluster)
    with pytest.raises(InputError, match=r"only the table of 'a' has a design"):
        wmcc.compare({"a": rows.table(), "b": plain}, sample="clusters")


def test_independent_samples_add_their_variances():
    a, b = Rows(15).table(), Rows(16, clusters=4).table()
    found = wmcc.compare({"a": a, "b": b}, "ecc", sample="independent")
    x, y = (wmcc.interval(table, "ecc") for table in (a, b))
    assert found.se == pytest.approx(hypot(x.se, y.se))
    assert found.low == pytest.approx(found.value - hypot(x.value - x.low, y.high - y.value))
    assert found.strata == 8
    own = wmcc.compare({"a": a, "b": b}, "recall", of=1, sample="independent")
    assert own.se == pytest.approx(hypot(*(wmcc.interval(table, "recall", of=1).se for table in (a, b))))


def test_replicates_move_both_scores():
    rows = Rows(17, clusters=4)
    factors, scales = jackknife(rows)
    K, R = rows.classes, len(factors)
    codes = np.stack([rows.truth, rows.pred, rows.other])
    keys, at = np.unique(codes, axis=1, return_inverse=True)
    at = at.reshape(-1)

    def exact(x):
        return Exact.from_floats(np.bincount(at, x, keys.shape[1]))

    n, ends = np.bincount(at), np.full(keys.shape[1], 1.0)
    sums = Sums(n, exact(rows.w), exact(rows.w**2), ends, ends * 9, tuple(exact(rows.w * f) for f in factors))
    drawn = SampleDesign("replicates", replicates=ReplicateFactors("jkn", scales, float(R - 4)))
    joint = wmcc.JointTable(tuple(range(K)), ("a", "b"), Stack(keys, sums), drawn=drawn)

    def gap(w):
        return wmcc.ecc(rows.truth, rows.pred, sample_weight=w) - wmcc.ecc(rows.truth, rows.other, sample_weight=w)

    moved = np.array([gap(rows.w * f) - gap(rows.w) for f in factors])
    found = wmcc.compare(joint, "ecc")
    assert found.se == pytest.approx((np.array(scales) @ moved**2) ** 0.5, rel=1e-9)
    assert found.df <= R - 4


def quiet_pair(seed=0, clusters=None, n=(100, 50), small=1000):
    """In the small stratum b errs more often; in the large one, nothing that was drawn is predicted differently."""
    rng, h = np.random.default_rng(seed), np.repeat([0, 1], n)
    y = np.arange(len(h)) % 2
    a, b = (np.where((rng.random(len(h)) < rate) & (h == 0), 1 - y, y) for rate in (0.05, 0.25))
    more = {} if clusters is None else {"cluster": np.arange(len(h)) // clusters}
    return flat.tabulate(y, {"a": a, "b": b}, stratum=h, population={0: small, 1: 100_000 - small}, **more)


def test_a_stratum_without_a_difference_extends_the_interval():
    joint = quiet_pair()
    found = wmcc.compare(joint, "accuracy", margin=0.05)
    missed = 0.99 * (1 - 0.025 ** (1 / 50))
    seen = stdtrit(found.df, 0.975) * found.se
    assert found.value > 0
    assert found.low == pytest.approx(found.value - hypot(seen, missed), rel=1e-9)
    assert found.high == pytest.approx(found.value + hypot(seen, missed), rel=1e-9)
    assert found.winner is None
    assert any("stratum 1 (99 % of the weight) hardly vary the difference" in why for why in found.warnings)
    assert wmcc.compare(joint, "recall", of=1).winner is None
    joint = quiet_pair(small=60_000)
    found = wmcc.compare(joint, "accuracy", margin=0.05)
    level = 1 - found.p_value
    assert 0.5 < level < 1
    assert wmcc.compare(joint, "accuracy", confidence_level=level).low == pytest.approx(0, abs=1e-9)
    worse = wmcc.compare(joint, "accuracy", confidence_level=1 - 2 * found.p_noninferior).low
    assert worse == pytest.approx(-0.05, abs=1e-9)


def test_clusters_without_a_difference_extend_the_interval():
    joint = quiet_pair(clusters=5)
    together, apart = wmcc.compare(joint, "ecc"), wmcc.compare(joint.tables, "ecc", sample="clusters")
    for found in (together, apart):
        assert any("sampled clusters of stratum 1" in why for why in found.warnings)
        assert found.winner is None
        assert found.high - found.value > 3 * found.se
    assert apart.se == pytest.approx(together.se)


def test_the_true_difference_is_covered_where_it_was_not_seen():
    rng, h = np.random.default_rng(2), np.repeat([0, 1], (100, 50))
    covered = wrong = 0
    for _ in range(60):
        y = rng.integers(0, 2, len(h))
        a, b = (np.where(rng.random(len(h)) < np.array(p)[h], 1 - y, y) for p in ((0.05, 0.02), (0.25, 0.0)))
        joint = wmcc.tabulate(y, {"a": a, "b": b}, design=wmcc.Strata(h, population={0: 1000, 1: 99000}))
        found = wmcc.compare(joint, "accuracy")
        covered += found.low <= -0.0178 <= found.high
        wrong += found.winner == "a"
    assert covered >= 56
    assert wrong <= 3


def test_one_of_the_predictions_may_be_the_strata():
    """Strata of the classes of a map: another map may differ from it in any class."""
    y = [0] * 30 + [1] * 30 + [2] * 30
    b = [0] * 30 + [1] * 26 + [2] * 4 + [2] * 28 + [1] * 2
    joint = wmcc.tabulate(y, {"map": y, "b": b}, design=wmcc.Strata(y, population={0: 900, 1: 50, 2: 50}))
    found = wmcc.compare(joint, "accuracy")
    assert found.high - found.value > 0.9 * (1 - 0.025 ** (1 / 30))
    assert any("stratum 0 (90 % of the weight)" in why for why in found.warnings)


def test_a_census_of_two_predictions_is_exact():
    y = [0, 1] * 6
    for clusters in (None, list(range(12))):
        sizes = {"population": {0: 6, 1: 6}, "fpc": True} if clusters is None else {"fpc": {0: 6, 1: 6}}
        more = {"stratum": [0] * 6 + [1] * 6, "cluster": clusters, **sizes}
        joint = flat.tabulate(y, {"a": y, "b": [1] * 3 + y[3:]}, **more)
        ways = [wmcc.compare(joint, margin=0.1)]
        ways += [] if clusters is None else [wmcc.compare(joint.tables, sample="clusters", margin=0.1)]
        for found in ways:
            assert (found.se, found.low, found.high) == (0.0, found.value, found.value)
            assert (found.problem, found.p_value, found.p_noninferior) == (None, 0.0, 0.0)
            assert found.verdict == "a scores higher than b"
        same = wmcc.compare(flat.tabulate(y, {"a": y, "b": y}, **more))
        assert (same.p_value, same.verdict) == (1.0, "a and b score the same")


def test_what_was_not_tested_has_no_verdict():
    found = wmcc.compare(wmcc.tabulate([0, 1, 1], {"a": [0, 1, 1], "b": [0, 1, 0]}, design=wmcc.Strata([0, 1, 1])))
    assert "stratum 0" in found.problem
    assert found.verdict == "whether a and b differ was not tested"


@pytest.mark.parametrize("clusters", [None, 4])
def test_groups_of_one_sample_share_its_units(clusters):
    rows = Rows(19, clusters=clusters)
    group = np.random.default_rng(19).integers(0, 3, len(rows.w))
    tables = rows.table(by=group)
    for name, of in (("ecc", None), ("f1", 1)):
        u = np.zeros(len(rows.w))
        for g, sign in ((0, 1), (2, -1)):
            own = group == g
            u[own] = sign * rows.w[own] * gradient(name, rows.truth[own], rows.pred[own], rows.w[own], of)
        pair = {"first": tables[0], "third": tables[2]}
        found = wmcc.compare(pair, name, of=of, sample="clusters")
        assert found.se == pytest.approx(variance(by_unit(rows, u)) ** 0.5, rel=1e-10)
        x, y = (wmcc.interval(table, name, of=of) for table in pair.values())
        r = (x.se**2 + y.se**2 - found.se**2) / (2 * x.se * y.se)
        d, e = x.value - x.low, y.high - y.value
        assert found.value - found.low == pytest.approx((d * d + e * e - 2 * r * d * e) ** 0.5, rel=1e-9)
        assert (found.n, found.strata) == (int((group != 1).sum()), 4)
        with pytest.raises(InputError, match="groups of one sample"):
            wmcc.compare(pair, name, of=of, sample="independent")
    if clusters is None:
        with pytest.raises(InputError, match="share rows"):
            wmcc.compare({"a": tables[0], "b": tables[0], "c": tables[1], "d": tables[2]}, sample="clusters")


def test_groups_with_replicate_weights():
    rng = np.random.default_rng(23)
    y, group, unit = rng.integers(0, 2, 200), rng.integers(0, 2, 200), np.arange(200) // 20
    pred = np.where(rng.random(200) < 0.8, y, 1 - y)
    factors = np.array([np.where(unit == r, 0.0, 10 / 9) for r in range(10)])
    tables = wmcc.tabulate(y, pred, np.ones(200), by=group, design=wmcc.Replicates(factors.T, "jk1"))
    found = wmcc.compare({"a": tables[0], "b": tables[1]}, "accuracy", sample="clusters")

    def gap(w):
        right = w * (y == pred)
        return right[group == 0].sum() / w[group == 0].sum() - right[group == 1].sum() / w[group == 1].sum()

    moved = np.array([gap(f) for f in factors]) - gap(np.ones(200))
    assert found.se == pytest.approx((0.9 * moved @ moved) ** 0.5)
    other = wmcc.tabulate(
        y, pred, np.ones(200), design=wmcc.Replicates(factors.T, "jk1")
    )  # a survey of the same method
    stored = wmcc.Tables.from_json(tables.to_json())
    for one in (tables, stored, tables.rename({0: 7})):
        with pytest.raises(InputError, match="the tables of 'a' and 'b' are of groups of one sample") as refused:
            wmcc.compare({"a": one[0], "c": other, "b": one[1]}, "accuracy", sample="independent")
        assert "`sample` 'clusters'" in refused.value.hint
    apart = wmcc.compare({"a": tables[0], "other": other}, "accuracy", sample="independent")
    a, b = (wmcc.interval(x, "accuracy").se for x in (tables[0], other))
    assert apart.se == pytest.approx((a**2 + b**2) ** 0.5)


def test_groups_of_one_sample_beside_another_sample():
    rows, other = Rows(19), Rows(20)
    tables = rows.table(by=np.arange(len(rows.w)) % 2)
    with pytest.raises(InputError, match="the tables of 'a' and 'b' are of groups of one sample"):
        wmcc.compare({"a": tables[0], "b": tables[1], "c": other.table()}, sample="independent")
    assert wmcc.compare({"a": tables[0], "c": other.table()}, sample="independent").problem is None


def test_headlines_of_independent_samples_name_strata():
    found = wmcc.compare({"a": Rows(15).table(), "b": Rows(16, clusters=4).table()}, "ecc", sample="independent")
    assert " rows in 4 strata, b " in str(found)
    assert " clusters in 4 strata\n" in str(found)


# ---- strata without an error --------------------------------------------------------------------------------------


def strata_of(counts, population, **keywords):
    """Table of counts[stratum][true][predicted]."""
    counts = np.array(counts)
    h, t, p = (np.repeat(x.reshape(-1), counts.reshape(-1)) for x in np.indices(counts.shape))
    return flat.tabulate(t, p, stratum=h, population=dict(enumerate(population)), **keywords)


def test_a_stratum_without_an_error_extends_the_interval():
    counts = [[[50, 0], [0, 0]], [[4, 6], [5, 35]]]
    table = strata_of(counts, [630, 370])
    found = wmcc.interval(table, "accuracy")
    z2 = 0.37**2 * (39 / 50 * 11 / 50) / 49
    assert found.se == pytest.approx(z2**0.5, rel=1e-12)  # which does not know of the first stratum
    missed = 0.63 * (1 - 0.025 ** (1 / 50))
    x, t = found.value, stdtrit(49, 0.975)
    seen = [(1 + np.tanh(np.arctanh(2 * x - 1) + side * t * found.se / (2 * x * (1 - x)))) / 2 for side in (-1, 1)]
    assert found.df == pytest.approx(49)
    assert found.low == pytest.approx(x - hypot(x - seen[0], missed), rel=1e-9)
    assert found.high == pytest.approx(seen[1], rel=1e-9)  # there is nothing to gain
    said = [why for why in found.warnings if "stratum 0 (63 % of the weight)" in why]
    assert len(said) == 1
    assert said[0].startswith("the sampled rows of stratum 0 (63 % of the weight) hardly vary the score")
    assert not any("63 %" in why for why in wmcc.interval(strata_of(counts, [1, 999]), "accuracy").warnings)


def test_a_perfect_score_has_the_exact_limit():
    table = strata_of([[[30, 0], [0, 10]]], [1000])
    found = wmcc.interval(table, "accuracy")
    assert (found.value, found.high, found.se) == (1.0, 1.0, 0.0)
    assert found.low == pytest.approx(0.025 ** (1 / 40), rel=1e-9)
    assert "no row of the sample lowers the score" in found.warnings[0]
    finite = wmcc.interval(strata_of([[[30, 0], [0, 10]]], [50], fpc=True), "accuracy")
    assert 1 - 10 / 50 < finite.low < 1
    assert finite.low > found.low
    own = wmcc.interval(table, "recall", of=1)
    share = 1 - 0.025 ** (1 / 40)  # of all, that may be missed rows of the class
    assert own.low == pytest.approx((0.25 * (1 - share)) / (0.25 * (1 - share) + share), rel=1e-6)


def test_clusters_with_errors_are_partly_wrong():
    # Two strata of five clusters of four rows; in the second, two clusters have one wrong row each.
    truth = np.zeros(40, dtype=int)
    pred = truth.copy()
    pred[[20, 24]] = 1
    keys = {"stratum": np.arange(40) // 20, "cluster": np.arange(40) // 4}
    table = flat.tabulate(truth, pred, labels=[0, 1], population={0: 90, 1: 10}, **keys)
    strata = Sample.of(table).strata
    assert strata.wrong_part == pytest.approx(0.25)
    found = wmcc.interval(table, "accuracy")
    missed = 0.9 * (1 - 0.025 ** (1 / 5)) * 0.25
    x, t = found.value, stdtrit(found.df, 0.975)
    seen = (1 + np.tanh(np.arctanh(2 * x - 1) - t * found.se / (2 * x * (1 - x)))) / 2
    assert found.low == pytest.approx(x - hypot(x - seen, missed), rel=1e-9)
    assert "the sampled clusters of stratum 0 (90 % of the weight) hardly vary the score" in " ".join(found.warnings)


def test_shares_are_those_that_could_have_been_missed_together():
    gain, draws, tail = np.array([3.0, 2.0, 1.0, 0.0]), np.array([10.0, 20.0, 5.0, 3.0]), 0.025
    found = _largest_shares(gain, draws, tail)
    assert ((1 - found) ** draws).prod() == pytest.approx(tail)
    assert found[3] == 0
    rng = np.random.default_rng(0)
    for _ in range(300):  # nothing else that has so large a chance to be missed gains more
        parts = rng.dirichlet(np.ones(4))
        other = 1 - tail ** (parts / draws)
        assert gain @ other <= gain @ found + 1e-12
    many = _largest_shares(np.full(1000, 0.001), np.full(1000, 2.0), tail)
    assert many.sum() * 0.001 == pytest.approx(1 - tail ** (1 / 2000), rel=1e-6)  # as if they were one stratum


def test_a_higher_level_has_a_longer_interval():
    table = strata_of([[[20, 0], [0, 9]], [[0, 0], [0, 12]], [[4, 1], [2, 7]]], [500, 300, 100])
    for name in MULTICLASS:
        ends = [wmcc.interval(table, name, confidence_level=level) for level in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)]
        assert all(a.low >= b.low - 1e-12 and a.high <= b.high + 1e-12 for a, b in pairwise(ends))
        assert all(MEASURES[name].range[0] <= x.low <= x.value <= x.high <= MEASURES[name].range[1] for x in ends)


def test_a_score_may_turn_round_before_all_is_moved():
    table = strata_of([[[1, 0], [0, 4]], [[0, 4], [3, 2]]], [3, 1])
    sample, value = Sample.of(table), wmcc.ecc(table)
    predicted = [Predicted(sample.cells, sample.strata)]
    missed = MissedErrors(MEASURES["ecc"], value, predicted, np.array([True, False]), sample.strata.wrong_part)
    ends = [missed.ends(tail) for tail in (0.2, 0.05, 0.01, 1e-3, 1e-5)]
    assert ends[0][0] < value < ends[0][1]
    assert all(a > b for (a, _), (b, _) in pairwise(ends))
    assert all(
        a <= b + 0.002 for (_, a), (_, b) in pairwise(ends)
    )  # where less than the most that may be moved is best


@pytest.mark.parametrize("name", ["ecc", "mean_iou"])
def test_weight_is_moved_where_it_counts_most(name):
    rng = np.random.default_rng(5)
    truth, stratum, w = rng.integers(0, 4, 300), rng.integers(0, 5, 300), rng.uniform(1, 3, 300)
    pred = np.where(rng.random(300) < 0.8, truth, rng.integers(0, 4, 300)) // (1 + (stratum == 4))
    table, measure = wmcc.tabulate(truth, pred, w, design=wmcc.Strata(stratum)), MEASURES[name]
    sample, value, quiet = Sample.of(table), measure(table), np.array([True, False, True, True, True])
    shares = 1 - 0.025 ** (1 / sample.strata.draws)

    def scores_of_moves(h):
        part = np.zeros((4, 4))
        np.add.at(part, (truth[stratum == h], pred[stratum == h]), w[stratum == h])
        for t, p in np.ndindex(4, 4):
            if part[:, p].any():
                moved = table.w - shares[h] * part
                moved[t, p] += shares[h] * part.sum()
                yield float(measure.near(Shares.of_cells(moved)))

    missed = MissedErrors(measure, value, [Predicted(sample.cells, sample.strata)], quiet, sample.strata.wrong_part)
    for side, sign in zip(missed._sides, (1, -1), strict=True):
        furthest = [max(sign * (value - score) for score in scores_of_moves(h)) for h in np.flatnonzero(quiet)]
        assert side.gain == pytest.approx(np.array(furthest) / shares[quiet], rel=1e-9)


@pytest.mark.parametrize("keywords", [{}, {"population": dict(enumerate((900.0, 70.0, 400.0, 1e-3)))}])
def test_a_class_against_the_rest_has_the_weights_of_the_design(keywords):
    rows = Rows(3, even=True)
    table = flat.tabulate(rows.truth, rows.pred, stratum=rows.stratum, **keywords)
    anew = table.against_rest(1)
    table.design_cells  # noqa: B018 - what is known of the weights is used again
    again = table.against_rest(1)
    assert again.design_cells == anew.design_cells
    assert again.cells == anew.cells


def test_many_strata_of_which_most_have_no_error_are_no_reason_for_a_warning():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 800)
    pred = np.where(rng.random(800) < 0.9, truth, 1 - truth)
    found = wmcc.interval(wmcc.tabulate(truth, pred, design=wmcc.Strata(np.arange(800) // 2)), "accuracy")
    assert found.reliable
    plain = wmcc.interval(wmcc.tabulate(truth, pred), "accuracy")
    assert found.high - found.low == pytest.approx(plain.high - plain.low, rel=0.15)


# ---- published examples -------------------------------------------------------------------------------------------


def of_counts(counts, population):
    """Table of map classes (rows) and the reference (columns); the strata are the map classes."""
    called, truth = (np.repeat(x.reshape(-1), np.reshape(counts, -1)) for x in np.indices(np.shape(counts)))
    return wmcc.tabulate(truth, called, design=wmcc.Strata(called, population=dict(enumerate(population))))


def stehman(**keywords):
    """Strata that are not the map's classes: Stehman 2014."""
    strata, called, truth = (
        list(text)
        for text in (
            "AAAAAAAAAABBBBBBBBBBCCCCCCCCCCDDDDDDDDDD",
            "AAAAAAABBBABBBBBBBBBBBCCCCCCBBDDDDDDDDDD",
            "AAAAACBABCABBBBBAABBCCCCCDDBBADDDDDDDCCB",
        )
    )
    sizes = dict(zip("ABCD", (40000, 30000, 20000, 10000), strict=True))
    return flat.tabulate(truth, called, stratum=strata, population=sizes, **keywords)


def errors(table, *names, of=None):
    return [wmcc.interval(table, name, of=of).se for name in names]


def test_olofsson_2014():
    table = of_counts(
        [[66, 0, 5, 4], [0, 55, 8, 12], [1, 0, 153, 11], [2, 1, 9, 313]], [200000, 150000, 3200000, 6450000]
    )
    assert wmcc.accuracy(table) == pytest.approx(0.9465118881, abs=5e-11)
    assert errors(table, "accuracy", "ecc", "mpc1", "mpc2", "kappa") == pytest.approx(
        [0.0094304172, 0.0194577982, 0.0194140813, 0.0273478416, 0.0194672899], abs=5e-11
    )
    users = [wmcc.interval(table, "precision", of=k).se for k in range(4)]
    producers = [wmcc.interval(table, "recall", of=k).se for k in range(4)]
    assert users == pytest.approx([0.0377760, 0.0514066, 0.0202782, 0.0104763], abs=5e-8)
    assert producers == pytest.approx([0.1088316, 0.1298002, 0.0175125, 0.0093681], abs=5e-8)


def test_stehman_2014():
    finite = stehman(fpc=True)
    assert errors(finite, "accuracy") == pytest.approx([0.084642188062455], rel=1e-13)
    assert errors(finite, "ecc", "mpc1", "mpc2") == pytest.approx([0.1162171080, 0.1160469810, 0.1065510508], abs=5e-11)
    users = [wmcc.interval(finite, "precision", of=k).se for k in "ABCD"]
    producers = [wmcc.interval(finite, "recall", of=k).se for k in "ABCD"]
    assert users == pytest.approx([0.1645420, 0.1247822, 0.2151119, 0.1526761], abs=5e-8)
    assert producers == pytest.approx([0.1477101, 0.1165479, 0.1504108, 0.1622797], abs=5e-8)
    plain = stehman()
    assert errors(plain, "accuracy") == pytest.approx([0.08465616732800196], rel=1e-13)
    f1 = [wmcc.interval(plain, "f1", of=k).se for k in "ABCD"]
    assert f1 == pytest.approx([0.1282960, 0.1002029, 0.1613113, 0.1287357], abs=5e-8)
    pairs = stehman(cluster=[k // 2 for k in range(40)])
    assert errors(pairs, "accuracy") == pytest.approx([0.10488088481701516], rel=1e-13)
    assert errors(pairs, "ecc", "mpc1", "mpc2") == pytest.approx([0.1496855688, 0.1501116910, 0.1330924685], abs=5e-11)
    assert errors(pairs, "precision", "recall", of="B") == pytest.approx(
        [0.14077531353971434, 0.12216235900763331], rel=1e-13
    )


def test_olofsson_2013():
    table = of_counts([[97, 0, 3], [3, 279, 18], [2, 1, 97]], [22353, 1122543, 610228])
    assert wmcc.accuracy(table) == pytest.approx(0.9444167819, abs=5e-11)
    assert errors(table, "accuracy", "ecc") == pytest.approx([0.0111643995, 0.0214268289], abs=5e-11)
    assert [wmcc.interval(table, "recall", of=k).se for k in range(3)] == pytest.approx(
        [0.1145585, 0.0057783, 0.0210236], abs=5e-8
    )


# ---- diagnoses ----------------------------------------------------------------------------------------------------


def test_a_diagnosis_has_the_effect_of_the_design():
    rows = Rows(21, clusters=4)
    table = rows.table(fpc=dict.fromkeys(range(4), 1000))
    found = wmcc.diagnose(table, measure="mpc2")
    w = rows.w / rows.w.sum()
    g = gradient("mpc2", rows.truth, rows.pred, w)
    alone = (w * g**2).sum() / (len(w) - 1)  # of independent rows of equal weight
    x = wmcc.interval(table, "mpc2")
    design = found.design
    assert design.design_effect == pytest.approx(x.se**2 / alone, rel=1e-9)
    assert design.n_eff == pytest.approx(len(w) / design.design_effect)
    assert (design.measure, design.df, design.problem) == ("mpc2", x.df, None)
    z = by_unit(rows, rows.w * gradient("mpc2", rows.truth, rows.pred, rows.w))
    for h, own in enumerate(design.strata):
        rows_there = rows.stratum == h
        assert (own.stratum, own.n, own.units) == (h, rows_there.sum(), len(z[h]))
        assert own.share == pytest.approx(w[rows_there].sum())
        assert own.variance == pytest.approx(variance({h: z[h]}, {h: 1000}) / x.se**2, rel=1e-9)
        assert (own.population, own.fraction) == (None, len(z[h]) / 1000)
    assert "Effect of the design on MPC2" in str(found)
    records = found.records()
    assert {tuple(row) for row in records} == {tuple(records[0])}
    assert [row["stratum"] for row in records if row["scope"] == "stratum"] == ["0", "1", "2", "3"]
    assert wmcc.diagnose(wmcc.tabulate(rows.truth, rows.pred)).design is None


def test_a_diagnosis_warns_of_the_design():
    truth = np.array([0, 1] * 40)
    pred = np.where(np.arange(80) % 19 == 0, 1 - truth, truth)
    stratum = np.where(np.arange(80) < 74, "many", "few")
    table = wmcc.tabulate(truth, pred, design=wmcc.Strata(stratum, population={"many": 1, "few": 999}))
    found = wmcc.diagnose(table)
    assert found.warnings[0].startswith("for ECC (R_K) the sample is as precise as ")
    assert "stratum 'few' has 6 sampled rows and 100 % of the variance of ECC (R_K)" in found.warnings[1]
    assert any(why.startswith("Sample: for ECC (R_K)") for why in wmcc.score(table).warnings)
    lonely = wmcc.diagnose(wmcc.tabulate([0, 1, 1], [0, 1, 0], design=wmcc.Strata(["a", "a", "b"])))
    assert "a single row was sampled in stratum 'b'" in lonely.design.problem
    assert isnan(lonely.design.design_effect)
    assert json.loads(lonely.to_json())["design"]["design_effect"] is None


def test_replicates_have_a_design_effect():
    rows = Rows(22, clusters=4)
    factors, scales = jackknife(rows)
    table = replicated(rows, factors, scales=scales)
    found = wmcc.diagnose(table, measure="accuracy").design
    w = rows.w / rows.w.sum()
    g = gradient("accuracy", rows.truth, rows.pred, w)
    alone = (w * g**2).sum() / (len(w) - 1)
    assert found.design_effect == pytest.approx(wmcc.interval(table, "accuracy").se ** 2 / alone, rel=1e-9)
    assert found.strata == ()


# ---- refusals, flags, forms ------------------------------------------------------------------------------------------


def test_the_bootstrap_is_refused():
    rows = Rows(18)
    for table in (rows.table(), replicated(rows, np.ones((3, len(rows.w))))):
        with pytest.raises(InputTypeError, match="the bootstrap draws rows or clusters of one population"):
            wmcc.interval(table, method="bootstrap")
        with pytest.raises(InputTypeError, match="the bootstrap draws rows or clusters of one population"):
            wmcc.interval(table, "recall", of=1, method="bootstrap")
    delta = wmcc.interval(rows.table(), "ecc", method="delta")
    assert delta.high - delta.value == pytest.approx(1.959964 * delta.se, rel=1e-6)


@pytest.mark.parametrize("name", ["accuracy", "ecc", "mpc2"])
def test_the_row_that_matters_most(name):
    rows = Rows(29, classes=4, strata=3)
    rows.pred[rows.stratum == 1] = 2  # as if the second stratum were a class of the map
    w = rows.w / rows.w.sum()
    table = rows.table()
    sample = Sample.of(table)
    slopes = MEASURES[name].gradient(table) * rows.w.sum()
    worst, heavy = 0.0, 0.0
    for h in range(3):
        own = rows.stratum == h
        usual, g = (w[own] ** 2).sum() / w[own].sum(), slopes[rows.truth[own], rows.pred[own]]
        mean = (w[own] * g).sum() / w[own].sum()
        cells = [slopes[a, b] for a in range(4) for b in set(rows.pred[own].tolist())]
        worst = max(worst, *(((x - mean) * usual) ** 2 for x in cells))
        heavy = max(heavy, (w[own] * (g - mean) ** 2).sum() / w[own].sum() * w[own].max() ** 2)
    measure, cells = MEASURES[name], sample.cells
    of_all = measure.slope(Shares.of(table), measure(table))
    slope = balance(of_all.of_table(cells.codes), cells)
    influence = sample.strata.row_influence(slope, of_all, cells.codes)
    assert sample.strata.row_variance(influence).max() == pytest.approx(worst, rel=1e-9)
    assert sample.strata.heaviest(slope) == pytest.approx(heavy, rel=1e-9)
    rows.w = 1.0 + rows.stratum
    even = Sample.of(rows.table())
    assert even.strata.heaviest(slope) == 0.0  # weights differ between strata only


def test_doubts_of_rows_in_strata_say_at_which_end():
    """Errors that were missed lower a high score, and hits that were missed raise a low one."""
    truth, stratum, row = np.tile([0, 1], 60), np.repeat([0, 1, 2], 40), np.arange(120)
    one, some, w = row == 7, row % 10 == 7, np.where(row == 50, 30.0, 1.0)
    for rare, rest, end in ((1 - truth, truth, "lower"), (truth, 1 - truth, "upper")):
        for of_row, weight, why in (
            (one, None, "fewer than about 3 influential rows determine the standard error"),
            (some, w, "a single row with the largest weight can make up more than 30 % of the variance"),
        ):
            table = wmcc.tabulate(truth, np.where(of_row, rare, rest), weight, design=wmcc.Strata(stratum))
            found = wmcc.interval(table, "accuracy").warnings
            assert f"{why}; the interval may be too short at its {end} end" in found


def test_flags_of_rows():
    # One wrong row in a heavy stratum of 40, and many in a light one.
    counts = [[[20, 1], [0, 19]], [[30, 20], [20, 30]]]
    heavy = wmcc.interval(strata_of(counts, [900, 100]), "accuracy")
    assert [why for why in heavy.warnings if why.startswith("fewer than about 3 influential rows")]
    light = wmcc.interval(strata_of(counts, [10, 900]), "accuracy")
    assert light.reliable
    rows = Rows(30, even=True, strata=2, least=50)
    rows.w[np.flatnonzero(rows.truth != rows.pred)[0]] = 60.0
    uneven = wmcc.interval(rows.table(), "accuracy")
    assert [why for why in uneven.warnings if why.startswith("a single row with the largest weight")]


def test_few_degrees_of_freedom_are_said():
    rows = Rows(19, strata=1, clusters=3)
    assert any("fewer than 2 degrees of freedom" in why for why in wmcc.interval(rows.table(), "accuracy").warnings)


def test_results_say_how_many_strata_there_are():
    rows = Rows(20, clusters=4)
    found = wmcc.interval(rows.table(), "ecc")
    assert f"(fisher, {found.clusters} clusters, 4 strata, se " in str(found)
    assert json.loads(found.to_json())["strata"] == 4
    assert wmcc.score(rows.table()).strata == 4
    assert wmcc.interval(wmcc.tabulate([0, 1] * 9, [0, 1, 1] * 6)).strata is None
    assert (
        wmcc.interval(wmcc.tabulate([0, 1] * 9, [0, 1, 1] * 6, design=wmcc.Strata(population=100, fpc=True))).strata
        is None
    )


def test_a_lonely_stratum_elsewhere_is_no_problem():
    rows = lonely_rows()
    inside = (rows.stratum != 1) & (rows.stratum != 4)
    tables = rows.table(by=inside.astype(int))
    found = wmcc.interval(tables[1], "ecc")
    z = by_unit(rows, _own(rows, inside))
    expected = variance({h: own for h, own in z.items() if len(own) > 1})
    assert found.se == pytest.approx(expected**0.5, rel=1e-11)
    assert "each of the strata 1, 4," in wmcc.interval(tables[0], "accuracy").problem


@pytest.mark.parametrize("clusters", [None, 4])
@pytest.mark.parametrize("scale", [2.0**-900, 2.0**900])
def test_the_unit_of_weights_does_not_matter(scale, clusters):
    rows = Rows(23, clusters=clusters)
    before = [wmcc.interval(rows.table(), name) for name in ("ecc", "mpc2")]
    own = wmcc.interval(rows.table(), "f1", of=1)
    rows.w = rows.w * scale
    for a, name in zip(before, ("ecc", "mpc2"), strict=True):
        b = wmcc.interval(rows.table(), name)
        assert (b.value, b.low, b.high, b.se, b.df) == (a.value, a.low, a.high, a.se, a.df)
    assert wmcc.interval(rows.table(), "f1", of=1).se == pytest.approx(own.se, rel=1e-12)


def test_strata_of_very_different_weight():
    rows = Rows(24, even=True, strata=3)
    light = np.array([1e-120, 1.0, 1e-60])
    rows.w = light[rows.stratum]
    found = wmcc.interval(rows.table(), "accuracy")
    own = (rows.truth == rows.pred)[rows.stratum == 1]
    assert found.se == pytest.approx((own.mean() * (1 - own.mean()) / (len(own) - 1)) ** 0.5, rel=1e-9)


def test_a_report_says_how_intervals_are_made(tmp_path):
    for clusters, unit in ((None, "rows"), (4, "clusters")):
        path = tmp_path / f"{unit}.md"
        table = Rows(25, clusters=clusters).table()
        wmcc.write_report(path, table, eps=0.1)
        said = path.read_text(encoding="utf-8")
        assert f"over each of the m sampled {unit} of a stratum" in said
        effect = wmcc.diagnose(table, measure="ecc").design.design_effect
        assert "Effect of the design on ECC (R\\_K)" in said
        assert float(said.split("| Design effect |")[1].split("|")[0]) == pytest.approx(effect, abs=1e-5)
        assert "| Stratum | Rows drawn |" in said


def test_uncertainty_goes_by_the_design():
    rows = Rows(26)
    assert wmcc.results.uncertainty(rows.table(), "ecc").sampling == wmcc.interval(rows.table(), "ecc")
    assert wmcc.results.uncertainty(rows.joint(), "ecc").sampling.se == wmcc.compare(rows.joint(), "ecc").se


@pytest.mark.parametrize("fpc", [False, True])
def test_a_stratum_of_size_0_needs_no_unit(fpc):
    rows = Rows(31, even=True)
    sizes = {0: 100, 1: 300, 2: 50, 3: 900}
    given = {"stratum": rows.stratum, "fpc": fpc}
    without = flat.tabulate(rows.truth, rows.pred, population=sizes, **given)
    table = flat.tabulate(rows.truth, rows.pred, population={**sizes, 4: 0}, **given)
    a, b = (wmcc.interval(x, "ecc") for x in (without, table))
    assert (a.low, a.high, a.se, a.df) == (b.low, b.high, b.se, b.df)
    assert table == without  # it is no stratum
    assert len(wmcc.diagnose(table).design.strata) == 4


def test_uneven_clusters_are_seen_in_replicates():
    """The total weight varies with uneven clusters: fewer degrees of freedom, longer intervals; the error is V's."""
    rng = np.random.default_rng(4)
    cluster = np.repeat(np.arange(20), 30)
    truth = rng.integers(0, 2, 600)
    guess = np.where(rng.random(600) < rng.beta(4, 2, 20)[cluster], truth, 1 - truth)
    factors = np.where(np.eye(20), 0.0, 20 / 19)[cluster]
    even, uneven = np.ones(600), rng.lognormal(0, 1, 20)[cluster]
    found = {}
    for name, w in (("even", even), ("uneven", uneven)):
        table = wmcc.tabulate(truth, guess, w, design=wmcc.Replicates(w[:, np.newaxis] * factors, "jk1"))
        found[name] = wmcc.interval(table, "accuracy")
        scores = [wmcc.accuracy(truth, guess, sample_weight=w * own) for own in factors.T]
        V = 19 / 20 * np.square(np.array(scores) - found[name].value).sum()
        assert found[name].se == pytest.approx(V**0.5)
        p = np.bincount(cluster, w) / w.sum()
        v = 20 / 19 * np.square(p - 1 / 20).sum()
        assert found[name].df <= 1 / (1 / 19 + v) * (1 + 1e-12)
        rate = 1 / (2 * found[name].value * (1 - found[name].value))
        z = [np.arctanh(2 * x - 1) for x in (found[name].low, found[name].value, found[name].high)]
        half = -stdtrit(found[name].df, 0.025) * found[name].se * rate * (1 + 2 * v) ** 0.5
        assert (z[1] - z[0], z[2] - z[1]) == pytest.approx((half, half))
    assert found["even"].df > 15 > found["uneven"].df


def test_a_bootstraps_degrees_of_freedom_count_its_own_error():
    rng = np.random.default_rng(5)
    truth, guess = rng.integers(0, 2, (2, 200))
    weights = np.ones((200, 50))
    weights[np.arange(200), rng.integers(0, 50, 200)] = 2.0
    weights *= 200 / weights.sum(axis=0)  # so that the total does not vary
    for said, expected in ((None, 49 / 2), (10, 1 / (1 / 10 + 1 / 49))):
        table = wmcc.tabulate(truth, guess, np.ones(200), design=wmcc.Replicates(weights, "bootstrap", df=said))
        assert wmcc.interval(table, "accuracy").df == pytest.approx(expected)


# ---- degrees of freedom ----------------------------------------------------------------------------------


def uneven_villages(df=None, **more):
    """A survey of villages of very different sizes in three strata."""
    rng = np.random.default_rng(8)
    village = np.repeat(np.arange(12), rng.integers(3, 60, 12))
    truth = rng.integers(0, 3, len(village))
    pred = np.where(rng.random(len(village)) < 0.3 + 0.05 * village, truth, rng.integers(0, 3, len(village)))
    return wmcc.tabulate(truth, pred, cluster=village, design=wmcc.Strata(village % 3, df=df, **more))


def test_the_textbooks_degrees_of_freedom_are_units_less_strata():
    ours, textbook = (wmcc.interval(uneven_villages(df)) for df in (None, "design"))
    assert textbook.df == 12 - 3
    assert ours.df < textbook.df
    assert (ours.value, ours.se) == (textbook.value, textbook.se)
    assert ours.high - ours.low > textbook.high - textbook.low
    z = [np.arctanh((x.low, x.high)) for x in (ours, textbook)]  # by Student's quantiles of these numbers
    quotient = stats.t.ppf(0.975, ours.df) / stats.t.ppf(0.975, textbook.df)
    assert np.ptp(z[0]) / np.ptp(z[1]) == pytest.approx(quotient)
    diagnosis = wmcc.diagnose(uneven_villages()).design
    assert (diagnosis.design_df, diagnosis.df) == (9, ours.df)
    assert wmcc.score(uneven_villages("design")).intervals["mpc1"].df == 9


def test_complete_strata_and_domains_have_their_own():
    fpc = {0: 4, 1: 100, 2: 100}
    assert wmcc.interval(uneven_villages("design", fpc=fpc)).df == 8 - 2  # the first was sampled completely
    table = wmcc.tabulate(
        [0, 1] * 30, [0, 1, 1] * 20, by=[0] * 30 + [1] * 30, design=wmcc.Strata([0] * 30 + [1, 2] * 15, df="design")
    )[1]
    assert wmcc.interval(table, "accuracy").df == 30 - 2


def test_they_are_stored_and_merged_with_the_design():
    table = uneven_villages("design")
    assert wmcc.Table.from_json(table.to_json()) == table
    assert '"df"' not in uneven_villages().to_json()
    assert table.drawn.design.df == "design"
    with pytest.raises(InputError, match="different `df`"):
        table + uneven_villages()
    with pytest.raises(InputError, match="`df` is 12; expected 'design' or None"):
        wmcc.Strata([0, 1], df=12)
    alone = wmcc.tabulate(
        [0, 1] * 20, [0, 1, 1, 1] * 10, cluster=[k // 7 for k in range(40)], design=wmcc.Strata(df="design")
    )
    assert wmcc.interval(alone).df == 5  # clusters without strata are one stratum
