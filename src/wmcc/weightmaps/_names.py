"""Weight maps by name, as the command line takes them."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, WmccError
from ..present.text import brief
from . import _functions
from ._images import Labels, Weights, several

NAMES = ("border", "boundary_band", "boundary_iou_band", "distance", "instance_size")
MAPS: dict[str, Callable[..., Any]] = {name: getattr(_functions, name) for name in NAMES}
"""What makes weights of the truth alone."""

NO_OPTIONS = ("labels", "instances", "ignore")
"""Arrays, and what is said for the whole data set."""


def named(text: str, *, ignore: Labels | None = None) -> Callable[[NDArray[Any]], Weights]:
    """Return a weight map by its name, with options if there are any: ``border`` or ``border:sigma=5,w0=10``.

    Parameters
    ----------
    text
        The name of a function of `wmcc.weightmaps`; after a colon its parameters, with commas between them. Several
        numbers are joined by ``/``: ``distance:to=11/12,scale=20`` or ``border:spacing=5/1/1``. A mapping is
        ``class_weight=0:1/1:5``.
    ignore
        Void labels.

    Returns
    -------
    callable
        It takes a label map and returns its weights. It can be pickled.

    Examples
    --------
    >>> import numpy as np
    >>> from wmcc import weightmaps
    >>> near = weightmaps.named("distance:to=2,radius=1,factor=4", ignore=255)
    >>> near(np.array([[2, 0, 0, 255]]))
    array([[5., 5., 1., 0.]], dtype=float32)
    """
    name, _, rest = text.partition(":") if isinstance(text, str) else ("", "", "")
    name = name.strip().replace("-", "_")
    if name not in MAPS:
        said = f"weight map is {brief(text)}; expected one of "
        raise _unknown(said, name, MAPS, "Options follow a colon, as in border:sigma=5,w0=10.")
    known = [x for x in inspect.signature(MAPS[name]).parameters if x not in NO_OPTIONS]
    options: dict[str, Any] = {} if ignore is None else {"ignore": several(ignore, "ignore")}
    for part in rest.split(",") if rest.strip() else ():
        option, _, value = (x.strip() for x in part.partition("="))
        if option not in known:
            hint = "void labels are named once, in `ignore`, for all of the data."
            hint = hint if option == "ignore" else "Options are given as name=value, with commas between them."
            said = f"{brief(part)} in the weight map {brief(text)} is no option of {name}; the options are "
            raise _unknown(said, option, known, hint)
        options[option] = _value(value)
    weight_map = partial(MAPS[name], **options)
    has_axes = "ndim" in options or isinstance(options.get("spacing"), tuple)
    try:  # wrong values are refused here and now
        weight_map(np.zeros((0, 0, 0), dtype=np.uint8), **({} if has_axes else {"ndim": 2}))
    except (WmccError, TypeError) as problem:  # the latter if a parameter is missing
        why = getattr(problem, "message", problem)
        advice = VALUES if isinstance(problem, TypeError) else problem.hint
        raise InputError(f"the weight map {brief(text)}: {why}", advice, "weight_map") from None
    return weight_map


def _unknown(said: str, name: str, known: Iterable[str], hint: str) -> InputError:
    near = "".join(f"did you mean {x}? " for x in difflib.get_close_matches(name, known, 1))
    return InputError(f"{said}{', '.join(known)}.", near + hint, "weight_map")


VALUES = "a value is a number; several are joined by /, as in to=11/12; a mapping is class_weight=0:1/1:5."


def _value(text: str) -> Any:
    """Return a number, several, a mapping, or the text itself."""
    parts = text.split("/")
    if all(":" in part for part in parts):
        return {_value(label): _value(value) for label, value in (part.split(":", 1) for part in parts)}
    if len(parts) > 1:
        return tuple(_value(part) for part in parts)
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
