"""Small pictures of images for a page: truth, prediction, and where weight is wrong. PNG, written here."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any, Literal, NamedTuple

import numpy as np

from ..core.arraytypes import Array, FloatArray, IntArray
from ..core.joint import JointTable
from ..core.labels import Label
from ..core.labels import listed as listed_labels
from ..core.table import Table
from ..errors import InputError, InputTypeError
from ..mapping.error_map import Places
from ..present.colours import COLOURS, NOTHING, VOID, WRONG_WEIGHT, Tint, class_colour, css, error_tint
from ..present.text import brief, counted, decimal, number, percent
from ..results.images import ImageScores, WorstImage, check_images, name_of_image
from ..sources.images import ImageFolders

WIDTHS = (256, 192, 128, 96, 64, 32)
"""Widths and heights that pictures have at most: the first at which all together are small enough."""

MOST_BYTES = 720_000
"""Of all pictures of a page; as text in the page they take a third more."""

MOST_IMAGES, LEAST_IMAGES = 8, 2
"""Images that are pictured, of all predictions together, and of each at least."""

MOST_LISTED = 3
"""Classes that the text of a picture names."""

LEVELS = 100
"""Strengths of an error that are told apart."""


Pictured = ImageFolders | Sequence[Any] | Literal[True] | None
"""Images of a report: their folders, or that clusters are images."""


class Picture(NamedTuple):
    """A small picture: what it is of, a PNG, and what it shows in words."""

    title: str
    png: bytes
    said: str


class PicturedImage(NamedTuple):
    """An image, its score in words, and its pictures."""

    name: str
    said: str
    pictures: tuple[Picture, ...]


class Gallery(NamedTuple):
    """Images of one prediction with the lowest scores, and the colours of the classes in them."""

    images: tuple[PicturedImage, ...]
    legend: tuple[tuple[str, str], ...]  # names of classes, and their colours as CSS has them


PNG = b"\x89PNG\r\n\x1a\n"
"""How such files begin."""


# ---- files --------------------------------------------------------------------------------------------


def png(codes: IntArray, palette: Sequence[tuple[int, int, int, int]]) -> bytes:
    r"""Write a picture of at most 256 colours, each red, green, blue and opacity.

    Examples
    --------
    >>> import numpy as np
    >>> png(np.array([[0, 1], [1, 0]]), [(255, 255, 255, 255), (0, 0, 0, 255)])[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    height, width = codes.shape
    lines = np.zeros((height, width + 1), dtype=np.uint8)  # the first of each line says that it has no filter
    lines[:, 1:] = codes
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0),
        b"PLTE": bytes(x for *colour, _ in palette for x in colour),
        b"tRNS": bytes(opacity for *_, opacity in palette),
        b"IDAT": zlib.compress(lines.tobytes(), 9),
        b"IEND": b"",
    }
    out = PNG
    for kind, data in chunks.items():
        out += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return out


# ---- errors -------------------------------------------------------------------------------------------


def strengths(share: Array) -> IntArray:
    """Place of a share among the levels, which are its root, so that small errors show; only nothing is 0."""
    strength: IntArray = np.ceil(np.sqrt(np.nan_to_num(share)) * LEVELS - 1e-6).astype(np.int64)
    return strength


def ramp(colour: tuple[int, int, int], ground: Tint) -> list[Tint]:
    """Tints of all levels but 0."""
    return [error_tint((k / LEVELS) ** 2, colour, ground) for k in range(1, LEVELS + 1)]


# ---- an image -----------------------------------------------------------------------------------------


def _places(table: Table | JointTable, names: Mapping[Label, Label] | None) -> Places:
    """Return the places of pixel values among a table's labels, if they are known of all."""
    place = Places(table, dict(names or {}))
    odd = [x for x in place.names if not isinstance(x, int)]
    met = {place.of(x) for x in (*place.names, *table.labels) if isinstance(x, int)}
    lost = [label for k, label in enumerate(table.labels) if k not in met]
    if odd or lost:
        why = f"the pixel values of the classes {listed_labels(lost)} are not known"
        why = f"`names` has {brief(odd[0])}, which is no pixel value" if odd else why
        hint = "give the `names` that the table was tabulated with, as {0: 'road', 1: 'grass'}."
        raise InputError(f"pictures cannot be drawn: {why}.", hint, "names")
    return place


