"""How the rows of a table were drawn: what its sampling errors rest on."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np

from ..errors import InputError
from ..present.text import counted
from .arraytypes import FloatArray, IndexArray
from .keys import Key, check_kinds, merged_keys
from .sums import added_by_code, cannot_merge

Kind = Literal["rows", "clusters", "pairs", "strata", "replicates"]
Lonely = Literal["error", "adjust", "average", "certainty", "collapse"]
Method = Literal["jk1", "jkn", "brr", "fay", "bootstrap", "sdr"]

LONELY: tuple[Lonely, ...] = ("error", "adjust", "average", "certainty", "collapse")

WORDS = {
    "rows": "independent rows", "clusters": "clusters", "pairs": "the entries of a weight matrix",
    "strata": "drawn in strata", "replicates": "weighted by replicates",
}  # fmt: skip

SHOWN = 5
"""Strata that are named in a sentence."""


class PoststratumTotals(NamedTuple):
    """Groups of rows whose totals are known from elsewhere, and that the weights are scaled to.

    Parameters
    ----------
    keys
        Their keys, sorted.
    totals
        What the weights of each are scaled to.
    weights
        The weight of each in the whole sample before it is scaled, exactly.
    """

    keys: tuple[Key, ...]
    totals: tuple[float, ...]
    weights: tuple[Fraction, ...]


class StratifiedDesign(NamedTuple):
    """Strata, from each of which rows or clusters of rows were drawn.

    Parameters
    ----------
    strata
        Their keys, sorted; ``()`` is the only one where none were named.
    of
        The stratum of each unit, by its place.
    nested
        Whether the units are clusters in the strata. Else they are the strata themselves, and rows were drawn.
    population
        The size of each stratum: an area, or a number of units.
    weighting
        Whether each row weighs the size of its stratum divided by the number of rows that were drawn there.
    fpc
        The number of units that each stratum has, of which some were drawn; None if no finite population is meant.
    lonely
        What to do with a stratum of which a single unit was drawn: see `wmcc.tabulate`.
    domain
        Whether the cells are those of a part of the sample: a group of rows, or one class.
    poststrata
        Known totals that the weights are scaled to.
    """

    strata: tuple[Key, ...]
    of: tuple[int, ...]
    nested: bool
    population: tuple[float, ...] | None = None
    weighting: bool = False
    fpc: tuple[float, ...] | None = None
    lonely: Lonely = "error"
    domain: bool = False
    poststrata: PoststratumTotals | None = None


class ReplicateFactors(NamedTuple):
    """Replicate weights: how the variance follows from the scores with each of them.

    Parameters
    ----------
    method
        How they were made: a `Method`, or ``"scales"`` where only these are known.
    scales
        The factor of each replicate's squared deviation.
    df
        Degrees of freedom.
    """

    method: str
    scales: tuple[float, ...]
    df: float


class SampleDesign(NamedTuple):
    """How the rows of a table were drawn.

    Parameters
    ----------
    kind
        ``"rows"``: independently of each other. ``"clusters"``: in clusters, which are independent. ``"strata"``: rows
        or clusters in strata. ``"replicates"``: in a way that replicate weights describe. ``"pairs"``: they are entries
        of a weight matrix, and no sample.
    units
        The keys, sorted, of the last axis of a table's parts: clusters, strata, or clusters in strata (tuples of the
        values of the stratum and of the cluster).
    rows
        How many rows were drawn in each unit, whether or not the table has them, where that matters: in strata.
    design
        The strata.
    replicates
        How replicate weights are used.
    pixels
        Whether rows are pixels of images or rasters, without clusters. They count as independent rows, which they are
        not: neighbouring pixels are alike.
    whole
        Whether clusters are of a map that was compared with its reference wall to wall: blocks of pixels, or parcels.
        Nothing was drawn then, and areas are counted.
    """

    kind: Kind = "rows"
    units: tuple[Key, ...] = ()
    rows: tuple[int, ...] = ()
    design: StratifiedDesign | None = None
    replicates: ReplicateFactors | None = None
    pixels: bool = False
    whole: bool = False

    @property
    def wall_to_wall(self) -> bool:
        """Whether the rows are all places that a map and its reference have in common, and no sample of them."""
        return self.pixels or self.whole

    @property
    def clusters(self) -> tuple[Key, ...]:
        """The keys of the clusters, if clusters were drawn."""
        return self.units if self.kind == "clusters" or (self.design is not None and self.design.nested) else ()

    @property
    def by_design(self) -> bool:
        """Whether the whole sample matters for the error of a part of it: strata, or replicate weights."""
        return self.kind in ("strata", "replicates")

    @property
    def axes(self) -> tuple[str, ...]:
        """What the axes of a table's parts are that come after the labels."""
        if self.design is None:
            return ("cluster",) if self.kind == "clusters" else ()
        post = ("poststratum",) if self.design.poststrata is not None else ()
        return (*post, "cluster" if self.design.nested else "stratum")

    @property
    def keys(self) -> tuple[tuple[str, tuple[Key, ...]], ...]:
        """The names of these axes, each with the keys that its codes stand for."""
        post = None if self.design is None else self.design.poststrata
        own = [] if post is None else [post.keys]
        return tuple(zip(self.axes, [*own, self.units], strict=False))

    @property
    def said(self) -> str:
        """How rows were drawn, as the rest of a sentence that says how many there are."""
        if self.kind == "clusters":
            return f" in {counted(len(self.units), 'cluster')}"
        if self.replicates is not None:
            return f" with {counted(len(self.replicates.scales), 'replicate weight')}"
        if self.design is None:
            return ""
        strata = f" in {counted(len(self.design.strata), 'stratum', 'strata')}" * (self.design.strata != ((),))
        post = self.design.poststrata
        scaled = "" if post is None else f", scaled to {counted(len(post.keys), 'post-stratum', 'post-strata')}"
        return f" in {counted(len(self.units), 'cluster')}" * self.design.nested + strata + scaled

    @property
    def manner(self) -> str:
        """How rows were drawn, as the rest of a sentence that says what they are."""
        if self.design is None or self.design.strata != ((),):
            return WORDS[self.kind]
        return (
            "weighted to totals of post-strata" if self.design.poststrata else "drawn from a population of known size"
        )

    @property
    def parameter(self) -> str:
        """What `wmcc.tabulate` was given that says so."""
        if self.design is None:
            return "`wmcc.Replicates`" if self.kind == "replicates" else "`cluster`"
        return "`wmcc.PostStrata`" if self.design.poststrata else "`wmcc.Strata`"

    @property
    def rows_of_strata(self) -> tuple[int, ...]:
        """How many rows were drawn in each stratum."""
        return self._per_stratum(self.rows)

    @property
    def sampled(self) -> tuple[int, ...]:
        """How many units were drawn in each stratum: clusters, or rows."""
        assert self.design is not None
        return self._per_stratum([1] * len(self.units) if self.design.nested else self.rows)

    def _per_stratum(self, numbers: Sequence[int]) -> tuple[int, ...]:
        assert self.design is not None
        of = np.array(self.design.of, dtype=np.int64)
        return tuple(added_by_code(of, np.array(numbers, dtype=np.int64), len(self.design.strata)).tolist())

    @property
    def factors(self) -> FloatArray | None:
        """By what the weights of each unit are multiplied: the rows of a stratum stand for all of it; None for 1."""
        if self.design is None or not self.design.weighting or self.design.population is None:
            return None
        rows = np.array(self.rows_of_strata, dtype=np.float64)
        of_strata = np.array(self.design.population) / np.where(rows > 0, rows, np.inf)
        return np.asarray(of_strata[np.array(self.design.of, dtype=np.int64)])

    def as_domain(self) -> SampleDesign:
        """Return the same for a part of the rows."""
        return self if self.design is None else self._replace(design=self.design._replace(domain=True))


