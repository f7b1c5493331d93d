"""What a label is: an integer, a boolean or a string; how labels are ordered, checked and merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import reduce
from typing import Any

import numpy as np

from ..errors import InputError, InputTypeError, LabelError, TooManyClassesError
from .memory import available

Label = bool | int | str

REST = "all other classes"
"""Their name where they are taken as one."""

NOTHING = "\0ignored"
"""Stands for what is in the place of a label where the row is to be left out: a missing one, or ignored text."""

MISSING = "(missing)"
"""What is in the place of a missing label that is kept: a prediction that is counted as wrong, or a class to come."""

SKIP_MISSING = "fill them in, or give `missing` 'ignore' to leave out such rows and count them."
"""What can be done about missing labels."""

LIKE_MISSING = frozenset({"", "NA", "N/A", "<NA>", "NaN", "nan", "None", "NULL", "null", "NaT"})
"""Names of classes that look like missing labels."""

LABEL_BYTES = 400
"""Memory that a class takes, with its name, its place in an index and its margins."""


def as_label(value: Any, where: str) -> Label:
    """Return one label as a plain Python value.

    Parameters
    ----------
    value
        An int, bool, str, a whole float or decimal, or NumPy's scalar of one of these.
    where
        What to call its place in an error message.
    """
    value = _scalar(value)
    if isinstance(value, str):
        return str.__str__(value)  # the text itself, also of an enum's member
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 64:
            raise LabelError(f"{where} is an integer beyond 64 bits, too large for a label.")
        return int.__int__(value)
    if isinstance(value, bytes):
        return _decoded(value, where)
    if is_missing(value):
        raise LabelError(f"{where} is missing ({value!r}); every row needs a label.", SKIP_MISSING)
    floats = (float, np.longdouble)  # NumPy's other floats are Python's by now
    if isinstance(value, Decimal) and value == value.to_integral_value():  # whole numbers of warehouses
        return as_label(int(value), where)
    if isinstance(value, floats):
        if value.is_integer() and abs(int(value)) <= 1 << 53:  # beyond, neighbouring integers are one float
            return int(value)
        if value.is_integer():
            raise LabelError(f"{where} is {value!r}, too large for a label.", "use integers.")
        raise LabelError(
            f"{where} is {value!r}; a label must be an integer, a boolean or a string.",
            "if these are scores, give them as `score`: tabulate(y_true, score=…), or tabulate(data, true=…, score=…); "
            "argmax makes labels of them.",
        )
    short, kind = repr(value), type(value).__name__
    short = f"{short} of type {kind}" if len(short) <= 40 and "\n" not in short else f"of type {kind}"
    raise InputTypeError(
        f"{where} is {short}; a label must be an integer, a boolean or a string.",
        "if the images differ in shape, tabulate each one and add up the tables with wmcc.merge."
        if isinstance(value, np.ndarray)
        else "convert the labels with str() if they name classes.",
    )


def is_missing(value: Any) -> bool:
    """Whether a value stands for a label that is missing: None, NaN, NaT, NA, or a masked one."""
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)) and bool(value != value)


def _scalar(value: Any) -> Any:
    """One of NumPy's scalars, or an array of one, as Python's own."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":  # a date in nanoseconds would be an integer
        value = value.item()
    return value


def _decoded(value: bytes, where: str) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise LabelError(f"{where} is {value!r}, which is not UTF-8 text.", "decode the labels first.") from None


def plain(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Labels as a tuple of one kind: booleans beside integers become 0 and 1, text beside numbers is refused.

    What stands for a missing label is beside labels of any kind.
    """
    labels = tuple(labels)
    if len(set(map(type, labels))) < 2:
        return labels
    if MISSING in labels:
        kind = iter(plain(x for x in labels if x != MISSING))
        return tuple(x if x == MISSING else next(kind) for x in labels)
    text = next((x for x in labels if isinstance(x, str)), None)
    if text is None:
        return tuple(map(int, labels))
    number = next(x for x in labels if not isinstance(x, str))
    raise InputTypeError(
        f"labels are of mixed types: {number!r} is a number and {text!r} is a string.",
        "use one type, for instance y.astype(str), in y_true, y_pred and labels alike.",
        None,
        f"write both sides in the same way, or say what the numbers stand for: --names {number!r}={text}, and so on.",
    )


def ordered(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Distinct labels in sorted order: numbers by value, strings by code point; what stands for missing ones last."""
    distinct = set(plain(labels))
    return tuple(sorted(distinct - {MISSING})) + (MISSING,) * (MISSING in distinct)


def given(labels: Any, name: str = "labels") -> tuple[Label, ...]:
    """Check a caller's list of labels; the order is the caller's."""
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable) or getattr(labels, "ndim", 1) == 0:
        labels = [labels]
    result = plain(as_label(x, f"{name}[{i}]") for i, x in enumerate(labels))
    if len(set(result)) < len(result):
        twice, _ = Counter(result).most_common(1)[0]
        raise InputError(f"`{name}` names {twice!r} twice; list each class once.")
    check_count(len(result))
    return result


def listed(labels: Sequence[Label]) -> str:
    """Write the first labels, for messages."""
    return ", ".join(map(repr, labels[:10])) + (f", … ({len(labels):,} in all)" if len(labels) > 10 else "")


def unknown(where: str, label: Label, among: str, hint: str) -> LabelError:
    """Say that a label is none of those that are known."""
    return LabelError(f"{where} is {label!r}, which is not among {among}.", hint)


def check_count(count: int) -> None:
    """Refuse more classes than there is memory for."""
    if count > 1 << 16 and count * LABEL_BYTES > (free := available()) // 2:
        raise TooManyClassesError(
            f"there are at least {count:,} classes; their names and margins would take about "
            f"{count * LABEL_BYTES / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB are free.",
            "`labels` must be classes, not identifiers, dates or measurements; group rare classes before scoring.",
        )


def merged(
    several: Iterable[tuple[tuple[Label, ...], tuple[Label, ...]]],
) -> tuple[tuple[Label, ...], tuple[Label, ...]]:
    """Labels and void labels of tables together, given as such pairs.

    Classes are as they are where all agree, and sorted otherwise; void labels come last. What is a class in one table
    is a class. The rule is commutative and associative, and labels of which there are none are its unit.
    """
    several = list(several)
    classes = reduce(_merged, (labels[: len(labels) - len(void)] for labels, void in several))
    void = {x for _, own in several for x in own}
    last = void_order(void.difference(classes)) if void else ()
    return classes + last, last


def void_order(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Distinct void labels in sorted order, numbers before text: they need not be of one kind."""
    return tuple(sorted(set(labels), key=lambda x: (isinstance(x, str), x)))


def _merged(a: tuple[Label, ...], b: tuple[Label, ...]) -> tuple[Label, ...]:
    if a is b:
        return a
    if a == b:
        return plain(a + b)[: len(a)]  # False and 0 are equal; beside integers they are integers
    return ordered(a + b) if a and b else a or b
