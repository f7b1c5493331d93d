"""`wmcc.map_accuracy`: how right a map is, and how large its classes are, from a sample with reference labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from math import floor, log10, nan
from typing import Any, ClassVar, NamedTuple, TypedDict

import numpy as np

from ..core.arraytypes import FloatArray, IntArray
from ..core.design import SampleDesign
from ..core.labels import Label, listed
from ..core.table import Table, Tabulated, check_matrix, one_table
from ..errors import InputError, InputTypeError
from ..inference.classes import class_intervals, domain_intervals
from ..inference.estimate import Interval, estimate, value_or_problem
from ..inference.influence import Sample, dense_shares
from ..measures import MEASURES
from ..measures.base import check_scorable, for_tabulated
from ..measures.checks import checked_level, checked_number
from ..present.blocks import Block
from ..present.json_csv import Record, finite, plain
from ..present.result import Delegate, Result
from ..present.sheets import COUNT, SCORE, SHARE, TEXT, Grid, Sheet, decimals_form
from ..present.text import counted, decimal, heaviest, left_out, number, percent
from .disagreement import disagreements, linear_interval, standard_error
from .estimates import CLASSIFIER_NAMES, TITLES, Estimate, share_interval

OVERALL = ("overall_accuracy", "mcc", "ecc", "mpc1", "mpc2", "kappa")
"""Measures of the whole map; MCC is for two classes."""

LIKE_MCC = ("ecc", "mpc1", "mpc2")
"""Measures that are equal to MCC for two classes."""

OF_CLASS = {name: CLASSIFIER_NAMES.get(name, name) for name in ("users_accuracy", "producers_accuracy", "f1")}
"""Accuracies of a class, and what classifiers call them."""

SQUARE = 20
"""Classes of the largest error matrix that is shown."""

SHOWN = 50
"""Classes that are shown."""

AREA_ROUNDED = 1e-9
"""Share of the area that may be missing by rounding."""


class MapClass(NamedTuple):
    """One class of a map.

    Parameters
    ----------
    label
        The class.
    n_map, n_reference
        How many sampled rows are mapped as this class, and how many have it as their reference.
    mapped_area, mapped_area_se
        Area that is mapped as this class. Its standard error is 0 where the design fixes it: where the strata are the
        classes of the map. Elsewhere the mapped area is estimated from the sample, like all others.
    users_accuracy, producers_accuracy, f1
        Share of what is mapped as this class that is this class (precision); share of this class that is mapped as it
        (recall); their harmonic mean.
    area, area_share
        Area that the class really has, estimated from the reference labels, and the same as a share of the whole.
    """

    label: Label
    n_map: int
    n_reference: int
    mapped_area: float
    mapped_area_se: float
    users_accuracy: Estimate
    producers_accuracy: Estimate
    f1: Estimate
    area: Estimate
    area_share: Estimate


class ErrorMatrices(TypedDict):
    """Both error matrices, with a row per label of the map and a column per reference class."""

    map: list[Label]
    reference: list[Label]
    counts: list[list[int]]
    area_shares: list[list[float]]


@dataclass(frozen=True, repr=False)
class MapAccuracy(Result):
    """What `wmcc.map_accuracy` returns; ``found["forest"]`` is what is known of one class.

    Parameters
    ----------
    table
        The table that everything is computed from.
    pixel_area, unit
        The area that a weight of 1 stands for, and the unit of areas, as they were given.
    confidence_level
        Of the intervals.
    """

    table: Table
    pixel_area: float = 1.0
    unit: str | None = None
    confidence_level: float = 0.95

    _kind = "map accuracy"
    _stored = (
        "n", "ignored", "total_area", "unit", "design", "confidence_level", "overall", "disagreement", "classes",
        "matrix", "warnings", "problem",
    )  # fmt: skip

    n: ClassVar[Delegate[int]] = Delegate("table.rows", "How many rows were sampled and have a reference label.")
    ignored: ClassVar[Delegate[int]] = Delegate("table.ignored", "How many rows were left out.")

    @property
    def total_area(self) -> float:
        """Area of the map: that of all strata, or what the weights add up to."""
        return self.table.total * self.pixel_area

    @cached_property
    def _sample(self) -> Sample[Table]:
        return Sample.of(self.table)

    @property
    def counted(self) -> bool:
        """Whether map and reference were compared wall to wall: then areas are counted, and have no sampling error.

        Without clusters nothing has one. Of clusters, such as blocks of pixels, the intervals of accuracies say how far
        these would differ on other land like this.
        """
        return self.table.drawn.wall_to_wall

    @property
    def _exact(self) -> bool:
        """Whether no number has a sampling error."""
        return self.table.drawn.pixels

    def _estimate(self, found: Interval, name: str, label: Label | None = None) -> Estimate:
        """Make an accuracy or a share of an interval; one that is undefined stays so."""
        made = Estimate.of(found, name, label)
        return made.counted() if self._exact and not made.problem else made

    @cached_property
    def _has_errors(self) -> bool:
        """Whether sampling errors are known."""
        return value_or_problem(MEASURES["accuracy"], self._sample)[1] is None

    # ---- estimates ------------------------------------------------------------------------------------

    @cached_property
    def overall(self) -> dict[str, Estimate]:
        """Overall accuracy, the correlations and kappa, by name."""
        found = {name: MEASURES[CLASSIFIER_NAMES.get(name, name)] for name in OVERALL}
        return {
            name: self._estimate(estimate(self._sample, measure, self.confidence_level), name)
            for name, measure in found.items()
            if measure.fits(self.table)
        }

    @property
    def overall_accuracy(self) -> Estimate:
        """Share of the area that is mapped right."""
        return self.overall["overall_accuracy"]

    @cached_property
    def disagreement(self) -> dict[str, Estimate]:
        """Quantity and allocation disagreement, and the parts of the latter, exchange and shift, by name."""
        found = disagreements(self._sample, self.confidence_level)
        made = {name: Estimate.of(own, name) for name, own in found.items()}
        return {name: x.counted() for name, x in made.items()} if self.counted else made

    @cached_property
    def classes(self) -> tuple[MapClass, ...]:
        """The classes in the order of the table, those that only the map or only the reference has included."""
        table, area, level, by_design = self.table, self.total_area, self.confidence_level, self._sample.by_design
        of_all = {} if by_design else class_intervals(self._sample, level)
        counts = zip(table.classes, table.pred_counts.tolist(), table.true_counts.tolist(), strict=False)  # void last
        out = []
        for k, (label, n_map, n_reference) in enumerate(counts):
            two = Sample.of(table.against_rest(label))
            own = {name: x[k] for name, x in of_all.items()}
            if by_design:
                own = domain_intervals(two, label, level, OF_CLASS.values())
            users, producers, f1 = (self._estimate(own[name], title, label) for title, name in OF_CLASS.items())
            found = share_interval(two, level)
            share, size = self._estimate(found, "area_share", label), self._part_of_whole(k) or found
            scale = area if size is found else self._whole_area
            size = Estimate.of(size, "area", label, scale, self.unit)
            size = size.counted() if self.counted else size
            out.append(MapClass(label, n_map, n_reference, *self._mapped(k), users, producers, f1, size, share))
        return tuple(out)

    @property
    def _whole_area(self) -> float:
        """Area of all strata, of which this table may have a part; NaN if their sizes are not what rows weigh."""
        design = self.table.drawn.design
        if design is None or not design.weighting or design.population is None:
            return nan
        return self.pixel_area * sum(design.population)

    @property
    def _is_part(self) -> bool:
        """Whether the table has a part of the strata, so that its own area is an estimate too."""
        return self.total_area < self._whole_area * (1 - AREA_ROUNDED)

    def _part_of_whole(self, k: int) -> Interval | None:
        """Area of a class as a share of all strata, where the table has a part of them; None if it has all."""
        if not (self._is_part and self._has_errors):
            return None
        cells, part = self._sample.cells, self.total_area / self._whole_area
        own = (cells.codes[0] == k).astype(float)
        found = linear_interval(self._sample, "area", own * part, float(own @ cells.w) * part, self.confidence_level)
        return None if found.problem else found

    def _mapped(self, k: int) -> tuple[float, float]:
        """Area that is mapped as a class, and its standard error."""
        cells = self._sample.cells
        own = (cells.codes[1] == k).astype(float)
        if self.counted:
            return float(own @ cells.w) * self.total_area, 0.0
        se = standard_error(self._sample, own) if self._has_errors else nan
        return float(own @ cells.w) * self.total_area, se * self.total_area

    def __getitem__(self, label: Label) -> MapClass:
        if label in self.table.classes:
            return self.classes[self.table.classes.index(label)]
        raise InputError(f"there is no class {label!r}; the classes are {listed(self.table.classes)}.")

    __iter__ = None  # or else Python would try found[0], found[1] …

    def _estimates(self) -> Iterator[Estimate]:
        yield from self.overall.values()
        yield from self.disagreement.values()
        for c in self.classes:
            yield from (x for x in c if isinstance(x, Estimate))

    # ---- error matrices ------------------------------------------------------------------------------------

    @property
    def counts(self) -> IntArray:
        """The error matrix as numbers of sampled rows: a row per class of the map, a column per reference class.

        Void labels, which are no classes, have rows at the end: parts of the map without a class.
        """
        return self.table.n.T[:, : len(self.table.classes)]

    @property
    def area_shares(self) -> FloatArray:
        """The error matrix as estimated shares of the area, in the same order; they add up to 1."""
        check_matrix(len(self.table.labels), "merge classes first: table.merge_classes.")
        return dense_shares(self.table).T[:, : len(self.table.classes)]

    @property
    def matrix(self) -> ErrorMatrices | None:
        """Both error matrices, and the labels of their rows and columns; None for many classes."""
        if len(self.table.labels) > SQUARE:
            return None
        return {
            "map": list(self.table.labels),
            "reference": list(self.table.classes),
            "counts": plain(self.counts),
            "area_shares": plain(self.area_shares),
        }

    # ---- what to know ------------------------------------------------------------------------------------

    @property
    def design(self) -> str:
        """How the sample was drawn, as far as the table knows, in a sentence: all standard errors rest on it."""
        return said_design(self.table.drawn, self.table.rows)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why intervals may be off or are missing, a sentence for each reason, with what it is about."""
        about: dict[str, dict[str, list[str]]] = {}
        for x in self._estimates():
            if x.measure == "area_share":  # the area is the same
                continue
            for why in (*x.warnings, *((x.problem,) if x.problem else ())):
                about.setdefault(why, {}).setdefault(x.measure, []).append("" if x.label is None else str(x.label))
        classes, of_all = list(map(str, self.table.classes)), self._sample.doubts
        return tuple(
            f"{_about_all(own, classes) if why not in of_all else 'Intervals'}: {why}." for why, own in about.items()
        )

    @property
    def problem(self) -> str | None:
        """Why there is no interval at all; None if there is one."""
        known = [x.problem for x in self.overall.values()]
        return known[0] if all(known) else None

    @property
    def notes(self) -> list[str]:
        """The design, what areas are, and what to know before relying on the numbers."""
        said = [self.design]
        said += self._of_whole_map
        drawn = self.table.drawn
        if self.areas_are_counts:
            said.append(
                "All pixels weigh 1, so areas are numbers of pixels. For areas, give `pixel_area`, or tabulate rasters "
                "with the weight 'area'."
                if self.counted
                else "All rows weigh 1, so areas are numbers of rows. For areas, tabulate with the sizes of strata: "
                "`design=wmcc.Strata(…, population=sizes)`, or --stratum and --population."
            )
        if any(c.mapped_area_se > 0 for c in self.classes):
            most = max(self.classes, key=lambda c: c.mapped_area_se)
            said.append(
                f"Mapped areas are estimated from the sample (standard error up to {number(most.mapped_area_se, 3)}, "
                f"of {most.label}), since the design does not fix them."
            )
        if self._is_part:
            part, whole = self._area(self.total_area), self._area(self._whole_area)
            said.append(
                f"These rows are a part of the sample, and stand for {part} of {whole}. The area of the part is an "
                "estimate too, and the standard errors of areas allow for it."
            )
        elif self.ignored and not self.counted:
            were = "row without a reference label was" if self.ignored == 1 else "rows without a reference label were"
            weighting = drawn.design is not None and drawn.design.weighting
            rest = (
                "Where the label was missing, the other rows of the stratum stand for it; where `ignore` named it, "
                "nothing does."
                if weighting
                else "Nothing stands for them: the total is that of the others."
            )
            said.append(f"{self.ignored:,} {were} left out. {rest}")
        return [*said, *(f"* {why}" for why in self.warnings)]

    @property
    def areas_are_counts(self) -> bool:
        """Whether areas are numbers of rows, or of pixels, since nothing else is known."""
        sums, drawn = self.table.cells.sums, self.table.drawn
        unsized = drawn.kind == "rows" or (drawn.design is not None and drawn.design.population is None)
        return bool(self.pixel_area == 1 and unsized and sums.w_min.min() == sums.w_max.max() == 1)

    @property
    def _of_whole_map(self) -> list[str]:
        """Say of a whole map what is counted, and what intervals are about, if there are any."""
        if not self.counted:
            return []
        said = [
            "No number here has a sampling error. For how far the accuracy would differ on other land like this, "
            "tabulate with `cluster=wmcc.Blocks(64)`, or --blocks 64."
            if self._exact
            else "Areas and disagreements are counted, and have no sampling error. The intervals of accuracies say how "
            "far these would differ on other land like this, if its blocks or parcels were as different from each "
            "other as these."
        ]
        if self.ignored:
            were = "place without a reference label is" if self.ignored == 1 else "places without a reference label are"
            said.append(
                f"{self.ignored:,} {were} left out, and not in the areas. If only a sample has reference labels, "
                "tabulate its rows as a table, with `design=wmcc.Strata(…)`."
            )
        return said

    @property
    def _in_unit(self) -> str:
        return f" in {self.unit}" if self.unit else ""

    def _area(self, x: float) -> str:
        return number(x) + (f" {self.unit}" if self.unit else "")

    # ---- showing ------------------------------------------------------------------------------------

    @property
    def level(self) -> str:
        """What intervals are called."""
        return f"{number(100 * self.confidence_level)} % interval"

    def blocks(self) -> list[Block]:
        """Return the whole map, its classes, their areas, and both error matrices with the map in rows."""
        notes = Block(notes=[*left_out(SHOWN, len(self.classes), "classes"), *self.notes])
        return [self._whole(), *self.class_blocks(), *self.matrix_blocks(), notes]

    def class_blocks(self) -> list[Block]:
        """Return the accuracies of the classes, and their areas."""
        return [self._accuracies(), self._areas()]

    def _whole(self) -> Block:
        rows = [[TITLES[name], *self._cells(x)] for name, x in self._of_whole().items()]
        title = f"Map accuracy: {counted(self.n, 'row')}{self.table.drawn.said}, area {self._area(self.total_area)}"
        two = "mcc" in self.overall and len(self.table.labels) == 2
        notes = ["With two classes ECC, MPC1 and MPC2 are equal to MCC."] if two else []
        return Block(title, ["Measure", "Value", *self._of_sampling], rows, notes)

    @property
    def _of_sampling(self) -> list[str]:
        """Heads of columns that say how far a number may be off."""
        return [] if self._exact else ["SE", self.level]

    def _cells(self, x: Estimate) -> list[str]:
        """Return a number, and how far it may be off."""
        if self._exact:
            return [decimal(x.value) + " *" * bool(x.problem)]
        return [decimal(x.value), *(("—", "—") if x.known else (decimal(x.se), x.ends))]

    def _of_whole(self) -> dict[str, Estimate]:
        """What is shown of the whole map: of those that are equal for two classes, one stands for all."""
        left = LIKE_MCC if "mcc" in self.overall else ()
        return {name: x for name, x in (self.overall | self.disagreement).items() if name not in left}

    @property
    def shown(self) -> list[MapClass]:
        """The classes that are shown: of many, the largest."""
        sizes = [c.area.value + c.mapped_area for c in self.classes]
        return [self.classes[k] for k in heaviest(sizes, SHOWN)]

    def _accuracies(self) -> Block:
        more = self._of_sampling
        head = ["Class", "User's", *more, "Producer's", *more, "F1", *more[:1]]
        rows = []
        for c in self.shown:
            users, producers, f1 = map(self._cells, (c.users_accuracy, c.producers_accuracy, c.f1))
            rows.append([str(c.label), *users, *producers, *f1[:2]])
        return Block("Accuracy of each class", head, rows)

    def _areas(self) -> Block:
        if self.counted:
            return self._counted_areas()
        head, rows = ["Class", "Mapped", "Estimated", "SE", self.level, "Margin", "Share"], []
        text = self.area_text
        for c in self.shown:
            x = c.area
            ends = x.ends if x.problem else f"{text(x.low)} to {text(x.high)}" + " *" * bool(x.warnings)
            numbers = text(c.mapped_area), text(x.value), text(x.se), ends, text(x.margin)
            rows.append([str(c.label), *numbers, percent(c.area_share.value)])
        return Block(f"Area of each class{self._in_unit}", head, rows)

    def _counted_areas(self) -> Block:
        sizes = [(str(c.label), c.mapped_area, c.area.value, c.area_share.value) for c in self.shown]
        text = self.area_text
        rows = [[label, text(a), text(b), text(a - b), percent(share)] for label, a, b, share in sizes]
        head = ["Class", "Mapped", "Reference", "Mapped less reference", "Share"]
        return Block(f"Area of each class{self._in_unit}", head, rows)

    @property
    def area_text(self) -> Callable[[float], str]:
        """What writes areas of classes, all with as many decimals."""
        if self.counted:
            return _five_digits([x for c in self.shown for x in (c.mapped_area, c.area.value)])
        return _same_decimals([c.area.se for c in self.shown])

    def matrix_blocks(self) -> list[Block]:
        """Return the error matrices, of sampled rows and of shares of the area; none for many classes."""
        if len(self.table.labels) > SQUARE:
            return []
        return [
            self._matrix(f"Error matrix, {self._sampled}", self.counts, lambda x: f"{int(x):,}"),
            self._matrix("Error matrix, shares of the area", self.area_shares, decimal),
        ]

    @property
    def _sampled(self) -> str:
        """What the rows are."""
        return "sampled rows" if not self.counted else "pixels" if self._exact else "rows"

    def _matrix(self, title: str, cells: Any, text: Any) -> Block:
        names, classes = list(map(str, self.table.labels)), list(map(str, self.table.classes))
        whole = _with_totals(cells).tolist()
        rows = [[name, *map(text, own)] for name, own in zip([*names, "Total"], whole, strict=True)]
        styles = {(k, k + 1): "right" for k in range(len(classes))}
        styles |= {(i, j + 1): "nothing" for i, own in enumerate(cells.tolist()) for j, x in enumerate(own) if x == 0}
        return Block(title, ["map \\ reference", *classes, "Total"], rows, styles=styles)

    def lines(self) -> list[Block]:
        """Return the whole map in a line, and the area of each class in another."""
        shown = self._of_whole()
        titles = [TITLES[name] for name in shown]
        values = [*(decimal(x.value) for x in shown.values()), f"{self.n:,}", number(self.total_area)]
        text = self.area_text
        areas = {f"{c.label} ± SE": f"{text(c.area.value)} ± {text(c.area.se)}" for c in self.shown}
        title = f"Estimated areas{self._in_unit}"
        if self.counted:
            areas = {str(c.label): text(c.area.value) for c in self.shown}
            title = f"Areas of the reference{self._in_unit}"
        made = [
            Block(
                "Map accuracy",
                [*titles, "Rows", "Area"],
                [values],
                [self.design, *self._of_whole_map, *(f"* {why}" for why in self.warnings)],
                0,
            ),
            Block(title, list(areas), [list(areas.values())], texts=0),
        ]
        if not self._exact:
            made.insert(1, Block(f"{self.level}s", titles, [[x.ends for x in shown.values()]], texts=0))
        return made

    def sheets(self) -> list[Sheet]:
        """Return estimates, areas, error matrices and settings, each on a sheet of its own."""
        matrices = [Sheet("Error matrix", self._matrix_grids())] if len(self.table.labels) <= SQUARE else []
        return [
            Sheet("Estimates", [self._estimate_grid()]),
            Sheet("Areas", [self._area_grid()]),
            *matrices,
            Sheet("Settings", [self._settings_grid()]),
        ]

    def _estimate_grid(self) -> Grid:
        level = self.level
        head = [
            "Measure",
            "Class",
            "Value",
            "SE",
            f"{level}, low",
            f"{level}, high",
            "Margin",
            "Rows",
            "Status",
            "Note",
        ]
        rows = []
        for x in self._estimates():
            if x.measure not in ("area", "area_share"):
                label = None if x.label is None else str(x.label)
                note = "; ".join((*x.warnings, *((x.problem,) if x.problem else ()))) or None
                ends = [None] * 4 if x.known else [x.se, x.low, x.high, x.margin]
                rows.append([TITLES[x.measure], label, x.value, *ends, x.n, x.status, note])
        return Grid(head, rows, [TEXT, TEXT, *[SCORE] * 5, COUNT, TEXT, TEXT])

    def _area_grid(self) -> Grid:
        unit = f" ({self.unit})" if self.unit else ""
        form = decimals_form(len(self.area_text(1.0).partition(".")[2]))
        if self.counted:
            head = ["Class", *(f"{x}{unit}" for x in ("Mapped", "Reference", "Mapped less reference")), "Share"]
            found = [(str(c.label), c.mapped_area, c.area.value, c.area_share.value) for c in self.classes]
            rows = [[label, a, b, a - b, share] for label, a, b, share in found]
            return Grid(head, rows, [TEXT, *[form] * 3, SHARE])
        columns = "Mapped", "SE of mapped", "Estimated", "SE", f"{self.level}, low", f"{self.level}, high", "Margin"
        rows = []
        for c in self.classes:
            x = c.area
            numbers = c.mapped_area, c.mapped_area_se, x.value, x.se, x.low, x.high, x.margin
            rows.append([str(c.label), *numbers, c.area_share.value, c.area_share.se, x.status])
        head = ["Class", *(f"{name}{unit}" for name in columns), "Share", "SE of the share", "Status"]
        return Grid(head, rows, [TEXT, *[form] * len(columns), SHARE, SHARE, TEXT])

    def _matrix_grids(self) -> list[Grid]:
        labels, classes = list(map(str, self.table.labels)), list(map(str, self.table.classes))
        grids = []
        for title, cells, form in (
            (f"Numbers of {self._sampled}", self.counts, COUNT),
            ("Shares of the area", self.area_shares, SCORE),
        ):
            rows = [[name, *own] for name, own in zip([*labels, "Total"], _with_totals(cells).tolist(), strict=True)]
            head = ["map \\ reference", *classes, "Total"]
            grids.append(Grid(head, rows, [TEXT, *[form] * (len(head) - 1)], title))
        return grids

    def _settings_grid(self) -> Grid:
        known: dict[str, Any] = {
            "Design": self.design,
            "Rows": self.n,
            "Rows without a reference label": self.ignored,
            f"Total area{f' ({self.unit})' if self.unit else ''}": self.total_area,
            "Area of a weight of 1": self.pixel_area,
            "Unit of areas": self.unit,
            "Confidence level": self.confidence_level,
            "Made with": f"wmcc {version('wmcc')}",
        }
        notes = [("Note", x.removeprefix("* ")) for x in self.notes[1:]]
        return Grid(["Setting", "Value"], [*map(list, known.items()), *map(list, notes)], [TEXT, "General"])

    def records(self) -> list[Record]:
        """Return a row for each number of the map and of each class, mapped areas included."""
        rows: list[Record] = []
        for x in self._estimates():
            row: Record = {"scope": "all" if x.label is None else "class", "class": x.label, "measure": x.measure}
            row |= {name: finite(getattr(x, name)) for name in ("value", "se", "low", "high", "margin", "df")}
            row |= {"unit": x.unit, "n": x.n, "confidence_level": x.confidence_level, "status": x.status}
            rows.append(row | {"warnings": "; ".join(x.warnings) or None, "problem": x.problem})
            if x.measure == "area":
                c = self[x.label]  # type: ignore[index]
                known = {"measure": "mapped_area", "value": c.mapped_area, "se": finite(c.mapped_area_se), "n": c.n_map}
                rows.append({**dict.fromkeys(row), "scope": "class", "class": x.label, **known, "unit": x.unit})
        return rows


