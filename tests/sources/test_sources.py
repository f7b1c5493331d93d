"""Every container gives the same table: one test body over a dict of constructors."""

import array
import enum
import os
import sys
import tracemalloc
import warnings
from dataclasses import replace
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
import wmcc.measures
from wmcc.core.design import PIXELS
from wmcc.errors import InputError, InputTypeError, LabelError, LabelWarning, WeightError


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
        expected = replace(wmcc.tabulate(t.ravel(), p.ravel(), w.ravel()), drawn=PIXELS)
        assert wmcc.tabulate(t, p, w) == expected
        assert wmcc.tabulate(t, p, w, threads=3) == expected
        assert wmcc.tabulate(t.astype(str), p.astype(str), w).n.tolist() == expected.n.tolist()


def test_blocks_cover_large_strided_arrays():
    rng = np.random.default_rng(0)
    t, p = rng.integers(0, 3, (2, 900, 1000)), rng.integers(0, 3, (2, 900, 1000))
    w = rng.integers(0, 9, (2, 900, 1000))
    whole = replace(wmcc.tabulate(t.ravel(), p.ravel(), w.ravel().astype(float)), drawn=PIXELS)
    assert wmcc.tabulate(t.astype(">i8"), p, w) == whole
    assert wmcc.tabulate(t.transpose(2, 0, 1), p.transpose(2, 0, 1), w.transpose(2, 0, 1), threads=2) == whole
    strings = t.astype("U1")
    assert wmcc.tabulate(strings, p.astype("U1"), w).n.tolist() == whole.n.tolist()


@pytest.mark.parametrize("kernel", KERNELS)
def test_labels_fix_the_order_and_ignore_leaves_out(kernel):
    t, p = np.array([0, 1, 255, 2, 1], dtype=np.uint8), np.array([0, 255, 1, 2, 0], dtype=np.uint8)
    w = [1.0, 2.0, -1.0, 4.0, 8.0]  # weights of ignored rows are not looked at
    with using(kernel):
        table = wmcc.tabulate(t, p, w, labels=[2, 1, 0], ignore=255)
        assert (table.labels, table.void, table.classes) == ((2, 1, 0, 255), (255,), (2, 1, 0))
        assert table.ignored == 1
        assert table.w.tolist() == [[4, 0, 0, 0], [0, 0, 8, 2], [0, 0, 1, 0], [0, 0, 0, 0]]
        assert wmcc.tabulate(t, p, w, ignore=[255, 99]).labels == (0, 1, 2, 255)
        for kind in (str, object):
            names = wmcc.tabulate(t.astype(kind), p.astype(kind), w, ignore=str(255) if kind is str else 255)
            assert (names.ignored, names.rows, names.void) == (1, 4, ("255",) if kind is str else (255,))
        everything = wmcc.tabulate([255], [3], ignore=255)
        assert (everything.labels, everything.ignored) == ((), 1)
        with pytest.raises(InputError, match="no observations \\(1 were ignored\\)"):
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
def test_rows_may_share_objects(kernel):
    """An object is looked up once where rows share it; what is equal has one class all the same."""
    rng = np.random.default_rng(3)
    names = np.array([f"class {k}" for k in range(700)], dtype=object)  # more than are remembered
    t, p = names[rng.integers(0, 700, 5000)], names[rng.integers(0, 700, 5000)]
    t[::3] = [str(x) + "" for x in np.array(t[::3], dtype="U9")]  # equal, and an object of its own
    one, yes, single = 10**6, True, np.array(1)  # the last of which has no hash
    mixed = np.empty(6, dtype=object)
    mixed[:] = [one, yes, single, one, single, yes]
    with using(kernel):
        assert wmcc.tabulate(t, p) == wmcc.tabulate(t.astype(str), p.astype(str))
        assert wmcc.tabulate(mixed, mixed).labels == (1, 10**6)


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
    assert wmcc.mpc2(table) == 1.0  # a class without weight counts in no mean


@pytest.mark.parametrize("kernel", KERNELS)
@given(data=st.data())
@settings(max_examples=40)
@pytest.mark.filterwarnings("ignore::wmcc.errors.LabelWarning")
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


def test_torch_tensors(torch):
    expected = wmcc.tabulate(T, P, W)
    w = torch.tensor(W, dtype=torch.float64, requires_grad=True)
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        assert wmcc.tabulate(torch.tensor(T, dtype=dtype), torch.tensor(P), w) == expected
    assert wmcc.tabulate(torch.tensor(T), torch.tensor(P), w.detach().to(torch.bfloat16)) == expected
    maps = torch.tensor([T, P]), torch.tensor([P, T])
    assert wmcc.tabulate(maps[0].T, maps[1].T) == wmcc.tabulate(maps[0], maps[1])
    flags = torch.tensor([True, False]), torch.tensor([True, True])
    assert wmcc.tabulate(*flags).labels == (False, True)
    with pytest.raises(InputTypeError, match=r"tensor on meta[\s\S]*has no values"):
        wmcc.tabulate(torch.tensor(T, device="meta"), P)
    with pytest.raises(InputTypeError, match="sparse"):
        wmcc.tabulate(torch.tensor(T).to_sparse(), P)


