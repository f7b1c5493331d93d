"""The short call: a measure of a few rows in arrays makes no table, and gives what the table gives, words included."""

import math
from fractions import Fraction

import numpy as np
import pytest
from adversary_arrays import STRIDES, Way, laid_out
from helpers import COMPILED, KERNELS, any_weight, few, using
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.errors import InputError, LabelWarning, UndefinedMeasureWarning, WmccError
from wmcc.measures import base

needs_compiled = pytest.mark.skipif(COMPILED is KERNELS["numpy"], reason="only the compiled kernel has a short call")
LABEL_TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
MISTAKES = [-1.0, -0.0, math.nan, math.inf, -math.inf]


def outcome(function, *args, **options):
    """The value to the last bit, or what was said instead."""
    try:
        value = function(*args, **options)
    except (WmccError, LabelWarning) as problem:  # warnings are errors in tests
        return type(problem), str(problem)
    return value.hex()


def same(arrays, **options):
    """Whether every measure of some arrays is that of their table."""
    for measure in wmcc.measures.MEASURES.values():
        long = outcome(lambda measure=measure: measure(wmcc.tabulate(*arrays), **options))
        assert outcome(called, measure, arrays, **options) == long, measure


def called(measure, arrays, **options):
    """A measure of labels and, maybe, weights."""
    return measure(*arrays[:2], sample_weight=arrays[2] if len(arrays) > 2 else None, **options)


@st.composite
def label_arrays(draw, rows):
    """Two columns of labels, close together or not, somewhere in the range of their types."""
    dtypes = draw(st.tuples(*[st.sampled_from(LABEL_TYPES)] * 2))
    infos = [np.iinfo("u1") if dtype == "?" else np.iinfo(dtype) for dtype in dtypes]
    low, high = max(i.min for i in infos), 1 if "?" in dtypes else min(i.max for i in infos)
    start = draw(st.sampled_from([low, max(low, min(0, high)), max(low, high - 3)]))
    label = st.integers(start, min(high, start + draw(st.sampled_from([1, 2, 20, 31, 32, 1023, 1024]))))
    columns = [draw(st.lists(label, min_size=rows, max_size=rows)) for _ in range(2)]
    if draw(st.booleans()):
        columns[1] = [a if draw(st.integers(0, 3)) else b for a, b in zip(*columns, strict=True)]
    arrays = [np.array(x, dtype=dtype) for x, dtype in zip(columns, dtypes, strict=True)]
    if draw(st.integers(0, 9)) == 0:  # one label as far away as its type has it
        far = infos[0].max if dtypes[0] != "?" else 1
        arrays[0][draw(st.integers(0, rows - 1))] = far
    return arrays


@st.composite
def weight_arrays(draw, rows):
    dtype = draw(st.sampled_from([None, "f4", "f8", "f8", "i4", "f2"]))
    if dtype is None:
        return None
    near = draw(st.integers(-1060, 940))
    kinds = [
        any_weight,
        st.integers(0, 3).map(float),
        st.integers(0, 2**52).map(lambda m: math.ldexp(m, -1074)),
        st.tuples(st.floats(1, 2), st.integers(0, 20)).map(lambda x: math.ldexp(x[0], x[1] + near)),
        st.tuples(st.floats(1, 2), st.integers(0, 80)).map(lambda x: math.ldexp(x[0], x[1] + near)),
    ]
    kind = st.one_of(st.just(0.0), draw(st.sampled_from(kinds)))
    w = np.array(draw(st.lists(kind, min_size=rows, max_size=rows)))
    if draw(st.integers(0, 9)) == 0:
        w[draw(st.integers(0, rows - 1))] = draw(st.sampled_from(MISTAKES))
    if dtype == "f8":
        return w
    with np.errstate(all="ignore"):
        return np.nan_to_num(w, posinf=9, neginf=-9).clip(-9, 9).astype(dtype) if dtype != "f4" else w.astype(dtype)


@few(300)
@given(st.data())
def test_the_short_call_is_the_long_one(data):
    rows = data.draw(st.integers(1, 30))
    labels, w = data.draw(label_arrays(rows)), data.draw(weight_arrays(rows))
    arrays = labels if w is None else [*labels, w]
    if data.draw(st.booleans()):
        strides = st.sampled_from([name for name in STRIDES if name != "all in one place"])
        way = st.builds(Way, st.sampled_from("=<>"), st.sampled_from([0, 1, 4]), strides, st.booleans())
        arrays = [laid_out(x, data.draw(way)) for x in arrays]
    if rows % 6 == 0 and data.draw(st.booleans()):
        arrays = [
            x.reshape(data.draw(st.sampled_from([(rows, 1), (1, rows), (2, -1), (-1, 2), (2, 3, -1)]))) for x in arrays
        ]
    if data.draw(st.integers(0, 9)) == 0:
        arrays[-1] = arrays[-1].reshape(-1)[1:]  # of another shape, or empty
    same(arrays)
    same(arrays, zero_division=data.draw(st.sampled_from([0.5, math.nan, "raise"])))


@needs_compiled
@few(300)
@given(st.data())
def test_short_margins_are_those_of_the_table(data):
    rows = data.draw(st.integers(1, 30))
    labels, w = data.draw(label_arrays(rows)), data.draw(weight_arrays(rows))
    found = base.short_margins(*labels, w)
    if found is None:
        return
    table = wmcc.tabulate(*labels, w)
    unit = Fraction(table.margins.s, found.s)
    assert found.s == sum(found.r) == sum(found.q)
    for mine, theirs in zip(found[1:4], table.margins[1:4], strict=True):
        assert [x * unit for x in mine] == theirs
    assert found.classes == table.margins.classes