ROWS, PAIRS, PIXELS = SampleDesign("rows"), SampleDesign("pairs"), SampleDesign("rows", pixels=True)


def name_strata(keys: Sequence[Key], sizes: Sequence[str] | None = None, count: int | None = None) -> str:
    """Name some strata, with what is said of each; ``count`` is how many there are, if ``keys`` has but the first."""
    named = [repr(key) for key in keys[:SHOWN]]
    if sizes is not None:
        named = [f"{name} ({size})" for name, size in zip(named, sizes, strict=False)]
    more = (len(keys) if count is None else count) - SHOWN
    return ", ".join(named) + (f" and {more:,} more" if more > 0 else "")


# ---- merging ------------------------------------------------------------------------------------------

Places = dict[tuple[str, tuple[Key, ...]], IndexArray]
"""Where keys of an axis are among those of all, by the name of the axis and the keys of a table."""


def merged_drawn(several: Sequence[SampleDesign]) -> tuple[SampleDesign, Places]:
    """How the rows of tables together were drawn, and where the units of each are."""
    if all(drawn.kind == "rows" for drawn in several):
        return PIXELS if any(drawn.pixels for drawn in several) else ROWS, {}
    kinds = list(dict.fromkeys(drawn.kind for drawn in several))
    if len(kinds) > 1:
        a, b = (next(drawn.manner for drawn in several if drawn.kind == kind) for kind in kinds[:2])
        value = next(drawn for drawn in several if drawn.kind != "rows").parameter
        hint = "tabulate all with the same `design` and `cluster`."
        if "pairs" in kinds:
            hint = "score them separately."
        elif "rows" in kinds:
            hint = f"tabulate all with {value}, or none."
        raise InputError(f"the rows of one table are {a}, those of another {b}; they cannot be merged.", hint)
    first = several[0]
    if first.kind == "replicates":
        return _same_replicates(several), {}
    if first.kind not in ("clusters", "strata"):
        return first, {}
    _check_alike([drawn.design for drawn in several if drawn.design is not None])
    check_kinds([drawn.units for drawn in several], (), "clusters" if first.clusters else "strata")
    keys = list(dict.fromkeys(drawn.units for drawn in several))
    names, at = merged_keys(keys)
    axis = first.axes[-1]
    places: Places = {(axis, units): place for units, place in zip(keys, at, strict=True)}
    if first.design is None and not first.rows:
        merged = SampleDesign("clusters", names, whole=all(drawn.whole for drawn in several))
        return merged, {} if len(keys) == 1 else places
    where = np.concatenate([places[axis, drawn.units] for drawn in several])
    counts = np.array([n for drawn in several for n in drawn.rows], dtype=np.int64)
    rows = tuple(added_by_code(where, counts, len(names)).tolist())
    if first.design is None:
        return SampleDesign("clusters", names, rows, whole=all(drawn.whole for drawn in several)), places
    design, more = _merged_design(several, len(names), places)
    merged = SampleDesign("strata", names, rows, design)
    check_sizes(merged)
    return merged, {**places, **more}


