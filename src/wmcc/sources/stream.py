"""Tables that grow, slide or forget while observations come in."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import wraps
from itertools import accumulate
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..core.base_table import no_cells
from ..core.joint import JointTable
from ..core.labels import ordered
from ..core.score_table import STEP, ScoreTable, checked_edges
from ..core.stack import Stack
from ..core.sums import Sums
from ..core.table import Table
from ..core.tables import Tables
from ..errors import InputError, InputTypeError
from ..present.text import brief, counted
from .codes import Missing, make_rules
from .request import Request, no_keyword
from .values import Design, PostStrata, Replicates, Strata, is_number

PER_ROW = ("y_true", "y_pred", "sample_weight", "by", "cluster")
"""What a single observation has one of."""

P = ParamSpec("P")
R = TypeVar("R")

Time = Any
"""The number of an update; or its time, in seconds or as a datetime."""


def _checked_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse a keyword that the function does not have, and name the nearest that it has."""
    known = list(inspect.signature(function).parameters)[1:]
    name = function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> R:
        for keyword in named:
            if keyword not in known:
                raise no_keyword(name, keyword, known)
        return function(*args, **named)

    return call


@dataclass(frozen=True)
class _State:
    """What an accumulator holds; replaced as a whole, so that no reader and no forked process finds half an update.

    A window is a queue made of two stacks. The first ``fresh`` of ``new`` came since the stacks were last turned over,
    and ``total`` is their sum. ``old[k]`` has the sum of the k + 1 youngest before that, and the time of the oldest of
    them; the first ``kept`` have not left. The oldest update leaves by dropping the last sum, so smallest weights and
    classes that are gone are gone from the table too. ``new`` grows beyond what older states know of; nothing else
    changes.
    """

    latest: Time = None
    total: Any = None
    new: list[tuple[Time, Any]] = field(default_factory=list)
    fresh: int = 0
    old: Sequence[tuple[Time, Any]] = ()
    kept: int = 0

    def whole(self) -> Any:
        """Sum of all that has not left; None if there is nothing."""
        return _sum(self.old[self.kept - 1][1] if self.kept else None, self.total)

    def after(self, limit: Time) -> _State:
        """What is left of updates that came after a time."""
        state = self
        while state.kept or state.fresh:
            if not state.kept:
                times, tables = zip(*reversed(state.new[: state.fresh]), strict=True)
                old = list(zip(times, accumulate(tables), strict=True))
                state = _State(state.latest, old=old, kept=len(old))
            if state.old[state.kept - 1][0] > limit:
                break
            state = replace(state, kept=state.kept - 1)
        return state

    def plus(self, at: Time, table: Any) -> _State:
        """Add an update."""
        del self.new[self.fresh :]  # of updates that were refused
        self.new.append((at, table))
        return replace(self, latest=at, total=_sum(self.total, table), fresh=self.fresh + 1)


