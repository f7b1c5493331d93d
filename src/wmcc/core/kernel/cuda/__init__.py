"""The tally on an NVIDIA GPU: CUDA C that NVRTC compiles when it is first needed, and the driver, by ctypes.

There is no extension module and no compiler to install: PyTorch, CuPy and JAX bring NVRTC with them. What it makes is
kept on disk. `steps` says what is to be launched, and `run` does it: on pointers, so any library's arrays will do. It
neither waits for the device nor takes memory.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from .driver import CudaError, Device, Kernel, UnsupportedError

__all__ = ["CudaError", "SCRATCH_WORDS", "Step", "UnsupportedError", "plan", "queue_words", "run", "steps"]

THREADS = 1024
BLOCK_ROWS = 1 << 21
"""Rows of a block: 32-bit words hold their sums."""
MOST_ROWS = 1 << 30
"""Rows of a launch: 64-bit digits take as many additions before they are settled."""
FEW_ROWS = 1 << 13
"""Rows that are worth a block of their own."""
MOST_ITEMS = 65_535
"""Items of a launch: what the second axis of a grid holds."""
STATIC = 256
"""Bytes of shared memory that the kernel takes beside a table; more where rows of a queue are read."""
KEPT = 64 * 32
"""Rows of a queue that a block keeps until it adds them."""
WASTE, RECORDS = 48, 6_400
"""Records that are no cell's, and those worth having in copies: clearing and reading them takes time, too."""
FEW_RECORDS = 1_600
"""The same, of blocks with few rows."""
QUEUE_ROWS = 1 << 28
"""Rows of a launch that has a queue: it takes 8 bytes for each, or 12 of float64 weights."""
MOST_RANGES = 24
"""A queue is read as often; beyond that, rows are added one by one."""

LABELS = {"uint8": ("u8", 1), "int32": ("i32", 4), "int64": ("i64", 8)}
WEIGHTS = {
    None: ("Ones", 0),
    "float16": ("Float16", 2),
    "bfloat16": ("Bfloat16", 2),
    "float32": ("Float32", 4),
    "float64": ("Float64", 8),
}
"""Types of arrays: what they are called in ``tally.cu``, and bytes of a number."""

RECORD = {None: 4, "float64": 36}
ENDS = {None: 0, "float64": 16}
"""Bytes of a record, and of the smallest and largest weight of a cell; 28 and 8 of other types."""

SOURCE = Path(__file__).with_name("tally.cu")

NO_LABEL = -(1 << 63)
"""Stands for the label of ignored rows where none are."""

_POINTERS, _NUMBERS = struct.Struct("=11Q"), struct.Struct("=7q12I")
"""``struct Call`` of ``tally.cu``: pointers, which change from call to call, and the rest."""


class Plan(NamedTuple):
    """How the cells of a table lie in a block's shared memory.

    Parameters
    ----------
    many
        Whether only the cells of right predictions are there.
    copies, right
        Records of each cell, by lane, and of each cell of right predictions.
    shared
        Bytes.
    span, rest
        If there are many: true labels of which a block that reads the queue has all cells, and bytes; 0 if there is no
        queue.
    """

    many: bool
    copies: int
    right: int
    shared: int
    span: int = 0
    rest: int = 0


