"""What an experiment is made of: sizes, weights, proportions, and how labels are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from numbers import Real
from typing import Any

import numpy as np

from ..core.arraytypes import FloatArray, IntArray
from ..errors import InputError
from ..measures.checks import checked_number, named_measure, whole_number
from ..present.text import listed

MATCHES = ("proportion", "chance", "shared")
MISMATCHES = ("uniform", "next", "lowest")
TRUTHS = ("one", "each", "balanced")

LARGEST_TOTAL = 2**53
"""Sums of whole weights are exact up to here."""

MOST_AT_ONCE, MOST_DRAWS = 2 * 10**7, 10**10
"""Labels of a repetition, and of all, where each start has predictions of its own: gigabytes, and minutes."""


@dataclass(frozen=True)
class ExperimentDesign:
    """Parameters of an experiment, checked; `wmcc.experiments.separation` says what they are."""

    classes: int
    measures: tuple[str, ...]
    n: int
    section: int
    p: tuple[float, ...]
    p0: float
    weights: tuple[int, ...]
    """One per observation."""
    repetitions: int
    matches: str
    mismatch: str
    truth: str
    seed: int

    @property
    def starts(self) -> IntArray:
        """Where the section may start, counted from 1 as in the paper."""
        return np.arange(1, self.n - self.section + 2)

    @property
    def heaviest(self) -> FloatArray:
        """Share of the section that lies where weights are largest, by start."""
        w = np.array(self.weights)
        before = np.concatenate([[0], np.cumsum(w == w.max())])
        return np.asarray((before[self.section :] - before[: len(self.starts)]) / self.section)

    @property
    def landmarks(self) -> tuple[int, int, int]:
        """Places of three starts: farthest from the heaviest part, just before it, and deepest in it."""
        deep = int(np.argmax(self.heaviest))
        outside = self.outside
        away = abs(outside - deep)
        return int(outside[np.argmax(away)]), int(outside[np.argmin(away)]), deep

    @property
    def outside(self) -> IntArray:
        """Places of the starts from which the section holds nothing of the heaviest part."""
        places = np.flatnonzero(self.heaviest == 0)
        if not len(places):
            raise InputError("the section lies in the heaviest part from every start.", "choose a shorter section.")
        return places


def checked(
    classes: Any, measures: Any, n: Any, section: Any, p: Any, p0: Any, weights: Any, repetitions: Any, **more: Any
) -> ExperimentDesign:
    """Return the design that is asked for, or say what is wrong with it."""
    K, N = whole_number(classes, "classes", 2, 256), whole_number(n, "n", 2)
    for name, known in (("matches", MATCHES), ("mismatch", MISMATCHES), ("truth", TRUTHS)):
        if more[name] not in known:
            raise InputError.of(name, more[name], listed(known, "or"))
    design = ExperimentDesign(
        classes=K,
        measures=_measures(measures, K),
        n=N,
        section=max(1, N // 3) if section is None else whole_number(section, "section", 1, N),
        p=tuple(_proportion(x, "p") for x in _several(p, "p", "proportions")),
        p0=_proportion(p0, "p0"),
        weights=_weights(weights, N),
        repetitions=whole_number(repetitions, "repetitions", 2),
        **more | {"seed": whole_number(more["seed"], "seed", 0)},
    )
    if len(set(design.p)) < len(design.p):
        raise InputError.of("p", p, "each proportion once")
    labels = len(design.starts) * N
    if design.matches != "shared" and (labels > MOST_AT_ONCE or labels * design.repetitions > MOST_DRAWS):
        each = f"{repetitions:,} predictions of {N:,} labels for each of {len(design.starts):,} starts"
        raise InputError(f"{each} are too many.", "`matches` 'shared' lets all starts share their draws.")
    return design


def _several(x: Any, name: str, what: str) -> Sequence[Any]:
    items = [x] if isinstance(x, (str, int, float, np.number)) or not hasattr(x, "__iter__") else list(x)
    if not items:
        raise InputError(f"`{name}` is empty; expected {what}.", argument=name)
    return items


def _proportion(x: Any, name: str) -> float:
    return checked_number(x, name, lambda share: 0 <= share <= 1, "a proportion, from 0 to 1") + 0.0


def _measures(given: Any, K: int) -> tuple[str, ...]:
    if given is None:
        return ("mcc",) if K == 2 else ("ecc", "mpc1", "mpc2")
    measures = [named_measure(x) for x in _several(given, "measures", "names of measures")]
    for measure in measures:
        if measure.two_classes and K > 2:
            raise InputError(f"{measure.title} is for two classes; these are {K}.", "use ecc, mpc1 or mpc2.")
    return tuple(dict.fromkeys(measure.name for measure in measures))


def _weights(given: Any, N: int) -> tuple[int, ...]:
    """One weight per observation, from as many or from those of equal parts."""
    parts = list(_several(given, "weights", "whole numbers"))
    if len(parts) > N:
        raise InputError(f"there are {len(parts):,} weights for {N:,} observations.")
    for x in parts:
        number = -1.0 if isinstance(x, bool) or not isinstance(x, Real) else float(x)
        if not 0 <= number <= LARGEST_TOTAL or number != floor(number):
            said = f"a weight is {x!r}; expected whole numbers of at least 0, whose sums are exact."
            raise InputError(said, "measures do not depend on the unit: choose a smaller one.", "weights")
    w = tuple(int(parts[i * len(parts) // N]) for i in range(N))
    if not 0 < sum(w) <= LARGEST_TOTAL:
        raise InputError(f"the total weight is {sum(w):,}; expected more than 0 and at most 2⁵³.")
    return w
