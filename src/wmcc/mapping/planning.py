"""`wmcc.plan_sample`: how many rows to sample, and in which strata, for a standard error that is wanted.

A row of stratum h and cell (a, b) moves a score by its weight times the slope g_ab. With W_h the share of the stratum
in the population and S_h the standard deviation of g over the cells of the stratum, n_h rows in each give the variance

    V = Σ_h W_h² S_h² (1/n_h − 1/N_h),

where 1/N_h is left out for populations that are not finite. It is smallest for n_h in proportion to W_h S_h. If rows of
a pilot weigh v, 1 on average in their stratum, S_h is the standard deviation of v·g over these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite, nan, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray, IntArray
from ..core.design import name_strata
from ..core.keys import Key
from ..core.labels import Label, as_label, listed, plain
from ..core.table import Table, Tabulated, check_matrix, one_table
from ..errors import InputError, InputTypeError
from ..inference.classes import OWN
from ..measures import CLASS_MEASURES, MEASURES
from ..measures.base import Measure, MeasureName, Shares, check_scorable, for_tabulated
from ..measures.checks import checked_number, whole_number
from ..present.blocks import Block
from ..present.json_csv import Record, finite
from ..present.result import Result
from ..present.text import brief, counted, decimal, number, percent
from .estimates import CLASSIFIER_NAMES, SHARE_OF_TRUE, TITLES

Allocation = Literal["optimal", "proportional", "equal"]
ALLOCATIONS: tuple[Allocation, ...] = ("optimal", "proportional", "equal")

PlannedMeasure = Literal["overall_accuracy", "users_accuracy", "producers_accuracy", "f1", "iou", "area"]
"""Names that measures of maps have in their trade; the last five are of a class."""

CLASS_TARGETS = ("users_accuracy", "producers_accuracy", "f1", "iou", "area")
"""Measures that a class of the map has."""

MOST_ROWS = 10**12
"""No plan has more rows."""

SURE = 0.95
"""Chance with which errors of a larger share would have been seen in a pilot."""


EQUAL = 1e-9
"""By how much squared weights may differ by rounding."""

UNEVEN = (
    "Rows of the pilot sample weigh unequally within strata. The plan takes it that those of the sample will do so to "
    "the same degree; with equal weights the standard errors would be other than these, and mostly smaller."
)


class StratumPlan(NamedTuple):
    """One stratum of a plan.

    Parameters
    ----------
    stratum
        Its key.
    size
        Its size in the population.
    n
        Rows to sample.
    sd
        Standard deviation within the stratum of what a row contributes to the measure that was planned for.
    """

    stratum: Key
    size: float
    n: int
    sd: float


class Expected(NamedTuple):
    """What a sample of this plan would say of a measure, if the guess is right.

    Parameters
    ----------
    measure, label
        What it is, and of which class; None for the whole map.
    value, se
        Its value under the guess, and the standard error to be expected; an area is in the unit of the sizes. NaN where
        the measure is undefined.
    """

    measure: str
    label: Label | None
    value: float
    se: float


@dataclass(frozen=True, repr=False)
class SamplePlan(Result):
    """What `wmcc.plan_sample` returns.

    Parameters
    ----------
    measure, label
        The measure that was planned for, and its class if it is one of a class.
    wanted_se
        The standard error that was asked for; None if the number of rows was given.
    allocation, minimum, fpc
        As they were given; allocation is ``"given"`` if shares were.
    strata
        Rows to sample in each stratum.
    expected
        Standard errors to be expected: of the measure that was planned for, of overall accuracy and ECC, and of user's
        accuracy, producer's accuracy and area of each class.
    assumption
        What the guess leaves open, and how it was filled in; None if it leaves nothing open.
    warnings
        What is wrong with the guess or the plan.
    """

    measure: str
    label: Label | None
    wanted_se: float | None
    allocation: str
    minimum: int
    fpc: bool
    strata: tuple[StratumPlan, ...]
    expected: tuple[Expected, ...]
    assumption: str | None = None
    warnings: tuple[str, ...] = ()

    _kind = "sample plan"
    _stored = (
        "measure", "label", "wanted_se", "se", "n", "allocation", "minimum", "fpc", "strata", "expected", "assumption",
        "warnings",
    )  # fmt: skip

    @property
    def n(self) -> int:
        """Rows to sample in all strata."""
        return sum(own.n for own in self.strata)

    @property
    def rows(self) -> dict[Key, int]:
        """Rows to sample, by stratum."""
        return {own.stratum: own.n for own in self.strata}

    @property
    def se(self) -> float:
        """Standard error to be expected of the measure that was planned for."""
        return self.expected[0].se

    @property
    def _target(self) -> str:
        return _title(self.measure, self.label)

    def blocks(self) -> list[Block]:
        """Return the rows of each stratum, and the standard errors to be expected."""
        first = self.expected[0]
        wanted = "" if self.wanted_se is None else f", wanted {_text(first, self.wanted_se)}"
        title = f"Sample of {self.n:,} rows: standard error of {self._target} {_text(first, self.se)}{wanted}"
        whole = sum(own.size for own in self.strata)
        rows = [
            [_key_text(own.stratum), number(own.size), percent(own.size / whole), f"{own.n:,}", decimal(own.sd)]
            for own in self.strata
        ]
        rows.append(["Total", number(whole), percent(1.0), f"{self.n:,}", ""])
        named = f"{self.allocation} allocation" if self.allocation != "given" else "allocation in the given proportions"
        how = f"{named}, at least {self.minimum:,} rows per stratum" + ", finite population" * self.fpc
        plan = Block(title, ["Stratum", "Size", "Share", "Rows", "SD"], rows, [f"Rows: {how}."])
        lines = [[_title(x.measure, x.label), _text(x, x.value), _text(x, x.se)] for x in self.expected]
        notes = [*([self.assumption] if self.assumption else []), *self.warnings]
        return [plan, Block("To be expected, if the guess is right", ["Measure", "Value", "SE"], lines, notes)]

    def records(self) -> list[Record]:
        """Return a row for each stratum."""
        return [
            {"stratum": _key_text(own.stratum), "size": own.size, "n": own.n, "sd": finite(own.sd)}
            for own in self.strata
        ]


def _title(measure: str, label: Label | None) -> str:
    name = TITLES[measure] if measure in TITLES else CLASS_MEASURES[measure].title
    return name if label is None else f"{name} of {label}"


def _text(of: Expected, x: float) -> str:
    return number(x) if of.measure == "area" else decimal(x)


def _key_text(key: Key) -> str:
    if key == ():
        return "the whole map"
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


# ---- the guess --------------------------------------------------------------------------------------------


class Guess(NamedTuple):
    """What is known or guessed of a population before it is sampled."""

    labels: tuple[Label, ...]  # void ones last
    classes: int  # labels that are classes
    strata: tuple[Key, ...]
    sizes: FloatArray
    codes: IntArray  # 3 × cells: stratum, true and predicted class of each cell that occurs
    cells: FloatArray  # shares of the stratum in these cells
    squares: FloatArray  # Σv² of a cell over the rows of its stratum; the same as its share if all rows weigh the same
    rows: tuple[int, ...] | None = None  # of a pilot, in each stratum
    assumption: str | None = None  # what was filled in, or left out
    sized: bool = True  # whether sizes are those of a population, and not weights of a pilot

    @property
    def shares(self) -> FloatArray:
        """Share of each stratum in the population."""
        return np.asarray(self.sizes / self.sizes.sum())

    @property
    def whole(self) -> FloatArray:
        """Shares of the cells in the population."""
        K = len(self.labels)
        found = np.bincount(self.codes[1] * K + self.codes[2], self.shares[self.codes[0]] * self.cells, K * K)
        return np.asarray(found.reshape(K, K))

    def per_stratum(self, x: FloatArray) -> FloatArray:
        """Add up what cells have, in each stratum."""
        return np.asarray(np.bincount(self.codes[0], x, len(self.strata)))


def _slope(guess: Guess, name: str, label: Label | None) -> tuple[float, FloatArray]:
    """Value of a measure, and in each stratum the standard deviation of its slope: all NaN where it is undefined."""
    own = CLASSIFIER_NAMES.get(name, name)
    if label is None:
        whole = guess.whole
        seen = whole[: guess.classes].sum(axis=1) + whole.sum(axis=0)[: guess.classes]
        value, slope = _near(MEASURES[own], whole, int((seen > 0).sum()))
        g = slope[tuple(guess.codes[1:])]
    else:
        of_two = (guess.codes[1:] != guess.labels.index(label)).astype(int)  # cells of the class and the rest
        w = guess.shares[guess.codes[0]] * guess.cells
        two = np.bincount(2 * of_two[0] + of_two[1], w, 4).astype(float).reshape(2, 2)
        sizes = {"area": 1.0, "precision": two[:, 0].sum(), "recall": two[0].sum()}
        if not sizes.get(own, two.sum() - two[1, 1]) > 0:
            return nan, np.full(len(guess.strata), nan)
        value, slope = _near(SHARE_OF_TRUE if own == "area" else OWN[own], two, 2)
        g = slope[tuple(of_two)]
    mean = guess.per_stratum(guess.cells * g)
    spread = guess.per_stratum(guess.cells * (g - mean[guess.codes[0]]) ** 2 + (guess.squares - guess.cells) * g**2)
    return value, np.sqrt(np.where(spread > 1e-28, spread, 0.0))


def _near(measure: Measure, cells: FloatArray, counted: int) -> tuple[float, FloatArray]:
    K = len(cells)
    x = Shares.of_some_cells(cells.reshape(-1), np.indices((K, K)).reshape(2, -1), K, counted)
    value = float(measure.near(x))
    return value, measure.slope(x, value).dense()


def _guess(given: Any, population: Any) -> Guess:
    """Read a pilot table, guessed accuracies, or guessed reference classes of each stratum."""
    if isinstance(given, Mapping):
        return _of_rates(given, _sizes(population))
    try:
        table = one_table(given)
    except InputTypeError as error:
        pilot = "a Table of a pilot sample, or a mapping from strata to guessed accuracies"
        raise InputTypeError(
            error.message.replace("a Table", pilot),
            "for instance wmcc.plan_sample({'forest': 0.9, 'water': 0.97}, {'forest': 3200, 'water': 150}, se=0.01).",
            "guess",
        ) from None
    check_scorable(table)
    return _of_pilot(table, population)


def _sizes(given: Any) -> dict[Key, float]:
    """Sizes of strata, by their keys."""
    if given is None or not hasattr(given, "items"):
        came = "missing" if given is None else f"a {type(given).__name__}"
        raise InputTypeError(
            f"`population` is {came}; expected the size of each stratum.",
            "for instance {'forest': 3200000, 'water': 150000}.",
            "population",
        )
    if not len(given):
        raise InputError("`population` is empty; expected the size of each stratum.", argument="population")
    return {key: _above_zero(size, f"population[{key!r}]") for key, size in given.items()}


def _same_strata(given: Mapping[Any, Any], expected: Sequence[Key], word: str, other: str) -> None:
    lacking = [key for key in expected if key not in given]
    more = [key for key in given if key not in expected]
    if lacking or more:
        which = f"has no entry for {name_strata(lacking)}" if lacking else f"has {name_strata(more)}"
        rest = f", which {other} has" if lacking else f", which {other} does not have"
        raise InputError(f"`{word}` {which}{rest}.", "name the same strata in both.", word)


def _of_rates(given: Mapping[Any, Any], sizes: dict[Key, float]) -> Guess:
    """The strata are the classes of the map, and each has a user's accuracy or shares of its reference classes."""
    _same_strata(given, list(sizes), "guess", "`population`")
    nested = [isinstance(own, Mapping) for own in given.values()]
    if any(nested) != all(nested):
        raise InputTypeError(
            "`guess` has numbers for some strata and mappings for others; expected one kind for all.", argument="guess"
        )
    strata = tuple(sizes)
    others = [x for own in given.values() for x in own] if all(nested) else []
    labels = plain(as_label(x, "a class of the guess") for x in dict.fromkeys([*strata, *others]))
    K, W = len(labels), np.array(list(sizes.values()))
    check_matrix(K, "plan for fewer classes.")
    cells, assumption = np.zeros((len(strata), K)), None  # the reference classes of each
    for h, stratum in enumerate(strata):
        if all(nested):
            own = np.zeros(K)
            for label, x in given[stratum].items():
                own[labels.index(label)] = _rate(x, f"guess[{stratum!r}][{label!r}]", inf)
            if not own.sum() > 0:
                raise InputError(f"`guess[{stratum!r}]` has no share above 0.", argument="guess")
            cells[h] = own / own.sum()
            continue
        right = _rate(given[stratum], f"guess[{stratum!r}]", 1.0)
        rest = np.where(np.arange(K) == h, 0.0, W)
        if right < 1 and not rest.any():
            raise InputError("there is one stratum only; errors in it need a second class.", argument="guess")
        cells[h] = (1 - right) * rest / max(rest.sum(), 1e-300)
        cells[h, h] = right
        assumption = (
            "Guessed accuracies do not say which classes errors belong to. They were spread over the other classes in "
            "proportion to their sizes; overall and user's accuracies do not depend on it."
        )
    stratum, true = np.nonzero(cells)
    found = cells[stratum, true]
    return Guess(labels, K, strata, W, np.array([stratum, true, stratum]), found, found, None, assumption)


