"""Metrics for TorchMetrics: its numbers and those of scikit-learn with unit weights, and a metric's whole life."""

import logging
import math
import pickle
import re
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
import torch
import torch_processes
import torchmetrics as peers
import torchmetrics_worker as worker
from hypothesis import given
from hypothesis import strategies as st
from paths import DOCS
from torchmetrics import ClasswiseWrapper, MetricCollection

import wmcc
import wmcc.measures
from wmcc.adapters import torchmetrics as adapter
from wmcc.adapters.torchmetrics import (
    WeightedAccuracy,
    WeightedClassScores,
    WeightedConfusionMatrix,
    WeightedECC,
    WeightedKappa,
    WeightedMCC,
    WeightedMeanF1,
    WeightedMeanIoU,
    WeightedMPC1,
    WeightedMPC2,
    WeightedScore,
)
from wmcc.errors import InputError, InputTypeError, LabelError, LabelWarning, UndefinedMeasureError, WeightError

torch.set_num_threads(1)

SEGMENTATION = DOCS / "understand" / "segmentation.md"
TUTORIAL = DOCS / "tutorials" / "segmentation.md"
SCORES = [own for own in vars(adapter).values() if isinstance(own, type) and issubclass(own, WeightedScore)][1:]
FLOAT32 = 2e-5
"""How far a score of TorchMetrics, which computes in float32, may be off with a few hundred pixels."""


def batches(seed, count=3, shape=(4, 5, 6), classes=4, ignore=255, dtype=torch.float32):
    """Logits, targets and weights; some pixels are to be ignored."""
    made = torch.Generator().manual_seed(seed)
    for _ in range(count):
        target = torch.randint(classes, shape, generator=made)
        logits = torch.randn(shape[0], classes, *shape[1:], generator=made)
        logits += 2 * torch.nn.functional.one_hot(target, classes).movedim(-1, 1)
        if ignore is not None:
            target[torch.rand(shape, generator=made) < 0.1] = ignore
        yield logits, target, torch.rand(shape, generator=made, dtype=torch.float64).square().to(dtype)


def whole(parts, classes=4, ignore=255):
    """The table of all batches at once, by another way."""
    preds, target, weight = (torch.cat(own) for own in zip(*parts, strict=True))
    named = {} if ignore is None else {"ignore": ignore}
    return wmcc.tabulate(target.numpy(), preds.argmax(1).numpy(), weight.numpy(), labels=range(classes), **named)


def same(a, b):
    return torch.equal(torch.nan_to_num(a, nan=7.0), torch.nan_to_num(b, nan=7.0))


# ---- the registry -----------------------------------------------------------------------------------------


def test_every_measure_is_a_metric():
    assert {own.measure for own in SCORES} == set(wmcc.measures.MEASURES.values())
    assert len(SCORES) == len(wmcc.measures.MEASURES)


@pytest.mark.parametrize("kind", SCORES, ids=lambda own: own.__name__)
def test_the_value_is_that_of_the_measure(kind):
    classes = 2 if kind.measure.two_classes else 4
    parts = list(batches(1, classes=classes))
    metric = kind("multiclass", classes, ignore_index=255)
    for logits, target, weight in parts:
        metric.update(logits, target, weight)
    table = whole(parts, classes)
    assert metric.table() == table
    value = metric.compute()
    assert value.dtype is torch.float64
    assert value.shape == ()
    assert value.item() == kind.measure(table)
    assert (kind.plot_lower_bound, kind.plot_upper_bound) == kind.measure.range


@pytest.mark.parametrize("name", list(wmcc.measures.CLASS_MEASURES))
def test_scores_of_classes(name):
    parts = list(batches(2))
    metric = WeightedClassScores(name, "multiclass", 4, ignore_index=255)
    for part in parts:
        metric.update(*part)
    assert metric.compute().tolist() == wmcc.measures.CLASS_MEASURES[name](whole(parts)).tolist()


def test_published_numbers():
    keras = WeightedMeanIoU("multiclass", 2)
    keras.update(torch.tensor([0, 1, 0, 1]), torch.tensor([0, 0, 1, 1]), torch.tensor([0.3, 0.3, 0.3, 0.1]))
    assert keras.compute().item() == pytest.approx(0.238095238, abs=1e-7)
    preds = [[[1, 2], [3, 4], [5, 255]], [[2, 7], [9, 2], [3, 6]], [[2, 2, 3], [8, 2, 4], [3, 255, 2]]]
    truth = [[[0, 3], [5, 4], [6, 255]], [[1, 7], [9, 2], [3, 6]], [[1, 2, 2], [8, 2, 1], [3, 255, 1]]]
    hugging = WeightedMeanIoU("multiclass", 10, ignore_index=255)
    correlation = WeightedECC("multiclass", 10, ignore_index=255)
    for p, t in zip(preds, truth, strict=True):
        hugging.update(torch.tensor([p]), torch.tensor([t]))
        correlation.update(torch.tensor([p]), torch.tensor([t]))
    assert hugging.compute().item() == pytest.approx(0.47750000000000004, abs=1e-15)
    assert correlation.compute().item() == pytest.approx(0.4634631648, abs=1e-10)


# ---- TorchMetrics, with unit weights ----------------------------------------------------------------------


@st.composite
def inputs(draw):
    """What TorchMetrics takes: labels, probabilities or logits; any further axes; labels to be ignored."""
    task = draw(st.sampled_from(["binary", "multiclass"]))
    classes = 2 if task == "binary" else draw(st.integers(2, 6))
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    ignore = draw(st.sampled_from([None, -1, 255, *range(classes)]))
    kind = draw(st.sampled_from(["labels", "probabilities", "logits"]))
    made = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    share = draw(st.sampled_from([0.0, 0.3, 1.0]))  # of the pixels that are of one class
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        target = torch.randint(classes, shape, generator=made)
        target[torch.rand(shape, generator=made) < share] = 1
        if ignore is not None:
            target[torch.rand(shape, generator=made) < 0.2] = ignore
        wide = shape if task == "binary" or kind == "labels" else (shape[0], classes, *shape[1:])
        if kind == "labels":
            preds = torch.randint(classes, wide, generator=made)
        else:
            dtype = draw(st.sampled_from([torch.float32, torch.float64, torch.float16, torch.bfloat16]))
            preds = torch.randn(wide, generator=made, dtype=torch.float64)
            if kind == "probabilities":
                preds = preds.sigmoid() if task == "binary" else preds.softmax(1)
            preds = preds.to(dtype)
        labels = draw(st.sampled_from([torch.uint8, torch.int32, torch.int64] if ignore != -1 else [torch.int64]))
        parts.append((preds, target.to(labels)))
    return task, classes, ignore, parts


def pooled(metric, parts):
    for preds, target in parts:
        metric.update(preds, target)
    return metric.compute()


@pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")
@given(inputs())
def test_unit_weights_give_the_numbers_of_torchmetrics(drawn):
    task, classes, ignore, parts = drawn
    exact = [(p.double() if p.is_floating_point() else p, t) for p, t in parts]  # theirs rounds a sigmoid
    ours = theirs = {"task": task, "num_classes": classes, "ignore_index": ignore}

    matrix = pooled(peers.ConfusionMatrix(**theirs), exact)
    assert torch.equal(pooled(WeightedConfusionMatrix(**ours), parts), matrix.double())

    r, q, s = matrix.sum(1), matrix.sum(0), matrix.sum()
    value, peer = pooled(WeightedECC(**ours), parts).item(), pooled(peers.MatthewsCorrCoef(**theirs), exact).item()
    undefined = s * s == (r * r).sum() or s * s == (q * q).sum()
    if undefined:  # ours is 0, by the paper; TorchMetrics has special cases for two classes
        assert value == 0.0
        right = matrix.trace()
        if classes > 2 or s == 0:
            assert peer == 0.0
        elif right in (0, s):
            assert peer == (1.0 if right else -1.0)
    else:
        assert value == pytest.approx(peer, abs=FLOAT32)
    if classes == 2 and (ignore is None or ignore not in (0, 1)):
        assert pooled(WeightedMCC(**ours), parts).item() == value

    per_class = pooled(WeightedClassScores("iou", **ours), parts)
    if task == "binary":
        peer = pooled(peers.JaccardIndex(**theirs), exact)
        if ignore != 1:  # the class that TorchMetrics scores would be the one that is ignored
            assert per_class[1].item() == pytest.approx(peer.item(), abs=FLOAT32)
    else:
        peer = pooled(peers.JaccardIndex(**theirs, average="none"), exact)
        assert per_class.tolist() == pytest.approx(peer.tolist(), abs=FLOAT32)
        mean = pooled(WeightedMeanIoU(**ours), parts).item()
        if s:
            peer = pooled(peers.JaccardIndex(**theirs, average="macro"), exact)
            assert mean == pytest.approx(peer.item(), abs=FLOAT32)
        else:  # TorchMetrics divides nothing by nothing
            assert mean == 0.0
    if s and ignore not in range(classes):
        peer = peers.F1Score(**{**theirs, "task": "multiclass", "average": "macro"})
        labels = [(WeightedECC(**ours)._above(p, t) if task == "binary" else p, t) for p, t in parts]
        assert pooled(WeightedMeanF1(**ours), parts).item() == pytest.approx(pooled(peer, labels).item(), abs=FLOAT32)
        peer = peers.Accuracy(**{**theirs, "average": "micro"} if task == "multiclass" else theirs)
        assert pooled(WeightedAccuracy(**ours), parts).item() == pytest.approx(pooled(peer, exact).item(), abs=FLOAT32)
        assert pooled(WeightedKappa(**ours), parts).item() == pytest.approx(_kappa(matrix), abs=1e-12)


def _kappa(matrix):
    m = matrix.double()
    chance = (m.sum(0) * m.sum(1)).sum() / m.sum() ** 2
    return 0.0 if chance == 1 else ((m.trace() / m.sum() - chance) / (1 - chance)).item()


@pytest.mark.parametrize(
    ("preds", "target", "peer"),
    [
        ([0] * 10, [0] * 10, 1.0),
        ([1] * 10, [1] * 10, 1.0),
        ([0] * 10, [1] * 10, -1.0),
        ([1] * 10, [0] * 10, -1.0),
        ([0] * 10, [0] * 5 + [1] * 5, 0.0),
        ([1] * 5 + [0] * 5, [0] * 10, 0.0),
        ([1] * 10, [1] * 9 + [0], 0.843274),  # a constant prediction, which says nothing about the truth
    ],
)
def test_where_mcc_is_undefined_it_is_zero(preds, target, peer):
    """TorchMetrics has special cases there; ours, scikit-learn's and the paper's value is 0."""
    from sklearn.metrics import matthews_corrcoef  # not at the top: scripts/check-gpu runs without scikit-learn

    preds, target = torch.tensor(preds), torch.tensor(target)
    assert peers.MatthewsCorrCoef(task="binary")(preds, target).item() == pytest.approx(peer, abs=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a single label
        assert matthews_corrcoef(target, preds) == 0.0
    for kind in (WeightedMCC, WeightedECC, WeightedMPC1, WeightedMPC2):
        assert kind("binary")(preds, target).item() == 0.0
        assert kind("binary", zero_division=0.5)(preds, target).item() == 0.5
        assert math.isnan(kind("binary", zero_division=math.nan)(preds, target).item())
    with pytest.raises(UndefinedMeasureError, match="all the weight of y_"):
        WeightedECC("binary", zero_division="raise")(preds, target)


@pytest.mark.parametrize(
    ("preds", "target"), [([0, 1, 2], [0, 0, 0]), ([2] * 4, [0, 1, 2, 2]), ([1] * 3, [1] * 3), ([0] * 3, [2] * 3)]
)
def test_undefined_for_three_classes(preds, target):
    preds, target = torch.tensor(preds), torch.tensor(target)
    assert WeightedECC("multiclass", 3)(preds, target) == peers.MatthewsCorrCoef("multiclass", num_classes=3)(
        preds, target
    )


def test_rare_events_are_counted_exactly():
    """TorchMetrics' own hard case: 1 false alarm and no hit among 20 million pixels; float32 cannot tell."""
    metric = WeightedMCC("multiclass", 2)
    preds, target = torch.tensor([0, 1, 0]), torch.tensor([0, 0, 1])
    metric.update(preds, target, torch.tensor([19392673.0, 1.0, 76216.0], dtype=torch.float64))
    table = wmcc.Table.from_counts([[19392673, 1], [76216, 0]])
    assert metric.compute().item() == wmcc.mcc(table) != 0.0


@pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")
def test_predictions_of_an_ignored_label():
    """TorchMetrics has a column for it only if it is a class; here such a prediction is wrong in either case."""
    preds, target = torch.tensor([0, 1, 1, 255]), torch.tensor([0, 1, 1, 0])
    metric = WeightedECC("multiclass", 2, ignore_index=255)
    metric.update(preds, target)
    assert metric.table().void == (255,)
    assert WeightedAccuracy("multiclass", 2, ignore_index=255)(preds, target).item() == 0.75
    matrix = WeightedConfusionMatrix("multiclass", 2, ignore_index=255)
    with pytest.warns(UserWarning, match=r"25.0% of the weight is predicted as `ignore_index` 255"):
        assert matrix(preds, target).tolist() == [[1, 0], [0, 2]]
    inside = WeightedConfusionMatrix("multiclass", 3, ignore_index=2)
    preds, target = torch.tensor([0, 2, 1, 1]), torch.tensor([0, 0, 2, 1])
    assert inside(preds, target).tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 0]]
    with pytest.raises(InputError, match="void labels were predicted"):
        WeightedMCC("binary", ignore_index=255)(torch.tensor([0, 1, 255]), torch.tensor([0, 1, 1]))


def test_scores_of_ignored_pixels_do_not_make_logits_of_probabilities():
    preds, target = torch.tensor([0.2, 0.6, 9.0]), torch.tensor([0, 1, 255])
    ours, peer = WeightedMCC("binary", ignore_index=255), peers.MatthewsCorrCoef("binary", ignore_index=255)
    assert ours(preds, target) == peer(preds, target) == 1.0
    low = WeightedMCC("binary", threshold=0.7)
    assert low(torch.tensor([0.2, 0.6, 0.8]), torch.tensor([0, 0, 1])) == 1.0


