"""Keys of groups and clusters: what they may be, whatever engine they came from; their order; their stored form.

A key is an integer, a float, a boolean, a text, or None where it is missing; a tuple of these if rows are grouped by
several columns. Whole floats are integers, as they are among labels, since engines make floats of integers where some
are missing. Dates and times are text in the form of ISO 8601, since files of text hold nothing else.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from ..errors import InputError, InputTypeError
from ..present.text import counted
from .arraytypes import IndexArray

Key = Any
"""One value, or a tuple of one value for each of several columns."""

INFINITE = "float"
"""The name of the field that stands for a number that JSON does not have."""


def plain_key(value: Any) -> Any:
    """Return a value of a column of keys as Python's own; None where it is missing."""
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":
        return plain_key(float(value) if kind is np.longdouble else value.item())
    if kind.__name__ in ("NAType", "NaTType") or value != value:
        return None
    if isinstance(value, (np.datetime64, np.timedelta64)):
        if np.datetime_data(value.dtype)[0] == "ns":  # of which Python has none
            short = value.astype(f"{value.dtype.kind}8[us]")
            value = short if short == value else value
        own = value.item()
        return str(value) if isinstance(own, int) else plain_key(own)
    if isinstance(value, (float, Decimal)):
        return int(value) if math.isfinite(value) and value == int(value) else float(value)
    if isinstance(value, (str, int)):  # of an enumeration, or a class of its own
        return str.__str__(value) if isinstance(value, str) else int(value)
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, timedelta):
        return str(timedelta(value.days, value.seconds, value.microseconds))  # pandas writes its own in another way
    return str(value.isoformat() if hasattr(value, "isoformat") else value)


def sorted_keys(keys: Sequence[Key]) -> IndexArray:
    """Return the order of distinct keys: by value, what is missing last."""
    try:
        if not missing(keys):
            return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
        return np.array(sorted(range(len(keys)), key=lambda k: _place(keys[k])), dtype=np.intp)
    except TypeError:  # keys of different types have no order of their own
        return np.array(sorted(range(len(keys)), key=lambda k: repr(keys[k])), dtype=np.intp)


def _place(key: Key) -> Any:
    if isinstance(key, tuple):
        return tuple(map(_place, key))
    return (key is None, 0 if key is None else key)


def merged_keys(several: Sequence[tuple[Key, ...]]) -> tuple[tuple[Key, ...], list[IndexArray]]:
    """Return the keys of all, sorted, and where each of the keys given is among them; those of each are distinct."""
    if len(several) > 1 and all(keys == several[0] for keys in several[1:]):  # sorted already
        return several[0], [np.arange(len(several[0]), dtype=np.intp)] * len(several)
    distinct = list(dict.fromkeys(key for keys in several for key in keys))
    names = tuple(distinct[k] for k in sorted_keys(distinct))
    place = {key: k for k, key in enumerate(names)}
    return names, [np.array([place[key] for key in keys], dtype=np.intp) for keys in several]


def ascending(keys: Sequence[Key]) -> bool:
    """Tell whether each key is larger than the one before it; then they are sorted, and no two are equal."""
    try:
        return all(map(operator.lt, keys, keys[1:]))
    except TypeError:  # some are missing, or of different types
        return False


def distinct_keys(keys: Sequence[Key]) -> tuple[tuple[Key, ...], IndexArray]:
    """Return the keys that occur, sorted, and where each of those given is among them."""
    if ascending(keys):
        return tuple(keys), np.arange(len(keys), dtype=np.intp)
    first = {key: k for k, key in enumerate(dict.fromkeys(keys))}
    names, (place,) = merged_keys([tuple(first)])
    return names, place[[first[key] for key in keys]]


def no_cluster(rows: int, where: str = "") -> InputError:
    """Say that rows have no cluster."""
    rows_have = "1 row has" if rows == 1 else f"{rows:,} rows have"
    return InputError(f"{rows_have} no cluster{where}.", "leave them out, or give each its own cluster.")


KINDS = {bool: "booleans", str: "text", int: "numbers", float: "numbers"}
"""What keys of these types are called."""


def key_kinds(key: Key) -> tuple[str, ...]:
    """Name the kinds of the values of a key.

    Examples
    --------
    >>> key_kinds(("north", 7))
    ('text', 'number')
    """
    values = key if isinstance(key, tuple) else (key,)
    return tuple(KINDS.get(type(value), "missing").removesuffix("s") for value in values)


def check_kinds(several: Sequence[Sequence[Key]], names: Sequence[Any], what: str) -> None:
    """Refuse keys that are text on one side and numbers on another: 7 and "7" would never meet.

    ``names`` are those of the columns; ``what`` is what the keys are of.
    """
    lengths = dict.fromkeys(len(keys[0]) if isinstance(keys[0], tuple) else 1 for keys in several if keys)
    if len(lengths) > 1:
        a, b, *_ = lengths
        raise InputError(
            f"the keys of {what} have {counted(a, 'value')} in one and {b:,} in another; they cannot be matched.",
            "tabulate all with the same columns.",
        )
    known: dict[int, str] = {}
    for keys in several:
        columns = zip(*keys, strict=True) if keys and isinstance(keys[0], tuple) else [keys]
        for place, column in enumerate(columns):
            for kind in sorted({KINDS[x] for x in set(map(type, column)) if x in KINDS}):
                if known.setdefault(place, kind) != kind:
                    by = f" by {names[place]!r}" if names else ""
                    raise InputError(
                        f"the {what}{by} are {known[place]} in one and {kind} in another; they cannot be matched.",
                        "convert them to one type in all tables, and tabulate again.",
                    )


def of_one_kind(values: Sequence[Any], name: Any) -> list[Any]:
    """Return keys of one column: booleans beside integers are integers, text beside numbers is refused."""
    kinds = {type(value) for value in values} - {type(None)}
    if str in kinds and len(kinds) > 1:
        text, number = (
            next(x for x in values if x is not None and isinstance(x, str) is kind) for kind in (True, False)
        )
        raise InputTypeError(
            f"{name} holds keys of mixed types: {number!r} is a number and {text!r} is a string.", "use one type."
        )
    if bool in kinds and len(kinds) > 1:
        return [int(value) if isinstance(value, bool) else value for value in values]
    return list(values)


def key_to_json(key: Key) -> Any:
    """Return a key as JSON can hold it: a list for a tuple, and ``{"float": "inf"}`` for infinity."""
    if isinstance(key, tuple):
        return [key_to_json(x) for x in key]
    return {INFINITE: str(key)} if isinstance(key, float) and math.isinf(key) else key


def key_from_json(value: Any) -> Key:
    """Read what `key_to_json` wrote; ValueError for anything else."""
    if isinstance(value, list):
        if any(isinstance(x, list) for x in value):
            raise ValueError(f"{value!r} is not a key")
        return tuple(key_from_json(x) for x in value)
    if isinstance(value, dict) and value in ({INFINITE: "inf"}, {INFINITE: "-inf"}):
        return float(value[INFINITE])
    if value is None or isinstance(value, (bool, int, float, str)):
        return plain_key(value)
    raise ValueError(f"{value!r} is not a key")


def missing(keys: Iterable[Key]) -> list[int]:
    """Return the places of keys that are missing, or that lack one of several values."""
    return [k for k, key in enumerate(keys) if key is None or (isinstance(key, tuple) and None in key)]
