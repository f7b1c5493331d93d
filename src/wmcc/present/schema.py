"""JSON Schemas, made from classes: from the types of what is stored, and from what docstrings say of it.

A class is an object with the attributes that it stores, if it is a `wmcc.present.stored.Storable`, or with all of its
fields: named tuples, dataclasses, typed dicts. A dict that is put together is declared with its parts, of which later
ones go before earlier ones::

    Annotated[Fields, Interval]                         # the fields of a class
    Annotated[Fields, (Interval, ("low", "high"))]      # some of them
    Annotated[Fields, ("name", str), Interval]          # a field of its own, and the fields of a class

A field of its own may be named by a compiled pattern, and then stands for all fields whose names match.

All objects are closed. A float may be null, since JSON has neither NaN nor infinity.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from .result import Delegate
from .stored import Fields, Storable

DIALECT = "https://json-schema.org/draft/2020-12/schema"

ROOT = "#/$defs/"
"""Where a schema has the schemas of the classes in it."""

FORMS: Mapping[Any, Fields] = {
    Any: {},
    NoneType: {"type": "null"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},
    str: {"type": "string"},
    Fraction: {"type": "string", "pattern": "^-?0x[0-9a-f]+p-?[0-9]+$"},
}
"""How plain types are written."""


def _nested(form: Fields, name: str) -> Fields:
    return {"type": "array", "items": {"anyOf": [form, {"$ref": f"{ROOT}{name}"}]}}


ALIASES: Mapping[str, Fields] = {
    "FloatArray": _nested(FORMS[float], "FloatArray"),
    "IntArray": _nested(FORMS[int], "IntArray"),
    "Key": {
        "anyOf": [
            {"type": ["boolean", "null", "number", "string"]},
            {"type": "object", "properties": {"float": {"enum": ["inf", "-inf"]}}, "required": ["float"]}
            | {"additionalProperties": False},
            {"type": "array", "items": {"$ref": f"{ROOT}Key"}},
        ]
    },
}
"""How types are written that are ``Any`` when a program runs, by their names."""

SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=\n\n\w+\n-+\n|\Z)", re.DOTALL | re.MULTILINE)
PARAMETERS = re.compile(r"^(\S.*)\n((?: .*\n?|\n)+)", re.MULTILINE)
"""What a docstring says of parameters: all of it, and the names of some with what is said of them."""

STANDING_IN = {name: NewType(name, object) for name in ALIASES}


class Member(NamedTuple):
    """A field of an object: its type, what is said of it, and whether it is always there."""

    kind: Any
    said: str = ""
    required: bool = True


Members = dict[Any, Member]
"""By their names, or by a compiled pattern of names."""


def json_schema(cls: type[Storable]) -> Fields:
    """Return the schema of the JSON of a class."""
    part = cls if cls._form is None else cls._form
    head = {name: Member(Literal[value]) for name, value in (("schema", cls._version), ("kind", cls._kind))}
    classes: dict[str, Fields] = {}
    title = {"$schema": DIALECT, "title": cls._kind, "description": _first(cls.__doc__)}
    return deepcopy({**title, **_object({**head, **_members(part)}, classes), "$defs": classes})


def _object(members: Members, classes: dict[str, Fields]) -> Fields:
    made: dict[Any, Fields] = {}
    for name, x in members.items():
        made[name] = {**_form(x.kind, classes), **({"description": x.said} if x.said else {})}
    patterns = {name.pattern: x for name, x in made.items() if isinstance(name, re.Pattern)}
    return {
        "type": "object",
        "properties": {name: x for name, x in made.items() if isinstance(name, str)},
        **({"patternProperties": patterns} if patterns else {}),
        "required": [name for name, x in members.items() if x.required and isinstance(name, str)],
        "additionalProperties": False,
    }


def _form(kind: Any, classes: dict[str, Fields]) -> Fields:
    """Return the schema of a type; that of a class is put beside the others."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _object(_members(kind), classes)
    if origin is Literal:
        return {"const": args[0]} if len(args) == 1 else {"enum": list(args)}
    if origin in (Union, UnionType):
        return _either([_form(x, classes) for x in args])
    if origin is tuple and args[-1] is not Ellipsis:
        items = [_form(x, classes) for x in args]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
    if origin in (list, tuple, Sequence):
        return {"type": "array", "items": _form(args[0], classes)}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _form(args[1], classes)}
    if kind in FORMS:
        return FORMS[kind]
    name = kind.__name__
    if name not in classes:
        classes[name] = {}  # a class may hold others of its own
        classes[name] |= ALIASES[name] if isinstance(kind, NewType) else _object(_members(kind), classes)
    return {"$ref": f"{ROOT}{name}"}


