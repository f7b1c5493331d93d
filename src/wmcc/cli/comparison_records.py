"""Comparisons for programs: JSON and CSV. docs/cli.md describes both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..present.written import as_csv, as_json
from ..report.record import pair_record
from .comparisons import Compared, Pair
from .robust_records import span

SCHEMA = 1
"""Version of this form of JSON. Raise it when a field changes its meaning or goes; new fields may come."""

SAMPLING = ("low", "high", "se", "df", "p_value", "p_adjusted", "p_noninferior", "noninferior", "n_eff", "clusters")
VERDICT = ("winner", "verdict", "reliable", "problem")
RANGE = ("low", "high", "conditions_met")


def comparisons_json(compared: Compared) -> str:
    """The ranking, and all pairs."""
    asked, found = compared.asked, compared.found
    return as_json(
        {
            "schema": SCHEMA,
            "measure": asked.measure,
            "confidence_level": asked.level,
            "margin": asked.margin,
            "names": list(found.names),
            "ranking": [
                {"name": name, "value": x, "not_told_apart_from": list(others)} for name, x, others in found.ranking
            ],
            "pairs": [_pair(compared, pair) for pair in found.pairs],
        }
    )


def comparisons_csv(compared: Compared, safe: bool = False) -> str:
    """A line for each pair."""
    asked, off = compared.asked, compared.asked.off
    first = ("first", "second", "measure", "confidence_level", "margin", "first_value", "second_value", "difference")
    ranged = ["model", "eps", *(f"range_{name}" for name in RANGE)]
    lines: list[Sequence[Any]] = [[*first, *SAMPLING, *VERDICT, *([] if off is None else ranged)]]
    for names in compared.found.pairs:
        pair = _pair(compared, names)
        line = [*names, asked.measure, asked.level, asked.margin, *pair["values"], pair["difference"]]
        line += [pair[name] for name in (*SAMPLING, *VERDICT)]
        if off is not None:
            known = pair["range"] or {}
            line += [off.model, off.eps[0], *(known.get(name) for name in RANGE)]
        lines.append(line)
    return as_csv(lines, safe)


def _pair(compared: Compared, names: Pair) -> dict[str, Any]:
    ranges = {} if compared.asked.off is None else {"range": span(compared.ranges[names])}
    return {**pair_record(compared.found, names), **ranges}
