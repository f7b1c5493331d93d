"""What a finished table gives away: labels that are probably not meant as they were given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..core.arraytypes import IntArray
from ..core.labels import Label, listed

FEW = 10
"""Rows below which all may be wrong by chance."""


def doubtful(table: Any, truth: IntArray, preds: list[IntArray], labels: Any, names: Any) -> Iterator[str]:
    """Say what is odd about the table of a whole sample, or about tables of its groups.

    ``truth`` and ``preds`` are the codes of its cells; ``labels`` and ``names`` are what the caller gave as such.
    """
    if labels is None:
        for name, pred in zip(getattr(table, "names", ()) or ("",), preds, strict=True):
            yield from _nothing_in_common(table, truth, pred, name)
    design = table.drawn.design
    if design is not None and len(design.strata) > 1:
        called = names or (labels if isinstance(labels, Mapping) else {})
        yield from _strata_are_true_classes(table, truth, preds, called)


def _nothing_in_common(table: Any, truth: IntArray, pred: IntArray, name: str) -> Iterator[str]:
    """Say so if no label is both true and predicted, unless a few rows that are wrong are a likelier reason."""
    if (truth == pred).any():
        return
    known = len(table.classes)
    sides = [np.unique(own[own < known]) for own in (truth, pred)]
    if not all(map(len, sides)) or np.isin(sides[0], sides[1]).any():
        return
    true, predicted = ([table.labels[k] for k in own.tolist()] for own in sides)
    alike = {_bare(x) for x in true} & {_bare(x) for x in predicted}
    few = table.drawn.kind == "pairs" or table.raw_cells.sums.n.sum() < FEW  # entries of a matrix are more than rows
    if not alike and (few or min(map(len, sides)) < 2):
        return
    of = f" of {name!r}" if name else ""
    differ = "Some differ by case or spaces alone. " if alike else ""
    yield (
        f"no true label is ever predicted{of}, so that every row counts as wrong. True labels are {listed(true)}; "
        f"predicted ones are {listed(predicted)}. {differ}Write the same class alike in both. If they are different "
        "classes, name them all in `labels`."
    )


def _bare(label: Label) -> str:
    return str(label).strip().casefold()


def _strata_are_true_classes(
    table: Any, truth: IntArray, preds: list[IntArray], names: Mapping[Label, Label]
) -> Iterator[str]:
    """Say so if each row is in the stratum of its true class, and not of its predicted one."""
    design, place = table.drawn.design, {label: k for k, label in enumerate(table.labels)}
    label_of = np.array([place.get(names.get(key, key), -1) for key in design.strata], dtype=np.int64)
    of_row = label_of[np.array(design.of, dtype=np.int64)[table.raw_cells.codes[-1]]]
    if len(np.unique(truth)) > 1 and (of_row == truth).all() and not any((of_row == own).all() for own in preds):
        yield (
            "the strata are the true classes: each row is in the stratum of its true label. The strata of a map are "
            "its own classes, which are predictions; so truth and prediction are probably exchanged, and then user's "
            "and producer's accuracies are, too, and areas are wrong. Give the classes of the map as predictions. If "
            "rows were drawn by their true class, the table is right."
        )
