"""Scores in the place of predicted labels: tables by score, which any source makes as it makes tables of groups.

The score of a row is a value of its group's key, and its true class stands for the prediction. So no source knows of
scores: arrays, frames, files, engines, joins and designs make `Tables`, and a `ScoreTable` is made of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.keys import Key
from ..core.labels import Label, is_missing
from ..core.score_table import STEP, ClassScores, ScoreTable, checked_edges
from ..core.tables import Tables
from ..errors import InputError, InputTypeError, WeightError
from ..present.text import counted
from .column_lookup import TrueAgain
from .columns import weight_array, what
from .request import Request
from .score_steps import MOST_STEPS, Steps, evenly_weighted, refuse_rounded, rounded, steps_of
from .values import Join


def tabulate_scores(request: Request, tabulated: Any, made: Any = ScoreTable) -> Any:
    """Return the score table of a call; a dict of them by group; or those of several classes.

    ``tabulated`` makes tables of a call without scores, and ``made`` a score table of tables, edges and names.
    """
    for name in ("y_pred", "pred"):
        if getattr(request, name) is not None:
            raise InputTypeError(
                f"`score` and `{name}` were given; a row has a score or a predicted label.",
                "tabulate them apart: scores make labels by a threshold, scores.at(0.5).",
                name,
            )
    if request.missing in ("wrong", "keep"):
        said = f"`missing` is {request.missing!r}, which is for predicted labels; scores were given."
        raise InputError(said, "give 'error' or 'ignore'.", "missing")
    edges = None if request.thresholds is None else checked_edges(request.thresholds)
    if request.in_columns:
        return _of_columns(request, edges, tabulated, made)
    return _of_arrays(request, edges, tabulated, made)


# ---- columns of frames and files ---------------------------------------------------------------------------


def _of_columns(request: Request, edges: tuple[float, ...] | None, tabulated: Any, made: Any) -> Any:
    """Read scores of named columns: as one more value of the key of groups."""
    from .score_columns import with_steps  # brings narwhals, which arrays do without

    names, columns = _named(request.score)
    for column in columns:
        if isinstance(column, (list, tuple, np.ndarray)):
            raise InputTypeError(
                f"`score` is {what(column)}; expected the name of a column, or several names.",
                "make it a column of the data.",
                "score",
            )
    groups = [] if request.by is None else _as_list(request.by)
    stepped, data, keyed = with_steps(request, columns, edges), request.y_true, columns
    if stepped is not None:
        data, keyed, edges = stepped.data, stepped.names, _same_edges(stepped.edges)
    by = [*groups, *keyed]
    pred = TrueAgain(request.true) if isinstance(request.y_true, Join) else request.true
    tables = tabulated(
        request._replace(y_true=data, pred=pred, by=by if len(by) > 1 else by[0], score=None, thresholds=None)
    )
    keys = [key if isinstance(key, tuple) else (key,) for key in tables.groups]
    several = [[key[k] for key in keys] for k in range(len(groups), len(by))]
    if stepped is not None:
        scores = [np.array(own)[codes].tolist() for own, codes in zip(stepped.lower, several, strict=True)]
    else:
        scores = [_as_numbers(own, name) for own, name in zip(several, columns, strict=True)]
    _refuse_missing(tables, scores, columns, request.y_true)
    if edges is None and stepped is None and not names:
        edges = _chosen_edges(tables, scores[0])
    if edges is not None and stepped is None:  # those of steps are together
        lower = np.array([-np.inf, *edges])
        scores = [lower[np.searchsorted(edges, own, side="right")].tolist() for own in scores]
    divided = _divided(tables, [key[: len(groups)] for key in keys], scores, names)
    return _made_each(divided, request, lambda own: made(own, edges, names))


def _chosen_edges(tables: Tables[Any], scores: Sequence[float]) -> tuple[float, ...] | None:
    """Return thresholds to keep of very many scores; None if all are kept."""
    distinct, codes = np.unique(np.array(scores, dtype=np.float64), return_inverse=True)
    cells = tables.raw_cells  # not those of the design, which wait for the other parts of a sample
    weights = cells.sums.w_exact.by_code(cells.codes[0], len(tables)).floats()
    return evenly_weighted(distinct, np.bincount(codes, weights, len(distinct)))


def _made_each(divided: dict[Any, Tables[Any]], request: Request, made: Callable[[Tables[Any]], Any]) -> Any:
    """Make the score table of a whole call, or a dict of those of groups."""
    if request.by is None:
        return made(divided[()])
    found = {}
    for group, own in divided.items():
        if not own.rows.any():  # all were ignored
            continue
        try:
            found[group] = made(own)
        except InputError as problem:
            raise problem.about(f"the group {group!r}") from None
    return found


def _same_edges(several: Sequence[tuple[float, ...] | None]) -> tuple[float, ...] | None:
    """Return the edges of steps, which must be the same for all scores."""
    if any(edges != several[0] for edges in several):
        raise InputError(
            f"several scores cannot be tabulated together with more than {MOST_STEPS:,} different values each.",
            "give `thresholds` for all of them, round the scores, for instance to four digits, or tabulate each alone.",
            "score",
        )
    return several[0]


def _as_list(by: Any) -> list[Any]:
    return list(by) if isinstance(by, (list, tuple)) else [by]


def _named(score: Any) -> tuple[tuple[str, ...], list[Any]]:
    """Return names of several scores, none for a single one, and their columns."""
    if isinstance(score, Mapping):
        if not score:
            raise InputError("`score` is an empty mapping; expected scores by name.", argument="score")
        return tuple(map(str, score)), list(score.values())
    if isinstance(score, (list, tuple)):
        if not score:
            raise InputError("`score` is an empty list; expected names of columns.", argument="score")
        return tuple(map(str, score)), list(score)
    return (), [score]


def _as_numbers(keys: Sequence[Key], column: Any) -> list[float]:
    known = {key: _as_number(key, column) for key in dict.fromkeys(keys)}
    return [known[key] for key in keys]


def _as_number(key: Key, column: Any) -> float:
    where = f"the column {column!r}" if isinstance(column, str) else "`score`"
    try:
        if key is None or isinstance(key, bool):
            return float("nan") if key is None else float(key)
        number = float(key)
    except ValueError:
        raise InputError(f"{where} holds {key!r}; a score must be a number.", argument="score") from None
    whole = isinstance(key, int) or (isinstance(key, str) and key.strip().lstrip("+-").isdecimal())
    if whole and int(key) != number:
        raise rounded(f"{where} holds {key}", key)
    return number


def _refuse_missing(tables: Tables[Any], scores: Sequence[Sequence[float]], columns: Sequence[Any], data: Any) -> None:
    """Refuse rows without a score, unless their labels leave them out."""
    for own, column in zip(scores, columns, strict=True):
        lost = np.flatnonzero(np.isnan(np.array(own, dtype=np.float64)))
        rows = int(tables.rows[lost].sum()) if len(lost) else 0
        if rows:
            where = f"the column {column!r}" if isinstance(column, str) else "`score`"
            first = None if tables.ignored.any() else _first_missing(data, column)
            raise InputError(
                f"{where} is missing, or NaN, for {counted(rows, 'row')}; a score must be a number."
                f"{f' The first: {first}.' if first else ''}",
                "leave these rows out, or find out why the model has no score for them.",
                "score",
            )


def _first_missing(data: Any, column: Any) -> str | None:
    """Say where the first row without a score is, if rows of the data have numbers."""
    from .arrow_batches import numbered_parts
    from .frames import selected  # which arrays do without

    for path, first, part in numbered_parts(data, column) if isinstance(column, str) else ():
        values = selected(part, {"s": column})[0]["s"].to_list()
        for row, value in enumerate(values, first):
            if is_missing(value) or str(value).strip().lower() == "nan":
                return f"{path}: {column}[{row}]" if path else f"{column}[{row}]"
    return None


def _divided(
    tables: Tables[Any], groups: Sequence[tuple[Key, ...]], scores: Sequence[Sequence[float]], names: tuple[str, ...]
) -> dict[Any, Tables[Any]]:
    """Return tables by score for each group, of tables whose keys have the scores after the groups.

    ``scores`` has those of each column.
    """
    keys: Sequence[Key] = list(zip(*scores, strict=True)) if names else scores[0]
    places: dict[tuple[Key, ...], list[int]] = {}
    for j, group in enumerate(groups):
        places.setdefault(group, []).append(j)
    made: dict[Any, Tables[Any]] = {}
    if not groups:
        made[()] = replace(tables, by=names or STEP)
    for group, here in places.items():
        whole = len(here) == len(groups)
        some = tables if whole else tables.select([tables.groups[j] for j in here])
        own = keys if whole else [keys[j] for j in here]
        made[group if len(group) != 1 else group[0]] = replace(some, by=names or STEP)._rekeyed(own)
    return made


# ---- arrays --------------------------------------------------------------------------------------------------


def _of_arrays(request: Request, edges: tuple[float, ...] | None, tabulated: Any, made: Any) -> Any:
    """Read scores in memory: the steps of rows are keys of groups."""
    if request.y_true is None:
        raise InputTypeError("`score` was given without true labels.", "write tabulate(y_true, score=…).", "y_true")
    if isinstance(request.score, Mapping):
        names, _ = _named(request.score)
        several = [_steps(x, f"score[{name!r}]", edges, request) for name, x in request.score.items()]
        return _tabulated_steps(request, several, names, tabulated, made)
    values = _numbers(request.score, "score")
    if values.ndim == 2 and np.ndim(request.y_true) == 1 and values.shape[1] > 1:
        return _of_classes(request, values, edges, tabulated)
    if values.ndim == 2 and values.shape[1] == 1 and np.ndim(request.y_true) == 1:
        values = values[:, 0]
    return _tabulated_steps(request, [_steps(values, "score", edges, request)], (), tabulated, made)


def _numbers(given: Any, name: str) -> FloatArray:
    if isinstance(given, str):
        raise InputTypeError(
            f"`{name}` is {given!r}; the name of a column goes with a frame or a file.",
            "write tabulate(data, true=…, score=…), or give an array of scores.",
            "score",
        )
    try:
        values = weight_array(given, name)
    except (InputTypeError, WeightError) as problem:  # which speaks of weights
        raise InputTypeError(problem.message.replace("a weight must", "a score must"), argument="score") from None
    floats = np.asarray(values, dtype=np.float64)
    objects = isinstance(given, list) or getattr(getattr(given, "dtype", None), "kind", "") == "O"
    if objects or values.dtype.kind in "iu":
        refuse_rounded(
            floats, name, lambda rows: (np.array(given, dtype=object) if objects else values).reshape(-1)[rows].tolist()
        )
    elif values.dtype.itemsize > 8:  # long doubles
        order = np.argsort(values, axis=None)
        equal = np.flatnonzero((np.diff(floats.reshape(-1)[order]) == 0) & (np.diff(values.reshape(-1)[order]) != 0))
        for row in order[equal + 1][:1].tolist():
            place = ", ".join(map(str, np.unravel_index(row, floats.shape)))
            raise rounded(f"{name}[{place}] is {values.flat[row]!s}", values.flat[row])
    return floats


def _steps(given: Any, name: str, edges: tuple[float, ...] | None, request: Request) -> Steps:
    """Find the step of each row."""
    values = _numbers(given, name)
    if values.shape != np.shape(request.y_true):
        raise InputError(
            f"`{name}` has shape {values.shape}, and y_true {np.shape(request.y_true)}; expected a score for each "
            "label.",
            "for more than two classes give a column of scores for each class.",
            "score",
        )
    return steps_of(values, edges, request.weights, request.threads)


def _tabulated_steps(
    request: Request, several: Sequence[Steps], names: tuple[str, ...], tabulated: Any, made: Any
) -> Any:
    """Tabulate with the steps as groups, beside those that the caller asked for."""
    of_user: dict[str, Any] = {}
    if request.by is not None:
        given = request.by if isinstance(request.by, Mapping) else {"": request.by}
        of_user = {f"by {name}": keys for name, keys in given.items()}
    words = names or ("",)
    keyed = {**of_user, **{f"score {name}": own.codes for name, own in zip(words, several, strict=True)}}
    by = next(iter(keyed.values())) if len(keyed) == 1 else keyed
    tables = tabulated(request._replace(y_pred=request.y_true, by=by, score=None, thresholds=None))
    count = len(of_user)
    keys = [key if isinstance(key, tuple) else (key,) for key in tables.groups]
    codes = np.array([key[count:] for key in keys], dtype=np.int64).reshape(len(keys), len(several)).T
    scores = [np.array(own.lower)[code].tolist() for own, code in zip(several, codes, strict=True)]
    for score, own, name in zip(scores, several, words, strict=True):
        lost = np.flatnonzero(np.isnan(score))
        if len(lost) and tables.rows[lost].any():
            raise _no_score(f"score[{name!r}][{own.unknown}]" if names else f"score[{own.unknown}]")
    edges = _same_edges([own.edges for own in several])
    divided = _divided(tables, [key[:count] for key in keys], scores, names)
    return _made_each(divided, request, lambda own: made(own, edges, names))


def _no_score(where: str) -> InputError:
    return InputError(
        f"{where} is nan; a score must be a number.",
        "leave such rows out, or find out why the model has no score for them.",
        "score",
    )


def _of_classes(request: Request, values: FloatArray, edges: tuple[float, ...] | None, tabulated: Any) -> ClassScores:
    """Tabulate a column of scores for each class: each class against the rest, and the table of the largest scores."""
    if len(values) != len(request.y_true):
        raise InputError(
            f"`score` has {counted(len(values), 'row')}, and y_true {len(request.y_true):,}; expected a row of scores "
            "for each label.",
            argument="score",
        )
    if request.by is not None:
        raise InputTypeError("`by` does not go with a column of scores for each class yet.", argument="by")
    if np.isnan(values).any():
        row, column = (int(x[0]) for x in np.nonzero(np.isnan(values)))
        raise _no_score(f"score[{row}, {column}]")
    plain = request._replace(score=None, thresholds=None)
    labels = request.labels
    if labels is None:
        labels = tabulated(plain._replace(y_pred=request.y_true)).classes
        if len(labels) != values.shape[1]:
            raise InputError(
                f"`score` has {values.shape[1]} columns, and {counted(len(labels), 'class', 'classes')} occur.",
                "give as `labels` the class of each column, in their order.",
                "labels",
            )
    labels = list(labels)
    if len(labels) != values.shape[1]:
        raise InputError(
            f"`labels` has {counted(len(labels), 'class', 'classes')}, and `score` {values.shape[1]} columns.",
            "give a column of scores for each class, and as `labels` the class of each column, in their order.",
            "labels",
        )
    names = np.array(labels, dtype=object) if any(isinstance(x, str) for x in labels) else np.array(labels)
    table = tabulated(plain._replace(y_pred=names[values.argmax(axis=1)], labels=labels))
    scores: dict[Label, ScoreTable] = {}
    for k, label in enumerate(labels):
        steps = _steps(values[:, k], f"score[:, {k}]", edges, request)
        tables = tabulated(plain._replace(y_pred=request.y_true, by=steps.codes, labels=labels))
        keys: list[Key] = [steps.lower[code] for code in tables.groups]
        against = replace(tables, by=STEP)._rekeyed(keys).against_rest(label)
        scores[label] = ScoreTable(against, steps.edges)
    return ClassScores(scores, table)
