"""Whether an interval or a comparison can be relied on: on how few rows its standard error rests.

All numbers may be stacks, for many tables at once. The limits were chosen by simulation: docs/understand/coverage.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arraytypes import Array, FloatArray
from ..core.design import SHOWN, SampleDesign, name_strata
from ..measures.base import Measure
from ..measures.stacks import furthest, over, total
from ..present.text import number
from .cells import CellSums
from .strata import StratifiedSample

FEW_ROWS = 5.0
"""Influential rows below which an interval is called unreliable."""

HEAVY = 0.3
"""Share of the variance that the heaviest rows may have before it is."""

FEW_CLUSTERS = 5 - 1e-9
"""Effective clusters below which it is; five of equal weight are five, whatever rounding says."""

FEW_DIFFERENT = 10.0
"""Effective rows on which two predictions differ, below which their comparison is called unreliable."""


FEW_ROWS_OF_STRATA = 3.0
"""The same, of samples in strata, where a stratum without an error is allowed for."""

FEW_FREE = 2.0
"""Degrees of freedom under a design below which it is."""

FEWEST = 2 - 1e-9
"""Effective rows or clusters that an interval needs; two of equal weight are two, whatever rounding says."""

NOTHING = 1e-28
"""Variances that may be but rounding."""

MISSED = 0.1
"""How much longer, as a share, an interval may become without a warning.

It becomes longer in strata without an observed error, where errors may have been missed: `zero_error_strata`.
"""

LIGHTEST = 10**140
"""The total weight in units of the least that a class may have: squares of lighter ones are lost in float64."""

PAIRED = (
    "the weights are a matrix over pairs of rows, so the rows are not an independent sample; wmcc.matrices.score and "
    "wmcc.matrices.compare have intervals, with `cluster`"
)
FAR_APART = "the weights differ too much in size to compute a standard error in float64"
TOO_LIGHT = "a class, or all classes but one, holds less than 1e-140 of the weight, too little to compute with"

SHORT = "the interval may be too short"
ROWS_ARE_FEW, ROWS_OF_STRATA_ARE_FEW = (
    f"fewer than about {number(few)} influential rows determine the standard error; {SHORT}"
    for few in (FEW_ROWS, FEW_ROWS_OF_STRATA)
)
ROW_IS_HEAVY = (
    f"a single row with the largest weight can make up more than {100 * HEAVY:.0f} % of the variance; {SHORT}"
)
LOWER, UPPER = " at its lower end", " at its upper end"
"""Where an interval is too short, which is the side to which the rows that matter most would move the score.

