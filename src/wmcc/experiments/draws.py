"""True classes, predictions and their margins, drawn from bits that are the same on any machine.

NumPy promises the raw bits of a generator from a seed, and nothing about what its distributions make of them. So all
that is drawn here is made of raw bits, by arithmetic on integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray
from .design import ExperimentDesign

HALF = np.uint64(32)
LOW = np.uint64(2**32 - 1)
AT_ONCE = 1 << 16  # margins at once: a dozen arrays of them fit the cache


def raw(design: ExperimentDesign, what: int, p: float, repetition: int, size: int) -> Array:
    """Return random 64-bit integers of their own for each repetition and p, whatever else is drawn."""
    key = (design.classes, what, int(np.float64(p).view(np.uint64)), repetition)
    return np.asarray(np.random.SFC64(np.random.SeedSequence(design.seed, spawn_key=key)).random_raw(size))


def truth(design: ExperimentDesign, repetition: int) -> IntArray:
    """Draw the true classes t, 0 … K − 1."""
    bits = raw(design, 0, 0.0, repetition if design.truth == "each" else 0, design.n)
    if design.truth == "balanced":
        return np.asarray(np.argsort(_keys(bits), kind="stable") % design.classes)
    return _below(bits >> HALF, design.classes)


def predictions(design: ExperimentDesign, p: float, repetition: int, t: IntArray) -> IntArray:
    """Draw a prediction c for each start: one per row.

    The high half of the bits decides what matches, the low half what a mismatch is.
    """
    N, L, S = design.n, design.section, len(design.starts)
    inside = (np.arange(N) >= np.arange(S)[:, np.newaxis]) & (np.arange(N) < np.arange(L, N + 1)[:, np.newaxis])
    if design.matches == "shared":
        there, here = shared(design, p, repetition, t)
        return np.where(inside, here, there)
    bits = raw(design, 1, p, repetition, S * N).reshape(S, N)
    if design.matches == "chance":
        match = bits >> HALF < np.where(inside, _threshold(p), _threshold(design.p0))
    else:
        keys, match = _keys(bits), np.empty((S, N), dtype=bool)
        for part, share in ((inside, p), (~inside, design.p0)):
            match[part] = _smallest(keys[part].reshape(S, -1), share).reshape(-1)
    return _labels(design, t, match, bits)


def shared(design: ExperimentDesign, p: float, repetition: int, t: IntArray) -> tuple[IntArray, IntArray]:
    """Draw what a prediction is outside its section and what it is inside, wherever the section starts."""
    bits = raw(design, 1, p, repetition, 2 * design.n).reshape(2, design.n)
    sides = zip((design.p0, p), bits, strict=True)
    there, here = (_labels(design, t, own >> HALF < _threshold(share), own) for share, own in sides)
    return there, here


class DrawnMargins(NamedTuple):
    """Row sums r, column sums q and diagonals d of the tables of some of the starts, classes first; s is the total."""

    starts: slice
    s: float
    r: FloatArray
    q: FloatArray
    d: FloatArray


def margins(
    design: ExperimentDesign, p: float, repetition: int
) -> tuple[Iterator[DrawnMargins], Iterator[DrawnMargins]]:
    """Margins of a repetition without weights, and with them."""
    t = truth(design, repetition)
    given: Any = shared if design.matches == "shared" else predictions
    of_weighting = _moved if design.matches == "shared" else _counted
    c = given(design, p, repetition, t)
    plain, weighted = (of_weighting(design, t, c, w) for w in (np.ones(design.n), np.array(design.weights, float)))
    return plain, weighted


def _counted(design: ExperimentDesign, t: IntArray, c: IntArray, w: FloatArray) -> Iterator[DrawnMargins]:
    """Margins of one prediction per start."""
    S, K = len(c), design.classes
    places = np.arange(S)[:, np.newaxis]
    sums = ((c, np.broadcast_to(w, c.shape)), (t, (c == t) * w))
    q, d = (_sums((k * S + places).reshape(-1), x.reshape(-1), K * S).reshape(K, S) for k, x in sums)
    yield DrawnMargins(slice(None), w.sum(), _sums(t, w, K)[:, np.newaxis], q, d)


def _moved(
    design: ExperimentDesign, t: IntArray, c: tuple[IntArray, IntArray], w: FloatArray
) -> Iterator[DrawnMargins]:
    """Margins where starts share their draws: what enters and leaves as the section moves on, summed up.

    Blocks of starts are small enough for the cache. Sums are of integers, since those of floats wait for each other.
    """
    L, K, S = design.section, design.classes, len(design.starts)
    there, here = c
    first, r, whole = np.where(np.arange(design.n) < L, here, there), _sums(t, w, K), w.astype(np.int64)
    gain = whole * ((here == t).astype(np.int64) - (there == t))
    sums = np.stack([_sums(first, w, K), _sums(t, w * (first == t), K)]).astype(np.int64)[..., np.newaxis]
    step = max(1, AT_ONCE // K)
    for a in range(0, S, step):
        b = min(S, a + step)
        low = max(a, 1)
        leaves, enters, at = slice(low - 1, b - 1), slice(low + L - 1, b + L - 1), np.arange(low - a, b - a)
        change = np.zeros((2, K, b - a), dtype=np.int64)
        change[0, here[enters], at] = whole[enters]
        change[0, there[enters], at] -= whole[enters]
        change[0, here[leaves], at] -= whole[leaves]
        change[0, there[leaves], at] += whole[leaves]
        change[1, t[enters], at] = gain[enters]
        change[1, t[leaves], at] -= gain[leaves]
        change[..., :1] += sums[..., -1:]
        sums = np.cumsum(change, axis=-1, out=change)
        q, d = sums.astype(np.float64)
        yield DrawnMargins(slice(a, b), w.sum(), r[:, np.newaxis], q, d)


def _sums(places: IntArray, weights: Array, size: int) -> FloatArray:
    """Sums of weights by place: exact, as weights are whole."""
    return np.asarray(np.bincount(places, weights, size), dtype=np.float64)


def _below(half: Array, limit: int) -> IntArray:
    """Integers below a limit, from 32 random bits each."""
    return np.asarray(half * np.uint64(limit) >> HALF).astype(np.int64)


def _keys(bits: Array) -> Array:
    """Random keys that differ within a row: the low half is the place."""
    return np.asarray((bits >> HALF << HALF) | np.arange(bits.shape[-1], dtype=np.uint64))


def _threshold(p: float) -> Any:
    return np.uint64(floor(p * 2**32))


def _smallest(keys: Array, share: float) -> Array:
    """Whether a key is among the smallest of its row, a share of them, to the nearest whole number."""
    size = keys.shape[-1]
    count = floor(share * size + 0.5)
    if count in (0, size):
        return np.full(keys.shape, count > 0)
    return np.asarray(keys <= np.partition(keys, count - 1, axis=-1)[:, count - 1 : count])


def _labels(design: ExperimentDesign, t: IntArray, match: Array, bits: Array) -> IntArray:
    """The true class where it is matched, another elsewhere."""
    K = design.classes
    if design.mismatch == "lowest":
        other: Any = t == 0
    elif design.mismatch == "next":
        other = (t + 1) % K
    else:
        other = t + 1 + _below(bits & LOW, K - 1)
        other = np.where(other >= K, other - K, other)
    return np.where(match, t, other).astype(np.int64)
