"""Labels given as text on the command line, turned into the kind that the columns hold."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..core.labels import Label
from ..errors import InputError
from ..sources.datasets import dataset
from ..sources.files import find, is_path

Kind = type[bool] | type[int] | type[str] | type[object]
"""What labels are; objects are numbers where they look like such, and text otherwise."""


def kind_of(sides: Iterable[tuple[Any, Sequence[str]]], over_raster: bool = False) -> Kind:
    """What columns of labels hold, in files or frames of layers; one that is not there is the library's to refuse."""
    kinds: set[Kind] = {int} if over_raster else set()
    for data, names in sides:
        schema = _of_file(data) if is_path(data) else _kinds(data.convert_dtypes())
        kinds.update(schema[name] for name in names if name in schema)
    return object if {str, int} <= kinds else next((kind for kind in (str, int, bool) if kind in kinds), str)


def _of_file(data: Any) -> dict[str, Kind]:
    files = find(data)
    if files.is_csv:  # text, and the library makes sense of it
        return dict.fromkeys(files.header(files.paths[0]), str)
    import pyarrow as pa

    schema = dataset(files).schema
    types = [t.value_type if pa.types.is_dictionary(t) else t for t in schema.types]
    return _kinds(pa.schema(zip(schema.names, types, strict=True)).empty_table())


def _kinds(frame: Any) -> dict[str, Kind]:
    import narwhals as nw

    schema = nw.from_native(frame).collect_schema()
    return {name: bool if t == nw.Boolean else int if t.is_numeric() else str for name, t in schema.items()}


def several(given: Sequence[str], kind: Kind, option: str) -> list[Label]:
    """Labels of an option that lists them with commas, and may be repeated. Text with a comma is in double quotes."""
    return [one(text, kind, option) for value in given for text in _split(value, option)]


def names(given: Sequence[str], kind: Kind) -> dict[Label, str]:
    """Names of classes by label: ``0=road``, or a file of JSON or of such lines."""
    found: dict[Label, str] = {}
    for label, name in (pair for value in given for pair in _pairs(value)):
        key = one(label, kind, "--names")
        if key in found:
            raise InputError(f"--names names the label {label!r} twice, {found[key]!r} and {name!r}.", argument="names")
        found[key] = name
    return found


def _pairs(value: str) -> Iterator[tuple[str, str]]:
    if os.path.isfile(value):
        with open(value, encoding="utf-8-sig") as file:
            text = file.read()
        if value.endswith(".json"):
            yield from _json_pairs(value, text)
            return
        lines = [line for line in text.splitlines() if line.strip()]
    else:
        lines = [value]
        if re.search(r"=.*,[^,=]+=", value):
            each = " ".join(f"--names {shlex.quote(x.strip())}" for x in value.split(","))
            raise InputError(f"--names is {value!r}; expected one label and its name.", f"repeat it: {each}.", "names")
    for line in lines:
        label, equals, name = line.partition("=")
        if not (equals and name.strip()):
            raise InputError(
                f"--names is {line!r}; expected a label and its name, as 0=road, or a file of them.", argument="names"
            )
        yield label.strip(), name.strip()


def _json_pairs(path: str, text: str) -> Iterator[tuple[str, str]]:
    try:
        data = json.loads(text)
    except ValueError as problem:
        raise InputError(f"{path} is not JSON: {problem}.", argument="names") from None
    if not isinstance(data, dict) or not all(isinstance(name, str) for name in data.values()):
        raise InputError(f'{path} holds no names; expected an object such as {{"0": "road"}}.', argument="names")
    yield from data.items()


def _split(value: str, option: str) -> list[str]:
    try:
        rows = list(csv.reader([value], skipinitialspace=True, strict=True))
    except csv.Error as problem:
        raise InputError(
            f"{option} {value!r} is not a list of labels: {problem}.",
            'write a,b,c, or "a, with a comma",b.',
        ) from None
    return rows[0] if rows and rows[0] else [""]


def one(text: str, kind: Kind, option: str) -> Label:
    """A label of an option that takes a single one."""
    if kind is str:
        return text
    word = text.strip().lower()
    if kind is object and not re.fullmatch(r"[+-]?[0-9]+", word):
        return text
    if kind is bool and word in ("true", "false", "1", "0"):
        return word in ("true", "1")
    if kind in (int, object) and re.fullmatch(r"[+-]?[0-9]+(\.0*)?", word):
        return int(word.partition(".")[0])
    if kind is int and word in ("true", "false"):  # one column may hold booleans beside another of integers
        return int(word == "true")
    expected = "true or false" if kind is bool else "a whole number"
    holds = "booleans" if kind is bool else "numbers"
    raise InputError(f"{option} names the label {text!r}, but labels are {holds}; expected {expected}.")
