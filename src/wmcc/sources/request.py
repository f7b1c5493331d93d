"""A call of `wmcc.tabulate` as a value: what was given, and the rules between the values that it has."""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from ..errors import SYNONYMS, InputError, InputTypeError, unknown_keyword
from ..present.text import brief
from .codes import Missing, Rules, make_rules
from .values import Area, Blocks, Design, Files, Join, Layer, Overlay, PostStrata, Replicates, Strata, is_whole

AREA = "area"
"""What is short for the areas of polygons or pixels as weights."""

CLASS = "class"
"""What the only column of a raster is called that is laid over points."""

MAP = "map"
"""What is short for the areas of the classes of a map as sizes of strata."""

VALUES = {
    "design": (Strata, PostStrata, Replicates),
    "cluster": (Blocks,),
    "weight": (Area,),
    "data": (Files, Join, Layer, Overlay),
}
"""Which values a parameter of `wmcc.tabulate` takes."""


class Request(NamedTuple):
    """What one call of `wmcc.tabulate` was given, by the names of its parameters."""

    y_true: Any
    y_pred: Any = None
    sample_weight: Any = None
    true: Any = None
    pred: Any = None
    weight: Any = None
    by: Any = None
    cluster: Any = None
    design: Design | None = None
    labels: Any = None
    names: Mapping[Any, Any] | None = None
    ignore: Any = None
    missing: Missing = "error"
    positive: Any = None
    threads: int | None = None
    progress: bool | None = None
    score: Any = None
    thresholds: Any = None

    @property
    def in_columns(self) -> bool:
        """Whether one argument holds a table with named columns; else each side holds labels."""
        return not (self.true is self.pred is None) or isinstance(self.y_true, VALUES["data"])

    @property
    def first(self) -> Any:
        """The truth, or its first part where it is a list."""
        return self.y_true[0] if isinstance(self.y_true, (list, tuple)) and self.y_true else self.y_true

    @property
    def weights(self) -> Any:
        """The weights, or what says where they are."""
        return self.weight if self.in_columns else self.sample_weight

    @property
    def by_area(self) -> bool:
        """Whether areas are the weights."""
        return isinstance(self.weights, Area) or (isinstance(self.weights, str) and self.weights == AREA)

    @property
    def strata(self) -> Strata | None:
        """The strata of the design, if it has any."""
        design = self.design.design if isinstance(self.design, PostStrata) else self.design
        return design if isinstance(design, Strata) else None

    @property
    def poststrata(self) -> PostStrata | None:
        """The post-strata of the design, if it has any."""
        return self.design if isinstance(self.design, PostStrata) else None

    @property
    def replicates(self) -> Replicates | None:
        """The replicate weights, if there are any."""
        return self.design if isinstance(self.design, Replicates) else None

    @property
    def sized_by_map(self) -> bool:
        """Whether the sizes of strata are the areas of the classes of the map that is laid over points."""
        return self.strata is not None and isinstance(self.strata.population, str) and self.strata.population == MAP

    def with_population(self, sizes: Mapping[Any, float]) -> Request:
        """Return the same call with these sizes of strata."""
        assert isinstance(self.design, Strata)
        return self._replace(design=dataclasses.replace(self.design, population=sizes))

    def rules(self) -> Rules:
        """Return what becomes of labels."""
        return make_rules(self.labels, self.names, self.ignore, self.missing, self.positive)

    def predictions(self, rules: Rules) -> tuple[str, ...]:
        """Return the names of predictions that are given as a mapping; none for a single one without a name."""
        name, given = ("pred", self.pred) if self.in_columns else ("y_pred", self.y_pred)
        if not isinstance(given, Mapping):
            if name == "pred" and isinstance(given, (list, tuple)):
                raise InputTypeError(
                    f"`pred` is a {type(given).__name__} of columns; several predictions are given as a mapping from "
                    "names.",
                    "for instance pred={'A': 'model_a', 'B': 'model_b'}.",
                )
            return ()
        names = tuple(map(str, given))
        if not names or len(set(names)) < len(names) or {type(x) for x in given} - {str, int}:
            raise InputError(
                f"`{name}` is a mapping with the names {list(given)!r}; expected different strings, at least one."
            )
        if rules.positive is not None:
            raise InputTypeError("`positive` works with one prediction; several were given.")
        return names


