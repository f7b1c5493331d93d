"""Pictures of weights: how far they move a score, which of them do, and how uneven they are; and what is refused."""

import re
import subprocess
import sys
from dataclasses import replace

import matplotlib
from paths import DOCS

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from helpers import extreme, few
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc import plot
from wmcc.errors import WmccError
from wmcc.plot import _style as style
from wmcc.present.text import percent

TABLE = wmcc.Table.from_counts([[50, 3, 2], [4, 40, 1], [0, 2, 30]], ["farm", "forest", "water"])
CURVE = wmcc.certify(TABLE, "ecc", eps=[0.3, 0.05, 0.15])
RADIUS = wmcc.radius(TABLE, "ecc", at_least=0.8)


@pytest.fixture(autouse=True)
def _no_figure_is_left():
    yield
    plt.close("all")


def marked(ax, marker, open_=False):
    """Points drawn with a mark, full or open."""
    own = [line for line in ax.lines if line.get_marker() == marker]
    return [xy for line in own if (line.get_markerfacecolor() == "white") == open_ for xy in line.get_xydata().tolist()]


# ---- the funnel ------------------------------------------------------------------------------------------------


def band(ax, eps):
    """Least and greatest score that the band has at ε."""
    path = ax.collections[0].get_paths()[0].vertices
    edge = np.unique(path[:, 0])
    near = path[path[:, 0] == edge[np.searchsorted(edge, eps)]]
    before = edge[np.searchsorted(edge, eps) - 1]
    inside = [y for x, y in near if any((path[:, 0] == before) & (path[:, 1] == y))] or near[:, 1].tolist()
    return min(inside), max(inside)


@few(20)
@given(eps=st.floats(0.001, 30))
def test_the_band_holds_the_certified_range_between_its_marks_too(eps):
    plt.close("all")
    low, high = band(plot.funnel(CURVE), eps)
    found = wmcc.certify(TABLE, "ecc", eps=eps / 100)
    assert low <= found.low
    assert high >= found.high


def test_a_funnel_is_drawn_as_certified():
    ax = plot.funnel(CURVE, radius=RADIUS, threshold=0.8)
    order = np.argsort(CURVE.eps)
    for marker, ends in (("v", CURVE.low), ("^", CURVE.high)):
        assert marked(ax, marker) == [[100 * CURVE.eps[i], ends[i]] for i in order]
        assert not marked(ax, marker, open_=True)
    level = [line.get_ydata()[0] for line in ax.lines if len(set(line.get_ydata())) == 1]
    assert level == [CURVE[0].value, 0.8]
    assert any(list(line.get_xdata()) == [100 * RADIUS.safe] * 2 for line in ax.lines)
    assert {text.get_text() for text in ax.texts} == {"threshold 0.8", style.off(RADIUS.safe, "relative")}
    assert f"ECC (R_K) is at least 0.8: certain up to {style.off(RADIUS.safe, 'relative')}" in ax.get_title(loc="left")
    assert ax.get_xlim()[1] >= 30


def test_bounds_are_told_from_values_that_are_attained():
    C = np.random.default_rng(3).integers(0, 9, (5, 5)) + 5 * np.eye(5, dtype=int)
    curve = wmcc.certify(wmcc.Table.from_counts(C), "mpc1", eps=[0.1, 0.6], nodes=1)
    ends = {"v": [c.lower for c in curve], "^": [c.upper for c in curve]}
    assert not all(end.exact for own in ends.values() for end in own)
    ax = plot.funnel(curve)
    for marker, own in ends.items():
        assert [y for _, y in marked(ax, marker)] == [end.bound for end in own if end.exact]
        assert [y for _, y in marked(ax, marker, open_=True)] == [end.bound for end in own if not end.exact]
    attained = [end.attained for own in ends.values() for end in own if not end.exact]
    assert [y for _, y in marked(ax, "_")] == attained
    assert "open marks are bounds" in ax.get_title(loc="left")


