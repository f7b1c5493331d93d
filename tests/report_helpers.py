"""Reports that are made quickly: few values of ε, and little work for each."""

import json

from wmcc.report import findings
from wmcc.report.write import Asked, build, render

NODES = 5


def quick(monkeypatch):
    """What is certified is true whenever the search stops."""
    monkeypatch.setattr(findings, "GRID", (0.0, 0.05, 0.1, 0.3, 0.5))
    monkeypatch.setattr(findings, "NODES", NODES)
    monkeypatch.setattr("wmcc.robustness.ranking.TOLERANCE", 0.2)


def made(form, *data, **asked):
    return forms(*data, **asked)(form)


def forms(*data, **asked):
    """What writes a report in any form, once it is built."""
    data = (*data, *[None] * (4 - len(data)))
    options, title = asked.pop("options", {}), asked.pop("title", None)
    built = build(data, Asked(**asked, progress=False), options, title)
    return lambda form: render(form, *built)


def as_json(*data, **asked):
    return json.loads(made("json", *data, **asked))
