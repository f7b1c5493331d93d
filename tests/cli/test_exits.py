"""How commands end: exit codes, errors as sentences and as JSON, Ctrl-C, and text that cannot do harm."""

import contextlib
import csv
import io
import json
import os
import re
import subprocess
import sys

import hypothesis.strategies as st
import pytest
from cli_helpers import COLUMNS, SAMPLE, process, put_sample, run
from hypothesis import given
from paths import DOCS
from schemas import check

import wmcc
from wmcc.errors import MissingDependencyError, WeightError
from wmcc.present.json_csv import as_csv, as_records_csv

pytestmark = pytest.mark.slow

LONG = "x" * 300
DATA = ("parcels.csv", *COLUMNS)
HELP = "Try 'wmcc score --help' for help."


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put_sample(tmp_path)
    return tmp_path


# ---- exit codes ------------------------------------------------------------------------------------


MENDED_BY_THE_USER = {
    "wrong command": ["scroe"],
    "no command": [],
    "wrong option": ["score", *DATA, "--nothing"],
    "wrong choice": ["score", *DATA, "--format", "xml"],
    "wrong number": ["score", *DATA, "--confidence", "much"],
    "wrong value": ["score", *DATA, "--confidence", "2"],
    "no argument": ["score"],
    "missing data": ["score", "nothing.csv", *COLUMNS],
    "missing table": ["show", "nothing.json"],
    "missing predictions": ["score", "parcels.csv", "--true", "label", "--join", "nothing.csv", "--on", "id"],
    "missing column": ["compare", *DATA, "--pred", "nothing"],
    "name too long": ["score", f"{LONG}.csv", *COLUMNS],
    "name of a table too long": ["show", f"{LONG}.json"],
    "link to itself": ["score", "loop.csv", *COLUMNS],
    "table that is a link to itself": ["merge", "loop.json"],
    "folder without data": ["score", "empty", *COLUMNS],
    "folder for a table": ["show", "empty"],
    "unreadable data": ["score", "closed.csv", *COLUMNS],
    "unreadable data, another engine": ["tabulate", "closed.csv", *COLUMNS, "--engine", "polars"],
    "unreadable table": ["show", "closed.json"],
    "bad data": ["score", "empty.csv", *COLUMNS],
    "bad weights": ["certify", *DATA, "--weight", "region"],
    "bad table": ["radius", "bad.json", "--change", "0.1"],
    "too few predictions": ["rank", *DATA],
    "a score at its threshold": ["radius", *DATA, "--at-least", "2"],
    "no folder for the output": ["score", *DATA, "-o", "nowhere/s.json"],
    "output is a folder": ["tabulate", *DATA, "-o", "empty"],
    "output is the input": ["tabulate", *DATA, "-o", "parcels.csv"],
    "output of an unknown kind": ["score", *DATA, "-o", "x.xls"],
    "output of another kind": ["score", *DATA, "-o", "x.json", "-f", "csv"],
    "option given twice": ["score", *DATA, "--true", "label"],
    "output is a link to itself": ["example", "-o", "loop.csv"],
    "name of the output too long": ["example", "-o", f"{LONG}.csv"],
    "folder of figures is a file": ["reproduce", "--out", "parcels.csv"],
    "page of another format": ["demo", "-o", "page.pdf"],
}  # fmt: skip
"""Each is refused, with a sentence and the same exit code."""


