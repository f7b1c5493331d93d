"""The command line as a process: exit codes, terminals, pipes, signals, full disks, what it imports."""

import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from cli_helpers import COLUMNS, SAMPLE, WEIGHTED, leftovers, process, put_sample

import wmcc

pytestmark = pytest.mark.slow

SCORE = [sys.executable, "-m", "wmcc", "score", str(SAMPLE), *COLUMNS]
TABULATE = [sys.executable, "-m", "wmcc", "tabulate", str(SAMPLE), *WEIGHTED]

SLOW_DISK = """
import os, time
def fsync(handle):
    print("syncing", flush=True)
    time.sleep(60)
os.fsync = fsync
from wmcc.cli import main
main()
"""


def test_exit_codes(tmp_path):
    done = process("score", SAMPLE, *COLUMNS)
    assert (done.returncode, done.stderr) == (0, "")
    done = process("score", SAMPLE, "--true", "lable", "--pred", "pred")
    assert done.returncode == 2
    assert done.stderr.startswith("Error: there is no column 'lable'")
    assert done.stderr.endswith("Hint: did you mean 'label'?\n")
    assert process("scroe").returncode == 2
    assert process("score", "--nothing").returncode == 2
    assert process("--help").returncode == 0


def test_the_package_is_a_command_too():
    code = "from wmcc.cli import main; main()"
    args = [sys.executable, "-c", code, "example"]
    assert subprocess.run(args, capture_output=True, text=True, check=True).stdout == SAMPLE.read_text()


@pytest.mark.parametrize("name", ["click", "rich", "click rich"])
def test_the_missing_package_is_named(name):
    code = f"""
import importlib.util
import sys
gone = {name.split()!r}
class Gone:
    def find_spec(self, name, path=None, target=None):
        if name in gone:
            raise ModuleNotFoundError(name)
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in gone else real(name, *rest)
sys.meta_path.insert(0, Gone())
from wmcc.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code, "example"], capture_output=True, text=True)
    assert done.returncode == 2
    which = "click and rich, which are" if " " in name else f"{name}, which is"
    assert done.stderr == f"Error: the command line needs {which} not installed.\nHint: pip install 'wmcc[cli]'\n"


def test_what_is_imported():
    code = """
import sys
sys.argv = ["wmcc", *sys.argv[1:]]
from wmcc.cli import main
try:
    main()
finally:
    print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""

    def loaded(*args):
        done = subprocess.run([sys.executable, "-c", code, *map(str, args)], capture_output=True, text=True, check=True)
        return set(done.stderr.split())

    heavy = {"pandas", "polars", "duckdb", "rich", "dask", "sklearn", "matplotlib"}
    assert not loaded("score", SAMPLE, *COLUMNS) & heavy
    assert not loaded("certify", SAMPLE, *COLUMNS) & heavy
    assert not loaded("example") & {*heavy, "pyarrow", "narwhals"}
    assert not loaded("--help") & {*heavy, "pyarrow", "narwhals"}


# ---- terminals and pipes ---------------------------------------------------------------------------


def on_terminal(command, columns=80, **env):
    """What a command writes to a terminal of so many columns."""
    control, terminal = pty.openpty()
    settings = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color", **env}
    settings.pop("NO_COLOR", None) if "NO_COLOR" not in env else None
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=settings) as running:
        os.close(terminal)
        parts = []
        while True:
            try:
                part = os.read(control, 65536)
            except OSError:
                break
            if not part:
                break
            parts.append(part)
        os.close(control)
    return running.returncode, b"".join(parts).decode().replace("\r\n", "\n")