def above(scores, threshold=0.5):
    """What a binary metric calls class 1, read from its table: a pixel of weight 2**k for each score."""
    metric = WeightedConfusionMatrix("binary", threshold=threshold)
    metric.update(scores, torch.ones(len(scores), dtype=int), torch.exp2(torch.arange(len(scores)).double()))
    return [bool(int(metric.compute()[1, 1]) >> k & 1) for k in range(len(scores))]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_binary_scores_are_compared_exactly(dtype):
    """A sigmoid in their type, or a threshold rounded to it, would make ties that are none."""
    small = [-3.0, 3.0, 0.001, 0.0005, 0.0019, 6e-8, 0.0, -6e-8, -0.0019]
    assert above(torch.tensor(small, dtype=dtype)) == [x > 0 for x in small]
    for threshold in (0.3, 0.7, 0.999, 1e-6):
        near = torch.tensor(threshold, dtype=torch.float64).to(dtype)
        ends = torch.tensor([0, 1], dtype=dtype)
        scores = torch.stack([torch.nextafter(near, ends[0]), near, torch.nextafter(near, ends[1])])
        assert above(scores, threshold) == [x > threshold for x in scores.tolist()]
        logit = math.log(threshold) - math.log1p(-threshold)
        near = torch.tensor(logit, dtype=torch.float64).to(dtype)
        low, high = (torch.nextafter(near, torch.tensor(end, dtype=dtype)) for end in (-math.inf, math.inf))
        if dtype is torch.float64:  # in which the logit above is not exact
            low, near, high = near - 1e-13, near + 1e-13, near + 2e-13
        scores = torch.stack([low, near, high, torch.tensor(-99.0, dtype=dtype)])
        assert above(scores, threshold) == [False, near.item() > logit, True, False]


def test_the_scores_of_the_issue_of_half_precision():
    scores = torch.tensor([-3.0, 3.0, 0.001, 0.0005, 0.0019], dtype=torch.bfloat16)
    target = torch.tensor([0, 1, 1, 1, 1])
    assert WeightedConfusionMatrix("binary")(scores, target).tolist() == [[1, 0], [0, 4]]
    one = torch.tensor([0.30078125], dtype=torch.bfloat16)  # 0.3 in bfloat16
    assert above(one, 0.3) == [True]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("threshold", [0.5, 0.3, 0.25, 1e-6, 1 - 1e-6, 0.0, 1.0])
def test_all_scores_of_sixteen_bits(dtype, threshold):
    every = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(dtype)
    every = every[~every.isnan()]
    chances, ones = every[(every >= 0) & (every <= 1)], torch.ones(len(every), dtype=int)
    metric = WeightedECC("binary", threshold=threshold)
    assert torch.equal(metric._above(chances, ones[: len(chances)]) == 1, chances.double() > threshold)
    logit = (
        math.log(threshold) - math.log1p(-threshold) if 0 < threshold < 1 else math.copysign(math.inf, threshold - 0.5)
    )
    assert torch.equal(metric._above(every, ones) == 1, every.double() > logit)


def test_thresholds_that_float64_cannot_tell_from_a_half():
    """The logit of 0.5 + 2**-53 is 4.4e-16; where it is the difference of two rounded logarithms, it is 2.2e-16."""
    threshold = 0.5 + 2**-53
    assert above(torch.tensor([3e-16, 4.4e-16, 4.45e-16, 9.0], dtype=torch.float64), threshold) == [
        False,
        False,
        True,
        True,
    ]
    assert above(torch.tensor([-744.4, -744.5, 9.0], dtype=torch.float64), 5e-324) == [True, False, True]


def test_nothing_to_score():
    """A batch of pixels that are all ignored, weights that are all zero, and no batch."""
    preds, target = torch.tensor([1, 0]), torch.tensor([255, 255])
    for kind in SCORES:
        metric = kind("binary", ignore_index=255)
        assert metric(preds, target).item() == 0.0
        assert metric(preds, target // 255, torch.zeros(2)).item() == 0.0
        assert math.isnan(kind("binary", ignore_index=255, zero_division=math.nan)(preds, target))
    with pytest.raises(UndefinedMeasureError, match="no pixel has weight"):
        WeightedECC("binary", ignore_index=255, zero_division="raise")(preds, target)
    classes = WeightedClassScores("f1", "multiclass", 3, ignore_index=2, zero_division=math.nan)
    assert torch.isnan(classes(torch.tensor([0, 1]), torch.tensor([2, 2]))).all()
    with pytest.warns(UserWarning, match="before the ``update``"):
        assert WeightedECC("binary").compute() == 0.0
    assert WeightedConfusionMatrix("binary", ignore_index=255)(preds, target).tolist() == [[0, 0], [0, 0]]


# ---- weights -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_weights_of_any_precision(dtype):
    parts = list(batches(3, dtype=dtype))
    metric = WeightedECC("multiclass", 4, ignore_index=255)
    for part in parts:
        metric.update(*part)
    assert metric.table() == whole([(p, t, w.double()) for p, t, w in parts])


def test_weights_that_broadcast():
    logits, target, _ = next(batches(4))
    weight = torch.rand(target.shape[1:])
    one, other = (WeightedECC("multiclass", 4, ignore_index=255) for _ in range(2))
    assert one(logits, target, weight) == other(logits, target, weight.expand(target.shape))


def test_batches_of_both_widths_make_one_table():
    narrow, wide = next(batches(5)), next(batches(6, dtype=torch.float64))
    for order in ([narrow, wide], [wide, narrow]):
        for call in (WeightedECC.update, WeightedECC.forward):
            metric = WeightedECC("multiclass", 4, ignore_index=255)
            for part in order:
                (metric.update if call is WeightedECC.update else metric)(*part)
            assert metric.table() == whole([(p, t, w.double()) for p, t, w in order])
            metric.reset()
            assert metric.table().rows == 0


# ---- a metric's life ---------------------------------------------------------------------------------------------


CASES = {
    "binary labels": ("binary", lambda g, *n: torch.randint(2, n, generator=g)),
    "binary probabilities": ("binary", lambda g, *n: torch.rand(n, generator=g)),
    "binary logits": ("binary", lambda g, *n: torch.rand(n, generator=g).logit()),
    "labels": ("multiclass", lambda g, *n: torch.randint(5, n, generator=g)),
    "probabilities": ("multiclass", lambda g, *n: torch.randn(n[0], n[1], 5, *n[2:], generator=g).softmax(2)),
    "log probabilities": ("multiclass", lambda g, *n: torch.rand(n[0], n[1], 5, *n[2:], generator=g).log_softmax(2)),
}


def reference(preds, target, ignore):
    """scikit-learn's coefficient of what is not ignored."""
    from sklearn.metrics import matthews_corrcoef

    if preds.is_floating_point() and preds.ndim == target.ndim:
        preds = (preds if ((preds >= 0) & (preds <= 1)).all() else preds.sigmoid()) > 0.5
    elif preds.is_floating_point():
        preds = preds.argmax(1)
    kept = target != ignore if ignore is not None else torch.ones_like(target, dtype=torch.bool)
    return matthews_corrcoef(target[kept].numpy(), preds[kept].long().numpy())


def case(name, ignore, extra):
    task, draw = CASES[name]
    made = torch.Generator().manual_seed(11)
    preds = draw(made, 4, 32, *extra)
    target = torch.randint(2 if task == "binary" else 5, (4, 32, *extra), generator=made)
    if ignore is not None:
        target[torch.rand(target.shape, generator=made) < 0.1] = ignore
    return {"task": task, "num_classes": 2 if task == "binary" else 5, "ignore_index": ignore}, preds, target


@pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")
@pytest.mark.parametrize("extra", [(), (3,)], ids=["one axis", "two axes"])
@pytest.mark.parametrize("ignore", [None, -1, 0])
@pytest.mark.parametrize("name", CASES)
def test_batches_one_by_one_and_all_at_once(name, ignore, extra):
    """What TorchMetrics tests of each of its metrics: construction, copies, values of batches and of all of them."""
    if name.startswith("binary") and ignore == 0:
        ignore = -1
    settings, preds, target = case(name, ignore, extra)
    metric = WeightedECC(**settings)
    for constant in ("is_differentiable", "higher_is_better", "full_state_update"):
        with pytest.raises(RuntimeError, match="Can't change const"):
            setattr(metric, constant, None)
    assert (metric.is_differentiable, metric.higher_is_better) == (False, True)
    clone = metric.clone()
    assert clone is not metric
    assert type(clone) is type(metric)
    metric = pickle.loads(pickle.dumps(metric))
    for p, t in zip(preds, target, strict=True):
        assert metric(p, t).item() == pytest.approx(reference(p, t, ignore), abs=1e-12)
        assert not metric.compute().requires_grad
    clone.update(preds[0], target[0])
    assert clone.compute().item() == pytest.approx(reference(preds[0], target[0], ignore), abs=1e-12)
    assert hash(metric) != hash(clone)
    assert metric.state_dict() == {}
    everything = torch.cat(list(preds)), torch.cat(list(target))
    assert metric.compute().item() == pytest.approx(reference(*everything, ignore), abs=1e-12)
    assert metric.update_count == 4


def test_it_can_be_scripted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.script(WeightedECC("multiclass", 3))
        torch.jit.script(WeightedECC("binary", bins=3))


def test_gradients_are_left_alone():
    logits, target, weight = next(batches(7))
    metric = WeightedECC("multiclass", 4, ignore_index=255)
    value = metric(logits.requires_grad_(), target, weight.requires_grad_())
    assert not value.requires_grad
    assert WeightedECC("binary")(torch.rand(4).requires_grad_(), torch.tensor([0, 1, 1, 0])).requires_grad is False


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.half(), lambda m: m.float(), lambda m: m.double(), lambda m: m.to(torch.bfloat16),
        lambda m: m.to("cpu"), lambda m: m.set_dtype(torch.float16), lambda m: m.type(torch.float16),
        lambda m: torch.nn.ModuleList([m]).half()[0], lambda m: pickle.loads(pickle.dumps(m)), lambda m: m.clone(),
    ],
)  # fmt: skip
def test_no_conversion_changes_the_state(change):
    first, second = batches(8, count=2)
    metric = WeightedECC("multiclass", 4, ignore_index=255, names=list("abcd"))
    metric.update(*first)
    metric = change(metric)
    metric.update(*second)
    table = whole([first, second])
    assert metric.table() == table.rename(dict(enumerate("abcd")))
    assert metric.compute().dtype is torch.float64
    assert metric.compute().item() == wmcc.ecc(table)


