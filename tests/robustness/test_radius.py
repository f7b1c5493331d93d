"""Radii are brackets of the truth, and sensitivities are the slopes of certificates."""

import numpy as np
import pytest
from helpers import few
from hypothesis import given
from hypothesis import strategies as st

import wmcc
import wmcc.measures
from wmcc.errors import InputError, WmccError

NAMES = [name for name in wmcc.measures.MEASURES if name != "mcc"]


def some_table(seed, K):
    rng = np.random.default_rng(seed)
    C = rng.integers(0, 6, (K, K)) + 20 * np.eye(K, dtype=int) * rng.integers(1, 4, K)
    w = C * rng.lognormal(0, 0.5, (K, K))
    least = np.where(C > 0, w / np.maximum(C, 1), np.nan)
    return wmcc.Table.from_cells(range(K), C, w, np.where(C > 0, w * w / np.maximum(C, 1), 0), least, least)


@few(25)
@given(
    seed=st.integers(0, 10_000),
    K=st.integers(2, 5),
    name=st.sampled_from(NAMES),
    model=st.sampled_from(["relative", "absolute"]),
    down=st.sampled_from([0.01, 0.05, 0.2, -0.03]),
)
def test_a_threshold_holds_up_to_the_radius_and_not_beyond(seed, K, name, model, down):
    table = some_table(seed, K)
    threshold = min(wmcc.measures.MEASURES[name](table) - down, 1.0)
    asked = {"at_least" if down > 0 else "at_most": threshold}
    found = wmcc.radius(table, name, **asked, model=model, tolerance=1e-3)
    assert found.holds
    assert found.problem is None
    certificate = wmcc.certify(table, name, eps=found.safe, model=model, nodes=200)
    if down > 0:
        assert certificate.low >= threshold
    else:
        assert certificate.high <= threshold
    if found.broken is not None:
        assert found.safe < found.broken
        beyond = found.witness.attained - threshold
        assert beyond < 0 if down > 0 else beyond > 0
        n = len(table.labels)
        cells = found.witness.cells
        slack = found.broken * (table.w if model == "relative" else table.n)
        assert cells.shape == (n, n)
        assert (abs(cells - table.w) <= slack * (1 + 1e-12) + 1e-12).all()


@pytest.mark.parametrize("K", [2, 3, 5])
def test_a_narrow_bracket_where_ends_are_exact(K):
    table = some_table(7, K)
    found = wmcc.radius(table, "ecc", change=0.02)
    assert found.broken - found.safe <= 2e-6 * found.broken
    certificate = wmcc.certify(table, "ecc", eps=found.broken)
    assert max(found.value - certificate.low, certificate.high - found.value) > 0.02


def test_nothing_breaks_what_cannot_break():
    table = some_table(1, 3)
    found = wmcc.radius(table, "accuracy", at_least=0.0)
    assert found.broken is None
    assert found.safe == np.nextafter(1, 0)
    assert "no weights were found" in repr(found)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "expected one of `at_least`, `at_most` and `change`; got none of them"),
        ({"at_least": 0.5, "change": 0.1}, "got `at_least` and `change`"),
        ({"at_least": 0.1, "at_most": 0.9}, "got `at_least` and `at_most`"),
        ({"at_least": float("nan")}, "`at_least` is 'nan'"),
        ({"at_most": 80}, "`at_most` is 80; ECC .* lies between -1 and 1"),
        ({"change": 0}, "expected a number above 0"),
        ({"at_least": 0.5, "tolerance": 2}, "`tolerance` is 2"),
        ({"at_least": 0.5, "model": "absolut"}, "`model` is 'absolut'"),
        ({"at_least": 0.5, "measure": "f1"}, "number per class"),
    ],
)
def test_wrong_radii_get_a_sentence(options, said):
    with pytest.raises(WmccError, match=said):
        wmcc.radius(some_table(0, 3), **options)


@few(40)
@given(seed=st.integers(0, 10_000), K=st.integers(2, 6), name=st.sampled_from(NAMES))
def test_the_slope_is_the_limit_of_the_change(seed, K, name):
    table = some_table(seed, K)
    found = wmcc.sensitivity(table, name)
    for model in ("relative", "absolute"):
        eps = 1e-6
        certificate = wmcc.certify(table, name, eps=eps, model=model)
        change = max(certificate.upper.attained - found.value, found.value - certificate.lower.attained)
        assert np.isclose(change / eps, found.slope(model), rtol=1e-3, atol=1e-8)
    assert abs((found.gradient * table.w).sum()) < 1e-12
    assert np.isclose(sum(c.share for c in found.cells), 1) or found.slope_relative == 0
    assert [abs(c.effect) for c in found.cells] == sorted((abs(c.effect) for c in found.cells), reverse=True)
    assert len(found.cells) == (table.n > 0).sum()


def test_influence_of_rows():
    truth, model, w = ["oak", "elm", "elm", "ash"], ["oak", "elm", "oak", "ash"], np.array([3.0, 2, 1, 4])
    found = wmcc.sensitivity(wmcc.tabulate(truth, model, w), "mpc2")
    influence = found.influence([*truth, "fir"], [*model, "oak"])
    assert np.isnan(influence[-1])
    for i in range(4):
        step = 1e-6 * np.eye(4)[i]
        slope = (
            wmcc.mpc2(truth, model, sample_weight=w + step) - wmcc.mpc2(truth, model, sample_weight=w - step)
        ) / 2e-6
        assert np.isclose(influence[i], slope, atol=1e-7)
    assert "elm" in repr(found)
    assert "<table" in found._repr_html_()
    with pytest.raises(InputError, match="`model` is 'both'"):
        found.slope("both")


