"""What rows are grouped by, and which clusters they belong to: a key for each row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import Array, IntArray
from ..core.keys import Key, distinct_keys, missing, no_cluster, of_one_kind, plain_key
from ..core.stack import numbered
from ..core.tables import Tables
from ..errors import InputError, InputTypeError, LabelError
from .codes import Codebook, Rules, all_codes
from .columns import Column, label_column

By = str | int | tuple[str | int, ...]
"""The name of a column, or several."""


class Keyed(NamedTuple):
    """A key for each row.

    Parameters
    ----------
    by
        What the keys are values of.
    keys
        Those that occur, sorted.
    codes
        The place of each row's among them.
    """

    by: By
    keys: tuple[Key, ...]
    codes: IntArray


class Parts(NamedTuple):
    """What divides the rows: groups, each with a table of its own, and clusters of rows that belong together."""

    groups: Keyed | None = None
    clusters: Keyed | None = None


WHOLE = Parts()


def keyed(by: By, columns: Iterable[tuple[Any, Sequence[Any]]]) -> Keyed:
    """Keys of rows of a frame.

    A column is given as a code per row, and the values that the codes stand for.
    """
    codes, values = zip(*columns, strict=True)
    if len(codes) == 1:
        own = np.asarray(codes[0], dtype=np.int64)
        met = np.bincount(own, minlength=len(values[0])) > 0
        combinations, where = np.flatnonzero(met)[np.newaxis], (np.cumsum(met) - 1)[own]
    else:
        combinations, where = numbered(np.stack([np.asarray(own, dtype=np.int64) for own in codes]))
    names = by if isinstance(by, tuple) else (by,)
    known = [of_one_kind([plain_key(x) for x in own], name) for own, name in zip(values, names, strict=True)]
    plain = [[named[k] for k in own] for own, named in zip(combinations.tolist(), known, strict=True)]
    found = list(zip(*plain, strict=True)) if isinstance(by, tuple) else plain[0]
    keys, place = distinct_keys(found)  # null and NaN are one key
    return Keyed(by, keys, place[where])


def check_clusters(tables: Tables[Any], cluster: By) -> None:
    """Refuse rows that belong to no cluster; ``cluster`` is what their clusters are called."""
    lost = missing(tables.drawn.clusters)
    if lost:
        rows = int(tables.parts.sums.n[np.isin(tables.parts.codes[-1], lost)].sum())
        several = cluster if isinstance(cluster, tuple) else (cluster,)
        raise no_cluster(rows, f" in the column{'s' * (len(several) > 1)} {', '.join(map(repr, several))}")


def keys_of_rows(given: Any, name: str, shape: tuple[int, ...]) -> Keyed | None:
    """Read a key per row of labels in memory, or per item of their first axis (an image of a stack).

    A mapping from names has several, and keys are tuples.
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        if not given:
            raise InputError(f"{name} is an empty mapping; expected keys by name.")
        several = [_of_rows(own, f"{name}[{word!r}]", shape) for word, own in given.items()]
        found = keyed(tuple(map(str, given)), [(own.codes.reshape(-1), own.keys) for own in several])
        return found._replace(codes=found.codes.reshape(shape))
    return _of_rows(given, name, shape)


def _of_rows(given: Any, name: str, shape: tuple[int, ...]) -> Keyed:
    if isinstance(given, str):
        raise InputTypeError(
            f"{name} is {given!r}; a column name works only with a frame or a file.", "give a key per observation."
        )
    with _about_keys():
        column = label_column(given, name)
    own = column.values.shape
    if not own or own != shape[: len(own)]:
        raise InputError(
            f"{name} has shape {own}, and the labels {shape}.",
            "give a key per observation, or one per item of the labels' first axis.",
        )
    with _about_keys():
        keys, codes = _distinct(column)
    codes = codes.reshape(own + (1,) * (len(shape) - len(own)))
    return Keyed(name, keys, np.broadcast_to(codes, shape))


@contextmanager
def _about_keys() -> Iterator[None]:
    """Keys are read as labels are, and what is said of labels that are none does not help with keys."""
    try:
        yield
    except LabelError as problem:
        what, lost = problem.message.partition(";")[0].rstrip("."), "missing" in problem.message
        raise LabelError(
            f"{what.replace('label', 'key')}; every row needs a key, an integer, a boolean or a string.",
            "leave out rows without a key, or give each its own key." if lost else None,
        ) from None


def _distinct(column: Column) -> tuple[tuple[Key, ...], IntArray]:
    """Return the keys that occur, sorted, and the place there of each row's."""
    codebook = Codebook(Rules())
    (codes,) = all_codes([column], codebook)
    of_one_kind(codebook.classes, column.name)
    met: Array = np.bincount(codes, minlength=len(codebook.classes)) > 0
    keys, _, place = codebook.named(met, 0)
    return keys, codes if place is None else place[codes]
