"""The options that say what to tabulate, listed once for the commands that take them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from . import options as o

if TYPE_CHECKING:
    from .request import Request

P = ParamSpec("P")


def _listed(
    files: o.Files,
    true: o.TrueColumn = None,
    pred: o.PredColumn = None,
    weight: o.Weight = None,
    by: o.By = None,
    engine: o.Engine = None,
    labels: o.Labels = None,
    ignore: o.Ignore = None,
    positive: o.Positive = None,
    join: o.Join = None,
    on: o.On = None,
    allow_unmatched: o.Unmatched = False,
) -> None:
    """Only its signature counts: the names are those of the fields of `Request`."""


OPTIONS = inspect.signature(_listed, eval_str=True).parameters


def takes_data(command: Callable[Concatenate[Request, P], None]) -> Callable[..., None]:
    """Give a command these options before its own, and hand it what they ask for."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        from .request import Request  # brings what reads files, which --help does without

        chosen = {name: given.pop(name) for name in OPTIONS}
        request = Request(**{name: value for name, value in chosen.items() if value is not None})
        request.check()
        command(request, **given)  # type: ignore[call-arg]

    _, *own = inspect.signature(command).parameters.values()
    run.__signature__ = inspect.Signature([*OPTIONS.values(), *own])  # type: ignore[attr-defined]
    run.__annotations__ = {x.name: x.annotation for x in (*OPTIONS.values(), *own)}
    return run
