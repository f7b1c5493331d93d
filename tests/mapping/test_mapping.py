"""Maps: accuracies and areas of published examples to all digits, error matrices, unions of classes, plans."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli_helpers import put_sample, run
from flat import tabulate
from map_files import put
from schemas import check

import wmcc
from wmcc.errors import InputError, InputTypeError, WmccError
from wmcc.measures.base import Shares
from wmcc.present.blocks import text
from wmcc.report.write import ReportOptions, build, render
from wmcc.sources.map_classes import map_classes

OLOFSSON_2014 = np.array([[66, 0, 5, 4], [0, 55, 8, 12], [1, 0, 153, 11], [2, 1, 9, 313]])
NAMES = ["deforestation", "forest gain", "stable forest", "stable non-forest"]
PIXELS = dict(zip(NAMES, (200_000, 150_000, 3_200_000, 6_450_000), strict=True))


def rows_of(counts, names):
    """Reference and mapped labels of the rows of an error matrix with the map in rows."""
    mapped, reference = (
        np.repeat(np.array(names)[codes], counts.ravel()) for codes in np.indices(counts.shape).reshape(2, -1)
    )
    return reference, mapped


MAPPED, REFERENCE = "AAAAAAABBBABBBBBBBBBBBCCCCCCBBDDDDDDDDDD", "AAAAACBABCABBBBBAABBCCCCCDDBBADDDDDDDCCB"


def stehman(**design):
    """The example of Stehman (2014), whose strata are not the classes of the map."""
    sizes = {"A": 40_000, "B": 30_000, "C": 20_000, "D": 10_000}
    strata = [x for x in "ABCD" for _ in range(10)]
    return tabulate(list(REFERENCE), list(MAPPED), stratum=strata, population=sizes, **design)


@pytest.fixture(scope="module")
def olofsson():
    reference, mapped = rows_of(OLOFSSON_2014, NAMES)
    table = wmcc.tabulate(reference, mapped, design=wmcc.Strata(mapped, population=PIXELS))
    return wmcc.map_accuracy(table, pixel_area=0.09, unit="ha")


def numbers(found, digits):
    return [round(found.value, digits), round(found.se, digits)]


# ---- published examples --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "se"),
    [
        ("overall_accuracy", 0.9465118881, 0.0094304172),
        ("ecc", 0.8888355127, 0.0194577982),
        ("mpc1", 0.8890232393, 0.0194140813),
        ("mpc2", 0.8462785652, 0.0273478416),
        ("kappa", 0.8888137986, 0.0194672899),
    ],
)
def test_olofsson_2014_whole_map(olofsson, name, value, se):
    assert numbers(olofsson.overall[name], 10) == [value, se]


def test_olofsson_2014_classes(olofsson):
    users = [(0.88, 0.0377760), (0.7333333, 0.0514066), (0.9272727, 0.0202782), (0.9630769, 0.0104763)]
    producers = [(0.7486614, 0.1088316), (0.8471564, 0.1298002), (0.9345089, 0.0175125), (0.9616090, 0.0093681)]
    areas = [(21157.762, 3141.650), (11686.154, 1916.238), (285769.930, 7913.182), (581386.154, 8306.968)]
    assert [c.label for c in olofsson.classes] == NAMES
    for c, u, p, a in zip(olofsson.classes, users, producers, areas, strict=True):
        assert numbers(c.users_accuracy, 7) == list(u)
        assert numbers(c.producers_accuracy, 7) == list(p)
        assert numbers(c.area, 3) == list(a)
        assert (c.area.unit, c.area.label) == ("ha", c.label)
        assert c.area_share.value == pytest.approx(c.area.value / 900_000, rel=1e-12)
        assert c.mapped_area == pytest.approx(0.09 * PIXELS[c.label], rel=1e-12)
        assert c.mapped_area_se == 0  # the design fixes it
    assert sum(c.area.value for c in olofsson.classes) == pytest.approx(olofsson.total_area, rel=1e-12)


def test_olofsson_2014_disagreement(olofsson):
    found = {name: round(x.value, 7) for name, x in olofsson.disagreement.items()}
    assert found == {"quantity": 0.0044932, "allocation": 0.0489949, "exchange": 0.0444923, "shift": 0.0045026}


def test_olofsson_2013():
    counts, names = np.array([[97, 0, 3], [3, 279, 18], [2, 1, 97]]), ["deforestation", "forest", "non-forest"]
    sizes = dict(zip(names, (22353, 1122543, 610228), strict=True))
    found = wmcc.map_accuracy(wmcc.Table.from_counts(counts.T, names, population=sizes))
    assert numbers(found.overall_accuracy, 10) == [0.9444167819, 0.0111643995]
    assert numbers(found.overall["ecc"], 10) == [0.8885708282, 0.0214268289]
    producers = [numbers(c.producers_accuracy, 7) for c in found.classes]
    assert producers == [[0.4806308, 0.1145585], [0.9941887, 0.0057783], [0.8969259, 0.0210236]]
    area = found["deforestation"].area
    assert (round(area.value, 2), round(area.se, 3)) == (45112.40, 10751.405)


def test_stehman_2014_finite_population():
    found = wmcc.map_accuracy(stehman(fpc=True))
    assert found.overall_accuracy.value == pytest.approx(0.63, abs=1e-15)
    assert found.overall_accuracy.se == pytest.approx(0.084642188062455, abs=1e-15)
    expected = {
        "area_share": [(0.35, 0.0822478), (0.34, 0.0758531), (0.20, 0.0642798), (0.11, 0.0307222)],
        "users_accuracy": [(0.7419355, 0.1645420), (0.5744681, 0.1247822), (0.5, 0.2151119), (0.7, 0.1526761)],
        "producers_accuracy": [
            (0.6571429, 0.1477101),
            (0.7941176, 0.1165479),
            (0.3, 0.1504108),
            (0.6363636, 0.1622797),
        ],
    }
    for name, own in expected.items():
        assert [numbers(getattr(c, name), 7) for c in found.classes] == [list(x) for x in own], name
    scores = {name: numbers(found.overall[name], 10) for name in ("ecc", "mpc1", "mpc2")}
    assert scores == {
        "ecc": [0.4778265462, 0.1162171080],
        "mpc1": [0.4798241632, 0.1160469810],
        "mpc2": [0.4805980807, 0.1065510508],
    }
    assert "with finite-population correction" in found.design
    assert [c.mapped_area for c in found.classes] == pytest.approx([31_000, 47_000, 12_000, 10_000])
    assert (
        found["D"].mapped_area_se == 0 < found["A"].mapped_area_se
    )  # all rows of stratum D are mapped as D, no others
    assert any("Mapped areas are estimated from the sample" in note for note in found.notes)


def test_stehman_2014_without_it():
    found = wmcc.map_accuracy(stehman())
    assert found.overall_accuracy.se == pytest.approx(0.08465616732800196, abs=1e-15)
    f1 = [(0.6969697, 0.1282960), (0.6666667, 0.1002029), (0.375, 0.1613113), (0.6666667, 0.1287357)]
    assert [numbers(c.f1, 7) for c in found.classes] == [list(x) for x in f1]
    assert "without finite-population correction" in found.design


def test_stehman_2014_clusters_in_strata():
    found = wmcc.map_accuracy(stehman(cluster=np.arange(40) // 2))
    assert found.overall_accuracy.se == pytest.approx(0.10488088481701516, abs=1e-15)
    assert found["B"].users_accuracy.se == pytest.approx(0.14077531353971434, abs=1e-15)
    assert found["B"].producers_accuracy.se == pytest.approx(0.12216235900763331, abs=1e-15)
    assert numbers(found.overall["mpc2"], 10) == [0.4805980807, 0.1330924685]
    assert found.design.startswith("Design: 20 clusters drawn in 4 strata;")


def test_stehman_2014_jackknife():
    """Each pair of rows is left out in turn, and the others of its stratum stand for it."""
    stratum, pair = np.arange(40) // 10, np.arange(40) // 2
    weights = np.array([4000.0, 3000.0, 2000.0, 1000.0])[stratum]
    left_out, same = pair[:, np.newaxis] == np.arange(20), stratum[:, np.newaxis] == np.arange(20) // 5
    replicates = weights[:, np.newaxis] * np.where(left_out, 0.0, np.where(same, 5 / 4, 1.0))
    table = wmcc.tabulate(
        list(REFERENCE), list(MAPPED), weights, design=wmcc.Replicates(replicates, "jkn", scales=[4 / 5] * 20)
    )
    found = wmcc.map_accuracy(table)
    assert numbers(found.overall_accuracy, 10) == [0.63, 0.1048808848]
    assert numbers(found.overall["ecc"], 10) == [0.4778265462, 0.1523637188]
    assert round(found["B"].users_accuracy.se, 10) == 0.1435997466
    assert round(found["B"].producers_accuracy.se, 10) == 0.1300881193
    clusters = wmcc.map_accuracy(stehman(cluster=pair))  # shares of the area are linear, and the same
    assert found["B"].area.se == pytest.approx(clusters["B"].area.se, rel=1e-9)
    assert found.disagreement["quantity"].se == pytest.approx(clusters.disagreement["quantity"].se, rel=1e-9)
    assert found.design == "Design: 20 replicate weights, method 'jkn'."


# ---- what is told of any map ---------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["rows", "weights", "clusters", "strata"])
def test_disagreements_add_up_whatever_the_design(how):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 5, 400)
    mapped = np.where(rng.random(400) < 0.7, truth, rng.integers(0, 5, 400))
    design = {
        "rows": {},
        "weights": {"sample_weight": rng.lognormal(0, 1, 400)},
        "clusters": {"cluster": np.arange(400) // 8},
        "strata": {"stratum": mapped, "population": {k: 100 * 2**k for k in range(5)}},
    }[how]
    table = tabulate(truth, mapped, **design)
    found = wmcc.map_accuracy(table)
    d = {name: x.value for name, x in found.disagreement.items()}
    p = table.w / table.w.sum()
    assert d["quantity"] == pytest.approx(abs(p.sum(axis=1) - p.sum(axis=0)).sum() / 2)
    assert d["exchange"] == pytest.approx(2 * np.minimum(p, p.T)[np.triu_indices(5, 1)].sum())
    assert d["quantity"] + d["exchange"] + d["shift"] == pytest.approx(1 - found.overall_accuracy.value)
    assert d["allocation"] == pytest.approx(d["exchange"] + d["shift"])
    assert all(0 <= x.low <= x.value <= x.high <= 1 and x.se > 0 for x in found.disagreement.values())
    assert found.area_shares == pytest.approx(p.T)
    assert (found.counts == table.n.T).all()
    assert {"rows": "400 rows drawn independently", "clusters": "50 clusters drawn independently"}.get(
        how, ""
    ) in found.design


def test_standard_errors_of_disagreement_are_those_of_many_samples():
    """Of shares whose differences are large, so that the slopes stay the same."""
    rng = np.random.default_rng(5)
    p = np.array([[0.30, 0.08, 0.01], [0.02, 0.25, 0.01], [0.00, 0.12, 0.21]])  # true × mapped
    counts = rng.multinomial(4000, p.ravel(), 2000).reshape(-1, 3, 3)
    shares = counts / 4000
    quantity = abs(shares.sum(axis=2) - shares.sum(axis=1)).sum(axis=1) / 2
    exchange = 2 * np.minimum(shares, shares.transpose(0, 2, 1))[:, *np.triu_indices(3, 1)].sum(axis=1)
    wrong = 1 - np.trace(shares, axis1=1, axis2=2)
    simulated = {"quantity": quantity, "allocation": wrong - quantity, "exchange": exchange}
    found = wmcc.map_accuracy(wmcc.Table.from_counts(counts[0])).disagreement
    for name, own in simulated.items():
        assert found[name].se == pytest.approx(own.std(), rel=0.12), name


def test_where_disagreement_is_nothing_its_interval_begins_there():
    found = wmcc.map_accuracy(wmcc.Table.from_counts([[40, 5], [5, 30]])).disagreement
    quantity = found["quantity"]
    assert (quantity.value, quantity.low) == (0, 0)
    assert quantity.se == pytest.approx((10 / 80 / 80) ** 0.5)  # of the difference of the two confusions
    assert quantity.high == pytest.approx(1.99 * quantity.se, rel=0.01)
    assert (found["shift"].value, found["shift"].se, found["shift"].high) == (0, 0, 0)  # of two classes it always is
    assert found["exchange"].value == found["allocation"].value == pytest.approx(10 / 80)
    assert not found["exchange"].reliable  # both directions are equal
    one_way = wmcc.map_accuracy(wmcc.Table.from_counts([[40, 5], [0, 30]])).disagreement["exchange"]
    assert (one_way.value, one_way.se, one_way.low) == (0, 0, 0)
    assert one_way.high == pytest.approx(2 * (1 - 0.025 ** (1 / 75)))  # of the confusion that was not seen
    assert "may have missed" in one_way.warnings[0]


def test_signs_that_are_not_clear_are_told(olofsson):
    assert olofsson.disagreement["quantity"].warnings == (
        "for 4 of 4 classes it is not clear whether the mapped area is too large or too small; the value tends to be "
        "too large, and the interval allows for it",
    )
    quantity, shift = olofsson.disagreement["quantity"], olofsson.disagreement["shift"]
    assert quantity.low == shift.low == 0
    assert quantity.high > quantity.value + 1.9 * quantity.se


def test_a_difference_of_two_standard_errors_among_three_classes_is_not_clear():
    found = wmcc.map_accuracy(wmcc.Table.from_counts([[100, 16, 1], [6, 100, 1], [1, 1, 100]])).disagreement["quantity"]
    assert 2 < found.value / found.se < 2.39  # the quantile for three differences
    assert found.low == 0
    clear = wmcc.map_accuracy(wmcc.Table.from_counts([[100, 26, 1], [3, 100, 1], [1, 1, 100]])).disagreement["quantity"]
    assert clear.low > 0.03


def test_strata_without_an_error_count_in_disagreement():
    table = wmcc.Table.from_counts([[35, 0], [15, 50]], ["rare", "rest"], population={"rare": 100, "rest": 1000})
    found = wmcc.map_accuracy(table).disagreement
    missed = 1000 / 1100 * (1 - 0.025 ** (1 / 50))  # of the second stratum
    assert found["quantity"].low == 0
    assert found["quantity"].high > missed - found["quantity"].value
    assert found["allocation"].high > missed
    assert found["exchange"].high == found["allocation"].high  # of two classes
    assert all(found[name].warnings for name in ("quantity", "allocation", "exchange"))


def sampled_maps(accuracies, rows, sizes, count):
    """Tables of samples in strata that are the classes of a map, and what they estimate."""
    rng, U = np.random.default_rng(3), np.array(accuracies)
    p = U.T * np.array(sizes) / sum(sizes)  # true × mapped
    quantity = abs(p.sum(axis=0) - p.sum(axis=1)).sum() / 2
    exchange = 2 * np.minimum(p, p.T)[np.triu_indices(len(p), 1)].sum()
    wrong = 1 - np.trace(p)
    truth = {"quantity": quantity, "allocation": wrong - quantity, "exchange": exchange}
    truth["shift"] = wrong - quantity - exchange
    counts = [[rng.multinomial(n, own) for n, own in zip(rows, U, strict=True)] for _ in range(count)]
    known = dict(enumerate(sizes))
    return [wmcc.Table.from_counts(np.transpose(own), population=known) for own in counts], truth


@pytest.mark.parametrize(
    ("accuracies", "rows", "sizes"),
    [
        ([[0.7, 0.3], [0.02, 0.98]], [50, 50], [100, 1000]),
        ([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], [100] * 3, [1000] * 3),  # quantity and shift are 0
    ],
)
def test_intervals_of_disagreement_hold(accuracies, rows, sizes):
    """Of 80 samples; docs/understand/coverage.md has more. 70 of 80 are as likely as 1 in 1000, if 95 % hold."""
    tables, truth = sampled_maps(accuracies, rows, sizes, 80)
    found = [wmcc.map_accuracy(table).disagreement for table in tables]
    for name, x in truth.items():
        held = sum(own[name].low <= x + 1e-12 and x - 1e-12 <= own[name].high for own in found)
        assert held >= 70, name


def test_a_census_has_no_error_of_disagreement():
    table = wmcc.Table.from_counts([[8, 1, 0], [2, 9, 1], [0, 0, 4]], population={0: 10, 1: 10, 2: 5}, fpc=True)
    for x in wmcc.map_accuracy(table).disagreement.values():
        assert x.problem is None
        assert (x.se, x.low, x.high) == (0, x.value, x.value)
        assert not x.warnings


def test_a_matrix_of_counts_takes_a_finite_population():
    counts, sizes = [[8, 1], [2, 9]], {0: 20, 1: 40}
    found = wmcc.Table.from_counts(counts, population=sizes, fpc=True)
    truth, mapped = [0] * 8 + [1] * 2 + [0] + [1] * 9, [0] * 10 + [1] * 10
    assert found == wmcc.tabulate(truth, mapped, design=wmcc.Strata(mapped, population=sizes, fpc=True))
    with pytest.raises(WmccError, match=r"`fpc` is True, which needs `population`"):
        wmcc.Table.from_counts(counts, fpc=True)
    with pytest.raises(WmccError):
        wmcc.Table.from_counts(counts, population={0: 20, 1: 5}, fpc=True)


def test_many_classes_have_values_of_disagreement_only():
    counts = 20 * np.eye(70, dtype=int)
    counts[0, 1], counts[1, 2] = 5, 4
    found = wmcc.map_accuracy(wmcc.Table.from_counts(counts)).disagreement["quantity"]
    assert found.se > 0
    assert found.problem.startswith("there are more than 64 classes")


def test_two_classes_have_the_mcc():
    found = wmcc.map_accuracy(wmcc.Table.from_counts([[40, 6], [3, 30]], ["a", "b"]))
    assert found.overall["mcc"].value == found.overall["ecc"].value
    assert "All rows weigh 1" in repr(found)
    assert "With two classes ECC, MPC1 and MPC2 are equal to MCC." in repr(found)
    assert not any(line.startswith("MPC1") for line in repr(found).splitlines())


def test_strata_without_sizes_and_weights_are_noted():
    truth, pred = ["a", "b", "b", "a"] * 9, ["a", "b", "a", "a"] * 9
    alone, sized, weighted = (
        wmcc.map_accuracy(wmcc.tabulate(truth, pred, w, design=wmcc.Strata(pred, population=sizes)))
        for w, sizes in ((None, None), (None, {"a": 90, "b": 10}), ([2] * 36, None))
    )
    assert "All rows weigh 1, so areas are numbers of rows" in repr(alone)
    assert "All rows weigh 1" not in repr(sized) + repr(weighted)


def test_classes_on_one_side_only_and_void_labels():
    truth = ["a"] * 20 + ["b"] * 20 + ["seen"] * 5 + ["?"] * 3
    mapped = ["a"] * 18 + ["mapped"] * 2 + ["b"] * 19 + ["?"] + ["a"] * 5 + ["b"] * 3
    found = wmcc.map_accuracy(wmcc.tabulate(truth, mapped, ignore="?"))
    assert [(c.label, c.n_map, c.n_reference) for c in found.classes] == [
        ("a", 23, 20), ("b", 19, 20), ("mapped", 2, 0), ("seen", 0, 5),
    ]  # fmt: skip
    assert "lacks weight" in found["seen"].users_accuracy.problem
    assert "lacks weight" in found["mapped"].producers_accuracy.problem
    area = found["mapped"].area
    assert (area.value, area.se) == (0, 0)
    assert 0 == area.low < area.high < 10  # rows that the sample may have missed
    assert found.counts.shape == (5, 4)
    assert found.matrix["map"] == ["a", "b", "mapped", "seen", "?"]
    assert found.matrix["reference"] == ["a", "b", "mapped", "seen"]
    assert any("3 rows without a reference label were left out" in note for note in found.notes)


@pytest.mark.parametrize("how", ["rows", "strata"])
def test_a_map_without_an_error_has_no_interval_of_zero_width(how):
    reference = ["a"] * 20 + ["b"] * 20
    design = {"stratum": reference, "population": {"a": 100, "b": 50}} if how == "strata" else {}
    found = wmcc.map_accuracy(tabulate(reference, reference, labels=["a", "b", "c"], **design))
    for x in (found.overall_accuracy, *(own for c in found.classes[:2] for own in c[5:])):
        assert x.high - x.low > 0.01 * x.value
        assert x.se > 0 or "may have missed" in x.warnings[0]
    if how == "strata":  # 20 rows that are all a do not exclude that 1 − 0.025^(1/20) of them are not
        assert found["a"].area.low == pytest.approx(100 * 0.025 ** (1 / 20), abs=1)
        assert found["a"].area.high == pytest.approx(100 + 50 * (1 - 0.025 ** (1 / 20)), abs=1)
    assert found["a"].area.se == (0 if how == "strata" else pytest.approx(40 * (0.25 / 40) ** 0.5))


def left_out(**options):
    reference = ["a"] * 8 + ["b"] * 8 + ["?", "?", "b", "a"]
    reference = [None if x == "?" and "missing" in options else x for x in reference]
    strata = ["x"] * 10 + ["y"] * 10
    table = tabulate(reference, ["a"] * 10 + ["b"] * 10, stratum=strata, population={"x": 1000, "y": 500}, **options)
    return wmcc.map_accuracy(table, unit="ha", pixel_area=2)


def test_missing_reference_labels_are_stood_for_by_the_others():
    found = left_out(missing="ignore")
    assert found.total_area == pytest.approx(3000)
    assert found["a"].area.value == pytest.approx(2 * (1000 * 0.8 + 500 / 8))
    assert any(note.startswith("2 rows without a reference label were left out") for note in found.notes)


def test_areas_in_a_part_of_the_sample_are_those_of_a_domain():
    """Rows that are left out for what they are count as such: the part has no known size."""
    found = left_out(ignore="?")
    assert found.total_area == pytest.approx(2 * 1400)
    a, b = found["a"].area, found["b"].area
    assert a.value == pytest.approx(2 * (1000 * 0.8 + 500 * 0.1))
    for x, (p, q) in ((a, (0.8, 0.1)), (b, (0.2, 0.7))):
        variance = 1000**2 * p * (1 - p) / 9 + 500**2 * q * (1 - q) / 9
        assert x.se == pytest.approx(2 * variance**0.5, rel=1e-9)
        assert x.low < x.value < x.high
    assert found["a"].area_share.value == pytest.approx(a.value / 2800)
    assert found["a"].area_share.se * 2800 != pytest.approx(a.se, rel=0.01)
    assert any("stand for 2,800 ha of 3,000 ha" in note for note in found.notes)


def test_a_weight_matrix_has_values_only():
    found = wmcc.map_accuracy(wmcc.tabulate([0, 1, 1, 0], [0, 1, 0, 0], np.eye(4)))
    assert "matrix over pairs" in found.problem
    assert {x.status for x in found._estimates()} == {"not estimable"}
    assert all(np.isnan(c.mapped_area_se) for c in found.classes)


def test_units_only_scale():
    table = wmcc.Table.from_counts(OLOFSSON_2014.T, NAMES, population=PIXELS)
    pixels, hectares = wmcc.map_accuracy(table), wmcc.map_accuracy(table, pixel_area=0.09, unit="ha")
    for a, b in zip(pixels.classes, hectares.classes, strict=True):
        for name in ("value", "se", "low", "high", "margin"):
            assert getattr(b.area, name) == pytest.approx(0.09 * getattr(a.area, name), rel=1e-12)
        assert a.users_accuracy == b.users_accuracy
    assert pixels["stable forest"].area.unit is None
    x = hectares["stable forest"].area
    assert x.margin == pytest.approx(1.966 * x.se, rel=2e-3)  # Student's, about 400 degrees of freedom
    assert repr(x) == f"Area of stable forest 285,770 ha, 95 % interval {x.low:,.0f} to {x.high:,.0f} (se 7,913.18)"


# ---- forms -----------------------------------------------------------------------------------------------


def test_text_has_the_map_in_rows(olofsson):
    shown = repr(olofsson)
    assert shown.startswith("Map accuracy: 640 rows in 4 strata, area 900,000 ha\n")
    assert "deforestation                 66            0              5                  4     75\n" in shown
    assert "Total                     0.0235       0.0130         0.3175             0.6460  1.0000\n" in shown
    assert "Class               Mapped  Estimated     SE" in shown
    area = olofsson["stable forest"].area
    assert f"stable forest      288,000    285,770  7,913  {area.low:,.0f} to {area.high:,.0f}" in shown
    assert "User's" in shown
    assert "Design: 640 rows drawn in 4 strata; each row stands for the size of its stratum" in shown


def test_latex_json_and_frames(olofsson, tmp_path):
    latex = Path(olofsson.save(tmp_path / "map.tex")).read_text()
    assert r"\caption{Area of each class in ha}" in latex
    assert r"map \textbackslash{} reference & deforestation" in latex
    data = json.loads(olofsson.to_json())
    check(data)
    assert data["matrix"]["counts"] == OLOFSSON_2014.tolist()
    assert data["classes"][0]["area"]["se"] == olofsson["deforestation"].area.se
    frame = olofsson.to_frame()
    own = frame[(frame["class"] == "deforestation") & (frame["measure"] == "mapped_area")]
    assert own["value"].tolist() == [pytest.approx(18_000)]
    assert set(frame["measure"]) >= {"overall_accuracy", "users_accuracy", "producers_accuracy", "area", "quantity"}
    assert len(frame) == 9 + 4 * 6


def test_many_classes_have_no_matrix():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 60, 3000)
    found = wmcc.map_accuracy(wmcc.tabulate(truth, np.where(rng.random(3000) < 0.8, truth, rng.integers(0, 60, 3000))))
    assert found.matrix is None
    assert "Error matrix" not in repr(found)
    assert "Shown are the 50 heaviest of 60 classes" in repr(found)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda t: wmcc.map_accuracy(t, pixel_area=0), "`pixel_area` is 0; expected a number above 0"),
        (lambda t: wmcc.map_accuracy(t, unit=1), "`unit` is a int; expected a text, such as 'ha'"),
        (lambda t: wmcc.map_accuracy(t, confidence_level=95), "`confidence_level` is 95"),
        (lambda t: wmcc.map_accuracy(t)["x"], "there is no class 'x'; the classes are 0, 1"),
        (lambda t: wmcc.map_accuracy(wmcc.Table.empty()), "the table has no observations"),
        (lambda t: wmcc.map_accuracy([1, 2]), "expected a Table; got a list"),
        (lambda t: wmcc.Table.from_counts([[1]], population={1: 5}), "`population` names 1, which is no class"),
        (lambda t: wmcc.Table.from_counts([[1]], population={}), "`population` has no size for 0"),
        (
            lambda t: wmcc.Table.from_counts([[1]], population={0: -1}),
            "`population` of 0 is -1; expected a finite number",
        ),
        (
            lambda t: wmcc.Table.from_counts([[1]], population={0: "many"}),
            "`population` of 0 is 'many'; expected a finite number above 0.",
        ),
        (lambda t: wmcc.Table.from_counts([[1]], population=5), "`population` is a int; expected the size of each"),
    ],
)
def test_bad_input_of_maps(call, said):
    with pytest.raises(WmccError, match=said.replace("(", r"\(")):
        call(wmcc.Table.from_counts([[9, 1], [2, 8]]))


# ---- reports and the command line ------------------------------------------------------------------------------


def test_a_report_in_the_words_of_maps(olofsson):
    built = build(olofsson.table, ReportOptions("accuracy", progress=False, terms="map", pixel_area=0.09, unit="ha"))
    said = render(".md", *built)
    assert said.startswith("# Report on a map\n")
    assert "| stable forest | 288,000 | 285,770 | 7,913 | " in said
    assert "| deforestation | 66 | 0 | 5 | 4 | 75 |" in said
    assert "**User's accuracy** — Precision" in said
    assert "Recall |" not in said
    assert "Area of each class in ha" in render(".html", *built)
    data = json.loads(render(".json", *built))
    own = {name: x for name, x in json.loads(olofsson.to_json()).items() if name not in ("schema", "kind")}
    assert data["predictions"][0]["map"] == own


def test_a_report_on_a_map_has_its_warnings_and_names_its_poststrata(olofsson):
    found, how = build(olofsson.table, ReportOptions(terms="map", progress=False))
    said = render(".md", found, how)
    assert "There are none." not in said
    assert said.split("## Warnings")[1].count("Quantity disagreement: for 4 of 4 classes it is not clear") == 1
    truth, mapped = [0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9
    table = wmcc.tabulate(truth, mapped, [1.0] * 36, design=wmcc.PostStrata([0, 1] * 18, {0: 30, 1: 40}))
    said = render(".md", *build(table, ReportOptions(progress=False)))
    assert "36 rows, scaled to 2 post-strata, total weight 70" in said
    assert "Weights are scaled to the known totals of 2 post-strata" in said
    assert "over the strata" not in said


def test_notes_of_all_groups_come_before_those_of_one(folder):
    command = ("map", "parcels.csv", "--true", "label", "--pred", "pred", "--weight", "area", "--by", "region")
    notes = run(*command).stdout.rsplit("\n\n", 1)[1].splitlines()
    own = [note.startswith("region = ") for note in notes]
    assert any(own)
    assert own == sorted(own)


def test_diagnose_says_that_rows_of_strata_were_drawn():
    parts = wmcc.tabulate(
        [0, 1, 1, 0] * 20, [0, 1, 0, 0] * 20, by=[0, 1, 0, 1, 0] * 16, design=wmcc.Strata([0, 0, 1, 1] * 20)
    )
    (heads,) = [block.head for block in wmcc.diagnose(parts[0]).blocks() if block.title.startswith("Strata")]
    assert heads[:2] == ["Stratum", "Rows drawn"]


def test_a_report_on_two_maps(tmp_path):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 60)
    a, b = (np.where(rng.random(60) < share, truth, 1 - truth) for share in (0.9, 0.6))
    both = wmcc.tabulate(truth, {"A": a, "B": b})
    path = wmcc.write_report(tmp_path / "r.md", both, measure="accuracy", terms="map", progress=False)
    said = Path(path).read_text()
    assert said.startswith("# Comparison of 2 maps\n")
    assert "Area of each class, A\n" in said
    assert "Error matrix, sampled rows, B\n" in said


def test_bad_terms_of_a_report(tmp_path):
    table = wmcc.Table.from_counts([[9, 1], [2, 8]])
    with pytest.raises(InputError, match="`pixel_area` is for areas of maps"):
        wmcc.write_report(tmp_path / "x.md", table, pixel_area=2.0)
    with pytest.raises(InputError, match="`terms` is 'maps'; expected 'classifier' or 'map'"):
        wmcc.write_report(tmp_path / "x.md", table, terms="maps")


STRATA = """class,pixels,accuracy
deforestation,200000,0.7
forest gain,150000,0.6
forest,3200000,0.9
other,6450000,0.95
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put_sample(tmp_path)
    Path("strata.csv").write_text(STRATA)
    return tmp_path


