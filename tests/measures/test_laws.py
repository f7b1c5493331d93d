"""Laws that hold for every measure, through every entry point and with both kernels."""

import math
import re

import numpy as np
import pytest
from helpers import KERNELS, any_weight, rows, small_counts, using
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from paths import DOCS

import wmcc
from wmcc.measures.base import Measure

pytestmark = pytest.mark.slow


def by_table(measure, t, p, w=None):
    return measure(wmcc.tabulate(t, p, w))


def by_arrays(measure, t, p, w=None):
    return measure(np.array(t), np.array(p), sample_weight=None if w is None else np.array(w))


def by_score(measure, t, p, w=None):
    return getattr(wmcc.score(wmcc.tabulate(t, p, w)), measure.name)


def by_scikit_learn(measure, t, p, w=None):
    from wmcc.adapters.sklearn import scorer

    return scorer(measure)._score_func(t, p, sample_weight=w)


ENTRIES = {"table": by_table, "arrays": by_arrays, "score": by_score, "scikit-learn": by_scikit_learn}

LAWS = {}


def law(function):
    LAWS[function.__name__] = function
    return function


def classes(measure):
    return 2 if measure.two_classes else 4


@law
def none_is_ones(kernel, entry, measure, data):
    with using(kernel):
        assert entry(measure, data.t, data.p) == entry(measure, data.t, data.p, [1.0] * len(data.t))


@law
def integer_weights_are_repetition(kernel, entry, measure, data):
    counts = [int(w) % 4 for w in data.w]
    assume(any(counts))
    repeated = [[x for x, n in zip(column, counts, strict=True) for _ in range(n)] for column in (data.t, data.p)]
    kept = data.only(counts)
    with using(kernel):
        got = entry(measure, kept.t, kept.p, [c for c in counts if c])
        assert got == entry(measure, *repeated)


@law
def zero_weight_is_removal(kernel, entry, measure, data):
    assume(any(data.w))
    with using(kernel):
        assert entry(measure, *data) == entry(measure, *data.only(data.w))


@law
def scaling_changes_nothing(kernel, entry, measure, data):
    with using(kernel):
        first = entry(measure, *data)
        for power in (-300, 300):
            assert entry(measure, data.t, data.p, [math.ldexp(w, power) for w in data.w]) == first


@law
def row_order_changes_nothing(kernel, entry, measure, data):
    order = np.random.default_rng(len(data.t)).permutation(len(data.t))
    shuffled = [[column[i] for i in order] for column in data]
    with using(kernel):
        assert entry(measure, *data) == entry(measure, *shuffled)
        assert wmcc.tabulate(*data) == wmcc.tabulate(*shuffled)


@law
def relabelling_changes_nothing(kernel, entry, measure, data):
    names = {0: "z", 1: "b", 2: "y", 3: "a"}
    t, p = ([names[x] for x in column] for column in (data.t, data.p))
    with using(kernel):
        assert entry(measure, t, p, data.w) == entry(measure, *data)


@law
def swapping_truth_and_prediction(kernel, entry, measure, data):
    with using(kernel):
        one, two = entry(measure, data.t, data.p, data.w), entry(measure, data.p, data.t, data.w)
    assert one == two or not measure.symmetric


@law
def chunks_merge_to_the_whole(kernel, entry, measure, data):
    cut = len(data.t) // 3
    with using(kernel):
        parts = [wmcc.tabulate(*(x[a:b] for x in data)) for a, b in ((0, cut), (cut, len(data.t))) if b > a]
        whole = wmcc.tabulate(*data)
        assert sum(parts) == whole
        assert measure(sum(parts)) == entry(measure, *data)


@law
def two_classes_are_equal_on_all_four(kernel, entry, measure, data):
    t, p = [x % 2 for x in data.t], [x % 2 for x in data.p]
    with using(kernel):
        values = {entry(wmcc.measures.MEASURES[name], t, p, data.w) for name in ("mcc", "ecc", "mpc1", "mpc2")}
    assert max(values) - min(values) <= 2**-52 * max(map(abs, values))


