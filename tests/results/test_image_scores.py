"""Data set or images: `wmcc.image_scores` against the tables of single images, an oracle and SciPy."""

import sys
from fractions import Fraction
from math import isnan, nan

import numpy as np
import oracle
import pytest
from helpers import few, rows
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT
from schemas import check, strict
from scipy import stats

import wmcc
import wmcc.measures
from wmcc.errors import InputError

sys.path.append(str(ROOT / "benchmarks"))  # last: files there may be called as those here

import image_means

VOID = 3


@st.composite
def pictures(draw):
    """Rows of up to five images, of which some labels may be void."""
    t, p, w = draw(rows(4, 40))
    images = draw(st.lists(st.sampled_from("abcde"), min_size=len(t), max_size=len(t)))
    return np.array(t), np.array(p), np.array(w), np.array(images)


def drawn(images=12, classes=4, pixels=300, seed=0, names=("A", "B")):
    """True labels, predictions by name, weights and the image of each pixel; an image has three of the classes."""
    rng = np.random.default_rng(seed)
    image = np.repeat(np.arange(images), rng.integers(pixels // 4, pixels, images))
    palette = rng.permuted(np.tile(np.arange(classes), (images, 1)), axis=1)[:, :3]
    truth = palette[image, rng.integers(0, 3, len(image))]
    preds = {}
    for name in names:
        right = rng.beta(6, 2, images)[image]
        preds[name] = np.where(rng.random(len(image)) < right, truth, rng.integers(0, classes, len(image)))
    return truth, preds, rng.lognormal(0, 1, len(image)).astype(np.float32), image


TRUTH, PREDS, W, IMAGE = drawn()
JOINT = wmcc.tabulate(TRUTH, PREDS, W, cluster=IMAGE)


# ---- the score of an image --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
@few(60)
@given(pictures(), st.sampled_from(sorted(wmcc.measures.MEASURES)))
def test_an_image_scores_as_its_own_table(data, name):
    t, p, w, images = data
    table = wmcc.tabulate(t, p, w, cluster=images, ignore=VOID)
    if table.total == 0 or not wmcc.measures.MEASURES[name].fits(table):
        return
    found = wmcc.image_scores(table, name, worst=len(images))
    assert [x.image for x in found.images] == list(table.drawn.clusters)
    whole, worst = wmcc.measures.MEASURES[name], {x.image: x for x in found.worst}
    for x in found.images:
        own = images == x.image
        one = wmcc.tabulate(t[own], p[own], w[own], ignore=VOID)
        assert (x.n, x.total) == (one.rows, one.total)
        if one.total == 0:
            assert isnan(x.value)
            assert x.problem == "the image has no weight"
            continue
        undefined = isnan(whole(one, zero_division=nan)) and name not in ("mpc2", "mean_recall")
        if not undefined and x.problem is None:
            assert x.value == whole(one)
            rest = wmcc.tabulate(t[~own], p[~own], w[~own], ignore=VOID)
            without = worst[x.image].without
            if rest.total == 0:
                assert isnan(without)
            elif not isnan(without):
                assert without == whole(rest)
        assert (x.problem is not None) == isnan(x.value)
        assert undefined <= (x.problem is not None)


@few(30)
@given(pictures())
def test_scores_are_those_of_fractions(data):
    t, p, w, images = data
    found = wmcc.image_scores(wmcc.tabulate(t, p, w, cluster=images), "mean_iou")
    labels = sorted({*t.tolist(), *p.tolist()})
    for x in found.images:
        own = images == x.image
        C = oracle.matrix(t[own].tolist(), p[own].tolist(), map(Fraction, w[own].tolist()), labels)
        if x.problem is None:
            assert oracle.ulps(x.value, oracle.exact("mean_iou", C)) <= 0.51
    for c in found.classes:
        per_image = []
        for key in dict.fromkeys(images.tolist()):
            own = images == key
            C = oracle.matrix(t[own].tolist(), p[own].tolist(), map(Fraction, w[own].tolist()), labels)
            k = labels.index(c.label)
            value = oracle.exact_class("iou", C, k)
            if value is not None:
                per_image.append((float(value), any(C[k])))
        assert c.image_mean.clusters == len(per_image)
        true = [x for x, there in per_image if there]
        assert c.true_images == len(true)
        if per_image:
            assert c.image_mean.value == pytest.approx(np.mean([x for x, _ in per_image]), rel=1e-12)
        assert c.true_mean == pytest.approx(np.mean(true) if true else nan, rel=1e-12, nan_ok=True)


def test_sums_that_lose_their_lowest_digits_are_in_one_unit():
    """Weights of the rows of a class add up to whole numbers, and those of its correct rows do not."""
    little = 2.0**-40
    truth, guess, weight = [0, 0, 1, 1], [0, 1, 1, 0], [little, 1 - little, 1.0, 1.0]
    found = wmcc.image_scores(wmcc.tabulate(truth, guess, weight, cluster=list("aabb")), "accuracy", worst=2)
    assert {x.image: x.value for x in found.worst} == {"a": little, "b": 0.5}
    assert {x.image: x.without for x in found.worst} == {"a": 0.5, "b": little}


# ---- both means ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mean_iou", "ecc", "accuracy", "mpc2"])
def test_both_means_have_intervals(name):
    table = JOINT["A"]
    found = wmcc.image_scores(table, name, confidence_level=0.9)
    assert found.data_set == wmcc.interval(table, name, confidence_level=0.9)
    values = np.array([x.value for x in found.images])
    mean = found.image_mean
    assert mean.value == pytest.approx(values.mean(), rel=1e-12)
    assert mean.se == pytest.approx(stats.sem(values), rel=1e-9)
    assert (mean.df, mean.clusters, mean.n_eff, mean.n) == (11, 12, 12, len(TRUTH))
    low, high = wmcc.measures.MEASURES[name].range
    middle, half = (low + high) / 2, (high - low) / 2
    y = (values.mean() - middle) / half
    z = stats.t.interval(0.9, 11, np.arctanh(y), stats.sem(values) / half / (1 - y * y))
    assert [mean.low, mean.high] == pytest.approx(middle + half * np.tanh(z), rel=1e-9)


def test_every_image_counts_the_same():
    """A large image that is right and a small one that is wrong: by hand."""
    truth, guess, image = [0] * 90 + [1] * 10, [0] * 90 + [0] * 10, ["large"] * 90 + ["small"] * 10
    found = wmcc.image_scores(wmcc.tabulate(truth, guess, cluster=image), "accuracy")
    assert (found.data_set.value, found.image_mean.value) == (0.9, 0.5)
    assert [(x.image, x.value, x.without) for x in found.worst] == [("small", 0.0, 1.0), ("large", 1.0, 0.0)]


def test_images_where_a_measure_is_undefined_are_left_out_and_said():
    truth = [0, 1, 0, 1] * 10 + [0] * 8
    guess = [0, 1, 1, 1] * 10 + [0] * 4 + [0, 1, 0, 0]
    image = [f"{k // 4:02}" for k in range(48)]
    weight = [1.0] * 36 + [0.0] * 4 + [1.0] * 8
    table = wmcc.tabulate(truth, guess, weight, cluster=image)
    found = wmcc.image_scores(table, "ecc")
    assert [x.image for x in found.only.undefined] == ["09", "10", "11"]
    assert found.image_mean.clusters == 9
    assert (
        found.image_mean.problem
        == "all 9 images have the same score, so the variance between images cannot be estimated"
    )
    said = repr(found)
    assert "1 of 12 images is left out of the mean over images: the image has no weight (09)." in said
    assert "2 of 12 images are left out of the mean over images: ECC (R_K) is undefined at these weights" in said
    iou = wmcc.image_scores(table, "mean_iou")
    assert [x.value for x in iou.images[-2:]] == [1.0, 0.375]  # one class is enough for IoU; class 1 is only predicted
    assert len(iou.only.undefined) == 1


def test_a_class_counts_in_the_images_that_have_it():
    truth, guess = [0, 0, 1, 1, 0, 0, 0, 0, 2, 2], [0, 0, 1, 0, 0, 1, 0, 0, 2, 2]
    found = wmcc.image_scores(wmcc.tabulate(truth, guess, cluster=list("aaaabbccdd")), "mean_iou")
    zero, one, two = found.classes
    assert (zero.image_mean.clusters, zero.true_images) == (3, 3)
    assert zero.image_mean.value == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)
    assert (one.image_mean.value, one.image_mean.clusters, one.true_mean, one.true_images) == (0.25, 2, 0.5, 1)
    assert one.data_set == 1 / 3
    assert "at least two images where the score is defined, and there is only 1" in two.image_mean.problem


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
def test_void_predictions_are_errors_of_no_class():
    found = wmcc.image_scores(wmcc.tabulate([0, 0, 1, 1], [0, 255, 1, 1], cluster=list("aabb"), ignore=255))
    assert [c.label for c in found.classes] == [0, 1]
    assert [x.value for x in found.images] == [0.5, 1.0]


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (wmcc.tabulate([0, 1], [0, 1]), "its rows are independent"),
        (wmcc.Table.from_counts([[5, 1], [1, 5]], population={0: 9, 1: 9}), "its rows are drawn in strata"),
    ],
)
def test_rows_that_are_in_no_images_are_refused(table, why):
    with pytest.raises(InputError, match=why) as caught:
        wmcc.image_scores(table)
    assert "`cluster`" in caught.value.hint
    with pytest.raises(InputError, match=why):
        wmcc.score(table).with_image_means()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"measure": "iou"}, "number per class"),
        ({"measure": "miou"}, "`measure` is 'miou'"),
        ({"measure": "mcc"}, "MCC is for two classes"),
        ({"worst": -1}, "`worst` is -1"),
        ({"confidence_level": 95}, "`confidence_level` is 95"),
    ],
)
def test_options_are_checked(options, said):
    with pytest.raises(InputError, match=said):
        wmcc.image_scores(JOINT["A"], **options)


