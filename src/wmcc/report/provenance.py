"""How a report was made: what somebody needs to make it again, and to see that it is of the same data."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import NamedTuple

from ..core.kernel import kernel
from ..core.table import Table
from ..present.text import number
from ..sources.files import find, is_address

LISTED = 20
"""Files that are named; of more there is one hash of all."""


class Input(NamedTuple):
    """A file of data; its hash is None if it is not here to be read."""

    name: str
    size: int | None
    sha256: str | None


class Provenance(NamedTuple):
    """The command, the versions, the input and the time."""

    command: str
    versions: dict[str, str]
    inputs: list[Input]
    tables: dict[str, str]
    time: str

    @property
    def items(self) -> list[tuple[str, str]]:
        """What to show, each with a term."""
        files = [(f"Input {x.name}", _said(x)) for x in self.inputs]
        tables = [(f"Table of {name}", f"SHA-256 {digest}") for name, digest in self.tables.items()]
        versions = ", ".join(f"{name} {x}" for name, x in self.versions.items())
        return [("Command", self.command), *files, *tables, ("Versions", versions), ("Made", self.time)]


def _said(x: Input) -> str:
    size = "" if x.size is None else f"{number(x.size)} bytes, "
    return f"{size}SHA-256 {x.sha256}" if x.sha256 else "not hashed: it is not a file of this machine"


def provenance(command: str | None, files: Mapping[str, str], tables: dict[str, Table]) -> Provenance:
    """Describe how a report is made of files, if the data are in some, and of tables."""
    versions = {"wmcc": version("wmcc"), "Python": platform.python_version()}
    versions |= {name: version(name.lower()) for name in ("NumPy", "SciPy")}
    versions["kernel"] = kernel()
    digests = {name: hashlib.sha256(table.to_json().encode()).hexdigest() for name, table in tables.items()}
    return Provenance(command or "wmcc.write_report, in Python", versions, inputs(files), digests, _now())


def inputs(files: Mapping[str, str]) -> list[Input]:
    """Describe files that data were read from, by what to call them; a folder or a pattern stands for those in it."""
    paths = [path for name in files for path in ([name] if os.path.isfile(name) else find(name).paths)]
    if len(paths) <= LISTED:
        return [_input(path, files.get(path, path)) for path in paths]
    if any(map(is_address, paths)):
        return [Input(f"{len(paths):,} files", None, None)]
    sizes = sum(os.path.getsize(path) for path in paths)
    return [Input(f"{len(paths):,} files, in the order of their names", sizes, _digest(paths))]


def _input(path: str, name: str) -> Input:
    return Input(name, None, None) if is_address(path) else Input(name, os.path.getsize(path), _digest([path]))


def _digest(paths: Iterable[str]) -> str:
    found = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                found.update(block)
    return found.hexdigest()


def _now() -> str:
    """The time, to the minute; SOURCE_DATE_EPOCH sets it where pages are to be the same each time."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(given), UTC) if given.isdigit() else datetime.now(UTC)
    return f"{now:%Y-%m-%d %H:%M} UTC"
