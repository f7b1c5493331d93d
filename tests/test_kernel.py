"""The exact sums: against math.fsum and fractions, kernel against kernel, any order, chunking and threads."""

import itertools
import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
from helpers import KERNELS, any_weight, rows, using
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc import tally
from wmcc.exact import Exact

INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


def exact_numbers(exact: Exact) -> list[Fraction]:
    unit = Fraction(2) ** exact.exponent
    return [x * unit for x in np.ravel(np.array(exact.integers(), dtype=object))]


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
                with pytest.raises(wmcc.LabelError, match=r"y_true\[0\] is 0"):
                    wmcc.tabulate(y, y, labels=[far, far + 1])


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_sign_of_a_label_is_not_lost(kernel):
    top, minus = np.array([2**64 - 1, 0], dtype=np.uint64), np.array([-1, 0], dtype=np.int64)
    with using(kernel):
        assert wmcc.tabulate(minus, top).labels == (-1, 0, 2**64 - 1)
        for labels in ([-1, 0], [0, -1], [-5, 0, -1]):
            with pytest.raises(wmcc.LabelError, match=r"y_pred\[0\] is 18446744073709551615"):
                wmcc.tabulate(minus, top, labels=labels)
        across = np.array([2**63 - 1, 2**63 + 50], dtype=np.uint64)
        assert wmcc.tabulate(across, across).labels == (2**63 - 1, 2**63 + 50)
        assert wmcc.tabulate(across, across, labels=[2**63 + 50, 2**63 - 1]).n.tolist() == [[1, 0], [0, 1]]
        for labels in ([2**64 - 1, 2**64 - 2], [2**64 - 2, 2**64 - 1]):
            with pytest.raises(wmcc.LabelError, match=r"y_true\[0\] is -1"):
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


def test_the_compiled_kernel_refuses_what_it_cannot_read():
    native = KERNELS["compiled"]
    if native is KERNELS["numpy"]:
        pytest.skip("no compiled kernel here")
    y, w = np.arange(8) % 2, np.ones(8)
    good = (y, 0, 2, 0, None)
    with pytest.raises(ValueError, match="outside the table"):
        native.Tally(2, True).add((y, 0, 3, 0, None), good, w)
    with pytest.raises(ValueError, match="outside the table"):
        native.Tally(2, True).add((y, 0, 2, 1, None), good, w)
    for bad in ([0, 3], [0, 4], [0, 2**29]):
        with pytest.raises(ValueError, match="outside the table"):
            native.Tally(2, True).add((y, 0, 2, 0, np.array(bad, dtype=np.uint32)), good, w)
    with pytest.raises(ValueError, match="outside the table"):
        native.Tally(2, True).add((y, 0, 9, 0, np.zeros(2, dtype=np.uint32)), good, w)
    for weights in (w[:7], w.astype(np.int64), w.astype(">f8"), np.ones(16)[::2], None):
        with pytest.raises((TypeError, ValueError, BufferError)):
            native.Tally(2, True).add(good, good, weights)
    for labels in (
        y.astype(float),
        y.astype(">i8"),
        y[::2],
        np.frombuffer(bytes(65), dtype=np.uint8)[1:].view(np.int64),
    ):
        with pytest.raises((TypeError, ValueError, BufferError)):
            native.Tally(2, False).add((labels, 0, 2, 0, None), (labels, 0, 2, 0, None), None)
    with pytest.raises(ValueError, match="4096"):
        native.Tally(4097, True)
    for labels, low, length in ((y, -5, 2), (y, 2**63, 2), (y.astype("u1"), -(2**40), 2), (y, 0, 0)):
        counter = native.Tally(2, False)
        counter.add((labels, low, length, 0, None), (labels, low, length, 0, None), None)
        assert counter.result()[6] == 8  # all unknown


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=list(KERNELS))
def test_a_tally_takes_weights_always_or_never(kernel):
    column = (np.zeros(2, dtype=np.int64), 0, 1, 0, None)
    for weighted, weights in ((True, None), (False, np.ones(2))):
        with pytest.raises(ValueError, match="belong together"):
            kernel.Tally(1, weighted).add(column, column, weights)


def test_kernel_says_which_is_in_use():
    assert wmcc.kernel() == ("numpy" if KERNELS["compiled"] is KERNELS["numpy"] else "compiled")
    with using("numpy"):
        assert wmcc.kernel() == "numpy"
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
