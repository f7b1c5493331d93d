"""Scores and tables for programs: JSON and CSV. docs/cli.md describes both."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from ..core.keys import key_to_json
from ..core.table import Table
from ..core.tables import Tables
from ..measures import CLASS_MEASURES, MEASURES
from ..present.written import as_csv, as_json
from ..report.record import score_record
from .robust import Asked
from .robust_records import span
from .scores import Scored, Scores

SCHEMA = 1
"""Version of the JSON of scores. Raise it when a field changes its meaning or goes; new fields may come."""

COUNTS = ("n", "weight", "n_eff", "ignored")
COMPANIONS = tuple(name for name in CLASS_MEASURES if name not in MEASURES)


def scores_json(scores: Scores) -> str:
    """One score; or with groups a list of them."""
    if not scores.by:
        data = {"schema": SCHEMA, **_score(scores.groups[()], scores.off)}
    else:
        groups = [{"key": key_to_json(key), "score": _score(one, scores.off)} for key, one in scores.groups.items()]
        data = {"schema": SCHEMA, "by": list(scores.by), "groups": groups}
    return as_json(data)


def _score(one: Scored, off: Asked | None) -> dict[str, Any]:
    ranges = {} if off is None else {"ranges": {name: span(one.ranges.get(name)) for name in MEASURES}}
    return {**score_record(one.table, one.score, ranges), "notes": list(one.notes)}


def scores_csv(scores: Scores, safe: bool = False) -> str:
    """A line for each group as a whole, and one for each of its classes."""
    names = ["scope", "class", *COUNTS, *MEASURES, *COMPANIONS, "clusters", "confidence_level"]
    names += [f"{name}_{field}" for name in MEASURES for field in ("low", "high", "se", "status")]
    if scores.off is not None:
        names += ["model", "eps", *(f"{name}_range_{end}" for name in MEASURES for end in ("low", "high"))]
    lines: list[Sequence[Any]] = [[*scores.by, *names]]
    for key, one in scores.groups.items():
        whole = _score(one, scores.off)
        record = {"scope": "all", **whole, **whole["measures"], "confidence_level": scores.level}
        record |= {f"{name}_{field}": x for name, own in whole["intervals"].items() for field, x in (own or {}).items()}
        if scores.off is not None:
            record |= {"model": scores.off.model, "eps": scores.off.eps[0]}
            record |= {
                f"{name}_range_{end}": x for name, own in whole["ranges"].items() for end, x in (own or {}).items()
            }
        lines.append([*key, *(record.get(name) for name in names)])
        for c in whole["classes"]:
            record = {"scope": "class", "class": c["label"], **c}
            lines.append([*key, *(record.get(name) for name in names)])
    return as_csv(lines, safe)


def tables_csv(tables: Tables[Table], safe: bool = False) -> str:
    """A line for each cell that is not empty."""
    lines: list[Sequence[Any]] = [[*tables.columns, "true", "pred", "n", "w", "w2", "w_min", "w_max"]]
    for key, table in tables.items():
        n, w, w2, low, high = table.stack.sums
        sums = ([x if isfinite(x) else None for x in exact.floats().tolist()] for exact in (w, w2))
        numbers = (n.tolist(), *sums, low.tolist(), high.tolist())
        for t, p, *own in zip(*table.stack.codes.tolist(), *numbers, strict=True):
            lines.append([*key, table.labels[t], table.labels[p], *own])
    return as_csv(lines, safe)
