"""Pixels are no independent draws: which tables know it, what their results say, and blocks as clusters."""

import json
import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
from cli_helpers import run
from flat import tabulate
from paths import ROOT

import wmcc
from wmcc.core.design import PIXELS, ROWS
from wmcc.errors import InputError, InputTypeError
from wmcc.inference.reliability import FEW_PIXELS_COUNT, IN_CLUSTERS, PIXELS_ARE_ALIKE

sys.path.append(str(ROOT / "benchmarks"))  # last: files there may be called as those here
import pixels as simulation

rng = np.random.default_rng(4)
TRUTH = rng.integers(0, 3, (2, 20, 30))
A, B, C = (
    np.where(rng.random(TRUTH.shape) < share, TRUTH, rng.integers(0, 3, TRUTH.shape)) for share in (0.8, 0.7, 0.6)
)
TABLE = wmcc.tabulate(TRUTH, A)
JOINT = wmcc.tabulate(TRUTH, {"A": A, "B": B, "C": C})
SAID = "neighbouring pixels are alike"


# ---- which tables are of pixels ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "pixels"),
    [
        ((1200,), False),
        ((1200, 1), False),
        ((1200, 1, 1), False),
        ((1, 1200), True),
        ((40, 30), True),
        ((2, 20, 30), True),
    ],
)
def test_labels_of_several_axes_are_pixels(shape, pixels):
    table = wmcc.tabulate(TRUTH.reshape(shape), A.reshape(shape))
    assert table.drawn == (PIXELS if pixels else ROWS)
    assert table.drawn.pixels is pixels
    several = wmcc.tabulate(TRUTH.reshape(shape), {"A": A.reshape(shape)})
    assert several.drawn.pixels is several["A"].drawn.pixels is pixels


def test_tables_of_pixels_and_of_rows_differ_in_nothing_else():
    rows = wmcc.tabulate(TRUTH.ravel(), A.ravel())
    assert rows != TABLE
    assert replace(rows, drawn=PIXELS) == TABLE


@pytest.mark.parametrize(
    "more",
    [
        {"cluster": ["a", "b"]},
        {"blocks": 8},
        {"stratum": ["a", "b"]},
        {"population": 1e6},
        {"sample_weight": np.ones(TRUTH.shape), "replicates": [np.ones(TRUTH.shape)] * 2, "method": "brr"},
    ],
)
def test_what_says_how_pixels_were_drawn(more):
    assert not tabulate(TRUTH, A, **more).drawn.pixels


def test_it_survives():
    rows, empty = wmcc.tabulate([0, 1], [0, 1]), wmcc.tabulate([], [])
    for table in (
        TABLE + rows, rows + TABLE, TABLE + TABLE, TABLE + empty, empty + TABLE, sum([rows, TABLE]),
        TABLE.rename({0: 7}), TABLE.merge_classes({9: [0, 1]}), TABLE.against_rest(1), JOINT["B"], JOINT.pair("A", "C"),
        wmcc.Table.from_json(TABLE.to_json()), wmcc.JointTable.from_json(JOINT.to_json()),
        pickle.loads(pickle.dumps(TABLE)), wmcc.tabulate(TRUTH, A, names={0: "a", 1: "b", 2: "c"}),
    ):  # fmt: skip
        assert table.drawn == PIXELS
    assert not (rows + rows + empty).drawn.pixels
    assert json.loads(TABLE.to_json())["drawn"] == "pixels"


def test_groups_and_streams():
    tables = wmcc.tabulate(TRUTH, A, by=["a", "b"])
    again = wmcc.Tables.from_json(tables.to_json())
    for table in (tables["a"], tables.total(), tables.select(["b"])["b"], again["a"], (tables + tables)["b"]):
        assert table.drawn == PIXELS
    assert tables.as_clusters() == wmcc.tabulate(TRUTH, A, cluster=["a", "b"])  # which is the mend
    stream = wmcc.Accumulator()
    for truth, pred in zip(TRUTH, A, strict=True):
        stream.update(truth, pred)
    assert stream.table == TABLE
    empty = wmcc.tabulate(np.zeros((0, 4), int), np.zeros((0, 4), int))
    assert not empty.drawn.pixels
    ignored = wmcc.tabulate([[255, 255]], [[0, 1]], ignore=255)
    assert (ignored + wmcc.tabulate(TRUTH, A, cluster=[0, 1])).drawn.clusters == (0, 1)  # it has no row to speak of