def _same_replicates(several: Sequence[SampleDesign]) -> SampleDesign:
    other = next((drawn for drawn in several if drawn != several[0]), None)
    if other is None:
        return several[0]
    both = a, b = [drawn.replicates for drawn in (several[0], other) if drawn.replicates is not None]
    names = [f"{counted(len(x.scales), 'replicate')} by {x.method!r}" for x in both]
    if names[0] == names[1]:
        word = "scales" if a.scales != b.scales else "df"
        names = [f"{name} with `{word}` {getattr(x, word)!r:.60}" for name, x in zip(names, both, strict=True)]
    raise cannot_merge(f"one table has {names[0]}, another {names[1]}", "the same `wmcc.Replicates`")


def _check_alike(designs: Sequence[StratifiedDesign]) -> None:
    """Refuse designs of different kinds, and tables of groups."""
    if any(design.domain for design in designs):
        raise InputError(
            "a table of one group of rows keeps the design of the whole sample; such tables cannot be merged.",
            "take tables.total(), or tables.select(keys).total() for some of the groups.",
        )
    for field, word in (("nested", "cluster"), ("weighting", "population"), ("lonely", "lonely")):
        values = list(dict.fromkeys(getattr(design, field) for design in designs))
        if len(values) > 1:
            by_what = "`cluster`" if word == "cluster" else "`wmcc.Strata`"
            raise cannot_merge(f"the tables were tabulated with different `{word}`", f"the same {by_what}")


def _merged_design(several: Sequence[SampleDesign], units: int, places: Places) -> tuple[StratifiedDesign, Places]:
    designs = [drawn.design for drawn in several if drawn.design is not None]
    first = designs[0]
    strata, at = merged_keys([design.strata for design in designs])
    of = np.zeros(units, dtype=np.int64)
    axis = several[0].axes[-1]
    for drawn, design, place in zip(several, designs, at, strict=True):
        of[places[axis, drawn.units]] = place[list(design.of)] if design.of else []
    population = _merged_sizes([design.population for design in designs], at, strata, "population")
    fpc = _merged_sizes([design.fpc for design in designs], at, strata, "fpc")
    post, more = _merged_poststrata([design.poststrata for design in designs])
    units_of = tuple(of.tolist())
    return first._replace(strata=strata, of=units_of, population=population, fpc=fpc, poststrata=post), more


def _merged_sizes(
    several: Sequence[tuple[float, ...] | None], at: Sequence[IndexArray], strata: tuple[Key, ...], word: str
) -> tuple[float, ...] | None:
    """Sizes of the strata of all; those that are named twice must be the same."""
    if all(sizes is None for sizes in several):
        return None
    by_what = "`wmcc.PostStrata`" if word == "totals" else "`wmcc.Strata`"
    known: dict[int, float] = {}
    for sizes, place in zip(several, at, strict=True):
        if sizes is None:
            raise cannot_merge(f"one table was tabulated with `{word}`, another without", f"the same {by_what}")
        for k, size in zip(place.tolist(), sizes, strict=True):
            if word == "fpc" and known.get(k) == 0:
                known[k] = size  # a column has none where no row is
            elif known.setdefault(k, size) != size and not (word == "fpc" and size == 0):
                where = f"stratum {name_strata([strata[k]])}"
                why = f"{where} has size {known[k]!r} in one table and {size!r} in another"
                raise cannot_merge(why, f"the same {by_what}")
    return tuple(known[k] for k in range(len(strata)))


