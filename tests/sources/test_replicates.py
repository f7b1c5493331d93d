"""Replicate weights: exact sums of each column, the same from every source, and sentences for what cannot be read."""

from __future__ import annotations

import json
import math
from datetime import timedelta
from fractions import Fraction

import flat
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from engines import ALL, ENGINE_WARNINGS, ENGINES, FAST, IN_MEMORY
from helpers import KERNELS, any_weight, rows, using
from hypothesis import given
from hypothesis import strategies as st
from schemas import check

import wmcc
from wmcc.core.design import ReplicateFactors, SampleDesign
from wmcc.errors import InputError, InputTypeError, SchemaError, TooManyClassesError, WeightError
from wmcc.sources import arrays, arrow_batches

pytestmark = ENGINE_WARNINGS

N, R = 120, 11
RNG = np.random.default_rng(8)
T, P, Q = RNG.integers(0, 3, (3, N))
W = RNG.lognormal(0, 1, N)
RW = W[:, np.newaxis] * RNG.choice([0.0, 2.0], (N, R))
NAMES = [f"rw{k}" for k in range(R)]
GROUPS = RNG.integers(0, 2, N)
DATA = pa.table({"t": T, "p": P, "q": Q, "w": W, "g": GROUPS, **dict(zip(NAMES, RW.T, strict=True))})
TABLE = wmcc.tabulate(T, P, W, design=wmcc.Replicates(RW, "brr"))
COLUMNS = {"true": "t", "pred": "p", "weight": "w", "method": "brr"}


def replicate_sums(table):
    """Exact sums of each replicate, by the labels of the cells."""
    cells = [tuple(table.labels[k] for k in codes) for codes in table.cells.codes.T.tolist()]
    out = []
    for exact in table.cells.sums.replicates:
        unit = Fraction(2) ** exact.exponent
        out.append(dict(zip(cells, (x * unit for x in exact.integers()), strict=True)))
    return out


def near(found, expected):
    """The same tables, with replicate sums as an engine rounds them."""
    assert found.labels == expected.labels
    assert found.drawn == expected.drawn
    assert np.array_equal(found.raw_cells.codes, expected.raw_cells.codes)
    sums, others = found.raw_cells.sums, expected.raw_cells.sums
    assert np.array_equal(sums.n, others.n)
    assert len(sums.replicates) == len(others.replicates)
    for a, b in zip((sums.w_exact, *sums.replicates), (others.w_exact, *others.replicates), strict=True):
        np.testing.assert_allclose(a.floats(), b.floats(), rtol=1e-12)


# ---- exact -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@given(data=rows(classes=3, most=15), count=st.integers(2, 9), threads=st.integers(1, 3), more=st.data())
def test_sums_are_exact(kernel, data, count, threads, more):
    n = len(data.t)
    weight = st.one_of(st.just(0.0), any_weight)
    columns = [more.draw(st.lists(weight, min_size=n, max_size=n)) for _ in range(count)]
    with using(kernel):
        options = {"replicates": np.array(columns).T, "method": "jk1", "ignore": 2, "threads": threads}
        table = flat.tabulate(*data.arrays, **options)
    expected = []
    for own in columns:
        cells = {}
        for t, p, x in zip(data.t, data.p, own, strict=True):
            if t != 2:
                cells[t, p] = cells.get((t, p), 0) + Fraction(x)
        expected.append(cells)
    assert replicate_sums(table) == expected
    assert table.drawn == SampleDesign(
        "replicates", replicates=ReplicateFactors("jk1", ((count - 1) / count,) * count, count - 1.0)
    )


def test_replicates_change_nothing_else():
    plain = wmcc.tabulate(T, P, W)
    assert np.array_equal(TABLE.w, plain.w)
    assert np.array_equal(TABLE.w2, plain.w2)
    assert (TABLE.labels, TABLE.rows, TABLE.axes) == (plain.labels, plain.rows, 2)
    assert wmcc.ecc(TABLE) == wmcc.ecc(plain)
    assert TABLE.raw_cells is TABLE.cells
    assert "120 rows with 11 replicate weights" in repr(TABLE)
    unweighted = wmcc.tabulate(T, P, np.ones(N), design=wmcc.Replicates(RW, "brr"))
    assert unweighted.cells.sums.replicates == TABLE.cells.sums.replicates
    assert unweighted.n.tolist() == unweighted.w.tolist() == plain.n.tolist()


