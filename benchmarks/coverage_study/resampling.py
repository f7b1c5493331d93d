"""The bootstrap beside the intervals from one table: how often both hold the truth, their widths and costs."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

import wmcc

from .grid import TIES, Setting, seeded
from .markdown import table, title
from .population import EQUAL, LOG_NORMAL, THREE_LEVELS, cell_of_rows, row_weights

RESAMPLES = 500


class Side(NamedTuple):
    """Of one method: coverage in per cent, median width, milliseconds per interval."""

    covered: float
    width: float
    cost: float


class Outcome(NamedTuple):
    """Both methods on the same samples."""

    measure: str
    setting: Setting
    runs: int
    ours: Side
    bootstrap: Side


def cases() -> list[tuple[str, Setting]]:
    """Settings where the two may differ."""
    half, one, wide = (LOG_NORMAL[sigma] for sigma in (0.5, 1.0, 1.5))
    return [
        ("mcc", Setting(2, 200, 0.5, EQUAL, 0, 0.5)),
        ("mcc", Setting(2, 200, 0.5, EQUAL, 0, 0.9)),
        ("mcc", Setting(2, 1000, 0.05, EQUAL, 0, 0.5)),
        ("mpc2", Setting(3, 1000, 0.05, half, 0, 0.9)),
        ("ecc", Setting(3, 1000, 0.2, one, 0, 0.5)),
        ("mcc", Setting(2, 1000, 0.5, wide, 0, 0.5)),
        ("mcc", Setting(2, 3000, 0.5, wide, 1, 0.9)),
        ("mpc2", Setting(3, 1000, 0.2, THREE_LEVELS, -1, 0.5)),
    ]


def rows_of(rng: np.random.Generator, setting: Setting) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """True and predicted labels and weights of one sample."""
    population = setting.population
    counts = population.draw(rng, 1, setting.n)[0]
    t, p = divmod(cell_of_rows(counts), setting.classes)
    return t, p, None if setting.weights == EQUAL else row_weights(rng, setting.weights, counts)


def simulate(case: tuple[str, Setting], runs: int) -> Outcome:
    """Make both intervals from the rows of each sample, through `wmcc.interval` and `wmcc.bootstrap`."""
    measure, setting = case
    rng, truth = seeded(case), setting.population.truth(measure)
    ours: list[tuple[float, ...]] = []
    theirs: list[tuple[float, ...]] = []
    for run in range(runs):
        rows = rows_of(rng, setting)
        for out, method in ((ours, "fisher"), (theirs, "bootstrap")):
            start = time.perf_counter()
            found = _interval(rows, measure, method, run)
            out.append((found.low <= truth <= found.high, found.high - found.low, 1e3 * (time.perf_counter() - start)))
    return Outcome(measure, setting, runs, *(_side(np.array(x)) for x in (ours, theirs)))


def _interval(rows: tuple[Any, ...], measure: str, method: str, seed: int) -> wmcc.results.Interval:
    if method == "bootstrap":
        return wmcc.bootstrap(*rows, measure=measure, resamples=RESAMPLES, seed=seed, progress=False)
    return wmcc.interval(wmcc.tabulate(*rows), measure)


def _side(of_runs: np.ndarray) -> Side:
    covered, width, cost = of_runs.T
    return Side(100 * float(covered.mean()), float(np.median(width)), float(np.median(cost)))


def many_rows(n: int = 1_000_000) -> str:
    """Say what one interval costs where there are many rows."""
    t, p, w = rows_of(seeded(n), Setting(3, n, 0.5, LOG_NORMAL[1.0], 0, 0.5))
    seconds = []
    for method in ("fisher", "bootstrap"):
        start = time.perf_counter()
        _interval((t, p, w), "ecc", method, 0)
        seconds.append(time.perf_counter() - start)
    table = wmcc.tabulate(t, p, w)
    start = time.perf_counter()
    wmcc.interval(table)
    alone = time.perf_counter() - start
    return (
        f"{n:,} rows with log-normal weights: {1e3 * seconds[0]:.0f} ms, of which {1e3 * alone:.1f} ms are not the "
        f"table's; the bootstrap {seconds[1]:.1f} s."
    )


def text(found: list[Outcome], more: str) -> str:
    """Table of all cases, and a sentence more."""
    rows = []
    for x in found:
        own = x.setting
        what = f"{title(x.measure)}, n = {own.n:,}, smallest class {own.share:g}, "
        what += f"{own.weights.name}, {TIES[own.tie]}, λ = {own.level:g}"
        figures = [(f"{s.covered:.1f}", f"{s.width:.3f}", f"{s.cost:.2f}") for s in (x.ours, x.bootstrap)]
        rows.append([what, *(y for pair in zip(*figures, strict=True) for y in pair)])
    head = ["", "coverage", "bootstrap's", "width", "bootstrap's", "ms", "bootstrap's"]
    times = [x.bootstrap.cost / x.ours.cost for x in found]
    said = (
        f"{found[0].runs:,} samples each, {RESAMPLES} resamples; the same rows for both. "
        f"The bootstrap takes {min(times):.1f} to {max(times):.0f} times as long."
    )
    return "\n\n".join([said, table(head, rows), more])
