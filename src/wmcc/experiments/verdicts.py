"""What the paper says about its figures, and what the numbers say about that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import exp, inf, log, nan, sqrt

import numpy as np

from ..core.arraytypes import FloatArray
from ..errors import InputError
from .separation import Separation, Trace

NEAR = 0.15
"""How far apart values are at most that count as near, on scales from −1 to 1."""

SAME = 0.01
"""Means this far apart are almost identical."""

CHANCE = 0.01
"""How often chance alone may decide about a graph; limits allow for all its means that are compared (Bonferroni's)."""

HOLDS, FAILS, PARTLY, OPEN = "holds", "does not hold", "holds in part", "undecided"


@dataclass(frozen=True)
class Verdict:
    """A sentence of the paper and what became of it.

    Parameters
    ----------
    figure
        ``"1"``, ``"2"`` or ``"1, 2"``.
    sentence
        The paper's words, shortened.
    test
        What was asked of the numbers.
    verdict
        ``"holds"``, ``"does not hold"``, ``"holds in part"``, or ``"undecided"``: too few repetitions to tell.
    found
        The numbers.
    """

    figure: str
    sentence: str
    test: str
    verdict: str
    found: str


Answers = Iterable[bool | None]
"""Whether things are so; None where chance could decide."""


def verdicts(first: Separation, second: Separation) -> tuple[Verdict, ...]:
    """Judge the paper's sentences by its two experiments: of two classes, and of more.

    Every threshold is in the ``test`` of a verdict. Means are compared with their standard errors, by Student's
    distribution, so that chance decides about a graph in one case of a hundred.

    Examples
    --------
    >>> from wmcc.experiments import separation, verdicts
    >>> for x in verdicts(separation(), separation(3))[:3]:
    ...     print(f"{x.verdict}: {x.sentence}")
    holds: the standard (unweighted) measures fail to distinguish such good predictions
    holds: weighted measures clearly rank as higher those predictions that perform better on the more important …
    holds: the last third of the sample, the portion with weights set to 10000, drives the value of WMCC
    """
    for found in (first, second):
        if not {0.0, 0.5, 1.0} <= set(found.design.p) or len(found.starts) < 2:
            raise InputError("the paper's sentences are about p = 0, 0.5 and 1, and sections that move.")
    if first.design.measures != ("mcc",) or len(second.design.measures) < 2:
        raise InputError("the paper's sentences are about MCC of two classes, and several measures of more.")
    return tuple(_judged(first, second))


def _judged(first: Separation, second: Separation) -> Iterator[Verdict]:
    yield _verdict(
        "1, 2",
        "the standard (unweighted) measures fail to distinguish such good predictions",
        f"each unweighted mean is within {NEAR:g} of its mean over all starts",
        *_flat([(x, x.trace(p, m, False)) for x in (first, second) for p in x.design.p for m in x.design.measures]),
    )
    yield _verdict(
        "1, 2",
        "weighted measures clearly rank as higher those predictions that perform better on the more important …",
        f"at p = 1 means are more than {NEAR:g} higher where the section is heaviest than where it is lightest",
        *_ranked([(x, x.trace(1.0, m)) for x in (first, second) for m in x.design.measures]),
    )
    yield _verdict(
        "1",
        "the last third of the sample, the portion with weights set to 10000, drives the value of WMCC",
        f"at p = 0 and 1, but for {100 * NEAR:g} %, the mean changes only while the section enters the heaviest part",
        *_driven(first, [first.trace(p, "mcc") for p in (0.0, 1.0)]),
    )
    yield _verdict(
        "1",
        "when … p = 0.5 for the entire sample vector c, a value of 0 is expected for both MCC and WMCC",
        f"no mean is further from 0 than chance allows, and all are within {NEAR:g} of it",
        *_zero(first, [first.trace(0.5, "mcc", weighted) for weighted in (False, True)]),
    )
    yield _verdict(
        "1",
        "the imbalance in weights causes higher variation",
        "at p = 0.5 single predictions vary more with weights than without",
        *_varies(first, *(first.trace(0.5, "mcc", weighted) for weighted in (False, True))),
    )
    yield _verdict(
        "1",
        "each graph lingers close to 0 until the starting index of the section with proportion p passes 50",
        f"means are within {NEAR:g} of 0 at all starts without an observation of the heaviest part",
        *_lingers(first, [first.trace(p, "mcc") for p in (0.0, 0.5, 1.0)]),
    )
    yield _verdict(
        "1",
        "passes 50—when at least half of this segment lies in the portion of c with the highest weights",
        f"until half of it lies there WMCC at p = 1 is within {NEAR:g} of its level, and not beyond chance from it",
        *_half(first, first.trace(1.0, "mcc")),
    )
    yield _verdict(
        "1",
        "for p = 0, WMCC ranks worse (values closer to −1) the predictions that misclassify the highly weighted …",
        f"the mean is within {NEAR:g} of −1 where the section is heaviest",
        *_bottom(first, first.trace(0.0, "mcc")),
    )
    yield _verdict(
        "2",
        "the effect of the weights is evident by the change in the graphs at index value 50",
        f"weighted means at p = 0 and 1 are within {NEAR:g} of a level before the heaviest part, and leave it after",
        *_changes(second, [second.trace(p, m) for p in (0.0, 1.0) for m in second.design.measures]),
    )
    heavier = second.trace(1.0, second.design.measures[0])
    yield _verdict(
        "2",
        "… at index value 50, as more than half of the section matching at proportion p has heavier weights",
        f"the same, with {heavier.title} at p = 1 and the heaviest weights",
        *_half(second, heavier),
    )
    yield _verdict(
        "2",
        "unlike the binary case, the unweighted values are non-negative",
        "MCC at p = 0 is below 0 beyond chance, and no unweighted mean of more classes is below 0",
        *_signs(first, second),
    )
    yield _verdict(
        "2",
        "for the given samples the values of WECC, WMPC1, and WMPC2 are almost identical",
        f"at no start do their means differ by more than {SAME:g}",
        *_identical(second),
    )


def _verdict(figure: str, sentence: str, test: str, answers: Answers, found: str) -> Verdict:
    every = list(answers)
    if all(every):
        verdict = HOLDS
    elif all(x is False for x in every):
        verdict = FAILS
    else:
        verdict = PARTLY if False in every else OPEN
    return Verdict(figure, sentence, test, verdict, found)


# ---- what chance does ----------------------------------------------------------------------------------------------


def _limit(found: Separation, count: int) -> float:
    """Standard errors by which chance moves one of so many means, in one case of a hundred."""
    from scipy.special import stdtrit

    return float(stdtrit(found.design.repetitions - 1, 1 - CHANCE / (2 * count)))


def _near(found: Separation, off: FloatArray, se: FloatArray) -> bool | None:
    """Whether all are near 0."""
    room = _limit(found, len(off)) * se
    if (abs(off) + room <= NEAR).all():
        return True
    return False if (abs(off) - room > NEAR).any() else None


def _above(x: float, room: float) -> bool | None:
    """Whether x is above 0."""
    return None if abs(x) <= room else bool(x > 0)


def _errors(off: FloatArray, se: FloatArray) -> float:
    """The largest of some numbers in units of their standard errors."""
    off = np.where(abs(off) > 1e-12, abs(off), 0.0)
    return float(np.divide(off, se, out=np.where(off > 0, inf, 0.0), where=se > 0).max())


# ---- checks --------------------------------------------------------------------------------------------------------


def _flat(traces: list[tuple[Separation, Trace]]) -> tuple[Answers, str]:
    off = [one.mean - one.mean.mean() for _, one in traces]
    answers = [_near(found, x, one.se) for x, (found, one) in zip(off, traces, strict=True)]
    x, (_, worst) = max(zip(off, traces, strict=True), key=lambda pair: float(abs(pair[0]).max()))
    where = f"{worst.title} at p = {worst.p:g}, {worst.mean.min():.3f} to {worst.mean.max():.3f}"
    return answers, f"at most {abs(x).max():.3f} ({where})"


def _ranked(traces: list[tuple[Separation, Trace]]) -> tuple[Answers, str]:
    answers, texts = list[bool | None](), list[str]()
    for found, one in traces:
        far, _, deep = found.design.landmarks
        room = _limit(found, 1) * sqrt(one.se[deep] ** 2 + one.se[far] ** 2)
        answers.append(_above(one.mean[deep] - one.mean[far] - NEAR, room))
        texts.append(f"{one.title} {one.mean[far]:.3f} to {one.mean[deep]:.3f}")
    return answers, "; ".join(texts)


def _driven(found: Separation, traces: list[Trace]) -> tuple[Answers, str]:
    far, edge, deep = found.design.landmarks
    answers, texts = list[bool | None](), list[str]()
    for one in traces:
        whole = float(one.mean[deep] - one.mean[far]) or nan
        share, se = (one.mean[deep] - one.mean[edge]) / whole, np.hypot(one.se[edge], one.se[far]) / abs(whole)
        answers.append(_near(found, np.array([share - 1]), np.array([se])))
        texts.append(f"{100 * share:.1f} ± {100 * se:.1f} % at p = {one.p:g}")
    between = f"between starts {found.starts[edge]} and {found.starts[deep]}"
    return answers, f"of the change, {' and '.join(texts)} are {between}"


def _zero(found: Separation, traces: list[Trace]) -> tuple[Answers, str]:
    limit = _limit(found, len(traces) * len(found.starts))
    errors = [_errors(one.mean, one.se) for one in traces]
    texts = [
        f"{one.title} {one.mean.min():.3f} to {one.mean.max():.3f}, {x:.1f} standard errors"
        for one, x in zip(traces, errors, strict=True)
    ]
    answers = [x <= limit and _near(found, one.mean, one.se) for one, x in zip(traces, errors, strict=True)]
    return answers, f"{'; '.join(texts)} (limit {limit:.1f})"


def _varies(found: Separation, plain: Trace, weighted: Trace) -> tuple[Answers, str]:
    R = found.design.repetitions
    before, after = (sqrt(R * np.square(one.se).mean()) for one in (plain, weighted))
    text = f"standard deviation {after:.3f} against {before:.3f}"
    if before < 1e-12:
        return [after > 1e-12], f"{text}: it does not vary at all without"
    # The logarithm of a standard deviation has a standard error of √(1/2R), less if starts have draws of their own.
    ratio, room = log(after / before), _limit(found, 1) * sqrt(1 / (R - 1))
    return [_above(ratio, room)], f"{text}, {after / before:.1f} times (at least {exp(ratio - room):.1f})"


def _lingers(found: Separation, traces: list[Trace]) -> tuple[Answers, str]:
    outside = found.design.outside
    answers = [_near(found, one.mean[outside], one.se[outside]) for one in traces]
    farthest = ", ".join(f"{abs(one.mean[outside]).max():.3f} at p = {one.p:g}" for one in traces)
    errors = max(float(one.se[outside].max()) for one in traces)
    return answers, f"at most {farthest} ({_starts(found)}; standard errors up to {errors:.3f})"


def _half(found: Separation, one: Trace) -> tuple[Answers, str]:
    share, (_, edge, deep) = found.design.heaviest, found.design.landmarks
    beyond = abs(one.mean - _level(found, one)) > _limit(found, len(one.mean)) * one.se
    step = 1 if edge < deep else -1
    left = next((i + step for i in range(deep, edge - step, -step) if not beyond[i]), edge)
    where = f"from start {found.starts[edge]} none of it, half of it from {found.starts[int(np.argmax(share >= 0.5))]}"
    if not beyond[deep]:
        return [None], f"{where}; {one.title} does not leave its level beyond chance"
    early = share < 0.5
    # What leaves early is seen to; what is not seen to leave early may have.
    answer = bool(share[left] >= 0.5) and _near(found, (one.mean - _level(found, one))[early], one.se[early])
    return [
        answer
    ], f"{where}; {one.title} leaves its level at {found.starts[left]}, with {100 * share[left]:.0f} % of it"


def _bottom(found: Separation, one: Trace) -> tuple[Answers, str]:
    far, _, deep = found.design.landmarks
    mean, se = one.mean[[far, deep]], one.se[[far, deep]]
    here, there = found.starts[[deep, far]]
    text = f"{mean[1]:.3f} ± {se[1]:.3f} from start {here}, {mean[0]:.3f} ± {se[0]:.3f} from {there}"
    return [_near(found, mean[1:] + 1, se[1:])], text


def _changes(found: Separation, traces: list[Trace]) -> tuple[Answers, str]:
    (_, _, deep), outside = found.design.landmarks, found.design.outside
    answers, levels, off = list[bool | None](), list[float](), list[float]()
    for one in traces:
        level = _level(found, one)
        levels.append(level)
        off.append(float(abs(one.mean[outside] - level).max()))
        answers.append(_near(found, one.mean[outside] - level, one.se[outside]))
        moved = (one.mean[deep] - level) * (1 if one.p == 1 else -1)
        answers.append(_above(moved - NEAR, _limit(found, 1) * one.se[deep]))
    ends = [f"{one.mean[deep]:.3f} ({one.title}, p = {one.p:g})" for one in traces]
    before = f"levels {min(levels):.3f} to {max(levels):.3f}; at most {max(off):.3f} from them {_starts(found)}"
    return answers, f"{before}; then to {', '.join(ends)}"


def _signs(first: Separation, second: Separation) -> tuple[Answers, str]:
    binary = first.trace(0.0, "mcc", False)
    answers = [bool((binary.mean + _limit(first, len(binary.mean)) * binary.se < 0).all())]
    texts = [f"MCC at p = 0 at most {binary.mean.max():.3f}"]
    for p in second.design.p:
        means = np.array([second.trace(p, m, False).mean for m in second.design.measures])
        se = np.array([second.trace(p, m, False).se for m in second.design.measures])
        answers.append(bool((means >= 0).all()))
        k, at = np.unravel_index(np.argmin(means), means.shape)
        name = second.trace(p, second.design.measures[k], False).title
        text = f"at p = {p:g} the lowest is {name} {means[k, at]:.4f} ± {se[k, at]:.4f}"
        if not answers[-1]:
            errors, limit = _errors(np.minimum(means, 0), se), _limit(second, means.size)
            text += f", {(means < 0).sum()} of {means.size} are below 0, by up to {errors:.1f} standard errors"
            text += f" (chance: {limit:.1f}); over all starts {means.mean():.4f}"
        texts.append(text)
    return answers, "; ".join(texts)


def _identical(found: Separation) -> tuple[Answers, str]:
    names = found.design.measures
    means = max(float(np.ptp([found.trace(p, m).mean for m in names], axis=0).max()) for p in found.design.p)
    single = max(float(found.apart[p, True].max()) for p in found.design.p)
    return [means <= SAME], f"means differ by at most {means:.4f}, in single predictions they do by up to {single:.3f}"


def _level(found: Separation, one: Trace) -> float:
    """Mean over the starts before the heaviest part is reached."""
    return float(one.mean[found.design.outside].mean())


def _starts(found: Separation) -> str:
    starts = found.starts[found.design.outside]
    return f"at starts {starts[0]} to {starts[-1]}"