@contextlib.contextmanager
def without_privileges():
    """As somebody for whom permissions count."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


@pytest.mark.parametrize("name", MENDED_BY_THE_USER)
def test_what_the_user_can_mend_ends_with_2(name, folder):
    for link in ("loop.csv", "loop.json"):
        (folder / link).symlink_to(link)
    (folder / "empty").mkdir()
    (folder / "empty.csv").write_text("")
    (folder / "bad.json").write_text('{"schema": 9}')
    for path in ("closed.csv", "closed.json"):
        (folder / path).write_text(SAMPLE.read_text())
        (folder / path).chmod(0)
    folder.chmod(0o755)
    run("tabulate", *DATA, "--engine", "polars")  # what it imports may not be there for somebody else
    closed = "unreadable" in name
    with without_privileges() if closed else contextlib.nullcontext():
        result = run(*MENDED_BY_THE_USER[name], code=2)
    assert not closed or "ermission denied" in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert "--traceback" not in result.stderr
    assert re.search(r"^(Error|Usage): ", result.stderr, re.MULTILINE)


def test_the_other_exit_codes(monkeypatch):
    """Signals and pipes are tested with processes, in test_process.py; here is what may happen in between."""
    for problem, code in (
        (RuntimeError("a bug"), 1),
        (MemoryError(), 1),
        (OSError(28, "No space left on device"), 1),
        (OSError(5, "Input/output error", "parcels.csv"), 1),
        (PermissionError(13, "Permission denied", "parcels.csv"), 2),
        (OSError(40, "Too many levels of symbolic links", "parcels.csv"), 2),
        (WeightError("a weight is -1."), 2),
        (MissingDependencyError("this needs polars."), 2),
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(32, "Broken pipe"), 141),
    ):

        def fails(*args, problem=problem, **options):
            raise problem

        monkeypatch.setattr("wmcc.cli.request.tabulate", fails)
        for command in ("score", "tabulate", "certify"):
            assert run(command, *DATA, code=code).stdout == ""
    said = run("score", *DATA, code=141).stderr
    assert said == ""


def test_a_traceback_changes_no_exit_code():
    done = process("score", "nothing.csv", *COLUMNS, "--traceback")
    assert done.returncode == 2
    assert done.stderr.startswith("Traceback")
    assert "InputError: there is no file 'nothing.csv'." in done.stderr


# ---- errors as JSON -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["score", "--format", "json", "parcel.csv", *COLUMNS],
         ("InputError", "there is no file 'parcel.csv'.", "did you mean 'parcels.csv'?", None)),
        (["show", "parcels.csv", "-fJSON"], ("SchemaError", None, None, None)),
        (["score", "--format=json", "--nothing"], ("UsageError", None, HELP, "--nothing")),
        (["score", "-f", "json"], ("UsageError", "Missing argument 'FILE...'.", HELP, "FILE...")),
        (["score", *DATA, "-f", "json", "--confidence", "much"], ("UsageError", None, None, "--confidence")),
        (["scroe", "--format", "json"], ("UsageError", None, "Try 'wmcc --help' for help.", None)),
        (["report", *DATA, "-f", "json", "--eps", "2"], ("InputError", None, None, "--eps")),
        (["score", *DATA, "-f", "json", "--confidence", "2"], ("InputError", None, None, "--confidence")),
        (["score", *DATA, "-f", "json", "--true", "pred"], ("UsageError", None, HELP, "--true")),
    ],
)  # fmt: skip
def test_errors_are_json_where_results_would_be(args, expected):
    result = run(*args, code=2)
    data = json.loads(result.stdout)
    check(data)
    assert list(data) == ["schema", "kind", "error"]
    assert list(data["error"]) == ["type", "message", "hint", "argument", "exit_code"]
    kind, message, hint, argument = expected
    assert (data["error"]["type"], data["error"]["argument"], data["error"]["exit_code"]) == (kind, argument, 2)
    assert message in (None, data["error"]["message"])
    assert hint in (None, data["error"]["hint"])
    assert "Error: " in result.stderr  # for people, as always
    assert run(*[x for x in args if "json" not in x.lower()], code=2).stdout == ""


def test_the_docs_show_an_error_as_json():
    said = run("score", "parcel.csv", *COLUMNS, "--format", "json", code=2).stdout
    assert said in (DOCS / "howto" / "command-line.md").read_text()


def test_a_bug_is_json_too(monkeypatch):
    def fails(*args, **options):
        raise RuntimeError("the moon is full")

    monkeypatch.setattr("wmcc.cli.request.tabulate", fails)
    error = json.loads(run("score", *DATA, "-f", "json", code=1).stdout)["error"]
    assert error["message"] == "RuntimeError: the moon is full"
    assert error["exit_code"] == 1


# ---- text that cannot do harm ---------------------------------------------------------------------------


ESCAPE = "\x1b]0;gone\x07\x9b2J\r"


def test_no_message_moves_the_cursor(folder):
    """Whatever is hostile: fields, labels, names of columns and files, options."""
    (folder / "w.csv").write_text(f"label,pred,w\na,b,{ESCAPE}\nb,b,1\n", newline="")
    (folder / "l.csv").write_text(f'label,pred\n"{ESCAPE}",b\nb,b\n', newline="")
    (folder / "c.csv").write_text(f'"{ESCAPE}",pred\na,b\nb,b\n', newline="")
    (folder / f"{ESCAPE}.csv").write_text("")
    (folder / f"{ESCAPE}.json").write_text("{")
    table = wmcc.Table.from_counts([[1, 0], [0, 1]], [ESCAPE, "b"])
    (folder / "g.json").write_text(wmcc.Tables.of({"x": table}, ESCAPE).to_json())
    (folder / "t.json").write_text(table.to_json())
    for args in (
        ["score", "w.csv", *COLUMNS, "--weight", "w"],
        ["score", "w.csv", *COLUMNS, "--weight", "w", "--engine", "polars"],
        ["score", "w.csv", *COLUMNS, "--weight", "w", "--engine", "duckdb"],
        ["score", "l.csv", *COLUMNS, "--labels", "a,b"],
        ["score", "c.csv", *COLUMNS],
        ["score", f"{ESCAPE}.csv", *COLUMNS],
        ["show", f"{ESCAPE}.json"],
        ["merge", "g.json", "t.json"],
        ["score", *DATA, "--engine", ESCAPE],
        ["score", *DATA, "--format", ESCAPE],
        ["score", *DATA, f"--{ESCAPE}"],
        ["score", *DATA, "-o", f"nowhere/{ESCAPE}"],
        [ESCAPE],
    ):
        said = run(*args, code=2).stderr
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", said), (args, said)
        assert "\\x1b]0;gone\\x07" in said or "--labels" in args or "w" in args


def test_a_warning_of_python_cannot_move_the_cursor():
    code = "import warnings; from wmcc.cli import startup; startup.own_process(); warnings.warn('\\x1b[2J')"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr
    assert "\\x1b[2J" in said
    assert "\x1b" not in said


texts = st.text(st.sampled_from("=+-@'\t\r\n 1.e5aé\"") | st.characters(blacklist_categories=("Cs",)), max_size=6)


@given(st.lists(texts | st.floats() | st.integers() | st.none() | st.booleans(), min_size=1))
def test_safe_csv_has_no_formulas(values):
    """And differs from other CSV by an apostrophe before text that would be one, and nothing else."""
    values = [*values, "end"]
    (plain,), (safe,) = (list(csv.reader(io.StringIO(as_csv([values], x), newline=""))) for x in (False, True))
    for value, a, b in zip(values, plain, safe, strict=True):
        if isinstance(value, str):
            assert a == value
            assert b in (value, f"'{value}")
            assert not re.match(r"[=+\-@\t\r\n]", b) or float(b) == float(value)
        else:
            assert a == b


def test_csv_for_spreadsheets_is_asked_for(folder):
    table = wmcc.Table.from_counts([[3, 1], [0, 2]], ["=1+1", "b"])
    assert "\n=1+1,b," in as_records_csv(table.records())
    (folder / "t.json").write_text(table.to_json())
    for command in ("show", "score"):
        assert "=1+1" in run(command, "t.json", "-f", "csv").stdout
        assert "'=1+1" not in run(command, "t.json", "-f", "csv").stdout
        assert "'=1+1" in run(command, "t.json", "-f", "csv-safe").stdout
    for args in (["certify"], ["radius", "--change", "0.1"]):
        kept = (args[0], "t.json", *args[1:], "-f")
        assert run(*kept, "csv-safe").stdout == run(*kept, "csv").stdout
    (folder / "d.csv").write_text("label,=a,=b\nx,x,y\ny,y,y\nx,x,x\n")
    for command in ("compare", "rank"):
        said = run(command, "d.csv", "--true", "label", "--pred", "=a", "--pred", "=b", "-f", "csv-safe").stdout
        assert "\n'=a,'=b," in said


# ---- Ctrl-C -------------------------------------------------------------------------------------------


CTRL_C = """
import os, signal, sys
at, seen = int(sys.argv.pop(1)), 0
def look(event, args):
    global seen
    if event == "import" and args[0] not in ("wmcc", "wmcc.cli"):
        seen += 1
        if seen == at:
            os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(look)
