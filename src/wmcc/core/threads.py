"""Threads, for what NumPy and the kernel compute while others wait."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

MOST_THREADS = 256


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(function: Callable[[Any], Any], items: Iterable[Any], workers: int) -> Iterator[Any]:
    """Map in order by so many threads, which are never far ahead of who takes the results."""
    if workers <= 1:
        yield from map(function, items)
        return
    from concurrent.futures import ThreadPoolExecutor  # not before it is needed: it is slow to import

    with ThreadPoolExecutor(workers) as pool:
        ahead: deque[Any] = deque()
        try:
            for item in items:
                ahead.append(pool.submit(function, item))
                if len(ahead) > 2 * workers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for other in ahead:
                other.cancel()
