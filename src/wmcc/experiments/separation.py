"""Measures of predictions that are good, or bad, in one section: the paper's Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray, IntArray
from ..core.threads import in_order, processors
from ..errors import InputError
from ..measures import MEASURES
from ..measures.base import Measure, MeasureName, Shares
from ..measures.checks import named_measure
from ..present.blocks import Block
from ..present.json_csv import Record
from ..present.progress import Progress, bar
from ..present.result import Result
from .design import ExperimentDesign, checked
from .draws import margins

BAND = (0.05, 0.95)
"""Shares of single predictions that lie below the ends of a band."""

DECIMALS = 9
"""Of stored numbers."""

AT_ONCE = 1 << 19  # measures that are summarized at once
KEPT = (1 << 25) - (1 << 13)  # bytes: glibc learns from blocks of up to 32 MiB
LONG = 1 << 24  # labels, or margins, beyond which there is a progress bar
SMALL = 1 << 14  # those of a repetition that are not worth a thread


@dataclass(frozen=True, repr=False)
class Trace:
    """A measure over the starts of the section, for one match proportion p, weighted or not.

    Parameters
    ----------
    p, measure, weighted
        What it is.
    mean, se
        Mean over the repetitions, and its standard error.
    low, high
        Where nine in ten single predictions lie: the 5 % and the 95 % quantile of the repetitions.
    """

    p: float
    measure: str
    weighted: bool
    mean: FloatArray
    se: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def title(self) -> str:
        """The paper's name: with a W where it is weighted."""
        name = MEASURES[self.measure].title.partition(" (")[0]
        if not self.weighted:
            return name
        return f"W{name}" if name.isupper() else f"{name}, weighted"


class Point(NamedTuple):
    """What is stored of a trace at one start; see `Trace`."""

    p: float
    measure: str
    weighted: bool
    start: int
    mean: float
    se: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Separation(Result):
    """What `separation` returns.

    Parameters
    ----------
    design
        The parameters.
    starts
        First indices of the section, counted from 1.
    traces
        A `Trace` for each p, measure and weighting.
    apart
        By p and weighting, for each start: the largest difference between two of the measures in one prediction.
    """

    design: ExperimentDesign
    starts: IntArray
    traces: tuple[Trace, ...]
    apart: dict[tuple[float, bool], FloatArray]

    _kind = "separation"
    _stored = ("design", "traces")

    def trace(self, p: float, measure: str | Measure, weighted: bool = True) -> Trace:
        """Look up a trace."""
        name = named_measure(measure).name
        for one in self.traces:
            if (one.p, one.measure, one.weighted) == (p, name, weighted):
                return one
        hint = f"p is one of {', '.join(map(str, self.design.p))}; the measures are {', '.join(self.design.measures)}."
        raise InputError(f"there is no trace of {name} at p = {p!r}.", hint)

    @property
    def _stored_traces(self) -> list[Point]:
        """The points of all traces, with nine decimals: they are the same on any machine."""
        points = []
        for one in self.traces:
            columns = ((x.round(DECIMALS) + 0.0).tolist() for x in (one.mean, one.se, one.low, one.high))
            each = zip(self.starts.tolist(), *columns, strict=True)
            points += [Point(one.p, one.measure, one.weighted, *own) for own in each]
        return points

    def records(self) -> list[Record]:
        """Return a row for each start of each trace, with nine decimals: they are the same on any machine."""
        return [point._asdict() for point in self._stored_traces]

    def blocks(self) -> list[Block]:
        """Return a line about it."""
        d = self.design
        what = f"Separation: {d.classes} classes, {d.n:,} observations, a section of {d.section:,}"
        each = f"{d.repetitions:,} predictions for each of {len(self.starts):,} starts"
        return [Block(f"{what}, {each}, {len(self.traces)} traces")]


