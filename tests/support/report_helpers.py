"""Reports that are made quickly: few values of ε, and little work for each."""

import json

from wmcc.report import findings
from wmcc.report.write import ReportOptions, build, render

NODES = 5


def quick(monkeypatch):
    """What is certified is true whenever the search stops."""
    monkeypatch.setattr(findings, "GRID", (0.0, 0.05, 0.1, 0.3, 0.5))
    monkeypatch.setattr(findings, "NODES", NODES)
    monkeypatch.setattr("wmcc.robustness.ranking.TOLERANCE", 0.2)


def made(form, table, **wish):
    return forms(table, **wish)(form)


def forms(table, lower=None, upper=None, **wish):
    """What writes a report in any form, once it is built."""
    built = build(table, ReportOptions(**wish, progress=False), lower=lower, upper=upper)
    return lambda form: render({"markdown": ".md"}.get(form, f".{form}"), *built)


def as_json(table, **wish):
    return json.loads(made("json", table, **wish))
