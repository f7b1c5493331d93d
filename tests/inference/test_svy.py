"""Standard errors of designs beside those of the package svy, an independent program for surveys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import design_oracle as judge
import flat
import numpy as np
import polars as pl
import pytest
import svy
from design_oracle import Replicates, Rows, balanced, bootstrapped, jackknife

import wmcc

K = 3
SIZES = {0: 12.0, 1: 9.0, 2: 20.0, 3: 8.0}
CLOSE = 1e-10
"""What the two may differ by, as a part of the standard error."""


class Sampled(NamedTuple):
    """A sample in four strata, and the keywords by which either program is told of its design."""

    rows: Rows
    svy: dict[str, object]
    wmcc: dict[str, object]


def draw() -> Rows:
    """Four strata of five or six villages, of three to nine households each, with weights of their own."""
    rng = np.random.default_rng(15)
    villages = np.array([5, 6, 5, 6])
    unit = np.repeat(np.arange(22), rng.integers(3, 10, 22))
    stratum, number = np.repeat(np.arange(4), villages)[unit], np.concatenate([np.arange(m) for m in villages])[unit]
    truth = rng.integers(0, K, len(unit))
    harder = rng.random(22)[unit]
    guess = np.where(rng.random(len(unit)) < harder, truth, rng.integers(0, K, len(unit)))
    return Rows((truth, guess), K, rng.lognormal(0, 0.7, len(unit)), stratum=stratum, cluster=number)


ROWS = draw()
STRATUM, CLUSTER, LABELS = ROWS.stratum, ROWS.cluster, ROWS.labels
N = np.bincount(STRATUM)
POPULATION = {h: 10.0 * n for h, n in enumerate(N.tolist())}

DESIGNS = {
    "rows": Sampled(
        replace(ROWS, stratum=None, cluster=None),
        {},
        {"stratum": np.zeros(ROWS.n, dtype=int)},
    ),
    "strata": Sampled(replace(ROWS, cluster=None), {"stratum": "h"}, {"stratum": STRATUM}),
    "strata, fpc": Sampled(
        replace(ROWS, cluster=None, fpc=POPULATION),
        {"stratum": "h", "pop_size": "N"},
        {"stratum": STRATUM, "population": POPULATION, "fpc": True},
    ),
    "clusters in strata": Sampled(ROWS, {"stratum": "h", "psu": "c"}, {"stratum": STRATUM, "cluster": CLUSTER}),
    "clusters in strata, fpc": Sampled(
        replace(ROWS, fpc=SIZES),
        {"stratum": "h", "psu": "c", "pop_size": "M"},
        {"stratum": STRATUM, "cluster": CLUSTER, "fpc": SIZES},
    ),
}


def frame(rows: Rows, replicates: Replicates | None = None):
    truth, guess = rows.labels
    columns = {
        "w": rows.weight,
        "h": STRATUM,
        "c": CLUSTER,
        "group": np.arange(rows.n) % 3,
        "N": np.array([POPULATION[h] for h in STRATUM.tolist()]),
        "M": np.array([SIZES[h] for h in STRATUM.tolist()]),
        "right": (truth == guess).astype(float),
    }
    for k in range(K):
        columns |= {
            f"true{k}": (truth == k).astype(float),
            f"pred{k}": (guess == k).astype(float),
            f"both{k}": ((truth == k) & (guess == k)).astype(float),
            f"either{k}": ((truth == k) | (guess == k)).astype(float),
        }
    if replicates is not None:
        columns |= {f"rw{r + 1}": replicates.weights[:, r] for r in range(replicates.weights.shape[1])}
    return pl.DataFrame(columns)


RATIOS: dict[tuple[str, int | None], tuple[str, str | None]] = {
    ("accuracy", None): ("right", None),
    **{("precision", k): (f"both{k}", f"pred{k}") for k in range(K)},
    **{("recall", k): (f"both{k}", f"true{k}") for k in range(K)},
    **{("iou", k): (f"both{k}", f"either{k}") for k in range(K)},
}
"""Scores that are means or ratios of totals: what svy can estimate."""


def theirs(sample, ratio: tuple[str, str | None], **options) -> tuple[float, float]:
    """Estimate and standard error by svy."""
    above, below = ratio
    estimation = sample.estimation
    made = estimation.mean(above, **options) if below is None else estimation.ratio(above, below, **options)
    found = made.to_polars()
    assert len(found) == 1
    return found["est"][0], found["se"][0]


def oracles(name: str, k: int | None) -> Callable[[np.ndarray], np.ndarray]:
    return judge.MEASURES[name] if k is None else judge.own(name, k)


def ours(table: wmcc.Table, name: str, k: int | None) -> tuple[float, float]:
    found = wmcc.interval(table, name, of=k)
    return found.value, found.se


@pytest.mark.parametrize("design", DESIGNS)
def test_linearised_errors(design):
    rows, options, keywords = DESIGNS[design]
    sample = svy.Sample(frame(rows), svy.Design(wgt="w", **options))
    table = flat.tabulate(*LABELS, rows.weight, **keywords)
    for (name, k), ratio in RATIOS.items():
        expected = theirs(sample, ratio)
        assert judge.linearised(rows, oracles(name, k))[:2] == pytest.approx(expected, rel=CLOSE)
        assert ours(table, name, k) == pytest.approx(expected, rel=CLOSE)


@pytest.mark.parametrize("k", range(K))
def test_shares_of_areas(k):
    """The share of a class is a mean of its indicator; it needs no map."""
    rows, options, _ = DESIGNS["clusters in strata, fpc"]
    sample = svy.Sample(frame(rows), svy.Design(wgt="w", **options))
    assert judge.linearised(rows, judge.area(k))[:2] == pytest.approx(theirs(sample, (f"true{k}", None)), rel=CLOSE)


@pytest.mark.parametrize("design", ["strata, fpc", "clusters in strata"])
def test_domains(design):
    rows, options, keywords = DESIGNS[design]
    sample = svy.Sample(frame(rows), svy.Design(wgt="w", **options))
    group = np.arange(rows.n) % 3
    tables = flat.tabulate(*LABELS, rows.weight, by=group, **keywords)
    for name, k in (("accuracy", None), ("precision", 1), ("recall", 2)):
        expected = theirs(sample, RATIOS[name, k], where=svy.col("group") == 1)
        own = replace(rows, domain=group == 1)
        assert judge.linearised(own, oracles(name, k))[:2] == pytest.approx(expected, rel=CLOSE)
        assert ours(tables[1], name, k) == pytest.approx(expected, rel=CLOSE)


def test_post_strata():
    rows, options, keywords = DESIGNS["clusters in strata"]
    group, totals = np.arange(rows.n) % 3, {0: 900.0, 1: 500.0, 2: 700.0}
    sample = svy.Sample(frame(rows), svy.Design(wgt="w", **options))
    sample = sample.weighting.poststratify(totals, cells="group")
    own = replace(rows, poststratum=group, totals=totals)
    table = flat.tabulate(*LABELS, rows.weight, poststratum=group, totals=totals, **keywords)
    for (name, k), ratio in RATIOS.items():
        expected = theirs(sample, ratio)
        assert judge.linearised(own, oracles(name, k))[:2] == pytest.approx(expected, rel=CLOSE)
        assert ours(table, name, k) == pytest.approx(expected, rel=CLOSE)


@pytest.mark.parametrize(
    ("lonely", "rule"),
    [
        ("adjust", "center"),
        ("average", "scale"),
        ("certainty", "skip"),
        ("collapse", svy.Singleton("collapse", using={0: 1, 3: 2})),
    ],
)
def test_lonely_clusters(lonely, rule):
    """One village of the first and of the last stratum."""
    kept = ((STRATUM != 0) & (STRATUM != 3)) | (CLUSTER == 2)
    rows = Rows(
        tuple(x[kept] for x in LABELS),
        K,
        ROWS.weight[kept],
        stratum=STRATUM[kept],
        cluster=CLUSTER[kept],
        lonely=lonely,
    )
    # Where strata are joined, svy takes clusters of the same number for one.
    data = frame(ROWS).filter(kept).with_columns(c=pl.col("c") + 10 * pl.col("h"))
    sample = svy.Sample(data, svy.Design(wgt="w", stratum="h", psu="c", singleton=rule))
    table = wmcc.tabulate(
        *rows.labels, rows.weight, cluster=rows.cluster, design=wmcc.Strata(rows.stratum, lonely=lonely)
    )
    for name, k in (("accuracy", None), ("recall", 1)):
        expected = theirs(sample, RATIOS[name, k])
        assert judge.linearised(rows, oracles(name, k))[:2] == pytest.approx(expected, rel=CLOSE)
        assert ours(table, name, k) == pytest.approx(expected, rel=CLOSE)


def replicate_designs():
    rng = np.random.default_rng(16)
    one = replace(ROWS, stratum=None, cluster=STRATUM * 10 + CLUSTER)
    jk1 = jackknife(one)
    R = len(jk1.scales)
    yield "jk1", jk1, svy.JackknifeWgts(prefix="rw", n_reps=R, kind="jk1"), {"method": "jk1"}
    jkn = jackknife(ROWS)
    scales = jkn.scales.tolist()
    given = svy.JackknifeWgts(prefix="rw", n_reps=R, scale=scales)
    yield "jkn", jkn, given, {"method": "jkn", "scales": scales}
    # Balanced half-samples need two clusters in each stratum: odd and even villages.
    half = replace(ROWS, cluster=CLUSTER % 2)
    brr, fay = balanced(half), balanced(half, fay=0.3)
    yield "brr", brr, svy.BrrWgts(prefix="rw", n_reps=len(brr.scales)), {"method": "brr"}
    known = svy.BrrWgts(prefix="rw", n_reps=len(fay.scales), fay_coef=0.3)
    yield "fay", fay, known, {"method": "fay", "fay": 0.3}
    boot = bootstrapped(ROWS, rng, 25)
    given = svy.BootstrapWgts(prefix="rw", n_reps=25, scale=1 / 24)
    yield "bootstrap", boot, given, {"method": "bootstrap"}
    sdr = Replicates(boot.weights, np.full(25, 4 / 25))
    yield "sdr", sdr, svy.SdrWgts(prefix="rw", n_reps=25), {"method": "sdr"}


REPLICATES = {kind: given for kind, *given in replicate_designs()}


@pytest.mark.parametrize("kind", REPLICATES)
def test_replicate_weights(kind):
    made, known, keywords = REPLICATES[kind]
    sample = svy.Sample(frame(ROWS, made), svy.Design(wgt="w", rep_wgts=known))
    table = flat.tabulate(*LABELS, ROWS.weight, replicates=made.weights, **keywords)
    for (name, k), ratio in RATIOS.items():
        expected = theirs(sample, ratio, method="replication", variance_center="estimate")
        assert judge.replicated(ROWS, oracles(name, k), made)[:2] == pytest.approx(expected, rel=CLOSE)
        assert ours(table, name, k) == pytest.approx(expected, rel=CLOSE)
