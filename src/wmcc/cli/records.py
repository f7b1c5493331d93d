"""Scores and tables for programs: JSON and CSV. docs/cli.md describes both."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from ..measures import CLASS_MEASURES, MEASURES
from .scores import Scored, Scores
from .stored import Tables

SCHEMA = 1
"""Version of the JSON of scores. Raise it when a field changes its meaning or goes; new fields may come."""

COUNTS = ("n", "weight", "n_eff", "ignored")
COMPANIONS = tuple(name for name in CLASS_MEASURES if name not in MEASURES)


def scores_json(scores: Scores) -> str:
    """One score; or with groups a list of them."""
    if not scores.by:
        data = {"schema": SCHEMA, **_score(scores.groups[()])}
    else:
        groups = [{"key": list(key), "score": _score(one)} for key, one in scores.groups.items()]
        data = {"schema": SCHEMA, "by": list(scores.by), "groups": groups}
    return as_json(data)


def _score(one: Scored) -> dict[str, Any]:
    """Plain values of a score; what is undefined, or beyond float64, is null."""
    table, score = one.table, one.score
    return {
        "n": table.rows,
        "weight": finite(table.total),
        "n_eff": finite(None if score is None else score.n_eff),
        "ignored": table.ignored,
        "positive": table.positive,
        "measures": {name: finite(getattr(score, name, None)) for name in MEASURES},
        "classes": [
            {
                "label": c.label,
                "n": c.n,
                "weight": finite(c.weight),
                **{name: finite(getattr(c, name)) for name in CLASS_MEASURES},
            }
            for c in (score.classes if score else ())
        ],
        "notes": list(one.notes),
    }


def scores_csv(scores: Scores) -> str:
    """A line for each group as a whole, and one for each of its classes."""
    names = ["scope", "class", *COUNTS, *MEASURES, *COMPANIONS]
    lines: list[Sequence[Any]] = [[*scores.by, *names]]
    for key, one in scores.groups.items():
        whole = _score(one)
        record = {"scope": "all", **whole, **whole["measures"]}
        lines.append([*key, *(record.get(name) for name in names)])
        for c in whole["classes"]:
            record = {"scope": "class", "class": c["label"], **c}
            lines.append([*key, *(record.get(name) for name in names)])
    return as_csv(lines)


def tables_csv(tables: Tables) -> str:
    """A line for each cell that is not empty."""
    lines: list[Sequence[Any]] = [[*tables.by, "true", "pred", "n", "w", "w2", "w_min", "w_max"]]
    for key, table in tables.groups.items():
        cells = table.to_dict()["cells"]
        names = ("n", "w", "w2", "w_min", "w_max")
        for row, (t, p) in enumerate(zip(cells["true"], cells["pred"], strict=True)):
            lines.append([*key, table.labels[t], table.labels[p], *(cells[name][row] for name in names)])
    return as_csv(lines)


def as_json(data: dict[str, Any]) -> str:
    """A line for each field; a list of plain values, such as a row of a table, is on one."""
    return _written(data, "") + "\n"


def _written(value: Any, indent: str) -> str:
    deeper = indent + "  "
    if isinstance(value, dict):
        items = [f"{json.dumps(name)}: {_written(x, deeper)}" for name, x in value.items()]
    elif isinstance(value, list) and any(isinstance(x, (list, dict)) for x in value):
        items = [_written(x, deeper) for x in value]
    else:
        return json.dumps(value, allow_nan=False)
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}\n{deeper}" + f",\n{deeper}".join(items) + f"\n{indent}{last}"


def as_csv(lines: Iterable[Sequence[Any]]) -> str:
    """Lines of fields; the first has their names."""
    return "".join(",".join(map(_field, line)) + "\n" for line in lines)


def _field(value: Any) -> str:
    """One field; None is an empty one, the empty text is in quotes. A lone carriage return needs them too."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    if value and value == value.strip() and not any(x in value for x in '",\n\r'):
        return value
    return '"' + value.replace('"', '""') + '"'


def finite(x: float | None) -> float | None:
    """A number that JSON can hold, or None."""
    return x if x is not None and math.isfinite(x) else None
