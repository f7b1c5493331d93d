"""What the tests of the command line share."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from paths import SAMPLE

from wmcc.cli.commands import wmcc
from wmcc.present.blocks import GAP, fitted
from wmcc.present.text import width

COLUMNS = ("--true", "label", "--pred", "pred")
WEIGHTED = (*COLUMNS, "--weight", "area")
COMMANDS = [
    "score", "compare", "threshold", "images", "drift", "certify", "radius", "rank", "map", "plan", "draw", "report",
    "tabulate", "merge", "show", "demo", "example", "reproduce",
]  # fmt: skip


def run(*args: Any, code: int = 0, text: str | bytes | None = None) -> Any:
    """Run a command in this process; what it wrote is in ``stdout`` and ``stderr``."""
    result = CliRunner().invoke(wmcc, [str(x) for x in args], prog_name="wmcc", input=text)
    assert result.exit_code == code, (args, result.output, result.exception)
    return result


def shell(line: str) -> str:
    """Run a line of an example, ``$ wmcc … | wmcc … - …`` or ``$ wmcc … - <FILE``, and return what it prints.

    ``$ printf '…' >FILE`` makes a small file.
    """
    text = None
    for part in line.removeprefix("$ ").split(" | "):
        words = shlex.split(part)
        if words[0] == "printf":
            _, content, out = words
            Path(out.removeprefix(">")).write_text(content.replace("\\n", "\n"))
            return ""
        assert words[0] == "wmcc", line
        if words[-1].startswith("<"):
            text = Path(words.pop()[1:]).read_bytes()
        text = run(*words[1:], text=text).stdout
    assert text is not None
    return text


def process(*args: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "wmcc", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def put_sample(folder: Path) -> Path:
    return Path(shutil.copy(SAMPLE, folder / "parcels.csv"))


def examples(text: str) -> list[str]:
    """Lines of a text that are commands to type."""
    return [line.strip() for line in re.findall(r"^\s*\$ wmcc.*$", text, re.MULTILINE)]


def leftovers(folder: Path) -> list[str]:
    """Temporary files that writing left behind."""
    return [name for name in os.listdir(folder) if name.endswith(".tmp")]


def assert_fits(blocks, rooms, least):
    """Nothing that the command line lays out is wider than the terminal; there are at least so many pieces."""
    pieces = [(room, piece) for block in blocks for room in rooms for piece in fitted(block, room)]
    assert len(pieces) >= least
    for room, piece in pieces:
        widths = [max(map(width, column)) for column in zip(*filter(None, [piece.head, *piece.rows]), strict=True)]
        assert sum(widths) + GAP * (len(widths) - 1) <= room


def assert_refused(args, said):
    """A command that cannot be carried out on the sample says so in a sentence, and nothing else."""
    command, *options = args
    result = run(command, "parcels.csv", *options, code=2)
    assert said in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