def test_scores_of_eight_bits():
    """float8 is stored, and compared as float32."""
    scores, target = torch.tensor([0.25, 0.75, 0.5, 2.0]), torch.tensor([0, 1, 1, 9])
    for ignore in (None, 9):
        one, other = (WeightedECC("binary", ignore_index=ignore) for _ in range(2))
        one.update(scores[: 3 + (ignore is not None)], target[: 3 + (ignore is not None)])
        other.update(scores.to(torch.float8_e4m3fn)[: 3 + (ignore is not None)], target[: 3 + (ignore is not None)])
        assert one.table() == other.table()


@pytest.mark.parametrize("inside", ["reset", "update", "forward", "compute", "merge_state"])
def test_it_works_within_inference_mode_and_outside(inside):
    """Lightning validates within; tensors that are made there cannot be changed outside."""
    first, second = batches(8, count=2)
    metric = WeightedECC("multiclass", 4, ignore_index=255)
    with torch.inference_mode():
        if inside == "reset":
            metric.update(*first)
            metric.reset()
        elif inside == "compute":
            metric.update(*first)
            metric.compute()
        elif inside == "merge_state":
            other = metric.clone()
            other.update(*first)
            metric.merge_state(other)
        else:
            (metric if inside == "forward" else metric.update)(*first)
    metric.update(*second)
    metric(*second[:2], second[2].double())
    metric.update(*second)
    parts = [(p, t, w.double()) for p, t, w in ([first] if inside != "reset" else []) + [second] * 3]
    assert metric.table() == whole(parts)


def test_clones_and_resets_stand_alone():
    first, second = batches(9, count=2)
    metric = WeightedECC("multiclass", 4, ignore_index=255)
    metric.update(*first)
    other = metric.clone()
    other.update(*second)
    assert metric.table() == whole([first])
    metric.reset()
    assert metric.table().rows == 0
    metric.update(*second)
    assert metric.table() == whole([second])
    assert other.table() == whole([first, second])


def test_states_of_two_metrics_merge():
    first, second = next(batches(10)), next(batches(11, dtype=torch.float64))
    expected = whole([(p, t, w.double()) for p, t, w in (first, second)])
    for a, b in ((first, second), (second, first)):
        one, other = (WeightedECC("multiclass", 4, ignore_index=255) for _ in range(2))
        one.update(*a)
        one.compute()
        other.update(*b)
        before = other.table()
        one.merge_state(other)
        assert one.compute().item() == wmcc.ecc(expected)
        assert one.table() == expected
        assert one.update_count == 2
        assert other.table() == before
        other.reset()
        fresh = WeightedECC("multiclass", 4, ignore_index=255)
        fresh.merge_state(one.metric_state)
        assert fresh.table() == expected
    with pytest.raises(InputError, match="differ in `task`, `num_classes`, `threshold`, `ignore_index` or `bins`"):
        one.merge_state(WeightedECC("multiclass", 4, ignore_index=0))
    with pytest.raises(InputError, match="has no 'settings'"):
        one.merge_state({})
    with pytest.raises(InputError, match="cannot be merged with itself"):
        one.merge_state(one)


def test_a_state_dict_holds_the_state_if_asked():
    first, second = next(batches(12)), next(batches(13, dtype=torch.float64))
    metric = WeightedECC("multiclass", 4, ignore_index=255)
    metric.persistent(True)
    metric.update(*second)
    stored = metric.state_dict()
    resumed = WeightedECC("multiclass", 4, ignore_index=255)
    resumed.compute_with_cache = True
    resumed.load_state_dict(stored)
    assert resumed.compute() == metric.compute()  # and no warning that there was no update
    resumed.update(*first)
    assert resumed.table() == whole([(p, t, w.double()) for p, t, w in (second, first)])
    again = WeightedECC("multiclass", 4, ignore_index=255)
    again.load_state_dict(stored)  # what was loaded before did not change it
    assert again.table() == metric.table()
    for other in (WeightedECC("multiclass", 4), WeightedECC("multiclass", 5, ignore_index=255)):
        with pytest.raises(
            RuntimeError, match="was stored with another `task`, `num_classes`, `threshold`, `ignore_index` or `bins`"
        ):
            other.load_state_dict(stored)
    part = {name: x for name, x in stored.items() if name != "digits"}
    with pytest.raises(RuntimeError, match="digits is missing, without which the rest of the table means nothing"):
        again.load_state_dict(part, strict=False)
    assert again.table() == metric.table()


# ---- score tables -------------------------------------------------------------------------------------------


def chances(seed, dtype=torch.bfloat16, shape=(4, 5, 6)):
    """Probabilities of class 1, many of which are thresholds; targets, some to be ignored, and weights."""
    made = torch.Generator().manual_seed(seed)
    target = torch.randint(2, shape, generator=made)
    score = torch.rand(shape, generator=made) * 0.6 + 0.4 * target
    score = torch.where(torch.rand(shape, generator=made) < 0.5, (score * 8).round() / 8, score)
    target[torch.rand(shape, generator=made) < 0.1] = 255
    return score.to(dtype), target, torch.rand(shape, generator=made)