class Accumulator:
    """A table of observations that come in batches, or one by one, from one thread or from many.

    It is read as the table that it holds: ``wmcc.score(accumulator)``, ``wmcc.interval(accumulator, "mcc")``. Sums are
    exact, so this is the table of all rows, to the last bit, whatever the batches were and whichever thread brought
    them. A process that is forked while threads update starts with a table of whole updates.

    Parameters
    ----------
    window
        Count only the last ``window`` updates; or only those of the last ``window``, a `datetime.timedelta`, before the
        latest update. Older updates are dropped. None counts all.
    half_life
        Discount older weights: after ``half_life`` updates, or after this time, an observation weighs half as much. The
        sums are rounded at each update, and the order of updates matters. None forgets nothing.
    labels, names, ignore, missing, positive, threads, thresholds
        As for `wmcc.tabulate`. Without ``thresholds`` every score that comes is kept.

    Examples
    --------
    >>> import wmcc
    >>> day = wmcc.Accumulator()
    >>> day.update(["cat", "dog"], ["cat", "cat"], [1.0, 2.5])
    >>> day.update("dog", "dog", 0.3)
    >>> round(wmcc.mcc(day.table), 4)
    0.175
    >>> last_two = wmcc.Accumulator(window=2)
    >>> for batch in ([0, 0], [0, 1], [1, 1]):
    ...     last_two.update(batch, [0, 1])
    >>> last_two.table.n
    array([[1, 0],
           [1, 2]])
    >>> from datetime import datetime, timedelta
    >>> hour = wmcc.Accumulator(window=timedelta(hours=1))
    >>> for minute in (0, 25, 50, 75):
    ...     hour.update(["cat"] * 10, ["cat"] * 10, at=datetime(2025, 6, 1) + timedelta(minutes=minute))
    >>> hour.table.rows
    30
    >>> survey, strata = wmcc.Accumulator(), wmcc.Strata(population={"west": 5200, "east": 800})
    >>> survey.update(["oak", "elm"], ["oak", "oak"], design=strata.of(["west", "west"]))
    >>> survey
    Accumulator of a Table of 2 classes: 2 rows in 2 strata; 1 stratum has a size but no sampled row: 'east' (size 800).
    >>> survey.update(["elm", "elm"], ["elm", "elm"], design=strata.of(["east", "east"]))
    >>> wmcc.accuracy(survey)
    0.5666666666666667
    """

    @_checked_keywords
    def __init__(
        self,
        *,
        window: int | timedelta | None = None,
        half_life: float | timedelta | None = None,
        labels: Any = None,
        names: Mapping[Any, Any] | None = None,
        ignore: Any = None,
        missing: Missing = "error",
        positive: Any = None,
        threads: int | None = None,
        thresholds: Any = None,
    ) -> None:
        import numpy.ma  # noqa: F401  # NumPy loads it on first use, and a fork meanwhile would wait for it for ever

        if window is not None and half_life is not None:
            raise InputError("window and half_life were both given; expected at most one of them.")
        if window is not None and not _is_span(window, whole=True):
            raise InputError(
                f"window is {window!r}; expected a whole number of updates of at least 1, or a datetime.timedelta."
            )
        if half_life is not None and not _is_span(half_life):
            raise InputError(
                f"half_life is {brief(half_life)}; expected a number of updates above 0, or a datetime.timedelta."
            )
        from . import tabulate

        rules = make_rules(labels, names, ignore, missing, positive)
        self._options = {**rules._asdict(), "threads": threads}
        self._edges = None if thresholds is None else checked_edges(thresholds)
        self._nothing: Table = tabulate([], [], **self._options)
        self._window, self._half_life = window, half_life
        self._by_time = isinstance(half_life if window is None else window, timedelta)
        self._state = _State()
        self._locks: dict[int, threading.Lock] = {}

    # ---- writing ----------------------------------------------------------------------------------------

    @_checked_keywords
    def update(
        self,
        y_true: Any,
        y_pred: Any = None,
        sample_weight: Any = None,
        *,
        true: Any = None,
        pred: Any = None,
        weight: Any = None,
        by: Any = None,
        cluster: Any = None,
        design: Design | None = None,
        progress: bool | None = None,
        at: datetime | float | None = None,
        score: Any = None,
    ) -> None:
        """Add observations; if they are refused, nothing has changed.

        Parameters
        ----------
        y_true, y_pred, sample_weight
            Labels and weights as for `wmcc.tabulate`, or those of a single observation. A batch may be empty. The first
            may also be a table, tables of groups or another accumulator, given alone; its present content is one
            update.
        data, true, pred, weight, progress
            A frame or file and its columns, as for `wmcc.tabulate`.
        by
            Groups, as for `wmcc.tabulate`: all updates have them, or none. `tables` has their tables.
        cluster
            Clusters, as for `wmcc.tabulate`. Rows with the same key belong to one cluster, also across updates.
        design
            How the rows were drawn, as for `wmcc.tabulate`: all updates have it, or none. What is known of all strata
            is said once, ``strata = wmcc.Strata(population=sizes)``, and the strata of rows with each update,
            ``design=strata.of(keys)``. Rows weigh the size of their stratum divided by the number of its rows so far.
            While strata have no row yet, `table` can be shown, stored and merged; scores and all else that needs
            weights name these strata and refuse. A window counts the rows of its updates. A half-life is refused, since
            such weights cannot fade. ``nested=False`` looks at each update by itself. Replicate weights are as many in
            all updates, by the same method; of a single observation they are a list.
        at
            When the observations were made, if the window or the half-life is a time: a datetime, or a number of
            seconds. No update may be earlier than the one before. An empty one moves the window.
        score
            Scores in the place of predictions, as for `wmcc.tabulate`; all updates have them, or none. `scores` is
            their score table.

        Examples
        --------
        >>> import wmcc
        >>> cameras = wmcc.Accumulator()
        >>> cameras.update(["cat", "dog"], ["cat", "cat"], by=["north", "south"])
        >>> cameras.update("cat", "cat", by="south")
        >>> {key: wmcc.accuracy(table) for key, table in cameras.tables.items()}
        {'north': 1.0, 'south': 0.5}
        """
        request = Request(
            y_true, y_pred, sample_weight, true, pred, weight, by, cluster, design, progress=progress, score=score,
            **self._options,
        )  # fmt: skip
        self._push(self._read(request), at)

    def reset(self) -> None:
        """Forget all observations."""
        with self._writing():
            self._state = _State()

    # ---- reading ----------------------------------------------------------------------------------------

    @property
    def table(self) -> Table:
        """The table as it is now, of all groups together. Later updates do not change it."""
        held = self._whole()
        if held is None:
            return self._nothing
        if isinstance(held, Tables) and held.by == STEP:
            raise InputTypeError("this accumulator holds scores, and a table needs labels.", "read its .scores.")
        table: Table = held.total() if isinstance(held, Tables) else held
        return table

    @property
    def scores(self) -> ScoreTable:
        """The score table as it is now, if updates come with ``score``."""
        held = self._whole()
        if not isinstance(held, Tables) or held.by != STEP:
            raise InputTypeError("this accumulator has no scores.", "write update(y_true, score=…).")
        return ScoreTable(held, self._edges)

    @property
    def tables(self) -> Tables[Table]:
        """The table of each group as it is now, if updates come with ``by=``."""
        held = self._whole()
        if held is None:
            return Tables("by", (), self._nothing.labels, no_cells(3), np.zeros(0, dtype=np.int64))
        if not isinstance(held, Tables):
            raise InputTypeError("this accumulator has no groups: its updates came without `by`.", "read its .table.")
        return held

    def __repr__(self) -> str:
        held = self._whole()
        if isinstance(held, Tables) and held.by == STEP:
            return f"Accumulator of {counted(int(held.rows.sum()), 'row')} with scores"
        return f"Accumulator of {held!r}" if isinstance(held, Tables) else f"Accumulator of a {self.table!r}"

    # ---- how --------------------------------------------------------------------------------------------

    def _whole(self) -> Any:
        """Return what is held now; classes that have names stand in the order of what they are the names of."""
        held, names = self._state.whole(), self._options["names"]
        if held is None or names is None or self._options["labels"] is not None:
            return held
        first = [name for name in dict.fromkeys(names[label] for label in ordered(list(names))) if name in held.classes]
        return held._aligned(tuple(dict.fromkeys([*first, *held.labels])))

    def _read(self, request: Request) -> Any:
        """Return the table, or tables of groups, of what was given to `update`."""
        from . import tabulate_part

        own, y_pred, pred = request.y_true, request.y_pred, request.pred
        if request.score is not None:
            from .scores import tabulate_scores

            if request.by is not None or isinstance(request.score, Mapping):
                raise InputTypeError("an Accumulator holds one score, without groups.", "give each an Accumulator.")
            request = request._replace(thresholds=self._edges)  # in which all updates are put together
            return tabulate_scores(request, tabulate_part, lambda tables, edges, names: tables)
        if isinstance(own, Accumulator):
            held = own._whole()
            if _holds(held) == "score" and own._edges != self._edges:
                raise InputError(
                    "the accumulators put scores together between different edges.",
                    "make both with the same `thresholds`.",
                    "thresholds",
                )
            own = own._nothing if held is None else held
        elif isinstance(getattr(own, "table", None), Table):
            own = own.table
        several = isinstance(own, JointTable) or (isinstance(own, Tables) and own.names)
        if several or isinstance(pred if y_pred is None else y_pred, Mapping):
            raise InputTypeError(
                "an Accumulator holds one prediction; several were given.",
                "wmcc.merge(joints) adds up joint tables; or give each prediction an Accumulator of its own.",
            )
        if isinstance(own, (Table, Tables)):
            more = [name for name in (*Request._fields[1:9], "progress") if getattr(request, name) is not None]
            if more:
                raise InputTypeError(f"`{min(more)}` cannot be given with a table, whose rows are already tabulated.")
            return own
        if y_pred is None and not request.in_columns:
            raise InputTypeError(
                f"expected y_true and y_pred, or a table; got only a {type(request.y_true).__name__}.",
                "for a frame or a file, name the columns: update(data, true=..., pred=...).",
            )
        if y_pred is not None and _is_one(request.y_true) and _is_one(y_pred):
            request = request._replace(
                design=_of_one_row(request.design),
                **{name: _in_list(getattr(request, name)) for name in PER_ROW},
            )
        return tabulate_part(request)

    def _push(self, table: Table | Tables[Table], at: Time) -> None:
        if self._edges is not None and _holds(table) != "score":
            raise InputTypeError(
                "this accumulator has `thresholds`, which are for scores; labels were given.",
                "write update(y_true, score=…), or make it without `thresholds`.",
                "thresholds",
            )
        if self._half_life is not None and table.drawn.kind == "strata":
            raise InputTypeError(
                "`half_life` lets weights fade, and the weights of a design cannot: the rows of a stratum stand for "
                "all of it.",
                "give `window` instead, which counts the last updates in full and drops those before.",
                "half_life",
            )
        with self._writing():
            state = self._state
            at = self._time(at, state.latest)
            if self._window is not None:
                state = state.after(at - _as_difference(self._window, at)).plus(at, table)
            elif self._half_life is not None and state.total is not None:
                factor = 0.5 ** ((at - state.latest) / _as_difference(self._half_life, at))
                state = _State(at, _sum(_faded(state.total, factor), table))
            else:
                state = _State(at, _sum(state.total, table))
            state.whole()  # refuses what does not fit
            self._state = state

    def _time(self, at: Any, latest: Time) -> Time:
        """Return the time of an update: its number, if windows and half-lives are not times."""
        if not self._by_time:
            if at is not None:
                raise InputTypeError("`at` is only for a window or a half-life that is a datetime.timedelta.")
            return (latest or 0) + 1
        if isinstance(at, np.datetime64):
            at = at.astype("datetime64[us]").item()
        if not isinstance(at, datetime) and not (is_number(at) and np.isfinite(at)):
            raise InputTypeError(
                f"at is {at!r}; expected the time of the update, a datetime or a number of seconds.",
                f"{'half_life' if self._window is None else 'window'} is a time span, so each update needs its time.",
            )
        try:
            early = latest is not None and at < latest
        except TypeError:
            raise InputTypeError(
                f"at is {at!r}, and the update before came at {latest!r}: the two cannot be compared.",
                "give all times in one form, and all or none with a time zone.",
            ) from None
        if early:
            raise InputError(
                f"at is {at}, earlier than the update before, {latest}.", "give updates in the order of their times."
            )
        return at

    def _writing(self) -> threading.Lock:
        """Return the lock of this process, for those who write only: who reads takes the state as it is.

        A thread that held a lock when the process was forked is not there to give it back.
        """
        return self._locks.setdefault(os.getpid(), threading.Lock())

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_locks": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._state = replace(self._state, new=self._state.new[: self._state.fresh])  # a copy grows alone


