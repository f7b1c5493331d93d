"""The design of a sample: strata, clusters in them, known sizes and totals, from what the caller named to a table.

Strata, clusters and post-strata are keys of rows, as clusters alone are, so every source tabulates them together, as
one key of several values. Here that key is put together before, and taken apart again after.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..core.arraytypes import IndexArray, IntArray
from ..core.design import PoststratumTotals, SampleDesign, StratifiedDesign, check_sizes, name_strata
from ..core.keys import Key, distinct_keys, key_kinds, merged_keys, missing, plain_key
from ..core.labels import is_missing
from ..core.stack import Stack
from ..errors import InputError, InputTypeError
from ..present.text import brief
from .columns import what
from .files import ends_like_file, read_first
from .groups import Keyed, key_codes, keyed, number_codes, one_key
from .request import Request
from .values import Strata, is_number

WORDS = ("stratum", "population", "fpc", "cluster", "poststratum", "totals")
"""What a key of rows is made of, in this order."""


NUMBERS = ("population", "fpc", "totals")
"""Which of them are numbers; the others are keys."""

SIZES_IN_SHELL = (
    "give a file whose last column has the numbers and whose others have the keys, or the name of a column of the data."
)
"""What sizes are on the command line, which has no mappings."""


class Sizes(NamedTuple):
    """Numbers of strata: a mapping from keys, or one number; neither where rows have them in a column."""

    of: Mapping[Any, Any] | None = None
    one: float | None = None
    of_frame: bool = False


# ---- before: one key of several values -----------------------------------------------------------------


class KeyColumns(NamedTuple):
    """The columns that make up the key of rows, what each is called, how many each word has; sizes of strata."""

    columns: list[Any]
    names: list[str]
    counts: dict[str, int]
    sizes: dict[str, Sizes]

    def read(self, shape: tuple[int, ...]) -> Keyed:
        """Read the key of each row of labels in memory."""
        if not self.columns:
            return one_key(shape)
        several = (
            (number_codes if name in NUMBERS else key_codes)(given, name, shape)
            for name, given in zip(self.names, self.columns, strict=True)
        )
        return keyed(tuple(self.names), several)

    def with_design(self, table: Any, request: Request) -> Any:
        """Return a table, or tables of groups, that knows its strata.

        It comes with clusters whose keys are tuples of the values of these columns, and with their numbers of rows.
        """
        design, weighted = request.strata or Strata(), request.weights is not None
        counts, drawn = self.counts, np.array(table.drawn.rows, dtype=np.int64)
        ends = np.cumsum([0, *counts.values()]).tolist()
        values = {
            word: [own[a:b] for own in table.drawn.units] for word, a, b in zip(counts, ends, ends[1:], strict=False)
        }
        _check_present(self, values, drawn)
        strata_of = [_single(own) for own in values["stratum"]]
        nested = counts["cluster"] > 0
        labelled = np.flatnonzero(drawn)  # of the other keys no row has labels
        units_of = strata_of
        if nested:
            units_of = [(*stratum, *own) for stratum, own in zip(values["stratum"], values["cluster"], strict=True)]
        met = labelled
        if nested:  # a cluster of which nobody answered was drawn, too
            met = np.flatnonzero(
                [not missing([*a, *b]) for a, b in zip(values["stratum"], values["cluster"], strict=True)]
            )
        units, place = _placed(units_of, met)
        if nested and not design.nested:
            _check_clusters_are_of_one_stratum(units, counts["stratum"])
        rows = np.zeros(len(units), dtype=np.int64)
        np.add.at(rows, place[met], drawn[met])
        known = {units_of[k]: strata_of[k] for k in met.tolist()}
        strata = ((),) if design.stratum is None else distinct_keys(list(known.values()))[0]
        strata, (population, fpc) = _sizes(self, ("population", "fpc"), strata, strata_of, values)
        if design.fpc is True:
            fpc = population
        at = {stratum: k for k, stratum in enumerate(strata)}
        of = tuple(at[known[unit]] for unit in units)
        weighting = population is not None and not weighted
        post, post_place = _poststrata(table, self, values, labelled)
        made = StratifiedDesign(strata, of, nested, population, weighting, fpc, design.lonely, False, post, design.df)
        whole = SampleDesign("strata", units, tuple(rows.tolist()), made)
        check_sizes(whole)
        *codes, own = table.raw_cells.codes
        codes += [place[own]] if post is None else [post_place[own], place[own]]
        return replace(table, raw_cells=Stack.gathered(np.stack(codes), table.raw_cells.sums), drawn=whole)


def key_columns(request: Request) -> KeyColumns:
    """Return the columns of keys, in the order of `WORDS`, of data in arrays or of a frame or file."""
    strata, post = request.strata or Strata(), request.poststrata
    of_post = (None, None) if post is None else (post.poststratum, post.totals)
    given_by = (strata.stratum, strata.population, strata.fpc, request.cluster, *of_post)
    found, design = KeyColumns([], [], dict.fromkeys(WORDS, 0), {}), dict(zip(WORDS, given_by, strict=True))
    for word, given in design.items():
        if given is None or (word == "fpc" and isinstance(given, bool)):
            continue
        own = {word: given}
        if word not in NUMBERS:
            if not request.in_columns and isinstance(given, Mapping):
                own = {f"{word}[{name!r}]": x for name, x in given.items()}
            elif request.in_columns and isinstance(given, (list, tuple)):
                own = {f"{word}[{k}]": x for k, x in enumerate(given)}
            if not own:
                raise InputError(f"`{word}` is empty; expected a key for each row.", argument=word)
            if request.in_columns:
                _check_columns(given, own.values(), word)
        elif _is_column(given, word, request):
            found.sizes[word] = Sizes()
        else:
            names = as_names(design[terms(word)[-1]]) if request.in_columns else ()
            own, found.sizes[word] = {}, read_sizes(given, word, names)
        found.counts[word] = len(own)
        found.columns.extend(own.values())
        found.names.extend(own)
    return found


def _is_column(given: Any, word: str, request: Request) -> bool:
    """Whether sizes are given as a column, a size for each row; a series of pandas else has them by its index."""
    if isinstance(given, str):
        if request.in_columns:
            return True
        raise InputTypeError(
            f"`{word}` is {brief(given)}; a column name works only with a frame or a file.",
            read_first(given)
            if ends_like_file(given)
            else "give a mapping from keys to numbers, or a number per observation.",
            word,
        )
    if hasattr(given, "index") and hasattr(given, "iloc"):
        index = getattr(request.y_true, "index", None)
        return hasattr(index, "equals") and not hasattr(type(given), "columns") and bool(given.index.equals(index))
    if request.in_columns:
        from .frames import is_series

        return is_series(given) and not hasattr(type(given), "columns")
    return hasattr(given, "__len__") and not (isinstance(given, Mapping) or hasattr(type(given), "columns"))


def _check_columns(given: Any, columns: Iterable[Any], word: str) -> None:
    """Refuse keys of a frame or file that are neither names of columns nor series."""
    from .column_lookup import is_name
    from .frames import is_series

    if not all(is_name(own) or is_series(own) for own in columns):
        raise InputTypeError(
            f"`{word}` is {what(given)}; expected the name of a column, or a list of names.",
            "make it a column of the frame." if hasattr(given, "__len__") else None,
            word,
        )


def as_names(given: Any) -> tuple[str, ...]:
    """Return the names of columns, of one or of several; none of what is no name."""
    several = given if isinstance(given, (list, tuple)) else [given]
    return tuple(several) if all(isinstance(x, str) for x in several) else ()


def terms(word: str) -> tuple[str, str, str]:
    """Return what numbers of a word are called, and what their keys are, in a sentence and in code."""
    return ("total", "post-stratum", "poststratum") if word == "totals" else ("size", "stratum", "stratum")


def read_sizes(given: Any, word: str, names: tuple[str, ...] = ()) -> Sizes:
    """Read sizes by stratum from a mapping or a frame, or one number for all; ``names`` are those of the strata."""
    number, of, _ = terms(word)
    if isinstance(given, TextKeys):
        return Sizes(given, of_frame=True)
    if hasattr(type(given), "columns"):
        return Sizes(_sizes_of_frame(given, word, names), of_frame=True)
    if is_number(given) and word != "totals":
        return Sizes(one=_number(given, word))
    if hasattr(given, "to_dict") and hasattr(given, "index"):  # a series of pandas, by its index
        given = given.to_dict()
    elif not isinstance(given, Mapping):
        such = "{'young': 5200, 'old': 3100}" if word == "totals" else "{'forest': 3200000, 'water': 150000}"
        raise InputTypeError(
            f"`{word}` is {what(given)}; expected a {number} for each {of}.",
            f"give a mapping such as {word}={such}, a frame with a column of keys and one of {number}s, or the name of "
            "a column of the data.",
            word,
            SIZES_IN_SHELL,
        )
    elif not given:
        raise InputError(f"`{word}` is an empty mapping; expected a {number} for each {of}.", argument=word)
    return Sizes({_key(key): size for key, size in given.items()})


def _key(key: Any) -> Key:
    return tuple(map(plain_key, key)) if isinstance(key, tuple) else plain_key(key)


def _sizes_of_frame(given: Any, word: str, names: tuple[str, ...]) -> dict[Key, Any]:
    import narwhals as nw

    frame = nw.from_native(given)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    columns = {name: frame[name].to_list() for name in frame.columns}
    return keyed_sizes(columns, word, names, f"`{word}` is a frame with")


def keyed_sizes(columns: Mapping[str, Sequence[Any]], word: str, names: tuple[str, ...], said: str) -> dict[Key, Any]:
    """Sizes from columns: keys are in those of these names, or else in all but the last; ``said`` begins a sentence."""
    others = [x for x in columns if x not in names]
    if not names or len(columns) - len(others) < len(names):
        names, others = tuple(columns)[:-1], list(columns)[-1:]
    if len(others) != 1 or not names:
        hint = "select these columns"
        if "frame" in said:
            hint += "; the index of a pandas frame becomes a column with reset_index()"
        raise InputError(
            f"{said} the columns {', '.join(map(repr, columns)) or 'none'}; expected "
            f"{'those of ' + ', '.join(map(repr, names)) if names else 'a column of keys'} and one of numbers.",
            f"{hint}.",
            word,
        )
    found: dict[Key, Any] = {}
    for *key, number in zip(*(columns[name] for name in (*names, *others)), strict=True):
        plain = _key(tuple(key)) if len(key) > 1 else plain_key(key[0])
        if plain in found:
            raise InputError(f"`{word}` has two rows for {name_strata([plain])}; expected one.", argument=word)
        found[plain] = number
    return found


class TextKeys(dict[Key, Any]):
    """Sizes from a file of text, whose keys are of the kind that those of the sample are."""

    def like(self, key: Key) -> dict[Key, Any]:
        """Return the same by keys of the kind of this one."""
        return {_read_key(own, key): x for own, x in self.items()}


def _read_key(text: Any, like: Any) -> Any:
    from .text_types import reader

    if isinstance(like, tuple) and like:
        return tuple(map(_read_key, text, like)) if isinstance(text, tuple) else text
    if not isinstance(text, str) or isinstance(like, str):
        return text
    try:
        return float(text) if isinstance(like, float) else plain_key(reader([text])(text))
    except ValueError:
        return text


# ---- after: a table of strata ---------------------------------------------------------------------------


def _check_present(key: KeyColumns, values: dict[str, list[tuple[Any, ...]]], rows: IntArray) -> None:
    """Refuse rows that belong to no stratum, cluster or post-stratum."""
    for word, called in (("stratum", "stratum"), ("cluster", "cluster"), ("poststratum", "post-stratum")):
        lost = int(rows[missing(values[word])].sum())
        if lost:
            first = sum(key.counts[own] for own in WORDS[: WORDS.index(word)])
            columns = [x for x in key.columns[first : first + key.counts[word]] if isinstance(x, str)]
            where = f" in the column{'s' * (len(columns) > 1)} {', '.join(map(repr, columns))}" if columns else ""
            said, them, each = ("1 row has", "it", "it") if lost == 1 else (f"{lost:,} rows have", "them", "each")
            raise InputError(f"{said} no {called}{where}.", f"leave {them} out, or give {each} its {called}.", word)


def _placed(keys: Sequence[Key], met: IndexArray) -> tuple[tuple[Key, ...], IndexArray]:
    """Return the keys that are met, each once and sorted, and the place there of each of those given; 0 of others."""
    names, own = distinct_keys([keys[k] for k in met.tolist()])
    place = np.zeros(len(keys), dtype=np.intp)
    place[met] = own
    return names, place


def _single(key: tuple[Any, ...]) -> Key:
    """A key of one value is that value."""
    return key[0] if len(key) == 1 else key


def _check_clusters_are_of_one_stratum(units: Sequence[tuple[Any, ...]], values: int) -> None:
    """Refuse units, of which the first values are the stratum's, whose clusters have the same key in two strata."""
    seen: dict[Key, Key] = {}
    for unit in units:
        stratum, cluster = _single(unit[:values]), _single(unit[values:])
        if seen.setdefault(cluster, stratum) != stratum:
            raise InputError(
                f"cluster {cluster!r} is in two strata, {seen[cluster]!r} and {stratum!r}.",
                "a cluster belongs to one stratum; if the same keys are used again in each stratum, leave out "
                "`nested`.",
            )


