"""What each process of a distributed run does, in a module of its own: the processes import it."""

import pickle
import warnings

import torch
import torch.distributed as dist
from torchmetrics import MetricCollection

from wmcc.adapters.torchmetrics import WeightedClassScores, WeightedConfusionMatrix, WeightedECC, WeightedMPC2
from wmcc.errors import LabelError

CLASSES, VOID = 4, 255


def batch(seed, dtype=torch.float32):
    """Logits, target and weights; the batches differ in size."""
    made = torch.Generator().manual_seed(seed)
    shape = (1 + seed % 3, 3 + seed % 5, 7)
    target = torch.randint(CLASSES, shape, generator=made)
    logits = torch.randn(shape[0], CLASSES, *shape[1:], generator=made)
    logits += 2 * torch.nn.functional.one_hot(target, CLASSES).movedim(-1, 1)
    target[torch.rand(shape, generator=made) < 0.1] = VOID
    return logits, target, torch.rand(shape, generator=made, dtype=torch.float64).exp().to(dtype)


SCENES = {
    "as many batches": [(0, 1), (2, 3)],
    "uneven": [(0, 1, 2), (3,)],
    "a process without a batch": [(0, 1), ()],
    "the first process without a batch": [(), (0, 1)],
}
"""Seeds of the batches of each process."""


def work(rank, folder, processes):
    """Run all scenes, and store what this process found."""
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", ".*was called before the ``update`` method.*")
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=processes)
    with open(f"{folder}/{rank}", "wb") as file:
        pickle.dump({name: own(rank) for name, own in TASKS.items()}, file)
    dist.destroy_process_group()


def tables(rank):
    """Tables and scores of each scene, with weights of the same and of different precision."""
    found = {}
    for name, seeds in SCENES.items():
        for wide in ((), (0,), (1,)):  # processes with float64 weights
            metric = WeightedECC("multiclass", CLASSES, ignore_index=VOID)
            for seed in seeds[rank]:
                metric.update(*batch(seed, torch.float64 if rank in wide else torch.float32))
            found[name, wide] = metric.table(), metric.compute().item(), int(metric.updates), metric.digits.shape[0]
    return found


def collected(rank):
    """A collection that is read twice, with a batch in between."""
    named = {"task": "multiclass", "num_classes": CLASSES, "ignore_index": VOID}
    scores = MetricCollection(
        {
            "ecc": WeightedECC(**named),
            "mpc2": WeightedMPC2(**named),
            "matrix": WeightedConfusionMatrix(**named),
            "iou": WeightedClassScores("iou", **named),
        }
    )
    scores.update(*batch(rank))
    first = scores.compute()
    scores.update(*batch(2 + rank))
    return first, scores.compute(), list(scores.compute_groups)


def steps(rank):
    """Values of batches: of each process, and of all together with ``dist_sync_on_step``; then of all batches."""
    found = {}
    for together in (False, True):
        metric = WeightedECC("multiclass", CLASSES, ignore_index=VOID, dist_sync_on_step=together)
        values = [metric(*batch(seed)).item() for seed in (rank, 2 + rank)]
        found[together] = values, metric.compute().item(), metric.table()
    return found


def refused(rank):
    """A bad label on the second process, which both must tell."""
    metric = WeightedECC("multiclass", CLASSES, ignore_index=VOID)
    logits, target, weight = batch(rank)
    metric.update(logits, target, weight)
    if rank:
        target[0, 0, 0] = 77
        metric.update(logits, target, weight)
    said = []
    for _ in range(2):
        try:
            metric.compute()
        except LabelError as problem:
            said.append(problem.message)
    metric.reset()
    metric.update(*batch(rank))
    return said, metric.table()


def averaged(rank):
    """The wrong way: the mean of the scores of the processes, as ``self.log(number, sync_dist=True)`` has it."""
    metric = WeightedECC("multiclass", CLASSES, ignore_index=VOID, sync_on_compute=False)
    for seed in SCENES["uneven"][rank]:
        metric.update(*batch(seed))
    score = metric.compute()
    dist.all_reduce(score)
    return score.item() / dist.get_world_size()


TASKS = {"tables": tables, "collected": collected, "steps": steps, "refused": refused, "averaged": averaged}
