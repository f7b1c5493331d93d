"""The value to expect of a threshold that was chosen on the same data: cross-fitting, from the table.

The sample is divided by chance into ten parts. Each part gets the threshold that is best on the other nine, and the
labels that it makes are scored all together. No row is scored with a threshold that it helped to choose. Clusters stay
together; the rows of a cell are dealt out as if they were of equal weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...core.arraytypes import Array, FloatArray
from ...core.score_table import ScoreTable
from ...errors import InputError
from ...measures.base import Measure, Shares
from ...measures.checks import checked_number
from ...present.text import brief, listed, number, share
from ..estimate import quietly
from .draws import SEED, fold_weights
from .grid import MOST_OF_ROWS, ThresholdGrid, asked_measure

FOLDS, REPEATS = 10, 5
"""Parts that the sample is divided into, and how many times."""

ROUNDED = 1e-12
"""By how much a measure may be below the least that is asked, for rounding."""


class Constraints(NamedTuple):
    """Measures, by name, and the least that each must be at a threshold."""

    least: dict[str, float]

    @classmethod
    def of(cls, given: Mapping[str, float] | None) -> Constraints:
        """Read what a caller gave."""
        if given is None:
            return cls({})
        if not isinstance(given, Mapping):
            raise InputError(
                f"`at_least` is {brief(given)}; expected a mapping from measures to numbers.",
                "for instance {'recall': 0.9}.",
                "at_least",
            )
        least = {}
        for name, x in given.items():
            measure, least[str(name)] = asked_measure(name, "at_least"), checked_number(x, f"at_least[{name!r}]")
            if least[str(name)] > measure.range[1]:
                most = f"{name} is at most {number(measure.range[1])}"
                raise InputError(
                    f"`at_least` asks for {name} of at least {number(float(x))}; {most}.", argument="at_least"
                )
        return cls(least)

    def met(self, shares: Shares) -> Array:
        """Tell which tables of a stack meet all of them."""
        out = np.ones(shares.r.shape[:-1], dtype=bool)
        for name, least in self.least.items():
            out &= asked_measure(name).near(shares) >= least - ROUNDED
        return np.asarray(out)

    def unmet(self, eps: float | None) -> InputError:
        """Return the error that no threshold meets all of them, for all weights within ε if that was asked."""
        which = listed([f"{name} of at least {number(x)}" for name, x in self.least.items()])
        if eps is not None:
            which += f" for all weights that are off by up to {share(eps)}"
        return InputError(
            f"no threshold has {which}.",
            f"ask for less; wmcc.curve(scores, {next(iter(self.least))!r}) shows what there is.",
            "at_least",
            "ask for less.",
        )


@quietly
def cross_fitted(scores: ScoreTable, measure: Measure, constraints: Constraints) -> float:
    """Return the value of a measure to expect on new data, if its best threshold is chosen on these.

    The parts choose among all thresholds or, of very many, among some that do not depend on the labels. The one that
    all rows together have chosen must not be put beside others that were left out: it knows of the tenth, too.
    """
    grid = ThresholdGrid.of(scores, MOST_OF_ROWS)
    rng, values = np.random.default_rng(SEED), []
    for _ in range(REPEATS):
        parts = fold_weights(grid, FOLDS, rng)
        rest = Shares.of_cells(_tables(parts.sum(axis=0) - parts))
        of_rest = np.where(constraints.met(rest), measure.near(rest), -np.inf)
        hits, alarms = parts[np.arange(FOLDS), of_rest.argmax(axis=1)].sum(axis=0)
        positive, negative = parts[:, 0].sum(axis=0)
        pooled: Any = np.array([[hits, positive - hits], [alarms, negative - alarms]])
        values.append(float(measure.near(Shares.of_cells(np.maximum(pooled, 0.0)))))
    return float(np.mean(values))


def _tables(above: FloatArray) -> FloatArray:
    """Tables of each threshold, from the weight of both classes at and above it: folds × thresholds × 2 × 2."""
    below = above[:, :1] - above
    cells = np.stack([above[..., 0], below[..., 0], above[..., 1], below[..., 1]], axis=-1)
    return np.maximum(cells, 0.0).reshape(*above.shape[:2], 2, 2)
