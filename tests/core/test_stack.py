"""The stack of cells: merging, marginalising, recoding, against a dict of fractions; groups and clusters."""

import json
import pickle
from collections import defaultdict
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import KERNELS, any_weight, few, joint_table, using
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc import Table, Tables
from wmcc.core.stack import Stack, merged_stacks
from wmcc.errors import InputError, InputTypeError, SchemaError, TooManyClassesError
from wmcc.sources import arrays, codes


@st.composite
def keyed_rows(draw, axes=3, most=30):
    """Codes of some axes, and weights."""
    n = draw(st.integers(1, most))
    sizes = draw(st.sampled_from([(2, 3, 2, 2), (3, 3, 3, 3), (40, 2, 500, 7), (1 << 40, 1 << 30, 3, 2)]))[:axes]
    each = [draw(st.lists(st.integers(0, size - 1), min_size=n, max_size=n)) for size in sizes]
    return np.array(each, dtype=np.int64), draw(st.lists(any_weight, min_size=n, max_size=n))


def stack_of(codes, w):
    """The stack of rows, made without the kernel: one cell each, gathered."""
    one = [wmcc.tabulate([0], [0], [x]).cells.sums for x in w]
    return merged_stacks([Stack(codes[:, [k]], x) for k, x in enumerate(one)])


def cells_of(stack):
    """A stack as a dict from keys to exact numbers."""
    sums, out = stack.sums, {}
    exact = [[Fraction(m) * Fraction(2) ** x.exponent for m in x.integers()] for x in (sums.w_exact, sums.w2_exact)]
    for key, n, w, w2, low, high in zip(
        stack.codes.T.tolist(), sums.n.tolist(), *exact, sums.w_min, sums.w_max, strict=True
    ):
        assert tuple(key) not in out
        out[tuple(key)] = (n, w, w2, low, high)
    assert list(out) == sorted(out)
    return out


def expected(codes, w):
    found = defaultdict(list)
    for key, x in zip(codes.T.tolist(), w, strict=True):
        found[tuple(key)].append(x)
    return {key: (len(xs), sum(map(Fraction, xs)), min(xs), max(xs)) for key, xs in found.items()}


def known(cells):
    return {key: (n, w, low, high) for key, (n, w, _, low, high) in cells.items()}


@few(60)
@given(keyed_rows())
def test_rows_are_gathered_by_key(rows):
    codes, w = rows
    assert known(cells_of(stack_of(codes, w))) == expected(codes, w)


@few(40)
@given(keyed_rows(), st.data())
def test_merging_in_any_order_over_any_key(rows, data):
    codes, w = rows
    cuts = sorted(data.draw(st.lists(st.integers(0, len(w)), min_size=2, max_size=2)))
    whole = stack_of(codes, w)
    pieces = [slice(0, cuts[0]), slice(*cuts), slice(cuts[1], None)]
    parts = [stack_of(codes[:, x], w[x]) for x in pieces if len(w[x])]
    for order in permutations(parts):
        assert merged_stacks(order) == whole
        assert sum(order[1:], order[0]) == whole
    axes = data.draw(st.permutations([0, 1, 2]).flatmap(lambda x: st.sampled_from([x, x[:2], x[:1]])))
    assert merged_stacks([part.along(axes) for part in parts]) == whole.along(
        axes
    )  # marginalising commutes with adding
    assert whole.along(axes) == stack_of(codes[axes], w)


@few(40)
@given(keyed_rows(), st.integers(0, 99))
def test_recoding_joins_and_drops_cells(rows, seed):
    codes, w = rows
    stack = stack_of(codes, w)
    _, dense = np.unique(codes[2], return_inverse=True)
    small = Stack.gathered(
        np.stack([*stack.codes[:2], np.searchsorted(np.unique(codes[2]), stack.codes[2])]), stack.sums
    )
    place = np.random.default_rng(seed).integers(-1, 2, dense.max() + 1)
    kept = place[dense] >= 0
    wanted = expected(np.stack([*codes[:2], place[dense]])[:, kept], [x for x, k in zip(w, kept, strict=True) if k])
    assert known(cells_of(small.recoded({2: place}))) == wanted


