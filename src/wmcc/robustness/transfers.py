"""Weights that may be off while sums of them are known: the total, or that of each post-stratum.

Then weight moves from one cell to another of the same group. A cell does not go to its end because its own slope has
one sign, but because it is steeper than the others. Missing labels are the same question: the rows that were predicted
as b and whose truth is missing are a group, whose weight is shared out among the cells of b. Proved in
docs/understand/theory.md, section 14.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray
from ..core.labels import MISSING
from ..core.stack import Stack
from ..core.table import Table
from ..errors import InputError, InputTypeError
from ..measures.base import Measure, check_scorable
from .box import Box, WeightBounds
from .cells import BoxedCells
from .certificate import End
from .interval_arithmetic import UNIT, Span, down, up
from .objective import MeasureObjective, exact_value
from .search import PASSES, ROUNDING, Boxes, Limits, Search

FINER = 64
"""Bits by which the unit of sums is smaller than that of the given ones: witnesses lie between."""

MUCH = 0.05
"""Share of its width that a cell must lose for a box to be pruned once more."""

Fixed = Literal["total", "poststrata"]

MOST_CLASSES = 40
"""Classes up to which labels that are missing are searched: each may be any, so there are three times their square."""

SOON = 200
"""Boxes within which an end where the cells of each group but one are at theirs is mostly found."""

FAR = 1e-6
"""Gap beyond which a range is also certified as if no sums were known."""

LINE = 0.5 ** np.arange(12)
"""Parts of the way to a corner that are tried."""


class Held(NamedTuple):
    """Cells between ends, in groups whose sums are known.

    Parameters
    ----------
    box, cells
        The cells; those of two groups may be of the same classes.
    group
        The group of each cell.
    totals
        The sum of each group, in the unit of the box.
    parts
        In how many equal parts the sum of each group may be shared out; 0 if in any way.
    """

    box: Box
    cells: BoxedCells
    group: IntArray
    totals: list[int]
    parts: list[int]

    @classmethod
    def of(cls, box: Box, cells: BoxedCells, group: IntArray, sums: Sequence[int], exponent: int) -> Held:
        """Hold the sums of groups at those of some cells, which are integers in units of 2**exponent."""
        least = min(box.exponent, exponent) - FINER
        low, high = ([c << (box.exponent - least) for c in ends] for ends in (box.low, box.high))
        totals = [0] * (int(group.max(initial=-1)) + 1)
        for g, c in zip(group.tolist(), sums, strict=True):
            totals[g] += c << (exponent - least)
        finer = Box(low, high, least, conditions=box.conditions)
        return cls(finer, cells, group, totals, [0] * len(totals))


def held_sums(table: Table, bounds: WeightBounds, fixed: Fixed) -> Held:
    """Return the tables that can be reached if weights are off while their total, or that of post-strata, is known."""
    if fixed == "total":
        box, sums = bounds.box(table), table.cells.sums.w_exact
        if box.reached is not None:
            raise InputError(
                "`fixed` needs the smallest sum of each cell, and the table does not have it: some weights of a cell "
                "are below ε, and some above.",
                "give the smallest and largest weights as `lower` and `upper`, tables of the same rows.",
                "fixed",
            )
        cells = BoxedCells.of(table)
        return Held.of(box, cells, np.zeros(len(cells), dtype=np.int64), sums.integers(), sums.exponent)
    design = table.drawn.design
    if design is None or design.poststrata is None:
        raise InputError(
            "`fixed` is 'poststrata', and the table has none.", "tabulate with design=wmcc.PostStrata(…).", "fixed"
        )
    if bounds.model != "relative":
        raise InputTypeError(
            "`fixed` 'poststrata' is for weights that are off by a share.", "leave out `model`.", "fixed"
        )
    parts = table.design_cells.along([0, 1, 2])
    (t, p, group), sums = parts.codes, parts.sums.w_exact
    whole = BoxedCells.of(table)
    cells = BoxedCells(t, p, whole.K, whole.classes, whole.known)
    box = Box.relative(sums.integers(), sums.exponent, bounds.eps)
    return Held.of(box, cells, group, sums.integers(), sums.exponent)


def labelled(table: Table) -> Table:
    """Return the rows of a table whose labels are known, of one that keeps those whose labels are missing."""
    if MISSING not in table.classes:
        raise InputError(
            "`model` is 'missing', and the table keeps no missing labels.",
            "tabulate with `missing` 'keep'; if no label is missing there is nothing to certify.",
            "model",
            "give --missing keep; if no label is missing there is nothing to certify.",
        )
    place = np.array([k - (k > table.labels.index(MISSING)) for k in range(len(table.labels))], dtype=np.int64)
    place[table.labels.index(MISSING)] = -1
    labels = tuple(label for label in table.labels if label != MISSING)
    found = Table(labels, table.design_cells.along([0, 1]).recoded({0: place, 1: place}), 0, None, void=table.void)
    check_scorable(found)
    return found


def held_answers(table: Table, known: Table) -> Held:
    """Return the tables that can be reached if missing labels may be any class."""
    classes, gone = len(known.classes), table.labels.index(MISSING)
    if classes > MOST_CLASSES:
        raise InputError(f"there are {classes:,} classes; missing labels are certified for up to {MOST_CLASSES}.")
    stack: Stack = table.design_cells.along([0, 1])
    sums, (true, pred) = stack.sums.w_exact.integers(), stack.codes
    t, p, group, low, high, totals, parts = [], [], [], [], [], [], []
    every = list(range(classes))
    place = [k - (k > gone) for k in range(len(table.labels))]
    for k, total in enumerate(sums):
        a, b = int(true[k]), int(pred[k])
        answers = [(x, y) for x in (every if a == gone else [place[a]]) for y in (every if b == gone else [place[b]])]
        alone = len(answers) == 1
        t += [x for x, _ in answers]
        p += [y for _, y in answers]
        low += [total if alone else 0] * len(answers)
        high += [total] * len(answers)
        group += [k] * len(answers)
        n = int(stack.sums.n[k])
        even = stack.sums.w_min[k] == stack.sums.w_max[k] and total % n == 0  # engines round sums
        parts.append(n if even else 1)
        totals.append(total)
    whole = BoxedCells.of(known)
    cells = BoxedCells(np.array(t), np.array(p), whole.K, whole.classes, whole.known)
    return Held(Box(low, high, stack.sums.w_exact.exponent), cells, np.array(group), totals, parts)


def coming_classes(known: Table, measure: Measure) -> str | None:
    """Say so if a mean over classes could be over more of them, whatever the missing labels are."""
    if measure.has_terms is None or known.margins.classes == len(known.classes):
        return None
    r, q = known.margins.r, known.margins.q
    absent = [label for label, a, b in zip(known.classes, r, q, strict=False) if not a and not b]
    which = repr(absent[0]) if len(absent) == 1 else f"one of {len(absent):,} classes such as {absent[0]!r}"
    return (
        f"no row with both labels is of class {which}, and a missing label could be; then {measure.title} would be a "
        "mean over more classes"
    )


class TransferObjective(MeasureObjective):
    """A measure of tables whose groups have known sums."""

    def at_corners(self, found: float) -> bool:
        """Whether the extreme value is at a corner of the box: it need not be, as corners have other sums."""
        return False


class TransferSearch(Search):
    """The search where sums are known."""

    def __init__(self, objective: TransferObjective, limits: Limits, held: Held) -> None:
        super().__init__(objective, limits)
        self.held = held
        shares = np.array([total / held.box._unit for total in held.totals])
        self._least, self._most = np.where(shares > 0, down(shares), 0.0), up(shares)
        of_each = [np.flatnonzero(held.group == g) for g in range(len(shares))]
        self._groups = [(g, cells) for g, cells in enumerate(of_each) if self.movable[cells].any()]
        self.sums: list[int] = []

    def _least_gap(self) -> float:
        """Gap that splitting would hardly narrow: of ends inside the box, which are most of those not found soon."""
        return 0.0 if self.nodes < SOON else ROUNDING

    # ---- what slopes decide ------------------------------------------------------------------------------

    def _undecided(self, boxes: Boxes) -> Array:
        """Boxes that hold more than one table: where all cells of a group but one are at ends, it has the rest."""
        loose = (boxes.low < boxes.high) | ((boxes.low != self.low) & (boxes.low != self.high))
        loose &= self.movable
        several = np.zeros(len(loose), dtype=bool)
        for _, cells in self._groups:
            several |= loose[:, cells].sum(-1) > 1
        return several

    def _narrowed(self, boxes: Boxes, slopes: Span) -> tuple[Boxes, Array]:
        """Weight goes to steeper cells: a cell gets none unless all that are steeper are full, and all if others do."""
        low, high = boxes.low.copy(), boxes.high.copy()
        for g, cells in self._groups:
            least, most = self._least[g], self._most[g]
            a, b = boxes.low[:, cells], boxes.high[:, cells]
            flat, steep = (
                np.where(np.isnan(x), end, x)[:, cells] for x, end in ((slopes.lo, -np.inf), (slopes.hi, np.inf))
            )
            all_low, all_high = a.sum(-1, keepdims=True), b.sum(-1, keepdims=True)
            slack = (2 * len(cells) + 16) * UNIT * (all_high + most)
            below, above = (_sum_before(*x, b - a, flat < steep) for x in ((steep, flat), (-flat, -steep)))
            low[:, cells] = np.maximum(a, np.minimum(b, least - (all_high - b) + below - slack))
            high[:, cells] = np.minimum(b, np.maximum(a, most - (all_low - a) - above + slack))
            if self.held.parts[g]:  # a steeper cell that may have all of the sum leaves nothing
                may_have_all = (b == self.high[cells]) * 1.0
                left_out = _sum_before(-flat, -steep, may_have_all, flat < steep) > 0
                high[:, cells] = np.where(left_out, a, high[:, cells])
        empty = (low > high).any(-1)
        lost = (low - boxes.low) + (boxes.high - high) > MUCH * (boxes.high - boxes.low)
        high = np.maximum(low, high)
        return Boxes(low, high, np.where(empty, -np.inf, boxes.ceiling)), np.asarray(lost.any(-1) & ~empty)

    # ---- bounds ------------------------------------------------------------------------------------------

    def _from_centre(self, slopes: Span, boxes: Boxes) -> tuple[Span, FloatArray, Any]:
        """Take a number from the slopes of each group, which changes nothing where its sum stays the same."""
        level = self._levels(slopes, boxes)[:, self.held.group]
        slopes, centre, _ = super()._from_centre(Span(down(slopes.lo - level), up(slopes.hi - level)), boxes)
        lost: Any = np.zeros((len(centre), 1))
        for g, cells in self._groups:
            least, most = self._least[g], self._most[g]
            c, a, b = (x[:, cells] for x in (centre, boxes.low, boxes.high))
            over = c.sum(-1, keepdims=True) - (least + most) / 2
            room = np.where(over > 0, c - a, b - c)
            part = np.clip(np.abs(over) / np.maximum(room.sum(-1, keepdims=True), 1e-300), 0.0, 1.0)
            c = np.clip(c - np.sign(over) * part * room, a, b)
            centre[:, cells] = c
            total = c.sum(-1, keepdims=True)
            rest = np.maximum(most - total, total - least) + (len(cells) + 4) * UNIT * (total + most)
            lost = up(lost + up(np.abs(level[:, cells[:1]]) * rest))
        return slopes, centre, lost

    def _levels(self, slopes: Span, boxes: Boxes) -> FloatArray:
        """The slope in each group at which its sum is used up, if the steepest cells are filled first."""
        middle = np.nan_to_num((slopes.lo + slopes.hi) / 2, nan=0.0, posinf=0.0, neginf=0.0)
        out = np.zeros((len(middle), len(self._least)))
        for g, cells in self._groups:
            order = cells[np.argsort(-middle[:, cells], axis=-1)]
            rows = np.arange(len(middle))[:, np.newaxis]
            filled = np.cumsum((boxes.high - boxes.low)[rows, order], axis=-1)
            there = self._most[g] - boxes.low[:, cells].sum(-1, keepdims=True)
            place = np.minimum((filled < there).sum(-1), len(cells) - 1)
            out[:, g] = middle[rows[:, 0], order[rows[:, 0], place]]
        return out

    # ---- tables ------------------------------------------------------------------------------------------

    def _corner(self, slopes: FloatArray) -> FloatArray:
        """Return the table whose steepest cells are filled first."""
        point = self.low.copy()
        for g, cells in self._groups:
            total = self._most[g]
            order = cells[np.argsort(-slopes[cells], kind="stable")]
            room = self.high[order] - self.low[order]
            rest = total - self.low[cells].sum()
            point[order] += np.clip(rest - (np.cumsum(room) - room), 0.0, room)
        return point

    def glance(self) -> Any:
        """Look for a large value only: from a table in the middle."""
        middle = self.low.copy()
        for g, cells in self._groups:
            total = self._most[g]
            room = self.high[cells] - self.low[cells]
            middle[cells] += room * np.clip((total - self.low[cells].sum()) / max(room.sum(), 1e-300), 0.0, 1.0)
        with np.errstate(all="ignore"):
            self._climb(middle)

    def _climb(self, point: FloatArray) -> None:
        """Go from a table towards the corner that its slopes point to, as far as that is higher."""
        value, slopes = self.objective.near(point)
        for _ in range(PASSES):
            corner = self._corner(np.nan_to_num(slopes))
            self._offer(corner)
            tried = [(self.objective.near(point + part * (corner - point)), part) for part in LINE]
            (best, there), part = max(tried, key=lambda one: one[0][0])
            if not best > value + 1e-15:
                break
            point, value, slopes = point + part * (corner - point), best, there
        self._offer(point)

    def _offer(self, point: FloatArray) -> None:
        """Keep a table if it is the best so far: one whose sums are the known ones, to the last bit."""
        self.keep(self._exact(point))

    def keep(self, sums: list[int]) -> None:
        """Keep a table with these sums if it is the best so far."""
        value = self.objective.side * exact_value(self.objective.measure, self.held.cells, sums)
        if value > self.value:
            box = self.held.box
            self.value, self.sums = value, sums
            self.position = np.array(
                [(c - a) / (b - a) if b > a else 0.0 for c, a, b in zip(sums, box.low, box.high, strict=True)]
            )

    def _exact(self, point: FloatArray) -> list[int]:
        """Return integer sums near a table that lie between their ends and add up to the known ones."""
        box, unit = self.held.box, self.held.box._unit
        sums = list[int]()
        for x, least, most, a, b in zip(
            point.tolist(), self.low.tolist(), self.high.tolist(), box.low, box.high, strict=True
        ):
            p, q = x.as_integer_ratio()
            sums.append(a if x <= least else b if x >= most else min(max(p * unit // q, a), b))
        for g, cells in self._groups:
            total, parts = self.held.totals[g], self.held.parts[g]
            own = [sums[i] for i in cells.tolist()]
            ends = [(box.low[i], box.high[i]) for i in cells.tolist()]
            own = _shared(own, total, parts) if parts else _adjusted(own, ends, total)
            for i, c in zip(cells.tolist(), own, strict=True):
                sums[i] = c
        return sums


def _sum_before(keys: FloatArray, at: FloatArray, widths: FloatArray, equal: Array) -> FloatArray:
    """Sum the widths of those whose key is smaller than a number, for each number; or the same, where that counts.

    Rows are boxes.
    """
    out = np.empty_like(widths)
    for row, (key, limit, width, too) in enumerate(zip(keys, at, widths, equal, strict=True)):
        order = np.argsort(key)
        smaller, same = (np.searchsorted(key[order], limit, side=side) for side in ("left", "right"))
        out[row] = np.concatenate([[0.0], np.cumsum(width[order])])[np.where(too, same, smaller)]
    return out


def _adjusted(own: list[int], ends: list[tuple[int, int]], total: int) -> list[int]:
    """Move sums within their ends until they add up; those between their ends first."""
    rest = total - sum(own)
    inside = sorted(range(len(own)), key=lambda i: own[i] in ends[i])
    for i in inside:
        moved = min(max(own[i] + rest, ends[i][0]), ends[i][1])
        rest, own[i] = rest - (moved - own[i]), moved
    return own


def _shared(own: list[int], total: int, parts: int) -> list[int]:
    """Share a sum out in equal parts, as near to what is given as they allow."""
    one = total // parts
    counts = [c // one for c in own]
    order = sorted(range(len(own)), key=lambda i: -(own[i] - counts[i] * one))
    rest = parts - sum(counts)
    for i in order * (rest // len(order) + 1):
        if rest <= 0:
            break
        counts[i], rest = counts[i] + 1, rest - 1
    for i in order[::-1]:  # rounding may have given too much
        less = min(counts[i], max(-rest, 0))
        counts[i], rest = counts[i] - less, rest + less
    return [count * one for count in counts]


def _filled(held: Held, first: list[bool]) -> list[int]:
    """Return the table of which some cells are filled before the others."""
    sums, rest = list(held.box.low), list(held.totals)
    for g, c in zip(held.group.tolist(), sums, strict=True):
        rest[g] -= c
    for i in sorted(range(len(sums)), key=lambda i: not first[i]):
        g = int(held.group[i])
        more = min(held.box.high[i] - sums[i], rest[g])
        sums[i], rest[g] = sums[i] + more, rest[g] - more
    return sums


def held_end(held: Held, measure: Measure, side: int, limits: Limits) -> End:
    """Certify one end of the range of a measure over all tables with these sums of groups."""
    objective = TransferObjective(held.box, held.cells, measure, side)
    search = TransferSearch(objective, limits, held)
    if measure.name == "accuracy":  # it is linear where the total is known
        search.keep(_filled(held, (held.cells.same == (side > 0)).tolist()))
        bound, nodes, stopped, closed = float(up(search.value)), 0, False, True
    else:
        found = search.run()
        bound, nodes, stopped, closed = found.bound, found.nodes, found.stopped, found.closed
        if bound - search.value > FAR and len(held.totals) == 1:  # what holds without a known sum may be nearer
            free = Search(MeasureObjective(held.box, held.cells, measure, side), limits).run()
            bound, nodes = min(bound, free.bound), nodes + free.nodes
    attained = side * search.value + 0.0
    end = objective.outer(side * bound)
    return End(end, attained, closed, search.position, held.box, held.cells, nodes, stopped, tuple(search.sums))