def test_wmcc_map(folder):
    found = wmcc.map_accuracy(wmcc.tabulate("parcels.csv", true="label", pred="pred", weight="area"), unit="ha")
    command = ("map", "parcels.csv", "--true", "label", "--pred", "pred", "--weight", "area", "--unit", "ha")
    assert run(*command, "--format", "json").stdout == found.to_json()
    shown = run(*command).stdout
    assert shown == text(found.blocks())
    assert "area 260.595 ha" in run(*command, "--pixel-area", "0.09").stdout
    groups = run(*command, "--by", "region").stdout
    assert "Estimated areas in ha\nregion " in groups
    said = run(*command, "--pixel-area", "-1", code=2).stderr
    assert said.startswith("Error: `pixel_area` is -1.0; expected a number above 0")


def test_wmcc_plan(folder):
    assert run("plan", "strata.csv", "--se", "0.01").stdout.startswith("Sample of 641 rows: standard error of")
    data = json.loads(run("plan", "strata.csv", "--rows", "600", "--allocation", "equal", "--format", "json").stdout)
    assert [own["n"] for own in data["strata"]] == [150] * 4
    run("tabulate", "parcels.csv", "--true", "label", "--pred", "pred", "-o", "pilot.json")
    pilot = wmcc.tabulate("parcels.csv", true="label", pred="pred")
    found = wmcc.plan_sample(pilot, se=10, measure="area", of="water", minimum=5)
    command = ("plan", "pilot.json", "--se", "10", "--measure", "area", "--of", "water", "--minimum", "5")
    assert run(*command, "--format", "json").stdout == found.to_json()
    run("plan", "strata.csv", "--se", "0.01", "--fpc", "-o", "plan.csv")
    assert Path("plan.csv").read_text().startswith("stratum,size,n,sd\ndeforestation,200000.0,23,")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("strata.csv",), "neither `se` nor `n` was given; expected the standard error that is wanted"),
        (("strata.csv", "--se", "0.01", "--rows", "9"), "`se` and `n` were both given; expected"),
        (("strata.csv", "--rows", "3"), "`--rows` is 3; 4 strata with at least 2 rows each need 8."),
        (("parcels.csv", "--se", "0.01"), "expected three, in this order: stratum, size, accuracy."),
        (("twice.csv", "--se", "0.01"), "twice.csv has two rows for 'a'; expected one."),
        (("gap.csv", "--se", "0.01"), "gap.csv: row 2 has no stratum."),
        (("words.csv", "--se", "0.01"), "words.csv: `population['a']` is 'many'; expected a finite number"),
        (("nothing.csv", "--se", "0.01"), "there is no file 'nothing.csv'"),
        (
            ("percent.csv", "--se", "0.01"),
            "percent.csv: `guess['b']` is 90.0; expected a number between 0 and 1.",
        ),
        (("empty.csv", "--se", "0.01"), "empty.csv: row 1 has no accuracy."),
        (("strata.csv", "--se", "0.01", "--measure", "area"), "name the class in `of`, for instance 'deforestation'."),
        (("strata.csv", "--se", "0.01", "--measure", "area", "--of", "sea"), "there is no class 'sea'"),
        (("groups.json", "--se", "0.01"), "groups.json holds tables of several groups; expected one table."),
    ],
)
def test_bad_input_of_wmcc_plan(args, said, folder):
    Path("twice.csv").write_text("class,size,accuracy\na,1,0.9\na,2,0.9\n")
    Path("gap.csv").write_text("class,size,accuracy\na,1,0.9\n,2,0.9\n")
    Path("percent.csv").write_text("class,size,users\na,1,0.9\nb,2,90\n")
    Path("empty.csv").write_text("class,size,accuracy\na,1,\nb,2,0.9\n")
    Path("words.csv").write_text("class,size,accuracy\na,many,0.9\nb,2,0.9\n")
    if "groups.json" in args:
        run("tabulate", "parcels.csv", "--true", "label", "--pred", "pred", "--by", "region", "-o", "groups.json")
    assert said in run("plan", *args, code=2).stderr