# ---- dense blocks and hashes ---------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@few(30)
@given(rows=keyed_rows(axes=4), threads=st.integers(1, 3))
def test_dense_and_hashed_cells_are_the_same(kernel, rows, threads):
    raw, w = rows
    t, p, group, cluster = (np.unique(x, return_inverse=True)[1] for x in raw)
    few_cells, most_cells = arrays.FEW_CELLS, arrays.MOST_CELLS
    found = []
    with using(kernel):
        try:
            for arrays.FEW_CELLS, arrays.MOST_CELLS in ((1 << 20, 1 << 20), (0, 0)):
                found.append(wmcc.tabulate(t, p, w, by=group, cluster=cluster, threads=threads))
        finally:
            arrays.FEW_CELLS, arrays.MOST_CELLS = few_cells, most_cells
    assert found[0].to_dict() == found[1].to_dict()
    whole = found[0].total()
    assert whole == wmcc.tabulate(t, p, w, cluster=cluster)
    assert whole.cells == wmcc.tabulate(t, p, w).cells


# ---- tables of groups ------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*ignored label:wmcc.errors.LabelWarning")
@few(40)
@given(keyed_rows(axes=4), st.integers(0, 30), st.sampled_from([None, 0]))
def test_groups_add_up_to_the_whole(rows, cut, ignore):
    raw, w = rows
    t, p, group, cluster = (np.unique(x, return_inverse=True)[1] for x in raw)
    w = np.array(w)

    def tabulated(which, **keys):
        return wmcc.tabulate(t[which], p[which], w[which], ignore=ignore, **{k: x[which] for k, x in keys.items()})

    every = slice(None)
    tables = tabulated(every, by=group, cluster=cluster)
    assert tables.total() == tabulated(every, cluster=cluster)
    assert sum(tables.values(), Table.empty()) == tables.total()
    parts = [tabulated(x, by=group, cluster=cluster) for x in (slice(0, cut), slice(cut, None)) if len(t[x])]
    for order in permutations(parts):
        assert sum(order) == tables
        assert sum(order).ignored.tolist() == tables.ignored.tolist()
    assert Tables.of(dict(tables), tables.by) == tables
    for key, table in tables.items():
        assert table == tabulated(group == key, cluster=cluster)


def made(seed=0, n=60):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, n), rng.integers(0, 4, n), rng.exponential(1, n), rng.integers(0, 7, n)


def test_tables_are_a_mapping_that_is_stored():
    t, p, w, group = made()
    tables = wmcc.tabulate(t, p, w, by=group)
    assert list(tables) == list(range(7))
    assert 3 in tables
    assert 9 not in tables
    assert tables.get(9) is None
    with pytest.raises(KeyError):
        _ = tables[9]
    assert Tables.from_json(tables.to_json()) == tables == pickle.loads(pickle.dumps(tables))
    assert tables != wmcc.tabulate(t, p, w * 2, by=group)
    assert tables == dict(tables)
    with pytest.raises(SchemaError, match=r"stored Tables; expected a Table"):
        Table.from_json(tables.to_json())
    with pytest.raises(SchemaError, match=r"stored Table; expected a Tables"):
        Tables.from_json(tables.total().to_json())
    with pytest.raises(TypeError):
        hash(tables)
    assert tables.rows.tolist() == np.bincount(group).tolist()
    assert tables.weights.tolist() == [table.total for table in tables.values()]


