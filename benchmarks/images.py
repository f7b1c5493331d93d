"""Folders of images: the table of all pixels beside nothing but decoding the files, and the memory that it takes.

``--write`` puts the figures into docs/benchmarks.md.

``--images 100`` is quicker; 500 take a minute or two to be drawn, and 150 MB in the temporary folder.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from common import THREADS, Bars, median, spread, timed_once, write_section
from PIL import Image, ImageDraw

import wmcc

HEIGHT, WIDTH, CLASSES, VOID = 1024, 2048, 19, 255
FOLDERS = {"truth": "truth", "pred": "pred", "weights": "maps"}


def scene(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a street: areas and objects with outlines that are not straight, a prediction that is off, a weight map."""
    rng = np.random.default_rng(number)
    truth, pred = (Image.new("L", (WIDTH, HEIGHT), 0) for _ in range(2))
    for _ in range(60):
        label, size = int(rng.integers(CLASSES)), rng.lognormal(4.2, 0.8)
        turn = np.sort(rng.uniform(0, 2 * np.pi, 40))
        radius = size * rng.uniform(0.75, 1.25, 40)
        middle = rng.uniform(0, 1, 2) * (WIDTH, HEIGHT)
        for image, off in ((truth, 0.0), (pred, 3.0)):
            edge = middle + radius[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1) + off * rng.normal(size=2)
            drawn = label if off == 0 or rng.random() < 0.9 else int(rng.integers(CLASSES))
            ImageDraw.Draw(image).polygon([tuple(x) for x in edge], fill=drawn)
    ImageDraw.Draw(truth).ellipse([300, HEIGHT - 120, WIDTH - 300, HEIGHT + 200], fill=VOID)  # the own bonnet
    y, x = np.ogrid[:HEIGHT, :WIDTH]
    near = 1 + 999 * np.exp(-np.hypot(y - 700, x - rng.uniform(0, WIDTH)) / 200)
    return np.asarray(truth), np.asarray(pred), near.astype(np.uint16)


def put_images(root: Path, images: int) -> None:
    """Write the scenes as PNG files."""
    for folder in FOLDERS.values():
        (root / folder).mkdir()

    def put(number: int) -> None:
        for folder, array in zip(FOLDERS.values(), scene(number), strict=True):
            Image.fromarray(array).save(root / folder / f"{number:04d}.png")

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(put, range(images)))


def decode(paths: list[Path]) -> None:
    """Decode files, and do nothing with them."""

    def one(path: Path) -> int:
        with Image.open(path) as image:
            return int(np.asarray(image).size)

    with ThreadPoolExecutor(THREADS) as pool:
        assert sum(pool.map(one, paths)) == HEIGHT * WIDTH * len(paths)


def check(root: Path, weights: str | None) -> None:
    """Hold the table of some images to that of their pixels in memory."""
    few = "000*"
    names = sorted(path.stem for path in (root / "truth").glob(few + ".png"))
    arrays = [
        np.stack([np.asarray(Image.open(root / folder / f"{name}.png")) for name in names])
        for folder in FOLDERS.values()
    ]
    patterns = [f"{root / folder}/{few}.png" for folder in FOLDERS.values()]
    found = wmcc.tabulate(*patterns[: 3 if weights else 2], ignore=VOID)
    keys = [name.removeprefix("000") for name in names]
    assert found == wmcc.tabulate(*arrays[: 3 if weights else 2], ignore=VOID, cluster=keys)


def memory(root: Path, pattern: str) -> float:
    """Return the most memory, in MB, of a process that tabulates images and does nothing else."""
    code = (
        "import re, sys, wmcc\n"
        f"wmcc.tabulate(*(f'{{sys.argv[1]}}/{{x}}/{pattern}' for x in ('truth', 'pred', 'maps')), "
        f"ignore={VOID}, threads={THREADS})\n"
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) / 1e3)"
    )
    return float(subprocess.run([sys.executable, "-c", code, root], capture_output=True, text=True, check=True).stdout)


def folders(bars: Bars, images: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        put_images(root, images)
        for weights in (None, "weights"):
            check(root, weights)
            used = list(FOLDERS.values())[: 3 if weights else 2]
            paths = [path for folder in used for path in sorted((root / folder).iterdir())]
            given = [root / folder for folder in used]
            alone, own = [], []
            for _ in range(3):  # one after the other, so that what else the machine does disturbs both alike
                alone += timed_once(lambda paths=paths: decode(paths))
                own += timed_once(lambda given=given: wmcc.tabulate(*given, ignore=VOID, threads=THREADS))
            ratios = [a / b for a, b in zip(own, alone, strict=True)]
            what = "label maps and 16-bit weight maps" if weights else "label maps"
            note = f"{median(own):.2f} s, decoding {median(alone):.2f} s; spread {spread(ratios)}"
            bars.add(
                f"{images} images of {HEIGHT} × {WIDTH}, {what}, over decoding",
                median(ratios),
                2,
                "times",
                False,
                note,
            )
        few, all_of = memory(root, "000*.png"), memory(root, "*.png")
        pixels = images * HEIGHT * WIDTH * 4 / 1e9  # a byte for each label, and two for the weight
        note = f"{all_of:.0f} MB, of 10 images {few:.0f} MB; the pixels of all are {pixels:.1f} GB"
        bars.add(f"memory for {images} images, over that for 10", all_of / few, 1.5, "times", False, note)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=500)
    parser.add_argument("--write", action="store_true", help="put the figures into docs/benchmarks.md")
    arguments = parser.parse_args()
    bars = Bars()
    folders(bars, arguments.images)
    print(bars.markdown())
    if arguments.write:
        write_section("images", bars.markdown())


if __name__ == "__main__":
    main()
