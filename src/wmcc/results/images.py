"""Scores of images, the clusters of a table: over the data set, over images, over the images that have a class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import nan
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from ..core.arraytypes import FloatArray
from ..core.joint import JointTable
from ..core.keys import Key
from ..core.labels import Label, listed
from ..core.table import Margins, Table, Tabulated, one_table
from ..core.tables import Tables
from ..errors import InputError
from ..inference.answer import measure_title, why_unsure
from ..inference.cells import Precision
from ..inference.comparison import Difference, p_cell, with_holm
from ..inference.contrasts import compare
from ..inference.estimate import Interval, estimate
from ..inference.fisher import Scale
from ..inference.influence import Sample
from ..inference.pivot import Pivot
from ..inference.reliability import NOTHING, SHORT
from ..measures import CLASS_MEASURES
from ..measures.base import Measure, MeasureName, for_tabulated
from ..measures.checks import checked_level, named_measure, whole_number
from ..present.blocks import Block, few
from ..present.json_csv import Record, finite, plain
from ..present.pairs import Pair
from ..present.result import Delegate, Result
from ..present.stored import Fields, Storable
from ..present.text import counted, decimal, heaviest, left_out, name_of, number

BOTH = {"data_set": "Data set", "image_mean": "Mean over images"}
"""The two scores of an image set, and what they are called."""

ALONE = "prediction"
"""What a prediction is called that has no name and needs none."""

OF_CLASSES = {
    "mean_iou": "iou", "mean_f1": "f1", "mean_recall": "recall", "balanced_accuracy": "recall", "mcc": "mcc",
    "ecc": "mcc", "mpc1": "mcc", "mpc2": "mcc", "accuracy": "iou", "kappa": "iou",
}  # fmt: skip
"""The score of a class that stands beside each measure."""

METHOD = "image mean"
"""How the interval of a mean over images is made, by name."""

SHOWN_CLASSES, SHOWN_KEYS = 50, 3
"""Classes that are listed, and images that are named in a sentence."""

FEW_IMAGES = 10
"""Images below which the interval of a mean over them is called unreliable.