# ---- rules between values ----------------------------------------------------------------------------------


def check(request: Request) -> None:
    """Refuse values that do not go together, whatever the data are."""
    threads, design, strata = request.threads, request.design, request.strata
    if not (threads is None or (is_whole(threads) and threads >= 1)):
        raise InputError(f"`threads` is {threads!r}; expected a whole number of at least 1, or None.")
    if request.in_columns:
        _check_columns(request)
    elif request.weight is not None:
        if hasattr(type(request.y_true), "columns") and names_columns(request.y_true, request.y_pred):
            raise by_keyword(request.y_true, request.y_pred, request.sample_weight, request.weight)
        raise InputTypeError(
            "`weight` is for a frame or a file, with `true` and `pred` naming its columns.",
            "with arrays, rasters and folders of images, give the weights as `sample_weight`.",
        )
    if design is None:
        return
    if not isinstance(design, Design):
        raise InputTypeError(
            f"`design` is {brief(design)}; expected a `wmcc.Strata`, `wmcc.PostStrata` or `wmcc.Replicates`.",
            "for instance design=wmcc.Strata('region', population=sizes).",
            "design",
        )
    weights = "weight" if request.in_columns else "sample_weight"
    if isinstance(design, Replicates):
        if request.cluster is not None:
            raise InputTypeError(
                "`cluster` and replicate weights were given; replicate weights already describe how rows were drawn.",
                "leave `cluster` out.",
                "cluster",
            )
        if request.weights is None:
            raise InputTypeError(
                f"replicate weights need `{weights}`, the full-sample weight of each row: they give the error of a "
                "score, and these give the score.",
                f"give as `{weights}` the weights that the survey ships beside its replicate weights; for a sample of "
                "equal weights give ones.",
                weights,
            )
    elif isinstance(request.cluster, Blocks):
        raise InputTypeError(
            "`Blocks` makes clusters of the pixels; it does not work with strata or post-strata.",
            "leave one of them out.",
            "blocks",
        )
    if strata is not None:
        _check_strata(strata, request)


def _check_map(strata: Strata, request: Request) -> None:
    """Refuse a map as the sizes of strata where there is none, or where it cannot have them."""
    if not isinstance(request.y_true, Overlay):
        raise InputTypeError(
            "`population` is 'map', the areas of the classes of a map that is laid over points; there is no map here.",
            "lay it over the points: wmcc.Overlay(points, 'map.tif'); or give a mapping from strata to sizes. A column "
            "of sizes needs another name.",
            "population",
            "lay it over the points: --overlay map.tif; or give a file of sizes. A column of sizes needs another name.",
        )
    if strata.stratum is None:
        raise InputTypeError(
            "`population` is 'map', the areas of its classes, and there is no `stratum`.",
            f"name the column of the map's classes as `stratum`; that of a raster is {CLASS!r}.",
            "stratum",
        )
    if strata.fpc is True:
        raise InputTypeError(
            "`fpc` is True, which takes `population` as numbers of units; it is 'map', which has areas.",
            "leave `fpc` out: a few points of a map are a small part of it.",
            "fpc",
        )


