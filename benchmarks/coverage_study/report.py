"""What the points of the grid say about the bar, in sentences and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, median

from .grid import COMPANIONS, FAR, LEVELS, OF_A_CLASS, TIES, WEIGHTS, Point
from .markdown import percent, table, title

BAR = 93.0, 97.0
"""Coverage that is asked for, in per cent, of intervals that are to hold the truth 95 times in 100."""

ENOUGH = 30.0
"""Effective rows of the smallest class from which on it is asked for."""

SOME = 0.5
"""Share of intervals without a flag from which on their coverage is looked at: the rest of a point is a selection."""

RARE = 0.1
"""Share from which on it is counted too."""

BINS = (0.0, 5.0), (5.0, 10.0), (10.0, ENOUGH), (ENOUGH, 100.0), (100.0, 300.0), (300.0, float("inf"))


def coverage(point: Point) -> float:
    """Coverage in per cent of all intervals that are estimable."""
    return 100 - 100 * point.missed / point.estimable


def reliable_coverage(point: Point) -> float:
    """Coverage in per cent of the intervals without a flag."""
    return 100 - 100 * point.missed_reliable / point.reliable


def within(figure: float) -> bool:
    """Whether coverage is within the bar."""
    return BAR[0] <= figure <= BAR[1]


def some_reliable(point: Point, some: float = SOME) -> bool:
    """Whether enough intervals have no flag for their coverage to be a figure."""
    return point.reliable >= some * point.estimable


def silent(point: Point, some: float = SOME) -> bool:
    """Whether intervals without a flag cover less often than the bar allows."""
    return some_reliable(point, some) and reliable_coverage(point) < BAR[0]


def judged(points: Iterable[Point]) -> list[Point]:
    """Points that the bar is for."""
    return [x for x in points if x.class_n_eff >= ENOUGH]


def span(figures: Sequence[float]) -> list[str]:
    """Lowest, median and highest, for a table."""
    return [f"{f(figures):.1f}" for f in (min, median, max)] if figures else ["—"] * 3


HEAD = [
    "points", "in 93–97", "lowest", "median", "highest", "% flagged", "without a flag: in 93–97", "lowest", "highest",
    "width", "widest",
]  # fmt: skip


def row(points: list[Point]) -> list[str]:
    """What a table says of some of the points, in the order of HEAD."""
    sure = [x for x in points if some_reliable(x)]
    return [
        f"{len(points):,}",
        f"{sum(within(coverage(x)) for x in points):,}",
        *span([coverage(x) for x in points]),
        percent(sum(x.flagged for x in points), sum(x.estimable for x in points)),
        f"{sum(within(reliable_coverage(x)) for x in sure):,} of {len(sure):,}",
        *span([reliable_coverage(x) for x in sure])[::2],
        *([f"{f([x.width for x in sure]):.2f}" for f in (fmean, max)] if sure else ["—"] * 2),
    ]


def by(what: str, points: list[Point], groups: dict[str, Callable[[Point], bool]]) -> str:
    """Table of groups of points."""
    rows = [[name, *row(chosen)] for name, belongs in groups.items() if (chosen := [x for x in points if belongs(x)])]
    return table([what, *HEAD], rows)


def by_weights(points: list[Point]) -> str:
    """Table by how weights are spread, and what they are tied to."""
    groups = {
        f"{weights.name}, {TIES[tie]}": lambda x, name=weights.name, tie=tie: (x.weights, x.tie) == (name, tie)
        for weights in WEIGHTS
        for tie in TIES
    }
    return by("weights", points, groups)


def by_measure(points: list[Point]) -> str:
    """Table by measure and score."""
    groups = {
        f"{title(name)}, λ = {level:g}": lambda x, name=name, level=level: (x.measure, x.level) == (name, level)
        for name in dict.fromkeys(x.measure for x in points)
        for level in LEVELS
    }
    return by("measure", points, groups)


def by_size(points: list[Point]) -> str:
    """Table by the effective size of the smallest class: where there are flags, and what they are worth."""
    head = [
        "effective rows", "points", "in 93–97", "% not estimable", "% flagged", "coverage", "with a flag", "without",
    ]  # fmt: skip
    rows = []
    for low, high in BINS:
        own = [x for x in points if low <= x.class_n_eff < high]
        known, flagged, missed, bad = (
            sum(getattr(x, name) for x in own) for name in ("estimable", "flagged", "missed", "missed_flagged")
        )
        sure, runs = known - flagged, sum(x.runs for x in own)
        rows.append(
            [
                f"below {high:g}" if not low else f"{low:g} to {high:g}" if high < float("inf") else f"{low:g} or more",
                f"{len(own):,}",
                f"{sum(within(coverage(x)) for x in own):,}",
                percent(runs - known, runs),
                percent(flagged, known),
                percent(known - missed, known),
                percent(flagged - bad, flagged),
                percent(sure - (missed - bad), sure),
            ]
        )
    return table(head, rows)


def listed(points: Iterable[Point], most: int = 12) -> str:
    """Table of points, one by one."""
    head = [
        "point", "effective rows", "coverage", "truth below / above", "% flagged", "coverage without a flag",
        "width",
    ]  # fmt: skip
    rows = [
        [
            f"{title(x.measure)}, n = {x.n:,}, smallest class {x.share:g}, {x.weights}, {TIES[x.tie]}, λ = {x.level:g}",
            f"{x.class_n_eff:.0f}",
            f"{coverage(x):.1f}",
            f"{percent(x.truth_below, x.estimable)} / {percent(x.truth_above, x.estimable)}",
            percent(x.flagged, x.estimable),
            f"{reliable_coverage(x):.1f}" if some_reliable(x) else "—",
            f"{x.width:.2f}" if x.reliable else "—",
        ]
        for x in list(points)[:most]
    ]
    return table(head, rows)


def verdict(points: list[Point]) -> str:
    """What the grid says about the bar."""
    fair = judged(points)
    met, short, wide = (
        [x for x in fair if belongs(coverage(x))] for belongs in (within, lambda c: c < BAR[0], lambda c: c > BAR[1])
    )
    sure = [x for x in points if some_reliable(x)]
    missed, reliable = sum(x.missed_reliable for x in points), sum(x.reliable for x in points)
    runs = ", ".join(f"{r:,}" for r in sorted({x.runs for x in points}))
    quiet, sound = sum(map(silent, short)), sum(within(reliable_coverage(x)) for x in sure)
    often = sum(reliable_coverage(x) > BAR[1] for x in sure)
    rare = [x for x in points if some_reliable(x, RARE)]
    flagged = sum(x.flagged for x in points)
    right = sum(x.flagged for x in points if x.missed_flagged > (1 - BAR[0] / 100) * x.flagged)
    return f"""\
{len(points):,} points of {runs} samples each. In {len(fair):,} of them the smallest class is expected to have
{ENOUGH:g} effective rows or more. Of these **{len(met):,} ({percent(len(met), len(fair))} %) are within 93–97 %**,
{len(short):,} below (the lowest {min(map(coverage, fair)):.1f}) and {len(wide):,} above (the highest
{max(map(coverage, fair)):.1f}).