# ---- unions of classes -----------------------------------------------------------------------------------


def test_areas_of_unions_add_up_and_errors_do_not(olofsson):
    union = wmcc.map_accuracy(olofsson.table.merge_classes({"change": NAMES[:2]}), pixel_area=0.09)
    parts = [olofsson[name].area for name in NAMES[:2]]
    whole = union["change"].area
    assert whole.value == pytest.approx(sum(x.value for x in parts), rel=1e-12)
    assert whole.se != pytest.approx(sum(x.se**2 for x in parts) ** 0.5, rel=1e-3)
    reference, mapped = (np.where(np.isin(x, NAMES[:2]), "change", x) for x in rows_of(OLOFSSON_2014, NAMES))
    _, strata = rows_of(OLOFSSON_2014, NAMES)
    assert wmcc.tabulate(
        reference, mapped, design=wmcc.Strata(strata, population=PIXELS)
    ) == olofsson.table.merge_classes({"change": NAMES[:2]})


def test_merging_classes_is_relabelling_rows():
    rng = np.random.default_rng(2)
    truth, a, b, w = rng.integers(0, 5, 300), rng.integers(0, 5, 300), rng.integers(0, 5, 300), rng.random(300)
    place = np.array([0, 7, 7, 3, 3])
    unions = {7: [1, 2], 3: [3, 4]}

    def same(found, expected):
        assert found.labels == (0, 7, 3)  # where the first of each stood
        assert found._aligned((0, 3, 7)) == expected

    same(wmcc.tabulate(truth, a, w).merge_classes(unions), wmcc.tabulate(place[truth], place[a], w))
    same(
        wmcc.tabulate(truth, {"a": a, "b": b}, w, cluster=truth % 2 + 2 * (a > 2)).merge_classes(unions),
        wmcc.tabulate(place[truth], {"a": place[a], "b": place[b]}, w, cluster=truth % 2 + 2 * (a > 2)),
    )
    groups = wmcc.tabulate(truth, a, w, by=b).merge_classes(unions)
    assert groups[1]._aligned((0, 3, 7)) == wmcc.tabulate(place[truth], place[a], w, by=b)[1]._aligned((0, 3, 7))


