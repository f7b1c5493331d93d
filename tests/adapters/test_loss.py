"""The training loss: its values at hard predictions, its gradients, and what it does where scores are undefined."""

import math
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT
from torch.utils._python_dispatch import TorchDispatchMode

import wmcc
from wmcc.adapters.torch import CorrelationLoss, correlation_loss
from wmcc.adapters.torch.loss import BLOCK, CHUNK, VALUES
from wmcc.errors import InputError, InputTypeError, LabelError, LabelWarning, WeightError

torch.set_num_threads(1)

MEASURES = sorted(VALUES)
CORRELATIONS = ["ecc", "mpc1", "mpc2"]


def drawn(seed, classes, shape=(2, 5, 6), dtype=torch.float64, void=True):
    """Logits, truth with void pixels, and weights of many sizes."""
    g = torch.Generator().manual_seed(seed)
    logits = torch.randn(shape[0], classes, *shape[1:], generator=g, dtype=dtype)
    target = torch.randint(0, classes, shape, generator=g)
    if void:
        target[torch.rand(shape, generator=g) < 0.2] = 255
    weight = (2 * torch.randn(shape, generator=g, dtype=dtype)).exp()
    return logits, target, weight


def one_hot(pred, classes, dtype=torch.float64):
    return torch.nn.functional.one_hot(pred, classes).movedim(-1, 1).to(dtype)


def exact(measure, pred, target, weight, classes, ignore=255):
    labels = [k for k in range(classes) if k != ignore]
    table = wmcc.tabulate(target.numpy(), pred.numpy(), weight.numpy(), labels=labels, ignore=ignore)
    return getattr(wmcc, measure)(table)


def classes_of(measure):
    return 2 if measure == "mcc" else 4


# ---- values ---------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.sampled_from(MEASURES), st.integers(2, 6), st.sampled_from([None, 255, 0]))
def test_hard_predictions_have_the_exact_score(seed, measure, classes, ignore):
    if measure == "mcc":
        classes = 2
    _, target, weight = drawn(seed, classes)
    target[target == 255] = 255 if ignore == 255 else 0
    target[0, 0, :2] = torch.tensor([1, 1])  # something counts
    g = torch.Generator().manual_seed(seed)
    some = torch.randperm(classes, generator=g)[: torch.randint(1, classes + 1, (), generator=g)]
    pred = some[torch.randint(0, len(some), target.shape, generator=g)]  # some classes are never predicted
    score = exact(measure, pred, target, weight, classes, ignore)
    options = {"measure": measure, "ignore_index": ignore}
    loss = correlation_loss(one_hot(pred, classes), target, weight, from_logits=False, **options)
    assert loss.item() == pytest.approx(1 - score, abs=2e-14)
    loss = correlation_loss(one_hot(pred, classes) * 2000, target, weight, **options)
    assert loss.item() == pytest.approx(1 - score, abs=2e-14)
    loss = correlation_loss(one_hot(pred, classes, torch.float32) * 200, target, weight.float(), **options)
    assert loss.item() == pytest.approx(1 - score, abs=2e-6)
    assert loss.dtype == torch.float32


@pytest.mark.parametrize("measure", MEASURES)
def test_soft_tables_by_hand(measure):
    """Σ w t p as it is written, and the registry's own formula of it."""
    K = classes_of(measure)
    logits, target, weight = drawn(3, K)
    p = logits.softmax(1)
    cells = np.zeros((K, K))
    for b, i, j in np.ndindex(*target.shape):
        if target[b, i, j] != 255:
            cells[target[b, i, j]] += weight[b, i, j].item() * p[b, :, i, j].numpy()
    from wmcc.measures import MEASURES as REGISTRY
    from wmcc.measures.base import Shares

    expected = REGISTRY[measure].near(Shares.of_cells(cells))
    loss = correlation_loss(logits, target, weight, measure=measure, ignore_index=255)
    assert loss.item() == pytest.approx(1 - float(expected), abs=1e-13)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_loss_falls_when_the_score_rises(measure):
    """A loss of another library had the sign wrong, and its networks learned to be wrong."""
    K = classes_of(measure)
    _, target, weight = drawn(4, K, void=False)
    right, wrong = one_hot(target, K), one_hot((target + 1) % K, K)
    losses = [
        correlation_loss(share * right + (1 - share) * wrong, target, weight, measure=measure, from_logits=False).item()
        for share in (0.0, 0.3, 0.6, 1.0)
    ]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == pytest.approx(0, abs=1e-14)
    logits = torch.zeros_like(right, requires_grad=True)
    for _ in range(100):
        loss = correlation_loss(logits, target, weight, measure=measure)
        (slope,) = torch.autograd.grad(loss, logits)
        logits = (logits - 20 * slope).detach().requires_grad_()
    assert exact(measure, logits.detach().argmax(1), target, weight, K) > 0.9


