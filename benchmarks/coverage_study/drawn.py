"""Coverage of the whole path of a map maker: plan, draw, file, label, tabulate, interval, each time for another map.

Maps are in degrees, from 50° to 70° north, so that pixels in the south are twice as large as those in the north. Their
errors lie along the borders of patches. The truth is known in every pixel, and weighs by its area.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import wmcc

from .grid import seeded
from .markdown import against, table

SIDE, STEP, NORTH, WEST = 200, 0.1, 70.0, 10.0
SHARES = 0.6, 0.9
"""Shares of pixels up to the first and second border of classes: the third has a tenth."""

POINTS, PARTS = 400, 20
GUESS = {1: 0.9, 2: 0.8, 3: 0.7}
LOW, HIGH = 93.0, 97.0

WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "in classes, by a plan; GeoPackage": ("gpkg", {}),
    "in classes, by a plan; CSV laid over the map": ("overlay", {}),
    "in the whole map": ("csv", {"plan": POINTS}),
    "in 40 blocks of 10 × 10 pixels, 10 in each": (
        "csv",
        {"plan": POINTS, "cluster": wmcc.Blocks(10), "per_cluster": 10},
    ),
    "in classes, 20 km apart or more": ("csv", {"min_distance": 20_000.0}),
    "on a lattice": ("csv", {"plan": POINTS, "method": "systematic"}),
}
"""Ways of drawing: the file, and keywords of `wmcc.draw_sample`."""

CONSERVATIVE = ("in classes, 20 km apart or more", "on a lattice")
"""Ways of which standard errors are known to be too large."""


class Setting(NamedTuple):
    """A way of drawing, and which part of its maps."""

    way: str
    part: int


class Counts(NamedTuple):
    """How many intervals there were of a score in a way of drawing, and how many held the truth."""

    way: str
    score: str
    runs: int
    covered: int
    error: float  # sum of (estimate − truth) / truth
    width: float


def settings() -> Iterator[Setting]:
    """Return all ways in parts."""
    return (Setting(way, part) for way in WAYS for part in range(PARTS))


def make_map(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Make the truth and a map of it, which errs along borders and in small patches."""
    from scipy.ndimage import gaussian_filter

    def field(sigma: float) -> np.ndarray:
        smooth = gaussian_filter(rng.standard_normal((SIDE, SIDE)), sigma, mode="wrap")
        return np.asarray(smooth / smooth.std())

    land = field(rng.uniform(3, 10))
    borders = np.quantile(land, SHARES)
    seen = land + rng.uniform(0.15, 0.4) * field(1.5)
    return np.digitize(land, borders) + 1, np.digitize(seen, borders) + 1


def put(path: Path, values: np.ndarray) -> None:
    """Write a map as a GeoTIFF."""
    import rasterio

    grid = rasterio.Affine(STEP, 0, WEST, 0, -STEP, NORTH)
    size = {"height": SIDE, "width": SIDE, "count": 1, "dtype": "uint8"}
    with rasterio.open(path, "w", driver="GTiff", crs="EPSG:4326", transform=grid, **size) as file:
        file.write(values.astype(np.uint8), 1)


def label(name: Path, truth: np.ndarray) -> None:
    """Fill in the references of a file, as somebody who knows the truth would."""
    import geopandas
    import pandas

    frame = pandas.read_csv(name) if name.suffix == ".csv" else geopandas.read_file(name)
    row, column = ((NORTH - frame["y"]) / STEP).astype(int), ((frame["x"] - WEST) / STEP).astype(int)
    labelled = frame.assign(reference=truth[row, column])
    if name.suffix == ".csv":
        labelled.to_csv(name, index=False)
    else:
        labelled.to_file(name)


def estimated(folder: Path, way: str, truth: np.ndarray, seed: int) -> wmcc.results.MapAccuracy:
    """Plan, draw, label and assess, through files."""
    kind, how = WAYS[way]
    land = folder / "map.tif"
    plan = how.get("plan") or wmcc.plan_sample(GUESS, land, n=POINTS, minimum=60)
    sample = wmcc.draw_sample(land, seed=seed, **{**how, "plan": plan})
    name = Path(sample.save(folder / f"points.{'gpkg' if kind == 'gpkg' else 'csv'}"))
    label(name, truth)
    if kind == "overlay":
        points = wmcc.Layer(name, xy=("lon", "lat"), crs="EPSG:4326")
        return wmcc.map_accuracy(wmcc.tabulate(wmcc.Overlay(points, land), true="reference"), unit="ha")
    return wmcc.map_accuracy(wmcc.tabulate(name, true="reference", pred="map_class"), unit="ha")


def simulate(setting: Setting, runs: int) -> list[Counts]:
    """Count how often intervals hold the truth of their own map."""
    rng = seeded(setting)
    found: dict[str, list[tuple[bool, float, float]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for run in range(max(runs // PARTS, 1)):
            truth, seen = make_map(rng)
            put(folder / "map.tif", seen)
            area = wmcc.Raster(folder / "map.tif").pixel_area() * np.ones(truth.shape)
            whole = wmcc.tabulate(truth.ravel(), seen.ravel(), area.ravel())
            made = estimated(folder, setting.way, truth, 10_000 * setting.part + run)
            truths = {"overall accuracy": wmcc.accuracy(whole), "ECC": wmcc.ecc(whole)}
            truths |= {f"area of class {k}": float(x) for k, x in zip(whole.classes, whole.true_sums, strict=True)}
            own = {"overall accuracy": made.overall_accuracy, "ECC": made.overall["ecc"]}
            own |= {f"area of class {k}": made[k].area for k in whole.classes}
            for score, exact in truths.items():
                low, high, value = own[score].low, own[score].high, own[score].value
                found.setdefault(score, []).append((low <= exact <= high, value / exact - 1, (high - low) / exact))
    return [
        Counts(setting.way, score, len(x), sum(own[0] for own in x), *(sum(own[k] for own in x) for k in (1, 2)))
        for score, x in found.items()
    ]


def text(found: Sequence[Sequence[Counts]]) -> str:
    """Return the table of the page."""
    sums: dict[tuple[str, str], list[float]] = {}
    for own in (own for some in found for own in some):
        mine = sums.setdefault((own.way, own.score), [0, 0, 0, 0])
        for k, x in enumerate(own[2:]):
            mine[k] += x
    scores = list(dict.fromkeys(score for _, score in sums))
    rows = []
    for way in WAYS:
        cells = [sums[way, score] for score in scores]
        low, high = (0.0, 100.0) if way in CONSERVATIVE else (LOW, HIGH)
        off = max(abs(x[2] / x[0]) for x in cells)
        figures = [against(100 * x[1] / x[0], low, high) for x in cells]
        rows.append([way, f"{cells[0][0]:,.0f}", *figures, f"{100 * off:.1f} %"])
    head = ["points", "maps", *scores, "largest bias"]
    return table(head, rows)