def at_each(parts, edges):
    """The table of each threshold, of all batches at once, by another way."""
    score, target, weight = (torch.cat(own) for own in zip(*parts, strict=True))
    preds = [(score.double() >= edge).long().numpy() for edge in edges]
    return [wmcc.tabulate(target.numpy(), own, weight.numpy(), labels=[0, 1], ignore=255) for own in preds]


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 0.625, 1.0])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("bins", [8, 100, [0.1, 0.5, 0.9]])
def test_bins_change_no_value_and_give_the_score_table(bins, dtype, threshold):
    named = {"ignore_index": 255, "threshold": threshold, "names": ["road", "car"]}
    metric, plain = WeightedMCC("binary", bins=bins, **named), WeightedMCC("binary", **named)
    parts = [chances(seed, dtype) for seed in range(3)]
    for part in parts:
        assert metric(*part) == plain(*part)
    assert metric.compute() == plain.compute()
    assert metric.table() == plain.table()
    edges = metric.scores().edges
    assert edges == (tuple(bins) if isinstance(bins, list) else tuple(k / bins for k in range(bins + 1)))
    expected = [table.rename({0: "road", 1: "car"}) for table in at_each(parts, edges)]
    assert [metric.scores().at(edge) for edge in edges] == expected
    with pytest.raises(InputError, match=r"`threshold` is 0.555; scores were put together between edges"):
        metric.scores().at(0.555)


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 1.0])
def test_bins_beyond_probabilities_are_those_of_logits(threshold):
    bins = [-2.0, -0.8472978603872037, 0.0, 0.5, 2.0]  # the second is the logit of 0.3
    metric, plain = (WeightedAccuracy("binary", threshold=threshold, bins=own) for own in (bins, None))
    made = torch.Generator().manual_seed(0)
    target = torch.randint(2, (500,), generator=made)
    logits = (2 * torch.randn(500, generator=made)).bfloat16()
    logits[:3] = torch.tensor([0.0, torch.inf, -torch.inf])
    metric.update(logits, target)
    plain.update(logits, target)
    assert metric.table() == plain.table()
    assert metric.scores() == wmcc.tabulate(target.numpy(), score=logits.double(), thresholds=bins, labels=[0, 1])
    metric.update(torch.tensor([0.25, 0.75]), torch.tensor([0, 1]))  # logits as well, and not by their range
    assert metric.scores().at(0.5).rows == 502


def test_metrics_with_bins_share_a_table_merge_and_are_stored():
    scores = MetricCollection(
        {
            "mcc": WeightedMCC("binary", bins=20),
            "iou": WeightedMeanIoU("binary", bins=20),
            "finer": WeightedMCC("binary", bins=21),
            "higher": WeightedMCC("binary", bins=20, threshold=0.55),
            "same edges": WeightedMCC("binary", bins=[k / 20 for k in range(21)]),
            "plain": WeightedMCC("binary"),
        }
    )
    parts = [(score, target.clamp(max=1), weight) for score, target, weight in (chances(seed) for seed in range(2))]
    for part in parts:
        scores.update(*part)
    groups = sorted(map(sorted, scores.compute_groups.values()))
    assert groups == [["finer"], ["higher"], ["iou", "mcc", "same edges"], ["plain"]]
    metric, other = scores["mcc"].clone(), WeightedMCC("binary", bins=20)
    other.merge_state(metric)
    other.merge_state(metric.metric_state)
    assert other.scores() == metric.scores() + metric.scores()
    for different in (scores["finer"], scores["higher"], scores["plain"]):
        with pytest.raises(InputError, match=r"differ in .* or `bins`"):
            metric.merge_state(different)
    metric.persistent(True)
    stored, resumed = metric.state_dict(), pickle.loads(pickle.dumps(WeightedMCC("binary", bins=20)))
    resumed.load_state_dict(stored)
    resumed.update(*(parts[0][0], parts[0][1], parts[0][2].double()))  # wider
    assert resumed.scores().rows == 3 * parts[0][1].numel()
    with pytest.raises(RuntimeError, match=r"was stored with another .* or `bins`"):
        scores["plain"].load_state_dict(stored)
    metric.reset()
    assert metric.scores().rows == 0


def test_processes_with_bins_are_summed_and_then_apart_again():
    one, other = (WeightedMCC("binary", bins=20, ignore_index=255) for _ in range(2))
    one.update(*chances(1))
    other.update(*chances(2, torch.float64))
    alone = one.scores()
    expected = alone + other.scores()
    of_two(one, other)
    assert one.scores() == expected
    one._to_sync = False
    assert one.scores() == alone


@pytest.mark.filterwarnings("ignore:.*was called before the ``update`` method")
def test_no_pixels_with_bins():
    metric = WeightedMCC("binary", bins=10, zero_division=math.nan, ignore_index=255)
    assert math.isnan(metric.compute())
    metric.update(torch.tensor([0.5, math.nan]), torch.tensor([255, 255]))
    assert math.isnan(metric.compute())
    assert (metric.table().rows, metric.table().ignored, metric.scores().ignored) == (0, 2, 2)


def test_bins_that_metrics_refuse():
    with pytest.raises(InputError, match="`bins` are thresholds for the scores of two classes, and `task` is 'multi"):
        WeightedECC("multiclass", 3, bins=10)
    with pytest.raises(InputError, match="`ignore_index` is 0, one of the two classes"):
        WeightedECC("binary", ignore_index=0, bins=10)
    with pytest.raises(InputError, match="`bins` is 0; expected a number of steps"):
        WeightedECC("binary", bins=0)
    with pytest.raises(InputTypeError, match="this metric has no scores"):
        WeightedECC("binary").scores()
    metric = WeightedMCC("binary", bins=[0.25, 0.5])
    with pytest.raises(InputTypeError, match="with `bins` it has scores of class 1"):
        metric.update(torch.tensor([0, 1]), torch.tensor([0, 1]))
    metric.update(torch.tensor([0.25, 0.5]), torch.tensor([0, 1]))
    for bad, said in (
        (torch.nan, "is nan; a score must be"),
        (1.5, "is 1.5; with these `bins` a score must be from 0 to"),
    ):
        with pytest.raises(InputError, match=said):
            metric(torch.tensor([0.5, bad]), torch.tensor([0, 1]))
        assert metric.scores().rows == 2


# ---- collections --------------------------------------------------------------------------------------------


def collection(**more):
    named = {"num_classes": 4, "ignore_index": 255, **more}
    own = [WeightedECC, WeightedMPC1, WeightedMPC2, WeightedMeanIoU, WeightedMeanF1, WeightedConfusionMatrix]
    made = {kind.__name__: kind("multiclass", **named) for kind in own}
    return MetricCollection({**made, "iou": WeightedClassScores("iou", "multiclass", **named)})


