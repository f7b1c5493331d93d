"""Certificates: between which values a measure lies, whatever the weights within a box."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Annotated, Any, ClassVar, Literal, SupportsIndex, TypedDict, overload

import numpy as np

from ..core.arraytypes import FloatArray, IntArray
from ..core.exact import nearest_float
from ..core.labels import Label
from ..core.table import Table
from ..measures import MEASURES, Measure
from ..present.blocks import Block, stacked
from ..present.json_csv import Record, plain
from ..present.result import Delegate, Result
from ..present.stored import Fields, Storable
from ..present.text import decimal, how_far_off, listed, number, off_by, outward
from .box import Box, Condition
from .cells import BoxedCells
from .enclosures import ENCLOSURES
from .paired_intervals import JointCells

MOST_SQUARE = 2048
"""Classes up to which a stored witness is a matrix; one of more is a list of the sums of its occupied cells."""


@dataclass(frozen=True)
class End(Storable):
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
    held
        The sums of the cells at the witness, in the unit of the box, where sums of groups are known.
    """

    bound: float
    attained: float
    exact: bool
    at: FloatArray = field(repr=False, compare=False)
    box: Box = field(repr=False, compare=False)
    occupied: BoxedCells | JointCells = field(repr=False, compare=False)
    nodes: int = 0
    stopped: bool = False
    held: tuple[int, ...] = field(default=(), repr=False, compare=False)

    _stored = ("bound", "attained", "exact", "gap", "nodes", "witness")

    @classmethod
    def unknown(cls, box: Box, occupied: BoxedCells | JointCells) -> End:
        """No end, where the measure is undefined; its witness is the table as it is."""
        return cls(nan, nan, False, np.zeros(len(box.low)), box, occupied)

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
        cells, exponent = (list(self.held), self.box.exponent) if self.held else self.box.cells(self.at.tolist())
        return np.array([nearest_float(c, exponent) for c in cells])

    @property
    def position(self) -> FloatArray:
        """Where the witness has each cell, as `at`: K x K for one prediction, 0 in the empty cells."""
        return self.occupied.laid_out(self.at)

    @property
    def cells(self) -> FloatArray:
        """Sums of the weights per cell at the witness: K x K for one prediction."""
        return self.occupied.laid_out(self.sums)

    @property
    def said(self) -> str:
        """The same as `status`, for a column of a table."""
        return "attained" if self.exact else f"gap {self.gap:.2g}"

    @property
    def witness(self) -> FloatArray:
        """Sums of the weights at the witness: K x K for one prediction of few classes, else in the order of `codes`."""
        return self.cells if self.occupied.K <= MOST_SQUARE and len(self.codes) == 2 else self.sums


