"""Standard streams: closed, full, and standard input in the place of files."""

import contextlib
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time

import hypothesis.strategies as st
import polars as pl
import pyarrow as pa
import pytest
from cli_helpers import COLUMNS, SAMPLE, WEIGHTED, put_sample, run
from hypothesis import given

import wmcc
from wmcc.cli import standard_input, stored

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put_sample(tmp_path)
    return tmp_path


@pytest.fixture
def temporary(folder, monkeypatch):
    """Where copies go, and are not left."""
    place = folder / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr("tempfile.tempdir", str(place))
    yield place
    assert os.listdir(place) == []


# ---- closed and full ----------------------------------------------------------------------------------


def redirected(streams, *args):
    """Run a command with streams as a shell redirects them."""
    command = ["sh", "-c", f'exec "$0" "$@" {streams}', sys.executable, "-m", "wmcc", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    "args",
    [["score", "parcels.csv", *COLUMNS], ["example"], ["--help"], ["score", "--help"], ["--version"], ["demo"]],
    ids=" ".join,
)
def test_a_closed_standard_output_is_told(args):
    done = redirected(">&-", *args)
    assert done.returncode == 2
    assert done.stderr == "Error: standard output is closed.\nHint: use >/dev/null to print nothing.\n"


def test_other_streams_may_be_closed(folder):
    for streams in ("<&-", "2>&-", "2>&- <&-"):
        done = redirected(streams, "tabulate", "parcels.csv", *WEIGHTED, "-o", "t.json")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert wmcc.Table.from_json((folder / "t.json").read_text()).rows == 360
        (folder / "t.json").unlink()


def test_errors_do_not_go_elsewhere_when_standard_error_is_closed():
    for streams in ("2>&-", "2>/dev/full"):
        for args in (["score", "nothing.csv", *COLUMNS], ["score", "--nothing"]):
            done = redirected(streams, *args)
            assert (done.returncode, done.stdout, done.stderr) == (2, "", "")
    done = redirected("2>&-", "score", "nothing.csv", *COLUMNS, "--format", "json")
    assert json.loads(done.stdout)["error"]["exit_code"] == 2


