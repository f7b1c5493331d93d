"""Accumulators, windows, forgetting, and the exact difference of tables."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import chain

import numpy as np
import polars as pl
import pytest
from helpers import rows
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.errors import InputError, InputTypeError, WmccError

batches = st.lists(rows(positive_total=False), min_size=1, max_size=8)


def all_of(parts):
    return wmcc.tabulate(*(np.concatenate([part.arrays[k] for part in parts]) for k in range(3)))


@given(batches)
def test_batches_add_up_to_the_table_of_all_rows(parts):
    stream, other = wmcc.Accumulator(), wmcc.Accumulator()
    for k, part in enumerate(parts):
        (stream, other)[k % 2].update(*part.arrays)
    assert stream.table == all_of(parts[::2])
    stream.update(other)
    assert stream.table == all_of(parts)
    stream.update(other.table)
    assert stream.table == all_of(parts + parts[1::2])


@given(batches, st.integers(1, 9))
def test_a_window_is_the_table_of_the_last_batches(parts, window):
    stream = wmcc.Accumulator(window=window)
    for k, part in enumerate(parts):
        stream.update(*part.arrays)
        assert stream.table == all_of(parts[max(0, k + 1 - window) : k + 1])


@given(batches, st.sampled_from([0.5, 1.0, 2.0, 7.3]))
def test_forgetting_is_weights_that_fade(parts, half_life):
    stream = wmcc.Accumulator(half_life=half_life)
    for part in parts:
        stream.update(*part.arrays)
    fade = Fraction(2.0 ** (-1 / half_life))
    found = stream.table
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
        before = stream.table
        for bad in (([0], [0], [-1.0]), (["a"], ["b"]), ([0, 1], [0])):
            if options.get("window") == 1 and bad[0] == ["a"]:
                continue  # what it does not fit to has left
            with pytest.raises(WmccError):
                stream.update(*bad)
            assert stream.table == before
        stream.update([1], [0])
        assert stream.table.n[1, 0] == 1


def test_many_threads():
    rng = np.random.default_rng(0)
    t, p, w = rng.integers(0, 3, (40, 500)), rng.integers(0, 3, (40, 500)), rng.lognormal(0, 3, (40, 500))
    stream = wmcc.Accumulator(labels=[0, 1, 2])
    seen = []
    with ThreadPoolExecutor(8) as pool:
        for k, _ in enumerate(pool.map(stream.update, t, p, w)):
            seen.append(stream.table.rows)
            assert seen[-1] >= 500 * (k + 1)
    assert stream.table == wmcc.tabulate(t.ravel(), p.ravel(), w.ravel())
    assert all(n % 500 == 0 for n in seen)  # never half a batch


def test_options_and_what_is_refused():
    stream = wmcc.Accumulator(labels=["b", "a"], ignore="void", positive="a")
    assert stream.table.labels == ("b", "a")
    stream.update(["a", "void"], ["a", "b"])
    table = stream.table
    assert (table.labels, table.ignored, table.positive) == (("b", "a"), 1, "a")
    assert "Accumulator of a Table of 2 classes" in repr(stream)
    for options in (
        {"window": 0},
        {"window": 1.5},
        {"window": timedelta(0)},
        {"half_life": 0},
        {"half_life": float("nan")},
        {"half_life": timedelta(seconds=-1)},
        {"window": 2, "half_life": 2},
    ):
        with pytest.raises(InputError, match=r"window|half_life"):
            wmcc.Accumulator(**options)
    for call, said in (
        (
            lambda: wmcc.Accumulator(colour="red"),
            r"Accumulator has no keyword 'colour'[\s\S]*its keywords are window, half",
        ),
        (
            lambda: wmcc.Accumulator(half_live=3),
            r"Accumulator has no keyword 'half_live'[\s\S]*did you mean `half_life`",
        ),
        (
            lambda: stream.update(["a"], ["b"], weights=[1]),
            r"update has no keyword 'weights'[\s\S]*did you mean `sample_weight`, or `weight`",
        ),
        (lambda: stream.update(["a"], ["b"], labels=["a"]), "Accumulator.update has no keyword 'labels'"),
    ):
        with pytest.raises(InputTypeError, match=said):
            call()
    with pytest.raises(InputTypeError, match="expected y_true and y_pred, or a table; got only a list"):
        stream.update([1])
    with pytest.raises(InputTypeError, match="`y_pred` cannot be given with a table"):
        stream.update(table, [1])
    with pytest.raises(InputTypeError, match="`at` is only for a window or a half-life that is a datetime"):
        stream.update(table, at=3.0)


# ---- groups, clusters, frames, single observations ---------------------------------------------------


@given(batches, st.data())
def test_groups_and_clusters_add_up(parts, data):
    keys = [data.draw(st.lists(st.sampled_from("xyz"), min_size=len(x.t), max_size=len(x.t))) for x in parts]
    everything = [np.concatenate([part.arrays[k] for part in parts]) for k in range(3)]
    for window in (None, len(parts)):
        groups, clusters, both = (wmcc.Accumulator(window=window) for _ in range(3))
        for part, own in zip(parts, keys, strict=True):
            groups.update(*part.arrays, by=own)
            clusters.update(*part.arrays, cluster=own)
            both.update(*part.arrays, by=own[::-1], cluster=own)
        flat = list(chain(*keys))
        assert groups.tables == wmcc.tabulate(*everything, by=flat)
        assert groups.table == all_of(parts)
        assert clusters.table == wmcc.tabulate(*everything, cluster=flat)
        turned = list(chain(*(own[::-1] for own in keys)))
        assert both.tables == wmcc.tabulate(*everything, by=turned, cluster=flat)
        for stream in (groups, both):
            again = wmcc.Accumulator()
            again.update(stream)
            again.update(stream.tables)
            assert again.tables == stream.tables + stream.tables


def test_groups_in_all_updates_or_in_none():
    plain, grouped = wmcc.Accumulator(), wmcc.Accumulator(half_life=2)
    assert len(grouped.tables) == 0
    plain.update([0, 1], [0, 1])
    grouped.update([0, 1], [0, 1], by=["a", "b"])
    with pytest.raises(InputTypeError, match="came without `by`, and this one with"):
        plain.update([0, 1], [0, 1], by=["a", "b"])
    with pytest.raises(InputTypeError, match="came with `by`, and this one without"):
        grouped.update([0, 1], [0, 1])
    with pytest.raises(InputTypeError, match=r"no groups[\s\S]*read its \.table"):
        _ = plain.tables
    grouped.update([1], [0], [8.0], by=["b"])
    assert grouped.tables["a"].w.tolist() == [[2**-0.5]]
    assert grouped.tables["b"].w.tolist() == [[0, 0], [8.0, 2**-0.5]]
    assert "Accumulator of Tables of 2 groups" in repr(grouped)


def test_groups_leave_a_window_with_their_last_rows():
    stream = wmcc.Accumulator(window=2)
    for key in "abc":
        stream.update([0, 1], [0, 1], by=[key, "all"])
    assert list(stream.tables) == ["all", "b", "c"]


def test_single_observations():
    stream, expected = wmcc.Accumulator(), wmcc.tabulate(["cat", "cat", "dog"], ["dog", "cat", "dog"], [2.5, 1.0, 4])
    stream.update("cat", "dog", 2.5)
    stream.update(np.str_("cat"), "cat")
    stream.update(y_true="dog", y_pred="dog", sample_weight=np.float32(4))
    assert stream.table == expected
    numbers = wmcc.Accumulator()
    for row in ((1, 0), (np.int8(1), 1), (True, False), (np.array(0), 0.0)):
        numbers.update(*row, by="day", cluster=7)
    assert numbers.tables["day"].n.tolist() == [[1, 0], [2, 1]]
    assert numbers.table.drawn.clusters == (7,)
    for bad, said in ((("cat", ["dog"]), "shape|y_true"), (("cat", "dog", -1.0), "at least 0"), ((1.5, 1), "1.5")):
        with pytest.raises(WmccError, match=said):
            wmcc.Accumulator().update(*bad)


def test_frames_and_files(tmp_path):
    frame = pl.DataFrame({"y": [0, 1, 1], "p": [0, 1, 0], "ha": [1.0, 2.5, 4.0], "tile": ["a", "b", "a"]})
    frame.write_parquet(tmp_path / "rows.parquet")
    expected = wmcc.tabulate(frame, true="y", pred="p", weight="ha", by="tile")
    stream = wmcc.Accumulator()
    stream.update(frame, true="y", pred="p", weight="ha", by="tile")
    assert stream.tables == expected
    stream.update(str(tmp_path / "rows.parquet"), true="y", pred="p", weight="ha", by="tile")
    assert stream.tables == expected + expected
    clusters = wmcc.Accumulator()
    clusters.update(frame.lazy(), true="y", pred="p", cluster="tile")
    assert clusters.table == wmcc.tabulate(frame, true="y", pred="p", cluster="tile")


def test_rules_for_labels_hold_in_every_update():
    rules = {"names": {0: "road", 1: "car"}, "ignore": 255, "missing": "ignore"}
    stream = wmcc.Accumulator(**rules)
    stream.update([0, 255, None], [0, 1, 1])
    stream.update([1, 1], [255, 1], [2.0, 3.0])
    stream.update(pl.DataFrame({"y": [0, None], "p": [1, 1]}), true="y", pred="p")
    everything = [0, 255, None, 1, 1, 0, None], [0, 1, 1, 255, 1, 1, 1], [1, 1, 1, 2.0, 3.0, 1, 1]
    assert stream.table == wmcc.tabulate(*everything, **rules)
    assert (stream.table.ignored, stream.table.void) == (3, (255,))


def test_empty_batches_and_reset():
    for options in ({}, {"window": 3}, {"half_life": 2}):
        stream = wmcc.Accumulator(labels=["a", "b"], **options)
        assert stream.table == wmcc.tabulate([], [], labels=["a", "b"])
        stream.update([], [])
        stream.update(np.array([], dtype=str), np.array([], dtype=str), np.array([]))
        assert (stream.table.rows, stream.table.labels) == (0, ("a", "b"))
        stream.update("a", "b")
        assert stream.table.rows == 1
        stream.reset()
        assert stream.table == wmcc.tabulate([], [], labels=["a", "b"])
        stream.update(["a"], ["b"], by=["x"])  # what was forgotten had no groups
        stream.update([], [], by=[])
        assert list(stream.tables) == ["x"]


# ---- times -------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(rows(positive_total=False, most=4), st.integers(0, 20)), min_size=1, max_size=12))
@pytest.mark.parametrize("clock", ["seconds", "naive", "aware", "datetime64"])
def test_a_window_of_time_is_the_table_of_what_came_in_it(clock, steps):
    start = datetime(2025, 3, 30, tzinfo=UTC if clock == "aware" else None)
    stream, came, now = wmcc.Accumulator(window=timedelta(seconds=30)), [], 0
    for part, step in steps:
        now += step
        at = start + timedelta(seconds=now)
        at = {"seconds": float(now), "datetime64": np.datetime64(at.replace(tzinfo=None), "ns")}.get(clock, at)
        stream.update(*part.arrays, at=at)
        came.append((now, part))
        assert stream.table == all_of([part for then, part in came if then > now - 30])


def test_times_that_are_refused():
    hour = wmcc.Accumulator(window=timedelta(hours=1))
    noon = datetime(2025, 6, 1, 12)
    with pytest.raises(InputTypeError, match=r"at is None; expected the time[\s\S]*window is a time"):
        hour.update([0, 1], [0, 1])
    hour.update([0, 1], [0, 1], at=noon)
    before = hour.table
    for at, said in (
        (noon - timedelta(seconds=1), "at is 2025-06-01 11:59:59, earlier than the update before, 2025-06-01 12:00:00"),
        (noon.replace(tzinfo=UTC), "cannot be compared[\\s\\S]*all or none with a time zone"),
        (3.0, "cannot be compared"),
        ("noon", "at is 'noon'; expected the time of the update, a datetime or a number of seconds"),
        (float("nan"), "at is nan"),
        (True, "at is True"),
    ):
        with pytest.raises(WmccError, match=said):
            hour.update([0], [1], at=at)
        assert hour.table == before
    hour.update([0], [1], at=noon)  # at the same time is in order
    assert hour.table.rows == 3
    hour.update([], [], at=noon + timedelta(hours=1))  # nothing new, and the old has left
    assert hour.table.rows == 0


def test_a_half_life_of_time():
    stream = wmcc.Accumulator(half_life=timedelta(days=1))
    monday = datetime(2025, 6, 2)
    for day, weight in ((0, 8.0), (1, 4.0), (3, 1.0), (3, 0.5)):
        stream.update(0, 1, weight, at=monday + timedelta(days=day))
    assert stream.table.w[0, 1] == 8.0 / 8 + 4.0 / 4 + 1.0 + 0.5
    seconds = wmcc.Accumulator(half_life=timedelta(seconds=10))
    seconds.update([0, 1], [1, 1], [8.0, 4.0], at=5)
    seconds.update([0], [1], [1.0], at=15.0)
    assert seconds.table.w.tolist() == [[0, 5.0], [0, 2.0]]
    seconds.update([0], [1], [1.0], at=1e9)  # so late that nothing is left of what was
    assert seconds.table.w.tolist() == [[0, 1.0], [0, 0]]
    assert wmcc.Table.from_json(seconds.table.to_json()) == seconds.table


@pytest.mark.slow
def test_long_windows_are_quick():
    """An update does not take the time of all that is in the window."""
    one, steps = wmcc.tabulate([0, 1], [0, 0]), []
    for window in (10, 3000):
        stream = wmcc.Accumulator(window=window)
        for _ in range(window):
            stream.update(one)
        began = time.process_time()
        for _ in range(2 * window):
            stream.update(one)
        steps.append((time.process_time() - began) / (2 * window))
        assert stream.table.rows == 2 * window
    assert steps[1] < 3 * steps[0]


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
            before = stream.table
            stream.update(*y, w)
            after = stream.table
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


@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_copies_go_on_alone(copied):
    for options in ({"window": 2}, {"window": 9}, {}, {"half_life": 3}, {"window": timedelta(seconds=4)}):
        stream = wmcc.Accumulator(**options)
        at = {"at": 1.0} if isinstance(options.get("window"), timedelta) else {}
        stream.update([0, 1], [0, 1], **at)
        other = copied(stream)
        other.update([0], [0], **at)
        stream.update([1, 1, 1], [0, 0, 0], **at)
        other.update([0], [0], **at)
        assert (stream.table.n.tolist(), other.table.n[0, 0]) == (
            [[1, 0], [3, 1]],
            2 if options == {"window": 2} else 3,
        )


@pytest.mark.parametrize(
    "given",
    [
        ([0, 1], {"A": [0, 1], "B": [1, 1]}),
        (wmcc.tabulate([0, 1], {"A": [0, 1]}),),
        (wmcc.tabulate([0, 1], {"A": [0, 1]}, by=[0, 1]),),
    ],
)
def test_one_prediction_per_accumulator(given):
    stream = wmcc.Accumulator()
    with pytest.raises(InputTypeError, match=r"holds one prediction; several were given\.\s+Hint: wmcc\.merge"):
        stream.update(*given)
    assert stream.table.rows == 0


# ---- scores ----------------------------------------------------------------------------------------------


def test_scores_and_labels_are_not_mixed():
    truth, score = [0, 1, 1], [0.2, 0.6, 0.4]
    first = wmcc.Accumulator()
    first.update(truth, truth)
    with pytest.raises(InputTypeError, match=r"earlier updates came without `score`, and this one with; give `score`"):
        first.update(truth, score=score)
    second = wmcc.Accumulator()
    second.update(truth, score=score)
    for options in ({}, {"by": truth}):
        with pytest.raises(InputTypeError, match=r"earlier updates came with `score`, and this one without"):
            second.update(truth, truth, **options)
    assert second.scores == wmcc.tabulate(truth, score=score)


def test_an_accumulator_with_thresholds_takes_no_labels():
    truth, score = [0, 1, 1], [0.2, 0.6, 0.4]
    stream = wmcc.Accumulator(thresholds=[0.5])
    with pytest.raises(InputTypeError, match=r"has `thresholds`, which are for scores; labels were given"):
        stream.update(truth, truth)
    stream.update(truth, score=score)
    other = wmcc.Accumulator(thresholds=[0.3])
    with pytest.raises(InputError, match="between different edges"):
        other.update(stream)
    same = wmcc.Accumulator(thresholds=[0.5])
    same.update(stream)
    assert same.scores == stream.scores


def test_an_accumulator_is_read_as_its_scores(tmp_path):
    truth, score = [0, 1, 1, 0] * 9, [0.2, 0.6, 0.4, 0.5] * 9
    stream, scores = wmcc.Accumulator(), wmcc.tabulate(truth, score=score)
    stream.update(truth, score=score)
    for ask in (wmcc.best_threshold, wmcc.curve, lambda given: wmcc.interval(given, "roc_auc")):
        assert ask(stream).to_dict() == ask(scores).to_dict()
    assert wmcc.plot.roc(stream).get_title(loc="left") == wmcc.plot.roc(scores).get_title(loc="left")
    wmcc.write_report(tmp_path / "a.json", stream)
    labels = wmcc.Accumulator()
    labels.update(truth, truth)
    wmcc.write_report(tmp_path / "b.json", labels)
    with pytest.raises(InputTypeError, match="reads a score table"):
        wmcc.best_threshold(labels)


def test_groups_of_scores_are_read_one_by_one(tmp_path):
    groups = wmcc.tabulate([0, 1, 1, 0] * 9, score=[0.2, 0.6, 0.4, 0.5] * 9, by=["a", "b"] * 18)
    with pytest.raises(InputTypeError, match=r"wmcc.best_threshold\(scores\) for key, scores in given.items"):
        wmcc.write_report(tmp_path / "a.html", groups)
    with pytest.raises(InputTypeError, match=r"take one of them, for instance scores\['b'\]"):
        wmcc.best_threshold(groups)
