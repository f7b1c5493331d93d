"""Pairs of enclosures, of a quantity for two predictions of the same rows, with one of their difference.

Two classifiers agree on most rows, so what distinguishes them is small, while each quantity for itself moves
a lot with the weights. The difference is therefore carried along by its own rules, such as
xy − x'y' = x (y − y') + y' (x − x'), and never computed by subtracting two wide intervals alone.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray, IndexArray, IntArray
from ..core.stack import numbered
from .aggregates import Aggregates
from .cells import BoxedCells, class_sums
from .interval_arithmetic import UNIT, Span, up


class Both(NamedTuple):
    """Something that is true or false of each of the two."""

    a: Array
    b: Array


class Twin:
    """Enclosures of a quantity for the first and the second prediction, and of first − second."""

    __slots__ = ("a", "b", "delta")
    __array_ufunc__ = None

    a: Span
    b: Span
    delta: Span

    def __init__(self, a: Span, b: Span, delta: Span) -> None:
        self.a, self.b = a, b
        self.delta = delta & (a - b)

    def __add__(self, other: Any) -> Twin:
        y = _twin(other)
        return Twin(self.a + y.a, self.b + y.b, self.delta + y.delta)

    def __sub__(self, other: Any) -> Twin:
        y = _twin(other)
        return Twin(self.a - y.a, self.b - y.b, self.delta - y.delta)

    def __rsub__(self, other: Any) -> Twin:
        return _twin(other) - self

    def __neg__(self) -> Twin:
        return Twin(-self.a, -self.b, -self.delta)

    def __mul__(self, other: Any) -> Twin:
        y = _twin(other)
        delta = (self.a * y.delta + y.b * self.delta) & (self.b * y.delta + y.a * self.delta)
        return Twin(self.a * y.a, self.b * y.b, delta)

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Twin:
        return self * _twin(other).inverse()

    def inverse(self) -> Twin:
        """1/x − 1/x' = −(x − x') / (x x')."""
        a, b = self.a.inverse(), self.b.inverse()
        return Twin(a, b, -(self.delta * (a * b)))

    def sqrt(self) -> Twin:
        """√x − √x' = (x − x') / (√x + √x')."""
        a, b = self.a.sqrt(), self.b.sqrt()
        return Twin(a, b, self.delta / (a + b))

    def square(self) -> Twin:
        """x² − x'² = (x − x') (x + x')."""
        return Twin(self.a.square(), self.b.square(), self.delta * (self.a + self.b))

    def with_inverse(self) -> Twin:
        """(x + 1/x) − (x' + 1/x') = (x − x') (1 − 1/(x x'))."""
        product = self.a.inverse() * self.b.inverse()
        return Twin(self.a.with_inverse(), self.b.with_inverse(), self.delta * (1.0 - product))

    def sum(self) -> Twin:
        """Sum over the last axis, which stays with length one."""
        return Twin(self.a.sum(), self.b.sum(), self.delta.sum())

    def others(self) -> Twin:
        """For each entry of the last axis the sum of the others."""
        return Twin(self.a.others(), self.b.others(), self.delta.others())

    def __and__(self, other: Twin) -> Twin:
        return Twin(self.a & other.a, self.b & other.b, self.delta & other.delta)

    def within(self, target: Any) -> Twin:
        """Restrict to a target: a pair, or an interval that is one of the difference."""
        if isinstance(target, Twin):
            return self & target
        return Twin(self.a, self.b, self.delta & target)

    def between(self, least: float, most: float) -> Twin:
        """Cut off what both numbers are known not to be."""
        return Twin(self.a.between(least, most), self.b.between(least, most), self.delta)

    def at_least(self, least: float) -> Twin:
        """Raise the lower ends to what both numbers are known not to fall below."""
        return Twin(self.a.at_least(least), self.b.at_least(least), self.delta)

    def where(self, condition: Any, other: Any) -> Twin:
        """Keep the pairs where a condition holds; take others elsewhere."""
        y = _twin(other)
        a, b = condition if isinstance(condition, Both) else (condition, condition)
        delta = self.delta.where(a & b, y.delta).where(np.equal(a, b), UNKNOWN)
        return Twin(self.a.where(a, y.a), self.b.where(b, y.b), delta)

    def unless(self, doubtful: Any, least: float = -np.inf, most: float = np.inf) -> Twin:
        """Keep the pairs, but know nothing (or a range) of both where something is in doubt."""
        a, b = (x.unless(doubtful, least, most) for x in (self.a, self.b))
        return Twin(a, b, self.delta.unless(doubtful))

    def may_vanish(self) -> Any:
        """Where 0 is not excluded for one of the two."""
        return self.a.may_vanish() | self.b.may_vanish()

    def ever_positive(self) -> Both:
        """Where more than 0 is possible."""
        return Both(self.a.ever_positive(), self.b.ever_positive())

    def may_vanish_or_not(self) -> Any:
        """Where both 0 and more are possible for one of the two."""
        return self.a.may_vanish_or_not() | self.b.may_vanish_or_not()

    def __getitem__(self, index: Any) -> Twin:
        return Twin(self.a[index], self.b[index], self.delta[index])


def _twin(x: Any) -> Twin:
    """Return a number that is the same for both as a pair."""
    if isinstance(x, Twin):
        return x
    both = x if isinstance(x, Span) else Span(x, x)
    return Twin(both, both, Span(0.0, 0.0))


ZERO, UNKNOWN = Span(0.0, 0.0), Span(-np.inf, np.inf)


class JointCells:
    """Which classes the cells of a joint table belong to: true, first and second prediction, as rows of codes.

    ``first`` and ``second`` are the same cells as those of a table of one prediction. ``pairs`` are the different ones
    among these, and ``place`` says where each of the first's and of the second's is.
    """

    codes: IntArray
    K: int
    classes: tuple[int, int]
    t: IndexArray
    a: IndexArray
    b: IndexArray
    first: BoxedCells
    second: BoxedCells
    pairs: BoxedCells
    place: IndexArray
    agree: Array
    right: Both
    identity: Twin

    def __init__(
        self, codes: IntArray, K: int, classes: tuple[int, int] | None = None, known: int | None = None
    ) -> None:
        self.codes, self.K = codes, K
        self.classes = (K, K) if classes is None else classes
        self.t, self.a, self.b = (np.asarray(code, dtype=np.intp) for code in codes)
        self.first = BoxedCells(self.t, self.a, K, self.classes[0], known)
        self.second = BoxedCells(self.t, self.b, K, self.classes[1], known)
        pairs, place = numbered(np.concatenate([codes[[0, 1]], codes[[0, 2]]], axis=1))
        self.pairs, self.place = BoxedCells(pairs[0], pairs[1], K), place.reshape(2, -1)
        self.agree = self.a == self.b
        self.right = Both(self.first.same, self.second.same)
        one, two = (Span.exactly(x * 1.0) for x in self.right)
        self.identity = Twin(one, two, Span.exactly(one.lo - two.lo))

    def __len__(self) -> int:
        return len(self.t)

    def laid_out(self, x: FloatArray) -> FloatArray:
        """Numbers of the cells, in the order of the joint table's."""
        return x


class _Part:
    """The aggregates of some boxes of a stack."""

    def __init__(self, of: Aggregates, boxes: slice) -> None:
        self._of, self._boxes = of, boxes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)[self._boxes]