def test_metrics_of_a_collection_share_one_table(monkeypatch):
    calls = []
    count = adapter.count
    monkeypatch.setattr(adapter, "count", lambda *args: (calls.append(1), count(*args)))
    parts = list(batches(14))
    scores = collection()
    for k, part in enumerate(parts):
        scores.update(*part)
        assert len(calls) == len(scores) + k  # the first batch finds out that they agree
    assert list(scores.compute_groups) == [0]
    table, values = whole(parts), scores.compute()
    for name in ("ecc", "mpc1", "mpc2", "mean_iou", "mean_f1"):
        kind = next(own for own in SCORES if own.measure.name == name)
        assert values[kind.__name__].item() == wmcc.measures.MEASURES[name](table)
    assert values["WeightedConfusionMatrix"].tolist() == np.asarray(table)[:4, :4].tolist()
    assert same(values["iou"], torch.tensor(wmcc.measures.CLASS_MEASURES["iou"](table)[:4]))
    assert scores["WeightedMPC1"].table() == table
    clone = scores.clone(prefix="val/")
    scores.reset()
    scores.update(*parts[0])
    assert scores["WeightedECC"].table() == whole(parts[:1])
    assert clone.compute()["val/WeightedECC"] == values["WeightedECC"]


def test_a_collection_that_gets_wider_weights_and_values_of_batches():
    narrow, wide = next(batches(15)), next(batches(16, dtype=torch.float64))
    scores = collection()
    scores.update(*narrow)
    scores.update(*wide)
    both = whole([(p, t, w.double()) for p, t, w in (narrow, wide)])
    assert scores.compute()["WeightedMPC2"].item() == wmcc.mpc2(both)
    assert scores(*narrow)["WeightedMPC1"].item() == wmcc.mpc1(whole([narrow]))
    scores.update(*narrow)
    three = both + whole([narrow]) + whole([narrow])
    assert scores.compute()["WeightedECC"].item() == wmcc.ecc(three)


def test_metrics_of_other_settings_never_share_a_table():
    """The first batch tells no difference: nothing is ignored, and no score is between the thresholds."""
    scores = MetricCollection(
        {
            "all": WeightedAccuracy("binary"),
            "void": WeightedAccuracy("binary", ignore_index=0),
            "void 255": WeightedAccuracy("binary", ignore_index=255),
            "strict": WeightedAccuracy("binary", threshold=0.5000001),
            "two classes": WeightedAccuracy("multiclass", 2),
            "again": WeightedAccuracy("binary", names=["road", "car"]),
        }
    )
    ones = torch.ones(4, dtype=torch.long)
    scores.update(ones, ones)
    assert sorted(map(sorted, scores.compute_groups.values())) == [
        ["again", "all"], ["strict"], ["two classes"], ["void"], ["void 255"],
    ]  # fmt: skip
    scores["two classes"].update(ones, ones)
    assert scores["again"].table().classes == ("road", "car")


def test_other_tools_of_torchmetrics():
    logits, target, weight = next(batches(17))
    metric = ClasswiseWrapper(
        WeightedClassScores("recall", "multiclass", 4, ignore_index=255), labels=["road", "car", "tree", "sky"]
    )
    found = metric(logits, target, weight)
    recalls = wmcc.measures.CLASS_MEASURES["recall"](whole([(logits, target, weight)]))
    assert [own.item() for own in found.values()] == recalls[:4].tolist()
    assert next(iter(found)).endswith("_road")
    difference = WeightedECC("multiclass", 4, ignore_index=255) - WeightedMPC1("multiclass", 4, ignore_index=255)
    difference.update(logits, target, weight)
    table = whole([(logits, target, weight)])
    assert difference.compute().item() == wmcc.ecc(table) - wmcc.mpc1(table)


def test_a_collection_with_metrics_of_torchmetrics():
    """Weights that are given by keyword reach those that take them."""
    logits, target, weight = next(batches(17))
    named = {"task": "multiclass", "num_classes": 4, "ignore_index": 255}
    scores = MetricCollection({"plain": peers.MatthewsCorrCoef(**named), "weighted": WeightedECC(**named)})
    for _ in range(2):
        scores.update(logits, target, weight=weight)
    values = scores.compute()
    assert len(scores.compute_groups) == 2
    assert values["weighted"].item() == wmcc.ecc(whole([(logits, target, weight)]))
    assert values["plain"].item() == pytest.approx(
        wmcc.ecc(whole([(logits, target, torch.ones_like(weight))])), abs=FLOAT32
    )


@pytest.mark.parametrize("name", ["sample_weight", "sample_weights", "weights"])
def test_weights_by_another_name_are_not_lost(name):
    """TorchMetrics leaves out keywords that an update does not name, and says nothing."""
    logits, target, weight = next(batches(17))
    named = {"task": "multiclass", "num_classes": 4, "ignore_index": 255}
    scores = MetricCollection([peers.MatthewsCorrCoef(**named), WeightedECC(**named), WeightedMPC1(**named)])
    single = WeightedECC(**named)
    for _ in range(2):  # in the second batch the metrics are grouped
        for call in (scores.update, scores, single.update, single):
            with pytest.raises(
                InputTypeError, match=rf"were given as `{name}`; a metric takes them as `weight`"
            ) as caught:
                call(logits, target, **{name: weight})
            assert caught.value.argument == name
        scores["WeightedECC"].reset()
        scores.update(logits, target, weight=weight, **{name: None})
    single.update(logits, target, weight=weight)
    assert single.table() == whole([(logits, target, weight)])


# ---- what may be a mistake ----------------------------------------------------------------------------------


def test_arguments_that_may_be_swapped():
    preds, target = torch.tensor([0, 1, 1, 0]), torch.tensor([0, 1, 0, 255])
    metric = WeightedAccuracy("binary", ignore_index=255)
    assert metric(preds, target) == pytest.approx(2 / 3)
    with pytest.warns(
        LabelWarning, match=r"`pred` has the ignored label 255 and `target` never has it.*predictions first"
    ):
        metric(target, preds)


def test_columns_that_may_be_outputs():
    made = torch.Generator().manual_seed(3)
    target = (torch.rand((50, 3), generator=made) < torch.tensor([0.02, 0.5, 0.98])).long()
    preds = torch.tensor([-2.0, 0.5, 2.0]).expand(50, 3)  # which says nothing about any column
    for made in (WeightedECC("binary"), WeightedECC("multiclass", 3)):
        given = preds if made.task == "binary" else (preds > 0).long()
        with pytest.warns(LabelWarning, match="3 columns of 0 and 1.*the micro average over 3 outputs") as seen:
            value = made(given, target).item()
        assert len(seen) == 1
        assert value > 0.5
        made.reset()
        assert made(given.flatten(), target.flatten()).item() == value  # as the hint says
        made.reset()
        assert [made(given[:, k], target[:, k]).item() for k in range(3)] == [0, 0, 0]
    for shape in ((50, 1, 3), (50, 3, 1), (1, 50), (2, 30), (3000, 128)):  # images, rows, long lines
        labels = torch.zeros(shape, dtype=int)
        WeightedECC("binary")(labels, labels)


def test_plots():
    from matplotlib import pyplot

    part = next(batches(18))
    scores = collection(names=["road", "car", "tree", "sky"])
    scores.update(*part)
    for name in ("WeightedECC", "iou", "WeightedConfusionMatrix"):
        figure, axes = scores[name].plot()
        assert figure is axes.figure
    assert "road" in [text.get_text() for text in axes.get_xticklabels()]
    with pytest.raises(InputTypeError, match="a matrix alone is not drawn"):
        scores["WeightedConfusionMatrix"].plot(torch.zeros(2, 2))
    assert scores["WeightedECC"].plot([torch.tensor(0.3), torch.tensor(0.5)])[1].get_ylim()[1] >= 0.5
    pyplot.close("all")


