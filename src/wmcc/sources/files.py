"""Files and folders of files: which there are, what they hold, and whether they stay the same while they are read."""

from __future__ import annotations

import csv
import glob
import gzip
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from ..errors import InputError, missing_column, missing_file

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

INSTEAD = {
    ".gpkg .shp .geojson .geojsonl .fgb .gdb .gml .kml": "read it with geopandas.read_file, and pass the frame; one "
    "file of polygons is read as it is: tabulate('parcels.gpkg', true=…, pred=…, weight='area').",
    ".geoparquet": "read it with geopandas.read_parquet, and pass the frame.",
    ".xlsx .xls .xlsm .ods": "read it with pandas.read_excel, and pass the frame.",
    ".json": "read it with pandas.read_json, and pass the frame; a file of one record per line must end with .jsonl.",
    ".zip .bz2 .xz .zst .tar .7z": "unpack it first.",
    ".tif .tiff .vrt .nc .zarr .img .jp2 .asc": "give rasters as tabulate('truth.tif', 'map.tif'), without `true` and "
    "`pred`.",
    ".png .npy": "give folders of label maps as tabulate('truth/', 'pred/', 'maps/').",
    ".npz": "read it into arrays: tabulate(y_true, y_pred, sample_weight).",
}
"""What to do with files of other formats, by the end of their names."""

IN_SHELL = {
    ".xlsx .xls .xlsm .ods": "save it as CSV in the spreadsheet.",
    ".tif .tiff .vrt .nc .zarr .img .jp2 .asc": "give rasters as truth.tif map.tif, without --true and --pred.",
    ".png .npy": "give folders of label maps as --images truth/ pred/ --weights maps/.",
}
"""The same on the command line, where it differs."""

TEXT = ("csv", "tsv", "jsonl")


class FileSet(NamedTuple):
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
    def is_csv(self) -> bool:
        """Whether all fields are text, and the first line names the columns."""
        return self.format in ("csv", "tsv")

    @property
    def separator(self) -> str:
        """What stands between the fields of a text file."""
        return "\t" if self.format == "tsv" else ","

    @property
    def partitions(self) -> tuple[str, ...]:
        """Columns that are names of folders: ``year`` in ``year=2026``."""
        if self.root is None:
            return ()
        folders = (part for path in self.paths for part in Path(os.path.relpath(path, self.root)).parts[:-1])
        return tuple(dict.fromkeys(part.partition("=")[0] for part in folders if "=" in part))

    def folders(self, path: str) -> dict[str, str | None]:
        """What the names of the folders of a file say: ``year`` is 2026 in ``year=2026``."""
        parts = Path(os.path.relpath(path, self.root)).parts[:-1] if self.partitions else ()
        pairs = (part.partition("=")[::2] for part in parts if "=" in part)
        return {name: None if value == "__HIVE_DEFAULT_PARTITION__" else unquote(value) for name, value in pairs}

    def check_headers(self, columns: Collection[str]) -> None:
        """Refuse CSV files that lack a column, or have it twice; engines would take another one, or the first."""
        if not self.is_csv or is_address(self.paths[0]):
            return
        for path in self.paths:
            header = self.header(path)
            if not header:
                raise InputError(f"{path} is empty: it has no header line with column names.")
            for name in columns:
                if name not in self.partitions:
                    one_column(name, header, path, len(self.paths) > 1)

    def header(self, path: str) -> list[str]:
        """Names of the columns of a CSV file; the list of none if it is empty."""
        return self._beginning(path)[0]

    def _beginning(self, path: str) -> tuple[list[str], bool]:
        """Names of the columns of a CSV file, and whether anything follows them."""
        with _text_of(path) as file:
            return next(csv.reader(file, delimiter=self.separator), []), bool(file.read(1))

    def first_not_a_number(self, columns: Collection[str]) -> tuple[str, int, str] | None:
        """Find the first value of some columns of CSV files that is no number: its column, its line, and itself."""
        if not self.is_csv or is_address(self.paths[0]):
            return None
        for path in self.paths:
            with _text_of(path) as file:
                rows = csv.DictReader(file, delimiter=self.separator)
                for row in rows:
                    for column in columns:
                        try:
                            float(row.get(column) or 0)
                        except ValueError:
                            return column, rows.line_num, row[column]
        return None

    def alike(self, names: Callable[[str], Sequence[str]] | None = None) -> list[tuple[FileSet, list[str] | None]]:
        """Files with the same columns in the same order, together, and the names of these columns.

        ``names`` reads those of a file. They are not known of addresses, and without it only of CSV files.
        """
        names = self.header if self.is_csv else names
        if names is None or is_address(self.paths[0]):
            return [(self, None)]
        groups: dict[tuple[str, ...], list[str]] = {}
        for path in self.paths:
            groups.setdefault(tuple(names(path)), []).append(path)
        return [(self._replace(paths=tuple(paths)), list(known)) for known, paths in groups.items()]

    def with_rows(self) -> FileSet:
        """The files without CSV files that are a header and nothing more, of which Arrow makes an error."""
        if not self.is_csv or is_address(self.paths[0]):
            return self
        return self._replace(paths=tuple(path for path in self.paths if self._beginning(path)[1]))

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


