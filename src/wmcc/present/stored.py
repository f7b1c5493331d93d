"""What is stored of an object: attributes by their names, and the JSON Schema that follows from them."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, cast

from .json_csv import as_json, plain

SCHEMA = 1
"""Version of the JSON of results. Raise it when a field changes its meaning or goes; new fields may come."""

Fields = dict[str, Any]
"""Values by the names of their fields; ``Annotated`` says which fields they are: see `wmcc.present.schema`."""


class Storable:
    """What stores some of its attributes.

    An attribute that is stored in another form has that as a property of its name after ``_stored_``. Types of
    attributes and properties, and what docstrings say of them, are all that a JSON Schema is made of.
    """

    _kind: ClassVar[str]
    """What it is called where it is stored."""

    _version: ClassVar[int] = SCHEMA
    """Version of its JSON."""

    _stored: ClassVar[tuple[str, ...]] = ()
    """Attributes that are stored."""

    _form: ClassVar[Any] = None
    """What is stored, of a class whose `to_dict` goes by no attributes."""

    def picked(self, names: tuple[str, ...] | None = None) -> Fields:
        """Return what is stored, or these fields of it, as Python has it."""
        attributes = _attributes(cast(Any, type(self)), self._stored if names is None else names)
        return {name: getattr(self, attribute) for name, attribute in attributes.items()}

    def fields(self) -> Fields:
        """Return what is stored, as JSON has it."""
        attributes = _attributes(cast(Any, type(self)), self._stored)
        return {name: plain(getattr(self, attribute)) for name, attribute in attributes.items()}

    def to_dict(self) -> Fields:
        """Return plain dicts, lists, numbers and texts, with the number of the schema and the kind of result.

        What is undefined or infinite is None. `json_schema` says which fields there are.
        """
        return {"schema": self._version, "kind": self._kind, **self.fields()}

    def to_json(self) -> str:
        """Return the JSON text of `to_dict`."""
        return as_json(self.to_dict())

    @classmethod
    def json_schema(cls) -> Fields:
        """Return the JSON Schema, Draft 2020-12, of what `to_dict` and `to_json` make.

        Examples
        --------
        >>> import wmcc
        >>> wmcc.results.Radius.json_schema()["properties"]["safe"]["type"]
        ['number', 'null']
        """
        from .schema import json_schema

        return json_schema(cls)


@cache
def _attributes(cls: type, names: tuple[str, ...]) -> dict[str, str]:
    """Return the attributes that are stored by these names."""
    return {name: own if hasattr(cls, own := f"_stored_{name}") else name for name in names}
