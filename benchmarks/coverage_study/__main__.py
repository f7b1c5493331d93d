"""Simulate, and write docs/understand/coverage.md and a part of thresholds.md: ``python -m coverage_study``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

from common import processors, write_section

from . import (
    beside,
    clusters,
    designs,
    drawn,
    drift,
    freedom,
    grid,
    pairs,
    pictures,
    plans,
    report,
    resampling,
    thresholds,
)

RAW = pictures.PAGES / "coverage.csv"
DESIGNS = pictures.PAGES / "coverage-designs.csv"
FEWER = 5
"""The bootstrap is slow: one sample in five is resampled. So are samples that are tabulated one by one."""

FEWEST = 10
"""One sample in ten has a threshold chosen: two bands are drawn for each."""


class Study:
    """The parts of the study, each of which returns its text.

    Parameters
    ----------
    runs
        Samples per point.
    processes
        How many work at once.
    write
        Whether to draw the pictures and write the raw figures too.
    reuse
        Whether to take the grid's points from the file where they were written.
    """

    def __init__(self, runs: int, processes: int, write: bool, reuse: bool) -> None:
        self.runs, self.processes, self.write, self.reuse = runs, processes, write, reuse

    def grid(self) -> str:
        """Return intervals' coverage."""
        if self.reuse:
            points = grid.read(RAW)
        else:
            found = self._gathered(partial(grid.simulate, runs=self.runs), grid.settings(), "grid")
            points = [point for some in found for point in some]
        if self.write:
            grid.write(points, RAW)
            pictures.grid(points)
        return report.text(points)

    def freedom(self) -> str:
        """Return what other limits on the degrees of freedom would give."""
        simulate = partial(freedom.simulate, runs=self.runs // FEWER)
        return freedom.text(self._gathered(simulate, freedom.settings(), "freedom"))

    def beside(self) -> str:
        """Return random tables beside the BCa bootstrap."""
        return beside.text(self._gathered(beside.simulate, range(beside.TABLES), "beside"))

    def bootstrap(self) -> str:
        """Return the bootstrap's coverage and cost; one process, since it has threads of its own."""
        runs = self.runs // FEWER
        found = self._gathered(partial(resampling.simulate, runs=runs), resampling.cases(), "bootstrap", processes=1)
        return resampling.text(found, resampling.many_rows())

    def null(self) -> str:
        """Return the size of the paired test."""
        return pairs.null_table(self._gathered(partial(pairs.simulate, runs=self.runs), pairs.nulls(), "null"))

    def power(self) -> str:
        """Return the power of the paired test, beside others'."""
        simulate = partial(pairs.simulate, runs=self.runs, resampled=self.runs // FEWER)
        found = self._gathered(simulate, pairs.curves(), "power")
        if self.write:
            pictures.power(found)
        return pairs.power_table(found)

    def drift(self) -> str:
        """Return coverage and size of comparisons of independent samples."""
        return drift.text(self._gathered(partial(drift.simulate, runs=self.runs), drift.cases(), "drift"))

    def clusters(self) -> str:
        """Return coverage and size where rows come in clusters."""
        found = self._gathered(partial(clusters.simulate, runs=self.runs), clusters.scenarios(), "clusters")
        if self.write:
            pictures.images(found)
        return clusters.text(found)

    def designs(self) -> str:
        """Return coverage and size where the design that drew the sample is known."""
        runs = self.runs // FEWER
        found = self._gathered(partial(designs.simulate, runs=runs), plans.plans(), "designs")
        points = [point for some in found for point in some]
        tests = self._gathered(partial(designs.compare, runs=self.runs // 2), plans.pairs(), "designs, tests")
        if self.write:
            designs.write(points, DESIGNS)
        return designs.text(points, tests)

    def drawn(self) -> str:
        """Return coverage of samples that are drawn from maps, labelled and read back."""
        simulate = partial(drawn.simulate, runs=self.runs // FEWER)
        return drawn.text(self._gathered(simulate, drawn.settings(), "drawn"))

    def thresholds(self) -> str:
        """Return bias and coverage where a threshold is chosen on the data."""
        simulate = partial(thresholds.simulate, runs=self.runs // FEWEST)
        return thresholds.text(self._gathered(simulate, thresholds.settings(), "thresholds"))

    def _gathered(
        self, function: Callable[..., Any], jobs: Iterable[Any], what: str, processes: int | None = None
    ) -> list[Any]:
        """Results of a function, in the order of its jobs, from several processes."""
        jobs, start, out = list(jobs), time.perf_counter(), []
        with ProcessPoolExecutor(processes or self.processes) as pool:
            for result in pool.map(function, jobs):
                out.append(result)
                if len(out) % 100 == 0 or len(out) == len(jobs):
                    print(f"{what}: {len(out)} of {len(jobs)}, {time.perf_counter() - start:.0f} s", flush=True)
        return out


PARTS = "grid", "freedom", "beside", "bootstrap", "null", "power", "drift", "clusters", "designs", "drawn", "thresholds"
ELSEWHERE = {"thresholds": "understand/thresholds.md"}
"""Parts that another page has."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="coverage_study", description=__doc__)
    parser.add_argument("--runs", type=int, default=5000, help="samples per point")
    parser.add_argument("--quick", action="store_true", help="500 samples per point, and nothing is written")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--processes", type=int, default=processors())
    parser.add_argument("--reuse", action="store_true", help="take the grid's points from docs/understand/coverage.csv")
    arguments = parser.parse_args()
    write = not arguments.quick
    study = Study(arguments.runs if write else 500, arguments.processes, write, arguments.reuse)
    for part in PARTS:
        if arguments.only in (None, part):
            text = getattr(study, part)()
            print(f"\n{text}\n")
            if write:
                write_section(part, text, ELSEWHERE.get(part, "understand/coverage.md"))


if __name__ == "__main__":
    main()