def _check_strata(strata: Strata, request: Request) -> None:
    if request.sized_by_map:
        _check_map(strata, request)
    if strata.stratum is None and (strata.lonely != "error" or not strata.nested):
        name = "nested" if strata.lonely == "error" else "lonely"
        raise InputTypeError(f"`{name}` is for samples with several strata; give `stratum`.", argument=name)
    if request.cluster is None and not strata.nested:
        raise InputTypeError(
            "`nested` is False, which is for samples with `cluster`: it says that no cluster is in two strata.",
            argument="nested",
        )
    if strata.fpc is True and request.cluster is not None:
        raise InputTypeError(
            "`fpc` is True, which takes `population` as numbers of rows; here clusters were drawn.",
            "give as `fpc` the number of clusters that each stratum has, for instance {'north': 120, 'south': 80}.",
            "fpc",
            "give as --fpc the number of clusters that each stratum has.",
        )
    if request.weights is not None and strata.population is not None and strata.fpc is not True:
        raise InputTypeError(
            "`population` makes the weights of rows, size of the stratum / number of its rows; weights were given as "
            "well.",
            "leave one of them out; with design weights, `population` is for `fpc` True only.",
            "population",
            "leave one of them out; with design weights, --population is for --fpc population only.",
        )
    if request.poststrata is not None and strata.population is not None and request.weights is None:
        raise InputTypeError(
            "`population` and `poststratum` were given without weights; wmcc cannot yet make weights from the sizes of "
            "strata and scale them to totals as well.",
            "give the weights of the design, size of the stratum / number of its sampled rows"
            + ("." if strata.fpc is True else ", and leave `population` out."),
            "population",
        )


def _check_columns(request: Request) -> None:
    """Refuse columns that are not named by keyword."""
    if hasattr(request.y_pred, "geometry") or isinstance(request.y_pred, os.PathLike):
        raise layer_by_position(request.y_pred)
    if request.y_pred is not None:
        raise by_keyword(request.y_true, request.y_pred, request.sample_weight, request.weight)
    if request.sample_weight is not None:
        raise InputTypeError("`sample_weight` is for arrays.", "give the column of weights as `weight`.")


def layer_by_position(given: Any) -> InputTypeError:
    """Return the error of a layer that is given as predictions."""
    shown = repr(os.fspath(given)) if isinstance(given, (str, os.PathLike)) else "map"
    return InputTypeError(
        "a layer of polygons is laid over another by `Overlay`.",
        f"write tabulate(wmcc.Overlay(reference, {shown}), true=…, pred=…, weight='area').",
        "overlay",
    )


def check_named(request: Request) -> None:
    """Refuse a table of which the columns of labels are not named."""
    for name, label in (("true", "true"), ("pred", "predicted")):
        if getattr(request, name) is None:
            raise InputTypeError(
                f"`{name}` is missing: the column of the {label} labels.", "write tabulate(data, true=…, pred=…)."
            )


def refuse(request: Request, what: str, takes: Sequence[str], hints: Mapping[str, str]) -> None:
    """Refuse values that data of this kind do not take, of ``design``, ``blocks`` and ``area``."""
    area = isinstance(request.weights, Area) or (request.by_area and not request.in_columns)  # or else it is a column
    given = {"design": request.design is not None, "blocks": isinstance(request.cluster, Blocks), "area": area}
    name = next((name for name, is_given in given.items() if is_given and name not in takes), None)
    if name is None:
        return
    words = {
        "design": f"a `{type(request.design).__name__}`",
        "blocks": "`Blocks` makes clusters of pixels, and",
        "area": "`Area` is the area of polygons or pixels, and",
    }
    argument = "design" if name == "design" else "cluster" if name == "blocks" else None
    raise InputTypeError(f"{words[name]} does not work with {what}.", hints.get(name), argument)


# ---- what is not as the grammar has it ---------------------------------------------------------------------


def names_columns(data: Any, name: Any) -> bool:
    """Whether this is a frame or a file, and the next argument names a column, or is an expression."""
    if isinstance(name, str) or (hasattr(name, "alias") and not hasattr(name, "__len__")):
        return True
    return isinstance(name, (int, np.integer)) and (
        isinstance(data, (str, os.PathLike)) or hasattr(type(data), "columns")
    )


