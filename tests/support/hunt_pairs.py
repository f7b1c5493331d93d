"""Rankings of every kind of trouble, and the adversary set on them; `hunt.py` runs it."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from adversary import FORMULAS, Array, attack
from adversary_pairs import JointLimits, PairAttack, joint_between, joint_limits

import wmcc


class PairCase(NamedTuple):
    """Rows with labels 0 … K − 1 and two predictions, and how far their weights may move."""

    K: int
    t: Array
    a: Array
    b: Array
    w: Array
    model: str
    eps: float
    lower: Array = None
    upper: Array = None

    @property
    def limits(self) -> JointLimits:
        rows = self.t, self.a, self.b, self.w.tolist()
        if self.model == "bounds":
            return joint_between(*rows, self.lower.tolist(), self.upper.tolist(), self.K)
        return joint_limits(*rows, self.K, self.model, self.eps)

    def rank(self, measure: str, **options: Any) -> Any:
        if self.model == "bounds":
            lower, upper = (self.joint(w) for w in (self.lower, self.upper))
            return wmcc.certify_ranking(self.joint(self.w), measure, lower=lower, upper=upper, **options)
        return wmcc.certify_ranking(self.joint(self.w), measure, eps=self.eps, model=self.model, **options)

    def joint(self, w: Array) -> wmcc.JointTable:
        """The joint table of the rows with these weights."""
        return wmcc.tabulate(self.t, {"a": self.a, "b": self.b}, w, labels=range(self.K))


SHARES = (0.0, 1e-300, 1e-12, 1e-5, 0.01, 0.1, 0.3, 0.7, 0.999999)
AMOUNTS = (1e-3, 0.5, 1.0, 2.0, 5.0, 20.0, 1e5)

Rows = tuple[Array, Array, Array, Array]
NASTY_PAIRS: dict[str, Callable[[Any, Array, Array, Array, Array, int], Rows]] = {
    "twelve orders": lambda random, t, a, b, w, K: (t, a, b, 10.0 ** random.uniform(-6, 6, len(w))),
    "all of float64": lambda random, t, a, b, w, K: (t, a, b, 10.0 ** random.uniform(-300, 300, len(w))),
    "weights of zero": lambda random, t, a, b, w, K: (t, a, b, random.integers(0, 3, len(w)) * 1.0),
    "subnormal": lambda random, t, a, b, w, K: (t, a, b, np.ldexp(random.integers(0, 5, len(w)) * 1.0, -1074)),
    "second never predicts the last": lambda random, t, a, b, w, K: (t, a, np.minimum(b, max(K - 2, 0)), w),
    "second constant on a class": lambda random, t, a, b, w, K: (t, a, np.where(t == 0, K - 1, b), w),
    "second always right": lambda random, t, a, b, w, K: (t, a, t, w),
    "second never right": lambda random, t, a, b, w, K: (t, a, (t + 1) % K, w),
    "one row apart": lambda random, t, a, b, w, K: (t, a, np.where(np.arange(len(t)) == 0, b, a), w),
    "second nearly constant": lambda random, t, a, b, w, K: (t, a, np.where(np.arange(len(t)) < 2, b, 0), w),
    "both nearly constant": lambda random, t, a, b, w, K: (
        t,
        np.where(np.arange(len(t)) < 2, a, 0),
        np.where(np.arange(len(t)) < 2, b, K - 1),
        w,
    ),
    "a thin class": lambda random, t, a, b, w, K: (t, a, b, np.where((t == 0) | (a == 0), w * 1e-9, w)),
    "nearly all of one class": lambda random, t, a, b, w, K: (np.where(random.random(len(t)) < 0.9, 0, t), a, b, w),
    "permuted": lambda random, t, a, b, w, K: (t, a, (a + 1) % K, w),
    "fewer rows than classes": lambda random, t, a, b, w, K: (*(x[: K // 2 + 2] for x in (t, a, b, w)),),
}


def draw_pair(random: Any, kind: str | None = None, most: int = 6, model: str | None = None) -> PairCase:
    """Return rows of a kind of trouble (None: none), a model (None: any) and an ε, or bounds."""
    K = int(random.integers(2, most + 1))
    rows = int(random.integers(2, 6 * K))
    t = random.integers(0, K, rows)
    a = np.where(random.random(rows) < random.random(), t, random.integers(0, K, rows))
    b = np.where(random.random(rows) < random.random(), a, random.integers(0, K, rows))
    w = random.uniform(1.0, 10.0, rows) if random.random() < 0.5 else random.integers(1, 4, rows) * 1.0
    if kind is not None:
        t, a, b, w = NASTY_PAIRS[kind](random, t, a, b, w, K)
    if random.random() < 0.5:
        a, b = b, a
    if not w.any():
        w = w + 1.0
    model = model or str(random.choice(["relative", "absolute", "bounds"]))
    eps = float(random.choice(SHARES if model == "relative" else AMOUNTS))
    if kind == "subnormal" and model == "absolute":
        eps *= 5e-324
    lower = np.where(random.random(len(w)) < 0.5, w, w * random.choice([0.0, 0.5, 0.9], len(w)))
    upper = np.where(random.random(len(w)) < 0.5, w, w * random.choice([1.1, 2.0, 10.0], len(w)))
    return PairCase(K, t, a, b, w, model, eps, lower, upper)


def hunt_pairs(job: tuple[int, float]) -> tuple[int, int, Decimal, list[str]]:
    """Attack rankings of all kinds for some seconds: tables, weightings, the largest distance beyond, violations."""
    seed, seconds = job
    random, end = np.random.default_rng(seed), time.monotonic() + seconds
    tables, weightings, furthest, found = 0, 0, Decimal("-Infinity"), []
    while time.monotonic() < end:
        kind = random.choice([None, *NASTY_PAIRS])
        case = draw_pair(random, kind, most=int(random.choice([2, 3, 4, 6])))
        name = str(random.choice(list(FORMULAS)[0 if case.K == 2 else 1 :]))
        ranking = case.rank(name, nodes=int(random.choice([1, 10, 100])))
        if ranking.problem:  # it is undefined
            continue
        verdict = attack(case.limits, name, seed=seed, kind=PairAttack)
        tables, weightings = tables + 1, weightings + verdict.weightings
        beyond = verdict.beyond(ranking.low, ranking.high)
        furthest = max(furthest, beyond)
        if beyond > 0:
            found.append(f"{kind}: {name} by {float(beyond):.1e}: {ranking.low!r} … {ranking.high!r}: {case}")
    return tables, weightings, furthest, found
