"""Accumulators, windows, forgetting, and the exact difference of tables."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from helpers import any_weight, rows
from hypothesis import given
from hypothesis import strategies as st

import wmcc

batches = st.lists(rows(positive_total=False), min_size=1, max_size=8)


def all_of(parts):
    return wmcc.tabulate(*(np.concatenate([part.arrays[k] for part in parts]) for k in range(3)))


@given(batches)
def test_batches_add_up_to_the_table_of_all_rows(parts):
    stream, other = wmcc.Accumulator(), wmcc.Accumulator()
    for k, part in enumerate(parts):
        (stream, other)[k % 2].update(*part.arrays)
    assert stream.snapshot() == all_of(parts[::2])
    stream.merge(other)
    assert stream.snapshot() == all_of(parts)
    stream.merge(other.snapshot())
    assert stream.snapshot() == all_of(parts + parts[1::2])


@given(batches, st.integers(1, 9))
def test_a_window_is_the_table_of_the_last_batches(parts, window):
    stream = wmcc.Accumulator(window=window)
    for k, part in enumerate(parts):
        stream.update(*part.arrays)
        assert stream.snapshot() == all_of(parts[max(0, k + 1 - window) : k + 1])


@given(batches, st.sampled_from([0.5, 1.0, 2.0, 7.3]))
def test_forgetting_is_weights_that_fade(parts, half_life):
    stream = wmcc.Accumulator(half_life=half_life)
    for part in parts:
        stream.update(*part.arrays)
    fade = Fraction(2.0 ** (-1 / half_life))
    found = stream.snapshot()
    assert np.array_equal(found.n, all_of(parts).n)
    weight = {}
    for age, part in enumerate(reversed(parts)):
        for t, p, w in zip(*part, strict=True):
            weight[t, p] = weight.get((t, p), 0) + Fraction(w) * fade**age
    near, tiny = Fraction(16, 2**52), Fraction(1, 2**1070)  # a rounding per update, and those of subnormals
    for i, a in enumerate(found.labels):
        for j, b in enumerate(found.labels):
            exact = weight.get((a, b), Fraction(0))
            assert abs(Fraction(found.w[i, j]) - exact) <= near * exact + tiny


def test_an_update_that_is_refused_changes_nothing():
    for options in ({}, {"window": 1}, {"window": 2}, {"half_life": 3}):
        stream = wmcc.Accumulator(**options)
        stream.update([0, 1], [0, 1])
        before = stream.snapshot()
        for bad in (([0], [0], [-1.0]), (["a"], ["b"]), ([0, 1], [0])):
            if options.get("window") == 1 and bad[0] == ["a"]:
                continue  # what it does not fit to has left
            with pytest.raises(wmcc.WmccError):
                stream.update(*bad)
            assert stream.snapshot() == before
        stream.update([1], [0])
        assert stream.snapshot().n[1, 0] == 1


def test_many_threads():
    rng = np.random.default_rng(0)
    t, p, w = rng.integers(0, 3, (40, 500)), rng.integers(0, 3, (40, 500)), rng.lognormal(0, 3, (40, 500))
    stream = wmcc.Accumulator(labels=[0, 1, 2])
    seen = []
    with ThreadPoolExecutor(8) as pool:
        for k, _ in enumerate(pool.map(stream.update, t, p, w)):
            seen.append(stream.snapshot().rows)
            assert seen[-1] >= 500 * (k + 1)
    assert stream.snapshot() == wmcc.tabulate(t, p, w)
    assert all(n % 500 == 0 for n in seen)  # never half a batch


def test_options_and_what_is_refused():
    stream = wmcc.Accumulator(labels=["b", "a"], ignore="void", positive="a")
    assert stream.snapshot().labels == ("b", "a")
    stream.update(["a", "void"], ["a", "b"])
    table = stream.snapshot()
    assert (table.labels, table.ignored, table.positive) == (("b", "a"), 1, "a")
    assert "Accumulator of a Table of 2 classes" in repr(stream)
    for options in (
        {"window": 0},
        {"window": 1.5},
        {"half_life": 0},
        {"half_life": float("nan")},
        {"window": 2, "half_life": 2},
    ):
        with pytest.raises(wmcc.InputError, match=r"window|half_life"):
            wmcc.Accumulator(**options)
    with pytest.raises(wmcc.InputTypeError, match="no option 'colour'"):
        wmcc.Accumulator(colour="red")
    with pytest.raises(wmcc.InputTypeError, match="expected an Accumulator or a Table"):
        stream.merge([1])


# ---- differences ------------------------------------------------------------------------------------


@given(rows(positive_total=False), rows(positive_total=False))
def test_the_difference_of_tables_is_exact(a, b):
    part, whole = wmcc.tabulate(*b.arrays), all_of([a, b])
    rest, expected = whole - part, wmcc.tabulate(*a.arrays)._aligned(whole.labels)
    assert rest.labels == whole.labels
    assert np.array_equal(rest.n, expected.n)
    assert rest.w_exact == expected.w_exact
    assert rest.w2_exact == expected.w2_exact
    used = rest.n > 0
    assert np.array_equal(np.isnan(rest.w_min), ~used)
    assert (rest.w_min[used] <= expected.w_min[used]).all()  # bounds: the rows that hold them may be gone
    assert (rest.w_max[used] >= expected.w_max[used]).all()
    one = rest.n == 1
    assert np.array_equal(rest.w_min[one], expected.w_min[one])
    assert wmcc.Table.from_json(rest.to_json()) == rest
    assert (rest + part).w_exact == whole.w_exact


@given(st.lists(any_weight, min_size=1, max_size=30))
def test_nothing_drifts(weights):
    total = first = wmcc.tabulate([0], [1], [1e-3])
    for w in weights:
        step = wmcc.tabulate([0, 1], [1, 1], [w, 1.0])
        total = (total + step) - step
    assert total.w_exact == first._aligned(total.labels).w_exact


def test_what_is_no_part_is_not_taken_away():
    whole = wmcc.tabulate([0, 0, 1], [0, 0, 1], [1.0, 2.0, 3.0])
    for t, p, w in (
        ([2], [2], [1.0]),
        ([0, 0, 0], [0, 0, 0], [1.0, 1.0, 1.0]),
        ([0], [0], [3.5]),
        ([0], [0], [0.5]),
        ([1], [0], [1.0]),
    ):
        with pytest.raises(wmcc.InputError, match="no part of this one"):
            whole - wmcc.tabulate(t, p, w)
    with pytest.raises(wmcc.InputError, match="no part"):
        whole - wmcc.Table.from_counts([[0]], ignored=1)
    assert (whole - wmcc.Table.empty()) == whole
    assert (whole - wmcc.Table.empty(["other"])) == whole  # a class without rows takes nothing away


# ---- forks -------------------------------------------------------------------------------------------

FORKS = """
import os, signal, sys, threading, time, warnings
import numpy as np
import wmcc