def test_each_replicate_is_what_its_weights_alone_would_give():
    for k, sums in enumerate(TABLE.cells.sums.replicates):
        alone = wmcc.tabulate(T, P, RW[:, k])
        assert sums == alone.cells.sums.w_exact


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_blocks_and_layouts_do_not_matter(threads):
    n = 200_000
    rng = np.random.default_rng(1)
    t, p = rng.integers(0, 4, (2, n))
    w = rng.lognormal(0, 1, (n, 3))
    expected = wmcc.tabulate(t, p, w[:, 0], threads=1, design=wmcc.Replicates(w, "sdr"))
    several = {"columns": list(w.T.copy()), "Fortran": np.asfortranarray(w), "wide": np.repeat(w, 2, axis=1)[:, ::2]}
    for given_ in several.values():
        assert wmcc.tabulate(t, p, w[:, 0], threads=threads, design=wmcc.Replicates(given_, "sdr")) == expected
    text = t.astype("U1"), p.astype("U1")  # coded block by block, by one thread
    assert (
        wmcc.tabulate(*text, w[:, 0], design=wmcc.Replicates(w, "sdr")).cells.sums.replicates
        == expected.cells.sums.replicates
    )


def test_classes_that_turn_up_late_and_many_groups():
    """More classes than a tally has room for begin another; many cells have no place for each."""
    n = 150_000
    t = np.where(np.arange(n) < 100_000, "a", "z")
    t[140_000:] = "m"
    w = np.linspace(0, 5, n)
    late = wmcc.tabulate(t, t, w, design=wmcc.Replicates([w, w / 2], "brr"))
    for label in "amz":
        own = late.labels.index(label)
        assert late.cells.sums.replicates[1].floats()[own] == math.fsum(w[t == label] / 2)
    groups = np.arange(n) % 40_000
    tables = wmcc.tabulate(t, t, w, by=groups, design=wmcc.Replicates([w, w / 2], "brr"))
    assert tables.total() == late
    assert tables[39_999] == wmcc.tabulate(
        *(x[39_999::40_000] for x in (t, t, w)), design=wmcc.Replicates(np.stack([w, w / 2], 1)[39_999::40_000], "brr")
    )


# ---- containers --------------------------------------------------------------------------------------


def test_containers_of_replicates():
    frame = pd.DataFrame(RW, columns=NAMES)
    several = {
        "an array": RW,
        "in Fortran's order": np.asfortranarray(RW),
        "a list of arrays": list(RW.T),
        "a list of lists": RW.T.tolist(),
        "a tuple of series": tuple(pl.Series(x) for x in RW.T),
        "a mapping": dict(zip(NAMES, RW.T, strict=True)),
        "pandas": frame,
        "pandas, names that are numbers": pd.DataFrame(RW),
        "polars": pl.DataFrame(RW),
        "Arrow": pa.table(dict(zip(NAMES, RW.T, strict=True))),
        "objects": RW.astype(object),
        "another byte order": RW.astype(">f8"),
    }
    for replicates in several.values():
        assert wmcc.tabulate(T, P, W, design=wmcc.Replicates(replicates, "brr")) == TABLE
    whole = np.rint(RW)
    expected = wmcc.tabulate(T, P, W, design=wmcc.Replicates(whole, "brr"))
    assert wmcc.tabulate(T, P, W, design=wmcc.Replicates(whole.astype(np.int16), "brr")) == expected
    narrow = RW.astype(np.float32)
    expected = wmcc.tabulate(T, P, W, design=wmcc.Replicates(narrow.astype(np.float64), "brr"))
    assert wmcc.tabulate(T, P, W, design=wmcc.Replicates(narrow, "brr")) == expected