def test_some_groups_are_selected():
    t, p, w, group = made()
    tables = wmcc.tabulate(t, p, w, by=group)
    odd = tables.select(lambda key: key % 2)
    assert list(odd) == [1, 3, 5]
    assert odd == tables.select([5, 1, 3]) == {key: tables[key] for key in (1, 3, 5)}
    assert odd.total() == wmcc.tabulate(*(x[group % 2 == 1] for x in (t, p, w)))
    with pytest.raises(InputError, match=r"there is no group 99; the first are 0, 1, 2, 3, 4\."):
        tables.select([1, 99])
    assert len(tables.select([])) == 0
    assert repr(tables.select([])) == "Tables of 0 groups: 0 classes, 0 rows, total weight 0"


def test_a_long_list_of_groups_is_short_to_look_at():
    keys = np.arange(500) % 250
    tables = wmcc.tabulate(keys % 3, keys % 3, by=keys)
    assert len(repr(tables).splitlines()) == 24
    assert repr(tables).endswith("… and 230 more groups; CSV and JSON have all.")
    assert len(tables._repr_html_()) < 12_000
    assert "Joint tables of 250 groups" in repr(joint_table(keys % 3, keys % 3, keys % 3, by=keys))


def test_a_hundred_thousand_groups():
    rng = np.random.default_rng(0)
    t, p = rng.integers(0, 5, (2, 200_000))
    keys = rng.permutation(200_000) % 100_000
    tables = wmcc.tabulate(t, p, by=keys)
    assert len(tables) == 100_000
    assert tables.total() == wmcc.tabulate(t, p)
    own = keys == 77_777
    assert tables[77_777] == wmcc.tabulate(t[own], p[own])
    twice = tables + tables
    assert twice[77_777] == tables[77_777] + tables[77_777]


def test_what_does_not_belong_together_is_not_merged():
    t, p, w, group = made()
    tables = wmcc.tabulate(t, p, w, by=group)
    frame = pl.DataFrame({"t": t, "p": p, "zone": group})
    for other, said in (
        (wmcc.tabulate(frame, true="t", pred="p", by="zone"), "one is grouped by by, the other by zone"),
        (joint_table(t, p, p, by=group), "one prediction without a name.*cannot be merged"),
        (wmcc.tabulate(t, p, by=[f"{x}" for x in group]), "the groups by 'by' are numbers in one and text in another"),
        (
            wmcc.tabulate(t, p, by=group, cluster=group),
            "the rows of one table are independent rows, those of another clusters",
        ),
    ):
        with pytest.raises(InputError, match=said):
            _ = tables + other
    with pytest.raises(InputTypeError, match="expected tables by key"):
        Tables.of({"a": wmcc.tabulate(t, p), "b": joint_table(t, p, p)})


# ---- how rows were drawn ---------------------------------------------------------------------------------


def test_clusters_travel_and_merge_by_key():
    t, p, w, cluster = made()
    whole = wmcc.tabulate(t, p, w, cluster=cluster)
    assert whole.drawn.kind == "clusters"
    assert whole.drawn.clusters == tuple(range(7))
    batches = [wmcc.tabulate(t[k::3], p[k::3], w[k::3], cluster=cluster[k::3]) for k in range(3)]
    assert sum(batches) == whole  # an image whose tiles span batches is one image
    assert whole.cells == wmcc.tabulate(t, p, w).cells
    assert whole == wmcc.tabulate(t, p, w, by=cluster).as_clusters()
    assert Table.from_json(whole.to_json()) == whole == pickle.loads(pickle.dumps(whole))
    assert repr(whole).startswith("Table of 4 classes: 60 rows in 7 clusters, total weight ")
    assert whole + Table.empty() == Table.empty() + whole == whole
    assert wmcc.ecc(whole) == wmcc.ecc(t, p, sample_weight=w)
    joint = joint_table(t, p, p[::-1], w, cluster=cluster)
    assert joint["a"] == whole
    assert joint.pair("b", "a")["a"] == whole