@law
def a_heavier_correct_row_lowers_no_score(kernel, entry, measure, data):
    correct = [i for i, (a, b) in enumerate(zip(data.t, data.p, strict=True)) if a == b]
    assume(correct)
    heavier = [w + (1.0 + w if i == correct[0] else 0.0) for i, w in enumerate(data.w)]
    with using(kernel):
        before, after = entry(measure, *data), entry(measure, data.t, data.p, heavier)
    # A heavier row can only end an undefined 0, not a defined score.
    defined = measure.over_classes or not math.isnan(measure(wmcc.tabulate(*data), zero_division=math.nan))
    assert not defined or after >= before * (1 - math.copysign(2**-51, before))


@law
def weights_have_an_effect(kernel, entry, measure, data):
    t, p = [0, 0, 1, 1, 0, 1], [0, 1, 1, 0, 0, 1]
    with using(kernel):
        assert abs(entry(measure, t, p) - entry(measure, t, p, [9, 1, 9, 1, 9, 9])) > 0.1


@law
def equal_to_scikit_learn_where_it_is_right(kernel, entry, measure, data):
    from sklearn import metrics

    w = [w % 1000.0 + 0.5 for w in data.w]
    if measure.name in ("balanced_accuracy", "mean_recall") and not set(data.p) <= set(data.t):
        return  # scikit-learn warns and averages the same
    if len({*data.t, *data.p}) == 1:
        return  # scikit-learn warns and returns NaN or 0; ours is the zero_division rule
    with using(kernel):
        got = entry(measure, data.t, data.p, w)
    name, more = PEERS[measure.name]
    peer = getattr(metrics, name)(data.t, data.p, sample_weight=w, **more)
    assert got == pytest.approx(peer, abs=1e-7)


MACRO = {"average": "macro"}
PEERS = {
    "mcc": ("matthews_corrcoef", {}),
    "ecc": ("matthews_corrcoef", {}),
    "accuracy": ("accuracy_score", {}),
    "balanced_accuracy": ("balanced_accuracy_score", {}),
    "kappa": ("cohen_kappa_score", {}),
    "mean_iou": ("jaccard_score", MACRO),
    "mean_f1": ("f1_score", MACRO),
    "mean_recall": ("recall_score", MACRO),
}
ONLY = {
    a_heavier_correct_row_lowers_no_score: {"mcc", "mean_iou", "mean_f1", "mean_recall"},
    two_classes_are_equal_on_all_four: {"mcc"},
    equal_to_scikit_learn_where_it_is_right: set(PEERS),
}
"""Laws that are not about every measure."""

THROUGH = {"score": {"mcc", "mpc2", "mean_iou"}, "scikit-learn": {"mcc", "ecc", "mean_f1"}}
"""Entries that read the registry: one measure is passed on as another is."""

CASES = [
    pytest.param(law, kernel, entry, measure, id=f"{law.__name__}-{kernel}-{name}-{measure.name}")
    for law in LAWS.values()
    for kernel in KERNELS
    for name, entry in ENTRIES.items()
    for measure in wmcc.measures.MEASURES.values()
    if measure.name in ONLY.get(law, wmcc.measures.MEASURES)
    and measure.name in THROUGH.get(name, wmcc.measures.MEASURES)
    if kernel == "compiled" or name == "table"  # the kernels differ in making tables
]
WEIGHTS = {
    integer_weights_are_repetition: small_counts,
    zero_weight_is_removal: st.one_of(small_counts, any_weight),
    scaling_changes_nothing: st.one_of(small_counts, st.floats(1e-150, 1e150)),
}


@pytest.mark.parametrize(("law", "kernel", "entry", "measure"), CASES)
@settings(max_examples=max(10, settings().max_examples // 10))
@given(data=st.data())
def test_law(law, kernel, entry, measure, data):
    weight = WEIGHTS.get(law, any_weight)
    law(kernel, entry, measure, data.draw(rows(classes=classes(measure), weight=weight, most=12)))


def test_no_law_was_forgotten():
    """The laws listed in docs/contributing/design.md are the laws tested here, and every measure is put to them."""
    text = (DOCS / "contributing" / "design.md").read_text()
    listed = re.search(r"## Laws\n([\s\S]*?)\n## ", text).group(1)
    assert set(LAWS) == set(re.findall(r"`(\w+)`", listed))
    for measure in (x for x in vars(wmcc).values() if isinstance(x, Measure)):
        assert wmcc.measures.MEASURES[measure.name] is measure
