"""The pictures of docs/understand/coverage.md, in colours that are told apart without colour vision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

from . import clusters, pairs
from .grid import WEIGHTS, Point
from .report import BAR, ENOUGH, coverage, reliable_coverage, some_reliable

PAGES = Path(__file__).parent.parent.parent / "docs" / "understand"
BLUE, ORANGE, GREY = "#0072b2", "#e69f00", "#666666"
FLAGGED = {
    "9 in 10 or more": (0.9, 1.1, ORANGE, "o"),
    "some": (0.1, 0.9, "#000000", "s"),
    "fewer than 1 in 10": (0.0, 0.1, BLUE, "o"),
}
"""Shares of intervals that are flagged, from and to; how points are drawn."""


def _save(figure: Any, name: str) -> None:
    """Save a picture, the same bytes each time."""
    plt.rcParams["svg.hashsalt"] = name  # from which the parts get their names
    svg = name.endswith("svg")
    figure.savefig(PAGES / name, dpi=80, metadata={"Date": None} if svg else {"Software": None})
    plt.close(figure)


def _band(axis: Any, low: float, high: float) -> None:
    """Show where figures should be."""
    axis.axhspan(low, high, color="#000000", alpha=0.08, linewidth=0)


def grid(points: list[Point]) -> None:
    """Coverage over the effective rows of the smallest class: of all intervals, and of those without a flag."""
    figure, axes = plt.subplots(
        2, len(WEIGHTS), figsize=(2.7 * len(WEIGHTS), 7), layout="constrained", sharex=True, sharey=True
    )
    rows = ("all intervals", coverage, lambda x: True), ("without a flag", reliable_coverage, some_reliable)
    for line, (what, figure_of, belongs) in zip(axes, rows, strict=True):
        for axis, weights in zip(line, WEIGHTS, strict=True):
            _band(axis, *BAR)
            axis.axvline(ENOUGH, color=GREY, linewidth=1, linestyle=":")
            for name, (low, high, colour, mark) in FLAGGED.items():
                own = [x for x in points if x.weights == weights.name and x.estimable and belongs(x)]
                own = [x for x in own if low <= x.flagged / x.estimable < high]
                y = [max(80.0, figure_of(x)) for x in own]
                axis.scatter(
                    [x.class_n_eff for x in own], y, c=colour, s=11, marker=mark, linewidths=0, label=name, alpha=0.7
                )
            axis.set(xscale="log", ylim=(79.5, 100.5))
            axis.grid(alpha=0.25)
        line[0].set_ylabel(f"coverage (%), {what}")
    for axis, weights in zip(axes[0], WEIGHTS, strict=True):
        axis.set_title(f"weights {weights.name}")
    axes[1][3].legend(fontsize=9, loc="lower center", title="intervals flagged", title_fontsize=9)
    figure.supxlabel("effective rows of the smallest class, expected (coverage below 80 % is drawn at 80)")
    _save(figure, "coverage-grid.png")


def power(found: list[pairs.Outcome]) -> None:
    """Power of the paired tests over the gap."""
    figure, axes = plt.subplots(1, len(pairs.CURVES), figsize=(12, 4.2), layout="constrained", sharey=True)
    for axis, (name, curve) in zip(axes, pairs.by_curve(found).items(), strict=True):
        axis.axhline(5, color=GREY, linewidth=1, linestyle=":")
        gaps = [x.pair.gap for x in curve]
        axis.plot(gaps, [x.rejected for x in curve], "o-", color=BLUE, label="wmcc.compare")
        axis.plot(gaps, [x.bootstrap for x in curve], "s--", color=ORANGE, label="paired bootstrap", markersize=4)
        axis.plot(gaps, [x.mcnemar for x in curve], "^:", color=GREY, label="McNemar's, rows counted")
        axis.set(title=name, xlabel="gap of the weighted scores", ylim=(-2, 102))
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("told apart at 5 % (% of samples)")
    axes[0].legend(fontsize=9, loc="lower right")
    _save(figure, "coverage-power.svg")


def images(found: list[clusters.Outcome]) -> None:
    """Coverage over the number of clusters, pixels taken for independent and not."""
    plain = [
        x for x in found if x.images._replace(clusters=0, correlation=0.0, uneven=False) == clusters.Images(0, 0.0)
    ]
    correlations = sorted({x.images.correlation for x in plain})
    figure, axes = plt.subplots(1, len(correlations), figsize=(12, 4.2), layout="constrained", sharey=True)
    for axis, correlation in zip(axes, correlations, strict=True):
        axis.axhspan(92, 97, color="#000000", alpha=0.08, linewidth=0)
        for uneven, line in ((False, "-"), (True, "--")):
            own = [x for x in plain if (x.images.correlation, x.images.uneven) == (correlation, uneven)]
            count, size = [x.images.clusters for x in own], "uneven images" if uneven else "equal images"
            axis.plot(count, [x.covered for x in own], "o" + line, color=BLUE, label=f"by cluster, {size}")
            axis.plot(count, [x.naive for x in own], "s" + line, color=ORANGE, label=f"naive, {size}", markersize=4)
        axis.set(xscale="log", title=f"intra-class correlation {correlation:g}", xlabel="clusters", ylim=(30, 100))
        axis.set_xticks(count, [str(x) for x in count])
        axis.minorticks_off()
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("coverage (%)")
    axes[0].legend(fontsize=9, loc="lower left")
    _save(figure, "coverage-clusters.svg")
