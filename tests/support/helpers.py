"""What several test files share: the two kernels, and strategies for rows."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import wmcc
from wmcc.core import kernel as tally
from wmcc.core.kernel import _numpy
from wmcc.robustness.aggregates import Aggregates
from wmcc.robustness.cells import BoxedCells

COMPILED = tally.active
KERNELS = {"compiled": COMPILED, "numpy": _numpy}


@contextlib.contextmanager
def using(kernel: str):
    """Tabulate with one of the kernels."""
    before, tally.active = tally.active, KERNELS[kernel]
    try:
        yield
    finally:
        tally.active = before


class Rows(NamedTuple):
    t: list[int]
    p: list[int]
    w: list[float]

    def only(self, keep) -> Rows:
        return Rows(*([x for x, k in zip(column, keep, strict=True) if k] for column in self))

    @property
    def arrays(self):
        return np.array(self.t), np.array(self.p), np.array(self.w, dtype=np.float64)


def joint_table(t: Any, a: Any, b: Any, w: Any = None, names: Any = ("a", "b"), **options: Any) -> Any:
    """The joint table of two predictions, called a and b unless said otherwise."""
    return wmcc.tabulate(t, dict(zip(names, (a, b), strict=True)), w, **options)


ordinary = st.floats(0, 1e6, allow_subnormal=False)
small_counts = st.integers(0, 5).map(float)
extreme = st.tuples(st.floats(1, 10, exclude_max=True), st.integers(-300, 299)).map(lambda x: x[0] * 10.0 ** x[1])
subnormal = st.integers(0, 2**52).map(lambda m: math.ldexp(m, -1074))
any_weight = st.one_of(ordinary, small_counts, extreme, subnormal)


@st.composite
def rows(
    draw: Any, classes: int = 5, most: int = 25, weight=any_weight, least_classes: int = 1, positive_total=True
) -> Rows:
    K = draw(st.integers(least_classes, classes))
    n = draw(st.integers(1, most))
    label = st.integers(0, K - 1)
    t, p = (draw(st.lists(label, min_size=n, max_size=n)) for _ in range(2))
    if draw(st.booleans()):  # mostly right, so that scores of all sizes come up
        p = [a if draw(st.integers(0, 3)) else b for a, b in zip(t, p, strict=True)]
    w = draw(st.lists(weight, min_size=n, max_size=n))
    if positive_total and not any(w):
        w[0] = 1.0
    return Rows(t, p, w)


cell = st.one_of(st.just(0.0), any_weight)
dominated = st.sampled_from([0.0, 1e-4, 2e-4, 1.0, 1e12, 3e12])


def table_of(cells):
    """A table with one row per cell."""
    w = np.array(cells, dtype=np.float64)
    t, p = np.nonzero(w)
    return wmcc.tabulate(t, p, w[t, p], labels=range(len(w)))


@st.composite
def matrices(draw, weight=cell, classes=6):
    K = draw(st.integers(1, classes))
    cells = [[draw(weight) for _ in range(K)] for _ in range(K)]
    if not any(map(any, cells)):
        cells[0][0] = 1.0
    return cells


def fractions_of(cells):
    return [[Fraction(x) for x in row] for row in cells]


FORMATS = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]
"""Kinds of sparse matrices of SciPy."""


@st.composite
def pairs(draw, weight=any_weight, most=7, classes=4):
    """Labels of N rows, and a matrix with many zeros."""
    N = draw(st.integers(1, most))
    t, c = (draw(st.lists(st.integers(0, classes - 1), min_size=N, max_size=N)) for _ in range(2))
    entry = st.one_of(st.just(0.0), weight)
    S = draw(st.lists(st.lists(entry, min_size=N, max_size=N), min_size=N, max_size=N))
    return t, c, np.array(S)


def aggregates(low: Any, high: Any, empty: bool = True) -> Aggregates:
    """Aggregates of boxes of K x K tables, with their empty cells or without them."""
    K = low.shape[-1]
    used = np.ones((K, K), dtype=bool) if empty else (high > 0).reshape(-1, K, K).any(axis=0)
    t, p = np.nonzero(used)
    return Aggregates(BoxedCells(t, p, K), low[..., t, p], high[..., t, p])


def few(examples: int):
    """Settings of a slow test: its own number of examples, in proportion to the profile's."""
    return settings(max_examples=max(1, examples * settings.default.max_examples // 100))