def by_keyword(data: Any, *columns: Any) -> InputTypeError:
    """Say how labels, or the columns of a frame or file, are given."""
    is_table = isinstance(data, (str, os.PathLike, *VALUES["data"])) or hasattr(type(data), "columns")
    if not is_table and not isinstance(columns[0], str):
        came = "nothing" if data is None else f"a {type(data).__name__}"
        return InputTypeError(
            f"expected true and predicted labels; got {came} alone.",
            "write tabulate(y_true, y_pred), or tabulate(data, true=…, pred=…) of a frame or file.",
        )
    names = [repr(x) if isinstance(x, (str, int)) else "…" for x in columns if x is not None]
    roles = zip(("true", "pred", "weight"), [*names, *["…"] * (2 - len(names))], strict=False)
    shown = ", ".join(f"{role}={name}" for role, name in roles)
    return InputTypeError("the columns of a frame or file are named by keyword.", f"write tabulate(data, {shown}).")


def misplaced(given: Sequence[Any]) -> InputTypeError:
    """Return the error of more than three arguments by position."""
    if names_columns(*given[:2]):
        return by_keyword(*given[:4])
    return InputTypeError(
        f"{len(given)} arguments are given by position; they are y_true, y_pred and sample_weight.",
        "give all others by keyword; several predictions are a mapping from names.",
    )


def homes() -> dict[str, str]:
    """Return where each parameter of a value belongs: what a call of `wmcc.tabulate` has for it, by its name."""
    from ..geo.raster import Raster

    found: dict[str, str] = {}
    for parameter, kinds in VALUES.items():
        for kind in kinds:
            for field in dataclasses.fields(kind):
                more = "…, " if field.kw_only and field.name != "population" else ""
                call = f"wmcc.{kind.__name__}({more}{f'{field.name}=…' if field.kw_only else '…'})"
                found.setdefault(field.name, f"{call}, …" if parameter == "data" else f"…, {parameter}={call}")
    for name in inspect.signature(Raster).parameters:
        found.setdefault(name, f"wmcc.Raster(…, {name}=…), …")
    return {
        **{name: how for name, how in found.items() if name not in ("data", "name", "names", "map", "design")},
        "strata": "…, design=wmcc.Strata(…)",
        "blocks": "…, cluster=wmcc.Blocks(…)",
        "overlay": "wmcc.Overlay(reference, map), …",
        "join": "wmcc.Join(truth, predictions, on=…), …",
        "align": 'wmcc.Raster(…, resample="nearest"), …',
        "area": "…, weight=wmcc.Area(…)",
    }


def place_of(name: str) -> str | None:
    """Return what a call of `wmcc.tabulate` has for a word: a parameter of its own, or of a value; or None."""
    return f"…, {name}=…" if name in Request._fields else homes().get(name)


def no_keyword(function: str, name: str, known: Sequence[str]) -> InputTypeError:
    """Return the error of a keyword that a call does not have; it names the value that the keyword belongs to."""
    if name == "data":
        how = "the frame or file comes first, without a keyword: tabulate(data, true=…, pred=…)."
        return InputTypeError(f"{function} has no keyword 'data'.", how)
    if name in Request._fields and name not in known:  # which a stream takes elsewhere
        home = "update" if name in Request._fields[: Request._fields.index("labels")] else "Accumulator"
        return InputTypeError(f"{function} has no keyword {name!r}.", f"give it to {home}(…, {name}=…).")
    places = homes()
    others = [*SYNONYMS.get(name, ())] or get_close_matches(name, [*known, *places], 1, 0.7)
    meant = name if name in places else next(iter(others), None)
    if meant in places and meant not in known:
        call = "tabulate" if function == "tabulate()" else "update"
        return InputTypeError(f"{function} has no keyword {name!r}.", f"write {call}({places[meant]}).")
    return unknown_keyword(function, name, known)