def _text_of(path: str) -> Any:
    """Open a file of text, which may be packed."""
    opened: Any = gzip.open if path.endswith(".gz") else open
    return opened(path, "rt", encoding="utf-8-sig", newline="")


def is_path(data: Any) -> bool:
    """Whether an argument names files."""
    return isinstance(data, (str, os.PathLike)) or (
        isinstance(data, (list, tuple)) and len(data) > 0 and all(isinstance(x, (str, os.PathLike)) for x in data)
    )


def is_address(path: str) -> bool:
    """Whether a path is one of a remote store, which only an engine can look into."""
    return "://" in path or path.startswith("dbfs:/")


def find(data: Any) -> FileSet:
    """Files that a name, a pattern, a folder or a list of these stands for."""
    given = [os.path.expanduser(os.fspath(x)) for x in (data if isinstance(data, (list, tuple)) else [data])]
    found = [_find(x) for x in given]
    paths: dict[str, str] = {}
    for name, files in zip(given, found, strict=True):
        own = {path if is_address(path) else os.path.realpath(path): path for path in files.paths}
        if (twice := next((x for x in own if x in paths), None)) is not None:
            a, b = paths[twice], own[twice]
            raise InputError(
                f"{a!r} is named twice{'' if b == name else f', once by {name!r}'}; its rows would count once."
                if a == b
                else f"{a!r} and {b!r} are the same file; its rows would count once.",
                "name each file once.",
            )
        paths |= own
    formats = {files.format for files in found}
    if len(formats) > 1:
        raise InputError(f"the files are of different formats: {', '.join(sorted(formats))}.", "read one at a time.")
    roots = [files.root for files in found if files.root]
    root = _here(os.path.commonpath(roots)) if roots else None
    return FileSet(tuple(map(_here, paths.values())), formats.pop(), root)


def _here(path: str) -> str:
    """The path of a file, so that no engine takes the beginning of its name for an address or a home folder."""
    if is_address(path) or os.path.isabs(path) or not (":" in path or path.startswith("~")):
        return path
    return os.path.join(os.curdir, path)


def _find(name: str) -> FileSet:
    if is_address(name):
        return FileSet((name,), _format(name) or "parquet")
    if os.path.isdir(name):
        return _in_folder(name, _below(name))
    if not os.path.exists(name) and glob.has_magic(name):
        paths = [Path(path) for path in sorted(glob.glob(name, recursive=True))]
        if not paths:
            raise InputError(f"no file matches {name!r}{holds(os.path.dirname(name))}.")
        inside = [x for path in paths for x in (_below(str(path)) if path.is_dir() else [path])]
        return _in_folder(name, inside)
    if not os.path.exists(name):
        raise missing_file(name)
    kind = _format(name)
    if kind is None:
        raise InputError(
            f"{name!r} has no known format; expected an ending among {', '.join(FORMATS)}, or .gz after one of text.",
            _instead(name, INSTEAD),
            shell=_instead(name, INSTEAD | IN_SHELL),
        )
    return FileSet((name,), kind)


def _instead(name: str, advices: Mapping[str, str]) -> str:
    """What to do with a file that is not read here."""
    end = os.path.splitext(name.lower())[1]
    for ends, advice in advices.items():
        if end in ends.split():
            return advice
    return "if it has one of these formats, rename it with that ending; otherwise read it into a frame first."


def _below(folder: str) -> Iterator[Path]:
    """Files in a folder and in the folders there, links to folders too; not what engines leave beside data."""
    seen = set()
    for here, folders, names in os.walk(folder, followlinks=True):
        seen.add(os.path.realpath(here))
        folders[:] = [x for x in folders if not _hidden(x) and os.path.realpath(os.path.join(here, x)) not in seen]
        yield from (Path(here, name) for name in names)


