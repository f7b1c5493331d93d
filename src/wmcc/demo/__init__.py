"""Two classifiers that plain MCC cannot tell apart: ``wmcc demo``.

A map of parcels, most of them small and a few very large, as maps are. Both classifiers make the same number
of errors of each kind; one errs on small parcels, the other on large ones.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass

import numpy as np

from ..core.arraytypes import Array, IntArray
from ..inference.contrasts import compare
from ..inference.interval import interval
from ..mapping.accuracy import map_accuracy
from ..measures import mcc
from ..present.blocks import Block, text
from ..present.files import check
from ..present.result import ending
from ..present.text import decimal, number
from ..report.write import ENDINGS, write_report
from ..robustness.ranking import certify_ranking
from ..sources import tabulate
from ..sources.values import Strata

OUT = "wmcc-demo.html"

POINTS = 150
"""Points of the sample in each class of a map."""


__all__ = ["Map", "make_map"]


@dataclass(frozen=True)
class Map:
    """Parcels with their true class, their area in hectares, and what two classifiers say."""

    truth: Array
    area: Array
    careless_with_small: Array
    careless_with_large: Array
    seed: int = 0

    def random_points(self, prediction: Array, points: int, seed: int = 0) -> IntArray:
        """Drop points on each class that a classifier mapped, and return the parcels that they hit.

        A parcel is hit in proportion to its area, so each point of a mapped class stands for the same area.

        Examples
        --------
        >>> land = make_map()
        >>> hit = land.random_points(land.careless_with_small, points=3)
        >>> land.careless_with_small[hit].tolist()
        ['farmland', 'farmland', 'farmland', 'forest', 'forest', 'forest']
        """
        rng = np.random.default_rng((self.seed, 2, seed))
        drawn = []
        for name in np.unique(prediction):
            rows = np.flatnonzero(prediction == name)
            drawn.append(rng.choice(rows, points, p=self.area[rows] / self.area[rows].sum()))
        return np.concatenate(drawn)

    def mapped_areas(self, prediction: Array) -> dict[str, float]:
        """Hectares that a classifier gives to each class: what a map maker knows without any truth."""
        return {str(name): float(self.area[prediction == name].sum()) for name in np.unique(prediction)}


def make_map(parcels: int = 2000, errors: float = 0.2, seed: int = 2026) -> Map:
    """Make a map of forest and farmland; both classifiers err on the same share of each class.

    The tail of the areas is light enough for the sample to show how sure the scores are.

    Parameters
    ----------
    parcels
        How many parcels the map has.
    errors
        The share of the parcels of each class that a classifier gets wrong.
    seed
        Another seed makes another map.

    Examples
    --------
    >>> import wmcc
    >>> land = make_map()
    >>> pair = wmcc.tabulate(land.truth, {"A": land.careless_with_small, "B": land.careless_with_large}, land.area)
    >>> round(wmcc.mcc(pair["A"]), 4), round(wmcc.mcc(pair["B"]), 4)
    (0.8056, 0.2879)
    """
    rng = np.random.default_rng(seed)
    truth = rng.choice(["farmland", "forest"], parcels, p=[0.7, 0.3])
    area = np.round(rng.lognormal(1.0, 0.9, parcels), 2)
    predictions = []
    for sign in (1, -1):  # small parcels are the likelier errors, then large ones
        wrong = np.zeros(parcels, dtype=bool)
        for name in ("farmland", "forest"):
            rows = np.flatnonzero(truth == name)
            difficulty = sign * np.log(area[rows] + 0.01) + rng.gumbel(0, 1.5, len(rows))
            wrong[rows[np.argsort(difficulty)[: int(errors * len(rows))]]] = True
        other = np.where(truth == "forest", "farmland", "forest")
        predictions.append(np.where(wrong, other, truth))
    return Map(truth, area, predictions[0], predictions[1], seed)


def story(out: str = OUT) -> str:
    """Score both classifiers with and without areas, compare and certify them, and write the report on them."""
    ending(out, ENDINGS)
    check(out)
    land = make_map()
    classifiers = {"A": land.careless_with_small, "B": land.careless_with_large}
    head, rows = ["", "MCC, unweighted", "MCC, weighted by area", "wrong parcels", "wrong hectares"], []
    for name, guess in classifiers.items():
        wrong = guess != land.truth
        share = 100 * land.area[wrong].sum() / land.area.sum()
        scores = decimal(mcc(land.truth, guess)), decimal(mcc(land.truth, guess, sample_weight=land.area))
        rows.append([f"Classifier {name}", *scores, f"{int(wrong.sum())}", f"{share:.1f} %"])
    joint = tabulate(land.truth, classifiers, land.area)
    ranking = certify_ranking(joint, "mcc", eps=0.2)
    prediction = land.careless_with_large
    hit = land.random_points(prediction, POINTS)
    drawn = Strata(prediction[hit], population=land.mapped_areas(prediction))
    sample = tabulate(land.truth[hit], prediction[hit], design=drawn)
    seen, whole = interval(sample, "mcc"), mcc(joint["B"])
    contains = "contains" if seen.low <= whole <= seen.high else "misses"
    forest, hectares = map_accuracy(sample, unit="ha")["forest"].area, land.area[land.truth == "forest"].sum()
    title, command = "Two maps of the same land: which is the better one?", f"wmcc demo -o {shlex.quote(out)}"
    path = write_report(out, joint, title=title, command=command)
    return f"""\
{len(land.area):,} parcels, {number(land.area.sum())} ha; the largest has {number(land.area.max())} ha.

{text([Block(head=head, rows=rows)])}
Both get the same number of parcels wrong in each class, so they have the same unweighted MCC.
A's errors are small parcels, B's are large ones: weighted by area, A is much better.

Comparison, with its sampling error:
{compare(joint, "mcc")}

Comparison, if the areas are off by up to 20 %:
{ranking}
{ranking.radius}

B's map from a sample of random points, {POINTS} in each of its classes, as if the truth were known only there:
{seen}
The score of the whole map is {decimal(whole)}: the interval {contains} it.
B maps {number(land.mapped_areas(prediction)["forest"])} ha of forest. The sample estimates {number(forest.value)} ha, \
{number(forest.low)} to {number(forest.high)}. There are {number(hectares)} ha.

The report on both, to be opened in a browser: {os.path.abspath(path)}
"""
