"""Engines: our group-by beside their own, files beside a plain scan of the same columns, and growth to 1e8 rows.

``python benchmarks/engines.py [--write] [--rows 1e8]``. Every answer is asserted before it is timed. Each reading of a
file runs in a process of its own, so that its memory is its own; a peer and wmcc take turns.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import readers
from common import Bars, data, median, processors, spread, timed, write_section
from readers import COLUMNS, NAMED

CLASSES = 20
BARS = Bars()


# ---- frames in memory --------------------------------------------------------------------------------


def in_turns(ours, theirs, repeat: int = 9) -> tuple[list[float], list[float]]:
    a, b = [], []
    for _ in range(repeat):
        a += timed(ours, 1)
        b += timed(theirs, 1)
    return a, b


def frames(rows: int) -> None:
    """A lazy frame of rows in memory: ours beside the same aggregates written by hand."""
    import duckdb
    import polars as pl

    import wmcc

    t, p, w = data(rows, CLASSES, "u1")
    exact = wmcc.tabulate(t, p, w)
    frame = pl.DataFrame(dict(zip(COLUMNS, (t, p, w), strict=True)))
    lazy, area = frame.lazy(), pl.col("area")
    connection = duckdb.connect()
    connection.register("arrow", frame.to_arrow())
    connection.execute("create table rows as select * from arrow")
    sql = (
        "select label, pred, count(*), sum(area), sum(area * area), min(area), max(area) from rows group by label, pred"
    )

    def by_hand():
        return lazy.group_by("label", "pred").agg(
            pl.len(), area.sum(), (area * area).sum().alias("w2"), area.min().alias("low"), area.max().alias("high")
        )

    pairs = {
        "polars, lazy": (lambda: wmcc.tabulate(lazy, **NAMED), lambda: by_hand().collect()),
        "DuckDB": (
            lambda: wmcc.tabulate(connection.table("rows"), **NAMED),
            lambda: connection.execute(sql).fetchall(),
        ),
        "polars, in memory (exact kernel)": (lambda: wmcc.tabulate(frame, **NAMED), lambda: by_hand().collect()),
    }
    for name, (ours, theirs) in pairs.items():
        found = ours()
        assert np.array_equal(found.n, exact.n)
        assert np.allclose(found.w, exact.w, rtol=1e-12)
        a, b = in_turns(ours, theirs)
        ratios = sorted(x / y for x, y in zip(a, b, strict=True))
        note = f"{median(a) * 1e3:.0f} against {median(b) * 1e3:.0f} ms; ratios {ratios[0]:.2f}–{ratios[-1]:.2f}"
        BARS.add(
            f"{name}, {rows:.0e} rows, over its own group-by of n, Σw, Σw², min, max",
            median(ratios),
            1.3,
            "x",
            False,
            note,
        )


# ---- files -------------------------------------------------------------------------------------------


def write_parquet(path: Path, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("label", pa.uint8()), ("pred", pa.uint8()), ("area", pa.float64())])
    with pq.ParquetWriter(path, schema) as file:
        for k in range(0, rows, 1 << 20):
            file.write_table(pa.table(list(data(min(1 << 20, rows - k), CLASSES, "u1", seed=k)), schema=schema))


def read(name: str, path: Path, repeat: int) -> dict:
    runs = []
    for _ in range(repeat):
        command = [sys.executable, str(Path(readers.__file__)), name, str(path.with_name("few.parquet")), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    seconds = [run["seconds"] for run in runs]
    return {
        "seconds": median(seconds),
        "spread": spread(seconds),
        "peak": max(run["peak"] for run in runs),
        "answer": runs[0]["answer"],
    }


def files(folder: Path, rows: int) -> str:
    """Readings at three sizes; the bars are those of the largest."""
    sizes = [rows // 100, rows // 10, rows]
    found: dict[str, list[dict]] = {}
    write_parquet(folder / "few.parquet", 1000)
    for size in sizes:
        path = folder / f"{size}.parquet"
        write_parquet(path, size)
        for name in readers.READERS:
            slow = name in ("scikit-learn", "wmcc dask", "group dask") and size > 10**7
            found.setdefault(name, []).append(read(name, path, 1 if slow else 3))
            print(f"{size:.0e} {name}: {found[name][-1]}", flush=True)
        scores = [found[name][-1]["answer"] for name in found if name.startswith(("wmcc", "scikit"))]
        assert max(scores) - min(scores) < 1e-9, scores
    last = {name: runs[-1] for name, runs in found.items()}

    def over(name: str, peer: str, limit: float, what: str) -> None:
        a, b = last[name], last[peer]
        note = f"{a['seconds']:.2f} s ({a['spread']}) against {b['seconds']:.2f} ({b['spread']})"
        BARS.add(f"Parquet, {rows:.0e} rows, {what}", a["seconds"] / b["seconds"], limit, "x", False, note)

    BARS.add(
        f"Parquet, {rows:.0e} rows, peak resident memory", last["wmcc"]["peak"], 600, "MB", False, "the whole process"
    )
    over("wmcc", "scan Arrow", 1.5, "over Arrow's plain scan of the columns")
    over("wmcc", "scan Arrow, lean", 1.5, "over the leanest scan we found")
    for engine in ("polars", "duckdb"):
        over(f"wmcc {engine}", f"scan {engine}", 1.5, f"engine={engine}, over its sum of each column")
        over(f"wmcc {engine}", f"group {engine}", 1.3, f"engine={engine}, over its own group-by")
    over("wmcc pyspark", "group pyspark", 1.2, "a frame of Spark, local[2], over its own group-by")
    over("wmcc dask", "group dask", 1.3, "a frame of Dask, threads, over its own group-by")
    a, b = last["wmcc"], last["scikit-learn"]
    lines = ["| reader | " + " | ".join(f"{size:.0e} rows" for size in sizes) + " | rows/s per core | peak MB |"]
    lines += ["|---|" + "---:|" * (len(sizes) + 2)]
    for name, runs in found.items():
        rate = sizes[-1] / runs[-1]["seconds"] / processors()
        seconds = " | ".join(f"{run['seconds']:.2f} s" for run in runs)
        peak = "—" if "pyspark" in name else f"{runs[-1]['peak']:,.0f}"
        lines.append(f"| {name} | {seconds} | {rate / 1e6:,.1f} M | {peak} |")
    slower, larger = b["seconds"] / a["seconds"], b["peak"] / a["peak"]
    peer = f"takes {slower:.0f} times the time and {larger:.1f} times the memory of wmcc's default engine."
    return "\n".join(lines) + f"\n\nReading the file and scoring it with scikit-learn {peer}"


def command_line(folder: Path) -> None:
    """From the shell's prompt to the score of a small file."""
    command = shutil.which("wmcc", path=str(Path(sys.executable).parent))
    sample = folder / "parcels.csv"
    subprocess.run([command, "example", "-o", str(sample)], check=True, capture_output=True)
    seconds = []
    for _ in range(21):
        start = time.perf_counter()
        score = [command, "score", str(sample), "--true", "label", "--pred", "pred", "--weight", "area"]
        assert b"ECC" in subprocess.run(score, check=True, capture_output=True).stdout
        seconds.append(time.perf_counter() - start)
    BARS.add(
        "wmcc score of a small CSV file, start to end", median(seconds), 0.5, "s", False, f"spread {spread(seconds)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--rows", type=float, default=1e8)
    given = parser.parse_args()
    frames(int(given.rows) // 10)
    with tempfile.TemporaryDirectory() as name:
        command_line(Path(name))
        growth = files(Path(name), int(given.rows))
    if given.write:
        write_section("engine bars", BARS.markdown())
        write_section("engines", growth)


if __name__ == "__main__":
    main()
