"""Scores in the place of predictions: the step of each score, and steps of two classes counted as labels are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ...core import planes
from ...core.keys import Key
from ...core.labels import Label
from ...core.score_table import STEP, ScoreTable, checked_edges
from ...core.stack import Stack
from ...core.table import Table
from ...core.tables import Tables
from ...errors import InputError, InputTypeError
from ...present.text import brief
from .batches import Rows, check_tensor

MOST_EDGES = 1 << 17
"""Thresholds of which the sums of float64 weights fit in memory."""
IGNORED = -1
"""Stands for the true class where rows are ignored."""
NAN_BITS: int = np.array(np.nan).view(np.int64).item()

Bins = int | tuple[float, ...]
"""A number of even steps over [0, 1], or thresholds."""


@dataclass(frozen=True)
class ScoreSteps:
    """Thresholds between which scores are put together, and how steps and true classes are counted as labels are.

    With S steps, rows of true class t in step s have the number c = t S + s, and are counted in cell (c // K, c % K) of
    K classes, the fewest that have room for all. So whatever counts, stores and adds up labels does so with scores.

    Parameters
    ----------
    edges
        The thresholds, ascending.
    within
        What a score must be within; None if any number is one.
    ignore
        The label that is ignored.
    """

    edges: tuple[float, ...]
    within: tuple[float, float] | None = None
    ignore: int | None = None

    def __post_init__(self) -> None:
        if len(self.edges) > MOST_EDGES:
            raise InputError(
                f"`bins` has {len(self.edges):,} thresholds; at most {MOST_EDGES:,} fit.",
                "take fewer; or wmcc.tabulate(y_true, score=…), which keeps every score.",
                "bins",
            )
        if self.ignore in (0, 1):
            raise InputError(
                f"`ignore_index` is {self.ignore}, one of the two classes; thresholds need rows of both.",
                "give `ignore_index` another label, such as 255.",
                "ignore_index",
            )

    @classmethod
    def of_bins(cls, bins: Bins, ignore: int | None) -> ScoreSteps:
        """Return the steps that checked bins mean."""
        if isinstance(bins, tuple):
            return cls(bins, None, ignore)
        return cls(tuple(k / bins for k in range(bins + 1)), (0.0, 1.0), ignore)

    @property
    def count(self) -> int:
        """Number of steps: that below all thresholds, and one from each on."""
        return len(self.edges) + 1

    @property
    def classes(self) -> int:
        """The K classes."""
        return math.isqrt(2 * self.count - 1) + 1

    @property
    def counted_as(self) -> tuple[int, int | None]:
        """Number of classes, and the label that is ignored, as which all is counted."""
        return self.classes, None if self.ignore is None else IGNORED

    # ---- tensors ----------------------------------------------------------------------------------------

    def cuts(self, device: Any, before: Any = None) -> Any:
        """Return the thresholds on a device, those of before if they are there; float64 holds scores of every type."""
        where = torch.device("cpu") if device.type == "mps" else device  # which knows no float64
        if before is not None and before.device == where:
            return before
        return torch.tensor(self.edges, dtype=torch.float64, device=where)

    def steps(self, pred: Any, target: Any, cuts: Any) -> Any:
        """Return the step of each score, without waiting for the device; of a score that is none the bits of it."""
        check_tensor("pred", pred)
        check_tensor("target", target)
        if not pred.is_floating_point():
            raise InputTypeError(
                f"`pred` has dtype {pred.dtype}; with `bins` it has scores of class 1, which are floating.",
                "give probabilities or logits; of predicted labels leave out `bins`.",
                "pred",
            )
        if pred.numel() != target.numel():
            raise InputError(
                f"`pred` has shape {tuple(pred.shape)} and `target` {tuple(target.shape)}; with `bins` there is one "
                "score, that of class 1, for each label.",
                "of two scores on axis 1, softmax included, pass pred[:, 1].",
                "pred",
            )
        scores = pred.detach()
        if cuts.device.type == "cpu":  # beside a device that knows no float64
            scores = scores.cpu()
        scores = scores.double().contiguous()
        step = torch.bucketize(scores, cuts.to(scores.device), right=True)
        if self.within is not None:
            low, high = self.within
            step = torch.where((scores < low) | (scores > high), scores.view(torch.int64), step)
        return step.masked_fill_(scores.isnan(), NAN_BITS).to(pred.device)

    def folded(self, rows: Rows) -> Rows:
        """Return labels of the K classes, of labels of 0 and 1 and of steps; what is bad stays so, and can be told."""
        side, (target, step, weight) = self.classes, rows
        true = target.long()
        known, fine = (true == 0) | (true == 1), (step >= 0) & (step < self.count)
        number = true.clamp(0, 1) * self.count + step.clamp(0, self.count - 1)
        row = torch.where(known, number // side, torch.where(true < 0, true - 1, true + (side - 2)))
        if self.ignore is not None:
            row = row.masked_fill_(true == self.ignore, IGNORED)
        return Rows(row, torch.where(fine, number % side, step), weight)

    # ---- tables -----------------------------------------------------------------------------------------

    def refuse_bad(self, counts: Any, first: Any, item: tuple[int, ...] | None) -> None:
        """Raise the error that says which row is bad, if there are any, with its label or score as it was given."""
        first = np.array(first)
        value = first[0, 2]
        first[0, 2] = value + 1 if value < 0 else value - (self.classes - 2)
        planes.refuse_bad(counts, first, 2, self.ignore, item, self.within, scores=True)

    def scores(self, folded: Table, names: dict[int, Label] | None = None) -> ScoreTable:
        """Return the score table of the table of the K classes."""
        codes, lower = folded.raw_cells.codes, (-math.inf, *self.edges)
        true, step = np.divmod(codes[0] * self.classes + codes[1], self.count)
        present, place = np.unique(step, return_inverse=True)
        if not len(present):
            present = np.zeros(1, dtype=np.int64)
        keys: tuple[Key, ...] = tuple(lower[k] for k in present.tolist())
        ignored = np.zeros(len(present), dtype=np.int64)
        ignored[0] = folded.ignored  # of which step it was, nobody asks
        labels = (0, 1) if names is None else (names[0], names[1])
        cells = Stack.gathered(np.stack([place, true, true, *codes[2:]]), folded.raw_cells.sums)
        tables: Tables[Table] = Tables(STEP, keys, labels, cells, ignored, True, drawn=folded.drawn)
        return ScoreTable(tables, self.edges)


def checked_bins(bins: Any) -> Bins | None:
    """Return a number of steps, or thresholds, ascending."""
    if bins is None:
        return None
    if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool):
        if bins >= 1:
            return int(bins)
    elif not isinstance(bins, (bool, str, float)):
        try:
            return checked_edges(bins)
        except InputError:
            pass
    raise InputError(
        f"`bins` is {brief(bins)}; expected a number of steps over [0, 1], such as 100, or finite thresholds.",
        "of logits give thresholds, for instance numpy.linspace(-8, 8, 161).",
        "bins",
    )
