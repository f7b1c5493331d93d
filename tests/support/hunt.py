"""Tables of every kind of trouble, and the adversary set on their certificates for as long as one likes.

So are certificates of rankings and of best thresholds. A tenth of the time goes to columns of nasty names, in frames of
every engine that answers at once.

``scripts/adversary [SECONDS]`` runs this file.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from adversary import FORMULAS, Array, Limits, attack, between, limits
from adversary_arrays import hunt_arrays
from adversary_names import hunt_names
from hunt_pairs import hunt_pairs
from hunt_thresholds import hunt_thresholds
from hunt_totals import hunt_totals

import wmcc


class Case(NamedTuple):
    """Rows with labels 0 … K − 1, and how far their weights may move."""

    K: int
    t: Array
    p: Array
    w: Array
    model: str
    eps: float
    lower: Array = None
    upper: Array = None

    @property
    def limits(self) -> Limits:
        if self.model == "bounds":
            return between(self.t, self.p, self.w.tolist(), self.lower.tolist(), self.upper.tolist(), self.K)
        return limits(self.t, self.p, self.w.tolist(), self.K, self.model, self.eps)

    def certify(self, measure: str, **options: Any) -> Any:
        if self.model == "bounds":
            lower, upper = (self.table(w) for w in (self.lower, self.upper))
            return wmcc.certify(self.table(self.w), measure, lower=lower, upper=upper, **options)
        return wmcc.certify(self.table(self.w), measure, eps=self.eps, model=self.model, **options)

    def table(self, w: Array) -> wmcc.Table:
        """The table of the rows with these weights."""
        return wmcc.tabulate(self.t, self.p, w, labels=range(self.K))


SHARES = (0.0, 1e-300, 1e-12, 0.01, 0.1, 0.3, 0.7, 0.999999)
AMOUNTS = (0.0, 1e-300, 1e-3, 0.5, 1.0, 2.0, 5.0, 20.0, 1e5)


def ordinary(random: Any, K: int, rows: int) -> tuple[Array, Array, Array]:
    t = random.integers(0, K, rows)
    p = np.where(random.random(rows) < random.random(), t, random.integers(0, K, rows))
    return t, p, random.uniform(1.0, 10.0, rows)


def spread(least: float, most: float) -> Callable[..., Any]:
    """Weights of many sizes."""
    return lambda random, t, p, w, K: (t, p, 10.0 ** random.uniform(least, most, len(w)))


NASTY: dict[str, Callable[..., tuple[Array, Array, Array]]] = {
    "twelve orders": spread(-6, 6),
    "three hundred orders": spread(-150, 150),
    "all of float64": spread(-300, 300),
    "weights of zero": lambda random, t, p, w, K: (t, p, random.integers(0, 3, len(w)) * 1.0),
    "subnormal": lambda random, t, p, w, K: (t, p, np.ldexp(random.integers(0, 5, len(w)) * 1.0, -1074)),
    "never right": lambda random, t, p, w, K: (t, (t + 1) % K, w),
    "always right": lambda random, t, p, w, K: (t, t, w),
    "one class has nearly all": lambda random, t, p, w, K: (np.where(random.random(len(t)) < 0.9, 0, t), p, w),
    "truth and prediction apart": lambda random, t, p, w, K: (t // 2 * 2, np.minimum(p // 2 * 2 + 1, K - 1), w),
    "last class never predicted": lambda random, t, p, w, K: (t, np.minimum(p, max(K - 2, 0)), w),
    "one row per cell": lambda random, t, p, w, K: (np.arange(K * K) // K, np.arange(K * K) % K, np.ones(K * K)),
    "a thin class": lambda random, t, p, w, K: (t, p, np.where((t == 0) | (p == 0), w * 1e-9, w)),
    "fewer rows than classes": lambda random, t, p, w, K: (t[: K // 2 + 2], p[: K // 2 + 2], w[: K // 2 + 2]),
}


def draw(random: Any, kind: str | None = None, most: int = 6) -> Case:
    """Return rows of a kind of trouble (None: none), a model and an ε."""
    K = int(random.integers(2, most + 1))
    t, p, w = ordinary(random, K, int(random.integers(2, 6 * K)))
    if kind is not None:
        t, p, w = NASTY[kind](random, t, p, w, K)
    if not w.any():
        w = w + 1.0
    model = str(random.choice(["relative", "absolute", "bounds"]))
    eps = float(random.choice(SHARES if model == "relative" else AMOUNTS))
    if kind == "subnormal" and model == "absolute":
        eps *= 5e-324
    lower = np.where(random.random(len(w)) < 0.5, w, w * random.choice([0.0, 0.5, 0.9], len(w)))
    upper = np.where(random.random(len(w)) < 0.5, w, w * random.choice([1.1, 2.0, 10.0], len(w)))
    return Case(K, t, p, w, model, eps, lower, upper)


# ---- at full size -------------------------------------------------------------------------------------


def hunt(job: tuple[int, float]) -> tuple[int, int, Decimal, list[str]]:
    """Attack tables of all kinds for some seconds: tables, weightings, the largest distance beyond, violations."""
    seed, seconds = job
    random, end = np.random.default_rng(seed), time.monotonic() + seconds
    tables, weightings, furthest, found = 0, 0, Decimal("-Infinity"), []
    while time.monotonic() < end:
        kind = random.choice([None, *NASTY])
        case = draw(random, kind, most=int(random.choice([3, 4, 6, 10, 30])))
        name = str(random.choice(list(FORMULAS)[0 if case.K == 2 else 1 :]))
        certificate = case.certify(name, nodes=int(random.choice([1, 10, 100])))
        if certificate.problem:  # it is undefined
            continue
        verdict = attack(case.limits, name, seed=seed)
        tables, weightings = tables + 1, weightings + verdict.weightings
        beyond = verdict.beyond(certificate.low, certificate.high)
        furthest = max(furthest, beyond)
        if beyond > 0:
            found.append(f"{kind}: {name} by {float(beyond):.1e}: {certificate.low!r} … {certificate.high!r}: {case}")
    return tables, weightings, furthest, found


CERTIFICATES = {
    "tables": (hunt, 0.25), "known totals": (hunt_totals, 0.15), "rankings": (hunt_pairs, 0.25),
    "best thresholds": (hunt_thresholds, 0.15),
}  # fmt: skip
"""Certificates that are attacked, by what they are of, and each one's share of the time."""