def test_labels_of_images():
    shape = (4, 5, 6)
    t, p, w = (x.reshape(shape) for x in (T, P, W))
    images = RW.reshape(*shape, R)
    assert wmcc.tabulate(t, p, w, design=wmcc.Replicates(images, "brr")) == TABLE
    assert wmcc.tabulate(t, p, w, design=wmcc.Replicates([images[..., k] for k in range(R)], "brr")) == TABLE
    turned = [np.asfortranarray(x) for x in (t, p, w)]
    assert wmcc.tabulate(*turned, design=wmcc.Replicates(np.asfortranarray(images), "brr")) == TABLE


def test_ignored_and_missing_rows_are_left_out_of_all_replicates():
    t = T.astype(float)
    t[:5], t[5:9] = np.nan, 255
    replicates = RW.copy()
    replicates[:9] = np.nan  # not looked at
    table = wmcc.tabulate(t, P, W, ignore=255, missing="ignore", design=wmcc.Replicates(replicates, "brr"))
    expected = wmcc.tabulate(T[9:], P[9:], W[9:], design=wmcc.Replicates(RW[9:], "brr"))
    assert table.ignored == 9
    assert table.raw_cells == expected.raw_cells


# ---- engines, files, joins ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_adds_up_replicates(engine):
    frame = ALL[engine](DATA)
    found = flat.tabulate(frame, replicates="rw*", **COLUMNS)
    near(found, TABLE)
    if engine in IN_MEMORY:
        assert found == TABLE


@pytest.mark.slow
@pytest.mark.parametrize("engine", FAST)
def test_replicates_of_groups_and_predictions(engine):
    frame = FAST[engine](DATA)
    expected = wmcc.tabulate(T, {"a": P, "b": Q}, W, by=GROUPS, design=wmcc.Replicates(RW[:, 3:5], "fay", fay=0.3))
    own = {"true": "t", "pred": {"a": "p", "b": "q"}, "weight": "w", "replicates": ["rw3", "rw4"]}
    found = flat.tabulate(frame, **own, method="fay", fay=0.3, by="g")
    assert list(found) == [0, 1]
    for key, joint in found.items():
        near(joint, expected[key])
        near(joint["b"], expected[key]["b"])


def test_columns_in_the_order_of_the_frame_or_as_listed():
    backwards = DATA.select(["t", "p", "w", *NAMES[::-1]])
    found = flat.tabulate(backwards, replicates="rw*", **COLUMNS)
    assert found.cells.sums.replicates == TABLE.cells.sums.replicates[::-1]
    assert flat.tabulate(backwards, replicates=NAMES, **COLUMNS) == TABLE
    some = flat.tabulate(DATA, replicates="rw[0-9]", **COLUMNS)
    assert some.cells.sums.replicates == TABLE.cells.sums.replicates[:10]
    numbered = pd.DataFrame(RW).assign(t=T, p=P, w=W)
    assert flat.tabulate(numbered, replicates=list(range(R)), **COLUMNS) == TABLE
    halves = [pl.col(name) / 2 for name in NAMES]
    found = flat.tabulate(pl.from_arrow(DATA), replicates=halves, **COLUMNS)
    assert found == wmcc.tabulate(T, P, W, design=wmcc.Replicates(RW / 2, "brr"))


