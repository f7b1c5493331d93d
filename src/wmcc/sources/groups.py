"""Tables of groups: the keys they have, and their order."""

from __future__ import annotations

from typing import Any

import numpy as np

Key = tuple[Any, ...]
Tables = dict[Key, Any]
"""One table per group, a `Table` or a `JointTable`; without groups, the one of the empty tuple."""


def plain_key(value: Any) -> Any:
    """A value that rows were grouped by, as Python's own; None where it is missing."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if type(value).__name__ in ("NAType", "NaTType") or value != value else value


def in_order(tables: Tables) -> Tables:
    """Sort by key, what is missing last."""

    def place(key: Key) -> list[tuple[bool, Any]]:
        return [(x is None, 0 if x is None else x) for x in key]

    try:
        return {key: tables[key] for key in sorted(tables, key=place)}
    except TypeError:  # keys of different types have no order of their own
        return {key: tables[key] for key in sorted(tables, key=repr)}


def add(tables: Tables, key: Key, table: Any) -> None:
    """Add a table to that of its group."""
    tables[key] = tables[key] + table if key in tables else table
