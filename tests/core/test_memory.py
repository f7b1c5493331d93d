"""How much memory exact sums may take: what would take more is refused before it does."""

import subprocess
import sys

import numpy as np
import pytest
from helpers import KERNELS, joint_table, using
from paths import ROOT

import wmcc
from wmcc import Table
from wmcc.core import exact
from wmcc.core.kernel import _numpy
from wmcc.errors import SchemaError, TooManyClassesError

pytestmark = pytest.mark.slow

PEAK = """
import sys
import numpy as np
import wmcc

rng = np.random.default_rng(0)
t, p = rng.integers(0, 1 << 16, (2, 1_300_000))
w = 10.0 ** rng.uniform(-300, 300, 1_300_000)
try:
    wmcc.tabulate(t, p, w, labels=range(1 << 16), threads=1)
except wmcc.errors.TooManyClassesError as problem:
    print(problem)
print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_too_many_digits_are_refused_before_they_take_memory():
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'tests' / 'support')!r})\n{PEAK}"],
        capture_output=True,
        text=True,
        check=True,
    )
    said, _, peak = done.stdout.strip().rpartition("\n")
    assert "cells would take 1." in said
    assert "1,048,576 cells may hold weights of any size" in said
    assert (
        int(peak) < 3_000_000
    )  # kilobytes; all digits of Σw and Σw² would take 2.1 GB, and sums of floats a copy of it


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_ends_alone_are_too_far_apart(kernel, monkeypatch):
    """Few digits are occupied, and all those between belong to the sums as well."""
    rows = 1_200_000
    if kernel == "numpy":  # which takes a while
        rows = 1200
        monkeypatch.setattr(exact, "MOST_DIGITS", 136 << 10)
        monkeypatch.setattr(_numpy, "MOST_DIGITS", 136 << 10)
    t, p = np.divmod(np.arange(rows), 1000)
    w = np.where(t + p > 0, 1e-300, 1e300)
    with using(kernel):
        with pytest.raises(TooManyClassesError, match="differ so much in size"):
            wmcc.tabulate(t, p, w)
        table = wmcc.tabulate(t, p, np.where(w < 1, 0.0, w))  # as the hint says
        assert (table.rows, table.total) == (rows, 1e300)


def test_any_weights_fit_a_million_cells():
    ends = np.array([np.finfo(float).max, 5e-324])
    widest = wmcc.tabulate([0, 0], [0, 0], ends).w2_exact
    carried = -(-62 // exact.RADIX_BITS)  # of up to 2**62 rows
    assert (len(widest.digits) + carried) * 1024**2 <= exact.MOST_DIGITS


def test_merging_and_reading_are_bounded_too(monkeypatch):
    large, small = (wmcc.tabulate([0, 1], [0, 1], [x, x], labels=[0, 1]) for x in (1e100, 1e-100))
    text = (large + small).to_json()
    ends = [1e100, 1e-100]
    joint = [joint_table([0], [0], [1], [x]) for x in ends]
    monkeypatch.setattr(exact, "MOST_DIGITS", 40)
    for attempt in (
        lambda: large + small,
        lambda: sum(joint * 2),
        lambda: Table.from_cells([0, 1], *(np.diag(x) for x in ([1, 1], ends, [x * x for x in ends], ends, ends))),
    ):
        with pytest.raises(TooManyClassesError, match=r"exact sums of [\d,]+ cells would take"):
            attempt()
    with pytest.raises(SchemaError, match="differ so much in size"):
        Table.from_json(text)
    stream = wmcc.Accumulator()
    stream.update(large)
    with pytest.raises(TooManyClassesError):
        stream.update(small)
    assert stream.table == large
