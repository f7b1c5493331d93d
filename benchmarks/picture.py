"""Draw docs/demo.png, the picture of the README: ``python benchmarks/picture.py``."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np

import wmcc
from wmcc.demo import make_map

RIGHT, WRONG = "#9fc8e0", "#d55e00"  # distinguishable without colour vision, and in print


def main() -> None:
    """Draw both maps."""
    plt.rcParams.update({"font.size": 11})
    data = make_map()
    rng = np.random.default_rng(1)
    x, y = rng.random((2, len(data.area)))
    order = np.argsort(-data.area)  # small parcels on top of large ones
    figure, axes = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained")
    for axis, name, pred in zip(axes, "AB", (data.careless_with_small, data.careless_with_large), strict=True):
        wrong = (pred != data.truth)[order]
        axis.scatter(
            x[order],
            y[order],
            s=data.area[order] * 2.2,
            c=np.where(wrong, WRONG, RIGHT),
            linewidths=0.3,
            edgecolors="white",
        )
        plain, weighted = wmcc.mcc(data.truth, pred), wmcc.mcc(data.truth, pred, data.area)
        axis.set_title(f"Classifier {name}\nMCC {plain:.2f}     weighted by area {weighted:.2f}")
        axis.set(xticks=[], yticks=[], xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    figure.supxlabel(
        f"{len(data.area):,} parcels, drawn by area: {wrong.sum()} wrong on either map (orange)", fontsize=11
    )
    figure.savefig(Path(__file__).parent.parent / "docs" / "demo.png", dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main()
