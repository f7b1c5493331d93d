"""The exact sums: against math.fsum and fractions, kernel against kernel, any order, chunking and threads."""

import functools
import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import oracle
import pytest
from helpers import KERNELS, any_weight, rows, using
from hypothesis import given
from hypothesis import strategies as st
from oracle import _rounded_square

import wmcc
from wmcc.core import kernel as tally
from wmcc.core.exact import MOST_DIGITS, Exact
from wmcc.errors import LabelError

INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


def exact_numbers(exact: Exact) -> list[Fraction]:
    unit = Fraction(2) ** exact.exponent
    return [x * unit for x in np.ravel(np.array(exact.integers(), dtype=object))]


COMPILED = pytest.mark.skipif(KERNELS["compiled"] is KERNELS["numpy"], reason="no compiled kernel here")


@pytest.mark.parametrize("kernel", KERNELS)
@given(data=rows(classes=4, most=60))
def test_sums_are_exact(kernel, data):
    with using(kernel):
        table = wmcc.tabulate(*data.arrays)
    C, Q = oracle.matrix(*data, table.labels), oracle.squares(*data, table.labels)
    assert exact_numbers(table.w_exact) == list(itertools.chain(*C))
    assert exact_numbers(table.w2_exact) == list(itertools.chain(*Q))
    for (a, t), (b, p) in itertools.product(enumerate(table.labels), repeat=2):
        weights = [w for x, y, w in zip(*data, strict=True) if (x, y) == (t, p)]
        assert table.n[a, b] == len(weights)
        assert table.w[a, b] == math.fsum(weights)
        if weights:
            assert (table.w_min[a, b], table.w_max[a, b]) == (min(weights), max(weights))
        else:
            assert np.isnan(table.w_min[a, b])
            assert np.isnan(table.w_max[a, b])


