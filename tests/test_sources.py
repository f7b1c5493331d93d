"""Every container gives the same table: one test body over a dict of constructors."""

import array
import enum
import importlib.util
import os
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import KERNELS, using
from hypothesis import given, settings
from hypothesis import strategies as st

import wmcc


class DLPackOnly:
    """An object that speaks DLPack and nothing else."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class InterfaceOnly:
    """An object that speaks the array interface and nothing else."""

    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self._keep = array


def strided(x):
    wide = np.zeros((len(x), 3), dtype=np.asarray(x).dtype)
    wide[:, 1] = x
    return wide[:, 1]


def read_only(x):
    array = np.array(x)
    array.flags.writeable = False
    return array


def unaligned(x):
    array = np.asarray(x)
    return np.frombuffer(b"-" + array.tobytes(), dtype=array.dtype, offset=1)


def chunked(x):
    return pa.chunked_array([pa.array(x[:1]), pa.array(x[1:1], type=pa.array(x).type), pa.array(x[1:])])


CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "object array": lambda x: np.array(x, dtype=object),
    "strided": strided,
    "reversed twice": lambda x: np.array(x)[::-1].copy()[::-1],
    "big-endian": lambda x: np.array(x).astype(np.array(x).dtype.newbyteorder(">")),
    "read-only": read_only,
    "unaligned": unaligned,
    "masked": np.ma.array,
    "pandas": pd.Series,
    "pandas index": pd.Index,
    "pandas with an odd index": lambda x: pd.Series(x, index=[7] * len(x)),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow chunks": chunked,
}
LABELS = {
    "pandas category": lambda x: pd.Series(x).astype("category"),
    "pandas Categorical": pd.Categorical,
    "arrow dictionary": lambda x: pa.array(x).dictionary_encode(),
    "arrow dictionary chunks": lambda x: pa.chunked_array(
        [pa.array(x[:1]).dictionary_encode(), pa.array(x[1:]).dictionary_encode()]
    ),
}
TEXT_LABELS = {
    "bytes": lambda x: np.array([s.encode() for s in x]),
    "numpy StringDType": lambda x: np.array(x, dtype=np.dtypes.StringDType()),
    "pandas string[python]": lambda x: pd.Series(x, dtype="string[python]"),
    "pandas string[pyarrow]": lambda x: pd.Series(x, dtype="string[pyarrow]"),
    "pandas object": lambda x: pd.Series(x, dtype=object),
    "polars categorical": lambda x: pl.Series(x, dtype=pl.Categorical),
    "polars enum": lambda x: pl.Series(x, dtype=pl.Enum([*sorted(set(x)), "never"])),
    "arrow large string": lambda x: pa.array(x, type=pa.large_string()),
}
NUMBERS = {
    "memoryview": lambda x: memoryview(np.array(x)),
    "array.array": lambda x: array.array("q" if isinstance(x[0], int) else "d", x),
    "float16": lambda x: np.array(x, dtype=np.float16),
    "narwhals": lambda x: nw.from_native(pl.Series(x), series_only=True),
    "array interface": lambda x: InterfaceOnly(np.array(x)),
    "dlpack": lambda x: DLPackOnly(np.array(x)),
    "pandas nullable": lambda x: pd.Series(x, dtype="Int64" if isinstance(x[0], int) else "Float64"),
    "pandas arrow": lambda x: pd.Series(x, dtype="int64[pyarrow]" if isinstance(x[0], int) else "double[pyarrow]"),
    "floats": lambda x: np.array(x, dtype=float),
    "decimals": lambda x: np.array([Decimal(v) for v in x]) if isinstance(x[0], float) else np.array(x),
    "fractions": lambda x: [Fraction(v) for v in x] if isinstance(x[0], float) else np.array(x),
    "polars decimal": lambda x: pl.Series([Decimal(v) for v in x]) if isinstance(x[0], float) else pl.Series(x),
}

T, P, W = [3, 0, 3, 1, 0, 3], [3, 1, 0, 1, 0, 3], [0.5, 2.0, 1.25, 3.0, 0.125, 8.0]
NAMES = {0: "ash", 1: "böhmische Eiche", 3: "elm"}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("make", [*CONTAINERS, *LABELS, *NUMBERS])
def test_integer_labels(kernel, make):
    make = {**CONTAINERS, **LABELS, **NUMBERS}[make]
    with using(kernel):
        assert wmcc.tabulate(make(T), make(P), W) == wmcc.tabulate(T, P, W)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("make", [*CONTAINERS, *LABELS, *TEXT_LABELS])
def test_text_labels(kernel, make):
    make = {**CONTAINERS, **LABELS, **TEXT_LABELS}[make]
    t, p = ([NAMES[k] for k in x] for x in (T, P))
    with using(kernel):
        table = wmcc.tabulate(make(t), make(p), W)
        assert table == wmcc.tabulate(t, p, W)
        assert table.labels == ("ash", "böhmische Eiche", "elm")
        assert np.array_equal(table.n, wmcc.tabulate(T, P, W).n)
        wide = wmcc.tabulate(make(t), np.array(p, dtype="U40"), W)
        assert wide == table


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("make", [*CONTAINERS, *NUMBERS])
def test_weights(kernel, make):
    make = {**CONTAINERS, **NUMBERS}[make]
    with using(kernel):
        assert wmcc.tabulate(T, P, make(W)) == wmcc.tabulate(T, P, W)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "i4", "i8", "u8", "f2", "f4", "f8", "g", ">f4", ">i4"])
def test_weights_of_every_type(dtype):
    w = np.array([1, 0, 1, 1, 0, 1]).astype(dtype)
    assert wmcc.tabulate(T, P, w) == wmcc.tabulate(T, P, [1.0, 0.0, 1.0, 1.0, 0.0, 1.0])


def test_float32_weights_are_summed_in_full():
    n = 2**24 + 4
    t = np.zeros(n, dtype=np.uint8)
    assert wmcc.tabulate(t, t, np.ones(n, dtype=np.float32)).total == n
    tenths = np.full(10**6, 0.1, dtype=np.float32)
    expected = Fraction(float(np.float32(0.1))) * 10**6
    assert wmcc.tabulate(t[: 10**6], t[: 10**6], tenths).total == float(expected)


@pytest.mark.parametrize("kernel", KERNELS)
def test_booleans(kernel):
    t, p = np.array([True, False, True, True]), np.array([True, True, False, True])
    with using(kernel):
        table = wmcc.tabulate(t, p)
        assert table.labels == (False, True)
        assert table == wmcc.tabulate(t.tolist(), p.tolist()) == wmcc.tabulate(pl.Series(t), pd.Series(p))
        mixed = wmcc.tabulate(t.astype(int), p)
        assert mixed.labels == (0, 1)
        assert np.array_equal(mixed.n, table.n)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("layout", ["C", "F", "mixed", "crop", "transposed", "1 x n", "strided volume"])
def test_label_maps(kernel, layout):
    rng = np.random.default_rng(0)
    shape = (3, 40, 50)
    t, p, w = rng.integers(0, 5, shape).astype("u1"), rng.integers(0, 5, shape).astype("i4"), rng.random(shape)
    if layout == "F":
        t, p, w = map(np.asfortranarray, (t, p, w))
    elif layout == "mixed":
        t, w = np.asfortranarray(t), np.asfortranarray(w)
    elif layout == "crop":
        t, p, w = (x[:, 3:-3, 5:-1] for x in (t, p, w))
    elif layout == "transposed":
        t, p, w = (x.transpose(1, 2, 0) for x in (t, p, w))
    elif layout == "1 x n":
        t, p, w = (x[:1, :, ::2] for x in (t, p, w))
    elif layout == "strided volume":
        t, p, w = (x[::2, ::-3, ::7] for x in (t, p, w))
    with using(kernel):
        expected = wmcc.tabulate(t.ravel(), p.ravel(), w.ravel())
        assert wmcc.tabulate(t, p, w) == expected
        assert wmcc.tabulate(t, p, w, threads=3) == expected
        assert wmcc.tabulate(t.astype(str), p.astype(str), w).n.tolist() == expected.n.tolist()


def test_blocks_cover_large_strided_arrays():
    rng = np.random.default_rng(0)
    t, p = rng.integers(0, 3, (2, 900, 1000)), rng.integers(0, 3, (2, 900, 1000))
    w = rng.integers(0, 9, (2, 900, 1000))
    whole = wmcc.tabulate(t.ravel(), p.ravel(), w.ravel().astype(float))
    assert wmcc.tabulate(t.astype(">i8"), p, w) == whole
    assert wmcc.tabulate(t.transpose(2, 0, 1), p.transpose(2, 0, 1), w.transpose(2, 0, 1), threads=2) == whole
    strings = t.astype("U1")
    assert wmcc.tabulate(strings, p.astype("U1"), w).n.tolist() == whole.n.tolist()


@pytest.mark.parametrize("kernel", KERNELS)
def test_labels_fix_the_order_and_ignore_leaves_out(kernel):
    t, p = np.array([0, 1, 255, 2, 1], dtype=np.uint8), np.array([0, 255, 1, 2, 0], dtype=np.uint8)
    w = [1.0, np.nan, -1.0, 4.0, 8.0]  # weights of ignored rows are not looked at
    with using(kernel):
        table = wmcc.tabulate(t, p, w, labels=[2, 1, 0], ignore=255)
        assert table.labels == (2, 1, 0)
        assert table.ignored == 2
        assert table.w.tolist() == [[4, 0, 0], [0, 0, 8], [0, 0, 1]]
        assert wmcc.tabulate(t, p, w, ignore=[255, 99]).labels == (0, 1, 2)
        for kind in (str, object):
            names = wmcc.tabulate(t.astype(kind), p.astype(kind), w, ignore=str(255) if kind is str else 255)
            assert (names.ignored, names.rows) == (2, 3)
        everything = wmcc.tabulate([255], [3], ignore=255)
        assert (everything.labels, everything.ignored) == ((), 1)
        with pytest.raises(wmcc.InputError, match="no observations \\(1 were ignored\\)"):
            wmcc.ecc(everything)


class Tree(str, enum.Enum):  # noqa: UP042 - str() of its members is not their value
    OAK = "oak"
    ELM = "elm"


class Code(enum.IntEnum):
    OAK = 1
    ELM = 2


@pytest.mark.parametrize("kernel", KERNELS)
def test_members_of_enums_are_their_values(kernel):
    with using(kernel):
        table = wmcc.tabulate([Tree.OAK, Tree.ELM, "oak"], ["oak", "elm", "oak"], labels=list(Tree))
        assert (table.labels, table.n.tolist()) == (("oak", "elm"), [[2, 0], [0, 1]])
        table = wmcc.tabulate([Code.OAK, 2], [1, Code.ELM], labels=list(Code))
        assert [type(x) for x in table.labels] == [int, int]


@pytest.mark.parametrize("kernel", KERNELS)
def test_large_integers_are_told_apart(kernel):
    with using(kernel):
        for x in ([2**53, 2**53 + 1, 1.0], [2**63, 2**63 + 1, 1], [-(2**63), 2**64 - 1]):
            assert len(wmcc.tabulate(x, x).labels) == len(x)


@pytest.mark.parametrize("kernel", KERNELS)
def test_unused_categories_are_no_classes(kernel):
    used = [1, 2, 3, 1]
    with using(kernel):
        expected = wmcc.tabulate(used, used)
        for many in (
            pd.Categorical(used, categories=range(5000)),
            pd.Categorical(used, categories=[0.5, 3, 2, 1]),
            pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0], pa.int32()), pa.array([1, 2, 3, *range(4, 5000)])),
        ):
            assert wmcc.tabulate(many, used) == expected


def test_booleans_made_of_other_bytes():
    mask = np.array([0, 255, 255, 0], dtype=np.uint8).view(bool)
    assert wmcc.tabulate(mask, mask).n.tolist() == [[2, 0], [0, 2]]


def test_very_long_strings():
    t = np.array(["x" * 5_000_000, "y"])
    assert wmcc.tabulate(t, t).n.tolist() == [[1, 0], [0, 1]]


def test_strided_labels_need_no_copy_of_all_rows():
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 100, (2_000_000, 2))
    wmcc.tabulate(wide[:1000, 0], wide[:1000, 1])
    tracemalloc.start()
    wmcc.tabulate(wide[:, 0], wide[:, 1])
    wmcc.tabulate(wide[:, :1].T, wide[:, 1:].T)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.2 * wide.nbytes


def test_a_label_seen_only_in_ignored_rows_is_no_class():
    assert wmcc.tabulate([0, 1, 255], [0, 1, 7], ignore=255).labels == (0, 1)
    assert wmcc.tabulate(["a", "b", "-"], ["a", "b", "z"], ignore="-").labels == ("a", "b")


def test_zero_weight_rows_keep_their_label_known():
    table = wmcc.tabulate([0, 1, 2], [0, 1, 2], [1, 1, 0])
    assert table.labels == (0, 1, 2)
    assert wmcc.mpc2(table) == pytest.approx(2 / 3)


@pytest.mark.parametrize("kernel", KERNELS)
@given(data=st.data())
@settings(max_examples=40)
def test_any_text(kernel, data):
    text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5)
    n = data.draw(st.integers(1, 15))
    t, p = (data.draw(st.lists(text, min_size=n, max_size=n)) for _ in range(2))
    with using(kernel):
        table = wmcc.tabulate(t, p)
        assert table.labels == tuple(sorted({*t, *p}))
        assert wmcc.tabulate(np.array(t), np.array(p)) == table
        assert wmcc.tabulate(pd.Series(t, dtype="category"), pl.Series(p)) == table
        assert wmcc.Table.from_json(table.to_json()) == table


def test_growing_dictionaries_meet_new_classes_late():
    n = 600_000
    t = np.full(n, "class 0000")
    t[-2000:] = [f"class {k:04}" for k in range(2000)]
    p = np.roll(t, 1)
    w = np.arange(n) % 7 / 8
    table = wmcc.tabulate(t, p, w)
    assert len(table.labels) == 2000
    assert table == wmcc.tabulate(t[::-1], p[::-1], w[::-1])
    codes = np.array([int(x[6:]) for x in table.labels])
    integers = wmcc.tabulate(
        np.char.replace(t, "class ", "").astype(int), np.char.replace(p, "class ", "").astype(int), w
    )
    assert np.array_equal(codes, integers.labels)
    assert table.w_exact == integers.w_exact


# ---- torch -------------------------------------------------------------------------------------------

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None and not os.environ.get("WMCC_TEST_TORCH"),
    reason="PyTorch is not installed; WMCC_TEST_TORCH=1 scripts/test installs it",
)


@needs_torch
def test_torch_tensors():
    import torch

    expected = wmcc.tabulate(T, P, W)
    w = torch.tensor(W, dtype=torch.float64, requires_grad=True)
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        assert wmcc.tabulate(torch.tensor(T, dtype=dtype), torch.tensor(P), w) == expected
    assert wmcc.tabulate(torch.tensor(T), torch.tensor(P), w.detach().to(torch.bfloat16)) == expected
    maps = torch.tensor([T, P]), torch.tensor([P, T])
    assert wmcc.tabulate(maps[0].T, maps[1].T) == wmcc.tabulate(maps[0], maps[1])
    flags = torch.tensor([True, False]), torch.tensor([True, True])
    assert wmcc.tabulate(*flags).labels == (False, True)
    with pytest.raises(wmcc.InputTypeError, match=r"tensor on meta[\s\S]*cpu\(\)"):
        wmcc.tabulate(torch.tensor(T, device="meta"), P)
    with pytest.raises(wmcc.InputTypeError, match="sparse"):
        wmcc.tabulate(torch.tensor(T).to_sparse(), P)


def test_all_rows_may_be_ignored():
    for ignore in (0, [0, 1]):
        table = wmcc.tabulate([0, 0], [0, 1], ignore=ignore)
        assert (table.rows, table.ignored) == (0, 2)