def _sizes(
    key: KeyColumns,
    words: Sequence[str],
    sampled: tuple[Key, ...],
    keys_of: Sequence[Key],
    values: dict[str, list[tuple[Any, ...]]],
) -> tuple[tuple[Key, ...], list[tuple[float, ...] | None]]:
    """Return the strata, or post-strata, those that only sizes name among them, and their sizes by each word."""
    count = key.counts[terms(words[0])[-1]]
    known: dict[str, Mapping[Key, float]] = {}
    for word in words:
        given = key.sizes.get(word)
        if given is None:
            continue
        if given.one is not None:
            if count:
                raise InputTypeError(
                    f"`{word}` is one number, {given.one:,.12g}; with `stratum` expected a size for each stratum.",
                    f"give a mapping such as {word}={{{sampled[0]!r}: …}}." if sampled else None,
                    word,
                    SIZES_IN_SHELL,
                )
            known[word] = {(): given.one}
        elif given.of is None:
            known[word] = _constant(word, keys_of, values[word])
        else:
            by_key = given.of.like(sampled[0]) if isinstance(given.of, TextKeys) and sampled else given.of
            _check_keys(word, by_key, given.of_frame, sampled, count)
            known[word] = {own: _number(size, word, own) for own, size in by_key.items()}
    if not count:
        return sampled, [(known[word][()],) if word in known else None for word in words]
    names, _ = merged_keys([sampled, *map(tuple, known.values())])
    for word, sizes in known.items():
        _check_complete(word, sizes, sampled, names, is_column=key.counts[word] > 0)
    met = set(sampled)  # those of size 0 that have no row are not there
    names = tuple(own for own in names if own in met or any(sizes.get(own) for sizes in known.values()))
    return names, [tuple(known[word].get(own, 0.0) for own in names) if word in known else None for word in words]