Where few such rows were seen, more may have been missed. In docs/understand/coverage.md the truth lies beyond that end
in nearly all of the flagged intervals that miss it.
"""

CLASSES_ARE_HEAVY = (
    f"on average a class's heaviest row makes up more than {100 * HEAVY:.0f} % of the variance of the class; {SHORT}"
)
CLUSTERS_ARE_FEW = f"there are fewer than {FEW_CLUSTERS:.0f} effective clusters; {SHORT}"
FREEDOM_IS_LITTLE = (
    f"the standard error has fewer than {number(FEW_FREE)} degrees of freedom: few of the sampled units determine it; "
    f"{SHORT}"
)
IN_CLUSTERS = (
    "tabulate with `cluster`: blocks of pixels (`wmcc.Blocks(64)`, or --blocks 64), or the zone or image of each "
    "pixel; a Tally takes `per_image`"
)
PIXELS_ARE_ALIKE = (
    "pixels count as independent draws, but neighbouring pixels are alike: such intervals are typically several times "
    f"too short, and p-values far too small; {IN_CLUSTERS}"
)
FEW_PIXELS_COUNT = (
    f"pixels count as independent rows here, but neighbouring pixels are alike and are worth far fewer; {IN_CLUSTERS}"
)
FEW_DIFFER = f"the predictions differ on fewer than {number(FEW_DIFFERENT)} effective rows; {SHORT}"


def influential_rows(extreme_slope: Any, cells: CellSums, variance: Any) -> Any:
    """How many rows of usual weight, in the cell where a row matters most, would have this variance.

    ``extreme_slope`` is its slope. That cell may be empty: if few rows there would make up the variance, some may well
    have been missed.
    """
    return np.divide(variance, extreme_slope * extreme_slope * cells.usual_square)


def heaviest_row(slope: FloatArray, cells: CellSums, variance: Any) -> Any:
    """Share of the variance that a row as heavy as the heaviest has, on average over the weight of the table.

    It need not be the share of that row itself: the next heavy row may fall into a cell where it matters more.
    """
    return total(slope * slope * cells.w) * cells.heaviest * cells.heaviest / variance


def heaviest_of_classes(slope: FloatArray, cells: CellSums, variance: Any) -> Any:
    """Share of the heaviest row in the squared weights of its true class, averaged by the variance of the classes."""
    starts = np.flatnonzero(np.diff(cells.codes[0], prepend=-1))  # classes are in ascending order
    of_class = np.add.reduceat(slope * slope * cells.w2, starts, axis=-1)
    squares = np.add.reduceat(cells.w2, starts, axis=-1)
    most = np.maximum.reduceat(cells.w_max, starts, axis=-1)
    return total(of_class * over(most * most, squares)) / variance


def interval_doubts(
    measure: Measure, slope: FloatArray, extreme_slope: Any, cells: CellSums, variance: Any, clusters: Any = None
) -> dict[str, Any]:
    """Sentences that speak against intervals, and for which of them each holds.

    ``extreme_slope`` is as in `influential_rows`, ``clusters`` the effective number of clusters, if there are clusters:
    then it is they that may be heavy.
    """
    out = _on_its_side(ROWS_ARE_FEW, influential_rows(extreme_slope, cells, variance) < FEW_ROWS, extreme_slope)
    if clusters is not None:
        return {CLUSTERS_ARE_FEW: clusters < FEW_CLUSTERS, **out}
    out |= _on_its_side(ROW_IS_HEAVY, heaviest_row(slope, cells, variance) > HEAVY, extreme_slope)
    return {**out, **_of_classes(measure, slope, cells, variance)}


def _on_its_side(doubt: str, holds: Any, extreme_slope: Any) -> dict[str, Any]:
    """Say of a doubt at which end of the interval it is, for each of the two."""
    return {doubt + LOWER: holds & (extreme_slope < 0), doubt + UPPER: holds & (extreme_slope > 0)}


def comparison_doubts(
    measure: Measure, slope: FloatArray, cells: CellSums, variance: Any, clusters: Any = None
) -> dict[str, Any]:
    """Sentences that speak against comparisons, and for which of them each holds.

    A heavy row moves a difference and its standard error alike, so it is no reason by itself.
    """
    few = influential_rows(furthest(slope), cells, variance) < FEW_ROWS
    out = {FEW_DIFFER: _few_differ(cells), ROWS_ARE_FEW: few}
    if clusters is not None:
        return {CLUSTERS_ARE_FEW: clusters < FEW_CLUSTERS, **out}
    return {**out, **_of_classes(measure, slope, cells, variance)}


def strata_doubts(
    slope: FloatArray, influence: FloatArray, strata: StratifiedSample, variance: float, df: float
) -> dict[str, Any]:
    """As `interval_doubts`, of one table whose rows or clusters were drawn in strata.

    ``influence`` is how far a single row of each stratum may move the score, up or down.
    """
    row_variance = strata.row_variance(influence)
    extreme = influence[np.argmax(row_variance)]
    heavy = not strata.nested and strata.heaviest(slope) > HEAVY * variance
    return {
        **_on_its_side(ROWS_OF_STRATA_ARE_FEW, variance < FEW_ROWS_OF_STRATA * float(row_variance.max()), extreme),
        **_on_its_side(ROW_IS_HEAVY, heavy, extreme),
        **_few_units(strata, df),
    }


def strata_comparison_doubts(
    row_variance: FloatArray, cells: CellSums, strata: StratifiedSample, variance: float, df: float
) -> dict[str, bool]:
    """As `comparison_doubts`, of a joint table whose rows or clusters were drawn in strata."""
    return {
        FEW_DIFFER: _few_differ(cells),
        ROWS_OF_STRATA_ARE_FEW: variance < FEW_ROWS_OF_STRATA * float(row_variance.max()),
        **_few_units(strata, df),
    }


def _few_differ(cells: CellSums) -> Any:
    """Whether two predictions differ on few effective rows."""
    differ = cells.codes[1] != cells.codes[2]
    w, w2 = (total(x[..., differ]) for x in (cells.w, cells.w2))
    return over(w * w, w2) < FEW_DIFFERENT


def _few_units(strata: StratifiedSample, df: float) -> dict[str, bool]:
    return {CLUSTERS_ARE_FEW: strata.nested and strata.n_eff < FEW_CLUSTERS, FREEDOM_IS_LITTLE: df < FEW_FREE}


def _of_classes(measure: Measure, slope: FloatArray, cells: CellSums, variance: Any) -> dict[str, Any]:
    """In a mean over classes a few heavy rows may decide the score of a class, though not that of the whole table."""
    if not measure.over_classes:
        return {}
    return {CLASSES_ARE_HEAVY: heaviest_of_classes(slope, cells, variance) > HEAVY}


def doubts_of(*drawn: SampleDesign) -> tuple[str, ...]:
    """Sentence that speaks against all intervals of tables whose rows were drawn so; none if there is nothing."""
    return (PIXELS_ARE_ALIKE,) if any(own.pixels for own in drawn) else ()


def below(x: float, limit: float) -> str:
    """Write a number that is below a limit with as many digits as show it.

    Examples
    --------
    >>> below(1.2345, 2), below(1.99996, 2)
    ('1.23', '1.99996')
    """
    texts = (number(x, digits) for digits in range(3, 18))
    return next((text for text in texts if float(text.replace(",", "")) < limit), repr(x))


# ---- where little varied, and where nothing did ---------------------------------------------------------


def matters(seen: tuple[float, float], both: tuple[float, float], value: float) -> bool:
    """Whether what may have been missed makes an end of the interval that much further."""
    return any(abs(b - value) > (1 + MISSED) * abs(a - value) for a, b in zip(seen, both, strict=True))


def constant_strata_note(strata: StratifiedSample, constant: Array, what: str) -> str:
    """Name strata in which nothing was found that varies the score, or the difference."""
    which = np.flatnonzero(constant)[np.argsort(-strata.weights[constant], kind="stable")]
    first = which[:SHOWN]
    shares = [f"{number(100 * strata.weights[h], 2)} % of the weight" for h in first]
    unit = "cluster" if strata.nested else "row"
    named = name_strata([strata.name(h) for h in first], shares, len(which))
    where = f"stratum {named}" if len(which) == 1 else f"the strata {named}"
    return (
        f"the sampled {unit}s of {where} hardly vary the {what}, so the standard error may be too small; the interval "
        f"allows for {unit}s that the sample may have missed there, and is longer for it"
    )


def same_influence(clusters: int) -> str:
    """Say why there is no interval where clusters do not vary the score."""
    return f"all {clusters:,} clusters have the same influence on the score, so its variance cannot be estimated"


def nothing_varied(measure: Measure, value: float) -> str:
    """Say what an interval is where nothing varied the score."""
    moves = "lowers" if value == measure.range[1] else "moves"
    return (
        f"no row of the sample {moves} the score, so its standard error is 0; "
        "the interval allows for rows that the sample may have missed"
    )


def taken_for_certain(nested: bool) -> str:
    """Say what an interval is where nothing but strata with a single unit could vary the score."""
    unit = "cluster" if nested else "row"
    return (
        f"strata with a single sampled {unit} have no variance by `lonely` 'certainty', and no other {unit} moves "
        f"the score, so its standard error is 0; the interval allows for {unit}s that the sample may have missed"
    )


def too_few(count: int, what: str, n_eff: float) -> str | None:
    """Say so if there are too few rows or clusters to see how they vary."""
    if count < 2:
        there = f"only {count}" if count else "none"
        return f"a standard error needs at least two {what} with weight, and there {'is' if count else 'are'} {there}"
    if n_eff < FEWEST:
        size = below(n_eff, 2)
        return f"the effective number of {what} is {size}, of {count:,}; at least 2 are needed"
    return None