def _above_zero(x: Any, name: str) -> float:
    return checked_number(x, name, lambda own: own > 0, "a number above 0")


def _rate(x: Any, name: str, most: float) -> float:
    between = "between 0 and 1" if isfinite(most) else "of at least 0"
    return checked_number(x, name, lambda own: 0 <= own <= most, f"a number {between}")


def _of_pilot(table: Table, population: Any) -> Guess:
    """The strata are those of the table; without strata, the classes of the map if their sizes are given, or none."""
    drawn, K = table.drawn, len(table.labels)
    if drawn.kind not in ("rows", "strata") or drawn.clusters:
        raise InputError(
            "the pilot sample was not drawn row by row; a plan is made for rows that are drawn in strata.",
            "tabulate the pilot without clusters and replicate weights to plan for rows.",
            "guess",
        )
    if drawn.design is not None and drawn.design.domain:
        raise InputError(
            "the table has a part of the pilot sample, a group or a class; a plan is made for the whole population.",
            "tabulate the pilot sample without `by`, and plan from that table.",
            "guess",
        )
    check_matrix(K, "merge classes first: table.merge_classes.")
    stack = table.design_cells
    if drawn.kind == "strata":
        design = drawn.design
        assert design is not None
        strata, unit = design.strata, np.array(design.of)[stack.codes[-1]]
        rows = drawn.rows_of_strata
        known = design.population
    elif population is not None:
        strata, unit, known = table.labels, stack.codes[1], None
        rows = tuple(table.pred_counts.tolist())
        if table.void and not any(table.pred_counts[len(table.classes) :]):
            strata = table.classes
    else:
        strata, unit, known, rows = ((),), np.zeros(len(stack), dtype=int), (table.total,), (table.rows,)
    scale = max(float(stack.sums.w_max.max()), 1e-300)  # squares of weights may be beyond float64
    w, w2 = (x.floats() / scale**k for k, x in ((1, stack.sums.w_exact), (2, stack.sums.w2_exact)))
    sums, counts = (np.bincount(unit, x, len(strata)) for x in (w, stack.sums.n))
    if population is not None:
        given = _sizes(population)
        _same_strata(given, strata, "population", "the table")
        sizes = [given[key] for key in strata]
    else:
        sizes = list(scale * sums if known is None else known)
    empty = [key for key, own in zip(strata, sums.tolist(), strict=True) if not own > 0]
    if empty:
        raise InputError(
            f"the pilot sample has no row in {name_strata(empty)}, so nothing is known of it.",
            "sample it, merge it with another stratum, or give guessed accuracies instead of a table.",
            "guess",
        )
    post = drawn.design is not None and drawn.design.poststrata is not None
    notes = ["The plan leaves post-stratification out, which makes standard errors smaller than these."] if post else []
    cells, squares = w / sums[unit], w2 * (counts / sums**2)[unit]
    if (np.bincount(unit, squares, len(strata)) > 1 + EQUAL).any():
        notes.append(UNEVEN)
    else:
        squares = cells
    codes, classes, assumption = np.array([unit, *stack.codes[:2]]), len(table.classes), " ".join(notes) or None
    sized = population is not None or (drawn.design is not None and drawn.design.population is not None)
    return Guess(table.labels, classes, strata, np.array(sizes), codes, cells, squares, rows, assumption, sized)


