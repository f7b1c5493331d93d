"""Which labels are classes, and the code of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from .. import tally
from ..joint import JointTable
from ..labels import Label, check_count, ordered, plain
from ..table import Table

T = TypeVar("T", bound=Table | JointTable)


class Rules(NamedTuple):
    """What the caller said about labels."""

    labels: tuple[Label, ...] | None = None
    ignore: tuple[Label, ...] = ()
    positive: Label | None = None


NOTHING = "\0ignored"
"""Stands for all labels in a text file that are to be ignored, of whatever kind the others are."""


class Codebook:
    """The classes of all columns, in the order they were met, and the code of each."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.classes: list[Label] = list(rules.labels or ())
        self._code: dict[Label, int] = {label: i for i, label in enumerate(self.classes)}
        self._ignore = frozenset(rules.ignore)
        self._closed = rules.labels is not None
        self._integers = False  # whether an integer was met: False and 0 are one class, and this decides its name

    @property
    def given_integers(self) -> list[int] | None:
        """Integers the caller named as classes or to be ignored, sorted; None if no classes were named."""
        if not self._closed:
            return None
        named = (int(x) for x in (*self.classes, *self._ignore) if not isinstance(x, str))
        return sorted(k for k in named if -(1 << 63) <= k < 1 << 64)

    def codes(self, labels: Sequence[Label]) -> list[int]:
        """Code of each label: its class, a new class, or a sentinel for ignored and unknown ones."""
        self._integers |= int in map(type, labels)
        if not self._closed:
            for label in labels:
                if label not in self._ignore:
                    self._code.setdefault(label, len(self._code))
            self.classes = list(self._code)
            check_count(len(self.classes))
        return [tally.IGNORED if label in self._ignore else self._code.get(label, tally.UNKNOWN) for label in labels]

    def named(self, codes: T, known: Any = 0) -> T:
        """From a table over codes to one over the classes that count: those given, or those seen, in sorted order.

        ``known`` is not zero for classes that count though no observation of the table has them.
        """
        rules = self._rules
        if rules.ignore and not codes.ignored and rules.ignore != (NOTHING,):
            plain((*self.classes, *rules.ignore))  # ignore="255" beside integers ignores nothing
        if rules.labels is not None:
            names, order = rules.labels, list(range(len(rules.labels)))
        else:
            seen = (codes._met() + known).tolist()
            kept = {name: k for k, name in enumerate(self.classes) if seen[k]}
            names = ordered(kept)
            order = [kept[name] for name in names]
            if self._integers:
                names = tuple(int(name) if isinstance(name, bool) else name for name in names)
        table: Any = codes
        if order != list(range(len(codes.labels))):
            table = table._take(order)
        if names != table.labels or bool in map(type, names):  # (False, True) equals the codes (0, 1)
            table = replace(table, labels=names)
        found: T = with_positive(table, rules)
        return found


def with_positive(table: Any, rules: Rules) -> Any:
    """Return the table with its positive class, if there is one: known to the caller, whether it occurs or not."""
    if rules.positive is None:
        return table
    if rules.labels is None and rules.positive not in table.labels:
        table = table + Table.empty([rules.positive])
    return replace(table, positive=rules.positive)