# ---- what is said -----------------------------------------------------------------------------------------


def test_intervals_say_it():
    for found in (
        wmcc.interval(TABLE), wmcc.interval(TABLE, method="delta"), wmcc.interval(TABLE, method="bootstrap"),
        wmcc.interval(TABLE, "recall", of=1), wmcc.interval(TABLE, "f1", of=1), wmcc.bootstrap(TRUTH, A),
    ):  # fmt: skip
        assert found.warnings == (PIXELS_ARE_ALIKE,)
        assert found.status == "unreliable"
        assert str(found).count(SAID) == 1
    rows, blocks = wmcc.tabulate(TRUTH.ravel(), A.ravel()), wmcc.tabulate(TRUTH, A, cluster=wmcc.Blocks(5))
    for table in (rows, blocks):
        assert wmcc.interval(table).reliable
        assert SAID not in str(wmcc.score(table))
    found, same = wmcc.interval(TABLE), wmcc.interval(rows)
    assert (found.low, found.high, found.se) == (same.low, same.high, same.se)  # numbers are as they were


def test_what_cannot_be_estimated_says_why_instead():
    one = wmcc.tabulate([[0, 0]], [[0, 0]])
    found = wmcc.interval(one, "mcc") if len(one.classes) == 2 else wmcc.interval(one)
    assert found.problem
    assert found.warnings == ()


def test_comparisons_say_it_once():
    two, three = wmcc.compare(JOINT.pair("A", "B")), wmcc.compare(JOINT)
    weeks = wmcc.compare({"A": TABLE, "B": wmcc.tabulate(TRUTH, B)}, sample="independent")
    mixed = wmcc.compare({"A": TABLE, "B": wmcc.tabulate(TRUTH, B, cluster=wmcc.Blocks(5))}, sample="independent")
    of_class = wmcc.compare(JOINT, "iou", of=1)
    for found in (two, three, weeks, mixed, of_class):
        assert found.warnings == (PIXELS_ARE_ALIKE,)
        assert not found.reliable
        assert str(found).count(SAID) == 1
        assert all(x.warnings == (PIXELS_ARE_ALIKE,) for x in found.pairs.values())
    assert wmcc.compare(wmcc.tabulate(TRUTH, {"A": A, "B": B}, cluster=wmcc.Blocks(5))).reliable


@pytest.mark.parametrize(
    "made",
    [
        lambda: wmcc.score(TABLE), lambda: wmcc.diagnose(TABLE),
        lambda: wmcc.results.uncertainty(TABLE), lambda: wmcc.results.uncertainty(JOINT), lambda: wmcc.score(TRUTH, A),
    ],
)  # fmt: skip
def test_a_page_says_it_once(made):
    found = made()
    assert str(found).count(SAID) == 1
    assert found._repr_html_().count(SAID) == 1
    assert sum(SAID in why for why in found.warnings) == 1


def test_the_sentence_is_of_all_that_could_be_estimated():
    no_twos = np.where(TRUTH == 2, 0, TRUTH)
    score = wmcc.score(wmcc.tabulate(no_twos, np.zeros_like(no_twos)))
    assert any(x.problem for x in score.intervals.values())
    assert f"* Intervals: {PIXELS_ARE_ALIKE}." in score.warnings


def test_diagnosis_and_design():
    assert FEW_PIXELS_COUNT in wmcc.diagnose(TABLE).warnings
    assert wmcc.map_accuracy(TABLE).design == (
        "Design: none; map and reference were compared wall to wall, in 1,200 pixels."
    )


def test_reports_say_it_once(tmp_path):
    two, path = (TRUTH > 0), tmp_path / "page.md"
    for table in (wmcc.tabulate(two, {"A": A > 0, "B": B > 0}), wmcc.tabulate(two, A > 0)):
        for terms in ("classifier", "map"):
            wmcc.write_report(path, table, terms=terms)
            assert path.read_text(encoding="utf-8").count("too short, and p-values") == 1