def test_two_classes_have_one_correlation():
    logits, target, weight = drawn(5, 2)
    mcc, *others = (
        correlation_loss(logits, target, weight, measure=m, ignore_index=255) for m in ("mcc", *CORRELATIONS)
    )
    assert torch.stack(others).numpy() == pytest.approx(mcc.item(), abs=1e-14)


def test_one_logit_per_pixel_is_that_of_class_one():
    logits, target, weight = drawn(6, 2)
    one = logits[:, 1] - logits[:, 0]
    expected = correlation_loss(logits, target, weight, ignore_index=255)
    for pred, truth, w in [
        (one, target, weight),
        (one[:, None], target, weight),
        (one[:, None], target[:, None], weight),
        (one, target[:, None], weight),
        (one[:, None], target[:, None], weight[:, None]),
        (logits, target[:, None], weight[:, None]),
    ]:
        assert correlation_loss(pred, truth, w, ignore_index=255).item() == pytest.approx(expected.item(), abs=1e-15)
    found = correlation_loss(one.sigmoid(), target, weight, ignore_index=255, from_logits=False)
    assert found.item() == pytest.approx(expected.item(), abs=1e-14)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool])
def test_targets_of_any_integers(dtype):
    logits, target, weight = drawn(7, 2, void=False)
    expected = correlation_loss(logits, target, weight, ignore_index=-1)
    assert correlation_loss(logits, target.to(dtype), weight, ignore_index=-1) == expected


def test_void_of_small_integers_does_not_wrap():
    """Torch finds 255 of uint8 equal to -1."""
    logits, target, _ = drawn(8, 2)
    with pytest.raises(LabelError, match="`target` is 255"):
        correlation_loss(logits, target.to(torch.uint8), ignore_index=-1)


@pytest.mark.parametrize("shape", [(5, 6), (1, 6), (2,), (2, 1, 1), (2, 5, 1), (1, 1, 1), (2, 1, 5, 6)])
def test_weights_broadcast(shape):
    logits, target, _ = drawn(9, 3)
    weight = torch.rand(shape, dtype=torch.float64) + 0.1
    full = weight.reshape(2, 1, 1) if shape == (2,) else weight.squeeze(1) if len(shape) == 4 else weight
    full = full.expand(2, 5, 6)
    expected = correlation_loss(logits, target, full, ignore_index=255)
    assert correlation_loss(logits, target, weight, ignore_index=255) == expected


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.int32, torch.bool])
def test_weights_of_any_numbers(dtype):
    logits, target, weight = drawn(10, 3)
    weight = weight.clamp(max=60000).to(dtype)
    expected = correlation_loss(logits, target, weight.double(), ignore_index=255)
    found = correlation_loss(logits, target, weight, ignore_index=255)
    assert found.item() == pytest.approx(expected.item(), abs=1e-6)