def _with_totals(cells: Any) -> Any:
    """Return a matrix with its sums."""
    whole = np.vstack([cells, cells.sum(axis=0)])
    return np.hstack([whole, whole.sum(axis=1, keepdims=True)])


def _same_decimals(errors: Sequence[float]) -> Callable[[float], str]:
    """Return what writes areas with as many decimals as show three digits of the smallest standard error."""
    known = [x for x in errors if x > 0]
    least = min(known, default=0.0)
    if not 1e-4 < least < 1e9:
        return number
    places = max(0, 2 - floor(log10(least)))
    return lambda x: "—" if x != x else f"{x:,.{places}f}"


def _five_digits(sizes: Sequence[float]) -> Callable[[float], str]:
    """Return what writes areas with as many decimals as show five digits of the largest."""
    largest = max(sizes, default=0.0)
    if not 1e-4 < largest < 1e9:
        return number
    whole = all(abs(x - round(x)) <= AREA_ROUNDED * largest for x in sizes)
    places = 0 if whole else max(0, 4 - floor(log10(largest)))
    return lambda x: f"{x:,.{places}f}"


def _about(measure: str, labels: Sequence[str], classes: Sequence[str]) -> str:
    if labels == [""]:
        return TITLES[measure]
    return f"{TITLES[measure]} of {'all classes' if labels == classes else ', '.join(labels)}"


