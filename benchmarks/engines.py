"""Engines: our group-by beside their own, files beside a plain scan of the same columns, and growth to 1e8 rows.

``python benchmarks/engines.py [--write] [--rows 1e8]``. Every answer is asserted before it is timed. Each reading of a
file runs in a process of its own, so that its memory is its own; a peer and wmcc take turns.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import Bars, data, median, processors, spread, timed, write_section

COLUMNS = ["label", "pred", "area"]
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
        "polars, lazy": (lambda: wmcc.tabulate(lazy, *COLUMNS), lambda: by_hand().collect()),
        "DuckDB": (
            lambda: wmcc.tabulate(connection.table("rows"), *COLUMNS),
            lambda: connection.execute(sql).fetchall(),
        ),
        "polars, in memory (exact kernel)": (lambda: wmcc.tabulate(frame, *COLUMNS), lambda: by_hand().collect()),
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


def spark():
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "OFF")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "4g")
        .getOrCreate()
    )


def ours(engine: str):
    def run(path: str) -> float:
        import wmcc

        return wmcc.ecc(path, *COLUMNS, engine=engine)

    return run


def scan_arrow(path: str) -> float:
    """Decode the columns and throw them away, as PyArrow's documentation does it."""
    import pyarrow.dataset as ds

    return sum(batch.num_rows for batch in ds.dataset(path).to_batches(columns=COLUMNS))


def scan_arrow_lean(path: str) -> float:
    """The same with the settings that wmcc found to be fastest and smallest."""
    import pyarrow.dataset as ds

    options = ds.ParquetFragmentScanOptions(pre_buffer=False)
    scanner = ds.dataset(path).scanner(
        columns=COLUMNS, batch_size=1 << 20, batch_readahead=4, fragment_readahead=2, fragment_scan_options=options
    )
    return sum(batch.num_rows for batch in scanner.to_batches())


def scan_polars(path: str) -> float:
    import polars as pl

    return pl.scan_parquet(path).select(pl.col(COLUMNS).sum()).collect(engine="streaming")["area"][0]


def scan_duckdb(path: str) -> float:
    import duckdb

    return duckdb.read_parquet(path).aggregate("sum(label), sum(pred), sum(area)").fetchall()[0][2]


def group_polars(path: str) -> float:
    import polars as pl

    area = pl.col("area")
    query = (
        pl.scan_parquet(path)
        .group_by("label", "pred")
        .agg(pl.len(), area.sum(), (area * area).sum().alias("w2"), area.min().alias("low"), area.max().alias("high"))
    )
    return len(query.collect(engine="streaming"))


def group_duckdb(path: str) -> float:
    import duckdb

    relation = duckdb.read_parquet(path)
    sums = "label, pred, count(*), sum(area), sum(area * area), min(area), max(area)"
    return len(relation.aggregate(sums, "label, pred").fetchall())


def group_spark(path: str) -> float:
    from pyspark.sql import functions as f

    area = f.col("area")
    sums = (f.count("*"), f.sum(area), f.sum(area * area), f.min(area), f.max(area))
    return len(spark().read.parquet(path).groupBy("label", "pred").agg(*sums).collect())


def group_dask(path: str) -> float:
    import dask.dataframe as dd

    frame = dd.read_parquet(path)
    frame["w2"] = frame["area"] * frame["area"]
    sums = {"area": ["count", "sum", "min", "max"], "w2": ["sum"]}
    return len(frame.groupby(["label", "pred"]).agg(sums).compute())


def scikit_learn(path: str) -> float:
    """Read the file, then score: what people do."""
    import pyarrow.parquet as pq
    from sklearn.metrics import matthews_corrcoef

    table = pq.read_table(path, columns=COLUMNS)
    t, p, w = (table[name].to_numpy() for name in COLUMNS)
    return float(matthews_corrcoef(t, p, sample_weight=w))


READERS = {
    "wmcc": ours("arrow"),
    "wmcc polars": ours("polars"),
    "wmcc duckdb": ours("duckdb"),
    "wmcc dask": ours("dask"),
    "wmcc pyspark": ours("pyspark"),
    "scan Arrow": scan_arrow,
    "scan Arrow, lean": scan_arrow_lean,
    "scan polars": scan_polars,
    "scan duckdb": scan_duckdb,
    "group polars": group_polars,
    "group duckdb": group_duckdb,
    "group pyspark": group_spark,
    "group dask": group_dask,
    "scikit-learn": scikit_learn,
}


def read_once(name: str, path: str) -> None:
    """In a process of its own: how long, how much memory, and the answer."""
    import warnings

    warnings.simplefilter("ignore")
    if "pyspark" in name:  # its start is not what is measured, nor that of its compiler
        spark()
        READERS[name](path)
    start = time.perf_counter()
    answer = READERS[name](path)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak": peak, "answer": float(answer)}))


def read(name: str, path: Path, repeat: int) -> dict:
    runs = []
    for _ in range(repeat):
        command = [sys.executable, __file__, "--read", name, str(path)]
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
    for size in sizes:
        path = folder / f"{size}.parquet"
        write_parquet(path, size)
        for name in READERS:
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
    over("wmcc pyspark", "group pyspark", 1.2, "engine=pyspark, local[2], over its own group-by")
    over("wmcc dask", "group dask", 1.3, "engine=dask, threads, over its own group-by")
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
    subprocess.run([command, "sample", "-o", str(sample)], check=True, capture_output=True)
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
    parser.add_argument("--read", nargs=2)
    given = parser.parse_args()
    if given.read:
        read_once(*given.read)
        return
    frames(int(given.rows) // 10)
    with tempfile.TemporaryDirectory() as name:
        command_line(Path(name))
        growth = files(Path(name), int(given.rows))
    if given.write:
        write_section("engine bars", BARS.markdown())
        write_section("engines", growth)


if __name__ == "__main__":
    main()