class SmallImage(NamedTuple):
    """An image as it is pictured, made small: one slice of a stack of them."""

    truth: IntArray
    pred: IntArray
    wrong: FloatArray  # weight of pixels that are wrong; NaN where the truth is void
    said: tuple[str, str]  # which classes hold most of truth and prediction
    used: frozenset[int]  # all that occur
    n: int  # pixels that count
    total: float  # their weight
    right: float  # the share of it that is right
    slice: str  # which slice it is


def _scene(truth: IntArray, pred: IntArray, weight: Array | None, labels: Sequence[Label], classes: int) -> SmallImage:
    """Look at an image; of more than two dimensions at the slice with most of the wrong weight."""
    w = np.broadcast_to(1.0, truth.shape) if weight is None else weight
    void = (truth < 0) | (truth >= classes) | (pred < 0)  # labels that are in no table are missing ones
    wrong: FloatArray = np.where(void, np.nan, np.where(truth == pred, 0.0, w)).astype(np.float64, copy=False)
    right = float(np.sum(w, where=~void & (truth == pred), dtype=np.float64))
    total = right + float(np.nansum(wrong))
    slices = ""
    while truth.ndim > 2:
        k = int(np.nansum(wrong, axis=tuple(range(1, wrong.ndim))).argmax())
        slices += f", slice {k + 1:,} of {len(truth):,}"
        truth, pred, wrong = truth[k], pred[k], wrong[k]
    if truth.ndim < 2:
        truth, pred, wrong = truth.reshape(1, -1), pred.reshape(1, -1), wrong.reshape(1, -1)
    said = _most_of(truth, labels, classes), _most_of(pred, labels, classes)
    used = frozenset(np.unique(truth).tolist()) | frozenset(np.unique(pred).tolist())
    most = WIDTHS[0]
    small = _thinned(truth, most), _thinned(pred, most), _averaged(wrong, most)
    return SmallImage(*small, said, used, int((~void).sum()), total, right / total if total > 0 else np.nan, slices)


def _small(shape: tuple[int, ...], most: int) -> tuple[int, int]:
    """Height and width of a picture, at most so many, in proportion."""
    height, width = shape
    scale = min(1.0, most / max(height, width))
    return max(1, round(height * scale)), max(1, round(width * scale))


