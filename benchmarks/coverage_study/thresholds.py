"""Thresholds chosen on the data: how far their scores are off, and how often intervals and the band hold the truth.

Scores are normal in both classes, and so the score of the population is known at every threshold. The truth is that of
the population at the threshold that was chosen. All is made by the public functions.
"""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

import wmcc
from wmcc.inference.scores.grid import ThresholdGrid

from .grid import seeded
from .markdown import against, table

SIZES, SHARES, DISTANCES, SIGMAS = (200, 1000), (0.1, 0.4), (1.0, 2.0), (0.0, 1.0)
THRESHOLDS = 200
"""Of the band: all of 200 rows, and as many of 1,000 that are spread evenly."""

FINE = np.linspace(-5, 8, 5201)
"""Thresholds among which the best of the population is looked for."""

SURE, EXPECTED, WIDE, BOOTSTRAP = 94.0, 0.02, 1.6, 10.0
"""The bars: least coverage in per cent, most bias, most width over that of a fixed threshold, and by how many per cent
a standard error may be off."""

RESAMPLED, RESAMPLES = 20, 500
"""Samples of each setting that are resampled, and how often."""


class Stratum(NamedTuple):
    """Rows of a population: their share in it, the share of positives, and by how much their scores are larger."""

    share: float
    positive: float
    shift: float = 0.0


class Setting(NamedTuple):
    """A population whose scores are normal, and how many rows are drawn.

    Parameters
    ----------
    n
        Rows.
    strata
        Of the population; the same number of rows is drawn from each.
    distance
        By how many standard deviations scores of positives are larger.
    sigma
        Of the log-normal weights, which are tied to nothing; 0 for none.
    clusters
        How many clusters the rows come in, if they do.
    correlation
        Of two scores of a class in a cluster.
    """

    n: int
    strata: tuple[Stratum, ...]
    distance: float
    sigma: float = 0.0
    clusters: int = 0
    correlation: float = 0.0

    def true(self, thresholds: Any) -> Any:
        """MCC of the population at thresholds."""
        x = np.asarray(thresholds)[..., np.newaxis]
        share, positive, shift = np.array(self.strata).T
        hits = (share * positive * ndtr(shift + self.distance - x)).sum(axis=-1)
        alarms = (share * (1 - positive) * ndtr(shift - x)).sum(axis=-1)
        P, called = float(share @ positive), hits + alarms
        with np.errstate(invalid="ignore"):
            value = (hits - called * P) / np.sqrt(called * (1 - called) * P * (1 - P))
        return np.nan_to_num(value)

    def draw(self, rng: np.random.Generator) -> Sample:
        """Draw a sample."""
        rows = self.n // len(self.strata)
        stratum = np.repeat(np.arange(len(self.strata)), rows)
        _, positive, shift = np.array(self.strata).T
        truth = rng.random(len(stratum)) < positive[stratum]
        noise, cluster = rng.normal(size=len(stratum)), None
        if self.clusters:
            cluster = np.arange(len(stratum)) % self.clusters
            shared = rng.normal(size=self.clusters)[cluster]
            noise = self.correlation**0.5 * shared + (1 - self.correlation) ** 0.5 * noise
        weight = rng.lognormal(0, self.sigma, len(stratum)) if self.sigma else None
        return Sample(truth, noise + self.distance * truth + shift[stratum], weight, stratum, cluster, self.strata)


class Sample(NamedTuple):
    """Rows that were drawn."""

    truth: np.ndarray
    score: np.ndarray
    weight: np.ndarray | None
    stratum: np.ndarray
    cluster: np.ndarray | None
    strata: tuple[Stratum, ...]

    def tabulated(self) -> Any:
        """Return the score table, with the design."""
        if len(self.strata) == 1:
            return wmcc.tabulate(self.truth, score=self.score, sample_weight=self.weight, cluster=self.cluster)
        population = {k: round(1e6 * own.share) for k, own in enumerate(self.strata)}
        return wmcc.tabulate(self.truth, score=self.score, design=wmcc.Strata(self.stratum, population=population))

    def bootstrap(self, rng: np.random.Generator) -> tuple[float, float]:
        """Return the bootstrap's standard errors of ROC AUC and average precision."""
        share = np.array([own.share for own in self.strata])[self.stratum]
        w = share if self.weight is None else self.weight
        units = np.arange(len(w)) if self.cluster is None else self.cluster
        times = np.zeros((RESAMPLES, units.max() + 1))
        for k in range(len(self.strata)):
            own = np.unique(units[self.stratum == k])
            times[:, own] = rng.multinomial(len(own), np.full(len(own), 1 / len(own)), RESAMPLES)
        order = np.argsort(-self.score)
        resampled = (times[:, units] * w)[:, order]
        return tuple(float(np.nanstd(x, ddof=1)) for x in areas(resampled, self.truth[order]))  # type: ignore[return-value]


