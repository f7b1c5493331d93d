"""The paper's figures: a measure over the starts of a section, with weights and without."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arraytypes import Array, IntArray
from ..errors import InputError
from ..experiments.separation import Separation, Trace
from ..measures import MEASURES
from ..optional import module
from ._style import BLUE, GREY, RED, expected

SHADES = "#f1f1f1", "#dedede"
"""Behind starts whose section reaches the heaviest observations, and has half of its own there."""


def separation(found: Separation, *, ax: Array | None = None) -> Array:
    """Draw means and bands over the starts of the section: a row for each p, columns for the measures.

    Parameters
    ----------
    found
        What `wmcc.experiments.separation` returned.
    ax
        A grid of axes: rows for the match proportions p, columns for each measure without and with weights.

    Returns
    -------
    The axes, as an array of this shape.

    Examples
    --------
    >>> from wmcc import plot
    >>> from wmcc.experiments import separation
    >>> import matplotlib.pyplot as plt
    >>> axes = plot.separation(separation(repetitions=10))
    >>> [x.get_title() for x in axes[0]]
    ['MCC', 'WMCC']
    >>> plt.close(axes[0, 0].figure)
    """
    plt = module("matplotlib.pyplot")
    expected(found, Separation, "a Separation", "wmcc.experiments.separation(...) returns one.")
    rows, columns = len(found.design.p), 2 * len(found.design.measures)
    own = ax is None
    if own:
        narrow = columns <= 2
        size = (1.6 + 2.1 * columns, (1.6 if narrow else 1.2) + 1.7 * rows)
        _, ax = plt.subplots(rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained")
    ax = np.asarray(ax, dtype=object)
    if ax.size != rows * columns:
        said = f"there are {ax.size} axes; expected {rows} rows of {columns}."
        raise InputError(said, f"plt.subplots({rows}, {columns}) makes them.", "ax")
    ax = ax.reshape(rows, columns)
    for line, p in zip(ax, found.design.p, strict=True):
        traces = [found.trace(p, m, weighted) for m in found.design.measures for weighted in (False, True)]
        for axes, trace in zip(line, traces, strict=True):
            handles = _panel(axes, found, trace)
        line[0].set_ylabel(f"p = {p:g}")
    for axes, name in zip(ax[0], [trace.title for trace in traces], strict=True):
        axes.set_title(name)
    for axes in ax[-1]:
        axes.set_xlabel("start of the section")
    if own:
        ax[0, 0].figure.legend(
            handles=handles, loc="outside lower center", ncols=1 if narrow else 2, frameon=False, fontsize=9
        )
    return ax


def _panel(axes: Any, found: Separation, trace: Trace) -> list[Any]:
    """Draw one trace; return what a legend explains."""
    design, starts, share = found.design, found.starts, found.design.heaviest
    colour = RED if trace.weighted else BLUE
    reaches = [
        axes.axvspan(first - 0.5, last + 0.5, color=shade, linewidth=0, zorder=0, label=what)
        for shade, where, what in zip(SHADES, (share > 0, share >= 0.5), _names(found), strict=True)
        for first, last in _runs(starts[where])
    ]
    axes.grid(axis="y", color=GREY, alpha=0.25, linewidth=0.5)
    axes.axhline(0, color=GREY, linewidth=0.8, zorder=1)
    band = axes.fill_between(
        starts, trace.low, trace.high, color=colour, alpha=0.4, linewidth=0, label="nine in ten single predictions"
    )
    (line,) = axes.plot(
        starts, trace.mean, color=colour, linewidth=1.4, label=f"mean of {design.repetitions:,} predictions"
    )
    low, high = zip(*(MEASURES[m].range for m in design.measures), strict=True)
    beside, above = 0.02 * len(starts), 0.04 * (max(high) - min(low))
    axes.set(xlim=(starts[0] - beside, starts[-1] + beside), ylim=(min(low) - above, max(high) + above))
    axes.set_xticks(_ticks(found))
    return [line, band, *{x.get_label(): x for x in reaches}.values()]


def _runs(numbers: IntArray) -> list[tuple[int, int]]:
    """First and last of numbers that follow one another."""
    return [
        (int(run[0]), int(run[-1])) for run in np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1) if len(run)
    ]


def _names(found: Separation) -> tuple[str, str]:
    """What the shades say."""
    w = np.array(found.design.weights)
    runs = _runs(np.flatnonzero(w == w.max()) + 1)
    which = f" {runs[0][0]:,}–{runs[0][1]:,}" if len(runs) == 1 else ""
    return f"section reaches observations{which} of weight {w.max():,}", "and has half of its own there, or more"


def _ticks(found: Separation) -> list[int]:
    """The first start and the last, those where weights change, and the first with half in the heaviest part."""
    w, share, starts = np.array(found.design.weights), found.design.heaviest, found.starts
    changes = starts[np.flatnonzero(np.diff(w, prepend=w[0])[: len(starts)])]
    half = starts[np.flatnonzero(share >= 0.5)[:1]]
    marks = {int(starts[0]), int(starts[-1]), *half.tolist(), *(changes.tolist() if len(changes) <= 4 else [])}
    return sorted(marks)