# ---- allocation ------------------------------------------------------------------------------------------


class Rule(NamedTuple):
    """How rows are shared out among strata: in these shares, within bounds."""

    shares: FloatArray
    least: FloatArray
    most: FloatArray
    given: bool = False  # whether the shares are those of the caller

    def at(self, factor: float) -> FloatArray:
        """Return rows of each stratum, not rounded: a multiple of the shares, within the bounds."""
        return np.clip(factor * self.shares, self.least, self.most)

    def first(self, holds: Callable[[FloatArray], bool]) -> FloatArray:
        """Return the fewest rows for which something holds that holds for all larger numbers, or for none."""
        low, high = 0.0, 1.0
        while high < MOST_ROWS and not holds(self.at(high)):
            low, high = high, 2 * high
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (low, middle) if holds(self.at(middle)) else (middle, high)
        return self.at(high)

    def whole(self, n: int) -> FloatArray:
        """Return whole rows that add up to n: those with the largest remainders are rounded up."""
        real = self.first(lambda rows: bool(rows.sum() >= n))
        out = np.maximum(np.floor(real + 1e-9), self.least)
        room = np.flatnonzero(out < self.most)
        order = room[np.argsort(-(real - out)[room], kind="stable")]
        extra = round(n - out.sum())
        return np.asarray(out + np.bincount(order[: max(extra, 0)], minlength=len(out)))