def test_a_closed_standard_input_is_told():
    for args in (["score", "-", *COLUMNS], ["show", "-"], ["merge", "-"], ["report", "-"]):
        done = redirected("<&-", *args)
        assert done.returncode == 2
        assert done.stderr.startswith("Error: standard input is closed, so nothing can be read from it.\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_help_on_a_full_disk():
    for args in (["--help"], ["score", "--help"], ["--version"]):
        done = redirected(">/dev/full", *args)
        assert done.returncode == 1
        assert done.stderr.startswith("Error: [Errno 28] No space left on device\n")
        assert "ignored" not in done.stderr


def test_the_output_may_be_called_a_dash(folder):
    assert run("example", "-o", "-").stdout == SAMPLE.read_text()
    assert not (folder / "-").exists()


# ---- standard input ------------------------------------------------------------------------------------


def written(form):
    """The sample in a format, as bytes."""
    frame, held = pl.read_csv(SAMPLE), io.BytesIO()
    if form == "parquet":
        frame.write_parquet(held)
    elif form == "arrow":
        frame.write_ipc(held)
    elif form == "jsonl":
        frame.write_ndjson(held)
    else:
        frame.write_csv(held, separator="\t" if form == "tsv" else ",")
    return held.getvalue()


FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow")


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb"])
@pytest.mark.parametrize("form", FORMATS)
def test_standard_input_is_read_like_a_file(form, engine, folder, temporary):
    data = written(form)
    (folder / f"data.{form}").write_bytes(data)
    args = (*COLUMNS, "--engine", engine, "--format", "json")  # counts, which are the same whatever comes first
    expected = run("tabulate", f"data.{form}", *args).stdout
    assert run("tabulate", "-", *args, text=data).stdout == expected
    assert run("tabulate", "-", *args, "--input-format", form, text=data).stdout == expected
    if form in ("csv", "tsv", "jsonl"):
        assert run("tabulate", "-", *args, text=gzip.compress(data)).stdout == expected


def test_every_command_reads_standard_input(temporary):
    for args in (
        ["score", *WEIGHTED, "--by", "region", "--ignore", "water"],
        ["score", *WEIGHTED, "--cluster", "region"],
        ["compare", *WEIGHTED, "--pred", "pred_c"],
        ["certify", *COLUMNS, "--weight", "area", "--upper", "area"],
        ["radius", *WEIGHTED, "--change", "0.1"],
        ["rank", *WEIGHTED, "--pred", "pred_c", "--no-radius"],
        ["tabulate", *WEIGHTED],
    ):
        command, *options = args
        expected = run(command, "parcels.csv", *options).stdout
        assert run(command, "-", *options, text=SAMPLE.read_bytes()).stdout == expected


def test_predictions_to_be_joined_may_come_from_standard_input(folder, temporary):
    frame = pl.read_csv(SAMPLE)
    frame.select("id", "label").write_csv("truth.csv")
    args = ("--true", "label", "--pred", "pred", "--on", "id", "-f", "json")
    given_data = frame.select("id", "pred").write_csv()
    (folder / "guess.csv").write_text(given_data)
    joined = run("score", "truth.csv", "--join", "-", *args, text=given_data).stdout
    assert joined == run("score", "truth.csv", "--join", "guess.csv", *args).stdout


def test_stored_tables_from_standard_input(folder, temporary):
    run("tabulate", "parcels.csv", *WEIGHTED, "-o", "t.json")
    text = (folder / "t.json").read_text()
    for args in (["show"], ["score"], ["certify"], ["radius", "--change", "0.1"], ["merge"]):
        command, *options = args
        assert run(command, "-", *options, text=text).stdout == run(command, "t.json", *options).stdout
    assert run("merge", "-", "t.json", text=text).stdout == run("merge", "t.json", "t.json").stdout


@pytest.mark.parametrize("args", [[*COLUMNS], []], ids=["data", "table"])
def test_a_report_names_standard_input(args, folder, temporary):
    run("tabulate", "parcels.csv", *COLUMNS, "-o", "t.json")
    name = "parcels.csv" if args else "t.json"
    for form in ("json", "markdown", "html"):
        text = run("report", "-", *args, "-f", form, text=(folder / name).read_text()).stdout
        assert "standard input" in text
        assert str(temporary) not in text
        if form == "json":
            direct = json.loads(run("report", name, *args, "-f", form).stdout)["made"]["inputs"]
            assert json.loads(text)["made"]["inputs"] == [{**direct[0], "name": "standard input"}]


def test_a_pipe_is_read_like_standard_input(folder, temporary):
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: (folder / "pipe").write_bytes(SAMPLE.read_bytes()))
    writer.start()
    said = run("certify", "pipe", *WEIGHTED, "--lower", "area").stdout  # which reads its data twice
    writer.join()
    assert said == run("certify", "parcels.csv", *WEIGHTED, "--lower", "area").stdout


def arrow_stream():
    held = io.BytesIO()
    table = pa.table({"label": [1], "pred": [1]})
    with pa.ipc.new_stream(held, table.schema) as file:
        file.write_table(table)
    return held.getvalue()


@pytest.mark.parametrize(
    ("args", "text", "said"),
    [
        (
            ["score", "-", *COLUMNS],
            b"",
            "Error: standard input is empty: it has no header line with column names.",
        ),
        (["score", "-", "--true", "a", "--pred", "pred"], b"label,pred\n", "there is no column 'a'"),
        (["score", "-", *COLUMNS], b"PK\x03\x04\x00\x00", "standard input is neither text nor Parquet nor an Arrow"),
        (["score", "-", *COLUMNS], arrow_stream(), "standard input is an Arrow stream; expected an Arrow file"),
        (["score", "-", *COLUMNS], b'[ {"label": 1}]', "standard input is a JSON array; expected JSON lines"),
        (["score", "-", *COLUMNS], b"PAR1 cut short", "standard input cannot be read"),
        (["score", "-"], SAMPLE.read_bytes(), "Error: standard input: this is not JSON"),
        (["show", "-"], b"{}", "Error: standard input: this is not a stored wmcc table"),
        (["score", "-", "-", *COLUMNS], b"", "- is named more than once"),
        (["merge", "-", "-"], b"", "- is named more than once"),
        (["score", "parcels.csv", *COLUMNS, "--input-format", "csv"], b"", "--input-format is for -"),
        (["compare", "parcels.csv", *COLUMNS, "--pred", "pred_b", "--input-format", "csv"], b"", "is for -"),
    ],
)
def test_standard_input_that_cannot_be_read(args, text, said, temporary):
    result = run(*args, code=2, text=text)
    assert said in result.stderr
    assert str(temporary) not in result.stderr


