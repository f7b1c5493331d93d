"""Maps: tables of rasters and polygons beside nothing but reading them, and the memory that it takes.

``--write`` puts the figures into docs/benchmarks.md.

``--side 10000`` is quicker; 31,623, which makes 1e9 pixels, takes minutes, and some GB in the temporary folder.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pyogrio
import pyproj
import rasterio
import shapely
from common import THREADS, Bars, median, spread, timed_once, write_section
from rasterio.windows import Window
from scipy import ndimage

import wmcc

CLASSES, PATCH, TILE = 10, 2048, 512
DEGREES = {"crs": "EPSG:4326", "transform": rasterio.Affine(1e-4, 0, 8.0, 0, -1e-4, 50.0)}
TILED = {"driver": "GTiff", "tiled": True, "blockxsize": TILE, "blockysize": TILE, "compress": "deflate"}
LAYOUTS = {
    "tiles": TILED,
    "strips of 16 rows": {"driver": "GTiff", "blockysize": 16, "compress": "deflate"},
    "strips of 1 row": {"driver": "GTiff", "blockysize": 1, "compress": "deflate"},
    "a COG": {"driver": "COG", "blocksize": TILE, "compress": "deflate"},
}


def patches() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a patch of land cover, a map of it whose borders are off and that is speckled, and zones."""
    rng = np.random.default_rng(0)
    best, truth = np.full((PATCH, PATCH), -np.inf), np.zeros((PATCH, PATCH), dtype=np.uint8)
    for k in range(CLASSES):
        smooth = ndimage.gaussian_filter(rng.normal(size=(PATCH, PATCH)), 12, mode="wrap")
        truth[smooth > best] = k
        np.maximum(best, smooth, out=best)
    pred = np.roll(truth, (2, 1), axis=(0, 1))
    wrong = rng.random((PATCH, PATCH)) < 0.02
    pred[wrong] = (pred[wrong] + rng.integers(1, 3, int(wrong.sum()))) % CLASSES  # for one of two similar classes
    zones = np.kron(rng.integers(1, 50, (PATCH // 256, PATCH // 256)), np.ones((256, 256), int)).astype(np.uint8)
    return truth, pred, zones


def put_rasters(root: Path, side: int, layout: str = "tiles") -> list[Path]:
    """Write a truth, a map and zones of so many rows and columns, made of patches that are turned and mirrored."""
    paths = [root / f"{name}.tif" for name in ("truth", "pred", "zones")]
    profile = {"height": side, "width": side, "count": 1, "dtype": "uint8", **DEGREES, **LAYOUTS[layout]}

    def put(path: Path, patch: np.ndarray) -> None:
        ways = np.random.default_rng(1)  # the same for all
        cog = profile["driver"] == "COG"
        whole = np.empty((side, side), dtype=np.uint8) if cog else None
        with rasterio.open(path, "w", **profile) as file:
            for top in range(0, side, PATCH):
                band = np.empty((min(PATCH, side - top), side), dtype=np.uint8)
                for left in range(0, side, PATCH):
                    turned = np.rot90(patch, ways.integers(4))
                    part = np.roll(turned, ways.integers(0, PATCH, 2), axis=(0, 1))[: len(band), : side - left]
                    band[:, left : left + PATCH] = part
                if whole is not None:
                    whole[top : top + PATCH] = band
                else:
                    file.write(band, 1, window=Window(0, top, side, len(band)))
            if whole is not None:
                file.write(whole, 1)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(put, paths, patches()))
    return paths


def read_blocks(paths: list[Path]) -> None:
    """Read files block by block with rasterio, and do nothing with them."""
    for path in paths:
        with rasterio.open(path) as file:
            assert sum(file.read(1, window=window).size for _, window in file.block_windows(1)) == file.width**2


def check(root: Path) -> None:
    """Hold the tables of small rasters to those of the whole arrays."""
    for layout in LAYOUTS:
        paths = put_rasters(root, 1100, layout)
        truth, pred, zones = (rasterio.open(path).read(1) for path in paths)
        counts = np.bincount((truth.astype(int) * CLASSES + pred).ravel(), minlength=CLASSES**2)
        assert (wmcc.tabulate(paths[0], paths[1]).n == counts.reshape(CLASSES, CLASSES)).all()
        rows, cols = np.indices(truth.shape) // 64
        blocks = wmcc.tabulate(paths[0], paths[1], cluster=wmcc.Blocks(64))
        assert blocks.raw_cells == wmcc.tabulate(truth, pred, cluster={"row": rows, "column": cols}).raw_cells
        area = wmcc.Raster(paths[0]).pixel_area()
        weighed = wmcc.tabulate(paths[0], paths[1], "area")
        assert weighed.raw_cells == wmcc.tabulate(truth, pred, np.broadcast_to(area, truth.shape)).raw_cells
        assert wmcc.tabulate(paths[0], paths[1], by=paths[2]).total().n.sum() == truth.size
        assert wmcc.tabulate(truth, pred, by=zones).total() == wmcc.tabulate(truth, pred)


CALLS = {
    "plain": "",
    "in blocks of 64": "cluster=wmcc.Blocks(64)",
    "by area": "sample_weight='area'",
    "in zones": "by=sys.argv[3]",
}


def memory(paths: list[Path], options: str) -> tuple[float, float]:
    """Return seconds and the most memory, in MB, of a process that tabulates rasters and does nothing else."""
    code = (
        "import re, sys, time, wmcc, wmcc.sources.rasters\n"
        "for path in sys.argv[1:]: wmcc.Raster(path)\n"  # imports what reads them
        "start = time.perf_counter()\n"
        f"wmcc.tabulate(sys.argv[1], sys.argv[2], threads={THREADS}, {options})\n"
        "took = time.perf_counter() - start\n"
        "print(took, int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) / 1e3)"
    )
    out = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True).stdout
    seconds, most = map(float, out.split())
    return seconds, most


def rasters(bars: Bars, side: int) -> None:
    """Two GeoTIFF files of label maps, over reading both with rasterio."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        check(root)
        paths = put_rasters(root, side)
        what = f"{side**2:.2g} pixels in two GeoTIFFs"
        for words, options in CALLS.items():
            used = paths if "argv" in options else paths[:2]
            (reading,) = timed_once(lambda used=used: read_blocks(used))
            took, most = memory(paths, options)
            note = f"{took:.1f} s, reading {reading:.1f} s, {most:.0f} MB"
            slowest, largest = (2.5, 600) if "blocks" in words else (1.5, 1000)
            bars.add(f"{what}, {words}, over reading with rasterio", took / reading, slowest, "times", False, note)
            bars.add(f"{what}, {words}, memory", most, largest, "MB", False)


def layouts(bars: Bars, side: int) -> None:
    """The same for files that are not tiled alike, a tenth as large."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for layout in LAYOUTS:
            paths = put_rasters(root, side, layout)
            alone, own = [], []
            for _ in range(3):  # one after the other, so that what else the machine does disturbs both alike
                alone += timed_once(lambda paths=paths: read_blocks(paths[:2]))
                own += [memory(paths, "")[0]]
            ratios = [a / b for a, b in zip(own, alone, strict=True)]
            note = f"{median(own):.2f} s, reading {median(alone):.2f} s; spread {spread(ratios)}"
            bars.add(f"{side**2:.2g} pixels, {layout}, over reading", median(ratios), 1.5, "times", False, note)


# ---- polygons ------------------------------------------------------------------------------------------

POLYGON_CRS = ("EPSG:4326", "EPSG:25832")


def put_parcels(path: Path, count: int, crs: str) -> None:
    """Write parcels of some 100 m: turned rectangles with bent sides, and a quarter of them in the shape of an L."""
    rng = np.random.default_rng(2)
    bent = np.array([(-1, -1), (0, -0.9), (1, -1), (0.9, 0), (1, 1), (0, 1.1), (-1, 1), (-0.95, 0.1)])
    corner = np.array([(-1, -1), (1, -1), (1, -0.7), (-0.6, -0.7), (-0.6, 1), (-1, 1)])
    shapes = []
    for shape, n in ((bent, count - count // 4), (corner, count // 4)):
        turn, size = rng.uniform(0, 2 * np.pi, n), rng.lognormal(4, 0.6, (n, 2))
        x, y = (size[:, i, None] * shape[:, i] * rng.uniform(0.95, 1.05, (n, len(shape))) for i in (0, 1))
        cos, sin = np.cos(turn)[:, None], np.sin(turn)[:, None]
        where = rng.uniform((4e5, 5.3e6), (6e5, 6e6), (n, 2))
        ring = np.stack([where[:, :1] + x * cos - y * sin, where[:, 1:] + x * sin + y * cos], axis=-1)
        shapes.append(shapely.polygons(np.concatenate([ring, ring[:, :1]], axis=1)))
    labels = {"ref": rng.integers(0, CLASSES, count), "map": rng.integers(0, CLASSES, count)}
    frame = geopandas.GeoDataFrame(labels, geometry=rng.permutation(np.concatenate(shapes)), crs="EPSG:25832")
    frame.to_crs(crs).to_file(path)


def check_parcels(path: Path, crs: str) -> None:
    """Hold areas to those of pyproj, and the table to the sums of them."""
    frame = geopandas.read_file(path)
    geod = pyproj.CRS(crs).get_geod()
    areas = np.array([abs(geod.geometry_area_perimeter(x)[0]) for x in frame.to_crs(frame.crs.geodetic_crs).geometry])
    table = wmcc.tabulate(path, true="ref", pred="map", weight=wmcc.Area("m2"))
    sums = np.bincount(frame["ref"] * CLASSES + frame["map"], areas, CLASSES**2)
    np.testing.assert_allclose(np.asarray(table).ravel(), sums, rtol=1e-9)


def polygons(bars: Bars, count: int) -> None:
    """A GeoPackage of parcels weighted by their areas, over reading it with pyogrio and shapely's area in the plane."""
    with tempfile.TemporaryDirectory() as name:
        for crs in POLYGON_CRS:
            small, path = (Path(name) / f"{crs[5:]}-{n}.gpkg" for n in (2000, count))
            put_parcels(small, 2000, crs)
            check_parcels(small, crs)
            put_parcels(path, count, crs)
            alone, own = [], []
            for _ in range(3):  # one after the other, so that what else the machine does disturbs both alike
                alone += timed_once(lambda path=path: shapely.area(pyogrio.read_dataframe(path).geometry.to_numpy()))
                own += timed_once(lambda path=path: wmcc.tabulate(path, true="ref", pred="map", weight="area"))
            ratios = [a / b for a, b in zip(own, alone, strict=True)]
            note = f"{median(own):.2f} s, reading and area {median(alone):.2f} s; spread {spread(ratios)}"
            what = f"{count:.2g} polygons in {crs}, over reading with pyogrio and shapely.area"
            bars.add(what, median(ratios), 2, "times", False, note)


# ---- two layers, and points ----------------------------------------------------------------------------


def answer(function: Callable[..., Any], *given: Any, **named: Any) -> tuple[list[float], Any]:
    """Return the seconds that a call took, and its answer."""
    found: list[Any] = []
    return timed_once(lambda: found.append(function(*given, **named))), found[0]


def voronoi(count: int, seed: int) -> geopandas.GeoDataFrame:
    """Tile a square of 100 km with polygons around random points, of five classes."""
    rng = np.random.default_rng(seed)
    corner = np.array([4.2e6, 3.1e6])
    square = shapely.box(*corner, *(corner + 1e5))
    points = shapely.MultiPoint(corner + rng.uniform(0, 1e5, (count, 2)))
    tiles = shapely.intersection(shapely.get_parts(shapely.voronoi_polygons(points, extend_to=square)), square)
    return geopandas.GeoDataFrame({"class": rng.integers(0, 5, count)}, geometry=tiles, crs="EPSG:3035")


def by_hand(reference: geopandas.GeoDataFrame, overlay: geopandas.GeoDataFrame, how: str) -> np.ndarray:
    """The table of two layers with geopandas: areas in the plane, which is an equal-area one."""
    names = {"class": "truth"}, {"class": "pred"}
    pieces = geopandas.overlay(
        reference.rename(columns=names[0]), overlay.rename(columns=names[1]), how, keep_geom_type=True
    )
    cells = pieces["truth"] * 6 + pieces["pred"].fillna(5)
    return np.bincount(cells.astype(int), pieces.area / 1e4, 30).reshape(5, 6)


def layers(bars: Bars, count: int) -> None:
    """Two layers of polygons, over the overlay of geopandas; with all of the map, and with half of it."""
    reference, overlay = voronoi(count, 1), voronoi(count, 2)
    for words, part, how in (("", overlay, "intersection"), (", half of them missing", overlay[::2], "identity")):
        ours, theirs = [], []
        call = {"true": "class", "pred": "class", "weight": "area"}
        for _ in range(3):  # one after the other, so that what else the machine does disturbs both alike
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of lines and points that geopandas leaves out
                seconds, expected = answer(by_hand, reference, part, how)
            theirs += seconds
            seconds, found = answer(wmcc.tabulate, wmcc.Overlay(reference, part), **call)
            ours += seconds
            table = np.asarray(found)[:5]
            np.testing.assert_allclose(table, expected[:, : table.shape[1]], rtol=1e-3)  # on the ellipsoid
        alone = wmcc.tabulate(reference.assign(pred=0), true="class", pred="pred", weight="area")
        assert abs(table.sum() / alone.total - 1) < 1e-9
        ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
        what = f"overlay of {count:,} x {count:,} polygons{words}, over geopandas' {how}"
        note = f"{median(ours):.2f} s, geopandas {median(theirs):.2f} s; spread {spread(ratios)}"
        bars.add(what, median(ratios), 1.5, "times", False, note)


def points(bars: Bars, count: int) -> None:
    """Points in polygons, over the spatial join of geopandas; the answer is the same."""
    overlay = voronoi(20_000, 2)
    rng = np.random.default_rng(3)
    at = rng.uniform(*overlay.total_bounds.reshape(2, 2), (count, 2))
    sample = geopandas.GeoDataFrame({"truth": rng.integers(0, 5, count)}, geometry=shapely.points(at), crs=overlay.crs)
    ours, theirs = [], []
    for _ in range(3):
        seconds, joined = answer(geopandas.sjoin, sample, overlay, predicate="intersects")
        theirs += seconds
        seconds, table = answer(wmcc.tabulate, wmcc.Overlay(sample, overlay), true="truth", pred="class")
        ours += seconds
        assert (table.n == np.bincount(joined["truth"] * 5 + joined["class"], minlength=25).reshape(5, 5)).all()
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    note = f"{median(ours):.2f} s, geopandas {median(theirs):.2f} s; spread {spread(ratios)}"
    what = f"{count:,} points in 20,000 polygons, over geopandas' sjoin"
    bars.add(what, median(ratios), 1.5, "times", False, note)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=31_623)
    parser.add_argument("--polygons", type=int, default=1_000_000)
    parser.add_argument("--write", action="store_true", help="put the figures into docs/benchmarks.md")
    arguments = parser.parse_args()
    bars = Bars()
    rasters(bars, arguments.side)
    layouts(bars, arguments.side // 3)
    polygons(bars, arguments.polygons)
    layers(bars, 20_000)
    points(bars, 100_000)
    print(bars.markdown())
    if arguments.write:
        write_section("maps", bars.markdown())


if __name__ == "__main__":
    main()