warnings.simplefilter("ignore", DeprecationWarning)  # of forks while there are threads: they are what is tested
rng = np.random.default_rng(0)
y, w = rng.integers(0, 40, (2, 60)), rng.random(60)
streams = [wmcc.Accumulator(labels=range(40), **options) for options in ({}, {"window": 3}, {"half_life": 5.0})]
done = False

def work():
    while not done:
        for stream in streams:
            stream.update(*y, w)

threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
for thread in threads:
    thread.start()
failed = 0
for _ in range(40):
    time.sleep(0.003)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # what hangs is ended
        for stream in streams:
            before = stream.snapshot()
            stream.update(*y, w)
            after = stream.snapshot()
            if before.rows % 60 or after.rows - before.rows not in ((0, 60) if stream is streams[1] else (60,)):
                os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    failed += status != 0
    if failed > 2:  # each takes the time of an alarm
        break
done = True
print(failed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_child_neither_hangs_nor_finds_half_an_update():
    found = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=300)
    assert (found.stdout, found.stderr) == ("0\n", "")


def test_accumulators_are_not_kept_alive():
    stream = wmcc.Accumulator()
    gone = weakref.ref(stream)
    del stream
    gc.collect()
    assert gone() is None


def test_copies_go_on_alone():
    stream = wmcc.Accumulator(window=2)
    stream.update([0, 1], [0, 1])
    other = pickle.loads(pickle.dumps(stream))
    other.update([0], [0])
    assert (stream.snapshot().rows, other.snapshot().rows) == (2, 3)
