"""Plain text for people: numbers and aligned columns."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def decimal(x: float) -> str:
    """Write a score: four decimals, so that columns line up."""
    text = "—" if x != x else f"{x:.4f}"
    return "0.0000" if text == "-0.0000" else text


def number(x: float, digits: int = 6) -> str:
    """Write a number short enough for a table cell, with thousands separated."""
    if x != x:
        return "—"
    if x == 0:
        return "0"
    if 1e-4 <= abs(x) < 1e9:
        text = f"{x:,.{max(0, digits - len(str(int(abs(x)))))}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{x:.{digits - 1}g}"


def grid(rows: Sequence[Sequence[str]]) -> str:
    """Columns two spaces apart: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        first, *others = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join([row[0].ljust(len(first)), *others]).rstrip())
    return "\n".join(lines)


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write an HTML table; the first cell of a row is its heading. Everything is escaped."""
    top = "".join(f"<th>{escape(x)}</th>" for x in head)
    body = "".join(
        f"<tr><th>{escape(row[0])}</th>" + "".join(f"<td>{escape(x)}</td>" for x in row[1:]) + "</tr>" for row in rows
    )
    return f"<table>{f'<thead><tr>{top}</tr></thead>' * bool(head)}<tbody>{body}</tbody></table>"
