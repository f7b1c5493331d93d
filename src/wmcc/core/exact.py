"""Arrays of exact sums.

A float64 is an integer times a power of two, and so is every sum of float64 numbers. `Exact` keeps such
sums as radix 2**32 digits, one plane of digits per power: adding is integer addition, so it neither rounds
nor depends on the order, and a number is rounded once, when somebody reads it as a float.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..errors import TooManyClassesError
from .arraytypes import FloatArray, IntArray

RADIX_BITS = 32
_MASK = (1 << RADIX_BITS) - 1
_LOWEST = -2200  # below the square of the smallest float64
MOST_DIGITS = 136 << 20
"""Digits that an array of sums may have: 1.1 GB. So 2**20 cells hold sums of any squares, and 2**22 those of weights
over 140 orders of magnitude. The compiled kernel has the same bound (``WMCC_MOST_DIGITS``)."""
FEW = 32  # numbers that Python's own integers turn into floats faster than arrays do
BLOCK = 1 << 16  # numbers that arrays turn into floats at a time
# No sum of float64 numbers or of their squares is longer; a longer one would only cost memory.
_HEX = re.compile(r"0x([0-9a-f]{1,1200})p(-?\d{1,4})")


class Exact:
    """An array of non-negative numbers ``Σ_d digits[d] * 2**(exponent + 32 d)``, held exactly.

    Parameters
    ----------
    digits
        Planes of digits, the lowest first; shape ``(D, *shape)``. Any int64 values whose totals are not
        negative are accepted; the object keeps the one form with digits in [0, 2**32) and no empty plane at
        either end, so that equal numbers have equal digits.
    exponent
        Power of two of the lowest plane, a multiple of 32.

    Examples
    --------
    >>> import numpy as np
    >>> a = Exact.from_floats(np.array([0.1, 1e300]))
    >>> b = Exact.from_floats(np.array([0.2, 1e-300]))
    >>> (a + b).floats()
    array([3.e-001, 1.e+300])
    >>> (a + b) == (b + a)
    True
    """

    __slots__ = ("digits", "exponent")
    digits: IntArray
    exponent: int

    def __init__(self, digits: IntArray, exponent: int) -> None:
        self.digits, self.exponent = _canonical(np.array(digits), exponent)
        self.digits.flags.writeable = False

    @classmethod
    def _own(cls, digits: IntArray, exponent: int) -> Exact:
        """As the constructor does, of digits that nobody else needs: they may be large."""
        return cls.trusted(*_canonical(digits, exponent))

    @classmethod
    def trusted(cls, digits: IntArray, exponent: int) -> Exact:
        """Wrap digits that are in canonical form already (a kernel made them)."""
        self = cls.__new__(cls)
        self.digits, self.exponent = digits, exponent
        digits.flags.writeable = False
        return self

    @classmethod
    def from_kernel(cls, cells: int, exponent: int, digits: bytes) -> Exact:
        """Return a vector of sums as a kernel gives them."""
        planes = len(digits) // 8 // cells if cells else 0
        return cls.trusted(np.frombuffer(digits, np.int64).reshape(planes, cells), exponent)

    @classmethod
    def from_counts(cls, n: IntArray) -> Exact:
        """Exact form of non-negative integers."""
        return cls._own(n[np.newaxis].astype(np.int64), 0)

    @classmethod
    def from_floats(cls, x: FloatArray) -> Exact:
        """Exact form of finite, non-negative floats."""
        x = np.asarray(x, dtype=np.float64)
        plane, parts, exponent = split(x.reshape(-1))
        digits = no_digits(int(plane.max(initial=0)) + len(parts), (x.size,))
        for d, part in enumerate(parts):
            digits[plane + d, np.arange(x.size)] += part
        return cls._own(digits.reshape(len(digits), *x.shape), exponent)

    @classmethod
    def from_hex(cls, numbers: Sequence[str]) -> Exact:
        """Read what `hex` wrote; a plain vector."""
        return cls._from_pairs([_parse(text) for text in numbers])

    @classmethod
    def _from_pairs(cls, pairs: Sequence[tuple[int, int]]) -> Exact:
        """Vector of the numbers ``m * 2**e``."""
        low = min((e for m, e in pairs if m), default=0) // RADIX_BITS * RADIX_BITS
        values = [m << (e - low) if m else 0 for m, e in pairs]
        planes = -(-max((v.bit_length() for v in values), default=0) // RADIX_BITS)
        check_digits(planes, len(values))
        digits = [[v >> (RADIX_BITS * d) & _MASK for v in values] for d in range(planes)]
        return cls(np.array(digits, dtype=np.int64).reshape(planes, len(values)), low)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array of numbers."""
        return self.digits.shape[1:]

    def _vectors(self) -> IntArray:
        """The planes, each as a vector."""
        return self.digits.reshape(len(self.digits), math.prod(self.shape))

    def __add__(self, other: Exact) -> Exact:
        a, b = self.digits, other.digits
        if not len(a) or not len(b):
            return self if len(a) else other
        low = min(self.exponent, other.exponent)
        skip_a, skip_b = (self.exponent - low) // RADIX_BITS, (other.exponent - low) // RADIX_BITS
        digits = no_digits(max(skip_a + len(a), skip_b + len(b)), self.shape)
        digits[skip_a : skip_a + len(a)] = a
        digits[skip_b : skip_b + len(b)] += b
        return Exact._own(digits, low)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Exact):
            return NotImplemented
        return self.exponent == other.exponent and np.array_equal(self.digits, other.digits)

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Exact, (self.digits, self.exponent)

    def __repr__(self) -> str:
        return f"Exact({self.floats()!r})"

    def placed(self, shape: tuple[int, ...], at: Any) -> Exact:
        """Return an array of zeros in which these numbers stand at ``at``, each at a place of its own."""
        digits = no_digits(len(self.digits), shape)
        for plane, numbers in zip(digits, self.digits, strict=True):
            plane[at] = numbers
        return Exact.trusted(digits, self.exponent)

    @staticmethod
    def beside(several: Sequence[Exact]) -> Exact:
        """Numbers of several vectors, one after the other."""
        used = [x for x in several if len(x.digits)]
        low = min((x.exponent for x in used), default=0)
        high = max((x.exponent + RADIX_BITS * len(x.digits) for x in used), default=0)
        digits = no_digits((high - low) // RADIX_BITS, (sum(x.digits.shape[1] for x in several),))
        end = 0
        for x in several:
            start, end, skip = end, end + x.digits.shape[1], (x.exponent - low) // RADIX_BITS
            digits[skip : skip + len(x.digits), start:end] = x.digits
        return Exact._own(digits, low)

    def by_code(self, codes: IntArray, size: int) -> Exact:
        """Add up the numbers of a vector that have the same code, of so many codes."""
        digits = no_digits(len(self.digits), (size,))
        for plane, numbers in zip(digits, self.digits, strict=True):
            np.add.at(plane, codes, numbers)
        return Exact._own(digits, self.exponent)

    def runs(self, starts: Any) -> Exact:
        """Add up runs of neighbouring numbers of a vector; each begins at one of ``starts``, the first at 0."""
        return Exact._own(np.add.reduceat(self.digits, starts, axis=1), self.exponent)

    def take(self, at: Any) -> Exact:
        """Return some of the numbers, by any index of NumPy."""
        # Contiguous, as all are: sums of floats depend on how numbers lie in memory.
        digits = np.array(self.digits[(slice(None), *(at if isinstance(at, tuple) else (at,)))], order="C")
        return Exact.trusted(*_trimmed(digits, self.exponent))

    def sum(self, axis: int | None = None) -> Exact:
        """Exact sum over one axis of the array, or all of it."""
        axes = tuple(range(1, self.digits.ndim)) if axis is None else axis + 1
        return Exact._own(self.digits.sum(axis=axes), self.exponent)

    def total(self) -> int:
        """Return the sum of all numbers, in units of ``2**exponent``."""
        return sum(x << RADIX_BITS * d for d, x in enumerate(np.add.reduce(self._vectors(), 1).tolist()))

    def times(self, factor: float, power: int) -> FloatArray:
        """Return a vector of the numbers times ``factor * 2**power``, which must lie within float64.

        Planes of digits are added from the top, with what rounding took away kept beside: so the sum is the nearest
        float64 but in very rare cases, and is rounded once more by the factor. Faster than `floats` for many.
        """
        if not len(self.digits):
            return np.zeros(self.shape)
        scales = [math.ldexp(1.0, self.exponent + power + RADIX_BITS * d) for d in range(len(self.digits))]
        out, lost = self.digits[-1] * scales[-1], np.zeros(self.shape)
        for digits, scale in zip(self.digits[-2::-1], scales[-2::-1], strict=True):
            plane = digits * scale
            more = out + plane
            np.subtract(more, out, out=out)  # what was added
            lost += np.subtract(plane, out, out=plane)
            out = more
        lost += out
        lost *= factor
        return lost

    def scaled(self, factors: FloatArray) -> Exact:
        """Return a vector of the numbers, each times a factor of its own, exactly.

        Examples
        --------
        >>> import numpy as np
        >>> Exact.from_counts(np.array([3, 10])).scaled(np.array([0.1, 0.5])).floats()
        array([0.3, 5. ])
        """
        plane, parts, exponent = split(factors)
        digits = no_digits(int(plane.max(initial=0)) + len(self.digits) + 4, self.shape)
        each = np.arange(len(factors))
        for f, part in enumerate(parts):
            for d, own in enumerate(self.digits):
                product = part.astype(np.uint64) * own.astype(np.uint64)  # of digits of 32 bits each: 64 hold it
                digits[plane + f + d, each] += (product & np.uint64(_MASK)).astype(np.int64)
                digits[plane + f + d + 1, each] += (product >> np.uint64(RADIX_BITS)).astype(np.int64)
        return Exact._own(digits, self.exponent + exponent)

    def faded(self, factor: float) -> Exact:
        """Return the numbers times a factor, rounded to 53 bits or more: exact products would grow for ever."""
        rounded = self.floats() * factor
        if np.isfinite(rounded).all() and not ((rounded < np.finfo(float).tiny) & self.digits.any(axis=0)).any():
            return Exact.from_floats(rounded)
        fraction, power = math.frexp(factor)
        pairs = []
        for value in integers(self._vectors()):
            product, exponent = value * int(fraction * 2**53), self.exponent + power - 53
            excess = max(0, product.bit_length() - 64)
            product = (product + (1 << excess >> 1)) >> excess
            gone = product.bit_length() + excess + exponent < _LOWEST
            pairs.append((0, 0) if gone else (product, exponent + excess))
        vector = Exact._from_pairs(pairs)
        return Exact(vector.digits.reshape(len(vector.digits), *self.shape), vector.exponent)

    def integers(self, exponent: int | None = None) -> Any:
        """Return the numbers as Python integers in units of ``2**exponent``, nested as the array is.

        The exponent is the own one, or for a vector one that is not larger.
        """
        numbers = integers(self.digits)
        return numbers if exponent is None else [x << self.exponent - exponent if x else 0 for x in numbers]

    def hex(self) -> list[str]:
        """Every number as ``0x<digits>p<exponent>``, in C order: exact, and `float.fromhex` rounds it right."""
        text = []
        for m in integers(self._vectors()):
            zeros = (m & -m).bit_length() - 1 if m else 0  # binary zeros at the end, left to the exponent
            text.append(f"{m >> zeros:#x}p{self.exponent + zeros if m else 0}")
        return text

    def floats(self, power: Any = 0) -> FloatArray:
        """The float64 nearest to each number times 2**power, ties to even; infinity past the largest.

        The power is an integer, or an array of one for each number.
        """
        if len(self.digits) == 0:
            return np.zeros(self.shape)
        vectors = self._vectors()
        if vectors.shape[1] <= FEW and isinstance(power, int):
            lowest = self.exponent + power
            return np.array([nearest_float(x, lowest) for x in integers(vectors)]).reshape(self.shape)
        exponents: Any = np.broadcast_to(self.exponent + power, self.shape).reshape(-1)
        out = np.empty(len(exponents))
        for start in range(0, len(out), BLOCK):  # what is needed on the way is as large as the digits
            part = slice(start, start + BLOCK)
            out[part] = _floats(vectors[:, part], exponents[part])
        return out.reshape(self.shape)


def _floats(vectors: IntArray, exponents: IntArray) -> FloatArray:
    """The float64 nearest to each of some numbers, whose lowest digits have these exponents."""
    D = len(vectors)
    digits = np.zeros((D + 3, vectors.shape[1]), dtype=np.uint64)
    digits[3:] = vectors
    occupied = digits != 0
    top = D + 2 - np.argmax(occupied[::-1], axis=0)
    top[~occupied.any(axis=0)] = 3
    column = np.arange(digits.shape[1])
    first, second, third = (digits[top - i, column] for i in range(3))
    rest = np.logical_or.accumulate(occupied, axis=0)[top - 3, column]
    # 64 leading bits, the last of them "sticky": set if anything below it is. The conversion to 53
    # bits then rounds as the whole number would.
    shift = (RADIX_BITS - np.frexp(first.astype(np.float64))[1]).astype(np.uint64)
    shift[first == 0] = 0
    spare = np.uint64(RADIX_BITS) - shift
    leading = ((first << np.uint64(RADIX_BITS) | second) << shift) | (third >> spare)
    sticky = rest | ((third & ((np.uint64(1) << spare) - np.uint64(1))) != 0)
    lowest = exponents + RADIX_BITS * (top - 4) - shift.astype(np.int64)
    with np.errstate(over="ignore", under="ignore"):
        out: FloatArray = np.ldexp((leading | sticky).astype(np.float64), lowest)
    # Below the normal range ldexp rounds a second time; division of integers does not.
    for i in np.flatnonzero((lowest + 63 < -1022) & (first != 0)):
        out[i] = nearest_float(integers(vectors[:, i]), int(exponents[i]))
    return out


def nearest_float(x: int, exponent: int) -> float:
    """The float64 nearest to ``x * 2**exponent``: Python rounds quotients of integers correctly, and once."""
    try:
        return float(x << exponent) if exponent >= 0 else x / (1 << -exponent)
    except OverflowError:
        return math.inf


def integers(digits: IntArray) -> Any:
    """Fold planes of digits, each below 2**32, into Python integers, as nested lists of the shape of one plane."""
    if len(digits) == 0:
        return np.zeros(digits.shape[1:], dtype=np.int64).tolist()
    if digits.ndim > 2:
        return [integers(digits[:, i]) for i in range(digits.shape[1])]
    bits, pairs = RADIX_BITS, np.asarray(digits)
    if digits.ndim == 2 and digits.shape[1] > FEW:  # of many numbers two digits become one, while they are in arrays
        bits, pairs = 2 * RADIX_BITS, digits[::2].astype(np.uint64)
        pairs[: len(digits) // 2] |= digits[1::2].astype(np.uint64) << np.uint64(RADIX_BITS)
    planes: Any = pairs.tolist()
    values = planes.pop()
    while planes:
        plane = planes.pop()
        if digits.ndim == 1:
            values = (values << bits) + plane
        else:
            values = [(v << bits) + d for v, d in zip(values, plane, strict=True)]
    return values


def split(x: FloatArray, square: bool = False) -> tuple[IntArray, tuple[IntArray, IntArray, IntArray], int]:
    """Digits of a vector of floats, or of its squares rounded to 53 bits with no limit on the exponent.

    Returns
    -------
    plane
        Where the lowest digit of each number belongs.
    parts
        Its three digits: to be added to ``plane``, ``plane + 1`` and ``plane + 2``.
    exponent
        Power of two of plane 0, a multiple of 32.
    """
    fraction, power = np.frexp(x)
    power = power.astype(np.int64)
    if square:
        fraction, extra = np.frexp(fraction * fraction)
        power = 2 * power + extra
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    used = mantissa != 0
    lowest = int(power[used].min()) if used.any() else 0
    power = np.where(used, power, lowest) - 53
    exponent = (lowest - 53) // RADIX_BITS * RADIX_BITS
    plane, shift = np.divmod(power - exponent, RADIX_BITS)
    bottom, head = (mantissa & _MASK) << shift, (mantissa >> RADIX_BITS) << shift
    return plane, (bottom & _MASK, (bottom >> RADIX_BITS) + (head & _MASK), head >> RADIX_BITS), exponent


def no_digits(planes: int, shape: tuple[int, ...]) -> IntArray:
    """Planes of zeros; more than there may be are refused before they take memory."""
    check_digits(planes, math.prod(shape))
    return np.zeros((planes, *shape), dtype=np.int64)


def check_digits(planes: int, cells: int) -> None:
    """Refuse sums that would take too much memory."""
    if planes * cells > MOST_DIGITS:
        raise TooManyClassesError(
            f"the weights differ so much in size that exact sums of {cells:,} cells would take "
            f"{planes * cells * 8 / 1e9:.1f} GB or more; the limit is {MOST_DIGITS * 8 / 1e9:.1f} GB.",
            "set weights that are negligible compared with the largest to 0. Up to 1,048,576 cells may hold weights of "
            "any size.",
        )


def _canonical(digits: IntArray, exponent: int) -> tuple[IntArray, int]:
    """Digits carried into [0, 2**32), in place, and empty planes at both ends dropped."""
    for d in range(len(digits) - 1):
        carry = digits[d] >> RADIX_BITS
        digits[d] &= _MASK
        digits[d + 1] += carry
    if len(digits) and digits[-1].min(initial=0) < 0:
        raise ValueError("exact sums must not be negative")
    if len(digits) and digits[-1].max(initial=0) > _MASK:
        carry = np.asarray(digits[-1] >> RADIX_BITS)
        digits[-1] &= _MASK
        digits = np.concatenate([digits, carry[np.newaxis]])
    return _trimmed(digits, exponent)


def _trimmed(digits: IntArray, exponent: int) -> tuple[IntArray, int]:
    """Digits that lie in [0, 2**32), without empty planes at either end."""
    first, last = 0, len(digits)
    while last and not digits[last - 1].any():
        last -= 1
    while first < last and not digits[first].any():
        first += 1
    if last - first < len(digits):
        digits = digits[first:last].copy()
    return digits, exponent + RADIX_BITS * first if last else 0


def fraction_hex(number: Fraction) -> str:
    """Write one sum as `Exact.hex` writes many."""
    m, down = number.numerator, number.denominator.bit_length() - 1
    zeros = (m & -m).bit_length() - 1 if m else 0
    return f"{m >> zeros:#x}p{zeros - down}"


def hex_fraction(text: str) -> Fraction:
    """Read what `fraction_hex` wrote."""
    m, e = _parse(text)
    return Fraction(m) * Fraction(2) ** e


def _parse(text: str) -> tuple[int, int]:
    match = _HEX.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is not an exact sum")
    return int(match[1], 16), int(match[2])


def effective_size(w: int, w2: int, shift: int) -> float:
    """Return Kish's (Σw)² / Σw², where the unit of the first is so many bits larger; 0 if there is no weight."""
    n, d = w * w << max(shift, 0), w2 << max(-shift, 0)
    return n / d if d else 0.0


def effective_sizes(w: Exact, w2: Exact) -> list[float]:
    """Return that of each number of two vectors."""
    shift = 2 * w.exponent - w2.exponent
    return [effective_size(*both, shift) for both in zip(w.integers(), w2.integers(), strict=True)]
