"""A progress bar, when a person is watching."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Progress:
    """A bar on standard error; or none."""

    def __init__(self, rich_bar: Any = None, what: str = "reading", total: int | None = None) -> None:
        self._bar = rich_bar
        self._task = None if rich_bar is None else rich_bar.add_task(what, total=total)

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
def bar(progress: bool | None, what: str, total: int | None = None) -> Iterator[Progress]:
    """Show a bar if the caller wants one; by default on a terminal."""
    if not (sys.stderr.isatty() if progress is None else progress):
        yield Progress()
        return
    try:
        from rich import progress as rich
        from rich.console import Console
    except ImportError:  # a bar is a courtesy
        yield Progress()
        return
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TimeElapsedColumn(),
    )
    console = Console(stderr=True, force_terminal=True if progress else None)
    with rich.Progress(*columns, console=console, transient=True) as shown:
        yield Progress(shown, what, total)
