"""The paper's experiments: how fast they are, and whether the verdicts depend on what the paper leaves open.

With ``--write`` the times go to docs/benchmarks.md, verdicts and figures to docs/understand/experiments.md and its
folder.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
from common import Bars, median, spread, timed, timed_once, write_section

import wmcc
import wmcc.measures
from wmcc.cli.reproduction import NAMES, reproduced, verdicts_markdown
from wmcc.experiments import Separation, Verdict, draws, separation, verdicts
from wmcc.experiments.design import MATCHES, MISMATCHES, TRUTHS
from wmcc.present.markdown import table

FOLDER = Path(__file__).parent.parent / "docs" / "understand" / "experiments"
SEEDS = 20
LARGE = {"n": 15_000, "repetitions": 1_000, "matches": "shared"}


def right(classes: int, **options) -> None:
    """Assert that two predictions score as their labels do: at their mean, and a standard error to each side of it."""
    found = separation(classes, **{**options, "repetitions": 2, "p": (0.5,)})
    start, inside = len(found.starts) // 2, np.zeros(found.design.n, dtype=bool)
    inside[start : start + found.design.section] = True
    for name in found.design.measures:
        one, values = found.trace(0.5, name), []
        for repetition in (0, 1):
            t = draws.truth(found.design, repetition)
            there, here = draws.shared(found.design, 0.5, repetition, t)
            guess = np.where(inside, here, there)
            values.append(wmcc.measures.MEASURES[name](t, guess, sample_weight=np.array(found.design.weights)))
        mean, se = one.mean[start], one.se[start]
        assert np.allclose(sorted(values), [mean - se, mean + se], rtol=0, atol=1e-12)


def times(bars: Bars) -> None:
    """Time both figures, and a version a thousand times as large."""
    right(10, **LARGE)

    seconds = timed(both, 5)
    with tempfile.TemporaryDirectory() as folder:
        whole = median(timed(lambda: reproduced(folder, 3), 3))
    note = f"{spread(seconds)}; {whole:.1f} s with verdicts, pictures and files"
    bars.add("both figures, computed", median(seconds), 3, "s", False, note)
    seconds = timed_once(lambda: separation(10, **LARGE))
    what = "N = 15,000, K = 10, all 10,001 starts, 1,000 repetitions, three p, three measures, with and without weights"
    bars.add(what, median(seconds), 60, "s", False, "6e7 tables")


def both(**options) -> tuple[Separation, Separation]:
    return separation(**options), separation(3, **options)


def variants() -> str:
    """Return what becomes of the verdicts under all that the paper leaves open, and with other seeds."""
    ways = list(product(MATCHES, MISMATCHES, TRUTHS))
    varied = {way: both(**dict(zip(("matches", "mismatch", "truth"), way, strict=True))) for way in ways}
    seeded = [both(seed=seed) for seed in range(SEEDS)]
    found, seeds, rows = {way: verdicts(*x) for way, x in varied.items()}, [verdicts(*x) for x in seeded], []
    for k, default in enumerate(found[ways[0]]):
        others = {way: x[k].verdict for way, x in found.items() if x[k].verdict != default.verdict}
        counts = [_counted([x[k] for x in group]) for group in (found.values(), seeds)]
        rows.append([default.figure, f"“{default.sentence}”", default.verdict, *counts, _listed(others)])
        print(*rows[-1], sep=" | ", flush=True)
    head = ["figure", "the paper", "verdict", f"in {len(ways)} variants", f"with {SEEDS} seeds", "variants that differ"]
    ranges = "; ".join(
        f"{what} {min(own):.4f} to {max(own):.4f}"
        for what, own in {
            "mismatches uniform or next": [_apart(x[1]) for way, x in varied.items() if way[1] != "lowest"],
            "mismatches lowest": [_apart(x[1]) for way, x in varied.items() if way[1] == "lowest"],
            f"{SEEDS} seeds": [_apart(x[1]) for x in seeded],
        }.items()
    )
    return f"{table(head, rows, texts=6)}\n\nLargest difference between the means of WECC, WMPC1 and WMPC2: {ranges}."


def _apart(found: Separation) -> float:
    traces = [[found.trace(p, name).mean for name in found.design.measures] for p in found.design.p]
    return float(np.ptp(traces, axis=1).max())


def _counted(judged: list[Verdict]) -> str:
    counts = Counter(x.verdict for x in judged)
    return "all" if len(counts) == 1 else ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common())


def _listed(others: dict[tuple[str, ...], str]) -> str:
    """Variants that differ; those of one choice, whatever the others are, together."""
    texts = []
    for place, (name, values) in enumerate((("matches", MATCHES), ("mismatch", MISMATCHES), ("truth", TRUTHS))):
        for value in values:
            own = {way: x for way, x in others.items() if way[place] == value}
            if len(own) == 9 and len(set(own.values())) == 1:
                texts.append(f"{name} {value}: {next(iter(own.values()))}")
                others = {way: x for way, x in others.items() if way not in own}
    return "; ".join([*texts, *(f"{', '.join(way)}: {x}" for way, x in others.items())]) or "none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put figures, verdicts and times into docs/")
    write, bars = parser.parse_args().write, Bars()
    times(bars)
    open_choices = variants()
    if write:
        write_section("experiments", bars.markdown())
        write_section("variants", open_choices, "understand/experiments.md")
        write_section("verdicts", verdicts_markdown(reproduced(str(FOLDER), 3)), "understand/experiments.md")
        print(f"{len(NAMES)} files in {FOLDER}")


if __name__ == "__main__":
    main()
