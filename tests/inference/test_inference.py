"""Standard errors and intervals from one table: against the data, closed forms, and under what must not matter."""

import itertools
import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
from helpers import dominated, extreme, few, fractions_of, matrices, rows, table_of
from hypothesis import given
from hypothesis import strategies as st
from samples import MULTICLASS, Sample, alike, applicable, macro_phi, multinomial_variance, phi, sample, samples
from scipy import stats

import wmcc
from wmcc.core.exact import Exact
from wmcc.core.table import FEW_CELLS
from wmcc.inference.influence import ENOUGH_FREE, CellSums, Unit, of_rows
from wmcc.inference.pivot import Pivot
from wmcc.measures import stacks
from wmcc.measures.base import Shares
from wmcc.measures.stacks import PerCell

EACH = pytest.mark.parametrize("measure", wmcc.measures.MEASURES.values(), ids=lambda m: m.name)
METHODS = ("fisher", "delta")
counts_2x2 = st.lists(st.integers(1, 400), min_size=4, max_size=4)


# ---- values of moved tables ------------------------------------------------------------------------------


@EACH
@few(50)
@given(cells=st.one_of(matrices(), matrices(dominated), matrices(extreme)))
def test_near_is_the_value(measure, cells):
    table = table_of(cells)
    lightest = table.w[table.w > 0].min()
    if applicable(measure.name, table) and table.total < 1e300 and lightest / table.total > 1e-140:
        shares = Shares.of_cells(table.w)._replace(classes=table.margins.classes)
        assert float(measure.near(shares)) == pytest.approx(measure(table), abs=1e-9)


@EACH
def test_stacks_are_many_tables(measure):
    rng = np.random.default_rng(3)
    K = 2 if measure.two_classes else 4
    stack = rng.random((5, 6, K, K)) * 10.0 ** rng.uniform(-3, 3, (5, 6, K, K))
    stack[0, 0, 0] = stack[0, 1, :, 0] = 0.0  # absent classes, on either side
    values = measure.near(Shares.of_cells(stack))
    slopes = measure.slope(Shares.of_cells(stack), values).dense()
    for at in np.ndindex(5, 6):
        table = table_of(stack[at])
        assert values[at] == pytest.approx(measure(table), abs=1e-12)
        if K > 2 or (stack[at].any(axis=1).all() and stack[at].any(axis=0).all()):
            gradient = measure.gradient(table) * table.total
            assert slopes[at] == pytest.approx(gradient, rel=1e-9, abs=1e-9 * np.abs(gradient).max())


@EACH
@few(15)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(2, 6), stack=st.sampled_from([(), (3,)]))
def test_slopes_of_some_cells_are_those_of_all(measure, seed, K, stack):
    rng = np.random.default_rng(seed)
    cells = rng.random((*stack, K, K)) * (rng.random((*stack, K, K)) < 0.6) + np.eye(K)
    x = Shares.of_cells(cells)
    slope = measure.slope(x, measure.near(x))
    dense = slope.dense()
    codes = np.indices((K, K)).reshape(2, -1)[:, rng.permutation(K * K)[: K + 1]]
    assert np.array_equal(slope.at(*codes), dense[(..., *codes)])
    again = rng.integers(0, K, (2, K * K))  # as many as there are, but not all of them
    assert np.array_equal(slope.at(*again), dense[(..., *again)])
    everywhere = np.indices((K, K)).reshape(2, -1)
    for some in (everywhere, everywhere[:, rng.random(K * K) < 0.5]):
        assert np.array_equal(slope.of_table(some), dense[(..., *some)])


@given(
    seed=st.integers(0, 2**32 - 1),
    K=st.integers(1, 6),
    void=st.integers(0, 2),
    stack=st.sampled_from([(), (4,), (2, 3)]),
)
def test_the_extreme_slope_is_that_of_all_cells(seed, K, void, stack):
    rng, true = np.random.default_rng(seed), max(1, K - void)
    x = PerCell(*(rng.integers(-9, 10, (*stack, K)) * size for size in (1.0, rng.choice([1.0, 9.0]), 3.0)))
    cells = x.dense()[..., :true, :].reshape(*stack, true * K)
    expected = np.abs(cells).max(axis=-1)
    sides = [(sign * cells).max(axis=-1) for sign in (1, -1)]

    def check():
        found = np.asarray(x.extreme_slope(true))
        assert np.array_equal(np.abs(found), expected)
        assert np.all((sides[0] == sides[1]) | (np.sign(found) == np.where(sides[0] > sides[1], 1, -1)))

    check()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stacks, "FEW", 1)  # as for many classes
        check()


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
@pytest.mark.parametrize("measure", ["mean_iou", "mean_f1", "ecc"])
def test_few_void_predictions_of_many_rows_are_no_reason_for_doubt(measure):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 20_000)
    pred = np.where(rng.random(20_000) < 0.8, truth, rng.integers(0, 4, 20_000))
    pred[:50] = 255
    assert not wmcc.interval(wmcc.tabulate(truth, pred, ignore=255), measure).warnings