def _check_keys(word: str, given: Mapping[Key, Any], of_frame: bool, sampled: tuple[Key, ...], count: int) -> None:
    """Refuse sizes whose keys are not such as the sample has."""
    _, of, other = terms(word)
    if not count:
        raise InputTypeError(f"`{word}` has a size for each {of}, and there is no `{other}`.", f"give `{other}`.", word)
    for own in given:
        if (len(own) if isinstance(own, tuple) else 1) != count:
            expected = f"a tuple of {count} values, one for each column of `{other}`" if count > 1 else "a single value"
            hint = "the last column has the numbers, and the others have the keys; select these." if of_frame else None
            raise InputError(f"`{word}` has the key {own!r}; expected {expected}.", hint, word)
    if missing(given):
        raise InputError(f"`{word}` has a {of} without a key.", "leave it out, or name it.", word)
    kinds = key_kinds(sampled[0]) if sampled else ()
    for own in given if sampled else ():
        if key_kinds(own) != kinds:
            hint = f"write the keys of `{word}` as the sample has them."
            if of_frame:
                hint = f"the last column of `{word}` has the numbers, and the others have keys as the sample has them."
            raise InputTypeError(
                f"`{word}` has the {of} {own!r} ({', '.join(key_kinds(own))}), and the sample has {sampled[0]!r} "
                f"({', '.join(kinds)}); keys of different types cannot be matched.",
                hint,
                word,
            )