def uncoloured(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_colours_are_for_terminals():
    code, shown = on_terminal(SCORE)
    assert code == 0
    assert "\x1b[1m" in shown
    assert "─" in shown
    code, shown = on_terminal(SCORE, NO_COLOR="1", TERM="dumb")
    assert "\x1b" not in shown
    assert "\x1b" not in subprocess.run(SCORE, capture_output=True, text=True, check=True).stdout


def many_classes(path):
    rows = [f"class {k:02d},class {(k * k) % 50 if k % 3 else k:02d},{k + 0.5}" for k in range(50)]
    path.write_text("\n".join(["label,pred,area", *rows]) + "\n")
    return str(path)


@pytest.mark.parametrize("columns", [40, 200])
def test_nothing_is_wider_than_the_terminal(columns, tmp_path):
    data = many_classes(tmp_path / "k50.csv")
    for command in ("score", "tabulate"):
        for file in (data, str(SAMPLE)):
            args = [sys.executable, "-m", "wmcc", command, file, *WEIGHTED]
            shown = uncoloured(on_terminal(args, columns)[1])
            assert max(map(len, shown.splitlines())) <= columns
            # Beside an interval, 40 columns have no room for that name as a whole.
            assert "…" not in shown.replace("Effective sample si…", "" if columns == 40 else "…")
    shown = uncoloured(on_terminal([sys.executable, "-m", "wmcc", "score", data, *COLUMNS], columns)[1])
    for k in range(50):
        assert f"class {k:02d} " in shown


def test_a_long_label_is_shortened_on_terminals_only(tmp_path):
    (tmp_path / "d.csv").write_text(f"label,pred\n{'x' * 100},b\nb,b\n")
    args = [sys.executable, "-m", "wmcc", "score", str(tmp_path / "d.csv"), *COLUMNS]
    shown = uncoloured(on_terminal(args, 60)[1])
    assert "xxxxx…" in shown
    assert "x" * 100 in subprocess.run(args, capture_output=True, text=True, check=True).stdout


def test_labels_cannot_move_the_cursor(tmp_path):
    (tmp_path / "d.csv").write_text("label,pred\n\x1b[2Jgone,b\nb,b\n")
    args = [sys.executable, "-m", "wmcc", "score", str(tmp_path / "d.csv"), *COLUMNS, "--format"]
    for form in ("table", "csv", "markdown"):
        shown = on_terminal([*args, form])[1]
        assert "x1b" in shown
        assert "\x1b[2J" not in shown
    # In a file or a pipe nothing is changed that a program may want.
    assert "\x1b[2Jgone" in subprocess.run([*args, "csv"], capture_output=True, text=True, check=True).stdout


buffering = pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
"""Python writes in different ways, and fails in different ways too."""


@buffering
def test_a_closed_pipe_is_silent(unbuffered, tmp_path):
    table = wmcc.Table.from_counts(np.ones((120, 120), dtype=int))  # more than a pipe holds
    (tmp_path / "t.json").write_text(table.to_json())
    args = [sys.executable, "-m", "wmcc", "show", str(tmp_path / "t.json"), "--format", "csv"]
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    running = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    assert running.stdout.read(4) == b"true"
    running.stdout.close()
    assert running.stderr.read() == b""
    running.stderr.close()
    assert running.wait(timeout=60) == 141


@buffering
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_standard_output_is_told(unbuffered):
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:
        done = subprocess.run(SCORE, stdout=full, stderr=subprocess.PIPE, text=True, env=env)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: [Errno 28] No space left on device\n")
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr


@buffering
def test_a_disk_that_gets_full_on_the_way_is_told(unbuffered, tmp_path):
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered, "PYTHONDONTWRITEBYTECODE": "1"}
    with open(tmp_path / "out", "w") as out:
        args = [sys.executable, "-m", "wmcc", "example"]
        done = subprocess.run(args, stdout=out, stderr=subprocess.PIPE, text=True, env=env, preexec_fn=limit)
    assert (tmp_path / "out").stat().st_size == 1000
    assert done.returncode == 1
    assert done.stderr.startswith("Error: [Errno 27] File too large\n")
    assert "ignored" not in done.stderr


