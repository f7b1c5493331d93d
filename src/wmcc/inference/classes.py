"""Intervals of each class's own scores, from the table of the class and the rest.

Recall is the accuracy among rows of the class, precision among rows that were called it, IoU among rows that are
either; F1 is a function of IoU alone. So each is an interval that `interval` can make, of a part of the table.
"""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any, NamedTuple

import numpy as np

from ..labels import Label
from ..measures import CLASS_MEASURES, MEASURES
from ..measures.base import Measure
from ..table import Table
from .influence import Clusters
from .interval import Interval, estimated


class Part(NamedTuple):
    """What a class's score is computed from.

    Parameters
    ----------
    measure
        The measure that it is, of the part.
    hits, misses, alarms, others
        Which cells are the part: rows of the class called it and not called it; other rows called it and not.
    """

    measure: Measure
    hits: bool
    misses: bool
    alarms: bool
    others: bool


PARTS = {
    "precision": Part(MEASURES["accuracy"], True, False, True, False),
    "recall": Part(MEASURES["accuracy"], True, True, False, False),
    "iou": Part(MEASURES["accuracy"], True, True, True, False),
    "mcc": Part(MEASURES["mcc"], True, True, True, True),
}


def class_intervals(data: Table | Clusters, level: float) -> dict[str, tuple[Interval, ...]]:
    """Intervals of each measure of `CLASS_MEASURES`, a tuple of one per class in the order of the labels."""
    table = data.whole if isinstance(data, Clusters) else data
    found = [_of_class(data, table, k, level) for k in range(len(table.labels))]
    return {name: tuple(of_class[name] for of_class in found) for name in CLASS_MEASURES}


def _of_class(data: Table | Clusters, table: Table, k: int, level: float) -> dict[str, Interval]:
    label, own = table.labels[k], np.arange(len(table.labels)) == k
    against = table.against_rest(label)
    # As `against_rest` has them: 0 hits, 1 misses, 2 alarms, 3 others.
    true, pred = ~own[table.stack.codes]
    places = 2 * true + pred
    out = {}
    for name, part in PARTS.items():
        cells = against._part(np.array(part[1:]).reshape(2, 2))
        of_part: Any = cells
        if isinstance(data, Clusters) and cells.margins.s:
            number = np.full(4, -1)
            number[2 * cells.stack.codes[0] + cells.stack.codes[1]] = np.arange(len(cells.stack))
            of_part = data.within(cells, number[places])
        out[name] = _interval(of_part, cells, name, label, level)
    out["f1"] = _f1(out["iou"], float(CLASS_MEASURES["f1"](against)[0]))
    return out


def _interval(data: Any, cells: Table, name: str, label: Label, level: float) -> Interval:
    if cells.margins.s == 0:
        title, side = CLASS_MEASURES[name].title, "y_pred" if name == "precision" else "y_true"
        why = f"{title} is undefined at these weights: class {label!r} lacks weight in {side}"
        return Interval(name, level, "fisher", 0.0, nan, nan, nan, nan, 0.0, problem=why, label=label)
    found = estimated(data, PARTS[name].measure, level, "fisher")
    return replace(found, measure=name, label=label)


def _f1(iou: Interval, value: float) -> Interval:
    """Interval of F1 = 2 IoU / (1 + IoU), which grows with IoU."""
    low, high = (2 * x / (1 + x) for x in (iou.low, iou.high))
    problem = None if iou.problem is None else iou.problem.replace("IoU", "F1")
    se = 2 * iou.se / (1 + iou.value) ** 2
    return replace(iou, measure="f1", value=value, low=min(low, value), high=max(high, value), se=se, problem=problem)
