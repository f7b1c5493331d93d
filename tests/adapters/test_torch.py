"""The tally of PyTorch against `wmcc.tabulate`, equal to the last bit; its life in a training loop; its sentences."""

import copy
import ctypes
import io
import pickle
import subprocess
import sys
import threading
import time
import warnings
import weakref
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
import torch_processes
from hypothesis import given

import wmcc
from wmcc.adapters.torch import Tally, counting, images
from wmcc.adapters.torch import batches as batches_of
from wmcc.adapters.torch import tally as tally_of
from wmcc.core import planes
from wmcc.core.design import PIXELS, ROWS
from wmcc.core.planes import Planes, add_rows
from wmcc.errors import InputError, InputTypeError, LabelError, LabelWarning, TooManyClassesError, WeightError
from wmcc.sources.columns import _from_torch

torch.set_num_threads(1)

LABELS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
WEIGHTS = [None, torch.float32, torch.float64, torch.bfloat16, torch.float16]


def tabulated(target, pred, weight=None, *, classes, ignore=None, cluster=None):
    """The table of wmcc.tabulate, of vectors: small maps may look one-hot to it. It takes no class that is ignored."""
    labels = [k for k in range(classes) if k != ignore]
    if cluster is not None:
        cluster = np.repeat(cluster, target[0].numel() if len(target) else 0)
    rows = (None if x is None else x.flatten() for x in (target, pred, weight))
    table = wmcc.tabulate(*rows, labels=labels, ignore=ignore, cluster=cluster)
    return replace(table, drawn=PIXELS) if cluster is None and target.numel() > len(target) else table


@st.composite
def batches(draw, most=3, classes=(2, 3, 5, 20, 130)):
    """Several batches: number of classes, ignored label, and (pred, target, weight) of each."""
    classes = draw(st.sampled_from(classes))
    ignore = draw(st.sampled_from([None, 255, -1, -100, 0, classes - 1, 1 << 40]))
    item = draw(st.sampled_from([(), (3,), (4, 5), (2, 3, 4)]))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    label, dtype = draw(st.sampled_from(LABELS)), draw(st.sampled_from(WEIGHTS))
    if classes > 100 or (ignore is not None and not 0 <= ignore < 128):
        label = draw(st.sampled_from([torch.int64, torch.int32, torch.int16] if ignore != 1 << 40 else [torch.int64]))
    if ignore == 255:
        label = draw(st.sampled_from([torch.uint8, torch.int16, torch.int32, torch.int64]))
    found = []
    for _ in range(draw(st.integers(1, most))):
        shape = (draw(st.integers(0, 4)), *item)
        target, pred = (rng.integers(0, classes, shape) for _ in range(2))
        if ignore is not None:
            target[rng.random(shape) < 0.2] = ignore
            pred[rng.random(shape) < 0.1] = ignore
        weight = None
        if dtype is not None:
            weight = torch.from_numpy(np.exp2(rng.uniform(-30, 30, shape))).to(torch.float32)
            special = torch.tensor([0.0, -0.0, 1e-45, 3.4e38, 1.0])[torch.from_numpy(rng.integers(0, 5, shape))]
            weight = torch.where(torch.from_numpy(rng.random(shape) < 0.3), special, weight).to(torch.float64)
            if dtype is torch.float64:
                far = torch.tensor([5e-324, 1.7e308, 1e-200, 0.1], dtype=torch.float64)[
                    torch.from_numpy(rng.integers(0, 4, shape))
                ]
                weight = torch.where(torch.from_numpy(rng.random(shape) < 0.3), far, weight)
            if dtype in (torch.float16, torch.bfloat16):
                weight = weight.clamp(max=6e4)
            weight = weight.to(dtype)
        found.append((torch.from_numpy(pred).to(label), torch.from_numpy(target).to(label), weight))
    return classes, ignore, found


def whole(found):
    """All rows of some batches, as (target, pred, weight)."""
    pred, target, weight = zip(*found, strict=True)
    return torch.cat(target), torch.cat(pred), None if weight[0] is None else torch.cat(weight)


# ---- equal to the CPU ------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")
@given(batches())
def test_equal_to_tabulate(made):
    classes, ignore, found = made
    tally = Tally(classes, ignore_index=ignore)
    for batch in found:
        tally.update(*batch)
    assert tally.compute() == tabulated(*whole(found), classes=classes, ignore=ignore)
    assert int(tally.updates) == len(found)


@pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")
@given(batches())
def test_merge_of_parts_is_the_whole(made):
    classes, ignore, found = made
    one, other = Tally(classes, ignore_index=ignore), Tally(classes, ignore_index=ignore)
    one.update(*found[0])
    for pred, target, weight in found[1:]:
        other.update(pred, target, None if weight is None else weight.double())  # wide, where the first may be narrow
    one.merge(other)
    assert one.compute() == tabulated(*whole(found), classes=classes, ignore=ignore)
    assert int(one.updates) == len(found)


@pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")
@given(batches())
def test_images_are_clusters(made):
    classes, ignore, found = made
    tally = Tally(classes, ignore_index=ignore, per_image=True)
    for batch in found:
        tally.update(*batch)
    rows = whole(found)
    key = np.arange(len(rows[0]))
    assert tally.compute() == tabulated(*rows, classes=classes, ignore=ignore, cluster=key)
    half = Tally(classes, ignore_index=ignore, per_image=True)
    half.load_state_dict(tally.state_dict())
    assert half.compute() == tally.compute()
    half.merge(tally)
    again = tabulated(*whole(found * 2), classes=classes, ignore=ignore, cluster=[*key, *(key + len(key))])
    assert half.compute() == again


@pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")
@given(batches(), st.data())
def test_images_with_ids(made, data):
    classes, ignore, found = made
    tally, keys = Tally(classes, ignore_index=ignore, per_image=True), []
    for k, (pred, target, weight) in enumerate(found):
        ids = data.draw(st.lists(st.integers(0, 3), min_size=len(pred), max_size=len(pred)))
        tally.update(pred, target, weight, image_ids=torch.tensor(ids, dtype=torch.int32) if k % 2 else ids)
        keys += ids
    assert tally.compute() == tabulated(*whole(found), classes=classes, ignore=ignore, cluster=np.array(keys, int))


@pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")
@given(batches(most=2), st.integers(1, 1 << 20))
def test_carries_need_not_be_settled(made, times):
    classes, ignore, found = made
    state = Tally(classes, ignore_index=ignore)
    for batch in found:
        state.update(*batch)
    expected = state.compute()
    digits = state.digits.numpy()
    planes.settle(digits)
    settled = digits.copy()
    layout = planes.layout_of(len(digits))
    for start, count in ((1, layout.weights), (1 + layout.weights, layout.squares)):
        for d in range(start, start + count - 1):  # what a device may hold: part of a digit in the plane below
            moved = np.minimum(digits[d + 1], times)
            digits[d + 1] -= moved
            digits[d] += moved << 32
    assert state.compute() == expected
    planes.settle(digits)
    assert (digits == settled).all()


@pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")
@given(batches(classes=(2, 3, 5, 20)))
def test_narrow_and_wide_tallies_merge(made):
    classes, ignore, found = made
    several = []
    for pred, target, weight in found:
        tally = Tally(classes, ignore_index=ignore)
        tally.update(pred, target, weight if len(several) % 2 else None if weight is None else weight.double())
        several.append(tally)
    state = Tally(classes, ignore_index=ignore)
    for own in several:
        state.merge(own)
    assert state.compute() == tabulated(*whole(found), classes=classes, ignore=ignore)


# ---- what a batch may be ---------------------------------------------------------------------------------


def example(seed=0, classes=4, shape=(3, 5, 6)):
    rng = torch.Generator().manual_seed(seed)
    target = torch.randint(0, classes, shape, generator=rng)
    logits = torch.randn((shape[0], classes, *shape[1:]), generator=rng)
    weight = torch.rand(shape, generator=rng) + 0.1
    return logits, target, weight


def test_logits_of_any_kind():
    logits, target, weight = example()
    for form in (
        logits,
        logits.softmax(1),
        logits.to(memory_format=torch.channels_last),
        logits.clone().requires_grad_(),
        logits.double(),
        logits.half(),
        torch.nn.functional.one_hot(logits.argmax(1), 4).movedim(-1, 1).to(torch.float8_e4m3fn),
        logits.bfloat16(),
    ):
        for truth in (target, target[:, None], target.to(torch.uint8)):
            tally = Tally(4)
            tally.update(form, truth, weight)
            assert tally.compute() == wmcc.tabulate(target, form.detach().double().argmax(1), weight, labels=range(4))


def test_one_channel_is_dropped():
    logits, target, weight = example()
    pred, expected = logits.argmax(1), wmcc.tabulate(target, logits.argmax(1), weight, labels=range(4))
    for p in (pred, pred[:, None]):
        for t in (target, target[:, None]):
            for w in (weight, weight[:, None]):
                tally = Tally(4)
                tally.update(p, t, w)
                assert tally.compute() == expected


def test_strided_labels_and_masks():
    logits, target, weight = example(classes=2)
    pred = logits.argmax(1)
    tally = Tally(2)
    tally.update(pred.bool(), target.bool(), weight)
    tally.update(pred.transpose(1, 2), target.transpose(1, 2), weight.transpose(1, 2))
    tally.update(pred[:, ::2].bool(), target[:, ::2].bool(), weight[:, ::2])
    parts = [(target, pred, weight), (target[:, ::2], pred[:, ::2], weight[:, ::2])]
    one, part = (wmcc.tabulate(*own, labels=range(2)) for own in parts)
    assert tally.compute() == one + one + part


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("per_image", [False, True])
def test_weights_that_fit(dtype, per_image):
    logits, target, weight = example()
    weight = weight.to(dtype)
    for own, there in {
        "map": (weight[0], weight[:1]),
        "one map": (weight[:1], weight[:1]),
        "rows": (weight[0, :, :1], weight[:1, :, :1]),
        "each": (weight[:, 0, 0], weight[:, :1, :1]),
        "column": (weight[:, :1, :1], weight[:, :1, :1]),
        "channel": (weight[:, None, :1, :1], weight[:, :1, :1]),
        "columns": (weight[:, :1], weight[:, :1]),
    }.values():
        tally = Tally(4, per_image=per_image)
        tally.update(logits, target, own)
        more = {"cluster": range(3)} if per_image else {}
        assert tally.compute() == tabulated(target, logits.argmax(1), there.expand(target.shape), classes=4, **more)
    lines, truth = logits.argmax(1)[:, 0], target[:, 0]  # maps of one axis
    for own in (weight[0, 0], weight[:1, 0], weight[:, 0, 0]):
        tally = Tally(4, per_image=per_image)
        tally.update(lines, truth, own)
        there = (own[:, None] if len(own) == 3 else own).expand(truth.shape)
        assert tally.compute() == tabulated(truth, lines, there, classes=4, **more)


def test_weights_of_other_types():
    logits, target, _ = example()
    for dtype in (torch.bool, torch.uint8, torch.int16, torch.int32, torch.int64):
        weight = torch.arange(90).reshape(3, 5, 6).to(dtype)
        tally = Tally(4)
        tally.update(logits, target, weight)
        assert tally.compute() == wmcc.tabulate(target, logits.argmax(1), weight, labels=range(4))


def test_large_integers_as_weights_are_not_rounded_to_float32():
    tally = Tally(2)
    tally.update(torch.tensor([1]), torch.tensor([1]), torch.tensor([(1 << 40) + 1]))
    assert tally.compute().total == (1 << 40) + 1


def test_names():
    target, pred = torch.tensor([[0, 1, 2, 255]]), torch.tensor([[0, 255, 2, 1]])
    for names in (["road", "car", "sky"], {0: "road", 1: "car", 2: "sky", 255: "void"}):
        tally = Tally(3, ignore_index=255, names=names)
        tally.update(pred, target)
        own = names if isinstance(names, dict) else dict(enumerate(names))
        assert tally.compute() == wmcc.tabulate(target, pred, labels=range(3), names=own, ignore=255)
    assert "names" in repr(tally)


@pytest.mark.slow
def test_torch_is_loaded_without_its_compiler():
    code = "import sys, wmcc.adapters.torch; print('torch._dynamo' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_it_is_read_as_a_table():
    logits, target, weight = example()
    tally = Tally(4)
    tally(logits, target, weight)
    table = wmcc.tabulate(target, logits.argmax(1), weight, labels=range(4))
    assert wmcc.score(tally).ecc == wmcc.score(table).ecc
    assert wmcc.ecc(tally) == wmcc.ecc(table)
    all_of = wmcc.Accumulator(labels=range(4))
    all_of.update(tally)
    assert all_of.table == table


def test_labels_with_one_axis_only():
    """Plain classification: (N, C) and (N,)."""
    logits, target, weight = example(shape=(40,))
    tally = Tally(4)
    tally.update(logits, target, weight)
    assert tally.compute() == wmcc.tabulate(target, logits.argmax(1), weight, labels=range(4))


# ---- external numbers ------------------------------------------------------------------------------------


