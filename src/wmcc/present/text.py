"""Text for people: numbers, names, aligned columns, and the same in HTML for notebooks."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
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


def percent(share: float) -> str:
    """Write a share; only all is 100 %, and only nothing is 0 %.

    Examples
    --------
    >>> percent(0.1234), percent(1e-9), percent(0.9999), percent(1.0)
    ('12.3 %', '<0.1 %', '>99.9 %', '100 %')
    """
    if share != share:
        return "—"
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    low, high = 0.001, 0.999
    return "<0.1 %" if share < low else ">99.9 %" if share > high else f"{100 * share:.1f} %"


def at_most(x: float | Decimal, digits: int = 3) -> str:
    """Write a number rounded down: what is certain up to it is not certain beyond.

    Examples
    --------
    >>> at_most(88.9999), at_most(0.067499), at_most(0.0)
    ('88.9', '0.0674', '0')
    """
    return _rounded(x, Context(prec=digits, rounding=ROUND_FLOOR))


def at_least(x: float, digits: int = 3) -> str:
    """Write a number rounded up."""
    return _rounded(x, Context(prec=digits, rounding=ROUND_CEILING))


def share(x: float, digits: int = 3) -> str:
    """Write how far weights may be off, a share of each, in per cent and rounded down.

    Examples
    --------
    >>> share(0.29), share(0.123456789), share(0.9999999999, 6)
    ('29 %', '12.3 %', '99.9999 %')
    """
    return f"{at_most(Decimal(repr(float(x))).scaleb(2), digits)} %"  # 100 × 0.29 is 28.999999999999996


def outward(low: float, high: float) -> tuple[str, str]:
    """Write the ends of a range that was proved, as scores but rounded outwards: no value lies beyond them.

    Examples
    --------
    >>> outward(0.86086, 0.91231), outward(0.3, 1.0)
    (('0.8608', '0.9124'), ('0.3000', '1.0000'))
    """
    ends = ((low, ROUND_FLOOR), (high, ROUND_CEILING))
    first, last = (f"{Decimal(repr(float(x))).quantize(Decimal('0.0001'), side) + 0:f}" for x, side in ends)
    return first, last


def _rounded(x: float | Decimal, context: Context) -> str:
    amount = context.create_decimal(Decimal(x)).normalize()
    return f"{amount:,f}" if amount == 0 or 1e-4 <= amount < 1e9 else f"{amount:e}"


def shortened(text: str, most: int) -> str:
    """Return the text, or its beginning and end: names that differ do so there more often than in the middle.

    Examples
    --------
    >>> shortened("Temperate broadleaf forest", 16)
    'Tempera…f forest'
    """
    return text if len(text) <= most else f"{text[: (most + 1) // 2 - 1].rstrip()}…{text[-(most // 2) :].lstrip()}"


def visible(text: str) -> str:
    r"""The text on one line, with nothing in it that moves a terminal's cursor or turns its direction.

    Examples
    --------
    >>> print(visible("a\x1b[2Jb\n"))
    a\x1b[2Jb\n
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def visible_lines(text: str) -> str:
    """The same for a text of several lines, which it keeps."""
    return "\n".join(map(visible, text.split("\n")))


def _shown(character: str) -> str:
    kind = unicodedata.category(character)
    if kind in ("Cc", "Cs", "Zl", "Zp") or "\u202a" <= character <= "\u202e" or "\u2066" <= character <= "\u2069":
        return character.encode("unicode_escape").decode()
    return character


def grid(rows: Sequence[Sequence[str]]) -> str:
    """Columns two spaces apart: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        first, *others = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join([row[0].ljust(len(first)), *others]).rstrip())
    return "\n".join(lines)


CAPTION = "caption-side:top;text-align:left;font-weight:bold;white-space:nowrap;color:inherit"


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """Write an HTML table; the first cell of a row is its heading. All is escaped; colours are the page's."""
    title = f'<caption style="{CAPTION}">{escape(caption)}</caption>' * bool(caption)
    names = "".join(_heading(x, "col", left=k == 0) if x else "<td></td>" for k, x in enumerate(head))
    top = f"<thead><tr>{names}</tr></thead>" * bool(head)
    body = "".join(
        f"<tr>{_heading(first, 'row', left=True)}{''.join(f'<td>{escape(x)}</td>' for x in others)}</tr>"
        for first, *others in rows
    )
    return (
        f'<table style="text-align:right;font-variant-numeric:tabular-nums">{title}{top}<tbody>{body}</tbody></table>'
    )


def _heading(text: str, scope: str, left: bool) -> str:
    return f'<th scope="{scope}" style="text-align:{"left" if left else "right"}">{escape(text)}</th>'


def html(tables: Mapping[str, Sequence[Sequence[str]]], notes: Sequence[str] = ()) -> str:
    """Write a result for notebooks: tables by their captions, each with its heading as the first row, and sentences.

    Examples
    --------
    >>> html({}, ["MCC < 0.5"])
    '<p>MCC &lt; 0.5</p>'
    """
    parts = [html_table(head, rows, caption) for caption, (head, *rows) in tables.items()]
    return "".join([*parts, *(f"<p>{escape(note)}</p>" for note in notes)])


def heaviest(weights: Sequence[float], most: int) -> list[int]:
    """Return the places of the largest numbers, at most so many, in their own order: what is shown of a long list."""
    return sorted(sorted(range(len(weights)), key=lambda k: -weights[k])[:most])
