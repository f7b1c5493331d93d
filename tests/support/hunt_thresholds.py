"""Best thresholds with a certificate, and an adversary set on them; `hunt.py` runs it.

It looks for weights within ±ε at which the chosen threshold scores less than was proved, or at which a threshold that
is never best scores as much as the chosen one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from adversary import FORMULAS, Array, Attack, limits, values
from adversary_pairs import PairAttack, joint_limits

import wmcc


class ScoreCase(NamedTuple):
    """Rows with truths 0 and 1 and a score, and by which share of itself each weight may be off."""

    truth: Array
    score: Array
    w: Array
    eps: float

    def best(self, measure: str) -> Any:
        """Return the threshold with the best proved value."""
        return wmcc.best_threshold(self.scores, measure, eps=self.eps)

    @property
    def scores(self) -> Any:
        return wmcc.tabulate(self.truth, score=self.score, sample_weight=self.w)

    def called(self, threshold: float) -> Array:
        """Labels that a threshold makes."""
        return (self.score >= threshold).astype(np.int64)


SHARES = (0.0, 1e-12, 1e-5, 0.01, 0.1, 0.3, 0.7, 0.999999)

Rows = tuple[Array, Array, Array]
NASTY_SCORES: dict[str, Callable[[Any, Array, Array, Array], Rows]] = {
    "twelve orders": lambda random, t, s, w: (t, s, 10.0 ** random.uniform(-6, 6, len(w))),
    "all of float64": lambda random, t, s, w: (t, s, 10.0 ** random.uniform(-300, 300, len(w))),
    "weights of zero": lambda random, t, s, w: (t, s, random.integers(0, 3, len(w)) * 1.0),
    "subnormal": lambda random, t, s, w: (t, s, np.ldexp(random.integers(0, 5, len(w)) * 1.0, -1074)),
    "a positive without weight": lambda random, t, s, w: (t, s, np.where(t == 1, 0.0, w)),
    "two scores": lambda random, t, s, w: (t, (s > 0.5) * 1.0, w),
    "perfect": lambda random, t, s, w: (t, t + 0.1 * s, w),
    "reversed": lambda random, t, s, w: (t, -t + 0.1 * s, w),
    "nothing to see": lambda random, t, s, w: (t, random.normal(size=len(s)).round(1), w),
    "infinite": lambda random, t, s, w: (
        t,
        np.where(random.random(len(s)) < 0.3, np.where(s > 0, np.inf, -np.inf), s),
        w,
    ),
    "few positives": lambda random, t, s, w: (np.where(np.arange(len(t)) < 2, t, 0), s, w),
    "one heavy row": lambda random, t, s, w: (t, s, np.where(np.arange(len(t)) == 3, 1e9, w)),
}


def draw_scores(random: Any, kind: str | None = None, most: int = 40, digits: int | None = None) -> ScoreCase:
    """Return rows of a kind of trouble (None: none), and an ε; with many digits each score occurs once."""
    rows = int(random.integers(4, most + 1)) if digits is None else most
    truth = (random.random(rows) < random.uniform(0.1, 0.9)).astype(np.int64)
    truth[:2] = 0, 1
    score = random.normal(truth * random.uniform(0, 3), 1).round(
        int(random.integers(0, 3)) if digits is None else digits
    )
    w = random.uniform(1.0, 10.0, rows) if random.random() < 0.5 else random.integers(1, 4, rows) * 1.0
    if kind is not None:
        truth, score, w = NASTY_SCORES[kind](random, truth, score, w)
    if not w.any():
        w = w + 1.0
    if len(np.unique(score)) == 1:
        score = score + (np.arange(rows) == 0)
    return ScoreCase(truth, score, w, float(random.choice(SHARES)))


class Broken(NamedTuple):
    """How far finds lie beyond what was proved, if positive; and how many weightings were tried."""

    below: Decimal
    as_good: Decimal
    weightings: int

    @property
    def beyond(self) -> Decimal:
        """The larger of the two."""
        return max(self.below, self.as_good)

    @property
    def there(self) -> bool:
        """Whether something is broken: what is never best is not even as good as the best."""
        return self.below > 0 or self.as_good >= 0


def steps_of(case: ScoreCase) -> tuple[Array, Array]:
    """The scores that occur, and the tables of their thresholds, in plain float64: thresholds × truth × prediction."""
    steps, place = np.unique(case.score, return_inverse=True)
    weight = np.zeros((len(steps), 2))
    np.add.at(weight, (place, case.truth), case.w / case.w.sum())
    above = weight[::-1].cumsum(axis=0)[::-1]
    return steps, np.stack([above[0] - above, above], axis=-1)


def attack_best(case: ScoreCase, measure: str, seed: int = 0, tried: int = 2) -> Broken:
    """Attack the proved value of the chosen threshold, and some of those that are never best.

    Of these they are the ones whose largest value is the largest, and so the nearest to being best.
    """
    best = case.best(measure)
    steps, tables = steps_of(case)
    chosen = case.called(best.threshold)
    one = Attack(limits(case.truth, chosen, case.w.tolist(), 2, "relative", case.eps), measure, -1, seed)
    below, count = Decimal(best.certified) - one.run()[0], one.weightings
    is_never = ~np.isin(steps, best.could_be_best)
    never, raised = steps[is_never], np.where(np.eye(2) > 0, 1 + case.eps, 1 - case.eps)
    highest = values(measure, tables[is_never] * raised)
    as_good = Decimal("-Infinity")
    for k in np.argsort(highest)[::-1][:tried]:
        rows = case.truth, case.called(never[k]), chosen, case.w.tolist()
        other = PairAttack(joint_limits(*rows, 2, "relative", case.eps), measure, 1, seed)
        as_good, count = max(as_good, other.run()[0]), count + other.weightings
    return Broken(below, as_good, count)


def untrue(case: ScoreCase, measure: str, best: Any) -> list[str]:
    """Return what does not hold, of what must hold of every certified choice, however many steps there are."""
    scores, steps = case.scores, set(np.unique(case.score).tolist())
    certificate = wmcc.certify(scores.at(best.threshold), measure, eps=case.eps)
    held = {
        "it is as certain as its own certificate": best.certified == (0.0 if certificate.problem else certificate.low),
        "what is proved is at most the apparent value": best.certified <= best.value,
        "the chosen threshold could be best": best.threshold in best.could_be_best,
        "thresholds are steps": set(best.could_be_best) <= steps,
        "all steps could be best or never are": best.never_best + len(best.could_be_best) == len(steps),
    }
    return [sentence for sentence, holds in held.items() if not holds]


def hunt_thresholds(job: tuple[int, float]) -> tuple[int, int, Decimal, list[str]]:
    """Attack choices of all kinds for some seconds: tables, weightings, the largest distance beyond, violations."""
    seed, seconds = job
    random, end = np.random.default_rng(seed), time.monotonic() + seconds
    tables, weightings, furthest, found = 0, 0, Decimal("-Infinity"), []
    while time.monotonic() < end:
        kind, name = random.choice([None, *NASTY_SCORES]), str(random.choice(list(FORMULAS)))
        many = random.random() < 0.1
        case = draw_scores(random, kind, int(random.integers(1000, 5000)), 15) if many else draw_scores(random, kind)
        found += [f"{kind}: {name}: not so: {sentence}: {case}" for sentence in untrue(case, name, case.best(name))]
        broken = attack_best(case, name, seed)
        tables, weightings = tables + 1, weightings + broken.weightings
        furthest = max(furthest, broken.beyond)
        if broken.there:
            found.append(f"{kind}: {name}: {float(broken.below):.1e} below, {float(broken.as_good):.1e} above: {case}")
    return tables, weightings, furthest, found