class Range(Result):
    """What certified ranges have in common: of a measure, and of a difference."""

    value: float
    lower: End
    upper: End
    conditions: tuple[Condition, ...]
    problem: str | None

    low: ClassVar[Delegate[float]] = Delegate(
        "lower.bound", "It is at least this, whatever the weights within the box."
    )
    high: ClassVar[Delegate[float]] = Delegate(
        "upper.bound", "It is at most this, whatever the weights within the box."
    )

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends for people, rounded outwards."""
        if self.problem:
            return "—", "—"
        return outward(*(end.attained if end.exact else end.bound for end in (self.lower, self.upper)))

    @property
    def columns(self) -> list[str]:
        """Both ends in columns of a table, each with how near it is to a value that is attained."""
        if self.problem:
            return ["—", "—"]
        return [f"{text} {end.said}" for text, end in zip(self.ends, (self.lower, self.upper), strict=True)]

    @property
    def exact(self) -> bool:
        """Whether both ends are attained."""
        return self.lower.exact and self.upper.exact

    @property
    def span(self) -> str:
        """Both ends in a cell beside an interval: a dagger says that an end is a bound."""
        if self.problem:
            return "—"
        return " to ".join(self.ends) + " †" * (not self.exact)

    @property
    def conditions_met(self) -> bool:
        """Whether all that the statement rests on holds."""
        return all(condition.met for condition in self.conditions)

    @property
    def now(self) -> str:
        """What the value between the ends is."""
        return "as weighted"

    def title(self) -> str:
        """Return what the range is of."""
        raise NotImplementedError

    def blocks(self) -> list[Block]:
        """Return the ends with the value between them, and what does not hold."""
        if self.problem:
            now = [[self.now, decimal(self.value)]]
            return [Block(self.title(), (), now, [f"There is no range: {self.problem}."])]
        low, high = self.ends
        rows = [
            ["lowest", low, self.lower.status],
            [self.now, decimal(self.value), ""],
            ["highest", high, self.upper.status],
        ]
        return [Block(self.title(), (), rows, unmet([("", self)]))]

    _row: ClassVar[tuple[str, ...]]
    """Columns of its row."""

    _stored_low_attained: ClassVar[Delegate[float]] = Delegate(
        "lower.attained", "A value next to the lower end that some weights have."
    )
    _stored_low_exact: ClassVar[Delegate[bool]] = Delegate("lower.exact", "Whether that is the lower end.")
    _stored_high_attained: ClassVar[Delegate[float]] = Delegate(
        "upper.attained", "A value next to the upper end that some weights have."
    )
    _stored_high_exact: ClassVar[Delegate[bool]] = Delegate("upper.exact", "Whether that is the upper end.")

    def records(self) -> list[Record]:
        """Return a row without witnesses."""
        return [plain(self.picked(self._row))]


OF_ENDS = ("low_attained", "low_exact", "high_attained", "high_exact", "conditions_met")
"""What the row of a range has of its ends."""

GAPS = "An end with a gap is a proved bound. Some weights reach a value within the gap of it."
BOUNDS = "† An end is a proved bound that no weights cross. The certificate of the measure gives its gap."


def notes_of_ranges(ranges: Mapping[str, Range]) -> list[str]:
    """What to know of ranges that stand beside intervals, by what they are of."""
    bounds = [] if all(one.exact or one.problem for one in ranges.values()) else [BOUNDS]
    several = len(ranges) > 1
    return bounds + unmet([(name if several else "", one) for name, one in ranges.items()])


def unmet(ranges: Iterable[tuple[str, Range]]) -> list[str]:
    """Say where something does not hold that a range rests on."""
    places: dict[str, list[str]] = {}
    for where, one in ranges:
        for condition in one.conditions:
            if not condition.met:
                places.setdefault(condition.sentence, []).append(where)
    notes = []
    for sentence, names in places.items():
        where = listed(list(dict.fromkeys(filter(None, names))))
        notes.append(f"Condition not met{f' for {where}' if where else ''}: {sentence}.")
    return notes


class CellPlaces(TypedDict):
    """Places in labels of the classes of cells."""

    true: list[int]
    pred: list[int]


@dataclass(frozen=True, repr=False)
class Certificate(Range):
    """What `wmcc.certify` returns: the range of a measure over all weights within given limits.

    Parameters
    ----------
    measure
        Name of the measure.
    model
        ``"relative"``, ``"absolute"``, or ``"bounds"`` where each weight came with its own; ``"missing"`` where labels
        are missing, and weights are as they are.
    eps
        How far each weight may be off; NaN for ``"bounds"`` and ``"missing"``.
    value
        The measure at the weights as they are; of missing labels, without their rows.
    lower, upper
        The two ends. `low` and `high` are their bounds.
    conditions
        Conditions of the range, and whether they are met.
    labels
        Classes, in the order of the witnesses' rows and columns.
    n, total
        Number of rows, and their weight.
    certified
        The table that was certified.
    problem
        Why there is no range, and its ends are NaN: the measure is undefined. None if there is one.
    fixed
        ``"total"`` or ``"poststrata"`` where these sums of weights are known; None if they may be off, too.
    """

    measure: str
    model: str
    eps: float
    value: float
    lower: End
    upper: End
    conditions: tuple[Condition, ...]
    labels: tuple[Label, ...]
    n: int
    total: float
    certified: Table = field(repr=False, compare=False)
    problem: str | None = None
    fixed: str | None = None

    _kind = "certificate"
    _stored = (
        "measure", "model", "fixed", "eps", "value", "low", "high", "lower", "upper", "conditions", "labels", "cells",
        "n", "total", "problem",
    )  # fmt: skip
    _row = ("measure", "model", "fixed", "eps", "value", "low", "high", "n", "total", "problem", *OF_ENDS)

    @property
    def cells(self) -> CellPlaces | None:
        """Places in `labels` of the true and predicted class of each sum of a witness; None where it is a matrix."""
        if len(self.labels) <= MOST_SQUARE:
            return None
        true, pred = self.lower.codes.tolist()
        return {"true": true, "pred": pred}

    def weights(
        self,
        end: Literal["low", "high"],
        y_true: Any,
        y_pred: Any,
        sample_weight: Any = None,
        *,
        lower: Any = None,
        upper: Any = None,
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
            The rows that the certificate is about: those of its table, all of them, with their weights. Others are
            refused. Weights of a design are those that the rows have by it, such as population / rows of a stratum.
        lower, upper
            The bounds of each weight, where the certificate was made from bounds.

        Examples
        --------
        >>> import wmcc
        >>> t, c, w = [0, 0, 1, 1, 1], [0, 1, 1, 1, 0], [5, 2, 3, 3, 1]
        >>> certificate = wmcc.certify(wmcc.tabulate(t, c, w), "mcc", eps=0.2)
        >>> worst = certificate.weights("low", t, c, w)
        >>> worst
        array([4. , 2.4, 2.4, 2.4, 1.2])
        >>> round(wmcc.mcc(t, c, sample_weight=worst), 6), round(certificate.lower.attained, 6)
        (0.430414, 0.430414)
        """
        from .rows import witness_weights  # what reads rows is loaded by who has them

        return witness_weights(self, end, y_true, y_pred, sample_weight, lower, upper)

    @property
    def moved(self) -> str:
        """How far weights may be off, in a column of a table."""
        if self.model == "missing":
            return "nothing; labels are missing"
        return ("their bounds" if self.model == "bounds" else off_by(self.eps, self.model)) + self._held

    @property
    def _held(self) -> str:
        return {"total": ", total fixed", "poststrata": ", totals of post-strata fixed"}.get(self.fixed or "", "")

    @property
    def now(self) -> str:
        """What the value between the ends is."""
        return "without their rows" if self.model == "missing" else super().now

    def title(self) -> str:
        """Return the measure and how weights may be off."""
        if self.model == "missing":
            return f"{MEASURES[self.measure].title}, whatever the missing labels are"
        how = how_far_off(self.eps, self.model, "its")
        return f"{MEASURES[self.measure].title}, each weight {how}{self._held}"

    def lines(self) -> list[Block]:
        """Return both ends in a row."""
        row = [self.moved, decimal(self.value), *self.columns]
        notes = [f"There is no range: {self.problem}."] if self.problem else [] if self.exact else [GAPS]
        notes += unmet([("", self)])
        title = f"Range of {MEASURES[self.measure].title} for weights that are off"
        return [Block(title, ["Weights off by", "As weighted", "Lowest", "Highest"], [row], notes)]


