"""Every measure is in each of the lists that have a line for each: see CONTRIBUTING, "Add a measure"."""

import ast
import dataclasses
from typing import get_args

import adversary
import oracle
import pytest
from paths import SOURCE

from wmcc.measures import MEASURES, MeasureName
from wmcc.results import Score
from wmcc.results.images import OF_CLASSES
from wmcc.robustness.enclosures import ENCLOSURES

METRICS = "adapters/torchmetrics.py"


def metrics() -> list[str]:
    """Measures of the metrics of TorchMetrics, which is not always there."""
    classes = [x for x in ast.parse((SOURCE / METRICS).read_text()).body if isinstance(x, ast.ClassDef)]
    scores = [x for x in classes if "WeightedScore" in map(ast.unparse, x.bases)]
    lines = [line for score in scores for line in score.body if isinstance(line, ast.AnnAssign) and line.value]
    return [ast.unparse(line.value) for line in lines if ast.unparse(line.target) == "measure"]


LISTS = {
    "MeasureName in wmcc/measures/base.py": get_args(MeasureName),
    "ENCLOSURES in wmcc/robustness/enclosures.py": ENCLOSURES,
    "OF_CLASSES in wmcc/results/images.py": OF_CLASSES,
    f"the classes of wmcc/{METRICS}": metrics(),
    "MEASURES in tests/support/oracle.py": oracle.MEASURES,
    "FORMULAS in tests/support/adversary.py": adversary.FORMULAS,
}


@pytest.mark.parametrize("where", LISTS)
def test_every_list_has_every_measure(where):
    lacking, unknown = MEASURES.keys() - set(LISTS[where]), set(LISTS[where]) - MEASURES.keys()
    assert not lacking, f"{where} lacks {', '.join(sorted(lacking))}"
    assert not unknown, f"{where} has {', '.join(sorted(unknown))}, which MEASURES has not"
    assert len(LISTS[where]) == len(MEASURES)


def test_names_for_type_checkers_are_in_the_order_of_the_registry():
    assert get_args(MeasureName) == tuple(MEASURES)


def test_a_score_has_every_measure():
    fields = {field.name for field in dataclasses.fields(Score)}
    described = set((Score.__doc__ or "").partition("    table")[2].replace(",", " ").split())
    for where, names in (("the fields of Score", fields), ("the docstring of Score", described)):
        lacking = MEASURES.keys() - names
        assert not lacking, f"{where} in wmcc/results/scores.py lacks {', '.join(sorted(lacking))}"


def test_the_oracle_knows_which_measures_have_terms():
    assert {name for name, measure in MEASURES.items() if measure.has_terms is not None} == oracle.MEANS