def test_a_radius_beyond_the_curve_and_one_of_nothing():
    far = wmcc.radius(TABLE, "ecc", at_least=0.1)
    assert plot.funnel(CURVE, radius=far).get_xlim()[1] > 100 * far.safe > 30
    nothing = plot.funnel(CURVE, radius=replace(RADIUS, safe=0.0))
    assert "ECC (R_K) is at least 0.8: not proved for any ε" in nothing.get_title(loc="left")
    not_so = plot.funnel(CURVE, radius=wmcc.radius(TABLE, "ecc", at_least=0.95), threshold=0.95)
    assert "ECC (R_K) is at least 0.95: does not hold" in not_so.get_title(loc="left")


def test_absolute_amounts_are_no_percentages():
    curve = wmcc.certify(TABLE, "ecc", eps=[0.1, 0.2], model="absolute")
    ax = plot.funnel(curve, radius=wmcc.radius(TABLE, "ecc", change=0.01, model="absolute"))
    assert "%" not in ax.get_xlabel() + ax.get_title(loc="left")
    assert [x for x, _ in marked(ax, "^") + marked(ax, "^", open_=True)][-1] == 0.2


# ---- which weights matter --------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 4, 15])
@pytest.mark.parametrize("measure", ["ecc", "kappa"])
def test_cells_that_matter_most_come_first(measure, most):
    found = wmcc.sensitivity(TABLE, measure)
    ax = plot.influence(found, most)
    assert [bar.get_width() for bar in ax.patches] == [c.effect for c in found.cells[:most]]
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names[:most] == [f"{c.true} → {c.pred}" for c in found.cells[:most]]
    notes = [text.get_text() for text in ax.texts]
    assert notes[:most] == [f"{style.rows(c.n)}, {percent(c.share)}" for c in found.cells[:most]]
    rest = found.cells[most:]
    assert names[most:] == [f"{len(rest)} more cells"] * bool(rest)
    assert notes[most:] == [percent(sum(c.share for c in rest))] * bool(rest)
    assert {bar.get_facecolor() for bar in ax.patches if bar.get_width() > 0}.isdisjoint(
        bar.get_facecolor() for bar in ax.patches if bar.get_width() < 0
    )
    low, high = ax.get_xlim()
    assert low <= min(0, *(c.effect for c in found.cells[:most]))
    assert high >= max(0, *(c.effect for c in found.cells[:most]))


def test_rounding_errors_are_not_drawn_as_influence():
    ax = plot.influence(wmcc.sensitivity(wmcc.Table.from_counts([[5, 0], [0, 7]]), "mcc"))
    assert ax.get_xlim() == (-1, 1)
    assert not ax.texts
    assert "no cell's weights move it" in ax.get_title(loc="left")


# ---- weights ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@few(25)
@given(w=st.lists(st.one_of(st.just(0.0), st.floats(0.01, 1e4), extreme), min_size=1, max_size=60).filter(any))
def test_shares_by_size(w):
    plt.close("all")
    ax = plot.weights(w)
    rows, heavy = (patch.get_data() for patch in ax.patches)
    assert (rows.edges == heavy.edges).all()
    positive, top = [x for x in w if x > 0], max(w)
    assert rows.values.sum() == pytest.approx(100 * len(positive) / len(w))
    assert heavy.values.sum() == pytest.approx(100)
    last = np.array(positive)[np.log10(positive) >= heavy.edges[-2] - 1e-9]
    if np.log10(positive).max() - np.log10(positive).min() > 1e-9:
        assert heavy.values[-1] <= 100 * (last / top).sum() / (np.array(positive) / top).sum() + 1e-9
        assert heavy.edges[[0, -1]] == pytest.approx([np.log10(min(positive)), np.log10(top)])
    n_eff = sum(x / top for x in w) ** 2 / sum((x / top) ** 2 for x in w)
    said = re.match(rf"effective sample size ([\d.]+), of {len(w)} rows", ax.get_title(loc="left")).group(1)
    assert float(said) == pytest.approx(n_eff, rel=0.006)
    assert ("weigh nothing" in ax.get_title(loc="left")) == (0 in w)
    at, said = ax.get_xticks(), [text.get_text() for text in ax.get_xticklabels()]
    assert len(at) >= 2
    assert [float(text.replace(",", "")) for text in said] == pytest.approx(10.0**at, rel=0.006)


