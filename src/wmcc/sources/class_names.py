"""Classes of several sides in the same words: where one has names and another numbers, all have names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..core.arraytypes import Array
from ..errors import InputError, InputTypeError
from ..present.text import counted
from .codes import Rules
from .column_lookup import is_name
from .layers import Keys
from .request import Request

NAMES = "names={{{number}: …, …}}, or wmcc.Raster(…, names=…) for those of one raster."
"""What says what numbers of classes stand for."""


def is_text(values: Any) -> bool:
    """Whether the first label of a series, if it has one, is text."""
    first = values.dropna().head(1).tolist()
    return bool(first) and isinstance(first[0], (str, bytes))


class Wording(NamedTuple):
    """Names of classes by their numbers, whether labels are to have them, and the rules of labels that do."""

    names: Mapping[Any, Any]
    in_names: bool
    rules: Rules

    @classmethod
    def of(cls, sides: Sequence[Any], legends: Sequence[Mapping[Any, Any]], rules: Rules) -> Wording:
        """Look which sides have names; a call's own names come before those of rasters."""
        names = {number: name for own in legends for number, name in own.items()} | (rules.names or {})
        text, numbers = ([own for own in sides if own.notna().any() and is_text(own) is x] for x in (True, False))
        if not (text and numbers):
            return cls(names, False, rules)
        if not names:
            number, name = (own[0].dropna().iloc[0] for own in (numbers, text))
            raise InputTypeError(
                f"labels are of mixed types: {number} is a number and {name!r} is a string.",
                f"say what the numbers stand for: {NAMES.format(number=number)}",
                "names",
                f"say what the numbers stand for: --names {number}=…, and so on.",
            )
        names = {x: str(x) for x in rules.ignore if not isinstance(x, str)} | names
        return cls(
            names,
            True,
            rules._replace(
                names={x: name for x, name in (rules.names or {}).items() if isinstance(x, str)} or None,
                labels=None if rules.labels is None else tuple(names.get(x, x) for x in rules.labels),
                ignore=tuple(names.get(x, x) for x in rules.ignore),
                positive=names.get(rules.positive, rules.positive),
            ),
        )

    def named(self, values: Any, known: Array, where: str) -> Any:
        """Return labels by their names, if they are numbers; of those that are not known, any."""
        if is_text(values):
            return values
        nameless = known & ~values.isin([*self.names]).to_numpy()
        if nameless.any():
            number, places = values[nameless].iloc[0], counted(int(nameless.sum()), "place")
            raise InputError(
                f"classes of the other side are names, and {where} has none for {number}, which it has at {places}.",
                f"name all classes: {NAMES.format(number=number)}",
                "names",
                f"name all classes: --names {number}=…, and so on.",
            )
        return values.map(dict(self.names))

    def like_sizes(self, values: Any, words: Sequence[Any] | None, known: Array, where: str) -> Any:
        """Return the classes of a map as strata: in the words of their sizes, or else in those of the labels."""
        names = {*self.names.values()}
        in_names = self.in_names if words is None else any(x in names for x in words)
        return self.named(values, known, where) if in_names and self.names else values


def in_one_wording(request: Request, rules: Rules) -> tuple[Request, Rules]:
    """Return the call of a frame of pandas, and its rules, with the names of classes in place of their numbers.

    They are the same where all labels are numbers, or all are text.
    """
    frame, preds = request.y_true, request.pred
    columns = [request.true, *(preds.values() if isinstance(preds, Mapping) else [preds])]
    if rules.names is None or not hasattr(frame, "iloc"):
        return request, rules
    if not all(is_name(x) and [*frame.columns].count(x) == 1 for x in columns):
        return request, rules
    wording = Wording.of([frame[x] for x in columns], [], rules)
    if not wording.in_names:
        return request, rules
    frame = frame.copy()
    for x in dict.fromkeys(columns):
        frame[x] = wording.named(frame[x], frame[x].notna().to_numpy(), f"the column {x!r}")
    return request._replace(y_true=frame), wording.rules


def words_of_sizes(keys: Keys, column: Any) -> list[Any] | None:
    """What sizes of strata are called in a mapping or a frame; None if there are none, or a column has them."""
    from .designs import as_names, read_sizes

    strata = as_names(keys.get("stratum"))
    if column not in strata:
        return None
    place = strata.index(column)
    for word in ("population", "fpc"):
        given = keys.get(word)
        if isinstance(given, Mapping) or hasattr(type(given), "columns") or hasattr(given, "to_dict"):
            sizes = read_sizes(given, word, strata).of or {}
            return [key[place] if isinstance(key, tuple) and place < len(key) else key for key in sizes]
    return None