def test_the_command_line_says_it_in_options(tmp_path):
    path = tmp_path / "table.json"
    path.write_text(TABLE.to_json())
    text = " ".join(run("score", path).stdout.split())
    assert text.count(SAID) == 1
    assert "tabulate with `cluster`: blocks of pixels (`wmcc.Blocks(64)`, or --blocks 64), or the zone" in text


# ---- blocks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blocks", [7, (7, 7), [6, 11], np.int64(64), (1, 100)])
def test_blocks_are_clusters(blocks):
    rows, columns = (blocks, blocks) if np.ndim(blocks) == 0 else blocks
    weights = rng.random(TRUTH.shape)
    _, row, column = np.indices(TRUTH.shape)
    keys = {"row": row[0] // rows, "column": column[0] // columns}
    expected = wmcc.tabulate(TRUTH[0], A[0], weights[0], cluster=keys)._of_whole_map()
    own = wmcc.Blocks(blocks) if np.ndim(blocks) == 0 else wmcc.Blocks(*blocks)
    assert wmcc.tabulate(TRUTH[0], A[0], weights[0], cluster=own) == expected
    assert wmcc.tabulate(TRUTH[0], A[0], weights[0], threads=2, cluster=own) == expected
    keys = {"image": np.indices(TRUTH.shape)[0], "row": row // rows, "column": column // columns}
    assert (
        wmcc.tabulate(TRUTH, A, weights, cluster=own) == wmcc.tabulate(TRUTH, A, weights, cluster=keys)._of_whole_map()
    )
    grouped = wmcc.tabulate(TRUTH, {"A": A, "B": B}, by=["x", "y"], cluster=own)
    assert grouped == wmcc.tabulate(TRUTH, {"A": A, "B": B}, by=["x", "y"], cluster=keys)._of_whole_map()


def test_many_blocks():
    truth = np.arange(300 * 300).reshape(300, 300) % 3
    table = wmcc.tabulate(truth, truth, cluster=wmcc.Blocks(1))
    assert len(table.drawn.clusters) == 90_000
    assert table.drawn.clusters[-1] == (299, 299)
    void = np.where(np.indices(truth.shape)[0] < 200, 255, truth)
    assert wmcc.tabulate(void, truth, ignore=255, cluster=wmcc.Blocks(100)).drawn.clusters == ((2, 0), (2, 1), (2, 2))
    assert not wmcc.tabulate(truth[:0], truth[:0], cluster=wmcc.Blocks(4)).drawn.clusters


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        ((0,), "`rows` of `Blocks` is 0; expected the side of a block in pixels"),
        ((True,), "`rows` of `Blocks` is True"),
        ((2.5,), "`rows` of `Blocks` is 2.5"),
        (((1, 2, 3),), "`rows` of `Blocks` is (1, 2, 3)"),
        ((1, -2), "`columns` of `Blocks` is -2"),
        (("64",), "`rows` of `Blocks` is '64'"),
    ],
)
def test_blocks_that_are_refused(blocks, said):
    with pytest.raises(InputError) as caught:
        wmcc.Blocks(*blocks)
    assert said in caught.value.message
    assert caught.value.hint


def test_blocks_make_clusters_of_pixels_in_no_strata():
    with pytest.raises(InputTypeError, match="it does not work with strata or post-strata"):
        wmcc.tabulate(TRUTH, A, cluster=wmcc.Blocks(8), design=wmcc.Strata([0, 1]))


def test_blocks_are_for_maps():
    for shape in ((1200,), (2, 2, 10, 30)):
        with pytest.raises(InputError, match=r"`Blocks` is for label maps, \(H, W\)"):
            wmcc.tabulate(TRUTH.reshape(shape), A.reshape(shape), cluster=wmcc.Blocks(8))
    with pytest.raises(InputTypeError, match="`Blocks` makes clusters of pixels"):
        wmcc.tabulate({"t": [0], "p": [0]}, true="t", pred="p", cluster=wmcc.Blocks(8))


# ---- how bad it is ----------------------------------------------------------------------------------------


def test_pixels_cover_far_too_seldom_and_blocks_do():
    pixels, blocks = simulation.simulate(2, runs=60, blocks=(None, 16), side=128)
    assert pixels.held < 60
    assert blocks.held > 85
    assert pixels.length < blocks.length / 3  # several times too short
    assert pixels.significant > 20
    assert blocks.significant < 15
    assert "wmcc.Blocks(64)" in IN_CLUSTERS