@EACH
@few(15)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(2, 7))
def test_many_classes_are_no_other_matter(measure, seed, K):
    """Classes are added up one after the other where there are many: the answers are the same."""
    rng = np.random.default_rng(seed)
    K = min(K, 2) if measure.two_classes else K
    t = rng.integers(0, K, 60)
    p = np.where(rng.random(60) < 0.7, t, rng.integers(0, K, 60))
    table = wmcc.tabulate(t, p, rng.lognormal(0, 1, 60), labels=range(K))
    perfect = wmcc.tabulate(t, t, labels=range(K))
    found = [wmcc.interval(x, measure) for x in (table, perfect)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stacks, "FEW", 1)
        for x, before in zip((table, perfect), found, strict=True):
            assert alike(wmcc.interval(x, measure), before, 1e-12)


# ---- standard errors -------------------------------------------------------------------------------------


def derivative(name, C, a, b):
    """∂M/∂C_ab in 900 digits."""
    h = min(x for row in C for x in row if x) / 10**60
    values = []
    for step in (h, -h):
        moved = [row[:] for row in C]
        moved[a][b] += step
        values.append(oracle.exact(name, moved))
    with oracle.precision():
        return (values[0] - values[1]) / (2 * oracle.real(h))


@EACH
@few(12)
@given(data=rows(classes=3, most=12, weight=st.floats(0.01, 100)))
def test_the_variance_is_that_of_the_gradient(measure, data):
    table = wmcc.tabulate(*data.arrays)
    if not applicable(measure.name, table):
        return
    found = wmcc.interval(table, measure)
    if found.problem:
        return
    C, squares = (f(*data, table.labels) for f in (oracle.matrix, oracle.squares))
    variance = 0
    with oracle.precision():
        for a, b in np.argwhere(table.n).tolist():
            variance += derivative(measure.name, C, a, b) ** 2 * oracle.real(squares[a][b])
    assert found.se**2 == pytest.approx(float(variance), rel=1e-9, abs=1e-28)


@EACH
@few(15)
@given(data=samples)
def test_the_variance_is_the_sum_of_what_each_row_moves(measure, data):
    table = data.only(slice(40)).table
    if not applicable(measure.name, table) or wmcc.interval(table, measure).problem:
        return
    t, p, w = data.only(slice(40))
    h, u = 1e-5, []
    for i in range(len(w)):
        ends = [measure(t, p, sample_weight=np.where(np.arange(len(w)) == i, w * (1 + step), w)) for step in (h, -h)]
        u.append((ends[0] - ends[1]) / (2 * h))
    assert sum(u) == pytest.approx(0, abs=1e-7)
    assert wmcc.interval(table, measure).se == pytest.approx(math.sqrt(sum(x * x for x in u)), rel=1e-5, abs=1e-9)


@given(counts=counts_2x2)
def test_unit_weights_have_the_classical_variance_of_mcc(counts):
    C = np.array(counts).reshape(2, 2)
    p, n = C / C.sum(), C.sum()
    (r1, r2), (c1, c2) = p.sum(axis=1), p.sum(axis=0)
    f = (p[0, 0] * p[1, 1] - p[0, 1] * p[1, 0]) / math.sqrt(r1 * r2 * c1 * c2)
    skew = (r1 - r2) * (c1 - c2) / math.sqrt(r1 * r2 * c1 * c2)
    square = (r1 - r2) ** 2 / (r1 * r2) + (c1 - c2) ** 2 / (c1 * c2)
    closed = (1 - f * f + f * (1 + f * f / 2) * skew - 0.75 * f * f * square) / n
    delta = multinomial_variance(lambda x: phi(x[..., 1, 1], x[..., 0, 1], x[..., 1, 0], x[..., 0, 0]), C)
    assert closed == pytest.approx(delta, rel=1e-9)
    for name in ("mcc", "ecc", "mpc1", "mpc2"):
        assert wmcc.interval(wmcc.Table.from_counts(C), name).se ** 2 == pytest.approx(closed, rel=1e-9)


