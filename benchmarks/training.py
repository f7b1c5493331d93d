"""Train a small network with three losses on streets that are drawn here, and compare weighted scores on other streets.

``--write`` puts the figures into docs/understand/loss.md, and the picture beside it.

Pixels weigh by their distance to the nearest vehicle. Each loss first gets the learning rate that is best for it, on
seeds and images that the comparison does not use. A seed of the comparison draws the training images, the first
parameters of the network and the batches. All losses have the same ones for a seed, so they are compared seed by seed.
It takes some seven minutes on one core.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from common import write_section
from scipy import ndimage, stats
from torch import Tensor, nn

import wmcc
from wmcc.adapters.torch import CorrelationLoss
from wmcc.measures import recall

GROUND, ROAD, BUILDING, VEHICLE = range(4)
NAMES = ("ground", "road", "building", "vehicle")
VOID = 255
SIZE = 48
SCALE, FLOOR = 4.0, 0.02
"""A pixel weighs exp(−d / SCALE), and at least FLOOR."""

SEEDS, TUNING = 10, 2
RATES = (3e-3, 1e-2, 3e-2)
STEPS, BATCH = 400, 8
IMAGES, HELD_OUT = 200, 100
BASE = "weighted cross entropy"
"""What the other losses are compared with."""
PICTURE = Path(__file__).parent.parent / "docs" / "understand" / "loss-training.png"


# ---- streets --------------------------------------------------------------------------------------------


class Streets(NamedTuple):
    """Images (B, 3, H, W), true classes (B, H, W) with void pixels, and weights of the pixels."""

    images: Tensor
    truth: Tensor
    weight: Tensor


def street(rng: np.random.Generator, size: int = SIZE) -> tuple[np.ndarray, np.ndarray]:
    """Draw one image and its truth: a road or two, vehicles on them, buildings beside, and void pixels."""
    y, x = np.mgrid[:size, :size].astype(float)
    truth = np.full((size, size), GROUND)
    angles = rng.uniform(0, np.pi) + np.array([0.0, np.pi / 2])[: rng.integers(1, 3)]
    centre = rng.uniform(0.35, 0.65, 2) * size
    along = [np.cos(a) * (x - centre[0]) + np.sin(a) * (y - centre[1]) for a in angles]
    across = [np.cos(a) * (y - centre[1]) - np.sin(a) * (x - centre[0]) for a in angles]
    half = rng.uniform(0.08, 0.12) * size
    for _ in range(rng.integers(3, 7)):
        truth[rectangle(x, y, rng.uniform(0, size, 2), rng.uniform(0, np.pi), rng.uniform(3, 8, 2))] = BUILDING
    for side in across:
        truth[abs(side) < half] = ROAD
    for _ in range(rng.integers(0, 5)):
        road = rng.integers(len(angles))
        place, lane = rng.uniform(-0.45, 0.45) * size, rng.choice([-0.5, 0.5]) * half
        own = (abs(along[road] - place) < rng.uniform(2.0, 4.0)) & (abs(across[road] - lane) < rng.uniform(1.0, 1.8))
        truth[own & (truth == ROAD)] = VEHICLE
    colours = np.array([[0.38, 0.50, 0.34], [0.45, 0.45, 0.47], [0.55, 0.47, 0.42], [0.5, 0.5, 0.5]])
    image = colours[truth]
    vehicles, number = ndimage.label(truth == VEHICLE)
    for k in range(1, number + 1):  # vehicles have any colour
        image[vehicles == k] = rng.uniform(0.1, 0.9, 3)
    buildings, number = ndimage.label(truth == BUILDING)
    for k in range(1, number + 1):
        image[buildings == k] += rng.normal(0, 0.06, 3)
    image = ndimage.gaussian_filter(image, (0.7, 0.7, 0)) * rng.uniform(0.8, 1.2)
    shade = ndimage.gaussian_filter(rng.normal(0, 1, (size, size)), 6)
    image = image + 0.6 * shade[..., None] + rng.normal(0, 0.04, image.shape)
    truth[size - rng.integers(2, 6) :] = VOID  # the edge of the map, which nobody labelled
    truth[rectangle(x, y, rng.uniform(0, size, 2), rng.uniform(0, np.pi), rng.uniform(1, 5, 2))] = VOID
    return image.astype(np.float32), truth


def rectangle(x: np.ndarray, y: np.ndarray, centre: np.ndarray, angle: float, half: np.ndarray) -> np.ndarray:
    """Pixels of a rectangle that is turned by an angle."""
    u, v = x - centre[0], y - centre[1]
    c, s = np.cos(angle), np.sin(angle)
    return (abs(c * u + s * v) < half[0]) & (abs(c * v - s * u) < half[1])


def streets(number: int, seed: int) -> Streets:
    """Draw images with a seed, and weigh their pixels by the distance to the nearest vehicle."""
    rng = np.random.default_rng(seed)
    images, truths = zip(*(street(rng) for _ in range(number)), strict=True)
    truth = torch.from_numpy(np.stack(truths))
    weight = wmcc.weightmaps.distance(truth, to=VEHICLE, scale=SCALE, floor=FLOOR, ignore=VOID, ndim=2)
    return Streets(torch.from_numpy(np.stack(images)).movedim(-1, 1), truth, weight)


# ---- network and losses ---------------------------------------------------------------------------------


def block(into: int, out: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(into, out, 3, padding=1), nn.GroupNorm(4, out), nn.ReLU())


class SmallUNet(nn.Module):
    """A U-Net that halves the image twice; 15,000 parameters."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.first, self.second, self.third = block(3, width), block(width, 2 * width), block(2 * width, 4 * width)
        self.back, self.last = block(6 * width, 2 * width), block(3 * width, width)
        self.out = nn.Conv2d(width, len(NAMES), 1)

    def forward(self, image: Tensor) -> Tensor:
        """Return logits (B, classes, H, W)."""
        a = self.first(image)
        b = self.second(nn.functional.max_pool2d(a, 2))
        c = self.third(nn.functional.max_pool2d(b, 2))
        b = self.back(torch.cat([b, nn.functional.interpolate(c, scale_factor=2.0)], 1))
        return self.out(self.last(torch.cat([a, nn.functional.interpolate(b, scale_factor=2.0)], 1)))


