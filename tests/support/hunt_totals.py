"""Certificates of weights whose total is known, and an adversary set on them; `hunt.py` runs it.

It moves weights until they have the total: in float64 to find them, and in fractions to confirm what was found.
"""

from __future__ import annotations

import time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from adversary import FORMULAS, Array, Attack, Limits, attack

from wmcc.errors import InputError


class HeldLimits(Limits):
    """Limits of cells whose sum is known."""

    total: Fraction

    @classmethod
    def of(cls, limits: Limits, weights: Any) -> HeldLimits:
        """The same limits with the total of some weights."""
        found = cls(*limits)
        found.total = sum(map(Fraction, weights), Fraction(0))
        return found

    def table(self, position: Array) -> list[list[Fraction]]:
        """Cells at a position, moved by one part of the way to an end until they have the total, exactly."""
        cells = super().table(position)
        rest = self.total - sum(map(sum, cells))
        ends = self.high if rest > 0 else self.low
        room = [[abs(e - c) for c, e in zip(*rows, strict=True)] for rows in zip(cells, ends, strict=True)]
        whole = sum(map(sum, room))
        part = rest / whole if whole else Fraction(0)
        moved = [[c + part * x for c, x in zip(*rows, strict=True)] for rows in zip(cells, room, strict=True)]
        assert self.contain(moved)
        assert sum(map(sum, moved)) == self.total
        return moved


class HeldAttack(Attack):
    """Search among tables that have the total."""

    def _tables(self, positions: Array) -> Array:
        tables = super()._tables(positions)
        unit = max(sum(sum(row) for row in self.limits.high), Fraction(1, 1 << 1100))
        flat = tables.reshape(len(tables), -1)
        rest = float(self.limits.total / unit) - flat.sum(-1, keepdims=True)
        room = np.where(rest > 0, self.high - flat, flat - self.low)
        part = np.clip(np.abs(rest) / np.maximum(room.sum(-1, keepdims=True), 1e-300), 0.0, 1.0)
        return (flat + np.sign(rest) * part * room).reshape(tables.shape)

    def slopes(self, positions: Array) -> Array:
        """Slopes less one of them, since weight that is given to one cell is taken from another."""
        found = super().slopes(positions)
        level = np.quantile(found, self.random.random(), axis=-1, keepdims=True)
        return found - level


def hunt_totals(job: tuple[int, float]) -> tuple[int, int, Decimal, list[str]]:
    """Attack tables of all kinds for some seconds: tables, weightings, the largest distance beyond, violations."""
    from hunt import NASTY, draw  # which imports this

    seed, seconds = job
    random, end = np.random.default_rng(seed), time.monotonic() + seconds
    tables, weightings, furthest, found = 0, 0, Decimal("-Infinity"), []
    while time.monotonic() < end:
        kind = random.choice([None, *NASTY])
        case = draw(random, kind, most=int(random.choice([3, 4, 6, 10])))
        name = str(random.choice(list(FORMULAS)[0 if case.K == 2 else 1 :]))
        try:
            certificate = case.certify(name, nodes=int(random.choice([1, 10, 100])), fixed="total")
        except InputError:  # the smallest sums of cells are not known
            continue
        if certificate.problem:  # it is undefined
            continue
        verdict = attack(HeldLimits.of(case.limits, case.w.tolist()), name, seed=seed, kind=HeldAttack)
        tables, weightings = tables + 1, weightings + verdict.weightings
        beyond = verdict.beyond(certificate.low, certificate.high)
        furthest = max(furthest, beyond)
        wrong = beyond > 0 or not certificate.low <= certificate.value <= certificate.high
        for one in (certificate.lower, certificate.upper):
            sums = sum(Fraction(c) * Fraction(2) ** one.box.exponent for c in one.held)
            wrong |= (
                sums != sum(map(Fraction, case.w.tolist())) or not certificate.low <= one.attained <= certificate.high
            )
        if wrong:
            found.append(f"{kind}: {name} by {float(beyond):.1e}: {certificate.low!r} … {certificate.high!r}: {case}")
    return tables, weightings, furthest, found
