"""Results to standard output or to a file."""

from __future__ import annotations

import os
import sys

from ..whole import check as check
from ..whole import write as write
from ..whole import write_all
from . import startup


def emit(text: str, out: str | None) -> None:
    """Write text, which ends with a line break, to a file or to standard output."""
    if out is not None:
        write(out, text)
    elif startup.owned and os.name == "posix":
        # Not through sys.stdout: unbuffered (PYTHONUNBUFFERED=1) it takes a part for the whole where a disk is full or
        # a pipe is closed, and buffered it tries once more at exit what failed here.
        sys.stdout.flush()
        write_all(sys.stdout.fileno(), text.encode(sys.stdout.encoding, sys.stdout.errors or "strict"))
    else:
        sys.stdout.write(text)
        sys.stdout.flush()
