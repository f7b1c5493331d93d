"""Where the weight lies, and what it leaves of the data."""

from __future__ import annotations

from math import ceil, floor, log10
from sys import float_info
from typing import Any

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.table import Table
from ..errors import InputError
from ..inference.diagnostics import Diagnosis, diagnose
from ..present.text import heaviest, percent
from ..results.score import Score
from ..sources.columns import weight_array
from . import _style as style

MOST_BINS = 40


def weights(data: Any, *, ax: Any = None) -> Any:
    r"""Draw how uneven weights are, and say how many rows of equal weight the data are worth.

    Weights themselves are drawn by their size, on a logarithmic scale: which share of the rows has such weights, and
    which share of the weight these rows hold. A table knows no single weights: of it, each class's share of
    the rows is drawn beside its share of the weight.

    Parameters
    ----------
    data
        The weights of the rows; or a table, a score, or what `wmcc.diagnose` returns for one.
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
    '2,000 rows are worth 251 of equal weight (n_eff)\nthe heaviest row holds 3.8 % of the weight'
    """
    if not isinstance(data, (Table, Score, Diagnosis)):
        return _sizes(weight_array(data, "weights").reshape(-1).astype(np.float64), diagnose(data), ax)
    found = data if isinstance(data, Diagnosis) else data.diagnosis if isinstance(data, Score) else diagnose(data)
    if not found.classes:
        raise InputError("the diagnosis is of weights alone, without classes.", "give the weights: plot.weights(w).")
    return _classes(found, ax)


def _title(found: Diagnosis) -> tuple[str, str]:
    heaviest = f"the heaviest row holds {percent(found.heaviest_row)} of the weight"
    return f"{found.n:,} rows are worth {style.figures(found.n_eff)} of equal weight (n_eff)", heaviest


def _sizes(w: FloatArray, found: Diagnosis, ax: Any) -> Any:
    """Draw shares of rows and of weight by the size of weights."""
    ax = style.axes(ax, (6.4, 3.6))
    positive = w[w > 0]
    size, count = np.log10(positive), min(MOST_BINS, max(8, int(len(positive) ** 0.5)))
    low, high = float(size.min()), float(size.max())
    if high - low < 1e-9:  # one bin, and some room on either side of it
        low, high, count = low - 0.5, high + 0.5, 15
    edges = np.linspace(low, high, count + 1)
    rows, heavy = (np.histogram(size, edges, weights=x)[0] for x in (None, positive / positive.max()))
    ax.stairs(100 * rows / len(w), edges, fill=True, color=style.SKY, alpha=0.6, label="share of the rows")
    ax.stairs(100 * heavy / heavy.sum(), edges, color=style.RED, linewidth=1.8, label="share of the weight")
    ax.set(xlim=(low - 0.01 * (high - low), high + 0.01 * (high - low)), ylim=(0, None))
    _name_sizes(ax, low, high)
    ax.set_xlabel("weight of a row (logarithmic)", fontsize=style.TEXT)
    ax.set_ylabel("share (%)", fontsize=style.TEXT)
    ax.tick_params(labelsize=style.TEXT)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=style.SMALL, frameon=False)
    title, more = _title(found)
    none = len(w) - len(positive)
    style.titled(ax, title, more + f"; {none:,} weigh nothing and are not drawn" * (none > 0))
    return ax


def _name_sizes(ax: Any, low: float, high: float) -> None:
    """Name sizes along an axis of logarithms, which goes further than matplotlib's logarithmic one."""
    high = min(high, float_info.max_10_exp)
    step, within = max(1, ceil((high - low) / 8)), (1, 2, 5) if high - low < 3 else (1,)
    decades = range(step * floor(low / step), ceil(high) + 1, step)
    places = [x for d in decades for m in within if low <= (x := d + log10(m)) <= high]
    if len(places) < 2:
        places = np.linspace(low, high, 4).tolist()
    ax.set_xticks(places, [style.figures(10.0**x) for x in places])


def _classes(found: Diagnosis, ax: Any) -> Any:
    """Draw each class's share of the rows beside its share of the weight."""
    w = np.array([c.weight for c in found.classes]) / max(c.weight for c in found.classes)
    drawn = heaviest(w.tolist(), style.MOST)
    shown, heavy = [found.classes[k] for k in drawn], (100 * w / w.sum())[drawn]
    notes = [f"{style.rows(c.n)}, n_eff {style.figures(c.n_eff)}" for c in shown]
    ax, height = style.lines(ax, style.names([c.label for c in shown]), notes)
    places, rows = np.arange(len(shown)), np.array([100 * c.n / found.n for c in shown])
    ax.hlines(places, rows, heavy, color=style.GREY, linewidth=1.2, zorder=1)
    marks = {"linestyle": "none", "markersize": min(6.5, height)}
    ax.plot(rows, places, "o", color=style.BLUE, markerfacecolor="white", label="share of the rows", **marks)
    ax.plot(heavy, places, "D", color=style.RED, label="share of the weight", **marks)
    ax.set_xlim(left=0)
    ax.set_xlabel("share (%)", fontsize=style.TEXT)
    ax.legend(fontsize=style.SMALL, frameon=False)
    style.titled(ax, *_title(found), style.part(len(shown), len(found.classes)))
    return ax
