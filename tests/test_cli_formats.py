"""What the formats do to labels: quotes, commas, pipes, line breaks and letters of any script survive."""

import csv
import html
import io
import json
import re

import hypothesis.strategies as st
import pytest
from cli_helpers import run
from hypothesis import given

import wmcc
from wmcc.cli import blocks, plain, records, scores, stored

printable = st.characters(blacklist_categories=("Cc", "Cs"))
hostile = st.sampled_from(list("\"',|\\\n\r\t`*_<>&#[]();: ~$-=+@")) | st.sampled_from(
    ["\\|", "&amp;", "<br>", "''", "森", "é", "\u202e", "\u2028"]
)
texts = st.lists(hostile | printable, max_size=8).map("".join)
label_sets = st.lists(texts, min_size=1, max_size=4, unique=True)


def tables_of(labels, by=(), keys=((),)):
    if not labels:
        return stored.alone(wmcc.Table.empty())
    counts = [[3 * (i == j) + 1 for j in range(len(labels))] for i in range(len(labels))]
    return wmcc.Tables.of({tuple(key): wmcc.Table.from_counts(counts, labels) for key in keys}, tuple(by))


def cells(line):
    """Cells of a line of Markdown, as a reader shows them."""
    raw = re.findall(r"((?:\\.|[^\\|])*)\|", line[1:])
    return [html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", cell.strip(" "))) for cell in raw]


@given(label_sets)
def test_labels_survive_csv(labels):
    tables = tables_of(labels)
    read = list(csv.DictReader(io.StringIO(records.tables_csv(tables), newline="")))
    assert [(x["true"], x["pred"]) for x in read] == [(a, b) for a in labels for b in labels]
    read = list(csv.DictReader(io.StringIO(records.scores_csv(scores.score_all(tables, 0.0)), newline="")))
    assert [x["class"] for x in read if x["scope"] == "class"] == labels


@given(
    label_sets,
    texts,
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
)
def test_labels_and_keys_survive_json(tmp_path_factory, labels, column, key):
    tables = tables_of(labels, [column], [[key]])
    data = json.loads(records.scores_json(scores.score_all(tables, 0.0)))
    assert [c["label"] for c in data["groups"][0]["score"]["classes"]] == labels
    assert data["by"] == [column]
    path = tmp_path_factory.getbasetemp() / "t.json"
    path.write_text(stored.to_json(tables))
    again = stored.read(str(path))
    assert again == tables
    assert list(again) == [(key,)]
    assert [type(x) for x in next(iter(again))] == [int if isinstance(key, float) and key.is_integer() else type(key)]
    both = stored.merge([str(path), str(path)])
    assert next(iter(both.values())).n.tolist() == (2 * next(iter(tables.values())).n).tolist()


@given(label_sets)
def test_labels_survive_markdown(labels):
    kept = ("".join(c for c in x if c in "\n\r\t" or plain.visible(c) == c) for x in labels)
    labels = list(dict.fromkeys(kept))
    lines = plain.markdown(blocks.of_tables(tables_of(labels))).split("\n")
    square = [line for line in lines if line.startswith("|")]
    assert len(square) == len(labels) + 2
    assert cells(square[0])[1:] == labels
    assert [cells(line)[0] for line in square[2:]] == labels


@given(label_sets)
def test_a_label_stays_on_its_line(labels):
    text = plain.text(blocks.of_tables(tables_of(labels)))
    assert len(text.splitlines()) == len(labels) + 2
    assert all(x.isprintable() or x == "\n" or ord(x) > 127 for x in text)


@given(label_sets, st.integers(20, 120))
def test_what_is_fitted_fits(labels, room):
    for block in blocks.of_tables(tables_of(labels)):
        for piece in plain.fitted(block, room):
            widths = [max(map(plain.width, column)) for column in zip(piece.head, *piece.rows, strict=True)]
            assert sum(widths) + plain.GAP * (len(widths) - 1) <= max(room, 42)


@given(
    st.lists(
        st.tuples(st.floats(0, 1e300), st.integers(0, 2), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=20
    )
)
def test_merged_files_are_the_whole(tmp_path_factory, rows):
    """To the last bit, for any weights and any way to cut the rows."""
    folder = tmp_path_factory.getbasetemp()
    paths = []
    for part in range(4):
        mine = [(w, t, p) for w, t, p, where in rows if where == part]
        if mine:
            table = wmcc.tabulate([t for _, t, _ in mine], [p for _, _, p in mine], [w for w, _, _ in mine])
            paths.append(folder / f"part{part}.json")
            paths[-1].write_text(stored.to_json(stored.alone(table)))
    whole = wmcc.tabulate([t for _, t, _, _ in rows], [p for _, _, p, _ in rows], [w for w, *_ in rows])
    assert stored.merge(list(map(str, reversed(paths))))[()] == whole


def test_widths():
    assert plain.width("森林") == 4
    assert plain.width("é") == 1  # a letter and its accent
    assert plain.shortened("森林 地図", 5) == "森林…"
    text = plain.text([blocks.Block(head=["a", "b"], rows=[["森", "1"], ["ab", "2"]])])
    assert text == "a   b\n森  1\nab  2\n"


def test_no_classes_and_one_class():
    assert plain.text(blocks.of_tables(tables_of([]))) == "0 classes, 0 rows, total weight 0\n"
    assert plain.markdown(blocks.of_tables(tables_of([]))) == "0 classes, 0 rows, total weight 0\n"
    assert "1 class, 4 rows" in plain.text(blocks.of_tables(tables_of(["a"])))


def test_more_classes_than_a_square_can_show():
    labels = list(range(60))
    text = plain.text(blocks.of_tables(tables_of(labels)))
    assert "true  predicted  Rows  Weight\n" in text
    assert "… and 3,500 lighter cells; --format csv lists all." in text


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_a_label_that_is_no_text(form, tmp_path):
    """A lone surrogate, which JSON can hold and UTF-8 cannot."""
    path = tmp_path / "t.json"
    path.write_text(stored.to_json(tables_of(["\ud800", "b"])))
    if form in ("json", "table", "markdown"):
        run("show", path, "-f", form, "-o", tmp_path / "out")
    else:
        assert "a label is no valid text" in run("show", path, "-f", form, "-o", tmp_path / "out", code=2).stderr
