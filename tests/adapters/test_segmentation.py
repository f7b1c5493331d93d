"""What docs/understand/segmentation.md shows beside its doctests is run: validation in several processes, commands."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from cli_helpers import run
from paths import DOCS

import wmcc
from wmcc import weightmaps

PAGE = (DOCS / "understand" / "segmentation.md").read_text()


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def near_cars(labels):
    return weightmaps.distance(labels, to=1, scale=8, floor=0.05, ignore=255, ndim=2)


def streets(seed=0):
    """Labels of six images, their void pixels, and what a model makes of them."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, (6, 8, 10))
    pred = np.where(rng.random(truth.shape) < 0.8, truth, rng.integers(0, 3, truth.shape))
    truth[:, 7:] = 255
    return truth, pred


def expected(truth, pred):
    image = np.arange(6)[:, None, None] + np.zeros_like(truth)
    return wmcc.tabulate(truth, pred, near_cars(truth), ignore=255, labels=range(3), cluster=image)


def test_validation_in_processes(torch):
    dist = torch.distributed
    if not dist.is_available():
        pytest.skip("PyTorch is built without torch.distributed")
    truth, pred = map(torch.from_numpy, streets())
    logits = torch.nn.functional.one_hot(pred, 3).movedim(-1, 1).float()
    loader = [(logits[k : k + 2], truth[k : k + 2], [k, k + 1]) for k in range(0, 6, 2)]
    (block,) = (own for own in blocks("python") if "all_reduce" in own)
    made = {}
    exec(block, made)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        table = made["validate"](torch.nn.Identity(), loader, near_cars, "cpu")
    finally:
        dist.destroy_process_group()
    assert table == expected(*streets())


def test_its_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth, pred = streets()
    maps = {"truth": truth, "pred": pred, "blurrier": streets(1)[1], "maps": near_cars(truth)}
    for folder, arrays in maps.items():
        Path(folder).mkdir()
        for k, own in enumerate(arrays):
            np.save(f"{folder}/{k}.npy", own)
    (block,) = blocks("sh")
    for line in block.splitlines():
        name, *arguments = shlex.split(line)
        assert name == "wmcc"
        printed = run(*arguments).stdout
        assert bool(printed) != ("-o" in arguments)
    assert "Wrong weight" in Path("report.html").read_text()
    found = run("score", "--images", "truth/", "pred/", "--weights", "maps/", "--ignore", "255").stdout
    value = wmcc.ecc(expected(truth, pred))
    assert re.search(rf"ECC \(R_K\) +{value:.4f} ", found)
