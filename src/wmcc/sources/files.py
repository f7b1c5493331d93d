"""Files and folders of files: which there are, what they hold, and whether they stay the same while they are read."""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}
"""What a file holds, by the end of its name; ``.gz`` may follow that of text."""

TEXT = ("csv", "tsv", "jsonl")


class Files(NamedTuple):
    """Files of one format.

    Parameters
    ----------
    paths
        Names of files, or one address (``s3://…``) that is left to the engine.
    format
        One of the values of `FORMATS`.
    root
        The folder of a partitioned data set (``…/year=2026/part-0.parquet``); None if names hold no columns.
    """

    paths: tuple[str, ...]
    format: str
    root: str | None = None

    @property
    def zipped(self) -> bool:
        """Whether any is compressed as a whole."""
        return any(path.endswith(".gz") for path in self.paths)

    @property
    def name(self) -> str:
        """What to call them in a message."""
        return self.paths[0] if len(self.paths) == 1 else f"{self.paths[0]} and {len(self.paths) - 1} more"

    def stamps(self) -> dict[str, tuple[int, int]]:
        """Size and time of change of each, to notice one that changes while it is read."""
        if is_address(self.paths[0]):
            return {}
        return {path: (status.st_size, status.st_mtime_ns) for path in self.paths if (status := _status(path))}


def is_path(data: Any) -> bool:
    """Whether an argument names files."""
    return isinstance(data, (str, os.PathLike)) or (
        isinstance(data, (list, tuple)) and len(data) > 0 and all(isinstance(x, (str, os.PathLike)) for x in data)
    )


def is_address(path: str) -> bool:
    """Whether a path is one of a remote store, which only an engine can look into."""
    return "://" in path or path.startswith("dbfs:/")


def find(data: Any) -> Files:
    """Files that a name, a pattern, a folder or a list of these stands for."""
    found = [_find(os.path.expanduser(os.fspath(x))) for x in (data if isinstance(data, (list, tuple)) else [data])]
    paths = tuple(dict.fromkeys(path for files in found for path in files.paths))
    formats = {files.format for files in found}
    if len(formats) > 1:
        raise InputError(f"the files are of different formats: {', '.join(sorted(formats))}.", "read one at a time.")
    roots = [files.root for files in found if files.root]
    return Files(paths, formats.pop(), os.path.commonpath(roots) if roots else None)


def _find(name: str) -> Files:
    if is_address(name):
        return Files((name,), _format(name) or "parquet")
    if os.path.isdir(name):
        return _in_folder(name, Path(name).rglob("*"))
    if not os.path.exists(name) and glob.has_magic(name):
        paths = [Path(path) for path in sorted(glob.glob(name, recursive=True))]
        if not paths:
            raise InputError(f"no file matches {name!r}{_holds(os.path.dirname(name))}.")
        inside = [x for path in paths for x in (path.rglob("*") if path.is_dir() else [path])]
        return _in_folder(name, inside)
    if not os.path.exists(name):
        raise no_file(name)
    kind = _format(name)
    if kind is None:
        raise InputError(
            f"{name!r} is of no known format; known are {', '.join(FORMATS)}, and .gz after those of text.",
            "rename it by what it holds.",
        )
    return Files((name,), kind)


def no_file(name: str) -> InputError:
    """Say that a file is not there, and which may be meant."""
    folder, base = os.path.split(name)
    near = difflib.get_close_matches(base, os.listdir(folder or ".") if os.path.isdir(folder or ".") else [], 1)
    return InputError(
        f"there is no file {name!r}.", f"did you mean {os.path.join(folder, near[0])!r}?" if near else None
    )


def _in_folder(name: str, paths: Iterable[Path]) -> Files:
    """The data files among some; hidden ones, and those that engines leave beside data, are none."""
    parts = [path for path in sorted(paths) if path.is_file() and not path.name.startswith((".", "_"))]
    kinds = {str(path): kind for path in parts if (kind := _format(path.name))}
    if not kinds:
        raise InputError(
            f"no data files in {name!r}{_holds(name)}.", f"the names of data files end with {', '.join(FORMATS)}."
        )
    if len(set(kinds.values())) > 1:
        formats = ", ".join(sorted(set(kinds.values())))
        raise InputError(f"{name!r} holds files of different formats: {formats}.", "name some with a pattern: *.csv.")
    root = name if os.path.isdir(name) else os.path.dirname(name.partition("*")[0])
    below = (os.path.relpath(path, root or ".") for path in kinds)
    partitioned = any("=" in os.path.dirname(path) for path in below)
    return Files(tuple(kinds), next(iter(kinds.values())), (root or ".") if partitioned else None)


def _holds(folder: str) -> str:
    """What a folder holds, as the rest of a sentence."""
    if not os.path.isdir(folder or "."):
        return f": there is no folder {folder!r}"
    names = sorted(os.listdir(folder or "."))
    shown = ", ".join(names[:5]) + (f", … ({len(names)} in all)" if len(names) > 5 else "")
    return f"; the folder holds {shown or 'nothing'}"


def _format(name: str) -> str | None:
    stem, end = os.path.splitext(name.rstrip("/").lower())
    if end == ".gz":
        kind = FORMATS.get(os.path.splitext(stem)[1])
        return kind if kind in TEXT else None
    return FORMATS.get(end)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None
