"""Ranges of measures at every threshold: no weights lead beyond them, and corners of the box reach them."""

import numpy as np
import pytest
from adversary import FORMULAS, values
from hunt_thresholds import draw_scores, steps_of
from hypothesis import given
from hypothesis import strategies as st

from wmcc.measures import MEASURES
from wmcc.robustness.thresholds import proved_ranges

KINDS = [None, "two scores", "perfect", "reversed", "nothing to see", "infinite", "few positives"]
"""Troubles in which plain float64 finds the values, too; the adversary has the others."""

PARTS = np.array([*np.ndindex(5, 5, 5, 5)]).reshape(-1, 2, 2) / 4
"""Places in the box of four cells, corners among them."""


@given(st.integers(0, 10_000), st.sampled_from(KINDS), st.sampled_from([0.05, 0.4, 0.9]))
@pytest.mark.parametrize("measure", FORMULAS)
def test_no_weights_lead_beyond(measure, seed, kind, eps):
    case = draw_scores(np.random.default_rng(seed), kind, most=12)
    if seed % 2:
        case = case._replace(score=-case.score)  # so that kappa is below 0, where it is not monotone
    found = proved_ranges(case.scores, MEASURES[measure], eps)
    _, tables = steps_of(case)
    every = values(measure, tables[:, np.newaxis] * (1 + eps * (2 * PARTS - 1)))
    lows, highs, attained = np.array(found).T
    sure = 1e-9
    assert (every.min(axis=1) >= lows - sure).all()
    assert (every.max(axis=1) <= highs + sure).all()
    if measure != "kappa":
        assert every.min(axis=1) == pytest.approx(attained, abs=sure)
        assert every.max(axis=1) == pytest.approx(highs, abs=sure)


def test_kappa_below_zero_is_not_monotone():
    """Weights between the corners reach less than both; so the corner is no bound."""
    case = draw_scores(np.random.default_rng(0), most=30, digits=1)._replace(eps=0.9)
    case = case._replace(score=-case.score)
    lows, _, attained = np.array(proved_ranges(case.scores, MEASURES["kappa"], 0.9)).T
    least = values("kappa", steps_of(case)[1][:, np.newaxis] * (1 + 0.9 * (2 * PARTS - 1))).min(axis=1)
    assert (least < attained - 0.01).any()
    assert (least >= lows).all()
