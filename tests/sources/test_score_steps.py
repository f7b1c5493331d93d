"""The step of each row of scores: as by search, and as np.unique says, whatever the scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wmcc
from wmcc.sources import score_steps
from wmcc.sources.score_steps import places, steps_of

NASTY = [0.0, -0.0, 5e-324, -5e-324, 1e-300, 0.1, 0.5, 1.0, 1e300, -1e300, 1.7976931348623157e308, np.inf, -np.inf]
floats = st.one_of(st.sampled_from(NASTY), st.floats(allow_nan=False), st.floats(0, 1), st.integers(-3, 3).map(float))


@pytest.fixture
def few(monkeypatch):
    """Small limits, so that few rows do what many do."""
    for name, value in {"FEW": 2, "AT_ONCE": 7, "MOST_STEPS": 12, "CHOSEN_STEPS": 8, "FINE": 2}.items():
        monkeypatch.setattr(score_steps, name, value)


@given(st.lists(floats, min_size=1, max_size=40), st.lists(floats, min_size=1, max_size=40), st.integers(1, 3))
def test_places_are_those_of_a_search(edges, values, threads):
    edges, values = np.unique(edges), np.array(values * 20)
    assert values.size > 16
    look_up = score_steps._table(edges)
    expected = np.searchsorted(edges, values, side="right")
    assert look_up(values).tolist() == expected.tolist()
    many = np.tile(values, score_steps.FEW // len(values) + 1)
    assert (places(many, edges, threads) == np.searchsorted(edges, many, side="right")).all()


@pytest.mark.parametrize("kind", ["uniform", "normal", "heavy", "rounded", "crowded"])
def test_places_of_many(kind):
    rng = np.random.default_rng(0)
    values = {
        "uniform": rng.random(200_000),
        "normal": rng.normal(size=200_000),
        "heavy": np.exp(20 * rng.normal(size=200_000)),
        "rounded": rng.random(200_000).round(4),
        "crowded": np.where(rng.random(200_000) < 0.9, 1e-9 * rng.random(200_000), 1.0),
    }[kind]
    edges = np.unique(rng.choice(values, 30_000))
    assert (places(values, edges) == np.searchsorted(edges, values, side="right")).all()


@given(st.lists(floats, min_size=1, max_size=60))
def test_every_score_is_a_step(values):
    values = np.array(values)
    found = steps_of(values, None, None)
    different, codes = np.unique(values, return_inverse=True)
    assert found.lower == different.tolist()
    assert found.codes.tolist() == codes.tolist()
    assert found.edges is None


@pytest.mark.parametrize("weighted", [False, True])
def test_of_many_scores_steps_are_chosen(few, weighted):
    rng = np.random.default_rng(1)
    for _ in range(30):
        values = rng.normal(size=100)
        values[:3] = np.inf, -np.inf, np.nan
        w = rng.lognormal(size=100) if weighted else None
        found = steps_of(values, None, w)
        assert 4 <= len(found.edges) < 8
        codes = np.searchsorted(found.edges, values, side="right")
        assert found.codes[3:].tolist() == codes[3:].tolist()
        assert (found.codes[2], found.unknown) == (len(found.lower) - 1, 2)
        assert found.lower[:-1] == [-np.inf, *found.edges]


def test_steps_hold_about_the_same_weight():
    rng = np.random.default_rng(2)
    values, w = rng.normal(size=300_000), rng.random(300_000)
    for weights in (None, w):
        found = steps_of(values, None, weights)
        parts = np.bincount(found.codes, weights)
        assert len(parts) == score_steps.CHOSEN_STEPS
        assert parts.max() < 1.3 * parts.mean()
        assert parts.min() > 0.7 * parts.mean()


def test_weights_that_are_refused_are_refused_with_their_sentence(few):
    rng = np.random.default_rng(3)
    truth, score = rng.integers(0, 2, 100), rng.normal(size=100)
    for weight, sentence in ((["a"] * 100, "sample_weight"), (np.ones(99), "shape"), (-np.ones(100), "at least 0")):
        with pytest.raises(wmcc.errors.WmccError, match=sentence):
            wmcc.tabulate(truth, score=score, sample_weight=weight)
