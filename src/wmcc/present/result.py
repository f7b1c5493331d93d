"""What all results have in common: how they are shown, stored and turned into frames."""

from __future__ import annotations

import os
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..errors import InputError
from . import blocks as _blocks
from .blocks import Block
from .json_csv import Record, as_records_csv
from .stored import Storable
from .text import listed, with_digits

if TYPE_CHECKING:
    from .frames import Backend
    from .sheets import Sheet

ROOM = 120
"""Columns of the text of a result: wider tables are cut, or listed in fewer columns."""

FOR_PEOPLE = (".txt", ".md", ".tex", ".html")
"""Ends of names of files whose numbers are rounded."""

MOST_DIGITS = 15
"""Decimals of scores that may be asked for."""

ENDINGS = (".json", ".csv", ".md", ".tex", ".html", ".txt", ".xlsx", ".parquet")
"""Ends of names of files that results are written to."""

T = TypeVar("T")


class Delegate(property, Generic[T]):
    """A property that is one of a part of the result: ``se: ClassVar[Delegate[float]] = Delegate("only.se", "…")``."""

    def __init__(self, path: str, doc: str) -> None:
        super().__init__(attrgetter(path))
        self.__doc__ = doc

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type | None = None, /) -> T: ...  # type: ignore[override]


class Result(Storable):
    """A result: it shows itself as text and in notebooks, and is stored for people and for programs.

    A subclass names its ``_kind`` and the attributes that are ``_stored``, and makes `blocks`; it may have `lines` and
    `records` of its own.
    """

    def blocks(self) -> list[Block]:
        """Return what people read: tables and sentences."""
        raise NotImplementedError

    def lines(self) -> list[Block]:
        """Return the same in a line or a few, to stand below those of other groups under the same heads."""
        return self.blocks()

    def records(self) -> list[Record]:
        """Return tidy rows, for frames and CSV: a value by the name of its column."""
        known = self.fields()
        if "warnings" in known:
            known["warnings"] = "; ".join(known["warnings"]) or None
        plain_values = {name: x for name, x in known.items() if not isinstance(x, (list, dict))}
        return [{"class" if name == "label" else name: x for name, x in plain_values.items()}]

    def sheets(self) -> list[Sheet]:
        """Return what an Excel file has, sheet by sheet; by default it has the rows of `records` on one."""
        return []

    def _heads(self) -> list[str]:
        """Return names of columns that a frame has even without rows."""
        return []

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a tidy data frame, of pandas, polars or PyArrow.

        Examples
        --------
        >>> import wmcc
        >>> score = wmcc.score(wmcc.Table.from_counts([[80, 12], [9, 99]]))
        >>> score.to_frame()[["class", "measure", "value", "low", "high"]].round(3).tail(2)
            class measure  value    low   high
        18      1     iou  0.825  0.746  0.884
        19      1     mcc  0.788  0.686  0.860
        """
        from .frames import frame

        return frame(self.records(), backend, self._heads())

    def to_text(self, digits: int | None = None) -> str:
        """Return what is printed, with so many decimals of scores; four by default.

        Areas, weights and shares in per cent have as many digits as they deserve.

        Examples
        --------
        >>> import wmcc
        >>> print(wmcc.interval(wmcc.Table.from_counts([[80, 12], [9, 99]]), "mcc").to_text(digits=2))
        MCC 0.79, 95 % interval 0.69 to 0.86 (fisher, se 0.04)
        """
        check_digits(digits, ".txt")
        with with_digits(digits):
            return _blocks.text(self.blocks(), ROOM).rstrip("\n")

    def save(self, path: str | os.PathLike[str], *, digits: int | None = None) -> str:
        """Write it to a file, in the form that the end of the name asks for, and return the name.

        ``.json``, ``.csv``, ``.xlsx`` and ``.parquet`` are for programs; ``.md``, ``.tex``, ``.html`` and ``.txt`` for
        people, whose scores have so many ``digits`` after the point, four by default. The file is there as a whole, or
        as it was before.

        Examples
        --------
        >>> import os, tempfile, wmcc
        >>> path = os.path.join(tempfile.mkdtemp(), "score.md")
        >>> os.path.basename(wmcc.score([0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9).save(path))
        'score.md'
        """
        from . import files

        out = os.fsdecode(path)
        form = ending(out)
        files.check(out)
        files.write(out, written(self, form, digits=digits))
        return out

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from .html import html

        return html(self.blocks())


def ending(path: str, known: Sequence[str] = ENDINGS) -> str:
    """Return the end of a name, if there is a form of such files."""
    form = os.path.splitext(path)[1].lower()
    if form not in known:
        said = f"{path!r} has no known ending; expected a name that ends with {listed(known, 'or')}."
        raise InputError(said, f"call it {os.path.splitext(path)[0]}{known[0]}, for instance.", "path")
    return form


def written(result: Result, form: str, safe: bool = False, digits: int | None = None) -> str | bytes:
    """Write a result in the form of a file with this ending; with ``safe``, no text in CSV is a formula.

    ``digits`` are the decimals of scores in what is for people.
    """
    check_digits(digits, form)
    with with_digits(digits):
        return _written(result, form, safe)


def check_digits(digits: int | None, form: str) -> None:
    """Refuse a number of decimals that cannot be, or for what has all digits."""
    if digits is None:
        return
    if type(digits) is not int or not 1 <= digits <= MOST_DIGITS:
        raise InputError.of("digits", digits, f"a whole number from 1 to {MOST_DIGITS}: the decimals of scores")
    if form not in FOR_PEOPLE:
        said = f"`digits` is for {listed(FOR_PEOPLE)}; {form} has all digits of a number."
        raise InputError(said, "leave it out, or choose a form for people.", "digits")


def _written(result: Result, form: str, safe: bool) -> str | bytes:
    if form == ".json":
        return result.to_json()
    if form == ".csv":
        return as_records_csv(result.records(), result._heads(), safe)
    if form == ".xlsx" and (sheets := result.sheets()):
        from .sheets import workbook

        return workbook(sheets)
    if form in (".xlsx", ".parquet"):
        from . import frames

        return (frames.excel if form == ".xlsx" else frames.parquet)(result.records(), result._heads())
    made = result.blocks()
    if form == ".md":
        from .markdown import markdown

        return markdown(made)
    if form == ".tex":
        from .latex import latex

        return latex(made)
    if form == ".html":
        from .html import page

        return page(made, result._kind)
    return _blocks.text(made)
