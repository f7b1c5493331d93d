"""A progress bar while files are read, when a person is watching, and a look at the files before and after."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import InputError
from .files import Files


class Progress:
    """A bar on standard error; or none."""

    def __init__(self, bar: Any = None) -> None:
        self._bar = bar
        self._task = None if bar is None else bar.add_task("reading", total=None)

    @property
    def shown(self) -> bool:
        """Whether anybody sees it."""
        return self._bar is not None

    def total(self, rows: int) -> None:
        """Tell how many rows there are."""
        if self._bar is not None:
            self._bar.update(self._task, total=rows)

    def advance(self, rows: int) -> None:
        """Tell how many more were read."""
        if self._bar is not None:
            self._bar.update(self._task, advance=rows)


@contextmanager
def reading(files: list[Files], progress: bool | None) -> Iterator[Progress]:
    """Show progress while files are read, and refuse what came of files that changed meanwhile."""
    before = [x.stamps() for x in files]
    with _bar(progress) as bar:
        yield Progress(bar)
    for stamps, x in zip(before, files, strict=True):
        now = x.stamps()
        for path, stamp in stamps.items():
            if now.get(path) != stamp:
                raise InputError(f"{path} changed while it was being read.", "read it again when nothing writes to it.")


@contextmanager
def _bar(progress: bool | None) -> Iterator[Any]:
    if not (sys.stderr.isatty() if progress is None else progress):
        yield None
        return
    try:
        from rich import progress as rich
        from rich.console import Console
    except ImportError:  # a bar is a courtesy
        yield None
        return
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TimeElapsedColumn(),
    )
    console = Console(stderr=True, force_terminal=True if progress else None)
    with rich.Progress(*columns, console=console, transient=True) as bar:
        yield bar
