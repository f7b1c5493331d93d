"""Tables in files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias

from ..core import storage
from ..core.joint import JointTable
from ..core.table import Table
from ..core.tables import Tables
from ..errors import InputError, SchemaError, WmccError, missing_file
from . import standard_input

if TYPE_CHECKING:
    from ..core.score_table import ScoreTable

Stored: TypeAlias = "Table | JointTable | Tables[Any] | ScoreTable"


def read(name: str) -> Stored:
    """Return what a file holds that was stored; ``-`` is standard input."""
    text = _bytes(standard_input.table(name) if standard_input.is_stream(name) else name)
    try:
        data = storage.parse(text)
        kind: Any = Table
        if isinstance(data, dict):
            kind = JointTable if data.get("kind") == "joint table" else Tables if "groups" in data else Table
            if data.get("kind") == "score table":
                from ..core.score_table import ScoreTable  # which tables of labels do without

                kind = ScoreTable
            if data.get("kind") == "class scores":
                raise SchemaError(
                    "these are scores of several classes, which the command line does not read.",
                    "in Python wmcc.results.ClassScores.from_json reads them; those of one class can be saved alone.",
                )
        found: Stored = kind.from_dict(data)
    except WmccError as problem:
        hint = "expected a table that `wmcc tabulate -o` wrote; data need --true and --pred."
        raise SchemaError(problem.message, problem.hint, problem.argument).about(
            standard_input.said(name), hint
        ) from None
    return found


def check_alike(a: Stored, b: Stored) -> None:
    """Refuse to add up a table and tables of groups."""
    by = [", ".join(map(str, x.columns)) if isinstance(x, Tables) else "nothing" for x in (a, b)]
    if "nothing" in by and by[0] != by[1]:
        raise InputError(f"one is grouped by {by[0]}, the other by {by[1]}; they cannot be merged.")
    if type(a) is not type(b):
        of = ["scores" if "score" in x._kind else "labels" for x in (a, b)]
        what = "of one prediction, the other of several" if of[0] == of[1] else f"of {of[0]}, the other of {of[1]}"
        raise InputError(f"one is a table {what}; they cannot be merged.")


def _bytes(name: str) -> bytes:
    try:
        with open(os.path.expanduser(name), "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise missing_file(name) from None
    except OSError as problem:
        raise InputError(f"{name!r} cannot be read: {problem.strerror}.") from None
