"""Processes of a distributed run: the module is imported by the tests that start some."""

import multiprocessing

from torch.multiprocessing import start_processes


def run(work, args, count=2):
    """Run ``work(rank, *args)`` in processes that share what takes long to import, where the system can do so."""
    quick = "forkserver" in multiprocessing.get_all_start_methods()
    if quick:
        multiprocessing.set_forkserver_preload(["hypothesis", "pytest", "torch.distributed", "torchmetrics"])
    start_processes(work, args, nprocs=count, start_method="forkserver" if quick else "spawn")
