"""Weight maps by name, as the command line takes them."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError
from ..present.text import brief
from . import _maps
from ._images import Labels, Weights, several

MAPS: dict[str, Callable[..., Any]] = {
    "border": _maps.border,
    "boundary_band": _maps.boundary_band,
    "boundary_iou_band": _maps.boundary_iou_band,
    "distance": _maps.distance,
    "instance_size": _maps.instance_size,
}
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
        near = difflib.get_close_matches(name, MAPS, 1)
        raise InputError(
            f"weight map is {brief(text)}; expected one of {', '.join(MAPS)}.",
            (f"did you mean {near[0]}? " if near else "") + "Options follow a colon, as in border:sigma=5,w0=10.",
            "weight_map",
        )
    function = MAPS[name]
    known = [x for x in inspect.signature(function).parameters if x not in NO_OPTIONS]
    options: dict[str, Any] = {}
    for part in rest.split(",") if rest.strip() else ():
        option, equals, value = (x.strip() for x in part.partition("="))
        if option in known and not (equals and value):
            raise InputError(f"{option} has no value in the weight map {brief(text)}.", VALUES, "weight_map")
        if option not in known:
            near = difflib.get_close_matches(option, known, 1)
            raise InputError(
                f"{brief(part)} in the weight map {brief(text)} is no option of {name}; "
                f"the options are {', '.join(known)}.",
                "void labels are named once, in ignore, for all of the data."
                if option == "ignore"
                else f"did you mean {near[0]}=?"
                if near
                else "options are given as name=value, with commas between them.",
                "weight_map",
            )
        if option in options:
            raise InputError(f"the weight map {brief(text)} names {option} twice.", None, "weight_map")
        options[option] = _value(value)
    missing = [
        x
        for x, parameter in inspect.signature(function).parameters.items()
        if x in known and parameter.default is parameter.empty and x not in options
    ]
    if missing:
        raise InputError(
            f"the weight map {name} needs {missing[0]}.", f"such as {name}:{EXAMPLES[name]}.", "weight_map"
        )
    if ignore is not None:
        options["ignore"] = several(ignore, "ignore")
    found = partial(function, **options)
    told = "ndim" in options or isinstance(options.get("spacing"), tuple)
    try:  # wrong values are refused here and now
        found(np.zeros((0, 0, 0), dtype=np.uint8), **({} if told else {"ndim": 2}))
    except InputTypeError as problem:
        raise InputError(f"the weight map {brief(text)}: {problem.message}", VALUES, "weight_map") from None
    except InputError as problem:
        raise InputError(f"the weight map {brief(text)}: {problem.message}", problem.hint, "weight_map") from None
    return found


VALUES = "a value is a number; several are joined by /, as in to=11/12; a mapping is class_weight=0:1/1:5."


EXAMPLES = {"distance": "to=11/12,scale=20", "boundary_band": "radius=5"}


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
