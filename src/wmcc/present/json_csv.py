"""How plain values, JSON and CSV are written."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

Record = dict[str, Any]
"""A row of a tidy frame: values by the names of their columns."""

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


def as_json(data: dict[str, Any]) -> str:
    """A line for each field; a list of plain values, such as a row of a table, is on one."""
    return _written(data, "") + "\n"


def _written(value: Any, indent: str) -> str:
    deeper = indent + "  "
    is_dict = isinstance(value, dict)
    inner = value.values() if is_dict else value if isinstance(value, list) else ()
    if any(isinstance(x, (list, dict)) for x in inner):
        items = [_written(x, deeper) for x in inner]
        if is_dict:
            items = [f"{_encode(name)}: {x}" for name, x in zip(value, items, strict=True)]
        text = f",\n{deeper}".join(items)
    elif is_dict:
        text = _encoder(f",\n{deeper}")(value)[1:-1]
    else:
        return _encode(value)
    first, last = "{}" if is_dict else "[]"
    return f"{first}\n{deeper}{text}\n{indent}{last}"


@cache
def _encoder(separator: str) -> Callable[[Any], str]:
    """As json.dumps, which would make an encoder anew for each of many values."""
    return json.JSONEncoder(allow_nan=False, separators=(separator, ": ")).encode


_encode = _encoder(", ")


def as_csv(lines: Iterable[Sequence[Any]], safe: bool = False) -> str:
    """Lines of fields; the first has their names. With ``safe``, no text is a formula to a spreadsheet."""
    field = (lambda value: _field(no_formula(value))) if safe else _field
    return "".join(",".join(map(field, line)) + "\n" for line in lines)


def no_formula(value: Any) -> Any:
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


def as_records_csv(records: Sequence[Record], names: Sequence[str] = (), safe: bool = False) -> str:
    """Write rows of a tidy frame; a column that a row lacks is empty there. ``names`` stand over no rows."""
    names = columns(records) or names
    return as_csv([names, *([record.get(name) for name in names] for record in records)], safe)


def columns(records: Sequence[Record]) -> list[str]:
    """Names of all columns, in the order in which rows have them."""
    return list(dict.fromkeys(name for record in records for name in record))


def beside(keys: Mapping[str, Any], rows: Sequence[Record], what: str = "by") -> list[Record]:
    """Return rows that begin with the same values; a name that rows have already is put after a word.

    Examples
    --------
    >>> beside({"n": "north"}, [{"n": 5}])
    [{'by n': 'north', 'n': 5}]
    """
    named = dict(zip(apart(list(keys), columns(rows), what), keys.values(), strict=True))
    return [{**named, **row} for row in rows]


def apart(names: Sequence[str], taken: Sequence[str], word: str) -> list[str]:
    """Return names of columns, with a word before those that are taken.

    Examples
    --------
    >>> apart(["n", "old"], ["true", "n"], "pred")
    ['pred n', 'old']
    """
    found = list(taken)
    for name in names:
        while name in found:
            name = f"{word} {name}"
        found.append(name)
    return found[len(taken) :]


def finite(x: float | None) -> float | None:
    """A number that JSON can hold, or None."""
    return x if x is not None and math.isfinite(x) else None


def plain(value: Any) -> Any:
    """Return dicts, lists, texts, numbers and None, as JSON has them: what is undefined or infinite is None.

    Examples
    --------
    >>> plain({"low": float("nan"), "names": ("a", "b")})
    {'low': None, 'names': ['a', 'b']}
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return finite(float(value))  # not NumPy's, which prints otherwise
    if hasattr(value, "fields"):
        return value.fields()
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, Mapping):
        return {str(name): plain(x) for name, x in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return [plain(x) for x in value]
