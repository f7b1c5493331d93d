"""Draw docs/demo.png, the picture of the README: ``python benchmarks/picture.py``."""

from __future__ import annotations

from math import ceil, floor
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch
from parcels import parcels
from PIL import Image

import wmcc
from wmcc.demo import Map, make_map
from wmcc.inference.comparison import probability
from wmcc.plot._style import BLUE, GREY, SKY

LAND = {"farmland": "#f1e8c9", "forest": "#b3ceae"}
WRONG = "#96201a"  # far darker than the land: seen without colour vision, and in print
EPS = 0.2
SIZE = (10, 8.7)
BOLD: dict[str, Any] = {"fontsize": 14, "fontweight": "bold"}
KEY: dict[str, Any] = {"frameon": False, "handlelength": 1.2, "columnspacing": 2.5}
PLACE = Path(__file__).parent.parent / "docs" / "demo.png"


def draw_map(ax: Any, land: Map, name: str, said: Any) -> None:
    """Draw the land with the parcels that a classifier gets wrong, and its scores above."""
    wrong = said != land.truth
    colours = np.where(wrong, WRONG, np.vectorize(LAND.get)(land.truth))
    polygons = parcels(land)
    ax.add_collection(PolyCollection(polygons, facecolors=colours, edgecolors="white", linewidths=0.25))
    side = np.concatenate(polygons).max()
    ax.set(xlim=(0, side), ylim=(0, side), aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    share = 1 - wmcc.accuracy(land.truth, said, sample_weight=land.area)
    plain, weighted = wmcc.mcc(land.truth, said), wmcc.mcc(land.truth, said, sample_weight=land.area)
    for text, x, y, look in (
        (f"Classifier {name}", 0, 1.08, BOLD),
        (f"weighted MCC {weighted:.2f}", 1, 1.08, BOLD),
        (f"{wrong.sum()} parcels wrong, {100 * share:.0f} % of the land", 0, 1.025, {}),
        (f"plain MCC {plain:.2f}", 1, 1.025, {}),
    ):
        ax.text(x, y, text, ha="right" if x else "left", transform=ax.transAxes, **look)


def draw_uncertainties(ax: Any, land: Map, classifiers: dict[str, Any]) -> list[str]:
    """Draw how far each weighted score may be off, by its rows and by its weights; return what to know of them."""
    notes: dict[str, list[str]] = {}
    for y, (name, said) in enumerate(classifiers.items()):
        table = wmcc.tabulate(land.truth, said, land.area)
        rows, weights = wmcc.interval(table, "mcc"), wmcc.certify(table, "mcc", eps=EPS)
        for at, span, colour in ((y - 0.19, rows, BLUE), (y + 0.19, weights, SKY)):
            ax.barh(at, span.high - span.low, 0.32, span.low, color=colour)
            star = " *" * (span is rows and bool(rows.warnings))
            # Rounded outwards: what is proved is not narrower.
            text = f"{floor(100 * span.low) / 100:.2f} to {ceil(100 * span.high) / 100:.2f}{star}".replace("-", "−")
            x, side = (span.low - 0.01, "right") if span.low > 0.5 else (span.high + 0.01, "left")
            ax.text(x, at, text, ha=side, va="center")
        ax.plot([rows.value] * 2, [y - 0.4, y + 0.4], color="black", lw=2.5)
        ax.text(-0.14, y, name, ha="right", va="center", **BOLD)
        for why in rows.warnings:
            notes.setdefault(why, []).append(name)
    plain = wmcc.mcc(land.truth, said)
    ax.axvline(plain, color=GREY, ls="--", lw=1.2)
    ax.text(plain + 0.01, 1, f"plain MCC of both, {plain:.2f}", va="center")
    keys = {
        BLUE: "sampling error: 95 % interval",
        SKY: f"if weights are off by up to {100 * EPS:.0f} %: proved range",
    }
    handles = [Patch(color=colour, label=text) for colour, text in keys.items()]
    ax.legend(handles=handles, ncols=2, loc="lower left", bbox_to_anchor=(-0.048, 1.0), **KEY)
    ax.set(xlim=(-0.12, 1), ylim=(1.5, -0.5), yticks=[], xlabel="MCC")
    ax.spines[["left", "right", "top"]].set_visible(False)
    return [f"* {' and '.join(names)}: {why}" for why, names in notes.items()]


def verdict(land: Map, classifiers: dict[str, Any]) -> str:
    """Say what holds against other weights, and against chance."""
    joint = wmcc.tabulate(land.truth, classifiers, land.area)
    ranking, compared = wmcc.certify_ranking(joint, "mcc"), wmcc.compare(joint, "mcc")
    assert ranking.winner == compared.winner
    off = floor(1000 * ranking.radius.safe) / 10  # not rounded up: beyond it nothing is proved
    return f"{ranking.verdict} for any weights off by up to {off} %; {probability(compared.p_value)}"


def main() -> None:
    """Draw both maps, and what is known of their scores."""
    plt.rcParams.update({"font.size": 10.5})
    land = make_map()
    classifiers = {"A": land.careless_with_small, "B": land.careless_with_large}
    figure = plt.figure(figsize=SIZE)
    for x, (name, said) in zip((0.015, 0.515), classifiers.items(), strict=True):
        draw_map(figure.add_axes((x, 0.372, 0.47, 0.47 * SIZE[0] / SIZE[1])), land, name, said)
    key = [Patch(color=colour, label=name) for name, colour in (*LAND.items(), ("wrong", WRONG))]
    figure.legend(handles=key, loc="center", bbox_to_anchor=(0.5, 0.35), ncols=3, **KEY)
    figure.text(0.015, 0.303, verdict(land, classifiers), **BOLD)
    notes = draw_uncertainties(figure.add_axes((0.05, 0.105, 0.935, 0.15)), land, classifiers)
    figure.text(0.015, 0.012, "\n".join(notes), fontsize=9)
    figure.savefig(PLACE, dpi=150, metadata={"Software": None})
    Image.open(PLACE).convert("RGB").quantize(96).save(PLACE, optimize=True)  # a third of the bytes


if __name__ == "__main__":
    main()