def test_hugging_face_mean_iou():
    """The example of evaluate's mean_iou: three maps of 10 labels, 255 ignored."""
    preds = [[[1, 2], [3, 4], [5, 255]], [[2, 7], [9, 2], [3, 6]], [[2, 2, 3], [8, 2, 4], [3, 255, 2]]]
    truth = [[[0, 3], [5, 4], [6, 255]], [[1, 7], [9, 2], [3, 6]], [[1, 2, 2], [8, 2, 1], [3, 255, 1]]]
    tally = Tally(10, ignore_index=255)
    for p, t in zip(preds, truth, strict=True):
        tally.update(torch.tensor(p)[None], torch.tensor(t)[None])
    table = tally.compute()
    n = np.asarray(table.n)[:10, :10]
    right, true, pred = n.diagonal(), table.true_counts[:10], table.pred_counts[:10]
    assert (right / (true + pred - right)).tolist() == [0, 0, 0.375, 0.4, 0.5, 0, 0.5, 1, 1, 1]
    assert wmcc.mean_iou(table) == pytest.approx(0.47750000000000004, abs=1e-15)
    assert (right / true).mean() == pytest.approx(0.5916666666666666, abs=1e-15)
    assert wmcc.accuracy(table) == pytest.approx(0.5263157894736842, abs=1e-15)
    assert wmcc.ecc(table) == pytest.approx(0.4634631648, abs=1e-10)