def _rule(guess: Guess, sd: FloatArray, allocation: Any, minimum: int, fpc: bool) -> Rule:
    W = guess.shares
    if isinstance(allocation, Mapping):
        _same_strata(allocation, guess.strata, "allocation", "the guess")
        shares = np.array([_rate(allocation[key], f"allocation[{key!r}]", inf) for key in guess.strata])
        if not shares.sum() > 0:
            raise InputError("`allocation` has no share above 0.", argument="allocation")
    elif allocation not in ALLOCATIONS:
        names = ", ".join(map(repr, ALLOCATIONS))
        raise InputError.of("allocation", allocation, f"{names}, or a mapping from strata to shares")
    else:
        shares = {"optimal": W * sd, "proportional": W, "equal": np.ones(len(W))}[allocation]
    most = np.floor(guess.sizes) if fpc else np.full(len(W), inf)
    return Rule(shares / shares.sum(), np.minimum(minimum, most), most, isinstance(allocation, Mapping))


def _variance(guess: Guess, sd: FloatArray, n: FloatArray, fpc: bool) -> float:
    left = 1 / n - (1 / guess.sizes if fpc else 0.0)
    return float((guess.shares**2 * sd**2 * np.maximum(left, 0.0)).sum())


def _fewest(guess: Guess, sd: FloatArray, rule: Rule, se: float, fpc: bool) -> FloatArray:
    """Return the rows of each stratum that are enough for a standard error, and the fewest of that kind."""

    def enough(rows: FloatArray) -> bool:
        return _variance(guess, sd, rows, fpc) <= se * se * (1 + 1e-9)

    real = rule.first(enough)
    if not enough(real):
        never = [key for key, share, own in zip(guess.strata, rule.shares, sd, strict=True) if own > 0 and not share]
        raise InputError(
            f"a standard error of {number(se)} cannot be reached with {MOST_ROWS:,} rows"
            + (f", since `allocation` has 0 for {name_strata(never)}." if never else "."),
            "ask for a larger standard error, or for another allocation.",
            "se",
        )
    n = max(int(rule.least.sum()), ceil(real.sum() - 1e-6) - len(guess.strata))  # rounding may do better, or worse
    while not enough(rows := rule.whole(n)):
        n += 1
    return rows


