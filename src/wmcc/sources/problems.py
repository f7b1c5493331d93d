"""Rows that cannot be counted, counted: missing labels and impossible weights, in one sentence."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import InputError, LabelError, WeightError


class Problems(NamedTuple):
    """How many rows of a frame or a file have which problem."""

    rows: int = 0
    no_true: int = 0
    no_pred: int = 0
    bad_weight: int = 0

    def __add__(self, other: Problems) -> Problems:  # type: ignore[override]
        return Problems(*(a + b for a, b in zip(self, other, strict=True)))

    def refuse(self, true: str, pred: str, weight: str, first: WeightError | LabelError | None = None) -> None:
        """Raise the error that says so, if there are any; ``first`` tells where the first one is."""
        parts = []
        for count, name in ((self.no_true, true), (self.no_pred, pred)):
            if count:
                parts.append(f"{_rows(count, self.rows)} no label in {name!r}")
        if self.bad_weight:
            parts.append(
                f"{_rows(self.bad_weight, self.rows)} a weight in {weight!r} that is missing, negative, NaN or infinite"
            )
        if not parts:
            return
        where = f" The first: {str(first).partition(chr(10))[0]}" if first else ""
        kind: type[InputError] = LabelError if self.no_true or self.no_pred else WeightError
        raise kind(
            f"{'; '.join(parts)}.{where}",
            "drop or mend such rows first; name their label in ignore= to leave them out and have them counted.",
        )


def _rows(count: int, total: int) -> str:
    return f"{count:,} of {total:,} rows {'has' if count == 1 else 'have'}"