def test_clusters_and_independent_rows_are_not_merged():
    t, p, w, cluster = made()
    whole = wmcc.tabulate(t, p, w, cluster=cluster)
    pairs = wmcc.tabulate(t, p, np.eye(60))
    assert pairs.drawn.kind == "pairs"
    assert (pairs + pairs).drawn.kind == "pairs"
    with pytest.raises(InputError, match=r"are clusters, those of another independent rows; they cannot be merged\."):
        _ = whole + wmcc.tabulate(t, p, w)
    with pytest.raises(InputError, match="the entries of a weight matrix"):
        _ = pairs + wmcc.tabulate(t, p, w)


def test_clusters_whose_rows_are_all_ignored_do_not_count():
    table = wmcc.tabulate([0, 1, 9, 9], [0, 1, 1, 0], cluster=["a", "b", "c", "c"], ignore=9)
    assert table.drawn.clusters == ("a", "b")
    assert table.ignored == 2


# ---- many classes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_hundred_thousand_classes(kernel):
    rng = np.random.default_rng(0)
    t = rng.permutation(100_000)[:4000]
    p = np.where(rng.random(4000) < 0.7, t, rng.permutation(100_000)[:4000])
    w = rng.exponential(1, 4000)
    with using(kernel):
        table = wmcc.tabulate(t, p, w, labels=range(100_000))
        seen = wmcc.tabulate(t, p, w)
    assert len(table.labels) == 100_000
    assert wmcc.accuracy(table) == wmcc.accuracy(t == p, np.ones(4000, bool), sample_weight=w)
    codes = np.unique([t, p], return_inverse=True)[1].reshape(2, -1)
    assert wmcc.ecc(table) == wmcc.ecc(seen) == wmcc.ecc(*codes, sample_weight=w)
    assert (table + table).rows == 8000
    assert Table.from_json(json.dumps(table.to_dict())) == table
    assert "Shown are the 20 heaviest of 4,000 cells" in repr(table)
    for name in ("n", "w", "w2", "w_min", "w_max", "w_exact"):
        with pytest.raises(TooManyClassesError, match=r"100,000 x 100,000 classes has 10,000,000,000 cells"):
            getattr(table, name)


def test_labels_that_turn_up_on_the_way(monkeypatch):
    monkeypatch.setattr(codes, "BLOCK", 64)
    rng = np.random.default_rng(1)
    t, p = rng.integers(0, 3000, (2, 5000))
    w = rng.exponential(1, 5000)
    text = wmcc.tabulate(t.astype(str), p.astype(str), w)
    assert text == wmcc.tabulate(t, p, w)._relabelled([str(k) for k in np.unique([t, p])])
    wide = wmcc.tabulate(t * 10**12, p * 10**12, w)
    assert wide.cells == wmcc.tabulate(t, p, w).cells


def test_more_classes_than_memory_are_refused(monkeypatch):
    monkeypatch.setattr("wmcc.core.labels.available", lambda: 10**7)
    with pytest.raises(TooManyClassesError, match=r"100,000 classes; .* 0\.0 GB, and 0\.0 GB are free"):
        wmcc.tabulate(np.arange(100_000), np.arange(100_000))
    monkeypatch.setattr(arrays, "SMALL_ROOM", 0)
    monkeypatch.setattr(arrays, "available", lambda: 256 * 2 * 1000)
    with pytest.raises(TooManyClassesError, match=r"more than 1,000 different combinations of labels"):
        wmcc.tabulate(np.arange(3000), np.arange(3000))


# ---- readers know how rows were drawn --------------------------------------------------------------------


def test_intervals_follow_how_rows_were_drawn():
    rng = np.random.default_rng(3)
    t, w, scene = rng.integers(0, 3, 400), rng.exponential(1, 400), rng.integers(0, 25, 400)
    a, b = (np.where(rng.random(400) < 0.8, t, rng.integers(0, 3, 400)) for _ in range(2))
    table, joint = wmcc.tabulate(t, a, w, cluster=scene), joint_table(t, a, b, w, cluster=scene)
    assert wmcc.interval(table).clusters == 25
    assert wmcc.interval(wmcc.tabulate(t, a, w, by=scene).as_clusters()) == wmcc.interval(table)
    assert wmcc.interval(wmcc.tabulate(t, a, w)) != wmcc.interval(table)
    assert wmcc.compare(joint).clusters == 25
    assert wmcc.results.uncertainty(table).sampling == wmcc.interval(table)
    halves = [wmcc.tabulate(t[x], a[x], w[x], cluster=scene[x]) for x in (slice(0, 150), slice(150, None))]
    assert wmcc.interval(sum(halves)) == wmcc.interval(table)