def _of_number(n: Any, rule: Rule, minimum: int) -> FloatArray:
    """Return the rows of each stratum, of so many in all."""
    count, few, most = whole_number(n, "n", 1), int(rule.least.sum()), rule.most.sum()
    if count < few:
        strata = f"{len(rule.least):,} strata with at least {minimum:,} rows each"
        raise InputError(f"`n` is {count:,}; {strata} need {few:,}.", argument="n")
    if count > most:
        raise InputError(f"`n` is {count:,}; the population has {int(most):,} units.", argument="n")
    return rule.whole(count)


# ---- the door --------------------------------------------------------------------------------------------


@for_tabulated()
def plan_sample(
    guess: Tabulated | Mapping[Any, Any],
    population: Mapping[Any, float] | None = None,
    *,
    se: float | None = None,
    n: int | None = None,
    measure: PlannedMeasure | MeasureName | Measure = "overall_accuracy",
    of: Label | None = None,
    allocation: Allocation | Mapping[Any, float] = "optimal",
    minimum: int = 2,
    fpc: bool = False,
) -> SamplePlan:
    """Plan a stratified sample: how many rows, and how many of them in each stratum.

    Parameters
    ----------
    guess
        What is expected. A mapping from the strata, which are the classes of the map, to guessed user's accuracies
        (``{"forest": 0.9}``), or to the reference classes of each, with their shares or numbers of rows
        (``{"forest": {"forest": 0.9, "water": 0.1}}``). Or the `wmcc.Table` of a pilot sample: its strata are planned
        for; if it has none, the classes of the map.
    population
        The size of each stratum, an area or a number of units. A table that was tabulated with ``population=`` has it.
    se
        The standard error that is wanted; of an area, in the unit of the sizes.
    n
        The number of rows instead: the plan then says which standard errors to expect.
    measure
        What the standard error is of: ``"overall_accuracy"`` or a name in `wmcc.measures.MEASURES`, such as ``"ecc"``;
        with ``of``, ``"users_accuracy"``, ``"producers_accuracy"``, ``"f1"``, ``"iou"`` or ``"area"``.
    of
        The class whose own measure is meant.
    allocation
        ``"optimal"``: the fewest rows for this measure (Neyman). ``"proportional"``: by the sizes of strata.
        ``"equal"``: the same number in each. Or a mapping from strata to shares: numbers that rows are in proportion
        to. Those that add up to ``n`` are the rows themselves, unless the minimum is more.
    minimum
        Rows that each stratum gets at least; 2 are needed for a standard error.
    fpc
        Whether the sizes count units, such as pixels, and rows are drawn from them without replacement.

    Returns
    -------
    SamplePlan

    Notes
    -----
    The standard errors are those of first order that `wmcc.interval` gives under the design, at the guess. Olofsson et
    al. (2014) plan for overall accuracy by n = (Σ W_h √(U_h (1 − U_h)) / S)². That is the number for the optimal
    allocation; others need more rows, which this function adds.

    Examples
    --------
    The example of Olofsson et al. (2014), section 5.1:

    >>> import wmcc
    >>> sizes = {"deforestation": 0.020, "forest gain": 0.015, "forest": 0.320, "non-forest": 0.645}
    >>> accuracies = {"deforestation": 0.70, "forest gain": 0.60, "forest": 0.90, "non-forest": 0.95}
    >>> wmcc.plan_sample(accuracies, sizes, se=0.01).rows
    {'deforestation': 23, 'forest gain': 19, 'forest': 243, 'non-forest': 356}
    >>> wmcc.plan_sample(accuracies, sizes, se=0.01, allocation="proportional").n
    672
    >>> plan = wmcc.plan_sample(accuracies, sizes, se=0.0035, measure="area", of="deforestation", minimum=50)
    >>> plan.n, plan.rows["deforestation"]
    (352, 50)
    """
    known = _guess(guess, population)
    name, label = _target(known, measure, of)
    if (se is None) == (n is None):
        came = "neither `se` nor `n` was given" if se is None else "`se` and `n` were both given"
        raise InputTypeError(f"{came}; expected the standard error that is wanted, or the number of rows.")
    least = whole_number(minimum, "minimum", 2)
    if fpc and (known.sizes < 1).any():
        raise InputError(
            "`fpc` is True, which needs sizes that count units; a size is below 1.",
            "leave `fpc` out for areas and shares.",
            "fpc",
        )
    sd = _slope(known, name, label)[1]
    if not (sd > 0).any():
        undefined = "is undefined" if np.isnan(sd).any() else "does not vary within any stratum: the guess has no error"
        raise InputError(
            f"under this guess {_title(name, label)} {undefined}, so there is no standard error to plan for.",
            "guess accuracies below 1.",
            "guess",
        )
    rule = _rule(known, sd, allocation, least, fpc)
    scale = float(known.sizes.sum()) if name == "area" else 1.0
    if se is not None:
        wanted = _above_zero(se, "se")
        rows = _fewest(known, sd, rule, wanted / scale, fpc)
    else:
        wanted, rows = None, _of_number(n, rule, least)
    expected = [_expected(known, own, of_class, rows, fpc) for own, of_class in _listed(known, name, label)]
    strata = zip(known.strata, known.sizes.tolist(), rows.astype(int).tolist(), sd.tolist(), strict=True)
    plans, how = tuple(StratumPlan(*own) for own in strata), allocation if isinstance(allocation, str) else "given"
    said = tuple(_warnings(known) + _doubts(known, rule, rows, expected[0], bool(fpc)))
    return SamplePlan(
        name, label, wanted, how, least, bool(fpc), plans, tuple(expected), known.assumption, said
    )  # fmt: skip


