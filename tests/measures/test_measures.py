"""Every measure against the exact oracle, to the last digits."""

import inspect
import math
import pickle
import pydoc
import re
from fractions import Fraction

import numpy as np
import oracle
import pytest
from helpers import dominated, extreme, fractions_of, matrices, rows, table_of
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.errors import InputError, InputTypeError, UndefinedMeasureError, UndefinedMeasureWarning
from wmcc.measures.arithmetic import mean, over_roots
from wmcc.measures.stacks import MANY, product

AIM = 0.51  # units in the last place; the project's bar is 4


def assert_exact(measure, table, C):
    if measure.two_classes and len(C) > 2:
        return
    true = oracle.exact(measure.name, C)
    if true is None:
        assert math.isnan(measure(table, zero_division=float("nan")))
        assert measure(table) == 0.0
        return
    got = measure(table)
    assert measure.range[0] <= got <= measure.range[1]
    assert oracle.ulps(got, true) <= AIM


@pytest.mark.parametrize("measure", wmcc.measures.MEASURES.values(), ids=lambda m: m.name)
@given(cells=st.one_of(matrices(), matrices(dominated), matrices(extreme)))
def test_measures_are_exact_on_any_table(measure, cells):
    assert_exact(measure, table_of(cells), fractions_of(cells))


@pytest.mark.parametrize("measure", wmcc.measures.MEASURES.values(), ids=lambda m: m.name)
@given(data=rows())
def test_measures_are_exact_on_rows(measure, data):
    table = wmcc.tabulate(*data.arrays)
    assert_exact(measure, table, oracle.matrix(*data, table.labels))


@pytest.mark.parametrize("measure", wmcc.measures.CLASS_MEASURES.values(), ids=lambda m: m.name)
@given(cells=st.one_of(matrices(), matrices(dominated)))
def test_class_measures_are_exact(measure, cells):
    C = fractions_of(cells)
    for k, got in enumerate(measure(table_of(cells), zero_division=float("nan"))):
        true = oracle.exact_class(measure.name, C, k)
        if true is None:
            assert math.isnan(got)
        else:
            assert -1 <= got <= 1
            assert oracle.ulps(got, true) <= AIM


@pytest.mark.slow
@pytest.mark.parametrize("K", [10, 50])
@pytest.mark.parametrize("measure", wmcc.measures.MEASURES.values(), ids=lambda m: m.name)
def test_many_classes_and_scores_near_zero(measure, K):
    rng = np.random.default_rng(K)
    for scale in (0, 2, 300):
        cells = rng.random((K, K)) * 10.0 ** rng.uniform(-scale, scale, (K, K))
        table = table_of(cells)
        assert_exact(measure, table, fractions_of(cells.tolist()))
    # independent margins, rounded: every correlation is nearly zero and every product cancels
    r, q = rng.random(K), rng.random(K)
    cells = np.outer(r, q)
    assert_exact(measure, table_of(cells), fractions_of(cells.tolist()))


def test_terms_that_nearly_cancel():
    # MPC2 of one class well predicted and one equally badly: the terms cancel to 1e-17 or to nothing
    for tiny in (0.0, 2.0**-40, 2.0**-52):
        cells = [[2.0, 1.0, 0.0], [1.0, 1.0 + tiny, 3.0], [0.5, 2.0, 1.0]]
        assert_exact(wmcc.mpc2, table_of(cells), fractions_of(cells))


def test_known_failures_of_others():
    """Inputs on which other implementations return a wrong number; see docs/contributing/design.md."""
    y = [0, 0, 1, 1]
    for weight in (1e-300, 1e-85, 1e77, 1e160, 1e300):
        assert wmcc.mcc(y, y, sample_weight=[weight] * 4) == 1.0
    assert wmcc.mcc(table_of([[1e12, 1e-4], [1e-4, 2e-4]])) == pytest.approx(2 / 3, abs=1e-12)
    counts = wmcc.Table.from_counts([[10**9, 2 * 10**8], [10**8, 10**9]])
    assert oracle.ulps(wmcc.mcc(counts), oracle.exact("mcc", [[Fraction(int(x)) for x in row] for row in counts.n])) < 1


def test_mpc1_can_be_one_at_low_accuracy():
    score = wmcc.score([1] + [2] * 8, [1] + [0] * 8)
    assert (score.ecc, score.mpc1, score.mpc2, score.accuracy) == (0.5, 1.0, 1 / 3, 1 / 9)
    assert "differ" in score.disagreement
    assert score.disagreement in repr(score)
    assert wmcc.score([0, 1, 2], [0, 1, 2]).disagreement is None