def separation(
    classes: int = 2,
    measures: MeasureName | Measure | Iterable[MeasureName | Measure] | None = None,
    *,
    n: int = 150,
    section: int | None = None,
    p: float | Sequence[float] = (0.0, 0.5, 1.0),
    p0: float = 0.5,
    weights: Sequence[int] = (1, 100, 10_000),
    repetitions: int = 100,
    matches: str = "proportion",
    mismatch: str = "uniform",
    truth: str = "one",
    seed: int = 0,
    progress: bool | None = None,
) -> Separation:
    """Score predictions that match the truth to a proportion p in one section, and to p0 elsewhere.

    The section starts at every index in turn, as in Section 5 of the paper; the defaults are those of its Figure 1,
    and with three classes those of its Figure 2. The same seed gives the same numbers on any machine.

    Parameters
    ----------
    classes
        K, the number of classes.
    measures
        Names of measures; by default MCC for two classes, and ECC, MPC1 and MPC2 for more.
    n
        Number of observations.
    section
        Length of the section, a third of n by default.
    p, p0
        Match proportions inside of the section (one or several), and outside.
    weights
        Whole numbers, one per observation or one for each of equal parts. Every measure is also computed without.
    repetitions
        Predictions for each start, at least two.
    matches
        ``"proportion"``: exactly a share p of the section matches, to the nearest whole number, and p0 of the rest;
        ``"chance"``: each observation matches with this probability; ``"shared"``: the same, but all starts share
        their draws, so that neighbours are alike and a thousand times more can be computed.
    mismatch
        The class of a mismatch: ``"uniform"``, any of the others; ``"next"``, t + 1, or 0 after the last;
        ``"lowest"``, the first other class.
    truth
        ``"one"``: true classes are drawn uniformly, once; ``"each"``: for each repetition anew; ``"balanced"``: once,
        with classes of the same size, or nearly.
    seed
        Seed of the random draws.
    progress
        Whether to show a bar; by default if it takes long and somebody watches.

    Examples
    --------
    >>> from wmcc.experiments import separation
    >>> found = separation(repetitions=20)
    >>> found
    Separation: 2 classes, 150 observations, a section of 50, 20 predictions for each of 101 starts, 6 traces
    >>> good = found.trace(1.0, "mcc")
    >>> [f"{good.title} from {found.starts[i]}: {good.mean[i]:.2f}" for i in (0, 50, 75, 100)]
    ['WMCC from 1: 0.03', 'WMCC from 51: 0.01', 'WMCC from 76: 0.51', 'WMCC from 101: 0.99']
    """
    drawn = {"matches": matches, "mismatch": mismatch, "truth": truth, "seed": seed}
    design = checked(classes, measures, n, section, p, p0, weights, repetitions, **drawn)
    traces, apart = list[Trace](), {}
    watched = progress if _work(design) * design.repetitions >= LONG else False
    with bar(watched, "predictions", len(design.p) * design.repetitions) as shown:
        for share in design.p:
            for weighted, values in enumerate(_values(design, share, shown)):
                *numbers, between = _summary(values)
                apart[share, bool(weighted)] = between
                for name, *own in zip(design.measures, *numbers, strict=True):
                    traces.append(Trace(share, name, bool(weighted), *own))
    return Separation(design, design.starts, tuple(traces), apart)


def _work(design: ExperimentDesign) -> int:
    """Labels that are drawn in a repetition, or margins that are moved."""
    return len(design.starts) * (design.classes if design.matches == "shared" else design.n)


def _values(design: ExperimentDesign, p: float, shown: Progress) -> FloatArray:
    """Measures of single predictions: by weighting, measure, repetition and start."""
    out = np.empty((2, len(design.measures), design.repetitions, len(design.starts)))

    def repetition(number: int) -> None:
        for values, found in zip(out[:, :, number], margins(design, p, number), strict=True):
            for m in found:
                # Classes vary slowest in memory, so that sums over them are sums of rows.
                shares = Shares.of_margins(m.s, m.r.T, m.q.T, m.d.T)
                for row, name in zip(values, design.measures, strict=True):
                    row[m.starts] = MEASURES[name].near(shares)

    # glibc gives memory back and asks for it again at once, and page faults are half of the time, until it has seen a
    # block of this size freed.
    np.empty(KEPT, dtype=np.uint8)
    every = range(design.repetitions)
    for _ in in_order(repetition, every, 1 if _work(design) < SMALL else processors()):
        shown.advance(1)
    return out


def _summary(values: FloatArray) -> list[FloatArray]:
    """Mean, standard error, low and high of each measure by start; and how far two measures are apart at most."""
    M, R, S = values.shape
    step = max(1, AT_ONCE // (M * R))
    ends = [max(1, ceil(share * R)) - 1 for share in BAND]

    def block(number: int) -> tuple[FloatArray, ...]:
        own = values[:, :, number * step : (number + 1) * step]
        mean = own.mean(axis=1)
        se = np.sqrt(np.square(own - mean[:, np.newaxis]).sum(axis=1) / (R - 1) / R)
        low, high = np.sort(own, axis=1)[:, ends].swapaxes(0, 1)
        return mean, se, low, high, np.ptp(own, axis=0).max(axis=0)

    blocks = in_order(block, range(ceil(S / step)), processors())
    return [np.concatenate(parts, axis=-1) for parts in zip(*blocks, strict=True)]
