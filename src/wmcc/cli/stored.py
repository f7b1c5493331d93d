"""Tables in files: reading, writing, merging. Here a table alone is the one of the empty key."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from ..core import storage
from ..core.table import Table
from ..core.tables import Tables
from ..errors import InputError, SchemaError, WmccError
from ..sources.files import no_file
from . import standard_input

Key = tuple[Any, ...]


def alone(table: Table) -> Tables[Table]:
    """Return a table as tables of one group, which has no key."""
    return Tables.of({(): table}, ())


def with_tuples(tables: Tables[Table]) -> Tables[Table]:
    """Return tables whose keys are tuples, also of a single column."""
    if isinstance(tables.by, tuple):
        return tables
    return replace(tables, by=(tables.by,), groups=tuple((key,) for key in tables.groups))


def to_json(tables: Tables[Table]) -> str:
    """What is stored."""
    return (tables if tables.by else tables[()]).to_json() + "\n"


def read(name: str) -> Tables[Table]:
    """Tables of a file that was stored; ``-`` is standard input."""
    text = _bytes(standard_input.table(name) if standard_input.is_stream(name) else name)
    try:
        data = storage.parse(text)
        if isinstance(data, dict) and str(data.get("kind")).startswith("joint"):
            reader = "Tables" if storage.is_grouped(data) else "JointTable"
            raise SchemaError(
                "this is a joint table of two predictions; expected a table of one.",
                f"in Python, wmcc.{reader}.from_json reads it; .first and .second of a joint table are such tables.",
            )
        return with_tuples(Tables.from_dict(data)) if storage.is_grouped(data) else alone(Table.from_dict(data))
    except WmccError as problem:
        raise SchemaError(
            f"{standard_input.said(name)}: {problem.message}",
            problem.hint or "expected a table that `wmcc tabulate -o` wrote; data need --true and --pred.",
        ) from None


def _bytes(name: str) -> bytes:
    try:
        with open(os.path.expanduser(name), "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise no_file(name) from None
    except OSError as problem:
        raise InputError(f"{name!r} cannot be read: {problem.strerror}.") from None


def merge(names: list[str]) -> Tables[Table]:
    """Add up what is stored in files, group by group. The sums are exact: the order does not matter."""
    standard_input.check_once(names)
    first, *others = names
    total = read(first)
    for before, name in enumerate(others, 1):
        more = read(name)
        try:
            total = total + more
        except WmccError as problem:
            which = f"{first} and {name}" if before == 1 else f"the {before} files before {name} and {name}"
            raise type(problem)(f"{which}: {problem.message}", problem.hint) from None
    return total