class TwinAggregates:
    """The fields of `Aggregates` for two predictions, over boxes of joint cells."""

    classes: Twin
    first: _Part
    second: _Part

    def __init__(self, cells: JointCells, low: FloatArray, high: FloatArray) -> None:
        self.cells = cells
        counts = [Span.exactly(np.array([float(count)])) for count in cells.classes]
        self.classes = Twin(counts[0], counts[1], counts[0] - counts[1])
        K = cells.K
        t, a, b = cells.t, cells.a, cells.b
        pad, boxes = (low.shape[-1] + 8) * UNIT, len(low)
        tables = [
            np.concatenate([class_sums(ends, place, len(cells.pairs)) for place in cells.place]) for ends in (low, high)
        ]
        both = Aggregates(cells.pairs, tables[0] * (1 - pad), tables[1] * (1 + pad))  # one after the other, in one go
        self.first, self.second = _Part(both, slice(boxes)), _Part(both, slice(boxes, None))
        total = Span(low.sum(-1, keepdims=True) * (1 - pad), high.sum(-1, keepdims=True) * (1 + pad))

        def difference(plus: Array, minus: Array, codes: tuple[Array, Array], size: int) -> Span:
            """Range of (Σ of the cells in one set − Σ of those in another) / Σ of all, per code."""

            def sums(chosen: Array, code: Array) -> Span:
                least, most = (class_sums(ends[:, chosen], code[chosen], size) for ends in (low, high))
                return Span(least * (1 - pad), most * (1 + pad))

            first, second = sums(plus, codes[0]), sums(minus, codes[1])
            return Span(-_largest(second, first, total, pad), _largest(first, second, total, pad))

        differ = a != b
        only_a, only_b, one = (a == t) & differ, (b == t) & differ, np.zeros_like(t)
        self._dq = difference(differ, differ, (a, b), K)  # the truth has no difference, and r none either
        self._d_right = difference(only_a, only_b, (t, t), K)
        self._dT = difference(only_a, only_b, (one, one), 1)

    def _twin(self, name: str, delta: Span) -> Twin:
        return Twin(getattr(self.first, name), getattr(self.second, name), delta)

    # ---- from classes to joint cells: those of the first's and of the second's table that hold them ---------

    def row(self, x: Twin) -> Twin:
        """Give each cell the numbers of its true class."""
        return x[..., self.cells.t]

    def column(self, x: Twin) -> Twin:
        """Give each cell the numbers of its predicted classes; their difference is that of one class, or of two."""
        a, b, agree = self.cells.a, self.cells.b, self.cells.agree
        return Twin(x.a[..., a], x.b[..., b], x.delta[..., a].where(agree, UNKNOWN))

    def without_two(self, x: Twin) -> Twin:
        """Give each cell the sums over the classes that are neither its true nor its predicted one."""
        t, a, b = self.cells.t, self.cells.a, self.cells.b
        delta = x.delta.without_two(t, a).where(self.cells.agree, UNKNOWN)
        return Twin(x.a.without_two(t, a), x.b.without_two(t, b), delta)

    @property
    def same(self) -> Both:
        """Whether the true and the predicted class of a cell are the same, for both predictions."""
        return self.cells.right

    @property
    def identity(self) -> Twin:
        """The same as numbers."""
        return self.cells.identity

    present = property(lambda self: Both(self.first.present, self.second.present))
    # A sum that never falls less one that never falls may do both, so the diagonal is no exception.
    jumps = property(lambda self: self.first.vanishing | self.second.vanishing)
    in_truth = property(lambda self: self.first.in_truth)
    ever_in_truth = property(lambda self: self.first.ever_in_truth)

    r: cached_property[Twin] = cached_property(lambda self: self._twin("r", ZERO))
    not_r: cached_property[Twin] = cached_property(lambda self: self._twin("not_r", ZERO))
    q: cached_property[Twin] = cached_property(lambda self: self._twin("q", self._dq))
    not_q: cached_property[Twin] = cached_property(lambda self: self._twin("not_q", -self._dq))
    T: cached_property[Twin] = cached_property(lambda self: self._twin("T", self._dT))
    o: cached_property[Twin] = cached_property(lambda self: self._twin("o", -self._dT))
    x: cached_property[Twin] = cached_property(lambda self: self._twin("x", -self._dq))
    q_over_r: cached_property[Twin] = cached_property(lambda self: self._twin("q_over_r", self._dq / self.first.r))
    nq_over_nr: cached_property[Twin] = cached_property(
        lambda self: self._twin("nq_over_nr", -(self._dq / self.first.not_r))
    )
    recall: cached_property[Twin] = cached_property(lambda self: self._twin("recall", self._d_right / self.first.r))
    union: cached_property[Twin] = cached_property(lambda self: self._twin("union", self._dq - self._d_right))
    rq: cached_property[Twin] = cached_property(lambda self: self._twin("rq", (self.first.r * self._dq).sum()))
    P: cached_property[Twin] = cached_property(lambda self: self._twin("P", ZERO))
    Q: cached_property[Twin] = cached_property(
        lambda self: self._twin("Q", -((self.first.q + self.second.q) * self._dq).sum())
    )
    N: cached_property[Twin] = cached_property(lambda self: self._twin("N", self._dT - self.rq.delta))
    alpha: cached_property[Twin] = cached_property(lambda self: self._twin("alpha", -self.N.delta))
    beta: cached_property[Twin] = cached_property(lambda self: self._twin("beta", self.Q.delta - self.N.delta))

    hit: cached_property[Twin] = cached_property(lambda self: self._twin("hit", self._d_right))
    iou: cached_property[Twin] = cached_property(lambda self: self._twin("iou", (self.hit / self.union).delta))
    f1: cached_property[Twin] = cached_property(
        lambda self: self._twin("f1", (self.hit / ((self.r + self.q) * 0.5)).delta)
    )

    @cached_property
    def phi(self) -> Twin:
        """MCC of each class against the rest."""
        ratio = (self.hit - self.r * self.q) / ((self.r * self.not_r).sqrt() * (self.q * self.not_q).sqrt())
        return self._twin("phi", ratio.where(self.present, 0.0).delta)


def _largest(plus: Span, minus: Span, total: Span, pad: float) -> FloatArray:
    """Bound (P − M)/(P + M + rest) from above: it rises in P, falls in M, and the rest is in the denominator alone.

    ``pad`` is the relative error of the sums.
    """
    v = plus.hi - minus.lo
    small = (total.lo + (plus.hi - plus.lo)) * (1 - 4 * pad)
    large = total.hi - (minus.hi - minus.lo) + 4 * pad * total.hi
    share = np.where(v > 0, v / small, v / large)
    return np.asarray(up(share + 8 * UNIT * np.abs(share)))