def test_files_of_every_format(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow_batches, "BATCH", 50)  # several batches
    frame = DATA.to_pandas()
    writers = {
        "csv": lambda path: frame.to_csv(path, index=False),
        "parquet": lambda path: pq.write_table(DATA, path, row_group_size=40),
        "arrow": lambda path: pyarrow.feather.write_feather(DATA, path),
        "jsonl": lambda path: path.write_text("".join(json.dumps(row) + "\n" for row in DATA.to_pylist())),
    }
    for ending, write in writers.items():
        path = tmp_path / f"survey.{ending}"
        write(path)
        assert flat.tabulate(path, replicates="rw*", **COLUMNS) == TABLE
        assert flat.tabulate(path, replicates=NAMES, **COLUMNS) == TABLE
        if ending != "jsonl":
            for engine in ("polars", "duckdb"):
                near(flat.tabulate(wmcc.Files(path, engine=engine), replicates="rw*", **COLUMNS), TABLE)
    parts = [tmp_path / f"part{k}.csv" for k in range(2)]
    for path, own in zip(parts, (frame[:30], frame[30:]), strict=True):
        own.to_csv(path, index=False)
    assert flat.tabulate(parts, replicates="rw*", **COLUMNS) == TABLE
    (tmp_path / "none.csv").write_text(",".join(frame.columns) + "\n")
    nothing = flat.tabulate(tmp_path / "none.csv", replicates="rw*", **COLUMNS)
    assert (nothing.rows, nothing.drawn, len(nothing.raw_cells.sums.replicates)) == (0, TABLE.drawn, R)


def test_joins_take_replicates_from_either_side(tmp_path):
    keyed = DATA.append_column("id", pa.array(range(N)))
    truth, prediction = keyed.select(["id", "t", "w"]), keyed.select(["id", "p", *NAMES])
    own = {"true": "t", "pred": "p", "weight": "w", "on": "id", "method": "brr"}
    for make in ("pandas", "polars", "polars, lazy", "duckdb"):
        near(
            flat.tabulate(FAST[make](truth), join=FAST[make](prediction), replicates="rw*", **own),
            TABLE,
        )
    other = keyed.select(["id", "t", "w", *NAMES]), keyed.select(["id", "p"])[20:]
    found = flat.tabulate(other[0], join=other[1], unmatched="ignore", replicates="rw*", **own)
    expected = wmcc.tabulate(T[20:], P[20:], W[20:], design=wmcc.Replicates(RW[20:], "brr"))
    assert (found.raw_cells, found.ignored, found.drawn) == (expected.raw_cells, 20, TABLE.drawn)
    for name, frame in (("truth", truth), ("prediction", prediction)):
        frame.to_pandas().to_csv(tmp_path / f"{name}.csv", index=False)
    near(
        flat.tabulate(tmp_path / "truth.csv", join=tmp_path / "prediction.csv", replicates="rw*", **own),
        TABLE,
    )


# ---- merging, storing ----------------------------------------------------------------------------------


def part(rows_, **options):
    return flat.tabulate(T[rows_], P[rows_], W[rows_], replicates=RW[rows_], **{"method": "brr", **options})


def test_tables_merge_and_part():
    a, b, c = part(slice(0, 50)), part(slice(50, 70)), part(slice(70, N))
    assert a + b + c == c + (a + b) == wmcc.merge([b, c, a]) == TABLE
    assert part(slice(0, 0)) + a == a
    assert part(slice(0, 0)) + part(slice(0, 0)) == part(slice(0, 0))
    assert len((part(slice(0, 0)) + part(slice(0, 0))).raw_cells.sums.replicates) == R
    assert wmcc.Table.empty() + a == a
    renamed = a.rename({0: "ash", 1: "elm", 2: "oak"})
    assert renamed.cells.sums.replicates == a.cells.sums.replicates
    rest = TABLE.against_rest(1)
    expected = wmcc.tabulate(T != 1, P != 1, W, design=wmcc.Replicates(RW, "brr"))
    assert rest.cells.sums.replicates == expected.cells.sums.replicates


def test_groups():
    tables = wmcc.tabulate(T, P, W, by=GROUPS, design=wmcc.Replicates(RW, "brr"))
    for key, table in tables.items():
        own = key == GROUPS
        assert table == wmcc.tabulate(T[own], P[own], W[own], design=wmcc.Replicates(RW[own], "brr"))
    assert tables.total() == TABLE
    halves = [
        wmcc.tabulate(T[own], P[own], W[own], by=GROUPS[own], design=wmcc.Replicates(RW[own], "brr"))
        for own in (slice(0, 50), slice(50, N))
    ]
    assert halves[0] + halves[1] == tables
    assert wmcc.Tables.of(dict(tables), by="by") == tables
    assert tables.select([1]).total() == tables[1]


