"""What the formats do to labels: quotes, commas, pipes, line breaks and letters of any script survive."""

import csv
import html
import io
import json
import re

import hypothesis.strategies as st
import pytest
from cli_helpers import put_sample, run
from hypothesis import given

import wmcc
from wmcc.cli import stored
from wmcc.present import blocks
from wmcc.present.blocks import GAP, Block, fitted
from wmcc.present.groups import Groups
from wmcc.present.json_csv import as_records_csv
from wmcc.present.markdown import markdown
from wmcc.present.text import cut, visible, width

printable = st.characters(blacklist_categories=("Cc", "Cs"))
hostile = st.sampled_from(list("\"',|\\\n\r\t`*_<>&#[]();: ~$-=+@")) | st.sampled_from(
    ["\\|", "&amp;", "<br>", "''", "森", "é", "\u202e", "\u2028"]
)
texts = st.lists(hostile | printable, max_size=8).map("".join)
label_sets = st.lists(texts, min_size=1, max_size=4, unique=True)


def table_of(labels):
    if not labels:
        return wmcc.Table.empty()
    return wmcc.Table.from_counts([[3 * (i == j) + 1 for j in range(len(labels))] for i in range(len(labels))], labels)


def cells(line):
    """Cells of a line of Markdown, as a reader shows them."""
    raw = re.findall(r"((?:\\.|[^\\|])*)\|", line[1:])
    return [html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", cell.strip(" "))) for cell in raw]


@given(label_sets)
def test_labels_survive_csv(labels):
    table = table_of(labels)
    read = list(csv.DictReader(io.StringIO(as_records_csv(table.records()), newline="")))
    assert [(x["true"], x["pred"]) for x in read] == [(a, b) for a in labels for b in labels]
    read = list(csv.DictReader(io.StringIO(as_records_csv(wmcc.score(table).records()), newline="")))
    assert [x["class"] for x in read if x["scope"] == "class" and x["measure"] == "iou"] == labels


@given(
    label_sets,
    texts,
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
)
def test_labels_and_keys_survive_json(tmp_path_factory, labels, column, key):
    tables = wmcc.Tables.of({(key,): table_of(labels)}, (column,))
    data = json.loads(Groups((column,), {(key,): wmcc.score(table_of(labels))}).to_json())
    assert [c["label"] for c in data["groups"][0]["result"]["classes"]] == labels
    assert data["by"] == [column]
    path = tmp_path_factory.getbasetemp() / "t.json"
    path.write_text(tables.to_json())
    again = stored.read(str(path))
    assert again == tables
    assert list(again) == [(key,)]
    assert [type(x) for x in next(iter(again))] == [int if isinstance(key, float) and key.is_integer() else type(key)]


@given(label_sets)
def test_labels_survive_markdown(labels):
    kept = ("".join(c for c in x if c in "\n\r\t" or visible(c) == c) for x in labels)
    labels = list(dict.fromkeys(kept))
    lines = markdown(table_of(labels).blocks()).split("\n")
    square = [line for line in lines if line.startswith("|")]
    assert len(square) == len(labels) + 2
    assert cells(square[0])[1:] == labels
    assert [cells(line)[0] for line in square[2:]] == labels


@given(label_sets)
def test_a_label_stays_on_its_line(labels):
    text = blocks.text(table_of(labels).blocks())
    assert len(text.splitlines()) == len(labels) + 2
    assert all(x.isprintable() or x == "\n" or ord(x) > 127 for x in text)


@given(label_sets, st.integers(20, 120))
def test_what_is_fitted_fits(labels, room):
    for block in table_of(labels).blocks():
        for piece in fitted(block, room):
            widths = [max(map(width, column)) for column in zip(piece.head, *piece.rows, strict=True)]
            assert sum(widths) + GAP * (len(widths) - 1) <= max(room, 42)


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
            paths.append(table.save(folder / f"part{part}.json"))
    whole = wmcc.tabulate([t for _, t, _, _ in rows], [p for _, _, p, _ in rows], [w for w, *_ in rows])
    run("merge", *reversed(paths), "-o", folder / "merged.json")
    assert stored.read(str(folder / "merged.json")) == whole


def test_widths():
    assert width("森林") == 4
    assert width("é") == 1  # a letter and its accent
    assert cut("森林 地図", 5) == "森林…"
    assert blocks.text([Block(head=["a", "b"], rows=[["森", "1"], ["ab", "2"]])]) == "a   b\n森  1\nab  2\n"


def test_no_classes_and_one_class():
    assert blocks.text(table_of([]).blocks()) == "Table of 0 classes: 0 rows, total weight 0\n"
    assert markdown(table_of([]).blocks()) == "Table of 0 classes: 0 rows, total weight 0\n"
    assert "1 class: 4 rows" in blocks.text(table_of(["a"]).blocks())


def test_more_classes_than_a_square_can_show():
    text = blocks.text(table_of(list(range(60))).blocks())
    assert "true  pred  rows  weight\n" in text
    assert "Shown are the 20 heaviest of 3,600 cells; CSV and JSON have all." in text


def test_a_table_without_a_head_has_one_in_markdown_only():
    block = Block("Title", (), [["lowest", "0.1", "x"]], ["A note."])
    assert blocks.text([block]) == "Title\nlowest  0.1  x\n\nA note.\n"
    assert markdown([block]) == "Title\n\n|  |  |  |\n| --- | ---: | ---: |\n| lowest | 0.1 | x |\n\nA note.\n"


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_a_label_that_is_no_text(form, tmp_path):
    """A lone surrogate, which JSON can hold and UTF-8 cannot."""
    path = tmp_path / "t.json"
    path.write_text(table_of(["\ud800", "b"]).to_json())
    if form in ("json", "table", "markdown"):
        run("show", path, "-f", form, "-o", tmp_path / "out")
    else:
        assert "a label is not valid text" in run("show", path, "-f", form, "-o", tmp_path / "out", code=2).stderr


def test_decimals_of_scores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put_sample(tmp_path)
    columns = ("parcels.csv", "--true", "label", "--pred", "pred")
    score = wmcc.score(wmcc.tabulate("parcels.csv", true="label", pred="pred"))
    for form in ("table", "markdown", "latex", "html"):
        text = run("score", *columns, "--digits", "2", "--format", form).stdout
        assert f"{score.accuracy:.2f}" in text
        assert f"{score.accuracy:.3f}" not in text
    assert run("score", *columns, "--digits", "2").stdout == score.to_text(2) + "\n"
    said = run("score", *columns, "--digits", "2", "-o", "score.json", code=2).stderr
    assert "`digits` is for .txt, .md, .tex and .html; .json has all digits of a number." in said
    assert "`digits` is 0; expected a whole number" in run("score", *columns, "--digits", "0", code=2).stderr