@pytest.mark.parametrize(
    ("unions", "said"),
    [
        ({5: [2, 9]}, "there is no class 9 to merge into 5; the classes are 1, 2, 3; 9 is void."),
        ({5: [4]}, "there is no class 4 to merge into 5; the classes are 1, 2, 3."),
        ({1: [2, 3]}, "the union 1 has the name of a class that is not part of it."),
        ({5: [1], 6: [1, 2]}, "class 1 is in two unions, 5 and 6; expected one."),
        ([1, 2], "`unions` is a list; expected a mapping"),
    ],
)
def test_bad_unions(unions, said):
    table = wmcc.tabulate([1, 1, 2, 3, 9], [1, 2, 9, 3, 1], ignore=9)
    with pytest.raises(WmccError) as caught:
        table.merge_classes(unions)
    assert said in caught.value.message


def test_a_union_may_keep_the_name_of_a_part_and_of_the_positive_class():
    table = wmcc.tabulate([1, 2, 3], [1, 3, 3]).merge_classes({1: [1, 2]})
    assert table.labels == (1, 3)
    assert wmcc.tabulate([0, 1], [0, 1], positive=1).merge_classes({"yes": [1], "no": [0]}).positive == "yes"


# ---- plans -----------------------------------------------------------------------------------------------

