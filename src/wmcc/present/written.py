"""How JSON and CSV are written."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


def as_json(data: dict[str, Any]) -> str:
    """A line for each field; a list of plain values, such as a row of a table, is on one."""
    return _written(data, "") + "\n"


def _written(value: Any, indent: str) -> str:
    deeper = indent + "  "
    if isinstance(value, dict):
        items = [f"{json.dumps(name)}: {_written(x, deeper)}" for name, x in value.items()]
    elif isinstance(value, list) and any(isinstance(x, (list, dict)) for x in value):
        items = [_written(x, deeper) for x in value]
    else:
        return json.dumps(value, allow_nan=False)
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}\n{deeper}" + f",\n{deeper}".join(items) + f"\n{indent}{last}"


def as_csv(lines: Iterable[Sequence[Any]], safe: bool = False) -> str:
    """Lines of fields; the first has their names. With ``safe``, no text is a formula to a spreadsheet."""
    field = (lambda value: _field(_no_formula(value))) if safe else _field
    return "".join(",".join(map(field, line)) + "\n" for line in lines)


def _no_formula(value: Any) -> Any:
    """A value, with an apostrophe before text that a spreadsheet would compute; text that is a number is no danger."""
    if (
        not isinstance(value, str)
        or not value.lstrip(" ").startswith(tuple("=+-@\t\r\n＝＋－＠"))
        or _NUMBER.fullmatch(value)
    ):
        return value
    return f"'{value}"


def _field(value: Any) -> str:
    """One field; None is an empty one, the empty text is in quotes. A lone carriage return needs them too."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    if value and value == value.strip() and not any(x in value for x in '",\n\r'):
        return value
    return '"' + value.replace('"', '""') + '"'


def finite(x: float | None) -> float | None:
    """A number that JSON can hold, or None."""
    return x if x is not None and math.isfinite(x) else None