def _thinned(codes: IntArray, most: int) -> IntArray:
    """Make labels small: of the pixels that one stands for, the one in the middle."""
    sizes = zip(codes.shape, _small(codes.shape, most), strict=True)
    return codes[np.ix_(*((2 * np.arange(count) + 1) * size // (2 * count) for size, count in sizes))]


def _averaged(wrong: FloatArray, most: int) -> FloatArray:
    """Make wrong weights small: the mean of the pixels that one stands for; NaN where all are void."""
    void = np.isnan(wrong)
    sums = [np.where(void, 0.0, wrong), (~void).astype(np.float64)]
    for axis, count in enumerate(_small(wrong.shape, most)):
        starts = np.arange(count) * wrong.shape[axis] // count
        sums = [np.add.reduceat(x, starts, axis=axis) for x in sums]
    return np.where(sums[1] > 0, sums[0] / np.maximum(sums[1], 1.0), np.nan)


def _labels(codes: IntArray, classes: int) -> bytes:
    """Draw labels."""
    void = (codes < 0) | (codes >= classes)
    palette = [*((*class_colour(k), 255) for k in range(min(classes, COLOURS))), (*VOID, 255)]
    return png(np.where(void, len(palette) - 1, codes % COLOURS), palette)


def _errors(wrong: FloatArray) -> bytes:
    """Draw the weight that is wrong: stronger where it is more, nothing where there is none."""
    top = float(np.nanmax(wrong, initial=0.0)) or 1.0
    codes = np.where(np.isnan(wrong), LEVELS + 1, strengths(wrong / top))
    return png(codes, [NOTHING, *ramp(WRONG_WEIGHT, NOTHING), (*VOID, 90)])


def _most_of(codes: IntArray, labels: Sequence[Label], classes: int) -> str:
    """Name the classes that hold most of a picture."""
    there = codes[(codes >= 0) & (codes < classes)]
    if not there.size:
        return "nothing but void"
    counts = np.bincount(there, minlength=classes)
    order = np.argsort(-counts, kind="stable")[:MOST_LISTED]
    return ", ".join(f"{labels[k]} {percent(counts[k] / codes.size)}" for k in order.tolist() if counts[k])


# ---- all of them --------------------------------------------------------------------------------------


def checked_folders(
    given: object, table: Table | JointTable, names: Mapping[Label, Label] | None
) -> ImageFolders | None:
    """Return the folders of the images of a table, which are its clusters; None if they are only said to be images."""
    check_images(table)
    if given is True:
        return None
    if isinstance(given, (tuple, list)) and 2 <= len(given) <= 3 and isinstance(given[0], (str, os.PathLike)):
        given = ImageFolders(*given)
    if not isinstance(given, ImageFolders):
        hint = 'for instance ("truth/", "pred/"), or ("truth/", "pred/", "maps/") with weights.'
        raise InputTypeError.of("images", given, "True, or the folders that were tabulated", hint)
    own = table.names if isinstance(table, JointTable) else ()
    if given.predictions != own:
        said, here = (", ".join(map(repr, x)) or "one without a name" for x in (given.predictions, own))
        hint = "give the same folders as to wmcc.tabulate."
        raise InputError(f"`images` has the predictions {said}; the table has {here}.", hint, "images")
    known = set(given.names)
    lost = [name_of_image(key) for key in table.drawn.clusters if key not in known]
    if lost:
        hint = "give the folders that were tabulated; without `cluster`, so that the clusters are the images."
        raise InputError(f"`images` has no image {lost[0]!r}, which is a cluster of the table.", hint, "images")
    _places(table, names)
    return given


def pictured(
    found: ImageScores, folders: ImageFolders, table: Table | JointTable, names: Mapping[Label, Label] | None
) -> dict[str, Gallery]:
    """Picture the images with the lowest scores, of each prediction."""
    place, classes = _places(table, names), len(table.classes)
    each = max(LEAST_IMAGES, MOST_IMAGES // len(found.names))
    scenes: dict[str, list[tuple[WorstImage, SmallImage]]] = {}
    for k, (name, own) in enumerate(found.predictions.items()):
        scenes[name] = []
        for x in own.worst[:each]:
            truth, preds, weight = folders.read(x.image)
            codes = place.codes(truth), place.codes(preds[k])
            scene = _scene(*codes, weight, table.labels, classes)
            if scene.n != x.n or not isclose(scene.total, x.total, rel_tol=1e-6):
                said = (
                    f"{counted(scene.n, 'row')} of weight {number(scene.total)} in the folders, and {x.n:,} of weight"
                )
                said = f"the image {name_of_image(x.image)!r} has {said} {number(x.total)} in the table."
                raise InputError(said, "give the folders, and the weights, that were tabulated.", "images")
            scenes[name].append((x, scene))
    for width in WIDTHS:
        galleries = {name: _gallery(own, table, width) for name, own in scenes.items()}
        size = sum(len(p.png) for own in galleries.values() for image in own.images for p in image.pictures)
        if size <= MOST_BYTES:
            break
    return galleries


def _gallery(scenes: Sequence[tuple[WorstImage, SmallImage]], table: Table | JointTable, width: int) -> Gallery:
    labels, classes = table.labels, len(table.classes)
    images, used = [], set[int]()
    for x, scene in scenes:
        name = f"{name_of_image(x.image)}{scene.slice}"
        pictures = []
        for title, codes, said in zip(("Truth", "Prediction"), (scene.truth, scene.pred), scene.said, strict=True):
            pictures.append(Picture(title, _labels(_thinned(codes, width), classes), f"{title} of {name}: {said}"))
        wrong = percent(1 - scene.right)
        said = f"Wrong weight in {name}: {wrong} of the image's weight"
        pictures.append(Picture("Wrong weight", _errors(_averaged(scene.wrong, width)), said))
        score = f"{decimal(x.value)}, {wrong} of the weight is wrong"
        images.append(PicturedImage(name, score, tuple(pictures)))
        used |= scene.used
    legend = [(str(labels[k]), css(class_colour(k))) for k in sorted(used) if 0 <= k < classes]
    if any(not 0 <= k < classes for k in used):
        legend.append(("void", css(VOID)))
    return Gallery(tuple(images), tuple(legend))
