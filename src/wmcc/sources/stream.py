"""Tables that grow, slide or forget while observations come in."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from ..core.table import Table
from ..errors import InputError, InputTypeError
from .options import make_rules


class _State(NamedTuple):
    """What an accumulator holds; replaced as a whole, so that no reader and no forked process finds half an update.

    A window is a queue made of two stacks: ``new`` lists the updates since the stacks were last turned over, and
    ``total`` is their sum; ``old[i]`` is the sum of the i + 1 youngest before that. The oldest update leaves by
    dropping the last sum, so smallest weights and classes that are gone are gone from the snapshot too.
    """

    total: Table
    new: Sequence[Table] = ()
    old: Sequence[Table] = ()

    def whole(self) -> Table:
        return self.old[-1] + self.total if self.old else self.total


class Accumulator:
    """A table of observations that come in batches, from one thread or from many.

    Sums are exact, so the snapshot is the table of all rows, to the last bit, whatever the batches were and
    whichever thread brought them. A process that is forked while threads update starts with a table of whole updates.

    Parameters
    ----------
    window
        Count only the last ``window`` updates; None counts all.
    half_life
        Let weights fade: after ``half_life`` updates an observation weighs half as much. The sums are rounded at
        each update, and the order of updates matters. None forgets nothing.
    **options
        ``labels``, ``ignore``, ``positive`` and ``threads``, as for `wmcc.tabulate`.

    Examples
    --------
    >>> import wmcc
    >>> day = wmcc.Accumulator()
    >>> day.update(["cat", "dog"], ["cat", "cat"], [1.0, 2.5])
    >>> day.update(["dog", "dog"], ["dog", "dog"], [0.1, 0.2])
    >>> round(wmcc.mcc(day.snapshot()), 4)
    0.175
    >>> last_two = wmcc.Accumulator(window=2)
    >>> for batch in ([0, 0], [0, 1], [1, 1]):
    ...     last_two.update(batch, [0, 1])
    >>> last_two.snapshot().n
    array([[1, 0],
           [1, 2]])
    """

    def __init__(self, *, window: int | None = None, half_life: float | None = None, **options: Any) -> None:
        from . import tabulate

        if window is not None and half_life is not None:
            raise InputError("window and half_life are two ways to forget; give one of them.")
        if window is not None and not (_is_number(window) and window >= 1 and window % 1 == 0):
            raise InputError(f"window is {window!r}; expected a number of updates of at least 1.")
        if half_life is not None and not (_is_number(half_life) and 1e-300 < half_life < 1e300):
            raise InputError(f"half_life is {str(half_life)[:40]}; expected a number of updates greater than 0.")
        if unknown := set(options) - {"labels", "ignore", "positive", "threads"}:
            raise InputTypeError(f"Accumulator has no option {min(unknown)!r}.")
        rules = make_rules(options.get("labels"), options.get("ignore"), options.get("positive"))
        self._tabulate, self._options = tabulate, {**rules._asdict(), "threads": options.get("threads")}
        self._fade = None if half_life is None else 2.0 ** (-1.0 / float(half_life))
        self._window = None if window is None else int(window)
        nothing = Table.empty(rules.labels or ())
        self._nothing = nothing if rules.labels is None else replace(nothing, positive=rules.positive)
        self._state = _State(self._nothing)
        self._enlist()

    def update(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add observations; they are as for `wmcc.tabulate`. If they are refused, nothing has changed."""
        self._push(self._tabulate(y_true, y_pred, sample_weight, **self._options))

    def merge(self, other: Accumulator | Table) -> None:
        """Add what another accumulator holds now, or a table, as one update."""
        if not isinstance(other, (Accumulator, Table)):
            raise InputTypeError(f"expected an Accumulator or a Table to merge; got a {type(other).__name__}.")
        self._push(other if isinstance(other, Table) else other.snapshot())

    def snapshot(self) -> Table:
        """Return the table as it is now. Later updates do not change it."""
        return self._state.whole()

    def _push(self, table: Table) -> None:
        with self._lock:
            total, new, old = state = self._state
            if self._window is None:
                state = _State((total if self._fade is None else total._faded(self._fade)) + table)
            else:
                if len(new) + len(old) == self._window:
                    total, new, old = self._without_oldest(state)
                state = _State(total + table, [*new, table], old)
                state.whole()  # refuses what does not fit
            self._state = state

    def _without_oldest(self, state: _State) -> _State:
        total, new, old = state
        if not old:
            old = list(accumulate(reversed(new), initial=self._nothing))[1:]
            total, new = self._nothing, []
        return _State(total, new, old[:-1])

    def _enlist(self) -> None:
        """Make the lock, for those who write only: who reads takes the state as it is."""
        self._lock = threading.Lock()
        _all.add(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._enlist()

    def __repr__(self) -> str:
        return f"Accumulator of a {self.snapshot()!r}"


_all: weakref.WeakSet[Accumulator] = weakref.WeakSet()


def _unlock_all() -> None:
    """Let a child process write: the thread that held a lock when it was forked is not there to give it back."""
    for accumulator in _all:
        accumulator._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_all)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