@few(50)
@given(counts=st.lists(st.integers(1, 400), min_size=9, max_size=16))
def test_unit_weights_have_the_published_variance_of_the_macro_average(counts):
    K = math.isqrt(len(counts))
    C = np.array(counts[: K * K]).reshape(K, K)
    found = wmcc.interval(wmcc.Table.from_counts(C), "mpc2")
    assert found.value == pytest.approx(macro_phi(C.astype(float)), rel=1e-12)
    assert found.se**2 == pytest.approx(multinomial_variance(macro_phi, C), rel=1e-9)


@pytest.mark.parametrize("tiny", [1e-9, 1e-14, 1e-40, 1e-130])
@pytest.mark.parametrize("name", MULTICLASS)
def test_a_class_may_outweigh_all_others(name, tiny):
    """As it does so more and more, the standard error and the interval converge: neither is made of rounding."""
    t, p, w = sample(0, 300, spread=0.4)
    usual, found = (
        wmcc.interval(wmcc.tabulate(t, p, np.where((t == 0) & (p == 0), 1.0, x) * w), name) for x in (1e-8, tiny)
    )
    if name == "accuracy":  # it is 1 but for rounding
        assert found.low <= found.value <= found.high
        return
    assert (found.low, found.high, found.se) == pytest.approx((usual.low, usual.high, usual.se), rel=1e-5)


# ---- ends ------------------------------------------------------------------------------------------------


def by_rows(t, p, w, measure, level):
    """Ends once more, row by row: Student's quantile on the scale of artanh."""
    value, h = measure(t, p, sample_weight=w), 1e-4
    u = np.array([_moved(measure, t, p, w, i, h) for i in range(len(w))])
    low, high = measure.range
    middle, half = (low + high) / 2, (high - low) / 2
    y = (value - middle) / half
    se = math.sqrt((u * u).sum()) / (half * (1 - y * y))
    q = stats.t(w.sum() ** 2 / (w * w).sum() - 1).ppf((1 + level) / 2)
    return [middle + half * math.tanh(math.atanh(y) + sign * q * se) for sign in (-1, 1)]


def _moved(measure, t, p, w, i, h):
    values = [measure(t, p, sample_weight=np.where(np.arange(len(w)) == i, w * (1 + step), w)) for step in (h, -h)]
    return (values[0] - values[1]) / (2 * h)


@EACH
@few(6)
@given(seed=st.integers(0, 1000), level=st.sampled_from([0.5, 0.9, 0.99]))
def test_ends_are_those_of_the_rows(measure, seed, level):
    """Where the weights of a cell are equal, the table has all that the formula needs."""
    t, p, _ = sample(seed, 40, 2, right=0.8)
    w = np.array([[1.0, 3.0], [2.0, 0.5]])[t, p]
    found = wmcc.interval(wmcc.tabulate(t, p, w), measure, confidence_level=level)
    if found.se > 0:
        assert [found.low, found.high] == pytest.approx(by_rows(t, p, w, measure, level), abs=1e-6)
        assert found.df == pytest.approx(w.sum() ** 2 / (w * w).sum() - 1, rel=1e-12)
    delta = wmcc.interval(wmcc.tabulate(t, p, w), measure, confidence_level=level, method="delta")
    q = stats.norm.ppf((1 + level) / 2) * found.se
    ends = np.clip([found.value - q, found.value + q], *measure.range)
    assert found.se == 0 or [delta.low, delta.high] == pytest.approx(ends.tolist(), abs=1e-12)


@EACH
@few(12)
@given(seed=st.integers(0, 1000), spread=st.sampled_from([0.0, 1.0, 2.0]), clusters=st.sampled_from([None, 7, 20]))
def test_ends_move_with_the_level_as_students_quantiles(measure, seed, spread, clusters):
    """On the scale of artanh an end is so many standard errors away, whatever the weights: none runs away."""
    data = sample(seed, 200, 2, right=0.85, spread=spread)
    keys = None if clusters is None else np.arange(200) % clusters
    table = wmcc.tabulate(*data, cluster=keys)
    low, high = measure.range
    half = (high - low) / 2
    levels = (0.5, 0.8, 0.9, 0.93, 0.95, 0.99)
    found = [wmcc.interval(table, measure, confidence_level=level) for level in levels]
    if found[0].problem is not None or found[0].se == 0 or found[-1].low < low + 1e-9 or found[-1].high > high - 1e-9:
        return
    at = np.array([[(end - low) / half - 1 for end in (x.low, x.value, x.high)] for x in found])
    z = np.arctanh(at)
    q = stats.t(found[0].df).ppf((1 + np.array(levels)) / 2)
    se = found[0].se / (half * (1 - at[0, 1] ** 2))
    assert z[:, 1] - z[:, 0] == pytest.approx(q * se, rel=1e-6)
    assert z[:, 2] - z[:, 1] == pytest.approx(q * se, rel=1e-6)
    n_eff = found[0].n_eff if found[0].clusters_eff is None else found[0].clusters_eff
    assert found[0].df >= min(ENOUGH_FREE, n_eff - 1) * (1 - 1e-12)