@lru_cache
def plan(K: int, weight: str | None, room: int, records: int = RECORDS) -> Plan:
    """Return the plan for K classes in so many bytes of shared memory, with not many more records than these.

    Examples
    --------
    >>> plan(20, "float32", 232_448)
    Plan(many=False, copies=8, right=32, shared=139968, span=0, rest=0)
    >>> plan(200, "float32", 232_448).many
    True
    """
    record, ends = RECORD.get(weight, 28), ENDS.get(weight, 8)
    room -= STATIC

    def size(places: int) -> int:
        return max((places + WASTE) * (record + ends), 16 << 10)

    for right in (32, 16, 8, 4):
        if size(K * (K + right)) <= room:
            several = (c for c in (32, 16, 8, 4, 2) if K * K * c <= records and size(K * (K * c + right)) <= room)
            copies = next(several, 1)
            return Plan(False, copies, right, size(K * (K * copies + right)))
    right = next((r for r in (32, 16, 8, 4, 2, 1) if size(K * r) <= room), 0)
    if not right:
        raise UnsupportedError(
            f"{K:,} classes do not fit into the shared memory of this GPU, {room + STATIC:,} bytes.",
            "merge classes, or count on the CPU.",
        )
    left = room - (4 + (8 if weight == "float64" else 4)) * KEPT - WASTE * (record + ends)
    span = min(K, left // (K * (record + ends)))
    if span == 0 or -(-K // span) > MOST_RANGES:
        return Plan(True, 1, right, size(K * right))
    return Plan(True, 1, right, size(K * right), span, size(span * K))


SCRATCH_WORDS = 5
"""64-bit words on the device, zeros at first, that `run` needs beside a state."""


@lru_cache
def queue_words(device: int, K: int, weight: str | None, rows: int) -> int:
    """Return how many 64-bit words, of any content, `run` needs for a queue of so many rows: 0 if it has none."""
    if plan(K, weight, _device(device).shared).span == 0:
        return 0
    blocks, room = _blocks(device, min(rows, QUEUE_ROWS))
    return (4 * blocks + (4 + {None: 0, "float64": 8}.get(weight, 4)) * blocks * room) // 8


def run(todo: Sequence[Step], pointers: Sequence[int], device: int, stream: int) -> None:
    """Add rows to a state (`wmcc.core.planes`) on a device, after what its stream has to do already.

    Parameters
    ----------
    todo
        What `steps` returned.
    pointers
        To contiguous labels of the truth and of the predictions, and to weights, 0 if there are none; to the state,
        that is digits, least, most, counts, first and updates; to `SCRATCH_WORDS` words, zeros at first, which no other
        stream uses; and to `queue_words` words.
    device, stream
        The number of the device, and a handle of the stream.
    """
    gpu = _device(device)
    truth, pred, weight, digits, least, most, *others = pointers
    for kernel, grid, shared, (t, p, w, d, e), numbers in todo:
        call = _POINTERS.pack(truth + t, pred + p, weight + w, digits + d, least + e, most + e, *others) + numbers
        kernel(gpu, grid, THREADS, shared, stream, call)


class Step(NamedTuple):
    """A launch: the kernel, its grid, bytes of shared memory, bytes to be added to pointers, and all other numbers."""

    kernel: Kernel
    grid: tuple[int, int]
    shared: int
    offsets: tuple[int, int, int, int, int]
    numbers: bytes


@lru_cache(maxsize=1024)
def steps(
    device: int,
    kinds: tuple[str, str, str | None],
    aligned: bool,
    rows: int,
    items: int,
    weight_step: int,
    classes: int,
    ignore: int | None,
    planes: tuple[int, int, int],
    apart: bool,
) -> list[Step]:
    """Return the launches of an update, for `run`. Batches are mostly alike, so they are worked out once.

    Parameters
    ----------
    kinds
        Types of the truth, the predictions and the weights: uint8, int32 or int64 of labels, a floating type of
        weights, or None.
    aligned
        Whether all three begin at multiples of 16 bytes.
    rows, items
        Rows of an item, and how many items lie one after the other: at least one of each.
    weight_step
        Rows from the weights of an item to those of the next: 0 if all have the same.
    classes, ignore
        Number of classes, and the true label of rows that do not count.
    planes
        Of the digits: how many there are of Σw and of Σw², and the exponent of the lowest of Σw, half that of Σw².
    apart
        Whether each item has digits, least and most of its own, one after the other.
    """
    if not apart and (weight_step == rows or kinds[2] is None):
        rows, items = rows * items, 1
    gpu = _device(device)
    size = LABELS[kinds[0]][1], LABELS[kinds[1]][1], WEIGHTS[kinds[2]][1]
    together = 4 if sum(size) <= 8 else 2  # rows of a thread
    if not aligned or (items > 1 and rows % together):
        together = 1
    shape, kernels = _kernels(device, *kinds, together, classes, rows * items < FEW_ROWS * gpu.processors)
    w_planes, q_planes, low = planes
    unit = -1074 if kinds[2] == "float64" else -149
    cells = classes * (classes + 1)
    digits_step, ends_step = ((1 + w_planes + q_planes) * cells, cells) if apart else (0, 0)
    layout = shape.span, shape.copies, shape.right, classes * shape.copies
    rows_each = min(rows, QUEUE_ROWS if shape.span else MOST_ROWS)
    items_each = 1 if shape.many else min(items, MOST_ITEMS, MOST_ROWS // rows_each)
    todo = []
    for item in range(0, items, items_each):
        several = min(items_each, items - item)
        for row in range(0, rows, rows_each):
            now, at = min(rows_each, rows - row), item * rows + row
            blocks, per = _blocks(device, now, several)
            offsets = (
                *(at * size[0], at * size[1], (item * weight_step + row) * size[2]),
                *(8 * item * digits_step, 8 * item * ends_step),
            )
            own = (digits_step, ends_step) if several > 1 else (0, 0)
            head = now, weight_step, NO_LABEL if ignore is None else ignore, *own, at
            place = w_planes, q_planes, unit - low, 2 * (unit - low)
            tail = per, classes, per if shape.span else 0, blocks, *layout, *place
            last = at + now * several == rows * items
            first = _NUMBERS.pack(*head, last and not shape.span, *tail)
            todo.append(Step(kernels[0], (blocks, several), shape.shared, offsets, first))
            if shape.span:
                ranges = -(-classes // shape.span)
                grid = max(1, gpu.processors // ranges), ranges
                todo.append(Step(kernels[1], grid, shape.rest, offsets, _NUMBERS.pack(*head, last, *tail)))
    return todo


def _blocks(device: int, rows: int, items: int = 1) -> tuple[int, int]:
    """Return how many blocks there are for the rows of an item, and for how many rows of each a queue has room."""
    blocks = max(min(-(-rows // FEW_ROWS), max(1, _device(device).processors // items)), -(-rows // BLOCK_ROWS))
    if items == 1:
        blocks = -(-blocks // 4) * 4  # so that the parts of a queue begin at multiples of 16 bytes
    per = -(-rows // blocks)
    return blocks, -(-per // (4 * THREADS)) * 4 * THREADS


_device = lru_cache(Device)


@lru_cache
def _kernels(
    device: int, truth: str, pred: str, weight: str | None, together: int, classes: int, few: bool
) -> tuple[Plan, list[Kernel]]:
    """Return the plan for a table, and the kernels that follow it: the tally, and that of the queue."""
    gpu = _device(device)
    shape = plan(classes, weight, gpu.shared, FEW_RECORDS if few else RECORDS)
    names = {"TRUTH": LABELS[truth][0], "PRED": LABELS[pred][0], "WEIGHT": WEIGHTS[weight][0], "ROWS": together}
    defines = [f"{name}={value}" for name, value in (names | {"MANY": int(shape.many)}).items()]
    return shape, gpu.load(SOURCE, defines, ["tally", "rest"] if shape.span else ["tally"])