OWN = ("eps", "low", "high", "lower", "upper", "conditions", "cells")
"""What each certificate of a curve has of its own."""


class Curve(Result, Sequence[Certificate]):
    """Certificates for several values of ε, in their order: what `wmcc.certify` returns of them."""

    def __init__(self, certificates: Sequence[Certificate]) -> None:
        self.certificates: tuple[Certificate, ...] = tuple(certificates)

    _first = property(lambda self: self[0])
    measure: ClassVar[Delegate[str]] = Delegate("_first.measure", "Name of the measure.")
    model: ClassVar[Delegate[str]] = Delegate("_first.model", "How weights may be off.")
    value: ClassVar[Delegate[float]] = Delegate("_first.value", "The measure at the weights as they are.")
    labels: ClassVar[Delegate[tuple[Label, ...]]] = Delegate(
        "_first.labels", "Classes, in the order of the witnesses' rows and columns."
    )
    n: ClassVar[Delegate[int]] = Delegate("_first.n", "Number of rows.")
    total: ClassVar[Delegate[float]] = Delegate("_first.total", "Weight of the rows.")
    problem: ClassVar[Delegate[str | None]] = Delegate("_first.problem", "Why there are no ranges; None if there are.")

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
        return len(self.certificates)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Certificate: ...
    @overload
    def __getitem__(self, index: slice) -> Curve: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Certificate | Curve:
        return Curve(self.certificates[index]) if isinstance(index, slice) else self.certificates[index]

    _kind = "curve"
    _stored = ("measure", "model", "value", "labels", "certificates", "n", "total", "problem")

    @property
    def _stored_certificates(self) -> list[Annotated[Fields, (Certificate, OWN)]]:
        """What certificates do not have in common, for each ε."""
        return [c.picked(OWN) for c in self]

    def blocks(self) -> list[Block]:
        """Return a row for each ε."""
        (made,) = stacked([((), c.lines()) for c in self])
        gaps = [f"There is no range: {self.problem}."] if self.problem else []
        gaps += [] if self.problem or all(c.exact for c in self) else [GAPS]
        return [replace(made, notes=gaps + unmet((f"ε = {number(c.eps)}", c) for c in self))]

    def records(self) -> list[Record]:
        """Return a row for each ε."""
        return [row for c in self for row in c.records()]


def definition(box: Box, cells: BoxedCells, measure: Measure) -> Condition:
    """Whether no margin that a measure, or one of its terms, divides by becomes zero within a box."""
    met = ENCLOSURES[measure.name].defined(cells.margins(box.low), cells.margins(box.high))
    what = "the measure is" if measure.has_terms is None else "every term of the measure is"
    return Condition(f"{what} defined for all these weights (where it is undefined, it counts as 0)", met)