def test_all_rows_may_be_ignored():
    for ignore in (0, [0, 1]):
        table = wmcc.tabulate([0, 0], [0, 1], ignore=ignore)
        assert (table.rows, table.ignored) == (0, 2)


# ---- one call, few files ---------------------------------------------------------------------------------


def test_an_array_call_passes_few_files():
    """The algorithm can be read: labels and weights in arrays pass at most ten files of wmcc, four of the core."""
    y, w = np.array([0, 1, 1, 0]), np.array([1.0, 2.0, 3.0, 4.0])
    wmcc.tabulate(y, y, w)  # imports are none of it
    seen = set()

    def watch(frame, event, _):
        if event == "call":
            seen.add(frame.f_code.co_filename)

    sys.setprofile(watch)
    try:
        wmcc.tabulate(y, y, w)
    finally:
        sys.setprofile(None)
    package = os.path.dirname(wmcc.__file__)
    files = sorted(os.path.relpath(name, package) for name in seen if name.startswith(package))
    assert len(files) <= 10, files


# ---- what is void, and what is missing --------------------------------------------------------------------

VOID = 255


@st.composite
def maps_with_void(draw):
    """Labels of which some are void, true and predicted, with weights; those of void truth cannot be weights."""
    n = draw(st.integers(0, 30))
    label = st.sampled_from([0, 1, 2, VOID])
    t, p = (draw(st.lists(label, min_size=n, max_size=n)) for _ in range(2))
    w = [np.nan if x == VOID else draw(st.integers(0, 9)) / 2 for x in t]
    return t, p, w


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", [np.uint8, np.int64, float, str, object, "category"])
@given(data=maps_with_void(), declared=st.booleans(), threads=st.integers(1, 3))
@settings(max_examples=15)
def test_only_the_truth_is_ignored(kernel, kind, data, declared, threads):
    """The rule of mmsegmentation, TorchMetrics and Keras: a mask of the truth, and a void answer is wrong."""
    t, p, w = data
    made = [pd.Series(x, dtype=kind) if kind == "category" else np.array(x, dtype=kind) for x in (t, p)]
    ignore = str(VOID) if kind is str else VOID
    name = str if kind is str else int
    labels = [name(x) for x in (2, 0, 1)] if declared else None
    with using(kernel):
        table = wmcc.tabulate(*made, np.array(w), ignore=ignore, labels=labels, threads=threads)
    rows = [(a, b, c) for a, b, c in zip(t, p, w, strict=True) if a != VOID]
    void = VOID in {b for _, b, _ in rows}
    assert (table.rows, table.ignored) == (len(rows), len(t) - len(rows))
    assert table.void == ((ignore,) if void else ())
    classes = labels or sorted(name(x) for x in {x for a, b, _ in rows for x in (a, b)} - {VOID})
    assert table.labels == (*classes, *table.void)
    expected = np.zeros((len(table.labels),) * 2)
    for a, b, c in rows:
        expected[table.labels.index(name(a)), table.labels.index(name(b))] += c
    assert np.array_equal(table.w, expected)
    halves = [wmcc.tabulate(*(x[half] for x in (*made, np.array(w))), ignore=ignore, labels=labels)
              for half in (slice(0, len(t) // 2), slice(len(t) // 2, None))]  # fmt: skip
    if kind != "category":
        assert halves[0] + halves[1] == table
    assert wmcc.Table.from_json(table.to_json()) == table


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
def test_void_answers_are_wrong():
    """The peers' numbers, by hand: truth 11110000, three void answers."""
    t, p = np.array([1, 1, 1, 1, 0, 0, 0, 0]), np.array([1, 1, 255, 1, 0, 255, 255, 0])
    table = wmcc.tabulate(t, p, ignore=255)
    assert wmcc.accuracy(table) == 0.625
    valid = t != 255  # what torchmetrics and mmseg keep
    assert wmcc.accuracy(table) == np.mean(p[valid] == t[valid])
    assert wmcc.mean_iou(table) == np.mean([np.sum(valid & (t == c) & (p == c)) / np.sum(valid & ((t == c) | (p == c)))
                                            for c in (0, 1)])  # fmt: skip
    assert wmcc.measures.mean_recall(table) == pytest.approx(np.mean([2 / 4, 3 / 4]))
    joint = wmcc.tabulate(t, {"a": p, "b": t}, ignore=255)
    assert (joint["a"].void, wmcc.accuracy(joint["b"])) == ((255,), 1.0)
    assert wmcc.tabulate(t, p, ignore=[255, 7]).void == (255,)
    with pytest.raises(LabelError, match=r"y_pred\[2\] is 255, which is not among `labels`, 0, 1"):
        wmcc.tabulate(t, p, labels=[0, 1])


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
def test_what_is_void_here_may_be_a_class_there():
    a, b = wmcc.tabulate([0, 1], [0, 9], ignore=9), wmcc.tabulate([9, 0], [9, 0])
    assert (a.labels, a.void) == ((0, 1, 9), (9,))
    assert ((a + b).labels, (a + b).void) == ((0, 1, 9), ())
    assert a + b == b + a
    assert (a + wmcc.tabulate([0], [4], ignore=4)).labels == (0, 1, 4, 9)
    assert (a + wmcc.Table.empty()) == a == wmcc.merge([a])
    both = wmcc.tabulate([0, 1, 0], [0, 9, 4], ignore=[4, 9], by=["x", "x", "y"])
    assert (both.void, both["x"].void, both["y"].void, both.total().void) == ((4, 9), (9,), (4,), (4, 9))
    assert both.rename({0: 5, 4: 6}).labels == (5, 1, 6, 9)
    text = wmcc.tabulate(np.array(["a", "b"], object), np.array(["a", 255], object), ignore=255)
    assert text.labels == ("a", "b", 255)  # what is no class need not be of the classes' kind
    assert wmcc.Table.from_json(text.to_json()) == text
    assert repr(text).startswith("Table of 2 classes and void 255: 2 rows")


def test_arguments_that_may_be_swapped():
    truth, answer = np.array([0, 1, 255, 1]), np.array([0, 1, 0, 0])
    with pytest.warns(LabelWarning, match="`y_pred` has the ignored label 255 and `y_true` never has it") as seen:
        swapped = wmcc.tabulate(answer, truth, ignore=255)
    assert "the whole table is wrong: y_true comes first, and y_pred second" in str(seen[0].message)
    assert seen[0].filename == __file__
    assert (len(seen), swapped.void) == (1, (255,))
    with pytest.warns(LabelWarning, match=r"`y_pred` has the ignored labels '\?', 'void' and `y_true` never has one"):
        wmcc.tabulate(y_true=["a", "b"], y_pred=["void", "?"], ignore=["?", "void"])
    by = {"by": [1, 1, 2, 2]}
    with pytest.warns(LabelWarning, match="never has it"):
        wmcc.tabulate(answer, truth, ignore=255, **by)
    for own in ({}, by):
        wmcc.tabulate(truth, answer, ignore=255, **own)
        wmcc.tabulate(truth, truth[::-1], ignore=255, **own)
        wmcc.tabulate(answer, {"a": truth, "b": answer}, ignore=255, **own)  # which cannot be swapped
    total = wmcc.Accumulator(ignore=255)
    total.update(answer, truth)  # a part, in which no truth may be void
    total.update(truth, answer)
    wmcc.tabulate(pl.DataFrame({"t": answer, "p": truth}), true="t", pred="p", ignore=255)  # each has its name


# ---- several outputs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "outputs"),
    [
        ((50, 2), True), ((4, 3), True), ((9, 8), True), ((50, 20), True), ((201, 100), True),
        ((4, 1), False), ((3, 4), False), ((8, 8), False), ((64, 64), False), ((128, 64), False), ((500, 101), False),
        ((9, 8, 1), False), ((5000,), False),
    ],
)  # fmt: skip
def test_columns_that_may_be_outputs(shape, outputs):
    y, p = np.random.default_rng(1).integers(0, 2, (2, *shape))
    y.flat[:2] = 1  # not all rows are one-hot
    for call in (wmcc.tabulate, wmcc.mcc, wmcc.score):
        for form in (int, bool, float):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                call(y.astype(form), p.astype(form))
            assert [one.category for one in seen] == [LabelWarning] * outputs
            if outputs:
                assert f"`y_true` and `y_pred` have {shape[1]} columns of 0 and 1" in str(seen[0].message)
                assert seen[0].filename == __file__


def test_what_is_said_of_columns_is_true():
    rng = np.random.default_rng(2)
    y = (rng.random((300, 3)) < [0.02, 0.5, 0.98]).astype(int)
    p = np.tile([0, 1, 1], (300, 1))  # which says nothing about any column
    with pytest.warns(LabelWarning, match="micro average over 3 outputs"):
        pooled = wmcc.mcc(y, p)
    assert pooled > 0.5
    assert [wmcc.mcc(y[:, k], p[:, k]) for k in range(3)] == [0, 0, 0]  # as the hints say
    assert wmcc.mcc(y.ravel(), p.ravel()) == wmcc.mcc(y[None], p[None]) == pooled
    w = rng.random((300, 3))
    image = wmcc.tabulate(y[None], p[None], w)
    assert image.cells == wmcc.tabulate(y.ravel(), p.ravel(), w.ravel()).cells
    assert image.drawn.pixels  # an image stays one
    wmcc.tabulate(y, p, cluster=range(300))  # rows are images
    wmcc.tabulate(y, p, cluster=wmcc.Blocks(100))
    wmcc.tabulate(y + 1, p + 1)  # labels of three kinds, or of others, are no marks
    with pytest.warns(LabelWarning, match="micro average over 3 outputs"):
        wmcc.tabulate(np.where(y == p, y, -1), p, ignore=-1)


MISSING = {
    "list": [1, None, 2, 1],
    "floats": np.array([1, np.nan, 2, 1]),
    "half": np.array([1, np.nan, 2, 1], dtype=np.float16),
    "objects": np.array([1, np.nan, 2, 1], dtype=object),
    "masked": np.ma.array([1, 7, 2, 1], mask=[0, 1, 0, 0]),
    "masked bytes": np.ma.array([1, 255, 2, 1], mask=[0, 1, 0, 0], dtype=np.uint8),
    "masked, to the top": np.ma.array([1, 2**64 - 1, 2, 1], mask=[0, 1, 0, 0], dtype=np.uint64),
    "masked floats": np.ma.array([1.0, 0.5, 2.0, np.nan], mask=[0, 1, 0, 1]),
    "pandas": pd.Series([1, None, 2, 1]),
    "pandas with NA": pd.Series([1, None, 2, 1], dtype="Int64"),
    "pandas category": pd.Series([1, None, 2, 1], dtype="category"),
    "pandas of Arrow": pd.Series([1, None, 2, 1], dtype=pd.ArrowDtype(pa.int8())),
    "polars": pl.Series([1, None, 2, 1]),
    "arrow": pa.array([1, None, 2, 1]),
    "chunks": pa.chunked_array([[1, None], [2, 1]]),
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", MISSING)
def test_missing_labels_are_refused_or_counted(kernel, name):
    y, p = MISSING[name], np.array([1, 1, 2, 2])
    rows = [0, 2] if name == "masked floats" else [0, 2, 3]
    expected = wmcc.tabulate(np.array([1, 1, 2, 1])[rows], p[rows], np.arange(4.0)[rows])
    w = np.where(np.isin(np.arange(4), rows), np.arange(4.0), np.nan)
    with using(kernel):
        for pair, flip in (((y, p), False), ((p, y), True)):
            with pytest.raises(LabelError, match=r"y_(true|pred)\[1\] is (missing|masked).*\n\n.*`missing` 'ignore'"):
                wmcc.tabulate(*pair, w)
            found = wmcc.tabulate(*pair, w, missing="ignore")
            assert found.ignored == 4 - len(rows)
            assert np.array_equal(found.w, expected.w.T if flip else expected.w)
            assert found.labels == (1, 2)
            grouped = wmcc.tabulate(*pair, w, missing="ignore", by=[0, 0, 1, 1], labels=[2, 1])
            assert grouped.ignored.tolist() == [1, 3 - len(rows)]
        joint = wmcc.tabulate(p, {"a": p, "b": y}, w, missing="ignore")
        assert (joint.ignored, joint["a"].rows) == (4 - len(rows), len(rows))


def test_missing_text_and_odd_cases():
    for y in (["a", None, "b"], pd.Series(["a", None, "b"]), pl.Series(["a", None, "b"]), pa.array(["a", None, "b"]),
              np.ma.array(["a", "x", "b"], mask=[0, 1, 0]), pd.Categorical(["a", None, "b"])):  # fmt: skip
        assert wmcc.tabulate(y, ["a", "a", "b"], missing="ignore").n.tolist() == [[1, 0], [0, 1]]
    flags = wmcc.tabulate(np.ma.array([True, False, True], mask=[0, 1, 0]), [True, True, False], missing="ignore")
    assert (flags.labels, flags.ignored) == ((False, True), 1)
    assert wmcc.tabulate([None, np.nan], [0, 1], missing="ignore").ignored == 2
    assert wmcc.tabulate(np.full((2, 2), np.nan), np.zeros((2, 2)), missing="ignore").ignored == 4
    nothing_masked = np.ma.array([0, 1], mask=False)
    assert wmcc.tabulate(nothing_masked, [0, 1]) == wmcc.tabulate([0, 1], [0, 1])
    matrix = wmcc.tabulate([0, None, 1], [0, 1, 1], np.ones((3, 3)), missing="ignore")
    assert (matrix.rows, matrix.ignored) == (6, 3)
    with pytest.raises(WeightError, match=r"sample_weight\[1\] is nan \(missing\); a weight"):
        wmcc.tabulate([0, 1], [0, 1], np.ma.array([1.0, 2.0], mask=[0, 1]))
    with pytest.raises(WeightError, match=r"sample_weight\[2\] is -1.0"):
        wmcc.tabulate([0, None, 1], [0, 1, 1], [1, np.nan, -1], missing="ignore")


@pytest.mark.parametrize("name", ["NA", "nan", "None", "null", ""])
def test_classes_that_look_like_missing_labels_are_warned_of(name):
    with pytest.warns(LabelWarning, match=rf"a class is called '{name}', .* list it in `ignore`") as seen:
        wmcc.tabulate(["a", name], ["a", "a"])
    assert seen[0].filename == __file__
    wmcc.tabulate(["a", name], ["a", "a"], ignore=name)  # as the warning says
    wmcc.tabulate(["a", name], ["a", name], names={"a": "a", name: "other"})


ALIKE = ["Oak", " elm", "ELM"], ["oak", "oak", "elm"]


def test_labels_without_a_common_one_are_warned_of():
    said = r"no true label is ever predicted, .* True labels are ' elm', 'ELM', 'Oak'; predicted ones are 'elm', 'oak'"
    with pytest.warns(LabelWarning, match=rf"{said}\. Some differ by case or spaces alone") as seen:
        wmcc.tabulate(*ALIKE)
    assert seen[0].filename == __file__
    with pytest.warns(LabelWarning, match="no true label"):
        assert wmcc.accuracy(*ALIKE) == 0
    with pytest.warns(LabelWarning, match="no true label"):
        wmcc.tabulate(*ALIKE, by=[0, 0, 1])
    with pytest.warns(LabelWarning, match="no true label is ever predicted of 'B'"):
        wmcc.tabulate(ALIKE[0], {"A": ALIKE[0], "B": ALIKE[1]})
    y, p = np.tile([0, 1], 10), np.tile([2, 3], 10)
    for call in (wmcc.tabulate, wmcc.ecc):  # the second of which does not make a table of short arrays
        with pytest.warns(LabelWarning, match=r"are 0, 1; predicted ones are 2, 3\. Write the same class alike"):
            call(y, p)
    wmcc.tabulate([x.strip().lower() for x in ALIKE[0]], ALIKE[1])  # as the warning says
    assert wmcc.tabulate(y, p, labels=range(4)).labels == (0, 1, 2, 3)


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
def test_labels_without_a_common_one_may_be_errors():
    """Of a few rows, of one class, of a map that covers nothing; a part of a sample says nothing of the whole."""
    wmcc.tabulate([0, 1], [2, 3])
    wmcc.tabulate([0, 0, 0, 1], [2, 2, 2, 3], np.ones((4, 4)))
    wmcc.tabulate([0] * 20, [1, 2] * 10)
    wmcc.tabulate([0, 1] * 10, [255] * 20, ignore=255)
    wmcc.tabulate([0, 1] * 10, [2] * 20)
    wmcc.tabulate([0, 1] * 10 + [2], [2, 3] * 10 + [0])
    batches = wmcc.Accumulator()
    batches.update(*ALIKE)


def sampled_map():
    """Points that were drawn in the classes of a map, some of which are wrong."""
    mapped = np.repeat([1, 2, 3], [40, 30, 20])
    return np.where(np.arange(90) % 7 == 0, 1, mapped), mapped, {1: 500.0, 2: 200.0, 3: 300.0}


def test_strata_that_are_the_true_classes_are_warned_of():
    truth, mapped, sizes = sampled_map()
    strata = wmcc.Strata(population=sizes)
    design = {"design": strata.of(mapped)}
    right = wmcc.tabulate(truth, mapped, **design)
    said = "the strata are the true classes: .* truth and prediction are probably exchanged"
    with pytest.warns(LabelWarning, match=said) as seen:
        assert wmcc.tabulate(mapped, truth, **design).n.tolist() == right.n.T.tolist()
    assert seen[0].filename == __file__
    names = {1: "oak", 2: "elm", 3: "ash"}
    frame = pl.DataFrame({"r": truth, "m": mapped, "id": range(90)})
    columns = {"true": "m", "design": strata.of("m")}
    of_text = wmcc.Strata("m", population={str(k): x for k, x in sizes.items()})
    for call in (
        lambda: wmcc.tabulate(mapped, truth, **design, names=names),
        lambda: wmcc.tabulate(mapped, truth, **design, labels=names),
        lambda: wmcc.tabulate(mapped, truth, **design, cluster=np.arange(90) // 2),
        lambda: wmcc.tabulate(mapped, truth, **design, by=np.arange(90) % 2),
        lambda: wmcc.tabulate(mapped, {"A": truth, "B": truth[::-1]}, **design),
        lambda: wmcc.tabulate(frame, pred="r", **columns),
        lambda: wmcc.tabulate(frame.lazy(), pred="r", **columns),
        lambda: wmcc.tabulate(frame.cast({"r": str, "m": str}), true="m", pred="r", design=of_text),
    ):
        with pytest.warns(LabelWarning, match=said):
            call()


def test_other_strata_are_not_warned_of():
    truth, mapped, sizes = sampled_map()
    wmcc.tabulate(mapped, mapped, design=wmcc.Strata(mapped, population=sizes))  # a map without an error
    wmcc.tabulate(truth, {"A": mapped, "B": truth}, design=wmcc.Strata(mapped, population=sizes))
    regions = np.arange(90) % 3 + 1
    wmcc.tabulate(truth, mapped, design=wmcc.Strata(regions, population=sizes))
    wmcc.tabulate(mapped, truth, design=wmcc.Strata(regions, population=sizes))
    wmcc.tabulate(mapped, truth, design=wmcc.Strata([f"part {k}" for k in regions]))
    wmcc.tabulate([1] * 5, [1, 1, 1, 1, 2], design=wmcc.Strata([1] * 5))  # one stratum is no sign


# ---- names ------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
def test_classes_have_names():
    y, p = [0, 1, 2, 255], [0, 1, 1, 0]
    names = {0: "road", 1: "car", 2: "bus", 7: "tram"}
    table = wmcc.tabulate(y, p, names=names, ignore=255)
    assert table.labels == ("road", "car", "bus")  # in the order of the labels
    assert table.n.tolist() == wmcc.tabulate(y, p, ignore=255).n.tolist()
    assert table == wmcc.tabulate(y, p, ignore=255).rename({0: "road", 1: "car", 2: "bus"})
    turned = wmcc.tabulate(y, p, labels={2: "bus", 1: "car", 0: "road", 7: "tram"}, ignore=255)
    assert turned.labels == ("bus", "car", "road", "tram")
    assert wmcc.tabulate([0, 1], [0, 1], labels={0: "no", 1: "yes"}, positive=1).positive == "yes"
    joint = wmcc.tabulate(y, {"a": p, "b": p}, names=names, ignore=255)
    assert (joint.labels, joint["a"]) == (table.labels, table)
    tables = wmcc.tabulate(y, p, by=[1, 1, 2, 2], names=names, ignore=255)
    assert (tables.labels, tables[2].labels) == (table.labels, ("car", "bus"))
    void = wmcc.tabulate([0, 1], [0, 255], ignore=255, names={0: "road", 1: "car", 255: "void"})
    assert (void.labels, void.void) == (("road", "car", "void"), ("void",))
    for call, said in (
        (lambda: wmcc.tabulate(y, p, names={0: "road"}, ignore=255), "`names` has no name for the class 1"),
        (lambda: wmcc.tabulate(y, p, names={**names, 1: "road"}, ignore=255), "two classes would be called 'road'"),
        (lambda: wmcc.tabulate(y, p, labels=names, names=names), "expected one of them"),
        (lambda: table.rename({"road": "car"}), "two classes would be called 'car'"),
        (lambda: table.rename({"rod": "car"}), "no class 'rod' to rename; the labels are 'road', 'car', 'bus'"),
    ):
        with pytest.raises(InputError, match=said):
            call()
    with pytest.raises(InputTypeError, match="expected a mapping from labels to names"):
        wmcc.tabulate(y, p, names=["road", "car", "bus"])


# ---- weights that are repeated ----------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shape", [(4, 1), (1, 5), (1, 1), (3, 1, 1), (1, 4, 5), (4, 5), (3, 4, 1), (3, 1, 5)])
def test_weights_are_repeated_along_axes(kernel, shape):
    rng = np.random.default_rng(len(shape))
    t, p = rng.integers(0, 3, (2, 3, 4, 5))
    w = rng.random(shape)
    with using(kernel):
        expected = wmcc.tabulate(t, p, np.broadcast_to(w, t.shape).copy())
        assert wmcc.tabulate(t, p, w) == expected
        assert wmcc.tabulate(t, {"a": p}, w)["a"] == expected


def test_repeated_weights_are_not_copied():
    t = np.zeros((64, 1000, 100), dtype=np.uint8)
    wmcc.tabulate(t[:2], t[:2], np.ones((1000, 1)))
    tracemalloc.start()
    assert wmcc.tabulate(t, t, np.ones((1000, 1))).total == t.size
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4e6  # as float64 they would take 51 MB


@pytest.mark.parametrize(
    ("labels", "weights", "said"),
    [
        ((3, 4, 5), (3,), r"it has \(3,\)[\s\S]*w\[:, None, None\]"),
        ((4, 5), (5,), r"it has \(5,\)[\s\S]*w\[:, None\]"),
        ((5,), (1,), r"it has \(1,\)"),
        ((4, 4, 4), (4, 4), r"fits the first and the last axes of the labels, \(4, 4, 4\)[\s\S]*w\[\.\.\., None\]"),
        ((4, 5), (5, 4), r"it has \(5, 4\)"),
        ((4, 5), (2, 4, 5), r"it has \(2, 4, 5\)"),
    ],
)
def test_weights_that_do_not_fit(labels, weights, said):
    y = np.zeros(labels, dtype=int)
    with pytest.raises(InputError, match=said):
        wmcc.tabulate(y, y, np.ones(weights))


def test_hints_about_shapes_are_true():
    """Each hint is followed once."""
    y = np.array([[[0, 1], [2, 1]], [[1, 1], [0, 2]]])
    channel = y[:, None]
    with pytest.raises(InputError, match=r"np\.squeeze\(y_pred, 1\)"):
        wmcc.tabulate(y, channel)
    assert wmcc.tabulate(y, channel.squeeze(1)) == wmcc.tabulate(y, y)
    with pytest.raises(InputError, match=r"np\.squeeze\(y_true, 0\)"):
        wmcc.tabulate(y[:1], y[0])
    scores = np.moveaxis(np.eye(3)[y], -1, 1)
    with pytest.raises(InputError, match=r"np\.argmax\(y_pred, axis=1\)"):
        wmcc.tabulate(y, scores)
    assert wmcc.tabulate(y, scores.argmax(axis=1)) == wmcc.tabulate(y, y)
    with pytest.raises(InputError, match=r"np\.argmax\(y_pred, axis=-1\)"):
        wmcc.tabulate(y, np.eye(3)[y])
    with pytest.raises(InputError, match="if these are several predictions, give a mapping"):
        wmcc.tabulate(y[0, 0], np.stack([y[0, 0]] * 5))


# ---- series and arrays that know where they belong ------------------------------------------------------------


def test_indexes_that_do_not_match():
    y = pd.Series([0, 1, 1], index=[10, 11, 12])
    p = pd.Series([1, 0, 1], index=[11, 10, 12])
    for call in (
        lambda: wmcc.tabulate(y, p),
        lambda: wmcc.tabulate(y, {"a": y, "b": p}),
        lambda: wmcc.tabulate(y, y.to_numpy(), p),
        lambda: wmcc.tabulate(y, y, cluster=p),
        lambda: wmcc.tabulate(y, y, by=p),
        lambda: wmcc.tabulate(y.to_frame(), p.to_frame()),
    ):
        with pytest.raises(InputError, match=r"have different indexes[\s\S]*reindex\(y_true\.index\)"):
            call()
    assert wmcc.tabulate(y, p.reindex(y.index)).n.tolist() == [[1, 0], [0, 2]]  # as the hint says
    assert wmcc.tabulate(y.to_numpy(), p.to_numpy()).n.tolist() == [[0, 1], [1, 1]]
    assert wmcc.tabulate(y, y.copy(), pd.Series([1.0, 2.0, 3.0], index=y.index.copy())).total == 6
    assert wmcc.tabulate(y, p.tolist()).n.tolist() == [[0, 1], [1, 1]]
    with pytest.raises(InputError, match="must have the same shape"):
        wmcc.tabulate(y, p[:2])


class Labelled:
    """What xarray's arrays are to wmcc: an array with dimensions, and an index for those that have coordinates."""

    def __init__(self, values, dims, **coordinates):
        self.values, self.dims = np.asarray(values), dims
        self.indexes = {name: pd.Index(x) for name, x in coordinates.items()}

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


def test_dimensions_and_coordinates_that_do_not_match():
    y = np.array([[0, 1, 1], [1, 0, 0], [1, 1, 0]])
    left = Labelled(y, ("lat", "lon"), lat=[1, 2, 3], lon=[5, 6, 7])
    assert wmcc.tabulate(left, Labelled(y, ("lat", "lon"), lat=[1, 2, 3])) == wmcc.tabulate(y, y)
    with pytest.raises(InputError, match=r"coordinates of 'lat' differ[\s\S]*y_pred\.reindex_like\(y_true\)"):
        wmcc.tabulate(left, Labelled(y[::-1], ("lat", "lon"), lat=[3, 2, 1], lon=[5, 6, 7]))
    with pytest.raises(InputError, match=r"dimensions \('lat', 'lon'\)[\s\S]*y_pred\.transpose\(\*y_true\.dims\)"):
        wmcc.tabulate(left, Labelled(y.T, ("lon", "lat"), lat=[1, 2, 3], lon=[5, 6, 7]))
    with pytest.raises(InputError, match="dimensions"):
        wmcc.tabulate(left, Labelled(y, ("y", "x")))
    area = np.array([1.0, 2.0, 4.0])
    for weights, along in ((Labelled(area, ("lat",), lat=[1, 2, 3]), area[:, None]), (Labelled(area, ("lon",)), area)):
        assert wmcc.tabulate(left, left, weights) == wmcc.tabulate(y, y, np.broadcast_to(along, y.shape))
    with pytest.raises(InputError, match="coordinates of 'lat' differ between y_true and sample_weight"):
        wmcc.tabulate(left, left, Labelled(area, ("lat",), lat=[3, 2, 1]))


def test_arrays_of_xarray():
    import xarray as xr

    y = xr.DataArray([[0, 1], [1, 1]], dims=("lat", "lon"), coords={"lat": [1, 2], "lon": [3, 4]})
    other = y.isel(lat=[1, 0])
    with pytest.raises(InputError, match="coordinates of 'lat' differ"):
        wmcc.tabulate(y, other)
    assert wmcc.tabulate(y, other.reindex_like(y)) == wmcc.tabulate(y.values, y.values)
    assert wmcc.tabulate(*xr.align(y, other, join="inner")).rows == 4
    with pytest.raises(InputError, match="transpose"):
        wmcc.tabulate(y, y.T)
    assert wmcc.tabulate(y, y.T.transpose(*y.dims)) == wmcc.tabulate(y.values, y.values)
    weights = xr.DataArray([1.0, 3.0], dims=("lat",), coords={"lat": [1, 2]})
    assert wmcc.tabulate(y, y, weights).total == 8


# ---- no rows, nested clusters -----------------------------------------------------------------------------


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pa.array, lambda x: np.zeros((0, 4), np.uint8)])
def test_no_rows(make):
    assert wmcc.tabulate(make([]), make([])) == wmcc.Table.empty()
    assert wmcc.tabulate(make([]), make([]), labels=["a", "b"], ignore="c") == wmcc.Table.empty(["a", "b"])
    assert wmcc.tabulate(make([]), {"a": make([]), "b": make([])}) == wmcc.JointTable.empty("ab")
    tables = wmcc.tabulate(make([]), make([]), by=[], cluster=[])
    assert (len(tables), tables.total().rows) == (0, 0)
    clustered = wmcc.tabulate(make([]), make([]), cluster=[], positive=1)
    assert (clustered.drawn.kind, clustered.positive) == ("clusters", 1)
    assert clustered + wmcc.tabulate([0, 1], [0, 1], cluster=["x", "y"]) == wmcc.tabulate(
        [0, 1], [0, 1], cluster=["x", "y"], positive=1
    )
    with pytest.raises(InputError, match="no observations"):
        wmcc.ecc(wmcc.tabulate(make([]), make([])))
    assert wmcc.tabulate([], [], np.zeros((0, 0))).rows == 0
    assert wmcc.tabulate([], [], np.zeros(0)).rows == 0


def test_nested_clusters_beside_groups():
    t, p, w = np.array([0, 1, 1, 0, 1, 0]), np.array([0, 1, 0, 0, 1, 1]), np.arange(1.0, 7.0)
    scene, image, year = np.array([1, 1, 2, 2, 2, 1]), np.array(list("ababba")), np.array([20, 21, 20, 20, 21, 21])
    nested = {"scene": scene, "image": image}
    table = wmcc.tabulate(t, p, w, cluster=nested)
    keys = list(zip(scene.tolist(), image.tolist(), strict=True))
    assert table.drawn.clusters == tuple(sorted(set(keys)))
    frame = pl.DataFrame({"t": t, "p": p, "w": w, **nested, "year": year})
    call = {"true": "t", "pred": "p", "weight": "w", "cluster": ["scene", "image"]}
    for data in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()):
        assert wmcc.tabulate(data, **call) == table
        by = wmcc.tabulate(data, **call, by="year")
        assert {key: by[key] for key in by} == {
            key: wmcc.tabulate(
                *(x[year == key] for x in (t, p, w)), cluster={k: x[year == key] for k, x in nested.items()}
            )
            for key in (20, 21)
        }
    assert wmcc.tabulate(t, p, w, cluster=nested, by={"year": year, "scene": scene}).by == ("year", "scene")
    assert wmcc.Table.from_json(table.to_json()) == table
    stack = t.reshape(3, 2), p.reshape(3, 2)
    images = wmcc.tabulate(*stack, cluster={"scene": [1, 1, 2], "image": ["x", "y", "x"]})  # a key for each image
    assert images.drawn.clusters == ((1, "x"), (1, "y"), (2, "x"))
    with pytest.raises(InputError, match=r"`cluster\['image'\]` has shape \(2,\), and the labels \(6,\)"):
        wmcc.tabulate(t, p, cluster={"scene": scene, "image": image[:2]})


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", object])
def test_masked_weights_of_rows_that_are_left_out(dtype):
    weights = np.ma.array([1, 2, 3], mask=[0, 1, 0], dtype=dtype)
    wanted = wmcc.tabulate([0, 255, 1], [0, 0, 1], [1, np.nan, 3], ignore=255)
    assert wmcc.tabulate([0, 255, 1], [0, 0, 1], weights, ignore=255) == wanted
    assert wmcc.tabulate([0, None, 1], [0, 0, 1], weights, missing="ignore") == wanted
    with pytest.raises(WeightError, match=r"sample_weight\[1\] is nan \(missing\); a weight must be"):
        wmcc.tabulate([0, 0, 1], [0, 0, 1], weights)


def test_several_predictions_side_by_side_are_not_taken_for_one_hot_rows():
    frame = pd.DataFrame({"p": [0, 1, 2], "q": [1, 1, 2]})
    with pytest.raises(InputError, match=r"a mapping from names: \{'p': …, 'q': …\}\.$"):
        wmcc.tabulate([0, 1, 2], frame)
    with pytest.raises(InputError, match=r"a mapping from names: \{'A': …, 'B': …\}\.$"):
        wmcc.tabulate([0, 1, 2], frame.to_numpy())
    one_hot = pd.DataFrame(np.eye(3, dtype=int))
    with pytest.raises(InputError, match=r"pass np\.argmax\(y_pred, axis=-1\)"):
        wmcc.tabulate([0, 1, 2], one_hot)
    assert wmcc.accuracy([0, 1, 2], np.argmax(one_hot, axis=-1)) == 1.0
