"""Whether one classifier beats another whatever the weights, as long as they are not off by more than so much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from math import isfinite
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.joint import JointTable, several_predictions
from ..core.labels import Label
from ..measures import MEASURES
from ..measures.base import Measure, MeasureName, for_tabulated
from ..measures.checks import Model, checked_model, named_measure
from ..present.blocks import Block, few
from ..present.json_csv import Record, plain
from ..present.pairs import Pair, PairResult, Pairs
from ..present.result import Delegate
from ..present.stored import Fields
from ..present.text import counted, decimal, how_far_off
from .box import Condition, WeightBounds, box_of, boxes_of, changing_classes
from .bracket import Question, Tried, bracket
from .certificate import GAPS, OF_ENDS, End, Range, definition, unmet
from .certify import glance, limits_of, searched_end
from .pair import PairObjective
from .paired_intervals import JointCells
from .radii import MOST, Radius, top_eps, unsettled
from .search import Limits

TOLERANCE = 1e-3
"""How narrow the bracket of a radius is to be, as a share of it."""

COARSE = 0.01
"""How well its lower end is found where the search does not close the bracket."""


@dataclass(frozen=True, repr=False)
class Lead(Range, PairResult):
    """The certified range of first − second for two predictions of the same rows.

    Parameters
    ----------
    names
        Of the first and the second.
    measure, model, eps
        What was asked.
    values
        The measure of each, at the weights as they are.
    lower, upper
        Ends of the range of first − second, over all weights within ε. `low` and `high` are their bounds;
        positions and cells are those of the joint table of the two.
    conditions
        What the statement rests on, and whether it holds.
    joint, cells, limits
        The joint table of the two, its cells, and when to stop the search for a radius.
    problem
        Why there is no range, and its ends are NaN: the measure of one of them is undefined. None if there is one.
    """

    names: Pair
    measure: str
    model: str
    eps: float
    values: tuple[float, float]
    lower: End
    upper: End
    conditions: tuple[Condition, ...]
    joint: JointTable = field(repr=False)
    cells: JointCells = field(repr=False, compare=False)
    limits: Limits = field(repr=False)
    problem: str | None = None

    @property
    def value(self) -> float:  # type: ignore[override]
        """First − second at the weights as they are."""
        return self.values[0] - self.values[1]

    @property
    def winner(self) -> str | None:
        """The one that certainly has the higher score; None if weights within the box may decide."""
        return self.names[0] if self.low > 0 else self.names[1] if self.high < 0 else None

    @property
    def _tied(self) -> bool:
        """Whether the scores are the same, but for rounding."""
        return abs(self.value) <= PairObjective.rounding

    @property
    def verdict(self) -> str:
        """What is certain, in a sentence."""
        a, b = self.names
        if self.problem is not None:
            return "nothing can be certified"
        if self.winner is not None:
            return f"{self.winner} beats {b if self.winner == a else a}"
        if self._tied:
            return f"{a} and {b} score the same up to rounding"
        leader, other, side = (a, b, -1) if self.value > 0 else (b, a, 1)
        end = self.lower if side < 0 else self.upper
        if PairObjective(end.box, self.cells, MEASURES[self.measure], side).crossed(end.at):
            return f"{leader} leads, but with some of these weights {other} does at least as well"
        return f"{leader} leads; we could not prove that it leads for all these weights"

    @cached_property
    def radius(self) -> Radius:
        """How far weights may be off before the leader may be overtaken: see `wmcc.radius`."""
        a, b = self.names
        side = -1 if self.value >= 0 else 1  # the end of first − second that might cross zero
        leader, other = (a, b) if side < 0 else (b, a)
        measure = MEASURES[self.measure]
        statement = f"{leader} beats {other} in {measure.title}"
        problem = self.problem or (f"{a} and {b} score the same up to rounding" if self._tied else None)
        if problem is not None or self.model == "bounds":
            holds = not self._tied
            problem = problem or "each weight has bounds of its own, and a radius is for weights off by one ε"
            return Radius(statement, self.measure, self.model, self.value, holds, 0.0, None, None, problem=problem)
        model = checked_model(self.model)
        limits, box_of = self.limits._replace(goal=0.0), boxes_of(self.joint, model)

        def tried(search: Callable[[PairObjective], End], eps: float) -> Tried:
            objective = PairObjective(box_of(eps), self.cells, measure, side)
            end = search(objective)
            crossed = objective.crossed(end.at)
            margin = -side * (end.attained if crossed or not isfinite(end.bound) else end.bound)
            return Tried(margin, side * end.bound < 0, end if crossed else None, end.stopped)

        look, prove = partial(tried, glance), partial(tried, partial(searched_end, limits=limits))
        found = bracket(Question(abs(self.value), look, prove, top_eps(self.joint, model, measure)), TOLERANCE, COARSE)
        return Radius(statement, self.measure, model, self.value, True, *found)

    _kind = "lead"
    _stored = (
        "names", "measure", "model", "eps", "values", "value", "low", "high", "lower", "upper", "conditions", "winner",
        "verdict", "problem",
    )  # fmt: skip
    _row = ("measure", "model", "eps", "value", "low", "high", "winner", "verdict", "problem", *OF_ENDS)

    def title(self) -> str:
        """Return what the range is of."""
        moved = how_far_off(self.eps, self.model, "its")
        return f"{MEASURES[self.measure].title}, {self.names[0]} − {self.names[1]}, each weight {moved}"

    def blocks(self) -> list[Block]:
        """Return the range of the difference, and the verdict."""
        (made,) = super().blocks()
        return [replace(made, notes=[f"{self.verdict} ({', '.join(self.scores)})", *made.notes])]


class JointPlaces(NamedTuple):
    """Places in labels of the classes of cells."""

    true: list[int]
    first: list[int]
    second: list[int]


class OfPair(NamedTuple):
    """What a ranking stores of a lead beside it.

    Parameters
    ----------
    radius
        None if it was not asked for.
    labels, cells
        Classes, and the places among them of the labels of each sum of a witness.
    """

    radius: Radius | None
    labels: tuple[Label, ...]
    cells: JointPlaces


@dataclass(frozen=True, repr=False)
class Ranking(Pairs[Lead]):
    """What `wmcc.certify_ranking` returns, for two predictions and for more.

    For two, what is certain of them is here by its own name: `value`, `low`, `high`, `verdict`, `radius` and so
    on. For more, each pair has its own: ``ranking["A", "B"].verdict``.

    Parameters
    ----------
    names
        Of all predictions.
    measure, model, eps
        What was asked.
    pairs
        The `Lead` of each pair, by their names.
    n, ignored, total
        Rows, rows that were left out, and weight.
    radii
        Whether the radius of each lead is shown and stored: see `with_radii`.
    """

    names: tuple[str, ...]
    measure: str
    model: str
    eps: float
    pairs: dict[Pair, Lead]
    n: int
    ignored: int
    total: float
    radii: bool = False

    # ---- all pairs ------------------------------------------------------------------------------------

    @property
    def matrix(self) -> FloatArray:
        """1 where the one of the row certainly beats the one of the column, −1 where it is beaten, 0 if undecided."""
        place = {name: i for i, name in enumerate(self.names)}
        out = np.zeros((len(self.names),) * 2)
        for (a, b), lead in self.pairs.items():
            verdict = 0 if lead.winner is None else 1 if lead.winner == a else -1
            out[place[a], place[b]], out[place[b], place[a]] = verdict, -verdict
        return out

    @property
    def problem(self) -> str | None:
        """Why nothing is certain of any pair; None if there is a range."""
        problems = [lead.problem for lead in self.pairs.values() if lead.problem]
        return problems[0] if len(problems) == len(self.pairs) else None

    # ---- the only pair --------------------------------------------------------------------------------

    value: ClassVar[Delegate[float]] = Delegate("only.value", "First − second at the weights as they are.")
    low: ClassVar[Delegate[float]] = Delegate(
        "only.low", "First − second is at least this, whatever the weights within the box."
    )
    high: ClassVar[Delegate[float]] = Delegate(
        "only.high", "First − second is at most this, whatever the weights within the box."
    )
    lower: ClassVar[Delegate[End]] = Delegate("only.lower", "Lower end of the range of first − second.")
    upper: ClassVar[Delegate[End]] = Delegate("only.upper", "Upper end of the range of first − second.")
    conditions: ClassVar[Delegate[tuple[Condition, ...]]] = Delegate(
        "only.conditions", "What it rests on, and whether that holds."
    )
    winner: ClassVar[Delegate[str | None]] = Delegate(
        "only.winner", "The one that certainly has the higher score; None if undecided."
    )
    verdict: ClassVar[Delegate[str]] = Delegate("only.verdict", "What is certain, in a sentence.")
    radius: ClassVar[Delegate[Radius]] = Delegate(
        "only.radius", "How far weights may be off before the leader may be overtaken."
    )

    # ---- showing ------------------------------------------------------------------------------------

    _kind = "ranking"
    _done = "ranked"
    _stored = ("names", "measure", "model", "eps", "n", "ignored", "total", "pairs", "problem")

    def with_radii(self) -> Ranking:
        """Return the same ranking, to be shown and stored with the radius of each lead, which takes longest to find."""
        return replace(self, radii=True)

    def blocks(self) -> list[Block]:
        """Return who certainly beats whom, the range of each difference, and verdicts."""
        made = self.lines()[0]
        if len(self.pairs) == 1:
            return [replace(made, title=f"{made.title}, {counted(self.n, 'row')}")]
        said = {1.0: "beats", -1.0: "loses to", 0.0: "?"}
        rows = [
            [name, *("" if i == j else said[float(x)] for j, x in enumerate(row))]
            for i, (name, row) in enumerate(zip(self.names, self.matrix, strict=True))
        ]
        certain = Block(f"{made.title}, {counted(self.n, 'row')}: certified ranking", ["", *self.names], rows)
        return [certain, replace(made, title="Ranges of the differences", notes=few(made.notes))]

    def lines(self) -> list[Block]:
        """Return the range of each difference, and verdicts."""
        head = ["First", "Second", "First − second", "Lowest", "Highest", *["Certain up to", "Broken at"] * self.radii]
        leads, rows, several = list(self.pairs.values()), [], len(self.pairs) > 1
        for lead in leads:
            row = [*lead.scores, decimal(lead.value), *lead.columns]
            rows.append([*row, *(lead.radius.cells if self.radii else ())])
        notes = [] if several else [f"{leads[0].verdict}."]
        notes += [f"{' and '.join(lead.names)}: {lead.problem}." for lead in leads if lead.problem]
        notes += [] if all(lead.exact or lead.problem for lead in leads) else [GAPS]
        notes += unmet((" and ".join(lead.names) * several, lead) for lead in leads)
        notes += unsettled([lead.radius for lead in leads]) if self.radii else []
        title = f"{MEASURES[self.measure].title}, each weight {how_far_off(self.eps, self.model, 'its')}"
        return [Block(title, head, rows, notes, texts=2)]

    @property
    def _stored_pairs(self) -> list[Annotated[Fields, Lead, OfPair]]:
        """The lead of each pair, with its cells and, if it was asked for, its radius."""
        pairs = []
        for lead in self.pairs.values():
            cells = JointPlaces(*lead.joint.cells.codes.tolist())
            of_pair = OfPair(lead.radius if self.radii else None, lead.joint.labels, cells)
            pairs.append({**lead.picked(), **of_pair._asdict()})
        return pairs

    def records(self) -> list[Record]:
        """Return a row for each pair."""
        rows = super().records()
        for row, lead in zip(rows, self.pairs.values(), strict=True) if self.radii else ():
            row |= plain({"safe": lead.radius.safe, "broken": lead.radius.broken})
        return rows


@for_tabulated()
def certify_ranking(
    joint: JointTable,
    measure: MeasureName | Measure = "ecc",
    *,
    eps: float | None = None,
    model: Model = "relative",
    lower: JointTable | None = None,
    upper: JointTable | None = None,
    gap: float = 0.0,
    nodes: int | None = None,
    seconds: float | None = None,
) -> Ranking:
    """Certify how much better one classifier is than another, under the same weights, when these may be off.

    Parameters
    ----------
    joint
        A `wmcc.JointTable` of two predictions or more of the same rows: ``wmcc.tabulate(y_true, {"A": a, "B": b})``.
    measure, eps, model
        As in `wmcc.certify`.
    lower, upper
        Instead of ``eps``: joint tables of the same rows and predictions, with the smallest and with the largest weight
        that each row may have. If one is missing, the joint table itself is used. There is no radius then.
    gap, nodes, seconds
        As in `wmcc.certify`, for each end and for each ε that is tried for a radius; by default there are at most 200
        boxes, and fewer for large tables.

    Returns
    -------
    Ranking
        For each pair the range of first − second, a verdict, and the ε up to which the leader certainly leads.

    Examples
    --------
    >>> import wmcc
    >>> truth = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    >>> first = [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 0]
    >>> second = [0, 0, 1, 1, 1, 1, 2, 1, 2, 2, 0, 0]
    >>> ranking = wmcc.certify_ranking(wmcc.tabulate(truth, {"a": first, "b": second}), eps=0.2, nodes=20)
    >>> ranking
    ECC (R_K), each weight off by up to 20 %, 12 rows
    First     Second    First − second           Lowest          Highest
    a 0.7579  b 0.3790          0.3790  0.2761 attained  0.5042 attained
    <BLANKLINE>
    a beats b.
    >>> ranking.radius.safe > 0.2
    True
    """
    several, chosen, limits = several_predictions(joint), named_measure(measure), limits_of(gap, nodes, seconds, MOST)
    bounds = WeightBounds.of(several, eps, model, lower, upper)
    pairs = {pair: _lead(several, pair, chosen, bounds, limits) for pair in combinations(several.names, 2)}
    sizes = several.rows, several.ignored, several.total
    return Ranking(several.names, chosen.name, bounds.model, bounds.eps, pairs, *sizes)


def _lead(several: JointTable, pair: Pair, measure: Measure, bounds: WeightBounds, limits: Limits) -> Lead:
    joint = several if several.names == pair else several.pair(*pair)
    (a, no_a), (b, no_b) = (measure.value_or_reason(several[name]) for name in pair)
    margins = [several[name].margins for name in pair]
    cells = JointCells(joint.cells.codes, len(joint.labels), (margins[0].classes, margins[1].classes), margins[0].known)
    box = bounds.box(joint)
    problem = no_a or no_b or changing_classes(joint, box, measure)
    if problem is not None:
        lower = upper = End.unknown(box_of(joint, 0.0, "relative"), cells)
    else:
        lower, upper = (searched_end(PairObjective(box, cells, measure, side), limits) for side in (-1, 1))
    conditions = box.conditions
    if bounds.model != "relative":  # one of the two may be undefined at some table of the box
        defined = [definition(box, one, measure) for one in (cells.first, cells.second)]
        conditions += (next((condition for condition in defined if not condition.met), defined[0]),)
    asked = measure.name, bounds.model, bounds.eps
    return Lead(pair, *asked, (a, b), lower, upper, conditions, joint, cells, limits, problem)
