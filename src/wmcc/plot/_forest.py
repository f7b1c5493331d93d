"""Several classifiers side by side: their scores, what chance may do to them, and what other weights may."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import InputError, InputTypeError
from ..inference.answer import measure_title
from ..inference.comparison import Comparison, Difference
from ..inference.estimate import Interval
from ..measures import MEASURES
from ..measures.checks import named_measure
from ..present.pairs import Pair
from ..present.text import number
from ..results.scores import Score
from ..robustness.ranking import Lead, Ranking
from . import _intervals as intervals
from . import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHORT, LISTED = 20, 2
"""Characters of a name in a note, and how many names it lists."""


def forest(
    results: Mapping[str, Interval | Score],
    measure: str | None = None,
    *,
    ranking: Ranking | None = None,
    comparison: Comparison | None = None,
    radii: bool = True,
    sort: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw several classifiers with their intervals, and beside each what is certain of its rank.

    Parameters
    ----------
    results
        What each classifier is called, and its `wmcc.interval` or `wmcc.score`.
    measure
        Which interval to take of scores; ECC by default.
    ranking
        What `wmcc.certify_ranking` returns for them: a note says whom one beats for all weights off by up to so much.
    comparison
        What `wmcc.compare` returns for them: a note says from whom one is not told apart by this sample.
    radii
        Whether "so much" is the radius of each pair, which is searched for when first asked for and may take a while
        for many pairs; else it is the ε that the ranking was made for.
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
    >>> joint = wmcc.tabulate(land.truth, {"A": land.careless_with_small, "B": land.careless_with_large}, land.area)
    >>> found = {name: wmcc.interval(table, "mcc") for name, table in joint.tables.items()}
    >>> ax = plot.forest(found, ranking=wmcc.certify_ranking(joint, "mcc"))
    >>> [text.get_text() for text in ax.texts]
    ['certainly above B (±63.2 %)']
    """
    found = _intervals(results, measure)
    certain: dict[Pair, Lead] = _pairs(ranking, Ranking, found)
    tested: dict[Pair, Difference] = _pairs(comparison, Comparison, found)
    if sort:
        found = dict(sorted(found.items(), key=lambda x: (x[1].value != x[1].value, -x[1].value)))
    own = list(found.values())
    title = measure_title(own[0].measure, own[0].label)
    long, short = (dict(zip(found, style.names(list(found), most), strict=True)) for most in (style.LONGEST, SHORT))
    notes = [
        (intervals.lacking(one), _above(name, short, certain, radii), _alike(name, short, tested))
        for name, one in found.items()
    ]
    texts = ["\n".join(filter(None, note)) for note in notes]
    ax, height = style.lines(ax, title, list(long.values()), texts, 0.4 if certain and tested else 0.3)
    intervals.draw(ax, own, height)
    ax.set_xlim(*intervals.span(own))
    more = "±: how far any weight may be off" if certain else ""
    style.titled(ax, f"{title} of {len(own)} classifiers", intervals.legend(own), more)
    return ax


def _intervals(results: Any, measure: str | None) -> dict[Any, Interval]:
    """Return the interval of each, all of one measure and level."""
    hint = "forest({name: wmcc.score(table) for name, table in joint.tables.items()}) draws those of a JointTable."
    if not isinstance(results, Mapping) or not results:
        what = "an empty one" if isinstance(results, Mapping) else f"a {type(results).__name__}"
        raise InputTypeError(f"expected a dict of names with intervals or scores; got {what}.", hint)
    if measure is not None:
        named_measure(measure)
    found = {}
    for name, one in results.items():
        style.expected(one, (Interval, Score), f"an Interval or a Score of {str(name)[:40]!r}", hint)
        found[name] = _of_score(one, measure or "ecc", name) if isinstance(one, Score) else one
    first = next(iter(found.values()))
    expected = measure_title(measure, None) if measure else measure_title(first.measure, first.label)
    for name, one in found.items():
        title = measure_title(one.measure, one.label)
        if (title, one.confidence_level) != (expected, first.confidence_level):
            own, all_of = (number(100 * x.confidence_level) for x in (one, first))
            said = f"{str(name)[:40]!r} has a {own} % interval of {title}; expected {all_of} % and {expected}."
            raise InputError(said, "all intervals of a plot must have one measure and one confidence level.")
    return found


def _of_score(score: Score, measure: str, name: Any) -> Interval:
    if measure not in score.intervals:
        said = f"{MEASURES[measure].title} is for two classes; {str(name)[:40]!r} was scored on {len(score.classes)}."
        raise InputError(said, "`measure` 'ecc' is for any number.", "measure")
    return score.intervals[measure]


def _pairs(given: Any, kind: type, found: dict[Any, Interval]) -> dict[Pair, Any]:
    """Return what is known of each pair; nothing if nothing was given."""
    if given is None:
        return {}
    what = f"a {kind.__name__}"
    style.expected(given, kind, what, "wmcc.certify_ranking(joint) makes a Ranking, wmcc.compare(joint) a Comparison.")
    first, theirs = next(iter(found.values())), measure_title(given.measure, getattr(given, "label", None))
    title = measure_title(first.measure, first.label)
    if not set(given.names) <= set(found) or title != theirs:
        of, known = (", ".join(repr(str(x)[:40]) for x in list(names)[:10]) for names in (given.names, found))
        hint = "use the same names and the same measure for both."
        raise InputError(f"{what} was given of {of} in {theirs}; the intervals are of {known} in {title}.", hint)
    return dict(given.pairs)


def _above(name: Any, short: dict[Any, str], pairs: dict[Pair, Lead], radii: bool) -> str:
    """Say whom one beats, whatever the weights; the nearest in rank first."""
    beaten: dict[Any, str] = {}
    for (a, b), lead in pairs.items():
        leader, other = (a, b) if lead.value > 0 else (b, a)
        if lead.model == "bounds":
            beaten |= {other: f"{short[other]} (within bounds)"} if name == leader == lead.winner else {}
        elif name == leader and (eps := lead.radius.safe if radii else lead.eps * (lead.winner == leader)) > 0:
            beaten[other] = f"{short[other]} ({style.off(eps, lead.model)})"
    return _listed("certainly above", [beaten[other] for other in short if other in beaten])


def _alike(name: Any, short: dict[Any, str], pairs: dict[Pair, Difference]) -> str:
    """Say from whom one is not told apart by the sample."""
    others = {b if name == a else a for (a, b), found in pairs.items() if name in (a, b) and found.winner is None}
    return _listed("no significant difference from", [text for other, text in short.items() if other in others])


def _listed(what: str, names: list[str]) -> str:
    more = len(names) - LISTED
    shown = names[:LISTED] if more > 1 else names
    return f"{what} {', '.join(shown)}" + f", {more} more" * (more > 1) if names else ""