Loss = Callable[[Tensor, Tensor, Tensor], Tensor]


def cross_entropy(logits: Tensor, truth: Tensor, weight: Tensor) -> Tensor:
    """Weighted mean of the cross entropy over the pixels that are not void."""
    each = nn.functional.cross_entropy(logits, truth, ignore_index=VOID, reduction="none")
    return (each * weight).sum() / (weight * (truth != VOID)).sum()


def plain_cross_entropy(logits: Tensor, truth: Tensor, weight: Tensor) -> Tensor:
    """Mean of the cross entropy: weights are not looked at."""
    return nn.functional.cross_entropy(logits, truth, ignore_index=VOID)


correlation = CorrelationLoss("ecc", ignore_index=VOID)


def both(logits: Tensor, truth: Tensor, weight: Tensor) -> Tensor:
    """Sum of the weighted cross entropy and the correlation loss."""
    return cross_entropy(logits, truth, weight) + correlation(logits, truth, weight)


LOSSES: dict[str, Loss] = {
    "cross entropy without weights": plain_cross_entropy,
    "weighted cross entropy": cross_entropy,
    "correlation loss": correlation,
    "sum of the two": both,
}


def trained(loss: Loss, data: Streets, seed: int, rate: float, steps: int = STEPS) -> SmallUNet:
    """Train a network that starts from a seed; batches are drawn with the same seed."""
    torch.manual_seed(seed)
    net = SmallUNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps)
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        chosen = torch.from_numpy(rng.choice(len(data.truth), BATCH, replace=False))
        optimizer.zero_grad()
        loss(net(data.images[chosen]), data.truth[chosen], data.weight[chosen]).backward()
        optimizer.step()
        schedule.step()
    return net


def predicted(net: nn.Module, images: Tensor) -> Tensor:
    with torch.no_grad():
        return net(images).argmax(1)


def scores(net: nn.Module, data: Streets) -> dict[str, float]:
    """Return scores over all pixels of some images."""
    pred, labels = predicted(net, data.images), range(len(NAMES))
    table = wmcc.tabulate(data.truth, pred, data.weight, labels=labels, ignore=VOID)
    plain = wmcc.tabulate(data.truth, pred, labels=labels, ignore=VOID)
    found = recall(table)[VEHICLE]
    return {"ecc": wmcc.ecc(table), "mean_iou": wmcc.mean_iou(table), "recall": found, "plain_ecc": wmcc.ecc(plain)}


# ---- the comparison -------------------------------------------------------------------------------------


def tuned(seeds: int) -> dict[str, dict[float, float]]:
    """Return the weighted ECC of each loss at each learning rate, the mean over some seeds."""
    checks, found = streets(HELD_OUT, seed=1), {name: dict.fromkeys(RATES, 0.0) for name in LOSSES}
    for seed in range(500, 500 + seeds):
        data = streets(IMAGES, seed)
        for name, loss in LOSSES.items():
            for rate in RATES:
                found[name][rate] += scores(trained(loss, data, seed, rate), checks)["ecc"] / seeds
        print(f"seed {seed} of learning rates", flush=True)
    return found


def best(of_rates: dict[float, float]) -> float:
    return max(of_rates, key=of_rates.__getitem__)


class Runs(NamedTuple):
    """Scores of each loss, a row per seed; and the networks of the last seed."""

    scores: dict[str, dict[str, np.ndarray]]
    nets: dict[str, SmallUNet]