try:
    from wmcc.cli import main
    main()
finally:
    if not at:
        print(seen, file=sys.stderr)
"""


@pytest.mark.parametrize("args", [["--help"], ["score", *DATA]], ids=["help", "score"])
def test_ctrl_c_while_modules_are_imported_is_silent(args):
    """At any of them, from the first on: that is where a process that has just been started spends its time.

    Before these there is Python itself, and the two modules that ask for Ctrl-C, which import nothing.
    """

    def interrupted(at):
        command = [sys.executable, "-c", CTRL_C, str(at), *args]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    total = int(interrupted(0).stderr)
    assert total > 100
    for at in [1, 2, 3, *range(10, total, total // 12)]:
        done = interrupted(at)
        assert (done.returncode, done.stderr) == (130, ""), at


def test_a_gate_that_cannot_be_is_refused():
    said = run("score", *DATA, "--fail-under", "recall/wood=0.9", code=2).stderr
    assert "--fail-under names the class 'wood'; the classes are 'field', 'forest', 'water'." in said
    said = run("score", *DATA, "--fail-under", "ecc=0.9", "--on", "high", code=2).stderr
    assert "--on is 'high'; beside --fail-under expected value or low." in said


@pytest.mark.parametrize("command", ["score", "compare"])
def test_several_stored_tables_are_sent_to_the_commands_that_take_them(command):
    run("tabulate", *DATA, "-o", "t.json")
    said = run(command, "t.json", "t.json", code=2).stderr
    assert "got 2 stored tables.\nHint: `wmcc merge` adds up tables; `wmcc drift` compares two" in said
