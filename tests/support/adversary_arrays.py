"""The same values in every byte order, alignment and stride: what NumPy calls equal must make the same table.

`laid_out` puts a vector into memory another way, `ways` lists them all, and `hunt_arrays` draws rows of any types, each
column laid out in a way of its own, for as long as one likes: `hunt.py` gives it a share of its time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from helpers import KERNELS, using

import wmcc
from wmcc.errors import WmccError

Array = Any

LABEL_TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "U1", "U2", "U3", "S3", "O"]
WEIGHT_TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "O"]
ORDERS = ["=", "<", ">"]
"""This machine's byte order, not named; little and big endian, named: one of them is this machine's, too."""
OFFSETS = [0, 1, 4]
"""Bytes from an address that suits every type: 1 is an odd address, 4 suits some types and not others."""


def _zero(x: Array) -> Array:
    return np.broadcast_to(x[:1], x.shape)


STRIDES: dict[str, Callable[[Array], Array]] = {
    "side by side": lambda x: x,
    "every third": lambda x: np.repeat(x, 3)[1::3],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "a column of a matrix": lambda x: np.stack([x, x], axis=1)[:, 1],
    "a row of a Fortran matrix": lambda x: np.asfortranarray(np.stack([x, x]))[1],
    "all in one place": _zero,
}


class Way(NamedTuple):
    """How a vector lies in memory."""

    order: str = "="
    offset: int = 0
    stride: str = "side by side"
    writable: bool = True


def ways(constant: bool = False) -> Iterator[Way]:
    """Every way to lay out a vector; one whose values are all the same may have a stride of zero."""
    for way in map(Way._make, product(ORDERS, OFFSETS, STRIDES, (True, False))):
        if constant or way.stride != "all in one place":
            yield way


def laid_out(x: Array, way: Way) -> Array:
    """Return a vector of the same values that lies in memory in another way."""
    x = x.view(x.dtype.newbyteorder("=")) if x.dtype.hasobject else x.astype(x.dtype.newbyteorder(way.order))
    if way.order != "=" and not x.dtype.hasobject:
        x = x.view(x.dtype.newbyteorder(way.order))  # astype drops the name of an order that is this machine's
    x = STRIDES[way.stride](x)
    if way.offset and not x.dtype.hasobject:  # the same strides, from another address; objects stay where they are
        span = x.strides[0] * (len(x) - 1)
        room = np.empty(abs(span) + x.itemsize + 64, np.uint8)
        start = -room.ctypes.data % 16 + way.offset + max(0, -span)
        moved = np.ndarray(x.shape, x.dtype, room, start, x.strides)
        if 0 in x.strides:
            moved[:1] = x[:1]
        else:
            moved[...] = x
        x = moved
    x.flags.writeable = way.writable and x.flags.writeable
    return x


def labels(random: Any, dtype: str, rows: int, K: int = 3) -> Array:
    """Random labels of a type, a few different ones."""
    codes = random.integers(0, 2 if dtype == "?" else K, rows)
    if dtype[0] in "US":
        return np.array(["a", "é" if dtype[0] == "U" else "b", "cde"[: int(dtype[1])], *map(chr, range(100, 140))])[
            codes
        ].astype(dtype)
    if dtype == "O":
        mixes = ([True, 0, 2.0, np.int8(3)], ["a", "é", np.str_("cde"), "f"], [False, True, np.True_, False])
        values = np.empty(len(mixes[0]), dtype=object)
        values[:] = mixes[random.integers(len(mixes))]
        return values[codes % len(values)]
    return codes.astype(dtype)


def weights(random: Any, dtype: str, rows: int) -> Array:
    """Random weights of a type."""
    w = random.integers(0, 2 if dtype == "?" else 100, rows)
    if dtype in ("f8", "g", "O"):
        w = w * 10.0 ** random.integers(-200, 200, rows)
    return w.astype(dtype)


def hunt_arrays(job: tuple[int, float]) -> tuple[int, list[str]]:
    """Tabulate rows laid out in random ways for some seconds: how many, and those whose table is not the plain one."""
    seed, seconds = job
    random, end = np.random.default_rng(seed), time.monotonic() + seconds
    tables, found = 0, []
    while time.monotonic() < end:
        rows = int(random.choice([1, 2, 7, 300, 70_000, 200_000], p=[0.1, 0.2, 0.3, 0.3, 0.08, 0.02]))
        kinds = [str(random.choice(LABEL_TYPES)), str(random.choice(WEIGHT_TYPES))]
        both = labels(random, kinds[0], 2 * rows, int(random.choice([3, 30])))
        plain = [both[:rows].copy(), both[rows:].copy(), weights(random, kinds[1], rows)]
        places = [list(ways(constant=bool((x == x[0]).all()))) for x in plain]
        chosen = [place[random.integers(len(place))] for place in places]
        moved = [laid_out(x, way) for x, way in zip(plain, chosen, strict=True)]
        tables += 1
        for kernel in KERNELS:
            with using(kernel):
                results = [_result(rows) for rows in (plain, moved)]
            if results[0] != results[1]:
                found.append(f"{kernel}: {rows} rows of {kinds} as {chosen} from seed {seed}: {results[1]}")
    return tables, found


def _result(rows: list[Array]) -> Any:
    """The table, or what was said instead."""
    try:
        return wmcc.tabulate(*rows, threads=2 if len(rows[0]) > 1000 else None)
    except WmccError as problem:
        return str(problem)
    except Exception as problem:  # nothing else should be raised; it is what is looked for
        return f"{type(problem).__name__}: {problem}, of {id(problem)}"