def _about_all(found: Mapping[str, Sequence[str]], classes: Sequence[str]) -> str:
    return "; ".join(_about(measure, of, classes) for measure, of in found.items())


def said_design(drawn: SampleDesign, rows: int) -> str:
    """Say in a sentence how the rows were drawn, and what their standard errors therefore are."""
    design = drawn.design
    if drawn.kind == "pairs":
        return "Design: none; the weights are a matrix over pairs of rows."
    if drawn.replicates is not None:
        count = counted(len(drawn.replicates.scales), "replicate weight")
        return f"Design: {count}, method {drawn.replicates.method!r}."
    if drawn.wall_to_wall:
        what = counted(rows, "pixel") if drawn.pixels else counted(rows, "row") + drawn.said
        return f"Design: none; map and reference were compared wall to wall, in {what}."
    if design is None:
        what = counted(len(drawn.units), "cluster") if drawn.kind == "clusters" else counted(rows, "row")
        how = "tabulate with `design=wmcc.Strata(…)`, or --stratum"
        return f"Design: {what} drawn independently. If they were drawn in strata, {how}."
    units = counted(len(drawn.units), "cluster") if design.nested else counted(sum(drawn.rows), "row")
    strata = (
        "from the whole map" if design.strata == ((),) else f"in {counted(len(design.strata), 'stratum', 'strata')}"
    )
    said = [f"{units} drawn {strata}"]
    if design.weighting:
        said.append("each row stands for the size of its stratum divided by the rows drawn there")
    said.append("without finite-population correction" if design.fpc is None else "with finite-population correction")
    if design.poststrata is not None:
        said.append(
            f"weights scaled to the totals of {counted(len(design.poststrata.keys), 'post-stratum', 'post-strata')}"
        )
    return f"Design: {'; '.join(said)}."