Of the {len(short):,} below, {len(short) - quiet:,} say so: more than half of their intervals are flagged, or those
without a flag cover 93 % or more. The other {quiet:,} fall short in silence, in part at least. Of all intervals that
miss the truth at these points {percent(sum(x.missed_flagged for x in short), sum(x.missed for x in short))} % are
flagged.

Whatever the size of the smallest class: at {len(sure):,} points half of the intervals or more have no flag. Their
coverage is within 93–97 % at {sound:,} points, below at {sum(map(silent, sure)):,} and above at {often:,}. (At
{len(rare):,} points a tenth or more have none; {sum(silent(x, RARE) for x in rare):,} of these are below. Where most
are flagged, those that are not are a selection.) All intervals without a flag together cover
{100 - 100 * missed / reliable:.2f} % of the time.

**Width** is a multiple of the range that holds 95 % of the estimates of a point. At the {len(sure):,} points the
intervals without a flag are {fmean(x.width for x in sure):.2f} times as wide on average, and at most
{max(x.width for x in sure):.2f} times. Their interval score, which adds 40 times the distance by which an interval
misses, is {fmean(x.score for x in sure):.3f} on average. Of the {reliable:,} intervals without a flag
{sum(x.far for x in points):,} end more than {FAR:g} standard errors from the estimate.

**Flags that are right**: {percent(right, flagged)} % of all flags are at points where flagged intervals cover less
than 93 %. All flagged intervals together cover
{100 - 100 * sum(x.missed_flagged for x in points) / flagged:.1f} % of the time."""


def text(points: list[Point]) -> str:
    """Everything about the grid."""
    points = [x for x in points if x.estimable]
    fair = judged(points)
    quiet = sorted(filter(silent, points), key=reliable_coverage)
    loud = sorted((x for x in fair if coverage(x) < BAR[0] and not silent(x)), key=coverage)
    wide = sorted((x for x in fair if coverage(x) > BAR[1]), key=coverage, reverse=True)
    parts = [
        verdict(points),
        "By the effective rows of the smallest class; figures of coverage are of all intervals together:",
        by_size(points),
        f"Points with {ENOUGH:g} effective rows or more, the four correlations, by weights:",
        by_weights([x for x in fair if x.measure not in COMPANIONS + OF_A_CLASS]),
        "All measures, by score:",
        by_measure(fair),
    ]
    for what, own in (
        ("Without a flag and below 93 %, whatever the size of the smallest class", quiet),
        ("Below 93 %, and flagged", loud),
        ("Above 97 %", wide),
    ):
        parts += [
            f"{what}: {len(own)} points" + (", the farthest first:" if own else "."),
            *([listed(own)] if own else []),
        ]
    return "\n\n".join(parts)
