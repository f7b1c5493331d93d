"""Counting a batch where it is: a launch on CUDA, the kernel on the CPU, and other devices by way of the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from ...core.kernel import cuda
from ...core.planes import Planes, add_rows, layout_of
from ...errors import InputError, MissingDependencyError, WmccError, warn
from .batches import LABELS, WEIGHTS, Rows


def count(state: Planes, updates: Any, scratch: Any, rows: Rows, classes: int, ignore: int | None) -> None:
    """Add a batch to the sums, in place, and 1 to the number of updates. On CUDA nothing waits for the device.

    ``scratch`` is what `scratch_on` returns, and is used by no other stream.
    """
    target = rows.target
    check_device(state.digits, target)
    if not target.numel():
        updates.add_(1)
    elif target.device.type == "cpu":
        add_rows(Planes(*(x.numpy() for x in state)), *on_host(rows), classes, ignore, int(updates))
        updates.add_(1)
    elif problem := on_cuda(state, updates, scratch, rows, classes, ignore):
        warn_of_host(target.device, problem)
        own = [x.cpu() for x in state]
        add_rows(Planes(*(x.numpy() for x in own)), *on_host(rows), classes, ignore, int(updates))
        for x, new in zip(state, own, strict=True):
            x.copy_(new)
        updates.add_(1)


def check_device(digits: Any, target: Any) -> None:
    """Refuse a batch that is on another device than the sums."""
    if target.is_meta:
        raise InputError("`target` is on the meta device, which holds no labels; expected another.", None, "target")
    if target.device != digits.device:
        raise InputError(
            f"the sums are on {digits.device}, and target on {target.device}; expected one device.",
            "make the tally or the metric outside of torch.device('meta')."
            if digits.is_meta
            else f"move the tally or the metric with .to({str(target.device)!r}) before the first update.",
            "target",
        )


def _is_nvidia(device: Any) -> bool:
    return device.type == "cuda" and torch.version.hip is None


def on_host(rows: Rows) -> tuple[Any, Any, Any]:
    """Return labels and weights as arrays of (items, pixels); of one item, if all have the same weights."""
    target, pred, weight = rows
    items, w = len(target), None
    if weight is not None:
        w = (weight if weight.dtype is torch.float64 else weight.float()).cpu().numpy()
        w = w.reshape(items if weight.ndim == target.ndim else 1, -1)
    return target.cpu().numpy().reshape(items, -1), pred.cpu().numpy().reshape(items, -1), w


def on_cuda(
    state: Planes, updates: Any, scratch: Any, rows: Rows, classes: int, ignore: int | None, apart: bool = False
) -> WmccError | None:
    """Count on the GPU, each item into digits, least and most of its own if ``apart``; or return why it cannot."""
    if not _is_nvidia(rows.target.device):
        return InputError(
            "wmcc counts on NVIDIA GPUs and on CPUs only.", "batches that are on the CPU already save the copy."
        )
    try:
        _launch(state, updates, scratch, rows, classes, ignore, apart)
    except (MissingDependencyError, cuda.UnsupportedError) as problem:
        return problem
    return None


def _launch(
    state: Planes, updates: Any, scratch: Any, rows: Rows, classes: int, ignore: int | None, apart: bool
) -> None:
    """Count labels and weights on the GPU, which nobody checks again."""
    pointers = _pointers(*rows)
    todo, words = _steps(rows, state.digits, classes, ignore, not _unaligned(pointers), apart)
    _run(todo, words, pointers, state, updates, scratch, rows.target)


def _steps(
    rows: Rows, digits: Any, classes: int, ignore: int | None, aligned: bool, apart: bool
) -> tuple[Sequence[cuda.Step], int]:
    """Return the launches that count a batch, and how many words their queue needs."""
    target, pred, weight = rows
    device, each, layout = target.get_device(), target.numel() // target.size(0), layout_of(digits.size(-2))
    kinds = LABELS[target.dtype], LABELS[pred.dtype], None if weight is None else WEIGHTS[weight.dtype]
    step = each if weight is not None and weight.ndim == target.ndim else 0  # from the weights of an item to the next
    planes = layout.weights, layout.squares, layout.weights_low
    todo = cuda.steps(device, kinds, aligned, each, target.size(0), step, classes, ignore, planes, apart)
    return todo, cuda.queue_words(device, classes, kinds[2], each if apart else target.numel())


def _run(
    todo: Sequence[cuda.Step],
    words: int,
    pointers: Sequence[int],
    state: Planes,
    updates: Any,
    scratch: Any,
    target: Any,
) -> None:
    """Launch, on the current stream."""
    device = target.get_device()
    queue = _queue(target, words)
    own = [x.data_ptr() for x in (*state, updates, scratch)]
    cuda.run(todo, (*pointers, *own, 0 if queue is None else queue.data_ptr()), device, _stream(device))


def _pointers(target: Any, pred: Any, weight: Any) -> tuple[int, int, int]:
    return target.data_ptr(), pred.data_ptr(), 0 if weight is None else weight.data_ptr()


def _unaligned(pointers: tuple[int, int, int]) -> bool:
    """Whether one does not begin at a multiple of 16 bytes."""
    return bool((pointers[0] | pointers[1] | pointers[2]) & 15)


def _queue(target: Any, words: int) -> Any:
    """Return memory for a queue, to be held until the launch; None if there is none."""
    return torch.empty(words, dtype=torch.int64, device=target.device) if words else None


def _stream(device: int) -> int:
    """Return the handle of the current stream, by the short way of PyTorch's own compiler if there is one."""
    quick = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    handle: int = torch.cuda.current_stream(device).cuda_stream if quick is None else quick(device)
    return handle