@given(data=rows(classes=4))
def test_ecc_is_at_most_mpc1_in_size(data):
    table = wmcc.tabulate(*data.arrays)
    assert abs(wmcc.ecc(table)) <= abs(wmcc.mpc1(table)) * (1 + 2**-52)


# ---- undefined -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mcc", "ecc", "mpc1", "mpc2"])
def test_zero_denominators(name):
    measure, one_class = wmcc.measures.MEASURES[name], ([1, 1, 1], [1, 0, 1])
    assert measure(*one_class) == 0.0
    assert math.isnan(measure(*one_class, zero_division=math.nan))
    assert measure(*one_class, zero_division=-0.25) == -0.25
    with pytest.warns(UndefinedMeasureWarning, match="y_true"):
        assert measure(*one_class, zero_division="warn") == 0.0
    with pytest.raises(UndefinedMeasureError, match="y_true"):
        measure(*one_class, zero_division="raise")
    for good in (np.float32(0.5), np.int64(1), 1):
        assert measure(*one_class, zero_division=good) == good
    for bad in ("nan", None, True, 10**400, np.array([1, 2])):
        with pytest.raises(InputError, match="`zero_division` is"):
            measure(*one_class, zero_division=bad)


def test_mpc2_is_undefined_term_by_term():
    y_true, y_pred = [0, 1, 1, 0], [0, 1, 1, 1]
    three = wmcc.tabulate([*y_true, 1], [*y_pred, 2])
    own = wmcc.measures.CLASS_MEASURES["mcc"](three, zero_division=math.nan)
    assert math.isnan(own[2])
    assert wmcc.mpc2(three) == pytest.approx((own[0] + own[1]) / 3, rel=1e-15)
    assert wmcc.mpc2(three, zero_division=1.0) == pytest.approx((own[0] + own[1] + 1) / 3, rel=1e-15)
    assert math.isnan(wmcc.mpc2(three, zero_division=math.nan))


@pytest.mark.parametrize("measure", wmcc.measures.MEASURES.values(), ids=lambda m: m.name)
@given(data=rows())
def test_declared_classes_that_do_not_occur_change_nothing(measure, data):
    table = wmcc.tabulate(*data.arrays)
    more = wmcc.tabulate(*data.arrays, labels=[*table.labels, 7000, 7001])
    if not measure.two_classes:
        assert measure(more) == measure(table)
        assert measure(more, zero_division=0.5) == measure(table, zero_division=0.5)


def test_absent_classes_as_other_libraries_have_them():
    """Two classes occur of four that are declared: TorchMetrics' mean IoU is over the two, and so is ours."""
    y_true, y_pred = [0, 0, 1, 1], [0, 1, 1, 1]
    table = wmcc.tabulate(y_true, y_pred, labels=range(4))
    assert wmcc.mean_iou(table) == pytest.approx((1 / 2 + 2 / 3) / 2)  # 0.5833; a mean over four would be 0.2917
    assert wmcc.mpc2(table) == wmcc.mpc2(y_true, y_pred) == pytest.approx(0.5774, abs=1e-4)


@given(data=rows(classes=4))
def test_a_rival_does_not_change_a_score(data):
    """The prediction of a joint table is scored as it is alone, whatever classes another prediction names."""
    joint = wmcc.tabulate(data.t, {"a": data.p, "b": [9] * len(data.t)}, data.w)
    alone = wmcc.tabulate(data.t, data.p, data.w)
    for measure in wmcc.measures.MEASURES.values():
        if not measure.two_classes:
            assert measure(joint["a"]) == measure(alone)
            assert measure(joint.pair("b", "a")["a"]) == measure(alone)


@pytest.mark.parametrize("name", ["mpc2", "mean_iou", "mean_f1", "mean_recall"])
def test_void_labels_are_no_classes_of_a_mean(name):
    table = wmcc.tabulate([0, 0, 1, 1, 9], [0, 9, 1, 0, 0], ignore=9)
    value = wmcc.measures.MEASURES[name](table)
    for rule in (1.0, -5.0, math.nan, "raise"):
        assert wmcc.measures.MEASURES[name](table, zero_division=rule) == value
    if name == "mean_iou":
        assert value == pytest.approx((1 / 3 + 1 / 2) / 2)


