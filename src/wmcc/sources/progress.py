"""A look at files before they are read, and after, while a progress bar is shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import InputError
from ..present.progress import Progress, bar
from .files import FileSet


@contextmanager
def reading(files: list[FileSet], progress: bool | None) -> Iterator[Progress]:
    """Show progress while files are read, and refuse what came of files that changed meanwhile."""
    before = [x.stamps() for x in files]
    with bar(progress, "reading") as shown:
        yield shown
    for stamps, x in zip(before, files, strict=True):
        now = x.stamps()
        for path, stamp in stamps.items():
            if now.get(path) != stamp:
                raise InputError(
                    f"{path} changed while it was being read.", "read it again when no program is writing to it."
                )
