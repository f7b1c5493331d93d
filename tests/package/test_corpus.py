"""Every call of the golden corpus answers as it did: the same table, scores and certificates, or the same sentence."""

import corpus
import pytest
from corpus_cases import GROUPS

pytestmark = pytest.mark.filterwarnings("ignore")

MADE, STORED = corpus.read()
MARKS = {"torch": pytest.mark.torch, "pyspark": pytest.mark.spark}

CASES = [
    pytest.param(name, marks=[mark for package, mark in MARKS.items() if package in group.needs])
    for name, group in GROUPS.items()
]


@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_that_are_stored(name, tmp_path, monkeypatch):
    group = GROUPS[name]
    if "torch" in group.needs:
        import torch  # noqa: F401, which conftest.py makes a skip of, unless it is asked for
    if lacking := group.missing():
        pytest.skip(f"{lacking} is not installed, which these calls need")
    monkeypatch.chdir(tmp_path)
    found = corpus.answers(name, group.cases(), threads=2)
    expected = {key: own for key, own in STORED.items() if key.startswith(f"{name}: ")}
    assert [*found] == [*expected], "store the answers of new cases with `python tests/support/corpus.py --write`"
    bits = corpus.environment() == MADE
    lines = []
    for key, own in found.items():
        for what, (stored, came) in corpus.differences(expected[key], own, bits).items():
            lines.append(f"{key}: {what} is stored as {stored!r}; it is {came!r}")
    if lines:
        pytest.fail("\n".join(lines), pytrace=False)


def test_no_answer_is_without_a_call():
    assert {key.partition(": ")[0] for key in STORED} == {*GROUPS}