def test_any_number_of_axes_and_any_layout():
    logits, target, weight = drawn(11, 3, (2, 4, 6, 5))
    expected = correlation_loss(logits, target, weight, ignore_index=255).item()
    planes = correlation_loss(logits.flatten(3), target.flatten(2), weight.flatten(2), ignore_index=255)
    rows = correlation_loss(logits.movedim(1, -1).reshape(-1, 3), target.flatten(), weight.flatten(), ignore_index=255)
    last = logits.contiguous(memory_format=torch.channels_last_3d)
    assert planes.item() == pytest.approx(expected, abs=1e-14)
    assert rows.item() == pytest.approx(expected, abs=1e-14)
    assert correlation_loss(last, target, weight, ignore_index=255).item() == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("pixels", [1, BLOCK - 1, BLOCK, BLOCK + 1, CHUNK // 3 + BLOCK + 7])
def test_blocks_add_up(pixels):
    """Sums by blocks and chunks are those of one product; batches are cut at other places."""
    g = torch.Generator().manual_seed(pixels)
    p = torch.rand(1, 3, pixels, generator=g, dtype=torch.float64)
    target, weight = torch.randint(0, 3, (1, pixels), generator=g), torch.rand(1, pixels, generator=g).double()
    from wmcc.adapters.torch.loss import _sums

    expected = (torch.nn.functional.one_hot(target[0], 3).T * weight) @ p[0].T
    assert torch.allclose(_sums(p, target, weight, True)[0], expected, rtol=1e-12, atol=0)


def test_images_have_losses_of_their_own():
    logits, target, weight = drawn(12, 3, (3, 6, 6))
    target[1] = 255
    weight[2] *= 1e-100
    own = [correlation_loss(logits[b : b + 1], target[b : b + 1], weight[b : b + 1], ignore_index=255) for b in (0, 2)]
    mean = correlation_loss(logits, target, weight, ignore_index=255, per_image=True)
    assert mean.item() == pytest.approx((own[0] + own[1]).item() / 2, abs=1e-14)  # the image without weight is left out
    narrow = correlation_loss(logits.float(), target, weight, ignore_index=255, per_image=True)
    assert narrow.item() == pytest.approx(mean.item(), abs=1e-6)
    whole = correlation_loss(logits, target, weight, ignore_index=255)
    assert whole.item() == pytest.approx(own[0].item(), abs=1e-14)  # the third weighs nothing beside the first


@pytest.mark.parametrize("unit", [1e-300, 1e-30, 1e30, 1e300])
def test_the_unit_of_weights_does_not_matter(unit):
    logits, target, weight = drawn(13, 3)
    expected = correlation_loss(logits, target, weight, ignore_index=255)
    found = correlation_loss(logits.float(), target, weight * unit, ignore_index=255)
    assert found.item() == pytest.approx(expected.item(), abs=1e-6)


# ---- gradients ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("per_image", [False, True])
@pytest.mark.parametrize("measure", MEASURES)
def test_gradients(measure, per_image):
    K = classes_of(measure)
    logits, target, weight = drawn(20, K, (2, 2, 2))
    target[target == K - 1] = 0 if K > 2 else 1  # class K - 1 is absent where there are more than two
    target[:, 0, :2] = torch.tensor([0, 1])
    options = {"measure": measure, "ignore_index": 255, "per_image": per_image}
    logits.requires_grad_()

    def loss(x):
        return correlation_loss(x, target, weight, **options)

    assert torch.autograd.gradcheck(loss, (logits,))
    assert torch.autograd.gradgradcheck(loss, (logits,))
    p = logits.detach().softmax(1).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: correlation_loss(x, target, weight, from_logits=False, **options), (p,))
    if K == 2:
        one = logits.detach()[:, 0].requires_grad_()
        assert torch.autograd.gradcheck(loss, (one,))
        assert torch.autograd.gradgradcheck(loss, (one,))


def test_gradients_over_several_chunks(monkeypatch):
    """The chunks are made small, so that a few pixels are many of them."""
    from wmcc.adapters.torch import loss as module

    logits, target, weight = drawn(21, 3, (2, 1, 7))
    expected = correlation_loss(logits, target, weight, ignore_index=255)
    monkeypatch.setattr(module, "BLOCK", 4)
    monkeypatch.setattr(module, "CHUNK", 30)
    logits.requires_grad_()
    assert correlation_loss(logits, target, weight, ignore_index=255).item() == pytest.approx(
        expected.item(), abs=1e-15
    )
    assert torch.autograd.gradgradcheck(lambda x: correlation_loss(x, target, weight, ignore_index=255), (logits,))


@pytest.mark.parametrize("measure", MEASURES)
def test_gradients_are_those_of_the_exact_measure(measure):
    """∂loss/∂p of a pixel is minus its weight times the measure's own gradient in the row of its truth."""
    K = classes_of(measure)
    logits, target, weight = drawn(22, K, void=False)
    pred = logits.argmax(1)
    p = one_hot(pred, K).requires_grad_()
    correlation_loss(p, target, weight, measure=measure, from_logits=False).backward()
    table = wmcc.tabulate(target.numpy(), pred.numpy(), weight.numpy(), labels=range(K))
    slope = torch.from_numpy(getattr(wmcc, measure).gradient(table))
    expected = -(slope[target] * weight[..., None]).movedim(-1, 1)
    assert torch.allclose(p.grad, expected, rtol=1e-10, atol=1e-13)


def losses_and_slopes(logits, target, weight=None, **options):
    logits = logits.detach().requires_grad_()
    loss = correlation_loss(logits, target, weight, **options)
    loss.backward()
    return loss.item(), logits.grad


@pytest.mark.parametrize("per_image", [False, True])
@pytest.mark.parametrize("measure", MEASURES)
def test_nothing_that_counts(measure, per_image):
    """Void pixels alone, no weight, no pixels, no images: training goes on."""
    K = classes_of(measure)
    logits, target, weight = drawn(23, K)
    options = {"measure": measure, "ignore_index": 255, "per_image": per_image}
    void = torch.full_like(target, 255)
    for loss, slope in [
        losses_and_slopes(logits, void, torch.full_like(weight, torch.nan), **options),
        losses_and_slopes(logits, void, **options),
        losses_and_slopes(logits, target, 0 * weight, **options),
        losses_and_slopes(logits[:, :, :0], target[:, :0], weight[:, :0], **options),
        losses_and_slopes(logits[:0], target[:0], weight[:0], **options),
    ]:
        assert loss == 0
        assert (slope == 0).all()


@pytest.mark.parametrize("measure", MEASURES)
def test_one_class_alone(measure):
    """A correlation with a constant is undefined: the score is 0, as of a table; a mean of IoU is not."""
    K = classes_of(measure)
    logits, target, weight = drawn(24, K, void=False)
    loss, slope = losses_and_slopes(logits, 0 * target, weight, measure=measure)
    if measure == "mean_iou":
        assert (slope[:, 0] < 0).all()
    else:
        assert loss == pytest.approx(1, abs=1e-13)
        assert slope.abs().max() < 1e-15
    hard = torch.zeros_like(logits)
    hard[:, 0] = 2000.0  # all are predicted one class, with probabilities of exactly 0 and 1
    for truth in (target, 0 * target):
        loss, slope = losses_and_slopes(hard, truth, weight, measure=measure)
        assert loss == pytest.approx(1 - exact(measure, 0 * target, truth, weight, K), abs=1e-14)
        assert slope.isfinite().all()


@pytest.mark.parametrize("measure", MEASURES)
def test_absent_classes(measure):
    logits, target, weight = drawn(25, 2)
    if measure != "mcc":
        logits = torch.cat([logits, logits - 1, logits - 2], 1)  # six classes, of which two occur
    loss, slope = losses_and_slopes(logits, target, weight, measure=measure, ignore_index=255)
    assert 0 < loss < 2
    assert slope.isfinite().all()
    assert (slope.abs().sum(1) > 0).sum() == (target != 255).sum()  # every pixel that counts is taught, and no other


@pytest.mark.parametrize("far", [5.0, 20.0, 80.0])
@pytest.mark.parametrize("measure", MEASURES)
def test_collapse_keeps_gradients_finite(measure, far):
    """Nearly all probability on one class, in float32: 1 − q is below its precision from a distance of 17 on."""
    K = classes_of(measure)
    logits, target, weight = drawn(26, K, dtype=torch.float32)
    logits[:, 0] += far
    loss, slope = losses_and_slopes(logits, target, weight, measure=measure, ignore_index=255)
    wide, exact_slope = losses_and_slopes(logits.double(), target, weight.double(), measure=measure, ignore_index=255)
    assert loss == pytest.approx(wide, abs=1e-5)
    assert slope.isfinite().all()
    # That of the class which takes all is minus the sum of the others, a difference of numbers near 1 to softmax.
    own, other = (x[:, 1:].double().flatten() for x in (slope, exact_slope))
    assert torch.allclose(own, other, rtol=1e-4, atol=1e-6 * other.abs().max().item())


@pytest.mark.parametrize("far", [-60.0, 20.0, 60.0])
def test_one_logit_keeps_the_digits_of_both_classes(far):
    logits, target, weight = drawn(26, 2, dtype=torch.float32)
    both = torch.stack([-logits[:, 0] - far / 2, logits[:, 0] + far / 2], 1)
    _, expected = losses_and_slopes(both.double(), target, weight.double(), ignore_index=255)
    _, slope = losses_and_slopes(2 * logits[:, 0] + far, target, weight, ignore_index=255)
    assert torch.allclose(slope.double(), expected[:, 1], rtol=1e-4, atol=1e-4 * expected.abs().max().item())


def test_a_class_that_is_void_can_be_predicted_and_is_wrong():
    """It is a column and no class: 4 of 6 pixels count, and two classes."""
    target, pred = torch.tensor([[0, 1, 2, 2, 1, 2]]), torch.tensor([[0, 0, 1, 2, 0, 2]])
    options = {"ignore_index": 0, "from_logits": False}
    for measure in (*CORRELATIONS, "mean_iou"):
        loss = correlation_loss(one_hot(pred, 3), target, measure=measure, **options)
        score = exact(measure, pred, target, torch.ones(target.shape), 3, 0)
        assert loss.item() == pytest.approx(1 - score, abs=1e-14)
    assert score == pytest.approx((0 + 2 / 3) / 2)


def test_what_is_not_a_number_is_seen():
    """Gradient scalers look for it; a loss of 0 or 1 would hide it."""
    logits, target, weight = drawn(27, 3)
    for bad in (torch.nan, torch.inf):
        for measure in (*CORRELATIONS, "mean_iou"):
            logits[0, 0, 0, 0] = bad
            assert math.isnan(correlation_loss(logits, target, weight, measure=measure, ignore_index=255))
    logits[0, 0, 0, 0] = -torch.inf  # a class that is ruled out
    assert correlation_loss(logits, target, weight, ignore_index=255).isfinite()


# ---- what is out of range ---------------------------------------------------------------------------------


class Waiting(TorchDispatchMode):
    """Refuses what makes the host wait for a device."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        assert func.name() not in ("aten::_local_scalar_dense", "aten::nonzero", "aten::equal"), func
        return func(*args, **(kwargs or {}))


def faulty():
    """Batches that are out of range, and two that are not."""
    logits, target, weight = drawn(40, 3, dtype=torch.float32)
    chances, inside = logits.softmax(1), target.clamp(max=2)
    where = torch.zeros(target.shape, dtype=torch.bool)
    where[1, 2, 3] = True
    target[where] = 1
    yield "fine", (logits, target, weight), {}
    yield "fine chances", (chances, target, weight), {"from_logits": False}
    for label in (3, -1, 254, 1 << 40):
        yield f"label {label}", (logits, target.masked_fill(where, label), weight), {}
    for bad in (-1.0, math.nan, math.inf):
        yield f"weight {bad}", (logits, target, weight.masked_fill(where, bad)), {}
    for bad in (-0.5, 1.5, 0.9, math.nan):
        yield f"chance {bad}", (chances.masked_fill(where[:, None], bad), target, weight), {"from_logits": False}
    yield "one-hot", (logits, one_hot(inside, 3, torch.int64)), {}


@pytest.mark.parametrize("per_image", [False, True])
def test_a_batch_out_of_range_has_no_loss_and_nothing_waits_to_see_it(per_image):
    for name, (pred, *rest), more in faulty():
        logits = pred.detach().clone().requires_grad_()
        with Waiting():
            loss = correlation_loss(logits, *rest, ignore_index=255, per_image=per_image, check=False, **more)
            loss.backward()
        if name.startswith("fine"):
            seen, logits.grad = logits.grad, None
            checked = correlation_loss(logits, *rest, ignore_index=255, per_image=per_image, **more)
            checked.backward()
            assert loss.item() == checked.item()
            assert (logits.grad == seen).all()
            continue
        assert loss.isnan(), name
        assert logits.grad.isnan().any(), name
        if name != "chance nan":  # NaN is no error of the caller's: the loss says it
            for check in (None, True):
                with pytest.raises(InputError):
                    correlation_loss(logits, *rest, ignore_index=255, per_image=per_image, check=check, **more)


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")  # of torch.compile itself
def test_compiled_in_one_graph():
    """The loss is that of eager mode, and NaN where it would be refused."""
    torch._dynamo.reset()
    compiled = torch.compile(CorrelationLoss("mpc2", ignore_index=255), fullgraph=True, backend="eager")
    logits, target, weight = drawn(41, 3, dtype=torch.float32)
    grads = []
    for criterion in (compiled, CorrelationLoss("mpc2", ignore_index=255)):
        own = logits.clone().requires_grad_()
        loss = criterion(own, target, weight)
        loss.backward()
        grads.append((loss.item(), own.grad))
    assert grads[0][0] == pytest.approx(grads[1][0], rel=1e-6)
    assert torch.allclose(grads[0][1], grads[1][1], rtol=1e-5, atol=1e-9)
    assert compiled(logits, target + 3, weight).isnan()


def test_transforms_of_functions():
    logits, target, weight = drawn(42, 3)
    own = logits.clone().requires_grad_()
    correlation_loss(own, target, weight, ignore_index=255).backward()
    found = torch.func.grad(lambda x: correlation_loss(x, target, weight, ignore_index=255))(logits)
    assert torch.equal(found, own.grad)


# ---- size and precision ---------------------------------------------------------------------------------


def test_a_large_image_in_float32():
    """4096 x 4096 pixels of which one in a million is of the rare class; sums of float32 would stop at 2²⁴."""
    size = 4096
    target = torch.zeros(1, size, size, dtype=torch.uint8)
    target.view(-1)[:: 1 << 20] = 1
    logits = torch.full((1, size, size), -3.0)
    logits.view(-1)[:: 1 << 19] = 3.0  # every second of these is right
    logits.requires_grad_()
    loss = correlation_loss(logits, target)
    loss.backward()
    rare, sure, n = 16, torch.sigmoid(torch.tensor(3.0, dtype=torch.float64)).item(), size * size
    tp, fp = rare * sure, rare * sure + (n - 2 * rare) * (1 - sure)
    fn, tn = rare * (1 - sure), rare * (1 - sure) + (n - 2 * rare) * sure
    score = (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    assert loss.item() == pytest.approx(1 - score, rel=1e-6)
    assert logits.grad.isfinite().all()
    assert (logits.grad.view(-1)[:: 1 << 20] < 0).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast(dtype):
    """Under autocast the network's output is half precision, and products of matrices would be."""
    logits, target, weight = drawn(28, 4, (1, 128, 128), torch.float32)
    scale = torch.ones(4, 1, 1, requires_grad=True)
    half = weight.clamp(max=6e4).to(dtype)
    with torch.autocast("cpu", dtype=dtype):
        output = logits.to(dtype) * scale.to(dtype)  # what a layer gives
        loss = correlation_loss(output, target, half, ignore_index=255)
    assert output.dtype == dtype
    assert loss.dtype == torch.float32
    expected = correlation_loss(output.detach().double(), target, half.double(), ignore_index=255)
    assert loss.item() == pytest.approx(expected.item(), abs=1e-6)
    loss.backward()
    assert scale.grad.isfinite().all()
    assert scale.grad.abs().max() > 0


def test_memory_is_a_small_multiple_of_the_logits():
    """What autograd keeps from one pass to the other: probabilities, int64 truth and weights."""
    logits, target, weight = drawn(29, 19, (1, 128, 128), torch.float32)
    kept = {}

    def keep(x):
        kept[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
        return x

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
        correlation_loss(logits.requires_grad_(), target, weight, ignore_index=255)
    assert sum(kept.values()) < 1.3 * logits.untyped_storage().nbytes()


# ---- the module -----------------------------------------------------------------------------------------


def test_the_module_is_the_function():
    logits, target, weight = drawn(30, 3)
    criterion = CorrelationLoss("mpc2", ignore_index=255, per_image=True)
    expected = correlation_loss(logits, target, weight, measure="mpc2", ignore_index=255, per_image=True)
    assert criterion(logits, target, weight) == expected
    soft = CorrelationLoss("mpc1", ignore_index=255, from_logits=False)
    expected = correlation_loss(logits, target, weight, measure="mpc1", ignore_index=255)
    assert soft(logits.softmax(1), target, weight).item() == pytest.approx(expected.item(), abs=1e-15)
    assert not list(criterion.state_dict())


# ---- what is refused ------------------------------------------------------------------------------------


def test_refusals_say_what_to_do():
    logits, target, weight = drawn(31, 3)
    filled = target.masked_fill(target == 255, 0)
    cases = [
        (InputError, "the loss is there for mcc, ecc", lambda: CorrelationLoss("accuracy")),
        (InputError, "MCC is for two classes; `pred` has 3", lambda: correlation_loss(logits, filled, measure="mcc")),
        (InputTypeError, "expected floating logits", lambda: correlation_loss(target, target)),
        (InputTypeError, r"target\.long\(\)", lambda: correlation_loss(logits, filled.double())),
        (InputTypeError, "`pred` is of type ndarray", lambda: correlation_loss(logits.numpy(), target)),
        (InputError, "one-hot", lambda: correlation_loss(logits, one_hot(filled, 3).long())),
        (InputError, r"movedim\(-1, 1\)", lambda: correlation_loss(logits.movedim(1, -1), filled)),
        (LabelError, "`ignore_index` 255", lambda: correlation_loss(logits, target)),
        (LabelError, "`target` is -1 at", lambda: correlation_loss(logits, filled - 1)),
        (WeightError, "`weight` is -0.5 at", lambda: correlation_loss(logits, filled, 0 * weight - 0.5)),
        (WeightError, "`weight` is nan at", lambda: correlation_loss(logits, filled, weight * torch.nan)),
        (WeightError, "`weight` is inf at", lambda: correlation_loss(logits, filled, weight + torch.inf)),
        (InputError, r"the target, \(2, 5, 6\)", lambda: correlation_loss(logits, filled, weight[0, 0])),
        (InputError, r"detach", lambda: correlation_loss(logits, filled, weight.requires_grad_())),
        (InputTypeError, "`weight` is of type list", lambda: correlation_loss(logits, filled, [1.0])),
        (InputError, "no probability", lambda: correlation_loss(logits, filled, from_logits=False)),
        (InputError, "no probability", lambda: correlation_loss(logits.sigmoid(), filled, from_logits=False)),
        (InputError, "needs images", lambda: correlation_loss(logits[..., 0, 0], filled[:, 0, 0], per_image=True)),
        (InputError, "`target` is on meta", lambda: correlation_loss(logits, filled.to("meta"))),
        (InputError, "`ignore_index` is '255'", lambda: correlation_loss(logits, filled, ignore_index="255")),
        (InputTypeError, r"`ignore_index` is \[0, 1\]", lambda: CorrelationLoss(ignore_index=[0, 1])),
        (InputTypeError, "`pred` is a sparse tensor", lambda: correlation_loss(logits.to_sparse(), filled)),
        (InputError, r"pass pred\[None\] and target\[None\]", lambda: correlation_loss(logits[0], filled[0])),
        (InputError, r"\[target.long\(\).clamp\(0, 2\)\]", lambda: correlation_loss(logits, filled, torch.ones(3))),
    ]  # fmt: skip
    for kind, words, call in cases:
        with pytest.raises(kind, match=words):
            call()
    square = torch.rand(5, 5)
    with pytest.raises(InputError, match="first and the last"):
        correlation_loss(torch.zeros(5, 3, 5, 5), torch.zeros(5, 5, 5, dtype=torch.long), square)


def test_hints_can_be_followed():
    logits, target, weight = drawn(32, 3, void=False)
    expected = correlation_loss(logits, target, weight)
    assert correlation_loss(logits.movedim(1, -1).movedim(-1, 1), target, weight) == expected
    assert correlation_loss(logits, one_hot(target, 3).long().argmax(1), weight) == expected
    by_class, void = torch.tensor([1.0, 5.0, 2.0]), target.masked_fill(target == 2, 255).to(torch.uint8)
    own = correlation_loss(logits, void, by_class[void.long().clamp(0, 2)], ignore_index=255)
    assert own == correlation_loss(logits, void, 1.0 + 4.0 * (void == 1), ignore_index=255)
    single = correlation_loss(logits[0][None], target[0][None])
    assert single == correlation_loss(logits[:1], target[:1])
    lines = torch.zeros(1, 4, 6, dtype=torch.long)
    lines[0, 1] = 1  # a mask with a single 1 in each column, which looks one-hot
    pred = torch.randn(1, 4, 6)
    with pytest.raises(InputError, match="masks of two classes"):
        correlation_loss(pred, lines)
    flat = correlation_loss(pred.flatten(), lines.flatten())
    assert correlation_loss(pred[:, None], lines[:, None]).item() == pytest.approx(flat.item(), abs=1e-6)


def test_columns_that_may_be_outputs():
    target = (torch.rand(50, 3) < torch.tensor([0.02, 0.5, 0.98])).long()
    pred = torch.tensor([-9.0, 0.5, 9.0]).expand(50, 3)  # which says nothing about any column
    with pytest.warns(LabelWarning, match="the loss is 1 minus the micro average over 3 outputs") as seen:
        pooled = correlation_loss(pred, target)
    assert len(seen) == 1
    assert pooled < 0.5
    assert correlation_loss(pred.flatten(), target.flatten()) == pytest.approx(pooled.item(), abs=1e-6)  # as it says
    assert sum(correlation_loss(pred[:, k], target[:, k]) for k in range(3)) == pytest.approx(3, abs=1e-3)
    correlation_loss(pred, target, per_image=True)
    correlation_loss(pred[:, None], target[:, None])
    correlation_loss(pred[:1], target[:1])
    correlation_loss(torch.randn(4, 128), torch.ones(4, 128, dtype=int))


# ---- the small training run -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def training():
    pytest.importorskip("scipy")
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import training

        yield training
    finally:
        sys.path.pop(0)


def test_streets_are_drawn_from_a_seed(training):
    data, same, other = (training.streets(3, seed) for seed in (7, 7, 8))
    assert all(torch.equal(a, b) for a, b in zip(data, same, strict=True))
    assert not torch.equal(data.images, other.images)
    assert data.images.shape == (3, 3, training.SIZE, training.SIZE)
    assert set(data.truth.unique().tolist()) == {0, 1, 2, 3, training.VOID}
    assert (data.weight[data.truth == training.VEHICLE] == 1).all()
    assert data.weight[(data.truth != training.VEHICLE) & (data.truth != training.VOID)].max() < 1


def test_a_few_steps_of_training_help(training, capsys):
    held_out = training.streets(6, seed=0)
    torch.manual_seed(1000)
    before = training.scores(training.SmallUNet(), held_out)
    rates = dict.fromkeys(list(training.LOSSES)[1:3], 1e-2)
    runs = training.compared(rates, held_out, seeds=2, steps=10, images=8)
    for own in runs.scores.values():
        assert own["ecc"].shape == (2,)
        assert own["ecc"].min() > before["ecc"] + 0.2
    text = training.markdown({name: {0.01: 0.5} for name in rates}, runs.scores)
    assert all(name in text for name in rates)
    assert "of 2" in text


def test_differences_are_paired(training):
    mean, low, high = training.paired(np.array([3.0, 2.0, 4.0]), np.array([1.0, 1.0, 1.0]))
    assert mean == 2
    assert low == pytest.approx(2 - 4.302652729911275 / math.sqrt(3))
    assert high == pytest.approx(2 + 4.302652729911275 / math.sqrt(3))
