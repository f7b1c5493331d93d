"""The tally on a GPU beside TorchMetrics, torch.bincount and the floor: reading the same bytes and nothing else.

``--write FILE`` keeps the figures, for docs/contributing/gpu.md. It needs an NVIDIA GPU with 40 GB; ``--rows 24``
(2**24) is quicker and needs little. The answer comes first: each table is compared with that of the CPU, to the last
bit, before anything is timed.
"""

from __future__ import annotations

import argparse
import statistics
import struct
import time
from functools import cache, partial
from pathlib import Path

import torch
from torchmetrics.classification import BinaryMatthewsCorrCoef, MulticlassMatthewsCorrCoef

import wmcc
from wmcc.adapters.torch import Tally
from wmcc.core.kernel import kernel
from wmcc.core.kernel.cuda.driver import Device

CLASSES = (2, 5, 20, 64, 200)
KINDS = ("random", "coherent", "guess", "ignore", "heavy")
VOID = 255
LABELS = {"u8": torch.uint8, "i64": torch.int64}


def draw(kind: str, K: int, rows: int, labels: str, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return truth, prediction and float32 weights on the GPU.

    Predictions are right nine times in ten, and wrong ones are uniform. ``coherent``: the truth is constant over 4,096
    rows; ``guess``: the prediction has nothing to do with it; ``ignore``: one row of seven is void; ``heavy``:
    log-normal weights with σ = 3, which lie in 50 octaves.
    """
    many = {"generator": torch.Generator("cuda").manual_seed(seed), "device": "cuda"}
    truth = torch.randint(0, K, (rows >> 12 if kind == "coherent" else rows,), dtype=torch.uint8, **many)
    truth = truth.repeat_interleave(4096) if kind == "coherent" else truth
    other = torch.randint(0, K, (rows,), dtype=torch.uint8, **many)
    pred = other if kind == "guess" else torch.where(torch.rand(rows, **many) < 0.9, truth, other)
    if kind == "ignore":
        truth = torch.where(torch.rand(rows, **many) < 1 / 7, VOID, truth)
    weight = (torch.randn(rows, **many) * 3).exp() if kind == "heavy" else torch.rand(rows, **many) * 10 + 0.1
    return truth.to(LABELS[labels]), pred.to(LABELS[labels]), weight


def milliseconds(function, *args, repeat: int = 9) -> list[float]:
    """Time calls by events on the GPU, after two that do not count."""
    function(*args), function(*args)
    found = []
    for _ in range(repeat):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        function(*args)
        end.record()
        end.synchronize()
        found.append(start.elapsed_time(end))
    return found


class Floor:
    """Reads arrays, and does nothing with them."""

    def __init__(self) -> None:
        self._gpu = Device(0)
        (self._kernel,) = self._gpu.load(Path(__file__).with_name("gpu_floor.cu"), [], ["floor_of"])
        self._out = torch.zeros(1, dtype=torch.int32, device="cuda")

    def __call__(self, *arrays: torch.Tensor) -> None:
        """Read."""
        sizes = [x.numel() * x.element_size() // 16 for x in arrays]
        call = struct.pack("=7Q", *(x.data_ptr() for x in arrays), *sizes, self._out.data_ptr())
        stream = torch.cuda.current_stream().cuda_stream
        self._kernel(self._gpu, (16 * self._gpu.processors, 1), 512, 0, stream, call)


def by_bincount(truth, pred, weight, K):
    """n, Σw and Σw² as one writes them by hand, of rows that are not void."""
    cell = truth.long() * K + pred.long()
    w = weight.double()
    return [torch.bincount(cell, x, minlength=K * K) for x in (None, w, w * w)]


def mcc_of_torchmetrics(K: int):
    metric = BinaryMatthewsCorrCoef if K == 2 else partial(MulticlassMatthewsCorrCoef, K)
    return metric(validate_args=False).cuda()


@cache
def check(K: int, kind: str, labels: str, rows: int) -> None:
    """Refuse to time what is not the CPU's table, to the last bit."""
    arrays = draw(kind, K, rows, labels)
    truth, pred, weight = (x.cpu().numpy() for x in arrays)
    for own, gpu in ((weight, arrays[2]), (None, None)):
        tally = Tally(K, ignore_index=VOID).cuda()
        tally.update(arrays[1], arrays[0], gpu)
        assert tally.compute() == wmcc.tabulate(truth, pred, own, labels=range(K), ignore=VOID), (K, kind, labels)


def large(bits: int, labels: str, K: int, kind: str, floor: Floor) -> list[str]:
    """Time one size, one number of classes and one kind of data."""
    check(K, kind, labels, 1 << min(bits, 24))
    truth, pred, weight = draw(kind, K, 1 << bits, labels)
    tally = Tally(K, ignore_index=VOID).cuda()
    least = milliseconds(floor, truth, pred, weight)
    own, ones = milliseconds(tally.update, pred, truth, weight), milliseconds(tally.update, pred, truth)
    mine, bottom = statistics.median(own), statistics.median(least)
    line = [f"2^{bits}", labels, str(K), kind, f"{bottom:.3f}", f"{mine:.3f}", f"{mine / bottom:.2f}"]
    line += [f"{min(own) / bottom:.2f}–{max(own) / bottom:.2f}", f"{statistics.median(ones):.3f}"]
    if kind == "ignore":  # peers would count void rows, or stumble over them
        return [*line, "", "", "", ""]
    metric = mcc_of_torchmetrics(K)
    for peer, args in ((metric.update, (pred, truth)), (by_bincount, (truth, pred, weight, K))):
        found = statistics.median(milliseconds(peer, *args, repeat=3))
        line += [f"{found:.2f}", f"{found / mine:.1f}"]
    return line


def small(shape=(512, 1024), K: int = 20, calls: int = 300) -> list[list[str]]:
    """Host time of an update of one image, back to back and in a CUDA graph; and of peers."""
    truth, pred, weight = (x.reshape(1, *shape) for x in draw("random", K, shape[0] * shape[1], "i64"))
    tally, metric = Tally(K, ignore_index=VOID).cuda(), mcc_of_torchmetrics(K)
    compiled = torch.compile(lambda p, t, w: tally.update(p, t, w), fullgraph=True)
    graph = torch.cuda.CUDAGraph()
    tally.update(pred, truth, weight)
    with torch.cuda.graph(graph):
        tally.update(pred, truth, weight)
    ways = {
        "update, weights": (tally.update, (pred, truth, weight)),
        "update, no weights": (tally.update, (pred, truth)),
        "update in a CUDA graph (replay)": (graph.replay, ()),
        "update under torch.compile(fullgraph=True)": (compiled, (pred, truth, weight)),
        "TorchMetrics MCC update, no weights": (metric.update, (pred, truth)),
        "torch.bincount of n, Σw, Σw²": (by_bincount, (truth.flatten(), pred.flatten(), weight.flatten(), K)),
    }
    lines = []
    for name, (function, args) in ways.items():
        function(*args), function(*args)
        host, whole = [], []
        for _ in range(7):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(calls):
                function(*args)
            middle = time.perf_counter()
            torch.cuda.synchronize()
            host.append((middle - start) / calls * 1e6)
            whole.append((time.perf_counter() - start) / calls * 1e6)
        lines.append([name, f"{statistics.median(host):.1f}", f"{statistics.median(whole):.1f}"])
    return lines


def same_bits(bits: int = 26, K: int = 20) -> str:
    """Run ten times, over other orders of rows and other batches, and count the results."""
    truth, pred, weight = draw("heavy", K, 1 << bits, "u8")
    seen = []
    for run in range(10):
        tally = Tally(K, ignore_index=VOID).cuda()
        order = torch.arange(1 << bits, device="cuda") if run % 2 == 0 else torch.randperm(1 << bits, device="cuda")
        for part in torch.tensor_split(order, run + 1):
            tally.update(pred[part], truth[part], weight[part])
        table = tally.compute()
        if not any(table == other for other in seen):
            seen.append(table)
    assert len(seen) == 1
    cell = truth.long() * K + pred.long()
    floats = {torch.bincount(cell, weight.double(), minlength=K * K).cpu().numpy().tobytes() for _ in range(10)}
    said = f"10 runs over 2^{bits} heavy-tailed rows, in two orders and in 1 to 10 batches: {len(seen)} result. "
    return said + f"torch.bincount in float64, 10 runs in one order: {len(floats)} results."


def table(head: list[str], lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *lines])