def usual(K=3, rows=1000, dtype="i8", weights="f8"):
    random = np.random.default_rng(rows + K)
    t, p = random.integers(0, K, rows), random.integers(0, K, rows)
    w = None if weights is None else random.lognormal(0, 1, rows).astype(weights)
    return np.where(random.random(rows) < 0.6, t, p).astype(dtype), t.astype(dtype), w


@needs_compiled
@pytest.mark.parametrize("dtype", LABEL_TYPES)
@pytest.mark.parametrize("weights", [None, "f4", "f8"])
def test_the_usual_case_makes_no_table(monkeypatch, dtype, weights):
    arrays = usual(2, dtype=dtype, weights=weights)
    expected = {name: measure(wmcc.tabulate(*arrays)) for name, measure in wmcc.measures.MEASURES.items()}
    monkeypatch.setattr("wmcc.sources.tabulate", None)  # calling it would be an error
    for name, measure in wmcc.measures.MEASURES.items():
        assert called(measure, arrays) == expected[name]
    for x in arrays[: 3 if weights else 2]:
        x.flags.writeable = False
    assert called(wmcc.mcc, arrays) == expected["mcc"]
    assert wmcc.mcc(y_true=arrays[0], y_pred=arrays[1], sample_weight=arrays[2]) == expected["mcc"]


@needs_compiled
def test_what_is_short():
    """Up to 65,536 rows and 1,024 labels from end to end, in arrays of any one shape."""
    margins = base.short_margins
    assert margins(*usual(1024, 1 << 16)) is not None
    assert margins(*usual(1025, 1 << 16)) is None
    assert margins(*usual(rows=1 << 16)) is not None
    assert margins(*usual(rows=(1 << 16) + 1)) is None
    assert margins(*(x.reshape(10, 20, 5) for x in usual())) is not None
    assert margins(*(x.reshape(20, 50) for x in usual())) is not None
    for shape in ((20, 50), (1, 1000), (1000, 1)):
        assert margins(*(x.reshape(shape) for x in usual(2))) is None  # may be one-hot rows: others look closer
    t, p, w = usual()
    for spread, short in ((63, True), (64, False)):
        w[:2] = 2.0**-20, 2.0 ** (spread - 20)
        w[2:] = 1.0
        assert (margins(t, p, w) is not None) == short
    assert margins(t, p, np.zeros(1000)) is None


@needs_compiled
def test_what_is_not_short():
    t, p, w = usual(2)
    masked = np.ma.masked_array(t, mask=t == 1)
    strange = np.full(1000, 2, dtype=np.uint8).view(np.bool_)
    matrix = np.ones((1000, 1000))
    for arrays in (
        (t.tolist(), p, w), (t, p.tolist(), w), (t, p, w.tolist()),
        (masked, p, w), (t, masked, w), (t, p, np.ma.array(w)),
        (t.astype(float), p, w), (t.astype(str), p, w), (t.astype(object), p, w), (t, p, w.astype(int)),
        (t, p, w.astype("f2")), (t, p, w.astype("g")), (t, p, matrix), (t, p, w[:, np.newaxis]), (t, p[:999], w),
        (t[::2], p[::2], w[::2]), (t.astype(">i8"), p, w), (t, p, w.astype(">f8")), (strange, strange, w),
        (t[:0], p[:0], w[:0]), (t[0:1].reshape(()), p[0:1].reshape(()), None), (t, None, None),
        (t.astype("M8[s]"), p, w), (t.view("V8"), p, w), (t.view("i4,i4"), p, w),
    ):  # fmt: skip
        assert base.short_margins(*arrays) is None
    assert called(wmcc.mcc, (strange, t.astype(bool), w)) == called(
        wmcc.mcc, (np.ones(1000, dtype=bool), t.astype(bool), w)
    )
    with pytest.raises(InputError, match="is masked"):
        wmcc.mcc(masked, p, sample_weight=w)
    with pytest.raises(TypeError, match="expected"):
        COMPILED.margins(t, p)
    with using("numpy"):
        assert base.short_margins(t, p, w) is None


def test_the_sign_of_a_label_is_not_lost():
    minus, top = np.array([-1, 0, 0]), np.array([2**64 - 1, 0, 0], dtype=np.uint64)
    same((minus, top))
    same((top, minus))
    same((top - np.uint64(7), top))
    assert wmcc.ecc(minus, top) < 1


def test_mistakes_are_told_as_ever():
    t, p, w = usual(2)
    one_hot = np.eye(3, dtype=int)[[0, 1, 2, 1]]
    for arrays in (
        (t, p[1:]), (t, p, w[1:]), (t[:0], p[:0]), (t, p, w - 1), (one_hot, one_hot), (t, p, np.zeros(1000)),
        (t, t + p), (t, p, np.where(np.arange(1000) == 7, np.nan, w)), (t[:1], p[:1], w[:1].reshape(1, 1)),
        (t[:3], p[:3], np.ones((3, 3))), (np.array(1), np.array(1)),
    ):  # fmt: skip
        same(arrays)
    with pytest.raises(InputError, match="`zero_division` is 'no'"):
        wmcc.mcc(t, p, sample_weight=w, zero_division="no")


def test_a_warning_names_the_line_of_the_caller():
    y = np.ones(4, dtype=int)
    for arguments in ((y, y), (wmcc.tabulate(y, y),)):
        with pytest.warns(UndefinedMeasureWarning) as caught:
            wmcc.mcc(*arguments, zero_division="warn")
        assert caught[0].filename == __file__
