"""Growth of time and memory, source by source: rows × 10, classes × 10, clusters × 10, groups × 10, pixels × 10.

Each figure is of a process of its own, which makes its data, asserts that the table is that of the arrays, bit for bit,
and measures one call. Weights are whole numbers, so that the sums of engines are exact, too. ``--write`` puts the table
and the picture into docs/; ``--most 1e6`` stops earlier.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import wmcc

DOCS = Path(__file__).parent.parent / "docs"
AXES = {
    "rows": (10**5, 10**6, 10**7),
    "classes": (20, 200, 2_000),
    "clusters": (100, 1_000, 10_000),
    "groups": (100, 1_000, 10_000),
}
"""What grows; the others stay at a million rows, 20 classes, no clusters and no groups."""

PIXELS = (10**6, 10**7, 10**8)
OF_ROWS = ("arrays", "text arrays", "pandas text", "polars text", "Parquet", "CSV", "DuckDB", "polars lazy", "scores")
OF_PIXELS = ("rasters", "rasters in blocks", "folders of images")


# ---- one figure, in a process of its own ------------------------------------------------------------------------


def status(name: str) -> float:
    """Return a line of what Linux knows of this process, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(name))


def measured(call) -> tuple[object, float, float]:
    """Return what a call gives, its seconds (the best of three), and the memory that it took beyond what was there."""
    call()  # imports, and what engines start
    Path("/proc/self/clear_refs").write_text("5")  # the largest memory is that from here on
    before, seconds = status("VmRSS"), []
    for _ in range(3):
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    return result, min(seconds), status("VmHWM") - before


def of_rows(source: str, rows: int, classes: int, clusters: int, groups: int, folder: Path):
    """Return a call, and the table that it must give."""
    rng = np.random.default_rng(rows + classes)
    t = rng.integers(0, classes, rows)
    p = np.where(rng.random(rows) < 0.8, t, rng.integers(0, classes, rows))
    columns = {"t": t, "p": p, "w": rng.integers(1, 1000, rows).astype(float)}
    columns |= {"c": rng.integers(0, clusters, rows)} if clusters else {}
    columns |= {"g": rng.integers(0, groups, rows)} if groups else {}
    keys = {"cluster": columns.get("c"), "by": columns.get("g")}
    if source == "scores":
        columns["s"] = np.round(rng.random(rows), 3)
        y = (t % 2 == 0).astype(int)
        scores = {"score": columns["s"], "sample_weight": columns["w"], "cluster": keys["cluster"]}
        label = wmcc.tabulate(y, (columns["s"] >= 0.5).astype(int), columns["w"], cluster=keys["cluster"])
        return lambda: wmcc.tabulate(y, **scores), lambda found: found.at(0.5) == label
    expected = wmcc.tabulate(t, p, columns["w"], **keys)
    named = {
        "true": "t",
        "pred": "p",
        "weight": "w",
        **{k: v for k, v in (("cluster", "c"), ("by", "g")) if v in columns},
    }
    if source == "arrays":
        return lambda: wmcc.tabulate(t, p, columns["w"], **keys), lambda found: found == expected
    width = len(str(classes - 1))
    texts = {name: np.array([f"class {k:0{width}}" for k in range(classes)])[columns[name]] for name in "tp"}
    if "text" in source:
        expected = wmcc.tabulate(texts["t"], texts["p"], columns["w"], **keys)
        columns |= texts
    equal = lambda found: found == expected  # noqa: E731
    if source == "text arrays":
        a, b = (columns[name].astype(object) for name in "tp")
        return lambda: wmcc.tabulate(a, b, columns["w"], **keys), equal
    import polars as pl

    frame = pl.DataFrame(columns)
    if source == "pandas text":
        data = frame.to_pandas(use_pyarrow_extension_array=True)
    elif source == "polars text":
        data = frame
    elif source == "CSV":
        frame.write_csv(data := folder / "data.csv")
    else:
        frame.write_parquet(path := folder / "data.parquet", row_group_size=2**20)
        data = {"Parquet": path, "DuckDB": wmcc.Files(path, engine="duckdb")}.get(source) or pl.scan_parquet(path)
    return lambda: wmcc.tabulate(data, **named), equal