@pytest.mark.parametrize("joint", [False, True])
def test_stored_and_read(joint):
    preds = {"a": P, "b": Q} if joint else P
    kind = wmcc.JointTable if joint else wmcc.Table
    scales = np.linspace(0.5, 0.9, R)
    table = wmcc.tabulate(T, preds, W, design=wmcc.Replicates(RW, "jkn", scales=scales))
    tables = wmcc.tabulate(T, preds, W, by=GROUPS, design=wmcc.Replicates(RW, scales=scales))
    empty = wmcc.tabulate(
        [], {"a": [], "b": []} if joint else [], [], design=wmcc.Replicates(np.zeros((0, 2)), "bootstrap")
    )
    assert kind.from_json(table.to_json()) == table
    assert kind.from_json(empty.to_json()) == empty
    assert wmcc.Tables.from_json(tables.to_json()) == tables
    assert tables.drawn.replicates == ReplicateFactors("scales", tuple(scales), R - 1.0)
    for own in (table, tables, empty):
        check(own.to_dict())


def test_stored_replicates_that_do_not_fit_are_refused():
    def spoiled(change):
        data = TABLE.to_dict()
        change(data)
        return data

    for change in (
        lambda x: x["cells"]["replicates"].pop(),
        lambda x: x["cells"]["replicates"][3].pop(),
        lambda x: x["cells"].pop("replicates"),
        lambda x: x["cells"]["replicates"][0].__setitem__(0, "-0x1p0"),
        lambda x: x["replicates"].pop("scales"),
        lambda x: x["replicates"]["scales"].__setitem__(0, -1.0),
    ):
        with pytest.raises(SchemaError):
            wmcc.Table.from_dict(spoiled(change))


def test_accumulators_hold_replicates():
    whole, window, fading = wmcc.Accumulator(), wmcc.Accumulator(window=2), wmcc.Accumulator(half_life=1)
    for own in (slice(0, 50), slice(50, 70), slice(70, N)):
        for accumulator in (whole, window, fading):
            accumulator.update(T[own], P[own], W[own], design=wmcc.Replicates(RW[own], "brr"))
    assert whole.table == TABLE
    assert window.table == part(slice(50, N))
    halves = [part(own).cells.sums.replicates[4].sum().floats() for own in (slice(0, 50), slice(50, 70), slice(70, N))]
    faded = fading.table.cells.sums.replicates[4].sum().floats()
    assert faded == pytest.approx(halves[0] / 4 + halves[1] / 2 + halves[2])
    frames = wmcc.Accumulator()
    frames.update(DATA, true="t", pred="p", weight="w", design=wmcc.Replicates("rw*", "brr"))
    assert frames.table == TABLE
    one = wmcc.Accumulator(window=timedelta(hours=1))
    one.update("cat", "dog", 2.0, at=0.0, design=wmcc.Replicates([0.0, 4.0], "fay", fay=0.5))
    assert [x.floats().tolist() for x in one.table.cells.sums.replicates] == [[0.0], [4.0]]
    with pytest.raises(InputError, match="independent rows"):
        whole.update(T, P, W)


# ---- methods -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "scale"),
    [
        ({"method": "jk1"}, 10 / 11),
        ({"method": "brr"}, 1 / 11),
        ({"method": "fay", "fay": 0.5}, 4 / 11),
        ({"method": "fay", "fay": 0}, 1 / 11),
        ({"method": "bootstrap"}, 1 / 10),
        ({"method": "sdr"}, 4 / 11),
        ({"method": "jkn", "scales": [0.75] * 11}, 0.75),
        ({"scales": np.full(11, 0.05)}, 0.05),
        ({"scales": 0.05}, 0.05),
    ],
)
def test_scales_of_methods(options, scale):
    drawn = flat.tabulate(T, P, W, replicates=RW, **options).drawn
    assert drawn.kind == "replicates"
    assert drawn.replicates.method == options.get("method", "scales")
    assert drawn.replicates.scales == pytest.approx((scale,) * 11, rel=1e-15)
    assert drawn.replicates.df == 10
    assert (drawn.clusters, drawn.axes, drawn.units) == ((), (), ())