def compared(rates: dict[str, float], held_out: Streets, seeds: int, steps: int = STEPS, images: int = IMAGES) -> Runs:
    """Train with each loss and each seed, and score all networks on the same images."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in rates}
    nets: dict[str, SmallUNet] = {}
    for seed in range(1000, 1000 + seeds):
        data = streets(images, seed)
        for name, rate in rates.items():
            nets[name] = trained(LOSSES[name], data, seed, rate, steps)
            found[name].append(scores(nets[name], held_out))
        print(f"seed {seed}", *(f"{name} {own[-1]['ecc']:.4f}" for name, own in found.items()), sep="  ", flush=True)
    columns = {name: {key: np.array([x[key] for x in own]) for key in own[0]} for name, own in found.items()}
    return Runs(columns, nets)


def paired(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """Mean difference over seeds, and its 95 % interval by Student's t."""
    difference = a - b
    half = stats.t.ppf(0.975, len(difference) - 1) * difference.std(ddof=1) / np.sqrt(len(difference))
    return difference.mean(), difference.mean() - half, difference.mean() + half


def markdown(rates: dict[str, dict[float, float]], runs: dict[str, dict[str, np.ndarray]]) -> str:
    """Return the figures as two tables."""
    head = ["loss", "weighted ECC", "least to most", "against weighted cross entropy", "better in"]
    head += ["weighted mean IoU", "recall of vehicles, least to most", "ECC without weights"]
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for name, own in runs.items():
        ecc, gain = own["ecc"], ["–", "–"]
        if name != BASE:
            mean, low, high = paired(ecc, runs[BASE]["ecc"])
            wins = int((ecc > runs[BASE]["ecc"]).sum())
            gain = [f"{mean:+.4f} ({low:+.4f} to {high:+.4f})", f"{wins} of {len(ecc)}"]
        others = [f"{own[key].mean():.3f} ± {own[key].std(ddof=1):.3f}" for key in ("mean_iou", "plain_ecc")]
        others.insert(1, f"{own['recall'].mean():.2f}, {own['recall'].min():.2f} to {own['recall'].max():.2f}")
        spread = [f"{ecc.mean():.4f} ± {ecc.std(ddof=1):.4f}", f"{ecc.min():.3f} to {ecc.max():.3f}"]
        lines.append(f"| {' | '.join([name, *spread, *gain, *others])} |")
    lines += ["", f"Weighted ECC at each learning rate, mean of {TUNING} seeds that the table above does not use:", ""]
    lines += [f"| loss | {' | '.join(f'{rate:g}' for rate in RATES)} |", f"|---|{'---:|' * len(RATES)}"]
    for name, of_rates in rates.items():
        row = [f"**{x:.3f}**" if rate == best(of_rates) else f"{x:.3f}" for rate, x in of_rates.items()]
        lines.append(f"| {name} | {' | '.join(row)} |")
    return "\n".join(lines)


def draw(data: Streets, nets: dict[str, SmallUNet], rows: int = 3) -> None:
    """Draw some images with vehicles: image, truth, weights, and what each network predicts."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch

    colours = ["#cfe3c0", "#8a8f99", "#b5794a", "#12357a"]
    palette = np.array([to_rgb(c) for c in colours])
    shown = [i for i in range(len(data.truth)) if (data.truth[i] == VEHICLE).sum() > 40][:rows]
    titles = ["image", "truth (white: void)", "weight", *nets]
    fig, axes = plt.subplots(rows, len(titles), figsize=(2.0 * len(titles), 2.0 * rows + 0.75), layout="constrained")
    for axis, i in zip(axes, shown, strict=True):
        truth = data.truth[i].numpy()
        known = truth != VOID
        axis[0].imshow(data.images[i].movedim(0, -1).clip(0, 1))
        axis[1].imshow(np.where(known[..., None], palette[np.where(known, truth, 0)], 1.0))
        axis[2].imshow(np.where(known, data.weight[i], np.nan), cmap="magma", vmin=0, vmax=1)
        for place, net in zip(axis[3:], nets.values(), strict=True):
            pred = predicted(net, data.images[i : i + 1])[0]
            place.imshow(np.where(known[..., None], palette[pred], 1.0))
            one = wmcc.tabulate(truth, pred, data.weight[i], labels=range(len(NAMES)), ignore=VOID)
            place.set_xlabel(f"ECC {wmcc.ecc(one):.3f}", fontsize=9)
    for axis, title in zip(axes[0], titles, strict=True):
        axis.set_title(
            title.replace("entropy without", "entropy\nwithout").replace("weighted cross", "weighted\ncross"),
            fontsize=9,
        )
    for axis in axes.flat:
        axis.set(xticks=[], yticks=[])
    keys = [Patch(facecolor=c, edgecolor="0.4", label=name) for c, name in zip(colours, NAMES, strict=True)]
    fig.legend(handles=keys, loc="outside lower center", ncols=len(keys), frameon=False, fontsize=9)
    fig.savefig(PICTURE, dpi=90, metadata={"Software": None})
    plt.close(fig)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--write", action="store_true", help="put figures and picture into docs/")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    start, held_out = time.perf_counter(), streets(HELD_OUT, seed=0)
    rates = tuned(TUNING)
    runs = compared({name: best(own) for name, own in rates.items()}, held_out, arguments.seeds)
    text = markdown(rates, runs.scores)
    print(text, f"{time.perf_counter() - start:.0f} s", sep="\n")
    if arguments.write:
        write_section("training", text, "understand/loss.md")
        draw(held_out, runs.nets)


if __name__ == "__main__":
    main()
