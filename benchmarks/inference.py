"""How fast intervals, comparisons and the bootstrap are: docs/benchmarks.md, with ``--write``.

Each answer is held against another way to it before it is timed.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
from common import Bars, data, median, spread, timed, timed_once, write_section

import wmcc
import wmcc.measures

MICRO, MILLI = 1e6, 1e3


def fresh(table: wmcc.Table) -> wmcc.Table:
    """Return the same table, without the floats and margins that were computed before."""
    return wmcc.Table(*table._values())


def intervals(bars: Bars) -> None:
    """Time an interval from a table: a new one each time, of which nothing is at hand, and the same again and again."""
    for classes, limit, unit, factor in ((3, 80, "µs", MICRO), (200, 20, "ms", MILLI)):
        table, repeat = wmcc.tabulate(*data(200_000, classes)), 250 if classes < 10 else 30
        for name in ("ecc", "mpc1", "mpc2"):
            g, found = wmcc.measures.MEASURES[name].gradient(table), wmcc.interval(table, name)
            assert np.isclose(found.se, np.sqrt((g * g * table.w2).sum()), rtol=1e-9)
            ways = {
                "a new table": [s for _ in range(repeat // 10) for s in timed_once_on(table, name)],
                "a table that was read": timed(partial(wmcc.interval, table, name), repeat),
            }
            for way, seconds in ways.items():
                what = f"interval of {name.upper()}, K = {classes}, {way}"
                bars.add(what, median(seconds) * factor, limit, unit, False, spread(seconds))


def timed_once_on(table: wmcc.Table, name: str) -> list[float]:
    copies = [fresh(table) for _ in range(10)]
    return [s for copy in copies for s in timed_once(partial(wmcc.interval, copy, name))]


def comparison(bars: Bars) -> None:
    """Time a comparison of two classifiers against making the two tables."""
    truth, first, w = data(10_000_000, 5)
    second = np.where(np.random.default_rng(1).random(len(truth)) < 0.9, first, data(10_000_000, 5, seed=2)[1])
    tables = [wmcc.tabulate(truth, guess, w) for guess in (first, second)]
    found = wmcc.compare(wmcc.tabulate(truth, {"a": first, "b": second}, w))
    assert found.only.values == tuple(wmcc.ecc(table) for table in tables)
    here = timed(lambda: wmcc.compare(wmcc.tabulate(truth, {"a": first, "b": second}, w)), 5)
    there = timed(lambda: [wmcc.tabulate(truth, guess, w) for guess in (first, second)], 5)
    ratio = median(here) / median(there)
    bars.add("compare over two tabulations, N = 1e7, K = 5", ratio, 2, "x", False, f"{median(here):.2f} s")


def bootstrap(bars: Bars) -> None:
    """Time a thousand resamples of a million rows."""
    rows = data(1_000_000, 5)
    found = wmcc.bootstrap(*rows, resamples=1000)
    assert np.isclose(found.se, wmcc.interval(wmcc.tabulate(*rows)).se, rtol=0.1)
    seconds = timed(lambda: wmcc.bootstrap(*rows, resamples=1000), 3)
    bars.add("bootstrap, N = 1e6, 1,000 resamples, K = 5", median(seconds), 10, "s", False, spread(seconds))


def clustered(truth: np.ndarray, guess: np.ndarray, w: np.ndarray, key: np.ndarray | None) -> wmcc.results.Interval:
    return wmcc.interval(wmcc.tabulate(truth, guess, w, cluster=key))


def clusters() -> str:
    """Return a table of how intervals by cluster grow with the rows and with the clusters."""
    lines = ["| rows | clusters | seconds | over an interval without |", "|---:|---:|---:|---:|"]
    for rows, count in ((1_000_000, 100), (1_000_000, 1_000), (1_000_000, 10_000), (10_000_000, 1_000)):
        truth, guess, w = data(rows, 5)
        key = np.random.default_rng(3).integers(0, count, rows)
        with_, without = (median(timed(partial(clustered, truth, guess, w, by), 3)) for by in (key, None))
        lines.append(f"| {rows:,} | {count:,} | {with_:.2f} | {with_ / without:.0f}x |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the figures into docs/benchmarks.md")
    write, bars = parser.parse_args().write, Bars()
    intervals(bars)
    comparison(bars)
    bootstrap(bars)
    grown = clusters()
    if write:
        write_section("inference", f"{bars.markdown()}\n\nBy clusters, K = 5:\n\n{grown}")


if __name__ == "__main__":
    main()