def test_the_largest_weights_have_names_that_float64_can_hold():
    at = plot.weights([1.7e308] * 3).get_xticks()
    assert len(at) >= 2
    assert max(at) <= np.log10(1.7e308)


def test_classes_of_a_table_have_shares_of_rows_and_of_weight():
    table = wmcc.tabulate(["a", "a", "a", "b", "c"], ["a", "b", "a", "b", "b"], [1.0, 1.0, 1.0, 6.0, 1.0])
    stream = wmcc.Accumulator()
    stream.update(table)
    for given_ in (table, stream, wmcc.score(table)):
        ax = plot.shares(given_)
        rows, heavy = ax.lines
        assert list(rows.get_xdata()) == pytest.approx([60, 20, 20])
        assert list(heavy.get_xdata()) == pytest.approx([30, 60, 10])
        assert [text.get_text() for text in ax.texts] == ["3 rows, n_eff 3", "1 row, n_eff 1", "1 row, n_eff 1"]
        assert ax.get_title(loc="left") == "effective sample size 2.5, of 5 rows\n" + (
            "the heaviest row holds 60.0 % of the weight"
        )


# ---- what is refused, and what is missing ----------------------------------------------------------------------

SCORE = wmcc.score(TABLE)
INTERVAL, NINETY = wmcc.interval(TABLE), wmcc.interval(TABLE, confidence_level=0.9)
JOINT = wmcc.tabulate([0, 0, 1, 1], {"a": [0, 0, 1, 0], "b": [0, 1, 1, 0]})
RANKING = wmcc.certify_ranking(JOINT, nodes=1)
LIGHT, HEAVY = (wmcc.tabulate([0, 1, 1], [0, 1, 0], w) for w in ([1, 1, 1], [2, 3, 2]))
BOUNDED = wmcc.certify(LIGHT, lower=LIGHT, upper=HEAVY)
ONE_CLASS = wmcc.Table.from_counts([[5, 0], [0, 0]])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: plot.confusion([[1, 2], [3, 4]]), "expected a Table; got a list"),
        (lambda: plot.confusion(JOINT), "take one prediction by its name: joint[name]"),
        (lambda: plot.confusion(TABLE, "rows"), "`show` is 'rows'; expected one of 'row', 'column'"),
        (lambda: plot.confusion(TABLE, ["row"]), "`show` is "),
        (lambda: plot.confusion(wmcc.Table.empty(["a"])), "no observations"),
        (lambda: plot.confusion(TABLE, ax="left"), "`ax` is a str; expected one matplotlib Axes"),
        (lambda: plot.confusion(TABLE, ax=plt.subplots(1, 2)[1]), "`ax` is a ndarray"),
        *(
            (lambda draw=draw: draw(plt.figure().add_subplot(projection="polar")), "`ax` is polar axes; expected one")
            for draw in (
                lambda ax: plot.classes(SCORE, ax=ax),
                lambda ax: plot.funnel(CURVE, ax=ax),
                lambda ax: plot.confusion(TABLE, ax=ax),
            )
        ),
        (lambda: plot.separation(TABLE), "expected a Separation; got a Table"),
        (lambda: plot.classes(TABLE), "expected a Score; got a Table"),
        (lambda: plot.classes(SCORE, "ecc"), "`measure` is 'ecc'; a class has 'precision'"),
        (lambda: plot.funnel(TABLE), "expected a Curve; got a Table"),
        (lambda: plot.funnel(CURVE, radius=0.2), "expected a Radius; got a float"),
        (lambda: plot.funnel(CURVE, radius=wmcc.radius(TABLE, "kappa", change=0.1)), "make both from the same table"),
        (lambda: plot.funnel(CURVE, threshold="high"), "`threshold` is 'high'"),
        (lambda: plot.funnel(BOUNDED), "no ε to draw it against"),
        (lambda: plot.funnel(wmcc.certify(ONE_CLASS)), "there is no range to draw: ECC (R_K) is undefined"),
        (lambda: plot.influence(TABLE), "expected a Sensitivity; got a Table"),
        (lambda: plot.influence(wmcc.sensitivity(TABLE), 0), "`most` is 0; expected a whole number of at least 1"),
        (lambda: plot.influence(wmcc.sensitivity(TABLE), 2.5), "`most` is 2.5"),
        (lambda: plot.forest({}), "expected a dict of names with intervals or scores; got an empty one"),
        (lambda: plot.forest([INTERVAL]), "got a list"),
        (lambda: plot.forest({"a": 0.9}), "expected an Interval or a Score of 'a'; got a float"),
        (lambda: plot.forest({"a": SCORE}, "auc"), "`measure` is 'auc'; expected one of mcc"),
        (lambda: plot.forest({"a": SCORE}, "mcc"), "MCC is for two classes; 'a' was scored on 3"),
        (
            lambda: plot.forest({"a": INTERVAL}, "kappa"),
            "'a' has a 95 % interval of ECC (R_K); expected 95 % and Cohen",
        ),
        (
            lambda: plot.forest({"a": INTERVAL, "b": wmcc.interval(TABLE, confidence_level=0.9)}),
            "'b' has a 90 % interval of ECC",
        ),
        (lambda: plot.forest({"a": INTERVAL}, ranking=SCORE), "expected a Ranking; got a Score"),
        (
            lambda: plot.forest({"a": INTERVAL}, ranking=RANKING),
            "given of 'a', 'b' in ECC (R_K); the intervals are of",
        ),
        (
            lambda: plot.forest({"a": INTERVAL}, comparison=RANKING),
            "expected a Comparison; got a Ranking",
        ),
        (lambda: plot.weights(TABLE), "expected the weights of rows; got a Table.\n\nHint: plot.shares draws those"),
        (lambda: plot.shares([1.0, 2.0]), "expected a Table; got a list"),
        (lambda: plot.weights([1.0, -2.0]), "a weight must be a finite number of at least 0"),
        (lambda: plot.weights([0.0, 0.0]), "total weight of 2 rows is zero"),
        (lambda: plot.weights(["heavy"]), "a weight must be a real number"),
    ],
)
def test_bad_input_gets_a_sentence_and_no_figure(call, said):
    with pytest.raises(WmccError) as problem:
        call()
    assert said in str(problem.value)
    assert len(plt.get_fignums()) <= ("ndarray" in said or "polar" in said)


def test_a_missing_matplotlib_is_named():
    code = """
import sys
sys.modules["matplotlib"] = None
import wmcc, wmcc.plot
try:
    wmcc.plot.confusion(wmcc.Table.from_counts([[1, 0], [0, 1]]))
except ImportError as problem:
    print(problem)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "needs matplotlib" in said
    assert "pip install 'wmcc[plot]'" in said


def test_importing_plots_does_not_import_matplotlib():
    code = "import sys, wmcc.plot; print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_the_gallery_has_its_pictures():
    shown = set(re.findall(r"\((plots/.*?\.png)\)", (DOCS / "howto" / "plots.md").read_text()))
    assert shown == {f"plots/{path.name}" for path in (DOCS / "howto" / "plots").iterdir()}
    assert all((DOCS / "howto" / name).stat().st_size < 60_000 for name in shown)
