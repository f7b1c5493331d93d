"""Ranges, radii and rankings for programs: JSON and CSV. docs/cli.md describes both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..core.keys import key_to_json
from ..core.table import Table
from ..present.written import as_csv, as_json, finite
from ..robustness.box import Condition
from ..robustness.certificate import Certificate, End
from ..robustness.radius import Radius
from ..robustness.ranking import Ranking
from .robust import Found, Ranked

SCHEMA = 1
"""Version of these forms of JSON. Raise it when a field changes its meaning or goes; new fields may come."""

MOST_SQUARE = 2048
"""Classes up to which a witness is a matrix; one of more is a list of its occupied cells, as those of rankings are."""

T = TypeVar("T")
ENDS = ("low", "low_attained", "low_exact", "high", "high_attained", "high_exact", "conditions_met")


def certificates_json(found: Found[list[Certificate]]) -> str:
    """The ranges of one table; or with groups a list of them."""
    return _per_group(found, "certificate", _certificate)


def radii_json(found: Found[Radius]) -> str:
    """The radius of one table; or with groups a list of them."""
    return _per_group(found, "radius", _radius_of_table)


def _per_group(found: Found[T], name: str, written: Callable[[T | None, Table], dict[str, Any]]) -> str:
    def one(key: tuple[Any, ...]) -> dict[str, Any]:
        asked, table = {"measure": found.asked.measure, "model": found.asked.model}, found.tables[key]
        known = {**asked, "labels": list(table.labels), **written(found.groups[key], table), "notes": found.notes[key]}
        if len(table.labels) > MOST_SQUARE:
            known["cells"] = dict(zip(("true", "pred"), table.stack.codes.tolist(), strict=True))
        return known

    if not found.tables.columns:
        return as_json({"schema": SCHEMA, **one(())})
    groups = [{"key": key_to_json(key), name: one(key)} for key in found.groups]
    return as_json({"schema": SCHEMA, "by": list(found.tables.columns), "groups": groups})


def _certificate(certificates: list[Certificate] | None, table: Table) -> dict[str, Any]:
    return {
        "value": finite(certificates[0].value) if certificates else None,
        "ranges": [
            {"eps": finite(c.eps), "lower": _end(c.lower), "upper": _end(c.upper), **_conditions(c.conditions)}
            for c in certificates or ()
        ],
    }


def _radius_of_table(one: Radius | None, table: Table) -> dict[str, Any]:
    if one is None:
        return {"value": None, "statement": None, **dict.fromkeys(("safe", "broken", "stopped", "attained", "witness"))}
    return {"value": one.value, "statement": one.statement, **_radius(one)}


def _radius(one: Radius) -> dict[str, Any]:
    attained, witness = (None, None) if one.witness is None else (one.witness.attained, _witness(one.witness))
    ends = {"safe": finite(one.safe), "broken": finite(one.broken), "stopped": one.stopped}
    return {**ends, "attained": attained, "witness": witness}


def _end(end: End) -> dict[str, Any]:
    fields = {"bound": end.bound, "attained": end.attained, "exact": end.exact, "gap": end.gap, "nodes": end.nodes}
    return {**fields, "witness": _witness(end)}


def _witness(end: End) -> list[Any]:
    """Sums per cell; those beyond float64 are None."""
    rows = (end.cells if end.occupied.K <= MOST_SQUARE else end.sums).tolist()
    return [list(map(finite, row)) if isinstance(row, list) else finite(row) for row in rows]


def _conditions(conditions: tuple[Condition, ...]) -> dict[str, Any]:
    return {"conditions": [{"sentence": c.sentence, "met": bool(c.met)} for c in conditions]}


def rankings_json(ranked: Ranked) -> str:
    """All pairs."""
    first = next(iter(ranked.found.pairs.values()))
    asked = {"measure": first.measure, "model": first.model, "eps": first.eps, "names": list(ranked.found.names)}
    pairs = [_pair(pair, ranked.with_radius) for pair in ranked.found.pairs.values()]
    return as_json({"schema": SCHEMA, **asked, "pairs": pairs})


def _pair(pair: Ranking, with_radius: bool) -> dict[str, Any]:
    cells = pair.joint.cells.T.tolist()
    return {
        "names": list(pair.names),
        "values": list(pair.values),
        "difference": pair.difference,
        "lower": _end(pair.lower),
        "upper": _end(pair.upper),
        **_conditions(pair.conditions),
        "winner": pair.winner,
        "verdict": pair.verdict,
        "radius": _radius(pair.radius) if with_radius else None,
        "labels": list(pair.joint.labels),
        "cells": dict(zip(("true", "first", "second"), cells, strict=True)),
    }


def certificates_csv(found: Found[list[Certificate]], safe: bool = False) -> str:
    """A line for each ε, of each group."""
    lines: list[Sequence[Any]] = [[*found.tables.columns, "measure", "model", "eps", "value", *ENDS]]
    for key, certificates in found.groups.items():
        first = [*key, found.asked.measure, found.asked.model]
        if certificates is None:
            lines.append([*first, *[None] * (2 + len(ENDS))])
        for c in certificates or ():
            lines.append([*first, finite(c.eps), c.value, *ends(c)])
    return as_csv(lines, safe)


def radii_csv(found: Found[Radius], safe: bool = False) -> str:
    """A line for each group."""
    lines: list[Sequence[Any]] = [[*found.tables.columns, "measure", "model", "value", "statement", "safe", "broken"]]
    for key, one in found.groups.items():
        first = [*key, found.asked.measure, found.asked.model]
        values = [None] * 4 if one is None else [one.value, one.statement, finite(one.safe), finite(one.broken)]
        lines.append([*first, *values])
    return as_csv(lines, safe)


def rankings_csv(ranked: Ranked, safe: bool = False) -> str:
    """A line for each pair."""
    names = ("first", "second", "measure", "model", "eps", "first_value", "second_value", "difference")
    lines: list[Sequence[Any]] = [[*names, *ENDS, "winner", "verdict", "safe", "broken"]]
    for pair in ranked.found.pairs.values():
        radius = [pair.radius.safe, pair.radius.broken] if ranked.with_radius else [None, None]
        asked = [*pair.names, pair.measure, pair.model, pair.eps, *pair.values, pair.difference]
        lines.append([*asked, *ends(pair), pair.winner, pair.verdict, *radius])
    return as_csv(lines, safe)


def ends(of: Certificate | Ranking) -> list[Any]:
    """Values of the fields `ENDS`."""
    both = [x for end in (of.lower, of.upper) for x in (end.bound, end.attained, end.exact)]
    return [*both, all(c.met for c in of.conditions)]


def span(of: Certificate | Ranking | None) -> dict[str, Any] | None:
    """A range beside an interval, without witnesses."""
    if of is None:
        return None
    return {"model": of.model, "eps": of.eps, **dict(zip(ENDS, ends(of), strict=True))}
