"""Several classifiers side by side: their scores, what chance may do to them, and what other weights may."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError, InputTypeError
from ..inference.comparison import Comparison, Comparisons
from ..inference.interval import Interval
from ..measures import CLASS_MEASURES, MEASURES
from ..present.text import number
from ..results.score import Score
from ..robustness.ranking import Ranking, Rankings
from . import _intervals as intervals
from . import _style as style

SHORT, LISTED = 20, 2
"""Characters of a name in a note, and how many names it lists."""

TITLES = {name: measure.title for name, measure in (CLASS_MEASURES | MEASURES).items()}


def forest(
    results: Mapping[str, Interval | Score],
    measure: str | None = None,
    *,
    rankings: Ranking | Rankings | None = None,
    comparisons: Comparison | Comparisons | None = None,
    radii: bool = True,
    sort: bool = True,
    ax: Any = None,
) -> Any:
    """Draw several classifiers with their intervals, and beside each what is certain of its rank.

    Parameters
    ----------
    results
        What each classifier is called, and its `wmcc.interval` or `wmcc.score`.
    measure
        Which interval to take of scores; ECC by default.
    rankings
        What `wmcc.certify_ranking` returns for them: a note says whom one beats for all weights off by up to so much.
    comparisons
        What `wmcc.compare` returns for them: a note says from whom one is not told apart by this sample.
    radii
        Whether "so much" is the radius of each ranking, which is searched for when first asked for and may take a while
        for many pairs; else it is the ε that the rankings were made for.
    sort
        Whether the highest score comes first; else the order is that of ``results``.
    ax
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import wmcc
    >>> from wmcc import plot
    >>> from wmcc.demo import make_map
    >>> land = make_map()
    >>> models = {"A": land.careless_with_small, "B": land.careless_with_large}
    >>> found = {name: wmcc.interval(land.truth, y, land.area, measure="mcc") for name, y in models.items()}
    >>> ranking = wmcc.certify_ranking(land.truth, models, sample_weight=land.area, measure="mcc")
    >>> ax = plot.forest(found, rankings=ranking)
    >>> [text.get_text() for text in ax.texts]
    ['certainly above B (±89 %)']
    """
    found = _intervals(results, measure)
    certain, open_pairs = (
        _pairs(rankings, Ranking, Rankings, found),
        _pairs(comparisons, Comparison, Comparisons, found),
    )
    if sort:
        found = dict(sorted(found.items(), key=lambda x: (x[1].value != x[1].value, -x[1].value)))
    own, title = list(found.values()), TITLES[next(iter(found.values())).measure]
    long, short = (dict(zip(found, style.names(list(found), most), strict=True)) for most in (style.LONGEST, SHORT))
    notes = [
        (intervals.lacking(one), _above(name, short, certain, radii), _alike(name, short, comparisons, open_pairs))
        for name, one in found.items()
    ]
    texts = ["\n".join(filter(None, note)) for note in notes]
    ax, height = style.lines(ax, list(long.values()), texts, 0.4 if certain and open_pairs else 0.3)
    intervals.draw(ax, own, height)
    ax.set_xlim(*intervals.span(own))
    ax.set_xlabel(title, fontsize=style.TEXT)
    more = "±: how far any weight may be off" if certain else ""
    style.titled(ax, f"{title} of {len(own)} classifiers", intervals.legend(own), more)
    return ax


def _intervals(results: Any, measure: str | None) -> dict[Any, Interval]:
    """Return the interval of each, all of one measure and level."""
    hint = "forest({'a': wmcc.score(truth, a), 'b': wmcc.score(truth, b)}) draws two."
    if not isinstance(results, Mapping) or not results:
        what = "an empty one" if isinstance(results, Mapping) else f"a {type(results).__name__}"
        raise InputTypeError(f"expected a dict of names with intervals or scores; got {what}.", hint)
    if measure is not None and measure not in MEASURES:
        raise InputError(f"measure is {str(measure)[:40]!r}; expected one of {', '.join(map(repr, MEASURES))}.")
    found = {}
    for name, one in results.items():
        style.expected(one, (Interval, Score), f"an Interval or a Score of {str(name)[:40]!r}", hint)
        found[name] = _of_score(one, measure or "ecc", name) if isinstance(one, Score) else one
    first = next(iter(found.values()))
    for name, one in found.items():
        if (one.measure, one.confidence_level) != (measure or first.measure, first.confidence_level):
            raise InputError(
                f"{str(name)[:40]!r} has a {number(100 * one.confidence_level)} % interval of {TITLES[one.measure]}; "
                f"expected {number(100 * first.confidence_level)} % and {TITLES[measure or first.measure]}.",
                "what stands side by side must be of one measure and one confidence level.",
            )
    return found


def _of_score(score: Score, measure: str, name: Any) -> Interval:
    if measure not in score.intervals:
        raise InputError(
            f"{MEASURES[measure].title} is for two classes; {str(name)[:40]!r} was scored on {len(score.classes)}.",
            "measure='ecc' is for any number.",
        )
    return score.intervals[measure]


def _pairs(given: Any, one: type, several: type, found: dict[Any, Interval]) -> dict[tuple[str, str], Any]:
    """Return what is known of each pair; nothing if nothing was given."""
    if given is None:
        return {}
    what = f"a {one.__name__} or {several.__name__}"
    style.expected(given, (one, several), what, "wmcc.certify_ranking makes rankings, wmcc.compare makes comparisons.")
    pairs: dict[tuple[str, str], Any] = (
        given.pairs if isinstance(given, (Rankings, Comparisons)) else {given.names: given}
    )
    measure = next(iter(found.values())).measure
    for pair, of in pairs.items():
        if not set(pair) <= set(found) or of.measure != measure:
            known = ", ".join(repr(str(x)[:40]) for x in list(found)[:10])
            raise InputError(
                f"{what} was given of {pair[0]!r} and {pair[1]!r} in {TITLES[of.measure]}; "
                f"the intervals are of {known} in {TITLES[measure]}.",
                "use the same names and the same measure for both.",
            )
    return pairs


def _above(name: Any, short: dict[Any, str], pairs: dict[tuple[str, str], Ranking], radii: bool) -> str:
    """Say whom one beats, whatever the weights; the nearest in rank first."""
    beaten = {}
    for (a, b), ranking in pairs.items():
        leader, other = (a, b) if ranking.difference > 0 else (b, a)
        if name == leader and (eps := ranking.radius.safe if radii else ranking.eps * (ranking.winner == leader)) > 0:
            beaten[other] = f"{short[other]} ({style.off(eps, ranking.model)})"
    return _listed("certainly above", [beaten[other] for other in short if other in beaten])


def _alike(name: Any, short: dict[Any, str], given: Any, pairs: dict[tuple[str, str], Comparison]) -> str:
    """Say from whom one is not told apart by the sample."""
    told = given.told_apart if isinstance(given, Comparisons) else lambda a, b: given.winner is not None
    others = {b if name == a else a for a, b in pairs if name in (a, b) and not told(a, b)}
    return _listed("not told apart from", [text for other, text in short.items() if other in others])


def _listed(what: str, names: list[str]) -> str:
    more = len(names) - LISTED
    shown = names[:LISTED] if more > 1 else names
    return f"{what} {', '.join(shown)}" + f", {more} more" * (more > 1) if names else ""