# ---- two predictions ------------------------------------------------------------------------------------


def test_predictions_are_paired_by_image():
    found = wmcc.image_scores(JOINT, "mean_iou")
    pair = found.pairs["A", "B"]
    assert pair.data_set == wmcc.compare(JOINT, "mean_iou").only
    a, b = (np.array([x.value for x in found[name].images]) for name in "AB")
    test = stats.ttest_rel(a, b)
    ends = test.confidence_interval(0.95)
    assert pair.image_mean.value == pytest.approx(np.mean(a - b))
    assert pair.image_mean.p_value == pytest.approx(test.pvalue, rel=1e-9)
    assert (pair.image_mean.low, pair.image_mean.high) == pytest.approx(ends, rel=1e-9)
    assert (pair.higher, pair.ties, pair.lower) == ((a > b).sum(), 0, (a < b).sum())
    assert pair.image_mean.values == pytest.approx((a.mean(), b.mean()))


def test_a_pair_is_over_the_images_where_both_are_defined():
    truth = [0, 1, 0, 1] * 12
    a, b = [0, 1, 1, 1, 0, 0, 0, 1] * 6, [0, 0, 0, 0] + [0, 1, 0, 0, 1, 1, 0, 1] * 5 + [0, 1, 0, 1]
    found = wmcc.image_scores(wmcc.tabulate(truth, {"a": a, "b": b}, cluster=[k // 4 for k in range(48)]), "ecc")
    assert (found["a"].image_mean.clusters, found["b"].image_mean.clusters) == (12, 11)
    pair = found.pairs["a", "b"]
    assert pair.image_mean.clusters == 11
    assert pair.higher + pair.ties + pair.lower == 11


def test_more_than_two_predictions_are_corrected_for_their_pairs():
    truth, preds, w, image = drawn(names=("A", "B", "C"))
    found = wmcc.image_scores(wmcc.tabulate(truth, preds, w, cluster=image))
    ps = sorted(x.image_mean.p_value for x in found.pairs.values())
    assert min(x.image_mean.p_adjusted for x in found.pairs.values()) == pytest.approx(min(1, 3 * ps[0]))
    with pytest.raises(InputError, match="there are 3 predictions"):
        _ = found.image_mean
    with pytest.raises(InputError, match="there is no prediction 'D'"):
        _ = found["D"]


def test_the_same_prediction_twice_has_no_difference_to_test():
    found = wmcc.image_scores(wmcc.tabulate(TRUTH, {"A": PREDS["A"], "again": PREDS["A"]}, W, cluster=IMAGE))
    pair = found.pairs["A", "again"]
    assert (pair.higher, pair.ties, pair.lower) == (0, 12, 0)
    assert "both score the same in every image" in pair.image_mean.problem


# ---- how it is shown and stored --------------------------------------------------------------------------


def test_a_score_takes_the_means_over_images_along():
    score = wmcc.score(JOINT["A"]).with_image_means()
    for name, x in score.image_means.items():
        assert x == wmcc.image_scores(JOINT["A"], name).image_mean
    check(strict(score.to_json()))
    assert "Mean over images" in repr(score)
    rows_of_all = score.to_frame().query("scope == 'all'").set_index("measure")
    assert rows_of_all["image_mean"]["mean_iou"] == score.image_means["mean_iou"].value
    assert "Mean over images" not in repr(wmcc.score(JOINT["A"]))


def test_frames_have_a_row_for_each_image():
    frame = wmcc.image_scores(JOINT).to_frame()
    images = frame[frame.scope == "image"]
    assert len(images) == 24
    assert set(frame.scope) == {"data set", "image mean", "class image mean", "image"}
    assert list(images.value[:12]) == [x.value for x in wmcc.image_scores(JOINT["A"]).images]


def test_it_does_not_depend_on_the_order_of_rows_or_of_merging():
    order = np.random.default_rng(1).permutation(len(TRUTH))
    moved = wmcc.tabulate(TRUTH[order], PREDS["A"][order], W[order], cluster=IMAGE[order])
    half = IMAGE < 5
    parts = [wmcc.tabulate(TRUTH[x], PREDS["A"][x], W[x], cluster=IMAGE[x]) for x in (half, ~half)]
    expected = wmcc.image_scores(JOINT["A"]).to_dict()
    assert wmcc.image_scores(moved).to_dict() == expected
    assert wmcc.image_scores(parts[1] + parts[0]).to_dict() == expected


# ---- coverage: docs/understand/coverage.md, in small ---------------------------------------------------------

# 4,000 runs: a standard error of 0.35 points.


@pytest.mark.parametrize(("name", "images"), [("good", 10), ("uneven", 20), ("rare", 20), ("near one", 50)])
def test_intervals_of_means_hold_the_true_mean_as_often_as_they_say(name, images):
    found = image_means.simulate(image_means.POPULATIONS[name], images)
    assert found.held == pytest.approx(95, abs=1.7)
    assert 1.2 < found.truth_below < 4.2
    assert 1.2 < found.truth_above < 4.2


def test_rare_failures_need_more_images():
    found = [image_means.simulate(image_means.POPULATIONS["failures"], m) for m in (10, 200)]
    assert found[0].held < 85
    assert found[1].held == pytest.approx(95, abs=1.7)
