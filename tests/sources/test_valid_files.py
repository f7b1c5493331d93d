"""Files that are valid, and that an engine might refuse or read otherwise: types, headers, names, links."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from engines import ENGINE_WARNINGS, READERS
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.errors import InputError, WmccError
from wmcc.sources import jsonlines

pytestmark = [pytest.mark.slow, ENGINE_WARNINGS]


@pytest.fixture(params=READERS)
def engine(request):
    return request.param


# ---- JSON lines --------------------------------------------------------------------------------------


def test_numbers_that_become_fractions_later(tmp_path, engine):
    rows = 100_000  # more than a block of any engine
    whole, fraction = '{"t": "a", "p": "a", "w": 1}\n', '{"t": "b", "p": "b", "w": 0.25}\n'
    (tmp_path / "a.jsonl").write_text(whole * rows + fraction)
    table = wmcc.tabulate(wmcc.Files(tmp_path / "a.jsonl", engine=engine), true="t", pred="p", weight="w")
    assert table.w.tolist() == [[rows, 0], [0, 0.25]]
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "1.jsonl").write_text(whole)
    (tmp_path / "parts" / "2.jsonl").write_text(fraction)
    assert wmcc.tabulate(wmcc.Files(tmp_path / "parts", engine=engine), true="t", pred="p", weight="w").w.tolist() == [
        [1, 0],
        [0, 0.25],
    ]


values = st.one_of(st.integers(-(2**53), 2**53), st.floats(-1e300, 1e300), st.none())


@given(
    st.lists(st.tuples(st.sampled_from(["a", "2026-01-01", "7"]), st.booleans(), values.map(lambda w: w and abs(w)))),
    st.integers(1, 200),
)
def test_blocks_of_lines_do_not_matter(tmp_path_factory, rows, size):
    """Whatever the lines hold and wherever a block ends: the table of the rows, or the same refusal."""
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    mixed = [{"note": [k]} if k % 2 else {"note": "x", "note ": {}} for k in range(len(rows))]
    lines = [{"t": t, "p": t, "flag": flag, "w": w, **m} for (t, flag, w), m in zip(rows, mixed, strict=True)]
    path.write_text("\n".join(map(json.dumps, lines)))
    t, flag, w = ([row[k] for row in rows] for k in range(3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonlines, "BLOCK", size)
        if None in w:
            with pytest.raises(InputError, match=r"a weight in 'w' that is missing"):
                wmcc.tabulate(path, true="t", pred="p", weight="w")
        else:
            assert wmcc.tabulate(path, true="t", pred="p", weight="w") == wmcc.tabulate(t, t, [float(x) for x in w])
        if rows:
            assert wmcc.tabulate(path, true="flag", pred="flag", by="t") == wmcc.tabulate(flag, flag, by=t)


def test_what_lines_do_not_hold(tmp_path):
    path = tmp_path / "a.jsonl"
    for lines, said in (
        ('{"t": 1, "p": 1}\n{"t": "x", "p": 1}\n', "column 't' of .* holds values of different types"),
        ('{"t": [1], "p": 1}\n', "column 't' of .* holds lists or records"),
        ('{"T": 1, "p": 1}\n', r"no column 't'; the columns are 'T', 'p'\.\s+Hint: did you mean 'T'"),
        ('{"t": 1, "p": 1}\n{"t": ', "cannot be read"),
    ):
        path.write_text(lines)
        with pytest.raises(WmccError, match=said):
            wmcc.tabulate(path, true="t", pred="p")
    path.write_text("")
    assert wmcc.tabulate(path, true="t", pred="p") == wmcc.Table.empty()


def test_lines_in_folders_with_names(tmp_path):
    for tile in ("x y", "01"):
        (tmp_path / f"tile={tile}").mkdir()
        (tmp_path / f"tile={tile}" / "a.jsonl").write_text('{"t": 0, "p": 0}\n' * len(tile))
    assert {key: table.rows for key, table in wmcc.tabulate(tmp_path, true="t", pred="p", by="tile").items()} == {
        "01": 2,
        "x y": 3,
    }


# ---- columns -----------------------------------------------------------------------------------------


def test_columns_that_only_one_file_has(tmp_path, engine):
    """More columns in one of several files, whichever comes first."""
    parts = [{"t": ["a"], "p": ["a"], "w": [1.0]}, {"more": [7], "t": ["b"], "p": ["b"], "w": [2.5]}]
    for order, (first, second) in enumerate((parts, parts[::-1])):
        for kind in ("csv", "parquet", "jsonl", "arrow"):
            folder = tmp_path / f"{kind}{order}"
            folder.mkdir()
            for number, columns in enumerate((first, second)):
                path, table = folder / f"{number}.{kind}", pa.table(columns)
                if kind == "csv":
                    values = ",".join(str(x[0]) for x in columns.values())
                    path.write_text(f"{','.join(columns)}\n{values}\n")
                elif kind == "jsonl":
                    path.write_text(json.dumps(table.to_pylist()[0]) + "\n")
                else:
                    (pq.write_table if kind == "parquet" else pyarrow.feather.write_feather)(table, path)
            found = wmcc.tabulate(wmcc.Files(folder, engine=engine), true="t", pred="p", weight="w")
            assert found.w.tolist() == [[1, 0], [0, 2.5]], (kind, order)


def test_a_name_that_comes_twice_in_a_file(tmp_path, engine):
    columns = [["a", "b"], [1, 2], [3, 4], ["a", "b"], [1.0, 2.5]]
    names = ["t", "x", "x", "p", "w"]
    table = pa.Table.from_arrays([pa.array(x) for x in columns], names=names)
    pq.write_table(table, tmp_path / "a.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "a.arrow")
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    lines = ['{"t": "a", "x": 1, "x": 3, "p": "a", "w": 1.0}', '{"t": "b", "x": 1, "x": 3, "p": "b", "w": 2.5}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    cannot = {"polars": ("parquet", "arrow")}
    for kind in ("csv", "parquet", "arrow", "jsonl"):
        if kind in cannot.get(engine, ()):
            with pytest.raises(
                InputError, match=r"name 'x' has more than one|has 5 columns, but polars finds 4|cannot read Arrow IPC"
            ):
                wmcc.tabulate(wmcc.Files(tmp_path / f"a.{kind}", engine=engine), true="t", pred="p", weight="w")
            continue
        found = wmcc.tabulate(wmcc.Files(tmp_path / f"a.{kind}", engine=engine), true="t", pred="p", weight="w")
        assert found.w.tolist() == [[1, 0], [0, 2.5]], kind
        if kind in ("csv", "parquet") or (engine, kind) == ("arrow", "arrow"):
            with pytest.raises(InputError, match=rf"a\.{kind} has 2 columns 'x'; expected one"):
                wmcc.tabulate(wmcc.Files(tmp_path / f"a.{kind}", engine=engine), true="t", pred="p", weight="x")


def test_names_twice_in_files_that_are_joined(tmp_path):
    (tmp_path / "t.csv").write_text("id,x,t,x\n1,7,a,7\n2,7,b,7\n")
    (tmp_path / "p.csv").write_text("id,p\n2,b\n1,b\n")
    for reader in ("polars", "duckdb"):
        found = wmcc.tabulate(
            wmcc.Join(
                wmcc.Files(tmp_path / "t.csv", engine=reader), wmcc.Files(tmp_path / "p.csv", engine=reader), "id"
            ),
            true="t",
            pred="p",
        )
        assert found.n.tolist() == [[0, 1], [0, 1]]


def test_a_header_and_nothing_more(tmp_path, engine):
    """With a line break after it or without, alone or beside a file with rows."""
    for end in ("\n", ""):
        (tmp_path / "a.csv").write_text(f"t,p,w{end}")
        found = wmcc.tabulate(wmcc.Files(tmp_path / "a.csv", engine=engine), true="t", pred="p", weight="w")
        assert found == wmcc.Table.empty()
        (tmp_path / "b.csv").write_text("t,p,w\na,a,2\n")
        assert wmcc.tabulate(wmcc.Files(tmp_path, engine=engine), true="t", pred="p", weight="w").total == 2
        (tmp_path / "b.csv").unlink()


# ---- names of files and links ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["file:x.csv", "s3:x.csv", "a:b/x.csv", "~x.csv", "x#y.csv", "a%20b.csv", "a b.csv", "a::b.csv"]
)
def test_names_that_look_like_addresses(tmp_path, monkeypatch, engine, name):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("t,p,w\na,a,1\nb,b,2.5\n")
    (tmp_path / "x.csv").write_text("t,p,w\nz,z,1\n")  # which is not meant
    (tmp_path / "b.csv").write_text("t,p,w\nz,z,1\n")
    for asked in (name, path):
        table = wmcc.tabulate(wmcc.Files(asked, engine=engine), true="t", pred="p", weight="w")
        assert table.w.tolist() == [[1, 0], [0, 2.5]]


def test_links_that_lead_nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop1.csv").symlink_to("loop2.csv")
    (tmp_path / "loop2.csv").symlink_to("loop1.csv")
    with pytest.raises(InputError, match=r"'loop1.csv' is a link that leads back to itself") as caught:
        wmcc.tabulate("loop1.csv", true="t", pred="p")
    assert "did you mean" not in str(caught.value)
    (tmp_path / "loop1.csv").unlink()
    with pytest.raises(InputError, match=r"'loop2\.csv' is a link to 'loop1\.csv', and there is no such file"):
        wmcc.tabulate("loop2.csv", true="t", pred="p")
    (tmp_path / "a.csv").write_text("t,p\na,a\n")
    with pytest.raises(InputError, match=r"loop2\.csv' is a link to 'loop1\.csv'"):  # rows would be missed
        wmcc.tabulate(tmp_path, true="t", pred="p")


# ---- damaged files -----------------------------------------------------------------------------------


@pytest.fixture
def checksummed(tmp_path):
    """A small Parquet file with checksums, its bytes, and its table."""
    rng = np.random.default_rng(0)
    t, p = rng.integers(0, 3, (2, 60))
    table = pa.table({"t": np.array(["a", "b", "c"])[t], "p": np.array(["a", "b", "c"])[p], "w": rng.random(60)})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, write_page_checksum=True, row_group_size=40, store_schema=False)
    return path, path.read_bytes(), wmcc.tabulate(path, true="t", pred="p", weight="w")


def flipped(path, whole: bytes, bit: int) -> None:
    damaged = bytearray(whole)
    damaged[bit // 8] ^= 1 << bit % 8
    path.write_bytes(damaged)


def test_a_flipped_bit_gives_the_right_number_or_a_sentence(checksummed):
    path, whole, expected = checksummed
    refused = 0
    for bit in range(0, 8 * len(whole), 13):
        flipped(path, whole, bit)
        try:
            assert wmcc.tabulate(path, true="t", pred="p", weight="w") == expected, bit
        except WmccError:
            refused += 1
    assert refused > 500


def test_rows_that_are_missing_by_a_files_own_count(checksummed):
    """No checksum covers the end of a file, which says how many rows each part has."""
    path, whole, _ = checksummed
    end = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    found = 0
    for bit in range(8 * end, 8 * len(whole)):
        flipped(path, whole, bit)
        try:
            metadata = pq.read_metadata(path)
        except (OSError, pa.ArrowException, UnicodeDecodeError):
            continue
        parts = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
        if sum(parts) != 60 and min(parts) >= 0:
            found += 1
            with pytest.raises(InputError, match="cannot be read"):
                wmcc.tabulate(path, true="t", pred="p", weight="w")
    assert found > 10


def test_codes_that_stand_for_nothing():
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 5], pa.int32()), pa.array(["a"]), safe=False)
    for data in (codes, pa.chunked_array([codes])):
        with pytest.raises(InputError, match="a code of encoded text lies outside its dictionary of 1"):
            wmcc.tabulate(data, ["a", "a"])
        with pytest.raises(InputError, match="outside its dictionary"):
            wmcc.tabulate(pa.table({"t": [0, 1], "g": data}), true="t", pred="t", by="g")