SIZES = {"deforestation": 0.020, "forest gain": 0.015, "forest": 0.320, "non-forest": 0.645}
ACCURACIES = {"deforestation": 0.70, "forest gain": 0.60, "forest": 0.90, "non-forest": 0.95}


def test_the_plan_of_olofsson_2014():
    plan = wmcc.plan_sample(ACCURACIES, SIZES, se=0.01)
    assert plan.n == 641
    assert plan.se <= 0.01 < wmcc.plan_sample(ACCURACIES, SIZES, n=640).se
    assert plan.rows == {"deforestation": 23, "forest gain": 19, "forest": 243, "non-forest": 356}
    assert [own.sd for own in plan.strata] == pytest.approx([(u * (1 - u)) ** 0.5 for u in ACCURACIES.values()])
    assert plan.expected[0][:2] == ("overall_accuracy", None)
    assert "spread over the other classes in proportion to their sizes" in plan.assumption
    assert plan.warnings == ()


def test_other_allocations_need_more_rows():
    plans = {
        how: wmcc.plan_sample(ACCURACIES, SIZES, se=0.01, allocation=how)
        for how in ("optimal", "proportional", "equal")
    }
    given = wmcc.plan_sample(ACCURACIES, SIZES, se=0.01, allocation={**SIZES, "non-forest": 0.95})
    assert plans["optimal"].n < plans["proportional"].n < given.n < plans["equal"].n
    assert given.allocation == "given"
    assert all(plan.se <= 0.01 for plan in plans.values())
    n = np.array(list(plans["equal"].rows.values()))
    assert n.max() - n.min() == 1
    assert plans["proportional"].n in (672, 673)  # Σ W U (1 − U) / 0.01² is 672.4, and rows are whole


