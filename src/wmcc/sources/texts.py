"""Labels and keys of groups that were read as text, because their file holds nothing else.

Engines guess types from the beginning of a CSV file, each by its own rules. Here the columns that are named are read
as text by all of them, and what the text stands for is decided once, when every label that occurs is known: integers if
all look like integers (``007`` does not), booleans if all are true or false, else text. What is ignored has no say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from .. import labels as _labels
from ..labels import Label
from .codebook import Rules, with_positive
from .groups import Tables, add
from .problems import unknown_labels

INTEGER = re.compile(r"(-?(?:0|[1-9][0-9]{0,17}))(?:\.0*)?")
BOOLEAN = {"true": True, "false": False}


def reader(texts: Iterable[str]) -> Callable[[str], Label]:
    """Return what turns these texts into labels; other texts stay what they are."""
    texts = set(texts)
    if texts and all(map(INTEGER.fullmatch, texts)):
        return lambda text: int(text.partition(".")[0]) if INTEGER.fullmatch(text) else text
    if texts and all(text.lower() in BOOLEAN for text in texts):
        return lambda text: BOOLEAN.get(text.lower(), text)
    return str


def written(label: Label) -> str:
    """A label that the caller named, as text."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def ignored_texts(rules: Rules) -> tuple[str, ...]:
    """What is to be ignored, in the ways it may be written."""
    texts = map(written, rules.ignore)
    return tuple(dict.fromkeys(x for text in texts for x in (text, f"{text}.0", text.upper(), text.capitalize())))


def read_rules(rules: Rules, read: Callable[[str], Label]) -> Rules:
    """What the caller said about classes, in labels of the kind that the text has."""
    labels = None if rules.labels is None else _labels.given([read(written(x)) for x in rules.labels])
    return Rules(labels, (), None if rules.positive is None else read(written(rules.positive)))


def typed(tables: Tables, rules: Rules, text: set[str]) -> Tables:
    """Tables over text as tables over what it stands for; ``text`` are the roles that were read as text."""
    if "t" in text:
        read = reader(str(label) for table in tables.values() for label in table.labels)
        meant = read_rules(rules, read)
        tables = {key: _typed(table, read, meant) for key, table in tables.items()}
    for place in sorted(int(role[1:]) for role in text if role.startswith("b")):
        read = reader(key[place] for key in tables if key[place] is not None)
        moved: Tables = {}
        for key, table in tables.items():
            value: Any = None if key[place] is None else read(key[place])
            add(moved, (*key[:place], value, *key[place + 1 :]), table)
        tables = moved
    return tables


def _typed(table: Any, read: Callable[[str], Label], rules: Rules) -> Any:
    table = table._relabelled([read(str(label)) for label in table.labels])
    if rules.labels is not None:
        unknown = [k for k, label in enumerate(table.labels) if label not in rules.labels]
        if unknown:
            known = [k for k in range(len(table.labels)) if k not in unknown]
            raise unknown_labels(table.rows - table._take(known).rows, "", table.labels[unknown[0]], rules.labels)
        table = table._aligned(rules.labels)
    return with_positive(table, rules)