def test_what_goes_to_standard_output_is_not_read_before_it_is_checked(temporary):
    result = run("tabulate", "-", *COLUMNS, "-o", "nowhere/t.json", code=2, text=b"\0")
    assert "there is no folder" in result.stderr


names = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1).map(str.strip).filter(bool)


@given(st.lists(names.filter(lambda x: not x.startswith(("{", "[", "PAR1", "ARROW1"))), min_size=2, max_size=4))
def test_text_is_told_apart(columns):
    """Commas decide, wherever there are some; a header with tabs and without commas is one of TSV."""
    if not any("," in x for x in columns):
        assert standard_input._guess("-", "\t".join(columns).encode() + b"\n1,2\t3\n") == "tsv"
    assert standard_input._guess("-", ",".join(columns).encode() + b"\n1\t2,3\n") == "csv"
    assert standard_input._guess("-", b"\n " + json.dumps(dict.fromkeys(columns, 1)).encode()) == "jsonl"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_no_copy(number, code, temporary):
    command = [sys.executable, "-m", "wmcc", "score", "-", *COLUMNS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        running.stdin.write("label,pred\na,a\n")
        running.stdin.flush()
        while not list(
            temporary.glob("*/*")
        ):  # the copy in its folder; Python puts a file of its own there for a moment
            time.sleep(0.01)
        for _ in range(10):  # Python may miss a signal that comes just before it waits for input
            running.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(3)
                break
        assert running.returncode == code
        assert running.stderr.read() == ""
        running.stdin.close()


# ---- keys that JSON has no number for ---------------------------------------------------------------------


KEYS = [1.5, float("nan"), None, float("inf"), -float("inf")]


@pytest.mark.parametrize("engine", ["arrow", "polars", "duckdb"])
def test_groups_of_numbers_that_json_does_not_have(engine, folder, temporary):
    """What has no value is missing, NaN too, and an infinite number is a number: among others, and when merged."""
    pl.DataFrame({"label": [0, 1, 1, 0, 1], "pred": [0, 1, 1, 1, 1], "g": KEYS}).write_parquet("g.parquet")
    run("tabulate", "g.parquet", *COLUMNS, "--by", "g", "--engine", engine, "-o", "g.json")
    keys = [[{"float": "-inf"}], [1.5], [{"float": "inf"}], [None]]
    for args in (["show"], ["score"], ["certify", "--measure", "accuracy"], ["merge", "g.json"]):
        data = strict(run(*args, "g.json", "--format", "json").stdout)
        assert keys_of(data) == keys
    assert list(stored.read("g.json")) == [-float("inf"), 1.5, float("inf"), None]


def test_a_key_that_is_nan_is_read_as_missing(folder, temporary):
    """Other programs write it, though it is no JSON."""
    table = wmcc.Table.from_counts([[2, 1], [0, 3]], ["a", "b"])
    tables = wmcc.Tables.of({(key,): table for key in (7, 8, 9)}, ("g",))
    text = json.dumps({**tables.to_dict(), "groups": [[2.0], [float("inf")], [float("nan")]]})
    assert "NaN" in text
    for args in (["show", "-"], ["score", "-"], ["merge", "-"], ["radius", "-", "--change", "0.1"]):
        data = strict(run(*args, "--format", "json", text=text).stdout)
        assert keys_of(data) == [[2], [{"float": "inf"}], [None]]


def keys_of(data):
    """Keys of groups: stored tables list them, results have one each."""
    if data["kind"] == "groups":
        return [group["key"] for group in data["groups"]]
    return [group if isinstance(group, list) else [group] for group in data["groups"]]


def strict(text):
    """JSON as it is defined: Python's knows NaN."""

    def refuse(name):
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)
