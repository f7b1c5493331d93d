"""The tally on a GPU, against the CPU: run by scripts/check-gpu, where there is one."""

import copy
import os
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

import wmcc
from wmcc.adapters.torch import CorrelationLoss, Tally
from wmcc.core.design import PIXELS
from wmcc.errors import InputError

if not torch.cuda.is_available() or torch.version.hip is not None:
    pytest.skip("there is no NVIDIA GPU", allow_module_level=True)

LABELS = ("uint8", "int32", "int64")
WEIGHTS = (None, "float32", "float64", "bfloat16", "float16")


def drawn(rows, K, seed, weight="float32", octaves=60, void=None):
    """Labels and hostile weights: many octaves, zeros of both signs, subnormals, the largest numbers."""
    rng = np.random.default_rng(seed)
    truth, pred = rng.integers(0, K, (2, rows))
    pred = np.where(rng.random(rows) < 0.8, truth, pred)
    if void is not None:
        truth[rng.random(rows) < 0.2] = void
        pred[rng.random(rows) < 0.05] = void
    if weight is None:
        return truth, pred, None
    info = torch.finfo(getattr(torch, weight))
    middle = 0 if octaves < 100 else -20
    with np.errstate(over="ignore", under="ignore"):
        w = np.ldexp(rng.random(rows) + 0.5, rng.integers(middle - octaves // 2, middle + octaves // 2 + 1, rows))
    w = np.minimum(w, info.max)
    special = rng.integers(0, rows, (5, max(1, rows // 50)))
    for places, value in zip(special, (0.0, -0.0, info.smallest_normal / 8, info.max, info.tiny), strict=True):
        w[places] = value
    return truth, pred, torch.from_numpy(w).to(getattr(torch, weight))


def on_gpu(truth, pred, weight, K, ignore=None, labels=("int64", "int64"), shape=(-1,), **more):
    tally = Tally(K, ignore_index=ignore, **more).cuda()
    t, p = (
        torch.from_numpy(x).to(getattr(torch, kind)).reshape(shape).cuda()
        for x, kind in zip((truth, pred), labels, strict=True)
    )
    tally.update(p, t, None if weight is None else weight.reshape(shape).cuda())
    return tally


def on_cpu(truth, pred, weight, K, ignore=None, **more):
    w = None if weight is None else weight.to(torch.float64 if weight.dtype is torch.float64 else torch.float32).numpy()
    classes = [k for k in range(K) if k != ignore]
    return wmcc.tabulate(truth, pred, w, labels=classes, ignore=ignore, **more)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("labels", [(a, b) for a in LABELS for b in LABELS])
def test_types(labels, weight):
    for rows, K in ((1, 2), (37, 3), (20_011, 20)):
        octaves = 20 if weight == "float16" else 60
        data = drawn(rows, K, 1, weight, octaves, void=255)
        assert on_gpu(*data, K, 255, labels).compute() == on_cpu(*data, K, 255)


@pytest.mark.parametrize("weight", [None, "float32", "float64"])
@pytest.mark.parametrize("K", [2, 5, 20, 40, 41, 64, 76, 77, 130, 200, 255, 300])
def test_classes(K, weight):
    for octaves in (4, 60, 200 if weight == "float32" else 1800):
        data = drawn(200_003, K, K, weight, octaves, void=-100)
        assert on_gpu(*data, K, -100).compute() == on_cpu(*data, K, -100)


def test_a_thousand_classes():
    data = drawn(300_001, 1000, 3)
    assert on_gpu(*data, 1000).compute() == on_cpu(*data, 1000)


@pytest.mark.parametrize("ignore", [0, 2, 255, -1, -(1 << 40), 1 << 40])
@pytest.mark.parametrize("K", [5, 120])
def test_ignored_and_void(ignore, K):
    data = drawn(50_001, K, 4, void=ignore)
    data[2][torch.from_numpy(data[0] == ignore)] = float("nan")  # nobody looks at the weights of these
    table = on_gpu(*data, K, ignore).compute()
    assert table == on_cpu(*data, K, ignore)
    assert table.ignored > 0
    assert table.void == (ignore,)


@pytest.mark.parametrize("K", [3, 120])
@pytest.mark.parametrize("shift", [1, 2, 3])
def test_unaligned(K, shift):
    truth, pred, w = drawn(10_007, K, 5)
    tally = Tally(K).cuda()
    t, p = (torch.from_numpy(x).to(torch.uint8).cuda() for x in (truth, pred))
    tally.update(p[shift:], t[shift:], w.cuda()[shift:])
    assert tally.compute() == on_cpu(truth[shift:], pred[shift:], w[shift:], K)


@pytest.mark.parametrize("K", [4, 100])
@pytest.mark.parametrize("shape", [(6, 31, 33), (5, 64, 64), (3, 2, 9, 4)])
def test_images(K, shape):
    rows = int(np.prod(shape))
    truth, pred, w = drawn(rows, K, 6, void=255)
    images = np.repeat(np.arange(shape[0]), rows // shape[0])
    wanted = on_cpu(truth, pred, w, K, 255, cluster=images)
    assert on_gpu(truth, pred, w, K, 255, shape=shape, per_image=True).compute() == wanted
    one = torch.from_numpy(np.random.default_rng(0).random(shape[1:], dtype=np.float32)).cuda()  # a map for all
    tally = Tally(K, ignore_index=255).cuda()
    t, p = (torch.from_numpy(x).reshape(shape).cuda() for x in (truth, pred))
    tally.update(p, t, one)
    wanted = on_cpu(truth, pred, one.cpu().expand(shape).reshape(-1), K, 255)
    assert tally.compute() == replace(wanted, drawn=PIXELS)


def test_parts_merge_to_the_whole():
    data = drawn(100_000, 7, 7)
    whole = on_gpu(*data, 7).compute()
    tally = Tally(7).cuda()
    for part in np.array_split(np.random.default_rng(1).permutation(100_000), 9):
        t, p = (torch.from_numpy(x[part]).cuda() for x in data[:2])
        tally.update(p, t, data[2][torch.from_numpy(part)].cuda())
    assert tally.compute() == whole
    assert int(tally.updates) == 9


@pytest.mark.parametrize("K", [3, 120])
@pytest.mark.parametrize(
    ("what", "row", "value", "said"),
    [
        ("truth", 4_001, 17_000, "17000"),
        ("pred", 123, -5, "-5"),
        ("weight", 9_876, float("nan"), "nan"),
        ("weight", 2, -0.5, "-0.5"),
        ("weight", 9_999, float("inf"), "inf"),
    ],
)
def test_bad_rows(K, what, row, value, said):
    truth, pred, w = drawn(10_000, K, 8)
    own = {"truth": truth, "pred": pred, "weight": w}[what]
    own[row] = value
    own[9_999] = value
    good = drawn(500, K, 9)
    tally = on_gpu(*good, K)
    t, p = (torch.from_numpy(x).cuda() for x in (truth, pred))
    tally.update(p, t, w.cuda())
    tally.update(p, t, w.cuda())
    with pytest.raises(InputError) as problem:
        tally.compute()
    assert said in str(problem.value)
    assert f"[{row}]" in str(problem.value)
    assert "update 1" in str(problem.value) or "second" in str(problem.value)


@pytest.mark.parametrize("K", [2, 120])
def test_digits_are_settled_before_they_are_full(K):
    data = drawn(4096, K, 10, octaves=4)
    tally, once = Tally(K).cuda(), on_gpu(*data, K)
    tally._scratch[0] = (1 << 30) - 1  # as many additions as digits take
    tally.digits[1:10] = (1 << 61) - 5
    before = wmcc_numbers(tally)
    t, p = (torch.from_numpy(x).cuda() for x in data[:2])
    tally.update(p, t, data[2].cuda())
    assert int(tally.digits[1:].max()) < 1 << 62
    assert int(tally.digits[1:10].max()) < 1 << 34  # what was added after
    assert wmcc_numbers(tally) == [a + b for a, b in zip(before, wmcc_numbers(once), strict=True)]


def wmcc_numbers(tally):
    """The sums of w and of w² of all cells, as integers in their lowest digit's unit."""
    digits = tally.digits.cpu().numpy().astype(object)
    return [
        sum(int(x) << 32 * k for k, x in enumerate(cell)) for part in (digits[1:11], digits[11:]) for cell in part.T
    ]


def test_a_graph_replays():
    truth, pred, w = drawn(8192, 5, 11)
    t, p = (torch.from_numpy(x).cuda() for x in (truth, pred))
    w = w.cuda()
    tally = Tally(5).cuda()
    tally.update(p, t, w)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tally.update(p, t, w)
    for _ in range(4):
        graph.replay()
    assert tally.compute() == wmcc.merge([on_cpu(truth, pred, w.cpu(), 5)] * 5)
    assert int(tally.updates) == 5


def test_nothing_waits_for_the_device():
    truth, pred, w = drawn(8192, 5, 12)
    t, p = (torch.from_numpy(x).cuda() for x in (truth, pred))
    w, tally = w.cuda(), Tally(5).cuda()
    logits = torch.randn(8, 5, 16, 16, device="cuda")
    tally.update(p, t, w)
    torch.cuda.set_sync_debug_mode("error")
    try:
        tally.update(p, t, w)
        tally.update(p, t)
        tally.update(
            logits, torch.zeros(8, 16, 16, dtype=torch.int64, device="cuda"), torch.rand(16, 16, device="cuda")
        )
    finally:
        torch.cuda.set_sync_debug_mode("default")
    tally.compute()


def test_under_compile():
    truth, pred, w = drawn(8192, 5, 13)
    t, p = (torch.from_numpy(x).cuda() for x in (truth, pred))
    tally = Tally(5).cuda()
    step = torch.compile(lambda p, t, w: tally.update(p, t, 0.5 * w), fullgraph=True)
    for _ in range(3):
        step(p, t, w.cuda())
    once = on_cpu(truth, pred, 0.5 * w, 5)
    assert tally.compute() == wmcc.merge([once] * 3)


def test_batches_that_are_alike_take_the_short_way():
    data = drawn(4096, 5, 17)
    t, p = (torch.from_numpy(x).cuda() for x in data[:2])
    w, tally = data[2].cuda(), Tally(5).cuda()
    once = on_cpu(*data, 5)
    for _ in range(3):
        tally.update(p, t, w)
    assert tally._repeat is not None
    for begin in (0, 4, 1):  # elsewhere, and not aligned
        tally.update(p[begin:], t[begin:], w[begin:])
    tally.update(p, t, torch.stack([w, w], 1)[:, 0])  # not contiguous
    tally.update(p, t, w.double())
    tally.update(p, t, w)
    tally.update(p, t)
    parts = [on_cpu(*(x[begin:] for x in data), 5) for begin in (4, 1)]
    assert tally.compute() == wmcc.merge([once] * 7 + parts + [on_cpu(*data[:2], None, 5)])
    tally.reset()
    tally.update(p, t, w)
    assert copy.deepcopy(tally).compute() == pickle.loads(pickle.dumps(tally)).compute() == once
    with pytest.raises(InputError, match="expected one device"):
        tally.update(p, t, w.cpu())


def test_sums_that_were_widened_since():
    """A batch that is like the one before, while the tally has got room for float64 weights meanwhile."""
    data = drawn(4096, 5, 18)
    t, p = (torch.from_numpy(x).cuda() for x in data[:2])
    w, tally, other = data[2].cuda(), Tally(5).cuda(), Tally(5).cuda()
    tally.update(p, t, w)
    other.update(p, t, w.double())
    tally.merge(other)
    tally.update(p, t, w)
    assert tally.compute() == wmcc.merge([on_cpu(*data, 5)] * 3)
    tally.update(p[:0], t[:0], w[:0])
    tally.update(p[:0], t[:0])
    assert tally.compute().rows == 3 * 4096


def test_the_loss_does_not_wait():
    logits = torch.randn(2, 4, 16, 16, device="cuda", requires_grad=True)
    target = torch.randint(0, 4, (2, 16, 16), device="cuda")
    weight = torch.rand(16, 16, device="cuda")
    loss = CorrelationLoss("ecc", ignore_index=3)
    loss(logits, target, weight).backward()
    torch.cuda.set_sync_debug_mode("error")
    try:
        own = loss(logits, target, weight)
        own.backward()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss(logits, target, weight).backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert torch.allclose(own.cpu(), loss(logits.cpu(), target.cpu(), weight.cpu()), atol=1e-6)
    assert torch.isfinite(logits.grad).all()


def test_another_stream():
    truth, pred, w = drawn(1 << 20, 5, 14)
    t, p = (torch.from_numpy(x).cuda() for x in (truth, pred))
    w, tally = w.cuda(), Tally(5).cuda()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        tally.update(p, t, w)
    torch.cuda.current_stream().wait_stream(stream)
    assert tally.compute() == on_cpu(truth, pred, w.cpu(), 5)


def test_one_result():
    """The same bits in ten runs, over other batches and orders."""
    truth, pred, w = drawn(300_000, 20, 15)
    tables = []
    for run in range(10):
        order = np.random.default_rng(run).permutation(300_000)
        tally = Tally(20).cuda()
        for part in np.array_split(order, run + 1):
            t, p = (torch.from_numpy(x[part]).cuda() for x in (truth, pred))
            tally.update(p, t, w[torch.from_numpy(part)].cuda())
        tables.append(tally.compute())
    assert all(table == tables[0] for table in tables)


def test_moved_and_stored():
    data = drawn(5_000, 6, 16)
    tally = on_gpu(*data, 6)
    other = Tally(6)
    other.load_state_dict(tally.state_dict())
    assert other.compute() == tally.compute() == tally.cpu().compute()


# ---- scores ------------------------------------------------------------------------------------------------


def of_scores(rows, dtype, seed, ignore=255):
    """Scores, half of which are thresholds or beside one; labels, some to be ignored; and weights."""
    rng = np.random.default_rng(seed)
    near = rng.integers(0, 101, rows) / 100 + rng.integers(-1, 2, rows) * 1e-9
    score = torch.from_numpy(np.where(rng.random(rows) < 0.5, near, rng.random(rows)).clip(0, 1)).to(dtype)
    target = rng.integers(0, 2, rows)
    target[rng.random(rows) < 0.1] = ignore
    score[torch.from_numpy(target == ignore)] = float("nan")  # nobody looks at the scores of these
    return score, torch.from_numpy(target), torch.from_numpy(rng.random(rows)).float()


def same_scores(tally, score, target, weight, **more):
    """Whether thresholds, all or some thirty of them, make the tables of `wmcc.tabulate`."""
    w = None if weight is None else weight.double().flatten().numpy()
    found = tally.scores
    rows = target.flatten().numpy(), score.double().flatten().numpy(), w
    named = {"thresholds": found.edges, "labels": [0, 1], "ignore": 255, **more}
    wanted = wmcc.tabulate(rows[0], score=rows[1], sample_weight=rows[2], **named)
    drawn = {} if more else {"drawn": found.drawn}
    assert found.rows == wanted.rows > 0
    some = (*found.edges[:: len(found.edges) // 30 + 1], np.inf)
    assert all(found.at(edge) == replace(wanted.at(edge), **drawn) for edge in some)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("bins", [1, 100, 3000, (-1.0, 0.1, 0.30000000000000004, 0.5, np.nextafter(0.5, 1), 1e300)])
def test_scores(bins, dtype):
    score, target, weight = of_scores(20_011, dtype, 20)
    for own in (None, weight, weight.double(), weight.bfloat16()):
        tally = Tally(bins=bins, ignore_index=255).cuda()
        for part in torch.randperm(20_011).split(7_000):
            tally.update(score[part].cuda(), target[part].cuda(), None if own is None else own[part].cuda())
        same_scores(tally, score, target, own)
    other = Tally(bins=bins, ignore_index=255)
    other.load_state_dict(tally.state_dict())
    assert other.scores == tally.scores == tally.cpu().scores


def test_scores_of_images():
    score, target, weight = (x.reshape(6, 31, 33) for x in of_scores(6 * 31 * 33, torch.bfloat16, 21))
    tally = Tally(bins=100, ignore_index=255, per_image=True).cuda()
    for part in (slice(0, 4), slice(4, 6)):
        tally.update(score[part, None].cuda(), target[part].to(torch.uint8).cuda(), weight[part].cuda())
    same_scores(tally, score, target, weight, cluster=np.repeat(np.arange(6), 31 * 33))


def test_every_bfloat16_is_on_its_side():
    score = torch.arange(1 << 16).to(torch.uint16).view(torch.bfloat16)
    score = score[~score.isnan()]
    target = torch.arange(len(score)) % 2
    tally = Tally(bins=(-1.5, 0.0, 0.1, 0.3, 0.5, 1e-40, 3e38)).cuda()
    tally.update(score.cuda(), target.cuda())
    same_scores(tally, score, target, None)


@pytest.mark.parametrize(("value", "said"), [(float("nan"), "is nan"), (1.5, "is 1.5"), (-0.25, "is -0.25")])
def test_bad_scores(value, said):
    score, target, weight = of_scores(10_000, torch.float16, 22)
    tally = Tally(bins=10, ignore_index=255).cuda()
    tally.update(score.cuda(), target.cuda(), weight.cuda())
    score[[123, 4_567]], target[[123, 4_567]] = value, 1
    tally.update(score.cuda(), target.cuda(), weight.cuda())
    with pytest.raises(InputError, match=rf"pred\[123\] of update 1 {said}; .* 2 rows have such a score"):
        tally.scores  # noqa: B018
    tally.reset()
    target[[77, 5_000]] = 2
    tally.update(score.cuda(), target.cuda())
    with pytest.raises(InputError, match=r"target\[77\] of update 0 is 2, which is not among the classes 0 to 1"):
        tally.scores  # noqa: B018


def test_scores_wait_for_nothing_replay_and_compile():
    batch = of_scores(8192, torch.bfloat16, 23)
    score, target, weight = (x.cuda() for x in batch)
    tally = Tally(bins=100, ignore_index=255).cuda()
    tally.update(score, target, weight)
    torch.cuda.set_sync_debug_mode("error")
    try:
        tally.update(score, target, weight)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tally.update(score, target, weight)
    for _ in range(3):
        graph.replay()
    torch.compile(lambda *rows: tally.update(*rows), fullgraph=True)(score, target, weight)
    same_scores(tally, *(torch.cat([x] * 6) for x in batch))


@pytest.mark.slow
def test_the_cache_is_used(tmp_path):
    code = "import torch; from wmcc.adapters.torch import Tally; labels = torch.zeros(8, dtype=torch.uint8).cuda(); "
    code += "tally = Tally(3).cuda(); tally.update(labels, labels); tally.compute()"
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    (kept,) = (tmp_path / "wmcc").iterdir()
    before = kept.stat().st_mtime_ns
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    assert kept.stat().st_mtime_ns == before
