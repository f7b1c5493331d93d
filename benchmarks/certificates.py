"""How tight certificates are, and how fast: docs/contributing/tightness.md.

``--write`` puts the tables into the page; ``--only grid``, ``--only binary`` or ``--only speed`` measures one part.
Every certificate is held against its own witness and against tables drawn from its box before it counts.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from typing import NamedTuple

import numpy as np
from common import Bars, data, median, processors, timed, write_section

import wmcc

MEASURES = wmcc.ecc, wmcc.mpc1, wmcc.mpc2
LEVELS = 0.05, 0.3, 0.6, 0.9, 0.97
STEPS = 0.01, 0.1, 0.3
SIZES = 3, 5, 10, 20
BARS = {
    (0.01, 3): 1.0, (0.01, 5): 1.0, (0.01, 10): 1.0, (0.01, 20): 1.0,
    (0.1, 3): 0.98, (0.1, 5): 0.98, (0.1, 10): 0.98, (0.1, 20): 0.9,
    (0.3, 3): 0.9, (0.3, 5): 0.9, (0.3, 10): 0.75,
}  # fmt: skip
"""Tightness that was asked for, by ε and K."""

ROUNDING = 1e-9
"""Tightness that a bound may lose by outward rounding alone, over ranges as narrow as these."""

CORNERS = 8
"""Tables drawn from each box, to hold its certificate against."""


# ---- tables -----------------------------------------------------------------------------------------


def table_of(cells: np.ndarray) -> wmcc.Table:
    """Table of one observation per cell that is not empty; certificates of relative ε look at the sums alone."""
    return wmcc.Table.from_cells(range(len(cells)), (cells > 0).astype(int), cells, cells**2, cells, cells)


def random_table(classes: int, level: float, seed: int) -> wmcc.Table:
    """Table whose ECC is ``level``: labels right with some probability and else drawn from the classes at random.

    Class sizes are uniform over all that are possible (a flat Dirichlet distribution), cells weigh e^(z/2) with z
    normal, and of the wrong cells one in twenty is empty. The probability is found by bisection.
    """
    rng = np.random.default_rng([classes, round(1000 * level), seed])
    right = np.eye(classes)
    while True:
        sizes = rng.dirichlet(np.ones(classes))
        weights = rng.lognormal(0.0, 0.5, (classes, classes))
        weights *= (rng.random((classes, classes)) >= 0.05) | (right > 0)
        low, high = 0.0, 1.0
        for _ in range(30):
            p = (low + high) / 2
            table = table_of(sizes[:, np.newaxis] * (p * right + (1 - p) * sizes) * weights)
            low, high = (p, high) if wmcc.ecc(table) < level else (low, p)
        if abs(wmcc.ecc(table) - level) < 0.001:  # else the weights alone make it higher: draw another
            return table


def checked(table: wmcc.Table, measure, eps: float) -> tuple[wmcc.results.Certificate, float]:
    """Certify, and return the seconds it took; hold the answer against its witnesses and against drawn tables."""
    start = time.perf_counter()
    certificate = wmcc.certify(table, measure, eps=eps)
    seconds = time.perf_counter() - start
    assert certificate.low <= certificate.value <= certificate.high
    for end in (certificate.lower, certificate.upper):
        assert certificate.low <= end.attained <= certificate.high
        assert abs(measure(table_of(end.cells)) - end.attained) < 1e-12
    rng = np.random.default_rng(0)
    for _ in range(CORNERS):
        value = measure(table_of(table.w * (1 + eps * rng.choice([-1.0, 1.0], table.w.shape))))
        assert certificate.low - 1e-12 <= value <= certificate.high + 1e-12
    return certificate, seconds


# ---- tightness --------------------------------------------------------------------------------------


class Cell(NamedTuple):
    """Of all certificates of a kind: the tightness of each end, whether it is exact, and seconds."""

    tightness: list[float]
    exact: list[bool]
    seconds: list[float]


def tightness(certificate: wmcc.results.Certificate, end: wmcc.End) -> float:
    """(attained − value) / (bound − value): the share of the certified way that some weights really go."""
    if end.exact or end.bound == certificate.value:
        return 1.0
    return (end.attained - certificate.value) / (end.bound - certificate.value)


def measure_cell(measure, tables: list[wmcc.Table], eps: float) -> Cell:
    cell = Cell([], [], [])
    for table in tables:
        certificate, seconds = checked(table, measure, eps)
        cell.seconds.append(seconds)
        for end in (certificate.lower, certificate.upper):
            cell.tightness.append(tightness(certificate, end))
            cell.exact.append(end.exact)
    return cell


def figure(x: float) -> str:
    """Three decimals, rounded down: 1 is said of 1 alone, up to what the rounding of a bound may cost."""
    return "1" if x >= 1 - ROUNDING else f"{math.floor(x * 1000) / 1000:.3f}"


def percent(met: list[bool]) -> str:
    """Share of cases, rounded down."""
    return f"{math.floor(1000 * sum(met) / len(met)) / 10:g} %"


def against(x: float, bar: float | None) -> str:
    return f"**{figure(x)}**" if bar is not None and x < bar - ROUNDING else figure(x)


def grid(most: int, count: int) -> str:
    """Measure all kinds of tables, and return the text about them."""
    cells = {}
    for classes in (K for K in SIZES if most >= K):
        for level in LEVELS:
            tables = [random_table(classes, level, seed) for seed in range(count)]
            for eps, measure in itertools.product(STEPS, MEASURES):
                cell = cells[measure.name, classes, eps, level] = measure_cell(measure, tables, eps)
                worst = int(np.argmin(cell.tightness))
                print(
                    f"{measure.name:4} K = {classes:2} ±{eps:<4.0%} level {level:<4}: "
                    f"{figure(median(cell.tightness))} / {figure(min(cell.tightness))} "
                    f"(seed {worst // 2}, {'upper' if worst % 2 else 'lower'}), exact {np.mean(cell.exact):.0%}, "
                    f"{median(cell.seconds):.3f} / {max(cell.seconds):.3f} s",
                    flush=True,
                )
    parts = [tightness_table(cells, measure) for measure in MEASURES]
    return "\n\n".join([*parts, verdict(cells), seconds_table(cells)])


def tightness_table(cells: dict, measure) -> str:
    head = [f"score {level:g}" for level in LEVELS]
    lines = [
        f"{measure.title}, median / worst:",
        "",
        f"| K | ε | {' | '.join(head)} | exact ends | bar |",
        "|---:|---:|" + "---:|" * (len(head) + 2),
    ]
    for classes, eps in sorted({(key[1], key[2]) for key in cells}):
        bar = BARS.get((eps, classes))
        row = [cells[measure.name, classes, eps, level] for level in LEVELS]
        figures = [f"{against(median(c.tightness), bar)} / {against(min(c.tightness), bar)}" for c in row]
        exact = [x for c in row for x in c.exact]
        said = "" if bar is None else "1" if bar == 1 else f"≥ {bar:g}"
        lines.append(f"| {classes} | ±{eps:.0%} | {' | '.join(figures)} | {percent(exact)} | {said} |")
    return "\n".join(lines)


def verdict(cells: dict) -> str:
    """How many cells of the tables miss their bar, in the median and in the worst table."""
    barred = [(c, BARS[key[2], key[1]]) for key, c in cells.items() if (key[2], key[1]) in BARS]
    by_median = sum(median(c.tightness) < bar - ROUNDING for c, bar in barred)
    by_worst = sum(min(c.tightness) < bar - ROUNDING for c, bar in barred)
    ends = [x for c in cells.values() for x in c.exact]
    return (
        f"Of {len(barred)} entries with a bar the median misses it in {by_median} and the worst table in {by_worst} "
        f"(in bold); of {len(ends):,} ends {sum(ends):,} are exact ({percent(ends)})."
    )


def seconds_table(cells: dict) -> str:
    lines = [
        "Milliseconds per certificate (both ends), all scores together, median / worst:",
        "",
        f"| K | ε | {' | '.join(measure.title for measure in MEASURES)} |",
        "|---:|---:|" + "---:|" * len(MEASURES),
    ]
    for classes, eps in sorted({(key[1], key[2]) for key in cells}):
        figures = []
        for measure in MEASURES:
            seconds = [x for level in LEVELS for x in cells[measure.name, classes, eps, level].seconds]
            figures.append(f"{1e3 * median(seconds):,.3g} / {1e3 * max(seconds):,.0f}")
        lines.append(f"| {classes} | ±{eps:.0%} | {' | '.join(figures)} |")
    return "\n".join(lines)


def binary(count: int = 2000) -> str:
    """Two classes: every end exact and the best of the sixteen corners, for any table and ε."""
    rng = np.random.default_rng(0)
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=4))).reshape(-1, 2, 2)
    done = 0
    while done < count:
        cells = rng.lognormal(0.0, 3.0, (2, 2)) * (rng.random((2, 2)) >= 0.1)
        if not (cells.sum(0).all() and cells.sum(1).all()):
            continue
        eps = float(rng.choice([rng.random(), 10 ** rng.uniform(-9, 0)]))
        certificate = wmcc.certify(table_of(cells), (wmcc.mcc, *MEASURES)[done % 4], eps=eps)
        values = [wmcc.mcc(table_of(cells * (1 + eps * corner))) for corner in corners]
        assert certificate.exact
        assert abs(certificate.lower.attained - min(values)) < 1e-13
        assert abs(certificate.upper.attained - max(values)) < 1e-13
        done += 1
    text = (
        f"Two classes: 1, always, for MCC and the three that are MCC then. On {count:,} random tables (one cell in ten "
        "empty, weights over ten orders of magnitude, ε from 1e-9 to 1) both ends were exact, and the least and "
        "largest of all sixteen corners."
    )
    print(text)
    return text


# ---- speed ------------------------------------------------------------------------------------------


class Pace(NamedTuple):
    """Seconds of a certificate (median of each table's), and over one evaluation of the measure."""

    seconds: list[float]
    ratios: list[float]

    def note(self) -> str:
        """Say how it varies, and the ratio."""
        return f"{min(self.seconds) * 1e3:.3g}–{max(self.seconds) * 1e3:.3g} ms by table; {median(self.ratios):,.0f} x"


def pace(measure, tables: list[wmcc.Table], eps: float, repeat: int) -> Pace:
    """Time certificates beside evaluations of the measure on the same tables."""
    seconds, ratios = [], []
    for table in tables:
        checked(table, measure, eps)
        ours = median(timed(lambda table=table: wmcc.certify(table, measure, eps=eps), repeat))
        seconds.append(ours)
        ratios.append(ours / median(timed(lambda table=table: measure(table), 50)))
    return Pace(seconds, ratios)


def speed() -> str:
    bars = Bars()
    tables = {
        classes: [random_table(classes, level, seed) for level in LEVELS for seed in range(3 if classes < 50 else 1)]
        for classes in (2, 5, 10, 20, 50, 100)
    }
    found = pace(wmcc.mcc, tables[2], 0.1, 200)
    note = f"{found.note()} one evaluation of MCC"
    bars.add("MCC, two classes, ±10%", median(found.seconds) * 1e6, 50, "µs", False, note)
    growth = {(m.name, K): pace(m, tables[K], 0.01, 9) for K in (5, 10, 20, 50, 100) for m in MEASURES}
    wide = {m.name: pace(m, tables[10], 0.1, 3) for m in MEASURES}
    for m in MEASURES:
        for what, found, limit in (
            ("K = 10, ±1%", growth[m.name, 10], 5),
            ("K = 10, ±10%", wide[m.name], 1000),
            ("K = 100, ±1%", growth[m.name, 100], 200),
        ):
            note = f"{found.note()} one evaluation"
            bars.add(f"{m.title}, {what}", median(found.seconds) * 1e3, limit, "ms", False, note)
    lines = [
        "Growth at ±1%: milliseconds, and times one evaluation of the measure:",
        "",
        f"| K | {' | '.join(m.title for m in MEASURES)} |",
        "|---:|" + "---:|" * len(MEASURES),
    ]
    for K in (5, 10, 20, 50, 100):
        row = [growth[m.name, K] for m in MEASURES]
        lines.append(
            f"| {K} | " + " | ".join(f"{median(x.seconds) * 1e3:.3g} ({median(x.ratios):,.0f} x)" for x in row)
        )
        lines[-1] += " |"
    lines += ["", rows_do_not_matter(), "", f"Measured on {processors()} processors, NumPy {np.__version__}."]
    print("\n".join(lines))
    return bars.markdown() + "\n\n" + "\n".join(lines)


def rows_do_not_matter() -> str:
    """The same cells from a thousand rows and from ten million: certificates read the table alone."""
    t, p, w = data(1000, 10)
    few, many = wmcc.tabulate(t, p, w), wmcc.tabulate(*(np.tile(x, 10_000) for x in (t, p, w)))
    said = []
    for m in MEASURES:
        ends = [checked(table, m, 0.1)[0] for table in (few, many)]
        assert abs(ends[0].low - ends[1].low) < 1e-9
        assert abs(ends[0].high - ends[1].high) < 1e-9
        both: list[list[float]] = [[], []]
        for _ in range(5):  # in turns, since the machine's speed drifts
            for seconds, table in zip(both, (few, many), strict=True):
                seconds += timed(lambda table=table, m=m: wmcc.certify(table, m, eps=0.1), 3)
        few_ms, many_ms = (1e3 * median(x) for x in both)
        said.append(f"{m.title} {few_ms:.3g} and {many_ms:.3g} ms ({many_ms / few_ms:.2f} x)")
    return f"Rows do not matter: K = 10, ±10%, N = 1,000 and ten thousand copies of them, N = 1e7: {', '.join(said)}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", choices=["grid", "binary", "speed"])
    parser.add_argument("--most", type=int, default=20, help="largest K of the grid")
    parser.add_argument("--count", type=int, default=50, help="tables per entry of the grid")
    arguments = parser.parse_args()
    parts = {
        "binary": binary,
        "speed": speed,
        "grid": lambda: grid(arguments.most, arguments.count),
    }
    for name, part in parts.items():
        if arguments.only in (None, name):
            text = part()
            if arguments.write:
                write_section(name, text, "contributing/tightness.md")
            elif name == "grid":
                print(text)


if __name__ == "__main__":
    main()
