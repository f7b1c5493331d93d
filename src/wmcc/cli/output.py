"""Results to standard output or to a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from ..present import files as whole
from ..present.text import visible_lines
from . import startup


def check(out: str | None, inputs: Iterable[str] = ()) -> None:
    """Refuse a place that cannot be written to, before hours are spent on what is to be written there."""
    if out is None and isinstance(sys.stdout, startup.ClosedOutput):
        sys.stdout.write("")
    whole.check(out, inputs)


def emit(text: str, out: str | None) -> None:
    """Write text, which ends with a line break, to a file or to standard output."""
    if out is not None:
        whole.write(out, text)
        return
    if sys.stdout.isatty():  # a label in it could move the cursor
        text = visible_lines(text)
    if startup.owned and os.name == "posix" and hasattr(sys.stdout, "fileno"):
        # Not through sys.stdout: unbuffered (PYTHONUNBUFFERED=1) it takes a part for the whole where a disk is full or
        # a pipe is closed, and buffered it tries once more at exit what failed here.
        sys.stdout.flush()
        whole.write_all(sys.stdout.fileno(), text.encode(sys.stdout.encoding, sys.stdout.errors or "strict"))
    else:
        sys.stdout.write(text)
        sys.stdout.flush()
