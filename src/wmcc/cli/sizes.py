"""Sizes of strata, totals of post-strata and scales of replicates: numbers that an option gives, or a file it names."""

from __future__ import annotations

import os
import re
from typing import Any

from ..errors import InputError
from ..sources.files import SEPARATORS, ends_like_file, is_address, no_column
from . import standard_input

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def is_file(given: str) -> bool:
    """Whether a file is named, rather than a column: by the end of its name."""
    return standard_input.is_stream(given) or is_address(given) or ends_like_file(given)


def as_number(given: str) -> float | None:
    """Return the number that a text is; None if it is none."""
    return float(given) if NUMBER.fullmatch(given.strip()) else None


def as_read(text: str | None) -> float | str | None:
    """Return the number that a text is, or the text, which is the library's to refuse."""
    number = None if text is None else as_number(text)
    return text if number is None else number


def known(given: str | None, word: str, keys: tuple[str, ...]) -> Any:
    """Return the numbers of a file by key, one number, or the name of a column."""
    return as_read(given) if given is None or not is_file(given) else read_sizes(given, word, keys)


def read_columns(name: str) -> tuple[dict[str, list[Any]], bool]:
    """Return the columns of a small file, and whether they are text that is to be made sense of."""
    from ..sources.datasets import dataset
    from ..sources.files import find
    from ..sources.problems import said_by_engines

    path = standard_input.data(name, None) if standard_input.is_stream(name) else name
    files = find(path)
    with said_by_engines(f"{name} cannot be read", "it may be damaged, cut short or of another format."):
        if not files.is_csv:
            data = dataset(files).to_table()
            return {column: data.column(k).to_pylist() for k, column in enumerate(data.column_names)}, False
        header, files = files.header(files.paths[0]), files.with_rows()
        if not files.paths:
            return {column: [] for column in header}, True
        data = dataset(files, header).to_table()
        return {column: data.column(k).to_pylist() for k, column in enumerate(header)}, True


def read_sizes(name: str, word: str, names: tuple[str, ...]) -> Any:
    """Return the numbers of a file, by their keys; ``names`` are the columns of keys of the data."""
    from ..sources.designs import TextKeys, keyed_sizes

    columns, is_text = read_columns(name)
    said = standard_input.said(name)
    if is_text:
        _check_header(list(columns), names, said, word)
    found = keyed_sizes(columns, word, names, f"{said} has")
    if not found:
        raise InputError(f"{said} has no rows; expected one for each stratum.", argument=word)
    if not is_text:
        return found
    return TextKeys({key: as_read(x) for key, x in found.items()})


def _check_header(header: list[str], names: tuple[str, ...], said: str, word: str) -> None:
    """Refuse a file of text without a line of names, or with another separator than commas."""
    if header and as_number(header[-1]) is not None and not set(names).intersection(header):
        raise InputError(
            f"{said} has the first line {','.join(header)!r}; expected the names of its columns there.",
            f"add a first line such as stratum,{'total' if word == 'totals' else 'size'}; a column must not be called "
            "as a number is.",
            word,
        )
    if len(header) == 1 and any(mark in header[0] for mark in SEPARATORS):
        raise no_column(names[0] if names else word, header, said)


def read_scales(given: str) -> float | list[float]:
    """Return the scales of replicates: one for each, or a single number for all."""
    hint = "write 0.5,0.5,0.75, one number for all replicates, or the name of a file of numbers."
    found = read_numbers(given, "scales", hint)
    return found[0] if len(found) == 1 and not os.path.isfile(given) else found


def read_numbers(
    given: str, word: str, hint: str = "write 0.1,0.2,0.5, or the name of a file of numbers."
) -> list[float]:
    """Return numbers that stand in an option, separated by commas, or in a file of text."""
    text, where = given, f"--{word}"
    if os.path.isfile(given):
        where = f"--{word}: {given}"
        with open(given, encoding="utf-8-sig") as file:
            text = file.read()
    found = list[float]()
    for one in re.split(r"[\s,;]+", text.strip()):
        number = as_number(one)
        if number is None:
            raise InputError(f"{where} has {one!r}; expected numbers.", hint, word)
        found.append(number)
    return found
