"""Pictures show what the results say: the data drawn, the words beside them, and that they fit."""

from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import pairwise
from math import nan

import matplotlib
from paths import SAMPLE

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from helpers import ordinary, rows, small_counts
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from matplotlib.text import Text

import wmcc
import wmcc.measures
from wmcc import plot
from wmcc.demo import make_map
from wmcc.errors import InputError, InputTypeError
from wmcc.plot import _style as style
from wmcc.present.text import percent

pytestmark = pytest.mark.slow

LAND = make_map(400)
TWO = wmcc.tabulate(LAND.truth, {"A": LAND.careless_with_small, "B": LAND.careless_with_large}, LAND.area)
ODD = [
    "Temperate broadleaf and mixed forest, managed", "Temperate broadleaf and mixed forest, natural", "$x_1$", "5 $",
    "\\alpha_^{", "<script>", "Ångström, größer", "two\nlines\x1b[0m", " ", "W" * 80,
]  # fmt: skip


@pytest.fixture(autouse=True)
def _no_figure_is_left():
    yield
    plt.close("all")


def some_table(K, names=None, seed=0, n=3000):
    rng = np.random.default_rng(seed)
    t = rng.choice(K, n, p=rng.dirichlet(np.ones(K)))
    y = np.where(rng.random(n) < 0.7, t, rng.integers(0, K, n))
    labels = np.array([f"class {k}" for k in range(K)] if names is None else names, dtype=object)
    return wmcc.tabulate(labels[t], labels[y], rng.lognormal(0, 1.2, n), labels=list(labels))


COLUMNS = ["pred", "pred_b", "pred_c"]
MODELS = wmcc.tabulate(str(SAMPLE), true="label", pred={name: name for name in COLUMNS}, weight="area")
THREE = wmcc.tabulate(str(SAMPLE), true="label", pred="pred", weight="area")
CURVE = wmcc.certify(THREE, "ecc", eps=[0.1, 0.3])
MAP = replace(
    wmcc.error_map(LAND.truth.reshape(20, 20), LAND.careless_with_small.reshape(20, 20)), metres=(30.0, 45.0), crs="$1"
)
RADIUS = wmcc.radius(THREE, "ecc", at_least=0.2)


def every_picture(table):
    """Draw each kind of picture from a table: functions of ``ax``."""
    score = wmcc.score(table)
    return {
        "confusion": lambda ax=None: plot.confusion(table, ax=ax),
        "classes": lambda ax=None: plot.classes(score, ax=ax),
        "funnel": lambda ax=None: plot.funnel(CURVE, radius=RADIUS, threshold=0.2, ax=ax),
        "influence": lambda ax=None: plot.influence(wmcc.sensitivity(table), ax=ax),
        "forest": lambda ax=None: plot.forest(dict.fromkeys(table.labels, score.intervals["ecc"]), ax=ax),
        "shares": lambda ax=None: plot.shares(table, ax=ax),
        "weights": lambda ax=None: plot.weights(LAND.area, ax=ax),
        "map": lambda ax=None: plot.map(MAP, ax=ax),
        "areas": lambda ax=None: plot.areas(wmcc.map_accuracy(table), ax=ax),
    }


def texts(ax):
    return [text.get_text() for text in ax.texts]


