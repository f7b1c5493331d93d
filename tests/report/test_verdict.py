"""The answer of a report: it claims what was computed, and no more."""

import json

import numpy as np
import pytest
from helpers import few
from hypothesis import given
from hypothesis import strategies as st
from paths import SAMPLE
from report_helpers import NODES, as_json, forms, quick

import wmcc
from wmcc.demo import make_map
from wmcc.present.text import decimal, outward, share

_quick = pytest.fixture(autouse=True)(quick)


def sample(*preds):
    return wmcc.tabulate(SAMPLE, true="label", pred=dict(zip(preds, preds, strict=True)), weight="area", progress=False)


def test_the_answer_names_the_winner_how_far_weights_may_be_off_and_how_likely_chance_is():
    land = make_map()
    both = {"A": land.careless_with_small, "B": land.careless_with_large}
    joint = wmcc.tabulate(land.truth, both, land.area)
    found = as_json(joint)
    ranking = wmcc.certify_ranking(joint, "mcc", nodes=NODES)
    assert found["verdict"] == [
        f"A beats B, 0.8056 against 0.2879 in MCC; this holds for any change of the weights up to "
        f"±{share(ranking.radius.safe)}, and p < 0.0001."
    ]
    assert found["pairs"][0]["lead"]["safe"] == ranking.radius.safe
    assert as_json(joint.pair("B", "A"))["verdict"] == found["verdict"]


def test_the_answer_says_where_chance_could_have_done_it():
    sentence = as_json(sample("pred", "pred_c"))["verdict"][0]
    assert sentence.startswith(
        "pred leads pred_c, 0.9017 against 0.8983 in ECC (R_K), but the difference is not significant: p = "
    )
    assert "unreliable" in sentence


def test_the_answer_about_one_has_both_uncertainties():
    table = wmcc.Table.from_counts([[300, 30], [20, 250]])
    sentences = as_json(table, at_least=0.7)["verdict"]
    low, high = (decimal(x) for x in (wmcc.interval(table, "mcc").low, wmcc.interval(table, "mcc").high))
    certificate = wmcc.certify(table, "mcc", eps=0.1)
    assert sentences[0] == (
        f"MCC is {decimal(wmcc.mcc(table))}: 95 % interval {low} to {high}, "
        f"and {' to '.join(certificate.ends)} for any change of the weights up to ±10 %."
    )
    kept = share(wmcc.radius(table, "mcc", at_least=0.7, tolerance=1e-3, nodes=NODES).safe)
    assert sentences[1] == f"MCC is at least 0.7 for any change of the weights up to ±{kept}."
    value = decimal(wmcc.mcc(table))
    said = f"It does not hold that MCC is at least 0.9: MCC is {value} at the weights as they are."
    assert as_json(table, at_least=0.9)["verdict"][1] == said


def test_the_answer_for_equals_and_for_what_cannot_be_scored():
    truth, guess = [0, 1, 1, 0] * 20, [0, 1, 0, 0] * 20
    assert (
        as_json(wmcc.tabulate(truth, {"a": guess, "b": guess}))["verdict"][0]
        == "a and b score the same: 0.5774 in MCC."
    )
    nothing = as_json(wmcc.tabulate(truth, {"a": guess, "b": [0] * 80}))["verdict"][0]
    assert nothing == "a and b cannot be compared: MCC is undefined for b."
    (sentence,) = as_json(wmcc.tabulate(truth, [0] * 80))["verdict"]
    assert sentence.startswith("MCC is set to 0.0000: MCC is undefined at these weights: ")


def test_the_answer_about_several_names_the_leader_and_the_weakest_lead():
    found = as_json(sample("pred", "pred_b", "pred_c"))
    leads = {tuple(p["names"]): p["lead"]["safe"] for p in found["pairs"] if p["lead"]}
    assert set(leads) == {("pred", "pred_b"), ("pred", "pred_c")}
    assert found["verdict"][1].endswith(
        f"it leads all for any change of the weights up to ±{share(min(leads.values()))}."
    )


@pytest.mark.parametrize(
    ("guesses", "answer"),
    [
        # Two at the top are equal: neither leads all.
        ({"a": 0.8, "b": 0.8, "c": 0.4}, ["a and b score the same", "we could not prove that it leads all of them"]),
        # What is undefined counts as 0, and yet nobody leads it, or is as good.
        ({"a": 0.9, "b": 0.6, "c": None}, ["a beats b", "MCC is undefined for c"]),
        ({"a": 0.2, "b": 0.1, "c": None}, ["a beats b", "MCC is undefined for c"]),
        ({"a": None, "b": None}, ["a and b cannot be compared: MCC is undefined for a and b."]),
        ({"a": 0.5, "b": None}, ["a and b cannot be compared: MCC is undefined for b."]),
    ],
)
def test_the_answer_claims_no_lead_over_equals_or_over_what_is_undefined(guesses, answer):
    """Of each guess: the share of rows that are right, or None for one class throughout."""
    truth = np.arange(200) % 2
    wrong = np.arange(200) // 2 / 100
    made = {name: 0 * truth if p is None else np.where(wrong < p, truth, 1 - truth) for name, p in guesses.items()}
    found = as_json(wmcc.tabulate(truth, made))["verdict"]
    assert len(found) == len(answer)
    for sentence, part in zip(found, answer, strict=True):
        assert part in sentence


def test_a_weight_matrix_is_not_why_a_score_is_undefined():
    (sentence,) = as_json(wmcc.tabulate([0, 1, 1], [0, 0, 0], np.ones((3, 3))))["verdict"]
    assert sentence == (
        "MCC is set to 0.0000: MCC is undefined at these weights: all the weight of y_pred is in one class."
    )


@few(50)
@given(st.floats(1e-6, 0.9999))
def test_a_share_is_never_rounded_up(x):
    said = float(share(x).removesuffix(" %").replace(",", "")) / 100
    assert said <= x * (1 + 1e-9)
    assert said > 0.9 * x


@few(50)
@given(st.floats(-1, 1), st.floats(-1, 1))
def test_a_proved_range_is_never_written_narrower(a, b):
    low, high = sorted((a, b))
    first, last = map(float, outward(low, high))
    assert first <= low <= high <= last
    assert low - first < 1.0001e-4
    assert last - high < 1.0001e-4


@pytest.mark.parametrize(("eps", "said"), [(0.29, "±29 %"), (0.123456789, "±12.3456 %"), (0.9999999999, "±99.9999 %")])
def test_an_eps_is_never_rounded_up(eps, said):
    written = forms(wmcc.tabulate([0, 1, 1, 0] * 9, [0, 1, 0, 0] * 9), eps=eps)
    assert json.loads(written("json"))["verdict"][0].endswith(f"for any change of the weights up to {said}.")
    assert f'class="eps-shown">{said}</span>' in written("html")
    assert f"| weights off by up to {said.removeprefix('±')} |" in written("markdown")