def test_a_weight_matrix_has_no_interval():
    table = wmcc.tabulate([0, 1, 1, 0], [0, 1, 0, 0], np.eye(4) + 0.1)
    for again in (table, table + table, Table.from_json(table.to_json())):
        found = wmcc.interval(again)
        assert np.isnan(found.low)
        assert "a matrix over pairs of rows" in found.problem
        assert "a matrix over pairs of rows" in wmcc.score(again).intervals["ecc"].problem


def test_tables_of_groups_are_not_taken_for_one():
    t, p, w, group = made()
    tables = wmcc.tabulate(t, p, w, by=group)
    for call in (wmcc.interval, wmcc.certify, wmcc.radius, wmcc.sensitivity, wmcc.diagnose):
        hint = r"expected a Table; got a Tables\.[\s\S]*wmcc\.score\(tables\)[\s\S]*tables\[key\].*tables\.total\(\)"
        with pytest.raises(InputTypeError, match=hint):
            call(tables)
    for key, table in tables.items():  # as the hint says
        assert wmcc.score(tables)[key].ecc == wmcc.ecc(tables[key]) == wmcc.ecc(table)
    assert wmcc.ecc(tables.total()) == wmcc.ecc(t, p, sample_weight=w)


# ---- what an attack found --------------------------------------------------------------------------------


def test_groups_keep_the_classes_that_were_declared():
    x = wmcc.tabulate([0, 1, 0, 1], [0, 1, 1, 1], labels=[0, 1, 2], by=["a"] * 4)
    o = wmcc.tabulate([0, 1], [0, 1], labels=[0, 1], by=["c", "d"])
    seen = wmcc.tabulate([1, 3], [1, 3], by=["a", "e"])
    both, all_three = x + o, x + o + seen
    assert both == o + x == {**x, **o}
    assert all_three == seen + x + o == {**x, **o, "a": x["a"] + seen["a"], "e": seen["e"]}
    assert all_three["a"].labels == (0, 1, 2)
    assert Tables.of(dict(both)) == both == Tables.from_json(both.to_json()) == pickle.loads(pickle.dumps(both))
    assert both.select(["c"]) == {"c": o["c"]}
    assert x + o.select([]) == x


def test_selected_groups_have_their_own_clusters():
    tables = wmcc.tabulate([0, 1], [0, 1], by=[1, 2], cluster=["a", "b"])
    assert tables.select([1]).total() == wmcc.tabulate([0], [0], cluster=["a"])


def test_keys_fit_their_names():
    table = wmcc.tabulate([0], [0])
    pairs = Tables.of({("a", 1): table})
    assert pairs.columns == ("by 1", "by 2")
    assert Tables.from_json(pairs.to_json()) == pairs
    assert Tables.of({("a", 1): table}, ["x", "y"]).columns == ("x", "y")
    for keys, by in ((["a"], ("x", "y")), ([("a", "b"), "c"], "x"), ([("a", "b")], "x")):
        with pytest.raises(InputError, match="the keys do not fit it"):
            Tables.of(dict.fromkeys(keys, table), by)
    with pytest.raises(InputTypeError, match="there are none"):
        Tables.of({})
    frame = pl.DataFrame({"t": [0], "p": [0]})
    with pytest.raises(InputTypeError, match=r"by is \[\]"):
        wmcc.tabulate(frame, true="t", pred="p", by=[])