# ---- what is refused ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: WeightedECC("multilabel", 3), "`task` is 'multilabel'; expected 'binary' or 'multiclass'"),
        (lambda: WeightedECC("segmentation"), "`task` is 'segmentation'"),
        (lambda: WeightedECC("multiclass"), "needs `num_classes`"),
        (lambda: WeightedECC("multiclass", 1), "`num_classes` is 1; expected an integer of at least 2"),
        (lambda: WeightedECC("binary", 3), "`num_classes` is 3; a binary task has 2"),
        (lambda: WeightedMCC("multiclass", 3), "MCC is for two classes, and `num_classes` is 3"),
        (lambda: WeightedECC("binary", threshold=1.5), "`threshold` is 1.5"),
        (lambda: WeightedECC("binary", ignore_index="void"), "`ignore_index` is 'void'"),
        (lambda: WeightedECC("binary", zero_division="zero"), "`zero_division` is 'zero'"),
        (
            lambda: WeightedECC("binary", average="macro"),
            r"no keyword 'average'\.\s+Hint: its keywords are task, num_classes, zero_division, .*threshold",
        ),
        (lambda: WeightedECC("binary", zero_divison=1.0), "did you mean `zero_division`"),
        (lambda: WeightedClassScores("ecc", "binary"), "expected one of precision, recall"),
    ],
)
def test_arguments_that_are_refused(made, said):
    with pytest.raises((InputError, InputTypeError), match=said):
        made()


@pytest.mark.parametrize(
    ("task", "preds", "target", "weight", "said"),
    [
        (
            "binary",
            torch.rand(2, 2, 3),
            torch.zeros(2, 3, dtype=int),
            None,
            "a binary task has one score for each pixel",
        ),
        ("binary", torch.zeros(3, dtype=int), torch.zeros(4, dtype=int), None, "must have the same shape"),
        ("binary", torch.rand(3), torch.rand(3), None, "`target` has dtype torch.float32"),
        ("binary", [0.1], torch.zeros(1, dtype=int), None, "of type list; expected a tensor"),
        ("multiclass", torch.rand(4), torch.zeros(4, dtype=int), None, "does not say which class is meant"),
        (
            "multiclass",
            torch.rand(4, 3),
            torch.zeros(4, dtype=int),
            None,
            "3 channels on axis 1, and `num_classes` is 2",
        ),
        (
            "binary",
            torch.rand(4),
            torch.zeros(4, dtype=int),
            torch.rand(3),
            "`weight` must have the shape of the target",
        ),
    ],
)
def test_batches_that_are_refused(task, preds, target, weight, said):
    metric = WeightedECC(task, 2)
    metric.update(torch.tensor([0, 1]), torch.tensor([0, 1]))
    for call in (metric.update, metric):
        with pytest.raises((InputError, InputTypeError), match=said):
            call(preds, target, weight)
    assert metric.table().rows == 2


BAD = [
    (torch.tensor([0, 1]), torch.tensor([0, 7]), None, LabelError, r"7, which is not among the classes 0 to 1"),
    (torch.tensor([0, 3]), torch.tensor([0, 1]), None, LabelError, r"3, which is not among the classes 0 to 1"),
    (torch.tensor([0, 1]), torch.tensor([0, 1]), torch.tensor([1.0, -2.0]), WeightError, "-2.0; a weight must be"),
    (torch.tensor([0.2, math.nan]), torch.tensor([0, 1]), None, LabelError, "NaN, so no class is predicted"),
]


@pytest.mark.parametrize(("preds", "target", "weight", "error", "said"), BAD)
def test_bad_values_are_refused_when_the_score_is_read(preds, target, weight, error, said):
    good = torch.tensor([0, 1, 1]), torch.tensor([0, 1, 0])
    metric = WeightedECC("binary")
    metric.update(*good)
    metric.update(preds, target, weight)
    metric(*good)
    for _ in range(2):
        with pytest.raises(error, match=said) as caught:
            metric.compute()
        assert "of update 1" in str(caught.value)
    metric.reset()
    metric.update(*good)
    table = metric.table()
    for step in (False, True):
        metric.dist_sync_on_step = step
        with pytest.raises(error, match=said):
            metric(preds, target, weight)
        assert metric.table() == table  # the batch that was refused is not in it, and all others are
        assert metric.update_count == 1
        assert metric._enable_grad is False
    metric.update(*good)
    assert metric.table() == table + table


# ---- a GPU ---------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_device_does_not_matter(dtype):
    first, second, third = batches(22, dtype=dtype)
    metric, scores = WeightedECC("multiclass", 4, ignore_index=255), collection().cuda()
    metric.update(*first)
    metric = metric.cuda()
    metric.update(*(x.cuda() for x in second))
    metric(*(x.cuda() for x in third))
    table = whole([first, second, third])
    assert metric.table() == table
    assert metric.compute().device.type == "cuda"
    assert metric.compute().item() == wmcc.ecc(table)
    assert metric.cpu().table() == table
    for part in (first, second, third):
        scores.update(*(x.cuda() for x in part))
    assert list(scores.compute_groups) == [0]
    assert scores.compute()["WeightedMPC2"].item() == wmcc.mpc2(table)
    of_scores = WeightedMCC("binary", bins=20, ignore_index=255).cuda()
    of_scores.update(*(x.cuda() for x in chances(1)))
    assert of_scores.cpu().scores().edges[:2] == (0.0, 0.05)
    assert [of_scores.scores().at(edge) for edge in (0.25, 0.5)] == at_each([chances(1)], (0.25, 0.5))
    binary = WeightedMCC("binary").cuda()
    assert binary(torch.tensor([3.0, -2.0, 0.4]).cuda(), torch.tensor([1, 0, 1]).cuda()) == 1.0
    with pytest.raises(InputError, match="expected one device"):
        binary.update(torch.tensor([1]), torch.tensor([1]))


# ---- several processes, in one -----------------------------------------------------------------------------------


def of_two(metric, other):
    """Let a metric believe that another one is a second process."""
    names = iter(["planes", *metric._defaults] * 100)

    def gather(own, group=None):
        name = next(names)
        return [own, torch.tensor(len(other.digits)) if name == "planes" else getattr(other, name)]

    metric.dist_sync_fn, metric.distributed_available_fn = gather, lambda: True


def test_processes_are_summed_and_then_apart_again():
    first, second = batches(19, count=2)
    one, other = (WeightedECC("multiclass", 4, ignore_index=255) for _ in range(2))
    one.update(*first)
    other.update(*second)
    of_two(one, other)
    assert one.table() == whole([first, second])
    assert one.compute().item() == wmcc.ecc(whole([first, second]))
    one.sync(dist_sync_fn=one.dist_sync_fn)
    assert one.table() == whole([first, second])
    with pytest.raises(peers.utilities.exceptions.TorchMetricsUserError, match="shouldn't be synced"):
        one(*first)
    one.unsync()
    one.update(*second)
    one.distributed_available_fn = lambda: False
    assert one.table() == whole([first, second])


def test_processes_are_summed_after_inference_mode():
    """What was made within cannot be changed outside, where the score is read."""
    first, second = batches(19, count=2)
    one, other = (WeightedECC("multiclass", 4, ignore_index=255) for _ in range(2))
    with torch.inference_mode():
        one.reset()
        one.update(*first)
    other.update(*second)
    of_two(one, other)
    assert one.table() == whole([first, second])
    one.dist_sync_fn, one.distributed_available_fn = None, lambda: False
    with torch.inference_mode():
        one.reset()
        one.update(*first)
    one.merge_state(other)
    assert one.table() == whole([first, second])