class Repeat(NamedTuple):
    """How a batch on a GPU is counted that is like one before: what was checked then need not be checked again.

    Parameters
    ----------
    like
        Types, shapes and devices of the batch and of the sums, and the classes, as `likeness` returns them.
    todo
        The launches.
    words
        Memory for a queue.
    """

    like: tuple[Any, ...]
    todo: Sequence[cuda.Step]
    words: int

    @classmethod
    def of(cls, rows: Rows, digits: Any, classes: int, ignore: int | None) -> Repeat | None:
        """Return how batches like this one are counted; None where they are not on a GPU, or not contiguous."""
        target, pred, weight = rows
        plain = _is_plain(pred, target, weight) and target.numel() > 0
        if not plain or not _is_nvidia(target.device):
            return None
        like = likeness(pred, target, weight, digits, classes, ignore)
        return cls(like, *_steps(rows, digits, classes, ignore, aligned=True, apart=False))

    def add(self, state: Planes, updates: Any, scratch: Any, pred: Any, target: Any, weight: Any) -> bool:
        """Count a batch that is alike; returns whether it is, down to where its tensors begin."""
        pointers = _pointers(target, pred, weight)
        if _unaligned(pointers) or not _is_plain(pred, target, weight):
            return False
        _run(self.todo, self.words, pointers, state, updates, scratch, target)
        return True


def likeness(pred: Any, target: Any, weight: Any, digits: Any, classes: int, ignore: int | None) -> tuple[Any, ...]:
    """What two batches, and the sums they are added to, must have in common to be counted alike."""
    batch = (pred, target) if weight is None else (pred, target, weight)
    return classes, ignore, *[(x.dtype, x.shape, x.device) for x in (digits, *batch)]


def _is_plain(pred: Any, target: Any, weight: Any) -> bool:
    """Whether tensors are in memory as they are read."""
    labels = pred.is_contiguous() and target.is_contiguous()
    return labels and (weight is None or (weight.is_contiguous() and not weight.is_neg()))


def scratch_on(device: Any, before: Any = None) -> Any:
    """Return memory that counting needs on a device beside the sums: what there was before, if it is there."""
    if before is not None and before.device == device:
        return before
    words = cuda.SCRATCH_WORDS if _is_nvidia(device) else 0
    return torch.zeros(words, dtype=torch.int64, device=device)


_WARNED: set[str] = set()


def warn_of_host(device: Any, problem: WmccError) -> None:
    """Say, once in a process for a kind of device, that batches are copied to the CPU."""
    if device.type in _WARNED:
        return
    _WARNED.add(device.type)
    warn(
        f"labels on {device} are copied to the CPU and counted there: {problem.message} The table is the same to the "
        "last bit, but each update waits for the device, and takes some milliseconds for a million pixels. What helps: "
        f"{problem.hint}",
        UserWarning,
    )


@torch.library.custom_op(
    "wmcc::tally", mutates_args=("digits", "least", "most", "counts", "first", "updates", "scratch")
)
def count_op(
    digits: torch.Tensor,
    least: torch.Tensor,
    most: torch.Tensor,
    counts: torch.Tensor,
    first: torch.Tensor,
    updates: torch.Tensor,
    scratch: torch.Tensor,
    target: torch.Tensor,
    pred: torch.Tensor,
    weight: torch.Tensor | None,
    classes: int,
    ignore: int | None,
) -> None:
    """Do what `count` does, as one operation that torch.compile does not look into."""
    count(Planes(digits, least, most, counts, first), updates, scratch, Rows(target, pred, weight), classes, ignore)


@count_op.register_fake
def _(*_: Any) -> None:
    """Tell torch.compile that nothing is returned."""