def test_keys_of_different_kinds_are_not_merged():
    flags, numbers, text = (wmcc.tabulate([0, 1], [0, 1], cluster=x) for x in ([True, False], [0, 1], ["a", "b"]))
    for a, b in permutations([flags, numbers, text], 2):
        with pytest.raises(InputError, match=r"the clusters are \w+ in one and \w+ in another"):
            _ = a + b
    frame = pd.DataFrame({"t": [0, 1, 0], "p": [0, 1, 1], "key": pd.Series([True, 1, 0], dtype=object)})
    assert (
        wmcc.tabulate(frame, true="t", pred="p", by="key").groups
        == wmcc.tabulate(frame[::-1], true="t", pred="p", by="key").groups
    )
    frame["key"] = pd.Series(["a", 1, "b"], dtype=object)
    with pytest.raises(InputTypeError, match="key holds keys of mixed types: 1 is a number and 'a' is a string"):
        wmcc.tabulate(frame, true="t", pred="p", by="key")


def test_a_missing_group_of_ignored_rows_is_no_cluster():
    frame = pl.DataFrame({"t": [0, 1, 9, 1], "p": [0, 1, 0, 0], "b": ["a", "a", None, "b"]})
    found = wmcc.tabulate(frame, true="t", pred="p", by="b", ignore=9).as_clusters()
    assert found == wmcc.tabulate(frame, true="t", pred="p", cluster="b", ignore=9)


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb"])
def test_ignored_rows_of_a_text_file_have_no_say(engine, tmp_path):
    void, rest, mixed = (str(tmp_path / name) for name in ("void.csv", "rest.csv", "mixed.csv"))
    Path(void).write_text("t,p\n1,2\n")
    Path(rest).write_text("t,p\n2,3\n")
    Path(mixed).write_text("t,p,c\n1,2,x1\n2,2,5\n2,2,6\n")
    parts = [
        wmcc.tabulate(wmcc.Files(x, engine=engine), true="t", pred="p", labels=[2, 3], ignore=1) for x in (void, rest)
    ]
    assert [part.labels for part in (*parts, sum(parts))] == [(2, 3)] * 3
    assert wmcc.tabulate(wmcc.Files(void, engine=engine), true="t", pred="p", ignore=1, positive=2).labels == (2,)
    assert wmcc.tabulate(
        wmcc.Files(mixed, engine=engine), true="t", pred="p", ignore=1, cluster="c"
    ).drawn.clusters == (5, 6)


def test_a_class_against_the_rest_is_stored():
    table = wmcc.tabulate([0, 1, 2], [0, 1, 1]).against_rest(1)
    assert Table.from_json(table.to_json()) == table


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": []}, r"its 'kind' is \[\]"),
        ({"ignored": [2**70, 0]}, "'ignored' must be"),
        ({"groups": "ab"}, "groups must be a list of keys"),
        ({"clusters": "xy"}, "clusters must be a list of keys"),
        ({"clusters": [None, "x"]}, "a key in 'clusters' is null"),
        ({"declared": {"group": [5], "class": [0]}}, "'declared' must be"),
        ({"by": []}, "'by' must be"),
    ],
)
def test_edited_files_of_groups_are_refused(change, said):
    tables = wmcc.tabulate([0, 1, 1], [0, 1, 0], by=["a", "b", "a"], cluster=["x", "y", "x"])
    with pytest.raises(SchemaError, match=said):
        Tables.from_dict({**tables.to_dict(), **change})


def test_keys_in_another_order_are_the_same_file():
    tables = wmcc.tabulate([0, 1, 1], [0, 1, 0], by=["a", "b", "a"], cluster=["x", "y", "x"])
    data = tables.to_dict()
    cells = data["cells"] | {name: [1 - k for k in data["cells"][name]] for name in ("group", "cluster")}
    turned = {**data, "groups": ["b", "a"], "clusters": ["y", "x"], "cells": cells}
    assert Tables.from_dict(turned).to_dict() == data