@few(30)
@given(seed=st.integers(0, 10**6), classes=st.integers(2, 12), method=st.sampled_from(["fisher", "delta", "bootstrap"]))
def test_balanced_accuracy_is_mean_recall_to_the_last_bit(seed, classes, method):
    """Where all classes occur in the truth they are one score, and so are their intervals."""
    t, p, w = sample(seed, 120, classes, spread=1.0)
    table = wmcc.tabulate(t, p, cluster=np.arange(120) % 9) if method == "bootstrap" else wmcc.tabulate(t, p, w)
    both = [wmcc.interval(table, name, method=method) for name in ("balanced_accuracy", "mean_recall")]
    assert len({(x.value, x.low, x.high, x.se, x.df, x.warnings) for x in both}) == 1


def test_ends_of_levels_beyond_all_digits_are_far_away():
    """SciPy says that Student's quantile of 1e-300 is +∞ for some degrees of freedom."""
    for df in (1.0, 5.0, 11.0, 20.0, 1e3):
        for tail in (1e-300, 1e-200, 1e-10):
            low, high = Pivot(0.5, 0.2, df).ends(tail)
            assert low < 0 < 1 < high
            assert Pivot(np.array([0.5]), np.array([0.2]), np.array([df])).ends(tail)[0] == low


@pytest.mark.parametrize("name", ["accuracy", "kappa", "ecc"])
def test_heavy_weights_do_not_blow_intervals_up(name):
    """A bootstrap of these rows gives 0.78 to 0.93 for accuracy; few degrees of freedom once gave 0.05 to 0.94."""
    rng = np.random.default_rng(119)
    y = rng.choice(3, 800)
    p = np.where(rng.random(800) < 0.15, rng.choice(3, 800), y)
    w = rng.lognormal(0, 1, 800)
    found = wmcc.interval(wmcc.tabulate(y, p, w), name)
    beside = wmcc.bootstrap(y, p, w, measure=name, seed=1, progress=False)
    for end in ("low", "high"):
        far, near = (abs(getattr(x, end) - found.value) for x in (found, beside))
        assert 0.75 * near < far < 1.5 * near


@EACH
@few(25)
@given(data=st.one_of(samples, rows().map(lambda x: Sample(*x.arrays))))
def test_intervals_hold_the_score_and_are_nested(measure, data):
    table = data.table
    if not applicable(measure.name, table):
        return
    low, high = measure.range
    for method in METHODS:
        inner = None
        for level in (0.001, 0.05, 0.5, 0.9, 0.95, 0.999, 1 - 1e-12):
            found = wmcc.interval(table, measure, confidence_level=level, method=method)
            assert found.value == measure(table)
            if found.problem:
                assert math.isnan(found.low)
                assert math.isnan(found.high)
                assert found.problem in repr(found)
                break
            assert low <= found.low <= found.value <= found.high <= high
            assert inner is None or found.low <= inner.low <= inner.high <= found.high
            inner = found


@EACH
def test_fisher_and_delta_agree_on_many_rows(measure):
    apart = []
    for times in (1, 100, 10_000):
        table = wmcc.Table.from_counts(times * np.array([[30, 7], [5, 40]]))
        a, b = (wmcc.interval(table, measure, confidence_level=0.9, method=method) for method in METHODS)
        apart.append(max(abs(a.low - b.low), abs(a.high - b.high)) / a.se)
    assert apart[0] > 5 * apart[1] > 25 * apart[2]
    assert apart[2] < 0.005


# ---- what must not matter, and what must -------------------------------------------------------------------


@EACH
@few(20)
@given(data=samples, power=st.integers(-900, 900), seed=st.integers(0, 99))
def test_units_and_order_do_not_matter(measure, data, power, seed):
    if not applicable(measure.name, data.table):
        return
    found = wmcc.interval(wmcc.tabulate(*data), measure)
    t, p, w = data.only(np.random.default_rng(seed).permutation(len(data.t)))
    assert wmcc.interval(wmcc.tabulate(t, p, w), measure) == found
    scaled = wmcc.interval(wmcc.tabulate(t, p, np.ldexp(w, power)), measure)
    assert alike(scaled, found, 1e-12)
    for scale in (1e-300, 1e-150, 1 / 3, 1e150, 1e300):
        assert alike(wmcc.interval(wmcc.tabulate(t, p, w * scale), measure), found, 1e-9)
    names = np.array(["z", "b", "x", "a"])
    assert alike(wmcc.interval(wmcc.tabulate(names[t], names[p], w), measure), found, 1e-9)


