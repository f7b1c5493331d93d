"""Every bar with its measured ratio. Answers are asserted before anything is timed.

Names of sections choose some of them: ``bars.py text_in_frames many_classes``. ``--write`` puts all into
docs/benchmarks.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from common import (
    THREADS,
    Bars,
    best_in_turns,
    bincount,
    data,
    floor,
    median,
    processors,
    sklearn_mcc,
    spread,
    timed,
    timed_once,
    write_section,
)

import wmcc
import wmcc.measures
from wmcc.core.kernel import kernel

BARS = Bars()
bar = BARS.add


def against_scikit_learn() -> None:
    for classes, limit in ((2, 100), (20, 100), (200, 30)):
        t, p, w = data(10**7, classes)
        assert abs(wmcc.ecc(t, p, sample_weight=w) - sklearn_mcc(t, p, w)) < 1e-9
        read, ours, peers = floor((t, p, w)), [], []
        base: list[float] = []
        for _ in range(3):  # in turns, since the machine's speed drifts
            peers += timed_once(lambda t=t, p=p, w=w: sklearn_mcc(t, p, w))
            ours += timed(lambda t=t, p=p, w=w: wmcc.ecc(wmcc.tabulate(t, p, w, threads=THREADS)), 5)
            base += timed(read, 5)
        peer = median(peers)
        note = (
            f"[wmcc {median(ours) * 100:.2f} ns/row ({spread(ours)}), scikit-learn {peer * 100:.0f}, "
            f"memory floor {median(base) * 100:.2f}: {median(ours) / median(base):.2f} x the floor]"
        )
        bar(
            f"int64, N = 1e7, K = {classes}, end to end, over scikit-learn", peer / median(ours), limit, "x", True, note
        )


def against_memory() -> None:
    for classes, limits in ((2, (2.0, 2.5)), (20, (4.0, 4.0))):
        for dtype, limit in zip(("u1", "i8"), limits, strict=True):
            t, p, w = data(10**7, classes, dtype)
            labels = range(classes)
            assert wmcc.tabulate(t, p, w, labels=labels) == wmcc.tabulate(t, p, w)
            read = floor((t, p, w))
            ratios, ours, base = [], [], []
            for _ in range(9):  # side by side, since the machine's speed drifts
                base += timed(read, 1)
                ours += timed(
                    lambda t=t, p=p, w=w, labels=labels: wmcc.tabulate(t, p, w, labels=labels, threads=THREADS), 1
                )
                ratios.append(ours[-1] / base[-1])
            rates = f"{median(ours) * 100:.2f} against {median(base) * 100:.2f} ns/row"
            note = f"[{rates}; ratios {min(ratios):.2f}–{max(ratios):.2f}]"
            what = f"codes {dtype} with labels given, N = 1e7, K = {classes}, over the {THREADS}-thread memory floor"
            bar(what, median(ratios), limit, "x", False, note)
    t, p, w = data(10**7, 2, "u1")
    w = w.astype("f4")
    table = wmcc.tabulate(t, p, w)
    assert (table.n.ravel() == np.bincount(2 * t + p, minlength=4)).all()
    ours, base = best_in_turns(lambda: wmcc.tabulate(t, p, w, threads=THREADS), floor((t, p, w)), 15)
    note = f"[{ours * 100:.2f} against {base * 100:.2f} ns/row]"
    bar("uint8 labels, float32 weights, N = 1e7, K = 2, over reading them", ours / base, 2.5, "x", False, note)


def small_inputs() -> None:
    for classes, limit in ((2, 30), (20, 40)):
        t, p, w = data(1000, classes)
        assert abs(wmcc.ecc(t, p, sample_weight=w) - sklearn_mcc(t, p, w)) < 1e-12
        ours = [median(timed(lambda t=t, p=p, w=w: wmcc.ecc(t, p, sample_weight=w), 200)) for _ in range(15)]
        peer = timed(lambda t=t, p=p, w=w: sklearn_mcc(t, p, w), 50)
        note = f"[best {min(ours) * 1e6:.0f}, worst {max(ours) * 1e6:.0f}; scikit-learn {median(peer) * 1e6:,.0f} µs]"
        bar(f"N = 1,000, K = {classes}, one call of ecc", median(ours) * 1e6, limit, "µs", False, note)
    for classes, limit in ((200, 170), (1000, 330)):
        t, p, w = data(1000, classes)
        assert wmcc.ecc(t, p, sample_weight=w) == wmcc.ecc(wmcc.tabulate(t, p, w))
        ours, peer = best_in_turns(
            lambda t=t, p=p, w=w: wmcc.ecc(t, p, sample_weight=w),
            lambda t=t, p=p, w=w: wmcc.ecc(wmcc.tabulate(t, p, w)),
            300,
        )
        note = f"[{ours / peer:.2f} x ecc of a table that is made of them]"
        bar(f"N = 1,000, K = {classes:,}, one call of ecc", ours * 1e6, limit, "µs", False, note)
    for classes, limit in ((200, 0.15), (1000, 0.3), (2048, 0.5)):
        t, p, w = data(1000, classes)
        table = wmcc.tabulate(t, p, w)
        assert table.cells.sums.n.sum() == 1000
        assert abs(table.total - w.sum()) < 1e-9
        ours = timed(lambda t=t, p=p, w=w: wmcc.tabulate(t, p, w), 200)
        peer = timed(lambda t=t, p=p, w=w, K=classes: bincount(t, p, w, K), 5)
        note = f"[best {min(ours) * 1e3:.3f}; NumPy's bincount of all cells {median(peer) * 1e3:.1f} ms]"
        bar(f"N = 1,000, K = {classes:,}, a table", median(ours) * 1e3, limit, "ms", False, note)


def many_classes() -> None:
    t, p, w = data(10**7, 1000)
    table, (n, sums, _) = wmcc.tabulate(t, p, w), bincount(t, p, w, 1000)
    assert (table.n.ravel() == n).all()
    assert np.allclose(table.w.ravel(), sums, rtol=1e-12)
    ours, peers = [], []
    for _ in range(5):  # in turns, since the machine's speed drifts
        peers += timed_once(lambda: bincount(t, p, w, 1000))
        ours += timed(lambda: wmcc.tabulate(t, p, w), 1)
    note = f"[{spread(ours)}; NumPy's bincount {median(peers) * 100:.1f}: {median(peers) / median(ours):.2f} x ours]"
    bar("N = 1e7, K = 1,000, a table", median(ours) * 100, 15, "ns/row", False, note)
    ours, peer = best_in_turns(lambda: wmcc.tabulate(t, p, w), lambda: np.bincount(t * 1000 + p, w, 1000**2), 5)
    note = f"[{ours * 100:.1f} against {peer * 100:.1f} ns/row]"
    bar("N = 1e7, K = 1,000, a table, over one bincount of Σw", ours / peer, 1.2, "x", False, note)
    few = data(2_000_000, 100_000)
    assert wmcc.tabulate(*few).cells.sums.n.sum() == 2_000_000
    ours, peer = best_in_turns(lambda: wmcc.tabulate(*few), lambda: np.unique(few[0] * 100_000 + few[1]), 3)
    note = f"[NumPy's unique of the cells alone {peer * 500:.0f} ns/row]"
    bar("N = 2e6, K = 100,000, a table", ours * 500, 100, "ns/row", False, note)
    t, p, w = data(10**7, 100_000)
    table = wmcc.tabulate(t, p, w)
    correct = np.bincount(t, w * (t == p), 100_000)
    right = table.cells.codes[0] == table.cells.codes[1]
    assert np.allclose(table.cells.take(right).sums.w_exact.floats(), correct[correct > 0], rtol=1e-12)
    read, ours, peers = floor((t, p, w)), [], []
    key = t * 100_000 + p
    for _ in range(3):
        peers += timed_once(lambda: np.unique(key, return_inverse=True))
        ours += timed(lambda: wmcc.tabulate(t, p, w), 1)
    base = timed(read, 5)
    note = (
        f"[{len(table.cells):,} cells; {spread(ours)}; {median(ours) / median(base):.0f} x the memory floor; "
        f"NumPy's unique alone {median(peers) * 100:.0f} ns/row]"
    )
    bar("N = 1e7, K = 100,000, a table", median(ours) * 100, 60, "ns/row", False, note)


def groups_and_clusters() -> None:
    t, p, w = data(10**6, 5)
    rng = np.random.default_rng(1)
    groups, clusters = rng.integers(0, 100_000, 10**6), rng.integers(0, 10_000, 10**6)
    tables = wmcc.tabulate(t, p, w, by=groups)
    assert tables.total() == wmcc.tabulate(t, p, w)
    ours = timed(lambda: wmcc.tabulate(t, p, w, by=groups), 5)
    peer = timed(lambda: bincount(groups, t * 5 + p, w, 25), 3)
    note = f"[{len(tables):,} tables; {spread(ours)}; NumPy's bincount of all cells {median(peer):.2f} s]"
    bar("by= of 1e6 rows into 100,000 groups, K = 5", median(ours), 0.4, "s", False, note)
    table = wmcc.tabulate(t, p, w, cluster=clusters)
    assert wmcc.interval(table) == wmcc.interval(wmcc.tabulate(t, p, w, cluster=clusters))
    ours = timed(lambda: wmcc.interval(wmcc.tabulate(t, p, w, cluster=clusters)), 5)
    plain = timed(lambda: wmcc.interval(wmcc.tabulate(t, p, w)), 5)
    note = f"[{spread(ours)}; without clusters {median(plain):.3f} s, from the table {_from(table):.4f} s]"
    bar("interval with 10,000 clusters, 1e6 rows", median(ours), 0.1, "s", False, note)


def designs() -> None:
    t, p, w = data(5 * 10**6, 5)
    rng = np.random.default_rng(2)
    stratum, cluster = rng.integers(0, 8, len(t)), rng.integers(0, 200, len(t))
    drawn = {"cluster": cluster, "design": wmcc.Strata(stratum)}
    plain = wmcc.tabulate(t, p, w)
    assert wmcc.tabulate(t, p, w, **drawn).cells == plain.cells
    ours, peer = best_in_turns(lambda: wmcc.tabulate(t, p, w, **drawn), lambda: wmcc.tabulate(t, p, w), 7)
    note = f"[{ours * 1e3:.0f} against {peer * 1e3:.0f} ms]"
    bar("200 clusters in each of 8 strata, 5e6 rows, over a plain table", ours / peer, 2, "x", False, note)
    t, p, w = (x[:2_000_000] for x in (t, p, w))
    for dtype in ("f8", "f4"):
        several = np.asfortranarray(w[:, None] * rng.integers(0, 2, (len(w), 80), dtype=np.uint8), dtype=dtype)
        brr = wmcc.Replicates(several, "brr")
        table = wmcc.tabulate(t, p, w, design=brr)
        assert table.cells.sums.replicates[79] == wmcc.tabulate(t, p, several[:, 79]).cells.sums.w_exact
        ours, peer = best_in_turns(
            lambda brr=brr: wmcc.tabulate(t, p, w, design=brr), lambda: wmcc.tabulate(t, p, w), 7
        )
        read = min(timed(floor((t, p, w, several.reshape(-1, order="F"))), 7))
        note = f"[{ours * 1e3:.0f} against {peer * 1e3:.1f} ms; reading them is {read / peer:.1f} x]"
        bar(f"80 replicate weights, {dtype}, 2e6 rows, over one weight", ours / peer, 8, "x", False, note)


def blocks_of_rasters() -> None:
    import maps  # which needs what reads rasters

    with tempfile.TemporaryDirectory() as name:
        maps.check(Path(name))
        paths = maps.put_rasters(Path(name), 31_623)[:2]
        (reading,) = timed_once(lambda: maps.read_blocks(paths))
        took, most = min(maps.memory(paths, maps.CALLS["in blocks of 64"]) for _ in range(2))
    note = f"[{took:.1f} s, reading {reading:.1f} s]"
    bar("Blocks(64) of 1e9 pixels, over reading with rasterio", took / reading, 2.5, "x", False, note)
    bar("Blocks(64) of 1e9 pixels, memory", most, 600, "MB", False)


def _from(table) -> float:
    return median(timed(lambda: wmcc.interval(wmcc.Table(*table._values())), 5))


def intervals() -> None:
    t, p, w = data(1000, 3)
    table = wmcc.tabulate(t, p, w)
    ours = [median(timed(lambda: wmcc.interval(wmcc.Table(*table._values())), 100)) for _ in range(9)]
    score = timed(lambda: wmcc.ecc(wmcc.Table(*table._values())), 100)
    note = f"[best {min(ours) * 1e6:.0f}, worst {max(ours) * 1e6:.0f}; the score alone {median(score) * 1e6:.0f} µs]"
    bar("interval from a table, K = 3", median(ours) * 1e6, 80, "µs", False, note)
    for classes, limit in ((2, 80), (20, 120), (200, 400)):
        table = wmcc.tabulate(*data(200_000, classes))
        g, found = wmcc.measures.MEASURES["ecc"].gradient(table), wmcc.interval(table)
        assert np.isclose(found.se, np.sqrt((g * g * table.w2).sum()), rtol=1e-9)
        ours, peer = best_in_turns(partial(wmcc.interval, table), lambda g=g, w2=table.w2: (g * g * w2).sum(), 300)
        note = f"[NumPy's Σ g²·Σw² of the same table, all else known, {peer * 1e6:.0f} µs]"
        bar(f"interval(table), K = {classes}", ours * 1e6, limit, "µs", False, note)
    for classes, limit in ((200, 1.5), (1000, 4)):
        table = wmcc.tabulate(*data(200_000, classes))
        assert wmcc.score(table).intervals["kappa"] == wmcc.interval(table, "kappa")
        ours, peer = best_in_turns(lambda x=table: wmcc.score(x).intervals, lambda x=table: wmcc.score(x), 20)
        note = f"[without intervals {peer * 1e3:.2f} ms]"
        bar(f"score(table) with all intervals, K = {classes:,}", ours * 1e3, limit, "ms", False, note)


def report_of_a_pair() -> None:
    t, p, w = data(100_000, 200)
    rng = np.random.default_rng(1)
    q = np.where(rng.random(len(t)) < 0.8, t, rng.integers(0, 200, len(t)))  # of the same truth
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        ours = timed_once(lambda: wmcc.write_report(path, wmcc.tabulate(t, {"a": p, "b": q}, w), progress=False))
        assert path.stat().st_size > 10_000
        alone = timed_once(lambda: wmcc.write_report(path, wmcc.tabulate(t, p, w), progress=False))
    bar("report of a pair, K = 200", median(ours), 5, "s", False, f"[of one of them {median(alone):.1f} s]")


def strings() -> None:
    t, p, w = data(10**6, 10)
    names = np.array([f"land cover class {k}" for k in range(10)])
    for kind, (a, b) in {
        "str": (names[t], names[p]),
        "object": (names[t].astype(object), names[p].astype(object)),
    }.items():
        assert abs(wmcc.ecc(a, b, sample_weight=w) - sklearn_mcc(a, b, w)) < 1e-9
        peer = median([x for _ in range(3) for x in timed_once(lambda a=a, b=b: sklearn_mcc(a, b, w))])
        ours = timed(lambda a=a, b=b: wmcc.ecc(a, b, sample_weight=w))
        note = f"[{median(ours) * 1e9 / 1e6:.1f} ns/row ({spread(ours)})]"
        bar(f"strings ({kind}), N = 1e6, K = 10, over scikit-learn", peer / median(ours), 30, "x", True, note)


def text_in_frames() -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    t, p, w = data(5 * 10**6, 10)
    names = np.array([f"land cover class {k}" for k in range(10)])
    frame = pd.DataFrame({"t": names[t], "p": names[p], "w": w})
    held = [pa.chunked_array(pa.array(frame[side])) for side in "tp"]
    objects = [names.astype(object)[codes] for codes in (t, p)]
    own = [names[codes].astype(object) for codes in (t, p)]
    polars = pl.from_pandas(frame)
    columns = {"true": "t", "pred": "p", "weight": "w"}
    codes = wmcc.tabulate(t, p, w).rename({k: str(names[k]) for k in range(10)})
    calls = {
        "pandas frame, two columns of text": (lambda: wmcc.tabulate(frame, **columns), 35),
        "polars frame, two columns of text": (lambda: wmcc.tabulate(polars, **columns), 30),
        "object arrays of text, rows share objects": (lambda: wmcc.tabulate(*objects, w), 60),
        "object arrays of text, an object for each row": (lambda: wmcc.tabulate(*own, w), 60),
    }
    for what, (call, limit) in calls.items():
        assert call() == codes
        ours, peer = best_in_turns(call, lambda: [column.dictionary_encode() for column in held], 5)
        note = f"[{ours / peer:.2f} x Arrow's dictionary_encode of both, {peer * 200:.0f} ns/row]"
        bar(f"{what}, 5e6 rows", ours * 200, limit, "ns/row", False, note)


PEAK = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from common import data
import wmcc
from wmcc.core.kernel import kernel

def kilobytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(name)))

t, p, w = data(10**7, int(sys.argv[2]))
wmcc.tabulate(t[:10], p[:10], w[:10])
Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
before = kilobytes("VmRSS")
wmcc.tabulate(t, p, w)
print(100 * 1024 * (kilobytes("VmHWM") - before) / (t.nbytes + p.nbytes + w.nbytes))
"""


