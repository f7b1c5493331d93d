"""How fast score tables and best thresholds are: docs/benchmarks.md, with ``--write``.

Each answer is held against another way to it before it is timed. Times are taken in turns, since the machine's speed
drifts.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import numpy as np
from common import THREADS, Bars, median, sklearn_mcc, spread, timed, timed_once, write_section
from sklearn.metrics import roc_auc_score, roc_curve

import wmcc
from wmcc.core.score_table import ScoreTable
from wmcc.inference.scores.grid import ThresholdGrid
from wmcc.measures import MEASURES
from wmcc.sources.score_steps import CHOSEN_STEPS

MILLI = 1e3
TRIED = 100
"""Thresholds that scikit-learn's TunedThresholdClassifierCV tries, each by a call of the metric."""


def scored(rows: int, digits: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, probabilities that speak for them, and log-normal weights."""
    rng = np.random.default_rng(0)
    truth = (rng.random(rows) < 0.3).astype(np.int64)
    score = 1 / (1 + np.exp(-rng.normal(1.5 * truth - 1, 1)))
    return truth, score if digits is None else score.round(digits), rng.lognormal(0, 1, rows)


def all_values(truth: np.ndarray, score: np.ndarray, w: np.ndarray) -> tuple[ScoreTable, np.ndarray]:
    """Return the score table, and MCC at each of its thresholds."""
    scores = wmcc.tabulate(truth, score=score, sample_weight=w)
    return scores, ThresholdGrid(scores, scores.steps).values(MEASURES["mcc"])


def check(truth: np.ndarray, score: np.ndarray, w: np.ndarray) -> None:
    """Hold values at some thresholds to scikit-learn's, and the ROC curve to its own."""
    scores, values = all_values(truth, score, w)
    for k in np.linspace(1, len(values) - 1, 5).astype(int):
        assert abs(values[k] - sklearn_mcc(truth, score >= scores.steps[k], w)) < 1e-9
    if scores.edges is None:
        assert abs(wmcc.interval(scores, "roc_auc").value - roc_auc_score(truth, score, sample_weight=w)) < 1e-12
        alarms, hits, thresholds = roc_curve(truth, score, sample_weight=w, drop_intermediate=False)
        assert (thresholds[:0:-1] == scores.steps).all()
        positive, negative = scores.above.floats()
        assert np.allclose(hits[:0:-1], positive / positive[0], atol=1e-12)
        assert np.allclose(alarms[:0:-1], negative / negative[0], atol=1e-12)


def against_scikit_learn(bars: Bars) -> None:
    """Time tables and MCC at all their thresholds over the ROC curve, and over a call of the metric for each."""
    rows = 10**6
    for digits in (None, 5):
        truth, score, w = scored(rows, digits)
        check(truth, score, w)
        ours: list[float] = []
        curves: list[float] = []
        for _ in range(5):
            ours += timed(partial(all_values, truth, score, w), 1)
            curves += timed(partial(roc_curve, truth, score, sample_weight=w, drop_intermediate=False), 1)
        calls = timed(partial(sklearn_mcc, truth, score >= 0.5, w), 2)
        ratios = [a / b for a, b in zip(ours, curves, strict=True)]
        steps = len(all_values(truth, score, w)[1])
        name = "as they are" if digits is None else f"rounded to {digits} digits"
        what = f"1e6 scores {name}, table and MCC at its {steps:,} thresholds"
        note = f"{median(ours) * MILLI:.0f} ms, roc_curve {median(curves) * MILLI:.0f} ms; ratios {_range(ratios)}"
        bars.add(f"{what}, over roc_curve", median(ratios), 1.3, "times", False, note)
        note = f"a call {median(calls) * MILLI:.0f} ms; two were timed, and multiplied"
        bars.add(f"{what}, {TRIED} calls over it", TRIED * median(calls) / median(ours), 50, "times", True, note)


def against_sorting(bars: Bars) -> None:
    """Time the table of many scores over finding their order."""
    truth, score, w = scored(10**7)
    table = partial(wmcc.tabulate, truth, score=score, sample_weight=w)
    scores = table()
    assert len(scores.steps) == CHOSEN_STEPS
    for edge in scores.edges[:: CHOSEN_STEPS // 3]:
        assert scores.at(edge) == wmcc.tabulate(truth, (score >= edge).astype(np.int64), w)
    for threads in (1, THREADS):  # np.argsort has one
        ours: list[float] = []
        order: list[float] = []
        used = []
        for _ in range(7):
            start = time.process_time()
            ours += timed_once(partial(table, threads=threads))
            middle = time.process_time()
            order += timed_once(partial(np.argsort, score))
            used.append((middle - start) / (time.process_time() - middle))
        ratios = [a / b for a, b in zip(ours, order, strict=True)]
        note = f"{median(ours):.2f} s, np.argsort {median(order):.2f} s; ratios {_range(ratios)}, of processor time "
        note += f"{median(used):.2f}, {_range(used)}"
        what = f"1e7 scores, the table, {threads} thread{'s' * (threads > 1)}, over np.argsort"
        bars.add(what, median(ratios), 1.5, "times", False, note)


def best(bars: Bars) -> None:
    """Time the best threshold from a table, a new one each time."""
    truth, score, w = scored(100_000, 3)
    scores = wmcc.tabulate(truth, score=score, sample_weight=w)
    values = [wmcc.mcc(scores.at(t)) for t in scores.steps]
    found = wmcc.best_threshold(scores)
    assert found.value == max(values)
    seconds, used = [], []
    for _ in range(20):
        fresh, before = ScoreTable(scores.tables), time.process_time()
        seconds += timed_once(partial(wmcc.best_threshold, fresh))
        used.append(time.process_time() - before)
    what = f"best_threshold from a table of {len(values):,} steps, processor time"  # it has one thread
    note = f"spread {spread(used)}; by the clock {median(seconds) * MILLI:.0f} ms, {spread(seconds)}"
    bars.add(what, median(used) * MILLI, 50, "ms", False, note)


def _range(ratios: list[float]) -> str:
    return f"{min(ratios):.2f}–{max(ratios):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the figures into docs/benchmarks.md")
    write, bars = parser.parse_args().write, Bars()
    against_scikit_learn(bars)
    against_sorting(bars)
    best(bars)
    if write:
        write_section("thresholds", bars.markdown())


if __name__ == "__main__":
    main()
