"""Workbooks of several sheets, for people: numbers are numbers, and are shown with the digits that they deserve."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from ..errors import MissingDependencyError
from ..optional import module, pip_install
from .json_csv import finite, no_formula
from .text import width

SCORE, COUNT, SHARE, TEXT = "0.0000", "#,##0", "0.0%", "@"
"""How numbers are shown: as spreadsheets have it."""

WIDEST = 60
"""Characters of the widest column; longer texts are wrapped."""


class Grid(NamedTuple):
    """A table on a sheet.

    Parameters
    ----------
    head
        What stands over its columns, units included.
    rows
        Texts and numbers; None and NaN are empty cells.
    forms
        How the numbers of each column are shown.
    title
        What it is, if there are several on a sheet.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    forms: Sequence[str]
    title: str = ""


class Sheet(NamedTuple):
    """A sheet of a workbook: tables below each other."""

    name: str
    grids: Sequence[Grid]


def decimals_form(places: int) -> str:
    """Return how numbers are shown with so many decimals.

    Examples
    --------
    >>> decimals_form(0), decimals_form(2)
    ('#,##0', '#,##0.00')
    """
    return COUNT + "." * (places > 0) + "0" * places


def workbook(sheets: Sequence[Sheet]) -> bytes:
    """Return an Excel file; no text in it is a formula."""
    writer = next((write for name, write in WRITERS.items() if find_spec(name)), None)
    if writer is None:
        raise MissingDependencyError("an Excel file needs openpyxl; openpyxl is not installed.", pip_install("excel"))
    return writer(sheets)


class _Cell(NamedTuple):
    value: Any
    form: str
    strong: bool = False


def _lines(sheet: Sheet) -> Iterator[list[_Cell]]:
    """Return the rows of a sheet, an empty one between tables."""
    for k, grid in enumerate(sheet.grids):
        if k:
            yield []
        if grid.title:
            yield [_Cell(no_formula(grid.title), TEXT, True)]
        yield [_Cell(no_formula(x), TEXT, True) for x in grid.head]
        for row in grid.rows:
            cells = zip(row, grid.forms, strict=True)
            yield [_Cell(no_formula(x) if isinstance(x, str) else finite(x), form) for x, form in cells]


def _widths(sheet: Sheet) -> list[int]:
    """Return how wide columns are, in characters: as their heads, numbers and texts need."""
    columns = max(len(grid.head) for grid in sheet.grids)
    wide = [0] * columns
    for grid in sheet.grids:
        for row in (grid.head, *grid.rows):
            for k, x in enumerate(row):
                wide[k] = max(wide[k], width(x) if isinstance(x, str) else 12 if x is not None else 0)
    return [min(x, WIDEST) + 2 for x in wide]


def _with_openpyxl(sheets: Sequence[Sheet]) -> bytes:
    styles, get_column_letter = module("openpyxl.styles"), module("openpyxl.utils").get_column_letter
    book, strong = module("openpyxl").Workbook(), styles.Font(bold=True)
    wrapped = styles.Alignment(wrap_text=True, vertical="top")
    book.remove(book.active)
    for sheet in sheets:
        made = book.create_sheet(sheet.name)
        for i, line in enumerate(_lines(sheet), 1):
            for k, cell in enumerate(line, 1):
                own = made.cell(i, k, cell.value)
                own.number_format = "General" if cell.form == TEXT else cell.form
                if isinstance(cell.value, str) and len(cell.value) > WIDEST and not cell.strong:
                    own.alignment = wrapped
                if cell.strong:
                    own.font = strong
        for k, size in enumerate(_widths(sheet), 1):
            made.column_dimensions[get_column_letter(k)].width = size
        if len(sheet.grids) == 1:
            made.freeze_panes = "A2"
    held = io.BytesIO()
    book.save(held)
    return held.getvalue()


def _with_xlsxwriter(sheets: Sequence[Sheet]) -> bytes:
    held = io.BytesIO()
    with module("xlsxwriter").Workbook(
        held, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    ) as book:
        strong, wrapped = book.add_format({"bold": True}), book.add_format({"text_wrap": True, "valign": "top"})
        shown: dict[str, Any] = {}
        for sheet in sheets:
            made = book.add_worksheet(sheet.name)
            for i, line in enumerate(_lines(sheet)):
                for k, cell in enumerate(line):
                    if cell.form not in shown:
                        shown[cell.form] = book.add_format({} if cell.form == TEXT else {"num_format": cell.form})
                    long = isinstance(cell.value, str) and len(cell.value) > WIDEST
                    made.write(i, k, cell.value, strong if cell.strong else wrapped if long else shown[cell.form])
            for k, size in enumerate(_widths(sheet)):
                made.set_column(k, k, size)
            if len(sheet.grids) == 1:
                made.freeze_panes(1, 0)
    return held.getvalue()


WRITERS = {"openpyxl": _with_openpyxl, "xlsxwriter": _with_xlsxwriter}
"""What writes workbooks: either will do."""
