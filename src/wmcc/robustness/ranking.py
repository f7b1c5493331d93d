"""Whether one classifier beats another whatever the weights, as long as they are not off by more than so much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import inf, isfinite
from typing import Any

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.joint import JointTable
from ..errors import InputError
from ..measures import MEASURES
from ..measures.base import Measure
from ..measures.checks import after_joint_table, check_defined, named_measure
from ..present.text import decimal, grid, html, number
from ..sources.predictions import checked_names, predictions
from .box import Box, Condition, box_of, boxes_of
from .bracket import Bracket, Question, Tried, bracket
from .certificate import End, Range, defined
from .certify import limits_of
from .pair import PairObjective
from .radius import MOST, Radius, top_eps
from .request import Model, checked_eps, checked_model
from .search import Limits, Search
from .span import down, up
from .twin import JointCells

TOLERANCE = 1e-3
"""How narrow the bracket of a radius is to be, as a share of it."""

COARSE = 0.01
"""How well its lower end is found where the search does not close the bracket."""


@dataclass(frozen=True, repr=False)
class Ranking(Range):
    """What `wmcc.certify_ranking` returns for two classifiers.

    Parameters
    ----------
    names
        Of the first and the second.
    measure, model, eps
        What was asked.
    values
        The measure of each, at the weights as they are.
    lower, upper
        Ends of the range of first − second, over all weights within the box. `low` and `high` are their bounds;
        positions and cells are those of the joint table.
    conditions
        What the statement rests on, and whether it holds.
    """

    names: tuple[str, str]
    measure: str
    model: str
    eps: float
    values: tuple[float, float]
    lower: End
    upper: End
    conditions: tuple[Condition, ...]
    joint: JointTable = field(repr=False)
    limits: Limits = field(repr=False)

    @cached_property
    def _cells(self) -> JointCells:
        return _cells_of(self.joint)

    @property
    def difference(self) -> float:
        """First − second at the weights as they are."""
        return self.values[0] - self.values[1]

    @property
    def winner(self) -> str | None:
        """The one that certainly has the higher score; None if weights within the box may decide."""
        return self.names[0] if self.low > 0 else self.names[1] if self.high < 0 else None

    @property
    def verdict(self) -> str:
        """What is certain, in a sentence."""
        a, b = self.names
        if self.winner is not None:
            return f"{self.winner} beats {b if self.winner == a else a}"
        if abs(self.difference) <= PairObjective.rounding:
            return f"{a} and {b} score the same, but for rounding"
        leader, other, side = (a, b, -1) if self.difference > 0 else (b, a, 1)
        end = self.lower if side < 0 else self.upper
        if PairObjective(end.box, self._cells, MEASURES[self.measure], side).crossed(end.at):
            return f"{leader} leads, and there are weights with which {other} does at least as well"
        return f"{leader} leads; that no weights reverse it was not shown"

    @cached_property
    def radius(self) -> Radius:
        """How far weights may be off before the leader may be overtaken: see `wmcc.radius`."""
        a, b = self.names
        side = -1 if self.difference >= 0 else 1  # the end of first − second that might cross zero
        leader, other = (a, b) if side < 0 else (b, a)
        measure, model = MEASURES[self.measure], checked_model(self.model)
        limits, box_of = self.limits._replace(goal=0.0), boxes_of(self.joint, model)

        def look(eps: float) -> Tried:
            return tried(PairObjective(box_of(eps), self._cells, measure, side), _glanced)

        def prove(eps: float) -> Tried:
            return tried(PairObjective(box_of(eps), self._cells, measure, side), partial(_end, limits=limits))

        def tried(objective: PairObjective, search: Callable[[PairObjective], End]) -> Tried:
            end = search(objective)
            crossed = objective.crossed(end.at)
            margin = -side * (end.attained if crossed or not isfinite(end.bound) else end.bound)
            return Tried(margin, side * end.bound < 0, end if crossed else None, end.stopped)

        found = Bracket(0.0, None, None, False)
        if abs(self.difference) > PairObjective.rounding:
            asked = Question(abs(self.difference), look, prove, top_eps(self.joint, model))
            found = bracket(asked, TOLERANCE, max(TOLERANCE, COARSE))
        how = "beats" if abs(self.difference) > PairObjective.rounding else "scores the same as"
        statement = f"{leader} {how} {other} in {measure.title}"
        return Radius(statement, self.model, self.difference, *found)

    def _title(self) -> str:
        moved = f"{number(100 * self.eps)} %" if self.model == "relative" else number(self.eps)
        title = MEASURES[self.measure].title
        return f"{title} of {self.names[0]} − {title} of {self.names[1]}, each weight off by up to {moved}"

    def _now(self) -> float:
        return self.difference

    def _notes(self) -> list[str]:
        scores = ", ".join(f"{name} {decimal(value)}" for name, value in zip(self.names, self.values, strict=True))
        return [f"{self.verdict} ({scores})", *super()._notes()]


class Rankings:
    """What `wmcc.certify_ranking` returns for more than two classifiers: one `Ranking` per pair."""

    def __init__(self, names: tuple[str, ...], pairs: dict[tuple[str, str], Ranking]) -> None:
        self.names, self.pairs = names, pairs

    def __getitem__(self, pair: tuple[str, str]) -> Ranking:
        if pair in self.pairs:
            return self.pairs[pair]
        raise InputError(f"there is no pair {pair!r}; the pairs are {', '.join(map(repr, self.pairs))}.")

    @property
    def matrix(self) -> FloatArray:
        """1 where the one of the row certainly beats the one of the column, −1 where it is beaten, 0 if undecided."""
        place = {name: i for i, name in enumerate(self.names)}
        out = np.zeros((len(self.names),) * 2)
        for (a, b), ranking in self.pairs.items():
            verdict = 0 if ranking.winner is None else 1 if ranking.winner == a else -1
            out[place[a], place[b]], out[place[b], place[a]] = verdict, -verdict
        return out

    def _rows(self) -> list[list[str]]:
        said = {1.0: "beats", -1.0: "loses to", 0.0: "?"}
        body = [
            [name, *("" if i == j else said[float(x)] for j, x in enumerate(row))]
            for i, (name, row) in enumerate(zip(self.names, self.matrix, strict=True))
        ]
        return [["", *self.names], *body]

    def _title(self) -> str:
        first = next(iter(self.pairs.values()))
        return f"{MEASURES[first.measure].title}, {first.model} ε = {number(first.eps)}: what is certain"

    def __repr__(self) -> str:
        return f"{self._title()}\n{grid(self._rows())}"

    def _repr_html_(self) -> str:
        return html({self._title(): self._rows()})


def certify_ranking(
    y_true: Any,
    pred_a: Any = None,
    pred_b: Any = None,
    sample_weight: Any = None,
    weight: Any = None,
    *,
    measure: str | Measure = "ecc",
    eps: float = 0.1,
    model: Model = "relative",
    names: tuple[str, ...] | None = None,
    gap: float = 0.0,
    nodes: int | None = None,
    seconds: float | None = None,
    **options: Any,
) -> Any:
    """Certify how much better one classifier is than another, under the same weights, when these may be off.

    It takes a joint table, and then measure, ε and model; rows with two predictions; or several predictions::

        certify_ranking(joint, "ecc", 0.1)
        certify_ranking(y_true, pred_a, pred_b, sample_weight, measure="ecc", eps=0.1)
        certify_ranking(y_true, {"forest": pred_a, "net": pred_b, "old": pred_c}, sample_weight=w)
        certify_ranking(frame, "label", ["forest", "net", "old"], weight="area")

    Parameters
    ----------
    y_true, pred_a, pred_b, sample_weight, weight, **options
        A `wmcc.JointTable`; or what `wmcc.joint_table` takes, where a list or dict of predictions may stand for two.
    measure, eps, model
        As in `wmcc.certify`.
    gap, nodes, seconds
        As in `wmcc.certify`, for each end and for each ε that is tried for a radius; by default there are at most 200
        boxes, and fewer for large tables.
    names
        What to call the classifiers; by default the keys of the dict, the columns, or a, b, c …

    Returns
    -------
    Ranking
        Range of first − second, a verdict, and its `Ranking.radius`: the ε up to which the leader certainly leads. For
        more than two classifiers `Rankings`, which has one for each pair and the matrix of verdicts.

    Examples
    --------
    >>> import wmcc
    >>> truth = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    >>> first = [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 0]
    >>> second = [0, 0, 1, 1, 1, 1, 2, 1, 2, 2, 0, 0]
    >>> ranking = wmcc.certify_ranking(truth, first, second, eps=0.2, nodes=20)
    >>> ranking
    ECC (R_K) of a − ECC (R_K) of b, each weight off by up to 20 %
    lowest       0.2761  attained
    as weighted  0.3790
    highest      0.5042  attained
    a beats b (a 0.7579, b 0.3790)
    >>> ranking.radius.safe > 0.2
    True
    """
    asked: dict[str, Any] = {"measure": measure, "eps": eps, "model": model}
    if isinstance(y_true, JointTable):
        asked = after_joint_table(asked, (pred_a, pred_b, sample_weight), weight, options)
        joints, chosen = {(0, 1): y_true}, checked_names(names, None, 2)
    else:
        several = predictions(y_true, pred_a, pred_b, sample_weight, weight, options, names)
        joints, chosen = several.joints(), several.names
    kind = checked_model(asked["model"])
    amount, limits = checked_eps(asked["eps"], kind), limits_of(gap, nodes, seconds, MOST)
    pairs = {
        (chosen[i], chosen[j]): _ranked(joint, (chosen[i], chosen[j]), asked["measure"], amount, kind, limits)
        for (i, j), joint in joints.items()
    }
    return next(iter(pairs.values())) if len(chosen) == 2 else Rankings(chosen, pairs)


def _ranked(
    joint: JointTable, names: tuple[str, str], measure: Any, eps: float, model: Model, limits: Limits
) -> Ranking:
    chosen = named_measure(measure)
    for table in (joint.first, joint.second):
        check_defined(chosen, table)
    box, cells = box_of(joint, eps, model), _cells_of(joint)
    lower, upper = (_end(PairObjective(box, cells, chosen, side), limits) for side in (-1, 1))
    values = chosen(joint.first), chosen(joint.second)
    conditions = box.conditions if model == "relative" else (*box.conditions, _defined(box, cells, chosen))
    return Ranking(names, chosen.name, model, eps, values, lower, upper, conditions, joint, limits)


def _cells_of(joint: JointTable) -> JointCells:
    return JointCells(joint.cells.T, len(joint.labels))


def _defined(box: Box, cells: JointCells, measure: Measure) -> Condition:
    """Whether the measure of both is defined at every table of the box."""
    found = [defined(box, one, measure.name) for one in (cells.first, cells.second)]
    return next((condition for condition in found if not condition.met), found[0])


def _end(objective: PairObjective, limits: Limits) -> End:
    box, side, measure = objective.box, objective.side, objective.measure
    found = Search(objective, box.floor, box.ceiling, box.fixed, limits).run()
    attained = objective.difference(found.position)
    exact = found.closed and attained == side * found.value
    span = measure.range[1] - measure.range[0]
    bound = side * found.bound
    bound = float(min(max(up(bound) if side > 0 else down(bound), -span), span))
    return End(bound, attained, exact, found.position, box, objective.cells, found.nodes, found.stopped)


def _glanced(objective: PairObjective) -> End:
    """Return a difference near the end that is attained, without a bound."""
    box = objective.box
    found = Search(objective, box.floor, box.ceiling, box.fixed, Limits()).glance()
    attained = objective.difference(found.position)
    return End(objective.side * inf, attained, False, found.position, box, objective.cells)