def _sum(before: Any, table: Any) -> Any:
    """Add a table, or tables of groups, to those before; None is nothing."""
    if before is None or table is None:
        return table if before is None else before
    kinds = _holds(before), _holds(table)
    if kinds[0] != kinds[1]:
        name = "score" if "score" in kinds else "by"
        came = f"with `{name}`, and this one without" if kinds[0] == name else f"without `{name}`, and this one with"
        raise InputTypeError(f"earlier updates came {came}; give `{name}` in all updates or in none.", argument=name)
    return before + table


def _holds(held: Any) -> str | None:
    """Return the keyword that what is held came with: ``score``, ``by`` or neither."""
    return None if not isinstance(held, Tables) else "score" if held.by == STEP else "by"


def _of_one_row(design: Any) -> Any:
    """Return the design of one row, whose keys are given as they are."""
    if isinstance(design, Strata):
        return design.of(_in_list(design.stratum))
    if isinstance(design, PostStrata):
        return replace(design, poststratum=_in_list(design.poststratum), design=_of_one_row(design.design))
    if isinstance(design, Replicates) and isinstance(design.replicates, (list, tuple)):
        return replace(design, replicates=[_in_list(x) for x in design.replicates])
    return design


def _faded(held: Any, factor: float) -> Any:
    """Return the table of the same rows, or tables, all weights multiplied by a factor and the sums rounded."""
    n, w, w2, low, high, replicates = held.raw_cells.sums
    faded = tuple(own.faded(factor) for own in replicates)
    sums = Sums(n, w.faded(factor), w2.faded(factor).faded(factor), low * factor, high * factor, faded)
    return replace(held, raw_cells=Stack(held.raw_cells.codes, sums))


def _as_difference(span: Any, at: Time) -> Any:
    """Return a window or half-life as what the difference of two times is."""
    return span.total_seconds() if isinstance(span, timedelta) and not isinstance(at, datetime) else span


def _is_span(value: Any, whole: bool = False) -> bool:
    """Whether this is a number of updates or a time, and above 0."""
    if isinstance(value, timedelta):
        return value > timedelta(0)
    return is_number(value) and bool(1e-300 < value < 1e300) and not (whole and (value < 1 or value % 1))


def _in_list(value: Any) -> Any:
    """Return a single label, weight or key as that of one row; other values as they are."""
    return [value] if value is not None and _is_one(value) else value


def _is_one(value: Any) -> bool:
    """Whether this is a single label, weight or key, and no array of them."""
    return value is None or isinstance(value, (str, bytes, int, float)) or getattr(value, "shape", None) == ()