def big_inputs():
    """Inputs that make the compiled kernel flush, move its window, and take its slow path."""
    rng = np.random.default_rng(7)
    n = 300_000
    yield "lognormal", 2, rng.lognormal(0, 1, n)
    yield "three levels, sorted", 2, np.repeat([1.0, 100.0, 10000.0], n // 3)
    yield "twelve orders", 3, 10.0 ** rng.uniform(-6, 6, n)
    yield "every exponent", 3, np.ldexp(rng.random(n), rng.integers(-1073, 1024, n))
    yield "drifting", 20, np.ldexp(rng.random(n), np.arange(n) // 3000 - 50)
    yield "zeros and minus zeros", 20, np.where(rng.random(n) < 0.5, rng.choice([0.0, -0.0], n), rng.random(n))
    yield "all ones", 40, np.ones(n)
    yield "largest", 2, np.full(n, np.finfo(float).max)
    yield "smallest", 2, np.full(n, 5e-324)
    yield "float32", 30, rng.lognormal(0, 3, n).astype(np.float32)
    # Rows of weight zero come before the compiled kernel knows what weights to expect.
    yield "zeros first", 2, np.where(np.arange(n) < 5000, 0.0, rng.lognormal(15, 1, n))
    yield "a block of zeros first", 3, np.where(np.arange(n) < 256, 0.0, 1e-9)
    steps = np.arange(n) // 256
    yield "blocks of zeros between moves", 2, np.where(steps % 3 == 0, 0.0, np.ldexp(1.5, (steps // 40) % 60 - 30))
    # The first block sets the window of the compiled kernel; the rest fill it to the brim.
    yield "top of the window", 2, np.concatenate([np.ones(256), np.full(n - 256, np.nextafter(32.0, 0))])
    yield "full mantissas", 2, np.nextafter(np.ldexp(1.0, rng.integers(-8, 8, n)), 0)


@pytest.mark.parametrize(("name", "K", "w"), list(big_inputs()), ids=lambda x: x if isinstance(x, str) else "")
def test_kernels_agree_to_the_bit(name, K, w):
    rng = np.random.default_rng(3)
    t, p = rng.integers(0, K, len(w)), rng.integers(0, K, len(w))
    with using("numpy"):
        expected = wmcc.tabulate(t, p, w)
    for threads in (1, 2, 3, 7):
        assert wmcc.tabulate(t, p, w, threads=threads) == expected
    order = rng.permutation(len(w))
    assert wmcc.tabulate(t[order], p[order], w[order]) == expected
    cuts = np.sort(rng.integers(1, len(w), 5))
    parts = [wmcc.tabulate(*x) for x in zip(*(np.split(a, cuts) for a in (t, p, w)), strict=True) if len(x[0])]
    assert sum(parts) == expected
    assert sum(reversed(parts)) == expected
    cell = (t == 1) & (p == 1)
    assert expected.w[1, 1] == _fsum(w[cell])


@given(
    st.lists(st.tuples(st.one_of(st.just(0.0), any_weight), st.integers(1, 600)), min_size=1, max_size=12),
    st.integers(1, 3),
)
def test_runs_of_equal_weights(runs, threads):
    """Whole blocks of one weight: what a window is chosen from, and what it must survive."""
    w = np.concatenate([np.full(length, value) for value, length in runs])
    y = np.zeros(len(w), dtype=np.uint8)
    table = wmcc.tabulate(y, y, w, threads=threads)
    unit = Fraction(2) ** table.w_exact.exponent
    assert table.w_exact.integers()[0][0] * unit == sum(Fraction(value) * length for value, length in runs)
    with using("numpy"):
        assert wmcc.tabulate(y, y, w) == table


def _fsum(w):
    try:
        return math.fsum(w.tolist())
    except OverflowError:
        return math.inf


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", INTEGERS)
@given(data=st.data())
def test_every_label_type(kernel, dtype, data):
    info = np.iinfo(dtype)
    label = st.one_of(st.integers(info.min, info.max), st.integers(0, 3), st.sampled_from([info.min, info.max]))
    n = data.draw(st.integers(1, 20))
    t, p = (np.array(data.draw(st.lists(label, min_size=n, max_size=n)), dtype=dtype) for _ in range(2))
    w = np.array(data.draw(st.lists(any_weight, min_size=n, max_size=n)), dtype=float)
    with using(kernel):
        table = wmcc.tabulate(t, p, w)
    assert table.labels == tuple(sorted({*t.tolist(), *p.tolist()}))
    C = oracle.matrix(t.tolist(), p.tolist(), w.tolist(), table.labels)
    assert exact_numbers(table.w_exact) == list(itertools.chain(*C))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("a", "b"), [("u1", "i8"), ("i1", "u8"), ("i4", "u4"), ("u8", "i8"), ("u2", "i1")])
def test_columns_of_different_types(kernel, a, b):
    t, p = np.array([0, 1, 2, 100], dtype=a), np.array([0, 2, 2, 1], dtype=b)
    with using(kernel):
        table = wmcc.tabulate(t, p)
        assert table == wmcc.tabulate(t.tolist(), p.tolist())
        low = wmcc.tabulate(np.array([-1, 0], dtype="i8"), np.array([0, 0], dtype=b))
    assert low.labels == (-1, 0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_labels_that_a_narrow_type_cannot_hold(kernel):
    """Labels are compared as numbers, never modulo the width of a column."""
    with using(kernel):
        for dtype in INTEGERS:
            y = np.array([0, 1, 1], dtype=dtype)
            for far in (2**32, 2**32 + 1, -(2**31), 2**63 - 2):
                with pytest.raises(LabelError, match=r"y_true\[0\] is 0"):
                    wmcc.tabulate(y, y, labels=[far, far + 1])


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_sign_of_a_label_is_not_lost(kernel):
    top, minus = np.array([2**64 - 1, 0], dtype=np.uint64), np.array([-1, 0], dtype=np.int64)
    with using(kernel):
        assert wmcc.tabulate(minus, top).labels == (-1, 0, 2**64 - 1)
        for labels in ([-1, 0], [0, -1], [-5, 0, -1]):
            with pytest.raises(LabelError, match=r"y_pred\[0\] is 18446744073709551615"):
                wmcc.tabulate(minus, top, labels=labels)
        across = np.array([2**63 - 1, 2**63 + 50], dtype=np.uint64)
        assert wmcc.tabulate(across, across).labels == (2**63 - 1, 2**63 + 50)
        assert wmcc.tabulate(across, across, labels=[2**63 + 50, 2**63 - 1]).n.tolist() == [[1, 0], [0, 1]]
        for labels in ([2**64 - 1, 2**64 - 2], [2**64 - 2, 2**64 - 1]):
            with pytest.raises(LabelError, match=r"y_true\[0\] is -1"):
                wmcc.tabulate(minus, top, labels=labels)
        n = 300_000
        t, p = np.resize(np.array([-1, 0]), n), np.zeros(n, dtype=np.uint64)
        p[123_457] = 2**64 - 1  # in neither sample
        assert wmcc.tabulate(t, p).labels == (-1, 0, 2**64 - 1)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_wrong_guess_of_the_range_is_noticed(kernel):
    n = 300_000
    t, p = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    for outlier in (2, 30, 10**6, 2**40):
        t[123_457] = outlier  # in neither sample
        with using(kernel):
            table = wmcc.tabulate(t, p, threads=2)
        assert table.labels == (0, 1, outlier)
        assert table.n.tolist() == [[0, n - 1, 0], [0, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("K", [23, 200, 600])
def test_many_classes(kernel, K):
    rng = np.random.default_rng(K)
    t, p = rng.integers(0, K, 5000) * 7 - 50, rng.integers(0, K, 5000) * 7 - 50
    w = rng.random(5000)
    with using(kernel):
        table = wmcc.tabulate(t, p, w)
        text = wmcc.tabulate([f"{x:05}" for x in t], [f"{x:05}" for x in p], w)
    assert table.labels == tuple(sorted({*t.tolist(), *p.tolist()}))
    assert {int(x) for x in text.labels} == set(table.labels)
    expected = np.zeros((len(table.labels),) * 2, dtype=int)
    np.add.at(expected, (np.searchsorted(table.labels, t), np.searchsorted(table.labels, p)), 1)
    assert np.array_equal(table.n, expected)
    assert wmcc.ecc(text) == wmcc.ecc(table)


# ---- Tally --------------------------------------------------------------------------------------------


class Columns(NamedTuple):
    """What a Tally of ``sizes`` is given: a column per axis, and weights or None."""

    sizes: tuple[int, ...]
    part: int
    columns: list[tuple]
    weights: np.ndarray | None

    def take(self, rows):
        columns = [(np.ascontiguousarray(labels[rows]), *rest) for labels, *rest in self.columns]
        return *columns, None if self.weights is None else np.ascontiguousarray(self.weights[rows])

    def expected(self):
        """By hand: key -> weights of its rows (or None each); ignored by part; unknown; bad weights."""
        cells, ignored, unknown, bad = {}, [0] * (1 if self.part < 0 else self.sizes[self.part]), 0, 0
        for row in range(len(self.columns[0][0])):
            codes = [_code(column, row) for column in self.columns]
            w = None if self.weights is None else float(self.weights[row])
            if "ignored" in codes:
                ignored[codes[self.part] if self.part >= 0 else 0] += 1
            elif "unknown" in codes:
                unknown += 1
            elif w is not None and not 0 <= w < math.inf:
                bad += 1
            else:
                key = functools.reduce(
                    lambda key, pair: key * pair[0] + pair[1], zip(self.sizes, codes, strict=True), 0
                )
                cells.setdefault(key, []).append(w)
        return cells, ignored, unknown, bad


def _code(column, row):
    labels, low, length, first, table = column
    at = int(labels[row]) - low
    if not 0 <= at < length:
        return "unknown"
    code = at + first if table is None else int(table[at])
    return {tally.IGNORED: "ignored", tally.UNKNOWN: "unknown"}.get(code, code)


some_weight = st.one_of(any_weight, st.sampled_from([0.0, -0.0, 1e300, 1e-300, math.nan, -1.0, math.inf]))


@st.composite
def kernel_columns(draw, most=40, largest=6, weight=some_weight):
    sizes = tuple(draw(st.lists(st.integers(1, largest), min_size=1, max_size=5)))
    part = draw(st.integers(-1, len(sizes) - 1))
    n = draw(st.integers(0, most))
    columns = []
    for axis, size in enumerate(sizes):
        low = draw(st.integers(-5, 5))
        dtype = draw(st.sampled_from([x for x in INTEGERS if x[0] == "i" or low >= 0]))
        stray = 0 if axis == part else draw(st.integers(0, 1))
        label = st.integers(low, low + size - 1 + stray)
        labels = np.array(draw(st.lists(label, min_size=n, max_size=n)), dtype=dtype)
        code = st.integers(0, size - 1)
        if axis != part:
            code = st.one_of(code, st.sampled_from([tally.IGNORED, tally.UNKNOWN]))
        if draw(st.booleans()):
            table = np.array(draw(st.lists(code, min_size=size, max_size=size)), dtype=np.uint32)
            columns.append((labels, low, size, 0, table))
        else:
            columns.append((labels, low, size, 0, None))
    weights = None
    if draw(st.booleans()):
        weights = np.array(draw(st.lists(weight, min_size=n, max_size=n)), dtype=float)
    return Columns(sizes, part, columns, weights)


def counted(kernel, given, dense, pieces=None):
    """Result of a Tally for each piece of the rows, merged."""
    tallies = []
    for piece in pieces or [slice(None)]:
        tallies.append(kernel.Tally(given.sizes, given.weights is not None, dense, given.part))
        tallies[-1].add(*given.take(piece))
    for other in tallies[1:]:
        tallies[0].merge(other)
    return tallies[0].result()


def numbers(result):
    """A result as plain numbers; keys, n, least, most, w, w2 are lists, or None."""
    keys, n, least, most, w, w2, ignored, unknown, bad = result
    keys, n, ignored = (np.frombuffer(x, np.int64).tolist() for x in (keys, n, ignored))
    if w is None:
        assert least is most is w2 is None
        return keys, n, None, None, None, None, ignored, unknown, bad
    sums = []
    for exponent, digits in (w, w2):
        planes = np.frombuffer(digits, np.int64).reshape(-1 if digits else 0, len(keys))
        exact = Exact(planes, exponent)
        assert (exact.exponent, exact.digits.tobytes()) == (exponent, digits)  # canonical already
        sums.append(exact_numbers(exact))
    return keys, n, *(np.frombuffer(x).tolist() for x in (least, most)), *sums, ignored, unknown, bad


@pytest.mark.parametrize("dense", [True, False], ids=["dense", "hashed"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))
@given(given=kernel_columns())
def test_a_tally_has_the_cells_that_occur(kernel, dense, given):
    cells, *counts = given.expected()
    keys, n, least, most, w, w2, *found = numbers(counted(kernel, given, dense))
    assert found == counts
    assert keys == sorted(cells)
    assert n == [len(cells[key]) for key in keys]
    if given.weights is not None:
        assert least == [min(cells[key]) for key in keys]
        assert most == [max(cells[key]) for key in keys]
        assert not any(math.copysign(1, x) < 0 for x in (*least, *most))
        assert w == [sum(map(Fraction, cells[key])) for key in keys]
        assert w2 == [sum(map(_rounded_square, cells[key])) for key in keys]


@given(kernel_columns(most=60), st.data())
def test_tallies_agree_in_any_order_split_and_kernel(given, data):
    expected = counted(KERNELS["numpy"], given, True)
    n = len(given.columns[0][0])
    order = np.array(data.draw(st.permutations(range(n))), dtype=int)
    pieces = np.array_split(order, data.draw(st.integers(1, 4)))
    for kernel, dense in itertools.product(KERNELS.values(), (True, False)):
        assert counted(kernel, given, dense, pieces) == expected


def wide_inputs():
    """Rows enough to fill blocks, to grow a hash, and to empty lanes, with windows that differ between pieces."""
    rng = np.random.default_rng(11)
    n = 40_000

    def column(size):
        return (rng.integers(0, size, n), 0, size, 0, None)

    drifting = np.ldexp(rng.random(n), np.arange(n) // 2000 * 7 - 70)
    yield "many cells", Columns((300, 300), -1, [column(300), column(300)], rng.lognormal(0, 2, n))
    yield "one cell", Columns((300, 300), -1, [(np.full(n, 7), 0, 300, 0, None)] * 2, rng.exponential(size=n))
    yield "drifting", Columns((3, 200, 2), 1, [column(3), column(200), column(2)], drifting)
    yield "drifting, few cells", Columns((2, 2), -1, [column(2), column(2)], drifting)
    yield "every exponent", Columns((30, 9), 0, [column(30), column(9)], 10.0 ** rng.uniform(-300, 300, n))
    yield "counts", Columns((900, 900), -1, [column(900), column(900)], None)
    yield "float32", Columns((2, 2), 0, [column(2), column(2)], rng.lognormal(0, 3, n).astype(np.float32))
    far = np.where(np.arange(n) == 7, 1e60, 1.0)
    yield "one far weight", Columns((600,), -1, [(np.arange(n) % 600, 0, 600, 0, None)], far)
    holes = np.where(rng.random(400) < 0.2, tally.IGNORED, np.arange(400)).astype(np.uint32)
    strange = np.where(rng.random(n) < 0.1, rng.choice([0.0, -0.0, np.nan, -2.0], n), rng.random(n))
    ignoring = (rng.integers(0, 410, n), 0, 400, 0, holes)
    yield "ignored and bad", Columns((400, 400, 5), 2, [ignoring, ignoring, column(5)], strange)
    yield "no more than 3 cells", Columns((1, 3), -1, [column(1), (rng.integers(0, 5, n), 0, 3, 0, None)], strange)


@pytest.mark.parametrize("given", [x for _, x in wide_inputs()], ids=[name for name, _ in wide_inputs()])
def test_large_tallies_agree_in_any_order_split_and_kernel(given):
    expected = counted(KERNELS["numpy"], given, False)
    n, rng = len(given.columns[0][0]), np.random.default_rng(5)
    orders = (np.arange(n), np.arange(n)[::-1], rng.permutation(n))
    for order, cuts, dense in itertools.product(orders, (1, 2, 7), (True, False)):
        assert counted(KERNELS["compiled"], given, dense, np.array_split(order, cuts)) == expected
    assert counted(KERNELS["numpy"], given, True, np.array_split(orders[2], 3)) == expected


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))
@given(
    weights=st.lists(any_weight, min_size=1, max_size=40),
    large=st.one_of(any_weight, st.sampled_from([-1.0, math.nan, math.inf, -math.inf, 1e308])),
    other=any_weight,
    dense=st.booleans(),
)
def test_the_weight_that_is_expected_decides_nothing(kernel, weights, large, other, dense):
    w = np.array(weights, dtype=np.float64)
    column = (np.arange(len(w)) % 3, 0, 3, 0, None)

    def result(*expected):
        tallies = [kernel.Tally((3,), True, dense, large=x) for x in expected]
        step = -(-len(w) // len(tallies))
        for k, each in enumerate(tallies):
            rows = slice(k * step, (k + 1) * step)
            each.add((column[0][rows], *column[1:]), w[rows])
        for each in tallies[1:]:
            tallies[0].merge(each)
        return tallies[0].result()

    assert result(0.0) == result(large) == result(large, large) == result(large, other)


@pytest.mark.parametrize("dense", [True, False], ids=["dense", "hashed"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))
def test_a_tally_goes_on_after_it_was_read_and_merged(kernel, dense):
    y = np.arange(12_000) % 3
    column, w = (y, 0, 3, 0, None), np.linspace(0, 50, len(y))
    one, other = (kernel.Tally((3, 3), True, dense) for _ in range(2))
    one.add(column, column, w)
    assert one.result() == one.result()
    other.merge(one)
    assert other.result() == one.result()
    for k in (2, 3):
        one.add(column, column, w)
        other.add(column, column, w)
        *_, sums, _, _, _, _ = numbers(one.result())
        assert sums == [k * sum(map(Fraction, w[y == label])) for label in range(3)]
        assert other.result() == one.result()


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))
@pytest.mark.parametrize("weighted", [True, False])
def test_keys_may_be_as_large_as_64_bits_hold(kernel, weighted):
    sizes = (1 << 30, 1 << 30, 7)
    rng = np.random.default_rng(2)
    labels = [rng.integers(0, size, 3000) for size in sizes]
    columns = [(x, 0, size, 0, None) for x, size in zip(labels, sizes, strict=True)]
    w = np.ones(3000) if weighted else None
    counter = kernel.Tally(sizes, weighted, False)
    counter.add(*columns, w)
    counter.add(*columns, w)
    keys, n, *_ = numbers(counter.result())
    a, b, c = (x.astype(object) for x in labels)
    assert keys == sorted(set(((a << 30) + b) * 7 + c))
    assert n == [2] * 3000


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))
def test_keys_of_equal_hash_have_cells_of_their_own(kernel):
    n = 400_000  # so many that some share the 32 bits of a hash that the compiled kernel keeps
    counter = kernel.Tally((1 << 20,), False, False)
    counter.add((np.arange(n), 0, n, 0, None), None)
    keys, counts, *_ = counter.result()
    assert keys == np.arange(n).tobytes()
    assert counts == np.ones(n, dtype=np.int64).tobytes()


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))
def test_a_hash_has_room_for_so_many_cells(kernel):
    def columns(stop):
        return [(np.arange(stop), 0, 1000, 0, None)] * 2

    counter, other = (kernel.Tally((1000, 1000), True, False, room=600) for _ in range(2))
    counter.add(*columns(600), np.ones(600))
    other.add(*columns(600), np.ones(600))
    counter.merge(other)
    assert numbers(counter.result())[1] == [2] * 600
    ignored = np.where(np.arange(1000) < 600, np.arange(1000), tally.IGNORED).astype(np.uint32)
    counter.add(*[(np.arange(1000), 0, 1000, 0, ignored)] * 2, np.ones(1000))  # no new cells
    counter.add(*columns(601), np.append(np.ones(600), np.nan))  # none for a bad weight either
    for call in (lambda: counter.add(*columns(601), np.ones(601)), counter.result, lambda: other.merge(counter)):
        with pytest.raises(OverflowError) as caught:  # and for good: rows are missing
            call()
        assert caught.value.args == (("cells", 600),)
    more = kernel.Tally((1000, 1000), True, False)
    more.add(*columns(700), np.ones(700))
    with pytest.raises(OverflowError) as caught:
        other.merge(more)
    assert caught.value.args == (("cells", 600),)
    nothing = kernel.Tally((5,), False, False, room=0)
    nothing.add((np.array([9]), 0, 5, 0, None), None)
    assert numbers(nothing.result()) == ([], [], None, None, None, None, [0], 1, 0)
    with pytest.raises(OverflowError):
        nothing.add((np.array([4]), 0, 5, 0, None), None)


def test_digits_are_bounded_by_the_cells_that_occur(monkeypatch):
    def tallied(kernel, cells, classes=2000):
        y = np.arange(cells)
        columns = [(y // classes, 0, classes, 0, None), (y % classes, 0, classes, 0, None)]
        counter = kernel.Tally((classes, classes), True, False)
        counter.add(*columns, np.resize([1e-300, 1e300], cells))
        return counter.result()

    planes = len(tallied(KERNELS["numpy"], 2)[5][1]) // 16
    most = MOST_DIGITS // planes
    if KERNELS["compiled"] is not KERNELS["numpy"]:
        with pytest.raises(OverflowError) as caught:
            tallied(KERNELS["compiled"], most + 1)
        assert caught.value.args == (("digits", planes, most + 1),)
    monkeypatch.setattr(KERNELS["numpy"], "MOST_DIGITS", 7 * planes)
    assert len(tallied(KERNELS["numpy"], 7)[0]) == 56
    with pytest.raises(OverflowError) as caught:
        tallied(KERNELS["numpy"], 8)
    assert caught.value.args == (("digits", planes, 8),)


@pytest.mark.parametrize("dense", [True, False], ids=["dense", "hashed"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))
def test_a_tally_of_nothing(kernel, dense):
    for sizes in ((0, 0, 0), (3,), (2, 0)):
        counter = kernel.Tally(sizes, True, dense)
        counter.add(*[(np.arange(4), 0, 0, 0, None)] * len(sizes), np.ones(4))
        assert counter.result() == (b"", b"", b"", b"", (0, b""), (0, b""), bytes(8), 4, 0)
    zeros = kernel.Tally((1,), True, dense)
    zeros.add((np.zeros(5000, dtype=int), 0, 1, 0, None), np.resize([0.0, -0.0], 5000))
    assert numbers(zeros.result()) == ([0], [5000], [0.0], [0.0], [0], [0], [0], 0, 0)


@COMPILED
def test_a_tally_refuses_sizes_it_cannot_have():
    kernel = KERNELS["compiled"]
    for sizes in ((), (2,) * 17, ((1 << 30) + 1,), (1 << 30, 1 << 30, 8)):
        with pytest.raises(ValueError, match=r"sizes|2\*\*30"):
            kernel.Tally(sizes, False, False)
    for sizes in ((257,) * 3, (4097,) * 2, ((1 << 24) + 1,)):
        with pytest.raises(ValueError, match=r"2\*\*24"):
            kernel.Tally(sizes, False, True)
    for part in (-2, 2):
        with pytest.raises(ValueError, match="part"):
            kernel.Tally((2, 2), False, True, part=part)
    for room in (-1, 1 << 31):
        with pytest.raises(ValueError, match="room"):
            kernel.Tally((2, 2), False, False, room=room)


@COMPILED
def test_a_tally_takes_weights_always_or_never():
    kernel = KERNELS["compiled"]
    column = (np.zeros(2, dtype=np.int64), 0, 1, 0, None)
    for weighted, weights in ((True, None), (False, np.ones(2))):
        with pytest.raises(ValueError, match="belong together"):
            kernel.Tally((1, 1), weighted, True).add(column, column, weights)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))
def test_a_tally_takes_a_column_per_axis(kernel):
    column = (np.arange(4), 0, 4, 0, None)
    for axes in range(1, 6):
        counter = kernel.Tally((4,) * axes, False, True)
        counter.add(*[column] * axes, None)
        assert numbers(counter.result())[0] == [k * (4**axes - 1) // 3 for k in range(4)]


@COMPILED
def test_a_tally_refuses_columns_that_do_not_belong_together():
    column = (np.arange(4), 0, 4, 0, None)
    for axes in range(1, 6):
        counter = KERNELS["compiled"].Tally((4,) * axes, False, True)
        with pytest.raises(TypeError, match=f"expected {axes} columns"):
            counter.add(*[column] * (axes + 1), None)
        if axes > 1:
            with pytest.raises(ValueError, match="belong together"):
                counter.add(*[column] * (axes - 1), (np.arange(5), 0, 4, 0, None), None)


@COMPILED
def test_only_tallies_of_the_same_kind_are_merged():
    kernel = KERNELS["compiled"]
    one = kernel.Tally((2, 3), True, True, part=0)
    with pytest.raises(TypeError, match="expected a Tally"):
        one.merge(None)
    others = [((3, 2), True, True, 0), ((2, 3, 1), True, True, 0), ((2, 3), False, True, 0), ((2, 3), True, False, 0)]
    for other in (one, kernel.Tally((2, 3), True, True), *(kernel.Tally(*x) for x in others)):
        with pytest.raises(ValueError, match="same sizes"):
            one.merge(other)


def test_the_compiled_kernel_refuses_what_it_cannot_read():
    native = KERNELS["compiled"]
    if native is KERNELS["numpy"]:
        pytest.skip("no compiled kernel here")
    y, w = np.arange(8) % 2, np.ones(8)
    good = (y, 0, 2, 0, None)
    for dense in (True, False):
        with pytest.raises(ValueError, match="outside the table"):
            native.Tally((2, 2), True, dense).add((y, 0, 3, 0, None), good, w)
        with pytest.raises(ValueError, match="outside the table"):
            native.Tally((2, 2), True, dense).add((y, 0, 2, 1, None), good, w)
        for bad in ([0, 2], [0, 4], [0, 2**29], [0, 2**30 + 1]):
            with pytest.raises(ValueError, match="outside the table"):
                native.Tally((2, 2), True, dense).add((y, 0, 2, 0, np.array(bad, dtype=np.uint32)), good, w)
        with pytest.raises(ValueError, match="outside the table"):
            native.Tally((2, 2), True, dense).add((y, 0, 9, 0, np.zeros(2, dtype=np.uint32)), good, w)
        for column in (y, list(good), good[:3], (y, 0, 2, 0, [0, 1])):
            with pytest.raises(TypeError):
                native.Tally((2, 2), True, dense).add(column, good, w)
        for weights in (w[:7], w.astype(np.int64), w.astype(">f8"), np.ones(16)[::2], None):
            with pytest.raises((TypeError, ValueError, BufferError)):
                native.Tally((2, 2), True, dense).add(good, good, weights)
    for labels in (
        y.astype(float),
        y.astype(">i8"),
        y[::2],
        np.frombuffer(bytes(65), dtype=np.uint8)[1:].view(np.int64),
    ):
        with pytest.raises((TypeError, ValueError, BufferError)):
            native.Tally((2, 2), False, True).add((labels, 0, 2, 0, None), (labels, 0, 2, 0, None), None)
    for labels, low, length in ((y, -5, 2), (y, 2**63, 2), (y.astype("u1"), -(2**40), 2), (y, 0, 0)):
        counter = native.Tally((2, 2), False, True)
        counter.add((labels, low, length, 0, None), (labels, low, length, 0, None), None)
        assert counter.result()[7] == 8  # all unknown


# ---- replicate weights --------------------------------------------------------------------------------


def laid_out(matrix, layout):
    """Columns of replicate weights that lie in memory in different ways."""
    n, R = matrix.shape
    if layout.startswith("float32"):
        matrix = matrix.astype(np.float32)
    if layout.endswith("apart"):
        return [np.array(column) for column in matrix.T]
    if layout.endswith("rows"):
        return list(np.ascontiguousarray(matrix).T)
    if layout == "backwards":
        return [np.ascontiguousarray(column[::-1])[::-1] for column in matrix.T]
    if layout == "records":  # at addresses that are no multiples of a weight's size
        record = np.dtype([("x", "u1"), *((f"r{k}", matrix.dtype) for k in range(R))])
        records = np.zeros(n, dtype=record)
        for k in range(R):
            records[f"r{k}"] = matrix[:, k]
        return [records[f"r{k}"] for k in range(R)]
    return [x.astype(np.float32) if k % 3 else x for k, x in enumerate(matrix.T)]  # mixed


LAYOUTS = ["apart", "rows", "backwards", "records", "mixed", "float32, apart", "float32, rows"]


def with_replicates(kernel, given, matrix, dense, layout="apart", pieces=None, expected=(0.0,)):
    """What a Tally for each piece of the rows, merged, knows of replicate weights."""
    tallies = []
    for large, piece in zip(itertools.cycle(expected), pieces or [slice(None)], strict=False):
        own = kernel.Tally(given.sizes, given.weights is not None, dense, given.part, 1 << 20, large, matrix.shape[1])
        own.add(*given.take(piece), tuple(laid_out(matrix[piece], layout)))
        tallies.append(own)
    for other in tallies[1:]:
        tallies[0].merge(other)
    return tallies[0].result(), tallies[0].replicates()


@pytest.mark.parametrize("dense", [True, False], ids=["dense", "hashed"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))
@given(given=kernel_columns(most=20), data=st.data())
def test_sums_of_replicates_are_exact(kernel, dense, given, data):
    n, R = len(given.columns[0][0]), data.draw(st.integers(1, 10))
    matrix = np.array(data.draw(st.lists(some_weight, min_size=n * R, max_size=n * R)), dtype=float).reshape(n, R)
    found, (sums, bad) = with_replicates(kernel, given, matrix, dense)
    cells = {}
    for row in range(n):
        *columns, weights = given.take(slice(row, row + 1))
        for key in given._replace(columns=columns, weights=weights).expected()[0]:
            cells.setdefault(key, []).append(row)
    assert np.frombuffer(found[0], np.int64).tolist() == sorted(cells)
    used = matrix[[row for own in cells.values() for row in own]]
    assert bad == int((~((used >= 0) & np.isfinite(used))).sum())
    for k, (exponent, digits) in enumerate(sums):
        planes = np.frombuffer(digits, np.int64).reshape(-1 if digits else 0, len(cells))
        exact = Exact(planes, exponent)
        assert (exact.exponent, exact.digits.tobytes()) == (exponent, digits)  # canonical already
        weights = [[matrix[row, k] for row in cells[key]] for key in sorted(cells)]
        assert exact_numbers(exact) == [sum(Fraction(w) for w in own if 0 <= w < math.inf) for own in weights]


def many_replicates():
    """Rows enough to fill blocks, to empty lanes, to grow a hash and to move a window."""
    rng = np.random.default_rng(17)
    n = 12_000

    def columns(*sizes):
        return Columns(sizes, -1, [(rng.integers(0, size, n), 0, size, 0, None) for size in sizes], rng.random(n))

    base = rng.lognormal(0, 1, (n, 1))
    drifting = np.ldexp(rng.random((n, 17)), (np.arange(n) // 600 * 9 - 90)[:, np.newaxis])
    yield "half of them zero", columns(2, 2), base * rng.choice([0.0, 2.0], (n, 20))
    yield "one more than a group", columns(3, 3), base * rng.random((n, 9))
    yield "many cells", columns(60, 60), base * rng.random((n, 8))
    yield "drifting", columns(2, 3), drifting
    yield "drifting, many cells", columns(20, 30), drifting
    yield "every exponent", columns(4, 4), 10.0 ** rng.uniform(-300, 300, (n, 5))
    yield "zeros first", columns(2, 2), np.where(np.arange(n)[:, np.newaxis] < 700, 0.0, base * 1e9) * np.ones((1, 3))
    # The first block sets the window of the compiled kernel; the rest fill its high or its low lanes to the brim.
    for name, w in (("high", np.nextafter(128.0, 0)), ("low", 1 + 2.0**-42 - 2.0**-52)):
        one = Columns((1,), -1, [(np.zeros(4 * n, dtype=np.int64), 0, 1, 0, None)], None)
        yield f"{name} lanes full", one, np.where(np.arange(4 * n)[:, np.newaxis] < 256, 1.0, w) * np.ones((1, 2))
    odd = np.where(rng.random((n, 11)) < 0.05, rng.choice([-0.0, np.nan, -2.0, np.inf, 5e-324, 1.7e308], (n, 11)), base)
    yield "bad and far", columns(5, 5), odd
    holes = np.array([0, tally.IGNORED, 2], dtype=np.uint32)
    ignoring = (rng.integers(0, 4, n), 0, 3, 0, holes)
    yield "ignored", Columns((3, 3), 0, [ignoring, (rng.integers(0, 3, n), 0, 3, 0, None)], None)._replace(part=1), odd


@pytest.mark.parametrize(("given", "matrix"), [x[1:] for x in many_replicates()], ids=[x[0] for x in many_replicates()])
def test_replicates_agree_in_any_order_layout_split_and_kernel(given, matrix):
    n, rng = len(matrix), np.random.default_rng(5)
    with np.errstate(over="ignore"):
        expected = {layout: with_replicates(KERNELS["numpy"], given, matrix, False, layout) for layout in LAYOUTS}
        assert len({repr(expected[layout]) for layout in LAYOUTS[:4]}) == 1
        assert len({repr(expected[layout]) for layout in LAYOUTS[5:]}) == 1
        for order, cuts, large in (
            (np.arange(n), 1, [0.0]),
            (rng.permutation(n), 3, [0.0]),
            (np.arange(n), 4, [9.0, 1e9]),
        ):
            pieces = np.array_split(order, cuts)
            for layout, dense in itertools.product(LAYOUTS, (True, False)):
                found = with_replicates(KERNELS["compiled"], given, matrix, dense, layout, pieces, large)
                assert found == expected[layout]
        assert with_replicates(KERNELS["numpy"], given, matrix, True, "apart", pieces) == expected["apart"]


@pytest.mark.parametrize("dense", [True, False], ids=["dense", "hashed"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))
def test_replicates_go_on_after_they_were_read_and_merged(kernel, dense):
    y, rng = np.arange(12_000) % 3, np.random.default_rng(3)
    column, w = (y, 0, 3, 0, None), tuple(rng.random((2, len(y))))
    one, other = (kernel.Tally((3,), False, dense, replicates=2) for _ in range(2))
    assert one.replicates() == (((0, b""), (0, b"")), 0)
    one.add(column, None, w)
    other.merge(one)
    one.add(column, None, w)
    assert one.replicates() == one.replicates()
    other.merge(one)
    other.add(column, None, w)
    for k, own in enumerate(w):
        exponent, digits = other.replicates()[0][k]
        exact = Exact(np.frombuffer(digits, np.int64).reshape(-1, 3), exponent)
        assert exact_numbers(exact) == [4 * sum(map(Fraction, own[y == label])) for label in range(3)]


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))
def test_a_tally_takes_as_many_replicates_as_it_has(kernel):
    column, w = (np.zeros(4, dtype=np.int64), 0, 1, 0, None), np.ones(4)
    two = kernel.Tally((1,), True, True, replicates=2)
    two.add(column, w, (w, w))
    assert two.replicates()[0] == ((0, np.int64(4).tobytes()),) * 2


@COMPILED
def test_a_tally_refuses_other_replicates_than_it_has():
    kernel = KERNELS["compiled"]
    column, w = (np.zeros(4, dtype=np.int64), 0, 1, 0, None), np.ones(4)
    two = kernel.Tally((1,), True, True, replicates=2)
    for count in (-1, (1 << 16) + 1):
        with pytest.raises(ValueError, match="replicates"):
            kernel.Tally((1,), True, True, replicates=count)
    for wrong in ((), ([w, w],), ((w,),), ((w, w[:3]),), ((w, w.astype(int)),), ((w, w.astype(">f8")),)):
        with pytest.raises(TypeError, match="replicates"):
            two.add(column, w, *wrong)
    with pytest.raises(TypeError, match="expected 1 columns and weights"):
        kernel.Tally((1,), True, True).add(column, w, (w, w))
    with pytest.raises(ValueError, match="same sizes"):
        two.merge(kernel.Tally((1,), True, True, replicates=3))


def test_kernel_says_which_is_in_use():
    assert tally.kernel() == ("numpy" if KERNELS["compiled"] is KERNELS["numpy"] else "compiled")
    with using("numpy"):
        assert tally.kernel() == "numpy"
    assert tally.active is KERNELS["compiled"]


# ---- Exact ------------------------------------------------------------------------------------------

finite = st.floats(0, allow_nan=False, allow_infinity=False)


@given(st.lists(finite, min_size=1, max_size=30))
def test_exact_rounds_like_fsum(xs):
    total = Exact.from_floats(np.array(xs)).sum()
    assert float(total.floats()) == _fsum(np.array(xs))
    merged = Exact.from_floats(np.array(xs[:1]))
    for x in xs[1:]:
        merged = merged + Exact.from_floats(np.array([x]))
    assert merged.sum() == total
    assert Exact.from_floats(np.array(xs)).floats().tolist() == xs


@given(st.lists(st.tuples(st.integers(0, 2**120), st.integers(-2300, 1000)), min_size=1, max_size=10))
def test_exact_reads_what_it_wrote_and_rounds_right(pairs):
    text = [f"{m:#x}p{e}" for m, e in pairs]
    exact = Exact.from_hex(text)
    assert Exact.from_hex(exact.hex()) == exact
    for got, (m, e) in zip(exact.floats().tolist(), pairs, strict=True):
        try:
            assert got == float.fromhex(f"{m:#x}p{e}")
        except OverflowError:
            assert got == math.inf


@given(st.lists(st.tuples(st.integers(0, 2**120), st.integers(-2300, 1000), finite), max_size=10))
def test_exact_products_with_factors_are_exact(numbers):
    exact = Exact.from_hex([f"{m:#x}p{e}" for m, e, _ in numbers])
    scaled = exact.scaled(np.array([factor for *_, factor in numbers]))
    assert exact_numbers(scaled) == [Fraction(m) * Fraction(2) ** e * Fraction(factor) for m, e, factor in numbers]
    assert Exact(scaled.digits, scaled.exponent) == scaled  # in the one form that equal numbers have


def test_exact_rounds_subnormal_numbers_once():
    just_below_one_and_a_half = f"{3 * 2**200 - 1:#x}p{-1074 - 201}"
    assert Exact.from_hex([just_below_one_and_a_half]).floats().tolist() == [5e-324]


def test_exact_refuses_what_it_cannot_hold():
    with pytest.raises(ValueError, match="negative"):
        Exact(np.array([[-1]]), 0)
    for text in ("0x1p999999999", "0x1p" + "9" * 30, "0x" + "f" * 2000 + "p0", "1p0", "-0x1p0", ""):
        with pytest.raises(ValueError, match="not an exact sum"):
            Exact.from_hex([text])


def test_squares_keep_their_size_where_floats_cannot():
    table = wmcc.tabulate([0, 1], [0, 1], [1e300, 1e-300])
    unit = Fraction(2) ** table.w2_exact.exponent
    squares = [[x * unit for x in row] for row in table.w2_exact.integers()]
    assert squares[0][0] / Fraction(10) ** 600 == pytest.approx(1)
    assert squares[1][1] * Fraction(10) ** 600 == pytest.approx(1)
    assert table.w2.tolist() == [[math.inf, 0], [0, 0]]
