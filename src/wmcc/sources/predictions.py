"""Several predictions of the same rows, and the joint tables of each two of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

from ..core.table import Table
from ..errors import InputError, InputTypeError
from .joint import joint_table
from .options import names_a_column


class Predictions(NamedTuple):
    """What to call each prediction, and what makes the joint table of two, given by their places."""

    names: tuple[str, ...]
    joined: Callable[[int, int], Any]

    def joints(self) -> dict[tuple[int, int], Any]:
        """Return the joint table of each pair, by their places; or what `joint_table` makes with ``by=``."""
        return {pair: self.joined(*pair) for pair in combinations(range(len(self.names)), 2)}


def predictions(
    y_true: Any, a: Any, b: Any, sample_weight: Any, weight: Any, options: dict[str, Any], names: Any
) -> Predictions:
    """Read what may be given for predictions: two of them, a list, a dict by name; or columns of a frame or file."""
    if isinstance(y_true, Table):
        raise InputTypeError(
            "a Table of one prediction was given; to compare two, their JointTable is needed.",
            "make it with wmcc.joint_table(y_true, pred_a, pred_b, sample_weight).",
        )
    if a is not None and names_a_column(y_true, a):  # a frame or a file, the column of truth, columns of predictions
        several = isinstance(b, (list, tuple, dict))
        if several and sample_weight is not None and weight is not None:
            raise InputTypeError(f"two columns of weights were given, {sample_weight!r} and {weight!r}.")
        found, column = (b, sample_weight if weight is None else weight) if several else ([b, sample_weight], weight)
        columns, own = _values_and_names(found)
        return Predictions(
            checked_names(names, own or columns, len(columns)),
            lambda i, j: joint_table(y_true, a, columns[i], columns[j], column, **options),
        )
    if weight is not None:
        raise InputTypeError("weight= goes with a frame or a file, and columns named in it.")
    if b is not None and (isinstance(a, dict) or _holds_predictions(a, y_true)):
        raise InputTypeError(
            f"a {type(a).__name__} of predictions was given, and something after it.", "weights are sample_weight=."
        )
    if b is None and hasattr(a, "columns"):
        raise InputTypeError(
            "a frame of predictions was given; expected a list or dict of them.",
            "give {name: frame[name] for name in frame.columns}; or the whole frame, and the names of its columns.",
        )
    if isinstance(a, dict) or (b is None and isinstance(a, (list, tuple))):
        values, own = _values_and_names(a)
    elif a is None or b is None:
        raise InputTypeError("expected a JointTable, or y_true and two predictions, or a list or dict of them.")
    else:
        values, own = [a, b], None
    return Predictions(
        checked_names(names, own, len(values)),
        lambda i, j: joint_table(y_true, values[i], values[j], sample_weight, **options),
    )


def _holds_predictions(given: Any, y_true: Any) -> bool:
    """Whether this is a list whose items are as long as the truth, and no scalars: predictions, not one of them."""
    if not (isinstance(given, (list, tuple)) and given and hasattr(y_true, "__len__")):
        return False
    first = given[0]
    scalar = isinstance(first, (str, bytes)) or not hasattr(first, "__len__")
    return not scalar and len(first) == len(y_true) != len(given)


def _values_and_names(given: Any) -> tuple[list[Any], list[Any] | None]:
    return (list(given.values()), list(given)) if isinstance(given, dict) else (list(given), None)


def checked_names(given: Any, own: Any, count: int) -> tuple[str, ...]:
    """Return what to call so many predictions: as the caller says, by names of their own, or by letters."""
    if count < 2:
        raise InputError(f"expected at least two predictions to compare; got {count}.")
    names = given if given is not None else own
    if given is None and (own is None or not all(isinstance(name, (str, int)) for name in own)):
        names = [chr(ord("a") + i) if count <= 26 else f"model {i + 1}" for i in range(count)]
    if given is not None and not (isinstance(given, (list, tuple)) and all(isinstance(x, str) for x in given)):
        raise InputError(f"names is {str(given)[:40]!r}; expected a list of {count} different names.")
    names = tuple(map(str, names))
    if len(set(names)) != count or len(names) != count:
        raise InputError(f"names is {list(names)!r}; expected {count} different names.")
    return names