def _check_complete(
    word: str, sizes: Mapping[Key, float], sampled: tuple[Key, ...], names: tuple[Key, ...], is_column: bool
) -> None:
    """Refuse sizes that lack some of the strata; those in a column are known where rows are."""
    lacking = [own for own in (sampled if is_column else names) if own not in sizes]
    if not lacking:
        return
    of_sample = [own for own in lacking if own in sampled]
    more = [own for own in sizes if own not in sampled]
    raise InputError(
        f"`{word}` has no {terms(word)[0]} for {name_strata(of_sample or lacking)}, which "
        f"{'the sample' if of_sample else '`population`' if word == 'fpc' else '`fpc`'} has.",
        f"add {'it' if len(of_sample or lacking) == 1 else 'them'} to `{word}`"
        + (f"; it also names {name_strata(more)}, of which the sample has no row: check the spelling" * bool(more))
        + ".",
        word,
    )


def _constant(word: str, keys_of: Sequence[Key], column: Sequence[tuple[Any, ...]]) -> dict[Key, float]:
    """Sizes that each row has, the same in all rows of a stratum."""
    found: dict[Key, float] = {}
    of = terms(word)[1]
    for key, (value,) in zip(keys_of, column, strict=True):
        if missing([key]):
            continue  # no row with labels has such a key
        size = _number(value, word, key, in_text=True)
        if found.setdefault(key, size) != size:
            where = "" if key == () else f" in {of} {name_strata([key])}"
            raise InputError(
                f"the column given as `{word}` has {found[key]:,.12g} and {size:,.12g}{where}; expected one number in "
                f"all rows{' of a ' + of if where else ''}.",
                argument=word,
            )
    return found


