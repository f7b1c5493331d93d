"""A loss for training: 1 minus a score of the soft table of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from ...core.doubts import MOST_OUTPUTS, warn_of_outputs
from ...core.planes import check_ignore
from ...errors import InputError, InputTypeError, LabelError, WeightError
from .batches import check_same_device, check_tensor, fitted_weight

LossMeasure = Literal["mcc", "ecc", "mpc1", "mpc2", "mean_iou"]

SETTINGS = ("measure", "ignore_index", "from_logits", "per_image", "check")
"""Parameters of the loss beside a batch."""

BLOCK = 1024
"""Pixels that are summed in the precision of the probabilities: float32 loses less than 1 part in 16,000 on them."""

CHUNK = 1 << 22
"""Numbers, about, that are held beside the probabilities while a table is summed: 16 MiB in float32."""

SUMS_TO_ONE = 0.01
"""How far the probabilities of a pixel may be from a sum of 1: bfloat16 has three digits."""


class CorrelationLoss(nn.Module):
    """1 minus a weighted score of the soft table of a batch, as a module: see `correlation_loss`.

    Parameters
    ----------
    measure
        ``"ecc"`` (R_K), ``"mcc"`` for two classes, ``"mpc1"``, ``"mpc2"`` or ``"mean_iou"``.
    ignore_index
        Label of pixels in the target that do not count, such as 255; None if all count.
    from_logits
        Whether the network's output is logits, or probabilities.
    per_image
        Whether each image has a table and a loss of its own, of which the mean is taken.
    check
        Whether values out of range raise errors, for which a GPU is waited for; None: on the CPU only.

    Examples
    --------
    >>> import torch
    >>> from wmcc.adapters.torch import CorrelationLoss
    >>> criterion = CorrelationLoss("ecc", ignore_index=255)
    >>> criterion
    CorrelationLoss(measure='ecc', ignore_index=255, from_logits=True, per_image=False, check=None)
    >>> logits = torch.zeros(2, 3, 4, 4, requires_grad=True)
    >>> target = torch.arange(32).reshape(2, 4, 4) % 3
    >>> loss = criterion(logits, target)
    >>> loss.backward()
    >>> loss.item(), logits.grad.shape
    (1.0, torch.Size([2, 3, 4, 4]))
    """

    def __init__(
        self,
        measure: LossMeasure = "ecc",
        *,
        ignore_index: int | None = None,
        from_logits: bool = True,
        per_image: bool = False,
        check: bool | None = None,
    ) -> None:
        super().__init__()
        _named(measure)
        self.measure: LossMeasure = measure
        self.ignore_index: int | None = check_ignore(ignore_index)
        self.from_logits = from_logits
        self.per_image = per_image
        self.check = check

    def forward(self, pred: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
        """Return the loss of a batch: `correlation_loss` with the settings of this module."""
        return correlation_loss(pred, target, weight, **{name: getattr(self, name) for name in SETTINGS})

    def extra_repr(self) -> str:
        """Return the settings, for ``repr``."""
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in SETTINGS)


def correlation_loss(
    pred: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    measure: LossMeasure = "ecc",
    ignore_index: int | None = None,
    from_logits: bool = True,
    per_image: bool = False,
    check: bool | None = None,
) -> Tensor:
    """Return 1 minus a weighted score of a batch, differentiable in the predictions.

    The score is that of the soft table, in which a pixel of class t and weight w adds w·p_c to the cell of truth t and
    prediction c, for each class c: the table that is expected if classes are drawn with the predicted probabilities.
    Where all probabilities are 0 or 1 the loss is 1 minus the score that `wmcc.tabulate` and the measure give.

    The loss **falls when the score rises**, so an optimizer minimises it. It is 0 for a perfect prediction, 1 for one
    that says nothing about the truth, and up to 2 for a correlation that is negative.

    Parameters
    ----------
    pred
        Logits, with the classes on axis 1: (B, C, ...). For two classes also one logit per pixel, that of class 1:
        the shape of the target, or (B, 1, ...).
    target
        True classes, integers from 0 to C − 1: (B, ...), or (B, 1, ...).
    weight
        Weights of the pixels, at least 0: in the shape of the target, or in one that is broadcast to it, such as
        (H, W), (B, 1, 1), or (B,) for one weight per image. None for weights of 1. They get no gradient.
    measure
        ``"ecc"`` (R_K), ``"mcc"`` for two classes, ``"mpc1"``, ``"mpc2"`` or ``"mean_iou"``.
    ignore_index
        Label of pixels in the target that do not count. Their weights are not looked at.
    from_logits
        False if ``pred`` has probabilities, which sum to 1 over the classes.
    per_image
        False for one table of the whole batch; True for a table and a loss of each image, and the mean of the losses
        over the images that have weight.
    check
        Whether to raise an error where labels, weights or probabilities are out of range. To know it the call waits for
        the device. None: on the CPU only, and not under ``torch.compile``. Without the check the loss of such a batch
        is NaN.

    Returns
    -------
    Tensor
        A number: float64 for predictions in float64, else float32.

    Notes
    -----
    *What is undefined.* A batch without weight (all pixels are void, or weigh 0) has the loss 0 and a gradient of 0, so
    that training goes on. Where the truth has one class only, a correlation is undefined: the score is 0 by wmcc's
    convention, the loss 1 and its gradient 0, so the network learns nothing from such a batch. With ``per_image=True``
    this holds for each image; keep one table per batch if many images have a single class. A class that the batch
    lacks has no correlation either. In ``"mpc2"`` and ``"mean_iou"`` its term is 0 once a pixel gives it any
    probability, as in the exact measures. The loss of such a batch stays above 0, and the other classes have their
    gradients as usual.

    *No ε.* Denominators are shares of the total weight in float64, and complements are summed, not subtracted from 1.
    So a denominator is either exactly 0, which is the case above, or a number that can be divided by.

    *Confident mistakes.* If nearly all probability is on one class, the gradient with respect to the logits becomes
    small, as for Dice and IoU losses, and rare classes may never be learned. Cross entropy has no such plateau: train
    with the sum of both. docs/understand/loss.md has a comparison.

    *Precision.* The table is summed in blocks of 1,024 pixels in float32, and the sums of blocks are added in float64
    (in float32 on devices that lack float64). Half-precision logits become float32 first, under autocast too.
    Weights are divided by the largest, so neither their unit nor the size of the image matters.
    ``torch.set_float32_matmul_precision("high")`` leaves three digits of the table on devices that have TF32.

    *Several outputs.* A target of shape (N, L) beside as many logits may be rows with L outputs. All are counted in one
    table, and a `wmcc.errors.LabelWarning` says so, unless there are more than 100 columns, or ``per_image=True``, with
    which each row is an image of L pixels.

    *NaN.* On a GPU nothing waits for the device, and the loss is NaN where labels, weights or probabilities are out of
    range; ``check=True`` says which and where. Logits of NaN or +∞ are no errors, and make the loss NaN too. The
    gradient is then NaN as well, and gradient scalers skip the step.

    *Several processes.* Each process has the loss of its own part of the batch. The mean of their gradients is that of
    the mean loss, not that of the loss of the whole batch.

    Examples
    --------
    Sure and right, but for one heavy pixel:

    >>> import torch, wmcc
    >>> from wmcc.adapters.torch import correlation_loss
    >>> target = torch.tensor([[0, 0, 1, 1]])
    >>> logits = torch.tensor([[-9.0, -9.0, 9.0, -9.0]], requires_grad=True)  # of class 1
    >>> weight = torch.tensor([1.0, 1.0, 1.0, 3.0])
    >>> loss = correlation_loss(logits, target, weight[None])
    >>> round(loss.item(), 3)
    0.684
    >>> round(1 - wmcc.mcc([0, 0, 1, 1], [0, 0, 1, 0], sample_weight=[1, 1, 1, 3]), 3)
    0.684

    A step against the gradient raises the logit of the pixel that is wrong:

    >>> loss.backward()
    >>> bool(logits.grad[0, 3] < 0)
    True
    """
    value = _named(measure)
    p, target = _probabilities(pred, target, from_logits)
    classes = p.shape[1]
    if not (per_image or torch.compiler.is_compiling()) and pred.shape == target.shape:
        _doubt_columns(target)
    if measure == "mcc" and classes != 2:
        hint = 'use `measure` "ecc", which is the multiclass MCC, "mpc1" or "mpc2".'
        raise InputError(f"MCC is for two classes; `pred` has {classes} on axis 1.", hint, "measure")
    if per_image and target.ndim == 1:
        said = f"`per_image` is True, which needs images; `target` has shape {tuple(target.shape)}, one label per item."
        raise InputError(said, "leave out `per_image`: the whole batch then makes one table.", "per_image")
    if type(ignore_index) is not int:  # torch.compile does not follow the check
        ignore_index = check_ignore(ignore_index)
    weights = None if weight is None else _weights(weight, target)
    faults = _Faults.of(p, target, ignore_index, weights, from_logits, pred.shape == target.shape)
    checked = p.device.type == "cpu" and not torch.compiler.is_compiling() if check is None else check
    if checked:
        faults.refuse(p, target, weights)
    counted = faults.counted
    if target.ndim == 1:  # rows of a batch are as pixels of one image
        p, target, counted, weights = p.T[None], target[None], counted[None], None if weights is None else weights[None]
    target, counted = target.flatten(1).masked_fill(~counted.flatten(1), 0), counted.flatten(1)
    share = _scaled(weights, counted, per_image, p.dtype)
    function: Any = _SoftTable  # torch has no types for what it calls
    cells: Tensor = function.apply(p.flatten(2), target, share, per_image)
    total = cells.sum((-2, -1))
    empty = total == 0
    shares = _Shares.of(cells / total.masked_fill(empty, 1.0)[:, None, None], ignore_index)
    loss = (1.0 - value(shares)).masked_fill(empty, 0.0)
    mean = loss.sum() / (~empty).sum().clamp(min=1)
    return (mean if checked else torch.where(faults.found, torch.nan, 1.0) * mean).to(p.dtype)


# ---- the soft table -----------------------------------------------------------------------------------


class _SoftTable(torch.autograd.Function):
    """Σ w p_c over the pixels of truth t, for each t and c; a table per image, or one of all.

    It is linear in p, so the gradient of a pixel is w times the row of its truth in the gradient of the table. Autograd
    would find the same by keeping a one-hot truth, which is as large as the logits. Further derivatives are autograd's.
    """

    @staticmethod
    def forward(p: Tensor, target: Tensor, weight: Tensor, per_image: bool) -> Tensor:
        return _sums(p, target, weight, per_image)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        p, target, weight, _ = inputs
        ctx.save_for_backward(target, weight)
        ctx.dtype = p.dtype

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None, None, None]:
        (target, weight), K = ctx.saved_tensors, slope.shape[-1]
        images, pixels = target.shape
        rows = slope.to(ctx.dtype).transpose(1, 2).expand(images, K, K)
        truth = target[:, None, :].expand(images, K, pixels)
        return rows.gather(2, truth).mul_(weight[:, None, :]), None, None, None


def _sums(p: Tensor, target: Tensor, weight: Tensor, per_image: bool) -> Tensor:
    """Sum a soft table by matrix products of blocks: (images or 1, K, K), in float64 where the device has it."""
    images, K, pixels = p.shape
    wide = torch.float32 if p.device.type == "mps" else torch.float64
    out = torch.zeros(images if per_image else 1, K, K, dtype=wide, device=p.device)
    classes = torch.arange(K, device=p.device)[:, None]
    most = max(CHUNK // max(images * K, 1) // BLOCK, 1) * BLOCK
    start = 0
    with torch.autocast(p.device.type, enabled=False):
        while start < pixels * bool(images):
            left = pixels - start
            n = min(most, left - left % BLOCK or left)
            chunk, start = slice(start, start + n), start + n
            blocks = (images, K, -1, min(n, BLOCK))
            truth = (target[:, None, chunk] == classes) * weight[:, None, chunk]
            products = truth.reshape(blocks).transpose(1, 2) @ p[:, :, chunk].reshape(blocks).permute(0, 2, 3, 1)
            out += products.sum(1 if per_image else (0, 1), dtype=wide)
    return out


# ---- measures of shares -------------------------------------------------------------------------------


class _Shares(NamedTuple):
    """A table divided by its total, per class: see `wmcc.measures.base.Shares`, of which this is the form in torch."""

    d: Tensor
    union: Tensor
    """Truth or prediction: d + false negatives + false positives."""
    covariance: Tensor
    """d − r q."""
    A: Tensor
    """r (1 − r)."""
    B: Tensor
    """q (1 − q)."""
    classes: Tensor
    """Number of classes that have weight in truth or prediction."""

    @classmethod
    def of(cls, cells: Tensor, void: int | None) -> _Shares:
        """From cells that sum to 1. Nothing is subtracted from 1, so classes of nearly all the weight keep digits."""
        d = cells.diagonal(dim1=-2, dim2=-1)
        wrong = cells - torch.diag_embed(d)
        fn, fp = wrong.sum(-1), wrong.sum(-2)
        r, q, union = d + fn, d + fp, d + fn + fp
        not_r, not_q = _others(r), _others(q)
        tn = torch.where(fp < fn, not_r - fp, not_q - fn)  # less is lost where less is taken away
        occurs = union != 0
        if void is not None and 0 <= void < d.shape[-1]:  # no class, though pixels may be predicted so
            occurs[..., void] = False
        return cls(d, union, d * tn - fn * fp, r * not_r, q * not_q, occurs.sum(-1).clamp(min=1))


def _others(x: Tensor) -> Tensor:
    """Sum of the other classes, for each class."""
    K = x.shape[-1]
    return x[..., None, :].expand(*x.shape, K).masked_fill(torch.eye(K, dtype=torch.bool, device=x.device), 0.0).sum(-1)


def _over(x: Tensor, y: Tensor) -> Tensor:
    """x/y; 0 with a gradient of 0 where y is 0."""
    zero = y == 0  # NaN is none, and stays
    return (x / y.masked_fill(zero, 1.0)).masked_fill(zero, 0.0)


def _root(x: Tensor) -> Tensor:
    """√x; with a gradient of 0 where x is 0."""
    zero = x == 0
    return x.masked_fill(zero, 1.0).sqrt().masked_fill(zero, 0.0)


def _ecc(x: _Shares) -> Tensor:
    return _over(x.covariance.sum(-1), _root(x.A.sum(-1)) * _root(x.B.sum(-1)))


def _mpc1(x: _Shares) -> Tensor:
    return _over(x.covariance.sum(-1), (_root(x.A) * _root(x.B)).sum(-1))


def _mpc2(x: _Shares) -> Tensor:
    return _over(_over(x.covariance, _root(x.A)), _root(x.B)).sum(-1) / x.classes


def _mean_iou(x: _Shares) -> Tensor:
    return _over(x.d, x.union).sum(-1) / x.classes


VALUES: dict[str, Callable[[_Shares], Tensor]] = {
    "mcc": _ecc,  # for two classes they are one
    "ecc": _ecc,
    "mpc1": _mpc1,
    "mpc2": _mpc2,
    "mean_iou": _mean_iou,
}


# ---- what was given -----------------------------------------------------------------------------------


def _named(measure: Any) -> Callable[[_Shares], Tensor]:
    if not isinstance(measure, str) or measure not in VALUES:
        raise InputError(
            f"`measure` is {repr(measure)[:60]}; the loss is there for {', '.join(VALUES)}.", argument="measure"
        )
    return VALUES[measure]


def _probabilities(pred: Tensor, target: Tensor, from_logits: bool) -> tuple[Tensor, Tensor]:
    """Return probabilities (B, K, ...) in float32 or float64, and the target as int64 in the shape (B, ...)."""
    check_tensor("pred", pred)
    check_tensor("target", target)
    if not pred.is_floating_point():
        said = f"`pred` is {_dtype(pred)}; expected floating logits or probabilities, since classes have no gradient."
        hint = "give the output of the network before argmax. To score classes, use wmcc.adapters.torch.Tally."
        raise InputTypeError(said, hint, "pred")
    if target.is_floating_point() or target.is_complex():
        raise InputTypeError(
            f"`target` is {_dtype(target)}; expected integers, the true class of each pixel.",
            "for whole numbers pass target.long(); for one-hot or soft targets of shape (B, C, ...) target.argmax(1).",
            "target",
        )
    check_same_device("target", target, pred, "pred")
    if pred.ndim < 1 or target.ndim < 1:
        raise InputError(f"`pred` has shape {tuple(pred.shape)} and `target` {tuple(target.shape)}; expected a batch.")
    if pred.shape != target.shape and target.ndim in (pred.ndim, pred.ndim + 1) and target.shape[1:2] == (1,):
        target = target.squeeze(1)  # (B, 1, H, W) beside (B, C, H, W) or (B, H, W)
    elif pred.ndim == target.ndim + 1 and pred.shape[1] == 1:
        pred = pred.squeeze(1)  # (B, 1, H, W) of a network with one output, beside (B, H, W)
    x = pred if pred.dtype == torch.float64 else pred.float()
    target = target.long()  # of uint8, 255 would be equal to -1
    if pred.shape == target.shape:
        both = torch.stack([-x, x], 1).sigmoid() if from_logits else torch.stack([1.0 - x, x], 1)
        return both, target
    if pred.ndim != target.ndim + 1 or (*pred.shape[:1], *pred.shape[2:]) != tuple(target.shape):
        raise InputError(
            f"`pred` has shape {tuple(pred.shape)} and `target` {tuple(target.shape)}; expected (B, C, ...) and "
            "(B, ...), or for two classes the same shape.",
            "for a single image pass pred[None] and target[None]."
            if pred.shape[1:] == target.shape
            else "classes are on axis 1 of pred: for (B, H, W, C) pass pred.movedim(-1, 1).",
            "pred",
        )
    return x.softmax(1) if from_logits else x, target


def _doubt_columns(target: Tensor) -> None:
    """Warn if a target beside as many logits looks as if it had several outputs; their values are not looked at."""
    if target.ndim == 2 and len(target) > 1 and 1 < target.shape[1] <= MOST_OUTPUTS:
        warn_of_outputs(target.shape[1], "target", "pred", ".flatten()", loss=True)


def _weights(weight: Tensor, target: Tensor) -> Tensor:
    """Return weights in the shape of the target, repeated without copies."""
    if isinstance(weight, Tensor) and weight.requires_grad:
        said = "weight requires a gradient; weights say how much a pixel counts and are not learned by this loss."
        raise InputError(said, "pass weight.detach().", "weight")
    shape = target.shape
    if isinstance(weight, Tensor) and shape[1:2] == (1,) and weight.shape == (shape[0], *shape[2:]):
        weight = weight.unsqueeze(1)  # (B, H, W) beside masks of (B, 1, H, W)
    fitted: Tensor = fitted_weight(weight, target)
    return fitted.expand(shape)


def _scaled(weight: Tensor | None, counted: Tensor, per_image: bool, dtype: torch.dtype) -> Tensor:
    """Return weights divided by the largest of their table, and 0 where pixels do not count."""
    if weight is None:
        return counted.to(dtype)
    w = weight if weight.dtype == torch.float64 else weight.float()
    w = w.flatten(1).masked_fill(~counted, 0.0)
    if w.numel():
        largest = w.amax(1, keepdim=True) if per_image else w.amax()
        w = w / largest.masked_fill(largest == 0, 1.0)
    return w.to(dtype)


class _Faults(NamedTuple):
    """Where a batch is out of range: known on the device, and not yet to the host.

    Parameters
    ----------
    counted
        Pixels that count, and have no bad label or weight.
    label, weight, chance
        Pixels that count, whose label, weight or probabilities are out of range.
    one_hot
        Whether the target is one-hot, whose channels would be read as so many masks of two classes.
    """

    counted: Tensor
    label: Tensor
    weight: Tensor
    chance: Tensor
    one_hot: Tensor

    @classmethod
    def of(
        cls, p: Tensor, target: Tensor, ignore: int | None, weight: Tensor | None, from_logits: bool, masks: bool
    ) -> _Faults:
        """Look for faults; ``masks`` if predictions have the shape of the target."""
        counted = torch.ones_like(target, dtype=torch.bool) if ignore is None else target != ignore
        none = torch.zeros((), dtype=torch.bool, device=target.device)
        label = counted & ((target < 0) | (target >= p.shape[1]))
        heavy = none if weight is None else counted & ~label & ~((weight >= 0) & (weight < torch.inf))
        chance = none
        if not from_logits:
            chance = counted & ((p < 0).any(1) | (p > 1).any(1) | ((p.sum(1) - 1).abs() > SUMS_TO_ONE))
        one_hot = none
        if masks and target.ndim > 2 and target.shape[1] > 1 and target.numel():
            one_hot = ((target == 0) | (target == 1)).all() & (target.sum(1) == 1).all()
        return cls(counted & ~label & ~heavy, label, heavy, chance, one_hot)

    @property
    def found(self) -> Tensor:
        """Whether there are any."""
        return self.one_hot | (self.label | self.weight | self.chance).any()

    def refuse(self, p: Tensor, target: Tensor, weight: Tensor | None) -> None:
        """Raise the error that says what is wrong, if anything is; it waits for the device."""
        if not self.found:
            return
        K = p.shape[1]
        if self.one_hot:
            raise InputError(
                f"`target` has the shape of `pred`, {tuple(target.shape)}, and looks one-hot: a single 1 along axis 1.",
                "pass target.argmax(1). If these are masks of two classes, pass pred[:, None] and target[:, None].",
                "target",
            )
        if self.label.any():
            value, place = _first(self.label, target)
            said = f"`target` is {value} at {place}; expected classes from 0 to {K - 1}, since `pred` has {K} classes."
            raise LabelError(said, f"if {value} marks void pixels, give `ignore_index` {value}.", "target")
        if weight is not None and self.weight.any():
            value, place = _first(self.weight, weight)
            hint = "give pixels that do not count the label `ignore_index` in `target`."
            raise WeightError(f"`weight` is {value} at {place}; expected finite numbers of at least 0.", hint, "weight")
        value, place = _first(self.chance, p.sum(1))
        raise InputError(
            f"`pred` is no probability at {place}: the numbers are from {p.min().item():.6g} to {p.max().item():.6g}, "
            f"and their sum there is {value:.6g}; expected numbers from 0 to 1 that sum to 1 over axis 1.",
            "leave out `from_logits` if `pred` has logits.",
            "pred",
        )


def _first(where: Tensor, values: Tensor) -> tuple[Any, tuple[int, ...]]:
    """Return the first value of some, and its place."""
    place = tuple(where.nonzero()[0].tolist())
    return values[place].item(), place


def _dtype(x: Tensor) -> str:
    return str(x.dtype).removeprefix("torch.")
