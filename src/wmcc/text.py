"""Plain text for people: numbers and aligned columns."""

from __future__ import annotations

from collections.abc import Sequence


def decimal(x: float) -> str:
    """Write a score: four decimals, so that columns line up."""
    return "—" if x != x else f"{x:.4f}"


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
    lines = (
        "  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)
