"""A report as JSON; docs/cli.md describes it."""

from __future__ import annotations

from typing import Any

from ..present.result import SCHEMA
from ..present.written import as_json
from .document import Document
from .findings import Findings, Pair
from .made import Made

INFLUENCES = 100
"""Cells whose weights matter most, of each prediction."""


def report_json(document: Document, made: Made) -> str:
    """Write a report for programs."""
    found = document.found
    compared = found.comparisons
    return as_json(
        {
            "schema": SCHEMA,
            "kind": "report",
            "title": document.title,
            "verdict": document.verdict,
            "measure": found.measure.name,
            "eps": found.eps,
            "at_least": found.at_least,
            "unit": found.unit,
            "names": found.names,
            "predictions": [_prediction(found, name) for name in found.names],
            "pairs": [] if compared is None else [_pair(found, pair) for pair in compared.pairs],
            "images": None if found.images is None else found.images.fields(),
            "figures": [x.title for x in found.drawings],
            "made": {**made._asdict(), "inputs": [x._asdict() for x in made.inputs]},
        }
    )


def _prediction(found: Findings, name: str) -> dict[str, Any]:
    curve, radius, bounded = found.curves[name], found.radii.get(name), found.bounded.get(name)
    return {
        "name": name,
        **found.scores[name].fields(),
        "certified": None if curve.problem else curve.records(),
        "bounded": None if bounded is None else bounded.records()[0],
        "radius": None if radius is None else radius.records()[0],
        "map": found.maps[name].fields() if found.maps else None,
        "error_map": found.error_maps[name].fields() if name in found.error_maps else None,
        "influences": found.sensitivities[name].records()[:INFLUENCES],
        "table": found.scores[name].table.to_dict(),
    }


def _pair(found: Findings, names: Pair) -> dict[str, Any]:
    assert found.comparisons is not None
    lead, bounded = found.lead(*names), found.bounded_lead(*names)
    return {
        **found.comparisons[names].fields(),
        "lead": None if lead is None else lead.records()[0],
        "bounded": None if bounded is None else {"names": list(bounded.names), **bounded.records()[0]},
    }