@for_tabulated()
def map_accuracy(
    table: Tabulated, *, pixel_area: float = 1.0, unit: str | None = None, confidence_level: float = 0.95
) -> MapAccuracy:
    """Estimate how accurate a map is and how large its classes are, from a sample with reference labels.

    Parameters
    ----------
    table
        A `wmcc.Table` with the reference as truth and the map as prediction. For a stratified sample give
        `wmcc.tabulate` the column of strata and their sizes in `wmcc.Strata`: rows get their weights from them, and all
        standard errors follow the design.
    pixel_area
        The area that one unit of the sizes or weights stands for: 0.09 for sizes in pixels of 30 m and areas in
        hectares.
    unit
        The unit of areas, to be written beside them.
    confidence_level
        As in `wmcc.interval`.

    Returns
    -------
    MapAccuracy
        Overall accuracy and the correlations; user's and producer's accuracy of each class; its area, which is the area
        of the map times the share that the *reference* gives it, not the area that is mapped; quantity and allocation
        disagreement, exchange and shift; and the error matrix with the map in rows. All have standard errors.

    Examples
    --------
    The sample of Olofsson et al. (2014), Remote Sensing of Environment 148, Table 8:

    >>> import wmcc
    >>> counts = [[66, 0, 1, 2], [0, 55, 0, 1], [5, 8, 153, 9], [4, 12, 11, 313]]  # rows: reference, columns: map
    >>> pixels = {"deforestation": 200_000, "forest gain": 150_000, "forest": 3_200_000, "non-forest": 6_450_000}
    >>> table = wmcc.Table.from_counts(counts, list(pixels), population=pixels)
    >>> found = wmcc.map_accuracy(table, pixel_area=0.09, unit="ha")
    >>> accuracy, area = found.overall_accuracy, found["forest"].area
    >>> round(accuracy.value, 4), round(accuracy.se, 4)
    (0.9465, 0.0094)
    >>> round(area.value), round(area.se)
    (285770, 7913)
    >>> round(found["forest"].producers_accuracy.value, 4)
    0.9345

    Rows of a frame with a reference label, a mapped label and the stratum they were drawn in::

        table = wmcc.tabulate(frame, true="reference", pred="map", design=wmcc.Strata("stratum", population=pixels))
        wmcc.map_accuracy(table, pixel_area=0.09, unit="ha")
    """
    found = one_table(table)
    check_scorable(found)
    return MapAccuracy(found, checked_area(pixel_area, unit), unit, checked_level(confidence_level))


def checked_area(pixel_area: float, unit: str | None) -> float:
    """Return the area of a pixel, if it and the unit make sense."""
    area = checked_number(pixel_area, "pixel_area", lambda x: x > 0, "a number above 0: the area of a weight of 1")
    if not isinstance(unit, str | None):
        raise InputTypeError(f"`unit` is a {type(unit).__name__}; expected a text, such as 'ha'.", argument="unit")
    return area
