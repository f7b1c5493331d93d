"""Between which two ε a statement stops being certain: one up to which it is proved, one at which it is broken.

Weights that break the statement are found quickly, a proof takes longer. So the smallest ε with such weights is looked
for first, and then, from there downwards, the largest one for which there is a proof: often it is next to it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan, nextafter, sqrt
from typing import NamedTuple

from .certificate import End

SMALLEST = 1e-15
"""Share of the largest ε below which a radius is taken to be 0: weights are not known better than to their rounding."""

LOOKS, PROOFS = 200, 60
"""Values of ε that are tried at most. A tenth of them is usual; the rest is for statements that hold by a hair."""


class Tried(NamedTuple):
    """What was found at an ε."""

    margin: float  # by how much the statement holds at least, if a proof was asked for; else how much it was seen to
    proved: bool  # whether it certainly holds
    witness: End | None  # where it certainly does not; None if no such weights were found
    stopped: bool  # whether a limit of the search came before an answer


class Question(NamedTuple):
    """A statement about weights that are off by up to ε."""

    margin: float  # by how much it holds at the weights as they are
    look: Callable[[float], Tried]  # from ε to what is found there: quickly, which proves nothing
    prove: Callable[[float], Tried]  # the same, with all the boxes that are allowed
    top: float  # the largest ε that is tried


class Bracket(NamedTuple):
    """What `bracket` finds."""

    safe: float  # the largest ε for which there is a proof
    broken: float | None  # the smallest ε at which the statement is broken; None if it is at none
    witness: End | None  # where it is broken
    stopped: bool  # whether the two are apart because a limit of the search was met


def bracket(asked: Question, tolerance: float, coarse: float) -> Bracket:
    """Find both ε to within a share ``tolerance`` of them.

    Where the search for a proof is stopped by its limits the bracket is not narrow anyway, and each proof that fails is
    dear: then what can be proved is found to within ``coarse``.
    """
    broken, witness = _broken(asked, tolerance)
    safe, unsafe, stopped = 0.0, inf if broken is None else broken, False
    failed = [(0.0, asked.margin)]  # ε and by how much it holds for certain, as far as all boxes tell
    guess = asked.top if broken is None else min(broken * (1 - tolerance), nextafter(broken, 0.0))
    for _ in range(PROOFS):
        if not safe < guess < unsafe or unsafe <= SMALLEST * asked.top:
            break
        tried = asked.prove(guess)
        if tried.proved:
            safe = guess
        else:
            unsafe, stopped, failed = guess, stopped or tried.stopped, [failed[-1], (guess, tried.margin)]
            if tried.witness is not None:
                broken, witness = guess, tried.witness
        if unsafe - safe <= (coarse if stopped else tolerance) * unsafe:
            break
        guess = _between(safe, unsafe)
        if stopped and failed[1][1] >= -asked.margin / 4:
            # Where the margin will be 0: on a line through the last two that are known in full, first that at ε = 0.
            predicted = _secant(*failed) * (1 - coarse / 2)
            if safe < predicted < unsafe:
                guess = predicted
            elif predicted <= safe and failed[0][0] > 0:  # so many boxes will not prove much more
                break
    narrow = broken is not None and broken - safe <= tolerance * broken
    return Bracket(safe, broken, witness, stopped and not narrow)


def _broken(asked: Question, tolerance: float) -> tuple[float | None, End | None]:
    """Find the smallest ε with a witness: by secants, and where they do not help by bisection."""
    tried = asked.look(asked.top)
    if tried.witness is None:
        return None, None
    low, high, witness, slow = 0.0, asked.top, tried.witness, 0
    near, nearest = (high, tried.margin), (low, asked.margin)  # where the margin was nearest to 0
    for _ in range(LOOKS):
        if high - low <= tolerance / 2 * high or high <= SMALLEST * asked.top:
            break
        width, apart = high - low, tolerance / 8 * high
        guess = _secant(near, nearest)
        guess += 2 * apart if nearest[0] == low else -2 * apart  # to the other side, so that it closes in
        if slow > 2 or not low < guess < high:
            guess = _between(low, high)
        guess = max(min(max(guess, low + apart), high - apart), SMALLEST / 2 * asked.top)
        if not low < guess < high:
            break
        tried = asked.look(guess)
        if tried.witness is not None:
            high, witness = guess, tried.witness
        else:
            low = guess
        near, nearest, *_ = sorted([near, nearest, (guess, tried.margin)], key=lambda x: -abs(x[1]))[1:]
        slow = 0 if slow > 2 or high - low <= width / 2 else slow + 1
    return high, witness


def _secant(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Where a line through two points crosses 0; NaN if it does not."""
    rise = b[1] - a[1]
    return b[0] - b[1] * ((b[0] - a[0]) / rise) if rise else nan


def _between(low: float, high: float) -> float:
    """A number between two: the geometric mean where they are orders apart."""
    if low == 0.0:
        return high / 16
    return low * sqrt(high / low) if 4 < high / low < inf else low + (high - low) / 2