def limit():
    """Let files be no longer than 1,000 bytes: a disk that is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


# ---- files that are written --------------------------------------------------------------------------


def test_a_disk_that_is_full_leaves_nothing(tmp_path):
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [*TABULATE, "-o", str(tmp_path / "t.json")], preexec_fn=limit, capture_output=True, text=True, env=env
    )
    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert os.listdir(tmp_path) == []
    (tmp_path / "t.json").write_text("before")
    subprocess.run([*TABULATE, "-o", str(tmp_path / "t.json")], preexec_fn=limit, capture_output=True, env=env)
    assert (tmp_path / "t.json").read_text() == "before"
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_while_writing_leaves_what_was_there(number, tmp_path):
    out = tmp_path / "t.json"
    out.write_text("before")
    args = [sys.executable, "-c", SLOW_DISK, *TABULATE[3:], "-o", str(out)]
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "syncing\n"
        assert len(leftovers(tmp_path)) == 1
        running.send_signal(number)
        _, said = running.communicate(timeout=60)
        code = running.returncode
    assert out.read_text() == "before"
    assert said == ""
    assert code == {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGKILL: -9}[number]
    assert len(leftovers(tmp_path)) == (1 if number == signal.SIGKILL else 0)
    if number == signal.SIGKILL:  # what was left is no hindrance
        subprocess.run([*TABULATE, "-o", str(out)], check=True)
        assert json.loads(out.read_text())["schema"] == 1


def test_signals_while_reading(tmp_path):
    """Both end the run at once; there is no file yet that could be left behind."""
    for number, expected in ((signal.SIGINT, 130), (signal.SIGTERM, -15)):
        code = "import time, wmcc.cli.request as r; r.tabulate = lambda *a, **k: (print('reading', flush=True), "
        code += "time.sleep(60)); from wmcc.cli import main; main()"
        args = [sys.executable, "-c", code, *TABULATE[3:], "-o", str(tmp_path / "t.json")]
        with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            assert running.stdout.readline() == "reading\n"
            running.send_signal(number)
            _, said = running.communicate(timeout=60)
        assert (running.returncode, said) == (expected, "")
        assert leftovers(tmp_path) == []
        assert not (tmp_path / "t.json").exists()


def test_ctrl_c_during_a_query_of_duckdb():
    """DuckDB raises an error of its own, and the library one that blames the data."""
    code = """
import duckdb, wmcc, wmcc.cli.request as request
def tabulate(*args, **options):
    print("reading", flush=True)
    try:
        duckdb.sql("select sum(a.range * b.range) from range(1000000) a, range(300) b").fetchall()
    except Exception as problem:
        raise wmcc.errors.InputError(f"duckdb could not compute the table: {problem}") from problem
request.tabulate = tabulate
from wmcc.cli import main
main()
"""
    args = [sys.executable, "-c", code, *SCORE[3:]]
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "reading\n"
        time.sleep(0.3)  # into the query, at whose end DuckDB looks for signals
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Error" not in said


def test_a_folder_that_is_not_writable(tmp_path):
    """For root only the kernel's own folders are."""
    folder = Path("/proc")
    if os.geteuid():
        folder = tmp_path / "closed"
        folder.mkdir(mode=0o555)
    done = process("example", "-o", folder / "parcels.csv")
    assert done.returncode == 2
    assert done.stderr.startswith(f"Error: the output '{folder}/parcels.csv' cannot be written: ")


def test_modes_links_and_devices(tmp_path):
    put_sample(tmp_path)
    before = os.umask(0o027)
    try:
        process("example", "-o", tmp_path / "new.csv")
    finally:
        os.umask(before)
    assert (tmp_path / "new.csv").stat().st_mode & 0o777 == 0o640
    (tmp_path / "new.csv").chmod(0o600)
    (tmp_path / "link.csv").symlink_to("new.csv")
    process("example", "-o", tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "new.csv").stat().st_mode & 0o777 == 0o600
    assert process("example", "-o", "/dev/stdout").stdout == SAMPLE.read_text()
    assert process("example", "-o", "/dev/null").returncode == 0
    assert not os.path.isfile("/dev/null")


# ---- completion --------------------------------------------------------------------------------------


def complete(line, folder):
    words = line.split(" ")
    env = {**os.environ, "_WMCC_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run([sys.executable, "-m", "wmcc"], capture_output=True, text=True, env=env, cwd=folder)
    return [x.partition(",")[2] for x in done.stdout.splitlines() if x]


def test_commands_options_and_choices_complete(tmp_path):
    assert "score" in complete("wmcc s", tmp_path)
    assert complete("wmcc score parcels.csv --popul", tmp_path) == ["--population"]
    assert complete("wmcc score parcels.csv --engine p", tmp_path) == ["polars"]


def test_completion_can_be_set_up():
    done = process(env={**os.environ, "_WMCC_COMPLETE": "bash_source"})
    assert "_WMCC_COMPLETE=bash_complete" in done.stdout
