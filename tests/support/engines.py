"""Every engine the tests know: from an Arrow table to a frame of its own. Tests of frames are written over this."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import warnings

import numpy as np
import pyarrow as pa
import pytest

import wmcc

JAVA = "PySpark needs Java 17 or later (Debian: apt install openjdk-17-jre-headless); without it Spark is not tested."


def has_java() -> bool:
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    return bool(java) and subprocess.run([java, "-version"], capture_output=True).returncode == 0


@functools.cache
def spark():
    """A real Spark with two workers, in local mode."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that it is not yet at home with pandas 3
        from pyspark.sql import SparkSession

        if not has_java():
            pytest.skip(JAVA)
        return (
            SparkSession.builder.master("local[2]")
            .appName("wmcc")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.log.level", "OFF")
            # It lives for a minute or two: to compile thoroughly takes longer than it saves.
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
            .getOrCreate()
        )


def plain(table: pa.Table, unsigned: bool = True) -> pa.Table:
    """Without types that an engine does not have: dictionaries and, for Spark, unsigned integers."""
    for i, field in enumerate(table.schema):
        kind = field.type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if not unsigned and pa.types.is_unsigned_integer(kind):
            kind = pa.int64()
        table = table.set_column(i, field.name, table[i].cast(kind))
    return table


def to_spark(table: pa.Table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return spark().createDataFrame(plain(table, unsigned=False))


def to_pandas(table: pa.Table):
    """A frame of pandas whose columns are Arrow's, but for categories."""
    import pandas as pd

    return table.to_pandas(types_mapper=lambda kind: None if pa.types.is_dictionary(kind) else pd.ArrowDtype(kind))


def to_polars(table: pa.Table):
    import polars as pl

    return pl.from_arrow(table)


def to_duckdb(table: pa.Table):
    import duckdb

    return duckdb.from_arrow(table)


def to_ibis(table: pa.Table):
    import ibis

    return ibis.memtable(plain(table))


def to_dask(table: pa.Table):
    import dask.dataframe as dd

    frame = to_pandas(table)  # Dask cannot cast Decimal objects. Three partitions, one maybe empty.
    cuts = [frame.iloc[: len(frame) // 3], frame.iloc[:0], frame.iloc[len(frame) // 3 :]]
    return dd.from_map(lambda part: part, cuts, meta=frame.iloc[:0])


IN_MEMORY = {
    "pandas": lambda table: table.to_pandas(),
    "pandas of Arrow": to_pandas,
    "pandas with NA": lambda table: table.to_pandas().convert_dtypes(),
    "polars": to_polars,
    "pyarrow": lambda table: table,
}
LAZY = {
    "polars, lazy": lambda table: to_polars(table).lazy(),
    "duckdb": to_duckdb,
    "ibis": to_ibis,
    "dask": to_dask,
}
SPARK = {"pyspark": to_spark}

FAST = {**IN_MEMORY, **LAZY}
ALL = {**FAST, **SPARK}

PYSPARK = pytest.param("pyspark", marks=pytest.mark.spark)
ENGINES = [*FAST, PYSPARK]
"""The names of all, for tests that are run with each."""
READERS = ["arrow", "polars", "duckdb"]
"""What reads files: `engine` of `wmcc.Files`."""

ENGINE_WARNINGS = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::wmcc.errors.LabelWarning"
)
"""What engines warn of when their versions meet, and what tests of them need not hear."""


def same(found: wmcc.Table, expected: wmcc.Table, exact: bool) -> None:
    """The same table; sums of engines that round are within what n roundings can do."""
    if exact:
        assert found == expected
        return
    assert found.labels == expected.labels
    assert [type(x) for x in found.labels] == [type(x) for x in expected.labels]
    assert (found.ignored, found.positive) == (expected.ignored, expected.positive)
    assert np.array_equal(found.n, expected.n)
    for name in ("w_min", "w_max"):  # engines may be one unit off where they make a float of a decimal
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=2.0**-52)
    near = (expected.n + 1) * 2.0**-52
    assert (np.abs(found.w - expected.w) <= near * expected.w).all()
    assert (np.abs(found.w2 - expected.w2) <= 2 * near * expected.w2).all()