def areas(w: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ROC AUC and average precision of weightings of rows whose scores descend, and of which no two are equal."""
    hits, alarms = (np.cumsum(w * side, axis=1) for side in (truth, ~truth))
    gained = w * truth
    P, N = hits[:, -1], alarms[:, -1]
    auc = (gained * (N[:, np.newaxis] - alarms)).sum(axis=1) / (P * N)
    called = np.where(hits + alarms > 0, hits + alarms, 1.0)
    return auc, (gained * hits / called).sum(axis=1) / P


class Outcome(NamedTuple):
    """What became of a setting: means of differences and widths, coverage in per cent, and ratios of standard errors.

    ``areas`` are standard errors of ROC AUC and average precision, over the bootstrap's.
    """

    setting: Setting
    runs: int
    apparent: float
    expected: float
    expected_se: float
    ordinary: float
    covered: float
    flagged: float
    width: float
    at_chosen: float
    at_all: float
    areas: tuple[float, float]


class Run(NamedTuple):
    """What became of a sample; standard errors are NaN where it was not resampled."""

    apparent: float
    expected: float
    ordinary: bool
    covered: bool
    flagged: bool
    width: float
    fixed: float
    at_chosen: bool
    at_all: bool


class Simulation:
    """Samples of a setting, one after the other."""

    def __init__(self, setting: Setting) -> None:
        self.setting, self.rng = setting, seeded(setting)

    @cached_property
    def fixed(self) -> float:
        """The best threshold of the population."""
        return float(FINE[np.argmax(self.setting.true(FINE))])

    def run(self, scores: Any) -> Run:
        """Choose a threshold, and see what was said of it."""
        best = wmcc.best_threshold(scores, "mcc")
        truth = float(self.setting.true(best.threshold))
        plain, fixed = (wmcc.interval(t, "mcc") for t in (best.table, scores.at(self.fixed)))
        grid = np.union1d(ThresholdGrid.of(scores, THRESHOLDS).thresholds, [best.threshold])
        curve = wmcc.curve(scores, "mcc", thresholds=grid[np.isfinite(grid)])
        there = ~np.isnan(curve.band_low)
        true = self.setting.true(curve.thresholds)
        holds = (curve.band_low <= true) & (true <= curve.band_high)
        place = int(np.searchsorted(curve.thresholds, best.threshold))
        return Run(
            best.value - truth,
            best.expected - truth,
            plain.low <= truth <= plain.high,
            best.low <= truth <= best.high,
            bool(best.warnings or best.problem),
            best.high - best.low,
            fixed.high - fixed.low,
            bool(holds[place] if there[place] else best.low <= truth <= best.high),
            bool(holds[there].all()),
        )

    def errors_of_areas(self, scores: Any, sample: Sample) -> list[float]:
        """Standard errors of ROC AUC and average precision, then the bootstrap's."""
        own = [wmcc.interval(scores, name).se for name in ("roc_auc", "average_precision")]
        return [*own, *sample.bootstrap(self.rng)]


def simulate(setting: Setting, runs: int) -> Outcome:
    """Choose thresholds on so many samples of a setting."""
    simulation, made, errors = Simulation(setting), [], []
    for k in range(runs):
        sample = setting.draw(simulation.rng)
        scores = sample.tabulated()
        made.append(simulation.run(scores))
        if k < RESAMPLED:
            errors.append(simulation.errors_of_areas(scores, sample))
    found = np.array(made, dtype=float)
    mean = Run(*np.nanmean(found, axis=0).tolist())
    auc, precision, auc_bootstrap, precision_bootstrap = np.nanmean(np.array(errors), axis=0).tolist()
    return Outcome(
        setting,
        runs,
        mean.apparent,
        mean.expected,
        float(found[:, 1].std(ddof=1) / runs**0.5),
        *(100 * x for x in (mean.ordinary, mean.covered, mean.flagged)),
        mean.width / mean.fixed,
        *(100 * x for x in (mean.at_chosen, mean.at_all)),
        (auc / auc_bootstrap, precision / precision_bootstrap),
    )


def settings() -> list[Setting]:
    """Sixteen settings of independent rows; then clusters, and strata of which the rarest is most of the population."""
    rows = [
        Setting(n, (Stratum(1.0, share),), distance, sigma)
        for n, sigma, share, distance in product(SIZES, SIGMAS, SHARES, DISTANCES)
    ]
    strata = Stratum(0.6, 0.1), Stratum(0.3, 0.3, 0.3), Stratum(0.1, 0.6, 0.6)
    return [
        *rows,
        Setting(1000, (Stratum(1.0, 0.4),), 1.0, 0.0, 50, 0.2),
        Setting(900, strata, 1.0),
    ]


def described(setting: Setting) -> str:
    """A setting in words, for a table."""
    words = [f"n = {setting.n:,}"]
    if len(setting.strata) == 1:
        words.append(f"{100 * setting.strata[0].positive:.0f} % positive")
    words.append(f"{setting.distance:g} apart")
    words += ["log-normal weights"] if setting.sigma else []
    words += [f"{setting.clusters} clusters, correlation {setting.correlation:g}"] if setting.clusters else []
    words += [f"{len(setting.strata)} strata, unequal shares"] if len(setting.strata) > 1 else []
    return ", ".join(words)


HEAD = [
    "scores", "apparent − true", "expected − true", "ordinary interval", "interval of `best_threshold`", "its width",
    "% flagged", "band, at the chosen", "band, at all", "SE of ROC AUC", "SE of average precision",
]  # fmt: skip


def text(found: list[Outcome]) -> str:
    """Table of all settings, and what it says."""
    rows = [
        [
            described(x.setting),
            f"{x.apparent:+.3f}",
            _bold(f"{x.expected:+.3f}", abs(x.expected) > EXPECTED),
            f"{x.ordinary:.1f}",
            against(x.covered, SURE),
            _bold(f"{x.width:.2f}", x.width > WIDE),
            f"{x.flagged:.1f}",
            against(x.at_chosen, SURE),
            against(x.at_all, SURE),
            *(_bold(f"{ratio:.2f}", abs(ratio - 1) > BOOTSTRAP / 100) for ratio in x.areas),
        ]
        for x in found
    ]
    return f"{_said(found)}\n\n{table(HEAD, rows)}"


def _bold(figure: str, missed: bool) -> str:
    return f"**{figure}**" if missed else figure


def _said(found: list[Outcome]) -> str:
    runs, many = found[0].runs, len(found)
    apparent, ordinary, covered, width, chosen, every = ([getattr(x, k) for x in found] for k in _SAID)
    off = max(found, key=lambda x: abs(x.expected))
    ratios = [ratio for x in found for ratio in x.areas]
    error = max(x.expected_se for x in found)
    return (
        f"{runs:,} samples of each setting, so a coverage of 95 % is measured with a standard error of "
        f"{100 * (0.95 * 0.05 / runs) ** 0.5:.1f} points, and the bias of the expected value with one of up to "
        f"{error:.3f}. The apparent value is too large by {min(apparent):.3f} to {max(apparent):.3f}, and the ordinary "
        f"interval at the chosen threshold covers {min(ordinary):.1f} to {max(ordinary):.1f} %.\n\n"
        f"- **The expected value** is off by at most {EXPECTED} in {sum(abs(x.expected) <= EXPECTED for x in found)} "
        f"of {many} settings; the most is {off.expected:+.3f}.\n"
        f"- **The interval** covers {SURE:g} % or more in {sum(x >= SURE for x in covered)} of {many}, from "
        f"{min(covered):.1f} to {max(covered):.1f}.\n"
        f"- **Its width** is at most {WIDE:g} times that of a threshold fixed in advance in "
        f"{sum(x <= WIDE for x in width)} of {many}, from {min(width):.2f} to {max(width):.2f}.\n"
        f"- **The band** over all thresholds holds the truth at the chosen one in {min(chosen):.1f} to "
        f"{max(chosen):.1f} %, and at all of them together in {min(every):.1f} to {max(every):.1f} %, "
        f"{SURE:g} % or more in {sum(x >= SURE for x in every)} of {many}.\n"
        f"- **Standard errors** of ROC AUC and average precision are within {BOOTSTRAP:g} % of a bootstrap's in "
        f"{sum(abs(x - 1) <= BOOTSTRAP / 100 for x in ratios)} of {len(ratios)}, from {min(ratios):.2f} to "
        f"{max(ratios):.2f} times; means over {min(RESAMPLED, runs)} samples, {RESAMPLES} resamples each."
    )


_SAID = "apparent", "ordinary", "covered", "width", "at_chosen", "at_all"
