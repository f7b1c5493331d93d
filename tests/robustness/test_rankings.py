"""Rankings: the range of a difference holds what an adversary finds, and radii are brackets."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from adversary import attack, values
from adversary_pairs import PairAttack
from helpers import few, joint_table
from hunt_pairs import NASTY_PAIRS, draw_pair
from hypothesis import given
from hypothesis import strategies as st

import wmcc
import wmcc.measures
from wmcc.errors import InputError, WmccError
from wmcc.robustness.box import box_of
from wmcc.robustness.pair import PairObjective
from wmcc.robustness.paired_intervals import JointCells
from wmcc.robustness.search import WORK, Search

pytestmark = pytest.mark.slow

MEASURES = [name for name in wmcc.measures.MEASURES if name != "mcc"]


@st.composite
def joints(draw, models=("relative", "absolute")):
    """Rows with two predictions that often agree, and weights that may be orders apart."""
    K, N = draw(st.integers(2, 4)), draw(st.integers(8, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth = rng.integers(0, K, N)
    truth[:K] = np.arange(K)
    right = draw(st.sampled_from([0.2, 0.6, 0.9]))
    a = np.where(rng.random(N) < right, truth, rng.integers(0, K, N))
    b = np.where(rng.random(N) < draw(st.sampled_from([0.1, 0.5, 0.9])), a, rng.integers(0, K, N))
    if len(set(a)) < 2 or len(set(b)) < 2:
        a[:2] = b[:2] = [0, 1]
    w = np.exp(rng.normal(0, draw(st.sampled_from([0.0, 1.0, 6.0])), N))
    model = draw(st.sampled_from(models))
    eps = draw(st.sampled_from([0.01, 0.1, 0.3, 0.7])) * (1.0 if model == "relative" else float(w.min()))
    return truth, a, b, w, eps, model


def tables(cells, K, column, sums):
    """Tables of one prediction, of a stack of joint cells."""
    out = np.zeros((len(sums), K, K))
    np.add.at(out, (slice(None), cells[:, 0], cells[:, column]), sums)
    return out


def differences(name, joint, sums):
    K = len(joint.labels)
    first, second = (tables(joint.cells.codes.T, K, column, sums) for column in (1, 2))
    classes = sorted(set(joint.cells.codes.T.reshape(-1).tolist()))  # all of them have weight
    return values(name, first, classes) - values(name, second, classes)


def exact_difference(name, joint, sums):
    """The difference in rational arithmetic; undefined values count as 0."""
    K = len(joint.labels)
    found = []
    for column in (1, 2):
        C = [[Fraction(0)] * K for _ in range(K)]
        for (t, *pair), c in zip(joint.cells.codes.T.tolist(), sums, strict=True):
            C[t][pair[column - 1]] += c
        found.append(oracle.exact(name, C, sorted(set(joint.cells.codes.T.reshape(-1).tolist()))) or 0)
    return found[0] - found[1]


def climbed(name, joint, low, high, sign, rng):
    """Best corner by coordinate ascent from a random one, a cell at a time."""
    at = rng.random(len(low)) < 0.5
    best = sign * differences(name, joint, np.where(at, high, low)[np.newaxis])[0]
    for _ in range(3):
        tries = at ^ np.eye(len(at), dtype=bool)
        found = sign * differences(name, joint, np.where(tries, high, low))
        i = int(np.argmax(found))
        if not found[i] > best:
            break
        at, best = tries[i], found[i]
    return at


@few(60)
@given(case=joints(), name=st.sampled_from(MEASURES), nodes=st.sampled_from([1, 30]), seed=st.integers(0, 1000))
def test_no_weighting_leaves_the_range_of_a_difference(case, name, nodes, seed):
    truth, a, b, w, eps, model = case
    joint = joint_table(truth, a, b, w)
    ranking = wmcc.certify_ranking(joint, name, eps=eps, model=model, nodes=nodes)
    box = box_of(joint, eps, model)
    unit = Fraction(2) ** box.exponent
    low, high = ([c * unit for c in side] for side in (box.low, box.high))
    ends = np.array([float(x) for x in low]), np.array([float(x) for x in high])
    rng = np.random.default_rng(seed)
    positions = rng.random((200, len(low))) < 0.5
    inside = rng.random((100, len(low)))
    stack = np.concatenate([positions, inside])
    found = differences(name, joint, ends[0] + (ends[1] - ends[0]) * stack)
    candidates = [stack[int(np.argmin(found))], stack[int(np.argmax(found))]]
    candidates += [climbed(name, joint, *ends, sign, rng) for sign in (-1, 1)]
    for position in candidates:
        sums = [x + Fraction(float(t)) * (y - x) for x, y, t in zip(low, high, position, strict=True)]
        assert ranking.low <= exact_difference(name, joint, sums) <= ranking.high
    for end, sign in ((ranking.lower, -1), (ranking.upper, 1)):
        at = [x + Fraction(float(t)) * (y - x) for x, y, t in zip(low, high, end.position, strict=True)]
        assert abs(float(exact_difference(name, joint, at)) - end.attained) < 1e-15
        assert sign * end.attained <= sign * end.bound
        if end.exact:
            assert end.gap == 0
            assert abs(end.bound - end.attained) < 2e-15
    assert ranking.low <= ranking.value <= ranking.high


@pytest.mark.parametrize("kind", NASTY_PAIRS)
def test_the_adversary_does_not_leave_rankings_of_any_trouble(kind):
    random = np.random.default_rng(list(NASTY_PAIRS).index(kind))
    for name in MEASURES:
        case = draw_pair(random, kind, most=4)
        ranking = case.rank(name, nodes=10)
        if ranking.problem:
            continue
        assert attack(case.limits, name, kind=PairAttack).beyond(ranking.low, ranking.high) <= 0


def test_weights_may_all_vanish():
    for name in MEASURES:
        ranking = wmcc.certify_ranking(
            joint_table([0, 1, 1], [0, 1, 1], [0, 1, 0], [1.0, 2.0, 3.0]), name, eps=5.0, model="absolute"
        )
        assert ranking.winner is None
        if wmcc.measures.MEASURES[name].has_terms:  # a mean over classes would be over others
            assert "could lose all its weight" in ranking.problem
            continue
        assert ranking.low <= 0 <= ranking.high
        assert not all(condition.met for condition in ranking.conditions)


@pytest.mark.parametrize("least", [1e-20, 3e-16])
def test_what_rounding_hides_is_no_witness(least):
    """The first is always right and the second is not, so no weights let it do as well, though floats cannot tell."""
    for name in MEASURES:
        ranking = wmcc.certify_ranking(joint_table([0, 1, 1], [0, 1, 1], [0, 1, 0], [1, 1, least]), name, eps=0.9)
        assert "does at least as well" not in ranking.verdict
        assert ranking.radius.broken is None


@few(60)
@given(case=joints(), name=st.sampled_from(MEASURES), seed=st.integers(0, 1000))
def test_slopes_of_pairs_hold_the_gradient(case, name, seed):
    truth, a, b, w, eps, model = case
    joint = joint_table(truth, a, b, w)
    box = box_of(joint, eps, model)
    objective = PairObjective(box, JointCells(joint.cells.codes, len(joint.labels)), wmcc.measures.MEASURES[name], 1)
    with np.errstate(all="ignore"):
        slopes, value = objective.slopes(box.floor[np.newaxis], box.ceiling[np.newaxis], None)
    rng = np.random.default_rng(seed)
    t, p, q = joint.cells.codes
    for _ in range(5):
        sums = box.floor + (box.ceiling - box.floor) * rng.random(len(w[: len(box.floor)]))
        pair = [
            wmcc.Table.from_cells(joint.labels, (C > 0).astype(int), C, C * C, C, C)
            for C in (tables(joint.cells.codes.T, len(joint.labels), column, sums[np.newaxis])[0] for column in (1, 2))
        ]
        measure = wmcc.measures.MEASURES[name]
        gradient = measure.gradient(pair[0])[t, p] - measure.gradient(pair[1])[t, q]
        slack = 1e-12 * max(np.abs(measure.gradient(x)).max() for x in pair) * sums.sum()
        assert (slopes.lo[0] <= gradient * sums.sum() + slack).all()
        assert (gradient * sums.sum() - slack <= slopes.hi[0]).all()
        assert value.lo[0, 0] <= measure(pair[0]) - measure(pair[1]) <= value.hi[0, 0]


def two(K=3, N=400, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, K, N)
    a, b, c = (np.where(rng.random(N) < right, truth, rng.integers(0, K, N)) for right in (0.9, 0.8, 0.5))
    return truth, a, b, c, rng.lognormal(0, 1, N)


@pytest.mark.parametrize(
    ("name", "model"), [*((name, "relative") for name in MEASURES), ("ecc", "absolute"), ("kappa", "absolute")]
)
def test_the_radius_of_a_ranking_is_a_bracket(name, model):
    truth, a, b, _, w = two()
    w = np.round(w, 2) + 0.5
    ranking = wmcc.certify_ranking(joint_table(truth, a, b, w), name, eps=0.01, model=model, nodes=16)
    radius = ranking.radius
    assert ranking.winner == "a"
    assert radius.statement.startswith("a beats b")
    assert 0.01 <= radius.safe < radius.broken
    assert wmcc.certify_ranking(joint_table(truth, a, b, w), name, eps=radius.safe, model=model, nodes=16).low > 0
    assert radius.witness.attained <= 0


@pytest.mark.parametrize("K", [3, 12, 40])
def test_the_work_for_a_radius_is_bounded(K, monkeypatch):
    """By boxes, which are fewer for large tables; and a bracket that is not closed says that they ran out."""
    boxes, run = [], Search.run
    monkeypatch.setattr(Search, "run", lambda self, *given: boxes.append(found := run(self, *given)) or found)
    truth, a, b, _, w = two(K, 60 * K)
    joint = joint_table(truth, a, b, w)
    ranking = wmcc.certify_ranking(joint, eps=0.01)
    boxes.clear()
    radius = ranking.radius
    assert sum(found.nodes for found in boxes) * (len(joint.cells.codes.T) + K * K) <= 10 * WORK
    assert len(boxes) <= 10
    assert radius.stopped == (radius.broken - radius.safe > 1e-3 * radius.broken)
    assert radius.stopped == ("stopped at its limit" in repr(radius))
    assert radius.safe > 0.9 * radius.broken


def test_equal_scores_have_no_lead():
    truth, a, *_, w = two()
    radius = wmcc.certify_ranking(joint_table(truth, a, a, w, names=("old", "new"))).radius
    assert (radius.holds, radius.safe, radius.broken) == (False, 0.0, None)
    assert radius.problem == "old and new score the same up to rounding"


def test_the_order_of_two_does_not_matter():
    truth, a, b, _, w = two()
    here, there = (
        wmcc.certify_ranking(joint_table(truth, *pair, w), "accuracy", eps=0.01) for pair in ((a, b), (b, a))
    )
    assert (here.winner, there.winner) == ("a", "b")
    assert np.isclose(here.radius.broken, there.radius.broken, rtol=0.05)


def test_more_than_two_classifiers():
    truth, a, b, c, w = two(seed=3)
    found = wmcc.certify_ranking(wmcc.tabulate(truth, {"x": a, "y": b, "z": c}, w), eps=0.05)
    assert found.names == ("x", "y", "z")
    assert (found.matrix == -found.matrix.T).all()
    assert found["x", "z"].winner == "x"
    assert found.matrix[0, 2] == 1
    assert "beats" in repr(found)
    assert "<table" in found._repr_html_()
    assert list(found.values) == sorted(found.names, key=lambda name: -found.values[name])
    for (first, second), lead in found.pairs.items():
        assert lead.names == (first, second)
        assert lead.values == (found.values[first], found.values[second])
    assert (found.n, found.ignored, found.total) == (400, 0, pytest.approx(w.sum()))
    for only in ("value", "low", "high", "winner", "verdict", "radius", "lower", "conditions"):
        with pytest.raises(InputError, match=r"3 predictions were ranked, in pairs: \('x', 'y'\)"):
            getattr(found, only)
    with pytest.raises(InputError, match="there is no pair"):
        found["x", "q"]


@pytest.mark.parametrize("name", ["mpc2", "mean_iou"])
def test_a_third_prediction_changes_no_pair(name):
    """One prediction names a class that no other does: the mean over classes counts it for that one alone."""
    truth, a, b = [0, 0, 1, 1] * 5, [0, 1, 1, 1] * 5, [0, 0, 1, 0] * 5
    joint = wmcc.tabulate(truth, {"a": a, "b": b, "c": [2, 0, 1, 1] * 5})
    found = wmcc.certify_ranking(joint, name, eps=0.1)
    assert found.values == {key: wmcc.measures.MEASURES[name](joint[key]) for key in found.values}
    alone = wmcc.certify_ranking(joint_table(truth, a, b), name, eps=0.1)
    for one, other in ((found["a", "b"].lower, alone.lower), (found["a", "b"].upper, alone.upper)):
        assert one.attained == other.attained
    assert found["a", "c"].low <= found["a", "c"].value <= found["a", "c"].high


def test_equal_predictions_do_not_differ():
    truth, a, *_, w = two()
    ranking = wmcc.certify_ranking(joint_table(truth, a, a, w), eps=0.3)
    assert ranking.winner is None
    assert "score the same" in ranking.verdict
    assert abs(ranking.low) < 1e-14
    assert abs(ranking.high) < 1e-14
    assert ranking.radius.safe == 0.0


def test_an_undefined_score_leaves_no_range():
    truth, a, b = [0, 1, 1, 0], [0, 1, 1, 1], [0, 1, 0, 0]
    joint = wmcc.tabulate(truth, {"a": a, "b": b, "one": [1, 1, 1, 1]})
    found = wmcc.certify_ranking(joint, eps=0.1)
    assert found["a", "b"].problem is None
    lead = found["a", "one"]
    assert "all the weight of y_pred is in one class" in lead.problem
    assert np.isnan([lead.low, lead.high]).all()
    assert lead.winner is None
    assert lead.problem in repr(lead)
    assert lead.radius.problem == lead.problem
    assert found.problem is None
    assert wmcc.certify_ranking(joint.pair("a", "one")).problem == lead.problem


JOINT = joint_table([0, 1, 1], [0, 1, 1], [0, 1, 0])


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        (np.array([0, 1]), {}, "expected a JointTable of two predictions or more; got a ndarray"),
        (JOINT["a"], {}, "got a Table"),
        (wmcc.tabulate([0, 1], {"only": [0, 1]}), {}, "the JointTable has one prediction, 'only'"),
        (wmcc.tabulate([0, 1], {"a": [0, 1], "b": [0, 0]}, by=[1, 2]), {}, "tables.total"),
        (JOINT, {"eps": -1}, "`eps` is -1"),
        (JOINT, {"measure": "recall"}, "number per class"),
    ],
)
def test_wrong_rankings_get_a_sentence(given, options, said):
    with pytest.raises(WmccError, match=said):
        wmcc.certify_ranking(given, **options)


# ---- bounds of each weight -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [None, *NASTY_PAIRS])
def test_the_adversary_does_not_leave_rankings_of_bounds(kind):
    place = [None, *NASTY_PAIRS].index(kind)
    random, tried = np.random.default_rng(place), 0
    for name in MEASURES if kind is None else (MEASURES * 9)[place : place + 14 : 7]:
        case = draw_pair(random, kind, most=4, model="bounds")
        ranking = case.rank(name, nodes=10)
        if ranking.problem:
            continue
        tried += 1
        assert attack(case.limits, name, kind=PairAttack).beyond(ranking.low, ranking.high) <= 0
        assert ranking.low <= ranking.value <= ranking.high
    assert tried


@pytest.mark.parametrize("name", MEASURES)
def test_bounds_of_a_share_are_the_relative_model(name):
    truth, a, b, c, w = two(N=120)
    joint, least, most = (wmcc.tabulate(truth, {"x": a, "y": b, "z": c}, w * k) for k in (1.0, 0.75, 1.25))
    relative, bounds = (
        wmcc.certify_ranking(joint, name, eps=0.25),
        wmcc.certify_ranking(joint, name, lower=least, upper=most),
    )
    assert bounds.model == "bounds"
    assert np.isnan(bounds.eps)
    for pair, lead in bounds.pairs.items():
        other = relative[pair]
        assert (lead.low, lead.high) == pytest.approx((other.low, other.high), abs=1e-9)
        assert lead.verdict == other.verdict
    for side in ({"lower": least}, {"upper": most}):
        half = wmcc.certify_ranking(joint, name, **side)["x", "z"]
        assert bounds["x", "z"].low - 1e-9 <= half.low <= half.value <= half.high <= bounds["x", "z"].high + 1e-9


def test_what_a_ranking_of_bounds_says():
    truth, a, b, _, w = two()
    joint, most = joint_table(truth, a, b, w), joint_table(truth, a, b, w * 1.01)
    ranking = wmcc.certify_ranking(joint, upper=most)
    assert repr(ranking).startswith("ECC (R_K), each weight within its bounds, 400 rows\n")
    assert repr(ranking.only).startswith("ECC (R_K), a − b, each weight within its bounds\n")
    assert ranking.winner == "a"
    assert ranking.radius.problem == "each weight has bounds of its own, and a radius is for weights off by one ε"
    assert (ranking.radius.holds, ranking.radius.safe, ranking.radius.broken) == (True, 0.0, None)
    assert ranking.radius.problem in repr(ranking.radius)
    assert "nan" not in repr(ranking.with_radii())
    assert ranking.to_dict()["eps"] is None
    both = wmcc.results.uncertainty(joint, upper=most)
    assert both.weights.low == ranking.low
    assert "Weights within their bounds" in repr(both)
    assert "with weights within their bounds, a beats b" in both.verdict
    alone = wmcc.results.uncertainty(joint["a"], "mpc2", lower=joint["a"], upper=most["a"])
    assert alone.weights.low == wmcc.certify(joint["a"], "mpc2", upper=most["a"]).low
    assert "weights within their bounds" in repr(alone)
    assert "nan" not in repr(both) + repr(alone)
    ranges = wmcc.score(joint["a"]).with_ranges(upper=most["a"])
    assert ranges.ranges["kappa"] == wmcc.certify(joint["a"], "kappa", upper=most["a"])
    assert "Weights within their bounds" in repr(ranges)


OTHER = joint_table([0, 1, 1], [0, 1, 0], [0, 1, 1])
BOUNDS = {
    "a table of one": ({"lower": JOINT["a"]}, "lower: expected a JointTable of two predictions or more; got a Table"),
    "weights": ({"upper": [1.0, 2.0]}, "upper: expected a JointTable of two predictions or more; got a list"),
    "other names": (
        {"lower": joint_table([0, 1, 1], [0, 1, 1], [0, 1, 0], names=("a", "c"))},
        "`lower` has the predictions 'a', 'c'; expected 'a', 'b'",
    ),
    "more rows": (
        {"upper": JOINT + JOINT},
        "the table of `upper` is of other rows: its labels are 0, 1 and it has 6 rows",
    ),
    "other labels": (
        {"upper": OTHER},
        "the table of `upper` is of other rows: as many, but with other true or predicted labels",
    ),
    "above": (
        {"lower": joint_table([0, 1, 1], [0, 1, 1], [0, 1, 0], [1, 1, 2])},
        "`lower` is above the weights in the cell of true 1, predicted 1, 0",
    ),
    "below": ({"upper": joint_table([0, 1, 1], [0, 1, 1], [0, 1, 0], [0.5, 1, 1])}, "`upper` is below the weights"),
    "eps too": ({"upper": JOINT, "eps": 0.1}, "`eps` and bounds of the weights were given; expected one of them"),
    "model too": ({"upper": JOINT, "model": "absolute"}, "`model` and bounds of the weights were given"),
}


@pytest.mark.parametrize("wrong", BOUNDS)
def test_wrong_bounds_get_a_sentence(wrong):
    options, said = BOUNDS[wrong]
    with pytest.raises(WmccError) as caught:
        wmcc.certify_ranking(JOINT, **options)
    assert said in str(caught.value)