def of_pixels(source: str, pixels: int, folder: Path):
    """Return a call of two rasters, or folders of images, of so many pixels, and the table that it must give."""
    rng = np.random.default_rng(pixels)
    side = 1000
    tiles = [rng.integers(0, 10, (side, side), dtype=np.uint8) for _ in range(4)]
    noise = [np.where(rng.random((side, side)) < 0.8, x, (x + 1) % 10).astype(np.uint8) for x in tiles]
    count = pixels // side**2
    counts = sum(wmcc.tabulate(tiles[k % 4], noise[k % 4]).n for k in range(count))
    if source == "folders of images":
        from PIL import Image

        for name, images in (("truth", tiles), ("map", noise)):
            (folder / name).mkdir()
            for k in range(count):
                Image.fromarray(images[k % 4]).save(folder / name / f"{k:04}.png", compress_level=1)
        call = lambda: wmcc.tabulate(f"{folder}/truth", f"{folder}/map")  # noqa: E731
    else:
        import rasterio
        from rasterio.transform import from_origin

        wide = min(count, 10)
        high = count // wide
        shape = {"height": high * side, "width": wide * side, "count": 1, "dtype": "uint8", "crs": "EPSG:32632"}
        made = {"driver": "GTiff", "tiled": True, "compress": "deflate", "transform": from_origin(5e5, 5e6, 10, 10)}
        for name, images in (("truth", tiles), ("map", noise)):
            with rasterio.open(folder / f"{name}.tif", "w", **shape, **made) as file:
                for row in range(high):
                    strip = np.hstack([images[(row * wide + k) % 4] for k in range(wide)])
                    file.write(strip, 1, window=((row * side, (row + 1) * side), (0, wide * side)))
        blocks = {"cluster": wmcc.Blocks(64)} if "blocks" in source else {}
        call = lambda: wmcc.tabulate(f"{folder}/truth.tif", f"{folder}/map.tif", **blocks)  # noqa: E731
    return call, lambda found: (found.n == counts).all()


def one(case: dict) -> None:
    """Measure one figure, and print it as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        made = of_pixels if "pixels" in case else of_rows
        call, right = made(**case, folder=Path(folder))
        found, seconds, memory = measured(call)
        assert right(found), case
        print(json.dumps([seconds, max(memory, 0.0)]))


# ---- all of them ----------------------------------------------------------------------------------------------------


def figure(**case) -> tuple[float, float]:
    """Return seconds and megabytes of one case."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--one", json.dumps(case)],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, memory = json.loads(done.stdout.splitlines()[-1])
    print(f"{case}: {seconds:.4f} s, {memory:.0f} MB", flush=True)
    return seconds, memory


def grown(most: float) -> dict[str, dict[str, dict[int, tuple[float, float]]]]:
    """Return seconds and megabytes by source, by what grows, and by its size."""
    usual = {"rows": min(10**6, int(most)), "classes": 20, "clusters": 0, "groups": 0}
    results: dict[str, dict[str, dict[int, tuple[float, float]]]] = {}
    for source in OF_ROWS:
        axes = {k: v for k, v in AXES.items() if source != "scores" or k in ("rows", "clusters")}
        results[source] = {
            axis: {size: figure(source=source, **usual | {axis: size}) for size in sizes if size <= most}
            for axis, sizes in axes.items()
        }
    for source in OF_PIXELS:
        results[source] = {"pixels": {size: figure(source=source, pixels=size) for size in PIXELS if size <= 10 * most}}
    return results


def table(results) -> str:
    """Return a row for each source and what grows: seconds and megabytes at each size."""
    lines = ["| source | what grows | sizes | seconds | MB beyond the data |", "|---|---|---|---|---|"]
    for source, axes in results.items():
        for axis, sizes in axes.items():
            cells = zip(*((f"{k:,}", f"{s:.3g}", f"{m:,.0f}") for k, (s, m) in sizes.items()), strict=True)
            lines.append(f"| {source} | {axis} | " + " | ".join("; ".join(x) for x in cells) + " |")
    return "\n".join(lines)


def draw(results) -> None:
    """Draw a panel for each source: seconds as lines, megabytes dashed."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    colours = dict(zip((*AXES, "pixels"), ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#0072b2"), strict=True))
    panels, axes = plt.subplots(3, 4, figsize=(13, 8.5), layout="constrained", sharey=True)
    for panel, (source, grows) in zip(axes.flat, results.items(), strict=True):
        memory = panel.twinx()
        for axis, sizes in grows.items():
            times, megabytes = zip(*sizes.values(), strict=True)
            factors = [size / min(sizes) for size in sizes]
            panel.plot(factors, times, "o-", color=colours[axis], label=axis, markersize=4)
            memory.plot(factors, [max(x, 1) for x in megabytes], "s--", color=colours[axis], markersize=3, alpha=0.6)
        panel.set(title=source, xscale="log", yscale="log", ylim=(1e-4, 50))
        memory.set(yscale="log", ylim=(1, 5000))
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8, loc="upper left", ncols=2)
    for row in axes:
        row[0].set_ylabel("seconds (lines)")
    for panel in axes[-1]:
        panel.set_xlabel("times as many")
    panels.suptitle("Seconds (lines) and MB beyond the data (dashed, right, 1 to 5,000)", fontsize=11)
    panels.savefig(DOCS / "growth-sources.png", dpi=90, metadata={"Software": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--most", type=float, default=1e7)
    parser.add_argument("--one", type=json.loads)
    arguments = parser.parse_args()
    if arguments.one:
        one(arguments.one)
        return
    results = grown(arguments.most)
    print(table(results))
    if arguments.write:
        from common import write_section

        seen = "Seconds and megabytes over rows, classes, clusters, groups and pixels, a panel for each source"
        picture = f"![{seen}](growth-sources.png)"
        write_section("sources", f"{table(results)}\n\n{picture}")
        draw(results)


if __name__ == "__main__":
    main()
