"""Data, peers, the memory floor and a stopwatch for the benchmarks."""

from __future__ import annotations

import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from sklearn.metrics import matthews_corrcoef

from wmcc.core import kernel as tally

THREADS = 2


def data(rows: int, classes: int, dtype: str = "i8", seed: int = 0):
    """Labels right four times in five, and log-normal weights."""
    rng = np.random.default_rng(seed)
    t = rng.integers(0, classes, rows, dtype=np.int32)
    p = np.where(rng.random(rows, dtype=np.float32) < 0.8, t, rng.integers(0, classes, rows, dtype=np.int32))
    return t.astype(dtype), p.astype(dtype), rng.lognormal(0, 1, rows)


def timed(function, repeat: int = 9) -> list[float]:
    """Seconds of each of ``repeat`` calls, after one that does not count."""
    function()
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return seconds


def timed_once(function) -> list[float]:
    """Seconds of a call that is too slow to be repeated much."""
    start = time.perf_counter()
    function()
    return [time.perf_counter() - start]


def best_in_turns(ours, peer, repeat: int) -> tuple[float, float]:
    """Return the least seconds of two functions that are called in turns, since others use the machine, too."""
    least = [float("inf")] * 2
    for _ in range(repeat):
        for k, function in enumerate((ours, peer)):
            start = time.perf_counter()
            function()
            least[k] = min(least[k], time.perf_counter() - start)
    return least[0], least[1]


class Bars:
    """Figures with the bar each was given: printed as they come, and a table of them all."""

    def __init__(self) -> None:
        self._rows: list[str] = []

    def add(self, what: str, value: float, limit: float, unit: str, at_least: bool, note: str = "") -> None:
        """Compare a figure with its bar."""
        met = value >= limit if at_least else value <= limit
        sign, note = "≥" if at_least else "≤", note.strip("[]")
        verdict = "met" if met else "**missed**"
        self._rows.append(f"| {what} | {value:.3g} {unit} | {sign} {limit:g} | {verdict} | {note} |")
        print(f"{'met ' if met else 'MISSED'}  {what}: {value:.3g} {unit} (bar {sign} {limit:g}) {note}", flush=True)

    def markdown(self) -> str:
        """Return the table."""
        return "\n".join(["| what | measured | bar | | details |", "|---|---:|---:|---|---|", *self._rows])


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def write_section(name: str, text: str, page: str = "benchmarks.md") -> None:
    """Replace what stands between ``<!-- name -->`` and ``<!-- end of name -->`` in a page of docs/."""
    path = Path(__file__).parent.parent / "docs" / page
    before, start, rest = path.read_text().partition(f"<!-- {name} -->")
    _, end, after = rest.partition(f"<!-- end of {name} -->")
    path.write_text(f"{before}{start}\n\n{text.strip()}\n\n{end}{after}")


def median(seconds: list[float]) -> float:
    return statistics.median(seconds)


def spread(seconds: list[float]) -> str:
    """Smallest and largest over the median."""
    middle = median(seconds)
    return f"{min(seconds) / middle:.2f}–{max(seconds) / middle:.2f}"


def floor(arrays, threads: int = THREADS):
    """A function that does nothing but read the arrays with some threads: the fastest of two ways to read."""
    pieces = [piece for a in arrays for piece in np.array_split(a.view(f"u{a.itemsize}"), threads)]

    def read_with(function):
        def run():
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(function, pieces))

        return run

    ways = [read_with(np.max), read_with(tally.active.extent)]
    return min(ways, key=lambda way: median(timed(way, 5)))


def sklearn_mcc(t, p, w):
    return float(matthews_corrcoef(t, p, sample_weight=w))


def bincount(t, p, w, classes):
    """What one writes by hand: n, Σw and Σw² with NumPy, for labels known to be 0 … K − 1."""
    cell = t * classes + p
    return [np.bincount(cell, x, classes * classes) for x in (None, w, w * w)]
