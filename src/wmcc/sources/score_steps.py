"""The step of each row of scores in memory: which scores occur, or between which edges each lies.

Values are sorted, which is several times faster than to find the order of the rows; then each row is placed among the
steps. A step is found by a table of buckets of equal width, and a few comparisons.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray
from ..core.threads import in_order, processors
from ..errors import InputError

MOST_STEPS = 1 << 17
"""Different scores that are all kept; of more, the weight is divided evenly among `CHOSEN_STEPS`."""

CHOSEN_STEPS = 10_000

FINE = 16
"""Parts that a chosen step is made of, where rows have weights: it has as many as come near its share."""

FEW, AT_ONCE = 1 << 14, 1 << 13
"""Rows that are looked up by search alone, and rows that are looked up together, in the processor's own memory."""

MOST_BUCKETS, COMPARED = 1 << 20, 3
"""Size of the table of buckets, and edges of a bucket that a score is compared with; in others it is searched for."""


class Steps(NamedTuple):
    """The step of each row, and the smallest score of each step; of rows without a score the step is the last."""

    codes: Array
    lower: list[float]
    edges: tuple[float, ...] | None
    unknown: int | None  # the first row without a score


WHOLE = 1 << 53
"""Integers up to which each is a float64 of its own."""


def refuse_rounded(floats: FloatArray, where: str, exactly: Callable[[IntArray], Sequence[Any]]) -> None:
    """Refuse scores of which the float64 is another number: scores that differ would become equal.

    ``exactly`` has what was given, at some places of the flat array.
    """
    large = np.flatnonzero(np.abs(floats) >= WHOLE)
    for row, given in zip(large.tolist(), exactly(large) if len(large) else (), strict=True):
        if given != float(given):  # Python compares integers and floats exactly
            place = ", ".join(map(str, np.unravel_index(row, floats.shape)))
            raise rounded(f"{where}[{place}] is {given}", given)


def rounded(said: str, given: Any) -> InputError:
    """Return the error of a score that is no float64."""
    return InputError(
        f"{said}; a score must be a float64, and the nearest one is {float(given)!r}, which others near it share.",
        "subtract the smallest score, or take ranks, so that scores that differ remain so.",
        "score",
    )


def steps_of(values: FloatArray, edges: tuple[float, ...] | None, weights: Any, threads: int | None = None) -> Steps:
    """Find the step of each row, between edges or, without, that of its score; if those are too many, choose edges."""
    flat = values.reshape(-1)
    unknown = np.isnan(flat)
    first = int(unknown.argmax()) if unknown.any() else None
    if edges is not None:
        codes, lower = places(flat, np.array(edges), threads), [-np.inf, *edges]
    else:
        known = np.sort(flat)[: flat.size - np.count_nonzero(unknown)]
        known += 0.0  # −0 is 0
        new = np.concatenate([np.arange(min(known.size, 1)), 1 + np.flatnonzero(known[1:] != known[:-1])])
        if len(new) > MOST_STEPS:
            codes, edges = _chosen(flat, known, _of_rows(weights, values.shape), threads)
            lower = [-np.inf, *edges]
        else:
            codes, lower = places(flat, known[new], threads), known[new].tolist()
            codes -= 1
    if first is not None:
        codes[unknown] = len(lower)
        lower = [*lower, np.nan]
    return Steps(codes.reshape(values.shape), lower, edges, first)


def evenly_weighted(scores: FloatArray, weights: Array) -> tuple[float, ...] | None:
    """Return thresholds between which scores, each given once, have nearly the same weight; None of a few scores."""
    if len(scores) <= MOST_STEPS:
        return None
    order = np.argsort(scores)
    return tuple(_dividing(scores[order], weights[order]).tolist())


def _of_rows(weights: Any, shape: tuple[int, ...]) -> FloatArray | None:
    """Return the weight of each row; None if there are none, or such as will be refused."""
    if weights is None:
        return None
    try:
        return np.broadcast_to(np.asarray(weights, dtype=np.float64), shape).reshape(-1)
    except (TypeError, ValueError):
        return None


