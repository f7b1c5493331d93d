"""Rows that cannot be counted, counted: missing labels and impossible weights, in one sentence."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ..core.labels import Label, listed
from ..errors import InputError, LabelError, TooManyClassesError, WeightError, WmccError

PACKAGE = Path(__file__).parents[1]

LABEL_ROLES = ("t", "p", "q")
"""What columns of labels are called inside: the truth, a prediction, and the second of a joint table."""


@contextmanager
def said_by_engines(message: str, hint: str | None = None) -> Iterator[None]:
    """Turn what an engine raises into a sentence: ``message``, and the first line of what it says."""
    try:
        yield
    except (WmccError, MemoryError):
        raise
    except BaseException as problem:  # polars panics with what is no Exception
        if not isinstance(problem, Exception) and type(problem).__name__ != "PanicException":
            raise
        *_, last = traceback.walk_tb(problem.__traceback__)
        if PACKAGE in Path(last[0].f_code.co_filename).parents:
            raise  # a mistake of ours is not the caller's
        cause: BaseException = problem
        while cause.__cause__ is not None:
            cause = cause.__cause__
        lines = [line.strip() for line in str(cause).splitlines() if line.strip()] or [type(cause).__name__]
        causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]  # Java's
        said = causes[-1] if causes else " ".join(lines[:3])
        raise InputError(f"{message}: {said[:400]}", hint) from problem


class Problems(NamedTuple):
    """How many rows of a frame or a file have which problem."""

    rows: int = 0
    bad_weight: int = 0
    no_true: int = 0
    no_pred: int = 0
    no_second: int = 0

    def __add__(self, other: Problems) -> Problems:  # type: ignore[override]
        return Problems(*(a + b for a, b in zip(self, other, strict=True)))

    def refuse(self, names: dict[str, str], first: WmccError | None = None) -> None:
        """Raise the error that says so, if there are any.

        ``names`` are those of the columns t, p, maybe q, and w; ``first`` tells where the first bad row is.
        """
        parts = []
        missing = dict(zip(LABEL_ROLES, (self.no_true, self.no_pred, self.no_second), strict=True))
        for count, name in dict.fromkeys((missing[role], names[role]) for role in LABEL_ROLES if role in names):
            if count:
                parts.append(f"{_rows(count, self.rows)} no label in {name!r}")
        if self.bad_weight:
            bad = "that is missing, negative, NaN or infinite"
            parts.append(f"{_rows(self.bad_weight, self.rows)} a weight in {names['w']!r} {bad}")
        if not parts:
            return
        where = f" The first: {str(first).partition(chr(10))[0]}" if first else ""
        kind: type[InputError] = LabelError if any(missing.values()) else WeightError
        raise kind(
            f"{'; '.join(parts)}.{where}",
            "drop or mend such rows first; name their label in ignore= to leave them out and have them counted.",
        )


def _rows(count: int, total: int) -> str:
    return f"{count:,} of {total:,} rows {'has' if count == 1 else 'have'}"


def unknown_labels(rows: int, where: str, label: Label, labels: tuple[Label, ...]) -> LabelError:
    """Say that rows have a label that is not among those the caller named."""
    return LabelError(
        f"{rows:,} rows have a label{where} that is not among labels=({listed(labels)}); one is {label!r}.",
        "add it to labels, or name it in ignore= to leave such rows out (they are counted).",
    )


MOST_CELLS = 1 << 23
"""Cells that a group-by may return, or that a joint table may have. More are of no use, and would not be small."""


def too_many_cells(most: int) -> TooManyClassesError:
    """Say that labels occur in too many combinations."""
    return TooManyClassesError(
        f"there are more than {most:,} different combinations of labels.",
        "labels must be classes, not identifiers, dates or measurements.",
    )
