"""Text for people: numbers and names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

_decimals: ContextVar[int] = ContextVar("decimals", default=4)
"""Decimals of scores."""


@contextmanager
def with_digits(digits: int | None) -> Iterator[None]:
    """Write scores with so many decimals for a while; None is as many as before."""
    token = _decimals.set(_decimals.get() if digits is None else digits)
    try:
        yield
    finally:
        _decimals.reset(token)


def decimal(x: float) -> str:
    """Write a score: all with the same number of decimals, four by default, so that columns line up.

    Examples
    --------
    >>> with with_digits(2):
    ...     decimal(0.98765), decimal(-1e-9)
    ('0.99', '0.00')
    """
    text = "—" if x != x else f"{x:.{_decimals.get()}f}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def decimals(several: Iterable[float]) -> list[str]:
    """Write several scores."""
    return list(map(decimal, several))


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
    unit = Decimal(1).scaleb(-_decimals.get())
    first, last = (f"{Decimal(repr(float(x))).quantize(unit, side) + 0:f}" for x, side in ends)
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


def brief(value: object, most: int = 40) -> str:
    """Write a value as Python does, shortened: what came, in a message.

    Examples
    --------
    >>> brief("0.1"), brief([0.1])
    ("'0.1'", '[0.1]')
    """
    return shortened(repr(value), most)


def visible(text: str) -> str:
    r"""The text on one line, with nothing in it that moves a terminal's cursor or turns its direction.

    Examples
    --------
    >>> print(visible("a\x1b[2Jb\n"))
    a\x1b[2Jb\n
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def visible_rows(rows: Iterable[Iterable[str]]) -> list[list[str]]:
    """The same of the texts of several rows."""
    return [list(map(visible, row)) for row in rows]


def visible_lines(text: str) -> str:
    """The same of a text of several lines, which it keeps."""
    return "\n".join(map(visible, text.split("\n")))


def _shown(character: str) -> str:
    kind = unicodedata.category(character)
    if kind in ("Cc", "Cs", "Zl", "Zp") or "\u202a" <= character <= "\u202e" or "\u2066" <= character <= "\u2069":
        return character.encode("unicode_escape").decode()
    return character


def counted(n: int, one: str, many: str | None = None) -> str:
    """Write how many there are.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row"), counted(3, "class", "classes")
    ('1 row', '2,000 rows', '3 classes')
    """
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Write names in a sentence.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def off_by(eps: float, model: str) -> str:
    """Write how far weights may be off: a share of each, or an amount."""
    return f"{number(100 * eps)} %" if model == "relative" else number(eps)


def how_far_off(eps: float, model: str, whose: str = "their") -> str:
    """Write how far weights may be off, as the rest of a sentence.

    Examples
    --------
    >>> how_far_off(0.1, "relative"), how_far_off(float("nan"), "bounds", "its")
    ('off by up to 10 %', 'within its bounds')
    """
    return f"within {whose} bounds" if model == "bounds" else f"off by up to {off_by(eps, model)}"


def weights_head(eps: float, model: str) -> str:
    """Write the same as the head of a column."""
    return "Weights within their bounds" if model == "bounds" else f"Weights off by {off_by(eps, model)}"


def width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(x) in "WF" for x in text)
    return len(text) + wide - sum(unicodedata.category(x) in ("Mn", "Me", "Cf") for x in text)


def widths(rows: Iterable[Iterable[str]]) -> list[list[int]]:
    """Columns that the texts of several rows take."""
    return [list(map(width, row)) for row in rows]


def cut(text: str, room: int) -> str:
    """Return the text, or its beginning and an ellipsis, in so many columns."""
    if width(text) <= room:
        return text
    while text and width(text) >= room:
        text = text[:-1]
    return text + "…"


def name_of(label: object) -> str:
    """Write a label, or a value of a column of groups."""
    return "missing" if label is None else str(label)


def left_out(shown: int, there: int, what: str) -> list[str]:
    """Say so where a table shows a part of a long list."""
    return [] if there <= shown else [f"Shown are the {shown:,} heaviest of {there:,} {what}; CSV and JSON have all."]


def heaviest(weights: Sequence[float], most: int) -> list[int]:
    """Return the places of the largest numbers, at most so many, in their own order: what is shown of a long list."""
    return sorted(sorted(range(len(weights)), key=lambda k: -weights[k])[:most])