# ---- sentences -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "jk2"}, "`method` is 'jk2'; expected one of 'jk1', 'jkn', 'brr', 'fay', 'bootstrap', 'sdr'"),
        ({}, "`Replicates` needs `method`"),
        ({"method": "jkn"}, "`method` is 'jkn', which needs `scales`"),
        ({"method": "brr", "scales": [1] * 11}, "`method` is 'brr', which has a factor of its own"),
        ({"method": "fay"}, "`method` is 'fay', which needs `fay`"),
        ({"method": "brr", "fay": 0.3}, "`fay` is for `method` 'fay'; `method` is 'brr'"),
        ({"method": "fay", "fay": 1}, "`fay` is 1; expected a number of at least 0 and below 1"),
        ({"method": "fay", "fay": -0.1}, "`fay` is -0.1"),
        ({"method": "fay", "fay": math.nan}, "`fay` is nan"),
        ({"method": "fay", "fay": "0.3"}, "`fay` is '0.3'"),
        ({"scales": [1.0] * 10}, "`scales` has 10 numbers, and there are 11 replicate weights"),
        ({"scales": [1.0] * 10 + [-1]}, r"scales\[10\] is -1.0"),
        ({"scales": [1.0] * 10 + [math.nan]}, r"scales\[10\] is nan"),
        ({"scales": [0.0] * 11}, "`scales` are all 0"),
        ({"scales": "jk1"}, "`scales` is 'jk1'; expected a number for each replicate"),
        ({"scales": ["a"] * 11}, "scales.* is 'a'"),
        ({"method": "brr", "cluster": GROUPS}, "`cluster` and replicate weights were given"),
        ({"method": "brr", "replicates": RW[:, :1]}, "`replicates` has 1 column; expected between 2 and"),
        ({"method": "brr", "replicates": RW[:, :0]}, "`replicates` has 0 columns; expected between 2 and"),
        ({"method": "brr", "replicates": RW.T}, r"`replicates` has shape \(11, 120\)"),
        ({"method": "brr", "replicates": W}, r"`replicates` has shape \(120,\)"),
        ({"method": "brr", "replicates": RW[1:]}, r"`replicates` has shape \(119, 11\)"),
        ({"method": "brr", "replicates": [W, W[:7]]}, r"replicates\[1\] has 7 rows, and the labels 120"),
        ({"method": "brr", "replicates": {"a": W, "b": RW}}, r"replicates\['b'\] has shape \(120, 11\)"),
        ({"method": "brr", "replicates": [W, ["x"] * N]}, r"replicates\[1\]\[0\] is 'x'; a weight must be"),
        ({"method": "brr", "replicates": RW.astype(str)}, "replicates holds text"),
        ({"method": "brr", "replicates": "rw*"}, "a column name or a pattern works only with a frame or a file"),
        ({"method": "brr", "replicates": pl.LazyFrame({"a": W})}, "expected an array, a list, a series"),
        ({"replicates": None, "method": "brr"}, "`replicates` is None; expected columns"),
        ({"replicates": None, "fay": 0.3}, "`replicates` is None; expected columns"),
    ],
)
def test_options_that_cannot_be(options, said):
    with pytest.raises((InputError, InputTypeError), match=said):
        flat.tabulate(T, P, W, **{"replicates": RW, **options})


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_first_bad_replicate_weight_is_named(kernel, value):
    bad = RW.copy()
    bad[77, 3] = bad[90, 1] = value
    said = f"is {'nan (missing)' if value != value else value}; a replicate weight must be a finite number"
    with using(kernel):
        for replicates, where in (
            (bad, "replicates[:, 3][77]"),
            (list(bad.T), "replicates[3][77]"),
            (pd.DataFrame(bad, columns=NAMES), "replicates['rw3'][77]"),
            (bad.reshape(4, 5, 6, R), "replicates[:, :, :, 3][2, 2, 5]"),
        ):
            shape = (4, 5, 6) if isinstance(replicates, np.ndarray) and replicates.ndim == 4 else (N,)
            with pytest.raises(WeightError) as caught:
                wmcc.tabulate(*(x.reshape(shape) for x in (T, P, W)), design=wmcc.Replicates(replicates, "brr"))
            assert caught.value.message.startswith(f"{where} {said}")
            assert ("setting them to 0 would change the variance" in caught.value.hint) == (value < 0)