def _target(guess: Guess, measure: Any, of: Any) -> tuple[str, Label | None]:
    """Return the measure by its name in the trade, and its class."""
    name = getattr(measure, "name", measure)
    in_trade = {own: trade for trade, own in CLASSIFIER_NAMES.items()}.get(name, name)
    of_class = ", ".join((*CLASS_TARGETS, "mcc"))
    if of is not None:
        if in_trade not in (*CLASS_TARGETS, "mcc"):
            raise InputError(
                f"`measure` is {brief(name)}; with `of`, a class, expected one of {of_class}.", argument="measure"
            )
        if of not in guess.labels[: guess.classes]:
            classes = listed(guess.labels[: guess.classes])
            raise InputError(f"there is no class {of!r}; the classes are {classes}.", argument="of")
        return in_trade, of
    if name in (*CLASS_TARGETS, *CLASS_MEASURES) and name not in MEASURES:
        raise InputError(
            f"{name!r} is a number per class.", f"name the class in `of`, for instance {guess.labels[0]!r}.", "of"
        )
    whole = MEASURES.get(CLASSIFIER_NAMES.get(name, name))
    if whole is None:
        trade = [x for x in CLASSIFIER_NAMES if CLASSIFIER_NAMES[x] in MEASURES]
        expected = f"one of {', '.join([*trade, *MEASURES])}; or with `of`, a class, one of {of_class}"
        raise InputError.of("measure", name, expected)
    if whole.two_classes and len(guess.labels) > 2:
        raise InputError(f"{whole.title} is for two classes; there are {len(guess.labels)}.", "use 'ecc'.", "measure")
    return in_trade, None


