"""Results to standard output or to a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..errors import InputError
from ..present import blocks
from ..present import files as whole
from ..present.blocks import Block
from ..present.result import ENDINGS, Result, check_digits, ending, written
from ..present.text import visible_lines, with_digits
from . import startup
from .options import FORMATS


class Output(NamedTuple):
    """Where a result goes, and how it is written: as a file with this ending."""

    out: str | None
    form: str
    safe: bool = False
    digits: int | None = None

    @classmethod
    def of(
        cls, form: str | None, out: str | None, formats: Mapping[str, str] = FORMATS, known: Sequence[str] = ENDINGS
    ) -> Output:
        """Read the options: the end of the file's name says how it is written, and a format must not say otherwise.

        The first of the ``formats`` is the default; ``known`` are the ends of names that say something.
        """
        asked, safe = None if form is None else formats[form], form == "csv-safe"
        if not out or (os.path.exists(out) and not os.path.isfile(out)):  # a device is none of these
            return cls(out, asked or next(iter(formats.values())), safe)
        named = os.path.splitext(out)[1].lower()
        if named not in known:
            return cls(out, asked or ending(out, known), safe)
        if asked not in (None, named):
            said = f"--format is {form}, but the name of the output {out!r} stands for another format."
            raise InputError(said, f"leave --format out, or call the file {os.path.splitext(out)[0]}{asked}.", "format")
        return cls(out, named, safe)

    def check(self, inputs: Iterable[str] = ()) -> None:
        """Refuse a place that cannot be written to, before hours are spent on what is to be written there."""
        whole.check(self.out, inputs)
        check_digits(self.digits, self.form)

    def write(self, result: Result) -> None:
        """Write a result: drawn on a terminal, and as it is anywhere else."""
        startup.check_interrupted()
        if self.form == ".txt" and self.out is None:
            with with_digits(self.digits):
                show_blocks(result.blocks())
        else:
            self.emit(written(result, self.form, self.safe, self.digits))

    def emit(self, content: str | bytes) -> None:
        """Write a text, which ends with a line break, or bytes of a file."""
        if self.out is not None:
            whole.write(self.out, content)
        else:
            show(str(content))


def show_blocks(made: Sequence[Block]) -> None:
    """Write blocks to standard output: drawn on a terminal, aligned text anywhere else."""
    if sys.stdout.isatty():
        from ..present import terminal

        terminal.show(made)
    else:
        show(blocks.text(made))


def show(text: str) -> None:
    """Write text to standard output."""
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
