"""Pictures of scores: a measure by threshold, the MCC–F1 curve, ROC and precision–recall curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.score_table import ScoreTable
from ..inference.interval import interval
from ..inference.scores import mcc_f1 as curves
from ..inference.scores.curve import ThresholdCurve, checked_scores
from ..inference.scores.measures import undefined
from ..measures.base import ScoreMeasureName
from ..present.text import decimal, number
from . import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..results.best_threshold import BestThreshold


def curve(curve: ThresholdCurve, *, best: BestThreshold | None = None, ax: Axes | None = None) -> Axes:
    """Draw a measure against the threshold, with intervals and the band for all thresholds together.

    Parameters
    ----------
    curve
        What `wmcc.curve` returns.
    best
        What `wmcc.best_threshold` returns of the same scores: the threshold and what to expect there are marked.
    ax
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np, wmcc
    >>> from wmcc import plot
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(500) < 0.4
    >>> scores = wmcc.tabulate(truth, score=(truth + rng.normal(size=500)).round(1))
    >>> ax = plot.curve(wmcc.curve(scores, "mcc"), best=wmcc.best_threshold(scores, "mcc"))
    >>> print(ax.get_title(loc="left").splitlines()[0])
    MCC by threshold
    """
    style.expected(curve, ThresholdCurve, "a ThresholdCurve", "wmcc.curve(scores, measure) returns one.")
    ax = style.axes(ax, (6.4, 4.0))
    x = curve.thresholds
    level = f"{number(100 * curve.confidence_level)} %"
    ax.fill_between(
        x, curve.band_low, curve.band_high, step="pre", color=style.SKY, alpha=0.3, linewidth=0,
        label=f"{level} band for all thresholds",
    )  # fmt: skip
    ax.fill_between(
        x, curve.low, curve.high, step="pre", color=style.BLUE, alpha=0.25, linewidth=0,
        label=f"{level} interval for a threshold fixed in advance",
    )  # fmt: skip
    ax.step(x, curve.values, where="pre", color=style.BLUE, linewidth=1.4)
    said = "a score of at least the threshold is positive"
    if best is not None:
        error = [[best.expected - best.low], [best.high - best.expected]]
        ax.axvline(best.threshold, color=style.GREEN, linewidth=1.2)
        ax.errorbar(
            [best.threshold], [best.expected], error, fmt="o", color=style.GREEN, markersize=5, capsize=3,
            label=f"expected at {number(best.threshold)}",
        )  # fmt: skip
        said = f"best at {number(best.threshold)}: {decimal(best.expected)} to expect, {decimal(best.value)} apparent"
    why = curve.problem or (best.problem if best is not None else None)
    said = f"not estimable: {why}" if why else said
    ax.legend(fontsize=style.SMALL, facecolor=ax.get_facecolor(), edgecolor="none", framealpha=0.9)
    style.label(ax, "threshold", curve.title)
    style.titled(ax, f"{curve.title} by threshold", said)
    return ax


def mcc_f1(scores: ScoreTable, *, ax: Axes | None = None) -> Axes:
    """Draw the MCC–F1 curve, and its threshold that is nearest to perfect.

    Parameters
    ----------
    scores
        What `wmcc.tabulate` makes with ``score``.
    ax
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import wmcc
    >>> from wmcc import plot
    >>> ax = plot.mcc_f1(wmcc.tabulate([0, 0, 1, 1] * 9, score=[0.1, 0.6, 0.4, 0.9] * 9))
    >>> print(ax.get_title(loc="left").splitlines()[0])
    MCC–F1 curve: metric 0.6567
    """
    scores = _scores(scores)
    found = curves.mcc_f1(scores)
    ax = _square(ax)
    ax.plot(found.f1, found.mcc, color=style.BLUE, linewidth=1.4)
    ax.axhline(0.5, color=style.GREY, linewidth=0.8, linestyle=":")
    ax.plot([found.f1[found.best]], [found.mcc[found.best]], "o", color=style.GREEN, markersize=6)
    style.label(ax, "F1", "(MCC + 1) / 2")
    nearest = f"nearest to perfect at the threshold {number(float(found.thresholds[found.best]))}"
    said = undefined(scores) or nearest
    style.titled(ax, f"MCC–F1 curve: metric {decimal(found.metric)}", said, "dotted: no better than chance")
    return ax


def roc(scores: ScoreTable, *, ax: Axes | None = None) -> Axes:
    """Draw the ROC curve, with its area and the interval of that.

    Parameters
    ----------
    scores
        What `wmcc.tabulate` makes with ``score``.
    ax
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import wmcc
    >>> from wmcc import plot
    >>> ax = plot.roc(wmcc.tabulate([0, 0, 1, 1] * 9, score=[0.1, 0.6, 0.4, 0.9] * 9))
    >>> print(ax.get_title(loc="left").splitlines()[0])
    ROC curve: area 0.7500
    """
    scores = _scores(scores)
    hits, alarms = _rates(scores)
    ax = _square(ax)
    ax.plot(np.append(_share(alarms), 0.0), np.append(_share(hits), 0.0), color=style.BLUE, linewidth=1.4)
    ax.plot([0, 1], [0, 1], color=style.GREY, linewidth=0.8, linestyle=":")
    style.label(ax, f"share of {scores.negative} above the threshold", f"share of {scores.positive} above it")
    style.titled(ax, *_with_interval("ROC curve: area", scores, "roc_auc"), "dotted: no better than chance")
    return ax


def precision_recall(scores: ScoreTable, *, ax: Axes | None = None) -> Axes:
    """Draw precision against recall, with average precision and the interval of that.

    Parameters
    ----------
    scores
        What `wmcc.tabulate` makes with ``score``.
    ax
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import wmcc
    >>> from wmcc import plot
    >>> ax = plot.precision_recall(wmcc.tabulate([0, 0, 1, 1] * 9, score=[0.1, 0.6, 0.4, 0.9] * 9))
    >>> print(ax.get_title(loc="left").splitlines()[0])
    Precision and recall: average precision 0.8333
    """
    scores = _scores(scores)
    hits, alarms = _rates(scores)
    called = hits + alarms
    precision = np.divide(hits, called, out=np.ones_like(hits), where=called > 0)
    ax = _square(ax)
    ax.step(_share(hits), precision, where="pre", color=style.BLUE, linewidth=1.4)
    ax.axhline(hits[0] / called[0], color=style.GREY, linewidth=0.8, linestyle=":")
    style.label(ax, f"recall of {scores.positive}", f"precision of {scores.positive}")
    title = _with_interval("Precision and recall: average precision", scores, "average_precision")
    style.titled(ax, *title, f"dotted: the share of {scores.positive} in all rows")
    return ax


def _scores(given: Any) -> ScoreTable:
    return checked_scores(given, "wmcc.plot")


def _rates(scores: ScoreTable) -> tuple[FloatArray, FloatArray]:
    """Weight of both classes at and above each step, as shares of all."""
    positive, negative, _ = scores.counts
    whole = positive[0] + negative[0]
    return np.array([x / whole for x in positive]), np.array([x / whole for x in negative])


def _share(above: FloatArray) -> FloatArray:
    """Weight at and above each step as shares of the class; NaN of a class without weight."""
    return np.asarray(np.divide(above, above[0], out=np.full_like(above, np.nan), where=above[0] > 0))


def _with_interval(what: str, scores: ScoreTable, measure: ScoreMeasureName) -> tuple[str, str]:
    """Return a title with a measure of the scores, and a line with its interval."""
    found = interval(scores, measure)
    level = f"{number(100 * found.confidence_level)} % interval"
    ends = found.problem or f"{level} {decimal(found.low)} to {decimal(found.high)}"
    return f"{what} {decimal(found.value)}", ends


def _square(ax: Any) -> Any:
    ax = style.axes(ax, (4.6, 4.6), "compressed")
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    return ax
