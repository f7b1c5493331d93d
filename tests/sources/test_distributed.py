"""Dask on a cluster of processes, and Spark: the same table, computed where the rows are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines import same, spark
from paths import ROOT

import wmcc

# Schedulers that start, stop and collect garbage warn.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

ROWS, PARTS = 300_000, 6
PAGE = ROOT / "docs/howto/data.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Parts of one data set, one of them empty, most rows in one class."""
    path, rng = tmp_path_factory.mktemp("parts"), np.random.default_rng(3)
    t = np.minimum(rng.geometric(0.6, ROWS), 5) - 1
    p = np.where(rng.random(ROWS) < 0.8, t, rng.integers(0, 5, ROWS))
    table = pa.table({"label": t, "pred": p, "area": rng.lognormal(0, 2, ROWS), "tile": rng.integers(0, 4, ROWS)})
    for k in range(PARTS):
        pq.write_table(table.slice(k * ROWS // PARTS, ROWS // PARTS), path / f"part-{k}.parquet")
    pq.write_table(table.slice(0, 0), path / "part-6.parquet")
    return path


def test_dask_on_a_cluster_of_processes(folder):
    import dask
    import dask.dataframe as dd
    from distributed import Client, LocalCluster, get_task_stream

    expected = wmcc.tabulate(folder, true="label", pred="pred", weight="area")
    stay = dask.config.set({"distributed.scheduler.work-stealing": False})  # a busy machine's way to move partitions
    local = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with stay, LocalCluster(**local) as cluster, Client(cluster) as client:
        with get_task_stream(client) as tasks:
            found = wmcc.tabulate(dd.read_parquet(folder), true="label", pred="pred", weight="area")
        same(found, expected, exact=False)
        assert len({task["worker"] for task in tasks.data}) == 2  # both did some of it
        assert {task["status"] for task in tasks.data} == {"OK"}
        groups = wmcc.tabulate(dd.read_parquet(folder), true="label", pred="pred", weight="area", by="tile")
        assert list(groups) == [0, 1, 2, 3]
        same(sum(groups.values()), expected, exact=False)
        # What the workers send each other are partial tables, not rows: one row in a hundred would be more.
        sent = client.run(lambda dask_worker: sum(entry["total"] for entry in dask_worker.transfer_outgoing_log))
        assert 0 < sum(sent.values()) < ROWS * 32 / 100


@pytest.mark.spark
def test_spark_with_two_workers(folder):
    session = spark()
    expected = wmcc.tabulate(folder, true="label", pred="pred", weight="area")
    frame = session.read.parquet(str(folder))
    assert session.sparkContext.defaultParallelism == 2
    same(wmcc.tabulate(frame, true="label", pred="pred", weight="area"), expected, exact=False)
    frame.createOrReplaceTempView("predictions")  # as in a notebook
    table = session.table("predictions").where("tile < 2")
    groups = wmcc.tabulate(table, true="label", pred="pred", weight="area", by="tile")
    assert list(groups) == [0, 1]
    exact = wmcc.tabulate(folder, true="label", pred="pred", weight="area", by="tile")
    for tile, found in groups.items():
        same(found, exact[tile], exact=False)


def test_tables_of_shards_merge_exactly(folder):
    """What a cluster without a common engine does: a table per shard, as JSON, added up on one machine."""
    shards = [folder / f"part-{k}.parquet" for k in range(PARTS)]
    stored = [wmcc.tabulate(shard, true="label", pred="pred", weight="area").to_json() for shard in shards]
    merged = sum(wmcc.Table.from_json(text) for text in reversed(stored))
    assert merged == wmcc.tabulate(folder, true="label", pred="pred", weight="area")


@pytest.mark.spark
def test_the_example_of_the_page_on_data(folder):
    (example,) = (x for x in PAGE.read_text().split("```python\n") if "SparkSession" in x)
    names = {"wmcc": wmcc, "folder": str(folder)}
    exec(example.partition("```")[0], names)
    assert names["score"].ecc == pytest.approx(
        wmcc.ecc(wmcc.tabulate(folder, true="label", pred="pred", weight="area")), rel=1e-12
    )