# ---- gradients --------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", wmcc.measures.MEASURES.values(), ids=lambda m: m.name)
@given(
    cells=st.one_of(matrices(st.floats(0.01, 100), 4), matrices(dominated, 4), matrices(st.floats(1e-150, 1e-50), 3))
)
def test_gradient_is_the_derivative(measure, cells):
    table, C = table_of(cells), fractions_of(cells)
    K = len(C)
    if (measure.two_classes and K > 2) or oracle.exact(measure.name, C) is None:
        return
    gradient = measure.gradient(table)
    steepest = float(np.abs(gradient).max())
    assert abs(float((gradient * table.w).sum())) <= 1e-13 * steepest * table.total
    h = min(x for row in C for x in row if x) / 10**60
    for a in range(K):
        for b in range(K):
            if C[a][b] == 0:
                continue  # one-sided there
            values = []
            for step in (h, -h):
                moved = [row[:] for row in C]
                moved[a][b] += step
                values.append(oracle.exact(measure.name, moved))
            with oracle.precision():
                true = float((values[0] - values[1]) / (2 * oracle.real(h)))
            assert gradient[a, b] == pytest.approx(true, rel=1e-12, abs=1e-13 * steepest)


def test_gradients_of_very_uneven_and_very_large_weights():
    uneven = [[1.0, 1e-175], [1e-175, 1e-170]]
    for name in ("mcc", "ecc", "mpc1", "mpc2"):
        gradient = wmcc.measures.MEASURES[name].gradient(table_of(uneven))
        assert gradient[0, 1] == pytest.approx(-0.5 * 1e170, rel=1e-4)
    t, p = [0, 1, 0, 1], [0, 1, 1, 0]
    huge = wmcc.mcc.gradient(wmcc.tabulate(t, p, [1e308, 1e308, 1e307, 1e307]))
    usual = wmcc.mcc.gradient(wmcc.tabulate(t, p, [1.0, 1.0, 0.1, 0.1]))
    assert huge[0, 0] == pytest.approx(usual[0, 0] * 1e-308)


def test_gradient_of_an_undefined_measure():
    with pytest.raises(UndefinedMeasureError):
        wmcc.ecc.gradient(wmcc.tabulate([1, 1], [1, 0]))
    assert not wmcc.mpc2.gradient(wmcc.tabulate([1, 1], [1, 0])).any()


# ---- the rest ---------------------------------------------------------------------------------------


def test_effective_sample_size():
    assert wmcc.tabulate([0, 1, 1], [0, 0, 1]).n_eff == 3.0
    for scale in (1e-300, 1.0, 1e300):
        assert wmcc.tabulate([0, 1, 1], [0, 0, 1], [scale] * 3).n_eff == pytest.approx(3, rel=1e-15)


def test_mcc_is_for_two_classes():
    with pytest.raises(InputError, match=r"two classes; this table has 3[\s\S]*`ecc`"):
        wmcc.mcc([0, 1, 2], [0, 1, 2])


def test_measures_are_good_citizens():
    for registry in (wmcc.measures.MEASURES, wmcc.measures.CLASS_MEASURES):
        for measure in registry.values():
            assert pickle.loads(pickle.dumps(measure)) is measure
            assert np.array_equal(measure([0, 1, 1], [0, 1, 0]), measure(wmcc.tabulate([0, 1, 1], [0, 1, 0])))
    assert wmcc.ecc.__name__ == "ecc"


@pytest.mark.parametrize("name", wmcc.measures.MEASURES)
def test_help_says_what_a_measure_is(name):
    measure = wmcc.measures.MEASURES[name]
    said = pydoc.plain(pydoc.render_doc(measure))
    assert measure.about.splitlines()[0] in said
    assert f"wmcc.{name}(y_true, y_pred, sample_weight=weights)" in said
    assert "two_classes" not in said  # the fields of the class are not what was asked for
    assert str(inspect.signature(measure)) == str(inspect.signature(wmcc.mcc))
    assert list(inspect.signature(measure).parameters) == ["y_true", "y_pred", "sample_weight", "zero_division"]


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ([0, 1, 1], "tabulate first"),
        (np.array([[3, 1], [0, 2]]), r"Table\.from_counts"),
        ({"a": wmcc.Table.from_counts([[3, 1], [0, 2]])}, r"wmcc\.merge"),
        (wmcc.tabulate([0, 1], {"m": [0, 1]}, by=["a", "b"]), r"tables\[key\]\[name\]"),
        (None, "tabulate first"),
    ],
)
def test_what_is_no_table_is_refused(given, hint):
    with pytest.raises(InputTypeError, match=rf"expected a Table; got a [\s\S]*{hint}"):
        wmcc.ecc(given)