def test_a_minimum_per_stratum_and_finite_populations():
    plan = wmcc.plan_sample(ACCURACIES, SIZES, se=0.01, minimum=75)
    assert min(plan.rows.values()) == 75
    assert plan.se <= 0.01
    few = {"a": 60, "b": 4000}
    finite = wmcc.plan_sample({"a": 0.6, "b": 0.9}, few, se=0.01, fpc=True)
    assert finite.rows["a"] <= 60
    assert finite.n < wmcc.plan_sample({"a": 0.6, "b": 0.9}, few, se=0.01).n
    everything = wmcc.plan_sample({"a": 0.6, "b": 0.9}, few, n=4060, fpc=True)
    assert (everything.rows, everything.se) == (few, 0.0)


def test_a_plan_for_the_users_accuracy_of_a_class_is_about_its_stratum():
    plan = wmcc.plan_sample(ACCURACIES, SIZES, se=0.05, measure="users_accuracy", of="forest gain")
    assert plan.rows == {"deforestation": 2, "forest gain": 96, "forest": 2, "non-forest": 2}
    assert plan == wmcc.plan_sample(ACCURACIES, SIZES, se=0.05, measure="precision", of="forest gain")


@pytest.mark.parametrize(
    ("measure", "of", "se"),
    [
        ("overall_accuracy", None, 0.008),
        ("ecc", None, 0.015),
        ("mpc2", None, 0.02),
        ("area", "deforestation", 200_000 / 15),
        ("producers_accuracy", "forest", 0.012),
    ],
)
def test_samples_drawn_by_a_plan_have_its_standard_error(measure, of, se):
    guess = {
        "deforestation": {"deforestation": 0.85, "forest": 0.10, "non-forest": 0.05},
        "forest": {"deforestation": 0.02, "forest": 0.90, "non-forest": 0.08},
        "non-forest": {"deforestation": 0.01, "forest": 0.06, "non-forest": 0.93},
    }
    sizes = {"deforestation": 200_000, "forest": 3_200_000, "non-forest": 6_450_000}
    plan = wmcc.plan_sample(guess, sizes, se=se, measure=measure, of=of, minimum=20)
    assert plan.se <= se
    names, total = list(guess), sum(sizes.values())
    rng = np.random.default_rng(11)
    p = np.zeros((4000, 3, 3))  # sample × reference × map
    for k, name in enumerate(names):
        drawn = rng.multinomial(plan.rows[name], [guess[name][x] for x in names], 4000)
        p[:, :, k] = drawn / plan.rows[name] * sizes[name] / total
    if of is None:
        values = wmcc.measures.MEASURES[{"overall_accuracy": "accuracy"}.get(measure, measure)].near(Shares.of_cells(p))
    else:
        j = names.index(of)
        values = p[:, j].sum(axis=1) * total if measure == "area" else p[:, j, j] / p[:, j].sum(axis=1)
    assert values.std() == pytest.approx(se, rel=0.05)
    counts = np.array([rng.multinomial(plan.rows[name], [guess[name][x] for x in names]) for name in names])
    found = wmcc.map_accuracy(wmcc.Table.from_counts(counts.T, names, population=sizes))
    own = found.overall[measure] if of is None else getattr(found[of], measure)
    assert own.se == pytest.approx(se, rel=0.25)