def test_a_bad_row_of_another_process_is_named_and_the_state_comes_back():
    metric, other = WeightedECC("binary"), WeightedECC("binary")
    good = torch.tensor([0, 1]), torch.tensor([0, 1])
    metric.update(*good)
    other.update(*good)
    other.update(torch.tensor([0, 5]), torch.tensor([0, 1]))
    of_two(metric, other)
    for read in (metric.compute, metric.table):
        with pytest.raises(LabelError, match="of update 1 is 5"):
            read()
        assert not metric._is_synced
        assert int(metric.updates) == 1


# ---- two processes ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """What each of two processes found."""
    folder = tmp_path_factory.mktemp("processes")
    torch_processes.run(worker.work, (str(folder), 2))
    return [pickle.loads((folder / str(rank)).read_bytes()) for rank in range(2)]


def table_of(*seeds, double=()):
    """The table of some batches, by another way."""
    tables = []
    for seed in seeds:
        logits, target, weight = worker.batch(seed, torch.float64 if seed in double else torch.float32)
        tables.append(whole([(logits, target, weight.double())]))
    return wmcc.merge(tables)


@pytest.mark.slow
def test_processes_add_up_their_tables(processes):
    for (name, wide), seen in processes[0]["tables"].items():
        seeds = worker.SCENES[name]
        table = table_of(*sum(seeds, ()), double={seed for rank in wide for seed in seeds[rank]})
        for rank, found in enumerate([seen, processes[1]["tables"][name, wide]]):
            assert found[0] == table
            assert found[1] == wmcc.ecc(table)
            assert found[2] == len(seeds[rank])  # and each has its own state again
            assert (found[3] > 100) == (rank in wide and len(seeds[rank]) > 0)


@pytest.mark.slow
def test_processes_share_collections_and_steps(processes):
    for rank, found in enumerate(processes):
        for values, table in zip(found["collected"], (table_of(0, 1), table_of(0, 1, 2, 3)), strict=False):
            assert values["ecc"].item() == wmcc.ecc(table)
            assert values["mpc2"].item() == wmcc.mpc2(table)
            assert values["matrix"].tolist() == np.asarray(table).tolist()
            assert values["iou"].tolist() == wmcc.measures.CLASS_MEASURES["iou"](table).tolist()
        assert found["collected"][2] == [0]
        apart, together = found["steps"][False], found["steps"][True]
        assert apart[0] == [wmcc.ecc(table_of(rank)), wmcc.ecc(table_of(2 + rank))]
        assert together[0] == [wmcc.ecc(table_of(0, 1)), wmcc.ecc(table_of(2, 3))]
        assert apart[1:] == together[1:] == (wmcc.ecc(table_of(0, 1, 2, 3)), table_of(0, 1, 2, 3))


@pytest.mark.slow
def test_all_processes_name_the_bad_row_of_one(processes):
    for said, table in (found["refused"] for found in processes):
        assert len(said) == 2
        assert all("of update 1 is 77" in own for own in said)
        assert table == table_of(0, 1)


@pytest.mark.slow
def test_averages_of_scores_are_not_the_score(processes):
    """What self.log(number, sync_dist=True) does; and what logging the metric itself does."""
    right = processes[0]["tables"]["uneven", ()][1]
    assert right == wmcc.ecc(table_of(0, 1, 2, 3))
    mean = (wmcc.ecc(table_of(0, 1, 2)) + wmcc.ecc(table_of(3))) / 2
    assert [found["averaged"] for found in processes] == pytest.approx([mean, mean], abs=1e-15)
    assert abs(mean - right) > 1e-3


# ---- Lightning -----------------------------------------------------------------------------------------------------


@contextmanager
def module_of(page):
    """The LightningModule that a page has."""
    pytest.importorskip("lightning")
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    made = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Lightning warns of what torch is to drop, and of few workers
        exec(next(own for own in blocks if "LightningModule" in own), made)
        yield made["Segmenter"]


@pytest.fixture
def segmenter():
    """The module of the documentation."""
    with module_of(SEGMENTATION) as made:
        yield made


def images(count):
    """Images whose brightest channel is the class, targets with void pixels, and weights."""
    made = torch.Generator().manual_seed(3)
    x = torch.randn(count, 3, 6, 6, generator=made)
    target = x.argmax(1)
    target[torch.rand(target.shape, generator=made) < 0.1] = 255
    return x, target, torch.rand(target.shape, generator=made)


def trainer(**more):
    import lightning

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    return lightning.Trainer(accelerator="cpu", devices=1, enable_checkpointing=False, **quiet, **more)


def scored(module, data):
    """The table of a module's predictions, by another way."""
    x, target, weight = data
    with torch.no_grad():
        return whole([(module.net(x), target, weight)], classes=3)


@pytest.mark.slow
def test_the_module_of_the_documentation(segmenter):
    torch.manual_seed(0)
    data = images(8)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data), batch_size=3)
    module, run = segmenter(), trainer(max_epochs=2)
    run.fit(module, loader, loader)
    table, logged = scored(module, data), run.callback_metrics
    assert logged["val/WeightedECC"].item() == wmcc.ecc(table)
    assert logged["val/WeightedMeanIoU"].item() == wmcc.mean_iou(table)
    assert logged["train/ecc_epoch"] != logged["train/ecc_step"]
    assert int(module.train_ecc.updates) == int(module.scores["WeightedECC"].updates) == 0  # the epoch is over
    assert list(module.scores.compute_groups) == [0]


@pytest.mark.slow
def test_the_validation_step_of_the_tutorial():
    """A reader's network is what the module leaves open: here the first channel is the logit."""
    x, target, weight = images(8)
    target = (target == 1).long().masked_fill(target == 255, 255)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, target, weight), batch_size=3)
    with module_of(TUTORIAL) as segmenter:
        module, run = segmenter(), trainer()
        module.forward = lambda image: image[:, 0]
        run.validate(module, loader, verbose=False)
    table = wmcc.tabulate(target, (x[:, 0] > 0).long(), weight, labels=[0, 1], ignore=255)
    assert run.callback_metrics["val_mcc"].item() == wmcc.mcc(table)
    assert int(module.val_mcc.updates) == 0  # the epoch is over


class Resumable:
    """Batches, and where they stopped."""

    def __init__(self, data):
        self.batches = list(zip(*(x.split(2) for x in data), strict=True))
        self.start = self.at = 0

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        start, self.start = self.start, 0
        for k, own in enumerate(self.batches[start:], start + 1):
            self.at = k
            yield own

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.start = state["at"]


@pytest.mark.slow
def test_a_checkpoint_in_the_middle_of_an_epoch(segmenter, tmp_path):
    data, path = images(8), tmp_path / "middle.ckpt"

    class Constant(segmenter):
        seen = 0

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.0)  # so that all batches have the same model

        def on_train_batch_end(self, outputs, batch, index):
            self.seen += 1
            if index == 1 and not path.exists():
                self.trainer.save_checkpoint(path)

    torch.manual_seed(0)
    first, run = Constant(), trainer(max_epochs=1)
    run.fit(first, Resumable(data))
    expected = wmcc.ecc(scored(first, data))
    assert run.callback_metrics["train/ecc_epoch"].item() == expected

    resumed, run = Constant(), trainer(max_epochs=1)
    run.fit(resumed, Resumable(data), ckpt_path=path)
    assert resumed.seen == 2
    assert run.callback_metrics["train/ecc_epoch"].item() == expected
