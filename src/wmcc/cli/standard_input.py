"""Data and stored tables from standard input (``-``) and from pipes: copied to a file, since they are read repeatedly.

The copy is in a folder of its own, which is there as long as the command runs.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import stat
import sys
import tempfile
from typing import Any

from ..errors import InputError
from ..present.files import sigterm_raises

NAME = "-"
"""What stands for standard input on the command line."""

BLOCK = 1 << 20
LOOKED_AT = 1 << 16
"""Bytes of the beginning that tell the format."""

_copies: dict[str, str] = {}
_held = contextlib.ExitStack()


def check_once(names: list[str]) -> None:
    """Refuse files among which standard input is named twice."""
    if names.count(NAME) > 1:
        raise InputError("- is named more than once, but standard input can be read only once.")


def is_stream(name: str) -> bool:
    """Whether a name stands for data that can be read only once: standard input, or a pipe such as ``<(…)``."""
    try:
        return name == NAME or stat.S_ISFIFO(os.stat(name).st_mode)
    except (OSError, ValueError):
        return False


def said(name: str) -> str:
    """What to call a file in a sentence."""
    return "standard input" if name == NAME else name


def named(sentence: str) -> str:
    """A sentence that speaks of the copy, with what it is a copy of."""
    for name, path in _copies.items():
        sentence = sentence.replace(path, said(name))
    return sentence


def data(name: str, form: str | None) -> str:
    """Return the path of a copy of data, which ends as its format asks for; without ``form`` its beginning tells."""
    path = table(name)
    if os.path.basename(path) == "input":
        path += _ending(name, path, form)
        os.rename(_copies[name], path)
        _copies[name] = path
    return path


def table(name: str) -> str:
    """Return the path of a copy of a stored table, or of what it may be."""
    if name not in _copies:
        _held.enter_context(sigterm_raises())
        place = os.path.realpath(tempfile.gettempdir())
        folder = tempfile.TemporaryDirectory(prefix="wmcc-", dir=place, ignore_cleanup_errors=True)
        path = os.path.join(_held.enter_context(folder), "input")
        with open(path, "wb") as file, _opened(name) as source:
            _copy(name, source, file)
        _copies[name] = path
    return _copies[name]


def _opened(name: str) -> Any:
    if name != NAME:
        return open(name, "rb")
    if sys.stdin is None:
        raise InputError(
            "standard input is closed, so nothing can be read from it.", "name a file, or use `wmcc … - <FILE`."
        )
    return contextlib.nullcontext(sys.stdin.buffer)


def _copy(name: str, source: Any, file: Any) -> None:
    while True:
        try:
            block = source.read(BLOCK)
        except OSError as problem:
            raise InputError(f"{said(name)} cannot be read: {problem.strerror}.") from None
        if not block:
            return
        try:
            file.write(block)
            file.flush()
        except OSError as problem:
            text = f"{said(name)} cannot be copied to {tempfile.gettempdir()}: {problem.strerror}"
            raise OSError(f"{text}; the variable TMPDIR chooses another folder") from None


def remove() -> None:
    """Remove what was copied."""
    _copies.clear()
    _held.close()


def _ending(name: str, path: str, form: str | None) -> str:
    """The end that a file of this format has."""
    with open(path, "rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    opened: Any = gzip.open if zipped else open
    start = b""
    with opened(path, "rb") as file, contextlib.suppress(EOFError, OSError):
        start = file.read(LOOKED_AT)
    ending = f".{form or _guess(name, start)}"
    return f"{ending}.gz" if zipped and ending in (".csv", ".tsv", ".jsonl") else ending


def _guess(name: str, start: bytes) -> str:
    """The format of data, by its beginning: text is CSV, unless it is JSON or its first line has tabs and no comma."""
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"ARROW1"):
        return "arrow"
    hint = "--input-format says what it is, if it is one of these."
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"\xff\xff\xff\xff"):
        what, hint = "an Arrow stream; expected an Arrow file", "write it with pyarrow.ipc.new_file."
    elif b"\0" in start:
        what = f"neither text nor Parquet nor an Arrow file; it begins with {start[:8]!r}"
    elif re.match(rb"\[\s*\{", text):
        what, hint = "a JSON array; expected JSON lines, one object on each line", "`jq -c '.[]'` makes them."
    elif text.startswith(b"{"):
        return "jsonl"
    else:
        first = text.partition(b"\n")[0]
        return "tsv" if b"\t" in first and b"," not in first else "csv"
    raise InputError(f"{said(name)} is {what}.", hint)
