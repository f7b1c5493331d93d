"""Frames and files with named columns, one or two of them: from what the caller named to tables."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from ..errors import InputTypeError
from ..table import Table
from .codebook import Rules
from .engines import joining_engine, open_lazy
from .files import Files, find, is_path
from .frames import Columns, as_frame, tabulate_frame
from .groups import in_order
from .joins import tabulate_joined
from .problems import said_by_engines
from .progress import reading
from .scan import scan


def tabulate_columns(
    data: tuple[Any, ...],
    given: list[Any],
    named: dict[str, Any],
    *,
    by: str | Sequence[str] | None,
    on: str | Sequence[str] | None,
    allow_unmatched: bool,
    engine: str | None,
    progress: bool | None,
    rules: Rules,
    threads: int | None,
) -> Table | dict[Any, Table]:
    """Tabulate columns of one frame or file, or of two with a common key.

    ``given`` are the columns by position: those of true, pred and weight that ``named`` does not have.
    """
    roles = [role for role in ("true", "pred", "weight") if named.get(role) is None]
    if on is not None:  # the labels' columns are named, or found
        roles = ["weight"]
    if len(given) > len(roles):
        raise InputTypeError(f"{given[-1]!r} is a column too many; the columns are true, pred and weight.")
    named = {**named, **dict(zip(roles, given, strict=False))}
    groups = (by,) if isinstance(by, str) else tuple(by or ())
    columns = Columns(named["true"], named["pred"], named.get("weight"), groups)
    found = [find(side) for side in data if is_path(side)]
    if on is None and (columns.true is None or columns.pred is None):
        raise InputTypeError("expected two columns of labels, as in tabulate(data, 'label', 'pred').")
    with reading(found, progress) as bar, _sentences(found):
        if on is not None:
            truth, prediction = (_frame(side, engine or joining_engine(), columns) for side in data)
            keys = (on,) if isinstance(on, str) else tuple(on)
            tables = tabulate_joined(truth, prediction, columns, keys, rules, threads, allow_unmatched)
        elif found and engine in (None, "arrow"):
            tables = scan(found[0], columns, rules, threads, bar)
        else:
            tables = tabulate_frame(_frame(data[0], engine, columns), columns, rules, threads)
    if by is None:
        return tables[()]
    return {key[0] if isinstance(by, str) else key: table for key, table in in_order(tables).items()}


def _sentences(found: list[Files]) -> AbstractContextManager[None]:
    """What an engine raises, as a sentence of ours."""
    if not found:
        return said_by_engines("the engine could not compute the table")
    names = " and ".join(files.name for files in found)
    return said_by_engines(f"{names} cannot be read", "it may be damaged, cut short or of another format.")


def _frame(data: Any, engine: str | None, columns: Columns) -> Any:
    """Return a narwhals frame of a frame or a file."""
    if is_path(data):
        weight = columns.weight if isinstance(columns.weight, str) else None
        return as_frame(open_lazy(find(data), str(engine), weight))
    frame = as_frame(data)
    if frame is None:
        raise InputTypeError(
            f"expected a data frame or a file, to go with columns named in it; got a {type(data).__name__}.",
            "labels themselves are given as tabulate(y_true, y_pred, sample_weight).",
        )
    return frame
