"""Rows that cannot be counted, counted: missing labels and impossible weights, in one sentence."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ..core.labels import SKIP_MISSING, Label, listed
from ..errors import InputError, LabelError, TooManyClassesError, WeightError, WmccError

PACKAGE = Path(__file__).parents[1]


def label_roles(roles: Iterable[str]) -> list[str]:
    """Which columns hold labels, by what they are called inside: t is the truth, p0, p1 … are predictions."""
    return [role for role in roles if role[0] in "tp"]


def replicate_roles(roles: Iterable[str]) -> list[str]:
    """Which columns hold replicate weights: r0, r1 and so on."""
    return [role for role in roles if role[0] == "r" and role[1:].isdigit()]


@contextmanager
def said_by_engines(
    message: str, hint: str | None = None, bad_weight: Callable[[], WeightError | None] = lambda: None
) -> Iterator[None]:
    """Turn what an engine raises into a sentence: ``message``, and the first line of what it says.

    ``bad_weight`` looks for text where a weight is expected, which says more.
    """
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
        words = causes[-1] if causes else " ".join(lines[:3])
        raise bad_weight() or InputError(f"{message}: {words[:400]}", hint) from problem


BAD = "that is missing, negative, NaN or infinite"

NO_NEGATIVE = (
    "negative replicate weights, which some agencies publish (successive differences), are not supported; setting "
    "them to 0 would change the variance."
)
"""What to know of replicate weights that are refused."""


class Problems(NamedTuple):
    """How many rows of a frame or a file have which problem."""

    rows: int = 0
    bad_weight: int = 0
    no_label: tuple[int, ...] = ()
    """Of the truth, and of each prediction."""
    bad_replicates: Mapping[str, int] = MappingProxyType({})
    """By column of replicate weights, of those that have such."""

    def __add__(self, other: Problems) -> Problems:  # type: ignore[override]
        lost = tuple(a + b for a, b in zip_longest(self.no_label, other.no_label, fillvalue=0))
        replicates = dict(Counter(self.bad_replicates) + Counter(other.bad_replicates))
        return Problems(self.rows + other.rows, self.bad_weight + other.bad_weight, lost, replicates)

    def refuse(self, names: dict[str, str], first: WmccError | None = None) -> None:
        """Raise the error that says so, if there are any.

        ``names`` are those of the columns, by role; ``first`` tells where the first bad row is.
        """
        if isinstance(first, LabelError) and not any(self.no_label):
            return  # a label that is there but cannot be counted came first, and the error says so
        parts = []
        for count, name in dict.fromkeys(
            zip(self.no_label, (names[role] for role in label_roles(names)), strict=False)
        ):
            if count:
                parts.append(f"{_rows(count, self.rows)} no label in {name!r}")
        if self.bad_weight:
            parts.append(f"{_rows(self.bad_weight, self.rows)} a weight in {names['w']!r} {BAD}")
        for role, count in list(self.bad_replicates.items())[:1]:
            more = len(self.bad_replicates) - 1
            others = f", and {more:,} more column{'s have' if more > 1 else ' has'} such" if more else ""
            parts.append(f"{_rows(count, self.rows)} a replicate weight in {names[role]!r} {BAD}{others}")
        if not parts:
            return
        where = f" The first: {first.message}" if first else ""
        kind: type[InputError] = LabelError if any(self.no_label) else WeightError
        hints = [SKIP_MISSING] if any(self.no_label) else []
        hints += ["a weight of 0 leaves a row out."] if self.bad_weight else []
        hints += [NO_NEGATIVE] if self.bad_replicates else []
        raise kind(f"{'; '.join(parts)}.{where}", "; ".join(hints).replace(".;", ";"))


def _rows(count: int, total: int) -> str:
    return f"{count:,} of {total:,} rows {'has' if count == 1 else 'have'}"


def unknown_labels(rows: int, where: str, label: Label, labels: tuple[Label, ...]) -> LabelError:
    """Say that rows have a label that is not among those the caller named."""
    return LabelError(
        f"{rows:,} rows have a label{where} that is not among `labels`, {listed(labels)}; one is {label!r}.",
        "add it to `labels`; if it is not a class, list it in `ignore`.",
    )


MOST_CELLS = 1 << 23
"""Cells that a group-by may return, or that a joint table may have. More are of no use, and would not be small."""


def too_many_predictions(predictions: int, classes: int) -> TooManyClassesError:
    """Say that a joint table cannot hold so many predictions."""
    return TooManyClassesError(
        f"a joint table cannot hold {predictions} predictions of {classes:,} classes: there are too many combinations.",
        "compare them in pairs: give two predictions at a time.",
    )


def too_many_cells(most: int) -> TooManyClassesError:
    """Say that labels occur in too many combinations."""
    return TooManyClassesError(
        f"there are more than {most:,} different combinations of labels.",
        "labels must be classes, not identifiers, dates or measurements.",
    )