INPUTS = {"layouts of arrays": hunt_arrays, "frames with nasty names": hunt_names}
"""What else is attacked: ways to write the same rows down, by what reads them."""


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 300.0
    jobs, start = min(4, os.cpu_count() or 1), int(time.time())
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        failed = [
            _told(what, start, pool.map(of, [(start + i, share * seconds) for i in range(jobs)]))
            for what, (of, share) in CERTIFICATES.items()
        ]
        seeds = [(start + i, 0.1 * seconds) for i in range(jobs)]
        inputs = {what: pool.map(of, seeds) for what, of in INPUTS.items()}
    wrong = 0
    for what, found in inputs.items():
        lines = [line for _, own in found for line in own]
        print(
            *lines,
            f"{sum(tried for tried, _ in found):,} {what} from seed {start}: {len(lines)} read wrongly.",
            sep="\n",
        )
        wrong += len(lines)
    return 1 if any(failed) or wrong else 0


def _told(what: str, seed: int, results: list[tuple[int, int, Decimal, list[str]]]) -> bool:
    """Print what was found, and return whether something was."""
    found = [line for result in results for line in result[3]]
    tables, weightings = (sum(result[i] for result in results) for i in (0, 1))
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{tables:,} {what}, {weightings:,} weightings from seed {seed}: {len(found)} beyond their certificates.")
    print(f"The nearest came within {float(-max(result[2] for result in results)):.1e} of the end of its range.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