def test_bad_replicate_weights_of_frames_and_files(tmp_path, monkeypatch):
    bad = RW.copy()
    bad[77, 3], bad[78, 3], bad[90, 1] = -1.0, -2.0, -3.0
    table = pa.table({"t": T, "p": P, "w": W, **dict(zip(NAMES, bad.T, strict=True))})
    for make in IN_MEMORY.values():
        with pytest.raises(WeightError, match=r"^rw3\[77\] is -1.0; a replicate weight must be"):
            flat.tabulate(make(table), replicates="rw*", **COLUMNS)
    for engine in ("polars, lazy", "duckdb", "dask"):
        said = "1 of 120 rows has a replicate weight in 'rw1' that is .* or infinite, and 1 more column has such"
        with pytest.raises(WeightError, match=said + r"[^ß]*Hint: negative replicate weights, which some agencies"):
            flat.tabulate(FAST[engine](table), replicates="rw*", **COLUMNS)
    ignored = flat.tabulate(
        FAST["duckdb"](table.set_column(0, "t", pa.array(np.where((bad < 0).any(1), 9, T)))),
        ignore=9,
        replicates="rw*",
        **COLUMNS,
    )
    assert ignored.ignored == 3
    monkeypatch.setattr(arrow_batches, "BATCH", 50)
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(WeightError, match=r"rw3\[77\] is -1.0"):
        flat.tabulate(tmp_path / "x.parquet", replicates="rw*", **COLUMNS)
    lines = DATA.to_pandas().astype({"rw3": object})
    lines.loc[60, "rw3"] = "many"
    lines.to_csv(tmp_path / "x.csv", index=False)
    for engine in ("arrow", "polars", "duckdb"):
        with pytest.raises(WeightError, match="'rw3' holds a value that is not a number"):
            flat.tabulate(wmcc.Files(tmp_path / "x.csv", engine=engine), replicates="rw*", **COLUMNS)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"replicates": "rep*"}, r"no column matches `replicates` 'rep\*'; the columns are 't', 'p', 'q', 'w'"),
        ({"replicates": "*w*"}, r"`replicates` '\*w\*' also matches 'w', the column of `weight`"),
        ({"replicates": ["rw0", "rw99"]}, "there is no column 'rw99'"),
        ({"replicates": ["rw0", "rw0"]}, "`replicates` names the column 'rw0' twice"),
        ({"replicates": ["rw0"]}, "`replicates` has 1 column; expected between 2 and"),
        ({"replicates": "rw0"}, "`replicates` has 1 column"),
        ({"replicates": RW}, "`replicates` is a ndarray; expected a list of columns, or a pattern such as 'rw\\*'"),
        ({"replicates": {"a": "rw0", "b": "rw1"}}, "`replicates` is a dict; expected a list of columns"),
        ({"replicates": ["rw0", "s"]}, "column 's' holds String; a replicate weight must be a real number"),
        ({"replicates": "rw*", "cluster": "g"}, "`cluster` and replicate weights were given"),
        ({"replicates": "rw*", "method": None, "scales": [1, 2]}, "`scales` has 2 numbers, and there are 11"),
    ],
)
@pytest.mark.parametrize("engine", ["pandas of Arrow", "polars, lazy"])
def test_columns_that_cannot_be(engine, options, said):
    frame = FAST[engine](DATA.append_column("s", pa.array(["x"] * N)))
    with pytest.raises((InputError, InputTypeError), match=said):
        flat.tabulate(frame, **{**COLUMNS, **options})


