"""The cost of a design: strata, clusters and replicate weights beside a plain weighted table.

``--write`` puts the figures into docs/benchmarks.md.

``--rows 1e6`` is quicker; 1e7 rows of 80 replicate weights are 6.4 GB as float64.
"""

from __future__ import annotations

import argparse

import numpy as np
from common import Bars, data, floor, median, spread, timed, write_section

import wmcc

COLUMNS = 80


def replicate_weights(w: np.ndarray, dtype: str, order: str) -> np.ndarray:
    """Half-sample replicates of a weight, as in balanced repeated replication: each is 0 or 2 w."""
    signs = np.random.default_rng(1).integers(0, 1 << 32, len(w), dtype=np.uint32)
    out = np.empty((len(w), COLUMNS), dtype=dtype, order=order)
    for k in range(COLUMNS):
        out[:, k] = 2 * w * ((signs * np.uint32(2654435761) >> np.uint32(k % 29)) & 1)
    return out


def strata(bars: Bars, rows: int, classes: int = 5) -> None:
    """Time strata, and clusters in them, over the same table without: integers in arrays, and a frame of them."""
    import pandas as pd

    t, p, w = data(rows, classes)
    rng = np.random.default_rng(2)
    stratum, cluster = rng.integers(0, 8, rows), rng.integers(0, 200, rows)
    scenes = np.sort(cluster)  # as files have them, one scene after the other
    frame = pd.DataFrame({"t": t, "p": p, "w": w, "stratum": stratum, "scene": scenes})
    columns = {"true": "t", "pred": "p", "weight": "w"}
    designs = {
        "8 strata": {"design": wmcc.Strata(stratum)},
        "8 strata, 200 clusters in each, rows in any order": {"design": wmcc.Strata(stratum), "cluster": cluster},
        "8 strata, 200 clusters in each, one after the other": {"design": wmcc.Strata(stratum), "cluster": scenes},
    }
    plain = wmcc.tabulate(t, p, w)
    alone = timed(lambda: wmcc.tabulate(t, p, w))
    for name, design in designs.items():
        assert wmcc.tabulate(t, p, w, **design).cells == plain.cells
        own = timed(lambda design=design: wmcc.tabulate(t, p, w, **design))
        note = f"{median(own) * 1e3:.0f} ms, plain {median(alone) * 1e3:.0f} ms; spread {spread(own)}"
        bars.add(f"{name}, arrays, over a plain table", median(own) / median(alone), 2, "times", False, note)
    alone = timed(lambda: wmcc.tabulate(frame, **columns))
    design = {"design": wmcc.Strata("stratum"), "cluster": "scene"}
    own = timed(lambda: wmcc.tabulate(frame, **columns, **design))
    note = f"{median(own) * 1e3:.0f} ms, plain {median(alone) * 1e3:.0f} ms; spread {spread(own)}"
    bars.add(
        "8 strata, 200 clusters in each, pandas, over a plain table",
        median(own) / median(alone),
        2,
        "times",
        False,
        note,
    )


def replicates(bars: Bars, rows: int, classes: int = 10) -> None:
    """Time 80 columns of replicate weights over one weight alone, and over doing nothing but read all columns."""
    t, p, w = data(rows, classes)
    alone = timed(lambda: wmcc.tabulate(t, p, w))
    for dtype, order in (("f8", "F"), ("f8", "C"), ("f4", "F"), ("f4", "C")):
        weights = replicate_weights(w, dtype, order)
        table = wmcc.tabulate(t, p, w, design=wmcc.Replicates(weights, "brr"))
        for k in (0, COLUMNS - 1):
            assert table.cells.sums.replicates[k] == wmcc.tabulate(t, p, weights[:, k]).cells.sums.w_exact
        own = timed(lambda weights=weights: wmcc.tabulate(t, p, w, design=wmcc.Replicates(weights, "brr")), 5)
        flat = weights.reshape(-1, order=order)
        read = timed(floor((t, p, w, flat)), 5)
        name = f"{COLUMNS} replicate weights, {'float64' if dtype == 'f8' else 'float32'}, " + (
            "a column after the other" if order == "F" else "a row after the other"
        )
        note = f"{median(own) * 1e3:,.0f} ms, one weight {median(alone) * 1e3:.1f} ms; spread {spread(own)}"
        bars.add(f"{name}, over one weight", median(own) / median(alone), 8, "times", False, note)
        bars.add(
            f"{name}, over reading them",
            median(own) / median(read),
            2,
            "times",
            False,
            f"reading {median(read) * 1e3:,.0f} ms, itself {median(read) / median(alone):.1f} times one weight",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--write", action="store_true", help="put the figures into docs/benchmarks.md")
    arguments = parser.parse_args()
    bars = Bars()
    strata(bars, int(arguments.rows))
    replicates(bars, int(arguments.rows))
    print(bars.markdown())
    if arguments.write:
        write_section("designs", bars.markdown())


if __name__ == "__main__":
    main()