def peak_memory() -> None:
    """Resident memory beyond the inputs while the pass runs, each time in a fresh process (Linux only)."""
    if not Path("/proc/self/clear_refs").exists():
        print("skip   peak memory: needs /proc")
        return
    for classes in (2, 20, 200):
        command = [sys.executable, "-c", PEAK, str(Path(__file__).parent), str(classes)]
        extra = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        bar(f"peak extra memory, N = 1e7, K = {classes}", extra, 1.0, "% of the input", False)


def import_time() -> None:
    def once(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        return time.perf_counter() - start

    bare, peers, ours = [], [], []
    for _ in range(21):
        bare.append(once("pass"))
        peers.append(once("import numpy, narwhals"))
        ours.append(once("import wmcc; wmcc.tabulate"))
    start = median(bare)
    ratio = (median(ours) - start) / (median(peers) - start)
    note = (
        f"[{(median(ours) - start) * 1e3:.0f} against {(median(peers) - start) * 1e3:.0f} ms beyond Python's own start]"
    )
    bar("import wmcc and its tabulate, over importing NumPy and narwhals", ratio, 1.3, "x", False, note)


SECTIONS = (
    against_scikit_learn,
    against_memory,
    small_inputs,
    strings,
    text_in_frames,
    many_classes,
    groups_and_clusters,
    designs,
    blocks_of_rasters,
    intervals,
    report_of_a_pair,
    peak_memory,
    import_time,
)

if __name__ == "__main__":
    print(f"kernel: {kernel()}; {processors()} processors\n")
    chosen = {x for x in sys.argv[1:] if not x.startswith("-")}
    for section in SECTIONS:
        if not chosen or section.__name__ in chosen:
            section()
    if "--write" in sys.argv[1:] and not chosen:
        write_section("bars", BARS.markdown())