def test_what_has_a_table_is_read():
    table = wmcc.tabulate([0, 1, 1], [0, 1, 0])
    assert wmcc.ecc(wmcc.score(table)) == wmcc.ecc(table)


def test_score_reads_the_registry():
    table = wmcc.tabulate([0, 1, 2, 2], [0, 2, 2, 1], [1.0, 2.5, 3.0, 1.0])
    score = wmcc.score(table)
    for name, measure in wmcc.measures.MEASURES.items():
        assert getattr(score, name) == (None if measure.two_classes else measure(table))
        shown = not measure.two_classes and name != "mean_recall"
        assert bool(re.search(rf"^{re.escape(measure.title)} +-?\d", repr(score), re.MULTILINE)) is shown
    assert "Mean recall is equal to balanced accuracy" in repr(score)
    for name, measure in wmcc.measures.CLASS_MEASURES.items():
        assert [getattr(c, name) for c in score.classes] == measure(table).tolist()
    assert (score.n, score.total, [c.label for c in score.classes]) == (4, 7.5, [0, 1, 2])


def test_score_names_the_positive_class_and_escapes_labels():
    score = wmcc.score(wmcc.tabulate(["<b>", "no"], ["<b>", "<b>"], positive="<b>"))
    assert "<b> (positive)" in repr(score)
    assert "&lt;b&gt; (positive)" in score._repr_html_()
    assert "<b>" not in score._repr_html_()
    assert "the 50 heaviest of 70 classes" in repr(wmcc.score(list(range(70)), list(range(70))))


# ---- roots and means -----------------------------------------------------------------------------------


@given(
    st.integers(-(2**200), 2**200),
    st.lists(st.one_of(st.integers(0, 50), st.integers(0, 2**400)), min_size=1, max_size=8).filter(any),
)
def test_a_quotient_by_roots_does_not_depend_on_the_unit(n, ds):
    for k in (1, 16, 32, 100):
        assert over_roots(n << 2 * k, [d << 4 * k for d in ds]) == over_roots(n, ds)


@given(st.integers(-(2**60), 2**60), st.lists(st.integers(0, 2**80), min_size=1, max_size=8).filter(any))
def test_a_quotient_by_whole_roots_is_rounded_once(n, roots):
    assert over_roots(n, [x * x for x in roots]) == n / sum(roots)


@given(
    st.lists(st.fractions(-1, 1, max_denominator=10**6), min_size=1, max_size=8),
    st.booleans(),
    st.tuples(st.integers(1, 99), st.integers(0, 900)).map(lambda x: Fraction(x[0], 100 << x[1])),
)
def test_a_mean_is_rounded_once(xs, cancel, rest):
    xs = [*xs, *(-x for x in xs), rest] if cancel else xs

    def terms(bits):
        return [(x.numerator << bits) // x.denominator for x in xs]

    assert mean(terms, len(xs)) == float(sum(xs) / len(xs))


@pytest.mark.parametrize("rows", [1, MANY])
def test_products_of_stacks_are_added_in_one_order(rows):
    rng = np.random.default_rng(0)
    x, matrix = np.exp(9 * rng.normal(size=(rows, 3, 5))), (rng.random((5, 7)) < 0.5) * 1.0
    expected = np.zeros((rows, 3, 7))
    for k in range(5):
        expected += x[..., k, None] * matrix[k]
    assert (product(x, matrix) == expected).all()


def test_tables_of_groups_have_a_score_for_each():
    tables = wmcc.tabulate([0, 1, 1, 0, 2, 2], [0, 1, 0, 0, 2, 1], by=["a", "a", "b", "b", "c", "c"])
    for name, measure in wmcc.measures.MEASURES.items():
        if name != "mcc":
            assert measure(tables) == {key: measure(table) for key, table in tables.items()}
    assert wmcc.accuracy(tables) == {"a": 1.0, "b": 0.5, "c": 0.5}
    assert wmcc.mpc2(tables, zero_division=-1.0)["a"] == 1.0
    with pytest.raises(InputError, match=r"by = b: .*nothing to score[\s\S]*tables.select"):
        wmcc.ecc(wmcc.tabulate([0, 1, 1], [0, 1, 1], [1, 1, 0], by=["a", "a", "b"]))