def _hidden(name: str) -> bool:
    """Whether a name is one of those that engines give to what is no data: _SUCCESS, _delta_log, .crc."""
    return name.startswith((".", "_")) and "=" not in name


def _in_folder(name: str, paths: Iterable[Path]) -> FileSet:
    """The data files among some."""
    parts = [path for path in sorted(paths) if not path.is_dir() and not _hidden(path.name)]
    for path in parts:
        if _format(path.name) and not path.exists():  # a link that leads nowhere: rows that would be missed
            raise missing_file(str(path))
    kinds = {str(path): kind for path in parts if (kind := _format(path.name))}
    if not kinds:
        raise InputError(
            f"no data files in {name!r}{holds(name)}.", f"the names of data files end with {', '.join(FORMATS)}."
        )
    if len(set(kinds.values())) > 1:
        formats = ", ".join(sorted(set(kinds.values())))
        raise InputError(
            f"{name!r} holds files of different formats: {formats}.", "choose one format with a pattern such as *.csv."
        )
    root = name if os.path.isdir(name) else os.path.dirname(name.partition("*")[0])
    below = (os.path.relpath(path, root or ".") for path in kinds)
    partitioned = any("=" in os.path.dirname(path) for path in below)
    return FileSet(tuple(kinds), next(iter(kinds.values())), (root or ".") if partitioned else None)


def holds(folder: str, called: str = "the folder") -> str:
    """What a folder holds, as the rest of a sentence."""
    if not os.path.isdir(folder or "."):
        return f": there is no folder {folder!r}"
    names = sorted(x for x in os.listdir(folder or ".") if not x.startswith("."))
    shown = ", ".join(names[:5]) + (f", … ({len(names)} in all)" if len(names) > 5 else "")
    return f"; {called} holds {shown or 'nothing'}"


def _format(name: str) -> str | None:
    stem, end = os.path.splitext(name.rstrip("/").lower())
    if end == ".gz":
        kind = FORMATS.get(os.path.splitext(stem)[1])
        return kind if kind in TEXT else None
    return FORMATS.get(end)


SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars", ",": "commas"}
"""What stands between fields of text, by its mark."""


RENAMED = {"\t": "give it a name that ends with .tsv.", ",": "give it a name that ends with .csv."}
IN_TABS = (
    "`tr 'MARK' '\\t' <FILE >NEW.tsv` writes it with tabs, which is read; if its numbers have commas, "
    "`tr 'MARK,' '\\t.' <FILE >NEW.tsv`."
)
"""What a shell does with such files."""


def no_column(name: Any, names: Sequence[Any], where: str | None = None) -> InputError:
    """Say that a column is not there, and which may be meant; or that a file was given in its place.

    If the name is a part of another, or the only one has several parts, fields are separated by another mark.
    """
    hint, shell = read_first(name) if ends_like_file(name) else None, None
    for mark, word in SEPARATORS.items():
        several = [[part.strip(" \"'") for part in str(x).split(mark)] for x in names if mark in str(x)]
        if any(len(names) == 1 or str(name) in parts for parts in several):
            seems = f"fields seem to be separated by {word}"
            hint = (
                f"{seems}: read it with pandas.read_csv(…, sep={mark!r}), with decimal=',' if its numbers have commas, "
                "and pass the frame."
            )
            shell = f"{seems}: {RENAMED[mark] if mark in RENAMED else IN_TABS.replace('MARK', mark)}"
    return missing_column(name, names, where, hint, shell=shell)


def ends_like_file(name: Any) -> bool:
    """Whether a text ends as names of files of data do."""
    ending = os.path.splitext(str(name).lower().removesuffix(".gz"))[1]
    return ending in FORMATS or any(ending in several.split() for several in INSTEAD)


def read_first(name: str) -> str:
    """Say what to do with a file that was given where its content was expected."""
    return f"if {name!r} is a file, read it first, for instance with polars.read_csv, and give the frame."


def one_column(name: Any, names: Sequence[Any], where: str = "the frame", several: bool = False) -> int:
    """Return the place of the column of a name, or say that there is none, or more than one.

    ``where`` they are is said, if there is not only one; ``several`` if it is one file of several.
    """
    if name not in names:
        raise no_column(name, names, where if several else None)
    if names.count(name) > 1:
        raise InputError(f"{where} has {names.count(name)} columns {name!r}; expected one.", "rename them.")
    return names.index(name)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None
