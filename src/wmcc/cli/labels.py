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
from ..sources.engines import joining_engine, open_lazy
from ..sources.files import find

Kind = type[bool] | type[int] | type[str]


def kind_of(sides: Sequence[tuple[Any, str]], engine: str | None, joined: bool) -> Kind:
    """What the columns of labels hold, as the engine that will read them sees it.

    Parameters
    ----------
    sides
        Files, and the column of labels there. One that is not there is left to the library to complain about.
    engine
        As in `wmcc.tabulate`.
    joined
        Whether two files are joined.
    """
    kinds: set[Kind] = set()
    for data, name in sides:
        schema = _schema(data, engine or (joining_engine() if joined else "arrow"))
        if name in schema:
            kinds.add(schema[name])
    return next((kind for kind in (str, int, bool) if kind in kinds), str)


def kind_of_layers(sides: Iterable[Any]) -> Kind:
    """What columns of labels of layers hold, given as frames of pandas."""
    kinds = {kind for frame in sides for kind in _kinds(frame.convert_dtypes())}
    return next((kind for kind in (str, int, bool) if kind in kinds), int)


def _schema(data: Any, engine: str) -> dict[str, Kind]:
    files = find(data)
    if files.is_csv:  # text, and the library makes sense of it
        return dict.fromkeys(files.header(files.paths[0]), str)
    if engine == "arrow":
        import pyarrow as pa

        schema = dataset(files).schema
        types = [t.value_type if pa.types.is_dictionary(t) else t for t in schema.types]
        empty: Any = pa.table([pa.array([], t) for t in types], names=[f"c{i}" for i in range(len(types))])
        return dict(zip(schema.names, _kinds(empty), strict=True))
    opened = open_lazy(files, engine)
    return dict(zip(opened.known(), _kinds(opened.frame), strict=True))


def _kinds(frame: Any) -> list[Kind]:
    import narwhals as nw

    dtypes = nw.from_native(frame).collect_schema().dtypes()
    return [bool if t == nw.Boolean else int if t.is_numeric() else str for t in dtypes]


def several(given: Sequence[str], kind: Kind, option: str) -> list[Label]:
    """Labels of an option that lists them with commas, and may be repeated. Text with a comma is in double quotes."""
    return [_label(text, kind, option) for value in given for text in _split(value, option)]


def one(given: str, kind: Kind, option: str) -> Label:
    """A label of an option that takes a single one."""
    return _label(given, kind, option)


def names(given: Sequence[str], kind: Kind) -> dict[Label, str]:
    """Names of classes by label: ``0=road``, or a file of JSON or of such lines."""
    found: dict[Label, str] = {}
    for label, name in (pair for value in given for pair in _pairs(value)):
        key = _label(label, kind, "--names")
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


def _label(text: str, kind: Kind, option: str) -> Label:
    if kind is str:
        return text
    word = text.strip().lower()
    if kind is bool and word in ("true", "false", "1", "0"):
        return word in ("true", "1")
    if kind is int and re.fullmatch(r"[+-]?[0-9]+(\.0*)?", word):
        return int(word.partition(".")[0])
    if kind is int and word in ("true", "false"):  # one column may hold booleans beside another of integers
        return int(word == "true")
    expected = "true or false" if kind is bool else "a whole number"
    holds = "booleans" if kind is bool else "numbers"
    raise InputError(f"{option} names the label {text!r}, but labels are {holds}; expected {expected}.")