def _either(forms: Sequence[Fields]) -> Fields:
    """Return a schema of what is one of these; plain types are listed in one."""
    if all(form.keys() == {"type"} for form in forms):
        types = [x for form in forms for x in ([form["type"]] if isinstance(form["type"], str) else form["type"])]
        return {"type": list(dict.fromkeys(types))}
    return {"anyOf": list(forms)}


# ---- what a class has -------------------------------------------------------------------------------------


def _members(part: Any) -> Members:
    """Return the fields of a class, some of them, a field of its own, or those of several parts."""
    if get_origin(part) is Annotated:
        return {name: x for own in part.__metadata__ for name, x in _members(own).items()}
    if isinstance(part, tuple):
        first, second = part
        return {name: _member(first, name) for name in second} if isinstance(first, type) else {first: _sure(second)}
    if isinstance(part, type) and issubclass(part, Storable):
        return {name: _member(part, name) for name in part._stored}
    return {name: _member(part, name) for name in inspect.get_annotations(part)}


def _member(cls: type, name: str) -> Member:
    """Look up the type of an attribute, and what is said of it."""
    for attribute in (f"_stored_{name}", name):
        for base in cls.__mro__:
            own, annotations = vars(base).get(attribute), inspect.get_annotations(base)
            if isinstance(own, Delegate):
                (delegate,) = get_args(_resolved(annotations[attribute], base))  # ClassVar[Delegate[float]]
                return Member(get_args(delegate)[0], _first(own.__doc__))
            if isinstance(own, (property, cached_property)):
                getter: Any = own.func if isinstance(own, cached_property) else own.fget
                return Member(_resolved(getter.__annotations__["return"], base), _first(own.__doc__))
            if attribute in annotations:
                return _sure(_resolved(annotations[attribute], base), _parameters(cls).get(name, ""))
    raise TypeError(f"{cls.__name__} stores {name!r}, and nothing says what that is")


def _sure(kind: Any, said: str = "") -> Member:
    """Return a member of this type, which may not be required."""
    required = get_origin(kind) is not NotRequired
    return Member(kind if required else get_args(kind)[0], said, required)


def _resolved(annotation: Any, cls: type) -> Any:
    """Return the type that an annotation in the module of a class means."""
    known = {**vars(sys.modules[cls.__module__]), **STANDING_IN}
    holder = type("Holder", (), {"__annotations__": {"it": getattr(annotation, "__forward_arg__", annotation)}})
    while True:
        try:
            return get_type_hints(holder, known, include_extras=True)["it"]
        except NameError as unknown:  # the module imports it for type checkers only; then it is a public name
            name = str(unknown.name)
            package = import_module(__name__.partition(".")[0])
            known[name] = getattr(package if name in package.__all__ else package.results, name)


def _first(doc: str | None) -> str:
    """Return the first paragraph of a docstring, in a line."""
    return " ".join(inspect.cleandoc(doc or "").partition("\n\n")[0].split())


def _parameters(cls: type) -> dict[str, str]:
    """Return what the docstring of a class, or of one that it comes of, says of its parameters."""
    said: dict[str, str] = {}
    for base in reversed(cls.__mro__[:-1]):
        section = SECTION.search(inspect.cleandoc(base.__doc__ or ""))
        for names, text in PARAMETERS.findall(section[1] if section else ""):
            said |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    return said
