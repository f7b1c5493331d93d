"""Labels and keys of groups that were read as text, because their file holds nothing else.

Engines guess types from the beginning of a CSV file, each by its own rules. Here the columns that are named are read
as text by all of them, and what the text stands for is decided once, when every label that occurs is known: integers if
all look like integers (``007`` does not), booleans if all are true or false, else text. What is ignored has no say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core import labels as _labels
from ..core.keys import Key
from ..core.labels import LIKE_MISSING, MISSING, Label
from ..core.tables import Tables
from ..errors import LabelError
from .arrays import with_positive
from .codes import Rules
from .problems import label_roles, unknown_labels

INTEGER = re.compile(r"(-?(?:0|[1-9][0-9]{0,17}))(?:\.0*)?")
BOOLEAN = {"true": True, "false": False}
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)?(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|-?(?:nan|inf)", re.IGNORECASE)
"""A number as it is written by programs: ``01.25`` is a code."""

MOST_DECIMALS = 100
"""Different decimal numbers in columns of labels, all of them, beyond which they must be named."""


def reader(texts: Iterable[str]) -> Callable[[str], Label]:
    """Return what turns these texts into labels; other texts stay what they are."""
    texts = set(texts)
    if texts and all(map(INTEGER.fullmatch, texts)):
        return lambda text: int(text.partition(".")[0]) if INTEGER.fullmatch(text) else text
    if texts and all(text.lower() in BOOLEAN for text in texts):
        return lambda text: BOOLEAN.get(text.lower(), text)
    return str


def refuse_decimals(sides: Mapping[str, set[str]], names: Mapping[str, Any]) -> None:
    """Refuse a column of labels that holds measurements, which a typed column could not: each would be a class.

    ``sides`` has the texts of each role, and ``names`` the columns. Decimal numbers are measurements if they are many,
    or if they are on one side only: in predictions and not among the true labels, or the other way round.
    """
    decimal = {role: decimals_of(texts) for role, texts in sides.items()}
    predicted = any(decimals for role, decimals in decimal.items() if role != "t")
    for role, decimals in decimal.items():
        alone = not (predicted if role == "t" else decimal["t"])
        if len(decimals) > (0 if alone else MOST_DECIMALS):
            hint = "name the column of classes as `true`; " if role == "t" else (
                "name the column of classes as `pred`, or that of scores as `score`; "
            )  # fmt: skip
            many = f"{len(decimals):,} different decimal numbers, such as" if decimals[1:] else "the decimal number"
            raise LabelError(
                f"the column {names[role]!r} holds {many} {decimals[0]!r}; expected classes.",
                f"{hint}if these numbers are names of classes, list them all in `labels`.",
            )


def decimals_of(texts: Collection[str]) -> list[str]:
    """Return the decimal numbers among texts, if all of these are numbers."""
    known = sorted({*texts} - LIKE_MISSING)
    decimals = [text for text in known if not INTEGER.fullmatch(text)]
    return decimals if decimals and all(NUMBER.fullmatch(text.replace(",", ".")) for text in known) else []


def written(label: Label) -> str:
    """A label that the caller named, as text."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def ignored_texts(rules: Rules) -> dict[str, Label]:
    """What is to be ignored, in the ways it may be written, and what the caller called it."""
    texts = {written(label): label for label in rules.ignore}
    ways = {x: label for text, label in texts.items() for x in (f"{text}.0", text.upper(), text.capitalize())}
    return {**ways, **texts}


def text_rules(rules: Rules, text: Collection[str]) -> Rules:
    """Return what becomes of labels as long as they are text, if they are: `typed` says the rest."""
    return Rules(ignore=tuple(ignored_texts(rules)), missing=rules.missing) if "t" in text else rules


def read_rules(rules: Rules, read: Callable[[str], Label]) -> Rules:
    """What the caller said about classes, in labels of the kind that the text has."""
    labels = None if rules.labels is None else _labels.given([read(written(x)) for x in rules.labels])
    positive = None if rules.positive is None else read(written(rules.positive))
    return rules._replace(labels=labels, ignore=(), positive=positive)


def typed(tables: Tables[Any], rules: Rules, text: set[str], names: Mapping[str, Any]) -> Tables[Any]:
    """Tables over text as tables over what it stands for.

    ``text`` are the roles that were read as text, and ``names`` has the columns by their roles.
    """
    if "t" in text:
        classes = [*map(str, tables.classes)]
        known = [label for label in classes if label != MISSING]
        if rules.labels is None and rules.names is None:
            sides = {
                role: {classes[k] for k in np.unique(own).tolist() if k < len(classes)} - {MISSING}
                for role, own in zip(label_roles(names), tables.raw_cells.codes[1:], strict=False)
            }
            refuse_decimals(sides, names)
        read, void = reader(known), {**ignored_texts(rules), MISSING: MISSING}
        # Where all rows are ignored there is no text to go by, and the caller's classes are of the kind they are.
        meant = read_rules(rules, read) if classes else rules._replace(ignore=())
        labels = [read(label) for label in classes]
        labels += [read(written(void[str(label)])) for label in tables.void]  # of the kind that the classes are
        tables = _of_classes(tables._relabelled(labels), meant)
    groups, clusters = ({int(role[1:]) for role in text if role[0] == letter} for letter in "bc")
    if groups:
        tables = tables._rekeyed(_typed_keys(tables.groups, groups))
    return tables._reclustered(_typed_keys(tables.drawn.clusters, clusters)) if clusters else tables


def _typed_keys(keys: Sequence[Key], places: set[int]) -> list[Key]:
    """Keys in which some values, by place, were read as text."""
    rows = [list(key) if isinstance(key, tuple) else [key] for key in keys]
    for place in places:
        read = reader(row[place] for row in rows if row[place] is not None)
        for row in rows:
            row[place] = None if row[place] is None else read(row[place])
    return [tuple(row) if isinstance(key, tuple) else row[0] for key, row in zip(keys, rows, strict=True)]


def _of_classes(tables: Tables[Any], rules: Rules) -> Tables[Any]:
    """Tables over the classes that the caller named, if any."""
    if rules.labels is not None:
        known = {*rules.labels, MISSING}
        void = set(tables.void)
        unknown = np.array([label not in known and label not in void for label in tables.labels], dtype=bool)
        if unknown.any():
            axes = slice(1, 1 + tables.axes)
            rows = tables.raw_cells.sums.n[unknown[tables.raw_cells.codes[axes]].any(axis=0)].sum()
            raise unknown_labels(int(rows), "", tables.labels[int(np.argmax(unknown))], rules.labels)
        kept = (MISSING,) * (MISSING in tables.classes)
        tables = replace(tables._aligned(rules.labels + kept + tables.void), same_classes=True)
    return with_positive(tables, rules)  # type: ignore[no-any-return]
