"""Coverage where the design is known: intervals of `wmcc.interval` and `wmcc.map_accuracy`, tests of `wmcc.compare`.

Samples are tabulated with what their reader would say of the design, and judged by the public functions. Beside each
stands the interval of the same rows and weights without the design.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import wmcc
import wmcc.measures
from wmcc.core.labels import Label
from wmcc.inference.classes import OWN
from wmcc.inference.estimate import estimate
from wmcc.inference.influence import Sample
from wmcc.mapping.estimates import share_interval

from .grid import mean, measured, seeded
from .intervals import LEVEL, Found
from .markdown import against, table, title
from .plans import Plan, described

OVERALL = "ecc", "mpc1", "mpc2", "accuracy"
PRODUCERS, AREA = "producer's accuracy", "area"
LOW, HIGH = 93.0, 97.0
BESIDE = 4
"""One sample in four is scored without its design too."""

RARE = 0.015
"""The largest share of a class that is called rare."""


# ---- intervals -------------------------------------------------------------------------------------------


class Point(NamedTuple):
    """What became of the intervals of one score in one plan: a row of docs/understand/coverage-designs.csv.

    Counts are of estimable intervals but the last two, which are of the intervals without the design. ``width`` is
    that of the intervals without a flag, as in `grid.Point`.
    """

    plan: str
    kind: str
    measure: str
    of: str
    truth: float
    runs: int
    estimable: int
    flagged: int
    truth_below: int
    truth_above: int
    missed_flagged: int
    plain_runs: int
    plain_covered: int
    width: float

    @property
    def coverage(self) -> float:
        """Of all intervals, in per cent."""
        missed = self.truth_below + self.truth_above
        return 100 * (self.estimable - missed) / self.estimable if self.estimable else float("nan")

    @property
    def unflagged(self) -> int:
        """Intervals without a flag."""
        return self.estimable - self.flagged

    @property
    def unflagged_coverage(self) -> float:
        """Of the intervals without a flag, in per cent."""
        missed = self.truth_below + self.truth_above - self.missed_flagged
        return 100 * (self.unflagged - missed) / self.unflagged if self.unflagged else float("nan")

    @property
    def plain_coverage(self) -> float:
        """Of the intervals without the design, in per cent."""
        return 100 * self.plain_covered / self.plain_runs if self.plain_runs else float("nan")

    @property
    def judged(self) -> bool:
        """Whether half of the intervals or more have no flag."""
        return 2 * self.unflagged >= self.runs


def simulate(plan: Plan, runs: int) -> list[Point]:
    """Count how often the intervals of each score hold the truth."""
    rng, truths = seeded(plan), scores(plan.truth)
    counts = {key: np.zeros(7, dtype=int) for key in truths}
    made_of: dict[tuple[str, str], list[wmcc.results.Interval]] = {key: [] for key in truths}
    K = len(plan.truth)
    for run in range(runs):
        drawn = plan.sample(rng)
        true, first, _ = drawn.labels
        made = wmcc.tabulate(true, first, drawn.weight, labels=range(K), **drawn.design)
        for key, own in intervals(made).items():
            below, above = truths[key] < own.low, truths[key] > own.high
            missed, known = below or above, own.low == own.low
            counts[key][:5] += [known, known and not own.reliable, below, above, missed and not own.reliable]
            made_of[key].append(own)
        if run % BESIDE == 0:
            plain = wmcc.tabulate(true, first, drawn.plain, labels=range(K))
            for key, own in intervals(plain).items():
                counts[key][5:7] += [1, own.low <= truths[key] <= own.high]
    rare = [f"{k}" for k in range(K) if plan.truth[k].sum() <= RARE]
    return [
        Point(
            described(plan),
            plan.kind,
            name,
            "rare" if of in rare else of,
            round(truths[name, of], 6),
            runs,
            *map(int, x),
            round(width(made_of[name, of], truths[name, of]), 4),
        )
        for (name, of), x in counts.items()
    ]


def scores(truth: np.ndarray) -> dict[tuple[str, str], float]:
    """True scores: of the table, and of each class."""
    whole = wmcc.Table.from_cells(range(len(truth)), np.ones(truth.shape, dtype=int), truth, truth**2, truth, truth)
    out = {(name, ""): float(wmcc.measures.MEASURES[name](whole)) for name in OVERALL}
    for k, row in enumerate(truth):
        out[PRODUCERS, str(k)] = float(row[k] / row.sum())
        out[AREA, str(k)] = float(row.sum() / truth.sum())
    return out


def intervals(made: wmcc.Table) -> dict[tuple[str, str], wmcc.results.Interval]:
    """All intervals of a table."""
    found = {(name, ""): wmcc.interval(made, name, confidence_level=LEVEL) for name in OVERALL}
    for label in made.labels:
        found[PRODUCERS, str(label)] = producers_accuracy(made, label)
        found[AREA, str(label)] = share_interval(Sample.of(made.against_rest(label)), LEVEL)
    return found


def width(made: list[wmcc.results.Interval], truth: float) -> float:
    """Mean width of those without a flag, as a multiple of the range that holds 95 % of the estimates."""
    figures = np.array([(x.low, x.high, not x.reliable, x.value, x.se) for x in made], dtype=float).T
    found = Found(*figures[:2], figures[2] > 0, *figures[3:])
    return mean(measured(found, truth)[0][found.estimable & ~found.flagged])


def producers_accuracy(made: wmcc.Table, label: Label) -> wmcc.results.Interval:
    """Interval of the share of a class that is predicted as it, without the other scores of the class."""
    if not made.drawn.by_design:
        return wmcc.interval(made, "recall", of=label, confidence_level=LEVEL)
    return estimate(Sample.of(made.against_rest(label)), OWN["recall"], LEVEL)


# ---- tests -----------------------------------------------------------------------------------------------


class Test(NamedTuple):
    """What became of the tests of two predictions that are equally good, in per cent."""

    plan: str
    measure: str
    runs: int
    size: float
    unflagged_size: float
    flagged: float
    plain_size: float


def compare(job: tuple[Plan, str], runs: int) -> Test:
    """Count how often two predictions that are equally good are told apart."""
    plan, measure = job
    rng, found = seeded("pair", plan, measure), []
    K = len(plan.truth)
    for _ in range(runs):
        drawn = plan.sample(rng)
        true, *both = drawn.labels
        pair = dict(zip("AB", both, strict=True))
        made = wmcc.compare(wmcc.tabulate(true, pair, drawn.weight, labels=range(K), **drawn.design), measure)
        plain = wmcc.compare(wmcc.tabulate(true, pair, drawn.plain, labels=range(K)), measure)
        found.append((made.p_value < 1 - LEVEL, not made.reliable, plain.p_value < 1 - LEVEL))
    apart, flagged, plainly = np.array(found).T
    silent = apart[~flagged]
    return Test(
        described(plan),
        measure,
        runs,
        *(100 * float(x.mean()) if len(x) else float("nan") for x in (apart, silent, flagged, plainly)),
    )


# ---- the page --------------------------------------------------------------------------------------------

KINDS = {"strata": "rows in strata", "clusters": "clusters in strata", "replicates": "replicate weights"}
COLUMNS = {
    "ECC": [("ecc", "")],
    "MPC1": [("mpc1", "")],
    "MPC2": [("mpc2", "")],
    "accuracy": [("accuracy", "")],
    "producer's": [(PRODUCERS, str(k)) for k in range(4)],
    "… of the rare class": [(PRODUCERS, "rare")],
    "area": [(AREA, str(k)) for k in range(4)],
    "… of the rare class ": [(AREA, "rare")],
}


def write(points: Iterable[Point], path: Path) -> None:
    """Write points as CSV."""
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(Point._fields)
        out.writerows(points)


def text(points: list[Point], tests: list[Test]) -> str:
    """What the simulation says, in tables."""
    parts = [_summary(points)]
    for kind, words in KINDS.items():
        some = [x for x in points if x.kind == kind]
        parts += [
            f"**{words[0].upper()}{words[1:]}**, coverage without a flag, and in brackets how many are flagged, in %:",
            _table(some),
        ]
    parts += [_beside(points), _sizes(tests)]
    return "\n\n".join(parts)


def _summary(points: list[Point]) -> str:
    judged = [x for x in points if x.judged]
    covered = [x.unflagged_coverage for x in judged]
    low, high = sum(x < LOW for x in covered), sum(x > HIGH for x in covered)
    missed = sum(x.truth_below + x.truth_above for x in points)
    silent = sum(x.unflagged for x in points)
    flagged, with_flag = sum(x.flagged for x in points), sum(x.missed_flagged for x in points)
    lost = missed - with_flag
    within = len(judged) - low - high
    return (
        f"{len(points):,} points of {points[0].runs:,} samples each. At {len(judged):,} of them half of the intervals "
        f"or more have no flag; without a flag **{within:,} ({100 * within / len(judged):.1f} %) cover 93–97 %**, "
        f"{low} less (the lowest {min(covered):.1f}) and {high} more (the highest {max(covered):.1f}). All intervals "
        f"without a flag together cover {100 * (1 - lost / silent):.2f} %, those with a flag "
        f"{100 * (1 - with_flag / max(flagged, 1)):.2f} %."
    )


def _table(points: list[Point]) -> str:
    used = {name: keys for name, keys in COLUMNS.items() if any((x.measure, x.of) in keys for x in points)}
    by_plan: dict[str, list[Point]] = {}
    for x in points:
        by_plan.setdefault(x.plan, []).append(x)
    rows = [
        [plan, *(_cell([x for x in some if (x.measure, x.of) in keys]) for keys in used.values())]
        for plan, some in by_plan.items()
    ]
    return table(["design", *map(str.strip, used)], rows)


def _cell(some: list[Point]) -> str:
    """Coverage without a flag of one score, or of several classes together, and how many are flagged."""
    if not some:
        return ""
    silent, missed = sum(x.unflagged for x in some), sum(x.truth_below + x.truth_above - x.missed_flagged for x in some)
    runs, flagged = sum(x.runs for x in some), sum(x.runs - x.unflagged for x in some)
    share = f" ({100 * flagged / runs:.0f})" if flagged else ""
    return (against(100 * (1 - missed / silent), LOW, HIGH) if 2 * silent >= runs else "—") + share


def _beside(points: list[Point]) -> str:
    """Coverage with and without the design, over all plans of a kind."""
    rows = []
    for kind, words in KINDS.items():
        for name, keys in COLUMNS.items():
            some = [x for x in points if x.kind == kind and (x.measure, x.of) in keys and x.judged]
            if some:
                own, plain = ([getattr(x, field) for x in some] for field in ("coverage", "plain_coverage"))
                wide = _range([x.width for x in some if x.width == x.width], 2)
                rows.append([f"{words}: {name.strip()}", *(_range(x) for x in (own, plain)), wide])
    head = ["where half or more have no flag", "with the design", "without it", "width with the design"]
    said = (
        "Coverage of all intervals in %, and width of those without a flag as a multiple of the range that holds 95 % "
        "of the estimates; lowest, median and highest over the designs:"
    )
    return said + "\n\n" + table(head, rows)


def _range(x: list[float], digits: int = 1) -> str:
    return " / ".join(f"{f(x):.{digits}f}" for f in (min, np.median, max))


def _sizes(tests: list[Test]) -> str:
    met, sizes = sum(4 <= x.size <= 6 for x in tests), [x.size for x in tests]
    said = (
        f"Two predictions that are equally good, {tests[0].runs:,} samples each, are told apart at 5 % in "
        f"{min(sizes):.1f} to {max(sizes):.1f} % of the samples; {met} of {len(tests)} within 4–6 %."
    )
    rows = [
        [f"{title(x.measure)}, {x.plan}", against(x.size, 4, 6), f"{x.flagged:.1f}", f"{x.plain_size:.1f}"]
        for x in tests
    ]
    return said + "\n\n" + table(["two that are equally good", "size (%)", "% flagged", "without the design"], rows)