def test_a_class_without_weight_has_no_absolute_slope():
    found = wmcc.sensitivity(wmcc.tabulate([0, 1, 0, 2], [0, 1, 1, 2], [1, 1, 1, 0]), "mpc2")
    assert np.isnan(found.slope("absolute"))
    assert found.slope("relative") > 0
    assert "— ε (absolute)" in repr(found)


@pytest.mark.parametrize(("asked", "said"), [({"at_least": 0.87}, "0.8608"), ({"at_most": 0.8608}, "0.8608001")])
def test_a_statement_that_does_not_hold_has_no_radius(asked, said):
    """It is not turned round: a gate that asks for 0.95 does not open at 0.90."""
    table = wmcc.Table.from_counts([[50, 3, 2], [4, 40, 1], [0, 2, 30]])
    found = wmcc.radius(table, "ecc", **asked)
    assert (found.holds, found.safe, found.broken, found.witness) == (False, 0.0, 0.0, None)
    assert found.problem == f"ECC (R_K) is {said} at the weights as they are"
    assert "does not hold, so it has no radius" in repr(found)


@pytest.mark.parametrize("name", ["ecc", "mpc1", "mpc2", "kappa"])
def test_an_undefined_measure_has_no_radius_and_no_slope(name):
    table = wmcc.tabulate([0, 0, 0], [0, 0, 0], labels=[0, 1, 2])
    radius, slopes = wmcc.radius(table, name, at_least=-0.5), wmcc.sensitivity(table, name)
    for found in (radius, slopes):
        assert "undefined at these weights" in found.problem
        assert found.value == 0.0
        assert found.problem in repr(found)
    assert (radius.holds, radius.safe) == (False, 0.0)
    assert np.isnan([slopes.slope_relative, slopes.slope_absolute]).all()
    assert np.isnan(slopes.gradient).all()
    assert np.isnan(slopes.influence([0, 1], [0, 0])).all()
    assert slopes.cells == ()


@pytest.mark.parametrize("model", ["relative", "absolute"])
def test_a_score_at_its_threshold_has_no_radius(model):
    """And it is not looked for among weights that are off by less than their rounding."""
    found = wmcc.radius(wmcc.Table.from_counts([[3, 3], [3, 3]]), "mcc", at_least=0.0, model=model)
    assert found.safe == 0
    assert 1e-20 < found.broken < 1e-8


@few(30)
@given(
    seed=st.integers(0, 10_000),
    K=st.integers(2, 4),
    power=st.integers(-900, 980),
    name=st.sampled_from(NAMES),
    down=st.sampled_from([0.02, 0.2]),
)
def test_a_radius_in_units_of_the_weights_scales_with_them(seed, K, power, name, down):
    """To the last bit: amounts of 1e-270 or 1e300 are amounts like any other."""
    found = []
    for scale in (1.0, 2.0**power):
        rng = np.random.default_rng(seed)
        t, p = rng.integers(0, K, 30), rng.integers(0, K, 30)
        p = np.where(rng.random(30) < 0.7, t, p)
        table = wmcc.tabulate(t, p, np.exp(rng.normal(0, 1, 30)) * scale, labels=range(K))
        threshold = max(wmcc.measures.MEASURES[name](table) - down, wmcc.measures.MEASURES[name].range[0])
        found.append(wmcc.radius(table, name, at_least=threshold, model="absolute", tolerance=1e-3))
    assert found[1].safe == found[0].safe * 2.0**power
    assert (found[1].broken or 0.0) == (found[0].broken or 0.0) * 2.0**power
    assert found[1].stopped == found[0].stopped


@pytest.mark.parametrize("size", [1e307, 1e303, 1.0, 1e-305, 1e-315, 1e-320])
def test_a_radius_near_the_ends_of_float64(size):
    w = np.array([5.0, 2, 3, 3, 1, 2]) * size
    found = wmcc.radius(wmcc.tabulate([0, 0, 1, 1, 1, 2], [0, 1, 1, 1, 0, 2], w), at_least=0.3, model="absolute")
    assert found.safe / size == pytest.approx(1.1748, abs=2e-3)
    assert found.broken / size == pytest.approx(1.1748, abs=2e-3)
    assert found.safe < found.broken


def test_a_radius_says_where_its_search_stopped():
    table = wmcc.Table.from_counts(np.random.default_rng(0).integers(1, 10, (3, 3)))
    threshold = wmcc.ecc(table) - 0.2
    hasty, full = (wmcc.radius(table, at_least=threshold, nodes=nodes) for nodes in (1, 2000))
    assert hasty.stopped
    assert "the search for a proof stopped at its limit; searching more nodes may prove more" in repr(hasty)
    assert hasty.safe < full.safe <= full.broken <= hasty.broken * (1 + 1e-6)
    assert not full.stopped
    assert "stopped" not in repr(full)


def test_a_statement_without_a_proof_says_so():
    found = wmcc.radius(wmcc.Table.from_counts([[3, 3], [3, 3]]), "mcc", at_least=0.0)
    assert repr(found).startswith("MCC is at least 0 (now 0.0000); we could not prove that this survives even a small")
