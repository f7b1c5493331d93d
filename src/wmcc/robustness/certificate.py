"""Certificates: between which values a measure lies, whatever the weights within a box."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..core.arraytypes import FloatArray, IntArray
from ..errors import InputError
from ..measures import MEASURES
from ..present.text import decimal, grid, html, number, outward
from ..sources.columns import weight_array
from .box import Box, Condition
from .cells import Cells
from .witness import amount_limits, row_codes, row_values, share_limits


class Occupied(Protocol):
    """The occupied cells of a table, or of a joint one, of K classes."""

    K: int

    @property
    def codes(self) -> IntArray:
        """Positions of their classes, a row per label."""

    def laid_out(self, x: FloatArray) -> FloatArray:
        """Numbers of the cells as an array of the shape of the table."""


@dataclass(frozen=True)
class End:
    """One end of a certified range.

    Parameters
    ----------
    bound
        No weighting within the box goes beyond this.
    attained
        The value at the witness, a table that some weighting within the box has.
    exact
        Whether the two are the same number (the bound is it, rounded outward).
    at
        Where the witness has each occupied cell: 0 at its smallest sum, 1 at its largest.
    box, occupied
        What the cells lie between, and which classes they are of.
    nodes
        Boxes that the search looked at; 0 for a closed form.
    stopped
        Whether a limit of the search ended it.
    """

    bound: float
    attained: float
    exact: bool
    at: FloatArray = field(repr=False, compare=False)
    box: Box = field(repr=False, compare=False)
    occupied: Occupied = field(repr=False, compare=False)
    nodes: int = 0
    stopped: bool = False

    @property
    def gap(self) -> float:
        """How far the bound may be from the true end; 0 where it is exact."""
        return 0.0 if self.exact else abs(self.bound - self.attained)

    @property
    def status(self) -> str:
        """Whether the end is attained, and else by how much it may not be."""
        if self.exact:
            return "attained"
        if decimal(self.attained) == decimal(self.bound):
            return f"bound, within {self.gap:.0e} of a value that is attained"
        return f"bound; {decimal(self.attained)} is attained"

    @property
    def codes(self) -> IntArray:
        """Positions in the labels of the classes of the occupied cells: a row per label, a column per cell."""
        return self.occupied.codes

    @property
    def sums(self) -> FloatArray:
        """Sums of the weights of the occupied cells at the witness."""
        cells, exponent = self.box.cells(self.at.tolist())
        return np.array([_scaled(c, exponent) for c in cells])

    @property
    def position(self) -> FloatArray:
        """Where the witness has each cell, as `at`: K x K for one prediction, 0 in the empty cells."""
        return self.occupied.laid_out(self.at)

    @property
    def cells(self) -> FloatArray:
        """Sums of the weights per cell at the witness: K x K for one prediction."""
        return self.occupied.laid_out(self.sums)


def _scaled(c: int, exponent: int) -> float:
    try:
        return float(c << exponent) if exponent >= 0 else c / (1 << -exponent)
    except OverflowError:  # as `Table.w` has it
        return float("inf")


class Range:
    """What certified ranges have in common: of a measure, and of a difference."""

    lower: End
    upper: End
    conditions: tuple[Condition, ...]

    @property
    def low(self) -> float:
        """It is at least this, whatever the weights within the box."""
        return self.lower.bound

    @property
    def high(self) -> float:
        """It is at most this, whatever the weights within the box."""
        return self.upper.bound

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends for people, rounded outwards."""
        return outward(*(end.attained if end.exact else end.bound for end in (self.lower, self.upper)))

    @property
    def exact(self) -> bool:
        """Whether both ends are attained."""
        return self.lower.exact and self.upper.exact

    def _title(self) -> str:
        """Return what the range is of."""
        raise NotImplementedError

    def _now(self) -> float:
        """Return the number at the weights as they are."""
        raise NotImplementedError

    def _rows(self) -> list[list[str]]:
        low, high = self.ends
        now = ["as weighted", decimal(self._now()), ""]
        return [["lowest", low, self.lower.status], now, ["highest", high, self.upper.status]]

    def _notes(self) -> list[str]:
        return [f"Not so here: {c.sentence}." for c in self.conditions if not c.met]

    def __repr__(self) -> str:
        return "\n".join([self._title(), grid(self._rows()), *self._notes()])

    def _repr_html_(self) -> str:
        return html({self._title(): [[], *self._rows()]}, self._notes())


