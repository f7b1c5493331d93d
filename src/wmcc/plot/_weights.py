"""Where the weight lies, and what it leaves of the data."""

from __future__ import annotations

from math import ceil, floor, log10
from sys import float_info
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arraytypes import ArrayLike
from ..core.table import Table, Tabulated, one_table
from ..errors import InputTypeError
from ..inference.diagnostics import Diagnosis, diagnose
from ..measures.base import check_scorable
from ..present.text import heaviest, percent
from ..sources import tabulate
from . import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BINS = 40


def weights(sample_weight: ArrayLike, *, ax: Axes | None = None) -> Axes:
    r"""Draw how uneven the weights of rows are, and state the effective sample size.

    Weights are drawn by their size, on a logarithmic scale: which share of the rows has such weights, and which share
    of the weight these rows hold.

    Parameters
    ----------
    sample_weight
        The weights of the rows: numbers of at least 0.
    ax
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from wmcc import plot
    >>> from wmcc.demo import make_map
    >>> ax = plot.weights(make_map().area)
    >>> ax.get_title(loc="left")
    'effective sample size 918, of 2,000 rows\nthe heaviest row holds 0.9 % of the weight'
    """
    if isinstance(sample_weight, (Table, Diagnosis)) or hasattr(sample_weight, "table"):
        kind = type(sample_weight).__name__
        raise InputTypeError(f"expected the weights of rows; got a {kind}.", "plot.shares draws those of its classes.")
    w = np.asarray(sample_weight).reshape(-1)
    same = np.zeros(len(w), dtype=bool)
    check_scorable(tabulate(same, same, w))  # as all weights are checked
    w = w.astype(np.float64)
    parts = w / w.max()
    ax = style.axes(ax, (6.4, 3.6))
    size, count = np.log10(w[w > 0]), min(MOST_BINS, max(8, int(np.count_nonzero(w) ** 0.5)))
    low, high = float(size.min()), float(size.max())
    if high - low < 1e-9:  # one bin, and some room on either side of it
        low, high, count = low - 0.5, high + 0.5, 15
    edges = np.linspace(low, high, count + 1)
    rows, heavy = (np.histogram(size, edges, weights=x)[0] for x in (None, parts[w > 0]))
    ax.stairs(100 * rows / len(w), edges, fill=True, color=style.SKY, alpha=0.6, label="share of the rows")
    ax.stairs(100 * heavy / heavy.sum(), edges, color=style.RED, linewidth=1.8, label="share of the weight")
    ax.set(xlim=(low - 0.01 * (high - low), high + 0.01 * (high - low)), ylim=(0, None))
    _name_sizes(ax, low, high)
    style.label(ax, "weight of a row (logarithmic)", "share (%)")
    ax.legend(fontsize=style.SMALL, frameon=False)
    title, more = _title(len(w), parts.sum() ** 2 / np.square(parts).sum(), 1 / parts.sum())
    none = len(w) - len(size)
    style.titled(ax, title, more + f"; {none:,} weigh nothing and are not drawn" * (none > 0))
    return ax


def shares(table: Tabulated, *, ax: Axes | None = None) -> Axes:
    """Draw each true class's share of the rows beside its share of the weight, with its effective sample size.

    Of more than 500 classes the heaviest are drawn.

    Parameters
    ----------
    table
        A table, or what has one: a score, an accumulator.
    ax
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import wmcc
    >>> from wmcc import plot
    >>> ax = plot.shares(wmcc.tabulate(["oak", "elm", "elm"], ["oak", "elm", "oak"], [300, 2, 7.5]))
    >>> [text.get_text() for text in ax.texts]
    ['2 rows, n_eff 1.5', '1 row, n_eff 1']
    """
    found = diagnose(one_table(table))
    w = np.array([c.total for c in found.classes]) / max(c.total for c in found.classes)
    drawn = heaviest(w.tolist(), style.MOST)
    shown, heavy = [found.classes[k] for k in drawn], (100 * w / w.sum())[drawn]
    notes = [f"{style.rows(c.n)}, n_eff {style.figures(c.n_eff)}" for c in shown]
    ax, height = style.lines(ax, "share (%)", style.names([c.label for c in shown]), notes)
    places, rows = np.arange(len(shown)), np.array([100 * c.n / found.n for c in shown])
    ax.hlines(places, rows, heavy, color=style.GREY, linewidth=1.2, zorder=1)
    marks: dict[str, Any] = {"linestyle": "none", "markersize": min(6.5, height)}
    ax.plot(rows, places, "o", color=style.BLUE, markerfacecolor="white", label="share of the rows", **marks)
    ax.plot(heavy, places, "D", color=style.RED, label="share of the weight", **marks)
    ax.set_xlim(left=0)
    ax.legend(fontsize=style.SMALL, frameon=False)
    style.titled(ax, *_title(found.n, found.n_eff, found.heaviest_row), style.part(len(shown), len(found.classes)))
    return ax


def _title(n: int, n_eff: float, heaviest_row: float) -> tuple[str, str]:
    heaviest = f"the heaviest row holds {percent(heaviest_row)} of the weight"
    return f"effective sample size {style.figures(n_eff)}, of {n:,} rows", heaviest


def _name_sizes(ax: Any, low: float, high: float) -> None:
    """Name sizes along an axis of logarithms, which goes further than matplotlib's logarithmic one."""
    high = min(high, float_info.max_10_exp)
    step, within = max(1, ceil((high - low) / 8)), (1, 2, 5) if high - low < 3 else (1,)
    decades = range(step * floor(low / step), ceil(high) + 1, step)
    places = [x for d in decades for m in within if low <= (x := d + log10(m)) <= high]
    if len(places) < 2:
        places = np.linspace(low, high, 4).tolist()
    ax.set_xticks(places, [style.figures(10.0**x) for x in places])
