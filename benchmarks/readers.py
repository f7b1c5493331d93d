"""Ways to read a file of labels and weights: wmcc's, the engines' own, scikit-learn's.

``python benchmarks/readers.py NAME WARM-UP FILE`` reads both files in a process of its own and prints, of the second,
the time, the peak memory and the answer. Nothing is imported that the reader does not need.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

COLUMNS = ["label", "pred", "area"]
NAMED = dict(zip(("true", "pred", "weight"), COLUMNS, strict=True))


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

        return wmcc.ecc(wmcc.tabulate(wmcc.Files(path, engine=engine), **NAMED))

    return run


def ours_spark(path: str) -> float:
    import wmcc

    return wmcc.ecc(wmcc.tabulate(spark().read.parquet(path), **NAMED))


def ours_dask(path: str) -> float:
    import dask.dataframe as dd

    import wmcc

    return wmcc.ecc(wmcc.tabulate(dd.read_parquet(path, columns=list(COLUMNS)), **NAMED))


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
    "wmcc dask": ours_dask,
    "wmcc pyspark": ours_spark,
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


def main(name: str, warm_up: str, path: str) -> None:
    """Read a small file, so that imports, sessions and compilers are not measured; then the file."""
    warnings.simplefilter("ignore")
    if "pyspark" in name:
        spark()
    READERS[name](warm_up)
    start = time.perf_counter()
    answer = READERS[name](path)
    seconds = time.perf_counter() - start
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    peak = int(status["VmHWM"].split()[0]) / 1024  # resource's figure may be that of the process we came from
    print(json.dumps({"seconds": seconds, "peak": peak, "answer": float(answer)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
