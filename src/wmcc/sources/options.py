"""What the front doors have in common: what the caller says of labels, and whether it names columns."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..core import labels as _labels
from ..errors import InputError, InputTypeError
from .codes import Rules


def make_rules(labels: Any, ignore: Any, positive: Any = None) -> Rules:
    """Check what the caller says about labels."""
    rules = Rules(
        None if labels is None else _labels.given(labels),
        () if ignore is None else _labels.given(ignore, "ignore"),
        None if positive is None else _labels.as_label(positive, "positive"),
    )
    both = set(rules.labels or ()) & set(rules.ignore)
    if both:
        raise InputError(f"{next(iter(both))!r} is in labels and in ignore; it cannot be both.")
    return rules


def whole_number(value: Any, name: str) -> int | None:
    """Check a number of at least 1, if there is one."""
    if value is None or (isinstance(value, (int, np.integer)) and value >= 1 and not isinstance(value, bool)):
        return None if value is None else int(value)
    raise InputError(f"{name} is {value!r}; expected a whole number of at least 1, or None.")


def is_name(what: Any) -> bool:
    """Whether this names a column: text, or an integer, which pandas has for names too."""
    return isinstance(what, (str, int, np.integer)) and not isinstance(what, bool)


def names_a_column(data: Any, name: Any) -> bool:
    """Whether ``name`` is the name of a column, or an expression, and ``data`` therefore a frame or a file."""
    if isinstance(data, np.ndarray):
        return False
    if is_name(name) and not isinstance(name, str):  # beside a frame; beside labels it is a mistake
        return hasattr(type(data), "columns") or isinstance(data, (str, os.PathLike))
    return isinstance(name, str) or (hasattr(name, "alias") and not hasattr(name, "__len__"))


def refuse_without_columns(**options: Any) -> None:
    """Refuse options of frames and files beside labels themselves."""
    for name, given in options.items():
        if isinstance(given, str) if name in ("by", "cluster") else given is not None:
            raise InputTypeError(f"{name}= goes with a frame or a file, and columns named in it.")