def test_replicate_weights_need_the_weights_themselves():
    with pytest.raises(InputTypeError, match=r"replicate weights need `sample_weight`[^ß]*of equal weights give ones"):
        wmcc.tabulate(T, P, design=wmcc.Replicates(RW, "brr"))
    with pytest.raises(InputTypeError, match="replicate weights need `weight`, the full-sample weight of each row"):
        flat.tabulate(DATA, replicates="rw*", **{**COLUMNS, "weight": None})


def test_a_weight_matrix_has_no_replicates():
    with pytest.raises(InputTypeError, match="with a `Replicates` give one weight per row"):
        wmcc.tabulate(T, P, np.eye(N), design=wmcc.Replicates(RW, "brr"))


def test_tables_that_do_not_belong_together_are_not_merged():
    plain = wmcc.tabulate(T, P, W)
    fewer = wmcc.tabulate(T, P, W, design=wmcc.Replicates(RW[:, 1:], "brr"))
    other = wmcc.tabulate(T, P, W, design=wmcc.Replicates(RW, "sdr"))
    with pytest.raises(InputError, match=r"weighted by replicates.*independent rows.*cannot be merged"):
        TABLE + plain
    with pytest.raises(InputError, match="11 replicates by 'brr', another 10 replicates by 'brr'"):
        TABLE + fewer
    with pytest.raises(InputError, match="11 replicates by 'brr', another 11 replicates by 'sdr'"):
        TABLE + other
    with pytest.raises(InputError, match="one table has 10 replicate weights, and another 11"):
        TABLE.raw_cells + fewer.raw_cells
    with pytest.raises(InputError, match="groups cannot become clusters"):
        wmcc.tabulate(T, P, W, by=GROUPS, design=wmcc.Replicates(RW, "brr")).as_clusters()


def test_pandas_indexes_must_agree():
    frame = pd.DataFrame(RW, index=range(1, N + 1))
    with pytest.raises(InputError, match="y_true and replicates have different indexes"):
        wmcc.tabulate(pd.Series(T), P, W, design=wmcc.Replicates(frame, "brr"))


def test_more_cells_than_memory_holds_are_refused(monkeypatch):
    monkeypatch.setattr(arrays, "available", lambda: 1 << 22)
    n = 300_000
    y = np.arange(n)
    with pytest.raises(TooManyClassesError):
        wmcc.tabulate(y, y, np.ones(n), design=wmcc.Replicates([np.ones(n)] * 40, "brr"))


def test_degrees_of_freedom_are_those_of_the_survey_where_it_names_them():
    rng = np.random.default_rng(5)
    truth, guess = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    weights = {"replicates": rng.random((200, 40)) + 0.5, "method": "bootstrap"}
    plain, named = (flat.tabulate(truth, guess, np.ones(200), **weights, df=df) for df in (None, 6))
    assert (plain.drawn.replicates.df, named.drawn.replicates.df) == (39, 6)
    a, b = wmcc.interval(plain, "mcc"), wmcc.interval(named, "mcc")
    assert (a.se, a.replicates) == (b.se, 40)
    assert 1 / b.df - 1 / a.df == pytest.approx(1 / 6 - 1 / 39)  # and both allow for what the bootstrap itself adds
    assert b.low < a.low < a.high < b.high
    assert "40 replicate weights" in repr(b)
    assert wmcc.Table.from_json(named.to_json()) == named
    with pytest.raises(InputError, match=r"one table has 40 replicates by 'bootstrap' with `df` 39\.0, another 40"):
        plain + named
    for wrong in (0.5, -1, np.nan, np.inf, "6", True):
        with pytest.raises(InputError, match="expected a number of at least 1: the clusters of the survey less"):
            flat.tabulate(truth, guess, np.ones(200), **weights, df=wrong)
    with pytest.raises(InputTypeError, match="has no keyword 'df'"):
        wmcc.tabulate(truth, guess, df=3)
