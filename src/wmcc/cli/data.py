"""The options that say what to tabulate or to compare, listed once for the commands that take them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from . import options as o

if TYPE_CHECKING:
    from .reading import Request

P = ParamSpec("P")


def _listed(
    files: o.Files,
    true: o.TrueColumn = None,
    pred: o.PredColumn = None,
    weight: o.Weight = None,
    by: o.By = None,
    engine: o.Engine = None,
    input_format: o.InputFormatOption = None,
    labels: o.Labels = None,
    ignore: o.Ignore = None,
    positive: o.Positive = None,
    join: o.Join = None,
    on: o.On = None,
    allow_unmatched: o.Unmatched = False,
) -> None:
    """Only its signature counts: the names are those of the fields of `Request`."""


def _listed_of_several(
    files: o.Files,
    true: o.TrueColumn = None,
    pred: o.Predictions = None,
    weight: o.Weight = None,
    engine: o.Engine = None,
    input_format: o.InputFormatOption = None,
    labels: o.Labels = None,
    ignore: o.Ignore = None,
) -> None:
    """Only its signature counts: the names are those of the fields of `Request`, but there are several ``pred``."""


def takes_data(command: Callable[Concatenate[Request, P], None]) -> Callable[..., None]:
    """Give a command these options before its own, and hand it what they ask for."""

    def asked(**chosen: Any) -> tuple[Request]:
        from .reading import Request  # brings what reads files, which --help does without

        request = Request(**chosen)
        request.check()
        return (request,)

    return with_options(command, _listed, asked)


def takes_predictions(
    least: int,
) -> Callable[[Callable[Concatenate[Request, list[str], P], None]], Callable[..., None]]:
    """Do the same for a command that takes so many predictions or more, and hand it their columns as well.

    One that takes a single one takes a stored table too.
    """

    def asked(pred: Sequence[str] = (), **chosen: Any) -> tuple[Request, list[str]]:
        from .reading import Request

        request, preds = Request(**chosen), list(pred)
        if least > 1 or preds or not request.is_stored:
            request.check_predictions(preds, least)
        else:
            request.check()
        return request, preds

    return lambda command: with_options(command, _listed_of_several, asked)


def with_options(
    command: Callable[..., None], listed: Callable[..., None], asked: Callable[..., tuple[Any, ...]]
) -> Callable[..., None]:
    """Let a command take what is listed too, and make its first arguments of that."""
    options = inspect.signature(listed, eval_str=True).parameters

    @functools.wraps(command)
    def run(**given: Any) -> None:
        chosen = {name: given.pop(name) for name in options}
        command(*asked(**{name: value for name, value in chosen.items() if value is not None}), **given)

    # Options of its own have defaults; what it is handed has none.
    own = [x for x in inspect.signature(command).parameters.values() if x.default is not x.empty]
    run.__signature__ = inspect.Signature([*options.values(), *own])  # type: ignore[attr-defined]
    run.__annotations__ = {x.name: x.annotation for x in (*options.values(), *own)}
    return run