HEAD = ["rows", "labels", "K", "data", "floor, ms", "ours, ms", "× floor", "spread", "ours without weights, ms"]
HEAD += ["TorchMetrics, ms", "× ours", "bincount, ms", "× ours"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[20, 24, 28], help="powers of two")
    parser.add_argument("--classes", type=int, nargs="*", default=CLASSES)
    parser.add_argument("--kinds", nargs="*", default=KINDS)
    parser.add_argument("--labels", nargs="*", default=list(LABELS))
    parser.add_argument("--write", help="a file for the figures")
    arguments = parser.parse_args()
    floor, lines = Floor(), []
    versions = f"PyTorch {torch.__version__}, the CPU's kernel {kernel()}"
    text = [f"{torch.cuda.get_device_name()}, {versions}."]
    for bits in arguments.rows:
        for labels in arguments.labels:
            for K in arguments.classes:
                for kind in arguments.kinds:
                    lines.append(large(bits, labels, K, kind, floor))
                    print(" | ".join(lines[-1]), flush=True)
    text += [table(HEAD, lines)]
    text += [table(["512 × 1024 pixels, int64 labels, K = 20", "µs on the host", "µs in all"], small()), same_bits()]
    print("\n\n".join(text))
    if arguments.write:
        Path(arguments.write).write_text("\n\n".join(text) + "\n")


if __name__ == "__main__":
    main()
