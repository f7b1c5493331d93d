"""Readers stand below the waist: who has a table loads nothing that reads data, and gets an answer or a reason."""

import ast
import inspect
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers import joint_table

import wmcc

SOURCE = Path(wmcc.__file__).parent
BELOW = [path for part in ("measures", "inference", "robustness") for path in sorted((SOURCE / part).rglob("*.py"))]

CALLS = {
    "interval": 'wmcc.interval(table), wmcc.interval(table, "recall", of=0), wmcc.interval(table, method="bootstrap")',
    "certify": "wmcc.certify(table), wmcc.certify(table, eps=[0.1]), wmcc.certify_trimming(table, caps=[1])",
    "radius": "wmcc.radius(table, at_least=0.1)",
    "sensitivity": "wmcc.sensitivity(table)",
    "diagnose": "wmcc.diagnose(table), table.n_eff",
    "score": "wmcc.score(table).warnings",
    "compare": 'wmcc.compare({"a": table, "b": table}, sample="independent")',
    "uncertainty": "wmcc.results.uncertainty(table)",
    "published": "wmcc.published.binary(table, 0.1)",
    "measure": "wmcc.ecc(table)",
}


@pytest.mark.parametrize("name", CALLS)
def test_readers_of_a_table_load_nothing_that_reads_data(name):
    code = f"""
import sys, wmcc
table = wmcc.Table.from_counts([[50, 3], [2, 45]])
{CALLS[name]}
print(*(name for name in sys.modules if name.startswith(("wmcc.sources", "narwhals"))))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.mark.parametrize("path", BELOW, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_needs_rows_is_in_modules_of_its_own(path):
    """They are called ``rows``, and the readers load them when somebody has rows."""
    found = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and "sources" in (node.module or "").split(".")
    ]
    at_the_top = [node for node in found if node.col_offset == 0]
    assert not at_the_top or path.name == "rows.py"
    assert not found or path.name in ("rows.py", "base.py")  # a measure takes labels, too


READERS = [
    "interval",
    "compare",
    "certify",
    "certify_ranking",
    "certify_trimming",
    "radius",
    "sensitivity",
    "diagnose",
    "uncertainty",
]


@pytest.mark.parametrize("name", READERS)
def test_signatures_are_short_and_typed(name):
    """A table, a measure, and the rest by keyword: nothing else, and no ``Any``."""
    signature = inspect.signature(getattr(wmcc.results if name == "uncertainty" else wmcc, name))
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    assert kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD) <= 2
    assert inspect.Parameter.VAR_KEYWORD not in kinds
    assert inspect.Parameter.VAR_POSITIONAL not in kinds
    assert not any("Any" in str(parameter.annotation) for parameter in signature.parameters.values())
    assert "Any" not in str(signature.return_annotation)


UNDEFINED = wmcc.tabulate([0, 0, 0], [0, 1, 0])
ONE = joint_table([0, 1, 1, 0], [0, 1, 1, 1], [0, 0, 0, 0])
RESULTS = {
    "interval": lambda: wmcc.interval(UNDEFINED),
    "certify": lambda: wmcc.certify(UNDEFINED),
    "curve": lambda: wmcc.certify(UNDEFINED, eps=[0.1, 0.2]),
    "trimming": lambda: wmcc.certify_trimming(UNDEFINED, caps=[0.5, 0.2]),
    "radius": lambda: wmcc.radius(UNDEFINED, at_least=0.0),
    "sensitivity": lambda: wmcc.sensitivity(UNDEFINED),
    "compare": lambda: wmcc.compare(ONE),
    "difference": lambda: wmcc.compare(ONE).only,
    "ranking": lambda: wmcc.certify_ranking(ONE),
    "lead": lambda: wmcc.certify_ranking(ONE).only,
    "uncertainty": lambda: wmcc.results.uncertainty(UNDEFINED),
    "class": lambda: wmcc.interval(UNDEFINED, "recall", of=1),
    "independent": lambda: wmcc.compare({"a": UNDEFINED, "b": UNDEFINED}, sample="independent"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_undefined_is_a_value_with_a_reason(name):
    """The value is that of the paper's convention, 0, and nothing that would follow from it stands beside it."""
    found = RESULTS[name]()
    assert "undefined at these weights" in found.problem
    value = found.values if hasattr(found, "values") else getattr(found, "value", 0.0)
    assert np.isfinite(list(value.values()) if isinstance(value, dict) else value).all()
    for end in ("low", "high", "se", "p_value", "slope_relative"):
        assert math.isnan(np.max(getattr(found, end, math.nan)))
    assert getattr(found, "safe", 0.0) == 0.0
    assert not getattr(found, "holds", False)
    assert repr(found)
    assert found._repr_html_()
