"""Two classifiers that plain MCC cannot tell apart: ``python -m wmcc.demo``.

A map of parcels, most of them small and a few very large, as maps are. Both classifiers make the same number
of errors of each kind; one errs on small parcels, the other on large ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arraytypes import Array, FloatArray
from ..report import score
from ..sources import tabulate
from ..text import decimal, grid, number
from .tiling import tile

STAND, STRAYS = 25, 0.1
"""Parcels of one class that lie together, on average; and the share of those that lie anywhere."""


@dataclass(frozen=True)
class Map:
    """Parcels with their true class, their area in hectares, and what two classifiers say."""

    truth: Array
    area: Array
    careless_with_small: Array
    careless_with_large: Array
    seed: int = 0

    @cached_property
    def polygons(self) -> list[FloatArray]:
        """Corners of each parcel on a square map, counterclockwise, in units of 100 m; classes lie in stands.

        Examples
        --------
        >>> from wmcc.demo.tiling import area
        >>> land = make_map(parcels=4)
        >>> land.area
        array([7.08, 1.75, 1.7 , 4.29])
        >>> [round(area(corners), 9) for corners in land.polygons]
        [7.08, 1.75, 1.7, 4.29]
        """
        rng = np.random.default_rng((self.seed, 1))  # not the numbers that made the classes
        place = rng.random(len(self.truth))
        for name in np.unique(self.truth):
            rows = np.flatnonzero((self.truth == name) & (rng.random(len(self.truth)) >= STRAYS))
            place[rows] = rng.choice(rng.random(len(rows) // STAND + 1), len(rows))
        order = np.argsort(place, kind="stable")
        tiles = tile(self.area[order].tolist(), rng)
        return [tiles[k] for k in np.argsort(order)]


def make_map(parcels: int = 2000, errors: float = 0.15, seed: int = 2026) -> Map:
    """Make a map of forest and farmland; both classifiers err on the same share of each class."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(["farmland", "forest"], parcels, p=[0.7, 0.3])
    area = np.round(rng.lognormal(1.0, 1.5, parcels), 2)
    predictions = []
    for sign in (1, -1):  # small parcels are the likelier errors, then large ones
        wrong = np.zeros(parcels, dtype=bool)
        for name in ("farmland", "forest"):
            rows = np.flatnonzero(truth == name)
            difficulty = sign * np.log(area[rows] + 0.01) + rng.gumbel(0, 2, len(rows))
            wrong[rows[np.argsort(difficulty)[: int(errors * len(rows))]]] = True
        other = np.where(truth == "forest", "farmland", "forest")
        predictions.append(np.where(wrong, other, truth))
    return Map(truth, area, predictions[0], predictions[1], seed)


def main() -> None:
    """Score both classifiers with and without areas, and say why they differ."""
    data = make_map()
    classifiers = {"A": data.careless_with_small, "B": data.careless_with_large}
    plain = {name: score(data.truth, y, positive="forest") for name, y in classifiers.items()}
    weighted = {name: score(data.truth, y, data.area, positive="forest") for name, y in classifiers.items()}
    print(f"{len(data.area):,} parcels, {number(data.area.sum())} ha; the largest has {number(data.area.max())} ha.\n")
    head = ["", "MCC, parcels alike", "MCC, weighted by area", "wrong parcels", "wrong hectares"]
    rows = []
    for name, y in classifiers.items():
        wrong = y != data.truth
        share = 100 * data.area[wrong].sum() / data.area.sum()
        line = [decimal(plain[name].ecc), decimal(weighted[name].ecc), f"{int(wrong.sum())}", f"{share:.1f} %"]
        rows.append([f"Classifier {name}", *line])
    print(grid([head, *rows]))
    print(
        "\nBoth make the same errors when parcels are counted: plain MCC cannot tell them apart."
        "\nA's errors are small parcels, B's are large ones: weighted by area, A maps the land and B does not.\n"
    )
    for name, y in classifiers.items():
        print(f"Classifier {name}: {tabulate(data.truth, y, data.area, positive='forest')}\n")
    print(f"Classifier A in full, weighted by area:\n\n{weighted['A']}")