def ticks(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def fits(figure):
    """Whether nothing is drawn beyond the edges of a figure."""
    figure.draw_without_rendering()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    return box.x0 >= -0.01 and box.y0 >= -0.01 and box.x1 <= width + 0.01 and box.y1 <= height + 0.01


# ---- all pictures ----------------------------------------------------------------------------------------------


def test_the_face():
    assert plot.__all__ == sorted(plot.__all__)
    for name in plot.__all__:
        assert ">>>" in getattr(plot, name).__doc__


@pytest.mark.parametrize("name", every_picture(THREE))
def test_axes_that_are_given_are_drawn_into_and_returned(name):
    before = dict(matplotlib.rcParams)
    draw = every_picture(THREE)[name]
    figure, given_ = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
    assert draw(given_[1]) is given_[1]
    assert plt.get_fignums() == [figure.number]
    assert not given_[0].has_data()
    assert fits(figure)
    sub = plt.figure(figsize=(8, 8), layout="constrained").subfigures(1, 1)
    ax = sub.subplots()
    assert draw(ax) is ax
    made = draw()
    assert len(plt.get_fignums()) == 3
    assert made.figure.number == plt.get_fignums()[-1]
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("K", [1, 2, 10, 50])
def test_names_of_any_kind_fit_and_can_be_read(K):
    names = [f"{ODD[k % len(ODD)]}{k // len(ODD) or ''}" for k in range(K)]
    table = some_table(K, names)
    drawn_by_class = (
        ["confusion", "shares"] if K == 1 else ["confusion", "classes", "influence", "forest", "shares", "areas"]
    )
    for name in drawn_by_class:
        ax = every_picture(table)[name]()
        assert fits(ax.figure), name
        assert min(text.get_fontsize() for text in ax.findobj(Text) if text.get_text()) >= 7, name
        plt.close(ax.figure)


@given(st.lists(st.one_of(st.text(), st.sampled_from(ODD), st.integers()), unique_by=str, min_size=1, max_size=6))
def test_names_stay_apart_and_short(labels):
    written = style.names(labels)
    assert len(set(written)) == len(labels)
    for label, text in zip(labels, written, strict=True):
        assert len(text.replace(r"\$", "$")) <= style.LONGEST + len(" [6]")
        assert text.replace("$", "").isprintable()
        assert text.count("$") == text.count(r"\$")
        if len(str(label)) <= style.LONGEST and str(label).isprintable() and str(label).split() == [label]:
            assert text.replace(r"\$", "$").startswith(label)


def test_names_are_not_taken_for_mathematics():
    ax = plot.confusion(wmcc.Table.from_counts([[5, 1], [0, 2]], ["$a^2$", "b_1 \\beta"]))
    assert ticks(ax.yaxis) == [r"\$a^2\$", "b_1 \\beta"]
    assert not any(text._preprocess_math(text.get_text())[1] for text in ax.get_yticklabels())
    assert ax.get_yticklabels()[0]._preprocess_math(ticks(ax.yaxis)[0])[0] == "$a^2$"


@given(st.floats(0, 1))
def test_only_all_is_all(share):
    text = percent(share)
    assert (text == "100 %") == (share == 1)
    assert (text == "0 %") == (share == 0)
    if text[0] not in "<>":
        assert float(text[:-2]) == pytest.approx(100 * share, abs=0.0501)


@given(st.floats(0, 1, exclude_max=True))
def test_what_is_certain_is_rounded_down(eps):
    said, exact = Decimal(style.off(eps, "relative")[1:-2]), 100 * Decimal(repr(eps))
    assert exact * Decimal("0.99") <= said <= exact


@pytest.mark.parametrize(
    ("x", "text"), [(0, "0"), (7, "7"), (9999, "9,999"), (12_345, "12.3k"), (2_000_000, "2M"), (4.5e16, "4.5e+16")]
)
def test_numbers_in_few_characters(x, text):
    assert style.compact(x) == text


# ---- the confusion table ---------------------------------------------------------------------------------------


@settings(max_examples=20, phases=[Phase.generate])
@given(
    data=rows(classes=4, weight=st.one_of(ordinary, small_counts)),
    show=st.sampled_from(["row", "column", "share", "weight", "count"]),
)
def test_both_numbers_of_each_cell(data, show):
    plt.close("all")
    w, total = np.zeros((4, 4)), max(data.w)
    n = np.zeros((4, 4), dtype=int)
    for t, p, x in zip(*data, strict=True):
        w[t, p] += x / total
        n[t, p] += 1
    with np.errstate(invalid="ignore", divide="ignore"):
        whole = {"row": w.sum(1, keepdims=True), "column": w.sum(0, keepdims=True), "share": w.sum()}.get(show)
        value = n if show == "count" else w * total if show == "weight" else w / whole
    table = wmcc.tabulate(data.t, data.p, data.w)
    ax = plot.confusion(table, show)
    occupied = [(a, b) for a in table.labels for b in table.labels if n[a, b]]
    place = {label: k for k, label in enumerate(table.labels)}
    shown = ax.images[0].get_array()
    large, small = ax.texts[::2], ax.texts[1::2]
    assert [text.get_position() for text in large] == [(place[b], place[a]) for a, b in occupied]
    for (a, b), first, second in zip(occupied, large, small, strict=True):
        here = shown[place[a], place[b]]
        assert (here is np.ma.masked) == np.isnan(value[a, b])
        if here is not np.ma.masked and w[a].sum() > 1e-300 and w[:, b].sum() > 1e-300:
            assert here == pytest.approx(value[a, b], rel=1e-9, abs=1e-300)
            assert first.get_text() == (style.compact if show in ("weight", "count") else percent)(float(here))
        if show != "count":
            assert second.get_text() == style.compact(n[a, b])
    assert np.ma.count_masked(shown) >= len(table.labels) ** 2 - len(occupied)


def test_weights_of_any_size_have_shares():
    table = wmcc.tabulate([0, 0, 1, 1], [0, 1, 0, 1], [1e300, 3e300, 1e-300, 1e-300])
    assert plot.confusion(table).images[0].get_array().ravel().tolist() == pytest.approx([0.25, 0.75, 0.5, 0.5])
    huge = wmcc.tabulate([0, 0, 0, 1], [0, 0, 0, 0], [1.5e308, 1.5e308, 1e308, 1e308])
    assert texts(plot.confusion(huge, "share")) == ["80.0 %", "3", "20.0 %", "1"]
    assert texts(plot.confusion(table, "weight"))[::2] == ["1e+300", "3e+300", "1e-300", "1e-300"]


def test_numbers_stand_out_from_their_colour():
    ax = plot.confusion(THREE)
    for text in ax.texts:
        b, a = (round(x) for x in text.get_position())
        shade = ax.images[0].to_rgba(ax.images[0].get_array())[a, b, :3].mean()
        assert (text.get_color() == "white") == (shade < 0.5)


@pytest.mark.parametrize("K", [50, 200])
def test_many_classes_have_a_scale_instead_of_numbers(K):
    table = some_table(K, n=20 * K)
    ax = plot.confusion(table, "share")
    assert not ax.texts
    scale = next(x for x in ax.figure.axes if x is not ax)
    assert ticks(scale.yaxis)[0] == "0 %"
    top = float(ax.images[0].norm.vmax)
    assert top == pytest.approx(table.w.max() / table.total)
    assert ticks(scale.yaxis)[-1] == percent(top)
    for axis in (ax.xaxis, ax.yaxis):
        where = axis.get_ticklocs()
        assert len(where) == K if K == 50 else 20 < len(where) < K
        assert ticks(axis) == [table.labels[int(k)] for k in where]
        boxes = [text.get_window_extent() for text in axis.get_ticklabels()]
        assert not any(x.overlaps(y) for x, y in pairwise(boxes))


def test_small_axes_leave_numbers_out():
    ax = plt.figure(figsize=(2, 2)).subplots()
    plot.confusion(some_table(8), ax=ax)
    assert not ax.texts


# ---- scores with intervals -------------------------------------------------------------------------------------


def drawn(ax):
    """Marks of scores and ends of intervals, by line."""
    marks, ends = {}, {}
    for line in ax.lines:
        x, y = line.get_data()
        if line.get_marker() in ("o", "x"):
            marks[round(y[0])] = (x[0], line.get_marker(), line.get_markerfacecolor() != "white")
        elif len(x) == 2 and y[0] == y[1]:
            ends[round(y[0])] = tuple(x)
    return marks, ends


@pytest.mark.parametrize("measure", wmcc.measures.CLASS_MEASURES)
@pytest.mark.parametrize("sort", [False, True])
def test_classes_are_drawn_as_scored(measure, sort):
    score = wmcc.score(THREE + wmcc.Table.from_counts([[0]], ["swamp"]))
    ax = plot.classes(score, measure, sort=sort)
    found = dict(zip((c.label for c in score.classes), score.class_intervals[measure], strict=True))
    order = ticks(ax.yaxis)
    assert set(order) == set(found)
    assert not sort or [found[x].value for x in order] == sorted((x.value for x in found.values()), reverse=True)
    marks, ends = drawn(ax)
    for line, name in enumerate(order):
        one, bar = found[name], ax.patches[line]
        assert (bar.get_width(), bar.get_y() + bar.get_height() / 2) == (one.value, pytest.approx(line))
        if name == "swamp":
            assert line not in marks
        else:
            assert marks[line] == (one.value, "o", one.reliable)
            assert ends[line] == (one.low, one.high)
    assert texts(ax) == ["undefined"]
    low, high = ax.get_xlim()
    assert low <= min(x.low for x in found.values() if not x.problem)
    assert high >= 1
    assert wmcc.measures.CLASS_MEASURES[measure].title in ax.get_title(loc="left")


@pytest.mark.parametrize("sort", [False, True])
def test_areas_are_drawn_as_estimated(sort):
    sizes = {"bog": 800.0, "fen": 4200.0, "lake": 60.0}
    sample = wmcc.Table.from_counts([[60, 9, 0], [4, 91, 1], [0, 0, 20]], list(sizes), population=sizes)
    accuracy = wmcc.map_accuracy(sample, unit="ha")
    ax = plot.areas(accuracy, sort=sort)
    order = ticks(ax.yaxis)
    assert order == (["fen", "bog", "lake"] if sort else ["bog", "fen", "lake"])
    marks, ends = drawn(ax)
    for line, name in enumerate(order):
        area = accuracy[name].area
        assert ax.patches[line].get_width() == accuracy[name].mapped_area
        assert marks[line] == (area.value, "o", area.reliable)
        assert ends[line] == (area.low, area.high)
    assert ax.get_xlabel() == "area, ha"
    assert ax.get_xlim()[0] == 0
    assert ax.get_xlim()[1] >= max(c.area.high for c in accuracy.classes)


def test_areas_of_a_whole_map_have_no_whiskers():
    truth = np.arange(400).reshape(20, 20) % 3
    ax = plot.areas(wmcc.map_accuracy(wmcc.tabulate(truth, np.minimum(truth, 1), cluster=wmcc.Blocks(5))))
    marks, ends = drawn(ax)
    assert marks == {k: ((truth == k).sum(), "o", True) for k in range(3)}
    assert not ends
    assert "reference, counted" in ax.get_title(loc="left")
    with pytest.raises(InputTypeError, match="expected a MapAccuracy; got a Score"):
        plot.areas(wmcc.score(THREE))


def test_negative_and_perfect_scores_and_those_without_interval():
    score = wmcc.score(wmcc.Table.from_counts([[50, 0, 0], [0, 70, 0], [0, 0, 1]], ["a", "b", "c"]))
    ax = plot.classes(score, "recall")
    marks, ends = drawn(ax)
    assert [found.status for found in score.class_intervals["recall"]][2] == "not estimable"
    assert marks[2][:2] == (1.0, "x")
    assert 2 not in ends
    assert texts(ax) == ["interval not estimable"]
    against = wmcc.score(wmcc.Table.from_counts([[2, 30], [40, 3]], ["a", "b"]))
    assert plot.classes(against).get_xlim()[0] < against.class_intervals["mcc"][0].low < 0


def test_a_forest_shows_what_was_found_of_each_pair():
    scores = {name: wmcc.score(table) for name, table in MODELS.tables.items()}
    ranking = wmcc.certify_ranking(MODELS, nodes=1)
    for safe, lead in zip((0.4086, 0.0, 0.0219), ranking.pairs.values(), strict=True):
        vars(lead)["radius"] = replace(RADIUS, safe=safe)  # the search for it takes a while
    comparison = wmcc.compare(MODELS)
    ax = plot.forest(scores, ranking=ranking, comparison=comparison)
    order = ticks(ax.yaxis)
    assert order == sorted(COLUMNS, key=lambda name: -scores[name].ecc)
    marks, ends = drawn(ax)
    notes = {round(text.get_position()[1]): text.get_text() for text in ax.texts}
    for line, name in enumerate(order):
        one = scores[name].intervals["ecc"]
        assert marks[line] == (one.value, "o", one.reliable)
        assert ends[line] == (one.low, one.high)
        above, alike = [], []
        for other in order:
            pair = next((p for p in ranking.pairs if set(p) == {name, other}), None)
            if pair and scores[name].ecc > scores[other].ecc and (safe := ranking[pair].radius.safe) > 0:
                above.append(f"{other} ({style.off(safe, 'relative')})")
            if pair and not comparison.told_apart(name, other):
                alike.append(other)
        said = ["certainly above " + ", ".join(above)] * bool(above)
        said += ["no significant difference from " + ", ".join(alike)] * bool(alike)
        assert notes.get(line, "") == "\n".join(said)
    given_order = plot.forest(scores, "kappa", sort=False)
    assert ticks(given_order.yaxis) == COLUMNS
    assert [drawn(given_order)[0][k][0] for k in range(3)] == [scores[x].kappa for x in COLUMNS]


def test_a_forest_of_two_and_what_is_certain_at_one_eps():
    found = {name: wmcc.interval(table, "mcc") for name, table in TWO.tables.items()}
    certify = partial(wmcc.certify_ranking, TWO, "mcc", nodes=5)
    ranking, far = certify(eps=0.3), certify(eps=0.99)
    comparison = wmcc.compare(TWO, "mcc")
    assert ranking.winner == comparison.winner == "A"
    assert texts(plot.forest(found, ranking=ranking, comparison=comparison, radii=False)) == [
        "certainly above B (±30 %)"
    ]
    bounds = certify(upper=TWO)
    for radii in (True, False):
        assert texts(plot.forest(found, ranking=bounds, radii=radii)) == ["certainly above B (within bounds)"]
    unsure = replace(comparison, pairs={("A", "B"): replace(comparison.only, p_adjusted=0.4)})
    assert texts(plot.forest(found, comparison=unsure)) == [
        "no significant difference from B",
        "no significant difference from A",
    ]
    assert far.winner is None
    assert texts(plot.forest(found, ranking=far, radii=False)) == []


def test_a_forest_of_one_class():
    label, second = MODELS.labels[:2]
    found = {name: wmcc.interval(table, "iou", of=label) for name, table in MODELS.tables.items()}
    ax = plot.forest(found, comparison=wmcc.compare(MODELS, "iou", of=label))
    assert ax.get_xlabel() == f"IoU of {label}"
    with pytest.raises(InputError, match=f"interval of IoU of {label}; expected 95 % and IoU of {second}"):
        plot.forest({"pred": wmcc.interval(THREE, "iou", of=second)} | {"other": found["pred"]})
    with pytest.raises(InputError, match=r"in ECC \(R_K\); the intervals are of"):
        plot.forest(found, comparison=wmcc.compare(MODELS))


def test_what_is_undefined_is_drawn_as_such():
    found = {"none": replace(wmcc.interval(THREE), value=nan, low=nan, high=nan), "one": wmcc.interval(THREE)}
    ax = plot.forest(found)
    assert ticks(ax.yaxis) == ["one", "none"]
    assert texts(ax) == ["undefined"]
    assert list(drawn(ax)[0]) == [0]


# ---- maps ------------------------------------------------------------------------------------------------------


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def shade(key):
    return np.round(255 * np.array(key.get_facecolor()[:3])).tolist()


@pytest.mark.parametrize("show", ["errors", "true", "pred"])
def test_a_map_has_the_colours_of_its_legend(show):
    ax = plot.map(MAP, show=show)
    drawn = ax.images[0].get_array()
    cells = {"errors": MAP.wrong.astype(int), "true": MAP.truth, "pred": MAP.pred}[show]
    keys = ax.get_legend().legend_handles
    assert drawn.shape == (20, 20, 3)
    assert ax.get_aspect() == 1.5
    for k, key in enumerate(keys):
        assert (drawn[cells == k] == shade(key)).all()
    assert tuple(ax.images[0].get_extent()) == MAP.extent
    table = MAP.table
    wrong = table.w[0, 1] + table.w[1, 0]
    shares = {"errors": [table.total - wrong, wrong], "true": table.true_sums, "pred": table.pred_sums}[show]
    names = {"errors": ["right", "wrong"]}.get(show, [str(x) for x in table.labels])
    assert legend(ax) == [f"{name}  {percent(x / table.total)}" for name, x in zip(names, shares, strict=True)]
    said = [text.get_text() for box in ax.artists for text in box.findobj(Text)]
    assert "100 m" in said  # of 600 m
    assert "Coordinates: \\$1." in ax.get_xlabel().replace("\n", " ")
    assert fits(ax.figure)


def test_the_stronger_the_colour_the_larger_the_share():
    found = replace(MAP, wrong=np.linspace(0, 1, 400, dtype=np.float32).reshape(20, 20))
    ax = plot.map(found)
    light = ax.images[0].get_array().astype(float) @ [0.3, 0.6, 0.1]
    assert (np.diff(light.ravel()) <= 1).all()  # rounding of colours
    assert light[0, 0] - light[0, 1] > 10  # the smallest error is seen
    assert legend(ax) == ["all right", "1 % wrong", "10 % wrong", "50 % wrong", "all wrong"]


def test_errors_of_one_class_have_two_colours():
    truth, pred = LAND.truth.reshape(20, 20), LAND.careless_with_small.reshape(20, 20)
    first = truth[0, 0]
    found = wmcc.error_map(truth, pred, of=first)
    ax = plot.map(found)
    drawn, keys = ax.images[0].get_array(), ax.get_legend().legend_handles
    there, mapped = truth == first, pred == first
    for own, key in zip((there & ~mapped, mapped & ~there, there & mapped, ~there & ~mapped), keys, strict=True):
        assert own.any()
        assert (drawn[own] == shade(key)).all()
    assert len({tuple(shade(key)) for key in keys}) == 4


@pytest.mark.parametrize("of", [None, 0])
def test_points_of_a_map_have_marks(of):
    truth, pred = np.array([0, 0, 1, 1, 0]), np.array([0, 1, 1, 0, 0])
    whole = wmcc.error_map(truth[None], pred[None], of=of)
    flat = {name: getattr(whole, name)[0] for name in ("wrong", "known", "truth", "pred")}
    flat["missed"] = None if of is None else whole.missed[0]
    found = replace(whole, **flat, points=np.column_stack([np.arange(5.0), np.arange(5.0)]), extent=(-1, 5, -1, 5))
    ax = plot.map(found)
    drawn = [x.get_offsets().tolist() for x in ax.collections]
    missed, added = ([[1, 1], [3, 3]], []) if of is None else ([[1, 1]], [[3, 3]])
    assert drawn == [[[0, 0], [2, 2], [4, 4]], missed, added]
    assert fits(ax.figure)
    assert [x.get_marker() for x in ax.get_legend().legend_handles][:2] == (["o", "X"] if of is None else ["X", "P"])


@pytest.mark.parametrize("K", [1, 25])
def test_legends_of_maps_have_the_largest_classes(K):
    names = {k: f"{ODD[k % len(ODD)]}{k // len(ODD) or ''}" for k in range(K)}
    truth = np.arange(2500).reshape(50, 50) * K // 2500
    ax = plot.map(wmcc.error_map(truth, truth, names=names), show="true")
    assert len(legend(ax)) == min(K, 21)
    assert legend(ax)[-1] == ("… and 5 more" if K == 25 else legend(ax)[0])
    assert fits(ax.figure)


def test_what_is_no_map_is_refused():
    with pytest.raises(InputTypeError, match="expected an ErrorMap; got a Table"):
        plot.map(THREE)
    with pytest.raises(InputError, match="`show` is 'wrong'; expected 'errors', 'true' or 'pred'"):
        plot.map(MAP, show="wrong")