@dataclass(frozen=True, repr=False)
class Certificate(Range):
    """What `wmcc.certify` returns: the range of a measure over all weightings within a box.

    Parameters
    ----------
    measure
        Name of the measure.
    model
        ``"relative"``, ``"absolute"``, or ``"bounds"`` where each weight came with its own.
    eps
        How far each weight may be off; NaN for ``"bounds"``.
    value
        The measure at the weights as they are.
    lower, upper
        The two ends. `low` and `high` are their bounds.
    conditions
        What the statement rests on, and whether it holds.
    labels
        Classes, in the order of the witnesses' rows and columns.
    """

    measure: str
    model: str
    eps: float
    value: float
    lower: End
    upper: End
    conditions: tuple[Condition, ...]
    labels: tuple[Any, ...]

    def weights(
        self, end: str, y_true: Any, y_pred: Any, sample_weight: Any = None, *, lower: Any = None, upper: Any = None
    ) -> FloatArray:
        """Return a weight for each row with which the measure has the value attained at an end.

        Every weight is within its limits, exactly. It is a float64, rounded in its last place, and so the measure may
        differ from the value attained in its last places. It may differ by more only where float64 has too few digits
        left for the weights: below 1e-300, and where a weight would have to be above 1.8e308.

        Parameters
        ----------
        end
            ``"low"`` or ``"high"``.
        y_true, y_pred, sample_weight
            The rows that the certificate is about.
        lower, upper
            The bounds of each weight, where the certificate was made from bounds.

        Examples
        --------
        >>> import wmcc
        >>> t, c, w = [0, 0, 1, 1, 1], [0, 1, 1, 1, 0], [5, 2, 3, 3, 1]
        >>> certificate = wmcc.certify(t, c, w, measure="mcc", eps=0.2)
        >>> worst = certificate.weights("low", t, c, w)
        >>> worst
        array([4. , 2.4, 2.4, 2.4, 1.2])
        >>> round(wmcc.mcc(t, c, worst), 6), round(certificate.lower.attained, 6)
        (0.430414, 0.430414)
        """
        if end not in ("low", "high"):
            raise InputError(f"end is {str(end)[:40]!r}; expected 'low' or 'high'.")
        witness = self.lower if end == "low" else self.upper
        rows = row_codes(self.labels, y_true, y_pred)
        position = row_values(witness.at, witness.codes, rows)
        w = (
            np.ones(position.shape)
            if sample_weight is None
            else np.asarray(weight_array(sample_weight), dtype=np.float64)
        )
        if w.shape != position.shape:
            raise InputError(f"sample_weight must have the shape of the labels, {position.shape}; it has {w.shape}.")
        if self.model == "relative":
            least, most = share_limits(w, self.eps)
        elif self.model == "absolute":
            step = witness.box.step
            less = self.eps if step is None else row_values(step, witness.codes, rows)
            least, most = amount_limits(w, less, self.eps)
        else:
            least, most = (w if x is None else np.asarray(x, dtype=np.float64).reshape(w.shape) for x in (lower, upper))
        at = np.clip(least + np.nan_to_num(position) * (most - least), least, most)
        return np.asarray(np.where(np.isnan(position), w, at))

    def _title(self) -> str:
        moved = {
            "relative": f"each weight off by up to {number(100 * self.eps)} %",
            "absolute": f"each weight off by up to {number(self.eps)}",
        }
        return f"{MEASURES[self.measure].title}, {moved.get(self.model, 'each weight within its bounds')}"

    def _now(self) -> float:
        return self.value


class Curve(Sequence[Certificate]):
    """Certificates for several values of ε, as `wmcc.certify` returns them for a sequence."""

    def __init__(self, certificates: Sequence[Certificate]) -> None:
        self._certificates = tuple(certificates)

    @property
    def eps(self) -> FloatArray:
        """Values of ε."""
        return np.array([c.eps for c in self])

    @property
    def low(self) -> FloatArray:
        """Certified lower ends."""
        return np.array([c.low for c in self])

    @property
    def high(self) -> FloatArray:
        """Certified upper ends."""
        return np.array([c.high for c in self])

    def __len__(self) -> int:
        return len(self._certificates)

    def __getitem__(self, index: Any) -> Any:
        return self._certificates[index]

    def __iter__(self) -> Iterator[Certificate]:
        return iter(self._certificates)

    def _rows(self) -> list[list[str]]:
        rows = [["ε", "lowest", "", "highest", ""]]
        for c in self:
            sides = zip(c.ends, (c.lower, c.upper), strict=True)
            ends = [x for text, end in sides for x in (text, "attained" if end.exact else "bound")]
            rows.append([number(c.eps), *ends])
        return rows

    def _title(self) -> str:
        first = self[0]
        return f"{MEASURES[first.measure].title} {decimal(first.value)}, {first.model} ε"

    def __repr__(self) -> str:
        return f"{self._title()}\n{grid(self._rows())}"

    def _repr_html_(self) -> str:
        return html({self._title(): self._rows()})


def defined(box: Box, cells: Cells, name: str) -> Condition:
    """Whether no margin that a measure, or one of its terms, divides by becomes zero within a box."""
    s, rows, columns, _ = cells.margins(box.low)
    safe = [0 < r < s and 0 < q < s for r, q in zip(rows, columns, strict=True)]
    if name == "mpc2":
        _, most, most_predicted, _ = cells.margins(box.high)
        met = all(ok for ok, r, q in zip(safe, most, most_predicted, strict=True) if r and q)
    elif name == "mpc1":
        met = any(safe)
    elif name in ("accuracy", "balanced_accuracy"):
        met = s > 0
    else:
        met = all(sum(x > 0 for x in margin) > 1 for margin in (rows, columns))
    what = "every term of the measure is" if name == "mpc2" else "the measure is"
    return Condition(f"{what} defined at every table of the box (where not, it counts as 0)", met)