def _merged_poststrata(several: Sequence[PoststratumTotals | None]) -> tuple[PoststratumTotals | None, Places]:
    given = [x for x in several if x is not None]
    if not given:
        return None, {}
    if len(given) < len(several):
        raise cannot_merge(
            "one table was tabulated with `wmcc.PostStrata`, another without", "the same `wmcc.PostStrata`"
        )
    keys = [x.keys for x in given]
    names, at = merged_keys(keys)
    totals = _merged_sizes([x.totals for x in given], at, names, "totals")
    assert totals is not None
    weights = [Fraction(0)] * len(names)
    for x, place in zip(given, at, strict=True):
        for k, weight in zip(place.tolist(), x.weights, strict=True):
            weights[k] += weight
    places: Places = {("poststratum", own): place for own, place in zip(keys, at, strict=True)}
    return PoststratumTotals(names, totals, tuple(weights)), places


def check_sizes(drawn: SampleDesign) -> None:
    """Refuse strata that are smaller than their sample."""
    design = drawn.design
    if design is None:
        return
    if design.population is not None and design.weighting:
        of_strata = zip(design.strata, design.population, drawn.rows_of_strata, strict=True)
        _check_not_empty("population", "stratum", "strata", [key for key, size, n in of_strata if size == 0 and n])
    if design.poststrata is not None:
        empty = [key for key, total, w in zip(*design.poststrata, strict=True) if total == 0 and w]
        _check_not_empty("totals", "post-stratum", "post-strata", empty)
    if design.fpc is None:
        return
    for size, units, key in zip(design.fpc, drawn.sampled, design.strata, strict=True):
        if size < units:
            what = "cluster" if design.nested else "row"
            where = "the population" if key == () else f"stratum {name_strata([key])}"
            rather = ", not the sampled fraction" if 0 < size < 1 else "; for sizes that are areas leave out `fpc`"
            raise InputError(
                f"{where} has {counted(units, f'sampled {what}')} and a size of {size:,.12g}; "
                "a population cannot be smaller than its sample.",
                f"give the number of {what}s that it has{rather}.",
            )


def _check_not_empty(word: str, one: str, many: str, nothing: Sequence[Key]) -> None:
    """Refuse strata, or post-strata, that have rows and a size of 0."""
    if nothing:
        which = many if len(nothing) > 1 else one
        raise InputError(
            f"`{word}` of {which} {name_strata(nothing)} is 0, and rows were sampled there.",
            f"give the {'total' if word == 'totals' else 'size'} that it has, or leave these rows out.",
            word,
        )


TO_COME = "if parts of the sample are still to come, add them first"
"""What to do about a table whose strata have no rows yet."""


def unsampled(drawn: SampleDesign, in_parts: str = TO_COME) -> InputError | None:
    """Say so if strata or post-strata of known size have no row in the sample; None if all have.

    ``in_parts`` says what to do if the rows are a part of the sample.
    """
    design = drawn.design
    if design is None:
        return None
    sizes, word = (design.fpc, "fpc") if design.population is None else (design.population, "population")
    lost: list[tuple[Key, float]] = []
    if sizes is not None:
        rows = zip(design.strata, sizes, drawn.rows_of_strata, strict=True)
        lost = [(key, size) for key, size, own in rows if own == 0 and size > 0]
    one, many, what, lacking = "stratum", "strata", "size", "sampled row"
    if not lost and design.poststrata is not None:
        lost = [(key, total) for key, total, w in zip(*design.poststrata, strict=True) if w == 0 and total > 0]
        one, many, what, lacking, word = "post-stratum", "post-strata", "total", "weight in the sample", "totals"
    if not lost:
        return None
    are, it, other, it_is = f"1 {one} has", "it", f"another {one}", "it is"
    if len(lost) > 1:
        are, it, other, it_is = f"{len(lost):,} {many} have", "them", f"other {many}", "they are"
    named = name_strata([key for key, _ in lost], [f"{what} {number:,.12g}" for _, number in lost])
    return InputError(
        f"{are} a {what} but no {lacking}: {named}.",
        f"sample {it}, merge {it} with {other}, or leave {it} out of `{word}` if {it_is} not part of the target; "
        f"{in_parts}.",
        word,
    )


def check_sampled(drawn: SampleDesign, in_parts: str = TO_COME) -> None:
    """Refuse strata or post-strata of known size that have no row in the sample."""
    error = unsampled(drawn, in_parts)
    if error is not None:
        raise error