def test_a_plan_from_a_pilot_says_what_the_pilot_had(olofsson):
    table = olofsson.table
    plan = wmcc.plan_sample(
        table, n=640, allocation={k: int(n) for k, n in zip(NAMES, OLOFSSON_2014.sum(axis=1), strict=True)}
    )
    assert list(plan.rows.values()) == [75, 75, 165, 325]
    known = {(x.measure, x.label): x.se for x in plan.expected}
    # The same standard errors, but for the n / (n − 1) of an estimate.
    assert known["overall_accuracy", None] == pytest.approx(olofsson.overall_accuracy.se, rel=0.01)
    assert known["ecc", None] == pytest.approx(olofsson.overall["ecc"].se, rel=0.01)
    for c in olofsson.classes:
        assert known["area", c.label] * 0.09 == pytest.approx(c.area.se, rel=0.01)
        assert known["producers_accuracy", c.label] == pytest.approx(c.producers_accuracy.se, rel=0.01)
    without = wmcc.Table.from_counts(OLOFSSON_2014.T, NAMES)
    assert wmcc.plan_sample(without, PIXELS, se=0.01).rows == wmcc.plan_sample(table, se=0.01).rows
    simple = wmcc.plan_sample(without, se=0.01)
    p = np.trace(OLOFSSON_2014) / 640
    assert simple.rows == {(): int(np.ceil(p * (1 - p) / 0.01**2))}


