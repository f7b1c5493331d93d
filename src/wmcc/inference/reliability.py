"""Whether an interval or a comparison can be relied on: on how few rows its standard error rests.

All numbers may be stacks, for many tables at once. The limits were chosen by simulation: docs/coverage.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.design import SampleDesign
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

Where few such rows were seen, more may have been missed. In docs/coverage.md the truth lies beyond that end in nearly
all of the flagged intervals that miss it.
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
    return variance / (extreme_slope * extreme_slope * cells.usual_square)


def heaviest_row(slope: FloatArray, cells: CellSums, variance: Any) -> Any:
    """Share of the variance that a row as heavy as the heaviest has, on average over the weight of the table.

    It need not be the share of that row itself: the next heavy row may fall into a cell where it matters more.
    """
    most = cells.heaviest
    return total(slope * slope * cells.w) * most * most / variance


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
    differ = cells.codes[1] != cells.codes[2]
    extreme_slope = furthest(slope)
    w, w2 = (total(x[..., differ]) for x in (cells.w, cells.w2))
    out = {
        FEW_DIFFER: over(w * w, w2) < FEW_DIFFERENT,
        ROWS_ARE_FEW: influential_rows(extreme_slope, cells, variance) < FEW_ROWS,
    }
    if clusters is not None:
        return {CLUSTERS_ARE_FEW: clusters < FEW_CLUSTERS, **out}
    return {**out, **_of_classes(measure, slope, cells, variance)}


def strata_doubts(
    slope: FloatArray, row_variance: FloatArray, strata: StratifiedSample, variance: float, df: float
) -> dict[str, bool]:
    """As `interval_doubts`, of one table whose rows or clusters were drawn in strata."""
    return {
        ROWS_OF_STRATA_ARE_FEW: variance < FEW_ROWS_OF_STRATA * float(row_variance.max()),
        ROW_IS_HEAVY: not strata.nested and strata.heaviest(slope) > HEAVY * variance,
        **_few_units(strata, df),
    }


def strata_comparison_doubts(
    row_variance: FloatArray, cells: CellSums, strata: StratifiedSample, variance: float, df: float
) -> dict[str, bool]:
    """As `comparison_doubts`, of a joint table whose rows or clusters were drawn in strata."""
    differ = cells.codes[1] != cells.codes[2]
    w, w2 = (total(x[differ]) for x in (cells.w, cells.w2))
    return {
        FEW_DIFFER: over(w * w, w2) < FEW_DIFFERENT,
        ROWS_OF_STRATA_ARE_FEW: variance < FEW_ROWS_OF_STRATA * float(row_variance.max()),
        **_few_units(strata, df),
    }


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


def that_hold(doubts: dict[str, Any]) -> tuple[str, ...]:
    """Sentences that hold, of those about one table."""
    return tuple(why for why, holds in doubts.items() if holds)