def _listed(guess: Guess, name: str, label: Label | None) -> list[tuple[str, Label | None]]:
    """Measures whose standard errors are shown, the one that was planned for first."""
    whole: list[tuple[str, Label | None]] = [("overall_accuracy", None), ("ecc", None)]
    own = [(of, x) for of in ("users_accuracy", "producers_accuracy", "area") for x in guess.labels[: guess.classes]]
    return list(dict.fromkeys([(name, label), *whole, *own]))


def _expected(guess: Guess, name: str, label: Label | None, rows: FloatArray, fpc: bool) -> Expected:
    value, sd = _slope(guess, name, label)
    scale = float(guess.sizes.sum()) if name == "area" else 1.0
    return Expected(name, label, scale * value, scale * sqrt(_variance(guess, sd, rows, fpc)))


def _doubts(guess: Guess, rule: Rule, rows: FloatArray, target: Expected, fpc: bool) -> list[str]:
    """Say what is odd about a plan."""
    said = []
    raised = [h for h in range(len(rows)) if rows[h] == rule.least[h] > ceil(rule.shares[h] * rows.sum() - 1e-6)]
    if rule.given and raised:
        names = name_strata([guess.strata[h] for h in raised])
        said.append(f"{names}: the given proportion would be fewer rows than the minimum, which was taken instead.")
    counts = guess.sized and bool((guess.sizes == np.floor(guess.sizes)).all())
    over = [h for h in range(len(rows)) if rows[h] > guess.sizes[h]]
    if not fpc and counts and over:
        most = max(over, key=lambda h: rows[h] / guess.sizes[h])
        said.append(
            f"{name_strata([guess.strata[h] for h in over])}: the plan has more rows than the size, such as "
            f"{int(rows[most]):,} of {number(guess.sizes[most])}. If sizes count units, the plan needs `fpc`."
        )
    if target.measure != "area" and target.se >= 1:
        said.append(
            f"A standard error of {number(target.se, 3)} says nothing about a measure that is 1 at most; "
            "more rows are needed."
        )
    return said


def _warnings(guess: Guess) -> list[str]:
    """Say where the guess knows of no error: rows there look useless, and that may be wrong."""
    right = guess.per_stratum(guess.cells * (guess.codes[1] == guess.codes[2]))
    sure = [h for h in range(len(guess.strata)) if right[h] > 1 - 1e-12]
    if not sure:
        return []
    names = name_strata([guess.strata[h] for h in sure])
    if guess.rows is None:
        return [
            f"The guess has no error in {names}. If there are any, the standard errors will be larger than these; "
            "a guess below 1 is safer."
        ]
    fewest = min(guess.rows[h] for h in sure)
    missed = 1 - (1 - SURE) ** (1 / max(fewest, 1))
    return [
        f"The pilot sample has no error in {names}. {counted(fewest, 'row')} without an error do not exclude an error "
        f"rate of up to {percent(missed)} ({SURE:.0%} confidence). The standard errors may be larger than these; plan "
        "with guessed accuracies below 1 there."
    ]