def _number(value: Any, word: str, key: Key = (), in_text: bool = False) -> float:
    """A size: a finite number of at least 0; ``in_text`` where files of text may have it."""
    if type(value) is float and 0 <= value < math.inf:  # as most of many are
        return value
    of = terms(word)[1]
    which = f"`{word}`" if key == () else f"`{word}` of {of} {name_strata([key])}"
    try:
        size = math.nan if value is None or is_missing(value) else float(value)
    except (TypeError, ValueError):
        size = None
    if size is None or isinstance(value, bool) or (isinstance(value, (str, bytes)) and not in_text):
        raise InputTypeError(f"{which} is {what(value)}; expected a number.", argument=word)
    if math.isnan(size):
        raise InputError(f"{which} is missing; expected a number.", argument=word)
    if not 0 <= size < math.inf:
        raise InputError(f"{which} is {size:,.12g}; expected a finite number of at least 0.", argument=word)
    return size


def _poststrata(
    table: Any, key: KeyColumns, values: dict[str, list[tuple[Any, ...]]], met: IndexArray
) -> tuple[PoststratumTotals | None, Any]:
    """Return the post-strata, if there are any, and the place among them of each key of rows."""
    if not key.counts["poststratum"]:
        return None, None
    posts = [_single(own) for own in values["poststratum"]]
    sampled, _ = _placed(posts, met)
    names, (totals,) = _sizes(key, ("totals",), sampled, posts, values)
    assert totals is not None
    at = {name: k for k, name in enumerate(names)}
    place = np.array([at.get(own, 0) for own in posts], dtype=np.int64)
    exact = table.raw_cells.sums.w_exact.by_code(place[table.raw_cells.codes[-1]], len(names))
    weights = tuple(Fraction(w) * Fraction(2) ** exact.exponent for w in exact.integers())
    return PoststratumTotals(names, totals, weights), place