@pytest.mark.parametrize("name", MULTICLASS)
def test_a_weight_is_not_a_number_of_rows(name):
    t, p, _ = sample(1)
    one = wmcc.interval(wmcc.tabulate(t, p), name)
    heavy, thrice = wmcc.interval(wmcc.tabulate(t, p, np.full(120, 3.0)), name), [np.repeat(x, 3) for x in (t, p)]
    assert heavy.se == pytest.approx(one.se, rel=1e-12)
    assert wmcc.interval(wmcc.tabulate(*thrice), name).se == pytest.approx(one.se / math.sqrt(3), rel=1e-12)


@pytest.mark.parametrize("name", MULTICLASS)
def test_rows_without_weight_leave_the_standard_error(name):
    t, p, w = sample(2)
    more = wmcc.interval(wmcc.tabulate(np.append(t, [0, 1]), np.append(p, [2, 2]), np.append(w, [0, 0])), name)
    found = wmcc.interval(wmcc.tabulate(t, p, w), name)
    assert (more.value, more.se, more.n_eff) == pytest.approx((found.value, found.se, found.n_eff), rel=1e-12)


# ---- what a table does not have: sums of third and fourth powers ---------------------------------------------


def test_uneven_weights_leave_fewer_degrees_of_freedom():
    found = [wmcc.interval(wmcc.tabulate(*sample(4, 400, spread=spread))) for spread in (0.0, 0.5, 1.0, 2.0)]
    dfs = [x.df for x in found]
    assert dfs[0] == pytest.approx(399)
    assert all(a >= b >= 1 for a, b in itertools.pairwise(dfs))
    assert dfs[0] > 2 * dfs[3]


@few(30)
@given(data=samples)
def test_the_variance_is_that_of_the_rows(data):
    table = data.table
    slope, cells = wmcc.ecc.gradient(table) * table.total, CellSums.of(table)
    found = of_rows(slope[tuple(cells.codes)], cells)
    u = slope[data.t, data.p] * data.w / table.total
    if not u.any():  # a perfect prediction
        return
    assert found.variance == pytest.approx((u * u).sum(), rel=1e-12)


def test_billions_of_rows_are_no_other_matter():
    table = sample(5, 200, spread=1.5).table
    before = wmcc.interval(table).df
    for _ in range(36):
        table = table + table
        found = wmcc.interval(table)
        assert found.df == pytest.approx(2 * before, rel=0.02) or before == ENOUGH_FREE <= found.df < 2 * before
        before = found.df
    assert before > 10**10
    assert fractions_of([[table.rows]])[0][0] > 10**13


@few(50)
@given(w=st.lists(extreme, min_size=1, max_size=40), bits=st.integers(-20, 20))
def test_fast_sums_are_the_exact_ones(w, bits):
    exact = Exact.from_floats(np.array(w))
    assert exact.total() == exact.sum().integers()
    power = bits - exact.total().bit_length() - exact.exponent  # so that the largest are near 1
    assert exact.times(1.25, power) == pytest.approx(1.25 * exact.floats(power), rel=1e-14, abs=1e-300)


@few(50)
@given(
    w=st.lists(extreme, min_size=1, max_size=9), unit=st.lists(extreme, min_size=1, max_size=3), power=st.integers(1, 2)
)
def test_shares_of_few_cells_are_rounded_once(w, unit, power):
    exact, whole = Exact.from_floats(np.array(w)), Unit.of(Exact.from_floats(np.array([*w, *unit])))
    total = Fraction(whole.s) * Fraction(2) ** whole.exponent
    found = whole.of_few([x**power for x in exact.integers()], power * exact.exponent, power)
    assert found.tolist() == [float((Fraction(x) / total) ** power) for x in w]


def test_margins_of_many_cells_are_those_of_few():
    rng = np.random.default_rng(7)
    t, p, w = rng.integers(0, 10, 3000), rng.integers(0, 10, 3000), rng.lognormal(0, 2, 3000)
    one, *parts = [wmcc.tabulate(t[own], p[own], w[own], labels=range(10)) for own in (t >= 0, t < 5, t >= 5)]
    assert len(one.cells) > FEW_CELLS >= max(len(part.cells) for part in parts)

    def fractions(table):
        unit = Fraction(2) ** table.cells.sums.w_exact.exponent
        return [x * unit for own in table.margins[1:4] for x in own]

    assert fractions(one) == [a + b for a, b in zip(*map(fractions, parts), strict=True)]