@pytest.mark.parametrize(
    ("truth", "pred", "weight", "iou", "mcc"),
    [
        ([0, 0, 1, 1], [0, 1, 0, 1], [0.3, 0.3, 0.3, 0.1], 0.238095238, -0.25),
        ([0, 1, 0, 1], [0, 0, 1, 1], [0.2, 0.3, 0.4, 0.1], 0.173611111, -0.408248290),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_keras_weighted_mean_iou(truth, pred, weight, iou, mcc, dtype):
    tally = Tally(2)
    tally.update(torch.tensor(pred), torch.tensor(truth), torch.tensor(weight, dtype=dtype))
    assert wmcc.mean_iou(tally) == pytest.approx(iou, abs=1e-7)
    assert wmcc.mcc(tally) == pytest.approx(mcc, abs=1e-7)


# ---- the life of a module --------------------------------------------------------------------------------


def filled(dtype=torch.float32, **more):
    logits, target, weight = example()
    tally = Tally(4, **more)
    tally.update(logits, target, weight.to(dtype))
    return tally, tabulated(target, logits.argmax(1), weight.to(dtype), classes=4, **(
        {"cluster": range(3)} if tally.per_image else {}
    ))  # fmt: skip


@pytest.mark.parametrize("per_image", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_copies_and_casts(dtype, per_image):
    tally, expected = filled(dtype, per_image=per_image)
    for copied in (copy.deepcopy(tally), pickle.loads(pickle.dumps(tally)), tally.half(), tally.double(), tally.cpu()):
        assert copied.compute() == expected
    assert tally.type(torch.float16).compute() == expected
    assert {x.dtype for x in tally._state} == {torch.int64}


@pytest.mark.parametrize("per_image", [False, True])
@pytest.mark.parametrize("first", [torch.float32, torch.float64])
@pytest.mark.parametrize("second", [torch.float32, torch.float64])
def test_resuming(first, second, per_image):
    """A stored tally goes on where it was, whatever the weights before and after."""
    tally, table = filled(first, per_image=per_image)
    model = torch.nn.ModuleDict({"tally": tally, "head": torch.nn.Linear(2, 2)})
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    other = Tally(4, per_image=per_image)
    other.update(*example(1)[:2], example(1)[2].to(second))  # forgotten
    resumed = torch.nn.ModuleDict({"tally": other, "head": torch.nn.Linear(2, 2)})
    resumed.load_state_dict(torch.load(file, weights_only=True))
    assert other.compute() == table
    logits, target, weight = example(2)
    other.update(logits, target, weight.to(second))
    more = tabulated(
        target, logits.argmax(1), weight.to(second), classes=4, **({"cluster": range(3, 6)} if per_image else {})
    )
    assert other.compute() == table + more
    assert int(other.updates) == 2


def test_stored_tallies_that_do_not_fit():
    state = filled()[0].state_dict()
    with pytest.raises(InputError, match="has `num_classes` 4, and this one `num_classes` 5"):
        Tally(5).load_state_dict(state)
    with pytest.raises(InputError, match="has `ignore_index` None, and this one `ignore_index` 255"):
        Tally(4, ignore_index=255).load_state_dict(state)
    with pytest.raises(InputError, match="`per_image` False, and this one `per_image` True"):
        Tally(4, per_image=True).load_state_dict(state)
    bare = {name: x for name, x in state.items() if name != "_extra_state"}
    with pytest.raises(InputError, match="has `num_classes` 4, and this one `num_classes` 5"):
        Tally(5).load_state_dict(bare, strict=False)
    with pytest.raises(RuntimeError, match="digits"):
        Tally(4).load_state_dict({})
    Tally(4).load_state_dict({}, strict=False)


def test_a_model_that_was_made_without_memory():
    tally, expected = filled(torch.float64)
    batch = example()
    with torch.device("meta"):
        empty, stored = Tally(4), Tally(4)
    with pytest.raises(InputError, match="the sums are on meta, and target on cpu") as problem:
        empty.update(*batch)
    assert problem.value.hint == "make the tally or the metric outside of torch.device('meta')."
    empty.to_empty(device="cpu")
    assert empty.compute().rows == 0
    empty.update(*batch[:2], batch[2].double())
    assert empty.compute() == expected
    stored.load_state_dict(tally.state_dict(), assign=True)
    stored.update(*batch)
    assert stored.compute().rows == 180
    assert tally.compute() == expected


def test_reset():
    for more in ({}, {"per_image": True}):
        tally, expected = filled(torch.float64, **more)
        tally.reset()
        assert tally.compute().rows == 0
        assert int(tally.updates) == 0
        tally.update(*example())
        assert tally.compute().n.tolist() == expected.n.tolist()


@pytest.mark.parametrize("per_image", [False, True])
def test_threads_lose_no_rows(per_image, monkeypatch):
    """One adds while others wait: sums that two add to at once would lose the rows of one."""
    tally, (logits, target, weight) = Tally(4, per_image=per_image), example()
    module, name = (planes, "cells_of_rows") if per_image else (counting, "add_rows")
    inner, inside, most = getattr(module, name), [], []

    def slow(*args):
        inside.append(args)
        time.sleep(0.001)
        most.append(len(inside))
        found = inner(*args)
        inside.pop()
        return found

    monkeypatch.setattr(module, name, slow)
    own = {True: weight.double(), False: weight}
    threads = [
        threading.Thread(target=lambda k=k: tally.update(logits, target, own[k % 2 > 0]), daemon=True) for k in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(most) == {1}
    assert tally.compute().rows == 8 * target.numel()
    assert int(tally.updates) == 8


def test_sums_are_no_buffers():
    """DistributedDataParallel would overwrite buffers with those of the first process."""
    assert not list(Tally(3).buffers())
    assert not list(Tally(3).parameters())


def test_inference_mode():
    tally = Tally(4)
    with torch.inference_mode():
        logits, target, weight = example()
        tally.update(logits, target, weight.double())
    tally.update(logits, target, weight)
    assert tally.compute().rows == 180
    with torch.inference_mode():
        tally.reset()
    tally.update(logits, target, weight)
    assert tally.compute() == wmcc.tabulate(target, logits.argmax(1), weight, labels=range(4))


@pytest.mark.parametrize("dtype", [None, torch.float32, torch.float64])
def test_compiled_in_one_graph(dtype):
    torch._dynamo.reset()
    tally = Tally(4, ignore_index=3)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def step(logits, target, weight):
        tally.update(logits * 2, target, weight)
        return logits.sum()

    total = None
    for seed in range(3):
        logits, target, weight = example(seed, shape=(3, 5, 6 + seed // 2))
        weight = None if dtype is None else weight.to(dtype)
        step(logits, target, weight)
        own = tabulated(target, (logits * 2).argmax(1), weight, classes=4, ignore=3)
        total = own if total is None else total + own
    assert tally.compute() == total
    assert int(tally.updates) == 3


def test_the_operation_is_registered_well():
    tally = Tally(4)
    _, target, weight = example()
    args = (*(x.clone() for x in tally._state), tally.updates.clone(), tally._scratch, target, target, weight, 4, None)
    torch.library.opcheck(torch.ops.wmcc.tally.default, args)


def test_images_within_a_compiled_loop():
    torch._dynamo.reset()
    tally, expected = Tally(4, per_image=True), filled(per_image=True)[1]
    torch.compile(lambda *batch: tally.update(*batch), backend="eager")(*example())
    assert tally.compute() == expected


# ---- bad rows --------------------------------------------------------------------------------------------


def refused(tally):
    with pytest.raises(InputError) as problem:
        tally.compute()
    return problem.value


@pytest.mark.parametrize("per_image", [False, True])
def test_bad_labels(per_image):
    tally = Tally(4, per_image=per_image)
    good = torch.zeros((2, 3, 3), dtype=torch.int64)
    tally.update(good, good)
    bad = good.clone()
    bad[1, 2, 0], bad[1, 2, 1] = 7, -1
    tally.update(good, bad)
    problem = refused(tally)
    assert type(problem) is LabelError
    assert problem.message == (
        "target[1, 2, 0] of update 1 is 7, which is not among the classes 0 to 3. 2 rows have such a label."
    )
    assert problem.hint == (
        "use `num_classes` 8 or more if it is a class, or `ignore_index` 7 if it marks pixels that do not count."
    )
    tally.reset()
    tally.update(bad, good)
    assert refused(tally).message.startswith("pred[1, 2, 0] of update 0 is 7, which")
    assert int(tally.counts[2]) == 2


@pytest.mark.parametrize("per_image", [False, True])
@pytest.mark.parametrize(("weight", "said"), [(-1.5, "-1.5"), (float("nan"), "nan (missing)"), (float("inf"), "inf")])
def test_bad_weights(weight, said, per_image):
    tally = Tally(2, ignore_index=255, per_image=per_image)
    target = torch.tensor([[0, 255, 1], [1, 1, 0]])
    weights = torch.tensor([[1.0, weight, 1.0], [1.0, weight, weight]])
    tally.update(target, target, weights)
    problem = refused(tally)
    assert type(problem) is WeightError
    assert problem.message == (
        f"weight[1, 1] of update 0 is {said}; a weight must be a finite number of at least 0. 2 rows have such a "
        "weight."
    )
    with pytest.raises(WeightError) as same:  # the CPU's own words
        wmcc.tabulate(target, target, weights, ignore=255)
    assert problem.message.startswith(same.value.message.replace("sample_weight[1, 1]", "weight[1, 1] of update 0"))
    assert problem.hint == same.value.hint


def test_order_in_which_a_row_is_looked_at():
    """Ignored, then a bad target, a bad prediction, a bad weight; and a bad row is in no cell."""
    tally = Tally(2, ignore_index=255)
    target = torch.tensor([255, 9, 0, 1, 0])
    pred = torch.tensor([9, 9, 9, 0, 0])
    weight = torch.tensor([-1.0, -1.0, -1.0, -1.0, 1.0])
    tally.update(pred, target, weight)
    assert tally.counts.tolist() == [1, 1, 1, 1]
    assert tally.first[:2].tolist() == [[0, 1, 9], [0, 2, 9]]
    assert tally.first[2].tolist() == [0, 3, np.array(-1.0).view(np.int64).item()]
    assert tally.digits[0].tolist() == [1, 0, 0, 0, 0, 0]
    assert refused(tally).message.startswith("target[1] of update 0 is 9")


def test_the_first_bad_label_of_all_is_named():
    tally = Tally(2)
    tally.update(torch.tensor([0, 5, 0]), torch.tensor([0, 0, 6]))
    assert "pred[1] of update 0 is 5" in str(refused(tally))
    assert "ignore_index" not in (Tally(2, ignore_index=9).compute().counts)
    other = Tally(2, ignore_index=9)
    other.update(torch.tensor([0]), torch.tensor([-3]))
    problem = refused(other)
    assert problem.message.startswith("target[0] of update 0 is -3, which is not among the classes 0 to 1 and is not")
    assert problem.hint == "check how the labels were made."


def test_batches_of_several_shapes():
    tally = Tally(2)
    tally.update(torch.zeros(2, 3).long(), torch.zeros(2, 3).long())
    tally.update(torch.zeros(2, 4).long(), torch.tensor([[0, 0, 0, 0], [0, 0, 3, 0]]))
    assert refused(tally).message.startswith("target.flatten()[6] of update 1 is 3, which")


def test_logits_that_are_nan():
    logits, target, _ = example(shape=(2, 2, 3))
    logits[1, 2, 1, 0] = float("nan")
    tally = Tally(4)
    tally.update(logits, target)
    problem = refused(tally)
    assert problem.message.startswith("the logits of pred[1, 1, 0] of update 0 hold NaN")
    ignored = Tally(4, ignore_index=255)
    target[1, 1, 0] = 255
    ignored.update(logits, target)
    assert ignored.compute().rows == 11


def test_bad_rows_survive_storing_and_merging():
    bad = Tally(2)
    bad.update(torch.zeros(2, 2).long(), torch.zeros(2, 2).long())
    bad.update(torch.zeros(2, 2).long(), torch.tensor([[0, 0], [3, 0]]))
    for tally in (Tally(2), Tally(2)):
        tally.update(torch.zeros(2, 2).long(), torch.zeros(2, 2).long())
        tally.merge(bad)
        assert refused(tally).message.startswith("target[1, 0] of update 1 is 3, which")
        tally.load_state_dict(bad.state_dict())
        assert refused(tally).message.startswith("target[1, 0] of update 1 is 3, which")


def test_arguments_that_may_be_swapped():
    truth, answer = torch.tensor([[[0, 1, 255]], [[1, 0, 255]]]), torch.tensor([[[0, 1, 1]], [[1, 1, 0]]])
    for more in ({}, {"per_image": True}, {"names": ["road", "car"]}):
        tally = Tally(2, ignore_index=255, **more)
        tally.update(truth, answer)
        with pytest.warns(LabelWarning, match="`pred` has the ignored label 255 and `target` never has") as seen:
            wmcc.ecc(tally)
        assert len(seen) == 1
        assert "update takes the predictions first, and the target second." in str(seen[0].message)
        tally.reset()
        tally.update(answer, truth)  # as it says
        tally.update(truth, truth)  # void where it may be
        assert tally.compute().ignored == 4


def test_columns_that_may_be_outputs():
    target, pred = torch.randint(2, (2, 40, 3), generator=torch.Generator().manual_seed(0))
    target[0] = -1
    for classes in (2, 3):
        tally = Tally(classes, ignore_index=-1)
        tally.update(pred[:2], target[:2])
        tally.compute()  # two rows are too few to tell
        tally.update(pred, target)
        with pytest.warns(LabelWarning, match="3 columns of 0 and 1, and all of them are counted together") as seen:
            table = tally.compute()
        assert len(seen) == 1
        flat = Tally(classes, ignore_index=-1)
        flat.update(pred[:2].flatten(), target[:2].flatten())  # as the hint says
        flat.update(pred.flatten(), target.flatten())
        assert flat.compute().cells == table.cells
    images = Tally(2, ignore_index=-1, per_image=True)
    images.update(pred, target)
    images.compute()
    logits = Tally(2, ignore_index=-1)  # an axis of classes tells that the other is of one label
    logits.update(torch.stack([1 - pred, pred], 1).float(), target)
    logits.compute()
    more = Tally(3, ignore_index=-1)
    more.update(pred + 1, target + (target >= 0))  # they are not 0 and 1
    more.compute()


def test_one_hot_labels_are_seen_in_the_table():
    target = torch.nn.functional.one_hot(torch.randint(0, 4, (3, 5, 6)), 4).movedim(-1, 1)
    pred = torch.nn.functional.one_hot(torch.randint(0, 4, (3, 5, 6)), 4).movedim(-1, 1)
    for more in ({}, {"per_image": True}):
        tally = Tally(4, **more)
        tally.update(pred, target)
        assert "look one-hot" in refused(tally).message
        tally.reset()
        tally.update(pred.argmax(1), target.argmax(1))  # as the hint says
        tally.update(pred.flatten(1), target.flatten(1))
        assert tally.compute().rows == 90 + 360
    tally = Tally(2)
    outputs = torch.tensor([[[1, 0, 1], [1, 0, 0]], [[0, 1, 0], [1, 0, 1]]])  # as many ones as pixels, two on one
    tally.update(outputs, outputs)
    assert tally.compute().rows == 12
    volume = Tally(4)
    volume.update(torch.randint(0, 4, (2, 4, 3, 3)), torch.randint(0, 4, (2, 4, 3, 3)))
    assert volume.compute().rows == 72


# ---- sentences -------------------------------------------------------------------------------------------

T, L = torch.zeros((2, 3, 5), dtype=torch.int64), torch.zeros((2, 4, 3, 5))
H = torch.nn.functional.one_hot(T, 4).movedim(-1, 1)
S = H.clone()
S[1, :2, 2, 4] = 1  # the last of all pixels has two ones


@pytest.mark.parametrize(
    ("batch", "kind", "said", "hint"),
    [
        (([0, 1], T), InputTypeError, "`pred` is of type list; expected a tensor", "pass torch.as_tensor(pred)."),
        ((T, np.zeros(3)), InputTypeError, "`target` is of type ndarray", "pass torch.as_tensor(target)."),
        ((T, T.to_sparse()), InputTypeError, "`target` is a sparse tensor", "pass target.to_dense()."),
        ((T, T, torch.ones(2, 3, 5).to_sparse()), InputTypeError, "`weight` is a sparse", "pass weight.to_dense()."),
        ((L, T.float()), InputTypeError, "`target` has dtype torch.float32; labels must be", "pass target.long()."),
        ((L, H.half()), InputTypeError, "`target` has dtype torch.float16", "looks one-hot; pass target.argmax(1)."),
        ((L, H.to(torch.float8_e4m3fn)), InputTypeError, "`target` has dtype", "looks one-hot; pass target.argmax(1)."),
        ((L, H / 2), InputTypeError, "`target` has dtype torch.float32", "if axis 1 has probabilities of classes."),
        ((L, S.float()), InputTypeError, "`target` has dtype torch.float32", "pass target.long() if these are labels"),
        ((L, H), InputError, "looks one-hot, and labels were expected", "pass target.argmax(1)."),
        ((L, S), InputError, "one number per row does not say", "(pred > 0.5).long()"),
        ((H, T), InputError, "must have the same shape", "an axis of 4 looks one-hot; pass pred.argmax(1)."),
        ((T, H), InputError, "must have the same shape", "an axis of 4 looks one-hot; pass target.argmax(1)."),
        ((T, S), InputError, "must have the same shape; they have (2, 3, 5) and (2, 4, 3, 5)", ""),
        ((T.to("meta"), H.to("meta")), InputError, "must have the same shape", ""),
        ((T[:1], T), InputError, "they have (1, 3, 5) and (2, 3, 5)", None),
        ((T[0, 0, 0], T[0, 0, 0]), InputError, "`target` is a single value", None),
        ((T.to(torch.complex64), T), InputTypeError, "`pred` has dtype torch.complex64; expected labels", None),
        ((L[:, :3], T), InputError, "3 channels on axis 1, and `num_classes` is 4", "use `num_classes` 3."),
        ((torch.zeros(2, 6, 3, 5), T), InputError, "6 channels on axis 1", "pass pred[:, :4] if the others"),
        ((L.movedim(1, -1), T), InputError, "have shape (2, 4, 3, 5)", "pass pred.movedim(-1, 1)."),
        ((L[:1], T), InputError, "logits of 4 classes for this target", "classes are on axis 1"),
        ((T.float(), T), InputError, "one number per row", "(pred > 0.5).long()"),
        ((L[:, :1], T), InputError, "one number per row", "(pred.squeeze(1) > 0.5).long()"),
        (
            (T, T, 2.0),
            InputTypeError,
            "`weight` is of type float",
            "pass torch.as_tensor(weight, device=target.device).",
        ),
        ((T, T, torch.tensor(2.0)), InputError, "`weight` is a single value", "weight.expand(len(target))"),
        ((T, T, torch.ones(5)), InputError, "must have the shape of the target", "one map for all images, (3, 5)"),
        ((T, T, torch.ones(3)), InputError, "it has (3,)", "one weight per image, (2,)"),
        ((T, T, torch.ones(2, 3)), InputError, "it has (2, 3)", "give one weight per label"),
        ((T, T, torch.ones(2, 3, 5) * 1j), InputTypeError, "a weight must be a real number", None),
        ((T[0, 0], T[0, 0], torch.ones(4)), InputError, "it has (4,)", "give one weight per label, (5,)."),
        ((T.to("meta"), T), InputError, "`pred` is on meta, and `target` on cpu", "pass pred.to(target.device)."),
        ((T, T, torch.ones(2, device="meta")), InputError, "`weight` is on meta", "pass weight.to(target.device)."),
        ((T.to("meta"), T.to("meta")), InputError, "`target` is on the meta device, which holds no labels", None),
        ((L[0], T[0]), InputError, "logits of 4 classes for this target", "pass pred[None] and target[None]."),
        ((T, T, torch.ones(4)), InputError, "it has (4,)", "class, pass weight[target.long().clamp(0, 3)]."),
        ((T, T, torch.ones(2, 3, 5).to_sparse()), InputTypeError, "`weight` is a sparse tensor", "weight.to_dense()"),
        ((torch.nested.as_nested_tensor([T[0]], layout=torch.jagged), T), InputTypeError, "a nested tensor", "unbind"),
    ],
)
@pytest.mark.parametrize("per_image", [False, True])
def test_batches_that_are_refused(batch, kind, said, hint, per_image):
    tally = Tally(4, per_image=per_image)
    with pytest.raises(kind) as problem:
        tally.update(*batch)
    assert said in problem.value.message
    assert hint is None or (hint in problem.value.hint if hint else problem.value.hint is None)
    assert tally.compute().rows == 0


@pytest.mark.parametrize(
    ("shape", "own", "hint"),
    [
        ((5, 5), (5,), "pass weight[..., None] for the first axes, or weight[None] for the last."),
        ((5, 3, 5), (5,), "pass weight[..., None, None] for the first axes, or weight[None, None] for the last."),
        ((5, 5, 5), (5, 5), "pass weight[..., None] for the first axes, or weight[None] for the last."),
        ((5, 5, 3), (5, 1), "pass weight[..., None] for the first axes, or weight[None] for the last."),
    ],
)
def test_weights_that_fit_in_two_ways_are_refused(shape, own, hint):
    labels, weight = torch.zeros(shape, dtype=torch.int64), torch.rand(own)
    tally = Tally(2)
    with pytest.raises(InputError, match="fits the first and the last axes of the target") as problem:
        tally.update(labels, labels, weight)
    assert problem.value.hint == hint
    none = (None,) * (len(shape) - len(own))
    for form in (weight[(..., *none)], weight[none]):  # as the hint says
        tally.reset()
        tally.update(labels, labels, form)
        assert tally.compute() == wmcc.tabulate(labels, labels, form.expand(shape), labels=range(2))


@pytest.mark.parametrize("classes", [1, 0, -3, 2.0, True, "5", None])
def test_numbers_of_classes_that_are_refused(classes):
    with pytest.raises(InputError, match=r"`num_classes` is .*; expected an integer of at least 2"):
        Tally(classes)


def test_more_classes_than_fit():
    with pytest.raises(TooManyClassesError, match="at most 2,179 classes fit") as problem:
        Tally(10_000)
    assert problem.value.hint == "use wmcc.Accumulator on the CPU: it keeps only the cells that occur."
    tally = Tally(1000)
    with pytest.raises(TooManyClassesError, match="With float64 weights at most 841 classes fit"):
        tally.update(torch.tensor([1]), torch.tensor([1]), torch.tensor([1.0], dtype=torch.float64))


@pytest.mark.parametrize("ignore", ["void", True, 1 << 63, 2.5])
def test_ignored_labels_that_are_refused(ignore):
    with pytest.raises(InputError, match="ignore_index"):
        Tally(3, ignore_index=ignore)


def test_names_that_are_refused():
    for names in (["a", "b"], "abc", 3):
        with pytest.raises(InputError, match="expected a list of 3 names"):
            Tally(3, names=names)
    with pytest.raises(InputError, match="`names` has no name for the class 2"):
        Tally(3, names={0: "a", 1: "b"})
    with pytest.raises(InputError, match="names 'a' twice"):
        Tally(3, names=["a", "b", "a"])
    for key in (7, "x", None, -1):
        with pytest.raises(InputError, match=r"`names` has the key .*; expected classes from 0 to 1"):
            Tally(2, names={0: "a", 1: "b", key: "c"})
    assert Tally(2, ignore_index=9, names={"0": "a", 1: "b", 9: "void"}).names == {0: "a", 1: "b", 9: "void"}


def test_ids_that_are_refused():
    labels = torch.zeros((2, 3), dtype=torch.int64)
    with pytest.raises(InputError, match="does not keep images apart") as problem:
        Tally(2).update(labels, labels, image_ids=[1, 2])
    assert problem.value.hint == "make it with `per_image` True."
    tally = Tally(2, per_image=True)
    with pytest.raises(InputError, match="`image_ids` has 3 ids, and the batch 2 images"):
        tally.update(labels, labels, image_ids=[1, 2, 3])
    for ids in ("ab", 7, torch.zeros(2, 2)):
        with pytest.raises(InputTypeError, match="`image_ids` is of type"):
            tally.update(labels, labels, image_ids=ids)
    tally.update(labels, labels, image_ids=["a", "b"])
    with pytest.raises(InputError, match="comes without image_ids, and those before came with them"):
        tally.update(labels, labels)
    other = Tally(2, per_image=True)
    other.update(labels, labels)
    with pytest.raises(InputError, match="comes with image_ids, and those before came without"):
        other.update(labels, labels, image_ids=["a", "b"])
    with pytest.raises(InputError, match="images have ids in one tally, and none in another"):
        tally.merge(other)
    tally.update(labels, labels, image_ids=[3, 4])
    with pytest.raises(InputError, match="the clusters are text in one and numbers in another"):
        tally.compute()
    mixed = Tally(2, per_image=True)
    mixed.update(labels, labels, image_ids=["a", 3])
    with pytest.raises(InputTypeError, match="image_ids holds keys of mixed types"):
        mixed.compute()
    missing = Tally(2, per_image=True)
    missing.update(labels, labels, image_ids=["a", None])
    with pytest.raises(InputError, match="an id among `image_ids` is missing"):
        missing.compute()


def test_tallies_that_cannot_be_merged():
    tally = Tally(3)
    with pytest.raises(InputTypeError, match="`other` is of type dict"):
        tally.merge({})
    with pytest.raises(InputError, match="cannot be merged with itself"):
        tally.merge(tally)
    with pytest.raises(InputError, match="the other tally has `num_classes` 4, and this one `num_classes` 3"):
        tally.merge(Tally(4))
    with pytest.raises(InputError, match=r"torch.distributed is not initialized"):
        tally.all_reduce()


class Elsewhere:
    """A device that wmcc does not count on."""

    type = "mps"

    def __str__(self):
        return "mps:0"


def test_other_devices_are_warned_of_once(monkeypatch):
    monkeypatch.setattr(counting, "_WARNED", set())
    logits, target, weight = example()
    tally = Tally(4)
    rows = counting.Rows(target, logits.argmax(1), weight)
    problem = counting.on_cuda(tally._state, tally.updates, tally._scratch, rows, 4, None)  # the CPU is none either
    with pytest.warns(UserWarning, match="labels on mps:0") as said:
        counting.warn_of_host(Elsewhere(), problem)
    assert str(said[0].message) == (
        "labels on mps:0 are copied to the CPU and counted there: wmcc counts on NVIDIA GPUs and on CPUs only. The "
        "table is the same to the last bit, but each update waits for the device, and takes some milliseconds for a "
        "million pixels. What helps: batches that are on the CPU already save the copy."
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        counting.warn_of_host(Elsewhere(), problem)


def test_arrays_are_told_of_the_tally():
    """What wmcc.tabulate says of a tensor on a GPU, which has no such tensor here."""
    tensor = SimpleNamespace(device=torch.device("cuda:0"))
    with pytest.raises(InputTypeError, match="y_true is a tensor on cuda:0") as problem:
        _from_torch(tensor, "y_true")
    assert problem.value.hint == "pass tensor.cpu(); or count on the device, with wmcc.adapters.torch.Tally."


def emulated(todo, pointers, device, stream):
    """What launches on a GPU do, on the CPU: all they know are pointers, types and numbers."""
    _, kinds, aligned, rows, items, weight_step, classes, ignore, planes, apart = todo
    truth, pred, weight = zip(pointers[:3], kinds, strict=True)
    assert aligned is not any(pointer % 16 for pointer in pointers[:3])
    state = dict(zip(("digits", "least", "most", "counts", "first", "updates"), pointers[3:9], strict=True))

    def numbers(pointer, kind, count):
        kind = {"bfloat16": "int16"}.get(kind, kind)
        size = count * np.dtype(kind).itemsize
        return np.frombuffer((ctypes.c_char * size).from_address(pointer), kind) if count else np.zeros(0, kind)

    total, cells, D = rows * items, classes * (classes + 1), 1 + planes[0] + planes[1]
    assert planes == {30: (10, 19, -160), 201: (67, 133, -1088)}[D]
    t, p = (numbers(*own, total).reshape(items, rows) for own in (truth, pred))
    w = None
    if weight[1] is not None:
        w = numbers(*weight, total if weight_step else rows).reshape(-1, rows)
        if weight[1] == "bfloat16":
            w = (w.astype(np.int32) << 16).view(np.float32)
        w = w.astype(np.float64 if weight[1] == "float64" else np.float32)
    assert weight_step in ((0, rows) if weight[1] else (0,))
    several = items if apart else 1
    digits = numbers(state["digits"], "int64", several * D * cells).reshape(several, D, cells)
    least, most = (numbers(state[x], "int64", several * cells).reshape(several, cells) for x in ("least", "most"))
    counts, first = numbers(state["counts"], "int64", 4), numbers(state["first"], "int64", 9).reshape(3, 3)
    updates = numbers(state["updates"], "int64", 1)
    for k in range(several):
        own = slice(k, k + 1) if apart else slice(None)
        held = w if w is None or not weight_step else w[own]
        one = Planes(digits[k], least[k], most[k], counts, first)
        add_rows(one, t[own], p[own], held, classes, ignore, int(updates[0]))
    updates += 1


def test_a_batch_is_counted_the_short_way_only_where_all_is_alike(monkeypatch):
    """What was checked for one batch holds for the next while neither the batches nor the sums change."""
    logits, target, weight = example()
    pred, wide = logits.argmax(1), filled(torch.float64)[0]
    short = []
    monkeypatch.setattr(counting.Repeat, "add", lambda *own: not short.append(own))
    tally = Tally(4)

    def repeated(pred=pred, target=target, weight=weight):
        short.clear()
        tally.update(pred, target, weight)
        return bool(short)

    def prepare():
        tally._repeat = counting.Repeat(counting.likeness(pred, target, weight, tally.digits, 4, None), (), 0)

    prepare()
    assert repeated()
    assert repeated(pred.flip(0), target.clone(), weight * 2)
    assert not repeated(pred.int())
    assert not repeated(target=target.int())
    assert not repeated(weight=None)
    assert not repeated(weight=weight[0])
    assert not repeated(pred[:2], target[:2], weight[:2])
    assert not repeated(weight=weight.half())
    tally.ignore_index = 3
    assert not repeated()
    tally.ignore_index = None
    assert repeated()
    bare = {name: x for name, x in wide.state_dict().items() if name != "_extra_state"}
    for widen in (
        lambda: tally.merge(wide),
        lambda: tally.load_state_dict(bare, strict=False),
        lambda: tally.update(pred, target, weight.double()),
    ):
        tally.digits = Tally(4).digits
        prepare()
        assert repeated()
        widen()
        assert not repeated()
    assert copy.deepcopy(tally)._repeat is None


def test_what_is_in_memory_as_it_is_read():
    labels, weight = torch.zeros(2, 4, dtype=torch.uint8), torch.ones(2, 4)
    assert counting._is_plain(labels, labels, None)
    assert counting._is_plain(labels, labels, weight)
    assert not counting._is_plain(labels.mT.contiguous().mT, labels, weight)
    assert not counting._is_plain(labels, labels[:, ::2], weight)
    assert not counting._is_plain(labels, labels, weight[:1].expand(2, 4))
    assert not counting._is_plain(labels, labels, torch._neg_view(-weight))
    assert counting.Repeat.of(counting.Rows(labels[:0], labels[:0], None), Tally(2).digits, 2, None) is None


@pytest.mark.parametrize("dtype", WEIGHTS)
@pytest.mark.parametrize("label", LABELS)
def test_what_a_gpu_is_told(dtype, label, monkeypatch):
    """Pointers, types and strides, each item by itself or all together; a launch on the CPU takes the GPU's place."""
    monkeypatch.setattr("wmcc.core.kernel.cuda.steps", lambda *args: args)
    monkeypatch.setattr("wmcc.core.kernel.cuda.run", emulated)
    monkeypatch.setattr("wmcc.core.kernel.cuda.queue_words", lambda *_: 0)
    monkeypatch.setattr(counting, "_stream", lambda _: 0)
    logits, target, weight = example()
    target[0, 0] = 255 if label is torch.uint8 else -1
    ignore = int(target[0, 0, 0])
    pred = logits.argmax(1)
    for own in [None] if dtype is None else [weight.to(dtype), weight[0].to(dtype), weight[:, 0, 0].to(dtype)]:
        rows = batches_of.rows_of(pred.to(label), target.to(label), own, 4)
        held = None if own is None else rows.weight.expand(target.shape)
        table = replace(tabulated(target, pred, held, classes=4, ignore=ignore), drawn=ROWS)  # update notes the shape
        tally = Tally(4, ignore_index=ignore)
        if dtype is torch.float64:
            tally._widen()
        for times in range(1, 3):
            counting._launch(tally._state, tally.updates, tally._scratch, rows, 4, ignore, False)
            assert int(tally.updates) == times
        assert tally.compute() == table + table
        several = Tally(4, ignore_index=ignore, per_image=True)
        layout = planes.WIDE if dtype is torch.float64 else planes.NARROW
        sums = tally_of._sums_on(target.device, 3, 4, layout)
        state = planes.Planes(*sums, several.counts, several.first)
        counting._launch(state, several.updates, several._scratch, rows, 4, ignore, True)
        several._images.add_on_device(state, several._images.keys(None, 3))
        assert several.compute() == tabulated(target, pred, held, classes=4, ignore=ignore, cluster=range(3))


def test_the_queue_is_held_until_the_launch(monkeypatch):
    """Memory that is free again could be another thread's before the kernel uses it."""

    class Memory:
        def data_ptr(self):
            return 1 << 20

    held = []

    def queue(*_):
        memory = Memory()
        held.append(weakref.ref(memory))
        return memory

    def run(todo, pointers, device, stream):
        assert pointers[-1] == 1 << 20
        assert held[-1]() is not None

    monkeypatch.setattr(counting, "_queue", queue)
    monkeypatch.setattr(counting, "_stream", lambda _: 0)
    monkeypatch.setattr("wmcc.core.kernel.cuda.run", run)
    tally, labels = Tally(200), torch.zeros(8, dtype=torch.int64)
    assert counting.Repeat((), (), 5).add(tally._state, tally.updates, tally._scratch, labels, labels, None)
    assert len(held) == 1


def test_images_on_a_device_are_moved_when_they_take_much_memory(monkeypatch):
    """Sums of images as a device holds them; here they are on the CPU."""
    logits, target, weight = example()
    pred = logits.argmax(1)
    states = []
    for t, p, w in zip(target, pred, weight, strict=True):
        own = Tally(4)
        own.update(p[None], t[None], w[None])
        states.append(own._state)
    state = planes.Planes(*(torch.stack(own) for own in zip(*states, strict=True)))
    expected = tabulated(target, pred, weight, classes=4, cluster=["a", "b", "c"])
    for most, kept in ((1 << 28, 1), (1, 0)):
        monkeypatch.setattr(images, "IMAGE_BYTES", most)
        held = images.TalliedImages(4, None)
        held.add_on_device(state, held.keys(["a", "b", "c"], 3))
        assert len(held._chunks) == kept
        assert held.table == expected


# ---- processes -------------------------------------------------------------------------------------------


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers, self.tally = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)), Tally(4)

    def forward(self, x):
        return self.layers(x)


def _process(rank, size, file, out):
    torch.set_num_threads(1)
    dist = torch.distributed
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=size)
    found = {}
    for name, more in {"plain": {}, "images": {"per_image": True}, "ids": {"per_image": True}}.items():
        tally = Tally(4, ignore_index=3, **more)
        for step in range(2):
            logits, target, weight = example(10 * rank + step)
            weight = weight.double() if rank else weight  # one process is wide, and one is narrow
            ids = {"image_ids": [f"{k}" for k in range(rank, rank + 3)]} if name == "ids" else {}
            tally.update(logits, target, weight, **ids)
        tally.all_reduce()
        found[name] = tally.compute()
        with pytest.raises(InputError, match="holds the sum of all processes already"):
            tally.all_reduce()
        tally.reset()
        tally.all_reduce()
        assert tally.compute().rows == 0
    bad = Tally(4)
    bad.update(*(torch.tensor([[0, 5 * rank]]) for _ in range(2)))
    bad.all_reduce()
    found["bad"] = refused(bad).message
    with pytest.raises(InputError, match=r"the tally of process [01] has `num_classes`"):
        Tally(4 + rank).all_reduce()
    model = Model()
    wrapped = torch.nn.parallel.DistributedDataParallel(model)
    for step in range(2):  # each forward pass overwrites buffers with those of the first process
        model.tally.update(*example(10 * rank + step))
        wrapped(torch.randn(4, 2)).sum().backward()
    model.tally.all_reduce()
    found["ddp"] = model.tally.compute()
    Path(f"{out}{rank}").write_bytes(pickle.dumps(found))
    del wrapped  # before the group: the last to hold it would wait, with the lock of Python, for a thread that wants it
    dist.destroy_process_group()


@pytest.mark.slow
def test_processes_add_up(tmp_path):
    torch_processes.run(_process, (2, tmp_path / "store", str(tmp_path / "found")))
    one, other = (pickle.loads((tmp_path / f"found{rank}").read_bytes()) for rank in range(2))
    assert one == other

    def total(key=None, ignore=3, wide=True):
        tables = []
        for rank in range(2):
            for step in range(2):
                logits, target, weight = example(10 * rank + step)
                weight = weight.double() if rank and wide else weight
                own = {} if key is None else {"cluster": [key(rank, step, k) for k in range(3)]}
                tables.append(tabulated(target, logits.argmax(1), weight, classes=4, ignore=ignore, **own))
        return wmcc.merge(tables)

    assert one["plain"] == total()
    assert one["images"] == total(lambda rank, step, k: 2 * (3 * step + k) + rank)
    assert one["ids"] == total(lambda rank, step, k: f"{rank + k}")
    assert one["ddp"] == total(ignore=None)
    assert one["bad"].startswith("target[0, 1] of update 0 is 5, which is not among the classes 0 to 3.")
