"""Scores and comparisons as plain values, and a report as JSON. docs/cli.md describes the forms."""

from __future__ import annotations

from typing import Any

from ..core.table import Table
from ..inference.comparison import Comparisons
from ..inference.diagnostics import Diagnosis
from ..inference.interval import Interval
from ..measures import CLASS_MEASURES, MEASURES
from ..present.written import as_json, finite
from ..results.score import Score
from ..robustness.certificate import Curve
from ..robustness.radius import Radius
from ..robustness.sensitivity import Sensitivity
from .document import Document
from .findings import Findings
from .made import Made

SCHEMA = 1
"""Version of the JSON of reports. Raise it when a field changes its meaning or goes; new fields may come."""


def report_json(document: Document, made: Made) -> str:
    """Write a report for programs."""
    found = document.found
    compared = found.comparisons
    return as_json(
        {
            "schema": SCHEMA,
            "title": document.title,
            "verdict": document.verdict,
            "measure": found.measure.name,
            "eps": found.eps,
            "threshold": found.threshold,
            "names": found.names,
            "predictions": [_prediction(found, name) for name in found.names],
            "pairs": [] if compared is None else [_pair(found, compared, pair) for pair in compared.pairs],
            "made": {**made._asdict(), "inputs": [x._asdict() for x in made.inputs]},
        }
    )


def _prediction(found: Findings, name: str) -> dict[str, Any]:
    score = found.scores[name]
    record = score_record(score.table, score)
    for k, c in enumerate(record["classes"]):
        c["intervals"] = {name: _interval(own[k]) for name, own in score.class_intervals.items()}
    return {
        "name": name,
        **record,
        "certified": _curve(found.curves[name]),
        "radius": _radius(found.radii.get(name)),
        "influences": _influences(found.sensitivities[name]),
        "table": score.table.to_dict(),
        "warnings": list(score.warnings),
    }


def _curve(curve: Curve | None) -> list[dict[str, Any]] | None:
    if curve is None:
        return None
    return [
        {"eps": c.eps, "low": c.low, "low_exact": c.lower.exact, "high": c.high, "high_exact": c.upper.exact}
        for c in curve
    ]


def _radius(radius: Radius | None) -> dict[str, Any] | None:
    if radius is None:
        return None
    ends = {"safe": finite(radius.safe), "broken": finite(radius.broken), "stopped": radius.stopped}
    return {"statement": radius.statement, **ends}


def _influences(found: Sensitivity | None) -> list[dict[str, Any]] | None:
    if found is None:
        return None
    return [
        {name: finite(x) if isinstance(x, float) else x for name, x in c._asdict().items()} for c in found.cells[:100]
    ]


def _pair(found: Findings, compared: Comparisons, names: tuple[str, str]) -> dict[str, Any]:
    return {**pair_record(compared, names), "lead": _radius(found.lead(*names))}


def score_record(table: Table, score: Score | None, beside: dict[str, Any] | None = None) -> dict[str, Any]:
    """Plain values of a score; what is undefined, or beyond float64, is null. ``beside`` stands beside intervals."""
    return {
        "n": table.rows,
        "weight": finite(table.total),
        "n_eff": finite(None if score is None else score.n_eff),
        "ignored": table.ignored,
        "positive": table.positive,
        "clusters": None if score is None else score.cluster_count,
        "measures": {name: finite(getattr(score, name, None)) for name in MEASURES},
        "intervals": {name: _interval(score.intervals.get(name) if score else None) for name in MEASURES},
        **(beside or {}),
        "classes": [
            {
                "label": c.label,
                "n": c.n,
                "weight": finite(c.weight),
                "n_eff": finite(size.n_eff),
                **{name: finite(getattr(c, name)) for name in CLASS_MEASURES},
            }
            for c, size in (zip(score.classes, score.diagnosis.classes, strict=True) if score else ())
        ],
        "diagnosis": None if score is None else _diagnosis(score.diagnosis),
    }


def _interval(found: Interval | None) -> dict[str, Any] | None:
    if found is None:
        return None
    numbers = {name: finite(getattr(found, name)) for name in ("low", "high", "se", "df", "n_eff")}
    asked = {"method": found.method, "confidence_level": found.confidence_level}
    return {**numbers, **asked, "status": found.status, "warnings": list(found.warnings), "problem": found.problem}


def _diagnosis(found: Diagnosis) -> dict[str, Any]:
    return {
        "design_effect": finite(found.design_effect),
        "heaviest_row": finite(found.heaviest_row),
        "heaviest_cell": finite(found.heaviest_cell),
        "cell": None if found.cell is None else list(found.cell),
        "warnings": list(found.warnings),
    }


def pair_record(compared: Comparisons, names: tuple[str, str]) -> dict[str, Any]:
    """Plain values of a comparison, with the winner and the verdict that are left when all pairs are looked at."""
    found, corrected = compared[names], compared.corrected(names)
    return {
        "names": list(names),
        "values": list(found.values),
        "difference": found.difference,
        **{name: finite(getattr(found, name)) for name in ("low", "high", "se", "df", "p_value")},
        "p_adjusted": finite(corrected.p_value),
        "p_noninferior": finite(found.p_noninferior),
        "noninferior": found.noninferior,
        "n_eff": finite(found.n_eff),
        "clusters": found.clusters,
        "winner": corrected.winner,
        "verdict": corrected.verdict,
        "reliable": found.reliable,
        "warnings": list(found.warnings),
        "problem": found.problem,
    }
