"""Growth over N (1e3 … 1e8) and K (2 … 1000), beside peers and the memory floor.

``--write`` puts the tables and the picture into docs/; ``--most 1e7`` stops earlier.
"""

from __future__ import annotations

import argparse
import platform
from pathlib import Path

import numpy as np
from common import bincount, data, floor, median, processors, sklearn_mcc, timed, write_section

import wmcc

DOCS = Path(__file__).parent.parent / "docs"
COLUMNS = ["wmcc, 1 thread", "wmcc, 2 threads", "NumPy bincount", "scikit-learn", "memory floor, 2 threads"]


def measure(rows: int, classes: int, peers: bool) -> list[float | None]:
    """Nanoseconds per row of one call, in the order of COLUMNS; the answers are asserted first."""
    t, p, w = data(rows, classes)
    one = wmcc.tabulate(t, p, w, threads=1)
    assert one == wmcc.tabulate(t, p, w, threads=2)
    n, sums, _ = bincount(t, p, w, classes)
    assert np.array_equal(n.reshape(classes, classes), one.n)
    assert np.allclose(sums.reshape(classes, classes), one.w, rtol=1e-9)
    repeat = 9 if rows < 10**8 else 3
    times: list[float | None] = [
        median(timed(lambda k=k: wmcc.ecc(wmcc.tabulate(t, p, w, threads=k)), repeat)) for k in (1, min(2, rows))
    ]
    times.append(median(timed(lambda: bincount(t, p, w, classes), min(repeat, 5))))
    if peers:
        assert abs(wmcc.ecc(one) - sklearn_mcc(t, p, w)) < 1e-9
        times.append(median(timed(lambda: sklearn_mcc(t, p, w), 1 if rows > 10**6 else 5)))
    else:
        times.append(None)
    times.append(median(timed(floor((t, p, w)), repeat)))
    return [None if x is None else x / rows * 1e9 for x in times]


def table(head: str, results: dict[int, list[float | None]]) -> str:
    lines = [f"| {head} | " + " | ".join(COLUMNS) + " |", "|---:|" + "---:|" * len(COLUMNS)]
    for key, times in results.items():
        cells = ["—" if x is None else f"{x:,.2f}" if x < 100 else f"{x:,.0f}" for x in times]
        lines.append(f"| {key:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(by_rows: dict[int, list[float | None]], by_classes: dict[int, list[float | None]]) -> None:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    styles = ["o-", "s-", "^--", "v--", ":"]
    colours = ["#0072b2", "#56b4e9", "#e69f00", "#d55e00", "#666666"]
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained", sharey=True)
    for axis, results, label in zip(axes, (by_rows, by_classes), ("rows (K = 20)", "classes (N = 1e7)"), strict=True):
        for k, name in enumerate(COLUMNS):
            points = [(x, times[k]) for x, times in results.items() if times[k] is not None]
            axis.plot(*zip(*points, strict=True), styles[k], color=colours[k], label=name, markersize=4)
        axis.set(xscale="log", yscale="log", xlabel=label)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("nanoseconds per row")
    axes[0].legend(fontsize=8)
    figure.savefig(DOCS / "growth.png", dpi=100, metadata={"Software": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--most", type=float, default=1e8)
    arguments = parser.parse_args()
    by_rows, by_classes = {}, {}
    for rows in (10**k for k in range(3, 9) if 10**k <= arguments.most):
        by_rows[rows] = measure(rows, 20, peers=rows <= 10**7)
        print(f"N = {rows:,}: {by_rows[rows]}", flush=True)
    for classes in (2, 5, 20, 50, 200, 1000):
        by_classes[classes] = measure(min(10**7, int(arguments.most)), classes, peers=True)
        print(f"K = {classes}: {by_classes[classes]}", flush=True)
    text = f"{table('N (K = 20)', by_rows)}\n\n{table(f'K (N = {min(1e7, arguments.most):.0e})', by_classes)}"
    print(text)
    if arguments.write:
        machine = f"{processors()} processors, {platform.machine()}, NumPy {np.__version__}"
        picture = "![Nanoseconds per row over the numbers of rows and classes](growth.png)"
        write_section("growth", f"{text}\n\nMeasured on {machine}; medians of one run.\n\n{picture}")
        draw(by_rows, by_classes)


if __name__ == "__main__":
    main()
