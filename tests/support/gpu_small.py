"""Every form of the GPU's kernel on a few thousand rows, for compute-sanitizer: python tests/support/gpu_small.py."""

import numpy as np
import torch

import wmcc
from wmcc.adapters.torch import Tally

LABELS = (torch.uint8, torch.int32, torch.int64)
WEIGHTS = (None, torch.float32, torch.float64, torch.bfloat16, torch.float16)


def run(K: int, rows: int, truth_type, pred_type, weight_type, octaves: int, shift: int = 0, images: int = 0) -> None:
    """Count once, and compare with the CPU."""
    rng = np.random.default_rng(K)
    truth, pred = rng.integers(0, K, (2, rows))
    pred = np.where(rng.random(rows) < 0.8, truth, pred)
    truth[rng.random(rows) < 0.1] = pred[rng.random(rows) < 0.02] = 255
    weight = None
    if weight_type is not None:
        weight = torch.from_numpy(np.ldexp(rng.random(rows) + 0.5, rng.integers(-octaves, octaves, rows))).to(
            weight_type
        )
    tally = Tally(K, ignore_index=255, per_image=images > 0).cuda()
    t, p = (torch.from_numpy(x).to(kind).cuda()[shift:] for x, kind in ((truth, truth_type), (pred, pred_type)))
    w = None if weight is None else weight.cuda()[shift:]
    shape = (images, -1) if images else (-1,)
    tally.update(p.reshape(shape), t.reshape(shape), None if w is None else w.reshape(shape))
    own = None if weight is None else (weight if weight_type is torch.float64 else weight.float()).numpy()[shift:]
    more = {"cluster": np.repeat(np.arange(images), rows // images)} if images else {}
    classes = [k for k in range(K) if k != 255]
    wanted = wmcc.tabulate(truth[shift:], pred[shift:], own, labels=classes, ignore=255, **more)
    assert tally.compute() == wanted, (K, truth_type, pred_type, weight_type)


def main() -> None:
    for K in (3, 20, 64, 100, 200):
        for weight in WEIGHTS:
            octaves = 6 if weight is torch.float16 else 40
            run(K, 9_000, torch.uint8, torch.uint8, weight, octaves)
            run(K, 9_000, torch.int64, torch.uint8, weight, 3, shift=1)
    for labels in LABELS:
        run(7, 6_000, labels, torch.int64, torch.float32, 60, images=6)
    run(1000, 6_000, torch.int64, torch.int64, torch.float32, 3)
    print("all equal to the CPU")


if __name__ == "__main__":
    main()