Chosen by simulation: docs/understand/coverage.md.
"""

IMAGES_ARE_FEW = f"there are fewer than {FEW_IMAGES} images where the score is defined; {SHORT}"
NO_WEIGHT = "the image has no weight"


# ---- what was found ---------------------------------------------------------------------------------------


class ImageScore(NamedTuple):
    """The score of one image."""

    image: Key
    value: float  # NaN where it is undefined
    n: int  # rows
    total: float  # their weight
    problem: str | None  # why it is undefined


class WorstImage(NamedTuple):
    """An image with one of the lowest scores, and the score of the data set without it."""

    image: Key
    value: float
    n: int
    total: float
    without: float  # NaN if nothing is left, or the measure is undefined there


class ClassImages(NamedTuple):
    """The scores of one class: in the data set, and over images."""

    label: Label
    data_set: float  # NaN where it is undefined
    image_mean: Interval  # over the images that have the class in truth or prediction
    true_images: int  # images that have it in truth
    true_mean: float  # mean over these


@dataclass(frozen=True, eq=False)
class PredictionImages(Storable):
    """What was found of the images of one prediction.

    Parameters
    ----------
    data_set
        The score of all rows together, and its interval with images as clusters: `wmcc.interval`.
    image_mean
        The mean over images of each image's own score, and its interval; every image counts the same.
    images
        The score of each image, in the order of the keys; NaN where it is undefined.
    classes
        The scores of each class.
    worst
        The images with the lowest scores, the lowest first.
    """

    data_set: Interval
    image_mean: Interval
    images: tuple[ImageScore, ...]
    classes: tuple[ClassImages, ...]
    worst: tuple[WorstImage, ...]

    _stored = ("data_set", "image_mean", "undefined", "classes", "worst", "images")

    @property
    def values(self) -> FloatArray:
        """The score of each image; NaN where it is undefined."""
        return np.array([x.value for x in self.images])

    @property
    def undefined(self) -> tuple[ImageScore, ...]:
        """Images that are left out of the mean, since their score is undefined."""
        return tuple(x for x in self.images if x.problem is not None)

    @property
    def _stored_undefined(self) -> int:
        """How many images are left out of the mean, since their score is undefined."""
        return len(self.undefined)

    @property
    def _stored_worst(self) -> list[Annotated[Fields, WorstImage, ("image", str)]]:
        """The images with the lowest scores, the lowest first."""
        return [{**x._asdict(), "image": name_of_image(x.image)} for x in self.worst]

    @property
    def _stored_images(self) -> list[Annotated[Fields, ImageScore, ("image", str)]]:
        """The score of each image."""
        return [{**x._asdict(), "image": name_of_image(x.image)} for x in self.images]


class ImageDifference(NamedTuple):
    """The difference of two predictions, of their scores of the data set and of their means over images."""

    data_set: Difference
    image_mean: Difference  # over the images for which both scores are defined
    higher: int  # images for which the first scores higher
    ties: int
    lower: int


@dataclass(frozen=True, repr=False)
class ImageScores(Result):
    """What `wmcc.image_scores` returns.

    For one prediction, what was found of it is here by its own name: `data_set`, `image_mean`, `images`, `classes` and
    `worst`. For several, each has its own: ``found["A"].image_mean``.

    Parameters
    ----------
    measure, confidence_level
        What was asked.
    predictions
        What was found of each prediction, by its name; see `PredictionImages`.
    pairs
        The difference of each pair of predictions, by their names.
    """

    measure: str
    confidence_level: float
    predictions: dict[str, PredictionImages]
    pairs: dict[Pair, ImageDifference]

    _kind = "image scores"
    _stored = ("measure", "confidence_level", "warnings", "predictions", "pairs")

    def __getitem__(self, name: str) -> PredictionImages:
        if name in self.predictions:
            return self.predictions[name]
        raise InputError(f"there is no prediction {name!r}; the predictions are {listed(self.names)}.")

    __iter__ = None  # or else Python would try found[0], found[1] …

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the predictions."""
        return tuple(self.predictions)

    @property
    def only(self) -> PredictionImages:
        """What was found of the only prediction; of several, one has to be named."""
        if len(self.predictions) == 1:
            return next(iter(self.predictions.values()))
        raise InputError(
            f"there are {len(self.predictions)} predictions: {listed(self.names)}.",
            f"name one: found[{self.names[0]!r}].",
        )

    data_set: ClassVar[Delegate[Interval]] = Delegate(
        "only.data_set", "The score of all rows together, with its interval."
    )
    image_mean: ClassVar[Delegate[Interval]] = Delegate(
        "only.image_mean", "The mean over images of their own scores, with its interval."
    )
    images: ClassVar[Delegate[tuple[ImageScore, ...]]] = Delegate("only.images", "The score of each image.")
    classes: ClassVar[Delegate[tuple[ClassImages, ...]]] = Delegate("only.classes", "The scores of each class.")
    worst: ClassVar[Delegate[tuple[WorstImage, ...]]] = Delegate("only.worst", "The images with the lowest scores.")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before relying on the numbers, a sentence each."""
        return tuple(self._notes())

    # ---- showing ------------------------------------------------------------------------------------

    def blocks(self) -> list[Block]:
        """Return both means, differences, classes and the lowest images."""
        of_each = (block for name in self.names for block in (self.class_block(name), self.worst_block(name)))
        return [self.mean_block(), *self.pair_blocks(), *of_each]

    def lines(self) -> list[Block]:
        """Return both means, and what to know of them."""
        return [replace(self.mean_block(), title=self._title, notes=self._notes())]

    @property
    def _title(self) -> str:
        return f"{measure_title(self.measure, None)}: data set and images"

    @property
    def _level(self) -> str:
        return f"{number(100 * self.confidence_level)} % interval"

    def _of(self, caption: str, name: str) -> str:
        return f"{caption}, {name}" if len(self.predictions) > 1 else caption

    def mean_block(self) -> Block:
        """Return the score of the data set and the mean over images, of each prediction, and what they are."""
        several = len(self.predictions) > 1
        rows = [
            [*[name] * several, title, decimal(x.value), x.ends, f"{x.clusters or 0:,}"]
            for name, title, x in _each(self.predictions)
        ]
        first = next(iter(self.predictions.values()))
        size = f"{counted(len(first.images), 'image')}, {counted(first.data_set.n, 'row')}"
        head = [*["Prediction"] * several, "Score", "Value", self._level, "Images"]
        return Block(f"{self._title}, {size}", head, rows, [*MEANS, *few(self._notes())], 1 + several)

    def pair_blocks(self) -> list[Block]:
        """Return the differences of the predictions."""
        if not self.pairs:
            return []
        several = len(self.pairs) > 1
        head = ["First", "Second", "Score", "First − second", self._level, "p", *["p (Holm)"] * several]
        rows = [
            [*pair, title, decimal(x.value), x.ends, p_cell(x.p_value), *[p_cell(x.p_adjusted)] * several]
            for pair, title, x in _each(self.pairs)
        ]
        wins = [[*pair, f"{x.higher:,}", f"{x.ties:,}", f"{x.lower:,}"] for pair, x in self.pairs.items()]
        title = measure_title(self.measure, None)
        head_wins = ["First", "Second", "First higher", "Equal", "Second higher"]
        return [
            Block(f"Differences of {title}", head, rows, few(self._pair_notes()), texts=3),
            Block(f"Images by the higher {title}", head_wins, wins, texts=2),
        ]

    def class_block(self, name: str) -> Block:
        """Return the scores of each class, in the data set and over images."""
        classes = self[name].classes
        measure = classes[0].image_mean.measure if classes else "iou"
        title = CLASS_MEASURES[measure].title
        rows = []
        for c in (classes[k] for k in heaviest([c.image_mean.total for c in classes], SHOWN_CLASSES)):
            x = c.image_mean
            means = decimal(c.data_set), decimal(x.value), x.ends, f"{x.clusters or 0:,}"
            rows.append([str(c.label), *means, decimal(c.true_mean), f"{c.true_images:,}"])
        head = ["Class", *BOTH.values(), self._level, "Images", "Mean where true", "Images where true"]
        notes = [] if measure == "mcc" else [IN_EITHER]
        notes += left_out(SHOWN_CLASSES, len(classes), "classes")
        unsure = sum(not c.image_mean.reliable for c in classes)
        notes += [f"* Unreliable or not estimable: {unsure:,} of {len(classes):,} classes."] if unsure else []
        return Block(self._of(f"{title} of each class: data set and images", name), head, rows, notes)

    def worst_block(self, name: str) -> Block:
        """Return the images with the lowest scores."""
        title, rows = measure_title(self.measure, None), []
        for x in self[name].worst:
            rows.append([name_of_image(x.image), decimal(x.value), f"{x.n:,}", number(x.total), decimal(x.without)])
        head = ["Image", title, "Rows", "Weight", "Data set without it"]
        return Block(self._of(f"Images with the lowest {title}", name), head, rows)

    def _notes(self) -> list[str]:
        """What to know of the means: images that are left out, and why intervals may not be relied on."""
        before = {name: f"{name}: " if len(self.predictions) > 1 else "" for name in self.names}
        notes = [before[name] + x for name, own in self.predictions.items() for x in undefined_notes(own.images)]
        of = {before[name].replace(":", ",") + _of(title): x for name, title, x in _each(self.predictions)}
        return [*notes, *why_unsure(of)]

    def _pair_notes(self) -> list[str]:
        verdicts = [f"{title}: {x.verdict}." for _, title, x in _each(self.pairs)]
        titled = {f"{' − '.join(pair)}, {_of(title)}": x for pair, title, x in _each(self.pairs)}
        return [*verdicts, *why_unsure(titled)]

    # ---- storing ------------------------------------------------------------------------------------

    @property
    def _stored_predictions(self) -> list[Annotated[Fields, ("name", str), PredictionImages]]:
        """What was found of each prediction."""
        return [{"name": name, **own.picked()} for name, own in self.predictions.items()]

    @property
    def _stored_pairs(self) -> list[ImageDifference]:
        """The difference of each pair of predictions."""
        return list(self.pairs.values())

    def records(self) -> list[Record]:
        """Return a row for each mean, for each class and for each image, of each prediction."""
        rows: list[Record] = []
        for name, own in self.predictions.items():
            means = [("data set", None, own.data_set), ("image mean", None, own.image_mean)]
            for scope, label, x in [*means, *(("class image mean", c.label, c.image_mean) for c in own.classes)]:
                row = {"scope": scope, "prediction": name, "class": label, "image": None, "measure": x.measure}
                row |= plain({field: getattr(x, field) for field in ("value", "low", "high", "se", "df", "total")})
                rows.append(row | {"n": x.n, "images": x.clusters, "status": x.status, "problem": x.problem})
            for one in own.images:
                of_image: Record = {"scope": "image", "prediction": name, "image": name_of_image(one.image), "n": one.n}
                of_image |= {"measure": self.measure, "value": finite(one.value), "total": finite(one.total)}
                rows.append({**dict.fromkeys(rows[0]), **of_image, "problem": one.problem})
        return rows


MEANS = (
    "Data set: the score of all rows together; an image counts by its weight.",
    "Mean over images: the mean of each image's own score; every image counts the same.",
)
IN_EITHER = (
    "Mean over images: over those that have the class in truth or prediction; where it is only predicted it scores 0. "
    "Mean where true: over those that have it in truth."
)


def _each(several: Mapping[Any, Any]) -> list[tuple[Any, str, Any]]:
    """Return the score of the data set and the mean over images of predictions or pairs, each with its name."""
    return [(name, title, getattr(own, field)) for name, own in several.items() for field, title in BOTH.items()]


def _of(title: str) -> str:
    return f"the {title[0].lower()}{title[1:]}"


def name_of_image(key: Key) -> str:
    """Write the key of an image: its name, or the values of several columns."""
    return ", ".join(map(name_of, key)) if isinstance(key, tuple) else name_of(key)


def undefined_notes(images: Sequence[ImageScore]) -> list[str]:
    """Say which images are left out of a mean, and why."""
    reasons: dict[str, list[Key]] = {}
    for x in images:
        if x.problem is not None:
            reasons.setdefault(x.problem, []).append(x.image)
    notes = []
    for why, keys in reasons.items():
        names = ", ".join(map(name_of_image, keys[:SHOWN_KEYS])) + ", …" * (len(keys) > SHOWN_KEYS)
        some = f"{len(keys):,} of {counted(len(images), 'image')} {'is' if len(keys) == 1 else 'are'}"
        notes.append(f"{some} left out of the mean over images: {why} ({names}).")
    return notes


# ---- how it is found --------------------------------------------------------------------------------------


@for_tabulated()
def image_scores(
    table: Tabulated | JointTable,
    measure: MeasureName | Measure = "mean_iou",
    *,
    confidence_level: float = 0.95,
    worst: int = 8,
) -> ImageScores:
    """Score the data set and each image: the mean over images, its interval, and the images with the lowest scores.

    An image is a cluster of the table: what ``cluster`` of `wmcc.tabulate` names, or what was read from a folder. So
    it works as well for tiles, scenes or patients. The score of the data set is that of all rows together. The mean
    over images is that of each image's own score, in which every image counts the same.

    Parameters
    ----------
    table
        A `wmcc.Table` whose rows come in clusters; or a `wmcc.JointTable` of several predictions, which are compared.
    measure
        A measure, or its name.
    confidence_level
        As in `wmcc.interval`.
    worst
        How many images with the lowest scores to list.

    Returns
    -------
    ImageScores
        Also the mean over images of each class's own score.

    Notes
    -----
    The images are the sample. The interval of the data set's score is that of `wmcc.interval`, with images as clusters.
    That of the mean over images has Student's distribution with m − 1 degrees of freedom for m images on the scale of
    artanh, so it stays within the measure's range. Differences of two predictions are paired by image.
    docs/understand/coverage.md says how often the intervals hold the true mean.

    Images whose score is undefined are left out of the mean and counted: those without weight (nothing but void) and,
    for correlations, those that have a single class in truth or prediction. A class counts in the images that have it
    in truth or prediction. In those where it is only predicted its IoU is 0; the mean over the images that have it in
    truth stands beside.

    Examples
    --------
    >>> import wmcc
    >>> truth, guess = [0, 0, 1, 1, 1, 0] * 4, [0, 1, 1, 1, 1, 0] * 3 + [0, 0, 1, 0, 0, 0]
    >>> images = ["a"] * 2 + ["b"] * 6 + ["c"] * 6 + ["d"] * 10
    >>> found = wmcc.image_scores(wmcc.tabulate(truth, guess, cluster=images), worst=2)
    >>> found.data_set.value, found.image_mean.value
    (0.6547619047619048, 0.5833333333333334)
    >>> [(x.image, round(x.value, 3), round(x.without, 3)) for x in found.worst]
    [('a', 0.25, 0.69), ('d', 0.667, 0.646)]
    """
    data: Table | JointTable = table if isinstance(table, JointTable) else one_table(table)
    check_images(data)
    chosen, level = named_measure(measure), checked_level(confidence_level)
    most = whole_number(worst, "worst", 0)
    tables = data.tables if isinstance(data, JointTable) else {ALONE: data}
    predictions = {name: _of_prediction(own, chosen, level, most) for name, own in tables.items()}
    pairs: dict[Pair, ImageDifference] = {}
    if isinstance(data, JointTable) and len(tables) > 1:
        of_data_set = compare(data, chosen, confidence_level=level).pairs
        both = {pair: tuple(predictions[name] for name in pair) for pair in combinations(tables, 2)}
        of_means = with_holm(_difference(pair, a, b, chosen, level) for pair, (a, b) in both.items())
        for pair, (a, b) in both.items():
            x, y = a.values, b.values
            counts = (int(where.sum()) for where in (x > y, x == y, x < y))
            pairs[pair] = ImageDifference(of_data_set[pair], of_means[pair], *counts)
    return ImageScores(chosen.name, level, predictions, pairs)


def image_means(table: Table, measures: Iterable[Measure], level: float) -> dict[str, Interval]:
    """Return the mean over images of some measures, by name, each with its interval."""
    check_images(table)
    images = ImageTables.of(table)
    return {m.name: _mean(m, images, [x.value for x in images.scores(m)], level) for m in measures}


def check_images(table: Table | JointTable) -> None:
    """Refuse a table whose rows do not come in clusters."""
    kind = table.drawn.kind
    if kind == "clusters":
        return
    rows = {"rows": "its rows are independent", "pairs": "it is that of a weight matrix"}
    said = rows.get(kind, f"its rows are {table.drawn.manner}")
    raise InputError(
        f"scores of images need a table whose rows come in clusters, one for each image; {said}.",
        "give tabulate `cluster`, the image of each row; `wmcc.Blocks(64)` takes blocks of pixels for images.",
        "table",
        "name the column of images with --cluster; of rasters, --blocks 64 takes blocks of pixels for images.",
    )


@dataclass(frozen=True, eq=False)
class ImageTables:
    """A table, and that of each image, of the labels that occur in it."""

    whole: Table
    by_image: Tables[Table]

    @classmethod
    def of(cls, table: Table) -> ImageTables:
        """Make a group of each image."""
        cells, keys = table.raw_cells.along([2, 0, 1]), table.drawn.units
        ignored = np.zeros(len(keys), dtype=np.int64)  # of all images together they are known
        return cls(table, Tables("image", keys, table.labels, cells, ignored, void=table.void))

    @cached_property
    def images(self) -> list[Table]:
        """The tables of the images."""
        return list(self.by_image.values())

    def scores(self, measure: Measure) -> list[ImageScore]:
        """Score each image, exactly as the measure scores its table."""
        scored = (_value(measure, image.margins) for image in self.images)
        sizes = zip(self.by_image, scored, self.by_image.rows.tolist(), self.by_image.weights.tolist(), strict=True)
        return [ImageScore(key, value, n, total, problem) for key, (value, problem), n, total in sizes]

    def without(self, k: int, measure: Measure) -> float:
        """Score the data set without an image; NaN if that is undefined."""
        cells = self.whole.raw_cells
        rest = cells.take(cells.codes[2] != k).along([0, 1])
        return _value(measure, Table(self.whole.labels, rest, void=self.whole.void).margins)[0]

    def of_classes(self, name: str) -> tuple[list[list[float]], list[list[float]], list[list[int]]]:
        """Return the scores of each class, by its place, in the images where it is defined.

        They are of all these images, and of those that have the class in truth; and the places of the former.
        """
        value = CLASS_MEASURES[name].value
        all_of, true_of, where = ({label: list[Any]() for label in self.whole.classes} for _ in range(3))
        for k, image in enumerate(self.images):
            m = image.margins
            for label, r, q, d in zip(image.classes, m.r, m.q, m.d, strict=False):  # void last
                score = value(m.s, r, q, d)
                if score is not None:
                    all_of[label].append(score)
                    where[label].append(k)
                    true_of[label] += [score] if r else []
        return list(all_of.values()), list(true_of.values()), list(where.values())


def _value(measure: Measure, margins: Margins) -> tuple[float, str | None]:
    """Return the score at margins, NaN where it is undefined, and why it is so."""
    value, problem = measure.of_margins(margins) if margins.s else (nan, NO_WEIGHT)
    return nan if problem else value, problem


def _of_prediction(table: Table, measure: Measure, level: float, most: int) -> PredictionImages:
    data_set = estimate(Sample.of(table), measure, level)
    images = ImageTables.of(table)
    scores = images.scores(measure)
    defined = [k for k, x in enumerate(scores) if x.problem is None]
    lowest = sorted(defined, key=lambda k: scores[k].value)[:most]
    mean = _mean(measure, images, [x.value for x in scores], level)
    classes = _classes(table, images, OF_CLASSES[measure.name], level)
    worst = tuple(WorstImage(*scores[k][:4], images.without(k, measure)) for k in lowest)
    return PredictionImages(data_set, mean, tuple(scores), classes, worst)


def _classes(table: Table, images: ImageTables, name: str, level: float) -> tuple[ClassImages, ...]:
    measure = CLASS_MEASURES[name]
    data_set = measure(table, zero_division=nan).tolist()
    classes, of_images = [], images.of_classes(name)
    for label, value, values, true, where in zip(table.classes, data_set, *of_images, strict=False):  # void last
        n, total = int(images.by_image.rows[where].sum()), float(images.by_image.weights[where].sum())
        mean = mean_interval(name, RANGES[name], values, n, total, level, label)
        classes.append(ClassImages(label, value, mean, len(true), float(np.mean(true)) if true else nan))
    return tuple(classes)


RANGES = {name: (-1.0, 1.0) if name == "mcc" else (0.0, 1.0) for name in CLASS_MEASURES}


def _mean(measure: Measure, images: ImageTables, values: Sequence[float], level: float) -> Interval:
    """Return the mean over the images where a measure is defined, and its interval."""
    x = np.array(values)
    defined = ~np.isnan(x)
    n, total = int(images.by_image.rows[defined].sum()), float(images.by_image.weights[defined].sum())
    return mean_interval(measure.name, measure.range, x[defined], n, total, level)


class MeanSpread(NamedTuple):
    """How far a mean over images may be off."""

    mean: float
    se: float
    df: float
    warnings: tuple[str, ...]
    problem: str | None

    @classmethod
    def of(cls, values: Any) -> MeanSpread:
        """Find it from the scores of the images."""
        x = np.asarray(values, dtype=np.float64)
        m = len(x)
        if m < 2:
            there = "is only 1" if m else "are none"
            problem = f"a standard error needs at least two images where the score is defined, and there {there}"
            return cls(float(x[0]) if m else nan, nan, nan, (), problem)
        mean = float(x.mean())
        apart = x - mean
        squares = float((apart * apart).sum())
        if not squares > NOTHING:
            problem = f"all {m:,} images have the same score, so the variance between images cannot be estimated"
            return cls(mean, nan, nan, (), problem)
        warnings = (IMAGES_ARE_FEW,) if m < FEW_IMAGES else ()
        return cls(mean, (squares / m / (m - 1)) ** 0.5, m - 1.0, warnings, None)


def mean_interval(
    name: str, limits: tuple[float, float], values: Any, n: int, total: float, level: float, label: Label | None = None
) -> Interval:
    """Return the mean of the scores of images, and its interval."""
    mean, se, df, warnings, problem = MeanSpread.of(values)
    low, high = nan, nan
    if problem is None:
        low, high = Scale(*limits).ends(mean, Precision(se * se, df), (1 - level) / 2)
        low, high = min(low, mean), max(high, mean)
    m = len(values)
    sizes = n, float(m), total, m
    return Interval(name, level, METHOD, mean, low, high, se, df, *sizes, None, None, warnings, problem, label)


def _difference(names: Pair, a: PredictionImages, b: PredictionImages, measure: Measure, level: float) -> Difference:
    """Compare the means of two predictions over the images where both are defined."""
    x, y = a.values, b.values
    both = ~np.isnan(x) & ~np.isnan(y)
    apart = x[both] - y[both]
    value, se, df, warnings, problem = MeanSpread.of(apart)
    if problem is not None and len(apart) > 1:
        problem = f"all {len(apart):,} images have the same difference, so its variance cannot be estimated"
        if not apart.any():
            problem = "both score the same in every image, so the difference has no sampling error"
    low, high, p = nan, nan, nan
    if problem is None:
        most = measure.range[1] - measure.range[0]
        pivot = Pivot(value, se, df)
        low, high = (float(np.clip(end, -most, most)) for end in pivot.ends((1 - level) / 2))
        p = float(pivot.p_value())
    kept = [one for one, there in zip(a.images, both.tolist(), strict=True) if there]
    values = (float(x[both].mean()), float(y[both].mean())) if both.any() else (nan, nan)
    sizes = sum(one.n for one in kept), float(len(apart)), sum(one.total for one in kept)
    found = Difference(names, measure.name, level, values, value, low, high, se, df, p, *sizes, clusters=len(apart))
    return replace(found, warnings=warnings, problem=problem)
