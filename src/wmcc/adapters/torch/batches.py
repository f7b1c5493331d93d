"""What a caller hands to a tally, checked and brought into the form that is counted, without waiting for a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from ...core.planes import NAN_LOGIT
from ...errors import InputError, InputTypeError

LABELS = {
    torch.uint8: "uint8", torch.int32: "int32", torch.int64: "int64", torch.bool: "", torch.int8: "", torch.int16: "",
}  # fmt: skip
WEIGHTS = {
    torch.float32: "float32", torch.float64: "float64", torch.bfloat16: "bfloat16", torch.float16: "float16",
}  # fmt: skip
"""What a device reads, by the names it has for them; what has no name is converted."""


class Rows(NamedTuple):
    """Labels and weights of a batch, ready to be counted.

    Parameters
    ----------
    target, pred
        Labels, contiguous, of uint8, int32 or int64; of the same shape, (items, ...).
    weight
        Weights, contiguous, of the same shape; or of that of a single item, which all items share.
    """

    target: Any
    pred: Any
    weight: Any


def rows_of(pred: Any, target: Any, weight: Any, classes: int) -> Rows:
    """Check a batch, and bring it into the form that is counted; nothing waits for the device."""
    check_tensor("pred", pred)
    check_tensor("target", target)
    if target.dtype not in LABELS:
        raise _no_labels(target, classes)
    shape = target.shape
    if not shape:
        raise InputError(
            "`target` is a single value; expected one or more axes, the first of which counts items.", None
        )
    if pred.dtype not in LABELS:
        pred, target = _predicted(pred.detach(), target, classes)
    elif pred.shape != shape:
        pred, target = _without_channel(pred, target)
        if pred.shape != target.shape:
            raise _other_shape(pred, target, classes)
    check_same_device("pred", pred, target)
    if target.ndim > 2 and target.size(1) == 1:  # one channel: weights need not have the axis
        pred, target = pred.squeeze(1), target.squeeze(1)
    return Rows(_as_labels(target), _as_labels(pred), None if weight is None else fitted_weight(weight, target))


def has_pixels(target: Any) -> bool:
    """Whether items of a batch have more than one label: they are images."""
    return bool(target.numel() > target.size(0))


def columns_of(pred: Any, target: Any) -> int:
    """Return the columns of labels of two axes, which may be outputs; 1 if predictions have an axis of classes."""
    return int(target.size(1)) if target.ndim == pred.ndim == 2 else 1


def check_tensor(name: str, own: Any) -> None:
    """Refuse what is no tensor of strides."""
    if not isinstance(own, torch.Tensor):
        to = ", device=target.device" if name == "weight" else ""
        raise InputTypeError(
            f"`{name}` is of type {type(own).__name__}; expected a tensor.", f"pass torch.as_tensor({name}{to}).", name
        )
    if own.is_nested:
        raise InputTypeError(
            f"`{name}` is a nested tensor.", "pass its tensors one by one; .unbind() returns them.", name
        )
    if own.layout is not torch.strided:
        raise InputTypeError(f"`{name}` is a sparse tensor.", f"pass {name}.to_dense().", name)


def _predicted(pred: Any, target: Any, classes: int) -> tuple[Any, Any]:
    """Return the classes that logits, or probabilities, predict, and a target without a channel axis."""
    if not pred.is_floating_point():
        raise InputTypeError(
            f"`pred` has dtype {pred.dtype}; expected labels (integers or booleans) or logits (floating).", None, "pred"
        )
    if pred.dtype not in WEIGHTS:
        pred = pred.float()
    shape = target.shape
    if target.ndim > 1 and target.ndim == pred.ndim and shape[1] == 1 and pred.shape[1] > 1:
        shape = shape[:1] + shape[2:]
        target = target.reshape(shape)
    if pred.ndim == len(shape) + 1 and pred.shape[:1] + pred.shape[2:] == shape and pred.shape[1] > 1:
        if pred.shape[1] != classes:
            raise InputError(
                f"`pred` has {pred.shape[1]} channels on axis 1, and `num_classes` is {classes}; expected as many.",
                f"use `num_classes` {pred.shape[1]}"
                + (f", or pass pred[:, :{classes}] if the others are no classes." if pred.shape[1] > classes else "."),
                "pred",
            )
        best, label = pred.max(1)
        return label.masked_fill_(best.isnan(), NAN_LOGIT), target
    raise _no_logits(pred, target, classes)


def _no_logits(pred: Any, target: Any, classes: int) -> InputError:
    """Say why floating predictions are not logits of the classes of the target."""
    shapes = f"`pred` has shape {tuple(pred.shape)} and `target` {tuple(target.shape)}"
    if pred.shape == target.shape and is_one_hot(target, classes):
        return InputError(
            f"{shapes}; a target with a single 1 along an axis of {classes} looks one-hot, and labels were expected.",
            "pass target.argmax(1).",
            "target",
        )
    one = pred.ndim == target.ndim + 1 and pred.shape[1] == 1
    if pred.shape == target.shape or (one and pred.shape[:1] + pred.shape[2:] == target.shape):
        drop = ".squeeze(1)" if one else ""
        return InputError(
            f"{shapes}, with dtype {pred.dtype}: one number per row does not say which class is meant.",
            f"of probabilities of class 1 pass (pred{drop} > 0.5).long(); of logits (pred{drop} > 0).long(); of labels "
            f"pred{drop}.long().",
            "pred",
        )
    wanted = (*target.shape[:1], classes, *target.shape[1:])
    hint = "classes are on axis 1; all other axes are those of the target."
    if pred.ndim == target.ndim + 1 and pred.shape[:-1] == target.shape:
        hint = "pass pred.movedim(-1, 1)."
    elif pred.shape[1:] == target.shape:
        hint = "of a single image pass pred[None] and target[None]."
    return InputError(f"{shapes}; logits of {classes} classes for this target have shape {wanted}.", hint, "pred")


def _without_channel(pred: Any, target: Any) -> tuple[Any, Any]:
    """Drop an axis of one channel that only one of two tensors of labels has."""
    if pred.ndim == target.ndim + 1 and pred.shape[1] == 1:
        return pred.squeeze(1), target
    if target.ndim == pred.ndim + 1 and target.shape[1] == 1:
        return pred, target.squeeze(1)
    return pred, target


def _other_shape(pred: Any, target: Any, classes: int) -> InputError:
    hint = None
    for name, own, other in (("pred", pred, target), ("target", target, pred)):
        if own.ndim == other.ndim + 1 and own.shape[:1] + own.shape[2:] == other.shape and is_one_hot(own, classes):
            hint = f"an axis of {classes} looks one-hot; pass {name}.argmax(1)."
    return InputError(
        f"pred and target must have the same shape; they have {tuple(pred.shape)} and {tuple(target.shape)}.",
        hint,
        "pred",
    )


def _no_labels(target: Any, classes: int) -> InputTypeError:
    hint = "pass target.long()."
    if is_one_hot(target, classes):
        hint = "axis 1 looks one-hot; pass target.argmax(1)."
    elif target.ndim > 1 and target.shape[1] == classes:
        hint = "pass target.long() if these are labels; target.argmax(1) if axis 1 has probabilities of classes."
    return InputTypeError(
        f"`target` has dtype {target.dtype}; labels must be integers (uint8, int8, int16, int32, int64) or booleans.",
        hint,
        "target",
    )


def is_one_hot(labels: Any, classes: int) -> bool:
    """Whether axis 1 has an entry for each class, and a single 1 on it in all; it waits for the device."""
    if labels.ndim < 2 or labels.shape[1] != classes or not labels.numel() or labels.is_meta or labels.is_complex():
        return False
    # a look at the first item is cheap; some types, such as float8, know no sums
    looks = (x.float() for x in (labels[:1], labels))
    return all(bool(((x == 0) | (x == 1)).all() and (x.sum(1) == 1).all()) for x in looks)


def check_same_device(name: str, own: Any, other: Any, beside: str = "target") -> None:
    """Refuse a tensor that is on another device than the one beside it."""
    if own.device != other.device:
        said = f"`{name}` is on {own.device}, and `{beside}` on {other.device}; expected one device."
        raise InputError(said, f"pass {name}.to({beside}.device).", name)


def _as_labels(labels: Any) -> Any:
    if labels.dtype is torch.bool:
        labels = labels.view(torch.uint8)
    return (labels if LABELS[labels.dtype] else labels.to(torch.int32)).contiguous()


def fitted_weight(weight: Any, target: Any) -> Any:
    """Return weights in the shape of the target, or of one of its items if all have the same."""
    check_tensor("weight", weight)
    if weight.requires_grad:
        weight = weight.detach()
    if weight.dtype not in WEIGHTS:
        if weight.is_complex():
            raise InputTypeError(f"`weight` has dtype {weight.dtype}; a weight must be a real number.", None, "weight")
        small = weight.is_floating_point() or weight.dtype in (torch.bool, torch.uint8, torch.int8, torch.int16)
        weight = weight.to(torch.float32 if small else torch.float64)
    check_same_device("weight", weight, target)
    shape = target.shape
    if weight.shape == shape:
        return weight.contiguous().resolve_neg()
    if weight.ndim == target.ndim + 1 and weight.shape[1] == 1:
        return fitted_weight(weight.squeeze(1), target)
    if weight.ndim == 0:
        said = "`weight` is a single value; expected one for each label, or for each image."
        raise InputError(said, "pass weight.expand(len(target)) to give all images of the batch this weight.", "weight")
    below = len(shape) - weight.ndim
    last, first = (below >= 0 and _fits(weight.shape, own) for own in (shape[max(below, 0) :], shape[: weight.ndim]))
    if below > 0 and last and first and weight.numel() > 1:
        none = ", ".join(["None"] * below)
        raise InputError(
            f"`weight` has shape {tuple(weight.shape)}, which fits the first and the last axes of the target, "
            f"{tuple(shape)}.",
            f"pass weight[..., {none}] for the first axes, or weight[{none}] for the last.",
            "weight",
        )
    if below > 0 and weight.ndim == 1 and first:
        weight = weight.reshape(-1, *[1] * below)
    elif not last or (below > 1 and weight.ndim == 1):
        hint = f"give one weight per label, {tuple(shape)}"
        if len(shape) > 1:
            hint += f"; one map for all images, {tuple(shape[1:])}; or one weight per image, {tuple(shape[:1])}"
        if weight.ndim == 1 and len(weight) > 1:
            hint += f". If it has one weight per class, pass weight[target.long().clamp(0, {len(weight) - 1})]"
        said = f"`weight` must have the shape of the target, {tuple(shape)}, or fit it; it has {tuple(weight.shape)}."
        raise InputError(said, f"{hint}.", "weight")
    shared = len(shape) > 1 and (weight.ndim < len(shape) or weight.shape[0] == 1)
    weight = weight.expand(1, *shape[1:])[0] if shared else weight.expand(shape)
    return weight.contiguous().resolve_neg()


def _fits(own: Sequence[int], shape: Sequence[int]) -> bool:
    return all(n in (1, m) for n, m in zip(own, shape, strict=True))