def _chosen(
    flat: FloatArray, known: FloatArray, weights: FloatArray | None, threads: int | None
) -> tuple[Array, tuple[float, ...]]:
    """Choose thresholds between which the weight is nearly the same, and return the step of each row too."""
    if weights is None:
        return _between(flat, known[_evenly(known.size, CHOSEN_STEPS)[1:]], threads)
    fine = np.unique(known[_evenly(known.size, FINE * CHOSEN_STEPS)])
    codes = places(flat, fine, threads)  # from here in place: there may be very many
    codes -= 1
    np.maximum(codes, 0, out=codes)
    chosen = _dividing(fine, np.bincount(codes, weights, len(fine)))
    step = np.searchsorted(chosen, fine, side="right").astype(np.int32)
    return step.take(codes, out=codes, mode="clip"), tuple(chosen.tolist())


def _dividing(ascending: FloatArray, weights: Array) -> FloatArray:
    """Return those of some scores at which the sum of their weights reaches each of even shares."""
    share = np.cumsum(weights)
    least = np.searchsorted(share, np.linspace(0, share[-1], CHOSEN_STEPS, endpoint=False)[1:], side="right")
    return _finite(ascending[np.minimum(least, len(ascending) - 1)])


def _between(flat: FloatArray, chosen: FloatArray, threads: int | None) -> tuple[Array, tuple[float, ...]]:
    edges = _finite(chosen)
    return places(flat, edges, threads), tuple(edges.tolist())


def _evenly(count: int, parts: int) -> Array:
    return np.linspace(0, count, parts, endpoint=False).astype(np.int64)


def _finite(edges: FloatArray) -> FloatArray:
    return np.unique(edges[np.isfinite(edges)])


# ---- places among edges --------------------------------------------------------------------------------------


def places(values: FloatArray, edges: FloatArray, threads: int | None = None) -> Array:
    """Return what ``np.searchsorted(edges, values, side="right")`` does, faster for many values in any order."""
    look_up = _search(edges) if values.size <= FEW else _table(edges)
    out = np.empty(values.size, dtype=np.int32)

    def place(start: int) -> None:
        out[start : start + AT_ONCE] = look_up(values[start : start + AT_ONCE])

    workers = min(threads or processors(), -(-values.size // AT_ONCE))
    for _ in in_order(place, range(0, values.size, AT_ONCE), workers):
        pass
    return out


def _search(edges: FloatArray) -> Callable[[FloatArray], Any]:
    return lambda values: np.searchsorted(edges, values, side="right")


def _table(edges: FloatArray) -> Callable[[FloatArray], Any]:
    """Return a look-up by buckets of equal width.

    The bucket never falls as the score rises, whatever is rounded. So edges of the buckets before that of a score are
    at most as large as it, and edges of the buckets after it are larger; it is compared with those of its own.
    """
    finite = edges[np.isfinite(edges)]
    low, size = (finite[0] if len(finite) else 0.0), min(MOST_BUCKETS, 8 * len(edges))
    with np.errstate(all="ignore"):
        scale = size / (finite[-1] - low) if len(finite) > 1 else 0.0
    if not (0 < scale < np.inf):
        return _search(edges)

    def bucket(values: FloatArray) -> Array:
        with np.errstate(invalid="ignore", over="ignore"):
            scaled = (values - low) * scale
            return np.fmax(np.fmin(scaled, size - 1, out=scaled), 0, out=scaled).astype(np.int32)

    counts = np.bincount(bucket(edges), minlength=size)
    first = (np.cumsum(counts) - counts).astype(np.int32)
    crowded, most = counts > COMPARED, min(COMPARED, int(counts.max()))
    ends = np.append(edges, np.nan)  # of which none is at most a score

    def look_up(values: FloatArray) -> Array:
        own = bucket(values)
        out = first.take(own)
        for _ in range(most):
            out += ends.take(out) <= values
        hard = np.flatnonzero(crowded.take(own))
        out[hard] = np.searchsorted(edges, values[hard], side="right")
        return out

    return look_up