def test_a_plan_says_that_it_leaves_poststrata_out():
    truth, mapped, region = [0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9, [0, 0, 1] * 12
    pilot = wmcc.tabulate(
        truth, mapped, [1.0] * 36, design=wmcc.PostStrata([0, 1] * 18, {0: 30, 1: 40}, design=wmcc.Strata(region))
    )
    assert wmcc.plan_sample(pilot, se=0.05).assumption.startswith("The plan leaves post-stratification out")


def test_a_plan_warns_of_a_pilot_without_errors():
    pilot = wmcc.Table.from_counts([[25, 3], [0, 20]], ["a", "b"])
    plan = wmcc.plan_sample(pilot, {"a": 500, "b": 500}, se=0.02)
    assert plan.rows["a"] == 2
    (said,) = plan.warnings
    assert said.startswith(
        "The pilot sample has no error in 'a'. 25 rows without an error do not exclude an error rate of up to 11.3 % "
    )
    (said,) = wmcc.plan_sample({"a": 1, "b": 0.9}, {"a": 5e5, "b": 5e5}, se=0.02).warnings
    assert said.startswith("The guess has no error in 'a'.")


def test_a_plan_from_a_pilot_of_unequal_weights_has_its_standard_error():
    rng = np.random.default_rng(3)
    truth, stratum = rng.integers(0, 2, 60), np.repeat([0, 1, 2], 20)
    mapped = np.where(rng.random(60) < 0.7, truth, 1 - truth)
    for weights in (np.ones(60), rng.exponential(1, 60) ** 2):
        pilot = wmcc.tabulate(truth, mapped, weights, design=wmcc.Strata(stratum))
        for measure in ("accuracy", "ecc"):
            plan = wmcc.plan_sample(pilot, n=60, measure=measure, allocation="equal")
            # the same, but for the n / (n − 1) of an estimate
            assert plan.se == pytest.approx(wmcc.interval(pilot, measure).se * (19 / 20) ** 0.5, rel=1e-9)
        assert ("weigh unequally" in (plan.assumption or "")) == (weights[0] != 1)


def test_a_plan_from_a_part_of_a_pilot_is_refused():
    truth, mapped = [0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9
    parts = wmcc.tabulate(truth, mapped, by=[0, 1] * 18, design=wmcc.Strata([0, 0, 1] * 12))
    with pytest.raises(WmccError, match="has a part of the pilot sample"):
        wmcc.plan_sample(parts[0], se=0.05)


def test_given_allocations_are_proportions():
    guess, sizes = {"a": 0.9, "b": 0.8, "c": 0.7}, {"a": 1000, "b": 1000, "c": 1000}
    plan = wmcc.plan_sample(guess, sizes, n=100, allocation={"a": 10, "b": 10, "c": 10})
    assert list(plan.rows.values()) == [34, 33, 33]
    assert "allocation in the given proportions" in repr(plan)
    plan = wmcc.plan_sample(guess, sizes, n=100, allocation={"a": 25, "b": 10, "c": 65})
    assert (list(plan.rows.values()), plan.warnings) == ([25, 10, 65], ())
    plan = wmcc.plan_sample(guess, sizes, n=100, allocation={"a": 1, "b": 10, "c": 89})
    assert plan.rows["a"] == 2
    assert plan.warnings == (
        "'a': the given proportion would be fewer rows than the minimum, which was taken instead.",
    )


def test_weights_of_a_pilot_are_no_sizes_that_a_plan_exceeds():
    assert wmcc.plan_sample(wmcc.Table.from_counts([[8, 2], [1, 9]]), n=1000).warnings == ()


def test_odd_plans_are_told():
    guess, sizes = {"a": 0.9, "b": 0.8}, {"a": 10, "b": 1000}
    (said,) = wmcc.plan_sample(guess, sizes, n=100, allocation="equal").warnings
    assert said == (
        "'a': the plan has more rows than the size, such as 50 of 10. If sizes count units, the plan needs `fpc`."
    )
    plan = wmcc.plan_sample({"a": 0.5, "b": 0.99}, {"a": 0.1, "b": 10}, n=4, measure="producers_accuracy", of="a")
    assert plan.warnings == (
        "A standard error of 1.57 says nothing about a measure that is 1 at most; more rows are needed.",
    )


def test_a_plan_is_stored_and_shown(tmp_path):
    plan = wmcc.plan_sample(ACCURACIES, SIZES, se=0.01)
    check(json.loads(plan.to_json()))
    assert repr(plan).startswith("Sample of 641 rows: standard error of Overall accuracy 0.0100, wanted 0.0100\n")
    assert "forest gain    0.015   1.5 %    19  0.4899\n" in repr(plan)
    assert plan.to_frame("polars")["n"].to_list() == [23, 19, 243, 356]
    several = wmcc.tabulate(
        [0, 1, 1, 0] * 5, [0, 1, 0, 0] * 5, design=wmcc.Strata({"a": [1, 2, 1, 2] * 5, "b": [0, 0, 0, 1] * 5})
    )
    own = wmcc.plan_sample(several, se=0.05)
    check(json.loads(own.to_json()))
    assert [x["stratum"] for x in own.to_dict()["strata"]] == [[1, 0], [2, 0], [2, 1]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"se": None}, "neither `se` nor `n` was given; expected the standard error that is wanted, or the number"),
        ({"n": 500}, "`se` and `n` were both given; expected the standard error that is wanted, or the number of rows"),
        ({"se": -1}, "`se` is -1; expected a number above 0"),
        ({"se": "x"}, "`se` is 'x'; expected a finite number"),
        ({"se": None, "n": 7}, "`n` is 7; 4 strata with at least 2 rows each need 8"),
        ({"allocation": "best"}, "`allocation` is 'best'; expected 'optimal', 'proportional', 'equal', or a mapping"),
        ({"allocation": {"forest": 1}}, "`allocation` has no entry for 'deforestation', 'forest gain', 'non-forest'"),
        ({"minimum": 1}, "`minimum` is 1; expected a whole number of at least 2"),
        ({"fpc": True}, "`fpc` is True, which needs sizes that count units; a size is below 1"),
        ({"measure": "area"}, "'area' is a number per class"),
        ({"measure": "recall"}, "'recall' is a number per class"),
        ({"measure": "f1"}, "'f1' is a number per class"),
        ({"measure": "best"}, "`measure` is 'best'; expected one of overall_accuracy, mcc, ecc"),
        ({"measure": "oa"}, "or with `of`, a class, one of users_accuracy, producers_accuracy, f1, iou, area, mcc."),
        ({"minimum": 2.5}, "`minimum` is 2.5; expected"),
        ({"measure": "mcc"}, "MCC is for two classes; there are 4"),
        ({"measure": "ecc", "of": "forest"}, "`measure` is 'ecc'; with `of`, a class, expected one of users_accuracy"),
        ({"measure": "area", "of": "sea"}, "there is no class 'sea'; the classes are 'deforestation'"),
        ({"guess": {**ACCURACIES, "forest": 1.1}}, "`guess['forest']` is 1.1; expected a number between 0 and 1"),
        ({"guess": {**ACCURACIES, "sea": 0.9}}, "`guess` has 'sea', which `population` does not have"),
        ({"guess": {**ACCURACIES, "forest": {"forest": 1}}}, "`guess` has numbers for some strata and mappings"),
        ({"guess": dict.fromkeys(ACCURACIES, 1)}, "does not vary within any stratum: the guess has no error"),
        ({"guess": [1, 2]}, "expected a Table of a pilot sample, or a mapping from strata to guessed accuracies"),
        ({"guess": {"a": 0.9}, "population": {"a": 1}}, "there is one stratum only"),
        ({"population": None}, "`population` is missing; expected the size of each stratum"),
        ({"population": {**SIZES, "forest": 0}}, "`population['forest']` is 0; expected a number above 0"),
        ({"allocation": {**SIZES, "forest": 0}}, "since `allocation` has 0 for 'forest'"),
        ({"guess": wmcc.tabulate([0, 1] * 9, [0, 1] * 9, cluster=[0, 1, 2] * 6), "population": None},
         "the pilot sample was not drawn row by row"),
        ({"guess": wmcc.Table.from_counts([[5, 1], [0, 0]]), "population": {0: 1, 2: 1}}, "has no entry for 1"),
        ({"guess": wmcc.Table.from_counts([[5, 0], [1, 0]]), "population": {0: 1, 1: 1}},
         "the pilot sample has no row in 1, so nothing is known of it"),
    ],
)  # fmt: skip
def test_bad_input_of_plans(change, said):
    given = {"guess": ACCURACIES, "population": SIZES, "se": 0.01} | change
    with pytest.raises(WmccError) as caught:
        wmcc.plan_sample(given.pop("guess"), given.pop("population"), **given)
    assert said in caught.value.message


def test_a_map_has_the_sizes_of_a_plan(tmp_path):
    import geopandas as gpd
    import shapely

    values = np.repeat(np.array([[1, 1, 2], [2, 3, 1]], np.uint8), 20, 0)
    path = put(tmp_path / "map.tif", values)
    sizes = map_classes(path).areas
    guess = {1: 0.9, 2: 0.8, 3: 0.7}
    assert wmcc.plan_sample(guess, path, n=50) == wmcc.plan_sample(guess, sizes, n=50)
    assert wmcc.plan_sample(guess, wmcc.Raster(path), n=50).strata[2].size == sizes[3]
    land = gpd.GeoDataFrame({"map": ["a", "b"]}, geometry=[shapely.box(8, 50, 9, 51), shapely.box(9, 50, 9.5, 51)])
    plan = wmcc.plan_sample({"a": 0.9, "b": 0.8}, land.set_crs(4326), pred="map", n=50)
    assert plan.strata[0].size == pytest.approx(2 * plan.strata[1].size, rel=1e-4)
    with pytest.raises(InputError, match="`guess` has no entry for 3, which `population` has"):
        wmcc.plan_sample({1: 0.9, 2: 0.8}, path, n=50)
    with pytest.raises(InputTypeError, match="`fpc` is True, which needs sizes that count units"):
        wmcc.plan_sample(guess, path, n=50, fpc=True)
    with pytest.raises(InputTypeError, match="`pred` is missing"):
        wmcc.plan_sample(guess, land.set_crs(4326), n=50)
    with pytest.raises(InputTypeError, match="`population` is no map"):
        wmcc.plan_sample(guess, sizes, pred="map", n=50)


def test_names_of_the_raster_are_those_of_a_plan():
    import xarray as xr

    cover = xr.DataArray(np.ones((3, 2)), {"y": [49.95, 49.85, 49.75], "x": [10.05, 10.15]}, ("y", "x"))
    cover[0] = 2
    cover.attrs |= {"flag_values": [1, 2], "flag_meanings": "oak elm"}
    cover = wmcc.Raster(cover, crs="EPSG:4326")
    by_name = wmcc.plan_sample({"oak": 0.9, "elm": 0.8}, cover, n=50)
    assert list(by_name.rows.values()) == list(wmcc.plan_sample({1: 0.9, 2: 0.8}, cover, n=50).rows.values())
