"""The paper's bounds as printed, what PyPI's weighted-mcc 0.1.0 makes of them, and how far the measures really move.

``scripts/errata`` runs it beside the package; ``--write`` puts the tables into docs/understand/errata.md.
"""

from __future__ import annotations

import argparse
import math
import textwrap
import warnings

import numpy as np
from common import write_section
from weighted_mcc import calculate_binary_stability_bound as binary_bound
from weighted_mcc import calculate_multiclass_stability_bound as multiclass_bound
from weighted_mcc import weighted_mcc

import wmcc
import wmcc.measures
from wmcc import published

MULTICLASS = ("ecc", "mpc1", "mpc2")
RIGHT = np.array([1, 1, 1, 1, 0, 0, 0, 0]), np.array([1, 1, 1, 0, 1, 0, 0, 0])  # MCC 0.5
NINE = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)  # an observation in each cell
HUNDRED = np.repeat([1, 0], 50), np.tile([1] * 9 + [0], 5).tolist() + np.tile([0] * 9 + [1], 5).tolist()


def parcels():
    """The rows of docs/understand/errata.md."""
    i = np.arange(150)
    t = i % 3
    return t, np.where(i * 11 % 17 < 12, t, (t + 1 + i // 3 % 2) % 3), 1 + (i * 37 % 150) / 150


def moved(measure, t, c, S, eps):
    """Largest change when each weight moves by 0.99 ε along the gradient, up or down: attained, not only bounded."""
    table = wmcc.tabulate(t, c, S)
    way = 0.99 * eps * np.sign(measure.gradient(table))[t, c]
    return max(abs(measure(t, c, S + W) - measure(table)) for W in (way, -way))


def compared(name, t, c, S, eps):
    """Value, printed bound, the package's bound, and a change that is attained."""
    t, c, S = np.asarray(t), np.asarray(c), np.asarray(S, dtype=np.float64)
    measure, table = wmcc.measures.MEASURES[name], wmcc.tabulate(t, c, S)
    if name == "mcc":
        printed, package = published.binary(table, eps), binary_bound(t, c, S, eps)
    else:
        hot = np.eye(len(table.labels), dtype=int)
        printed, package = (
            published.multiclass(table, name, eps),
            multiclass_bound(hot[t], hot[c], S, eps, name.upper()),
        )
    assert all(met for _, met in printed.preconditions)
    assert math.isclose(abs(printed.bound), package, rel_tol=1e-9, abs_tol=1e-15), (printed, package)
    return measure(table), printed.bound, float(package), moved(measure, t, c, S, eps)


def number(x: float) -> str:
    return "0" if x == 0 else f"{x:,.0f}" if abs(x) >= 1e4 else f"{x:.4g}" if abs(x) >= 1e-3 else f"{x:.1e}"


def beside() -> str:
    """One line per example."""
    t, c = RIGHT
    cases = [
        ("t = 1100, c = 1010, weights 1", "mcc", [1, 1, 0, 0], [1, 0, 1, 0], np.ones(4), 0.01),
        ("3 of 4 right in both classes, weights 1 m²", "mcc", t, c, np.ones(8), 0.1),
        ("the same, weights 10⁻⁶ km²", "mcc", t, c, np.full(8, 1e-6), 1e-7),
        ("3 of 4 wrong in both classes, weights 1", "mcc", t, 1 - c, np.ones(8), 0.1),
        ("45 of 50 right in both classes, weights 1", "mcc", *HUNDRED, np.ones(100), 1e-3),
        *(("nine observations, one per cell, weights 1", name, *NINE, np.ones(9), 0.01) for name in MULTICLASS),
        *(("150 observations, weights from 1 to 2", name, *parcels(), 1e-4) for name in MULTICLASS),
    ]
    lines = [
        "| data | measure | ε | value | printed bound | `weighted-mcc` 0.1.0 | change attained |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for what, name, *case in cases:
        figures = (case[-1], *compared(name, *case))
        lines.append(f"| {what} | {name.upper()} | " + " | ".join(number(x) for x in figures) + " |")
    return "\n".join(lines)


def random_tables(count: int = 100, eps: float = 1e-4) -> str:
    """How many times the printed bound the measures move, over random data."""
    times: dict[str, list[float]] = {name: [] for name in MULTICLASS}
    for seed in range(count):
        rng = np.random.default_rng(seed)
        t, other = rng.integers(0, 3, (2, 150))
        c, S = np.where(rng.random(150) < 0.7, t, other), rng.uniform(1, 2, 150)
        for name in MULTICLASS:
            _, bound, _, change = compared(name, t, c, S, eps)
            times[name].append(change / bound)
    said = ", ".join(f"{min(x):,.0f} to {max(x):,.0f} ({name.upper()})" for name, x in times.items())
    return textwrap.fill(
        f"Over {count} random data sets of that kind (N = 150, K = 3, labels right seven times in ten or by chance, "
        f"weights uniform in [1, 2], ε = 10⁻⁴) the change is larger than the printed bound by factors of {said}.",
        width=124,
    )


def integers() -> str:
    """What the package makes of integer weights."""
    lines = [
        "| weight of each observation | MCC, as floats | as integers | bound at ε = 0.1, as floats | as integers |",
        "|---:|---:|---:|---:|---:|",
    ]
    t, c = RIGHT
    for weight in (10_000, 14_000, 16_384, 20_000, 30_000):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            figures = [
                f(t, c, np.full(8, weight, dtype=kind), *more)
                for f, more in ((weighted_mcc, ()), (binary_bound, (0.1,)))
                for kind in (np.float64, np.int64)
            ]
        lines.append(f"| {weight:,} | " + " | ".join(f"{x:.4g}" for x in figures) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    sections = {"beside": f"{beside()}\n\n{random_tables()}", "integers": integers()}
    for name, text in sections.items():
        print(text, end="\n\n")
        if arguments.write:
            write_section(name, text, "understand/errata.md")


if __name__ == "__main__":
    main()
