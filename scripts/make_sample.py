"""Write the sample that ships with wmcc: src/wmcc/data/parcels.csv.

Parcels of three classes in three regions, most of them small and a few very large, as maps are. The classifier errs
on small parcels more often than on large ones, and more in the mountains than elsewhere; so weighted and plain scores
differ, and regions do too. Two more classifiers are there to be ranked: one errs least often, but on large parcels
too, the other most often, but on small ones. Two models say how probable it is that a parcel is forest; one of them
knows large parcels better. The file is kept under version control: run this only to change it.
"""

import csv
from pathlib import Path

import numpy as np

PARCELS, SEED = 360, 2026
CLASSES, SHARES = ["field", "forest", "water"], [0.5, 0.35, 0.15]
REGIONS, ERRORS = ["coast", "mountains", "plain"], [0.15, 0.3, 0.1]
OTHERS = {"pred_b": (0.12, 0.0), "pred_c": (0.25, 0.8)}
"""Share of errors of the other classifiers, and how much rarer they are on large parcels."""
MODELS = {"prob": (1.0, 0.5), "prob_b": (1.6, 0.0)}
"""How well models tell forest from the rest, and how much better they do on large parcels."""


def main() -> None:
    """Make the parcels and write them."""
    rng = np.random.default_rng(SEED)
    label = rng.choice(3, PARCELS, p=SHARES)
    region = rng.choice(3, PARCELS)
    area = np.round(rng.lognormal(1.0, 1.5, PARCELS), 2) + 0.01
    difficulty = -0.6 * np.log(area) + rng.gumbel(0, 1, PARCELS)
    pred = label.copy()
    for k, share in enumerate(ERRORS):
        rows = np.flatnonzero(region == k)
        wrong = rows[np.argsort(-difficulty[rows])[: round(share * len(rows))]]
        pred[wrong] = (label[wrong] + rng.choice([1, 2], len(wrong), p=[0.7, 0.3])) % 3
    others = []
    for share, slope in OTHERS.values():
        difficulty = -slope * np.log(area) + rng.gumbel(0, 1, PARCELS)
        wrong = np.argsort(-difficulty)[: round(share * PARCELS)]
        others.append(label.copy())
        others[-1][wrong] = (label[wrong] + rng.choice([1, 2], len(wrong), p=[0.7, 0.3])) % 3
    probabilities = []
    for known, slope in MODELS.values():
        evidence = (known + slope * np.log(area)) * np.where(label == CLASSES.index("forest"), 1, -1)
        probabilities.append(1 / (1 + np.exp(-evidence - rng.normal(0, 2, PARCELS))))
    path = Path(__file__).parent.parent / "src" / "wmcc" / "data" / "parcels.csv"
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["id", "label", "pred", *OTHERS, "area", "region", *MODELS])
        for i in range(PARCELS):
            labels = [CLASSES[column[i]] for column in (label, pred, *others)]
            out.writerow(
                [i + 1, *labels, f"{area[i]:.2f}", REGIONS[region[i]], *(f"{p[i]:.2f}" for p in probabilities)]
            )


if __name__ == "__main__":
    main()
