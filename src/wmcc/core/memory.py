"""How much memory there is, so that what needs more is refused with a sentence and not by the operating system."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

UNKNOWN = 4 << 30
"""What is taken to be free where nothing says how much is."""


def available() -> int:
    """Bytes that can be taken now: what the system has left, but no more than half of what a container may have."""
    known = []
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        known.append(1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")))
    for limit in ("memory.max", "memory/memory.limit_in_bytes"):  # of control groups; "max" is no number
        with suppress(OSError, ValueError):
            known.append(int(Path("/sys/fs/cgroup", limit).read_text()) // 2)
    if not known:
        with suppress(AttributeError, OSError, ValueError):
            known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)
    return min(known) if known else UNKNOWN
